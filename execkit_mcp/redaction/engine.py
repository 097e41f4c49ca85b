"""The redactor: text in, text with tags instead of secrets out, whatever the cut.

Theory of operation. Text is decided by whole lines. A batch of complete lines (a *region*) is viewed
without escape codes; one automaton of keywords marks the places worth a look; rules look there, within
their line; known values are matched over the squeezed region, key blocks are followed from line to line.
Then spans are merged and replaced.

What is decided about a line depends on the text alone: on the line, on the lines that a known value or a
key block joins to it, never on where a chunk ended. Lines that could still be joined to later ones wait. So
any split of the input gives the same output. An unfinished line waits for its end, at most ``MAX_HELD``
characters of it; a longer line is decided in pieces of that size, cut where no token stands if there is
such a place.

``flush`` gives up waiting (silence on an interactive stream): what is held goes out, but for a last token
that is the beginning of a known value or of a token shape; if the flushed text ended in a secret, the rest
of that secret is swallowed when it arrives.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import ahocorasick_rs

from execkit_mcp.redaction.keyblock import KeyBlocks
from execkit_mcp.redaction.known import KnownMatcher, KnownValue
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.sight import View, view_of
from execkit_mcp.redaction.span import Priority, Span, Tagger, merge
from execkit_mcp.redaction.table import CONFIRM_WORDS, RULES, is_open_token

MAX_HELD = 1 << 20
_REGION = 1 << 18
_CUT_WINDOW = 4096
_CUT = re.compile(r"[\s,;|<>]")
_REST_OF_SECRET = re.compile(r"[^\s\"'`,;&<>|]*")
_MAX_CONFIRMED_LINE = 2000
_SHORT_CHARS = 2048
_MAX_ANSWERS = 128


class Confirmer(Protocol):
    """Somebody else's detector, asked only about candidate lines that no rule of ours decided."""

    def confirm(self, line: str) -> Iterable[tuple[str, str]]:
        """``(kind, secret)`` for each secret that stands in ``line``."""
        ...


class _Scanner:
    """The rules behind one automaton; built once per process."""

    __slots__ = ("_automaton", "_confirm_words", "_looks")

    def __init__(self, rules: Sequence[Rule], confirm_words: Sequence[str]) -> None:
        by_word: dict[str, list[Rule]] = {word: [] for word in confirm_words}
        for rule in rules:
            for word in rule.keywords:
                by_word.setdefault(word, []).append(rule)
        self._confirm_words = len(confirm_words)  # they stand first
        self._looks = [tuple((rule.look, rule.is_wide) for rule in rules) for rules in by_word.values()]
        self._automaton = ahocorasick_rs.AhoCorasick(list(by_word))

    def scan(self, view: View) -> tuple[list[Span], dict[int, int]]:
        """Spans, and the lines (start to end) that hold a word worth a second opinion."""
        spans: list[Span] = []
        lines: dict[int, int] = {}
        text = view.text
        looks = self._looks
        start = end = covered = -1
        for index, at, after in self._automaton.find_matches_as_indexes(view.low, overlapping=True):
            if at >= end:
                start = text.rfind("\n", 0, at) + 1
                end = text.find("\n", after)
                if end < 0:
                    end = len(text)
            if index < self._confirm_words:
                lines[start] = end
            for look, is_wide in looks[index]:
                if is_wide and at < covered:
                    continue  # inside a value that is hidden already; keeps hostile lines linear
                found = look(text, at, after, end)
                for span in found:
                    spans.append(span)
                    if is_wide and span.end > covered:
                        covered = span.end
        return spans, lines


_SCANNER: list[_Scanner] = []


def _scanner() -> _Scanner:
    if not _SCANNER:
        _SCANNER.append(_Scanner(RULES, CONFIRM_WORDS))
    return _SCANNER[0]


