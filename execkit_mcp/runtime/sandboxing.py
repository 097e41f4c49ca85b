"""What can be done with a sandbox's workspace: this module is snapshot, restore, fork, difference and apply.

The first three swap the layers under the running session: its shell stays, with its folder, variables and functions,
and steps into the new layers before anything else runs. So nothing may run meanwhile, and no process may be left
that still stands in the old ones.

Apply is the one way from a sandbox into the real workspace. A person is shown every change with the digests of what is
there and of what would be; the approval binds to exactly that text; and before each single change is carried over it is
compared again (``fence/overlay/apply``).
"""

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from execkit_mcp.errors import ApprovalDenied, CheckpointConflict, CommandInvalid
from execkit_mcp.fence.overlay.apply import apply_changes
from execkit_mcp.fence.overlay.diff import Change, listing
from execkit_mcp.fence.overlay.stack import Stack
from execkit_mcp.fence.root import swap, with_stack
from execkit_mcp.model import Decision, ReasonCode, Verdict
from execkit_mcp.model.decision import ApprovalTerms, Effect, EffectKind, JudgedCommand
from execkit_mcp.runtime.asking import Waiting
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.request import DEFAULT_SESSION, RunRequest
from execkit_mcp.runtime.sandboxes import Sandbox, Sandboxes
from execkit_mcp.runtime.session import Session

__all__ = ["ACTIONS", "SandboxRequest", "Sandboxing"]

ACTIONS: Final = ("snapshot", "restore", "fork", "diff", "apply")
_MAX_SHOWN: Final = 20_000
_LISTED: Final = 500
_BATCH: Final = 40


class SandboxRequest(Struct, frozen=True, kw_only=True):
    """One call.

    Attributes:
        action: snapshot, restore, fork, diff or apply.
        session: the sandbox's session.
        snapshot: which one is restored or forked; the name of the one that is made.
        name: the name of the session that a fork opens.
        reason: shown to the person who decides on an apply.
        approval_id: an approval obtained earlier, for the same changes.
        max_output: characters of the difference that are returned.
    """

    action: str
    session: str = DEFAULT_SESSION
    snapshot: str | None = None
    name: str | None = None
    reason: str = ""
    approval_id: str | None = None
    max_output: int = _MAX_SHOWN


Open = Callable[[Sandbox, Session, str | None], Awaitable[Mapping[str, object]]]


