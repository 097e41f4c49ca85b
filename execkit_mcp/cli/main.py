"""The entry point: finds the command, runs it, turns errors into exit codes.

Exit codes: 0 ok, 1 failed, 2 usage or configuration, 3 denied, 124 timed out; ``run`` passes the command's own on.
"""

import argparse
import importlib
import io
import itertools
import os
import sys
from collections.abc import Sequence
from typing import Final

from execkit_mcp.errors import ExecKitError
from execkit_mcp.model.version import VERSION

# command → module; a module may provide several commands
COMMANDS: Final[dict[str, str]] = {
    "serve": "serve",
    "web": "web",
    "run": "run",
    "targets": "targets",
    "policy": "policy",
    "redact": "redact",
    "approvals": "approvals",
    "approve": "approvals",
    "deny": "approvals",
    "grants": "grants",
    "approver": "approver",
    "watch": "watch",
    "audit": "audit",
    "setup": "setup",
    "doctor": "doctor",
    "hook": "hook.command",
    "tokens": "tokens",
}

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_DENIED: Final = 3
EXIT_TIMED_OUT: Final = 124
EXIT_INTERRUPTED: Final = 130

_EXIT_BY_PREFIX: Final = (
    ("config.", EXIT_USAGE),
    ("policy.document_invalid", EXIT_USAGE),
    ("policy.example_failed", EXIT_USAGE),
    ("command.invalid", EXIT_USAGE),
    ("command.too_large", EXIT_USAGE),
    ("transport.unknown", EXIT_USAGE),
    ("policy.denied", EXIT_DENIED),
    ("approval.", EXIT_DENIED),
    ("command.timeout", EXIT_TIMED_OUT),
)

_EXAMPLES: Final = """\
examples:
  execkit-mcp serve --policy workstation          the MCP server, on standard input and output
  execkit-mcp run --policy read-only -- ls -l     one command through every gate
  execkit-mcp policy explain -- 'rm -rf build'    what would be decided, and why
"""


def exit_code(error: ExecKitError) -> int:
    """The exit code that stands for ``error``."""
    return next((code for prefix, code in _EXIT_BY_PREFIX if error.code.startswith(prefix)), EXIT_FAILED)


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser; with a known ``command`` only that one's module is imported."""
    parser = argparse.ArgumentParser(
        prog="execkit-mcp",
        description="Safe, persistent shell sessions for AI agents: an MCP server and a command line.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"execkit-mcp {VERSION}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = [COMMANDS[command]] if command in COMMANDS else list(dict.fromkeys(COMMANDS.values()))
    for module in wanted:
        importlib.import_module(f"execkit_mcp.cli.{module}").add_to(subparsers)
    return parser


def run(argv: Sequence[str]) -> int:
    """Run the command line ``argv`` (without the program's name) and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # what the terminal's encoding lacks is shown as its code
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = build_parser(argv[0] if argv else None)
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        here = " ".join(["execkit-mcp", *itertools.takewhile(lambda word: word.isidentifier(), argv[:2])])
        parser.error(f"unrecognized arguments: {' '.join(unknown)} (what there is: {here} --help)")
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except ExecKitError as error:
        print(f"execkit-mcp: {error}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the interpreter's last flush is silent
        return EXIT_FAILED
    return code
