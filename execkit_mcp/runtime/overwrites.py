"""How a command would change files that are there: what a person wants to see before a yes.

What is known before a command runs is little: ``cp`` and ``mv`` put one file in another's place, ``>`` and ``tee``
write a text that may stand in the command or in its input. For those a diff is made; of other writes to a file that is
there only its size and lines are told. Files are read by the server, bounded, plain files only, and only where the
session's files are the server's own; a file that cannot be read is named with the reason.

Where both sides are known they are part of what an approval for one run binds: when source or target change meanwhile,
it is void.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from execkit_mcp.model import WRITE, Decision, EffectKind, JudgedCommand
from execkit_mcp.runtime.said_text import said_text

__all__ = ["NOTHING", "Overwrites", "overwrites"]

_MAX_FILES: Final = 5
_MAX_BYTES: Final = 262_144
_MAX_LINES: Final = 60
_LOCAL: Final = frozenset({"local"})
_PAIR: Final = frozenset({"cp", "mv", "install"})
_REPLACING: Final = frozenset({">", ">|"})


class _File(Struct, frozen=True):
    """What stands in a file: its text, or why that cannot be told."""

    text: str = ""
    why_not: str = ""
    sha256: str = ""
    size: int = 0

    @property
    def mark(self) -> str:
        """What tells this content from another."""
        return self.sha256 or self.why_not


class Overwrites(Struct, frozen=True):
    """What would be overwritten, as text, and a digest of the contents where both sides are known."""

    text: str
    digest: str


NOTHING: Final = Overwrites("", "")


def overwrites(
    decision: Decision, *, stdin: str | None, transport: str, redact: Callable[[str], str] = str
) -> Overwrites:
    """The diffs of files that are there and would be overwritten; nothing if there is none, or none can be seen.

    Both sides go through ``redact`` before they are compared: a diff would hide a secret's shape, a cut half of it.
    """
    if transport not in _LOCAL:
        return NOTHING
    found = list(islice(_blocks(decision, stdin, redact), _MAX_FILES))
    if not found:
        return NOTHING
    marks = "\n".join(mark for _, mark in found if mark)
    digest = hashlib.sha256(marks.encode("utf-8", "surrogateescape")).hexdigest() if marks else ""
    return Overwrites("\n".join(text for text, _ in found), digest)


def _blocks(decision: Decision, stdin: str | None, redact: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for command in decision.commands:
        for path, replacement, source in _writes(command, decision, stdin):
            if path in seen or not os.path.lexists(path) or Path(path).is_dir():
                continue
            seen.add(path)
            old = _read(path)
            mark = f"{path}\0{old.mark}\0{replacement.mark}" if replacement is not None else ""
            yield _block(path, old, replacement, source, redact), mark


def _writes(command: JudgedCommand, decision: Decision, stdin: str | None) -> Iterator[tuple[str, "_File | None", str]]:
    """Each path that ``command`` writes, what would stand there as far as it is known, and where that comes from."""
    written = [effect.value.removesuffix("/**") for effect in command.effects if effect.kind is WRITE and effect.value]
    read = [e.value.removesuffix("/**") for e in command.effects if e.kind is EffectKind.READ and e.value]
    name = os.path.basename(command.program)  # noqa: PTH119 - a word, not a path of this machine
    if name in _PAIR and len(read) == 1:
        for path in written:
            if path != read[0]:
                target = str(Path(path, Path(read[0]).name)) if Path(path).is_dir() else path
                yield target, _read(read[0]), read[0]
        return
    if name == "tee" and stdin is not None and "-a" not in command.argv:
        for path in written:
            yield path, _text(stdin), "its input"
        return
    if not command.program and command.argv[:1] and command.argv[0] in _REPLACING:
        said = said_text(decision.canonical or "", stdin)
        for path in written:
            yield path, None if said is None else _text(said), "its text"
        return
    for path in written:
        yield path, None, ""


def _block(path: str, old: _File, replacement: _File | None, source: str, redact: Callable[[str], str]) -> str:
    if old.why_not:
        return f"{path} is there; {old.why_not}"
    if replacement is None:
        lines = old.text.count("\n") + (not old.text.endswith("\n") and bool(old.text))
        return f"{path} is there: {old.size} bytes, {lines} lines (sha256 {old.sha256[:16]})"
    if replacement.why_not:
        return f"{path} would be replaced by {source}; {replacement.why_not}"
    if old.sha256 == replacement.sha256:
        return f"{path} would stay as it is (sha256 {old.sha256[:16]})"
    diff = list(
        unified_diff(
            redact(old.text).splitlines(), redact(replacement.text).splitlines(), f"{path} (now)", f"{path} (then)", n=2
        )
    )
    shown = [line.rstrip("\n") for line in diff[:_MAX_LINES]]
    if len(diff) > _MAX_LINES:
        shown.append(f"… and {len(diff) - _MAX_LINES} lines more of this diff")
    shown.append(f"sha256 {old.sha256[:16]} -> {replacement.sha256[:16]}")
    return "\n".join(shown)


def _text(text: str) -> _File:
    data = text.encode("utf-8", "surrogatepass")
    return _File(text=text, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def _read(path: str) -> _File:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        return _File(why_not=f"it cannot be looked into: {error.strerror}")
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return _File(why_not="it is not a plain file")
        if found.st_size > _MAX_BYTES:
            # Not read as a whole, so known by what changes when it is written.
            return _File(why_not=f"it is too large to show: {found.st_size} bytes, written at {found.st_mtime_ns} ns")
        data = file.read(_MAX_BYTES + 1)
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        return _File(text=data.decode(), sha256=sha256, size=len(data))
    except UnicodeDecodeError:
        return _File(why_not=f"it is not text: {len(data)} bytes, sha256 {sha256[:16]}")
