"""Reading an exec's output, while it runs and after the fact."""

import asyncio
from typing import Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model import Status
from execkit_mcp.output.pattern import LinePattern
from execkit_mcp.output.retained import Matches, RetainedText
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.runtime.exec import Exec

Stream = Literal["stdout", "stderr", "screen"]
MAX_MATCHED_CHARS: Final = 200_000
_SCREEN_BYTES: Final = 4 << 20
_SCREEN_PACE_S: Final = 0.05
_LONGEST_MATCH_BYTES: Final = 4096  # of wait_for, when it comes in parts
_LONGEST_LINE_BYTES: Final = 1 << 16  # whose start is looked for
_TURN_S: Final = 0.002


class ReadRequest(Struct, frozen=True, kw_only=True):
    """One call of ``shell_read``; ``offset`` counts bytes of the redacted UTF-8 text."""

    exec_id: str
    stream: Stream = "stdout"
    offset: int | None = None
    tail: int | None = None
    grep: str | None = None
    wait_s: float = 0.0
    wait_for: str | None = None
    settle_ms: int | None = None
    max_output: int = 20_000


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
    cursor: tuple[int, int] | None = None
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
        if self.cursor is not None:
            out["cursor"] = list(self.cursor)
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
    check(request)
    await wait_for(
        exec_,
        request.stream,
        request.wait_for,
        wait_s=request.wait_s,
        after=request.offset or 0,
        settle_ms=request.settle_ms,
    )
    if request.grep is None:
        return piece_of(request, exec_)
    found = await grep(_shown(exec_, request.stream).text, request.grep, request.max_output)
    return piece_of(request, exec_, found=found)


async def grep(shown: RetainedText, pattern: str, max_output: int) -> Matches:
    """What matches in ``shown``; others have their turn meanwhile, however long it is."""
    loop = asyncio.get_running_loop()
    steps = shown.grep_steps(pattern, max_output)
    turned_s = loop.time()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Matches = end.value
            return found
        if loop.time() - turned_s > _TURN_S:
            await asyncio.sleep(0)
            turned_s = loop.time()


def check(request: ReadRequest) -> None:
    """Refuse what cannot be read, before waiting for it; see ``read``."""
    chosen = [name for name in ("offset", "tail", "grep") if getattr(request, name) is not None]
    if len(chosen) > 1:
        raise CommandInvalid(f"{' and '.join(chosen)} exclude each other.", hint="Send one of them.")
    for pattern in (request.grep, request.wait_for):
        if pattern is not None:
            LinePattern(pattern)  # refuse it before waiting


class Awaited:
    """A pattern that a growing text is searched for; what will not change any more is searched once."""

    def __init__(self, pattern: str, *, after: int) -> None:
        self._pattern = LinePattern(pattern)
        self._after = self._at = after

    def is_in(self, text: RetainedText) -> bool:
        """Whether it matches in ``text``, which is the one that was given before or has grown from it."""
        if text.total_bytes < self._after:  # a line in progress was erased: nothing of what is awaited is there yet
            return False
        at = self._at
        while True:
            piece = text.read(at, MAX_MATCHED_CHARS)
            if self._pattern.is_in(piece.text):
                return True
            if piece.next_offset >= text.total_bytes or piece.next_offset <= at:
                self._at = self._begin(text, min(piece.next_offset, text.settled_bytes))
                return False
            begin = self._begin(text, piece.next_offset)
            # where something fell out of the middle a match cannot go on: there is nothing to go back for
            at = begin if begin > at else piece.next_offset

    def _begin(self, text: RetainedText, offset: int) -> int:
        """Where to search from, once all before ``offset`` has been: a match may take several lines.

        That is where a line starts, as far as that is to be seen.
        """
        low = max(self._after, offset - _LONGEST_MATCH_BYTES - _LONGEST_LINE_BYTES)
        piece = text.read(low, offset - low)
        if piece.offset >= offset:
            return piece.offset
        start = max(offset - _LONGEST_MATCH_BYTES - piece.offset, 0)
        end_of_line = piece.text.encode().rfind(b"\n", 0, start) + 1
        return piece.offset + (end_of_line or (start if low > self._after else 0))