class Sandboxing:
    """Over the sandboxes of one server; ``open_fork`` opens a session on a sandbox that was forked."""

    def __init__(self, sandboxes: Sandboxes, gate: Gate, open_fork: Open) -> None:
        self._sandboxes = sandboxes
        self._gate = gate
        self._open_fork = open_fork

    async def call(self, request: SandboxRequest, session: Session) -> dict[str, object]:
        """Do it; the facts of the result.

        Raises:
            CheckpointNotFound, CheckpointConflict, CheckpointTooLarge: the sandbox cannot do that now.
            SessionBusy, SessionClosed: a command runs in it, or it is gone.
            ApprovalDenied, ApprovalExpired: the given approval is not for these changes.
        """
        sandbox = self._sandboxes.get(session.facts.owner, session.name)
        actions: Mapping[str, Callable[[SandboxRequest, Session, Sandbox], Awaitable[dict[str, object]]]] = {
            "snapshot": self._snapshot,
            "restore": self._restore,
            "fork": self._fork,
            "diff": self._diff,
            "apply": self._apply,
        }
        if request.action not in actions:
            raise CommandInvalid(f"There is no action {request.action!r}.", hint=f"Actions: {', '.join(ACTIONS)}.")
        with session.reserved():
            facts = await actions[request.action](request, session, sandbox)
        return {
            "action": request.action,
            "session": session.name,
            "status": "completed",
            **facts,
            "snapshots": [each.name for each in sandbox.snapshots],
        }

    # ── layers ───────────────────────────────────────────────────────────────────────────────────────────

    async def _snapshot(self, request: SandboxRequest, session: Session, sandbox: Sandbox) -> dict[str, object]:
        name = sandbox.free_name(request.snapshot)
        if session.redact(name) != name:
            raise CommandInvalid("The name of the snapshot is a secret.", hint="Give it another name, or none.")
        took_ms = await self._freeze(name, session, sandbox)
        self._gate.record("sandbox.snapshot", {"session": session.name, "snapshot": name})
        return {"snapshot": name, "took_ms": took_ms}

    async def _freeze(self, name: str, session: Session, sandbox: Sandbox) -> float:
        """Keep what there is under ``name``; milliseconds."""
        kept = sandbox.stack
        took_ms = await _swap(session, sandbox, sandbox.grown(kept))
        sandbox.keep(name, kept, time.time())
        return took_ms

    async def _restore(self, request: SandboxRequest, session: Session, sandbox: Sandbox) -> dict[str, object]:
        if request.snapshot is None:
            names = ", ".join(each.name for each in sandbox.snapshots) or "none"
            raise CommandInvalid("Say which snapshot to restore.", hint=f"Snapshots: {names}.")
        wanted = sandbox.find(request.snapshot)
        left = sandbox.stack.upper
        took_ms = await _swap(session, sandbox, sandbox.grown(wanted.stack))
        await asyncio.to_thread(sandbox.forget, left)
        self._gate.record("sandbox.restored", {"session": session.name, "snapshot": wanted.name})
        return {"snapshot": wanted.name, "took_ms": took_ms}

    async def _fork(self, request: SandboxRequest, session: Session, sandbox: Sandbox) -> dict[str, object]:
        started_s = time.perf_counter()
        if request.snapshot is not None:
            stack = sandbox.find(request.snapshot).stack
        else:
            stack = sandbox.stack
            await self._freeze(sandbox.free_name(None), session, sandbox)
        forked = self._sandboxes.fork(sandbox, stack)
        took_ms = round((time.perf_counter() - started_s) * 1e3, 3)
        try:
            opened = await self._open_fork(forked, session, request.name)
        except BaseException:
            forked.close()
            raise
        self._gate.record("sandbox.forked", {"session": session.name, "fork": opened["session"]})
        return {"fork": opened["session"], "took_ms": took_ms}

    # ── the way into the real workspace ──────────────────────────────────────────────────────────────────

    async def _diff(self, request: SandboxRequest, session: Session, sandbox: Sandbox) -> dict[str, object]:
        changes, text = await asyncio.to_thread(_compared, sandbox)
        shown = session.redact(text)
        facts: dict[str, object] = {
            "changes": [f"{each.kind} {session.redact(each.path)}" for each in changes[:_LISTED]],
            "count": len(changes),
            "text": shown[: request.max_output],
        }
        if len(shown) > request.max_output:
            facts["omitted_characters"] = len(shown) - request.max_output
        return facts

    async def _apply(self, request: SandboxRequest, session: Session, sandbox: Sandbox) -> dict[str, object]:
        _require_quiet(session)
        changes, text = await asyncio.to_thread(_compared, sandbox)
        if not changes:
            return {"applied": 0, "count": 0}
        self._require_not_refused(changes, session, sandbox)
        decision = _question(sandbox, changes, text, session)
        asked = RunRequest(
            command="sandbox apply", session=session.name, reason=request.reason, approval_id=request.approval_id
        )
        answer = self._gate.asking.ask(decision, asked, session)
        if isinstance(answer, Waiting):
            approval_id = answer.approval_id
            return {
                "status": "approval_pending",
                "approval_id": approval_id,
                "count": len(changes),
                "text": session.redact(text)[: request.max_output],
                "message": f"A person must see these changes and say yes: execkit-mcp approve {approval_id}."
                " Then call again with approval_id.",
            }
        if answer.decision.canonical != decision.canonical:
            raise ApprovalDenied("The text was changed, and changes of files cannot be edited in an approval.")
        _require_quiet(session)
        self._gate.record(
            "sandbox.applying", {"session": session.name, "workspace": sandbox.workspace, "changes": len(changes)}
        )
        applied = await asyncio.to_thread(apply_changes, changes, sandbox.workspace, sandbox.layer_folders)
        self._gate.record("sandbox.applied", {"session": session.name, "changes": applied})
        return {"applied": applied, "count": len(changes)}

    def _require_not_refused(self, changes: Sequence[Change], session: Session, sandbox: Sandbox) -> None:
        """Raise where a path falls under ``paths.never``, or cannot be judged: no approval lifts that."""
        paths = [f"{sandbox.workspace}/{each.path}" for each in changes]
        for batch in (paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)):
            if not self._is_refused(batch, session):
                continue
            refused = next((path for path in batch if self._is_refused([path], session)), batch[0])
            raise CheckpointConflict(
                f"{session.redact(refused)!r} falls under `paths.never`, or cannot be judged; no approval lifts that.",
                hint="Take that change back in the sandbox.",
            )

    def _is_refused(self, paths: Sequence[str], session: Session) -> bool:
        text = "true " + " ".join(f">>{shlex.quote(path)}" for path in paths)
        decision = self._gate.judge_in(text, session.facts, cwd=session.facts.workspace)
        return decision.reason_code in {ReasonCode.PATH_NEVER, ReasonCode.UNPARSED, ReasonCode.LIMIT}


