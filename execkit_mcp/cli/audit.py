"""The commands below ``audit``: is the record whole, what does it say, and what did it look like."""

import argparse
import sys
from typing import TYPE_CHECKING

from execkit_mcp.cli import audit_replay, audit_show
from execkit_mcp.cli.state import add_state_options, audit_folder, audit_key
from execkit_mcp.model.regex import lazy_regex

if TYPE_CHECKING:
    from execkit_mcp.audit import Report

__all__ = ["add_to", "run_key", "run_show", "run_verify"]

_HASH = lazy_regex(r"[0-9a-f]{12,64}")

_EXAMPLE = """\
examples:
  execkit-mcp audit verify                  0 if the record is whole, 1 and the first bad entry if not
  execkit-mcp audit verify --head 12:9f3a1c2b4d5e    … and whether that entry of a result still stands
  execkit-mcp audit show --last 20          the newest twenty entries
  execkit-mcp audit show --session main --verdict deny --since 2h --follow
  execkit-mcp audit key > audit.pub         the public key of the seals; then: audit verify --public-key audit.pub
  execkit-mcp audit show --json             every entry, one JSON object a line
  execkit-mcp audit replay main             play the newest recording of the session main

Verifying finds every edit, cut, insertion, swap and replacement by somebody who does not rewrite the whole
log and its head file. Somebody who can do that needs the key, if the log has one; and even he cannot bring a
head in line that you have noted elsewhere: compare it with the one that `audit verify` prints.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register ``audit`` with its commands."""
    text = "read the record and see whether it is whole"
    parser = subparsers.add_parser(
        "audit",
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="audit_command", metavar="COMMAND", required=True)
    for name, text, run in (
        ("verify", "check every entry against the chain, the head, the seals and what was noted elsewhere", run_verify),
        ("show", "print entries, and on standard error whether the record is whole", run_show),
    ):
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_state_options(command)
        command.add_argument("--json", action="store_true", help="JSON instead of text")
        if name == "show":
            audit_show.add_options(command)
        else:
            command.add_argument(
                "--head", type=_noted, action="append", default=[], metavar="SEQ:HASH",
                help="an entry that must stand there: a result's audit, or a head that was printed; may be repeated",
            )  # fmt: skip
            command.add_argument(
                "--public-key", metavar="FILE", help="a copy of the key that the seals must be made with (audit key)"
            )
            command.add_argument("--log-only", action="store_true", help="leave the recordings out")
        command.set_defaults(run=run)
    text = "print the public key of the seals, to be kept elsewhere"
    command = commands.add_parser(
        "key",
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_state_options(command)
    command.set_defaults(run=run_key)
    audit_replay.add_to(commands)


def run_verify(args: argparse.Namespace) -> int:
    """Verify the log; exit code 0 if it is whole, else AuditChainBroken (1)."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    report = _verify(args)
    if args.json:
        print(json.dumps(report.to_json()))
        return 0 if report.is_intact else 1
    for note in report.notes:
        print(f"note: {note}")
    _require_intact(report)
    sealed = f", sealed up to {report.sealed}" if report.sealed else ""
    print(f"intact: {report.entries} entries, log {report.log}, head {report.last_hash}{sealed}")
    return 0


def run_key(args: argparse.Namespace) -> int:
    """Print the public key (PEM)."""
    from execkit_mcp.audit.seals import PUBLIC_NAME, fingerprint, public_key_in  # noqa: PLC0415 # heavy imports

    path = audit_folder(args) / PUBLIC_NAME
    key = public_key_in(path)
    print(path.read_text(), end="")
    print(f"fingerprint {fingerprint(key)}", file=sys.stderr)
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print entries, then say whether the log is whole; exit code as of ``verify``."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        for line in audit_show.shown(args):
            print(line.encode(encoding, "backslashreplace").decode(encoding))
    except KeyboardInterrupt:
        return 0
    _require_intact(_verify(args))
    return 0


def _verify(args: argparse.Namespace) -> "Report":
    from pathlib import Path  # noqa: PLC0415 # heavy imports belong to the run

    from execkit_mcp.audit import verify_folder  # noqa: PLC0415
    from execkit_mcp.audit.chain import Noted  # noqa: PLC0415

    named = getattr(args, "public_key", None)
    return verify_folder(
        audit_folder(args),
        key=audit_key(args),
        public_key=Path(named) if named else None,
        noted=tuple(Noted(seq=seq, hash=hash_) for seq, hash_ in getattr(args, "head", ())),
        has_recordings=not getattr(args, "log_only", True),
    )


def _require_intact(report: "Report") -> None:
    from execkit_mcp.errors import AuditChainBroken  # noqa: PLC0415 # heavy imports belong to the run

    if report.problem is not None:
        raise AuditChainBroken(
            f"The record is not whole from here on: {report.problem}.",
            hint=f"{report.entries} entries before it hold. Keep the folder as evidence.",
            details=report.to_json(),
        )


def _noted(text: str) -> tuple[int | None, str]:
    seq, has_seq, hash_ = text.rpartition(":")
    if not _HASH.fullmatch(hash_) or (has_seq and not seq.isdecimal()):
        raise argparse.ArgumentTypeError("write SEQ:HASH, or the hash alone; 12 hex digits of it are the least")
    return int(seq) if has_seq else None, hash_
