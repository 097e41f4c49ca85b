"""The command ``grants``: what was allowed for more than one run, and taking it back."""

import argparse
from typing import TYPE_CHECKING

from execkit_mcp.cli.person import open_desk, refuse_inside_a_session, show, user, whole_time
from execkit_mcp.cli.state import add_state_options

if TYPE_CHECKING:
    from execkit_mcp.approvals import Grant

__all__ = ["add_to"]

_EXAMPLE = """\
examples:
  execkit-mcp grants list                       what holds now
  execkit-mcp grants list --all --json          also what ended, one JSON object a line
  execkit-mcp grants revoke grt_0123456789abcdef
  execkit-mcp grants revoke --all
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register ``grants list`` and ``grants revoke``."""
    parser = subparsers.add_parser(
        "grants",
        help="list and revoke what was allowed for more than one run",
        description="A grant covers one command in one folder on one target under one policy, for one requester.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_state_options(parser)
    parser.set_defaults(run=run_list, all=False, json=False)
    parts = parser.add_subparsers(dest="part", metavar="list|revoke")
    listing = parts.add_parser("list", help="what holds", epilog=_EXAMPLE, formatter_class=parser.formatter_class)
    listing.add_argument("--all", action="store_true", help="also what ended or was revoked")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=run_list)
    revoking = parts.add_parser("revoke", help="take one back", epilog=_EXAMPLE, formatter_class=parser.formatter_class)
    revoking.add_argument("id", metavar="ID", nargs="?", help="the grant, as `grants list` shows it")
    revoking.add_argument("--all", action="store_true", help="every grant that holds")
    revoking.set_defaults(run=run_revoke)
    for part in (listing, revoking):
        add_state_options(part, is_again=True)


def run_list(args: argparse.Namespace) -> int:
    """List grants; exit code 0, also when there is none."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    desk = open_desk(args)
    grants = desk.grants(all=args.all)
    if args.json:
        for grant in grants:
            print(json.dumps({**grant.to_json(), "is_live": grant.is_live(desk.now_s())}))
    elif grants:
        show("\n\n".join(_described(grant, desk.now_s()) for grant in grants))
    else:
        print("No grant holds.")
    return 0


def run_revoke(args: argparse.Namespace) -> int:
    """Take grants back and put that on the record; exit code 0 if they are gone."""
    from execkit_mcp.approvals import Channel  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    refuse_inside_a_session()
    if (args.id is None) is not bool(args.all):
        raise CommandInvalid("Name one grant, or say --all.", hint="`execkit-mcp grants list` lists them.")
    desk = open_desk(args)
    ids = [grant.id for grant in desk.grants()] if args.all else [args.id]
    for grant_id in ids:
        print(f"Revoked: {desk.revoke(grant_id, by=Channel.CLI, who=user()).id}")
    if not ids:
        print("No grant holds.")
    return 0


def _described(grant: "Grant", now_s: float) -> str:
    from execkit_mcp.approvals import ScopeKind, visible  # noqa: PLC0415 # heavy imports belong to the run

    of = "" if grant.max_uses is None else f" of {grant.max_uses}"
    if grant.revoked_s is not None:
        standing = f"revoked {whole_time(grant.revoked_s)} ({visible(grant.revoked_by)})"
    elif not grant.is_whole:
        standing = "DAMAGED: not as it was written, never used"
    elif grant.is_live(now_s):
        standing = f"holds until {whole_time(grant.expires_s)}"
        if grant.scope is ScopeKind.SESSION:
            standing = f"holds while session {visible(grant.session)} is open, {standing[6:]} at most"
    else:
        standing = "ended"
    text = "\n           | ".join(visible(line) for line in grant.canonical.split("\n"))
    return "\n".join(
        [
            f"{grant.id}: {standing}; used {grant.uses}{of} times",
            f"command    : {text}",
            f"where      : {visible(grant.target)}, in {visible(grant.cwd)}",
            f"for        : {visible(grant.requester)}, policy {visible(grant.request.policy.name)}",
            f"given by   : {visible(grant.who)} over {visible(grant.granted_by)} ({grant.approval_id})",
        ]
    )
