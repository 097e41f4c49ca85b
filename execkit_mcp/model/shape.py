"""The shapes a document may have: one declaration reads it strictly and yields its JSON Schema.

Theory of operation. A *shape* turns a node into a typed value or, when the node is wrong, notes every problem
that it finds and returns ``BROKEN``; a record with a broken field is broken, but its other fields are still
read, so that an author gets all errors of a document at once. The same object answers ``schema()``. Formats
(policies, settings) are tables of these shapes; pydantic would do the same for 150 ms more start-up. For the
same reason the classes have neither ``__eq__`` nor ``__repr__``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct, field

from execkit_mcp.model.source import Entry, Node, Place, Problems, Scalar, Sequence, Table

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
JsonSchema = dict[str, object]


class Broken(Enum):
    """The value of a node that is wrong."""

    BROKEN = "broken"


BROKEN: Final = Broken.BROKEN


class Shape(Protocol[T_co]):
    """What a node must look like, and what it becomes."""

    def read(self, node: Node, problems: Problems, label: str) -> T_co | Broken:
        """The typed value of ``node``; ``label`` names it in problems."""
        ...

    def schema(self) -> JsonSchema:
        """The JSON Schema of the shape."""
        ...


def describe(node: Node) -> str:
    """What ``node`` is, for the second half of "expected …, found …"."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Table):
        return "a mapping"
    if node.value is None:
        return "null" if node.text else "no value"
    if isinstance(node.value, bool):
        return f"the truth value {node.text}"
    if isinstance(node.value, str):
        return f'the text "{shorten(node.value)}"'
    return f"the number {node.text}"


def shorten(text: str, limit: int = 60) -> str:
    """``text`` on one line and not longer than ``limit``, for use inside a message."""
    flat = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def closest(word: str, words: Iterable[str]) -> str:
    """``; did you mean "x"?`` where one of ``words`` is near, else nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong document pays for it

    near = get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


def _expected(node: Node, problems: Problems, label: str, what: str, remedy: str = "") -> Broken:
    where = f"{label}: " if label else ""
    problems.add(node.place, f"{where}expected {what}, found {describe(node)}{remedy}")
    return BROKEN


class Text(Struct, frozen=True, kw_only=True, eq=False):
    """A string; ``check`` returns what is wrong with it, and what was meant, or nothing."""

    what: str = "text"
    example: str = ""
    pattern: str = ""
    check: Callable[[str], str] | None = None
    may_be_empty: bool = False
    max_length: int = 4096

    def read(self, node: Node, problems: Problems, label: str) -> str | Broken:
        """The string itself."""
        if not isinstance(node, Scalar):
            return _expected(node, problems, label, self.what)
        if not isinstance(node.value, str):
            return _expected(node, problems, label, self.what, f'; quote it: "{node.text}"' if node.text else "")
        complaint = self.complaint(node.value)
        if complaint:
            problems.add(node.place, f"{label}: {complaint}")
            return BROKEN
        return node.value

    def complaint(self, text: str) -> str:
        """What is wrong with ``text``; empty when nothing is."""
        if not text and not self.may_be_empty:
            return f"expected {self.what}, found an empty text"
        if len(text) > self.max_length:
            return f"{len(text)} characters are over the limit of {self.max_length}"
        if self.pattern and not re.fullmatch(self.pattern, text):
            meant = f"; write for example {self.example}" if self.example else ""
            return f'"{shorten(text)}" is not {self.what}{meant}'
        return self.check(text) if self.check else ""

    def schema(self) -> JsonSchema:
        """A string, with its pattern and an example."""
        out: JsonSchema = {"type": "string", "maxLength": self.max_length}
        if not self.may_be_empty:
            out["minLength"] = 1
        if self.pattern:
            out["pattern"] = f"^(?:{self.pattern})$"
        if self.example:
            out["examples"] = [self.example]
        return out


class Number(Struct, frozen=True, kw_only=True, eq=False):
    """A number in ``low`` … ``high``; with ``is_whole`` an integer."""

    what: str
    low: float
    high: float
    is_whole: bool = True
    is_low_excluded: bool = False

    def read(self, node: Node, problems: Problems, label: str) -> float | Broken:
        """The number itself: an int where ``is_whole``, else a float."""
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
            remedy = ""
            if isinstance(node, Scalar) and isinstance(node.value, str):
                digits = re.match(r"\d+(\.\d+)?", node.value)
                remedy = f"; write {digits[0]}" if digits else ""
            return _expected(node, problems, label, self._range(), remedy)
        if self.is_whole and not isinstance(node.value, int):
            return _expected(node, problems, label, self._range(), f"; write {round(node.value)}")
        if not self.low <= node.value <= self.high or (self.is_low_excluded and node.value == self.low):
            return _expected(node, problems, label, self._range())
        return node.value if self.is_whole else float(node.value)

    def _range(self) -> str:
        low = f"above {self.low:g}" if self.is_low_excluded else f"from {self.low:g}"
        return f"{self.what}, {low} to {self.high:g}"

    def schema(self) -> JsonSchema:
        """An integer or number with its bounds."""
        low = "exclusiveMinimum" if self.is_low_excluded else "minimum"
        return {"type": "integer" if self.is_whole else "number", low: self.low, "maximum": self.high}


class Word(Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """One of a few words; ``refused`` gives the reason why a tempting word is not one of them."""

    words: Mapping[str, T]
    refused: Mapping[str, str] = field(default_factory=dict)

    def read(self, node: Node, problems: Problems, label: str) -> T | Broken:
        """What the word stands for."""
        listed = _either(self.words)
        if not isinstance(node, Scalar):
            return _expected(node, problems, label, listed)
        if not isinstance(node.value, str):
            near = closest(node.text.lower(), self.words) or ("; write none" if "none" in self.words else "")
            return _expected(node, problems, label, listed, near)
        if node.value not in self.words:
            why = self.refused.get(node.value) or f"expected {listed}{closest(node.value, self.words)}"
            problems.add(node.place, f'{label}: "{shorten(node.value)}" is not legal here; {why}')
            return BROKEN
        return self.words[node.value]

    def schema(self) -> JsonSchema:
        """An enumeration."""
        return {"type": "string", "enum": list(self.words)}


def _either(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


class ListOf(Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """A list of things of one shape, each once."""

    item: Shape[T]
    what: str
    may_be_empty: bool = True
    max_items: int = 10_000

    def read(self, node: Node, problems: Problems, label: str) -> tuple[T, ...] | Broken:
        """The items in order."""
        if not isinstance(node, Sequence):
            remedy = f"; write [{node.text}]" if isinstance(node, Scalar) and node.text else ""
            return _expected(node, problems, label, f"a list of {self.what}", remedy)
        if not node.items and not self.may_be_empty:
            problems.add(node.place, f"{label}: the list is empty; name at least one of {self.what}, or leave it out")
            return BROKEN
        if len(node.items) > self.max_items:
            problems.add(node.place, f"{label}: {len(node.items)} items are over the limit of {self.max_items}")
            return BROKEN
        kept: list[T] = []
        for item in node.items:
            value = self.item.read(item, problems, label)
            if not isinstance(value, Broken):
                kept.append(value)
        return tuple(kept) if len(kept) == len(node.items) else BROKEN

    def schema(self) -> JsonSchema:
        """An array."""
        out: JsonSchema = {"type": "array", "items": self.item.schema()}
        if not self.may_be_empty:
            out["minItems"] = 1
        return out


class MapOf(Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """A mapping from names of the author's choice to things of one shape."""

    key: Text
    value: Shape[T]
    what: str

    def read(self, node: Node, problems: Problems, label: str) -> dict[str, T] | Broken:
        """The mapping in order."""
        if not isinstance(node, Table):
            return _expected(node, problems, label, f"a mapping of {self.what}")
        kept: dict[str, T] = {}
        for entry in node.entries:
            complaint = self.key.complaint(entry.key)
            if complaint:
                problems.add(entry.place, f"{label}: {complaint}")
            value = self.value.read(entry.value, problems, f"{label}.{entry.key}")
            if not complaint and not isinstance(value, Broken):
                kept[entry.key] = value
        return kept if len(kept) == len(node.entries) else BROKEN

    def schema(self) -> JsonSchema:
        """An object with free keys."""
        return {
            "type": "object",
            "propertyNames": self.key.schema(),
            "additionalProperties": self.value.schema(),
        }


