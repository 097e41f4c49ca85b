"""How one command ended, as the shell's side knows it; this module is that noun."""

from collections.abc import Mapping

from msgspec import Struct

from execkit_mcp.protocol.dialects.bash_env import EnvDelta

__all__ = ["Completion"]


class Completion(Struct, frozen=True, kw_only=True):
    """The end of one command.

    Attributes:
        exit_code: 0-255, 128+n after signal n; None when nobody knows.
        signal: POSIX name of the signal that ended or stopped it.
        cwd: the shell's folder afterwards.
        pipe_status: exit codes of the parts of a pipeline, when there were several.
        is_timed_out: its time was up and it was interrupted.
        is_cancelled: the caller interrupted it.
        interrupted_with: the signals that were used for that, in order.
        is_shell_replaced: the shell ended and another one took its place.
        is_state_restored: variables, functions, options and folder were carried over to it.
        is_lost: the shell is gone and none took its place.
        stopped_job: what the shell calls the job that stopped itself.
        background_pids: processes that this command left below the shell.
        duration_ms: milliseconds from sending to knowing.
        warnings: sentences for the caller.
        limit: the limit that ended it, by its name in the settings or the policy.
        env_delta: what it did to the exported variables, if that was asked and the same shell could say.
        env: the exported variables afterwards, on the same terms.
        variables: all of its variables afterwards, on the same terms.
    """

    exit_code: int | None
    signal: str | None = None
    cwd: str = ""
    pipe_status: tuple[int, ...] = ()
    is_timed_out: bool = False
    is_cancelled: bool = False
    interrupted_with: tuple[str, ...] = ()
    is_shell_replaced: bool = False
    is_state_restored: bool = False
    is_lost: bool = False
    stopped_job: str | None = None
    background_pids: tuple[int, ...] = ()
    duration_ms: float = 0.0
    warnings: tuple[str, ...] = ()
    limit: str = ""
    env_delta: EnvDelta | None = None
    env: Mapping[str, str] | None = None
    variables: Mapping[str, str] | None = None
