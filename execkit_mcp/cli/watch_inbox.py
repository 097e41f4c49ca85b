"""The inbox of ``watch`` as a machine without a terminal: approvals and keys in, answers and lines out.

Two rules keep a hand from answering what the eye has not seen. A yes needs the question to have been on the screen to
its end. And when the selected question goes away by itself, answered elsewhere or run out, keys that answer do nothing
for a second, because the finger was on its way to another one.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct
from wcwidth import wcwidth

from execkit_mcp.approvals import Approval, Scope, describe, summary, visible
from execkit_mcp.cli.person import span
from execkit_mcp.errors import ExecKitError

__all__ = ["Answer", "Inbox", "wrapped"]

HELD_S: Final = 1.0
_LISTED: Final = 6
_HELP: Final = "a once · s session · u until · e edit · d deny · space more · j/k select · v sessions · q quit"
Want = Literal["once", "session", "until", "edit", "deny", "code"]
_ASKS: Final[dict[str, tuple[Want, str]]] = {
    "u": ("until", "allow for how long (45s, 30m, 2h, 1d): "),
    "e": ("edit", "run this instead: "),
    "d": ("deny", "why not (the agent reads it): "),
}
_YES: Final[dict[str, Want]] = {"a": "once", "s": "session"}


class Answer(Struct, frozen=True, kw_only=True):
    """What a person has decided with a key."""

    approval_id: str
    is_yes: bool
    scope: Scope
    edited: str | None = None
    code: str | None = None
    reason: str = ""


class _Prompt(Struct):
    want: Want
    label: str
    text: str
    answer: Answer


class Inbox:
    """What waits, which of it is selected, and how much of that has been seen."""

    def __init__(self, needs_code: Callable[[Approval], bool] = lambda _: False) -> None:
        self._needs_code = needs_code
        self._waiting: tuple[Approval, ...] = ()
        self._selected = ""
        self._top = 0
        self._seen_to_end: set[str] = set()
        self._held_until_s = float("-inf")
        self._prompt: _Prompt | None = None
        self.note = ""

    @property
    def is_typing(self) -> bool:
        """Whether keys are text now."""
        return self._prompt is not None

    @property
    def selected(self) -> Approval | None:
        """The approval that keys are about."""
        return next((each for each in self._waiting if each.id == self._selected), None)

    def refresh(self, waiting: Sequence[Approval], now_s: float) -> None:
        """Take what waits now; notices when the selected one is gone."""
        before = self._selected
        self._waiting = tuple(waiting)
        ids = [each.id for each in self._waiting]
        if before in ids:
            return
        self._selected = ids[0] if ids else ""
        self._top = 0
        if before:
            self._prompt = None
            self._held_until_s = now_s + HELD_S
            self.note = f"{before} no longer waits."

    def press(self, key: str, now_s: float) -> Answer | None:
        """Take one key (a character, or a name such as ``up`` and ``enter``); the answer that it gives, if any."""
        if self._prompt is not None:
            return self._typed(key, now_s)
        found = self.selected
        if key in ("j", "down", "k", "up"):
            self._move(1 if key in ("j", "down") else -1)
        elif key in (" ", "page-down"):
            self._top += max(1, self._page)
        elif key in ("b", "page-up"):
            self._top = max(0, self._top - max(1, self._page))
        elif found is not None and key in (*_YES, *_ASKS):
            return self._chosen(key, found, now_s)
        return None

    _page = 10

    def _move(self, by: int) -> None:
        ids = [each.id for each in self._waiting]
        if ids:
            at = ids.index(self._selected) if self._selected in ids else 0
            self._selected = ids[max(0, min(len(ids) - 1, at + by))]
            self._top = 0
            self.note = ""

    def _chosen(self, key: str, found: Approval, now_s: float) -> Answer | None:
        if now_s < self._held_until_s:
            self.note = "The question changed just now: look at this one first."
            return None
        if key != "d" and found.id not in self._seen_to_end:
            self.note = "There is more of it than you have seen: press space."
            return None
        self.note = ""
        answer = Answer(approval_id=found.id, is_yes=key != "d", scope=Scope.once())
        if key in _YES:
            scope = Scope.session() if _YES[key] == "session" else Scope.once()
            return self._with_code(Answer(approval_id=found.id, is_yes=True, scope=scope), found)
        want, label = _ASKS[key]
        text = found.request.canonical if want == "edit" else ""
        self._prompt = _Prompt(want=want, label=label, text=text, answer=answer)
        return None

    def _with_code(self, answer: Answer, found: Approval | None) -> Answer | None:
        """The answer, once the approver's code is typed where one is needed."""
        if found is None or not answer.is_yes or not self._needs_code(found):
            return answer
        self._prompt = _Prompt(want="code", label="the approver's code: ", text="", answer=answer)
        return None

    def _typed(self, key: str, now_s: float) -> Answer | None:
        prompt = self._prompt
        assert prompt is not None
        if key == "enter":
            self._prompt = None
            return self._finished(prompt, now_s)
        if key == "escape":
            self._prompt = None
            self.note = "Nothing was decided."
        elif key == "backspace":
            prompt.text = prompt.text[:-1]
        elif key == "clear":
            prompt.text = ""
        elif len(key) == 1 and key.isprintable():
            prompt.text += key
        return None

    def _finished(self, prompt: _Prompt, now_s: float) -> Answer | None:
        answer, text = prompt.answer, prompt.text.strip()
        found = self.selected
        match prompt.want:
            case "deny":
                return Answer(approval_id=answer.approval_id, is_yes=False, scope=Scope.once(), reason=text)
            case "code":
                return Answer(
                    approval_id=answer.approval_id, is_yes=True, scope=answer.scope, edited=answer.edited, code=text
                )
            case "edit":
                made = Answer(approval_id=answer.approval_id, is_yes=True, scope=Scope.once(), edited=text)
                return self._with_code(made, found) if text else None
            case _:
                try:
                    scope = Scope.until(now_s + span(text))
                except ExecKitError as error:
                    self.note = f"{error.message} {error.hint}"
                    return None
                return self._with_code(Answer(approval_id=answer.approval_id, is_yes=True, scope=scope), found)

    # ── showing ──────────────────────────────────────────────────────────────────────────────────────────

    def lines(self, cols: int, rows: int, now_s: float) -> list[str]:
        """The screen, ``rows`` lines of at most ``cols`` cells."""
        count = len(self._waiting)
        listed = max(1, min(_LISTED, (rows - 3) // 3))
        head = [cut(f"execkit-mcp: {count or 'no'} approval{'' if count == 1 else 's'} waiting", cols)]
        ids = [each.id for each in self._waiting]
        at = ids.index(self._selected) if self._selected in ids else 0
        first = max(0, min(at - listed // 2, count - listed))
        for each in self._waiting[first : first + listed]:
            mark = "▶ " if each.id == self._selected else "  "
            head.append(cut(mark + summary(each, now_s=now_s).replace("\n", " "), cols))
        head.append("─" * cols)
        foot = [cut(self._foot(), cols)]
        body = self._body(cols, rows - len(head) - len(foot), now_s) if rows > len(head) + len(foot) else []
        return [*head, *body, *foot][:rows]

    def _body(self, cols: int, rows: int, now_s: float) -> list[str]:
        self._page = rows
        found = self.selected
        if found is None:
            return [""] * rows
        text = wrapped(describe(found, now_s=now_s), cols)
        self._top = max(0, min(self._top, len(text) - rows))
        shown = text[self._top : self._top + rows]
        if self._top + rows >= len(text):
            self._seen_to_end.add(found.id)
        return shown + [""] * (rows - len(shown))

    def _foot(self) -> str:
        if self._prompt is not None:
            return f"{self._prompt.label}{visible(self._prompt.text)}▏   (enter, or escape)"
        return visible(self.note) or _HELP


def cut(text: str, cols: int) -> str:
    """``text`` in at most ``cols`` cells."""
    return next(iter(wrapped(text, cols)), "")


def wrapped(text: str, cols: int) -> list[str]:
    """``text`` in lines of at most ``cols`` cells; nothing is left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        row, width = "", 0
        for character in line:
            cells = max(0, wcwidth(character))
            if width + cells > cols and row:
                lines.append(row)
                row, width = "", 0
            row, width = row + character, width + cells
        lines.append(row)
    return lines
