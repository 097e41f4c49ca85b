"""How well a policy holds what it denies: its own denied tests, spelled differently, judged again."""

from collections import Counter

from msgspec import Struct

from execkit_mcp.model import Verdict
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.document import Example
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.examples import example_context
from execkit_mcp.policy.findings import Context
from execkit_mcp.policy.variants import Variant, variants


class Escape(Struct, frozen=True, kw_only=True):
    """A variant of a denied test that the policy allows."""

    example: Example
    variant: Variant
    rule: str | None

    def to_json(self) -> dict[str, object]:
        """The escape as a JSON object."""
        return {
            "command": self.variant.text,
            "kind": self.variant.kind,
            "origin": self.example.run,
            "source": self.example.source,
            "rule": self.rule,
        }


class Score(Struct, frozen=True, kw_only=True):
    """What came of an attack on a policy's own denials.

    Attributes:
        origins: denied tests that were attacked.
        total: variants that were judged.
        escapes: those that came out allowed.
        by_kind: variants of each kind.
    """

    origins: int
    total: int
    escapes: tuple[Escape, ...]
    by_kind: Counter[str]

    @property
    def stopped(self) -> int:
        """How many variants were asked about or denied."""
        return self.total - len(self.escapes)

    def to_json(self) -> dict[str, object]:
        """The score as a JSON object."""
        return {
            "origins": self.origins,
            "total": self.total,
            "stopped": self.stopped,
            "kinds": dict(sorted(self.by_kind.items())),
            "escapes": [each.to_json() for each in self.escapes],
        }


def mutate(policy: CompiledPolicy, context: Context) -> Score:
    """Judge every variant of every test that expects ``deny`` and is denied."""
    escapes: list[Escape] = []
    by_kind: Counter[str] = Counter()
    origins = 0
    for example in policy.document.tests:
        where = example_context(example, context)
        if example.expect is not Verdict.DENY or judge(example.run, policy, where).verdict is not Verdict.DENY:
            continue
        origins += 1
        for variant in variants(example.run):
            by_kind[variant.kind] += 1
            told = judge(variant.text, policy, where)
            if told.verdict is Verdict.ALLOW:
                escapes.append(Escape(example=example, variant=variant, rule=told.rule))
    return Score(origins=origins, total=by_kind.total(), escapes=tuple(escapes), by_kind=by_kind)
