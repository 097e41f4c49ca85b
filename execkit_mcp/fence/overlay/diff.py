"""What the layers of a workspace change in the real one; this module compares the two, name by name.

The result names every file that would be added, changed or deleted, those in folders that are gone one by one, with a
digest of what it was and of what it is. Files whose content is the same are left out, whatever copied them up.
"""

import contextlib
import difflib
import errno
import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from execkit_mcp.errors import CheckpointTooLarge
from execkit_mcp.fence.overlay.tree import (
    Entry,
    digest_of,
    entries,
    is_opaque,
    opened_folder,
    opened_parent,
    read_at,
    stat_at,
)

__all__ = ["MAX_CHANGES", "Change", "Side", "differences", "listing", "side_of", "usage_bytes"]

MAX_CHANGES = 20_000
_MAX_TEXT = 1 << 18
_MAX_SHOWN = 1 << 19
_BLOCK = 512
_LETTERS = {"added": "A", "changed": "M", "deleted": "D"}


class Side(Struct, frozen=True, kw_only=True):
    """One state of a path: what it is, its permissions, and the digest of its bytes or the target of the link."""

    kind: str
    mode: int
    size: int = 0
    sha256: str = ""
    target: str = ""


class Change(Struct, frozen=True, kw_only=True):
    """One path of the workspace, relative to it, before and after.

    Attributes:
        path: the path; bytes that are not UTF-8 stand as surrogates.
        kind: ``added``, ``changed`` or ``deleted``.
        before: what the real workspace has; None where nothing is.
        after: what the sandbox has; None where it is gone.
        layer: which of the layers, newest first, holds the new state.
    """

    path: str
    kind: str
    before: Side | None = None
    after: Side | None = None
    layer: int = -1


def differences(base: str, layers: Sequence[str]) -> tuple[Change, ...]:
    """Every change that ``layers`` (newest first) make to the folder ``base``; raises CheckpointTooLarge, OSError."""
    found: list[Change] = []
    with contextlib.ExitStack() as stack:
        bottom = stack.enter_context(opened_folder(base))
        above = [(index, stack.enter_context(opened_folder(path))) for index, path in enumerate(layers)]
        for change in _folder("", bottom, above, is_base_hidden=False):
            found.append(change)
            if len(found) > MAX_CHANGES:
                raise CheckpointTooLarge(
                    f"The sandbox changed more than {MAX_CHANGES} files.", hint="Look at a part of it with a command."
                )
    return tuple(sorted(found, key=lambda each: (each.path, each.kind != "deleted")))


def _folder(
    prefix: str, base: int | None, layers: Sequence[tuple[int, int]], *, is_base_hidden: bool
) -> Iterator[Change]:
    names = {name for _, fd in layers for name in entries(fd)}
    if is_base_hidden and base is not None:
        names |= set(entries(base))
    for name in sorted(names):
        yield from _name(prefix + name, name, base, layers, is_base_hidden=is_base_hidden)


def _name(
    path: str, name: str, base: int | None, layers: Sequence[tuple[int, int]], *, is_base_hidden: bool
) -> Iterator[Change]:
    before = stat_at(base, name) if base is not None else None
    layer, at, after = next(
        ((index, fd, entry) for index, fd in layers if (entry := stat_at(fd, name)) is not None), (-1, -1, None)
    )
    if before is not None and _gives_way(before, after):
        assert base is not None
        yield from _gone(path, name, base, before)
        before = None
    if after is None or after.kind == "whiteout":
        return
    old = _side(base, name, before)
    new = _side(at, name, after)
    if old != new:
        yield Change(path=path, kind="changed" if old else "added", before=old, after=new, layer=layer)
    if after.kind != "folder":
        return
    with contextlib.ExitStack() as stack:
        inner, hides = _inner(name, layers, stack)
        bottom = stack.enter_context(opened_folder(name, at=base)) if before is not None else None
        yield from _folder(f"{path}/", bottom, inner, is_base_hidden=is_base_hidden or hides)


def _gives_way(before: Entry, after: Entry | None) -> bool:
    """Whether what was there goes before what comes: nothing comes, or one of the two is a folder."""
    if after is None or after.kind == "whiteout":
        return True
    return (before.kind == "folder") != (after.kind == "folder")


