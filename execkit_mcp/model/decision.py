"""What the policy said about one text, and everything needed to explain it."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from execkit_mcp.model.verdict import ReasonCode, Verdict


class EffectKind(StrEnum):
    """What an argv would do, by kind."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NET = "net"
    PROCESS = "process"
    STATE = "state"
    UNKNOWN = "unknown"


READ: Final = EffectKind.READ
WRITE: Final = EffectKind.WRITE
NET: Final = EffectKind.NET


class Effect(Struct, frozen=True, gc=False):
    """One thing that a command would do.

    Attributes:
        kind: what kind of thing.
        value: the path, ``host:port``, argv as text, or builtin; ``""`` or ``"unknown"`` where it is not known.
    """

    kind: EffectKind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind}({self.value})" if self.value else str(self.kind)


class Severity(StrEnum):
    """How bad a hazard is; ``critical`` ones are approved out of band only."""

    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class HazardHit(Struct, frozen=True, kw_only=True, gc=False):
    """A dangerous pattern that was found."""

    id: str
    severity: Severity
    message: str


class JudgedCommand(Struct, frozen=True, kw_only=True, gc=False):
    """One simple command of the text (redirects and substitutions have rows of their own).

    Attributes:
        argv: the words as the program would see them; a dynamic word stands as its canonical source.
        program: the program's name or path; empty for a bare assignment or redirect.
        effects: what it would do.
        verdict: what was decided for this part.
        rule: id of the deciding rule, or None.
        source: ``file:line`` of that rule, or empty.
        reason_code: why.
        message: why, in a sentence.
    """

    argv: tuple[str, ...]
    program: str
    effects: tuple[Effect, ...]
    verdict: Verdict
    rule: str | None
    source: str
    reason_code: ReasonCode
    message: str


class PolicyRef(Struct, frozen=True, kw_only=True):
    """Which policy decided: its name and the digest of everything it was loaded from."""

    name: str
    digest: str


class RuleLimits(Struct, frozen=True, kw_only=True):
    """Limits that the deciding rules put on a run; None where they say nothing."""

    time_s: float | None = None
    time_max_s: float | None = None


class ApprovalTerms(Struct, frozen=True, kw_only=True):
    """How a human is to be asked, when the verdict is ``ask``.

    Attributes:
        channel: ``elicit``, ``out_of_band`` or ``both``.
        ttl_s: seconds after which an unanswered request is a denial.
        is_ttl_stated: whether a rule says so; otherwise the configuration may.
    """

    channel: str = "both"
    ttl_s: float = 300.0
    is_ttl_stated: bool = False


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """The verdict on a text, with its reason; explains itself.

    ``canonical`` is the only text that may ever reach a shell; None when the text did not parse. ``only_reads``: it
    is allowed, and every part of it is known, whole, to do no more than read files.
    """

    verdict: Verdict
    canonical: str | None
    rule: str | None
    reason_code: ReasonCode
    message: str
    hint: str
    policy: PolicyRef
    hazards: tuple[HazardHit, ...] = ()
    commands: tuple[JudgedCommand, ...] = ()
    limits: RuleLimits = RuleLimits()
    approval: ApprovalTerms = ApprovalTerms()
    warnings: tuple[str, ...] = ()
    only_reads: bool = False

    def to_json(self) -> dict[str, object]:
        """The decision as the JSON object of the policy format."""
        return {
            "verdict": self.verdict.word,
            "canonical": self.canonical,
            "rule": self.rule,
            "reason_code": self.reason_code.value,
            "message": self.message,
            "hint": self.hint,
            "hazards": [{"id": hit.id, "severity": hit.severity.value, "message": hit.message} for hit in self.hazards],
            "commands": [
                {
                    "argv": list(command.argv),
                    "program": command.program,
                    "effects": [str(effect) for effect in command.effects],
                    "verdict": command.verdict.word,
                    "rule": command.rule,
                    "source": command.source,
                }
                for command in self.commands
            ],
            "policy": {"name": self.policy.name, "digest": self.policy.digest},
        }
