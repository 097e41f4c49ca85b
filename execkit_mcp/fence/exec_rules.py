"""What the exec gate says of one execve: pure rules over what was judged; this module is that decision.

A process has a label, given by the exec that it descends from: the shell's own (nothing yet), ``plain`` (a program that
a rule allows) or ``trusted`` (one whose effects a rule or a person vouches for). The rows of ``decide`` are asked in
order, and the last one leaves the question to the policy, which judges the resolved argv.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

__all__ = ["HELPERS", "SHELL", "Label", "Seen", "Verdict", "decide", "fits"]


class Label(NamedTuple):
    """What a process descends from: ``script`` is the word behind ``env`` in a script's first line, None for no script."""

    kind: str
    program: str = ""
    script: str | None = None


class Seen(NamedTuple):
    """One execve as the kernel reports it: files by where they really are, links followed.

    Attributes:
        path: as the program spelled it.
        real: the file.
        interpreter: the real file that a ``#!`` line names; ``""``: none.
        interpreter_word: the one word behind it, as in ``env python3``.
        argv: every word, the program's name included.
    """

    path: str
    real: str
    interpreter: str
    interpreter_word: str
    argv: tuple[str, ...]


class Verdict(NamedTuple):
    """``allow`` with the label that the process gets, ``refuse`` with why, or ``ask`` the policy."""

    word: str
    label: Label
    code: str = ""
    why: str = ""


SHELL = Label("shell")

# program: names of what it runs as part of its own work, whatever it is asked to do.
HELPERS: Mapping[str, tuple[str, ...]] = {
    "git": ("git", "git-*", "sh", "dash", "bash", "less", "cat", "ssh", "gpg"),
    "man": ("groff", "troff", "nroff", "grotty", "preconv", "tbl", "eqn", "less", "cat", "gzip", "zcat", "locale", "col",
            "mandb", "man-db", "zsoelim", "iconv", "sh", "dash"),
    "tar": ("gzip", "bzip2", "xz", "zstd", "lzma", "lzip", "compress"),
    "apt": ("dpkg", "apt-*", "dpkg-*", "lz4", "store"),
    "apt-cache": ("dpkg",),
    "gunzip": ("gzip",),
    "zcat": ("gzip",),
    "sort": ("gzip", "zstd"),
    "rsync": ("ssh",),
    "scp": ("ssh",),
    "sftp": ("ssh",),
    "which": ("which.debianutils",),
    "ssh": ("ssh-askpass", "ssh-keysign", "ssh-pkcs11-helper"),
    "less": ("lesspipe",),
    "lsb_release": ("python*", "dpkg-query", "apt-cache"),
    "kubectl": ("kubectl-*", "aws", "aws-iam-authenticator", "gke-gcloud-auth-plugin", "kubelogin", "less"),
    "systemd-analyze": ("less",),
    "python3": ("lsb_release", "ldconfig", "uname"),
    "gcc": ("cc1", "cc1plus", "as", "ld", "collect2", "x86_64-linux-gnu-*", "aarch64-linux-gnu-*"),
    "dpkg": ("dpkg-*",),
    "docker": ("docker-*",),
    "systemctl": ("less", "cat", "pkttyagent", "systemd-tty-ask-password-agent"),
    "journalctl": ("less", "cat"),
    "npm": ("node", "nodejs"),
    "npx": ("node", "nodejs"),
    "pip": ("python*", "lsb_release", "ldconfig", "uname"),
    "pip3": ("python*", "lsb_release", "ldconfig", "uname"),
    "zip": ("unzip",),
}  # fmt: skip

# What a script that came with the system runs beside its interpreter.
_SCRIPT_HELPERS = frozenset({
    "sh", "dash", "bash", "env", "sed", "grep", "egrep", "fgrep", "gzip", "gunzip", "bzip2", "xz", "zstd", "cat", "less",
    "more", "head", "tail", "cut", "tr", "sort", "uniq", "wc", "basename", "dirname", "expr", "uname", "mktemp", "rm",
    "test", "[", "true", "false", "printf", "echo", "stty", "tty", "readlink", "realpath", "id", "date", "awk", "mawk",
    "gawk", "perl", "python3", "file", "cmp", "diff", "which",
})  # fmt: skip
_SHELLS = frozenset({"sh", "dash", "bash"})
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_./=+,:@%")
_ANY_WORDS = frozenset('$`*?["~{<>(\\')