def _inner(
    name: str, layers: Sequence[tuple[int, int]], stack: contextlib.ExitStack
) -> tuple[list[tuple[int, int]], bool]:
    """The layers' own folders of that name, as far down as they are seen, and whether they hide what is below."""
    inner: list[tuple[int, int]] = []
    for index, fd in layers:
        entry = stat_at(fd, name)
        if entry is None:
            continue
        if entry.kind != "folder":
            return inner, True
        deeper = stack.enter_context(opened_folder(name, at=fd))
        inner.append((index, deeper))
        if is_opaque(deeper):
            return inner, True
    return inner, False


def _gone(path: str, name: str, base: int, before: Entry) -> Iterator[Change]:
    if before.kind == "folder":
        with opened_folder(name, at=base) as inner:
            for each in entries(inner):
                entry = stat_at(inner, each)
                if entry is not None:
                    yield from _gone(f"{path}/{each}", each, inner, entry)
    yield Change(path=path, kind="deleted", before=_side(base, name, before))


def _side(folder: int | None, name: str, entry: Entry | None) -> Side | None:
    if entry is None or folder is None:
        return None
    digest = digest_of(folder, name) if entry.kind == "file" else ""
    return Side(kind=entry.kind, mode=entry.mode, size=entry.size, sha256=digest, target=entry.target)


def side_of(root: int, path: str) -> Side | None:
    """The state of a path below a folder now."""
    try:
        with opened_parent(root, path) as (folder, name):
            return _side(folder, name, stat_at(folder, name))
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:  # a link on the way leads elsewhere
            return None
        raise


# ── showing it ───────────────────────────────────────────────────────────────────────────────────────────


def listing(changes: Sequence[Change], base: str, layers: Sequence[str]) -> str:
    """The changes as text: a line each with what identifies it, and the lines that differ in texts that are not long.

    The digests stand in the lines, so two different sets of changes never have the same listing.
    """
    parts: list[str] = []
    left = _MAX_SHOWN
    for change in changes:
        parts.append(_line(change))
        text = _lines_that_differ(change, base, layers) if left > 0 else ""
        if len(text) <= left:
            parts.extend(["  " + line for line in text.splitlines()])
            left -= len(text)
        else:
            parts.append("  (too long to be shown here)")
    return "\n".join(parts)


def _line(change: Change) -> str:
    words = [_LETTERS[change.kind], _quoted(change.path)]
    if change.before is not None and change.after is not None:
        words.append(f"({_described(change.before)} -> {_described(change.after)})")
    else:
        words.append(f"({_described(change.before or change.after)})")
    return " ".join(words)


def _described(side: Side | None) -> str:
    assert side is not None
    if side.kind == "link":
        return f"link to {_quoted(side.target)}"
    mode = f"{side.mode & 0o7777:04o}"
    if side.kind == "file":
        return f"file {mode} {side.size} bytes sha256 {side.sha256}"
    return f"{side.kind} {mode}"


def _quoted(text: str) -> str:
    """The path on one line, with every character that could pass for another path escaped."""
    shown = "".join(
        char if char.isprintable() and char != "\\" else char.encode("unicode_escape").decode() for char in text
    )
    return f'"{shown}"' if shown != text or " " in text else text


def _lines_that_differ(change: Change, base: str, layers: Sequence[str]) -> str:
    before, after = change.before, change.after
    if (before is not None and before.kind != "file") or (after is not None and after.kind != "file"):
        return ""
    if before is not None and after is not None and before.sha256 == after.sha256:
        return ""
    old = _text(base, change.path, before)
    new = _text(layers[change.layer], change.path, after) if after is not None else []
    if old is None or new is None:
        return "(not a text of moderate length)\n"
    return "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm=""))


def _text(root: str, path: str, side: Side | None) -> list[str] | None:
    if side is None:
        return []
    if side.size > _MAX_TEXT:
        return None
    try:
        with opened_folder(root) as fd:
            data = read_at(fd, path, _MAX_TEXT + 1)
        return None if b"\0" in data else data.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None


def usage_bytes(path: str) -> int:
    """How much room a layer takes on its disk, hard links counted once."""
    total = 0
    seen: set[int] = set()
    pending = [path]
    while pending:
        try:
            with os.scandir(pending.pop()) as found:
                for entry in found:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if status.st_ino in seen:
                            continue
                        seen.add(status.st_ino)
                    total += status.st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue
    return total
