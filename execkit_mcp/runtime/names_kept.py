"""Refused names that stood in a workspace once, remembered from server to server: this module is that memory.

A file below the state folder for each workspace and set of patterns. Sessions cannot see that folder, so what an agent
plants while one server runs does not hide a name from the next.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.fence.plan import FencePlan, MountOp
from execkit_mcp.fence.refused_names import LOOKED_AT_FIRST, Known, known_from, standing_below, standing_now

__all__ = ["with_names_found"]

_FOLDER = "refused-names"


def with_names_found(plan: FencePlan, state_dir: str, *, keeps_files: bool = True) -> FencePlan:
    """The plan that also names where refused names stand now, before any command of a session could hide them.

    Args:
        plan: as it was derived.
        state_dir: where it is remembered; if nothing can be written there, nothing is.
        keeps_files: whether the session sees the very files; through layers it sees others under the same paths.
    """

    def found(each: MountOp) -> MountOp:
        if each.op != "hide_named":
            return each
        known = _look(each, Path(state_dir, _FOLDER))
        shown = known if keeps_files else [Known(one.path) for one in known]
        return replace(each, data="\0".join(one.to_text() for one in shown))

    return replace(plan, mounts=tuple(map(found, plan.mounts)))


def _look(operation: MountOp, folder: Path) -> list[Known]:
    name, path = operation.options
    key = hashlib.sha256(f"{operation.target}\0{name}\0{path}".encode("utf-8", "surrogateescape")).hexdigest()
    file = folder / f"{key[:32]}.json"
    before = _read(file)
    paths = dict.fromkeys(
        (
            *standing_now(operation.target, before),
            *standing_below(operation.target, name=name, path=path, most=LOOKED_AT_FIRST),
        )
    )
    known = [each for each in map(Known.at, paths) if each is not None]
    if sorted(known) != sorted(before):
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            fresh = file.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps([each.to_text() for each in known]))
            fresh.replace(file)
    return known


def _read(file: Path) -> list[Known]:
    try:
        return known_from(json.loads(file.read_text()))
    except (OSError, ValueError, TypeError, AttributeError):
        return []
