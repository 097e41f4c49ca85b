"""Which fence a session gets: settings, policy and this machine put together; the one place that asks ``fence``."""

import os
from collections.abc import Mapping
from pathlib import Path

from execkit_mcp.config.locations import config_dir, usual_state_dirs
from execkit_mcp.config.settings import Settings
from execkit_mcp.config.settings_file import is_policy_file
from execkit_mcp.errors import ApprovalDenied, ExecKitError
from execkit_mcp.fence import probe as probing
from execkit_mcp.fence.derive import Place, derive
from execkit_mcp.fence.describe import fence_of
from execkit_mcp.fence.host import LocalHost
from execkit_mcp.fence.level import level_for
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Decision, Fence
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.runtime.asking import Waiting
from execkit_mcp.runtime.environment import home_folder
from execkit_mcp.runtime.fence_watch import FenceWatch, Question
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.names_kept import with_names_found
from execkit_mcp.runtime.programs import LocalPrograms
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session

FENCED = frozenset({"local", "sandbox"})
_MAX_REASON = 900


def plan_for(
    settings: Settings,
    policy: CompiledPolicy,
    *,
    transport: str = "local",
    environ: Mapping[str, str] | None = None,
    temporary: str = "",
) -> FencePlan | None:
    """The plan of a session under ``policy``; None: nothing holds.

    Raises:
        FenceUnavailable: the configuration asks for a level that cannot be had here.
    """
    if transport not in FENCED:
        return None
    mode = "namespaces" if transport == "sandbox" else settings.fence  # a sandbox is one, or cannot be opened
    found = probing.probe() if mode != "off" else probing.Probe()
    level = level_for(mode, policy, found)
    hidden = [settings.state_dir, settings.audit_dir, *usual_state_dirs(), str(config_dir(environ or {}))]
    if settings.config_file is not None:
        hidden.append(settings.config_file)
    named = {settings.policy, *(target.policy for target in settings.targets.values() if target.policy)}
    hidden += [str(Path(name).expanduser().absolute()) for name in named if is_policy_file(name)]
    place = Place(
        user=os.getuid(),
        home=home_folder(),
        workspace=str(Path(settings.workspace).resolve()),
        hidden=tuple(hidden),
        temporary=temporary,
    )
    plan = derive(policy, level=level, place=place, probe=found, host=LocalHost(), loaders=probing.loaders())
    return None if plan is None else with_names_found(plan, settings.state_dir)


def fence_for(plan: FencePlan | None, *, transport: str = "local") -> Fence:
    """What results state."""
    if transport not in FENCED:
        return Fence()
    return fence_of(plan, abi=probing.probe().landlock_abi if plan is not None else 0)


def described(settings: Settings, policy: CompiledPolicy, *, transport: str) -> Fence:
    """The same for a target that nobody has opened; one that cannot be had is none."""
    try:
        return fence_for(plan_for(settings, policy, transport=transport), transport=transport)
    except ExecKitError:
        return Fence()


def watch_for(session: Session, gate: Gate) -> FenceWatch | None:
    """The link to the session's exec gate, if it has one."""
    facts = session.facts
    if facts.plan is None or facts.plan.gate is None:
        return None
    document = facts.policy.document
    programs = LocalPrograms(document.program_folders, document.programs)

    def resolve(program: str) -> str | None:
        path = program if "/" in program else programs.locate(program)
        return programs.resolve(path) if path is not None else None

    def ask(decision: Decision, question: Question, approval_id: str | None) -> str | None:
        reason = "Held before it runs; started by: " + (" ← ".join(question.parents) or "the shell")
        request = RunRequest(command=decision.canonical or "", reason=reason[:_MAX_REASON], approval_id=approval_id)
        answer = gate.asking.ask(decision, request, session)
        if isinstance(answer, Waiting):
            return answer.approval_id
        if answer.decision.canonical != decision.canonical:
            raise ApprovalDenied("The text was changed, and a program that waits cannot become another.")
        return None

    return FenceWatch(
        rules={rule.id: rule for rule in document.rules},
        is_open=facts.plan.gate.is_open,
        resolve=resolve,
        judge=lambda text, cwd: gate.judge_in(text, facts, cwd=cwd),
        ask=ask,
        record=lambda kind, data: gate.record_seen(kind, {"session": session.name, **data}),
        redact=session.redact,
    )
