"""What a person may approve although the fence would not let it through: this module says which commands those are.

A fence cannot be opened for one command: what a process gave up stays given up. So a command that a person approved and
whose effects lie outside of the session's fence (a write elsewhere, a program that needs another user's rights, a tool
whose credentials are hidden) runs in a shell of its own without a fence, in the session's folder and environment. The
question says so before it is answered, and the result after.
"""

from msgspec.structs import replace

from execkit_mcp.fence import tools
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Decision, JudgedCommand, Verdict
from execkit_mcp.model.decision import EffectKind
from execkit_mcp.policy import CompiledPolicy

NOTE = "It ran outside the session's fence, because a person approved it; its cd and variables do not carry over."

_AS_ANOTHER_USER = frozenset(
    [
        "sudo",
        "su",
        "doas",
        "pkexec",
        "newgrp",
        "mount",
        "umount",
        "passwd",
        "chsh",
        "chfn",
        "fusermount",
        "fusermount3",
        "ping",
        "at",
        "crontab",
    ]
)
_INSTALLERS = frozenset(["apt", "apt-get", "dpkg", "dnf", "yum", "rpm", "snap", "brew", "gem", "pip", "pip3", "pipx"])
_SIGNALLERS = frozenset(["kill", "pkill", "killall"])
_ALWAYS_WRITABLE = ("/dev/null", "/dev/tty", "/dev/zero", "/dev/full", "/dev/fd", "/dev/stdout", "/dev/stderr")


def reason_to_leave(decision: Decision, policy: CompiledPolicy, plan: FencePlan | None, *, home: str) -> str | None:
    """Why an approved command cannot run behind ``plan``; None where it can, or where it is not a person's to say."""
    if plan is None or decision.verdict is not Verdict.ASK:
        return None
    rules = {rule.id: rule for rule in policy.document.rules}
    if any((rule := rules.get(each.rule or "")) is not None and rule.require is not None for each in decision.commands):
        return None
    for command in decision.commands:
        reason = _reason(command, plan, home)
        if reason is not None:
            return reason
    return None


def with_note(decision: Decision, reason: str | None) -> Decision:
    """The decision, saying that the command would leave the fence."""
    if reason is None:
        return decision
    return replace(decision, message=f"{decision.message} It would run outside the fence: {reason}.".strip())


def _reason(command: JudgedCommand, plan: FencePlan, home: str) -> str | None:  # noqa: PLR0911 - one row a reason
    name = command.program.rpartition("/")[2]
    if name in _AS_ANOTHER_USER:
        return f"{name} takes on another user's rights"
    if name in _INSTALLERS:
        return f"{name} changes the machine"
    if name in _SIGNALLERS and command.verdict is Verdict.ASK:
        return f"{name} may reach processes outside"
    hidden = {each.target for each in plan.mounts if each.op == "hide"}
    used = {home + path[1:] if path.startswith("~/") else path for path in tools.CREDENTIALS.get(name, ())}
    if command.verdict is Verdict.ASK and hidden & used:
        return f"{name} needs credentials that are hidden inside"
    writable = plan.gate.writable if plan.gate is not None else ()
    for effect in command.effects:
        if effect.kind is EffectKind.WRITE and not _is_below(effect.value, (*writable, *_ALWAYS_WRITABLE)):
            return f"it writes {effect.value or 'where nobody can tell'}"
        is_beyond = plan.network == "none" and not plan.listeners
        is_raw = plan.network != "open" and name in tools.RAW_NETWORK
        if effect.kind is EffectKind.NET and (is_beyond or is_raw):
            return f"it reaches {effect.value or 'the network'}"
    return None


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
