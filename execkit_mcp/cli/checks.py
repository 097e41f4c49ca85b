"""What ``doctor`` looks at: one function a check, one table; each finding says what to do.

A check looks and never mends: it starts no session, writes nothing and keeps nothing.
"""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from execkit_mcp.errors import ExecKitError

if TYPE_CHECKING:
    from execkit_mcp.config.settings import Settings

Level = Literal["ok", "note", "warning", "failed"]

_PYTHON: Final = (3, 11)
_BASH: Final = (4, 4)
_FREE_MB: Final = 200
_RECORD_BYTES: Final = 64 << 20
_OTHERS_ANY: Final = 0o077
_OTHERS_WRITE: Final = 0o022


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was looked at.

    Attributes:
        check: which check found it.
        level: ``failed`` stops something from working, ``warning`` weakens it, ``note`` is worth knowing.
        message: what was found.
        remedy: what to do; "" where there is nothing to do.
    """

    check: str
    level: Level
    message: str
    remedy: str = ""


class Subject(Struct, kw_only=True):
    """What is looked at: options in, settings once they have been read."""

    config: str | None
    policy: str | None
    workspace: str | None
    state_dir: str | None
    settings: "Settings | None" = None


Found = Iterable[tuple[Level, str, str]]


def _python(_subject: Subject) -> Found:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _PYTHON:
        yield "failed", f"Python {version} at {sys.executable}", "Install Python 3.11 or newer."
    else:
        yield "ok", f"Python {version} at {sys.executable}", ""
    if not sys.platform.startswith("linux"):
        yield (
            "warning",
            f"This is {sys.platform}.",
            "Local sessions and fences are built for Linux; use a remote target.",
        )


def _bash(_subject: Subject) -> Found:
    path = shutil.which("bash")
    if path is None:
        yield "failed", "There is no bash.", "Install it: sudo apt-get install bash"
        return
    done = subprocess.run(  # noqa: S603 - the shell that sessions run in
        [path, "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"],
        capture_output=True, text=True, timeout=10, check=False, env={},
    )  # fmt: skip
    version = done.stdout.strip()
    if tuple(int(part) for part in version.split(".") if part.isdigit()) < _BASH:
        yield "failed", f"bash {version or '(no answer)'} at {path} is too old.", "Install bash 4.4 or newer."
    else:
        yield "ok", f"bash {version} at {path}", ""


def _configuration(subject: Subject) -> Found:
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 - each check loads what it needs

    subject.settings = load_settings(
        config=subject.config, policy=subject.policy, workspace=subject.workspace, state_dir=subject.state_dir
    )
    file = subject.settings.config_file
    yield "ok", f"read {file}" if file else "no configuration file; every value is a default, a flag or a variable", ""


def _policy(subject: Subject) -> Found:
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415 - each check loads what it needs

    assert subject.settings is not None
    names = {subject.settings.policy: "the default policy"}
    for target in subject.settings.targets.values():
        if target.policy is not None:
            names.setdefault(target.policy, f"the policy of {target.name}")
    for name, role in names.items():
        try:
            policy = load_policy(name)
        except ExecKitError as error:
            yield "failed", f"{role} {name}: {error.message}", error.hint or "Run: execkit-mcp policy test " + name
        else:
            yield "ok", f"{role} {policy.ref.name} loads; its {len(policy.document.tests)} tests hold", ""


def _state(subject: Subject) -> Found:
    assert subject.settings is not None
    for folder in dict.fromkeys((subject.settings.state_dir, subject.settings.audit_dir)):
        path = Path(folder)
        try:
            facts = path.stat()
        except FileNotFoundError:
            yield "note", f"{path} is not there yet; the first session makes it.", ""
            continue
        yield from _modes(path, facts)
        yield from _database(path / "execkit.db")
        free_mb = shutil.disk_usage(path).free >> 20
        if free_mb < _FREE_MB:
            yield "warning", f"only {free_mb} MB are free at {path}", "Make room: if the record is full, nothing runs."


def _database(file: Path) -> Found:
    """Its first bytes; a whole reading is the queue's own."""
    if file.is_file() and file.stat().st_size:
        with file.open("rb") as opened:
            if opened.read(16) != b"SQLite format 3\0":
                hint = f"Move {file} away to begin with an empty one (open approvals are lost)."
                yield "failed", f"{file} is damaged: it is no database.", hint


