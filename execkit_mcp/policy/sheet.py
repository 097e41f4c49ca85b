"""One policy file as written, before its includes are merged: None means "says nothing about this".

The classes compare by identity and have no repr: nobody needs it, and each start would pay for it.
"""

from collections.abc import Mapping
from dataclasses import field

from execkit_mcp.model.record import record
from execkit_mcp.model.source import Place
from execkit_mcp.model.verdict import Verdict
from execkit_mcp.policy.document import Example, PathRules, Rule


@record
class Include:
    """One entry of ``include`` and where it stands."""

    name: str
    place: Place


@record(kw_only=True, eq=False)
class DefaultsPart:
    """The section ``defaults``."""

    decision: Verdict | None = None
    unparsed: Verdict | None = None
    unresolved: Verdict | None = None


@record(kw_only=True, eq=False)
class LimitsPart:
    """The section ``limits``."""

    time_s: float | None = None
    time_max_s: float | None = None
    output_bytes: int | None = None
    commands: int | None = None
    processes: int | None = None
    background: Verdict | None = None


@record(kw_only=True, eq=False)
class ShellPart:
    """The section ``shell``."""

    functions: Verdict | None = None
    state: tuple[str, ...] | None = None
    env_set: tuple[str, ...] | None = None
    env_force: Mapping[str, str] = field(default_factory=dict)


@record(kw_only=True, eq=False)
class NetworkPart:
    """The section ``network``."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


@record(kw_only=True, eq=False)
class ProgramsPart:
    """The section ``programs``."""

    folders: tuple[str, ...] | None = None
    named: Mapping[str, str] = field(default_factory=dict)


@record(kw_only=True, eq=False)
class HazardsPart:
    """The section ``hazards``."""

    ask: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None


@record(kw_only=True, eq=False)
class WrittenRule:
    """A rule with its place; ``has_id`` tells whether the author named it."""

    rule: Rule
    has_id: bool
    place: Place


@record(kw_only=True, eq=False)
class WrittenExample:
    """A test with its place, for the check that its rule exists."""

    example: Example
    place: Place


@record(kw_only=True, eq=False)
class Sheet:
    """Everything that one file says."""

    name: str
    place: Place
    include: tuple[Include, ...] = ()
    defaults: DefaultsPart = DefaultsPart()
    limits: LimitsPart = LimitsPart()
    shell: ShellPart = ShellPart()
    paths: PathRules = field(default_factory=PathRules)
    network: NetworkPart = NetworkPart()
    programs: ProgramsPart = ProgramsPart()
    rules: tuple[WrittenRule, ...] = ()
    hazards: HazardsPart = HazardsPart()
    tests: tuple[WrittenExample, ...] = ()
