"""A root of its own, built from the host's read-only parts: this module lists the mounts of a sandbox.

    /usr /bin /lib … /opt     the host's programs, read only
    /etc                      the few files that programs need, read only; no keys, no shadow file, no services
    /dev /proc                the harmless devices, the sandbox's own processes
    ~ /tmp /var/tmp /run      empty, in memory, gone at the end
    the workspace             the real one in layers: what is written goes above it
    /.execkit                 the layers; a closed folder that only a mount in this namespace can reach

Nothing else of the host is there to be read, so nothing has to be hidden.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from execkit_mcp.fence.host import Host
from execkit_mcp.fence.overlay.stack import BASE, PLACE, Stack
from execkit_mcp.fence.plan import FencePlan, MountOp

__all__ = ["root_mounts", "swap", "with_stack"]

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt")
_SETTINGS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/localtime", "/etc/timezone", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/hostname",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/alternatives",
    "/etc/terminfo", "/etc/inputrc", "/etc/locale.alias", "/etc/mime.types", "/etc/magic", "/etc/services",
    "/etc/protocols", "/etc/os-release", "/etc/debian_version", "/etc/gitconfig", "/etc/python3", "/etc/python3.11",
    "/etc/java-17-openjdk", "/etc/perl", "/etc/fonts", "/etc/ImageMagick-6",
)  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
_EMPTY = ("/tmp", "/var/tmp", "/run")
_SHARED_MEMORY = "/dev/shm"
_LAYERS_FOLDER = PLACE.rpartition("/")[0]


def root_mounts(
    root: str,
    *,
    host: Host,
    workspace: str,
    home: str,
    layers: str,
    stack: Stack,
    is_noexec: bool,
    memory_mb: int,
    extra: tuple[str, ...] = (),
    refused: Sequence[MountOp] = (),
) -> tuple[MountOp, ...]:
    """The mounts that make ``root``, an empty folder of the host, a sandbox's root, and go into it.

    Args:
        root: where it is put together.
        host: the machine's files.
        workspace: the real workspace; it has the same path inside.
        home: the home folder's path inside; empty.
        layers: the folder of the layers on the host; it has a folder ``base``.
        stack: which of them there are.
        is_noexec: whether files of the workspace cannot be executed.
        memory_mb: how large each of the folders in memory may become.
        extra: further folders and files of the host that are there to be read.
        refused: what covers refused names wherever they stand in the workspace.
    """
    return tuple(
        _operations(
            root,
            host=host,
            workspace=workspace,
            home=home,
            layers=layers,
            stack=stack,
            is_noexec=is_noexec,
            memory_mb=memory_mb,
            extra=extra,
            refused=refused,
        )
    )


def _operations(
    root: str,
    *,
    host: Host,
    workspace: str,
    home: str,
    layers: str,
    stack: Stack,
    is_noexec: bool,
    memory_mb: int,
    extra: tuple[str, ...],
    refused: Sequence[MountOp],
) -> Iterator[MountOp]:
    exec_word = ("noexec",) if is_noexec else ()
    yield MountOp(op="tmpfs", target=root, data="size=1m,mode=755")
    for path in _PROGRAMS:
        yield from _shown(root, path, host)
    yield MountOp(op="mkdir", target=f"{root}/etc")
    for path in _SETTINGS:
        yield from _shown(root, path, host)
    yield from _devices(root)
    yield MountOp(op="mkdir", target=f"{root}/proc")
    yield MountOp(
        op="proc", target=f"{root}/proc", options=("noexec", "ro")
    )  # root writes settings of the machine there
    for path in (*_EMPTY, home):
        yield MountOp(op="mkdir", target=f"{root}{path}")
        mode = "1777" if path != home else "700"
        yield MountOp(op="tmpfs", target=f"{root}{path}", options=exec_word, data=f"size={memory_mb}m,mode={mode}")
    for path in extra:
        yield from _shown(root, path, host)
    yield from _layers(root, workspace, layers)
    yield MountOp(op="mkdir", target=f"{root}{workspace}")
    settle, shown = stack.mount(f"{root}{workspace}", place=f"{root}{PLACE}")
    yield MountOp(op="settle", target=str(settle["target"]))
    yield MountOp(op="overlay", target=f"{root}{workspace}", options=exec_word, data=str(shown["data"]))
    yield MountOp(op="attr", target=root, options=("ro", "nosuid", "nodev", "noexec"))
    yield MountOp(op="pivot", target=root)
    yield from refused


def _shown(root: str, path: str, host: Host) -> Iterator[MountOp]:
    """One path of the host at the same place inside: a link as a link, anything else read only."""
    kind = host.kind(path)
    if kind and path.count("/") == 1 and host.real(path) != path:
        yield MountOp(op="symlink", target=f"{root}{path}", source=host.real(path))
    elif kind == "folder":
        yield MountOp(op="mkdir", target=f"{root}{path}")
        yield MountOp(op="bind", target=f"{root}{path}", source=path, options=("rec", "ro", "nosuid", "nodev"))
    elif kind == "file":
        folder = path.rpartition("/")[0]
        if folder:
            yield MountOp(op="mkdir", target=f"{root}{folder}")
        yield MountOp(op="file", target=f"{root}{path}")
        yield MountOp(op="bind", target=f"{root}{path}", source=path, options=("ro", "nosuid", "nodev"))


def _devices(root: str) -> Iterator[MountOp]:
    yield MountOp(op="mkdir", target=f"{root}/dev")
    for name in _DEVICES:
        yield MountOp(op="file", target=f"{root}/dev/{name}")
        yield MountOp(op="bind", target=f"{root}/dev/{name}", source=f"/dev/{name}", options=("nosuid", "noexec"))
    for name, target in _LINKS.items():
        yield MountOp(op="symlink", target=f"{root}/dev/{name}", source=target)
    yield MountOp(op="mkdir", target=f"{root}/dev/pts")
    yield MountOp(op="bind", target=f"{root}/dev/pts", source="/dev/pts", options=("nosuid", "noexec"))
    yield MountOp(op="mkdir", target=f"{root}{_SHARED_MEMORY}")
    yield MountOp(op="tmpfs", target=f"{root}{_SHARED_MEMORY}", options=("noexec",), data="size=64m,mode=1777")


def _layers(root: str, workspace: str, layers: str) -> Iterator[MountOp]:
    """The layers behind a folder that nobody without a capability in this namespace can enter or open up."""
    yield MountOp(op="mkdir", target=f"{root}{_LAYERS_FOLDER}")
    yield MountOp(op="tmpfs", target=f"{root}{_LAYERS_FOLDER}", options=("noexec",), data="size=4k,mode=000")
    yield MountOp(op="mkdir", target=f"{root}{PLACE}")
    yield MountOp(op="attr", target=f"{root}{_LAYERS_FOLDER}", options=("ro",))
    yield MountOp(op="bind", target=f"{root}{PLACE}", source=layers, options=("noexec", "nosuid", "nodev"))
    bottom = f"{root}{PLACE}/{BASE}"
    yield MountOp(op="bind", target=bottom, source=workspace, options=("ro", "noexec", "nosuid", "nodev"))


def with_stack(plan: FencePlan, stack: Stack, workspace: str) -> FencePlan:
    """The plan of a sandbox that starts from other layers."""
    root = next(each.target for each in plan.mounts if each.op == "pivot")
    settle, shown = stack.mount("", place=f"{root}{PLACE}")

    def renewed(each: MountOp) -> MountOp:
        if each.op == "settle":
            return replace(each, target=str(settle["target"]))
        if each.op == "overlay" and each.target == f"{root}{workspace}":
            return replace(each, data=str(shown["data"]))
        return each

    return replace(plan, mounts=tuple(map(renewed, plan.mounts)))


def swap(plan: FencePlan, stack: Stack, workspace: str) -> list[Mapping[str, object]]:
    """The operations that put other layers in the place of those that are there, from inside."""
    is_noexec = any("noexec" in each.options for each in plan.mounts if each.op == "overlay")
    settle, shown = stack.mount(workspace)
    return [
        {"op": "detach", "target": workspace},
        settle,
        {**shown, "options": ["noexec"] if is_noexec else []},
        *[
            {"op": each.op, "target": each.target, "options": each.options, "data": each.data}
            for each in plan.mounts
            if each.op == "hide_named"
        ],
    ]
