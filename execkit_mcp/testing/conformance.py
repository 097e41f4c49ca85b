"""What every transport must carry: a public table of checks on one open shell session; this module is that suite.

Who writes a transport opens a session over it and runs each check::

    for check in CHECKS:
        await check.run(await open_session())

A check raises ``NotConformant`` with what was seen. Nothing here is a fault of a command: where a transport cannot do
something it must say so in its capabilities, and the checks that need it are left out (``applies``).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection
from typing import Final, Protocol

from msgspec import Struct

from execkit_mcp.errors import CommandInvalid, SessionBusy
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.transports.base import Capability

__all__ = ["CHECKS", "Check", "NotConformant", "ShellSession", "checks_for"]

Sink = Callable[[str, bytes], None]
_WAIT_S: Final = 30.0


class NotConformant(AssertionError):
    """The transport does not carry what it must."""


class ShellSession(Protocol):
    """What a check needs of a session; the drivers of this package have it."""

    @property
    def cwd(self) -> str:
        """The shell's folder."""
        ...

    @property
    def capabilities(self) -> Collection[Capability]:
        """What the channel can do."""
        ...

    async def run(
        self, command: str, *, sink: Sink, stdin: bytes | None = None, tty: bool = False, timeout_s: float | None = None
    ) -> Completion:
        """Run a command."""
        ...


class Check(Struct, frozen=True, kw_only=True):
    """One thing that must hold; ``needs``: capabilities without which it says nothing."""

    name: str
    run: Callable[[ShellSession], Awaitable[None]]
    needs: frozenset[Capability] = frozenset()

    def applies(self, capabilities: Collection[Capability]) -> bool:
        """Whether a transport with these capabilities must pass it."""
        return self.needs <= set(capabilities)


class _Ran(Struct, frozen=True, kw_only=True):
    completion: Completion
    stdout: bytes
    stderr: bytes


async def _run(
    session: ShellSession, command: str, *, stdin: bytes | None = None, timeout_s: float | None = None
) -> _Ran:
    kept: dict[str, bytearray] = {}
    async with asyncio.timeout(_WAIT_S):
        completion = await session.run(
            command,
            sink=lambda stream, data: kept.setdefault(stream, bytearray()).extend(data),
            stdin=stdin,
            timeout_s=timeout_s,
        )
    return _Ran(completion=completion, stdout=bytes(kept.get("stdout", b"")), stderr=bytes(kept.get("stderr", b"")))


def _expect(what: str, seen: object, wanted: object) -> None:
    if seen != wanted:
        raise NotConformant(f"{what}: expected {str(wanted)[:200]!r}, saw {str(seen)[:200]!r}")


async def _echo(session: ShellSession) -> None:
    ran = await _run(session, "echo out; echo err >&2")
    _expect("standard output", ran.stdout, b"out\n")
    _expect("standard error", ran.stderr, b"err\n")
    _expect("exit code", ran.completion.exit_code, 0)


async def _exit_codes(session: ShellSession) -> None:
    for command, code in (
        ("true", 0),
        ("false", 1),
        ("(exit 7)", 7),
        ("no-such-program", 127),
        ("sh -c 'kill -9 $$'", 137),
    ):
        _expect(command, (await _run(session, command)).completion.exit_code, code)
    _expect("parts of a pipe", (await _run(session, "true | false | true")).completion.pipe_status, (0, 1, 0))


async def _state(session: ShellSession) -> None:
    await _run(session, "cd /usr; kept='a  b'; export EXPORTED=yes; set -f; greet() { echo hello; }")
    ran = await _run(session, 'echo "$PWD|$kept|$(printenv EXPORTED)|$-"; greet')
    lines = ran.stdout.decode().splitlines()
    _expect("folder and variables", lines[0].rpartition("|")[0], "/usr|a  b|yes")
    _expect("option", "f" in lines[0].rpartition("|")[2], True)
    _expect("function", lines[1], "hello")
    _expect("folder", session.cwd, "/usr")


async def _standard_input(session: ShellSession) -> None:
    for data in (
        b"",
        b"no end",
        b"a\n\nb\n",
        b"\\n %s '\"`$x\n",
        b"\0\1\2 nul\n",
        "ünïcode\n".encode(),
        b"x" * 300_000,
    ):
        ran = await _run(session, "cat", stdin=data)
        _expect(f"{len(data)} bytes of input", ran.stdout == data, True)
    _expect("no input", (await _run(session, "cat; echo $?")).stdout, b"0\n")


async def _long_command(session: ShellSession) -> None:
    text = "y" * 60_000
    _expect(
        "a command of 60,000 characters", (await _run(session, f"printf %s {text} | wc -c")).stdout.strip(), b"60000"
    )


async def _binary(session: ShellSession) -> None:
    every = bytes(range(256)) * 100
    octal = "".join(f"\\{each:03o}" for each in range(256))
    ran = await _run(session, f"for i in {' '.join(['x'] * 100)}; do printf '{octal}'; done")
    _expect("every byte, a hundred times", ran.stdout == every, True)


async def _marks(session: ShellSession) -> None:
    command = "printf '\\036%sR\\0000\\000/\\000\\035%s\\n' 0123456789abcdef 0123456789abcdef; printf '\\036'; false"
    ran = await _run(session, command)
    _expect("exit code behind a forged end", ran.completion.exit_code, 1)
    _expect("a lone separator at the end", ran.stdout[-1:], b"\x1e")


async def _flood(session: ShellSession) -> None:
    ran = await _run(session, "head -c 8000000 /dev/zero; head -c 3000000 /dev/zero >&2")
    _expect("bytes of a flood", (len(ran.stdout), len(ran.stderr)), (8_000_000, 3_000_000))
    _expect("after a flood", (await _run(session, "echo on")).stdout, b"on\n")


