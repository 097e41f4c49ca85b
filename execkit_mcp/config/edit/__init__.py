"""Setting one thing in a file that belongs to somebody else: this module picks the format and checks the outcome.

Every change is read back: what the file says afterwards must be what it said before plus the change, or nothing is
changed. So a layout that an editor does not understand costs a hint to do it by hand, never a broken file.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from execkit_mcp.config.edit.jsonc import Unreadable
from execkit_mcp.errors import ConfigError

__all__ = ["Format", "add_item", "drop", "drop_items", "merge", "read"]

Format = Literal["json", "toml", "yaml"]
_NAMES: Final[Mapping[str, str]] = {"json": "jsonc", "toml": "toml_file", "yaml": "block_yaml"}


def _editor(form: Format) -> Any:
    from importlib import import_module  # noqa: PLC0415 - each format has a library of its own

    return import_module(f"execkit_mcp.config.edit.{_NAMES[form]}")


def _values(editor: Any, text: str) -> dict[str, Any]:
    found = editor.read(text)
    values = getattr(found, "value", found)
    if not isinstance(values, dict):
        raise Unreadable(text, 0, "an object should stand here")
    return values


def read(text: str, form: Format, name: str) -> dict[str, Any]:
    """What a file says.

    Raises:
        ConfigError: it cannot be read; says where.
    """
    try:
        return _values(_editor(form), text)
    except Unreadable as error:
        raise ConfigError(f"{name}:{error}.", hint="It was left as it is. Correct it and run this again.") from None


def _checked(
    form: Format, name: str, expected: object, edit: Callable[[Any], str], *, emptied: Sequence[str] = ()
) -> str:
    """What ``edit`` makes, if that says what is ``expected``; objects on ``emptied`` may be left there, empty."""
    editor = _editor(form)
    try:
        changed = edit(editor)
        found = _values(editor, changed)
        for depth in range(len(emptied), 0, -1):
            _drop_if_empty(found, emptied[:depth])
        if found == expected:
            return changed
        problem = "1:1: its layout is one that this program does not know how to edit"
    except Unreadable as error:
        problem = str(error)
    raise ConfigError(f"{name}:{problem}.", hint="It was left as it is. Make the change by hand.")


def merge(text: str, form: Format, path: Sequence[str], entry: Mapping[str, object], *, name: str) -> str:
    """``text`` with every key of ``entry`` set at ``path``; other keys there stay.

    Raises:
        ConfigError: the file cannot be read or edited.
    """
    expected = copy.deepcopy(read(text, form, name))
    here: Any = expected
    for depth, key in enumerate(path, 1):
        if here.get(key) is None:
            here[key] = {}
        here = here[key]
        if not isinstance(here, dict):
            raise ConfigError(
                f"{name}:1:1: {'.'.join(path[:depth])} is no object.",
                hint="It was left as it is. Correct it and run this again.",
            )
    is_new = not here
    here.update(entry)

    def edit(editor: Any) -> str:
        if is_new:
            return str(editor.put(text, path, dict(entry)))
        changed = text
        for key, value in entry.items():
            changed = editor.put(changed, (*path, key), value)
        return changed

    return _checked(form, name, expected, edit)


def drop(text: str, form: Format, path: Sequence[str], *, name: str) -> str:
    """``text`` without what stands at ``path``; objects that this leaves empty go too, unless a remark stands in them.

    Raises:
        ConfigError: the file cannot be read or edited.
    """
    expected = copy.deepcopy(read(text, form, name))
    if not _drop(expected, path):
        return text
    return _checked(form, name, expected, lambda editor: str(editor.remove(text, path)), emptied=path[:-1])


def _drop_if_empty(values: Any, path: Sequence[str]) -> None:
    for key in path[:-1]:
        values = values.get(key) if isinstance(values, dict) else None
    if isinstance(values, dict) and values.get(path[-1]) in ({}, []):
        del values[path[-1]]


def _drop(values: Any, path: Sequence[str]) -> bool:
    if not isinstance(values, dict) or path[0] not in values:
        return False
    if len(path) == 1:
        del values[path[0]]
        return True
    found = _drop(values[path[0]], path[1:])
    if found and not values[path[0]]:
        del values[path[0]]
    return found


def add_item(text: str, path: Sequence[str], item: object, *, name: str) -> str:
    """JSON: ``text`` with ``item`` as the last of the array at ``path``.

    Raises:
        ConfigError: the file cannot be read or edited.
    """
    expected = copy.deepcopy(read(text, "json", name))
    here: Any = expected
    for key in path[:-1]:
        here = here.setdefault(key, {}) if isinstance(here, dict) else here
    if not isinstance(here, dict) or not isinstance(here.setdefault(path[-1], []), list):
        raise ConfigError(f"{name}:1:1: {'.'.join(path)} is no array.", hint="It was left as it is.")
    here[path[-1]].append(item)
    return _checked("json", name, expected, lambda editor: str(editor.append(text, path, item)))


def drop_items(text: str, path: Sequence[str], is_ours: Callable[[object], bool], *, name: str) -> str:
    """JSON: ``text`` without those items of the array at ``path`` that are ours.

    Raises:
        ConfigError: the file cannot be read or edited.
    """
    while True:
        expected = copy.deepcopy(read(text, "json", name))
        here: Any = expected
        for key in path:
            here = here.get(key) if isinstance(here, dict) else None
        found = next((n for n, item in enumerate(here) if is_ours(item)), None) if isinstance(here, list) else None
        if found is None:
            return text
        del here[found]
        if not here:
            _drop(expected, path)
        text = _checked(
            "json", name, expected, partial(_without, text, (*path, found)), emptied=path if not here else ()
        )


def _without(text: str, path: tuple[str | int, ...], editor: Any) -> str:
    return str(editor.remove(text, path))
