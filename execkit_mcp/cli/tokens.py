"""The command ``tokens``: who may call the HTTP server, and how much each may do."""

import argparse
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from execkit_mcp.cli.state import add_state_options, audit_folder, audit_key, state_folder
from execkit_mcp.errors import ApprovalDenied, CommandInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execkit_mcp.audit import AuditLog
    from execkit_mcp.storage.tokens import Token, Tokens, TokenScope

_EXAMPLE = """\
examples:
  execkit-mcp tokens create laptop                               prints the token, once
  execkit-mcp tokens create ci --read-only --expires 12h
  execkit-mcp tokens create ops --target prod-1 --policy prod-readonly
  execkit-mcp tokens create prometheus --metrics --expires never
  execkit-mcp tokens list
  execkit-mcp tokens revoke laptop
"""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DEFAULT_EXPIRY: Final = "90d"


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "tokens",
        help="make, list and revoke bearer tokens for `serve --transport http`",
        description="Make, list and revoke bearer tokens for `serve --transport http`.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a token and print it; it is shown only now", epilog=_EXAMPLE,
                                formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    create.add_argument("name", metavar="NAME", help="who or what it is for; sessions belong to this name")
    create.add_argument("--target", action="append", metavar="T", help="only this target (may be repeated)")
    create.add_argument(
        "--policy", action="append", metavar="NAME|FILE", help="this policy must allow a command too (may be repeated)"
    )
    create.add_argument("--read-only", action="store_true", help="the same as --policy read-only")
    create.add_argument("--metrics", action="store_true", help="it reads /metrics and nothing else")
    create.add_argument(
        "--expires", default=_DEFAULT_EXPIRY, metavar="TIME", help="30s, 12h, 90d, 4w or never (default: 90d)"
    )
    create.set_defaults(run=run_create)
    listing = actions.add_parser("list", help="show tokens, without their secrets")
    listing.add_argument("--all", action="store_true", help="also expired and revoked ones")
    listing.set_defaults(run=run_list)
    revoke = actions.add_parser("revoke", help="end a token at once")
    revoke.add_argument("name", metavar="NAME|ID", help="as `tokens list` shows it")
    revoke.set_defaults(run=run_revoke)
    for each in (create, listing, revoke):
        add_state_options(each)
        each.add_argument("--json", action="store_true", help="JSON, one object a line")


def run_create(args: argparse.Namespace) -> int:
    """Make a token: the token alone on standard output, everything else on standard error."""
    import json  # noqa: PLC0415 # heavy imports belong to the run
    import sys  # noqa: PLC0415

    _refuse_agents()
    scope, lasts_s = _scope(args), seconds(args.expires)
    with _open(args) as (tokens, log):
        token, text = tokens.create(args.name, scope, lasts_s=lasts_s)
        log.append("token.created", _facts(token, tokens.now_s()))
        if args.json:
            print(json.dumps({"token": text, **_facts(token, tokens.now_s())}))
            return 0
    print(text)
    sys.stderr.write(
        f"Token {token.name} ({token.id}): {scope.words()}; {_until(token)}.\n"
        "It is shown only now. Clients send it as the header  Authorization: Bearer TOKEN\n"
    )
    return 0


def run_list(args: argparse.Namespace) -> int:
    """List tokens."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    with _open(args) as (tokens, _):
        now_s = tokens.now_s()
        rows = [token for token in tokens.all() if args.all or token.state(now_s) == "active"]
    if args.json:
        for token in rows:
            print(json.dumps(_facts(token, now_s)))
    elif not rows:
        print("No token exists. Make one: execkit-mcp tokens create NAME")
    for token in rows if not args.json else ():
        print(f"{token.id}  {token.name:20} {token.state(now_s):8} {_until(token):24} {token.scope.words()}")
    return 0


def run_revoke(args: argparse.Namespace) -> int:
    """Revoke a token: from now on it opens nothing."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    with _open(args) as (tokens, log):
        token = tokens.revoke(args.name)
        log.append("token.revoked", _facts(token, tokens.now_s()))
        facts = _facts(token, tokens.now_s())
    print(json.dumps(facts) if args.json else f"Revoked: {token.name} ({token.id})")
    return 0