class Redactor:
    """Rules, known values and the key of the tags: one for each session.

    Args:
        key: makes the tags of one session comparable, and only those.
        known: values to protect whatever they look like.
        confirmers: other detectors, for candidate lines that our rules leave undecided.
    """

    __slots__ = ("_answers", "_confirmers", "_known", "_scan", "_tagger")

    def __init__(self, *, key: bytes, known: Iterable[KnownValue] = (), confirmers: Sequence[Confirmer] = ()) -> None:
        self._tagger = Tagger(key)
        self._known = KnownMatcher(known)
        self._confirmers = tuple(confirmers)
        self._scan = _scanner()
        self._answers: dict[str, tuple[str, dict[str, int]]] = {}

    def add_known(self, name: str, value: str) -> None:
        """Protect one more value from now on; streams that are open see it too."""
        self._known.add(KnownValue(name=name, value=value))
        self._answers.clear()

    def stream(self) -> "StreamRedactor":
        """A redactor for one stream of text."""
        return StreamRedactor(self)

    def text(self, text: str) -> tuple[str, dict[str, int]]:
        """``text`` redacted as a whole, and how many secrets of each kind were replaced.

        Short texts are remembered: a folder or a command comes up several times in the records of one call.
        """
        answer = self._answers.get(text)
        if answer is None:
            stream = self.stream()
            out = stream.push(text) + stream.finish()
            answer = (out, dict(stream.counts))
            if len(text) <= _SHORT_CHARS:
                if len(self._answers) >= _MAX_ANSWERS:
                    self._answers.clear()
                self._answers[text] = answer
        return answer[0], dict(answer[1])

    def decide(self, raw: str, blocks: KeyBlocks, *, is_final: bool) -> tuple[str, int, list[Span]]:
        """Redact the lines of ``raw`` that are decided.

        Their text, their length in ``raw``, the spans in them.
        """
        view = view_of(raw)
        spans, lines = self._scan.scan(view)
        known, waiting = self._known.find(view, is_final=is_final)
        spans += known
        block_spans, block_waiting = blocks.find(view.text, is_final=is_final)
        spans += block_spans
        waiting = min(waiting, block_waiting)
        if self._confirmers:
            spans += self._confirmed(view, lines, spans)
        merged = merge(spans)
        if waiting < len(view.text):
            waiting = _whole_before(waiting, view.text, merged, blocks)
        if waiting < len(view.text):
            merged = [span for span in merged if span.end <= waiting]
        consumed = len(raw) if waiting >= len(view.text) else (view.origin(waiting, waiting + 1)[0] if waiting else 0)
        if waiting and consumed < len(raw):
            consumed = raw.rfind("\n", 0, consumed) + 1  # codes at the start of a held line stay with it
        blocks.commit(waiting)
        out: list[str] = []
        position = 0
        for span in merged:
            start, end = view.origin(span.start, span.end)
            out.append(raw[position:start])
            out.append(self._tagger.tag(span.kind, span.value))
            position = end
        out.append(raw[position:consumed])
        return "".join(out), consumed, merged

    def partial_tail(self, raw: str) -> int:
        """Where the last token of an unfinished line starts, if it may become a secret.

        Else the length of ``raw``.
        """
        view = view_of(raw)
        at = self._known.partial_tail(view)
        token = max(view.text.rfind(mark) for mark in " \t\n\"'=:,;") + 1
        if is_open_token(view.text[token:]):
            at = min(at, token)
        if at >= len(view.text):
            return len(raw)
        return view.origin(at, at + 1)[0]

    def _confirmed(self, view: View, lines: dict[int, int], spans: list[Span]) -> list[Span]:
        found: list[Span] = []
        decided = sorted(span.start for span in spans)
        at = 0
        for start, end in lines.items():
            while at < len(decided) and decided[at] < start:
                at += 1
            if (at < len(decided) and decided[at] < end) or end - start > _MAX_CONFIRMED_LINE:
                continue
            line = view.text[start:end]
            for confirmer in self._confirmers:
                for kind, secret in confirmer.confirm(line):
                    offset = line.find(secret) if secret else -1
                    while offset >= 0:
                        first = start + offset
                        found.append(Span(first, first + len(secret), kind, secret, Priority.CONFIRMED))
                        offset = line.find(secret, offset + len(secret))
        return found


