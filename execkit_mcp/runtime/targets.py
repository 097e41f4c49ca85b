"""What can be opened, with what it can do and what would hold there."""

from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Fence
from execkit_mcp.transports.registry import create_transport


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
            "fence": Fence().to_json(),
        }
        try:
            row["capabilities"] = sorted(create_transport(target.transport).check())
        except ExecKitError as error:
            row["available"] = False
            row["reason"] = f"{error.message} {error.hint}".strip()
        rows.append(row)
    return rows
