"""Where a program goes to work: this module follows the flags that lead it elsewhere (``git -C``, ``make -C``)."""

from collections.abc import Sequence

from execkit_mcp.policy.knowledge.invocation import Invocation, static
from execkit_mcp.policy.paths import expand_home

# Flags by which a program goes to work in another folder, as if it had been started there.
_MAX_FOLDERS = 64
_ELSEWHERE = frozenset(
    {"-C", "--directory", "--prefix", "--cwd", "--dir", "--chdir", "--manifest-path", "--git-dir", "--work-tree"}
)


def moved(invocation: Invocation, cwds: Sequence[str], home: str) -> Sequence[str] | None:
    """The folders, and those that the program's own flags lead to from there; None if that cannot be told."""
    found = list(cwds)
    current = list(cwds)
    uses = [use for use in invocation.flags if use.is_global or invocation.program != "git"]
    for use in uses:
        is_attached = not use.is_known and use.names[0].startswith("-C") and len(use.names[0]) > len("-C")
        if not is_attached and _ELSEWHERE.isdisjoint(use.names):
            continue
        if "--prefix" in use.names and invocation.program.endswith("/configure"):  # where `make install` puts it
            continue
        value = static(use.names[0][2:]) if is_attached else use.value
        if value is None or not value.is_static or len(found) > _MAX_FOLDERS:
            return None
        path = expand_home(value.text, home) if value.is_home else value.text
        if not path:
            return None
        current = [path] if path.startswith("/") else [f"{cwd}/{path}" for cwd in current]
        found.extend(current)
    return [plain(folder) for folder in found]


def plain(text: str) -> str:
    """A path without ``.``, ``..`` and doubled slashes, relative ones kept relative."""
    stack: list[str] = []
    for part in text.split("/"):
        if part == ".." and stack and stack[-1] != "..":
            stack.pop()
        elif part not in ("", "."):
            stack.append(part)
    return ("/" if text.startswith("/") else "") + "/".join(stack)
