"""What a host is (home, user, shell, tools), asked once at the first connection; this module is the question."""

from typing import Final

from msgspec import Struct

from execkit_mcp.errors import CapabilityMissing, TransportLost, TransportUnavailable
from execkit_mcp.transports.base import Capability
from execkit_mcp.transports.registry import STREAMED
from execkit_mcp.transports.ssh.control import Control

__all__ = ["START", "HostFacts", "capabilities_of", "lacks_for_terminal", "probe", "started"]

_SHELLS: Final = "/bin/bash /usr/bin/bash /usr/local/bin/bash /opt/homebrew/bin/bash"
_BUSYBOX: Final = (
    "for b in /bin/busybox /usr/bin/busybox /usr/local/bin/busybox; do "
    '[ -x "$b" ] && "$b" ash -c : && printf "%s ash" "$b" && break; done'
)
START: Final[dict[str, str]] = {
    "bash": "--norc --noprofile --noediting -i",
    "dash": "-i",
    "ash": "-i",
    "zsh": "--emulate sh -i",
}
"""The shells that a session can have, the best first, and how each is started."""
_TAKE_TERMINALS: Final = frozenset({"bash", "dash", "ash"})
"""zsh opens every file so that it never becomes its terminal (O_NOCTTY)."""
_QUESTIONS: Final = {
    "user": "id -un",
    "uid": "id -u",
    "home": ('h=$(getent passwd "$(id -u)" | cut -d: -f6); [ -n "$h" ] || h=$HOME; [ -n "$h" ] || h=/; printf %s "$h"'),
    "bash": f'for b in {_SHELLS}; do [ -x "$b" ] && printf %s "$b" && break; done',
    "bash_version": f'for b in {_SHELLS}; do [ -x "$b" ] && "$b" -c \'printf %s "$BASH_VERSION"\' && break; done',
    "dash": "for b in /bin/dash /usr/bin/dash; do [ -x $b ] && printf %s $b && break; done",
    "ash": _BUSYBOX,
    "zsh": "for b in /bin/zsh /usr/bin/zsh /usr/local/bin/zsh; do [ -x $b ] && printf %s $b && break; done",
    "others": "for b in ash busybox ksh mksh fish sh; do command -v $b; done",
    "system": "uname -s -r -m",
    "env": "for b in /usr/bin/env /bin/env; do [ -x $b ] && printf %s $b && break; done",
    "python": "command -v python3",
    "has_proc": "[ -r /proc/self/environ ] && printf yes",
    "has_readlink_m": "readlink -z -m / >/dev/null && printf yes",
    "lsm": "cat /sys/kernel/security/lsm",
}


class HostFacts(Struct, frozen=True, kw_only=True):
    """The answers.

    Attributes:
        user: the name that commands run as.
        uid: its number.
        home: its home folder.
        shell: what reads a session's commands, a key of ``START``.
        shell_path: where it is (for busybox with the applet's name).
        shell_version: as bash says itself; ``""`` of others.
        system: kernel, release, machine.
        env: the path of env.
        python: the path of Python 3; ``""`` where there is none.
        has_proc: whether processes can be looked at.
        has_readlink_m: whether links are followed by one call for many paths.
        lsm: the kernel's security modules, as far as they can be read.
    """

    user: str
    uid: str
    home: str
    shell: str
    shell_path: str
    shell_version: str
    system: str
    env: str
    python: str
    has_proc: bool
    has_readlink_m: bool
    lsm: str

    def to_json(self) -> dict[str, object]:
        """For the record."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def lacks_for_terminal(host: HostFacts) -> str:
    """What a host lacks for a terminal of ours; ``""``: nothing that could be told before it is tried."""
    if not host.python:
        return "the host has no Python 3, which makes it"
    if not host.has_proc:
        return "the host has no /proc, where is seen who reads it"
    if host.shell not in _TAKE_TERMINALS:
        return f"a session of {host.shell} takes none"
    return ""


def capabilities_of(host: HostFacts) -> frozenset[Capability]:
    """What sessions there can do."""
    return STREAMED["ssh"] if lacks_for_terminal(host) else STREAMED["ssh"] | {Capability.TTY}


def started(host: HostFacts) -> str:
    """The words that start a session's shell."""
    return f"{host.shell_path} {START[host.shell]}"


async def probe(control: Control, name: str, wanted: str | None = None) -> HostFacts:
    """Ask the host; ``wanted``: the one shell that will do.

    Raises:
        CapabilityMissing: it has no shell that we speak.
        TransportUnavailable, TransportLost: it does not answer.
    """
    try:
        answers = await control.fields(f"( {question} ) | head -c 4096" for question in _QUESTIONS.values())
    except TransportLost as error:
        raise TransportUnavailable(
            f"The host of target {name} gave a shell, but did not answer its first questions: {error.message}",
            hint="Look at the account's limits there (ulimit -u for processes, -v for memory), and at the host's load.",
            retryable=True,
        ) from error
    if len(answers) != len(_QUESTIONS):
        raise TransportUnavailable(f"The host of target {name} does not answer like a POSIX system.")
    texts = {key: answer.decode("utf-8", "replace").strip() for key, answer in zip(_QUESTIONS, answers, strict=True)}
    others = " ".join(sorted({each.rpartition("/")[2] for each in texts.pop("others").split()}))
    shells = {shell: path for shell in START if (path := texts.pop(shell))}
    shell = wanted or next(iter(shells), "")
    if shell not in shells:
        found = " ".join(shells) or others
        has = f" (it has {found})" if found else ""
        missing = wanted or "bash, dash, busybox or zsh"
        raise CapabilityMissing(
            f"The host of target {name} has no {missing}{has}; sessions need one.",
            hint="Leave `shell` out, or name one that it has."
            if wanted and shells
            else f"Install bash there; it is looked for at {_SHELLS.replace(' ', ', ')}.",
            details={"target": name, "shells": found},
        )
    version = texts.pop("bash_version")
    texts |= {"shell": shell, "shell_path": shells[shell], "shell_version": version if shell == "bash" else ""}
    if not texts["home"].startswith("/") or not texts["env"]:
        raise TransportUnavailable(f"The host of target {name} does not answer like a POSIX system.")
    flags = {key: texts.pop(key) == "yes" for key in ("has_proc", "has_readlink_m")}
    return HostFacts(**texts, **flags)  # type: ignore[arg-type]
