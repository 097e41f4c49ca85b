"""What a stream remembers from line to line, and what its marks lead to."""

from execkit_mcp.redaction import below, keyblock, nearby, pairs
from execkit_mcp.redaction.below import Below
from execkit_mcp.redaction.keyblock import KeyBlocks
from execkit_mcp.redaction.nearby import Nearby
from execkit_mcp.redaction.pairs import Pairs
from execkit_mcp.redaction.sight import View
from execkit_mcp.redaction.span import Span

_MARKS = frozenset({below.MARK, pairs.MARK, keyblock.MARK, nearby.MARK})


class Lines:
    """What a stream remembers from line to line: key blocks, names above their values, heads above their rows."""

    __slots__ = ("below", "blocks", "nearby", "pairs")

    def __init__(self) -> None:
        self.blocks = KeyBlocks()
        self.pairs = Pairs()
        self.below = Below()
        self.nearby = Nearby()

    def copy(self) -> "Lines":
        """The same state, free to be advanced."""
        other = Lines()
        other.blocks, other.pairs, other.below = self.blocks.copy(), self.pairs.copy(), self.below.copy()
        other.nearby = self.nearby.copy()
        return other

    def found(self, view: View, spans: list[Span]) -> tuple[list[Span], bool]:
        """``spans`` with what their marks lead to instead of those; whether one says that a key may start."""
        marks: dict[str, list[Span]] = {}
        for span in spans:
            if span.kind in _MARKS:
                marks.setdefault(span.kind, []).append(span)
        if not marks and not self.below.is_open:
            self.below.skip()
            self.nearby.skip()
            return spans, False
        if marks:
            spans = [span for span in spans if span.kind not in _MARKS]
        spans += self.pairs.find(view, [span.start for span in marks.get(pairs.MARK, ())])
        spans += self.below.find(view.text, [span.start for span in marks.get(below.MARK, ())])
        spans += self.nearby.find(view.text, [span[:2] for span in marks.get(nearby.MARK, ())])
        return spans, keyblock.MARK in marks

    def commit(self, text: str, decided: int) -> None:
        """``text`` is given out up to ``decided``: the next one follows it."""
        self.blocks.commit(decided)
        self.nearby.commit(decided)
        given = text[:decided]
        self.pairs.commit(given)
        self.below.commit(given)
