r"""What becomes of text and keys that are typed to a running program; this module plans it, purely.

Theory of operation. Who stands in front of the terminal decides (``readers``):

* in front of a *shell* or an *interpreter* text is held back until its line ends. Then the whole line is judged, and
  for a shell the canonical text is typed, not the agent's: the shell's own line is empty whenever a line arrives
  (a Ctrl-U goes first). Keys that recall, complete or edit would make the line unknowable and are refused.
* *viewers* and *editors* get what their row calls harmless; anything else is judged as text given to them.
* other programs get plain answers (``y``, ``no``, a number, a single key). Other text is judged like the program's own
  command line: what a policy lets run on unjudged standard input may be typed into.
* what one program leaves unread, the next one reads. While a shell, interpreter, editor, viewer or carrier waits
  behind the program in front, or is still to come in the same command, only plain answers pass without a question,
  and single lines to an interpreter that waits for one.

``typed_verdict`` judges what is planned to be judged.
"""

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import Verdict
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy.password_prompts import asks_for_password, may_ask
from execkit_mcp.policy.readers import Kind, Reader, reader_of

__all__ = ["MAX_LINE_BYTES", "Line", "Step", "plan"]

MAX_LINE_BYTES: Final = 3500
"""The kernel cuts a line of 4,095 bytes and more in silence."""
_MAX_HELD: Final = 16_384
_PLAIN: Final = lazy_regex(r"(?:[yYnNqQ ]|yes|no|Yes|No|YES|NO|[0-9]{1,6})?\n?")
_SINGLE: Final = lazy_regex(r"[ -~]\n?")
_CONTROL: Final = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_KINDS: Final = frozenset({Kind.SHELL, Kind.INTERPRETER})
_SIGNALS: Final = frozenset({"ctrl-c", "ctrl-z", "ctrl-backslash"})
_MOVES: Final = frozenset({"up", "down", "left", "right", "home", "end", "page-up", "page-down", "escape", "ctrl-l"})
_PASSWORD_KEYS: Final = _SIGNALS | {"ctrl-d", "enter", "backspace", "ctrl-u"}
_DIALOGUE_KEYS: Final = _MOVES | {"tab", "shift-tab", "backspace", "delete", "ctrl-d", "ctrl-u", "insert"}
_TEXT_OF: Final = {"enter": "\n", "space": " "}
_KEYS_OF: Final = {Kind.OTHER: _DIALOGUE_KEYS, Kind.VIEWER: _MOVES, Kind.EDITOR: _MOVES}
_HIDDEN: Final = "The terminal shows nothing of what is typed, so it reads a password; only a person may type one."
_ASKED: Final = "The program asks for a password or the like; only a person may type one."
_NOBODY: Final = ("Nobody reads the terminal at this moment.", "Send it again.")
_ORDER: Final = (Kind.OTHER, Kind.VIEWER, Kind.EDITOR, Kind.CARRIER)


class Line(Struct, frozen=True, kw_only=True):
    """What was typed in one exec and is not decided yet.

    Attributes:
        held: kept back until the line ends; nobody has seen it.
        pending: typed since the last line end; somebody may not have read it yet.
        last: the shell that the last whole line was typed to, and its naps then: until it has woken, that line is
            on its way.
        is_once: whether a person approved the last whole line, for this once.
    """

    held: str = ""
    pending: str = ""
    last: tuple[int, int] = (0, 0)
    is_once: bool = False


class Step(Struct, frozen=True, kw_only=True):
    """What to do with one send.

    Attributes:
        action: ``hold``, ``type``, ``judge``, ``refuse`` or ``password``.
        line: the line afterwards, if the step is carried out.
        text: what to type, or to judge; keys have ``key`` instead.
        key: the key to type.
        process: who is in front, where somebody is.
        reader: its row.
        floor: at least this, whatever the policy says of the program.
        message: why it is refused, or why the floor.
        hint: what to do instead.
        is_retryable: whether the same send may pass a moment later.
        is_overheard: whether a shell or the like waits behind the program in front, and would read what that leaves.
        is_secret_refused: of a password: whether not even a declared secret may be typed, as who asks for it cannot be
            seen from here.
    """

    action: str
    line: Line = Line()
    text: str = ""
    key: str = ""
    process: TerminalProcess | None = None
    reader: Reader | None = None
    floor: Verdict = Verdict.ALLOW
    message: str = ""
    hint: str = ""
    is_retryable: bool = False
    is_overheard: bool = False
    is_secret_refused: bool = False


