"""``execkit-mcp run``: one command through every gate."""

import argparse
import sys

_EPILOG = """\
example:
  execkit-mcp run --policy read-only -- 'grep -c error /var/log/syslog | head'

One word after -- is shell text; several are a program and its words. The exit code is the command's own; 3: denied,
or a person must approve first; 124: timed out.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    from execkit_mcp.cli.options import add_settings  # noqa: PLC0415 - keeps --help of other commands quick

    parser = subparsers.add_parser(
        "run",
        help="run one command through every gate",
        description="Run one command through policy, approval, session, redaction and audit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser)
    parser.add_argument("--target", metavar="NAME", help="a declared target (default: local)")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="interrupt the command after this long")
    parser.add_argument("--approval", metavar="ID", help="an approval obtained earlier for this command")
    parser.add_argument(
        "--wait", metavar="SECONDS", type=float, default=0.0, help="wait so long for a person, where one must approve"
    )
    parser.add_argument("--json", action="store_true", help="print the ExecResult as JSON")
    parser.add_argument("text", nargs="+", metavar="-- COMMAND", help="the command")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and print its result."""
    import asyncio  # noqa: PLC0415 - only when running
    import json  # noqa: PLC0415
    import shlex  # noqa: PLC0415

    from execkit_mcp.cli.main import EXIT_DENIED, EXIT_FAILED, EXIT_TIMED_OUT  # noqa: PLC0415
    from execkit_mcp.kit import open_kit  # noqa: PLC0415
    from execkit_mcp.model import ExecResult, Status  # noqa: PLC0415
    from execkit_mcp.runtime.request import RunRequest  # noqa: PLC0415

    words = arguments.text
    command = words[0] if len(words) == 1 else shlex.join(words)

    async def go() -> ExecResult:
        async with open_kit(
            policy=arguments.policy,
            config=arguments.config,
            workspace=arguments.workspace,
            state_dir=arguments.state_dir,
        ) as kit:
            session = None
            if arguments.target is not None:
                opened = await kit.open_session(target=arguments.target, requester="cli")
                session = str(opened["session"])
            request = RunRequest(
                command=command,
                session=session,
                wait_s=None,
                timeout_s=arguments.timeout,
                max_output=200_000,
                approval_id=arguments.approval,
            )
            result = await kit.run(request, requester="cli")
            asked = result.approval_id if result.status is Status.APPROVAL_PENDING else None
            if asked is None or arguments.wait <= 0:
                return result
            note = f"execkit-mcp: waiting for a person: execkit-mcp approve {asked}"
            print(note, file=sys.stderr, flush=True)
            is_answered = await kit.answered(asked, timeout_s=arguments.wait)
            return await kit.run(request.approved_by(asked), requester="cli") if is_answered else result

    result = asyncio.run(go())
    if arguments.json:
        print(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        sys.stdout.write(result.stdout)
        sys.stderr.write(result.stderr)
        if result.decision is not None:
            print(f"execkit-mcp: {result.status.value}: {result.decision.message}", file=sys.stderr)
            print(result.decision.hint, file=sys.stderr)
        if result.approval_id:
            print(
                f"Approve it with: execkit-mcp approve {result.approval_id}\n"
                f"Then run it with: --approval {result.approval_id}",
                file=sys.stderr,
            )
        for warning in result.warnings:
            print(f"execkit-mcp: {warning}", file=sys.stderr)
    if result.status in {Status.DENIED, Status.APPROVAL_PENDING}:
        return EXIT_DENIED
    if result.status is Status.TIMED_OUT:
        return EXIT_TIMED_OUT
    return result.exit_code if result.exit_code is not None else EXIT_FAILED
