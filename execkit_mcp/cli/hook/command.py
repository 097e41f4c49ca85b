"""The long way into ``hook``: its help and its complaints; calls that are well formed take the short one."""

import argparse

_EPILOG = """\
example, as a client would call it:
  echo '{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "cwd": "/srv"}' |
    execkit-mcp hook --client claude-code --policy read-only

execkit-mcp setup CLIENT --hook puts it into the client's configuration. What the policy allows is given back in its
canonical form; what it asks is asked by the client where it can, else refused.

exit codes: 0 the answer stands on standard output, 2 refused (whatever went wrong; standard error says what).
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    from execkit_mcp.cli.hook.forms import FORMS  # noqa: PLC0415 - only for the help
    from execkit_mcp.cli.options import add_settings  # noqa: PLC0415

    parser = subparsers.add_parser(
        "hook",
        help="judge a client's own shell tool",
        description="Judge one command of a client's own shell tool: its request on standard input, the answer out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--client", required=True, choices=[*FORMS, "claude", "gemini"], help="whose hook it is")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Reached only by arguments that the short way does not take: a refusal."""
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415 - only when running

    raise CommandInvalid("An option of hook stands there twice.", hint="Give each option once.")