class StreamRedactor:
    """One stream of text on its way through a Redactor.

    Attributes:
        counts: how many secrets of each kind were replaced so far.
    """

    __slots__ = ("_blocks", "_held", "_is_swallowing", "_line", "_line_chars", "_redactor", "counts")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._blocks = KeyBlocks()
        self._held = ""  # complete lines that wait for later ones
        self._line: list[str] = []  # the unfinished line
        self._line_chars = 0
        self._is_swallowing = False
        self.counts: Counter[str] = Counter()

    @property
    def held_chars(self) -> int:
        """How much text waits for a decision."""
        return len(self._held) + self._line_chars

    def push(self, text: str) -> str:
        """The text that is decided now."""
        if self._is_swallowing:
            text = self._swallow(text)
        border = text.rfind("\n") + 1
        out = ""
        if border:
            whole = "".join([*self._line, text[:border]])
            self._line = []
            self._line_chars = 0
            text = text[border:]
            out = self._take_lines(whole)
        if text:
            self._line.append(text)
            self._line_chars += len(text)
            if self._line_chars >= MAX_HELD:
                out += self._take_overlong()
        return out

    def flush(self) -> str:
        """Everything that is held but the beginning of what may be a secret.

        For silence on an interactive stream.
        """
        line = "".join(self._line)
        kept = self._redactor.partial_tail(line) if line else 0
        out, spans = self._decide(self._held + line[:kept], is_final=True)
        self._held = ""
        self._line = [line[kept:]] if kept < len(line) else []
        self._line_chars = len(line) - kept
        self._is_swallowing = bool(spans) and not self._line and bool(line) and out.endswith("]") and kept == len(line)
        return out

    def preview(self, more: str = "") -> str:
        """What ``flush`` would give for the held text and ``more`` (an unfinished line); nothing changes."""
        text = self._held + "".join(self._line) + more
        if not text:
            return ""
        border = text.rfind("\n") + 1
        kept = border + self._redactor.partial_tail(text[border:])
        return self._redactor.decide(text[:kept], self._blocks.copy(), is_final=True)[0]

    def finish(self) -> str:
        """Everything that is still held, decided; the stream is over."""
        line = "".join(self._line)
        self._line = []
        self._line_chars = 0
        held, self._held = self._held, ""
        return self._decide_all(held + line)

    def _take_lines(self, whole: str) -> str:
        out: list[str] = []
        position = 0
        while position < len(whole):
            end = len(whole)
            if end - position > _REGION:
                end = whole.find("\n", position + _REGION) + 1
            region = whole[position:end]
            position = end
            if len(region) > MAX_HELD:
                out.extend(self._take_long_lines(region))
                continue
            out.append(self._take_region(region))
        return "".join(out)

    def _take_long_lines(self, region: str) -> Iterable[str]:
        """A region with at least one line that is longer than what may be held.

        In the pieces that a stream gives.
        """
        for line in region.splitlines(keepends=True) if "\n" in region else [region]:
            rest = line
            while len(rest) > MAX_HELD:
                cut = _cut_of(rest)
                yield self._give_up_held() + self._decide_all(rest[:cut])
                rest = rest[cut:]
            yield self._take_region(rest)

    def _take_region(self, region: str) -> str:
        text = self._held + region if self._held else region
        out, consumed = self._decide_open(text)
        self._held = text[consumed:]
        if len(self._held) > MAX_HELD:
            out += self._give_up_held()
        return out

    def _take_overlong(self) -> str:
        line = "".join(self._line)
        out: list[str] = []
        while len(line) > MAX_HELD:
            cut = _cut_of(line)
            out.append(self._give_up_held() + self._decide_all(line[:cut]))
            line = line[cut:]
        self._line = [line] if line else []
        self._line_chars = len(line)
        return "".join(out)

    def _give_up_held(self) -> str:
        held, self._held = self._held, ""
        return self._decide_all(held)

    def _decide_open(self, text: str) -> tuple[str, int]:
        out, consumed, spans = self._redactor.decide(text, self._blocks, is_final=False)
        for span in spans:
            self.counts[span.kind] += 1
        return out, consumed

    def _decide(self, text: str, *, is_final: bool) -> tuple[str, list[Span]]:
        if not text:
            return "", []
        out, _, spans = self._redactor.decide(text, self._blocks, is_final=is_final)
        for span in spans:
            self.counts[span.kind] += 1
        return out, spans

    def _decide_all(self, text: str) -> str:
        return self._decide(text, is_final=True)[0]

    def _swallow(self, text: str) -> str:
        rest = _REST_OF_SECRET.match(text)
        end = rest.end() if rest is not None else 0
        if end < len(text):
            self._is_swallowing = False
        return text[end:]


def _whole_before(waiting: int, text: str, spans: list[Span], blocks: KeyBlocks) -> int:
    """The last line start up to ``waiting`` that cuts neither a span nor a key block."""
    while True:
        before = waiting
        for span in reversed(spans):
            if span.start < waiting < span.end:
                waiting = text.rfind("\n", 0, span.start) + 1
        waiting = blocks.whole_before(waiting)
        if waiting == before:
            return waiting


def _cut_of(line: str) -> int:
    """Where an overlong line is cut: after the last separator before the bound, or at the bound."""
    cut = 0
    for found in _CUT.finditer(line, MAX_HELD - _CUT_WINDOW, MAX_HELD):
        cut = found.end()
    return cut or MAX_HELD
