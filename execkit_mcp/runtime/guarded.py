"""What a session may never touch, whatever its policy says: the files by which people judge and remember it.

State folder (approvals, grants, the approver's secret, output), record and configuration are added to ``paths.never``
of every policy that a server judges with. The policy's digest stays that of its documents. A state folder inside the
workspace is guarded file by file, so that ``grep -r`` in the workspace is not refused for its sake; what such a command
would read below it, only a fence can hold.
"""

from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import replace

from execkit_mcp.config.locations import usual_state_dirs
from execkit_mcp.config.settings import Settings
from execkit_mcp.policy import CompiledPolicy, globs

__all__ = ["guarded", "guarded_paths"]

_FILES: Final = (
    "execkit.db",
    "execkit.db-wal",
    "execkit.db-shm",
    "approver.json",
    "audit.head",
    ".audit.journal",
    "audit-*.jsonl",
    "*.cast",
)


def guarded_paths(settings: Settings) -> tuple[str, ...]:
    """The patterns that are refused."""
    found: list[str] = []
    for folder in dict.fromkeys((settings.state_dir, settings.audit_dir, *usual_state_dirs())):
        if PurePosixPath(folder).is_relative_to(settings.workspace):
            found += [f"**/{name}" for name in _FILES]
        else:
            found.append(f"{globs.escape(folder)}/**")
    if settings.config_file is not None:
        found.append(globs.escape(settings.config_file))
    return tuple(dict.fromkeys(found))


def guarded(policy: CompiledPolicy, settings: Settings) -> CompiledPolicy:
    """``policy`` with the server's own files among what it refuses."""
    paths = policy.document.paths
    never = tuple(dict.fromkeys((*paths.never, *guarded_paths(settings))))
    return replace(policy, document=replace(policy.document, paths=replace(paths, never=never)), sites={})
