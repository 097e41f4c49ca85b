"""What can be opened, with what it can do and what would hold there."""

import asyncio
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from execkit_mcp.config.settings import Settings, TargetSettings, load_settings
from execkit_mcp.errors import ExecKitError, TransportUnknown
from execkit_mcp.model import Fence
from execkit_mcp.runtime.fencing import described
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.remote import insecure_warnings, ssh_options
from execkit_mcp.transports.registry import STREAMED, create_transport

if TYPE_CHECKING:
    from execkit_mcp.transports.ssh.check import Offered
    from execkit_mcp.transports.ssh.target import SshTarget


def describe_targets(settings: Settings) -> list[dict[str, object]]:
    """One row a declared target: name, transport, policy, available or why not, capabilities, fence."""
    rows: list[dict[str, object]] = []
    for name, target in settings.targets.items():
        row: dict[str, object] = {
            "name": name,
            "transport": target.transport,
            "policy": target.policy or settings.policy,
            "available": True,
            "capabilities": [],
            "fence": _fence(settings, target.policy or settings.policy, target.transport),
        }
        if target.transport in STREAMED:
            row["capabilities"] = sorted(STREAMED[target.transport])
            row["address"] = _address(target)
            warnings = insecure_warnings(target)
            if warnings:
                row["warnings"] = list(warnings)
            rows.append(row)
            continue
        try:
            row["capabilities"] = sorted(create_transport(target.transport).check())
        except ExecKitError as error:
            row["available"] = False
            row["reason"] = f"{error.message} {error.hint}".strip()
        rows.append(row)
    return rows


def _address(target: TargetSettings) -> str:
    """``[user@]host[:port]`` as it was declared."""
    options = target.options
    user = f"{options['user']}@" if "user" in options else ""
    port = f":{options['port']}" if "port" in target.stated else ""
    return f"{user}{options.get('host', target.name)}{port}"


def _ssh_target(name: str, config: str | None, given: Mapping[str, TargetSettings]) -> "SshTarget":
    """The ssh target of that name, declared or ``given``; raises TransportUnknown."""
    from execkit_mcp.transports.ssh.target import target_from  # noqa: PLC0415 - loads asyncssh

    settings = load_settings(config=config)
    target = given.get(name) or settings.targets.get(name)
    if target is None or target.transport != "ssh":
        declared = ", ".join(sorted(each.name for each in settings.targets.values() if each.transport == "ssh"))
        raise TransportUnknown(
            f"No ssh target {name!r} is declared.",
            hint=f"Declared: {declared}." if declared else "Declare one under `targets:` in the configuration.",
        )
    return target_from(name, ssh_options(target))


def check_rows(
    name: str, *, config: str | None = None, given: Mapping[str, TargetSettings] = MappingProxyType({})
) -> list[dict[str, object]]:
    """The steps of opening a session on an ssh target, as rows of ``step ok found hint``; raises TransportUnknown."""
    from execkit_mcp.transports.ssh.check import check_target  # noqa: PLC0415 - loads asyncssh

    target = _ssh_target(name, config, given)

    async def go() -> list[dict[str, object]]:
        return [row.to_json() for row in await check_target(target, os.environ)]

    return [*asyncio.run(go()), _policy_row(name, config, given)]


def _policy_row(name: str, config: str | None, given: Mapping[str, TargetSettings]) -> dict[str, object]:
    settings = load_settings(config=config)
    target = given.get(name) or settings.targets[name]
    policy = target.policy or settings.policy
    row: dict[str, object] = {"step": "policy", "ok": True, "found": f"{policy} loads", "hint": ""}
    try:
        load_policy(policy)
    except ExecKitError as error:
        row |= {"ok": False, "found": error.message, "hint": error.hint}
    return row


def offered(
    name: str, *, config: str | None = None, given: Mapping[str, TargetSettings] = MappingProxyType({})
) -> "Offered | None":
    """The key of an ssh target's host that nobody has trusted yet; None if it is known. Raises TransportError."""
    from execkit_mcp.transports.ssh.check import offered_key  # noqa: PLC0415 - loads asyncssh

    return asyncio.run(offered_key(_ssh_target(name, config, given), os.environ))


def _fence(settings: Settings, policy: str, transport: str) -> dict[str, object]:
    """What would hold there; where that cannot be said, none does."""
    try:
        return described(settings, load_policy(policy), transport=transport).to_json()
    except ExecKitError:
        return Fence().to_json()


def local_fence(settings: Settings) -> Fence:
    """What holds beneath local sessions: the least of it, where there are several local targets."""
    rows = [row for row in describe_targets(settings) if row["transport"] == "local" and row["available"]]
    levels = [str(fence["level"]) for row in rows if isinstance(fence := row["fence"], dict)]
    return Fence() if not levels or "none" in levels else Fence(level=levels[0])
