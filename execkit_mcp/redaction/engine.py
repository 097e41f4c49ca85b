"""The redactor: text in, text with tags instead of secrets out, whatever the cut.

Theory of operation. Text is decided by whole lines. A batch of complete lines (a *region*) is viewed
without escape codes; one automaton of keywords marks the places worth a look; rules look there, within
their line; known values are matched over the squeezed region, key blocks are followed from line to line.
Then spans are merged and replaced.

What is decided about a line depends on the text alone: on the line, on the lines that a known value or a
key block joins to it, never on where a chunk ended. Lines that could still be joined to later ones wait. So
any split of the input gives the same output. An unfinished line waits for its end, at most ``MAX_HELD``
characters of it; a longer line is decided in pieces, each seen with some of what follows it, so that no cut goes
through a secret.

``flush`` gives up waiting (silence on an interactive stream): what is held goes out, but for a last token
that is the beginning of a known value or of a token shape; if the flushed text ended in a secret, the rest
of that secret is swallowed when it arrives.
"""

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.keyblock import KeyBlocks
from execkit_mcp.redaction.known import KnownMatcher, KnownValue
from execkit_mcp.redaction.lines import Lines
from execkit_mcp.redaction.scanner import scanner
from execkit_mcp.redaction.sight import View, lower, view_of
from execkit_mcp.redaction.span import Priority, Span, Tagger, merge
from execkit_mcp.redaction.table import CONFIRMED_LINE, is_open_token

MAX_HELD = 1 << 20
_REGION = 1 << 18
_CUT_WINDOW = 8192
_CUT_CLEAR = 256  # characters before a secret that may be why it is one
_CUT = lazy_regex(r"[\s,;|<>]")
_REST_OF_SECRET = lazy_regex(r"[^\s\"'`,;&<>|]*")
_MAX_CONFIRMED_LINE = 2000
_SHORT_CHARS = 2048
_MAX_ANSWERS = 128


class Confirmer(Protocol):
    """Somebody else's detector, asked only about candidate lines that no rule of ours decided."""

    def confirm(self, line: str) -> Iterable[tuple[str, str]]:
        """``(kind, secret)`` for each secret that stands in ``line``."""
        ...


