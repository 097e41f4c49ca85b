"""The commands ``approvals``, ``approve`` and ``deny``: where a person answers what an agent asked."""

import argparse
import sys
from typing import TYPE_CHECKING

from execkit_mcp.cli.state import add_state_options, audit_folder, audit_key, state_folder

if TYPE_CHECKING:
    from execkit_mcp.approvals import Approval, ApprovalQueue

__all__ = ["add_to", "run_decide", "run_list"]

_LIST_EXAMPLE = """\
examples:
  execkit-mcp approvals                     what waits for an answer
  execkit-mcp approvals --all --json        also what was answered, one JSON object a line
"""
_APPROVE_EXAMPLE = """\
example:
  execkit-mcp approve apr_0123456789abcdef
"""
_DENY_EXAMPLE = """\
example:
  execkit-mcp deny apr_0123456789abcdef --reason 'wait for the change window'
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the three commands."""
    listing = _add(subparsers, "approvals", "list what waits for a person's answer", _LIST_EXAMPLE)
    listing.add_argument("--all", action="store_true", help="also what was answered, used or ran out")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=run_list)
    for name, text, example in (
        ("approve", "let a command run, once", _APPROVE_EXAMPLE),
        ("deny", "refuse a command", _DENY_EXAMPLE),
    ):
        parser = _add(subparsers, name, text, example)
        parser.add_argument("id", metavar="ID", help="the approval, as `execkit-mcp approvals` lists it")
        parser.add_argument("--reason", default="", metavar="TEXT", help="why; the agent reads it after a no")
        parser.set_defaults(run=run_decide, is_approval=name == "approve")
        if name == "approve":
            parser.add_argument("--yes", action="store_true", help="do not ask back on a terminal")


def run_list(args: argparse.Namespace) -> int:
    """List approvals; exit code 0, also when there is none."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    from execkit_mcp.approvals import describe  # noqa: PLC0415

    queue = _open_queue(args)
    approvals = queue.latest() if args.all else queue.pending()
    if args.json:
        for approval in approvals:
            print(json.dumps(approval.to_json()))
    elif approvals:
        _show("\n\n".join(describe(approval, now_s=queue.now_s()) for approval in approvals))
    else:
        print("No approval waits.")
    return 0


def run_decide(args: argparse.Namespace) -> int:
    """Show what is asked, write down the answer and put it on the record; exit code 0 if it counts."""
    from execkit_mcp.approvals import Channel, State, describe  # noqa: PLC0415 # heavy: belongs to the run
    from execkit_mcp.audit import AuditLog  # noqa: PLC0415
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415
    from execkit_mcp.errors import ApprovalDenied  # noqa: PLC0415
    from execkit_mcp.runtime.system import SystemClock, SystemEntropy  # noqa: PLC0415

    if is_inside_a_session():
        raise ApprovalDenied(
            "Nobody can answer approvals from inside an execkit session.",
            hint="Run this in a terminal of your own.",
        )
    queue = _open_queue(args)
    found = queue.get(args.id)
    if found is not None:
        _show(describe(found, now_s=queue.now_s()))
    if (
        found is not None
        and found.state is State.PENDING
        and args.is_approval
        and not args.yes
        and sys.stdin.isatty()
        and input("Let it run, once? [y/N] ").strip().lower() not in {"y", "yes"}
    ):
        print("Not approved; it still waits.")
        return 1
    log = AuditLog.open(audit_folder(args), clock=SystemClock(), entropy=SystemEntropy(), key=audit_key(args))
    try:
        decided = queue.decide(
            args.id,
            approve=args.is_approval,
            by=Channel.CLI,
            who=_user(),
            reason=args.reason,
            record=lambda approval: log.append("approval.decided", _facts(approval)),
        )
    finally:
        log.close()
    print(f"{'Approved, for one run' if args.is_approval else 'Denied'}: {decided.id}")
    return 0


def _add(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, example: str
) -> argparse.ArgumentParser:
    parser = subparsers.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_state_options(parser)
    return parser


def _open_queue(args: argparse.Namespace) -> "ApprovalQueue":
    from execkit_mcp.approvals import ApprovalQueue  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.runtime.system import SystemClock, SystemEntropy  # noqa: PLC0415
    from execkit_mcp.storage import open_database  # noqa: PLC0415

    return ApprovalQueue(open_database(state_folder(args)), clock=SystemClock(), entropy=SystemEntropy())


def _facts(approval: "Approval") -> dict[str, object]:
    """What the record keeps of an answer: the digest stands for the command, which may hold secrets."""
    return {
        "approval_id": approval.id,
        "state": approval.state.value,
        "digest": approval.request.digest(),
        "target": approval.request.target,
        "requester": approval.request.requester,
        "by": approval.decided_by,
        "who": approval.decided_who,
        "reason": approval.reason,
    }


def _user() -> str:
    import os  # noqa: PLC0415
    import pwd  # noqa: PLC0415

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = ""
    return f"{name or 'uid'} ({os.getuid()})"


def _show(text: str) -> None:
    """Print on whatever the terminal can show; what it cannot is written as an escape."""
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