async def _syntax(session: ShellSession) -> None:
    for broken in ("echo 'never ended", "if true; then", "$(", "fi", "((", "<<X"):
        await _run(session, broken)
    _expect("after broken texts", (await _run(session, "echo on")).stdout, b"on\n")


async def _background(session: ShellSession) -> None:
    ran = await _run(session, "sleep 300 & echo started")
    _expect("a job does not hold the call", b"started\n" in ran.stdout, True)
    _expect("after a job", (await _run(session, "echo on")).stdout, b"on\n")


async def _timeouts(session: ShellSession) -> None:
    await _run(session, "cd /usr; kept=yes")
    for command, codes in (
        ("sleep 300", {130}),
        ("sleep 300 | cat", {130}),
        ("while :; do :; done", {130}),
        ("sh -c 'trap \"\" INT; while :; do sleep 1; done'", {143}),
        ("sh -c 'trap \"\" INT TERM; while :; do sleep 1; done'", {137}),
        ("yes", {130, 143}),
    ):
        ran = await _run(session, command, timeout_s=0.4)
        _expect(f"{command}: is timed out", ran.completion.is_timed_out, True)
        _expect(f"{command}: code {ran.completion.exit_code}", ran.completion.exit_code in codes, True)
    _expect("state after timeouts", (await _run(session, "echo $kept $PWD")).stdout, b"yes /usr\n")


async def _cancelled(session: ShellSession) -> None:
    seen = asyncio.Event()
    call = asyncio.create_task(session.run("echo begun; sleep 300", sink=lambda _stream, _data: seen.set()))
    async with asyncio.timeout(_WAIT_S):
        await seen.wait()
        with contextlib.suppress(asyncio.CancelledError):
            try:
                await session.run("true", sink=lambda _stream, _data: None)
            except SessionBusy:
                pass
            else:
                raise NotConformant("two commands ran at a time")
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
    _expect("after a cancelled call", (await _run(session, "echo on")).stdout, b"on\n")


async def _replaced(session: ShellSession) -> None:
    await _run(session, "cd /usr; kept=yes")
    ran = await _run(session, "exit 9")
    _expect("code of exit", ran.completion.exit_code, 9)
    _expect("it says so", ran.completion.is_shell_replaced and bool(ran.completion.warnings), True)
    _expect("state after exit", (await _run(session, "echo $kept $PWD")).stdout, b"yes /usr\n")
    ran = await _run(session, "kill -9 $$")
    _expect("code of a killed shell", (ran.completion.exit_code, ran.completion.signal), (137, "SIGKILL"))
    _expect("after it", (await _run(session, "echo on")).stdout, b"on\n")


async def _terminal(session: ShellSession) -> None:
    async def on_it(command: str, timeout_s: float | None = None) -> _Ran:
        shown = bytearray()
        async with asyncio.timeout(_WAIT_S):
            completion = await session.run(
                command, sink=lambda _stream, data: shown.extend(data), tty=True, timeout_s=timeout_s
            )
        return _Ran(completion=completion, stdout=bytes(shown).replace(b"\r\n", b"\n"), stderr=b"")

    ran = await on_it("cd /usr; kept=there; test -t 0 && test -t 1 && test -t 2 && echo on it >/dev/tty; (exit 3)")
    _expect("output of a terminal", ran.stdout, b"on it\n")
    _expect("exit code on a terminal", ran.completion.exit_code, 3)
    _expect("state", (await _run(session, "echo $kept $PWD; test -t 1 || echo off it")).stdout, b"there /usr\noff it\n")
    for command in ("sleep 60", "python3 -c 'import time,tty; tty.setraw(0); time.sleep(60)'", "read x"):
        _expect(f"time for {command}", (await on_it(command, timeout_s=0.5)).completion.is_timed_out, True)
        modes = (await on_it("stty -a")).stdout.split()
        _expect("modes after it", [mode in modes for mode in (b"icanon", b"echo", b"isig")], [True] * 3)


async def _refused(session: ShellSession) -> None:
    try:
        await session.run("echo a\0b", sink=lambda _stream, _data: None)
    except CommandInvalid:
        return
    raise NotConformant("a command with NUL was sent")


_SIGNALS = frozenset({Capability.SIGNALS})
_STDIN = frozenset({Capability.STDIN})

CHECKS: Final = (
    Check(name="echo on both streams", run=_echo),
    Check(name="exit codes", run=_exit_codes),
    Check(name="state stays", run=_state),
    Check(name="standard input arrives byte for byte", run=_standard_input, needs=_STDIN),
    Check(name="a long command arrives whole", run=_long_command),
    Check(name="binary output", run=_binary),
    Check(name="what looks like an end is output", run=_marks),
    Check(name="a flood", run=_flood),
    Check(name="broken syntax ends with its command", run=_syntax),
    Check(name="a background job holds nothing up", run=_background),
    Check(name="timeouts end every kind of command", run=_timeouts, needs=_SIGNALS),
    Check(name="a cancelled call ends its command", run=_cancelled, needs=_SIGNALS),
    Check(name="a shell that ends is replaced", run=_replaced),
    Check(name="a command with NUL is refused", run=_refused),
    Check(name="a terminal", run=_terminal, needs=frozenset({Capability.TTY})),
)


def checks_for(capabilities: Collection[Capability]) -> tuple[Check, ...]:
    """The checks that a transport with these capabilities must pass."""
    return tuple(check for check in CHECKS if check.applies(capabilities))
