"""One key in a JSON file that belongs to somebody else: comments, order, layout and every other key stay.

A reader that keeps positions (JSON, with the comments and trailing commas that editors allow) finds where a value
stands; the change is a splice of the text there, and nothing else is written anew.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, field

from execkit_mcp.model.regex import lazy_regex

_SPACE: Final = lazy_regex(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = lazy_regex(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = lazy_regex(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_REMARK: Final = lazy_regex(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)(?=[ \t]*\r?\n)")
_MAX_DEPTH: Final = 200


class Unreadable(ValueError):
    """The text is no JSON; carries where."""

    def __init__(self, text: str, position: int, what: str) -> None:
        line = text.count("\n", 0, position) + 1
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        super().__init__(f"{line}:{column}: {what}")


class Node(Struct):
    """A value and where it stands.

    Attributes:
        value: the value itself; for objects and arrays, what the children make.
        start: its first character.
        end: after its last.
        members: of an object: key, where the key starts, the value.
        items: of an array.
        has_comma: whether a comma stands after the last child.
        tail: where the last child (its comma included) ends; after the opening bracket when there is none.
    """

    value: Any
    start: int
    end: int = 0
    members: list[tuple[str, int, "Node"]] = field(default_factory=list)
    items: list["Node"] = field(default_factory=list)
    has_comma: bool = False
    tail: int = 0

    def member(self, key: str) -> "Node | None":
        """The value of ``key``; of several the last, which is the one that counts."""
        return next((node for name, _, node in reversed(self.members) if name == key), None)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def document(self) -> Node:
        node = self.value(self.space(0), 0)
        end = self.space(node.end)
        if end != len(self.text):
            raise Unreadable(self.text, end, "more text after the end of the document")
        return node

    def value(self, at: int, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise Unreadable(self.text, at, "nested too deeply")
        opening = self.text[at : at + 1]
        if opening == "{":
            return self.collection(at, depth, "}")
        if opening == "[":
            return self.collection(at, depth, "]")
        match = _STRING.match(self.text, at) or _SCALAR.match(self.text, at)
        if match is None:
            raise Unreadable(self.text, at, "a value should stand here")
        try:
            return Node(value=json.loads(match[0]), start=at, end=match.end())
        except ValueError:
            raise Unreadable(self.text, at, "this is no JSON string") from None

    def collection(self, at: int, depth: int, closing: str) -> Node:
        node = Node(value={} if closing == "}" else [], start=at, tail=at + 1)
        position = self.space(at + 1)
        while self.text[position : position + 1] != closing:
            if node.tail != at + 1 and not node.has_comma:
                raise Unreadable(self.text, position, f"a comma or {closing} should stand here")
            child = self.child(node, position, depth)
            node.tail, node.has_comma = child.end, False
            position = self.space(child.end)
            if self.text[position : position + 1] == ",":
                node.tail, node.has_comma = position + 1, True
                position = self.space(position + 1)
        node.end = position + 1
        return node

    def child(self, node: Node, position: int, depth: int) -> Node:
        if isinstance(node.value, list):
            child = self.value(position, depth + 1)
            node.items.append(child)
            node.value.append(child.value)
            return child
        match = _STRING.match(self.text, position)
        if match is None:
            raise Unreadable(self.text, position, "a key in double quotes should stand here")
        colon = self.space(match.end())
        if self.text[colon : colon + 1] != ":":
            raise Unreadable(self.text, colon, "a colon should stand here")
        child = self.value(self.space(colon + 1), depth + 1)
        key = json.loads(match[0])
        node.members.append((key, position, child))
        node.value[key] = child.value
        return child


def read(text: str) -> Node:
    """The document with positions; an empty text is an empty object.

    Raises:
        Unreadable: it is no JSON.
    """
    return Node(value={}, start=0) if _is_blank(text) else _Reader(text).document()


def _is_blank(text: str) -> bool:
    """Whether there is nothing but space and remarks."""
    found = _SPACE.match(text)
    return found is not None and found.end() == len(text)


def put(text: str, path: Sequence[str], value: object) -> str:
    """``text`` with ``value`` at ``path``; objects on the way are made where they are missing."""
    if _is_blank(text):
        text += "{}\n" if text.rstrip(" \t\ufeff")[-1:] in {"", "\n"} else "\n{}\n"
    node = read(text)
    layout = _Layout(text)
    for depth, key in enumerate(path):
        below = node.member(key)
        if below is None:
            inner = value
            for missing in reversed(path[depth + 1 :]):
                inner = {missing: inner}
            if node.value is None:
                return text[: node.start] + layout.render({key: inner}, None, depth) + text[node.end :]
            rendered = f"{json.dumps(key, ensure_ascii=False)}: {layout.render(inner, node, depth + 1)}"
            return layout.insert(node, rendered, depth + 1)
        node = below
    if node.value == value and type(node.value) is type(value):
        return text
    return text[: node.start] + layout.render(value, None, len(path)) + text[node.end :]


def append(text: str, path: Sequence[str], item: object) -> str:
    """``text`` with ``item`` as the last of the array at ``path``, which is made where it is missing."""
    node: Node | None = read(text)
    for key in path:
        node = node.member(key) if node else None
    if node is None or not isinstance(node.value, list):
        return put(text, path, [item])
    layout = _Layout(text)
    return layout.insert(node, layout.render(item, node, len(path) + 1), len(path) + 1)


def remove(text: str, path: Sequence[str | int]) -> str:
    """``text`` without the value at ``path``; objects and arrays that this leaves without a word go as well."""
    way = [read(text)]
    for step in path:
        node = way[-1]
        items = dict(enumerate(node.items))
        below = items.get(step) if isinstance(step, int) else node.member(step)
        if below is None:
            return text
        way.append(below)
    last = len(path) - 1
    while last > 0 and _holds_nothing_else(text, way[last]):
        last -= 1
    parent, step = way[last], path[last]
    spans = [(start, node.end) for _, start, node in parent.members] or [(n.start, n.end) for n in parent.items]
    index = (
        step
        if isinstance(step, int)
        else max(number for number, (key, _, _) in enumerate(parent.members) if key == step)
    )
    return _cut(text, parent, spans, index)


def _holds_nothing_else(text: str, node: Node) -> bool:
    """Whether the one child of ``node`` is all that stands in it: neither another nor a remark."""
    spans = [(start, child.end) for _, start, child in node.members] or [(n.start, n.end) for n in node.items]
    if len(spans) != 1:
        return False
    (start, end), closing = spans[0], node.end - 1
    return not (text[node.start + 1 : start] + text[end:closing]).strip(" \t\r\n,")


def _cut(text: str, parent: Node, spans: list[tuple[int, int]], index: int) -> str:
    start, end = spans[index]
    reader = _Reader(text)
    if index + 1 < len(spans):
        comma = reader.space(end)
        after = comma + 1
        tail = re.compile(r"[ \t]*(?:\r?\n[ \t]*)?").match(text, after)
        return text[:start] + text[tail.end() if tail else after :]
    end = parent.tail if parent.has_comma else end
    begin = start
    while begin > 0 and text[begin - 1] in " \t\r\n":
        begin -= 1
    if index == 0:
        closing = parent.end - 1
        if not (text[parent.start + 1 : start] + text[end:closing]).strip():
            return text[: parent.start + 1] + text[closing:]
        return text[:begin] + text[end:]
    if parent.has_comma:
        return text[:begin] + text[end:]
    comma = reader.space(spans[index - 1][1])
    return text[:comma] + text[comma + 1 : begin] + text[end:]


class _Layout:
    """How this file is laid out: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"[{\[][^\n{}\[\]\"]*\n([ \t]+)[\"{\[/]", text)
        self.unit = found[1] if found and len(found[1]) <= 8 else "  "  # noqa: PLR2004 - deeper is no unit

    def render(self, value: object, parent: Node | None, depth: int) -> str:
        """The value over lines, as deep as it stands; on one line in a file of one line."""
        if parent is not None and self._is_flat(parent):
            return json.dumps(value, ensure_ascii=False)
        indent = "\t" if self.unit.startswith("\t") else len(self.unit)
        lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
        return (self.newline + self.unit * depth).join(lines)

    def insert(self, node: Node, rendered: str, depth: int) -> str:
        """The text with a new last child."""
        text, children = self.text, [*node.items, *(child for _, _, child in node.members)]
        if not children:
            closing = node.end - 1
            inner = text[node.start + 1 : closing].rstrip()
            lines = self.newline + self.unit * depth + rendered + self.newline + self.unit * (depth - 1)
            return text[: node.start + 1] + inner + lines + text[closing:]
        if self._is_flat(node):
            separator = " "
        else:
            first = node.members[0][1] if node.members else node.items[0].start
            line = text.rfind("\n", 0, first) + 1
            lead = text[line:first]
            separator = self.newline + (lead if not lead.strip() else self.unit * depth)
        comma = "" if node.has_comma else ","
        ending = "," if node.has_comma and separator != " " else ""
        remark = _REMARK.match(text, node.tail) if separator != " " else None  # it speaks of the child before it
        after = remark.end() if remark else node.tail
        return text[: node.tail] + comma + text[node.tail : after] + separator + rendered + ending + text[after:]

    def _is_flat(self, node: Node) -> bool:
        children = bool(node.items or node.members)
        return children and "\n" not in self.text[node.start : node.end]
