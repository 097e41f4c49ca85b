"""Decisions that were made before, given again while everything that they were made from is the same.

A decision is a pure function of the text, the policy, the context and what the locator answers. The first three are
the key. What the locator was asked is kept with its answers, in order, and asked again each time: the next question
depends on nothing but the answers before it, so if all are the same, so is the decision. A link or a program that has
changed in between gives another answer, and the text is judged anew.
"""

from collections import OrderedDict
from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from execkit_mcp.model import Decision, ProgramLocator
from execkit_mcp.policy import CompiledPolicy, Context

__all__ = ["DecisionCache"]

MOST: Final = 512
MOST_CHARS: Final = 4096
MOST_QUESTIONS: Final = 100

_UNHASHED: Final = ("locator", "forced")
_where = attrgetter(*(name for name in Context.__struct_fields__ if name not in _UNHASHED))
_Key = tuple[str, int, object]
_Question = tuple[str, str, object]


class _Asked:
    """A locator that remembers what it was asked."""

    def __init__(self, locator: ProgramLocator) -> None:
        self._locator = locator
        self.questions: list[_Question] = []

    def locate(self, name: str) -> str | None:
        """As the locator says."""
        answer = self._locator.locate(name)
        self.questions.append(("locate", name, answer))
        return answer

    def resolve(self, path: str) -> str:
        """As the locator says."""
        answer = self._locator.resolve(path)
        self.questions.append(("resolve", path, answer))
        return answer

    def linked_by(self, pattern: str) -> tuple[str, ...] | None:
        """As the locator says."""
        answer = self._locator.linked_by(pattern)
        self.questions.append(("linked_by", pattern, answer))
        return answer

    def configured(self, folder: str) -> str:
        """As the locator says."""
        answer = self._locator.configured(folder)
        self.questions.append(("configured", folder, answer))
        return answer


class DecisionCache:
    """The last ``MOST`` decisions; ``judge`` is what makes them."""

    def __init__(self, judge: Callable[[str, CompiledPolicy, Context], Decision]) -> None:
        self._judge = judge
        self._kept: OrderedDict[_Key, tuple[CompiledPolicy, tuple[_Question, ...], Decision]] = OrderedDict()

    def judge(self, text: str, policy: CompiledPolicy, context: Context) -> Decision:
        """The decision on ``text``, as if it were judged now."""
        locator = context.locator
        if locator is None or context.forced or len(text) > MOST_CHARS:
            return self._judge(text, policy, context)
        key: _Key = (text, id(policy), _where(context))
        kept = self._kept.get(key)
        if kept is not None and all(getattr(locator, how)(what) == answer for how, what, answer in kept[1]):
            self._kept.move_to_end(key)
            return kept[2]
        asked = _Asked(locator)
        decision = self._judge(text, policy, replace(context, locator=asked))
        if len(asked.questions) <= MOST_QUESTIONS:
            # the policy is kept with it: while it is, no other can have its id
            self._kept[key] = (policy, tuple(dict.fromkeys(asked.questions)), decision)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
        else:
            self._kept.pop(key, None)
        return decision
