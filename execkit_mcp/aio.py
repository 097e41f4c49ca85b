"""The SDK for asyncio: the names of ``execkit_mcp``, awaited.

async with aio.create(policy=Policy.default_deny(allow=["ls", "cat"])) as s:
    r = await s.exec("ls")

Over 400 lines: one class, whose methods' docstrings are its reference.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AsyncExitStack, aclosing
from types import TracebackType
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.config.settings import TargetSettings, load_settings
from execkit_mcp.errors import (
    ApprovalExpired,
    ApprovalRequired,
    Blocked,
    ConfigError,
    SessionClosed,
    TransportUnavailable,
    TransportUnknown,
)
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.model import Decision, ExecResult, PolicyRef, ReasonCode, Status, Verdict
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sandboxing import SandboxRequest
from execkit_mcp.runtime.sdk_policy import Policy

__all__ = ["Approver", "OutputChunk", "Question", "Session", "create"]

REQUESTER: Final = "sdk"
MAX_OUTPUT_CHARS: Final = 1_000_000
_LOOK_S: Final = 0.25
_TURNS_TO_CLOSE: Final = 4


class Question(Struct, frozen=True, kw_only=True):
    """What a person is asked: ``text`` is to be shown as it stands; ``decision`` is why."""

    approval_id: str
    text: str
    decision: Decision


Approver = Callable[[Question], Awaitable[bool]]
"""Brings a person's answer: True lets the command run once."""


Location = str | os.PathLike[str]


class OutputChunk(str):
    """A piece of output as it came: text, and which ``stream`` (``stdout`` or ``stderr``) it stood on."""

    __slots__ = ("stream",)
    stream: str

    @classmethod
    def of(cls, text: str, stream: str) -> Self:
        """The chunk ``text`` of ``stream``."""
        chunk = cls(text)
        chunk.stream = stream
        return chunk


