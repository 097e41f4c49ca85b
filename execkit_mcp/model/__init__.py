"""Nouns: frozen values that every other folder may speak of."""

from execkit_mcp.model.decision import (
    NET,
    READ,
    WRITE,
    ApprovalTerms,
    Decision,
    Effect,
    EffectKind,
    HazardHit,
    JudgedCommand,
    PolicyRef,
    RuleLimits,
    Severity,
)
from execkit_mcp.model.ports import Clock, Entropy, ProgramLocator
from execkit_mcp.model.result import AuditMark, ExecResult, Fence, JobNote, Refusal, Status, StreamCount
from execkit_mcp.model.verdict import ALLOW, ASK, DENY, ReasonCode, Verdict

__all__ = [
    "ALLOW",
    "ASK",
    "DENY",
    "NET",
    "READ",
    "WRITE",
    "ApprovalTerms",
    "AuditMark",
    "Clock",
    "Decision",
    "Effect",
    "EffectKind",
    "Entropy",
    "ExecResult",
    "Fence",
    "HazardHit",
    "JobNote",
    "JudgedCommand",
    "PolicyRef",
    "ProgramLocator",
    "ReasonCode",
    "Refusal",
    "RuleLimits",
    "Severity",
    "Status",
    "StreamCount",
    "Verdict",
]
