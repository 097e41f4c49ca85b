"""What a person is asked to approve, and the digest that ties the answer to exactly that.

The digest covers everything that changes what runs: canonical command, target, the user it runs as, cwd,
policy digest, requester, standard input, and whether the agent may type into it. Each field is written as
``name:bytes:`` and its bytes, so that no two different requests have the same encoding, whatever characters
stand in them.

What the digest does not cover: the values that the session's variables will have when the command runs. A
command that uses them shows their names.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from execkit_mcp.model import Decision, HazardHit, PolicyRef, Severity

__all__ = ["SHOWN_STDIN_CHARACTERS", "ApprovalRequest", "Stdin"]

SHOWN_STDIN_CHARACTERS = 4000
_FORMAT = b"execkit approval 1\n"


class Stdin(Struct, frozen=True, kw_only=True):
    """Standard input of the command: its head to look at, the digest and size of the whole to bind to."""

    sha256: str
    size_bytes: int
    head: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The summary of ``text``."""
        data = text.encode("utf-8", "surrogatepass")
        return cls(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data), head=text[:SHOWN_STDIN_CHARACTERS])

    @property
    def is_whole(self) -> bool:
        """Whether ``head`` is all of it."""
        return len(self.head.encode("utf-8", "surrogatepass")) == self.size_bytes


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """One question to a person.

    Attributes:
        canonical: the text that would run.
        target: the name of the target.
        cwd: the session's folder.
        policy: which policy said ``ask``.
        requester: who asked: client and session.
        created_s: when, in seconds since the epoch.
        expires_s: from then on the answer is no.
        run_as: the user that it would run as, as far as the target says; empty if it does not.
        stdin: its standard input, if there is any.
        is_tty: whether the agent may type into it while it runs.
        agent_reason: what the agent said it wants; never to be believed.
        message: why the policy asks.
        rule: id of the deciding rule.
        effects: each thing that it would do, as text.
        hazards: the dangerous patterns in it.
        channel: ``elicit``, ``out_of_band`` or ``both``, as the policy says.
    """

    canonical: str
    target: str
    cwd: str
    policy: PolicyRef
    requester: str
    created_s: float
    expires_s: float
    run_as: str = ""
    stdin: Stdin | None = None
    is_tty: bool = False
    agent_reason: str = ""
    message: str = ""
    rule: str | None = None
    effects: tuple[str, ...] = ()
    hazards: tuple[HazardHit, ...] = ()
    channel: str = "both"

    @classmethod
    def from_decision(
        cls,
        decision: Decision,
        *,
        target: str,
        cwd: str,
        requester: str,
        now_s: float,
        run_as: str = "",
        stdin: str | None = None,
        is_tty: bool = False,
        agent_reason: str = "",
    ) -> Self:
        """The question that ``decision`` (verdict ``ask``) raises; ValueError if it has no canonical text."""
        if decision.canonical is None:
            raise ValueError("a text that did not parse cannot be approved")
        effects = dict.fromkeys(str(effect) for command in decision.commands for effect in command.effects)
        return cls(
            canonical=decision.canonical,
            target=target,
            cwd=cwd,
            policy=decision.policy,
            requester=requester,
            created_s=now_s,
            expires_s=now_s + decision.approval.ttl_s,
            run_as=run_as,
            stdin=None if stdin is None else Stdin.of(stdin),
            is_tty=is_tty,
            agent_reason=agent_reason,
            message=decision.message,
            rule=decision.rule,
            effects=tuple(effects),
            hazards=decision.hazards,
            channel=decision.approval.channel,
        )

    @property
    def is_out_of_band_only(self) -> bool:
        """Whether the client's own dialogue may not answer: the policy says so, or a hazard is critical."""
        return self.channel == "out_of_band" or any(hazard.severity is Severity.CRITICAL for hazard in self.hazards)

    @property
    def ttl_s(self) -> float:
        """Seconds from asking to expiry."""
        return self.expires_s - self.created_s

    def bindings(self) -> tuple[tuple[str, str], ...]:
        """What the digest covers: each thing's name, as a person calls it, and its value."""
        return (
            ("command", self.canonical),
            ("target", self.target),
            ("user", self.run_as),
            ("folder", self.cwd),
            ("policy", self.policy.digest),
            ("requester", self.requester),
            ("standard input", "none" if self.stdin is None else f"sha256:{self.stdin.sha256}"),
            ("terminal", "yes" if self.is_tty else "no"),
        )

    def digest(self) -> str:
        """SHA-256 over an encoding of ``bindings`` that no other bindings share."""
        digest = hashlib.sha256(_FORMAT)
        for name, value in self.bindings():
            data = value.encode("utf-8", "surrogatepass")
            digest.update(f"{name}:{len(data)}:".encode())
            digest.update(data)
        return digest.hexdigest()

    def differences(self, other: Self) -> tuple[str, ...]:
        """Names of the bindings in which two requests differ."""
        pairs = zip(self.bindings(), other.bindings(), strict=True)
        return tuple(name for (name, mine), (_, theirs) in pairs if mine != theirs)

    def to_json(self) -> dict[str, object]:
        """The request as a JSON object; ``from_json`` brings it back."""
        return {
            "canonical": self.canonical,
            "target": self.target,
            "cwd": self.cwd,
            "policy": {"name": self.policy.name, "digest": self.policy.digest},
            "requester": self.requester,
            "created_s": self.created_s,
            "expires_s": self.expires_s,
            "run_as": self.run_as,
            "stdin": None
            if self.stdin is None
            else {"sha256": self.stdin.sha256, "size_bytes": self.stdin.size_bytes, "head": self.stdin.head},
            "is_tty": self.is_tty,
            "agent_reason": self.agent_reason,
            "message": self.message,
            "rule": self.rule,
            "effects": list(self.effects),
            "hazards": [
                {"id": hazard.id, "severity": hazard.severity.value, "message": hazard.message}
                for hazard in self.hazards
            ],
            "channel": self.channel,
        }

    def dumps(self) -> str:
        """``to_json`` as ASCII text: every character survives, lone surrogates included."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @classmethod
    def loads(cls, text: str) -> Self:
        """What ``dumps`` wrote; ValueError, KeyError or TypeError for anything else."""
        value = json.loads(text)
        if not isinstance(value, Mapping):
            raise TypeError("an approval request is a JSON object")
        fields = dict(value)
        stdin = fields.pop("stdin")
        hazards = fields.pop("hazards")
        return cls(
            policy=PolicyRef(**fields.pop("policy")),
            stdin=None if stdin is None else Stdin(**stdin),
            hazards=tuple(
                HazardHit(id=hit["id"], severity=Severity(hit["severity"]), message=hit["message"]) for hit in hazards
            ),
            effects=tuple(fields.pop("effects")),
            **fields,
        )
