"""The attack matrix against a live configuration: which classes of attack are open on this machine, under this policy.

The attacks do not pass the text gate. They run in a shell of their own, behind the very fence that a session would get,
as if somebody had talked past everything that reads text; what the exec gate would ask the policy is refused.
"""

import asyncio
import contextlib
import ctypes
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from execkit_mcp.config.settings import Settings
from execkit_mcp.config.settings_file import is_policy_file
from execkit_mcp.errors import ExecKitError, TransportUnavailable
from execkit_mcp.fence import probe as probing
from execkit_mcp.fence.attacks import ATTACKS, PYTHON_PREAMBLE, Attack
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.environment import session_environment
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.environment import session_variables
from execkit_mcp.runtime.fencing import plan_for
from execkit_mcp.runtime.programs import LocalPrograms
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

_TIMEOUT_S = 8.0
_SHARED = "/dev/shm"  # noqa: S108 - the folder itself
_KEY, _IPC_CREAT, _IPC_RMID = 0x45584B00 + os.getpid() % 256, 0o1000, 0
_libc = ctypes.CDLL(None, use_errno=True)
_UNLISTED = ("/usr/bin/factor", "/usr/bin/nl", "/usr/bin/hostid", "/usr/bin/tty", "/usr/bin/id", "/usr/bin/shred")
_ALLOWED = ("/usr/bin/true", "/usr/bin/ls", "/usr/bin/cat", "/usr/bin/head", "/usr/bin/grep")
_LIBRARIES = ("libz.so.1", "libtinfo.so.6", "libm.so.6")


class AttackRow(Struct, frozen=True, kw_only=True):
    """The outcome of one attack: ``closed``, ``open``, or ``untried`` with the reason."""

    id: str
    kind: str
    title: str
    outcome: str
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        """Its facts by name."""
        return {"id": self.id, "kind": self.kind, "title": self.title, "outcome": self.outcome, "detail": self.detail}


def attack(settings: Settings, policy: CompiledPolicy) -> list[AttackRow]:
    """Run every attack behind the fence of a local session; raises FenceUnavailable, TransportUnavailable."""
    plan = plan_for(settings, policy, environ=os.environ)
    return asyncio.run(attack_behind(plan, settings, policy))


async def attack_behind(plan: FencePlan | None, settings: Settings, policy: CompiledPolicy) -> list[AttackRow]:
    """Run every attack behind ``plan``; without one nothing is tried, because nothing would hold it."""
    if plan is None:
        return [_row(each, "open", "there is no fence") for each in ATTACKS]
    transport = LocalTransport()
    rows: list[AttackRow] = []
    try:
        with _prepared(settings, plan, policy) as facts:
            for each in ATTACKS:
                rows.append(await _try(each, plan, facts, transport, policy))  # noqa: PERF401 - one after the other
    finally:
        await transport.close()
    return rows


class _Site(Struct, frozen=True, kw_only=True):
    folder: Path
    variables: Mapping[str, str]
    datagrams: socket.socket


