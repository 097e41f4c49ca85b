"""One-time links to the page: this module keeps them as files, so that a running page honours one made elsewhere.

    <state folder>/web/links/<SHA-256 of the code>     0600, holds the second at which it lapses

The code itself stands nowhere but in the link. Whoever removes the file first has used the link: unlink(2) succeeds
once. A file that somebody copies back opens nothing without the code.
"""

import contextlib
import hashlib
from pathlib import Path

from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage import open_private_folder
from execkit_mcp.storage.folder import create_private_file

__all__ = ["LINK_TTL_S", "Links"]

LINK_TTL_S = 600.0
_CODE = lazy_regex(r"[0-9a-f]{48}")
_CLOCK_SLACK_S = 5.0


class Links:
    """The links of one state folder."""

    def __init__(self, state_dir: Path, *, clock: Clock, entropy: Entropy) -> None:
        self._folder = open_private_folder(open_private_folder(state_dir / "web") / "links")
        self._clock = clock
        self._entropy = entropy

    def make(self) -> str:
        """A new code; it opens the page once, within ``LINK_TTL_S``."""
        self._sweep()
        code = self._entropy.token_hex(24)
        path = self._path(code)
        create_private_file(path)
        try:
            path.write_text(f"{self._clock.epoch_s() + LINK_TTL_S:.3f}\n", encoding="ascii")
        except OSError as error:
            raise StorageUnavailable(
                f"The link cannot be kept: {error.strerror}.", hint="See that the state folder's disk has room."
            ) from error
        return code

    def use(self, code: str) -> bool:
        """Use the link up; True for the first who does while it has not lapsed."""
        if not _CODE.fullmatch(code):
            return False
        path = self._path(code)
        try:
            lapses_s = float(path.read_text(encoding="ascii"))
            path.unlink()
        except (OSError, ValueError):
            return False
        return self._is_good(lapses_s)

    def _is_good(self, lapses_s: float) -> bool:
        left_s = lapses_s - self._clock.epoch_s()
        return 0 < left_s <= LINK_TTL_S + _CLOCK_SLACK_S  # a clock that went back makes no link live longer

    def _path(self, code: str) -> Path:
        return self._folder / hashlib.sha256(f"execkit web link {code}".encode()).hexdigest()

    def _sweep(self) -> None:
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError, ValueError):
                if not self._is_good(float(path.read_text(encoding="ascii"))):
                    path.unlink()
