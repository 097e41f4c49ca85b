"""Nouns: frozen values that every other folder may speak of."""

from execkit_mcp.model.decision import (
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
from execkit_mcp.model.result import ExecResult, Fence, Status, StreamCount
from execkit_mcp.model.verdict import ReasonCode, Verdict

__all__ = [
    "ApprovalTerms",
    "Clock",
    "Decision",
    "Effect",
    "EffectKind",
    "Entropy",
    "ExecResult",
    "Fence",
    "HazardHit",
    "JudgedCommand",
    "PolicyRef",
    "ProgramLocator",
    "ReasonCode",
    "RuleLimits",
    "Severity",
    "Status",
    "StreamCount",
    "Verdict",
]
