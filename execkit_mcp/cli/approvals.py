"""The commands ``approvals``, ``approve`` and ``deny``: where a person answers what an agent asked."""

import argparse
import sys
from typing import TYPE_CHECKING

from execkit_mcp.cli.person import open_desk, refuse_inside_a_session, show, user, whole_time
from execkit_mcp.cli.state import add_state_options

if TYPE_CHECKING:
    from execkit_mcp.approvals import Approval, Scope
    from execkit_mcp.runtime.desk import ApprovalDesk

__all__ = ["add_to", "run_decide", "run_list"]

_LIST_EXAMPLE = """\
examples:
  execkit-mcp approvals                     what waits for an answer
  execkit-mcp approvals --all --json        also what was answered, one JSON object a line
  execkit-mcp approvals --all --limit 1000  one line for each of the newest 1000
"""
_APPROVE_EXAMPLE = """\
examples:
  execkit-mcp approve apr_0123456789abcdef                       this command, once
  execkit-mcp approve apr_0123456789abcdef --session             the very same one, while its session is open
  execkit-mcp approve apr_0123456789abcdef --for 30m --uses 5    the very same one, for 30 minutes, at most 5 times
  execkit-mcp approve apr_0123456789abcdef --until 18:00
  execkit-mcp approve apr_0123456789abcdef --edit 'rm -r build/tmp'   another text; it is judged again
  execkit-mcp approve apr_0123456789abcdef --always              prints the narrowest rule; decides nothing
  execkit-mcp approve apr_0123456789abcdef --code 123456         a critical one, where an approver is enrolled
"""
_DENY_EXAMPLE = """\
example:
  execkit-mcp deny apr_0123456789abcdef --reason 'wait for the change window'
"""
_FULL = 20


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the three commands."""
    listing = _add(subparsers, "approvals", "list what waits for a person's answer", _LIST_EXAMPLE)
    listing.add_argument("--all", action="store_true", help="also what was answered, used or ran out")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.add_argument(
        "--limit",
        type=int,
        default=100,
        metavar="N",
        help="with --all: the newest N (default 100); above 20 a line each",
    )
    listing.set_defaults(run=run_list)
    for name, text, example in (
        ("approve", "let a command run, once", _APPROVE_EXAMPLE),
        ("deny", "refuse a command", _DENY_EXAMPLE),
    ):
        parser = _add(subparsers, name, text, example)
        parser.add_argument("id", metavar="ID", help="the approval, as `execkit-mcp approvals` lists it, or a token")
        parser.add_argument("--reason", default="", metavar="TEXT", help="why; the agent reads it after a no")
        parser.set_defaults(run=run_decide, is_approval=name == "approve")
        if name == "approve":
            reach = parser.add_mutually_exclusive_group()
            reach.add_argument(
                "--session", action="store_true", help="the same command again, while its session is open"
            )
            reach.add_argument("--until", metavar="TIME", help="the same command until then: 18:00, 2030-01-31T18:00")
            reach.add_argument(
                "--for", dest="span", metavar="SPAN", help="the same command for so long: 45s, 30m, 2h, 1d"
            )
            reach.add_argument("--edit", metavar="COMMAND", help="run this instead, once; it is judged again")
            reach.add_argument(
                "--always", action="store_true", help="print the rule that would allow it, and decide nothing"
            )
            parser.add_argument("--uses", type=int, metavar="N", help="with --session, --until, --for: at most N runs")
            parser.add_argument("--code", metavar="DIGITS", help="what the approver's authenticator shows")
            parser.add_argument("--yes", action="store_true", help="do not ask back on a terminal")


def run_list(args: argparse.Namespace) -> int:
    """List approvals; exit code 0, also when there is none."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    from execkit_mcp.approvals import summary  # noqa: PLC0415

    desk = open_desk(args)
    approvals = desk.latest(max(1, args.limit)) if args.all else desk.pending()
    if args.json:
        for approval in approvals:
            print(json.dumps(approval.to_json()))
    elif not approvals:
        print("No approval waits.")
    elif len(approvals) > _FULL:
        now_s = desk.now_s()
        show("\n".join(summary(approval, now_s=now_s) for approval in approvals))
    else:
        show("\n\n".join(desk.text_of(desk.get(approval.id) or approval) for approval in approvals))
    damaged = desk.damaged()
    if damaged:
        print(
            f"execkit-mcp: {damaged} approvals in the database are not as they were written; they are left out and"
            " nothing runs on them. Find out who changed them; then move execkit.db away to begin with an empty one.",
            file=sys.stderr,
        )
    return 0


