"""The scanner: a first stage picks lines, an automaton of keywords reads them, rules look where a keyword stands."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import ahocorasick_rs

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.prefilter import Everything, Prefilter
from execkit_mcp.redaction.rule import Look, Rule
from execkit_mcp.redaction.sight import View, lower
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.table import CONFIRM_WORDS, RULES, confirm_gate, gates_of_rules

_MOST_WITHIN = 16


class _Within(NamedTuple):
    """What a rule found last, and how many overlap before it: where that goes on and on, the rest is hidden."""

    start: int
    end: int
    turns: int
    span: Span
    is_whole: bool = False


_NOWHERE = _Within(-1, -1, 0, Span(-1, -1, "", "", Priority.CONFIRMED))
_RUN = lazy_regex(r"\S*")


def _rest_of(text: str, within: _Within, end: int) -> _Within:
    """``within`` up to the next blank."""
    rest = _RUN.match(text, within.end, end)
    stop = within.end if rest is None else rest.end()
    span = within.span._replace(end=stop, value=text[within.start : stop])
    return _Within(within.start, stop, within.turns, span, is_whole=True)


_Entry: TypeAlias = tuple[Look, bool, bool]
"""The look of a rule, whether it is wide, whether it is of the line."""


class _Asked(NamedTuple):
    """Who is asked where a keyword stands."""

    bordered: tuple[_Entry, ...]  # where no letter or digit stands before it
    glued: tuple[_Entry, ...]  # where one does
    is_confirmed: bool


class _Led(dict[int, _Asked | None]):
    """Who is asked at each keyword in lines in which the same gates match; worked out when it is first wanted.

    Args:
        words: for each keyword the numbers of its rules.
        rules: all of them.
        live: whether a rule may find something in such a line; none: all may.
        confirmed: how many of the keywords, from the first on, are worth a second opinion.
    """

    __slots__ = ("_confirmed", "_live", "_rules", "_words")

    def __init__(
        self, words: Sequence[Sequence[int]], rules: Sequence[Rule], live: frozenset[int] | None, confirmed: int
    ) -> None:
        super().__init__()
        self._words, self._rules, self._live, self._confirmed = words, rules, live, confirmed

    def __missing__(self, index: int) -> _Asked | None:
        live = self._live
        asked = [self._rules[number] for number in self._words[index] if live is None or number in live]
        glued = _entries(rule for rule in asked if rule.is_glued)
        is_confirmed = index < self._confirmed
        one = _Asked(_entries(rule for rule in asked if not rule.is_glued) + glued, glued, is_confirmed)
        self[index] = one if asked or is_confirmed else None
        return self[index]


def _entries(rules: Iterable[Rule]) -> tuple[_Entry, ...]:
    return tuple((rule.look, rule.is_wide, rule.is_of_line) for rule in rules)


_MAX_LED = 1024
_NOBODY = _Led((), (), None, 0)


class Scanner:
    """The rules behind one automaton; built once per process.

    Attributes:
        prefilter: the first stage; it may be exchanged at any time, as the output is the same with any.
    """

    __slots__ = ("_automaton", "_confirmed", "_everybody", "_gates", "_led", "_rules", "_words", "prefilter")

    def __init__(self, rules: Sequence[Rule], confirm_words: Sequence[str], prefilter: Prefilter) -> None:
        by_word: dict[str, list[int]] = {word: [] for word in confirm_words}
        for number, rule in enumerate(rules):
            for word in rule.keywords:
                by_word.setdefault(word, []).append(number)
        self._rules = tuple(rules)
        self._words = tuple(map(tuple, by_word.values()))
        self._confirmed = len(set(confirm_words))
        self._everybody = _Led(self._words, self._rules, None, self._confirmed)
        self._led: dict[int, _Led] = {}  # by the gates that match in a line
        self._automaton = ahocorasick_rs.AhoCorasick(list(by_word), implementation=ahocorasick_rs.Implementation.DFA)
        self._gates: tuple[int, ...] = ()
        self.prefilter = prefilter

    def scan(self, view: View) -> tuple[list[Span], dict[int, int], bool]:  # noqa: C901, PLR0912, PLR0915 - the inner loop
        """Spans, the lines (start to end) that hold a word worth a second opinion, whether those passed their gate."""
        spans: list[Span] = []
        lines: dict[int, int] = {}
        text = view.text
        find = self._automaton.find_matches_as_indexes
        stretches, fired = self.prefilter.stretches(view)
        known = self._led
        led = self._everybody
        for first, last in stretches:
            start = end = covered = -1
            asked: list[Look] = []
            inside: dict[Look, _Within] = {}
            for index, found_at, found_after in find(lower(text[first:last]), overlapping=True):
                at = first + found_at
                if at >= end:
                    start = text.rfind("\n", first, at) + 1 or first
                    end = text.find("\n", at, last)
                    if end < 0:
                        end = last
                    asked.clear()
                    if fired is not None:
                        gates = fired[start]
                        led = known.get(gates, _NOBODY)
                        if led is _NOBODY:
                            led = self._led_by(gates)
                who = led[index]
                if who is None:
                    continue
                before = text[at - 1] if at else " "
                if not before.isalnum() or (before in "nrt" and text[at - 2 : at - 1] == "\\"):  # a line end as \n
                    looks = who.bordered
                else:
                    looks = who.glued
                if who.is_confirmed:
                    lines[start] = end
                for look, is_wide, is_of_line in looks:
                    if is_wide and at < covered:
                        continue  # inside a value that is hidden already; keeps hostile lines linear
                    if is_of_line:
                        if look in asked:
                            continue
                        asked.append(look)
                    within = inside.get(look, _NOWHERE)
                    if at < within.end and at >= within.start and within.turns >= _MOST_WITHIN:
                        if not within.is_whole:
                            within = inside[look] = _rest_of(text, within, end)
                            spans.append(within.span)
                        continue
                    for span in look(text, at, first + found_after, end):
                        spans.append(span)
                        if span.value:
                            turns = within.turns + 1 if span.start < within.end else 0
                            inside[look] = _Within(span.start, span.end, turns, span)
                        if is_wide and span.end > covered:
                            covered = span.end
        return spans, lines, fired is not None

    def _led_by(self, gates: int) -> _Led:
        """Who is asked in lines in which ``gates`` match."""
        own = self._gates = self._gates or gates_of_rules()
        live = frozenset(number for number, bits in enumerate(own) if bits & gates)
        confirmed = self._confirmed if gates >> confirm_gate() & 1 else 0
        if len(self._led) >= _MAX_LED:
            self._led.clear()
        led = self._led[gates] = _Led(self._words, self._rules, live, confirmed)
        return led


_SCANNERS: list[Scanner] = []


def scanner() -> Scanner:
    """The one scanner of this process."""
    if not _SCANNERS:
        _SCANNERS.append(Scanner(RULES, CONFIRM_WORDS, Everything()))
    return _SCANNERS[0]


def use_first_stage(prefilter: Prefilter) -> None:
    """Have all redactors of this process read only what ``prefilter`` lets through."""
    scanner().prefilter = prefilter


def first_stage() -> str:
    """The name of the engine that reads first, for whoever reports it."""
    return scanner().prefilter.name