def plan(
    *,
    text: str | None,
    key: str | None,
    line: Line,
    state: TerminalState,
    to_come: frozenset[Reader] = frozenset(),
    is_shell_reading: bool = True,
    shown: str = "",
) -> Step:
    """What to do with ``text`` or ``key``.

    Args:
        text: as it came; a line end is the Enter key.
        key: the key's own name.
        line: what this exec has undecided.
        state: the terminal as it stands.
        to_come: what the exec may still bring to the front (``readers_of``).
        is_shell_reading: whether a builtin of the session's own shell may read (``reads_itself``).
        shown: what the terminal shows left of the cursor, where that decides (``may_ask``).
    """
    if text is not None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        found = _CONTROL.search(text)
        if found is not None:
            return _refused(
                f"The text holds the control character U+{ord(found.group()):04X}.",
                "Send keys with key (ctrl-c, escape, up …) and printable text with text.",
            )
    if key in _TEXT_OF:
        text, key = _TEXT_OF[key], None
    if state.is_reading_password or (may_ask(state) and asks_for_password(shown)):
        return _to_password(text, key, state)
    if key in _SIGNALS:
        return Step(action="type", key=key)
    seats = tuple((process, reader_of(process)) for process in state.front)
    scene = _Scene(
        text=text, key=key, line=line, state=state, seats=seats, to_come=to_come, is_shell_reading=is_shell_reading
    )
    if any(reader.kind in _LINE_KINDS for _, reader in seats):
        return _to_prompt(scene)
    if not seats and not state.is_shell_in_front:
        return _refused(*_NOBODY, is_retryable=True)
    return _text_to_program(scene) if key is None else _key_to_program(scene, key)


def _refused(message: str, hint: str, *, is_retryable: bool = False) -> Step:
    return Step(action="refuse", message=message, hint=hint, is_retryable=is_retryable)


def _to_password(text: str | None, key: str | None, state: TerminalState) -> Step:
    is_sure = state.is_reading_password
    if key in _PASSWORD_KEYS:
        return Step(action="type", key=key or "")
    if text == "\n":
        return Step(action="type", text="\n")
    return Step(
        action="password",
        text=text or "",
        is_secret_refused=not is_sure and any(reader_of(each).kind is Kind.CARRIER for each in state.front),
        message=_HIDDEN if is_sure else _ASKED,
        hint="Send ${secret:NAME} if the operator has set up one for this program (secrets.typed in the configuration),"
        " or interrupt it with key ctrl-c and use a way that needs no password.",
    )


class _Scene(Struct, frozen=True, kw_only=True):
    """One send before one terminal: what came, what is undecided, who is there."""

    text: str | None
    key: str | None
    line: Line
    state: TerminalState
    seats: tuple[tuple[TerminalProcess, Reader], ...]
    to_come: frozenset[Reader]
    is_shell_reading: bool

    @property
    def whole(self) -> str:
        """The text, with what is held before it."""
        return self.line.held + (self.text or "")

    @property
    def pending(self) -> str:
        """What was typed since the last line end and may not have been read: single keys are read at once."""
        return "" if not self.state.is_line_mode and self.state.unread_bytes == 0 else self.line.pending

    @property
    def seat(self) -> tuple[TerminalProcess | None, Reader | None]:
        """The strictest of those in front."""
        return max(self.seats, key=lambda seat: _ORDER.index(seat[1].kind)) if self.seats else (None, None)

    @property
    def waiting(self) -> set[Reader]:
        """Those behind, or still to come, who would carry out what those in front leave unread."""
        behind = {reader_of(process) for process in self.state.behind} | self.to_come
        return {reader for reader in behind - {row for _, row in self.seats} if reader.kind is not Kind.OTHER}

    def step(self, action: str, **fields: Any) -> Step:
        """A step about who is in front."""
        process, reader = self.seat
        return Step(action=action, process=process, reader=reader, **fields)


