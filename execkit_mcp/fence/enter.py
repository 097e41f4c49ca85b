"""Going inside: what a child of the keeper does just before it becomes the shell, in the only order that works.

    namespaces → mounts → terminal → limits → capabilities → no_new_privs → Landlock → seccomp (closes the calls used before)

Any failure raises: a shell whose plan could not be carried out is not started.
"""

import array
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from execkit_mcp.fence import landlock, mounts, namespaces, privileges, rlimits, seccomp, terminals

__all__ = ["become_first_process", "enter_namespaces", "enter_tree", "restrict", "take_terminal", "takes_own_terminal"]


become_first_process = namespaces.become_first_process


def enter_namespaces(plan: Mapping[str, Any]) -> "list[socket.socket]":
    """The first part: namespaces. Listeners inside, to be served from outside, as the plan names ports."""
    names: Sequence[str] = plan["unshare"]
    namespaces.unshare(names)
    listeners = []
    if "net" in names:
        namespaces.loopback_up()
        listeners = [namespaces.listen_inside(int(port)) for port in plan["listeners"]]
    return listeners


def enter_tree(plan: Mapping[str, Any], cwd: str) -> None:
    """The second part: the file tree, once we are the first process: only then is ``proc`` that of our own processes."""
    names: Sequence[str] = plan["unshare"]
    if "mount" in names:
        mounts.separate()
        mounts.arrange([each for each in plan["mounts"] if each["op"] != "proc" or "pid" in names])
        terminals.mount_own()
        os.chdir("/")
        os.chdir(cwd)  # through the new tree, not the old one


def takes_own_terminal(plan: Mapping[str, Any]) -> bool:
    """Whether a shell with this plan gets a terminal inside (``take_terminal``), and none before."""
    return "mount" in plan["unshare"]


def take_terminal(plan: Mapping[str, Any], link: socket.socket) -> None:
    """Between the second part and the last: the shell's own terminal; its other side goes out on ``link``."""
    if takes_own_terminal(plan):
        master = terminals.take_one()
        _send(link, b"terminal", (master,))
        os.close(master)


def _send(link: socket.socket, what: bytes, fds: Sequence[int]) -> None:
    link.sendmsg([what], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def restrict(plan: Mapping[str, Any], link: "socket.socket | None") -> None:
    """The last part: give up everything that the plan does not leave; the gate's listener goes out on ``link``."""
    rlimits.limit(plan["rlimits"])
    privileges.may_be_inspected()
    if plan["drops_capabilities"]:
        privileges.drop_capabilities()
    privileges.forbid_new_privileges()
    if plan["landlock"] is not None:
        rules = plan["landlock"]
        tcp = rules.get("tcp")
        landlock.restrict(
            [(path, letters) for path, letters in rules["paths"]],
            tcp=None if tcp is None else (tcp[0], tcp[1]),
            scopes=rules["scopes"],
        )
    calls = plan["seccomp"]
    if calls is not None:
        code = seccomp.program(groups=calls["groups"], families=calls["families"], notify=calls["notify"])
        listener = seccomp.install(code, has_listener=bool(calls["notify"]))
        if listener >= 0:
            assert link is not None
            _send(link, b"gate", (listener,))
            os.close(listener)
