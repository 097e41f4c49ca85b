"""Dangerous patterns: this package is the table of them, one file a family, matched against what a text would do.

A hazard raises an allow to ask (or deny), whatever rule allowed it. A row says how bad it is and why, and carries an
example that shows it and one that looks alike and does not; tests hold both. Ids are stable: policies name them.
"""

from collections.abc import Sequence

from execkit_mcp.model import WRITE, HazardHit, Verdict
from execkit_mcp.policy import globs, groups
from execkit_mcp.policy.document import HazardRules
from execkit_mcp.policy.findings import Act
from execkit_mcp.policy.hazards import (
    cloud,
    code,
    containers,
    database,
    disk,
    exfiltration,
    filesystem,
    git_history,
    kubernetes,
    logs,
    network,
    packages,
    persistence,
    privilege,
    resources,
)
from execkit_mcp.policy.hazards.shape import Hazard, Scene, Shape, Table

FAMILIES: dict[str, tuple[Hazard, ...]] = {
    "filesystem": filesystem.HAZARDS,
    "disk": disk.HAZARDS,
    "code": code.HAZARDS,
    "git history": git_history.HAZARDS,
    "containers": containers.HAZARDS,
    "kubernetes": kubernetes.HAZARDS,
    "cloud": cloud.HAZARDS,
    "database": database.HAZARDS,
    "network": network.HAZARDS,
    "privilege": privilege.HAZARDS,
    "persistence": persistence.HAZARDS,
    "exfiltration": exfiltration.HAZARDS,
    "resource exhaustion": resources.HAZARDS,
    "log tampering": logs.HAZARDS,
    "packages": packages.HAZARDS,
}
HAZARDS = tuple(row for rows in FAMILIES.values() for row in rows)

_TABLE = Table(HAZARDS)
BY_ID = _TABLE.by_id
find = _TABLE.find


def written_by(acts: Sequence[Act]) -> tuple[str, ...]:
    """The paths that programs write."""
    return tuple(
        [
            effect.value.removesuffix("/**")
            for act in acts
            if act.effects
            for effect in act.effects
            if effect.kind is WRITE
        ]
    )


def verdict_on(hazard: Hazard, rules: HazardRules) -> Verdict:
    """What the policy says about a hazard."""
    if _listed(hazard, rules.deny):
        return Verdict.DENY
    return Verdict.ASK if _listed(hazard, rules.ask) else Verdict.ALLOW


def _listed(hazard: Hazard, entries: Sequence[str]) -> list[str]:
    """The entries that mean the hazard."""
    return [entry for entry in entries if entry in (groups.DANGEROUS, hazard.id) or globs.matches(hazard.id, entry)]


def hint(hazard: Hazard, rules: HazardRules, verdict: Verdict, inherited: frozenset[str] = frozenset()) -> str:
    """What to change in ``hazards`` to hear less of a hazard; a glob or a group has no exceptions.

    Args:
        hazard: the row.
        rules: the merged lists.
        verdict: what they say about it.
        inherited: ``hazards.ask ENTRY`` for the entries that came from an include: nothing takes those back.
    """
    key = "deny" if verdict is Verdict.DENY else "ask"
    kept = [entry for entry in _listed(hazard, getattr(rules, key)) if f"hazards.{key} {entry}" in inherited]
    if kept:
        return (
            f"`{kept[0]}` under `hazards.{key}` comes from an include, and such lists only add up: to change it, "
            "write what the include holds into the policy itself."
        )
    wide = [entry for entry in _listed(hazard, getattr(rules, key)) if entry != hazard.id]
    if wide:
        through = f"`hazards.{key}` has it through `{wide[0]}`: list the ids that it is for by name instead"
        return (
            f"{through}, and `{hazard.id}` under `hazards.ask`." if key == "deny" else f"{through} to run this unasked."
        )
    if key == "deny":
        return f"Move `{hazard.id}` from `hazards.deny` to `hazards.ask` to let a person decide."
    return f"Take `{hazard.id}` out of `hazards.ask` only if every such command is meant to run unasked."


def hit_of(hazard: Hazard) -> HazardHit:
    """The hazard as decisions carry it."""
    return HazardHit(id=hazard.id, severity=hazard.severity, message=f"This {hazard.message}.")


__all__ = [
    "BY_ID",
    "FAMILIES",
    "HAZARDS",
    "Hazard",
    "Scene",
    "Shape",
    "find",
    "hint",
    "hit_of",
    "verdict_on",
    "written_by",
]