def _to_prompt(scene: _Scene) -> Step:
    """A shell or an interpreter is in front: nothing goes out before the line is whole."""
    process, reader = next(seat for seat in scene.seats if seat[1].kind in _LINE_KINDS)
    name = _name(process)
    if scene.key is not None:
        return _key_to_prompt(scene.key, scene.line, name)
    whole = scene.whole
    lines, end, rest = whole.rpartition("\n")
    is_answer = reader.kind is Kind.INTERPRETER and _PLAIN.fullmatch(whole) is not None
    refusal = _unfit(name, whole) or (_unready(scene, name) if lines.strip() and not is_answer else None)
    if refusal is not None:
        return refusal
    if not end:
        return Step(action="hold", line=Line(held=whole))
    after = Line(held=rest)
    if not lines.strip() and scene.line.is_once and (reader.repeats or reader.leads_to_prompt(process.argv)):
        return _refused(
            f"An empty line has {name} repeat the line before, which a person approved for once.",
            "Type the whole line again, or another one.",
        )
    if is_answer or not lines.strip():
        return Step(action="type", text=lines.strip(" ") + "\n", line=after, process=process, reader=reader)
    step = Step(action="judge", text=lines, line=after, process=process, reader=reader)
    is_sure = "\n" not in lines and _is_idle(process, scene.state, scene.line)  # this one line is its own to read
    return step if reader.kind is Kind.SHELL or is_sure or not scene.waiting else _overheard(scene, step)


def _unfit(name: str, text: str) -> Step | None:
    """Why the text cannot be typed at a prompt, whoever shows it."""
    if "\t" in text:
        return _refused(
            f"A tab at the prompt of {name} completes words.", "Write the words in full; indent with blanks."
        )
    if len(text) > _MAX_HELD or _longest(text) > MAX_LINE_BYTES:
        return _refused(
            f"A line typed to {name} has at most {MAX_LINE_BYTES} bytes; the terminal cuts longer ones.",
            "Use a file, or shell_run.",
        )
    return None


def _unready(scene: _Scene, name: str) -> Step | None:
    """Why no line can be typed now."""
    readers = [seat for seat in scene.seats if seat[1].kind in _LINE_KINDS]
    process, reader = readers[0]
    if len(readers) > 1:
        return _refused(f"{len(readers)} programs that run what they read are in front.", "End one of them first.")
    if not scene.state.is_plain:
        return _refused(
            f"The terminal is set up so that {name} may not get the characters that are typed (stty).",
            "Use shell_run, or end this program.",
        )
    if reader.kind is Kind.SHELL and not _is_idle(process, scene.state, scene.line):
        return _refused(
            f"{name} is not at its prompt yet.", "Send it again when the prompt has come.", is_retryable=True
        )
    return None


def _key_to_prompt(key: str, line: Line, name: str) -> Step:
    if key == "backspace" and line.held:
        return Step(action="hold", line=Line(held=line.held[:-1]))
    if key == "ctrl-u":
        return Step(action="type", key=key)
    if key == "ctrl-l" or (key in {"ctrl-d", "backspace"} and not line.held):
        return Step(action="type", key=key, line=line)
    if key == "ctrl-d":
        return _refused(
            f"A line that is not finished is held for {name}.", "Send key enter to have it judged, or ctrl-u first."
        )
    return _refused(
        f"{key} at the prompt of {name} would recall, complete or edit a line that nobody has judged.",
        "Type the whole line as text.",
    )


