# ruff: noqa: PLR2004 - counts of character classes
"""Values that are known to be secret, found in every encoding of the published table.

Theory of operation. Each encoding of each value is squeezed (see ``sight``) and put into one Aho-Corasick
automaton, which runs over the squeezed view. So one pass sees through folding, spacing, quoting and case. A
hit is then checked against the view:

* a *strong* value (at least 12 characters that look random) counts however it was squeezed; eight
  characters of it that look random by themselves count as well, so a piece of it does not leak either;
* a *weak* value counts only whole: as one of its encodings, folded, or evenly spaced out;
* a value under six characters counts only as it is, between word borders.

A match may cross line ends. Lines whose end could be the beginning of a value are held back until the next
line shows. The rule that decides which line ends may be crossed looks at the text alone, never at how it
was cut.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import ahocorasick_rs
from msgspec import Struct

from execkit_mcp.redaction.encodings import encodings_of
from execkit_mcp.redaction.sight import View, kept_positions, lower, position_from_end, squeeze, squeezed_bytes, view_of
from execkit_mcp.redaction.span import Priority, Span

KIND = "known"
MIN_STRONG_CHARS = 12
MIN_FREE_CHARS = 6  # below: only raw, between word borders
MIN_CHARS = 2
_MIN_STRONG_BITS = 3.0
_HEX_CHARS = 16
_SHINGLE = 8
_MIN_SHINGLE_KINDS = 6
_PIECE_CHARS = 256
_MAX_QUICK_STATES = 40_000
_SURE_CHARS = 4  # a line that ends in fewer characters of a value is joined to the next only if it looks folded
_FOLD_WIDTHS = frozenset({8, 16, 20, 32, 40, 48, 50, 60, 64, 70, 72, 75, 76, 78, 79, 80, 100, 120, 128})


class KnownValue(Struct, frozen=True, kw_only=True):
    """A secret and where it came from; its repr shows only the name."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"KnownValue(name={self.name!r})"


class _Pattern(NamedTuple):
    squeezed: str
    encoded: str  # lower case, as it stands in text; empty for a piece of a strong value
    value: str
    is_strong: bool


def is_strong(value: str) -> bool:
    """Whether ``value`` is long and random enough that no ordinary text contains parts of it."""
    if len(value) < MIN_STRONG_CHARS:
        return False
    counts = Counter(value)
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    has_digit = any(c.isdigit() for c in value)
    kinds = has_digit + any(c.islower() for c in value) + any(c.isupper() for c in value)
    kinds += any(not c.isalnum() for c in value)
    return bits >= _MIN_STRONG_BITS and has_digit and (kinds >= 3 or (len(value) >= _HEX_CHARS and kinds == 2))


def _shingles(value: str) -> Iterable[str]:
    if not value.isascii():
        return
    for start in range(len(value) - _SHINGLE + 1):
        piece = value[start : start + _SHINGLE]
        letters = sum(c.isalpha() for c in piece)
        digits = sum(c.isdigit() for c in piece)
        if letters + digits == _SHINGLE and letters >= 2 and digits >= 2 and len(set(piece)) >= _MIN_SHINGLE_KINDS:
            yield piece


def _pieces(value: str) -> Iterable[str]:
    """A long or many-lined value in parts that stand for it."""
    for line in value.splitlines() if "\n" in value.strip() else (value,):
        for start in range(0, len(line), _PIECE_CHARS):
            yield line[start : start + _PIECE_CHARS]


