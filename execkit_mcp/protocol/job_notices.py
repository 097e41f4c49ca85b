r"""What bash itself says of its jobs, taken out of standard error; this module is that filter.

An interactive bash writes ``[1] 4711`` when a job starts, to the standard error of the job, and ``[1]+  Done   sleep``
when a command ends after a job did, to that command's. A notice of a start is known by its number, which the shell
reports apart; one of an end by the text of a job that has been started and not been told of. Each is taken out once,
so whoever writes the same bytes himself loses a line that said nothing.

Bytes that may become a notice are held until that is known, or until ``flush``; nothing else is ever held or changed.
"""

from collections.abc import Callable

from execkit_mcp.model.regex import lazy_regex

__all__ = ["JobNotices"]

_START = lazy_regex(rb"\[\d+\] (\d+)\n")
_END = lazy_regex(rb"\[\d+\][-+ ]  (?=\S)")
_STOP = lazy_regex(rb"\[\d+\][-+ ]  Stopped")
_PARTIAL = lazy_regex(rb"\[(?:\d+(?:\](?: \d*|[-+ ](?: {0,2}\Z)?)?)?)?\Z")
_STOPPED = b"Stopped"
_STATE_BYTES = 80
_STATE_WORDS = 8
_FIRST_BYTES = 64
_MOST_FAILURES = 64
"""So many look-alikes in one piece, and the rest of it is passed on as it is."""
_PID_DIGITS = 10
_CANDIDATE = lazy_regex(rb"\[(?=\d+\](?: \d|[-+ ]  \S)|(?:\d+(?:\](?: \d*|[-+ ] {0,2})?)?)?\Z)")
"""Where a notice may begin; found without a look at every bracket of a flood."""
_HELD_BYTES = 1 << 16
_LOOSE = lazy_regex(rb"[\s;()]|1(?=>&)|0(?=<)")


def _squeezed(text: bytes) -> bytes:
    """Without what bash writes otherwise than the canonical text does: blanks, separators, parentheses."""
    return _LOOSE.sub(b"", text)


class JobNotices:
    """One session's notices; every stream of standard error has its own ``Stream``."""

    def __init__(self, is_child: Callable[[int], bool] = lambda _: False) -> None:
        self._is_child = is_child
        self._numbers: set[int] = set()
        self._texts: list[tuple[int, bytes]] = []

    @property
    def is_idle(self) -> bool:
        """Whether no job is known of which bash could still say something."""
        return not self._texts and not self._numbers

    def started(self, pid: int, text: str) -> None:
        """A job was started."""
        self._numbers.add(pid)
        self._texts.append((pid, _squeezed(text.encode("utf-8", "surrogateescape"))))

    def ended(self, pid: int) -> None:
        """Nothing more will be said of that job."""
        self._numbers.discard(pid)
        self._texts = [each for each in self._texts if each[0] != pid]

    def clear(self) -> None:
        """The shell was replaced."""
        self._numbers.clear()
        self._texts.clear()

    def take_start(self, number: bytes, *, is_last: bool = False) -> bool:
        """Whether a notice of this start is due, and from now on said; ``is_last``: nobody will tell of it any more."""
        pid = int(number) if len(number) < _PID_DIGITS else 0
        if pid in self._numbers:
            self._numbers.discard(pid)
            return True
        return is_last and self._is_child(pid)

    def take_end(self, data: bytes, at: int) -> int | None:
        """Where the notice ends whose text begins near ``at``; -1 if it may still come; None if it is none."""
        is_partial = False
        tried: set[bytes] = set()
        for index, (_, wanted) in enumerate(self._texts):
            if wanted in tried:
                continue
            tried.add(wanted)
            end = _end_of_notice(data, at, wanted)
            if end is None:
                continue
            if end >= 0:
                if not data.startswith(_STOPPED, at):  # it will be said of again
                    del self._texts[index]
                return end
            is_partial = True
        return -1 if is_partial else None


def _end_of_notice(data: bytes, at: int, wanted: bytes) -> int | None:
    """The state ends somewhere before the text: try the borders between blanks and words."""
    is_partial = False
    limit = min(len(data), at + _STATE_BYTES)
    border = at
    for _ in range(_STATE_WORDS):
        border = data.find(b" ", border, limit)
        if border < 0:
            return -1 if is_partial or (len(data) < at + _STATE_BYTES and b"\n" not in data[at:]) else None
        while border < len(data) and data[border : border + 1] == b" ":
            border += 1
        end = _match(data, border, wanted)
        if end is not None and end >= 0:
            return end
        is_partial = is_partial or end == -1
    return -1 if is_partial else None


