"""From a policy to the fence that holds the same line: this module is that derivation.

Pure but for ``Host``, through which it asks which files there are. What the policy leaves to a person (``ask``) is not
let through the fence beforehand: an approved command whose effects lie outside of it runs in a shell of its own
(``runtime/outside``), and its result says so.
Over 400 lines: one derivation, read top to bottom.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from execkit_mcp.fence import tools
from execkit_mcp.fence.host import Host, below
from execkit_mcp.fence.plan import FencePlan, GatePlan, LandlockPlan, MountOp, SeccompPlan
from execkit_mcp.fence.probe import Probe
from execkit_mcp.fence.seccomp import GROUPS
from execkit_mcp.model import Verdict
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.compile import CompiledElement, RuleBook
from execkit_mcp.policy.egress import listeners
from execkit_mcp.policy.paths import anywhere

__all__ = ["Place", "derive"]

_SHELL = "/bin/bash"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_KERNEL_FOLDERS = frozenset({"dev", "proc", "sys"})
_RUNTIME_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime",
    "/etc/timezone", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/alternatives", "/etc/terminfo", "/etc/inputrc", "/etc/locale.alias",
    "/etc/mime.types", "/etc/magic", "/etc/services", "/etc/protocols", "/etc/os-release", "/etc/debian_version", "/etc/gitconfig",
)  # fmt: skip
_RUNTIME_FOLDERS = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt")
_INTERPRETERS = ("/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/awk")
_HELPER_FOLDERS = {
    "git": ("/usr/lib/git-core", "/usr/libexec/git-core"),
    "man": ("/usr/lib/man-db", "/usr/libexec/man-db"),
    "docker": ("/usr/libexec/docker", "/usr/lib/docker"),
    "apt": ("/usr/lib/apt", "/usr/lib/dpkg"),
    "npm": ("/usr/local/lib/node_modules", "/usr/share/nodejs", "/usr/lib/node_modules"),
}
_SHARED_MEMORY = "/dev/shm"
_MACHINE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix", "/snap")
_SERVICE_SOCKETS = (
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/systemd/private",
    "/run/snapd.socket",
)
# Whoever can speak to these has programs started outside of every fence, or types on somebody's screen.
_CONTROLS = (
    "/run/user/{user}/bus", "/run/user/{user}/systemd", "/run/user/{user}/vscode-*", "/run/systemd/private", "/run/screen",
    "/tmp/tmux-{user}", "/tmp/.X11-unix", "/tmp/ssh-*", "/run/user/{user}/wayland-*", "/run/user/{user}/gnupg",
)  # fmt: skip
_CONTROLS_OF_ROOT = ("/run/dbus/system_bus_socket",)  # everybody else is asked by its services who he is
_FOUND_AT_MOST = 400


class Place(Struct, frozen=True, kw_only=True):
    """Where the session stands: folders, and what of ours must not be seen inside.

    ``user`` is the id that the session runs as; ``temporary`` is where programs keep what they need for a moment, unless the policy lets them write to ``/tmp``.
    """

    home: str
    workspace: str
    temporary: str = ""
    hidden: tuple[str, ...] = ()
    user: int = 0


class _Facts:
    """What a policy grants, as far as the kernel needs to know."""

    def __init__(self, policy: CompiledPolicy, place: Place, host: Host) -> None:
        self.document = policy.document
        self.place = place
        self.host = host
        allowed, asked = list(_every(policy.book, Verdict.ALLOW)), list(_every(policy.book, Verdict.ASK))
        self.named = [*allowed, *asked]
        self.vouched = [each for each in allowed if each.grants.is_trusted and each.rule.require is None]
        self.trusted = {
            _base(each.element.program)
            for each in self.named
            if each.grants.is_trusted and _is_full(each) and not _only_tells(each)  # `go version` builds nothing
        }
        self.allowed_names = {_base(each.element.program) for each in allowed if _is_full(each)}
        self.names = {_base(each.element.program) for each in self.named}
        self.asks_unknown = self.document.defaults.decision is Verdict.ASK
        self.builds = bool(self.trusted & tools.BUILDS)
        self.asked_names = {_base(each.element.program) for each in asked} - self.allowed_names
        denies = list(_every(policy.book, Verdict.DENY))
        self.denied = tuple(sorted({_base(each.element.program) for each in denies if "*" not in each.element.program}))
        self.denied_patterns = tuple(
            sorted({_base(each.element.program) for each in denies if "*" in each.element.program})
        )

    @property
    def writable_exec(self) -> bool:
        """Whether a rule says that files of the workspace may run."""
        return (
            self.builds
            or self.asks_unknown
            or any(
                below(self.expanded(each.element.program), self.writes())
                for each in self.named
                if "/" in each.element.program
            )
        )

    def looked_at(self) -> tuple[str, ...]:
        """The workspace, where it may not be written and none of its files may run: what came with it is no code either.

        Not one that holds, or lies in, what the machine itself runs.
        """
        place = self.host.real(self.place.workspace)
        if self.host.kind(place) != "folder" or below(place, (*self.writes(), *_MACHINE)):
            return ()
        named = [self.expanded(each.element.program) for each in self.named if "/" in each.element.program]
        is_needed = any(below(each, (place,)) for each in (*_MACHINE, *named, *self.programs()))
        return () if is_needed else (place,)

    @property
    def network(self) -> str:
        """``filtered`` where the policy lists hosts, ``open`` where it vouches for what no proxy passes on, or ``none``."""
        if self.document.network.allow:
            return "filtered"
        is_raw = any(_base(each.element.program) in tools.RAW_NETWORK for each in self.vouched)
        return "open" if is_raw else "none"

    @property
    def lives_alone(self) -> bool:
        """Whether a network of its own suits the session: it builds and tests, or reaches listed hosts, or looks at none.

        Who operates a host looks at the host's network; there the socket families are closed instead.
        """
        is_worker = self.builds or self.asks_unknown or bool(self.document.network.allow)
        return is_worker or not self.allowed_names & tools.NETWORK_OBSERVERS

    @property
    def shared_memory(self) -> str:
        """The folder of shared memory that is the session's own; none where its workspace or state lies in there."""
        places = (self.place.workspace, self.place.home, self.place.temporary, *self.place.hidden)
        is_used = any(below(self.host.real(path), (_SHARED_MEMORY,)) for path in places if path)
        return "" if is_used or self.host.kind(_SHARED_MEMORY) != "folder" else _SHARED_MEMORY

    def expanded(self, pattern: str) -> str:
        """A pattern with the session's own folders in it."""
        text = pattern.replace("${workspace}", self.place.workspace)
        return self.place.home + text[1:] if text == "~" or text.startswith("~/") else text

    def writes(self) -> tuple[str, ...]:
        """The folders and files that may be written, links followed."""
        found: list[str] = []
        for pattern in self.document.paths.write or ():
            head = _literal_head(self.expanded(pattern))
            if head and head != "/":
                found.append(self.host.real(head))
        own = (self.place.temporary, self.shared_memory)
        found += [path for path in own if path and self.host.kind(path)]
        if self.builds or self.asks_unknown:
            found += [path for each in tools.CACHES if self.host.kind(path := f"{self.place.home}/{each}")]
        return tuple(dict.fromkeys(found))

    def programs(self) -> tuple[str, ...]:
        """The files of every program that a rule allows or asks about, links followed."""
        folders = self.document.program_folders
        found: set[str] = set()
        for each in self.named:
            name = each.element.program
            if "/" in name:
                found.update(self.host.matching(self.expanded(name)))
            elif name in self.document.programs:
                found.add(self.document.programs[name])
            elif "*" in name or "?" in name:
                for folder in folders:
                    found.update(self.host.matching(f"{folder}/{name}"))
            else:
                found.update(f"{folder}/{name}" for folder in folders)
        return tuple(sorted({self.host.real(path) for path in found if self.host.kind(path) == "file"}))

    def hidden(self) -> tuple[str, ...]:
        """What must not be seen: our own folders, and the refused paths that are there."""
        found: list[str] = [self.host.real(path) for path in self.place.hidden if self.host.kind(path)]
        used = {self.expanded(path) for name in self.allowed_names for path in tools.CREDENTIALS.get(name, ())}
        for pattern in self.document.paths.never:
            text = self.expanded(pattern).removesuffix("/**")
            if "**" in text or text.startswith(("/proc", "/dev")) or self._is_own_home(text):
                continue
            found += [real for path in self.host.matching(text) if not below(real := self.host.real(path), used)]
        found += [
            path
            for path in _SERVICE_SOCKETS
            if self.host.kind(path) and not below(path, used) and not (self.asks_unknown or "systemctl" in self.names)
        ]
        if self.builds or self.asks_unknown:  # what the workspace holds runs here, and these run what they are told
            user = self.place.user
            own = tuple(each.format(user=user) for each in (*_CONTROLS, *(_CONTROLS_OF_ROOT if user == 0 else ())))
            found += [self.host.real(path) for each in own for path in self.host.matching(each)]
        kept: list[str] = []
        for path in sorted(dict.fromkeys(found)):
            if not below(path, kept) and not below(self.place.workspace, (path,)):
                kept.append(path)
        return tuple(kept[:_FOUND_AT_MOST])

    def refused_anywhere(self) -> tuple[str, str] | None:
        """What the policy refuses by name at any depth, as ``refused_names`` wants it."""
        used = {path for name in self.allowed_names for path in tools.CREDENTIALS.get(name, ())}
        refused = tuple(pattern for pattern in self.document.paths.never if pattern not in used)
        return anywhere(refused, self.place.home, self.place.workspace)

    def _is_own_home(self, text: str) -> bool:
        return below(self.place.home, (text,)) or below(self.place.workspace, (text,))


