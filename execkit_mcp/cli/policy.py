"""``execkit-mcp policy``: what a policy says, without running anything.

Here are ``check explain test schema``; ``diff replay suggest mutate`` stand in ``policy_operator``.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final

from execkit_mcp.cli import policy_operator

if TYPE_CHECKING:
    from execkit_mcp.model import Decision
    from execkit_mcp.policy import CompiledPolicy, Context

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_DENIED: Final = 3
MAX_LINE_BYTES: Final = 1 << 20
_FIELDS: Final = ("command", "cwd", "home")

_CHECK_EPILOG = """\
examples:
  execkit-mcp policy check --policy read-only -- 'grep -rn TODO src | head'
  echo '{"command": "rm -rf /", "cwd": "/srv"}' | execkit-mcp policy check --policy read-only --json

exit codes: 0 allow, 3 ask or deny. With --json 0 once every line was answered, 2 if a line was no request
(the answer to that line is {"error": {...}}, and the lines after it are answered all the same).
"""
_EXPLAIN_EPILOG = """\
example:
  execkit-mcp policy explain --policy read-only -- 'find . -name "*.log" -delete'
"""
_TEST_EPILOG = """\
example:
  execkit-mcp policy test ./team.yaml

A rule that can never match or decide is warned of; a warning changes no exit code.