class Field(Struct, frozen=True, kw_only=True, eq=False):
    """One key of a record: its shape, its sentence for editors, and the parameter that it becomes."""

    key: str
    shape: Shape[object]
    doc: str
    is_required: bool = False
    parameter: str = ""


class Record(Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """A mapping with fixed keys. ``build`` gets the keys that were written, and ``place``.

    ``check`` sees the entries before they are built and may note problems that concern several keys.
    """

    build: Callable[..., T]
    fields: tuple[Field, ...]
    what: str
    check: Callable[[Table, Problems, str], None] | None = None
    also: Mapping[str, object] = field(default_factory=dict)

    def read(self, node: Node, problems: Problems, label: str) -> T | Broken:
        """What ``build`` makes of the fields."""
        if not isinstance(node, Table):
            return _expected(node, problems, label, f"a mapping ({self.what})")
        before = len(problems)
        table = {known.key: known for known in self.fields}
        values: dict[str, object] = {}
        for entry in node.entries:
            known = table.get(entry.key)
            if known is None:
                problems.add(entry.place, unknown_key(entry, table, label))
                continue
            value = known.shape.read(entry.value, problems, f"{label}.{entry.key}" if label else entry.key)
            values[known.parameter or entry.key] = value
        written = {entry.key for entry in node.entries}
        for known in self.fields:
            if known.is_required and known.key not in written:
                problems.add(node.place, f"{label or self.what}: the key {known.key} is missing ({known.doc})")
        if self.check is not None:
            self.check(node, problems, label)
        return self.build(place=node.place, **values) if len(problems) == before else BROKEN

    def schema(self) -> JsonSchema:
        """An object with fixed keys."""
        out: JsonSchema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {known.key: {"description": known.doc, **known.shape.schema()} for known in self.fields},
        }
        required = [known.key for known in self.fields if known.is_required]
        if required:
            out["required"] = required
        return {**out, **self.also}


def unknown_key(entry: Entry, known: Iterable[str], label: str) -> str:
    """The sentence for a key that nobody knows."""
    listed = sorted(known)
    where = f"{label}: " if label else ""
    near = closest(entry.key, listed)
    return f'{where}unknown key "{shorten(entry.key)}"{near} (legal here: {", ".join(listed)})'


def entry_of(table: Table, key: str) -> Entry | None:
    """The entry of ``table`` under ``key``, or None."""
    return next((entry for entry in table.entries if entry.key == key), None)


def place_of(table: Table, key: str) -> Place:
    """Where ``key`` stands in ``table``; the table's own place when it does not."""
    entry = entry_of(table, key)
    return entry.place if entry else table.place
