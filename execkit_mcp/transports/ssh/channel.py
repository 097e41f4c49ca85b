"""One session's shell on a host, over one SSH channel: bytes in, bytes out, the end; this module is that channel."""

import asyncio
import contextlib
import secrets
import signal
from collections.abc import Awaitable, Callable, Collection
from typing import Final, TypeAlias

import asyncssh

from execkit_mcp.errors import TransportLost, TransportUnavailable
from execkit_mcp.transports.base import Capability, ShellLook, ShellPlan, ShellReport, StreamTerminal
from execkit_mcp.transports.ssh.control import MARK_VARIABLE, Control
from execkit_mcp.transports.ssh.cork import Cork

__all__ = ["OpenTerminal", "SshChannel"]

OpenTerminal: TypeAlias = Callable[[str, int, int, Callable[[bytes], None]], Awaitable[StreamTerminal]]
"""The mark of a shell, columns, rows, and who gets what the terminal shows."""
_RS: Final = b"\x1e"
_AGAIN: Final = "Send the call again; if it stays, look at the host and the way to it."
_NO_FOLDER: Final = b"nofolder"
_NO_FILES: Final = b"nofiles"
_END_S: Final = 0.5
_MAX_NOISE: Final = 1 << 20


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


class _Session(asyncssh.SSHClientSession):  # type: ignore[type-arg]
    """Passes on what asyncssh tells."""

    def __init__(self, owner: "SshChannel") -> None:
        self._owner = owner

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output, or with a type: errors."""
        self._owner.received("stdout" if datatype is None else "stderr", data)

    def exit_status_received(self, status: int) -> None:
        """The shell ended by itself."""
        self._owner.exited(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: FBT001
        """A signal ended it."""
        del core_dumped, msg, lang
        self._owner.exited(-_number(signal))

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, whyever."""
        self._owner.closed(exc)


def _number(name: str) -> int:
    try:
        return signal.Signals[f"SIG{name}"].value
    except KeyError:
        return signal.SIGKILL.value