def _match(data: bytes, at: int, wanted: bytes) -> int | None:
    """Where the line ends that holds ``wanted`` in bash's spelling from ``at`` on; -1: too short to tell.

    Each byte is looked at once, and a first few decide most.
    """
    first = _squeezed(data[at : at + _FIRST_BYTES])[: _FIRST_BYTES // 4]
    if not (wanted.startswith(first) or first.startswith(wanted)):
        return None
    matched, longest = 0, 4 * len(wanted) + 2 * _STATE_BYTES
    while True:
        end = data.find(b"\n", at)
        stop = end if end >= 0 else len(data)
        if stop - at > longest:
            return None
        piece, _, folder = _squeezed(data[at:stop]).partition(b"wd:")
        if folder and matched + len(piece) != len(wanted):
            return None
        if not wanted.startswith(piece, matched):
            return None
        if end < 0:
            return -1
        matched += len(piece)
        if matched == len(wanted):
            return end + 1
        longest -= stop - at + 1
        at = end + 1


class Stream:
    """One stream's bytes, without the notices in them."""

    __slots__ = ("_held", "_is_line_start", "_notices")

    def __init__(self, notices: JobNotices) -> None:
        self._notices = notices
        self._held = b""
        self._is_line_start = True

    @property
    def held(self) -> bytes:
        """The bytes that are not decided."""
        return self._held

    def push(self, data: bytes, *, awaits_start: bool = False, is_last: bool = False) -> bytes:
        """What can be passed on; ``awaits_start``: the number of a job may still be reported."""
        is_quiet = self._notices.is_idle and not awaits_start and not is_last
        if not self._held and (is_quiet or (b"[" not in data and not data.endswith(b"\n"))):
            return self._passed(data)
        data = self._held + data
        self._held = b""
        out: list[bytes] = []
        at = 0
        failures = 0
        while failures < _MOST_FAILURES and (found := _CANDIDATE.search(data, at)) is not None:
            begin = found.start()
            out.append(data[at:begin])
            at = self._notice(data, begin, awaits_start=awaits_start, is_last=is_last)
            if at > begin and _STOP.match(data, begin) and self._is_blank(out):
                out.append(b"".join(out)[:-1])  # bash leaves a line blank before it says that a job was stopped
                del out[:-1]
            if at < 0:
                self._held = data[begin:]
                if self._is_blank(out):
                    out = [b"".join(out)[:-1]]
                    self._held = b"\n" + self._held
                if len(self._held) > _HELD_BYTES:
                    out.append(self._held)
                    self._held = b""
                return self._passed(b"".join(out))
            if at == begin:
                failures += 1
                out.append(b"[")
                at += 1
        out.append(data[at:])
        if not is_last and self._is_blank(out):
            out = [b"".join(out)[:-1]]
            self._held = b"\n"
        return self._passed(b"".join(out))

    def _passed(self, data: bytes) -> bytes:
        if data:
            self._is_line_start = data.endswith(b"\n")
        return data

    def _is_blank(self, out: list[bytes]) -> bool:
        """Whether ``out`` ends in an empty line."""
        data = b"".join(out)
        return data.endswith(b"\n\n") or (data == b"\n" and self._is_line_start)

    def _notice(self, data: bytes, begin: int, *, awaits_start: bool, is_last: bool) -> int:
        """Where the notice ends that begins at ``begin``; ``begin`` itself: there is none; -1: nobody knows yet."""
        start = _START.match(data, begin)
        if start is not None:
            if self._notices.take_start(start[1], is_last=is_last):
                return start.end()
            return -1 if awaits_start else begin
        end = _END.match(data, begin)
        if end is not None:
            found = self._notices.take_end(data, end.end())
            return begin if found is None else found
        return -1 if _PARTIAL.match(data, begin) else begin

    def flush(self) -> bytes:
        """What is held: nothing more comes, or not soon. Notices that are known by now are taken out."""
        data, self._held = self._held, b""
        out = self.push(data, is_last=True) if data else b""
        rest, self._held = self._held, b""
        return out + rest
