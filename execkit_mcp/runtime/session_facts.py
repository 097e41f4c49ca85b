"""What does not change while a session is open; this module is that noun."""

from msgspec import Struct

from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Fence
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.runtime.remote_programs import RemotePrograms

__all__ = ["SessionFacts"]


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What does not change while a session is open.

    Attributes:
        name: the session's name, unique for its owner.
        target: the declared target it runs on.
        transport: how bytes reach the shell.
        owner: who opened it; nobody else may use it.
        policy: what judges its commands.
        home: the home folder on the target.
        workspace: what ``${workspace}`` means.
        fence: what holds beneath the shell.
        narrowed_by: policies that must allow a command as well.
        plan: how; None: nothing does.
        cols: the terminal's width when the session was opened.
        rows: its height.
        locator: where programs are on another machine; None: on this one.
        run_as: the user there; ``""``: as we do.
        shell: what reads its commands.
        warnings: said in each of its results.
    """

    name: str
    target: str
    transport: str
    owner: str
    policy: CompiledPolicy
    home: str
    workspace: str
    fence: Fence
    narrowed_by: tuple[CompiledPolicy, ...] = ()
    plan: FencePlan | None = None
    cols: int = 120
    rows: int = 40
    locator: RemotePrograms | None = None
    run_as: str = ""
    shell: str = "bash"
    warnings: tuple[str, ...] = ()

    @property
    def policies(self) -> tuple[CompiledPolicy, ...]:
        """Every policy that must allow a command; the target's own first."""
        return (self.policy, *self.narrowed_by)
