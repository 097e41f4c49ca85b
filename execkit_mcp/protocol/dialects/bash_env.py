r"""The variables of a shell: what bash is asked, and what its answer means; this module is both.

``declare -p`` writes ``declare -x NAME="value"``, or ``--`` for ``-x`` where it is not exported, with ``\`` before
``$ ` " \`` and newline, or ``NAME=$'value'`` with C escapes where the value holds control characters.
Arrays have no value that a program could see.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

__all__ = ["EXPORTED", "EnvDelta", "delta", "dump", "exported", "variables"]

EXPORTED = "E"
"""The kind of its record."""

_B = "\\builtin "
_STATUS_FD = 250
_ROW = lazy_regex(
    r"""declare\ -(?P<flags>\S+)\ (?P<name>[A-Za-z_]\w*)
        (?:=(?:"(?P<plain>(?:[^"\\]|\\.)*)"|\$'(?P<coded>(?:[^'\\]|\\.)*)'))?\n""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = lazy_regex(r'\\([$`"\\\n])')
_CODED = lazy_regex(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "E": "\x1b", "e": "\x1b"}


class EnvDelta(Struct, frozen=True, kw_only=True):
    """What a command did to the exported variables."""

    added: Mapping[str, str]
    changed: Mapping[str, str]
    removed: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The three by name."""
        return {"set": dict(self.added), "changed": dict(self.changed), "unset": list(self.removed)}


def dump(nonce: str) -> str:
    """Report the variables; ``$?`` is afterwards what it was."""
    text = rf'{_B}printf "\036{nonce}{EXPORTED}\0";{_B}declare -p;{_B}printf "\0\035{nonce}\n"'
    kept = f'{_B}[ -o errexit ] || ( \\builtin exit "$__ek_s" )'
    return f"__ek_s=\"$?\"\n{_B}eval '{text}' >&{_STATUS_FD} 2>/dev/null\n{kept}\n"


def exported(text: str) -> dict[str, str]:
    """The exported variables of a dump."""
    return {name: value for name, (flags, value) in _rows(text).items() if "x" in flags}


def variables(text: str) -> dict[str, str]:
    """All variables of a dump, exported or not."""
    return {name: value for name, (_, value) in _rows(text).items()}


def _rows(text: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for row in _ROW.finditer(text):
        if row["plain"] is not None:
            value = _ESCAPED.sub(lambda each: "" if each[1] == "\n" else each[1], row["plain"])
            found[row["name"]] = row["flags"], value
        elif row["coded"] is not None:
            found[row["name"]] = row["flags"], _CODED.sub(_decoded, row["coded"])
    return found


def _decoded(found: re.Match[str]) -> str:
    if found[1]:
        return _byte(int(found[1], 8))
    if found[2]:
        return _byte(int(found[2], 16))
    return _LETTERS.get(found[3], found[3])


def _byte(number: int) -> str:
    """Bytes that are no characters of their own come as escapes, one by one."""
    return chr(number) if number < 128 else bytes([number & 255]).decode("utf-8", "surrogateescape")  # noqa: PLR2004


def delta(before: Mapping[str, str], after: Mapping[str, str]) -> EnvDelta:
    """What became of ``before``."""
    return EnvDelta(
        added={name: value for name, value in sorted(after.items()) if name not in before},
        changed={name: value for name, value in sorted(after.items()) if before.get(name, value) != value},
        removed=tuple(sorted(before.keys() - after.keys())),
    )
