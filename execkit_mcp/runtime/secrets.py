"""Secrets that may be typed at a hidden prompt: ``${secret:NAME}``, declared by the operator, bound to programs.

The caller names a secret and never sees it. It is typed only to a program that the declaration names and that comes
from a trusted folder, and its value is known to the session's redactor before it goes out.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from execkit_mcp.config.settings_file import TypedSecret
from execkit_mcp.errors import Blocked, CommandInvalid, ConfigError
from execkit_mcp.model import ProgramLocator
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy.readers import program_word
from execkit_mcp.policy.typed import MAX_LINE_BYTES
from execkit_mcp.redaction import KnownValue

__all__ = ["TypedSecrets", "reference_in"]

_UNTYPEABLE: Final = lazy_regex("[\x00-\x1f\x7f]")
_REFERENCE: Final = lazy_regex(r"\$\{secret:([A-Za-z0-9._-]{1,64})\}(\n?)")


def reference_in(text: str | None) -> tuple[str, str] | None:
    """The name and the line end of a text that is a secret reference and nothing else; None for any other."""
    found = _REFERENCE.fullmatch((text or "").replace("\r\n", "\n").replace("\r", "\n"))
    return (found[1], found[2]) if found is not None else None


class TypedSecrets:
    """The declared secrets."""

    def __init__(self, declared: Mapping[str, TypedSecret], environ: Mapping[str, str]) -> None:
        self._declared = dict(declared)
        self._environ = environ

    def known(self) -> Iterator[KnownValue]:
        """Those that have a value now, for a redactor."""
        for name, secret in self._declared.items():
            value = self._read(secret)
            if value:
                yield KnownValue(name=name, value=value)

    def value(self, name: str, state: TerminalState, locator: ProgramLocator | None) -> str:
        """The value of a secret for who is in front of the terminal.

        Raises:
            CommandInvalid: no secret of that name is declared.
            Blocked: a program in front may not get it.
            ConfigError: it has no value.
        """
        secret = self._declared.get(name)
        if secret is None:
            names = ", ".join(sorted(self._declared)) or "none"
            raise CommandInvalid(f"No secret {name!r} is declared.", hint=f"Declared in secrets.typed: {names}.")
        seats = [_bare_name(process, locator) for process in state.front]
        if not seats or any(seat not in secret.programs for seat in seats):
            told = ", ".join(seat or "a program that cannot be told" for seat in seats) or "the session's own shell"
            raise Blocked(
                f"The secret {name!r} may be typed to {', '.join(secret.programs)} only; in front is {told}.",
                hint="The operator decides that in secrets.typed of the configuration.",
            )
        value = self._read(secret)
        if not value:
            raise ConfigError(
                f"{secret.origin}: the secret {name!r} has no value.",
                hint=f"Set {secret.env}."
                if secret.env is not None
                else f"Write it on the first line of {secret.file}.",
            )
        if _UNTYPEABLE.search(value) is not None or len(value.encode()) > MAX_LINE_BYTES:
            raise ConfigError(
                f"{secret.origin}: the secret {name!r} cannot be typed: it holds a control character or is too long.",
                hint="Write it on one line.",
            )
        return value

    def _read(self, secret: TypedSecret) -> str:
        if secret.env is not None:
            return self._environ.get(secret.env, "")
        try:
            text = Path(secret.file or os.devnull).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""
        return text.split("\n", 1)[0].rstrip("\r")


def _bare_name(process: TerminalProcess, locator: ProgramLocator | None) -> str:
    """The bare name of a trusted program; empty if it is not one.

    Of a program that runs as the superuser for us (sudo, su) the kernel does not show the file: such a one was
    installed by the superuser, and its word for itself is taken.
    """
    if process.is_confined:
        return ""
    if not process.path:
        said = process.argv[0].rpartition("/")[2] if process.argv else ""
        return said if process.is_root and locator is not None and locator.locate(said) is not None else ""
    word = program_word(process, locator)
    return "" if "/" in word else word
