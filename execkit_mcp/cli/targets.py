"""``execkit-mcp targets``: what can be opened, and what would hold there."""

import argparse

_EPILOG = """\
example:
  execkit-mcp targets --json
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "targets",
        help="list targets with capabilities and fence",
        description="List the declared targets with their transport, policy, capabilities and fence.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", metavar="FILE", help="the configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


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
        print(f"{row['name']}: {row['transport']}, policy {row['policy']}, {state}")
        capabilities = row["capabilities"]
        if isinstance(capabilities, list) and capabilities:
            print(f"  capabilities: {', '.join(map(str, capabilities))}")
        print(f"  fence: {row['fence']}")
    return 0