def derive(
    policy: CompiledPolicy, *, level: str, place: Place, probe: Probe, host: Host, loaders: Sequence[str] = ()
) -> FencePlan | None:
    """The plan of a session's fence; None where there is none (``level`` none)."""
    if level == "none":
        return None
    facts = _Facts(policy, place, host)
    has_mounts = "mount" in probe.has and (probe.is_root or "user" in probe.has)
    has_gate = "exec_gate" in probe.has
    writes = facts.writes()
    programs = facts.programs()
    has_net = "net" in probe.has and has_mounts and (level == "namespaces" or facts.lives_alone)
    network = "open" if facts.network == "filtered" and not has_net else facts.network
    unshare = _unshared(level, probe, has_mounts=has_mounts, has_net=has_net and network != "open")
    hidden = facts.hidden()
    shell = host.real(_SHELL)
    binds_noexec = has_mounts and not facts.writable_exec
    gate = (
        GatePlan(
            shell=shell,
            loaders=tuple(loaders),
            writable=writes,
            writable_exec=facts.writable_exec,
            asks_unknown=facts.asks_unknown,
            is_open=facts.asks_unknown,
            programs=programs,
            runs=tuple(sorted(tools.RUNS)) if facts.builds else (),
            asked=tuple(sorted(facts.asked_names)),
            denied=facts.denied,
            denied_patterns=facts.denied_patterns,
        )
        if has_gate
        else None
    )
    limits = {"core": 0}
    if facts.document.limits.processes is not None and not probe.is_root:
        limits["processes"] = facts.document.limits.processes
    return FencePlan(
        level=level,
        network=network,
        unshare=unshare,
        mounts=tuple(_mounts(facts, level, hidden, writes, noexec=binds_noexec)) if has_mounts else (),
        landlock=LandlockPlan(
            paths=tuple(_landlock(facts, writes, programs, (*loaders, shell), () if has_mounts else hidden)),
            tcp=((), ()) if network == "none" and "net" not in unshare else None,
        ),
        seccomp=SeccompPlan(
            groups=tuple(GROUPS),
            families=("unix", "netlink") if network == "none" and "net" not in unshare else ("unix", "inet", "netlink"),
            notify=() if not has_gate else ("execve",) if binds_noexec else ("execve", "mmap"),
        ),
        listeners=listeners(policy.document.network) if "net" in unshare else (),
        rlimits=limits,
        gate=gate,
        holes=tuple(
            _holes(facts, probe, hidden, writes, has_mounts=has_mounts, has_gate=has_gate, network=network, level=level)
        ),
    )


