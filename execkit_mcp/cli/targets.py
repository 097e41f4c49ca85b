"""``execkit-mcp targets``: what can be opened and what would hold there; a target's check; trust in a host's key."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execkit_mcp.config.settings import TargetSettings

_EPILOG = """\
examples:
  execkit-mcp targets --json                  what is declared, with capabilities and fence
  execkit-mcp targets check prod-1            reachable, key, login, shell, latency, fence: step by step
  execkit-mcp targets trust prod-1            show the host's key, ask, and remember it
  execkit-mcp doctor --attack                 which classes of attack are open here
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "targets",
        help="list targets with capabilities and fence, check one, trust a host's key",
        description="List the declared targets with their transport, policy, capabilities and fence.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(parser)
    parser.set_defaults(run=run)
    commands = parser.add_subparsers(dest="targets_command", metavar="COMMAND")
    for name, text, runner in (
        ("check", "go through the steps of opening a session on a target", run_check),
        ("trust", "accept a host's key, after you have compared its fingerprint", run_trust),
    ):
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("name", metavar="NAME", help="a declared target, or ssh://user@host:port")
        _add_options(command, is_inner=True)
        if name == "trust":
            command.add_argument(
                "--fingerprint", metavar="SHA256:…", help="the fingerprint that you expect, instead of the question"
            )
        command.set_defaults(run=runner)


def _add_options(parser: argparse.ArgumentParser, *, is_inner: bool = False) -> None:
    """``--config --json``; what stands before the inner command counts as well."""
    default = argparse.SUPPRESS if is_inner else None
    parser.add_argument("--config", metavar="FILE", default=default, help="the configuration file")
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS if is_inner else False, help="print JSON"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the targets."""
    import json  # noqa: PLC0415 - only when running

    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
    from execkit_mcp.runtime.targets import describe_targets  # noqa: PLC0415

    rows = describe_targets(load_settings(config=arguments.config))
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        state = "ready" if row["available"] else f"not available: {row['reason']}"
        where = f" {row['address']}" if "address" in row else ""
        print(f"{row['name']}: {row['transport']}{where}, policy {row['policy']}, {state}")
        capabilities = row["capabilities"]
        if isinstance(capabilities, list) and capabilities:
            print(f"  capabilities: {', '.join(map(str, capabilities))}")
        _print_fence(row["fence"])
        warnings = row.get("warnings", [])
        for warning in warnings if isinstance(warnings, list) else []:
            print(f"  warning: {warning}")
    return 0


def _named(arguments: argparse.Namespace) -> "tuple[str, dict[str, TargetSettings]]":
    """A declared target, or what an ``ssh://`` URL means."""
    from execkit_mcp.aio import named_target  # noqa: PLC0415 - only when running

    return named_target(arguments.name, arguments.config)


def run_check(arguments: argparse.Namespace) -> int:
    """Print the steps; 0 if all are passed."""
    import json  # noqa: PLC0415 - only when running

    from execkit_mcp.runtime.targets import check_rows  # noqa: PLC0415

    name, given = _named(arguments)
    rows = check_rows(name, config=arguments.config, given=given)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(f"{'ok  ' if row['ok'] else 'FAIL'} {row['step']}: {row['found']}")
            if row["hint"]:
                print(f"     {row['hint']}")
    return 0 if all(row["ok"] for row in rows) else 1


def run_trust(arguments: argparse.Namespace) -> int:
    """Show the key, have it confirmed, remember it."""
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415 - only when running
    from execkit_mcp.cli.main import EXIT_DENIED, EXIT_FAILED, EXIT_USAGE  # noqa: PLC0415
    from execkit_mcp.cli.person import ask  # noqa: PLC0415
    from execkit_mcp.runtime.targets import offered  # noqa: PLC0415

    if is_inside_a_session():
        print("execkit-mcp: a host's key is trusted by the operator, not from inside a session.", file=sys.stderr)
        return EXIT_DENIED
    name, given = _named(arguments)
    found = offered(name, config=arguments.config, given=given)
    if found is None:
        print(f"The host key of {arguments.name} is known already.")
        return 0
    print(f"{found.keys.name} shows the key\n  {found.kind} {found.fingerprint}")
    if arguments.fingerprint is not None:
        if arguments.fingerprint.rstrip("=") != found.fingerprint.rstrip("="):
            print(f"execkit-mcp: that is not {arguments.fingerprint}; nothing was changed.", file=sys.stderr)
            return EXIT_FAILED
    elif not sys.stdin.isatty():
        print("execkit-mcp: nobody to ask here: give the --fingerprint that you expect.", file=sys.stderr)
        return EXIT_USAGE
    elif ask("Compare it with the host's own. Type yes to trust it: ").lower() != "yes":
        print("Nothing was changed.")
        return EXIT_FAILED
    print(f"It is trusted from now on: {found.keys.trust()}")
    return 0


def _print_fence(fence: object) -> None:
    """Level, mechanisms and what they leave open, in words."""
    if not isinstance(fence, dict):
        return
    gate = "on" if fence["exec_gate"] else "off"
    print(f"  fence: {fence['level']}, exec gate {gate}, network {fence['network']}")
    if fence.get("mechanisms"):
        print(f"    holds by: {', '.join(map(str, fence['mechanisms']))}")
    for hole in fence.get("holes", ()):
        print(f"    open: {hole}")
