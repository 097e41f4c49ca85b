"""The terminal of a session on a host, over one more channel: the near end of ``sent_terminal``."""

import asyncio
import base64
import contextlib
import inspect
import json
import zlib
from collections import deque
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, Final

import asyncssh
import msgspec
from msgspec import Struct

from execkit_mcp.errors import CapabilityMissing, TransportLost
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.transports import seats
from execkit_mcp.transports.base import Typed
from execkit_mcp.transports.ssh import sent_terminal
from execkit_mcp.transports.ssh.control import MARK_VARIABLE
from execkit_mcp.transports.ssh.cork import Cork

__all__ = ["SshTerminal"]

_MODULES: Final[tuple[ModuleType, ...]] = (seats, sent_terminal)
_LOAD: Final = f"""
import sys, types
for name, text in SOURCES.items():
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(compile(text, name, "exec"), made.__dict__)
made.{sent_terminal.serve.__name__}(sys.argv[1])
"""
_FRONT: Final = (
    "import os, signal; signal.signal(signal.SIGTTOU, signal.SIG_IGN); "
    'os.tcsetpgrp(os.open("/dev/tty", os.O_RDWR), os.getpgid(os.getppid()))'
)
_RS: Final = b"\x1e"
_PATH: Final = lazy_regex(rb"/dev/(?:pts/|ttyp?)[0-9]{1,9}\Z")
_MAX_NOISE: Final = 1 << 20
_MAX_MESSAGE: Final = 16 << 20
_ASK_S: Final = 10.0
_SHOWN: Final = 200
_AGAIN: Final = "Send the call again; if it stays, look at the host and the way to it."


class _Answer(Struct, frozen=True, kw_only=True):
    """What the host says to a request."""

    state: TerminalState | None = None
    is_typed: bool = False
    is_done: bool = False


@cache
def _packed() -> str:
    sources = {module.__name__: inspect.getsource(module) for module in _MODULES}
    data = base64.b64encode(zlib.compress(f"SOURCES = {sources!r}\n{_LOAD}".encode(), 9)).decode()
    return f'import base64,zlib;exec(zlib.decompress(base64.b64decode("{data}")))'


class _Session(asyncssh.SSHClientSession):  # type: ignore[type-arg]
    """Passes bytes and the end on."""

    def __init__(self, owner: "SshTerminal") -> None:
        self._owner = owner

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Messages; what Python complains of is kept for a refusal."""
        self._owner.received(data, is_error=datatype is not None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, whyever."""
        del exc
        self._owner.lost()


