"""What separates the agent from the approver on this machine, said plainly: the rows that ``doctor`` prints.

Levels: ``ok`` holds, ``note`` is worth knowing, ``weak`` is a way for whoever runs as this user to say yes himself.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from execkit_mcp.approvals import ApproverSecret
from execkit_mcp.config.settings import Settings
from execkit_mcp.config.settings_file import is_policy_file
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Fence

__all__ = ["Row", "separation"]


class Row(Struct, frozen=True, kw_only=True):
    """One fact.

    Attributes:
        name: what it is about.
        level: ``ok``, ``note`` or ``weak``.
        text: what is so.
        remedy: what would make it better; empty where nothing would.
    """

    name: str
    level: Literal["ok", "note", "weak"]
    text: str
    remedy: str = ""


def separation(settings: Settings, *, fence: Fence | None = None) -> list[Row]:
    """The facts, most important first; it looks and changes nothing.

    Args:
        settings: of the server.
        fence: what holds beneath local sessions; None: nothing.
    """
    level = (fence or Fence()).level
    enrolled, trouble = _enrolled(settings)
    return [
        *_user(settings, has_fence=level != "none", has_code=bool(enrolled)),
        _fence(level),
        _code(enrolled, trouble),
        _state(settings, has_fence=level != "none"),
        *_policy(settings),
        _channels(settings),
    ]


def _user(settings: Settings, *, has_fence: bool, has_code: bool) -> Iterator[Row]:
    uid = os.getuid()
    others = [name for name, target in settings.targets.items() if target.transport != "local"]
    if uid == 0:
        yield Row(
            name="user",
            level="weak",
            text="Server, local sessions and approver are all root: "
            + ("only the fence" if has_fence else "nothing")
            + " keeps a program of a session from what you can do.",
            remedy="Run the server as a user of its own.",
        )
    else:
        yield Row(
            name="user",
            level="note" if has_fence or has_code else "weak",
            text=f"Local sessions and approver share uid {uid}: a program that the policy trusts, or the agent's own"
            " shell tool, could run `execkit-mcp approve` outside the session's processes.",
            remedy="Run the server as a user of its own, enrol a code, or guard the client's shell with"
            " `execkit-mcp hook`.",
        )
    if others:
        names = ", ".join(sorted(others))
        yield Row(name="targets", level="ok", text=f"Sessions on {names} run elsewhere: they cannot reach the queue.")


def _fence(level: str) -> Row:
    if level == "none":
        return Row(
            name="fence",
            level="weak",
            text="No fence hides the state folder from local sessions; only the policy's `never` paths do, and they"
            " bind what is judged, not what a trusted program does.",
            remedy="Use a fence where the kernel has one; `execkit-mcp targets` says what holds.",
        )
    return Row(name="fence", level="ok", text=f"Local sessions run in a fence ({level}) that hides the state folder.")


def _code(enrolled: str, trouble: str) -> Row:
    if trouble:
        return Row(name="code", level="weak", text=trouble, remedy="Mend or remove approver.json in the state folder.")
    if not enrolled:
        return Row(
            name="code",
            level="weak",
            text="No approver's code is enrolled: whoever can run `execkit-mcp approve` as this user can say yes.",
            remedy="execkit-mcp approver enrol",
        )
    which = "every yes" if enrolled == "all" else "a yes to a critical command"
    return Row(
        name="code",
        level="ok",
        text=f"{which[0].upper()}{which[1:]} needs the code of a device. It holds against everybody who cannot read the"
        " state folder.",
    )


def _state(settings: Settings, *, has_fence: bool) -> Row:
    path = Path(settings.state_dir)
    inside = path.is_relative_to(settings.workspace)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mode = 0o700
    if mode & 0o077:
        return Row(
            name="state folder",
            level="weak",
            text=f"{path} is open to other users (mode {mode:04o}).",
            remedy=f"chmod 700 {path}",
        )
    if inside:
        return Row(
            name="state folder",
            level="note" if has_fence else "weak",
            text=f"{path} lies in the workspace, where "
            + (
                "the fence alone hides it from a command that walks through."
                if has_fence
                else "its files are refused one by one; a command that walks through the workspace reads past them."
            ),
            remedy="Keep it elsewhere (--state-dir, EXECKIT_STATE_DIR), or start the server in a project's folder.",
        )
    return Row(
        name="state folder", level="ok", text=f"{path} is private, and no policy lets a judged command touch it."
    )


def _policy(settings: Settings) -> Iterator[Row]:
    named = [settings.policy, *(t.policy for t in settings.targets.values() if t.policy is not None)]
    files = [name for name in dict.fromkeys(named) if is_policy_file(name)]
    for name in files:
        if Path(name).absolute().is_relative_to(settings.workspace):
            yield Row(
                name="policy",
                level="weak",
                text=f"{name} lies in the workspace, where sessions may be allowed to write: a change would hold"
                " after the next start.",
                remedy="Keep the policy outside of every folder in `paths.write`.",
            )


def _channels(settings: Settings) -> Row:
    if "elicit" in settings.approval_channels:
        return Row(
            name="channels",
            level="note",
            text="Clients may be asked in their own dialogue, except for critical commands: such a yes is as honest as"
            " the client.",
            remedy="approvals: {channels: [out_of_band]} keeps every yes out of the client.",
        )
    return Row(name="channels", level="ok", text="Only people outside of the client are asked.")


def _enrolled(settings: Settings) -> tuple[str, str]:
    try:
        return ApproverSecret.of(settings.state_dir).wanted_for, ""
    except ExecKitError as error:
        return "", error.message
