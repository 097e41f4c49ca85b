"""A document that a person wrote, as a tree in which every value still knows its line and column.

Made by ``config/strict_yaml.py``; read through the shapes of ``model/shape.py``. Lines and columns count from
1.
"""

from collections.abc import Iterator

from msgspec import Struct, field

Value = str | int | float | bool | None


class Place(Struct, frozen=True):
    """Where something stands: ``str()`` is ``file:line:col``."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def file_line(self) -> str:
        """``file:line``, as decisions name it."""
        return f"{self.file}:{self.line}"


class Scalar(Struct, frozen=True, kw_only=True):
    """One value; ``text`` is what was written, ``is_quoted`` whether in quotes (or after ``|``, ``>``)."""

    place: Place
    value: Value
    text: str
    is_quoted: bool


class Sequence(Struct, frozen=True, kw_only=True):
    """A list of nodes."""

    place: Place
    items: tuple["Node", ...]


class Entry(Struct, frozen=True, kw_only=True):
    """One ``key: value`` of a mapping; keys are text and stand once."""

    key: str
    place: Place
    value: "Node"


class Table(Struct, frozen=True, kw_only=True):
    """A mapping in the order in which it was written."""

    place: Place
    entries: tuple[Entry, ...]


Node = Scalar | Sequence | Table


class Problem(Struct, frozen=True):
    """One thing that is wrong with a document: what, and what was meant."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class Problems(Struct):
    """Everything that is wrong, collected so that an author sees all of it at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, place: Place, message: str) -> None:
        """Note one more problem."""
        self.found.append(Problem(place, message))

    def __bool__(self) -> bool:
        return bool(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.found)

    def __str__(self) -> str:
        """A line for each problem, in the order of the text, each once."""
        return "\n".join(dict.fromkeys(str(problem) for problem in self.found))


def plain(node: Node) -> object:
    """The value of ``node`` without places, as JSON would hold it."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {entry.key: plain(entry.value) for entry in node.entries}
