"""Which layers a sandbox's workspace consists of; this module is that noun, and how overlayfs is told of it.

    upper 7          what the session writes now
    3, 1             what it wrote before its snapshots, newest first; nobody writes there any more
    base             the real workspace, read only

A snapshot takes the upper into the read-only layers and puts an empty one on top; restoring puts an empty one on top
of the layers as they were; a fork is a second stack with the same read-only layers. None of the three copies a file.
"""

from collections.abc import Mapping

from msgspec import Struct

__all__ = ["BASE", "MAX_LAYERS", "PLACE", "Stack"]

PLACE = "/.execkit/layers"
"""Where a sandbox's own root has the layers: a closed folder on a read-only file system, for the mounting alone."""
BASE = "base"
MAX_LAYERS = 256


class Stack(Struct, frozen=True, kw_only=True):
    """The layers of one workspace, by number.

    Attributes:
        upper: the layer that is written to.
        below: the read-only ones, newest first; the real workspace lies under them all.
    """

    upper: int
    below: tuple[int, ...] = ()

    @property
    def layers(self) -> tuple[int, ...]:
        """Every layer above the real workspace, newest first."""
        return (self.upper, *self.below)

    def frozen(self, upper: int) -> "Stack":
        """The same content with the empty layer ``upper`` on top."""
        return Stack(upper=upper, below=self.layers)

    def mount(self, target: str, *, place: str = PLACE) -> tuple[Mapping[str, object], ...]:
        """The operations that show the workspace at ``target``.

        The overlay is volatile: it syncs nothing when it is taken away, and none outlives the server.
        """
        lower = ":".join(f"{place}/{name}" for name in (*self.below, BASE))
        work = f"{place}/{self.upper}.work"
        data = f"lowerdir={lower},upperdir={place}/{self.upper},workdir={work},userxattr,volatile"
        return (
            {"op": "settle", "target": work},
            {"op": "overlay", "target": target, "options": ["noexec"], "data": data},
        )
