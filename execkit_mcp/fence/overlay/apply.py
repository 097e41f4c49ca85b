"""Carrying a sandbox's changes into the real workspace; this module does exactly what was shown, or stops.

Every change is bound to two digests. Before anything is written, each path of the real workspace must still be what it
was when the changes were shown; each new file is copied to a name of its own, compared with the digest that was shown
while it is copied, and only then takes the place of the old one. Every step of every path is opened by itself and
follows no link, so that nothing is ever written outside. A setuid bit is not carried over; a device, a pipe or a
socket refuses the whole.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Sequence

from execkit_mcp.errors import CheckpointConflict
from execkit_mcp.fence.overlay.diff import Change, Side, side_of
from execkit_mcp.fence.overlay.tree import opened_folder, opened_parent

__all__ = ["apply_changes"]

_CHUNK = 1 << 20
_PERMISSIONS = 0o777
_PLAIN = frozenset({"file", "folder", "link"})


def apply_changes(changes: Sequence[Change], base: str, layers: Sequence[str]) -> int:
    """Make ``base`` what the sandbox has; how many paths that touched.

    Raises:
        CheckpointConflict: something is not as it was when it was shown; says what had been carried over by then.
    """
    for change in changes:
        if any(side is not None and side.kind not in _PLAIN for side in (change.before, change.after)):
            raise CheckpointConflict(
                f"{change.path!r} is a device, a pipe or a socket; nothing was carried over.", hint="Remove it there."
            )
    done = 0
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(opened_folder(base))
        sources = [stack.enter_context(opened_folder(path)) for path in layers]
        leaving = {each.path for each in changes if each.after is None}
        for change in changes:
            if change.kind != "added" or change.path not in leaving:  # what takes another's place comes after it
                _require(root, change, done)
        try:
            for change in _in_order(changes):
                _require(root, change, done)
                _carry(change, root, sources)
                done += 1
        except OSError as error:
            raise CheckpointConflict(
                f"{change.path!r} could not be carried over: {os.strerror(error.errno or 0)};"
                f" {done} of {len(changes)} changes had been.",
                hint="Look at the difference again: what was carried over is no longer in it.",
            ) from error
    return done


def _in_order(changes: Sequence[Change]) -> list[Change]:
    """What goes, deepest first; then folders from the top; then what lies in them."""
    gone = sorted((each for each in changes if each.after is None), key=lambda each: -each.path.count("/"))
    made = [each for each in changes if each.after is not None]
    folders = sorted((each for each in made if each.after and each.after.kind == "folder"), key=lambda each: each.path)
    return [*gone, *folders, *(each for each in made if each.after and each.after.kind != "folder")]


def _require(root: int, change: Change, done: int) -> None:
    """Raise unless the path is what it was when it was shown."""
    if side_of(root, change.path) != change.before:
        raise CheckpointConflict(
            f"{change.path!r} in the workspace is no longer what it was when the changes were shown"
            f" ({done} changes had been carried over).",
            hint="Look at the difference again and have that approved.",
        )


def _carry(change: Change, root: int, sources: Sequence[int]) -> None:
    after = change.after
    with opened_parent(root, change.path) as (folder, name):
        if after is None:
            assert change.before is not None
            if change.before.kind == "folder":
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
        elif after.kind == "folder":
            if change.before is None:
                os.mkdir(name, 0o700, dir_fd=folder)
            with opened_folder(name, at=folder) as made:
                os.fchmod(made, after.mode & _PERMISSIONS)
        else:
            _place(change, after, folder, name, sources[change.layer])


def _place(change: Change, after: Side, folder: int, name: str, source: int) -> None:
    """Put the new file or link beside the old one, then in its place."""
    spare = f".execkit-{secrets.token_hex(8)}"
    try:
        if after.kind == "link":
            os.symlink(after.target, spare, dir_fd=folder)
        else:
            _copy(change.path, after, source, folder, spare)
        os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(spare, dir_fd=folder)
        raise


def _copy(path: str, after: Side, source: int, folder: int, spare: str) -> None:
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        parent, name = stack.enter_context(opened_parent(source, path))
        read = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=parent)
        stack.callback(os.close, read)
        if not stat.S_ISREG(os.fstat(read).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        write = os.open(
            spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder
        )
        stack.callback(os.close, write)
        while data := os.read(read, _CHUNK):
            digest.update(data)
            view = memoryview(data)
            while view:
                view = view[os.write(write, view) :]
        if digest.hexdigest() != after.sha256:
            raise CheckpointConflict(
                f"{path!r} in the sandbox is no longer what was shown.",
                hint="Look at the difference again and have that approved.",
            )
        os.fchmod(write, after.mode & _PERMISSIONS)
