"""Safe, persistent shell sessions for AI agents: an MCP server and an embeddable SDK.

    from execkit_mcp import create, Policy, Blocked

    with create(policy=Policy.default_deny(allow=["ls", "cat", "systemctl status"])) as s:
        r = s.exec("systemctl status api")      # ExecResult
        s.exec("rm -rf /var/lib")               # raises Blocked; .decision says why

``execkit_mcp.aio`` has the same names, awaited. Names are loaded when they are first used, so that importing this
package costs nothing.
"""

TYPE_CHECKING = False  # type checkers take it for true; loading typing would be a third of a hook's call
if TYPE_CHECKING:
    from execkit_mcp.errors import (
        ApprovalDenied,
        ApprovalExpired,
        ApprovalRequired,
        Blocked,
        ExecKitError,
    )
    from execkit_mcp.model import Decision, ExecResult, Fence, Status, Verdict
    from execkit_mcp.runtime.sdk_policy import Policy
    from execkit_mcp.sync import Session, create

    __version__: str

_HOME = {
    "ApprovalDenied": "errors",
    "ApprovalExpired": "errors",
    "ApprovalRequired": "errors",
    "Blocked": "errors",
    "Decision": "model",
    "ExecKitError": "errors",
    "ExecResult": "model",
    "Fence": "model",
    "Policy": "runtime.sdk_policy",
    "Session": "sync",
    "Status": "model",
    "Verdict": "model",
    "create": "sync",
}

__all__ = [
    "ApprovalDenied",
    "ApprovalExpired",
    "ApprovalRequired",
    "Blocked",
    "Decision",
    "ExecKitError",
    "ExecResult",
    "Fence",
    "Policy",
    "Session",
    "Status",
    "Verdict",
    "__version__",
    "create",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - only when a name is asked for

    if name == "__version__":
        return import_module(f"{__name__}.model.version").VERSION
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
