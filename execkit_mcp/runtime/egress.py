"""What decides for one session's way out: its policy, what its running command was judged for, and a person.

A host that the policy allows is open. So is, while a command runs, each host that this command was judged to reach:
whoever approved ``curl https://example.com`` is not asked again by the network. Any other host is what
``defaults.decision`` says; where that is ``ask``, the connection waits while a person decides, and a yes holds for
that host and port as long as the session does.
"""

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from execkit_mcp.errors import ApprovalDenied, ExecKitError
from execkit_mcp.model import Decision, ReasonCode, Refusal, Verdict
from execkit_mcp.model.decision import ApprovalTerms, Effect, EffectKind, JudgedCommand
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.egress import (
    PROXY_PORT,
    EgressRuling,
    judge_address,
    judge_name,
    judge_target,
    opens_loopback,
)
from execkit_mcp.policy.network import Endpoint, endpoint_of
from execkit_mcp.runtime.asking import Waiting
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session

if TYPE_CHECKING:
    from execkit_mcp.fence.egress import Outcome

__all__ = ["Egress", "SessionGuard", "egress_for", "open_places", "proxy_variables", "without_proxy"]

_PROXY_NAMES: Final = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_DIRECT_NAMES: Final = ("no_proxy", "NO_PROXY")
_LOOPBACK: Final = ipaddress.ip_address("127.0.0.1")
_ANYWHERE: Final = "*"
_CONFIGURED: Final = "configured"
_UNNAMED: Final = frozenset({"", "unknown", _CONFIGURED})
_POLL_S: Final = 0.25
_MAX_REFUSALS: Final = 40


class SessionGuard:
    """The guard of one session.

    Args:
        policies: the session's own, and those that narrow it: each must let it through.
        current: the command that runs, if one does.
        ask: puts a decision to a person, or asks for the answer to an approval of that id: the id while there is none,
            None for a yes; raises ExecKitError for a no.
        record: puts something on the record.
        opened: called when something was let through.
    """

    def __init__(
        self,
        *,
        policies: Sequence[CompiledPolicy],
        current: Callable[[], Exec | None],
        ask: Callable[[Decision, str | None], str | None],
        record: Callable[[str, Mapping[str, object]], None],
        opened: Callable[[], None] = lambda: None,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._policies = tuple(policies)
        self._policy = self._policies[0]
        self._current = current
        self._ask = ask
        self._record = record
        self._opened = opened
        self._redact = redact
        self._granted: tuple[str, ...] = ()
        self._asked: dict[str, asyncio.Task[EgressRuling]] = {}

    @property
    def _open(self) -> tuple[str, ...]:
        exec_ = self._current()
        return self._granted if exec_ is None else (*self._granted, *open_places(exec_.decision, self._policy))

    async def judge(self, endpoint: Endpoint) -> EgressRuling:
        """Whether it may be asked for; waits while a person decides."""
        opened = self._open
        ruling = max(
            (
                judge_target(endpoint, each.document.network, default=each.document.defaults.decision, granted=opened)
                for each in self._policies
            ),
            key=lambda each: each.verdict,
        )
        if ruling.verdict is not Verdict.ASK:
            return ruling
        key = str(endpoint)
        task = self._asked.get(key)
        if task is None:
            task = self._asked[key] = asyncio.get_running_loop().create_task(self._ask_person(endpoint, ruling))
            task.add_done_callback(lambda _: self._asked.pop(key, None))
        return await asyncio.shield(task)

    async def _ask_person(self, endpoint: Endpoint, ruling: EgressRuling) -> EgressRuling:
        exec_ = self._current()
        decision = self._question(endpoint, ruling)
        approval_id = ""
        try:
            approval_id = self._ask(decision, None) or ""
            if approval_id and exec_ is not None:
                self._hold(exec_, endpoint, approval_id, decision)
            while approval_id and self._ask(decision, approval_id) is not None:  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL_S)
        except ExecKitError as error:
            return EgressRuling(verdict=Verdict.DENY, reason=f"{endpoint}: {error.message}", hint=error.hint)
        finally:
            if exec_ is not None:
                exec_.held.pop(approval_id, None)
        self._granted = (*self._granted, str(endpoint))
        return EgressRuling(verdict=Verdict.ALLOW, reason=f"A person opened it: {approval_id or 'by a grant'}.")

    def _hold(self, exec_: Exec, endpoint: Endpoint, approval_id: str, decision: Decision) -> None:
        exec_.held[approval_id] = decision
        exec_.notes.append(
            f"held: a connection to {endpoint} waits until a person decides on {approval_id}"
            f" (execkit-mcp approve {approval_id})"
        )

    def _question(self, endpoint: Endpoint, ruling: EgressRuling) -> Decision:
        effect = Effect(EffectKind.NET, str(endpoint))
        text = f"connect {endpoint}"
        message = f"{ruling.reason} A yes opens this host and port until the session ends."
        command = JudgedCommand(
            argv=("connect", str(endpoint)),
            program="connect",
            effects=(effect,),
            verdict=Verdict.ASK,
            rule=None,
            source="",
            reason_code=ReasonCode.NETWORK,
            message=message,
        )
        return Decision(
            verdict=Verdict.ASK,
            canonical=text,
            rule=None,
            reason_code=ReasonCode.NETWORK,
            message=message,
            hint=ruling.hint,
            policy=self._policy.ref,
            commands=(command,),
            approval=ApprovalTerms(),
        )

    def judge_address(self, endpoint: Endpoint, address: str, *, is_own: bool) -> EgressRuling:
        """Whether it may be reached at ``address``."""
        opened = self._open
        rulings = (
            judge_address(endpoint, address, each.document.network, is_own=is_own, granted=opened)
            for each in self._policies
        )
        return max(rulings, key=lambda each: each.verdict)

    def judge_name(self, endpoint: Endpoint, name: Endpoint) -> EgressRuling:
        """Whether a tunnel to ``endpoint`` may speak of ``name``."""
        opened = self._open
        rulings = (judge_name(endpoint, name, each.document.network, granted=opened) for each in self._policies)
        return max(rulings, key=lambda each: each.verdict)

    def record(self, outcome: "Outcome") -> None:
        """Put an attempt on the record, and a refusal into the result of the command beneath which it happened."""
        exec_ = self._current()
        self._record(
            "egress.opened" if outcome.is_open else "egress.refused",
            {
                "exec_id": exec_.exec_id if exec_ is not None else None,
                "place": self._redact(outcome.target),
                "kind": outcome.kind,
                "address": outcome.address,
                "reason": self._redact(outcome.reason),
            },
        )
        if outcome.is_open:
            self._opened()
        if exec_ is None or not outcome.is_refused:
            return
        refusal = Refusal(
            program="network",
            argv=("connect", self._redact(outcome.target)),
            rule=None,
            reason_code=ReasonCode.NETWORK.value,
            message=self._redact(outcome.reason),
            hint=self._redact(outcome.hint),
        )
        if len(exec_.refused) < _MAX_REFUSALS and refusal not in exec_.refused:
            exec_.refused.append(refusal)

    def close(self) -> None:
        """Nobody waits any more."""
        for task in tuple(self._asked.values()):
            task.cancel()