def _modes(path: Path, facts: os.stat_result) -> Found:
    if facts.st_uid != os.geteuid():
        yield "failed", f"{path} belongs to user {facts.st_uid}.", "Name a folder of your own with --state-dir."
        return
    if facts.st_mode & _OTHERS_WRITE:
        mode = f"{stat.S_IMODE(facts.st_mode):04o}"
        yield "failed", f"{path} can be written by others ({mode}).", f"Look at what is in it, then: chmod 700 {path}"
        return
    open_files = []
    for file in path.iterdir():
        found = file.lstat()
        if stat.S_ISREG(found.st_mode) and (found.st_mode & _OTHERS_ANY or found.st_uid != os.geteuid()):
            open_files.append(file.name)
    if open_files:
        yield "failed", f"open to others in {path}: {', '.join(sorted(open_files))}", f"chmod 600 them in {path}"
    elif facts.st_mode & _OTHERS_ANY:
        yield "warning", f"{path} can be read by others.", f"chmod 700 {path}"
    else:
        yield "ok", f"{path} is private", ""


def _record(subject: Subject) -> Found:
    from execkit_mcp.audit.folder import verify_folder  # noqa: PLC0415 - each check loads what it needs

    assert subject.settings is not None
    folder = Path(subject.settings.audit_dir)
    names = os.listdir(folder) if folder.exists() else []  # noqa: PTH208 - glob() hides what keeps it from reading
    sizes = [(folder / name).stat().st_size for name in names if name.endswith(".jsonl")]
    if not sizes:
        yield "note", "nothing is on the record yet", ""
    elif sum(sizes) > _RECORD_BYTES:
        yield "note", f"the record holds {sum(sizes) >> 20} MB and was not read", "Check it: execkit-mcp audit verify"
    else:
        report = verify_folder(folder)
        if report.problem is not None:
            where = f"{report.problem.file}:{report.problem.line}"
            yield (
                "failed",
                f"the record is broken at {where}: {report.problem.message}",
                "Run: execkit-mcp audit verify",
            )
        else:
            yield "ok", f"the record is whole: {report.entries} entries", ""


def _redaction(subject: Subject) -> Found:
    import importlib.util  # noqa: PLC0415 - each check loads what it needs

    assert subject.settings is not None
    if importlib.util.find_spec("hyperscan") is None:
        yield "note", "redaction runs without its first stage: the same output, slower", "pip install hyperscan"
    elif list(Path(subject.settings.state_dir).glob("redaction-*.hs")):
        yield "ok", "redaction's first stage (vectorscan) is compiled", ""
    else:
        yield "ok", "redaction's first stage (vectorscan) is installed; the first server compiles it", ""
    for file in subject.settings.secret_files:
        if not os.access(file, os.R_OK):
            yield "failed", f"the file of secrets {file} cannot be read", "Mend `secrets: files:` in the configuration."
    for name in subject.settings.secret_env:
        if not os.environ.get(name):
            yield "note", f"the secret variable {name} is not set here", ""


def _held(fence: object) -> str:
    """A fence in one line: its level, what it is made of, what it leaves open."""
    if not isinstance(fence, dict):
        return str(fence)
    parts = [str(fence["level"]), f"exec gate {'on' if fence['exec_gate'] else 'off'}", f"network {fence['network']}"]
    if fence.get("mechanisms"):
        parts.append("by " + ", ".join(fence["mechanisms"]))
    if fence.get("holes"):
        parts.append("open: " + "; ".join(fence["holes"]))
    return " · ".join(parts)


def _targets(subject: Subject) -> Found:
    from execkit_mcp.runtime.targets import describe_targets  # noqa: PLC0415 - each check loads what it needs

    assert subject.settings is not None
    for row in describe_targets(subject.settings):
        name = f"{row['name']} ({row['transport']})"
        if not row["available"]:
            level: Level = "failed" if row["name"] == subject.settings.default_target else "warning"
            yield level, f"{name} cannot be opened: {row.get('reason', '')}", "Mend `targets:` in the configuration."
            continue
        fence = row["fence"]
        level = "note" if isinstance(fence, dict) and fence.get("level") == "none" else "ok"
        yield level, f"{name} is ready; fence: {_held(fence)}", ""


def _approvals(subject: Subject) -> Found:
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415 - each check loads what it needs
    from execkit_mcp.runtime.separation import separation  # noqa: PLC0415
    from execkit_mcp.runtime.targets import local_fence  # noqa: PLC0415

    assert subject.settings is not None
    if is_inside_a_session():
        yield (
            "failed",
            "this runs inside an execkit session; nobody may approve from here",
            "Use a terminal of your own.",
        )
    channels = ", ".join(subject.settings.approval_channels) or "none"
    if subject.settings.approval_channels:
        yield (
            "ok",
            f"a person is asked by: {channels}; unanswered after {subject.settings.approval_ttl_s:g} s: refused",
            "",
        )
    else:
        yield "warning", "no channel can ask a person: what a policy asks is refused", "Set approvals: channels:."
    levels: dict[str, Level] = {"ok": "ok", "note": "note", "weak": "warning"}
    for row in separation(subject.settings, fence=local_fence(subject.settings)):
        yield levels[row.level], f"{row.name}: {row.text}", row.remedy


