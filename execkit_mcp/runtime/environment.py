"""The environment of a session: constructed, never inherited.

A session starts with a short list of variables, then what the policy forces. The server's own environment, where the
operator's credentials live, never reaches a shell; its secret-looking values are known to the redactor all the same.
"""

import os
import pwd
from collections.abc import Iterable, Mapping
from typing import Final

_PASSED_ON: Final = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
_SECRET_MARKS: Final = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY",
    "CREDENTIAL", "AUTH", "DSN", "DATABASE_URL", "CONNECTION_STRING", "WEBHOOK",
)  # fmt: skip
_MIN_SECRET_CHARS: Final = 6
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


def session_variables(*, session: str, folders: Iterable[str], forced: Mapping[str, str]) -> dict[str, str]:
    """The variables of a new session: a short list, then ``forced`` (the policy's), which wins."""
    user, home = user_name(), home_folder()
    return {
        "PATH": ":".join(folders),
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        **forced,
        "EXECKIT_SESSION": session,
    }


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