class Session:
    """A persistent shell session; made by ``create``."""

    def __init__(self, kit: ExecKit, name: str, approver: Approver | None, stack: AsyncExitStack) -> None:
        self._kit = kit
        self._name = name
        self._approver = approver
        self._stack = stack
        self._is_closed = False
        self._streams = 0
        self._left_streams: set[asyncio.Future[None]] = set()

    @property
    def name(self) -> str:
        """The session's name."""
        return self._name

    async def exec(
        self,
        command: str,
        *,
        timeout_s: float | None = None,
        stdin: str | None = None,
        tty: bool = False,
        max_output: int = MAX_OUTPUT_CHARS,
        reason: str = "",
        approval_id: str | None = None,
        approval_wait_s: float = 0.0,
    ) -> ExecResult:
        """Run ``command`` to its end and return the result; a non-zero exit code is a result.

        Args:
            command: shell text, judged by the policy.
            timeout_s: seconds after which it is interrupted (status ``timed_out``); None: as the policy says.
            stdin: text for its standard input.
            tty: run it on a terminal.
            max_output: characters a stream that the result keeps.
            reason: shown to the person who may have to approve.
            approval_id: an approval obtained earlier for this command.
            approval_wait_s: seconds to wait for a person who answers elsewhere (``execkit-mcp approve``).

        Raises:
            Blocked: the policy refuses it; ``.decision`` says why.
            ApprovalRequired: a person must approve and no approver was given, or nobody answered.
            ApprovalDenied: a person said no.
            SessionBusy: another command runs in this session.
        """
        request = RunRequest(
            command=command,
            session=self._name,
            wait_s=None,
            timeout_s=timeout_s,
            stdin=stdin,
            tty=tty,
            max_output=max_output,
            reason=reason,
            approval_id=approval_id,
        )
        await self._be_ready()
        result = await self._run(request)
        if result.status is Status.APPROVAL_PENDING and self._approver is not None:
            result = await self._run(await self._approved(request, result))
        waits_for = result.approval_id if result.status is Status.APPROVAL_PENDING else None
        if waits_for and approval_wait_s > 0 and await self._kit.answered(waits_for, timeout_s=approval_wait_s):
            result = await self._kit.run(request.approved_by(waits_for), requester=REQUESTER)
        return _unless_blocked(result)

    async def stream(
        self, command: str, *, timeout_s: float | None = None, stdin: str | None = None, reason: str = ""
    ) -> AsyncGenerator[OutputChunk]:
        """Run ``command`` and yield its cleaned, redacted output as it comes; leaving early interrupts it.

        Raises:
            Blocked, ApprovalRequired, ApprovalDenied, SessionBusy: as ``exec`` does.
        """
        request = RunRequest(
            command=command, session=self._name, wait_s=0.0, timeout_s=timeout_s, stdin=stdin, reason=reason
        )
        await self._be_ready()
        result = await self._kit.run(request, requester=REQUESTER)
        if result.status is Status.APPROVAL_PENDING and self._approver is not None:
            result = await self._kit.run(await self._approved(request, result), requester=REQUESTER)
        _unless_blocked(result)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._streams += 1
        try:
            async with aclosing(self._kit.follow(result.exec_id, requester=REQUESTER)) as pieces:
                try:
                    async for stream, text in pieces:
                        yield OutputChunk.of(text, stream)
                except GeneratorExit:
                    self._left_streams.add(ended)
                    raise
        finally:
            self._streams -= 1
            self._left_streams.discard(ended)
            ended.set_result(None)

    async def _be_ready(self) -> None:
        """Wait for the end of a stream that was left with ``break``: the event loop closes it, some turns later.

        Raises SessionClosed.
        """
        if self._is_closed:
            raise SessionClosed(f"Session {self._name!r} is closed.", hint="Open another with create.")
        if self._streams:
            for _ in range(_TURNS_TO_CLOSE):
                await asyncio.sleep(0)
            if self._left_streams:
                await asyncio.wait(self._left_streams)

    async def _run(self, request: RunRequest) -> ExecResult:
        """Run it; the approver is asked as well about what waits beneath it (an exec, a connection)."""
        if self._approver is None:
            return await self._kit.run(request, requester=REQUESTER)
        task = asyncio.ensure_future(self._kit.run(request, requester=REQUESTER))
        asked: set[str] = set()
        try:
            while not (await asyncio.wait({task}, timeout=_LOOK_S))[0]:
                for approval_id, decision in self._kit.held(self._name, requester=REQUESTER).items():
                    if approval_id not in asked:
                        asked.add(approval_id)
                        with contextlib.suppress(ApprovalExpired):  # answered elsewhere meanwhile
                            await self._put_to_approver(approval_id, decision)
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _approved(self, request: RunRequest, result: ExecResult) -> RunRequest:
        assert result.approval_id is not None
        assert result.decision is not None
        is_asked = await self._put_to_approver(result.approval_id, result.decision)
        return request.approved_by(result.approval_id) if is_asked else request

    async def _put_to_approver(self, approval_id: str, decision: Decision) -> bool:
        """Have the approver answer; False where this question is not his to answer."""
        assert self._approver is not None
        text = self._kit.question(approval_id, channel="callback")
        if text is None:
            return False
        question = Question(approval_id=approval_id, text=text, decision=decision)
        self._kit.answer(
            approval_id, approve=await self._approver(question) is True, channel="callback", who="approver"
        )
        return True

    async def snapshot(self, name: str | None = None) -> str:
        """Keep the workspace of a sandbox as it is, under ``name`` or the next free one, which is returned.

        Raises:
            CheckpointNotFound: the session is no sandbox.
            CheckpointConflict: a process of it still runs, or the name is taken.
        """
        facts = await self._sandbox(SandboxRequest(action="snapshot", session=self._name, snapshot=name))
        return str(facts["snapshot"])

    async def restore(self, snapshot: str) -> None:
        """Make the workspace of a sandbox what it was at ``snapshot``; raises as ``snapshot`` does."""
        await self._sandbox(SandboxRequest(action="restore", session=self._name, snapshot=snapshot))

    async def fork(self, snapshot: str | None = None) -> "Session":
        """A second sandbox that starts from this one's workspace, or from ``snapshot``; both write for themselves."""
        facts = await self._sandbox(SandboxRequest(action="fork", session=self._name, snapshot=snapshot))
        name = str(facts["fork"])
        stack = AsyncExitStack()
        stack.push_async_callback(self._kit.close_session, name, requester=REQUESTER)
        return Session(self._kit, name, self._approver, stack)

    async def diff(self) -> Mapping[str, object]:
        """What a sandbox changed in its workspace: ``changes`` (a line each), ``count`` and ``text`` with the lines."""
        return await self._sandbox(SandboxRequest(action="diff", session=self._name, max_output=MAX_OUTPUT_CHARS))

    async def apply(self, *, reason: str = "", approval_id: str | None = None) -> int:
        """Write a sandbox's changes into the real workspace, once a person has seen and approved them; how many.

        Raises:
            ApprovalRequired: no approver was given, or nobody answered.
            ApprovalDenied, ApprovalExpired: a person said no, or yes to something else.
            CheckpointConflict: the workspace is no longer what it was when the changes were shown.
        """
        request = SandboxRequest(action="apply", session=self._name, reason=reason, approval_id=approval_id)
        facts = await self._sandbox(request)
        pending = facts.get("approval_id")
        if pending is not None and self._approver is not None:
            text = self._kit.question(str(pending), channel="callback")
            if text is not None:
                decision = Decision(
                    verdict=Verdict.ASK,
                    canonical=None,
                    rule=None,
                    reason_code=ReasonCode.PATH_WRITE,
                    message=str(facts["message"]),
                    hint="",
                    policy=PolicyRef(name=self._kit.policy_name, digest=""),
                )
                question = Question(approval_id=str(pending), text=text, decision=decision)
                approved = await self._approver(question) is True
                self._kit.answer(str(pending), approve=approved, channel="callback", who="approver")
                facts = await self._sandbox(replace(request, approval_id=str(pending)))
                pending = facts.get("approval_id")
        if pending is not None:
            raise ApprovalRequired(
                str(facts["message"]),
                approval_id=str(pending),
                hint=f"A person must run `execkit-mcp approve {pending}`; then call again with approval_id.",
            )
        return int(str(facts["applied"]))

    async def _sandbox(self, request: SandboxRequest) -> Mapping[str, object]:
        return await self._kit.sandbox(request, requester=REQUESTER)

    async def close(self) -> None:
        """End the shell and everything below it; closing twice does nothing."""
        self._is_closed = True
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Creation:
    """What ``create`` returns: await it, or use it with ``async with``."""

    def __init__(self, open_session: Callable[[], Awaitable[Session]]) -> None:
        self._open = open_session
        self._session: Session | None = None

    def __await__(self) -> Generator[None, None, Session]:
        return self._open().__await__()

    async def __aenter__(self) -> Session:
        self._session = await self._open()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()


