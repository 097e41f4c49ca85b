"""One table in a TOML file that belongs to somebody else: comments, order and layout stay."""

from collections.abc import MutableMapping, Sequence
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from execkit_mcp.config.edit.jsonc import Unreadable

_MARK: Final = "\ufeff"  # editors on Windows begin a file with it; it stays where it was
_TABLE_DEPTH: Final = 2  # [servers.name]; what lies deeper is written inside it

__all__ = ["put", "read", "remove"]


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise _PlainlyUnreadable(f"{error.line}:{error.col + 1}: {error}") from None
    except TOMLKitError as error:
        raise _PlainlyUnreadable(f"1:1: {error}") from None


class _PlainlyUnreadable(Unreadable):
    def __init__(self, what: str) -> None:
        ValueError.__init__(self, what)


def read(text: str) -> dict[str, Any]:
    """What the file says.

    Raises:
        Unreadable: it is no TOML.
    """
    return _document(text.removeprefix(_MARK)).unwrap()


def put(text: str, path: Sequence[str], value: object) -> str:
    """``text`` with ``value`` at ``path``; a whole new table is written at the end of the file."""
    bare = text.removeprefix(_MARK)
    return text[: len(text) - len(bare)] + _put(bare, path, value)


def _put(text: str, path: Sequence[str], value: object) -> str:
    document = _document(text)
    table: Any = document
    for number, key in enumerate(path[:-1]):
        if key not in table:
            return _with_new_table(text, path[:number], path[number:], value)
        table = table[key]
        if not isinstance(table, MutableMapping):
            raise _PlainlyUnreadable(f"1:1: {'.'.join(path[: number + 1])} is no table")
    if isinstance(value, dict) and value and path[-1] not in table and _may_grow(table, path):
        return _with_new_table(text, path[:-1], path[-1:], value)
    if path[-1] in table and document.unwrap() and table[path[-1]] == value:
        return text
    table[path[-1]] = _inline(value) if isinstance(value, dict) else value
    return tomlkit.dumps(document)


def _with_new_table(text: str, _above: Sequence[str], below: Sequence[str], value: object) -> str:
    path = [*_above, *below]
    if not isinstance(value, dict):
        path, value = path[:-1], {path[-1]: value}
    table = tomlkit.table()
    for key, each in value.items():
        table.add(key, _inline(each) if isinstance(each, dict) else each)
    block = f"[{'.'.join(tomlkit.key(part).as_string() for part in path)}]\n{table.as_string()}"
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + block.replace("\n", newline)


def _may_grow(table: Any, path: Sequence[str]) -> bool:
    """Whether a new ``[path]`` at the end of the file would be a table of its own."""
    return not isinstance(table, tomlkit.items.InlineTable) and len(path) <= _TABLE_DEPTH


def _inline(values: dict[str, Any]) -> tomlkit.items.InlineTable:
    inline = tomlkit.inline_table()
    inline.update(values)
    return inline


def remove(text: str, path: Sequence[str]) -> str:
    """``text`` without the table or key at ``path``; a table above it that this leaves empty goes as well."""
    bare = text.removeprefix(_MARK)
    return text[: len(text) - len(bare)] + _remove(bare, path)


def _remove(text: str, path: Sequence[str]) -> str:
    document = _document(text)
    table: Any = document
    way: list[Any] = [document]
    for key in path:
        if not isinstance(table, MutableMapping) or key not in table:
            return text
        table = table[key]
        way.append(table)
    last = len(path) - 1
    while last > 0 and len(way[last]) == 1:
        last -= 1
    cut = _without_block(text, path)
    expected = document.unwrap()
    _drop(expected, path)
    if cut is not None and tomlkit.parse(cut).unwrap() == expected:
        return cut
    del way[last][path[last]]
    return tomlkit.dumps(document)


def _drop(values: dict[str, Any], path: Sequence[str]) -> None:
    if len(path) == 1:
        values.pop(path[0], None)
        return
    _drop(values[path[0]], path[1:])
    if not values[path[0]]:
        del values[path[0]]


def _without_block(text: str, path: Sequence[str]) -> str | None:
    """The text without the lines of ``[path]`` and ``[path.…]``, the blank line before them included."""
    lines = text.splitlines(keepends=True)
    name = ".".join(tomlkit.key(part).as_string() for part in path)
    out: list[str] = []
    inside = False
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("["):
            header = stripped.strip("[]").split("]")[0].strip()
            was, inside = inside, header == name or header.startswith(f"{name}.")
            if inside and not was and out and not out[-1].strip():
                out.pop()
        if not inside or stripped.startswith("#"):
            out.append(line)
    return "".join(out) if len(out) != len(lines) else None
