"""Where names stand that a policy refuses at any depth (``**/.env*``): this module is the look for them.

The kernel has no rule for a name, only for a place. So the places are looked for when a shell starts, by the process
that becomes it, and covered one by one (``mounts``). What is looked through is bounded, and folders of other people's
published code are left out: an environment has a ``cacert.pem`` that is no secret, and what is covered cannot be
deleted. Examples of settings, which repositories track, are left alone as well. The policy's reading of a command
still refuses all of these by name.

Who can write there could plant so many names that a later look ends before it comes to the ones that matter, or move
their folder to where nobody looks. So what was found once stays known by its file, and what is known and is no longer
where it was is looked for everywhere.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from execkit_mcp.fence.host import follow
from execkit_mcp.model.regex import lazy_regex

__all__ = ["LOOKED_AT", "LOOKED_AT_FIRST", "UNSEARCHED", "Known", "known_from", "standing_below", "standing_now"]

LOOKED_AT, LOOKED_AT_FIRST = 10_000, 200_000
_SEARCHED = 2_000_000
_A_FOLDER = 4  # to open one costs as much as to look at so many names
UNSEARCHED = frozenset({".git", "__pycache__", "dist-packages", "node_modules", "site-packages"})
_EXAMPLE = lazy_regex(r"\.env(?:rc)?[._-](?:dist|defaults?|example|sample|schema|template)", re.IGNORECASE)


class Known(NamedTuple):
    """A refused path that stood there once, and its file; ``inode`` 0: known by its path alone."""

    path: str
    device: int = 0
    inode: int = 0

    @classmethod
    def at(cls, path: str) -> "Known | None":
        """What stands there now."""
        try:
            status = os.lstat(path)
        except OSError:
            return None
        return cls(path, status.st_dev, status.st_ino)

    def to_text(self) -> str:
        """As ``known_from`` reads it."""
        return f"{self.device}:{self.inode}:{self.path}"


def known_from(texts: Iterable[str]) -> list[Known]:
    """What ``to_text`` wrote."""
    found = []
    for text in texts:
        device, _, rest = text.partition(":")
        inode, _, path = rest.partition(":")
        if path:
            found.append(Known(path, int(device), int(inode)))
    return found


def standing_now(folder: str, known: Iterable[Known]) -> Iterator[str]:
    """Where what is known stands now, wherever below ``folder`` it was moved to."""
    missing: dict[tuple[int, int], str] = {}
    for each in known:
        now = Known.at(each.path)
        if now is not None:
            yield each.path
        if each.inode and now != each:
            missing[each.device, each.inode] = os.path.basename(each.path)
    if missing:
        yield from _moved(folder, missing)


def _moved(folder: str, missing: Mapping[tuple[int, int], str], most: int = _SEARCHED) -> Iterator[str]:
    """Files that have their name still: what is covered cannot be renamed from inside, the folders above it can."""
    inodes = {inode for _, inode in missing}
    waiting = [folder]
    for each in waiting:
        try:
            with os.scandir(each) as entries:
                for entry in entries:
                    most -= 1
                    if entry.inode() in inodes:
                        now = Known.at(entry.path)
                        if now is not None and missing.get((now.device, now.inode)) == entry.name:
                            yield entry.path
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
        if most < 0:
            return


def standing_below(folder: str, *, name: str, path: str, most: int = LOOKED_AT) -> Iterator[str]:
    """Files and folders below ``folder`` that are refused, and what refused links there lead to within it.

    Args:
        folder: where to look.
        name: an expression that every refused path's last segment matches.
        path: an expression that every refused path matches.
        most: how many names are looked at, a folder counting as some; nearer ones come first.
    """
    is_name, is_path = re.compile(name, re.DOTALL).fullmatch, re.compile(path, re.DOTALL).fullmatch
    waiting = [folder]
    for each in waiting:
        most -= _A_FOLDER
        try:
            with os.scandir(each) as entries:
                for entry in entries:
                    most -= 1
                    if is_name(entry.name) and is_path(entry.path) and not _EXAMPLE.fullmatch(entry.name):
                        leads = follow(entry.path)
                        if leads.startswith(folder.rstrip("/") + "/"):
                            yield leads
                    elif entry.name not in UNSEARCHED and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
        if most < 0:
            return