def create(
    target: str = "local",
    *,
    policy: Policy | Location | None = None,
    cwd: Location | None = None,
    approver: Approver | None = None,
    workspace: Location | None = None,
    config: Location | None = None,
    state_dir: Location | None = None,
) -> _Creation:
    """Open a session; await what this returns, or use it with ``async with``.

    Args:
        target: a declared target, or a URL: ``local://``, ``ssh://user@host:port/folder``.
        policy: a Policy, or the name or path of one; default ``workstation``.
        cwd: the folder to start in; default: the workspace.
        approver: asked when the policy says ``ask``.
        workspace: what ``${workspace}`` means in the policy; default: the current folder.
        config: a configuration file.
        state_dir: where approvals and the audit log are kept.

    Raises:
        TransportUnknown, TransportUnavailable: there is no such target, or it cannot be opened here.
        PolicyInvalid, ConfigError: policy or configuration is wrong.
    """
    return _Creation(
        lambda: _open(
            target,
            policy=policy.compiled if isinstance(policy, Policy) else _spelled("policy", policy, "a Policy, "),
            cwd=_spelled("cwd", cwd),
            approver=approver,
            workspace=_spelled("workspace", workspace),
            config=_spelled("config", config),
            state_dir=_spelled("state_dir", state_dir),
        )
    )


def _spelled(name: str, value: object, others: str = "") -> str | None:
    """``value`` as text; raises ConfigError."""
    if value is None:
        return None
    with contextlib.suppress(TypeError):
        spelled = os.fspath(value)  # type: ignore[call-overload]
        if isinstance(spelled, str):
            return spelled
    raise ConfigError(f"{name} is {value!r}; it must be {others}text, a path, or None.", hint="Pass one of these.")