async def wait_for(
    exec_: Exec, stream: Stream, pattern: str | None, *, wait_s: float, after: int, settle_ms: int | None = None
) -> None:
    """Wait until the exec ends, ``pattern`` matches beyond the byte offset ``after``, or ``wait_s`` seconds pass.

    With ``settle_ms``: or until nothing has come for so many milliseconds.
    """
    if wait_s <= 0:
        return
    if pattern is None and settle_ms is None:
        await exec_.wait(wait_s)
        return
    is_drawn = stream == "screen" and exec_.view is not None
    awaited = Awaited(pattern, after=after) if pattern is not None else None
    try:
        async with asyncio.timeout(wait_s):
            while True:
                version = exec_.version
                if not exec_.is_running or (awaited is not None and awaited.is_in(_shown(exec_, stream).text)):
                    return
                if is_drawn and pattern is not None:
                    awaited = Awaited(pattern, after=after)  # what is drawn may change anywhere
                if not await _changes(exec_, version, settle_ms):
                    return
                if stream == "screen":  # reading it costs more than a stream
                    await asyncio.sleep(_SCREEN_PACE_S)
    except TimeoutError:
        return


async def _changes(exec_: Exec, version: int, settle_ms: int | None) -> bool:
    """Wait for more output; False if it stayed quiet for ``settle_ms``."""
    if settle_ms is None:
        await exec_.activity(version)
        return True
    try:
        async with asyncio.timeout(settle_ms / 1000):
            await exec_.activity(version)
    except TimeoutError:
        return False
    return True


class Readable(Protocol):
    """What ``piece`` must know of an exec."""

    @property
    def exec_id(self) -> str:
        """Its id."""
        ...

    @property
    def session(self) -> str:
        """The session's name."""
        ...

    @property
    def status(self) -> Status:
        """How it stands."""
        ...

    @property
    def completion(self) -> Completion | None:
        """How it ended."""
        ...

    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind were replaced."""
        ...


class _Shown(Struct, frozen=True, kw_only=True):
    """A stream as shown: where that begins, a screen's cursor, what was redacted in it (None: see the exec)."""

    text: RetainedText
    begin: int = 0
    cursor: tuple[int, int] | None = None
    redactions: dict[str, int] | None = None


def _shown(exec_: Exec, stream: Stream) -> _Shown:
    """The screen of a terminal is the lines that have left it at the top, and then what a person sees."""
    if stream != "screen" or exec_.view is None:
        return _Shown(text=exec_.chain(stream).snapshot())
    above, screen, counts = exec_.view.text()
    text = RetainedText(limit_bytes=_SCREEN_BYTES)
    text.append(above + screen)
    return _Shown(text=text, begin=len(above.encode()), cursor=exec_.view.cursor, redactions=counts)


def piece_of(
    request: ReadRequest, exec_: Exec, notes: tuple[str, ...] = (), *, found: Matches | None = None
) -> Reading:
    """The piece of the output that was asked for, with these warnings; ``found`` is what ``grep`` found in it."""
    shown = _shown(exec_, request.stream)
    if request.stream == "screen" and exec_.view is not None and exec_.view.is_partial:
        notes += ("output came faster than it could be drawn: the screen may be incomplete until it is redrawn",)
    if request.offset is None and request.tail is None and request.grep is None:
        request = replace(request, offset=shown.begin)
    reading = piece(request, exec_, shown.text, notes, found=found)
    exec_.rest()
    if shown.redactions is None:
        return reading
    return replace(reading, cursor=shown.cursor, redactions=tuple(shown.redactions.items()))


def piece(
    request: ReadRequest,
    exec_: Readable,
    shown: RetainedText,
    notes: tuple[str, ...] = (),
    *,
    found: Matches | None = None,
) -> Reading:
    """What the request asks for of ``shown``, a stream of ``exec_``; ``found`` is what ``grep`` found in it."""
    warnings: list[str] = list(notes)
    matches = None
    if found is not None:
        text, offset, next_offset, matches = found.text, 0, shown.total_bytes, found.matches
        if shown.dropped_bytes:
            missing = f"{shown.dropped_bytes} bytes from offset {shown.head_bytes} on"
            warnings.append(f"{missing} are no longer kept and were not searched")
    elif request.tail is not None:
        piece = shown.tail(request.tail, request.max_output)
        text, offset, next_offset = piece.text, piece.offset, piece.next_offset
    else:
        piece = shown.read(request.offset or 0, request.max_output)
        text, offset, next_offset = piece.text, piece.offset, piece.next_offset
        if piece.skipped_bytes:
            warnings.append(f"{piece.skipped_bytes} bytes before offset {piece.offset} are no longer kept")
    if shown.trouble:
        warnings.append(f"only its ends are kept; counts are exact. {shown.trouble}")
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