def _unshared(level: str, probe: Probe, *, has_mounts: bool, has_net: bool) -> tuple[str, ...]:
    names: list[str] = [] if probe.is_root else ["user"]
    if level == "namespaces":
        names += ["mount", "pid", "ipc", "uts"]
    elif has_mounts:
        names += ["mount", *(["ipc"] if "ipc" in probe.has else [])]
    else:
        return ()
    return (*names, "net") if has_net else tuple(names)


def _mounts(
    facts: _Facts, level: str, hidden: tuple[str, ...], writes: tuple[str, ...], *, noexec: bool
) -> Iterator[MountOp]:
    looked_at = facts.looked_at() if noexec else ()
    if level == "namespaces":
        folders = [path for path in writes if facts.host.kind(path) == "folder"]
        for path in (*folders, *looked_at):
            yield MountOp(op="bind", target=path, options=("rec",))
        yield MountOp(op="attr", target="/", options=("rec", "ro", "nosuid"))
        for path in folders:
            yield MountOp(op="attr", target=path, options=("rw", "nodev", "noexec") if noexec else ("rw", "nodev"))
        yield from (MountOp(op="attr", target=path, options=("ro", "nodev", "noexec")) for path in looked_at)
        yield MountOp(op="attr", target="/dev", options=("rw",))
        yield MountOp(op="attr", target="/dev/pts", options=("rw",))
        yield MountOp(op="proc", target="/proc", options=("noexec",))
    elif noexec:
        for path in (*writes, *looked_at):
            if facts.host.kind(path) == "folder":
                yield MountOp(op="bind", target=path, options=("rec", "noexec", "nosuid", "nodev"))
    if facts.shared_memory:
        yield MountOp(op="tmpfs", target=facts.shared_memory, data="mode=1777", options=("noexec",) if noexec else ())
    for path in hidden:
        yield MountOp(op="hide", target=path)
    if (expressions := facts.refused_anywhere()) is not None:
        yield MountOp(op="hide_named", target=facts.place.workspace, options=expressions)