def run_decide(args: argparse.Namespace) -> int:
    """Show what is asked, write down the answer and put it on the record; exit code 0 if it counts."""
    from execkit_mcp.approvals import Channel, State  # noqa: PLC0415 # heavy: belongs to the run
    from execkit_mcp.approvals.tokens import is_token  # noqa: PLC0415
    from execkit_mcp.runtime.token_answer import answer_with  # noqa: PLC0415

    refuse_inside_a_session()
    desk = open_desk(args)
    approval_id = desk.tokens.approval_of(args.id) if is_token(args.id) else args.id
    found = desk.get(approval_id)
    if found is not None:
        show(desk.text_of(found))
    is_open = found is not None and found.state is State.PENDING
    if args.is_approval and found is not None and args.always:
        return _print_rule(args, found)
    scope = _scope(args, desk.now_s()) if args.is_approval else None
    if args.is_approval and is_token(args.id):
        _refuse_beside_a_token(args)
    if args.is_approval and args.edit:
        _show_judged(args, found)
    if is_open and args.is_approval and found is not None and not _is_sure(args, found, desk):
        print("Not approved; it still waits.")
        return 1
    who = user()
    if is_token(args.id):
        decided = answer_with(
            desk, args.id, approve=args.is_approval, who=who, reason=args.reason, code=getattr(args, "code", None)
        )
    elif args.is_approval:
        decided = desk.approve(
            approval_id, by=Channel.CLI, who=who, scope=scope, edited=args.edit, code=args.code, reason=args.reason
        )
    else:
        decided = desk.deny(approval_id, by=Channel.CLI, who=who, reason=args.reason)
    print(f"{_outcome(decided, scope) if args.is_approval else 'Denied'}: {decided.id}")
    return 0


def _outcome(decided: "Approval", scope: "Scope | None") -> str:
    from execkit_mcp.approvals import ScopeKind  # noqa: PLC0415

    if decided.edited:
        return "Approved with another text, for one run"
    if scope is None or scope.kind is ScopeKind.ONCE:
        return "Approved, for one run"
    much = "" if scope.uses is None else f", at most {scope.uses} run{'s' if scope.uses > 1 else ''}"
    if scope.kind is ScopeKind.SESSION:
        return f"Approved while its session is open{much} (execkit-mcp grants list)"
    return f"Approved until {whole_time(scope.ends_s(0))}{much} (execkit-mcp grants list)"


def _scope(args: argparse.Namespace, now_s: float) -> "Scope":
    from execkit_mcp.approvals import Scope  # noqa: PLC0415
    from execkit_mcp.cli.person import moment, span  # noqa: PLC0415
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    if args.session:
        return Scope.session(uses=args.uses).checked(now_s)
    if args.until is not None:
        return Scope.until(moment(args.until, now_s), uses=args.uses).checked(now_s)
    if args.span is not None:
        return Scope.until(now_s + span(args.span), uses=args.uses).checked(now_s)
    if args.uses is not None:
        raise CommandInvalid("--uses goes with --session, --until or --for.", hint="Without them a yes is for one run.")
    return Scope.once()


def _refuse_beside_a_token(args: argparse.Namespace) -> None:
    """A token is a yes or a no to the command that was posted with it."""
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    if args.edit is not None or args.session or args.until is not None or args.span is not None:
        raise CommandInvalid(
            "A token lets the command run once, as it was posted: without --edit, --session, --until and --for.",
            hint="Nothing was decided. Give the approval's id, apr_…, in its place.",
        )


def _is_sure(args: argparse.Namespace, found: "Approval", desk: "ApprovalDesk") -> bool:
    """Ask back on a terminal; there the code is asked for as well."""
    from execkit_mcp.cli.person import ask  # noqa: PLC0415

    if not sys.stdin.isatty():
        return True
    if desk.needs_code(found) and not args.code:
        args.code = ask("The approver's code (6 digits): ")
        return bool(args.code)
    return args.yes or ask("Let it run? [y/N] ").lower() in {"y", "yes"}


def _print_rule(args: argparse.Namespace, found: "Approval") -> int:
    from execkit_mcp.approvals import State  # noqa: PLC0415
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
    from execkit_mcp.runtime.always import suggested_rule  # noqa: PLC0415

    settings = load_settings(config=args.config, state_dir=args.state_dir)
    suggestion = suggested_rule(found.request, settings)
    print()
    show(suggestion.text)
    rest = ": the approval still waits for approve or deny" if found.state is State.PENDING else ""
    print(f"\nNothing was decided{rest}.", file=sys.stderr)
    return 0 if suggestion.is_rule else 1


def _show_judged(args: argparse.Namespace, found: "Approval | None") -> None:
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
    from execkit_mcp.runtime.always import preview  # noqa: PLC0415

    if found is None:
        return
    told = preview(args.edit, found.request, load_settings(config=args.config, state_dir=args.state_dir))
    if told:
        show(told)


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