exit codes: 0 every test holds, 1 a test does not hold, 2 the document does not load.
"""
_SCHEMA_EPILOG = """\
example:
  execkit-mcp policy schema > policy.schema.json
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command and its parts."""
    parser = subparsers.add_parser(
        "policy",
        help="check, explain and test policies",
        description="What a policy says about a command, without running anything.",
        epilog=_CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(
        dest="part", metavar="check|explain|test|schema|diff|replay|suggest|mutate", required=True
    )
    check = _part(parts, "check", "the verdict on a command", _CHECK_EPILOG, run_check)
    check.add_argument("--json", action="store_true", help="answer JSON requests, one a line, from standard input")
    explain = _part(parts, "explain", "the verdict on a command with its reasons", _EXPLAIN_EPILOG, run_explain)
    explain.add_argument("--json", action="store_true", help="print the decision as JSON")
    for judging in (check, explain):
        judging.add_argument("--policy", metavar="NAME|FILE", help="a shipped policy or a policy file")
        judging.add_argument("--config", metavar="FILE", help="the configuration file, for the default policy")
        _add_context(judging)
        judging.add_argument("text", metavar="COMMAND", nargs="*", help="the command, after --")
    test = _part(parts, "test", "run the tests inside policies", _TEST_EPILOG, run_test)
    test.add_argument("--policy", metavar="NAME|FILE", action="append", default=[], help="a policy; may be repeated")
    test.add_argument("files", metavar="NAME|FILE", nargs="*", help="policies (default: every shipped one)")
    _part(parts, "schema", "print the JSON Schema of policy files", _SCHEMA_EPILOG, run_schema)
    policy_operator.add_to(partial(_part, parts), _add_context)


def _add_context(parser: argparse.ArgumentParser) -> None:
    """``--workspace --cwd --home``: where commands would run."""
    parser.add_argument("--workspace", metavar="DIR", help="what ${workspace} means (default: the current folder)")
    parser.add_argument("--cwd", metavar="DIR", help="where the command would run (default: the workspace)")
    parser.add_argument("--home", metavar="DIR", help="what ~ means (default: your home)")


def _part(
    parts: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    epilog: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = parts.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


# ── check and explain
# ────────────────────────────────────────────────────────────────────────────────────────


def run_check(arguments: argparse.Namespace) -> int:
    """Print the verdict, or answer a stream of requests."""
    from execkit_mcp.model import Verdict  # noqa: PLC0415 - only when running

    if arguments.json and not arguments.text:
        policy, context = judge_with(arguments)
        return _answer_lines(sys.stdin.buffer, policy, context)
    decision, _, _ = _decide(arguments)
    if arguments.json:
        _print_json(decision.to_json())
    else:
        print(f"{decision.verdict.word}: {decision.message}")
        if decision.hint and decision.verdict is not Verdict.ALLOW:
            print(decision.hint)
        _point_to_test(arguments.text)
    return 0 if decision.verdict is Verdict.ALLOW else EXIT_DENIED


def _point_to_test(words: list[str]) -> None:
    """A policy's file in the place of a command is likely meant to be tested."""
    from pathlib import Path  # noqa: PLC0415 - only when running

    if len(words) == 1 and words[0].endswith((".yaml", ".yml")) and Path(words[0]).is_file():
        print(
            f"execkit-mcp: {words[0]} was judged as a command. Its own tests: execkit-mcp policy test {words[0]}",
            file=sys.stderr,
        )


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the verdict with every reason; the exit code is 0 whatever it is."""
    from execkit_mcp.cli.colour import painter  # noqa: PLC0415 - only when running
    from execkit_mcp.policy.explain import explain, explain_json  # noqa: PLC0415

    decision, policy, context = _decide(arguments)
    if arguments.json:
        _print_json(explain_json(decision, policy, context))
    else:
        print(explain(decision, policy, context, paint=painter(sys.stdout)))
    return 0


def _decide(arguments: argparse.Namespace) -> "tuple[Decision, CompiledPolicy, Context]":
    import shlex  # noqa: PLC0415 - only when running

    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415
    from execkit_mcp.policy import judge  # noqa: PLC0415

    words: list[str] = arguments.text
    if not words:
        raise CommandInvalid("There is no command to judge.", hint="Write it after --, in quotes.")
    policy, context = judge_with(arguments)
    text = words[0] if len(words) == 1 else shlex.join(words)
    return judge(text, policy, context), policy, context


def judge_with(arguments: argparse.Namespace) -> "tuple[CompiledPolicy, Context]":
    """The policy that was named, or the configured one, and where commands would run."""
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415 - only when running

    name = arguments.policy
    if name is None:
        from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 - a named policy needs no settings

        name = load_settings(config=arguments.config).policy
    policy = load_policy(name)
    return policy, context_for(arguments, policy)


def context_for(arguments: argparse.Namespace, policy: "CompiledPolicy") -> "Context":
    """Where commands would run, on this machine."""
    from pathlib import Path  # noqa: PLC0415 - only when running

    from execkit_mcp.config.locations import home_dir  # noqa: PLC0415
    from execkit_mcp.policy import Context  # noqa: PLC0415
    from execkit_mcp.runtime.programs import LocalPrograms  # noqa: PLC0415

    workspace = Path(arguments.workspace or ".").expanduser().resolve()
    return Context(
        cwd=str((workspace / Path(arguments.cwd or ".").expanduser()).absolute()),
        home=str(Path(arguments.home).expanduser().absolute() if arguments.home else home_dir()),
        workspace=str(workspace),
        locator=LocalPrograms(policy.document.program_folders, policy.document.programs),
    )


def _answer_lines(stream: BinaryIO, policy: "CompiledPolicy", context: "Context") -> int:
    """One answer a request, flushed at once; 2 if some line was no request."""
    from msgspec.structs import replace  # noqa: PLC0415 - only when running

    from execkit_mcp.errors import CommandInvalid, CommandTooLarge  # noqa: PLC0415
    from execkit_mcp.policy import judge  # noqa: PLC0415

    exit_code = 0
    for number, line in enumerate(_lines(stream), start=1):
        if line is not None and not line.strip():
            continue
        try:
            request = _request(line, number)
            cwd, home = request.get("cwd", context.cwd), request.get("home", context.home)
            decision = judge(request["command"], policy, replace(context, cwd=cwd, home=home))
            _print_json(decision.to_json())
        except (CommandInvalid, CommandTooLarge) as error:
            exit_code = EXIT_USAGE
            _print_json({"error": error.to_json()})
    return exit_code


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of ``stream``; None for one that is too long, the rest of which is passed over."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) <= MAX_LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE_BYTES)
        yield None


def _request(line: bytes | None, number: int) -> dict[str, str]:
    """The fields of one request; raises CommandInvalid or CommandTooLarge."""
    from execkit_mcp.errors import CommandInvalid, CommandTooLarge  # noqa: PLC0415 - only when running

    where = f"Line {number} of standard input"
    if line is None:
        raise CommandTooLarge(f"{where} is over {MAX_LINE_BYTES} bytes.", hint="Send a shorter command.")
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CommandInvalid(f"{where} is not JSON: {error}.", hint='Write {"command": "…"}.') from None
    if not isinstance(request, dict) or not isinstance(request.get("command"), str):
        raise CommandInvalid(f"{where} has no text under command.", hint='Write {"command": "…"}.')
    fields = {key: request[key] for key in _FIELDS if request.get(key) is not None}
    for key, value in fields.items():
        if not isinstance(value, str) or (key != "command" and not value.startswith("/")):
            raise CommandInvalid(
                f"{where}: {key} is not an absolute path.", hint=f'Write "{key}": "/…", or leave it out.'
            )
    return fields


def _print_json(answer: object) -> None:
    print(json.dumps(answer), flush=True)


# ── test and schema
# ──────────────────────────────────────────────────────────────────────────────────────────


def run_test(arguments: argparse.Namespace) -> int:
    """Run the tests inside the policies and print each that does not hold."""
    from execkit_mcp.policy import compile_policy  # noqa: PLC0415 - only when running
    from execkit_mcp.policy.reach import idle_rules  # noqa: PLC0415
    from execkit_mcp.runtime.policies import load_document, run_tests, shipped_names  # noqa: PLC0415

    exit_code = 0
    for name in [*arguments.policy, *arguments.files] or shipped_names():
        document = load_document(name)
        policy = compile_policy(document)
        failures = run_tests(policy)
        for failure in failures:
            print(failure.message)
        for idle in idle_rules(policy):
            print(f"warning: {idle}")
        print(f"{document.name}: {len(document.tests) - len(failures)} of {len(document.tests)} tests hold")
        exit_code = EXIT_FAILED if failures else exit_code
    return exit_code


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the JSON Schema, generated from the shapes that read policy files."""
    from execkit_mcp.policy.schema import json_schema  # noqa: PLC0415 - only when running

    del arguments
    print(json.dumps(json_schema(), indent=2))
    return 0
