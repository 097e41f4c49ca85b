"""What a fence is made of, decided before the shell starts: this module is the plan that the child carries out."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

__all__ = ["FencePlan", "GatePlan", "LandlockPlan", "MountOp", "SeccompPlan"]


class MountOp(Struct, frozen=True, kw_only=True):
    """One operation on the file tree; see ``mounts``.

    ``op``: bind attr hide hide_named tmpfs overlay proc mkdir file symlink pivot. ``options``: rec ro rw noexec exec
    nosuid nodev; of ``hide_named`` the two expressions of ``refused_names``, and ``data`` is what is known to have stood
    there (``refused_names.Known``), divided by NUL: who can write there could hide it from a later look, which is bounded.
    """

    op: str
    target: str
    source: str = ""
    options: tuple[str, ...] = ()
    data: str = ""


class LandlockPlan(Struct, frozen=True, kw_only=True):
    """Paths with the letters of their rights (``landlock``), TCP ports to connect to and to bind (None: all), scopes."""

    paths: tuple[tuple[str, str], ...]
    tcp: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    scopes: tuple[str, ...] = ("signal", "abstract")


class SeccompPlan(Struct, frozen=True, kw_only=True):
    """Groups of calls that are closed, socket families that are open, calls that the gate answers (``seccomp``)."""

    groups: tuple[str, ...]
    families: tuple[str, ...] = ("unix", "inet", "netlink")
    notify: tuple[str, ...] = ()


class GatePlan(Struct, frozen=True, kw_only=True):
    """What the exec gate knows of the policy; see ``exec_rules``.

    Attributes:
        shell: the file of the session's shell.
        loaders: dynamic loaders, which are never run by name.
        writable: folders that the session can write.
        writable_exec: whether what a rule vouches for may run files that the session can write.
        asks_unknown: whether the policy asks about what no rule covers.
        is_open: whether what a rule vouches for may run any other program.
        programs: the files that rules name.
        runs: names of what the tools that rules vouch for run.
        asked: names that an ask rule is about and no allow rule.
        denied: names that a deny rule is about; denied_patterns: the same with globs.
    """

    shell: str
    loaders: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    writable_exec: bool = False
    asks_unknown: bool = False
    is_open: bool = False
    programs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    denied_patterns: tuple[str, ...] = ()


class FencePlan(Struct, frozen=True, kw_only=True):
    """One shell's fence.

    Attributes:
        level: ``process`` or ``namespaces``.
        network: ``open``, ``filtered`` or ``none``.
        unshare: new namespaces, of ``user mount pid net ipc uts``.
        mounts: what is done in the new mount namespace, in order.
        listeners: ports of the new network namespace's loopback that are served from outside.
        holes: what it does not hold, in words.
    """

    level: str
    network: str = "open"
    unshare: tuple[str, ...] = ()
    mounts: tuple[MountOp, ...] = ()
    listeners: tuple[int, ...] = ()
    landlock: LandlockPlan | None = None
    seccomp: SeccompPlan | None = None
    drops_capabilities: bool = True
    rlimits: Mapping[str, int] = field(default_factory=dict)
    gate: GatePlan | None = None
    holes: tuple[str, ...] = ()

    def with_path(self, path: str, letters: str) -> "FencePlan":
        """The same plan, and one more path."""
        if self.landlock is None:
            return self
        return replace(self, landlock=replace(self.landlock, paths=(*self.landlock.paths, (path, letters))))

    def without_gate(self) -> "FencePlan":
        """The same for a process that nobody supervises: no gate, and none of the namespaces that need one."""
        calls = self.seccomp
        return replace(
            self,
            gate=None,
            listeners=(),
            seccomp=None if calls is None else replace(calls, notify=()),
            unshare=tuple(name for name in self.unshare if name != "pid"),
            mounts=tuple(each for each in self.mounts if each.op != "proc"),
            holes=(
                "no exec gate: what an allowed program starts is held by Landlock's list of files alone",
                *self.holes,
            ),
        )

    def with_folder(self, path: str) -> "FencePlan":
        """The same plan, and one more folder of the host to read and write, seen in a root of its own as well."""
        found = self.with_path(path, "rlw")
        pivots = [each.target for each in self.mounts if each.op == "pivot"]
        if not pivots:
            return found
        root = pivots[0]
        seals = [at for at, each in enumerate(self.mounts) if each.target == root and each.op in {"attr", "pivot"}]
        shown = (
            MountOp(op="mkdir", target=root + path),
            MountOp(op="bind", target=root + path, source=path, options=("nosuid", "nodev", "noexec")),
        )
        return replace(found, mounts=(*self.mounts[: seals[0]], *shown, *self.mounts[seals[0] :]))

    def to_spec(self) -> dict[str, object]:
        """Plain values, as the keeper reads them."""
        built = msgspec.to_builtins(self)
        assert isinstance(built, dict)
        return built