@contextlib.contextmanager
def _prepared(settings: Settings, plan: FencePlan, policy: CompiledPolicy) -> Iterator[_Site]:
    """The folder and the listeners that the attacks are about."""
    programs = set(plan.gate.programs) if plan.gate is not None else set()
    unlisted = next(
        (path for path in _UNLISTED if Path(path).exists() and os.path.realpath(path) not in programs), _UNLISTED[0]
    )
    allowed = next((path for path in _ALLOWED if os.path.realpath(path) in programs), _ALLOWED[0])
    try:
        folder = Path(tempfile.mkdtemp(prefix=".execkit-attack-", dir=settings.workspace))
    except OSError as error:
        raise TransportUnavailable(
            f"The attacks need a folder to work in, and none can be made in {settings.workspace}: {error.strerror}.",
            hint="Name another folder with --workspace.",
        ) from error
    listener, datagrams, abstract = (
        socket.socket(),
        socket.socket(type=socket.SOCK_DGRAM),
        socket.socket(socket.AF_UNIX),
    )
    ends = os.openpty()
    shared = Path(tempfile.mkstemp(prefix="execkit-attack-", dir=_SHARED)[1])
    memory = _system_v_memory()
    try:
        for name in ("copied", "wc"):
            shutil.copy("/bin/true", folder / name)
        (folder / "linked").symlink_to(unlisted)
        with contextlib.suppress(OSError):
            os.link(unlisted, folder / "hard")
        (folder / "script").write_text("#!/bin/sh\nexit 0\n")
        (folder / "own").write_text(f"#!{folder}/copied\n")
        for name in ("script", "own"):
            (folder / name).chmod(0o755)
        library = next((path for name in _LIBRARIES for path in Path("/usr/lib").glob(f"*/{name}")), None)
        if library is not None:
            shutil.copy(library, folder / "lib.so")
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        datagrams.setblocking(False)
        abstract.bind(f"\0execkit-attack-{port}")
        abstract.listen()
        terminal = os.fstat(ends[1])
        yield _Site(
            folder=folder,
            datagrams=datagrams,
            variables={
                "D": str(folder),
                "STATE": settings.state_dir,
                "CONFIG": " ".join(filter(None, (settings.config_file, policy.document.source, settings.policy))),
                "OWN": " ".join(
                    name for name in (settings.config_file, settings.policy) if name and is_policy_file(name)
                ),
                "PORT": str(port),
                "SERVER": str(os.getpid()),
                "TERMINAL": os.ttyname(ends[1]),
                "TERMINAL_AT": f"{terminal.st_dev}:{terminal.st_ino}",
                "SHARED": shared.name,
                "KEY": str(_KEY),
                "UNLISTED": unlisted,
                "ALLOWED": allowed,
                "LOADER": next(iter(probing.loaders()), "/lib64/ld-linux-x86-64.so.2"),
            },
        )
    finally:
        for each in (listener, datagrams, abstract):
            each.close()
        for fd in ends:
            os.close(fd)
        shared.unlink(missing_ok=True)
        _libc.shmctl(memory, _IPC_RMID, None)
        shutil.rmtree(folder, ignore_errors=True)


def _system_v_memory() -> int:
    """A segment that only our own user may open."""
    return int(_libc.shmget(_KEY, 4096, _IPC_CREAT | 0o600))


async def _try(
    each: Attack, plan: FencePlan, site: _Site, transport: LocalTransport, policy: CompiledPolicy
) -> AttackRow:
    """One attack in a fresh shell: it may well break it."""
    document = policy.document
    env = session_variables(folders=document.program_folders, forced=session_environment(document))
    variables = {**site.variables, "KEEPER": str(transport.keeper_pid or os.getpid())}
    entries, text = [], each.text
    if each.needs:
        path = LocalPrograms(document.program_folders, document.programs).locate(each.needs)
        if path is None:
            return _row(each, "untried", f"{each.needs} is not installed")
        real = LocalPrograms((), {}).resolve(path)
        if plan.gate is not None and not (plan.gate.is_open or real in plan.gate.programs):
            return _row(each, "closed", f"no rule names {each.needs}")
        if each.needs == "python3":
            script = site.folder / "attack.py"
            script.write_text(PYTHON_PREAMBLE + each.text + "\n")
            text = f"{path} $D/attack.py"
        entries.append({"real": real, "argv": ["$"], "trusted": each.needs == "python3"})
    said = bytearray()
    try:
        driver = await Driver.open(
            transport,
            env={**env, **variables},
            cwd=str(site.folder),
            clock=SystemClock(),
            entropy=SystemEntropy(),
            fence=plan,
        )
    except ExecKitError as error:
        return _row(each, "untried", error.message)
    try:
        if driver.gate is not None:
            driver.gate.judged(entries, keeps=False)
        await driver.run(text, sink=lambda _stream, data: said.extend(data), timeout_s=_TIMEOUT_S)
    except ExecKitError as error:
        return _row(each, "closed", error.message)
    finally:
        await driver.close()
    is_open = b"OPEN" in said
    if each.id in {"dev-udp", "udp"}:
        is_open = is_open and _has_arrived(site.datagrams)
    detail = "" if is_open else bytes(said).decode("utf-8", "replace").strip().splitlines()[-1:]
    return _row(each, "open" if is_open else "closed", detail[0][:160] if detail else "")


def _has_arrived(datagrams: socket.socket) -> bool:
    try:
        datagrams.recv(16)
    except BlockingIOError:
        return False
    return True


def _row(each: Attack, outcome: str, detail: str = "") -> AttackRow:
    return AttackRow(id=each.id, kind=each.kind, title=each.title, outcome=outcome, detail=detail)