def decide(  # noqa: C901, PLR0911 - rows, asked in order
    seen: Seen, label: Label, gate: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> Verdict:
    """What becomes of the exec, as far as it can be said without the policy itself."""
    name = _base(seen.real)
    if seen.real in gate["loaders"]:
        return _refused(
            "loader", "The dynamic loader runs any file, executable or not; a program is run by its own name."
        )
    is_writable = _below(seen.real, gate["writable"]) or seen.real.startswith(("/memfd:", "/dev/shm/", "/proc/"))
    if seen.interpreter and _below(seen.interpreter, gate["writable"]) and label.kind != "trusted":
        return _refused("interpreter", f"Its interpreter {seen.interpreter} is a file that the session can write.")
    if label.kind == "trusted":
        return _below_trusted(seen, name, label, gate, is_writable=is_writable)
    if not _is_honest_name(seen):
        return _refused("name", f"The program calls itself {seen.argv[0] if seen.argv else ''!r}, but is {seen.real}.")
    if label.kind == "shell":
        for entry in entries:
            if entry["real"] == seen.real and fits(entry["argv"], seen.argv[1:]):
                kind = "trusted" if entry["trusted"] else "plain"
                return Verdict(
                    "allow", Label(kind, _base(seen.path), seen.interpreter_word if seen.interpreter else None)
                )
    if is_writable:
        if gate["asks_unknown"]:
            return Verdict("ask", Label("plain", name))
        return _refused(
            "writable", f"{seen.real} is a file that the session can write, and no rule says that it may run."
        )
    if label.kind == "plain" and (_is_helper(seen, name, label) or _is_helper(seen, _base(seen.path), label)):
        return Verdict("allow", label)
    return Verdict("ask", Label("plain", _base(seen.path), seen.interpreter_word if seen.interpreter else None))


def _below_trusted(seen: Seen, name: str, label: Label, gate: Mapping[str, Any], *, is_writable: bool) -> Verdict:
    if (
        name in gate["denied"]
        or _base(seen.path) in gate["denied"]
        or (gate["denied_patterns"] and _is_denied(seen, gate))
    ):
        return Verdict("ask", label, code="denied")
    if name in gate["asked"] or _base(seen.path) in gate["asked"]:
        return Verdict("allow" if _is_helper(seen, name, label) else "ask", label, code="asked")
    if is_writable:
        if gate["writable_exec"]:
            return Verdict("allow", label)
        return _refused(
            "writable", f"{seen.real} is a file that the session can write, and no rule says that it may run."
        )
    if gate["is_open"] or seen.real in gate["programs"] or name in gate["runs"] or _is_helper(seen, name, label):
        return Verdict("allow", label)
    return Verdict("ask", label)


def _is_denied(seen: Seen, gate: Mapping[str, Any]) -> bool:
    names = {_base(seen.real), _base(seen.path)}
    return any(fnmatchcase(name, pattern) for name in names for pattern in gate["denied_patterns"])


def _is_helper(seen: Seen, name: str, label: Label) -> bool:
    helpers = HELPERS.get(label.program, ())
    if any(fnmatchcase(name, pattern) for pattern in helpers):
        return True
    if name in _SHELLS and len(seen.argv) == 3 and seen.argv[1] == "-c":  # noqa: PLR2004 - as system(3) calls it
        words = seen.argv[2].removeprefix("exec ").split()
        if words and _base(words[0]) in helpers and _PLAIN.issuperset(seen.argv[2]):
            return True
    if label.script is not None and (
        name in _SCRIPT_HELPERS or name.startswith("python3") or _base(seen.path) == label.script
    ):
        return True
    return name == label.program


def fits(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Whether ``words`` could be what the judged words became; one that the shell expands stands for any number."""
    at = here = 0
    star, kept = -1, 0
    while here < len(words):
        if at < len(pattern) and pattern[at] == words[here]:
            at, here = at + 1, here + 1
        elif at < len(pattern) and not _ANY_WORDS.isdisjoint(pattern[at]):
            star, kept, at = at, here, at + 1
        elif star >= 0:
            kept += 1
            at, here = star + 1, kept
        else:
            return False
    return all(not _ANY_WORDS.isdisjoint(each) for each in pattern[at:])


def _is_honest_name(seen: Seen) -> bool:
    """Whether argv[0] is the program's own name, as a login shell spells it or not."""
    if not seen.argv:
        return False
    shown = _base(seen.argv[0].removeprefix("-"))
    return shown in (_base(seen.path), _base(seen.real))


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _refused(code: str, why: str) -> Verdict:
    return Verdict("refuse", SHELL, code=code, why=why)