class KnownMatcher:
    """Finds known values; values may be added at any time."""

    __slots__ = ("_automaton", "_first", "_longest", "_patterns", "_quick", "_seen", "_sorted", "_starts")

    def __init__(self, known: Iterable[KnownValue] = ()) -> None:
        self._patterns: list[_Pattern] = []
        self._seen: set[str] = set()
        self._automaton: ahocorasick_rs.AhoCorasick | None = None
        self._quick: ahocorasick_rs.BytesAhoCorasick | None = None  # only says whether there is a hit at all
        self._first: ahocorasick_rs.AhoCorasick | None = (
            None  # of the beginnings, to look for them at the end of a text
        )
        self._sorted: list[str] = []
        self._starts: frozenset[str] = frozenset()
        self._longest = 0
        for one in known:
            self.add(one)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def add(self, known: KnownValue) -> None:
        """Protect one more value; values under two characters cannot be protected and are ignored."""
        value = known.value.strip("\r\n")
        if value in self._seen or len(value) < MIN_CHARS:
            return
        self._seen.add(value)
        self._automaton = None
        pieces = list(_pieces(value))
        for piece in pieces:
            if len(pieces) > 1 and (len(piece) < MIN_STRONG_CHARS or piece.startswith("-----")):
                continue
            self._add_piece(piece, value)

    def _add_piece(self, piece: str, value: str) -> None:
        if len(piece) < MIN_FREE_CHARS:
            self._patterns.append(_Pattern(squeeze(lower(piece)) or lower(piece), piece, value, False))
            return
        strong = is_strong(piece)
        taken: set[tuple[str, str]] = set()
        for encoded in encodings_of(piece):
            low = view_of(encoded).low
            squeezed = squeeze(low)
            if len(squeezed) >= MIN_FREE_CHARS - 2 and (squeezed, low) not in taken:
                taken.add((squeezed, low))
                self._patterns.append(_Pattern(squeezed, low, value, strong))
        if strong:
            for shingle in _shingles(piece):
                self._patterns.append(_Pattern(lower(shingle), "", value, True))

    def _build(self) -> ahocorasick_rs.AhoCorasick:
        self._sorted = sorted({pattern.squeezed for pattern in self._patterns})
        self._longest = max(map(len, self._sorted))
        self._starts = frozenset(pattern[:_SURE_CHARS] for pattern in self._sorted)
        first = [start for start in self._starts if len(start) == _SURE_CHARS]
        self._first = ahocorasick_rs.AhoCorasick(first) if first else None
        squeezed = [pattern.squeezed for pattern in self._patterns]
        states = sum(map(len, squeezed))
        # the quickest form while it is small: it takes a millisecond and a third of a megabyte for each 1,000 states
        kind = ahocorasick_rs.Implementation
        form = kind.DFA if states <= _MAX_QUICK_STATES else kind.ContiguousNFA
        self._automaton = ahocorasick_rs.AhoCorasick(squeezed, implementation=form)
        is_plain = all(pattern.isascii() for pattern in self._sorted)
        self._quick = (
            ahocorasick_rs.BytesAhoCorasick([one.encode() for one in self._sorted], implementation=form)
            if is_plain
            else None
        )
        return self._automaton

    def find(self, view: View, *, is_final: bool) -> tuple[list[Span], int]:
        """Spans in ``view``, and the offset from which on lines must wait (its length if none)."""
        size = len(view.text)
        if not self._patterns:
            return [], size
        automaton = self._automaton or self._build()
        quick = squeezed_bytes(view) if self._quick is not None else None
        if quick is not None and self._quick is not None and not self._quick.find_matches_as_indexes(quick):
            return [], size if is_final else self._waiting_from(view, quick[-self._longest :].decode())
        squeezed = squeeze(view.low)
        spans: list[Span] = []
        hits = automaton.find_matches_as_indexes(squeezed, overlapping=True)
        if hits:
            kept = kept_positions(view.low)
            for index, start, end in hits:
                pattern = self._patterns[index]
                first, last = kept[start], kept[end - 1] + 1
                if self._counts(pattern, view, first, last):
                    spans.append(Span(first, last, KIND, pattern.value, Priority.KNOWN))
        return spans, size if is_final else self._waiting_from(view, squeezed)

    def partial_tail(self, view: View) -> int:
        """Where the unfinished last token starts to look like a known value (else the view's length)."""
        if not self._patterns:
            return len(view.text)
        if self._automaton is None:
            self._build()
        tail = squeeze(view.low[-2 * self._longest - 64 :])[-self._longest :]
        for start in range(max(0, len(tail) - _SURE_CHARS + 1)):
            if tail[start : start + _SURE_CHARS] in self._starts and self._is_prefix(tail[start:]):
                return position_from_end(view.low, len(tail) - start)
        return len(view.text)

    def _counts(self, pattern: _Pattern, view: View, first: int, last: int) -> bool:
        low = view.low[first:last]
        if len(pattern.encoded) < MIN_FREE_CHARS and pattern.encoded:
            exact = view.text[first:last] == pattern.encoded
            return exact and not _is_word(view.text[first - 1 : first]) and not _is_word(view.text[last : last + 1])
        if "\n" in low and not _may_cross(view.low, first, low):
            return False
        if pattern.is_strong:
            return True
        encoded = pattern.encoded
        if low == encoded or low in encoded or low.replace("\n", "") in encoded:
            return True
        gap = low[1 : low.find(pattern.squeezed[1], 1)]
        return gap.join(pattern.squeezed) == low

    def _waiting_from(self, view: View, squeezed: str) -> int:
        """The start of the earliest line that could still become part of a match."""
        tail = squeezed[-self._longest :]
        size = len(tail)
        sure = max(0, size - _SURE_CHARS + 1)
        hits = self._first.find_matches_as_indexes(tail, overlapping=True) if self._first is not None else ()
        candidates = [start for _, start, _ in hits]
        for start in (*candidates, *range(sure, size)):
            if not self._is_prefix(tail[start:]):
                continue
            position = position_from_end(view.text, size - start)
            if size - start >= _SURE_CHARS or _looks_folded(view.text, position):
                return view.text.rfind("\n", 0, position) + 1
        return len(view.text)

    def _is_prefix(self, text: str) -> bool:
        at = bisect_left(self._sorted, text)
        if at < len(self._sorted) and self._sorted[at] == text:
            at += 1
        return at < len(self._sorted) and self._sorted[at].startswith(text)


def _may_cross(low: str, first: int, matched: str) -> bool:
    """Whether a match may go over the line ends in it.

    No line in it may be empty, and its beginning may be short only if it looks folded.
    """
    lines = matched.split("\n")
    if any(not line or line.isspace() for line in lines):
        return False
    return len(squeeze(lines[0])) >= _SURE_CHARS or _looks_folded(low, first)


def _looks_folded(low: str, position: int) -> bool:
    start = low.rfind("\n", 0, position) + 1
    end = low.find("\n", position)
    return (len(low) if end < 0 else end) - start in _FOLD_WIDTHS


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
