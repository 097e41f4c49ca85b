"""Regular expressions that are compiled when they are first asked, not when the module is loaded.

A start loads hundreds of expressions and asks few of them; compiling them all took a third of it. What is never asked
is never compiled, and whatever asks gets its answer from the whole expression: nothing can be asked too early. An
expression that is wrong would tell so late: a test compiles each.
"""

import re
from typing import Any, AnyStr, Final, cast

_ASKED: Final = (
    "search match fullmatch finditer findall sub subn split scanner pattern flags groups groupindex".split()  # noqa: SIM905
)


class _Compiled:
    """What a compiled expression offers, one slot each: as quick to ask as the expression itself."""

    __slots__ = ("_given", *_ASKED)


class _Uncompiled(_Compiled):
    """Becomes ``_Compiled`` when it is first asked anything."""

    __slots__ = ()

    def __init__(self, pattern: Any, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _ASKED:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for each in _ASKED:
            setattr(self, each, getattr(compiled, each))
        self.__class__ = _Compiled  # type: ignore[assignment]  # the same slots; from now on each is found at once
        return getattr(compiled, name)


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """``re.compile``, put off until the expression is asked for the first time."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))
