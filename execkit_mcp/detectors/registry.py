"""Which detectors exist, detect-secrets built in and others by entry point; this module is that list.

A detector is asked about single lines: those that hold a sensitive word and that no rule of ours decided. It is
therefore told nothing of the lines before; who needs more cannot be one.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points
from typing import cast

from execkit_mcp.detectors.detect_secrets import PLUGINS, DetectSecrets
from execkit_mcp.errors import ConfigError
from execkit_mcp.redaction import Confirmer

__all__ = ["GROUP", "create_detectors", "detector_names"]

GROUP = "execkit_mcp.detectors"
"""Entry points of this group name a callable without arguments that returns a ``Confirmer``."""


def detector_names() -> tuple[str, ...]:
    """Every name that ``create_detectors`` knows: detect-secrets, its plugins, and what is installed."""
    return ("detect-secrets", *PLUGINS, *sorted(point.name for point in entry_points(group=GROUP)))


def create_detectors(names: Sequence[str] | None, *, entropy: float | None = None) -> tuple[Confirmer, ...]:
    """The detectors called ``names`` (None: all of detect-secrets); raises ConfigError for one that is unknown.

    Args:
        names: ``detect-secrets``, single plugins of it, entry points.
        entropy: bits a character from which a string of base64 counts; None for the usual limit.
    """
    asked = ("detect-secrets",) if names is None else tuple(dict.fromkeys(names))
    plugins = tuple(PLUGINS) if "detect-secrets" in asked else tuple(name for name in asked if name in PLUGINS)
    found: list[Confirmer] = [DetectSecrets(plugins=plugins, entropy=entropy)] if plugins else []
    others = [name for name in asked if name != "detect-secrets" and name not in PLUGINS]
    return (*found, *(_Careful(_load(name)) for name in others))


def _load(name: str) -> Callable[[], Confirmer]:
    for point in entry_points(group=GROUP, name=name):
        return cast("Callable[[], Confirmer]", point.load())
    raise ConfigError(
        f"There is no detector {name!r} for `redact: {{detectors: […]}}`.",
        hint="Known detectors: " + ", ".join(detector_names()) + ".",
    )


class _Careful:
    """Somebody else's detector; where it fails, what could be a secret on the line is hidden."""

    __slots__ = ("_confirmer", "_load")

    def __init__(self, load: Callable[[], Confirmer]) -> None:
        self._load = load
        self._confirmer: Confirmer | None = None

    def confirm(self, line: str) -> Iterable[tuple[str, str]]:
        """What the detector says of ``line``."""
        try:
            if self._confirmer is None:
                self._confirmer = self._load()
            return [(str(kind), str(secret)) for kind, secret in self._confirmer.confirm(line)]
        except Exception:  # noqa: BLE001 - fails closed
            return DetectSecrets.unchecked(line)
