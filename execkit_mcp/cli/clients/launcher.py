"""How a client starts this program: an absolute command line that works from any folder, in a bare environment."""

import os
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

_PACKAGE = Path(__file__).resolve().parents[2]
_PROBE = "import execkit_mcp, sys; sys.stdout.write(execkit_mcp.__file__)"


class Launcher(Struct, frozen=True, kw_only=True):
    """A command line and the variables that it needs."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}


def find_launcher() -> Launcher:
    """The installed script where it is this program's, else this Python with the package's own file."""
    python = sys.executable
    if not _is_importable(python):  # by file: clients may refuse to set PYTHONPATH
        return Launcher(argv=(python, str(_PACKAGE / "__main__.py")))
    script = Path(python).with_name("execkit-mcp")
    if script.is_file() and os.access(script, os.X_OK):
        return Launcher(argv=(str(script),))
    return Launcher(argv=(python, "-m", "execkit_mcp"))


def _is_importable(python: str) -> bool:
    """Whether a Python started elsewhere, with no variables, finds this very package."""
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter
            [python, "-c", _PROBE], capture_output=True, text=True, env={}, cwd="/", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and Path(done.stdout).resolve().parent == _PACKAGE
