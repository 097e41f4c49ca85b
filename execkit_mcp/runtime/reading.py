"""Reading an exec's output after the fact, and typing into one that runs."""

import asyncio
from typing import Final, Literal

from msgspec import Struct

from execkit_mcp.errors import Blocked, CommandInvalid
from execkit_mcp.output.pattern import LinePattern
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.session import Session

Stream = Literal["stdout", "stderr", "screen"]
MAX_MATCHED_CHARS: Final = 200_000


class ReadRequest(Struct, frozen=True, kw_only=True):
    """One call of ``shell_read``; ``offset`` counts bytes of the redacted UTF-8 text."""

    exec_id: str
    stream: Stream = "stdout"
    offset: int | None = None
    tail: int | None = None
    grep: str | None = None
    wait_s: float = 0.0
    wait_for: str | None = None
    max_output: int = 20_000


class SendRequest(Struct, frozen=True, kw_only=True):
    """One call of ``shell_send``."""

    exec_id: str
    text: str | None = None
    key: str | None = None
    key_bytes: bytes = b""
    wait_s: float = 1.0
    wait_for: str | None = None
    cols: int | None = None
    rows: int | None = None


class Reading(Struct, frozen=True, kw_only=True):
    """A piece of an exec's output and how the exec stands."""

    exec_id: str
    session: str
    status: str
    exit_code: int | None
    stream: str
    text: str
    offset: int
    next_offset: int
    total_bytes: int
    total_lines: int
    eof: bool
    matches: int | None = None
    redactions: tuple[tuple[str, int], ...] = ()
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The fields of the contract."""
        out: dict[str, object] = {
            "exec_id": self.exec_id,
            "session": self.session,
            "status": self.status,
            "exit_code": self.exit_code,
            "stream": self.stream,
            "text": self.text,
            "offset": self.offset,
            "next_offset": self.next_offset,
            "total_bytes": self.total_bytes,
            "total_lines": self.total_lines,
            "eof": self.eof,
        }
        if self.matches is not None:
            out["matches"] = self.matches
        if self.redactions:
            out["redactions"] = dict(self.redactions)
        if self.warnings:
            out["warnings"] = list(self.warnings)
        return out


async def read(request: ReadRequest, exec_: Exec) -> Reading:
    """Wait if asked to, then read a piece of the output.

    Raises:
        PatternRefused: ``grep`` or ``wait_for`` is not a regular expression that RE2 takes.
        CommandInvalid: offset, tail and grep were combined.
    """
    chosen = [name for name in ("offset", "tail", "grep") if getattr(request, name) is not None]
    if len(chosen) > 1:
        raise CommandInvalid(f"{' and '.join(chosen)} exclude each other.", hint="Send one of them.")
    for pattern in (request.grep, request.wait_for):
        if pattern is not None:
            LinePattern(pattern)  # refuse it before waiting
    await wait_for(exec_, request.stream, request.wait_for, wait_s=request.wait_s, after=request.offset or 0)
    return _piece(request, exec_)


async def send(request: SendRequest, exec_: Exec, session: Session) -> Reading:
    """Type, wait, and read what came since.

    Raises:
        CommandInvalid: neither or both of text and key, or an ended exec.
        Blocked: the terminal does not echo, so it reads a password, which only an operator may type.
    """
    wants_size = request.cols is not None or request.rows is not None
    if request.text is not None and request.key is not None:
        raise CommandInvalid("text and key exclude each other.", hint="Send the text, then key enter.")
    if request.text is None and request.key is None and not wants_size:
        raise CommandInvalid("There is nothing to send.", hint="Send text or key.")
    if request.wait_for is not None:
        LinePattern(request.wait_for)
    if not exec_.is_running:
        raise _ended(exec_)
    stream: Stream = "stdout" if exec_.is_tty else "screen"
    exec_.flush()
    before = exec_.chain(stream).retained.total_bytes
    if wants_size:
        session.resize(request.cols, request.rows)
    if request.text is not None and session.is_reading_password():
        raise Blocked(
            "The terminal shows nothing of what is typed, so it reads a password; only a person may type one.",
            hint="Interrupt it with key ctrl-c and use a way that needs no password.",
        )
    data = request.key_bytes if request.text is None else request.text.encode("utf-8")
    if data and not session.send(exec_, data):
        raise _ended(exec_)
    await wait_for(exec_, stream, request.wait_for, wait_s=request.wait_s, after=before)
    return _piece(ReadRequest(exec_id=exec_.exec_id, stream=stream, offset=before), exec_)


async def wait_for(exec_: Exec, stream: Stream, pattern: str | None, *, wait_s: float, after: int) -> None:
    """Wait until the exec ends, ``pattern`` matches beyond the byte offset ``after``, or ``wait_s`` seconds pass."""
    if wait_s <= 0:
        return
    if pattern is None:
        await exec_.wait(wait_s)
        return
    wanted = LinePattern(pattern)
    try:
        async with asyncio.timeout(wait_s):
            while True:
                version = exec_.version
                if not exec_.is_running or wanted.is_in(_text_after(exec_, stream, after)):
                    return
                await exec_.activity(version)
    except TimeoutError:
        return


def _text_after(exec_: Exec, stream: Stream, after: int) -> str:
    return exec_.chain(stream).snapshot().read(after, MAX_MATCHED_CHARS).text


def _piece(request: ReadRequest, exec_: Exec) -> Reading:
    shown = exec_.chain(request.stream).snapshot()
    warnings: list[str] = []
    matches = None
    if request.grep is not None:
        found = shown.grep(request.grep, request.max_output)
        text, offset, next_offset, matches = found.text, 0, shown.total_bytes, found.matches
    elif request.tail is not None:
        piece = shown.tail(request.tail, request.max_output)
        text, offset, next_offset = piece.text, piece.offset, piece.next_offset
    else:
        piece = shown.read(request.offset or 0, request.max_output)
        text, offset, next_offset = piece.text, piece.offset, piece.next_offset
        if piece.skipped_bytes:
            warnings.append(f"{piece.skipped_bytes} bytes before offset {piece.offset} are no longer kept")
    exec_.rest()
    if trouble := exec_.chain(request.stream).retained.trouble:
        warnings.append(f"only its ends are kept; counts are exact. {trouble}")
    end = exec_.completion
    return Reading(
        exec_id=exec_.exec_id,
        session=exec_.session,
        status=exec_.status.value,
        exit_code=end.exit_code if end is not None else None,
        stream=request.stream,
        text=text,
        offset=offset,
        next_offset=next_offset,
        total_bytes=shown.total_bytes,
        total_lines=shown.total_lines,
        eof=end is not None and next_offset >= shown.total_bytes,
        matches=matches,
        redactions=tuple(exec_.redactions().items()),
        warnings=tuple(warnings),
    )


def _ended(exec_: Exec) -> CommandInvalid:
    return CommandInvalid(
        f"Exec {exec_.exec_id!r} has ended; nothing was sent.",
        hint="Read its output with shell_read, or start a command with tty=true.",
        details={"status": exec_.status.value},
    )