def _is_idle(process: TerminalProcess, state: TerminalState, line: Line) -> bool:
    """Whether the shell waits for a line: it edits it itself, or sleeps in a read; and nothing is on its way.

    The kernel carries what is typed to the reader in the background, and counts it as unread only then.
    """
    if line.last[0] == process.pid and process.naps <= line.last[1]:
        return False
    return state.unread_bytes == 0 and (not state.is_line_mode or process.is_reading)


def _key_to_program(scene: _Scene, key: str) -> Step:
    kind = _kind(scene)
    held, pending = scene.line.held, scene.pending
    if held and key in {"backspace", "ctrl-u"}:
        return Step(action="hold", line=Line(held=held[:-1] if key == "backspace" else "", pending=pending))
    is_end = key == "ctrl-d" and kind is not Kind.CARRIER and not pending
    if not held and (is_end or (key in _KEYS_OF.get(kind, frozenset()) and not scene.waiting)):
        return Step(action="type", key=key, line=Line(pending=pending))
    return _with_floor(scene, scene.step("judge", key=key, text=f"<{key}>", line=Line(pending=pending)))


def _text_to_program(scene: _Scene) -> Step:
    whole, waiting, kind = scene.whole, scene.waiting, _kind(scene)
    typed = scene.pending + whole
    after = Line(pending=typed.rpartition("\n")[2][-_MAX_HELD:])
    if scene.state.is_line_mode and _longest(typed) > MAX_LINE_BYTES:
        return _refused(
            f"A line of the terminal has at most {MAX_LINE_BYTES} bytes; longer ones are cut.",
            "Send data with stdin of shell_run, or in shorter lines.",
        )
    passes = {Kind.OTHER: _is_answer, Kind.VIEWER: _is_harmless, Kind.EDITOR: _is_harmless}
    is_builtin = not scene.seats and not waiting  # of the session's own shell, which was judged to take it as data
    if is_builtin and not scene.is_shell_reading and not _is_answer(scene, whole):
        return _refused(*_NOBODY, is_retryable=True)
    if is_builtin or (kind in passes and passes[kind](scene, whole)):
        return scene.step("type", text=whole, line=after)
    if kind in {Kind.VIEWER, Kind.EDITOR} and "\n" not in whole and _is_harmless(scene, whole + "\n"):
        return scene.step("hold", line=Line(held=whole, pending=scene.pending))
    return _with_floor(scene, scene.step("judge", text=whole, line=after))


def _is_answer(scene: _Scene, whole: str) -> bool:
    typed = scene.pending + whole
    return _PLAIN.fullmatch(typed) is not None or (not scene.waiting and _SINGLE.fullmatch(typed) is not None)


def _is_harmless(scene: _Scene, whole: str) -> bool:
    if not all(reader.takes(whole) for _, reader in scene.seats if reader.kind is not Kind.OTHER):
        return False
    return not scene.waiting or _PLAIN.fullmatch(scene.pending + whole) is not None


def _with_floor(scene: _Scene, step: Step) -> Step:
    kind = _kind(scene)
    if scene.waiting and kind is Kind.OTHER:
        return _overheard(scene, step)
    if kind is Kind.CARRIER:
        return replace(
            step,
            floor=Verdict.ASK,
            message="It hands what is typed on to a program that cannot be seen from here.",
            hint="Run single commands instead, so that they can be judged.",
        )
    return step


def _overheard(scene: _Scene, step: Step) -> Step:
    names = ", ".join(sorted({reader.kind.value for reader in scene.waiting}))
    return replace(
        step,
        floor=Verdict.ASK,
        message=f"What the program in front leaves unread would be read by what waits behind it ({names}).",
        hint="Answer with y, n, a number or Enter, or wait until that program is in front.",
        is_overheard=True,
    )


def _kind(scene: _Scene) -> Kind:
    reader = scene.seat[1]
    return reader.kind if reader is not None else Kind.OTHER


def _longest(text: str) -> int:
    return max(len(line.encode()) for line in text.split("\n"))


def _name(process: TerminalProcess) -> str:
    return process.path.rpartition("/")[2] or "this program"