def seconds(text: str) -> float | None:
    """What ``30s``, ``12h``, ``90d`` or ``never`` means.

    Raises:
        CommandInvalid: it means nothing.
    """
    if text == "never":
        return None
    parts = re.fullmatch(r"(\d{1,6})([smhdw])", text)
    if parts is None or int(parts[1]) == 0:
        raise CommandInvalid(f"{text!r} is not a time.", hint="Write 30s, 15m, 12h, 90d, 4w or never.")
    return float(int(parts[1]) * _UNITS[parts[2]])


def _scope(args: argparse.Namespace) -> "TokenScope":
    """What was asked for, if targets and policies exist."""
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 # heavy: belongs to the run
    from execkit_mcp.model.shape import closest  # noqa: PLC0415
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415
    from execkit_mcp.storage.tokens import TokenScope  # noqa: PLC0415

    if args.metrics and (args.target or args.policy or args.read_only):
        raise CommandInvalid("--metrics stands alone: such a token runs nothing.", hint="Make two tokens.")
    settings = load_settings(config=args.config, state_dir=args.state_dir)
    for name in args.target or ():
        if name not in settings.targets:
            raise CommandInvalid(
                f"No target {name!r} is declared{closest(name, settings.targets) or '.'}",
                hint=f"Declared: {', '.join(settings.targets)}.",
            )
    policies = tuple(dict.fromkeys(map(_policy_name, args.policy or ())))
    for policy in policies:
        load_policy(policy)
    return TokenScope(
        targets=tuple(dict.fromkeys(args.target)) if args.target else None,
        policies=policies,
        read_only=args.read_only,
        metrics=args.metrics,
    )


def _policy_name(name: str) -> str:
    """A shipped name as it is, a file by its full path: the server may stand in another folder."""
    from pathlib import Path  # noqa: PLC0415 # only here

    from execkit_mcp.config.settings_file import is_policy_file  # noqa: PLC0415

    return str(Path(name).expanduser().absolute()) if is_policy_file(name) else name


def _refuse_agents() -> None:
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415 # only where it matters

    if is_inside_a_session():
        raise ApprovalDenied(
            "Nobody can make tokens from inside an execkit session.", hint="Run this in a terminal of your own."
        )


@contextmanager
def _open(args: argparse.Namespace) -> "Iterator[tuple[Tokens, AuditLog]]":
    """The tokens, and the record of who made and ended them."""
    from execkit_mcp.audit import AuditLog  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.runtime.system import SystemClock, SystemEntropy  # noqa: PLC0415
    from execkit_mcp.storage import open_database  # noqa: PLC0415
    from execkit_mcp.storage.tokens import Tokens  # noqa: PLC0415

    clock, entropy = SystemClock(), SystemEntropy()
    database = open_database(state_folder(args))
    try:
        log = AuditLog.open(audit_folder(args), clock=clock, entropy=entropy, key=audit_key(args))
        try:
            yield Tokens(database, clock=clock, entropy=entropy), log
        finally:
            log.close()
    finally:
        database.close()


def _facts(token: "Token", now_s: float) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "state": token.state(now_s),
        "created_s": token.created_s,
        "expires_s": token.expires_s,
        "targets": list(token.scope.targets) if token.scope.targets is not None else None,
        "policies": list(token.scope.policies),
        "read_only": token.scope.read_only,
        "metrics": token.scope.metrics,
    }


def _until(token: "Token") -> str:
    import time  # noqa: PLC0415 # only here

    if token.expires_s is None:
        return "never expires"
    return time.strftime("expires %Y-%m-%d %H:%MZ", time.gmtime(token.expires_s))