async def _open(
    target: str,
    *,
    policy: CompiledPolicy | str | None,
    cwd: str | None,
    approver: Approver | None,
    workspace: str | None,
    config: str | None,
    state_dir: str | None,
) -> Session:
    if not isinstance(target, str):
        raise ConfigError(f"target is {target!r}; it must be text.", hint="Pass a target's name, or a URL.")
    if approver is not None and not callable(approver):
        raise ConfigError(f"approver is {approver!r}, which cannot be called.", hint="Pass a function.")
    name, declared = named_target(target, config, has_policy=policy is not None)
    stack = AsyncExitStack()
    try:
        kit = await stack.enter_async_context(
            open_kit(
                policy=policy,
                config=config,
                workspace=workspace,
                state_dir=state_dir,
                targets=declared,
            )
        )
        opened = await kit.open_session(target=name, cwd=cwd, requester=REQUESTER)
    except BaseException:
        await stack.aclose()
        raise
    return Session(kit, str(opened["session"]), approver, stack)


def named_target(target: str, config: str | None, *, has_policy: bool = False) -> tuple[str, dict[str, TargetSettings]]:
    """The target's name, and for ``ssh://[user@]host[:port][/folder]`` its declaration.

    A target that the configuration declares under the host's name gives what the URL leaves open.

    Raises:
        TransportUnavailable, TransportUnknown: a URL of another transport.
        ConfigError: a URL that is none, or holds a password.
    """
    name = target_of(target)
    if "://" not in target or name != "ssh":
        return name, {}
    try:
        url = urlsplit(target)
        host, port = url.hostname or "", url.port
    except ValueError as error:
        raise ConfigError(f"{target!r} is no ssh URL: {error}.", hint="Write ssh://user@host:port.") from None
    if url.password is not None or not host or url.query or url.fragment or host.startswith("-"):
        raise ConfigError(
            "An ssh URL holds user, host, port and folder, nothing else.",
            hint="Write ssh://user@host:port/folder; keys come from the agent or from identity_file.",
        )
    host = url.netloc.rpartition("@")[2].partition(":")[0] if "[" not in url.netloc else host  # as it is spelled
    base = load_settings(config=config).targets.get(host)
    stated: dict[str, str | int | float] = {}
    if base is not None and base.transport == "ssh":
        stated = {key: base.options[key] for key in base.stated}
    stated.setdefault("host", host)
    stated.update({"user": unquote(url.username)} if url.username else {})
    stated.update({"port": port} if port is not None else {})
    folder = unquote(url.path) if url.path not in {"", "/"} else (base.cwd if base is not None else None)
    return target, {
        target: TargetSettings(
            name=target,
            transport="ssh",
            policy=base.policy if base is not None and not has_policy else None,
            cwd=folder,
            options=stated,
            stated=frozenset(stated),
            origin="the caller",
        )
    }


def target_of(target: str) -> str:
    """The declared target, or the transport, that ``target`` (a name or a URL) means.

    Raises:
        TransportUnavailable: a URL of a transport that this version does not have.
        TransportUnknown: a URL of no transport at all.
    """
    if "://" not in target:
        return target
    scheme = urlsplit(target).scheme
    if scheme in {"local", "sandbox", "ssh"}:
        return scheme
    planned = ("docker", "kubernetes")
    if scheme in planned:
        raise TransportUnavailable(
            f"{scheme} sessions are not part of this version.", hint="Use local or ssh://user@host."
        )
    raise TransportUnknown(f"There is no transport {scheme!r}.", hint="Use local or ssh://user@host.")


def _unless_blocked(result: ExecResult) -> ExecResult:
    decision = result.decision
    if result.status is Status.DENIED and decision is not None:
        raise Blocked(decision.message, decision=decision, hint=decision.hint)
    if result.status is Status.APPROVAL_PENDING and decision is not None:
        raise ApprovalRequired(
            decision.message,
            decision=decision,
            approval_id=result.approval_id or "",
            hint=f"A person must run `execkit-mcp approve {result.approval_id}`; then call again with approval_id.",
        )
    return result
