"""The commands ``audit verify`` and ``audit show``: is the record whole, and what does it say."""

import argparse
import sys
from typing import TYPE_CHECKING

from execkit_mcp.cli.state import add_state_options, audit_folder, audit_key

if TYPE_CHECKING:
    from execkit_mcp.audit import Report

__all__ = ["add_to", "run_show", "run_verify"]

_EXAMPLE = """\
examples:
  execkit-mcp audit verify                  0 if the record is whole, 1 and the first bad entry if not
  execkit-mcp audit show --last 20          the newest twenty entries
  execkit-mcp audit show --json             every entry, one JSON object a line

Verifying finds every edit, cut, insertion, swap and replacement by somebody who does not rewrite the whole
log and its head file. Somebody who can do that needs the key, if the log has one; and even he cannot bring a
head in line that you have noted elsewhere: compare it with the one that `audit verify` prints.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register ``audit`` with its two commands."""
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
        ("verify", "check every entry against the chain and the head", run_verify),
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
            command.add_argument("--last", type=_count, metavar="N", help="only the newest N entries")
        command.set_defaults(run=run)


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
    print(f"intact: {report.entries} entries, log {report.log}, head {report.last_hash}")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print entries, then say whether the log is whole; exit code as of ``verify``."""
    import json  # noqa: PLC0415 # heavy imports belong to the run
    from collections import deque  # noqa: PLC0415

    from execkit_mcp.approvals import visible  # noqa: PLC0415
    from execkit_mcp.audit import read_segments  # noqa: PLC0415
    from execkit_mcp.audit.chain import Broken, parse_line  # noqa: PLC0415

    key = audit_key(args)
    segments, _ = read_segments(audit_folder(args))
    lines = (line for segment in segments for line in segment.lines)
    for line in deque(lines, maxlen=args.last):
        try:
            entry = parse_line(line, key)
        except Broken as broken:
            print(f"(bad line: {broken})", file=sys.stderr)
            continue
        if args.json:
            print(json.dumps(entry.to_json()))
        else:
            data = visible(json.dumps(entry.data, ensure_ascii=False))
            text = f"{entry.seq} {visible(entry.time)} {visible(entry.kind)} {data}"
            encoding = sys.stdout.encoding or "ascii"
            print(text.encode(encoding, "backslashreplace").decode(encoding))
    _require_intact(_verify(args))
    return 0


def _verify(args: argparse.Namespace) -> "Report":
    from execkit_mcp.audit import verify_folder  # noqa: PLC0415 # heavy imports belong to the run

    return verify_folder(audit_folder(args), key=audit_key(args))


def _require_intact(report: "Report") -> None:
    from execkit_mcp.errors import AuditChainBroken  # noqa: PLC0415 # heavy imports belong to the run

    if report.problem is not None:
        raise AuditChainBroken(
            f"The record is not whole from here on: {report.problem}.",
            hint=f"{report.entries} entries before it hold. Keep the folder as evidence.",
            details=report.to_json(),
        )


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