class Redactor:
    """Rules, known values and the key of the tags: one for each session.

    Args:
        key: makes the tags of one session comparable, and only those.
        known: values to protect whatever they look like.
        confirmers: other detectors, for candidate lines that our rules leave undecided.
        spared: globs of values that only look like secrets; known values and private keys are hidden all the same.
    """

    __slots__ = ("_answers", "_confirmers", "_known", "_scan", "_spared", "_tagger")

    def __init__(
        self,
        *,
        key: bytes,
        known: Iterable[KnownValue] = (),
        confirmers: Sequence[Confirmer] = (),
        spared: Sequence[str] = (),
    ) -> None:
        self._spared = re.compile("|".join(map(fnmatch.translate, spared))) if spared else None
        self._tagger = Tagger(key)
        self._known = KnownMatcher(known)
        self._confirmers = tuple(confirmers)
        self._scan = scanner()
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

    def spans(self, text: str) -> list[Span]:
        """Where the secrets of a whole text without escape codes stand: disjoint, in order."""
        return self.decide(text, Lines(), is_final=True)[2] if text else []

    def tag(self, span: Span) -> str:
        """What is shown instead of a span."""
        return self._tagger.tag(span.kind, span.value)

    def decide(self, raw: str, lines: Lines, *, is_final: bool, is_cut: bool = False) -> tuple[str, int, list[Span]]:
        """Redact the lines of ``raw`` that are decided.

        Their text, their length in ``raw``, the spans in them.
        """
        view = view_of(raw)
        spans, asked, is_gated = self._scan.scan(view)
        spans, is_key = lines.found(view, spans)
        if self._spared is not None:
            spans = [span for span in spans if self._spared.match(span.value) is None]
        known, waiting = self._known.find(view, is_final=is_final)
        spans += known
        block_spans, block_waiting = lines.blocks.find(view.text, is_final=is_final, is_marked=is_key)
        spans += block_spans
        waiting = min(waiting, block_waiting)
        if self._confirmers:
            confirmed = self._confirmed(view, asked, spans, is_gated=is_gated)
            spans += confirmed if self._spared is None else (s for s in confirmed if not self._spared.match(s.value))
        merged = merge(spans)
        if is_cut:
            waiting = _cut_of(view.text, merged)
        elif waiting < len(view.text):
            waiting = _whole_before(waiting, view.text, merged, lines.blocks)
        if waiting < len(view.text):
            merged = [span for span in merged if span.end <= waiting]
        consumed = len(raw) if waiting >= len(view.text) else (view.origin(waiting, waiting + 1)[0] if waiting else 0)
        if waiting and consumed < len(raw) and not is_cut:
            consumed = raw.rfind("\n", 0, consumed) + 1  # codes at the start of a held line stay with it
        lines.commit(view.text, waiting)
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

    def _confirmed(self, view: View, lines: dict[int, int], spans: list[Span], *, is_gated: bool) -> list[Span]:
        found: list[Span] = []
        decided = sorted(span.start for span in spans)
        at = 0
        for start, end in lines.items():
            while at < len(decided) and decided[at] < start:
                at += 1
            if (at < len(decided) and decided[at] < end) or end - start > _MAX_CONFIRMED_LINE:
                continue
            line = view.text[start:end]
            if not (is_gated and line.isascii()) and CONFIRMED_LINE.search(lower(line)) is None:
                continue
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

    __slots__ = ("_held", "_is_swallowing", "_line", "_line_chars", "_lines", "_redactor", "counts")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._lines = Lines()
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
        return self._redactor.decide(text[:kept], self._lines.copy(), is_final=True)[0]

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
            pieces, rest = self._cut(line)
            yield from pieces
            yield self._take_region(rest)

    def _take_region(self, region: str) -> str:
        text = self._held + region if self._held else region
        out, consumed = self._decide_open(text)
        self._held = text[consumed:]
        if len(self._held) > MAX_HELD:
            out += self._give_up_held()
        return out

    def _take_overlong(self) -> str:
        pieces, rest = self._cut("".join(self._line))
        self._line = [rest] if rest else []
        self._line_chars = len(rest)
        return "".join(pieces)

    def _cut(self, line: str) -> tuple[list[str], str]:
        """The pieces of an overlong line that are decided, and its rest.

        What is decided about a piece is seen from all that may be held, so no cut goes through a secret; the
        rest of one that is longer still is swallowed.
        """
        pieces: list[str] = []
        while len(line) > MAX_HELD:
            pieces.append(self._give_up_held())
            out, consumed, spans = self._redactor.decide(line[:MAX_HELD], self._lines, is_final=True, is_cut=True)
            for span in spans:
                self.counts[span.kind] += 1
            pieces.append(out)
            line = line[consumed:]
            if consumed == MAX_HELD:
                self._is_swallowing = True
                line = self._swallow(line)
        return pieces, line

    def _give_up_held(self) -> str:
        held, self._held = self._held, ""
        return self._decide_all(held)

    def _decide_open(self, text: str) -> tuple[str, int]:
        out, consumed, spans = self._redactor.decide(text, self._lines, is_final=False)
        for span in spans:
            self.counts[span.kind] += 1
        return out, consumed

    def _decide(self, text: str, *, is_final: bool) -> tuple[str, list[Span]]:
        if not text:
            return "", []
        out, _, spans = self._redactor.decide(text, self._lines, is_final=is_final)
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


def _cut_of(text: str, spans: list[Span]) -> int:
    """Where an overlong line is cut: after a separator some way before its end, and near no secret."""
    last = len(text) - _CUT_WINDOW
    cut = last
    for found in _CUT.finditer(text, last - _CUT_WINDOW, last):
        cut = found.end()
    for span in spans:
        if span.start < cut + _CUT_CLEAR and span.end > cut:
            cut = span.end
    return cut
