"""``execkit-mcp serve``: the MCP server."""

import argparse

_EPILOG = """\
example:
  execkit-mcp serve --policy workstation --workspace ~/src/app

A client starts this itself; put it into the client's configuration (see the README). Standard output carries protocol
lines only; everything for people goes to standard error.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "serve",
        help="run the MCP server",
        description="Run the MCP server on standard input and output.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from execkit_mcp.cli.options import add_settings  # noqa: PLC0415 - keeps --help of other commands quick

    add_settings(parser)
    parser.add_argument("--transport", choices=["stdio"], default="stdio", help="stdio (the only one today)")
    parser.add_argument(
        "--read-only", action="store_true", help="the same as --policy read-only; refuses any other --policy"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the input ends or SIGTERM comes."""
    from execkit_mcp.errors import ConfigError  # noqa: PLC0415 - only when serving

    policy = arguments.policy
    if arguments.read_only:
        if policy not in (None, "read-only"):
            raise ConfigError(
                f"--read-only and --policy {policy} contradict each other.", hint="Leave out one of them."
            )
        policy = "read-only"
    from execkit_mcp.server.serve import serve_stdio  # noqa: PLC0415 - imports the MCP SDK

    return serve_stdio(
        policy=policy, config=arguments.config, workspace=arguments.workspace, state_dir=arguments.state_dir
    )