class SshTerminal:
    """A terminal that a session's shell can take."""

    def __init__(self, mark: str, on_data: Callable[[bytes], None]) -> None:
        self._mark = mark
        self._on_data = on_data
        self.on_gone: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        self._channel: asyncssh.SSHClientChannel | None = None  # type: ignore[type-arg]
        self._cork: Cork | None = None
        self._started: asyncio.Future[bytes] | None = self._loop.create_future()
        self._asked: deque[asyncio.Future[_Answer]] = deque()
        self._buffer = bytearray()
        self._complaint = b""
        self.path = self.front_words = ""
        self.is_open = True

    async def start(
        self,
        connection: asyncssh.SSHClientConnection,
        *,
        python: str,
        env: str,
        cols: int,
        rows: int,
        shell_mark: str,
        open_s: float,
    ) -> None:
        """Have the host's ``python`` make one. Raises ChannelOpenError (asyncssh), CapabilityMissing, TransportLost."""
        channel, _ = await connection.create_session(
            lambda: _Session(self), "exec /bin/sh", encoding=None, env={}, send_env=[], request_pty=False
        )
        self._channel = channel
        self._cork = Cork(connection)
        started = self._started
        words = f"{env} -i {MARK_VARIABLE}={shell_mark} LC_ALL=C {python} -I -S -c '{_packed()}' {self._mark}"
        with contextlib.suppress(OSError):  # it has gone already, which is told apart
            channel.write(f"exec {words}\n".encode())
        assert started is not None
        try:
            async with asyncio.timeout(open_s):
                said = await started
        except TimeoutError:
            self.close()
            raise CapabilityMissing(
                f"The host gave no terminal within {open_s:g} s.{self._told}",
                hint="Leave tty out and give input as stdin, or look at the host's load.",
            ) from None
        except BaseException:
            self.close()
            raise
        if not _PATH.match(said):
            self.close()
            raise CapabilityMissing("The host's terminal has no path of the usual form.", hint="Leave tty out.")
        self.path = said.decode()
        self.front_words = f"{python} -I -S -c '{_FRONT}' </dev/null >/dev/null 2>&1"
        self.resize(cols, rows)

    @property
    def _told(self) -> str:
        """What Python complained of, in a form that can be shown."""
        last = self._complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        text = " ".join("".join(each if each.isprintable() else " " for each in last).split())
        return f" It said: {text[:_SHOWN]}" if text else ""

    # -- what asyncssh tells ---------------------------------------------------------------------------

    def received(self, data: bytes, *, is_error: bool) -> None:
        """Bytes came."""
        if is_error:
            self._complaint = (self._complaint + data)[-_MAX_NOISE:]
            return
        self._buffer += data
        if self._started is not None and not self._has_started():
            return
        size = sent_terminal.HEAD.size
        while len(self._buffer) >= size:
            kind, length = sent_terminal.HEAD.unpack_from(self._buffer)
            if length > _MAX_MESSAGE or kind not in {sent_terminal.BYTES, sent_terminal.ANSWER}:
                self.close()
                return
            if len(self._buffer) < size + length:
                return
            body = bytes(self._buffer[size : size + length])
            del self._buffer[: size + length]
            if kind == sent_terminal.BYTES:
                self._on_data(body)
            else:
                self._answered(body)

    def _has_started(self) -> bool:
        mark = _RS + self._mark.encode() + b":"
        at = self._buffer.find(mark)
        end = self._buffer.find(_RS, at + len(mark)) if at >= 0 else -1
        if end < 0:
            if len(self._buffer) > _MAX_NOISE:
                del self._buffer[: -len(mark) - 64]
            return False
        said = bytes(self._buffer[at + len(mark) : end])
        del self._buffer[: end + 1]
        started, self._started = self._started, None
        if started is not None and not started.done():
            started.set_result(said)
        return True

    def _answered(self, body: bytes) -> None:
        if not self._asked:
            self.close()
            return
        waiting = self._asked.popleft()
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except msgspec.DecodeError:
            answer = _Answer()
        if not waiting.done():
            waiting.set_result(answer)

    def lost(self) -> None:
        """The program there has ended, or the way to it."""
        if not self.is_open:
            return
        self.is_open = False
        started, self._started = self._started, None
        if started is not None and not started.done():
            told = f"The host's Python could make no terminal.{self._told}"
            hint = "It has to be 3.8 or later, with all of /proc to see. Or leave tty out and give input as stdin."
            started.set_exception(CapabilityMissing(told, hint=hint))
            started.exception()
        while self._asked:
            waiting = self._asked.popleft()
            if not waiting.done():
                waiting.set_exception(TransportLost("The terminal on the host has ended.", hint=_AGAIN, retryable=True))
                waiting.exception()  # nobody may wait for it any more
        self.on_gone()

    # -- what a driver asks ----------------------------------------------------------------------------

    def _send(self, do: str, **fields: Any) -> asyncio.Future[_Answer]:
        answer: asyncio.Future[_Answer] = self._loop.create_future()
        if not self.is_open or self._channel is None or self._cork is None:
            answer.set_exception(TransportLost("The terminal on the host has ended.", hint=_AGAIN, retryable=True))
            answer.exception()
            return answer
        self._asked.append(answer)
        with contextlib.suppress(OSError, asyncssh.Error), self._cork:
            self._channel.write(json.dumps({"do": do, **fields}).encode() + b"\n")
        return answer

    async def _ask(self, do: str, **fields: Any) -> _Answer:
        answer = self._send(do, **fields)
        try:
            async with asyncio.timeout(_ASK_S):
                return await asyncio.shield(answer)
        except TimeoutError:
            self.close()
            raise TransportLost(
                f"The terminal on the host did not answer within {_ASK_S:g} s.", hint=_AGAIN, retryable=True
            ) from None

    async def join(self, shell: int) -> bool:
        """Whether it has become the controlling terminal of the process ``shell``, which was told to open it."""
        return (await self._ask("join", shell=shell)).is_done

    async def prepare(self, *, discards: bool) -> bool:
        """Set it up as at first, throw old keys away if it ``discards``; whether the shell's group is in front."""
        return (await self._ask("prepare", discards=discards)).is_done

    async def front(self) -> bool:
        """Whether the shell's group has come to the front, after a moment at most."""
        return (await self._ask("front")).is_done

    async def settle(self) -> bool:
        """Have the last of a command's output come; whether the shell's group is in front."""
        return (await self._ask("settle")).is_done

    async def look(self) -> TerminalState | None:
        """Who is there; None while no command has begun, or what was typed before is on its way."""
        return (await self._ask("look")).state

    async def type(self, data: bytes, judged: TerminalState | None) -> Typed:
        """Type ``data``, if the terminal stands as ``judged`` (None: however it stands, once a command has begun)."""
        identity = None if judged is None else judged.identity
        answer = await self._ask("type", data=data.decode("utf-8", "replace"), identity=identity)
        return Typed(is_typed=answer.is_typed, state=answer.state)

    def resize(self, cols: int, rows: int) -> None:
        """Another size."""
        self._send("resize", cols=cols, rows=rows)

    def close(self) -> None:
        """Let it go: the program ends with its input, and hangs the terminal up."""
        if self._channel is not None:
            with contextlib.suppress(OSError, asyncssh.Error):
                self._channel.write_eof()
                self._channel.close()
        self.lost()