def _compared(sandbox: Sandbox) -> tuple[tuple[Change, ...], str]:
    changes = sandbox.changes()
    return changes, listing(changes, sandbox.workspace, sandbox.layer_folders)


def _question(sandbox: Sandbox, changes: tuple[Change, ...], text: str, session: Session) -> Decision:
    """What a person is asked: the text is the changes, so that the approval holds for nothing else."""
    places = [f"{sandbox.workspace}/{each.path}" for each in changes]
    command = JudgedCommand(
        argv=("sandbox", "apply"),
        program="sandbox",
        effects=tuple(Effect(EffectKind.WRITE, place) for place in places[:200]),
        verdict=Verdict.ASK,
        rule=None,
        source="",
        reason_code=ReasonCode.PATH_WRITE,
        message="The real workspace changes.",
    )
    risky = [each.path for each in changes if _executes(each)]
    message = f"{len(changes)} changes of the sandbox would be written into the real workspace."
    if risky:
        message += f" Some of it executes or steers what executes: {', '.join(risky[:8])}."
    return Decision(
        verdict=Verdict.ASK,
        canonical=f"sandbox apply {shlex.quote(sandbox.workspace)}\n{text}",
        rule=None,
        reason_code=ReasonCode.PATH_WRITE,
        message=message,
        hint="Nothing is written unless it is still exactly this.",
        policy=session.facts.policy.ref,
        commands=(command,),
        approval=ApprovalTerms(channel="both"),
    )


def _executes(change: Change) -> bool:
    if change.after is None or change.after.kind == "folder":
        return False
    is_steering = "/.git/" in f"/{change.path}" or change.path.rpartition("/")[2] in {"Makefile", "package.json"}
    return is_steering or change.after.kind == "link" or bool(change.after.mode & 0o111)


# ── swapping layers under a session ──────────────────────────────────────────────────────────────────────


def _require_quiet(session: Session) -> None:
    """Raise where a process of the sandbox still runs: it stands in the layers, and could write to them."""
    left = session.processes()
    if left:
        raise CheckpointConflict(
            f"{len(left)} processes still run in the sandbox, {', '.join(map(str, sorted(left)[:5]))} among them.",
            hint="End them (jobs, kill), then call again.",
        )


async def _swap(session: Session, sandbox: Sandbox, stack: Stack) -> float:
    """Mount ``stack`` in place of what is there, and have the shell step into it; milliseconds."""
    _require_quiet(session)
    started_s = time.perf_counter()
    place = session.facts.workspace
    plan = session.facts.plan
    assert plan is not None
    await session.change_tree(swap(plan, stack, place), with_stack(plan, stack, place))
    sandbox.stack = stack
    return round((time.perf_counter() - started_s) * 1e3, 3)
