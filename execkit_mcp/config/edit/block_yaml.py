"""One mapping in a YAML file that belongs to somebody else: comments, order and layout stay.

PyYAML says where each value stands; the change is a splice of lines there.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import yaml

from execkit_mcp.config.edit.jsonc import Unreadable
from execkit_mcp.model.regex import lazy_regex

__all__ = ["put", "read", "remove"]

_LONE_NEWLINE: Final = lazy_regex(r"(?<!\r)\n")


class _PlainlyUnreadable(Unreadable):
    def __init__(self, what: str) -> None:
        ValueError.__init__(self, what)


def _root(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise _PlainlyUnreadable(f"{where}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise _PlainlyUnreadable(f"1:1: {error}") from None


def read(text: str) -> dict[str, Any]:
    """What the file says; an empty one says nothing.

    Raises:
        Unreadable: it is no YAML mapping.
    """
    root = _root(text)
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise _PlainlyUnreadable("1:1: a mapping should stand here")
    values = yaml.safe_load(text)
    return values if isinstance(values, dict) else {}


def put(text: str, path: Sequence[str], value: object) -> str:
    """``text`` with ``value`` at ``path``; mappings on the way are made where they are missing."""
    changed = _put(text, path, value)
    return _LONE_NEWLINE.sub("\r\n", changed) if "\r\n" in text and not _LONE_NEWLINE.search(text) else changed


def _put(text: str, path: Sequence[str], value: object) -> str:
    node: Any = _root(text)
    if node is None:
        return (text if not text or text.endswith("\n") else f"{text}\n") + _block(_nested(path, value), 0)
    for depth, key in enumerate(path):
        found = _member(node, key)
        if found is None:
            return _insert(text, node, _nested(path[depth:], value), is_root=depth == 0)
        key_node, node = found
        if depth < len(path) - 1 and not node.value:
            return _fill(text, key_node, node, _nested(path[depth + 1 :], value))
    if read_value(text, path) == value:
        return text
    rendered = json.dumps(value, ensure_ascii=False)
    if isinstance(node, yaml.ScalarNode):
        return text[: node.start_mark.index] + rendered + text[_end(node) :]
    colon = text.index(":", key_node.end_mark.index)
    return f"{text[: colon + 1]} {rendered}{text[_end(node) :]}"


def _fill(text: str, key_node: yaml.Node, node: yaml.Node, addition: object) -> str:
    """The text with a mapping where nothing, ``null`` or ``{}`` stood."""
    body = "\n" + _block(addition, key_node.start_mark.column + 2).rstrip("\n")
    if node.start_mark.index == node.end_mark.index:  # nothing stands there: after the colon
        at = text.index(":", key_node.end_mark.index) + 1
        return text[:at] + body + text[at:]
    return text[: node.start_mark.index].rstrip(" ") + body + text[node.end_mark.index :]


def read_value(text: str, path: Sequence[str]) -> object:
    """The value at ``path``."""
    value: Any = read(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def remove(text: str, path: Sequence[str]) -> str:
    """``text`` without the value at ``path``; mappings that this leaves empty go as well."""
    way: list[tuple[Any, Any]] = []
    node: Any = _root(text)
    for key in path:
        found = _member(node, key) if node is not None else None
        if found is None:
            return text
        way.append(found)
        node = found[1]
    last = len(path) - 1
    while last > 0 and len(way[last - 1][1].value) == 1:
        last -= 1
    key_node, node = way[last]
    above: Any = way[last - 1][1] if last else _root(text)
    if above.flow_style:
        return _cut_flow(text, above, key_node)
    begin = text.rfind("\n", 0, key_node.start_mark.index) + 1
    end = text.find("\n", _end(node))
    if text[begin : key_node.start_mark.index].strip():
        raise _PlainlyUnreadable(f"{key_node.start_mark.line + 1}:1: this mapping stands on one line; edit it by hand")
    return text[:begin] + (text[end + 1 :] if end >= 0 else "")


def _cut_flow(text: str, parent: yaml.MappingNode, key_node: yaml.Node) -> str:
    index = next(n for n, (name, _) in enumerate(parent.value) if name.value == key_node.value)
    begin, end = key_node.start_mark.index, _end(parent.value[index][1])
    if index + 1 < len(parent.value):
        end = parent.value[index + 1][0].start_mark.index
    elif index:
        begin = _end(parent.value[index - 1][1])
    return text[:begin] + text[end:]


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _member(node: Any, key: str) -> tuple[Any, Any] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next(((name, value) for name, value in node.value if name.value == key), None)


def _insert(text: str, node: yaml.MappingNode, addition: object, *, is_root: bool) -> str:
    if node.flow_style:
        at = node.start_mark.index + 1
        inner = json.dumps(addition, ensure_ascii=False)[1:-1]
        return text[:at] + inner + (", " if node.value else "") + text[at:]
    if is_root:
        gap = "" if text.endswith("\n") else "\n"
        return text + gap + _block(addition, node.start_mark.column)
    first = node.value[0][0].start_mark
    above = text.rfind("\n", 0, first.index)
    # right below the key that the mapping belongs to: comments above its first entry stay with that entry
    while above > 0 and _is_remark(text[text.rfind("\n", 0, above) + 1 : above]):
        above = text.rfind("\n", 0, above)
    return text[: above + 1] + _block(addition, first.column) + text[above + 1 :]


def _is_remark(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _block(value: object, indent: int) -> str:
    text = yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True, width=4096)
    return "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def _end(node: Any) -> int:
    """After the last character of a value; a block collection's own mark lies after the comments that follow it."""
    if isinstance(node, yaml.ScalarNode) or getattr(node, "flow_style", False) or not node.value:
        return int(node.end_mark.index)
    child = node.value[-1]
    return _end(child[1] if isinstance(child, tuple) else child)
