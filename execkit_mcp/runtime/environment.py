"""The environment of a session: constructed, never inherited.

A session starts with a short list of variables, then what the policy forces. The server's own environment, where the
operator's credentials live, never reaches a shell; its secret-looking values are known to the redactor all the same.
"""

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.environment import is_locale, is_plain_locale

SESSION_VARIABLE: Final = "EXECKIT_SESSION"
_PASSED_ON: Final = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
_SECRET_MARKS: Final = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY",
    "CREDENTIAL", "AUTH", "DSN", "DATABASE_URL", "CONNECTION_STRING", "WEBHOOK",
)  # fmt: skip
_MIN_SECRET_CHARS: Final = 6
_ASSIGNED: Final = lazy_regex(
    r"(?:^|[\s;&|(])(?P<name>[A-Za-z_]\w{0,80})="
    r"(?:'(?P<single>[^'\n]{1,4096})'|\"(?P<double>[^\"$`\\\n]{1,4096})\"|(?P<bare>[^\s\"'$`\\;&|()<>]{1,4096}))(?=$|[\s;&|)])"
)
_MAY_ASSIGN: Final = lazy_regex(
    r"(?:^|[^\w./-])(?:export|declare|typeset|local|readonly|read|mapfile|readarray|source|eval|set|printf|getopts|for|let|select|coproc)(?=\s|$)"
    r"|(?:^|[\s;&|(])\.\s|(?:^|[\s;&|({])[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=|\$\{[A-Za-z_]\w*:?="
)
_NOT_SECRET: Final = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO"})


def home_folder() -> str:
    """The home folder of the user we run as, from the password database, not from ``$HOME``."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.environ.get("HOME", "/")


def user_name() -> str:
    """The name of the user we run as, or the number where there is no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _is_passed_on(name: str) -> bool:
    """Whether the shell would read texts as they were judged with our own value of it."""
    return not is_locale(name) or is_plain_locale(name, os.environ[name])


def session_variables(*, folders: Iterable[str], forced: Mapping[str, str]) -> dict[str, str]:
    """The variables of a new session, all but its name: a short list, then ``forced`` (the policy's), which wins."""
    user, home = user_name(), home_folder()
    return {
        "PATH": ":".join(folders),
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ and _is_passed_on(name)},
        **forced,
    }


def may_assign(command: str) -> bool:
    """Whether ``command`` may give a variable of the shell a value that does not stand in it."""
    return _MAY_ASSIGN.search(command) is not None


def assigned_values(command: str) -> Iterator[tuple[str, str]]:
    """Variables that ``command`` sets to a value that stands in it: ``export DB_PASSWORD=…``."""
    for found in _ASSIGNED.finditer(command):
        value = found["single"] or found["double"] or found["bare"] or ""
        if len(value) >= _MIN_SECRET_CHARS:
            yield found["name"], value


def protected_values(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Values of the server's environment that must never be seen: those named, and those whose name says so."""
    named = set(names)
    return {
        name: value
        for name, value in environ.items()
        if name in named
        or (
            len(value) >= _MIN_SECRET_CHARS
            and name not in _NOT_SECRET
            and any(mark in name.upper() for mark in _SECRET_MARKS)
        )
    }
