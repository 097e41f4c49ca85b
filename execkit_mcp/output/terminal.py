r"""Terminal clean-up: what a program wrote becomes what a person would have read.

Theory of operation. A terminal is reduced to one line with a cursor. Text overwrites at the cursor; CR, BS,
cursor-left/right/column, erase-line, delete and insert characters are carried out; LF (also VT, FF, NEL)
commits the line. Every other escape sequence and control character is removed. Vertical motion is not
modelled: what was committed stays.

Invariants, each with a test:

* any split of the input gives the same output;
* a chunk of plain text costs one scan; colours (SGR) cost one more;
* an escape sequence ends, at the latest, at a line end or after ``MAX_SEQUENCE`` characters. If it did not
  end as it should, only its introducer is removed and its body is shown: a terminal might swallow it, we
  lose nothing;
* a line longer than ``MAX_LINE`` is passed on in pieces of exactly that size, so memory stays bounded.
"""

from execkit_mcp.model.regex import lazy_regex

MAX_LINE = 1 << 18
MAX_SEQUENCE = 4096

_ESC = "\x1b"
_CONTROL = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BYTES = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])
_C1_LEAD = b"\xc2"
_C1_BYTES = lazy_regex(rb"\xc2[\x80-\x9f]")
_SGR = lazy_regex("\x1b\\[[0-9;:]{0,64}m")
_COLOUR = lazy_regex("\x1b\\[(?:[0-9;:]{0,64}m|0?K)")  # at the end of a line both change nothing that is read
_COLOUR_BYTES = lazy_regex(rb"\x1b\[(?:[0-9;:]{0,64}m|0?K)")
_STRING_BODY = f"[^\x07\x18\x1a\x1b\x9c\n]{{0,{MAX_SEQUENCE}}}"
_TOKEN = lazy_regex(
    # a run of ordinary text
    "(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)"
    # CSI: parameters, intermediates, final
    "|(?:\x1b\\[|\x9b)(?P<params>[0-?]{0,256})(?P<inter>[ -/]{0,16})(?P<final>[@-~])"
    # OSC, DCS, SOS, PM, APC up to BEL or ST
    f"|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_STRING_BODY}(?:\x07|\x1b\\\\|\x9c)"
    # two-character and charset sequences
    "|\x1b[ -/]{1,16}[0-~]|\x1b[0-OQ-WYZ`-~\\\\]"
    # any other control character, a lone introducer included
    "|(?P<control>[\x00-\x1f\x7f-\x9f])",
)
_UNFINISHED = lazy_regex(
    "(?:\x1b"
    "|(?:\x1b\\[|\x9b)[0-?]{0,256}[ -/]{0,16}"
    f"|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_STRING_BODY}\x1b?"
    "|\x1b[ -/]{1,16}"
    "|\r)\\Z",
)
_BODY_STARTS = frozenset("[]PX^_")
_LINE_ENDS = frozenset("\x0b\x0c\x85")
_ERASE_SCROLLBACK = 3