def open_places(decision: Decision, policy: CompiledPolicy) -> tuple[str, ...]:
    """The places that the command which runs may reach beside ``network.allow``; ``*`` where only the program knows.

    What a person approved is open as he saw it. What a rule allows has its hosts in ``network.allow`` already, but for
    a server that is configured elsewhere. A rule that vouches (``trusted``) says nothing of hosts, and opens none.
    """
    trusted = {rule.id for rule in policy.document.rules if rule.effects is not None and rule.effects.is_trusted}
    found: dict[str, None] = {}
    for command in decision.commands:
        is_approved = command.verdict is Verdict.ASK
        for effect in command.effects:
            if effect.kind is not EffectKind.NET:
                continue
            endpoint = endpoint_of(effect.value) if effect.value not in _UNNAMED else None
            if is_approved:
                found[str(endpoint) if endpoint is not None else _ANYWHERE] = None
            elif effect.value == _CONFIGURED and command.rule not in trusted:
                found[_ANYWHERE] = None
    return tuple(found)


def proxy_variables(policy: CompiledPolicy) -> dict[str, str]:
    """The variables by which programs find the proxy; loopback is the session's own, unless the policy opens ours."""
    found = dict.fromkeys(_PROXY_NAMES, f"http://127.0.0.1:{PROXY_PORT}")
    if not opens_loopback(policy.document.network):
        found |= dict.fromkeys(_DIRECT_NAMES, "localhost,127.0.0.1,::1")
    return found


def without_proxy(env: Mapping[str, str]) -> dict[str, str]:
    """An environment for a shell that has the host's own network."""
    return {name: value for name, value in env.items() if name not in {*_PROXY_NAMES, *_DIRECT_NAMES}}


class Egress:
    """The proxy of one session: serves the listeners of its shell, and of each one that replaces it."""

    def __init__(self, guard: SessionGuard, ports: tuple[int, ...]) -> None:
        self._guard = guard
        self._ports = ports
        from execkit_mcp.fence.egress import EgressProxy  # noqa: PLC0415 - HTTP, for sessions with a way out only

        self._proxy = EgressProxy(guard)
        self._tasks: set[asyncio.Task[None]] = set()

    def attach(self, listeners: Sequence[int]) -> None:
        """Serve what a shell's own network has listeners for, and no more those of the shell before it."""
        for before in self._tasks:
            before.cancel()
        self._proxy.leave()
        for port, fd in zip(self._ports, listeners, strict=False):
            listener = socket.socket(fileno=os.dup(fd))
            task = asyncio.get_running_loop().create_task(self._serve(port, listener))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, port: int, listener: socket.socket) -> None:
        try:
            if port == PROXY_PORT:
                await self._proxy.serve(listener)
            else:
                await self._proxy.serve_service(listener, Endpoint("127.0.0.1", str(port), _LOOPBACK))
        except asyncio.CancelledError:
            listener.close()
            raise

    async def close(self) -> None:
        """Cut every connection; nobody is asked any more."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._guard.close()
        await self._proxy.close()


def egress_for(session: Session, gate: Gate) -> Egress | None:
    """The way out of a session, where its fence has one."""
    facts = session.facts
    if facts.plan is None or not facts.plan.listeners:
        return None

    def ask(decision: Decision, approval_id: str | None) -> str | None:
        request = RunRequest(
            command=decision.canonical or "", reason="A program of the session connects.", approval_id=approval_id
        )
        answer = gate.asking.ask(decision, request, session)
        if isinstance(answer, Waiting):
            return answer.approval_id
        if answer.decision.canonical != decision.canonical:
            raise ApprovalDenied("The text was changed, and a connection that waits cannot become another.")
        return None

    guard = SessionGuard(
        policies=facts.policies,
        current=lambda: session.current,
        ask=ask,
        record=lambda kind, data: gate.record(kind, {"session": session.name, **data}),
        opened=session.network_opened,
        redact=session.redact,
    )
    return Egress(guard, facts.plan.listeners)
