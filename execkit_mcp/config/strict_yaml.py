"""Strict YAML: text to positioned nodes, with everything refused that two readers could read differently.

Theory of operation. PyYAML (libyaml where it is built in) delivers *events* only; scalars are typed here by
the YAML 1.2 core schema, because PyYAML's own resolver speaks YAML 1.1 (``no`` is false, ``1:30`` is 90,
``017`` is 15). Numbers are decimal; a plain scalar that YAML 1.1 would read as another number than it seems
is refused with the spelling that was meant. Anchors, aliases, merge keys, tags, directives, duplicate keys,
keys that are not text and a second document are refused, and so are characters that make text look different
from what it is. Size and depth are bounded before anything is built, and the builder keeps its own stack.
"""

from collections.abc import Iterator

import yaml
from msgspec import Struct, field

from execkit_mcp.errors import ConfigError, ExecKitError
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.source import Entry, Node, Place, Problems, Scalar, Sequence, Table, Value

__all__ = ["MAX_BYTES", "MAX_DEPTH", "parse", "refuse"]

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 200_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CONSTANTS: dict[str, Value] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = lazy_regex(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = lazy_regex(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAX_DIGITS = 40


def _from_base_60(text: str) -> str:
    total = 0.0
    for part in text.lstrip("+-").split(":"):
        total = total * 60 + float(part)
    return f"{'-' if text.startswith('-') else ''}{total:g}"


# A plain scalar that YAML versions read as different values: pattern, its name, and what it would be in
# decimal.
_AMBIGUOUS = (
    (lazy_regex(r"[-+]?0o[0-7]+"), "octal", lambda text: str(int(text.replace("0o", ""), 8))),
    (lazy_regex(r"[-+]?0[0-7_]+"), "octal", lambda text: str(int(text.replace("_", ""), 8))),
    (
        lazy_regex(r"[-+]?0[0-9]+(?:\.[0-9]*)?"),
        "a number with a leading zero",
        lambda text: text.lstrip("+").lstrip("0"),
    ),
    (lazy_regex(r"[-+]?0x[0-9a-fA-F_]+"), "hexadecimal", lambda text: str(int(text.replace("_", ""), 16))),
    (lazy_regex(r"[-+]?0b[01_]+"), "binary", lambda text: str(int(text.replace("_", ""), 2))),
    (
        lazy_regex(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?"),
        "sexagesimal",
        _from_base_60,
    ),
    (
        lazy_regex(r"[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?"),
        "a number with underscores",
        lambda text: text.replace("_", ""),
    ),
    (lazy_regex(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), "not a finite number", lambda _: ""),
)

# What YAML or an editor shows differently from what is there: controls, line breaks of other worlds, bidi,
# zero width.
_HIDDEN = lazy_regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def refuse(problems: Problems, error: type[ExecKitError]) -> None:
    """Raise ``error`` with a line for each problem, if there is any."""
    if problems:
        facts = [
            {
                "file": each.place.file,
                "line": each.place.line,
                "column": each.place.column,
                "message": each.message,
            }
            for each in problems
        ]
        raise error(str(problems), details={"problems": facts})


def parse(data: bytes, file: str, *, error: type[ExecKitError] = ConfigError) -> Node:
    """The one document in ``data`` as nodes placed in ``file``; raises ``error`` with every problem."""
    text = _decode(data, file, error)
    builder = _Builder(file=file)
    try:
        for event in _events(text):
            builder.take(event)
            if builder.is_hopeless:
                break
    except yaml.MarkedYAMLError as syntax:
        mark = syntax.problem_mark or syntax.context_mark
        place = Place(file, 1, 1) if mark is None else Place(file, mark.line + 1, mark.column + 1)
        advice = _advice(f"{syntax.problem} {syntax.context}")
        context = f" ({syntax.context})" if syntax.context else ""
        builder.problems.add(
            place,
            f"not YAML: {syntax.problem or 'syntax error'}{context}{advice}",
        )
    except yaml.YAMLError as syntax:
        builder.problems.add(Place(file, 1, 1), f"not YAML: {syntax}")
    refuse(builder.problems, error)
    if builder.root is None:
        raise error(f"{file}:1:1: the file is empty; it must hold one mapping (one of nothing is written {{}})")
    return builder.root


def _events(text: str) -> Iterator[yaml.Event]:
    return iter(yaml.parse(text, Loader=_LOADER))


def _advice(problem: str) -> str:
    if "cannot start any token" in problem:
        return "; indent with spaces, and quote text that begins with @, `, % or a tab"
    if "mapping values are not allowed" in problem:
        return '; quote text that holds ": "'
    if "alias" in problem:
        return '; quote text that begins with "*"'
    return ""


def _decode(data: bytes, file: str, error: type[ExecKitError]) -> str:
    if len(data) > MAX_BYTES:
        raise error(f"{file}:1:1: the file is over {MAX_BYTES} bytes; a document of this kind has a few thousand")
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as broken:
        before = data[: broken.start].decode("utf-8", "replace")
        line, column = _locate(before)
        raise error(f"{file}:{line}:{column}: not UTF-8 (byte 0x{data[broken.start]:02x}); save it as UTF-8") from None
    text = text.replace("\r\n", "\n")
    hidden = _HIDDEN.search(text)
    if hidden:
        line, column = _locate(text[: hidden.start()])
        raise error(
            f"{file}:{line}:{column}: the character U+{ord(hidden[0]):04X} is not shown as what it is; "
            'remove it, or write it as an escape inside double quotes ("\\u…")'
        )
    return text


def _locate(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


class _Frame(Struct):
    """A collection under construction."""

    place: Place
    is_table: bool
    items: list[Node] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    seen: dict[str, Place] = field(default_factory=dict)
    key: str | None = None
    key_place: Place | None = None


class _Builder(Struct):
    """Events in, one tree out, problems noted on the way."""

    file: str
    problems: Problems = field(default_factory=Problems)
    stack: list[_Frame] = field(default_factory=list)
    root: Node | None = None
    documents: int = 0
    nodes: int = 0
    is_hopeless: bool = False

    def take(self, event: yaml.Event) -> None:
        mark = event.start_mark
        assert mark is not None  # every event of a text knows where it began
        place = Place(self.file, mark.line + 1, mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self._start_document(event, place)
        elif isinstance(event, yaml.AliasEvent):
            self.problems.add(place, f'aliases are refused: write the value out, or quote it: "*{event.anchor}"')
            self._put(Scalar(place=place, value=None, text="", is_quoted=False))
        elif isinstance(event, yaml.NodeEvent):
            self._refuse_properties(event, place)
            self._start_node(event, place)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end_collection()

    def _start_document(self, event: yaml.DocumentStartEvent, place: Place) -> None:
        self.documents += 1
        if self.documents > 1:
            self.problems.add(place, "a second document begins here; a file holds one, so remove the ---")
            self.is_hopeless = True
        if event.version or event.tags:
            self.problems.add(place, "% directives are refused; remove the line, YAML 1.2 is meant anyway")

    def _refuse_properties(self, event: yaml.NodeEvent, place: Place) -> None:
        if event.anchor is not None:
            self.problems.add(place, f'anchors are refused: remove &{event.anchor}, or quote it: "&{event.anchor}"')
        tag = getattr(event, "tag", None)
        if tag is not None:
            short = tag.replace("tag:yaml.org,2002:", "!!")
            self.problems.add(place, f"tags are refused: remove {short}; quotes make text of a value")

    def _start_node(self, event: yaml.NodeEvent, place: Place) -> None:
        self.nodes += 1
        if len(self.stack) >= MAX_DEPTH or self.nodes > MAX_NODES:
            self.problems.add(place, f"the document is nested over {MAX_DEPTH} levels or holds over {MAX_NODES} values")
            self.is_hopeless = True
        elif isinstance(event, yaml.ScalarEvent):
            self._put(self._scalar(event, place))
        else:
            self._refuse_collection_key(place)
            self.stack.append(_Frame(place=place, is_table=isinstance(event, yaml.MappingStartEvent)))

    def _refuse_collection_key(self, place: Place) -> None:
        top = self.stack[-1] if self.stack else None
        if top and top.is_table and top.key is None:
            self.problems.add(place, "a key must be text, not a list or mapping; quote text that begins with [ or {")

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> Scalar:
        is_quoted = event.style is not None and event.style != ""
        text: str = event.value
        return Scalar(
            place=place, value=text if is_quoted else self._typed(text, place), text=text, is_quoted=is_quoted
        )

    def _typed(self, text: str, place: Place) -> Value:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        for pattern, name, decimal in _AMBIGUOUS:
            if len(text) <= _MAX_DIGITS and pattern.fullmatch(text):
                meant = decimal(text)
                number = f"write {meant} for the number, or " if meant else ""
                self.problems.add(place, f'{text} is {name}; {number}quote it for the text: "{text}"')
                return text
        is_integer = _INTEGER.fullmatch(text) is not None
        if not is_integer and not _FLOAT.fullmatch(text):
            return text
        value: int | float = int(text) if is_integer and len(text) <= _MAX_DIGITS else float(text[:400])
        if len(text) > _MAX_DIGITS or value in (float("inf"), float("-inf")):
            self.problems.add(place, f"{text[:_MAX_DIGITS]}… is too large for a number; quote it if it is text")
        return value

    def _put(self, node: Node) -> None:
        if not self.stack:
            self.root = self.root or node
            return
        top = self.stack[-1]
        if not top.is_table:
            top.items.append(node)
        elif top.key is None:
            self._take_key(top, node)
        else:
            assert top.key_place is not None
            top.entries.append(Entry(key=top.key, place=top.key_place, value=node))
            top.key = None

    def _take_key(self, top: _Frame, node: Node) -> None:
        place = node.place
        key = node.text if isinstance(node, Scalar) else ""
        if isinstance(node, Scalar):
            if key == "<<" and not node.is_quoted:
                self.problems.add(place, "merge keys (<<) are refused: write the keys out")
            elif not isinstance(node.value, str):
                self.problems.add(place, f'a key must be text; quote it: "{key}"')
            if key in top.seen:
                self.problems.add(place, f'the key "{key}" stands twice; the first is at {top.seen[key]}')
        top.seen.setdefault(key, place)
        top.key, top.key_place = key, place

    def _end_collection(self) -> None:
        frame = self.stack.pop()
        if frame.is_table:
            self._put(Table(place=frame.place, entries=tuple(frame.entries)))
        else:
            self._put(Sequence(place=frame.place, items=tuple(frame.items)))
