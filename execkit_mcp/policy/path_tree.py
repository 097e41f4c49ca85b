"""Many path patterns asked at once: this module is the tree that finds the first pattern that a plain path matches.

Theory of operation. A policy refuses some two hundred patterns, and nearly all are literal, or literal but for a ``*``.
One regular expression of them all takes longer to compile than a whole ``policy check`` may last; a tree of segments
costs nothing to build and a few look-ups to ask. What the tree cannot say (brackets, ``**`` in the middle, paths with
empty segments) is left to the pattern's own regular expression, compiled when it is first needed: that is the
meaning, and the tree is another way to the same answer (``tests/policy/test_path_tree.py`` holds them together).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from execkit_mcp.model.regex import lazy_regex

DOUBLE: Final = "**"
_ODD = lazy_regex(r"[?\[\]\\]")


class _Node:
    """What may follow after some segments."""

    __slots__ = ("any", "below", "ends", "literal", "wild")

    def __init__(self) -> None:
        self.literal: dict[str, _Node] = {}
        self.any: _Node | None = None  # a whole segment "*"
        self.wild: list[tuple[str, str, _Node]] = []  # HEAD*TAIL
        self.ends: int | None = None  # the first pattern that ends here
        self.below: int | None = None  # the first pattern that ends here with "/**"

    def next(self, segment: str) -> Iterator["_Node"]:
        """The nodes that one segment leads to."""
        found = self.literal.get(segment)
        if found is not None:
            yield found
        if self.any is not None:
            yield self.any
        for head, tail, node in self.wild:
            if _has_edges(segment, head, tail):
                yield node


def _has_edges(segment: str, head: str, tail: str) -> bool:
    return len(segment) >= len(head) + len(tail) and segment.startswith(head) and segment.endswith(tail)


def _edges(segment: str) -> tuple[str, str] | None:
    """What stands before and after the one star; None if the segment is not of that form."""
    head, _, tail = segment.partition("*")
    return None if "*" in tail or _ODD.search(segment) else (head, tail)


def _first(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


class PathTree:
    """Patterns as segments, in their order; ``is_deep``: what a pattern names includes everything below it."""

    __slots__ = (
        "_any_edges",
        "_expression_of",
        "_floating",
        "_floating_edges",
        "_is_deep",
        "_odd",
        "_patterns",
        "_root",
    )

    def __init__(
        self,
        patterns: Sequence[tuple[str, ...]],
        expression_of: Callable[[int], re.Pattern[str]],
        *,
        is_deep: bool,
    ) -> None:
        self._patterns = range(len(patterns))
        self._expression_of = expression_of
        self._is_deep = is_deep
        self._root = _Node()
        self._odd: list[int] = []
        self._any_edges: re.Pattern[str] | None = None
        self._floating: dict[str, int] = {}  # "**/NAME"
        self._floating_edges: list[tuple[str, str, int]] = []  # "**/HEAD*TAIL"
        for number, segments in enumerate(patterns):
            if not self._plant(number, segments):
                self._odd.append(number)

    def _plant(self, number: int, segments: tuple[str, ...]) -> bool:
        is_below = segments[-1:] == (DOUBLE,)
        is_floating = segments[:1] == (DOUBLE,)
        plain = segments[is_floating : len(segments) - is_below]
        edges = [_edges(segment) if "*" in segment else None for segment in plain]
        for segment, edge in zip(plain, edges, strict=True):
            if segment == DOUBLE or _ODD.search(segment) or ("*" in segment and edge is None):
                return False
        if not plain or (is_floating and (len(plain) != 1 or not self._is_deep)):
            return False
        if is_floating:
            if edges[0] is None:
                self._floating.setdefault(plain[0], number)
            else:
                self._floating_edges.append((*edges[0], number))
            return True
        node = self._root
        for segment, edge in zip(plain, edges, strict=True):
            node = self._child(node, segment, edge)
        if is_below and not self._is_deep:
            node.below = _first(node.below, number)
        else:
            node.ends = _first(node.ends, number)
        return True

    @staticmethod
    def _child(node: _Node, segment: str, edge: tuple[str, str] | None) -> _Node:
        if edge is None:
            return node.literal.setdefault(segment, _Node())
        if edge == ("", ""):
            node.any = node.any or _Node()
            return node.any
        for head, tail, child in node.wild:
            if (head, tail) == edge:
                return child
        node.wild.append((*edge, child := _Node()))
        return child

    def first(self, path: str) -> int | None:
        """The number of the first pattern that matches ``path``; None if there is none."""
        if path != "/" and (not path.startswith("/") or path.endswith("/") or "//" in path):
            return next((each for each in self._patterns if self._matches(each, path)), None)
        segments = path.split("/")
        del segments[0]
        found = self._walk(self._root, segments, 0)
        if not self._floating.keys().isdisjoint(segments):
            found = _first(found, *[self._floating.get(segment) for segment in segments])
        if self._floating_edges and self._has_floating_edges(path):
            for segment in segments:
                for head, tail, number in self._floating_edges:
                    if _has_edges(segment, head, tail):
                        found = _first(found, number)
        for number in self._odd:
            if found is not None and number > found:
                break
            if self._matches(number, path):
                return number
        return found

    def _has_floating_edges(self, path: str) -> bool:
        """Whether some segment has one of the floating edges: one question in place of very many."""
        if self._any_edges is None:
            edges = [f"{re.escape(head)}[^/]*{re.escape(tail)}" for head, tail, _ in self._floating_edges]
            self._any_edges = re.compile(f"/(?:{'|'.join(edges)})(?:/|\\Z)")
        return self._any_edges.search(path) is not None

    def _matches(self, number: int, path: str) -> bool:
        return self._expression_of(number).fullmatch(path) is not None

    def _walk(self, node: _Node, segments: list[str], index: int) -> int | None:
        is_end = index == len(segments)
        found = node.ends if is_end or self._is_deep else None
        if node.below is not None:
            found = _first(found, node.below)
        if is_end:
            return found
        for child in node.next(segments[index]):
            found = _first(found, self._walk(child, segments, index + 1))
        return found