def _has_control(text: str) -> bool:
    """Whether a control character but tab and LF is in it; by bytes, ten times as fast as by pattern."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROL_BYTES)) != len(data):
        return True
    return _C1_LEAD in data and _CONTROL.search(text) is not None


def plain_bytes(data: bytes) -> bytes | None:
    """UTF-8 as a terminal at the end of its line shows it, if nothing but colours and CR LF has to go; else None.

    The same as ``Terminal.push`` does with the text, several times as fast.
    """
    if b"\r\n" in data:  # first: a CR and a LF that a sequence stands between are no line end
        data = data.replace(b"\r\n", b"\n")
    if b"\x1b" in data:
        data = _COLOUR_BYTES.sub(b"", data)
    if len(data.translate(None, _CONTROL_BYTES)) != len(data):
        return None
    return None if _C1_LEAD in data and _C1_BYTES.search(data) is not None else data


class Terminal:
    """The cleaned view of one output stream, line by line."""

    __slots__ = ("_cursor", "_held", "_length", "_line", "_out")

    def __init__(self) -> None:
        self._line: list[str] = []  # runs of text while the cursor is at the end, else one character an item
        self._length = 0  # of the line, while it is made of runs
        self._cursor: int | None = None  # None: at the end of the line
        self._held = ""  # an unfinished escape sequence, or a CR whose LF may follow
        self._out: list[str] = []

    def push(self, text: str) -> str:
        """Committed lines, each ending in LF, and pieces of an overlong line."""
        if self._held:
            text, self._held = self._held + text, ""
        if self._cursor is not None or not self._take_plain(text):
            *whole, last = text.split("\n")
            for line in whole:
                self._take_line(line, is_open=False)
                self._end_line()
            self._take_line(last, is_open=True)
        return self._taken()

    @property
    def is_at_rest(self) -> bool:
        """Whether the cursor is at the end of its line and no escape sequence is half there."""
        return self._cursor is None and not self._held

    def push_plain(self, text: str) -> str:
        """As ``push``, at rest, for text without control characters but tab and LF."""
        self._append(text)
        return self._taken()

    def pending(self) -> str:
        """The line in progress, as it stands on the screen now."""
        return "".join(self._line)

    def flush(self) -> str:
        """The line in progress, given up to the reader; what follows starts a new one."""
        self._out.extend(self._line)
        self._start_line()
        return self._taken()

    def finish(self) -> str:
        """The unterminated last line; an unterminated escape sequence is given up."""
        if self._held:
            held, self._held = self._held, ""
            self._interpret(held, is_open=False)
        return self.flush()

    def _taken(self) -> str:
        out, self._out = self._out, []
        return "".join(out)

    def _start_line(self) -> None:
        self._line = []
        self._length = 0
        self._cursor = None

    def _end_line(self) -> None:
        self._out.extend(self._line)
        self._out.append("\n")
        self._start_line()

    def _take_plain(self, text: str) -> bool:
        """Take ``text`` whole if nothing in it moves the cursor; returns whether it was taken."""
        if "\r\n" in text:  # first: a CR and a LF that a sequence stands between are no line end
            text = text.replace("\r\n", "\n")
        if _ESC in text:
            text = _COLOUR.sub("", text)
        if _has_control(text):
            return False
        self._append(text)
        return True

    def _append(self, text: str) -> None:
        """Take text without control characters at the end of the line."""
        border = text.rfind("\n") + 1
        if border:
            self._out.extend(self._line)
            self._out.append(text[:border])
            self._start_line()
        if border < len(text):
            self._write(text[border:])

    def _take_line(self, line: str, *, is_open: bool) -> None:
        """One line without its LF; ``is_open``: more of it may come."""
        if not is_open and line.endswith("\r"):
            line = line[:-1]
        if not line or (self._cursor is None and self._take_plain(line)):
            return
        if "\r" not in line or not self._take_rewrites(line, is_open=is_open):
            self._interpret(line, is_open=is_open)

    def _take_rewrites(self, line: str, *, is_open: bool) -> bool:
        """Carry out a progress line, which only goes back to its start again and again.

        Returns whether it was one.
        """
        text = _SGR.sub("", line) if _ESC in line else line
        held = "\r" if is_open and text.endswith("\r") else ""  # its LF may follow
        first, *rewrites = text.removesuffix(held).split("\r")
        if not rewrites or _CONTROL.search("".join([first, *rewrites])) is not None:
            return False
        if max(self._column() + len(first), *map(len, rewrites)) >= MAX_LINE:
            return False
        shown = ""
        for rewrite in reversed(rewrites):
            shown += rewrite[len(shown) :]
        self._write(first)
        self._move_to(0)
        self._write(shown)
        self._move_to(len(rewrites[-1]))
        self._held = held
        return True

    def _interpret(self, text: str, *, is_open: bool) -> None:
        position, size = 0, len(text)
        while position < size:
            token = _TOKEN.match(text, position)
            kind = token.lastgroup if token is not None else None
            if kind == "control" and is_open and _UNFINISHED.match(text, position) is not None:
                self._held = text[position:]
                return
            if token is None:
                position += 1
                continue
            position = token.end()
            if kind == "text":
                self._write(token.group())
            elif kind == "final":
                if not token["inter"]:
                    self._csi(token["final"], token["params"])
            elif kind == "control":
                self._control(token.group())
                if token.group() == _ESC and text[position : position + 1] in _BODY_STARTS:
                    position += 1  # never ended: the introducer goes, the body is shown

    def _control(self, control: str) -> None:
        if control in _LINE_ENDS:
            self._end_line()
        elif control == "\r":
            self._move_to(0)
        elif control == "\b":
            self._move_to(self._column() - 1)

    def _csi(self, final: str, params: str) -> None:
        if params.startswith(("?", ">", "<", "=")):
            return
        first = params.split(";", 1)[0]
        number = int(first[:9]) if first.isdecimal() else 0
        count = min(number or 1, MAX_LINE)
        match final:
            case "D":
                self._move_to(self._column() - count)
            case "C":
                self._move_to(self._column() + count)
            case "G" | "`":
                self._move_to(count - 1)
            case "K":
                self._erase(number)
            case "J" if number < _ERASE_SCROLLBACK:
                self._erase(number)
            case "P" | "X" | "@":
                self._edit(final, count)
            case "H" | "f" | "d" | "E" if self._line:
                self._end_line()  # the cursor leaves the line
            case _:
                pass

    def _erase(self, mode: int) -> None:
        column = self._column()
        cells = self._cells()
        if mode == 0:
            del cells[column:]
        elif mode == 1:
            end = min(column + 1, len(cells))
            cells[:end] = " " * end
        else:
            cells.clear()

    def _edit(self, final: str, count: int) -> None:
        column = self._column()
        cells = self._cells()
        if final == "P":
            del cells[column : column + count]
        elif final == "X":
            end = min(column + count, len(cells))
            cells[column:end] = " " * (end - column)
        elif column < len(cells):
            cells[column:column] = " " * count
            del cells[MAX_LINE:]

    def _cells(self) -> list[str]:
        """The line with one character an item, ready to be edited."""
        if self._cursor is None:
            self._line = list("".join(self._line))
            self._cursor = len(self._line)
        return self._line

    def _column(self) -> int:
        return self._length if self._cursor is None else self._cursor

    def _move_to(self, column: int) -> None:
        self._cells()
        self._cursor = max(0, min(column, MAX_LINE))

    def _write(self, run: str) -> None:
        if not run:
            return
        if self._cursor is None:
            self._line.append(run)
            self._length += len(run)
            if self._length >= MAX_LINE:
                self._pass_on()
            return
        cells = self._line
        if self._cursor > len(cells):
            cells.extend(" " * (self._cursor - len(cells)))
        self._cursor += len(run)
        cells[self._cursor - len(run) : self._cursor] = run
        if len(cells) >= MAX_LINE and self._cursor == len(cells):
            self._pass_on()

    def _pass_on(self) -> None:
        """Commit full pieces of an overlong line; its rest starts anew."""
        line = "".join(self._line)
        cut = len(line) - len(line) % MAX_LINE
        self._out.append(line[:cut])
        self._start_line()
        if cut < len(line):
            self._line = [line[cut:]]
            self._length = len(line) - cut