def _servers(subject: Subject) -> Found:
    assert subject.settings is not None
    pids = sorted(_users_of(subject.settings.state_dir))
    if pids:
        listed = ", ".join(map(str, pids))
        yield "note", f"other processes use this state folder: {listed}. They share approvals and record.", ""
    else:
        yield "ok", "no other server uses this state folder", ""


def _users_of(folder: str) -> set[int]:
    """Processes of ours, other than this one, with a file of the folder open."""
    base = os.path.realpath(folder) + "/"
    found: set[int] = set()
    for process in Path("/proc").glob("[0-9]*/fd"):
        pid = int(process.parent.name)
        if pid == os.getpid():
            continue
        try:
            if any(str(each.readlink()).startswith(base) for each in process.iterdir()):
                found.add(pid)
        except OSError:  # not ours, or gone
            continue
    return found


def _clients(_subject: Subject) -> Found:
    from execkit_mcp.cli.clients import CLIENTS  # noqa: PLC0415 - each check loads what it needs
    from execkit_mcp.cli.clients.plan import state_of  # noqa: PLC0415

    connected = 0
    for client in CLIENTS:
        row = state_of(client, Path.cwd())
        command = row["command"]
        if row["problem"]:
            yield "warning", f"{client.title}: {row['problem']}", "Mend its configuration."
        elif isinstance(command, str) and not (os.access(command, os.X_OK) or shutil.which(command)):
            yield "warning", f"{client.title} starts {command}, which is gone.", f"Run: execkit-mcp setup {client.id}"
        elif row["configured"]:
            connected += 1
            yield "ok", f"{client.title} is connected{', its shell tool guarded' if row['hooks'] else ''}", ""
        elif row["installed"]:
            yield "note", f"{client.title} is here, not connected.", f"Connect it: execkit-mcp setup {client.id}"
    if not connected:
        yield "note", "no client is connected", "Connect one: execkit-mcp setup CLIENT"


CHECKS: Final[dict[str, Callable[[Subject], Found]]] = {
    "python": _python,
    "bash": _bash,
    "configuration": _configuration,
    "policy": _policy,
    "state": _state,
    "record": _record,
    "redaction": _redaction,
    "targets": _targets,
    "approvals": _approvals,
    "servers": _servers,
    "clients": _clients,
}
_WITHOUT_SETTINGS: Final = frozenset({"python", "bash", "configuration", "clients"})


def _fault(name: str, error: OSError | subprocess.SubprocessError) -> Finding:
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{os.fsdecode(error.filename)} cannot be used: {error.strerror}"
        remedy = f"Let user {os.geteuid()} use it, or name another place (--state-dir, --config)."
        return Finding(check=name, level="failed", message=message, remedy=remedy)
    return Finding(check=name, level="failed", message=str(error), remedy="Look at what it names.")


def examine(subject: Subject) -> list[Finding]:
    """Every finding, in the order of the table; a check that fails itself is a finding, and the others go on."""
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        if subject.settings is None and name not in _WITHOUT_SETTINGS:
            findings.append(Finding(check=name, level="note", message="not looked at: the configuration does not load"))
            continue
        try:
            findings += [Finding(check=name, level=each[0], message=each[1], remedy=each[2]) for each in check(subject)]
        except ExecKitError as error:
            remedy = error.hint or "Mend what it names, then run this again."
            findings.append(Finding(check=name, level="failed", message=error.message, remedy=remedy))
        except (OSError, subprocess.SubprocessError) as error:
            findings.append(_fault(name, error))
    return findings


def examine_target(name: str, config: str | None) -> list[Finding]:
    """The steps of opening a session on an ssh target; the first that fails ends them."""
    from execkit_mcp.runtime.targets import check_rows  # noqa: PLC0415 - loads asyncssh

    try:
        rows = check_rows(name, config=config)
    except ExecKitError as error:
        return [Finding(check=name, level="failed", message=error.message, remedy=error.hint)]
    return [
        Finding(
            check=name,
            level="ok" if row["ok"] else "failed",
            message=f"{row['step']}: {row['found']}",
            remedy=str(row["hint"]),
        )
        for row in rows
    ]