def _landlock(
    facts: _Facts, writes: tuple[str, ...], programs: tuple[str, ...], always: tuple[str, ...], hidden: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    host = facts.host
    yield "/", "l"
    yield from ((f"/dev/{name}", "rwil" if name == "pts" else "rwi") for name in _DEVICES)
    yield "/dev/fd", "rl"
    yield "/proc", "rl"
    yield "/sys", "rl"
    run = "x" if facts.asks_unknown else ""
    if facts.document.paths.read is None:
        tops = (f"/{name}" for name in host.names("/") if name not in _KERNEL_FOLDERS)
        for path in (*tops, facts.place.workspace):  # which may lie in /dev/shm
            yield from _around(path, hidden, writes, host, "rl" + run)
    else:
        yield from ((path, "rl" + run) for path in (*_RUNTIME_FOLDERS, *_RUNTIME_FILES))
        yield from ((prefix, "rl" + run) for prefix in _prefixes(programs, host))
        for pattern in facts.document.paths.read:
            head = _literal_head(facts.expanded(pattern))
            if head and head.strip("/") and not head.startswith(("/proc", "/sys", "/dev")):
                yield from _around(head, hidden, writes, host, "rl")
    for path in writes:
        yield path, "rlw" + ("x" if facts.writable_exec else "")
    if not facts.asks_unknown:
        yield from ((path, "rx") for path in _executables(facts, programs, always))


def _executables(facts: _Facts, programs: tuple[str, ...], always: tuple[str, ...]) -> Iterator[str]:
    """Files, and folders of helpers, that may be executed where the policy says which programs there are."""
    host = facts.host
    yield from programs
    yield from always
    for name, folders in _HELPER_FOLDERS.items():
        if name in facts.names:
            yield from folders
    for path in programs:
        if interpreter := host.interpreter(path):
            yield host.real(interpreter)
            yield from (host.real(each) for each in _INTERPRETERS)
    if facts.builds:
        yield from (
            real
            for folder in facts.document.program_folders
            for name in host.names(folder)
            if name in tools.RUNS
            for real in (host.real(f"{folder}/{name}"),)
        )
        yield from (
            "/usr/lib/gcc",
            "/usr/libexec/gcc",
            "/usr/lib/go",
            "/usr/local/go",
            "/usr/lib/git-core",
            "/usr/lib/llvm-14",
        )
        yield from (
            f"{facts.place.home}/{each}" for each in (".cargo/bin", ".rustup/toolchains", ".nvm", ".pyenv", "go/bin")
        )
    else:
        from execkit_mcp.fence.exec_rules import HELPERS  # noqa: PLC0415 - a table

        wanted = {each for name in facts.names for each in HELPERS.get(name, ()) if "*" not in each}
        for folder in facts.document.program_folders:
            yield from (host.real(f"{folder}/{name}") for name in wanted if host.kind(f"{folder}/{name}"))


def _prefixes(programs: Iterable[str], host: Host) -> Iterator[str]:
    """Folders where programs that stand elsewhere keep their libraries."""
    for path in programs:
        prefix = path.rpartition("/bin/")[0]
        if prefix and not below(prefix, _RUNTIME_FOLDERS) and host.kind(prefix) == "folder" and prefix.count("/") > 1:
            yield prefix


def _around(
    path: str, hidden: tuple[str, ...], writes: tuple[str, ...], host: Host, letters: str
) -> Iterator[tuple[str, str]]:
    """The path, or what lies beside the hidden ones in it; not in what may be written, where each name is granted."""
    real = host.real(path)
    if below(real, hidden) or below(real, writes):
        return
    if not any(below(each, (real,)) for each in hidden):
        yield path, letters
        return
    for name in host.names(real):
        yield from _around(f"{real.rstrip('/')}/{name}", hidden, writes, host, letters)


def _holes(  # noqa: C901 - a line each
    facts: _Facts,
    probe: Probe,
    hidden: tuple[str, ...],
    writes: tuple[str, ...],
    *,
    has_mounts: bool,
    has_gate: bool,
    network: str,
    level: str,
) -> Iterator[str]:
    if not has_gate:
        yield "no exec gate: what an allowed program starts is held by Landlock's list of files alone"
    if not has_mounts:
        yield "hidden folders can be listed, not read; files that the session writes can be loaded as code"
    if facts.writable_exec:
        yield "what a trusted rule runs may execute files of the workspace"
    if facts.trusted:
        yield "an allowed interpreter or build tool runs any code inside the fence"
    used = sorted(
        name
        for name in facts.allowed_names
        if any(facts.host.kind(facts.expanded(path)) for path in tools.CREDENTIALS.get(name, ()))
    )
    if used:
        yield f"credentials and service sockets of {', '.join(used)} are not hidden, because rules allow these programs"
    if network == "open":
        yield "the network is open"
    if probe.landlock_abi < 6 and level != "namespaces":  # noqa: PLR2004 - the version that has scopes
        yield "processes outside can be signalled (Landlock is older than version 6)"
    if not has_mounts and any(below(path, writes) for path in hidden):
        yield "refused paths in folders that may be written are held by the policy's reading of the command alone"
    if facts.refused_anywhere() is not None:
        held = "where they stood in the workspace when the shell started; elsewhere " if has_mounts else ""
        yield f"refused names at any depth (**/…) are held {held}by the policy's reading of the command alone"
    if has_mounts:
        yield "sockets of services that come into being after the session's shell started can be opened"
    else:
        yield "terminals of the same user can be opened, and his sockets and shared memory"
    if any(facts.host.kind(f"{facts.place.home}/{each}") for each in tools.CACHES) and facts.builds:
        yield "caches of build tools below the home folder are shared with the tools outside"
    yield "names and sizes of files that cannot be read can be seen"


def _every(book: RuleBook, verdict: Verdict) -> Iterator[CompiledElement]:
    for each in book.index(verdict).every():
        yield each
        if each.then is not None:
            yield from _every(each.then, verdict)


def _only_tells(compiled: CompiledElement) -> bool:
    """Whether it takes no flag, and no operand but those of a subcommand that prints settings: ``go env GOPATH``."""
    element = compiled.element
    if element.flags.allow != ():
        return False
    tells = tools.TELLS.get(_base(element.program), frozenset())
    return element.args == () or (bool(element.sub) and all(words and words[0] in tells for words in element.sub))


def _is_full(compiled: CompiledElement) -> bool:
    """Whether the element grants more than a program's version and help."""
    return not compiled.element.flags.any and "--version" not in compiled.element.flags.require


def _reaches_out(compiled: CompiledElement) -> bool:
    subs = {words[0] for words in compiled.element.sub if words}
    return not subs or bool(subs & tools.GIT_NETWORK)


def _literal_head(pattern: str) -> str:
    """The folder above the first glob, or the whole path."""
    parts: list[str] = []
    for part in pattern.split("/"):
        if any(mark in part for mark in "*?[$"):
            break
        parts.append(part)
    return "/".join(parts) or "/"


def _base(path: str) -> str:
    return path.rpartition("/")[2]
