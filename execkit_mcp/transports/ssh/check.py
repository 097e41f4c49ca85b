"""What stands between us and a session on a target, step by step; this module is what ``targets check`` prints.

Each step is a row: name, passed or not, what was found, what to do. The first that fails ends the list.
"""

import time
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from execkit_mcp.errors import ConnectFailed, ExecKitError, HostKeyMismatch, HostKeyUnknown
from execkit_mcp.transports.base import ShellPlan
from execkit_mcp.transports.ssh.connect import connect
from execkit_mcp.transports.ssh.hostkeys import HostKeys, fingerprint_of
from execkit_mcp.transports.ssh.place import place_of
from execkit_mcp.transports.ssh.probe import HostFacts, lacks_for_terminal
from execkit_mcp.transports.ssh.target import SshTarget
from execkit_mcp.transports.ssh.transport import SshTransport

__all__ = ["CheckRow", "Offered", "check_target", "offered_key"]

_PINGS: Final = 5


class CheckRow(Struct, frozen=True, kw_only=True):
    """One step."""

    step: str
    is_ok: bool
    found: str
    hint: str = ""

    def to_json(self) -> dict[str, object]:
        """The row by name."""
        return {"step": self.step, "ok": self.is_ok, "found": self.found, "hint": self.hint}


class Offered(Struct, frozen=True, kw_only=True):
    """A key that is not trusted yet: whose, its fingerprint, the file that would hold it, the key in one line."""

    keys: HostKeys
    fingerprint: str
    kind: str
    path: str


async def check_target(target: SshTarget, environ: Mapping[str, str]) -> list[CheckRow]:
    """Go through the steps of opening a session; raises nothing."""
    rows: list[CheckRow] = []
    transport = SshTransport(target, environ)
    step = "configuration"
    try:
        place = place_of(target)
        via = f" through {', '.join(place.jumps)}" if place.jumps else ""
        rows.append(CheckRow(step=step, is_ok=True, found=f"{place.address}{via}"))
        step = "connection"
        begun = time.perf_counter()
        host = await transport.ready()
        took_ms = (time.perf_counter() - begun) * 1e3
        rows.append(CheckRow(step="reachable", is_ok=True, found=f"in {took_ms:.0f} ms, with login"))
        rows.append(CheckRow(step="host key", is_ok=True, found=transport.fingerprint))
        rows.append(CheckRow(step="authentication", is_ok=True, found=f"as {host.user} (uid {host.uid})"))
        step = "shell"
        channel = await transport.open(ShellPlan(env={"PATH": "/usr/bin:/bin"}, cwd=host.home))
        await channel.close()
        rows.append(CheckRow(step=step, is_ok=True, found=_told_shell(host)))
        lacks = lacks_for_terminal(host)
        made = f"none: {lacks}" if lacks else f"made by {host.python} when a command asks for one (tty)"
        rows.append(CheckRow(step="terminal", is_ok=True, found=made))
        step = "latency"
        times: list[float] = []
        for _ in range(_PINGS):
            begun = time.perf_counter()
            await transport.ask([":"])
            times.append((time.perf_counter() - begun) * 1e3)
        rows.append(CheckRow(step=step, is_ok=True, found=f"{sorted(times)[_PINGS // 2]:.1f} ms a round trip"))
        could = f"python3, and of the kernel {host.lsm or 'nothing that can be read'}" if host.python else "no python3"
        asked = "off (auto asks for one)" if target.fence == "off" else target.fence
        rows.append(CheckRow(step="fence", is_ok=True, found=f"fence: {asked}; the host has {could}"))
    except ExecKitError as error:
        rows.append(CheckRow(step=_step_of(error, step), is_ok=False, found=error.message, hint=error.hint))
    finally:
        await transport.aclose()
    return rows


def _told_shell(host: HostFacts) -> str:
    what = f"{host.shell} {host.shell_version}".rstrip()
    less = "" if host.shell == "bash" else " (only what it reads as bash does can be run)"
    return f"{what} at {host.shell_path.split()[0]}{less}, {host.system}"


def _step_of(error: ExecKitError, step: str) -> str:
    names = {
        "transport.host_key_unknown": "host key",
        "transport.host_key_mismatch": "host key",
        "transport.auth_failed": "authentication",
        "transport.connect_failed": "reachable",
        "transport.capability_missing": "shell",
    }
    return names.get(error.code, step)


async def offered_key(target: SshTarget, environ: Mapping[str, str]) -> Offered | None:
    """The key that the first unknown host on the way shows; None if all are known.

    Raises:
        HostKeyMismatch: a host shows another key than the one that is known.
        TransportError: a host cannot be reached.
    """
    asked: list[HostKeys] = []
    try:
        connected = await connect(target, environ, asked.append)
    except HostKeyUnknown:
        keys = asked[-1]
        if keys.seen is None:
            raise ConnectFailed("The host showed no key.") from None
        return Offered(
            keys=keys,
            fingerprint=fingerprint_of(keys.seen),
            kind=keys.seen.get_algorithm(),
            path=keys.paths[0] if keys.paths else "~/.ssh/known_hosts",
        )
    except HostKeyMismatch:
        raise
    except ExecKitError:
        if asked and asked[-1].seen is not None:  # its key is known; what failed comes after it
            return None
        raise
    for connection in (connected.connection, *reversed(connected.hops)):
        connection.close()
        await connection.wait_closed()
    return None
