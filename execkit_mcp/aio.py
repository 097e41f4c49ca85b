"""The SDK for asyncio: the names of ``execkit_mcp``, awaited.

async with aio.create(policy=Policy.default_deny(allow=["ls", "cat"])) as s:
    r = await s.exec("ls")
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, aclosing
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from msgspec import Struct

from execkit_mcp.errors import ApprovalRequired, Blocked, TransportUnavailable, TransportUnknown
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.model import Decision, ExecResult, Status
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sdk_policy import Policy

__all__ = ["Approver", "OutputChunk", "Question", "Session", "create"]

REQUESTER: Final = "sdk"
MAX_OUTPUT_CHARS: Final = 1_000_000


class Question(Struct, frozen=True, kw_only=True):
    """What a person is asked: ``text`` is to be shown as it stands; ``decision`` is why."""

    approval_id: str
    text: str
    decision: Decision


Approver = Callable[[Question], Awaitable[bool]]
"""Brings a person's answer: True lets the command run once."""


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
        result = await self._kit.run(request, requester=REQUESTER)
        if result.status is Status.APPROVAL_PENDING and self._approver is not None:
            result = await self._kit.run(await self._approved(request, result), requester=REQUESTER)
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
        result = await self._kit.run(request, requester=REQUESTER)
        if result.status is Status.APPROVAL_PENDING and self._approver is not None:
            result = await self._kit.run(await self._approved(request, result), requester=REQUESTER)
        _unless_blocked(result)
        async with aclosing(self._kit.follow(result.exec_id, requester=REQUESTER)) as pieces:
            async for stream, text in pieces:
                yield OutputChunk.of(text, stream)

    async def _approved(self, request: RunRequest, result: ExecResult) -> RunRequest:
        assert self._approver is not None
        assert result.approval_id is not None
        assert result.decision is not None
        text = self._kit.question(result.approval_id, channel="callback")
        if text is None:
            return request
        question = Question(approval_id=result.approval_id, text=text, decision=result.decision)
        self._kit.answer(
            result.approval_id, approve=await self._approver(question) is True, channel="callback", who="approver"
        )
        return request.approved_by(result.approval_id)

    async def close(self) -> None:
        """End the shell and everything below it; closing twice does nothing."""
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
    policy: Policy | str | None = None,
    cwd: str | None = None,
    approver: Approver | None = None,
    workspace: str | None = None,
    config: str | None = None,
    state_dir: str | None = None,
) -> _Creation:
    """Open a session; await what this returns, or use it with ``async with``.

    Args:
        target: a declared target, or a URL such as ``local://``.
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
            policy=policy,
            cwd=cwd,
            approver=approver,
            workspace=workspace,
            config=config,
            state_dir=state_dir,
        )
    )


async def _open(
    target: str,
    *,
    policy: Policy | str | None,
    cwd: str | None,
    approver: Approver | None,
    workspace: str | None,
    config: str | None,
    state_dir: str | None,
) -> Session:
    name = target_of(target)
    stack = AsyncExitStack()
    try:
        kit = await stack.enter_async_context(
            open_kit(
                policy=policy.compiled if isinstance(policy, Policy) else policy,
                config=config,
                workspace=workspace,
                state_dir=state_dir,
            )
        )
        opened = await kit.open_session(target=name, cwd=cwd, requester=REQUESTER)
    except BaseException:
        await stack.aclose()
        raise
    return Session(kit, str(opened["session"]), approver, stack)


def target_of(target: str) -> str:
    """The declared target that ``target`` (a name or a URL) means.

    Raises:
        TransportUnavailable: a URL of a transport that this version does not have.
        TransportUnknown: a URL of no transport at all.
    """
    if "://" not in target:
        return target
    scheme = urlsplit(target).scheme
    if scheme == "local":
        return "local"
    planned = ("ssh", "docker", "kubernetes")
    if scheme in planned:
        raise TransportUnavailable(
            f"{scheme} sessions are not part of this version.", hint='Use "local", the only transport today.'
        )
    raise TransportUnknown(f"There is no transport {scheme!r}.", hint='Use "local".')


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
