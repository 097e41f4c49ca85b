"""A stretch of text that must not be shown, and the tag that is shown instead."""

import hmac
from enum import IntEnum
from typing import NamedTuple

_REMEMBERED = 512


class Priority(IntEnum):
    """Who names a secret that several rules found: the most exact one."""

    CONFIRMED = 0
    STRUCTURE = 1
    SHAPE = 2
    KEY_BLOCK = 3
    KNOWN = 4


class Span(NamedTuple):
    """Characters ``start`` to ``end`` hold a secret of ``kind``; its tag is computed from ``value``."""

    start: int
    end: int
    kind: str
    value: str
    priority: Priority


class Tagger:
    """Tags under one key: the same value has the same tag, other keys give unrelated ones."""

    __slots__ = ("_key", "_tags")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._tags: dict[str, str] = {}  # of values seen lately

    def __repr__(self) -> str:
        return "Tagger(key=***)"

    def tag(self, kind: str, value: str) -> str:
        """``[REDACTED:kind:tag6]``."""
        tag6 = self._tags.get(value)
        if tag6 is None:
            if len(self._tags) >= _REMEMBERED:
                self._tags.clear()
            digest = hmac.digest(self._key, value.encode("utf-8", "surrogatepass"), "sha256")
            tag6 = self._tags[value] = digest.hex()[:6]
        return f"[REDACTED:{kind}:{tag6}]"


def merge(spans: list[Span]) -> list[Span]:
    """Disjoint spans in order, which cover what ``spans`` cover; overlapping ones are joined."""
    spans.sort(key=lambda span: (span.start, -span.end, -span.priority, span.kind))
    merged: list[Span] = []
    for span in spans:
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        best = max(last, span, key=lambda one: (one.priority, one.end - one.start))
        merged[-1] = Span(last.start, max(last.end, span.end), best.kind, best.value, best.priority)
    return merged
