"""One policy file as written, before its includes are merged: None means "says nothing about this".

The classes compare by identity and have no repr: nobody needs it, and each start would pay for it.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from execkit_mcp.model.source import Place
from execkit_mcp.model.verdict import Verdict
from execkit_mcp.policy.document import Example, PathRules, RedactRules, Rule


class Include(Struct, frozen=True):
    """One entry of ``include`` and where it stands."""

    name: str
    place: Place


class DefaultsPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``defaults``."""

    decision: Verdict | None = None
    unparsed: Verdict | None = None
    unresolved: Verdict | None = None


class LimitsPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``limits``."""

    time_s: float | None = None
    time_max_s: float | None = None
    output_bytes: int | None = None
    commands: int | None = None
    processes: int | None = None
    background: Verdict | None = None
    durable: Verdict | None = None


class ShellPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``shell``."""

    functions: Verdict | None = None
    state: tuple[str, ...] | None = None
    env_set: tuple[str, ...] | None = None
    env_force: Mapping[str, str] = field(default_factory=dict)


class NetworkPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``network``."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class ProgramsPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``programs``."""

    folders: tuple[str, ...] | None = None
    named: Mapping[str, str] = field(default_factory=dict)


class HazardsPart(Struct, frozen=True, kw_only=True, eq=False):
    """The section ``hazards``."""

    ask: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None


class WrittenRule(Struct, frozen=True, kw_only=True, eq=False):
    """A rule with its place; ``has_id`` tells whether the author named it."""

    rule: Rule
    has_id: bool
    place: Place


class WrittenExample(Struct, frozen=True, kw_only=True, eq=False):
    """A test with its place, for the check that its rule exists."""

    example: Example
    place: Place


class Sheet(Struct, frozen=True, kw_only=True, eq=False):
    """Everything that one file says."""

    name: str
    place: Place
    include: tuple[Include, ...] = ()
    defaults: DefaultsPart = DefaultsPart()
    limits: LimitsPart = LimitsPart()
    shell: ShellPart = ShellPart()
    paths: PathRules = field(default_factory=PathRules)
    network: NetworkPart = NetworkPart()
    redact: RedactRules = RedactRules()
    programs: ProgramsPart = ProgramsPart()
    rules: tuple[WrittenRule, ...] = ()
    hazards: HazardsPart = HazardsPart()
    tests: tuple[WrittenExample, ...] = ()