class SshChannel:
    """A bash on the host; ``open_terminal`` makes a terminal for the shell of that mark."""

    def __init__(
        self,
        control: Callable[[], Control],
        describe_loss: Callable[[Exception | None], str],
        open_terminal: OpenTerminal,
        capabilities: frozenset[Capability],
    ) -> None:
        self.capabilities = capabilities
        self._open_terminal = open_terminal
        self._find_control = control
        self._describe_loss = describe_loss
        self._loop = asyncio.get_running_loop()
        self._channel: asyncssh.SSHClientChannel | None = None  # type: ignore[type-arg]
        self._cork: Cork | None = None
        self._mark = secrets.token_hex(8)
        self._started: asyncio.Future[bytes] | None = self._loop.create_future()
        self._noise = bytearray()
        self._held: list[tuple[str, bytes]] = []
        self._on_data: Callable[[str, bytes], None] | None = None
        self._on_end: Callable[[ShellReport], None] | None = None
        self._report: ShellReport | None = None
        self._code: int | None = None
        self._is_closed = False
        self._is_over = False
        self.pid = 0
        self.on_gone: Callable[[], None] = lambda: None

    async def start(
        self, connection: asyncssh.SSHClientConnection, plan: ShellPlan, *, shell: str, env: str, open_s: float
    ) -> None:
        """Start ``shell``, path and all. Raises ChannelOpenError (asyncssh), TransportUnavailable, TransportLost."""
        channel, _ = await connection.create_session(
            lambda: _Session(self), "exec /bin/sh", encoding=None, env={}, send_env=[], request_pty=False
        )
        self._channel = channel
        self._cork = Cork(connection)
        variables = {**plan.env, MARK_VARIABLE: self._mark}
        words = " ".join(_quote(f"{name}={value}") for name, value in variables.items())
        folder = _quote(plan.cwd)
        line = (
            f"cd {folder} 2>/dev/null || {{ printf '\\036{self._mark}:{_NO_FOLDER.decode()}\\036'; exit 1; }}; "
            'n=$(ulimit -n); case $n in unlimited) ;; *) [ "$n" -gt 255 ] || ulimit -S -n 1024 2>/dev/null || '
            f"{{ printf '\\036{self._mark}:{_NO_FILES.decode()}\\036'; exit 1; }};; esac; "
            f"printf '\\036{self._mark}:%s\\036' \"$$\"; "
            f"exec {env} -i {words} {shell}\n"
        )
        started = self._started
        with contextlib.suppress(OSError):  # it has gone already, which is told apart
            channel.write(line.encode("utf-8", "surrogateescape"))
        if started is None:
            raise TransportLost("The host ended the shell before it answered.", hint=_AGAIN, retryable=True)
        try:
            async with asyncio.timeout(open_s):
                said = await started
        except TimeoutError:
            self.drop()
            raise TransportUnavailable(
                f"The host gave no shell within {open_s:g} s.",
                hint="Look at what the account's start-up files (.bashrc, .zshenv) do: they may wait or run on.",
                retryable=True,
            ) from None
        except BaseException:
            self.drop()
            raise
        if said == _NO_FILES:
            self.drop()
            raise TransportUnavailable(
                "The account's limit of open files on the host is too low for a session, which needs 256.",
                hint="Raise it there (ulimit -n), or take it out of the account's start-up files.",
            )
        if said == _NO_FOLDER or not said.isdigit():
            self.drop()
            raise TransportUnavailable(
                f"The folder {plan.cwd!r} cannot be entered on the host.", hint="Name a folder that is there."
            )
        self.pid = int(said)
        self.adopted()

    @property
    def _control(self) -> Control:
        return self._find_control()

    def adopted(self) -> None:
        """Make this shell known to the control shell, also to one that replaces another."""
        self._control.adopt(self.pid, self._mark)

    # -- what asyncssh tells ---------------------------------------------------------------------------

    def received(self, stream: str, data: bytes) -> None:
        """Bytes came. Before the shell has shown its mark, they are the noise of start-up files."""
        if self._started is not None:
            data = self._until_started(stream, data)
            if not data:
                return
        if self._on_data is None:
            self._held.append((stream, data))
        else:
            self._on_data(stream, data)

    def _until_started(self, stream: str, data: bytes) -> bytes:
        if stream != "stdout":
            return b""
        self._noise += data
        mark = _RS + self._mark.encode() + b":"
        at = self._noise.find(mark)
        end = self._noise.find(_RS, at + len(mark)) if at >= 0 else -1
        if end < 0:
            if len(self._noise) > _MAX_NOISE:
                del self._noise[: -len(mark) - 32]
            return b""
        said, rest = bytes(self._noise[at + len(mark) : end]), bytes(self._noise[end + 1 :])
        started, self._started = self._started, None
        if started is not None and not started.done():
            started.set_result(said)
        self._noise.clear()
        return rest

    def exited(self, code: int) -> None:
        """The shell has ended; what it wrote last may still be on its way."""
        self._code = code
        self._loop.call_later(_END_S, self._end, ShellReport(kind="exited", code=code))

    def closed(self, error: Exception | None) -> None:
        """The channel is closed."""
        if self._code is not None:
            self._end(ShellReport(kind="exited", code=self._code))
        else:
            self._end(ShellReport(kind="lost", reason=self._describe_loss(error)))

    def _end(self, report: ShellReport) -> None:
        if self._is_over:
            return
        self._is_over = True
        self.on_gone()
        started, self._started = self._started, None
        if started is not None and not started.done():
            said = "ended the shell before it answered" if report.kind == "exited" else "closed the channel"
            told = TransportLost(f"The host {said}. {report.reason}".rstrip(), hint=_AGAIN, retryable=True)
            started.set_exception(told)
            started.exception()
        if self._on_end is None:
            self._report = report
        else:
            self._on_end(report)

    # -- what a driver asks ----------------------------------------------------------------------------

    def listen(self, on_data: Callable[[str, bytes], None], on_end: Callable[[ShellReport], None]) -> None:
        """Pass on what has come, and what comes."""
        self._on_data, self._on_end = on_data, on_end
        held, self._held = self._held, []
        for stream, data in held:
            on_data(stream, data)
        if self._report is not None:
            on_end(self._report)

    def write(self, data: bytes) -> None:
        """Send to the shell's input; a dead channel takes everything."""
        if self._channel is not None and self._cork is not None and not self._is_over:
            with contextlib.suppress(OSError, asyncssh.Error), self._cork:
                self._channel.write(data)

    def signal_foreground(self, number: signal.Signals, *, spares_shell: bool = False, has_jobs: bool = False) -> None:
        """Through the control shell."""
        self._control.signal_foreground(self.pid, number, spares_shell=spares_shell, has_jobs=has_jobs)

    def signal_shell(self, number: signal.Signals) -> None:
        """Through the control shell."""
        self._control.signal_shell(self.pid, number)

    def end_strays(self, *, spared: Collection[int]) -> None:
        """Through the control shell."""
        self._control.end_strays(self.pid, spared)

    async def look(self) -> ShellLook:
        """Through the control shell."""
        return await self._control.look(self.pid)

    async def open_terminal(self, cols: int, rows: int, on_data: Callable[[bytes], None]) -> StreamTerminal:
        """Over one more channel."""
        return await self._open_terminal(self._mark, cols, rows, on_data)

    async def settle(self, *, notes_jobs: bool = False) -> None:
        """Through the control shell, which does one thing after the other."""
        if notes_jobs:
            await self._control.note(self.pid)
        else:
            await self._control.ask(":")

    async def close(self) -> None:
        """Kill the shell with everything that was started in it, then close the channel."""
        if self._is_closed:
            return
        self._is_closed = True
        if self.pid:
            await self._control.end(self.pid, self._mark)
        self.drop()

    def drop(self) -> None:
        """Close the channel."""
        if self._channel is not None:
            with contextlib.suppress(OSError, asyncssh.Error):
                self._channel.close()
