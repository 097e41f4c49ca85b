"""A policy as its operator wrote it: the nouns of the policy format, version 1.

Made only by the strict loader in ``config/``; ``policy/compile.py`` turns it into what the engine runs. Every value
that a decision may name keeps its ``source`` (``file:line``).
"""

from collections.abc import Mapping

from msgspec import Struct, field

from execkit_mcp.model import Verdict


class Defaults(Struct, frozen=True, kw_only=True):
    """What happens where no rule speaks."""

    decision: Verdict = Verdict.DENY
    unparsed: Verdict = Verdict.DENY
    unresolved: Verdict = Verdict.ASK


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds on one run.

    ``background`` is the verdict on a command that ends in ``&``, ``durable`` on one that outlives the server.
    """

    time_s: float = 120.0
    time_max_s: float = 3600.0
    output_bytes: int = 8_388_608
    commands: int = 50
    processes: int | None = None
    background: Verdict = Verdict.DENY
    durable: Verdict = Verdict.DENY


class ShellRules(Struct, frozen=True, kw_only=True):
    """What a command may do to the session itself."""

    functions: Verdict = Verdict.DENY
    state: frozenset[str] = frozenset({"cd"})
    env_set: tuple[str, ...] = ()
    env_force: Mapping[str, str] = field(default_factory=dict)


class PathRules(Struct, frozen=True, kw_only=True):
    """Glob patterns. ``read`` None: anything but ``never``; ``write`` None: nothing."""

    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    never: tuple[str, ...] = ()


class NetworkRules(Struct, frozen=True, kw_only=True):
    """``host:port`` patterns; ``allow`` None: none."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Spared(Struct, frozen=True, kw_only=True):
    """What looks like a secret and is none: ``value`` is a glob over the whole of it, ``reason`` says why."""

    value: str
    reason: str


class RedactRules(Struct, frozen=True, kw_only=True):
    """Who is asked about output beside our own rules, and what is not hidden.

    ``detectors`` None: the usual ones; ``entropy`` None: the usual limit. Known values and private keys are
    always hidden.
    """

    detectors: tuple[str, ...] | None = None
    entropy: float | None = None
    allow: tuple[Spared, ...] = ()


class FlagRules(Struct, frozen=True, kw_only=True):
    """Conditions on flags; ``values`` maps a flag to the globs its value must match."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Then(Struct, frozen=True, kw_only=True):
    """Rules of its own for the command behind a wrapper or on another host."""

    allow: tuple["Element", ...] = ()
    ask: tuple["Element", ...] = ()
    deny: tuple["Element", ...] = ()
    paths: PathRules | None = None


class Element(Struct, frozen=True, kw_only=True):
    """One entry of an allow, ask or deny list.

    Attributes:
        program: bare name, glob, absolute path, or ``builtin:NAME`` (a shipped group).
        sub: alternatives of leading subcommand words; empty: any.
        args: globs on operands; None: any; empty: none at all.
        flags: conditions on flags anywhere; global_flags: on those before the subcommand.
        cwd: globs on the current folder; None: any.
        env: names that may be assigned in front of it; None: as ``shell.env.set`` says.
        then: rules for the command it runs.
        source: ``file:line``; column: in that line, 0 where there is none.
    """

    program: str
    sub: tuple[tuple[str, ...], ...] = ()
    args: tuple[str, ...] | None = None
    flags: FlagRules = FlagRules()
    global_flags: FlagRules = FlagRules()
    cwd: tuple[str, ...] | None = None
    env: tuple[str, ...] | None = None
    then: Then | None = None
    source: str = ""
    column: int = 0


class EffectGrants(Struct, frozen=True, kw_only=True):
    """How much of each effect a rule covers; None where the default of its verdict holds."""

    is_trusted: bool = False
    read: str | None = None
    write: str | None = None
    exec: str | None = None
    net: str | None = None
    state: str | None = None
    process: str | None = None


class Approval(Struct, frozen=True, kw_only=True):
    """How to ask: ``channel`` elicit, out_of_band, both, or None for the default."""

    channel: str | None = None
    ttl_s: float | None = None


class Require(Struct, frozen=True, kw_only=True):
    """The fence that must hold: a level of DESIGN.md §4 and a network state."""

    fence: str | None = None
    network: str | None = None


class Rule(Struct, frozen=True, kw_only=True):
    """One rule: exactly one of allow, ask and deny is its verdict."""

    id: str
    verdict: Verdict
    elements: tuple[Element, ...]
    reason: str = ""
    effects: EffectGrants | None = None
    require: Require | None = None
    otherwise: Verdict = Verdict.DENY
    approval: Approval = Approval()
    time_s: float | None = None
    time_max_s: float | None = None
    source: str = ""


class HazardRules(Struct, frozen=True, kw_only=True):
    """Which hazards ask and which deny: ids, globs on ids, or ``builtin:dangerous`` (all)."""

    ask: tuple[str, ...] = ("builtin:dangerous",)
    deny: tuple[str, ...] = ()


class Example(Struct, frozen=True, kw_only=True):
    """A test inside the document, run at every load."""

    run: str
    expect: Verdict
    because: str | None = None
    rule: str | None = None
    cwd: str | None = None
    source: str = ""


class PolicyDocument(Struct, frozen=True, kw_only=True):
    """A whole policy with its includes already merged (an included deny can never be loosened).

    ``digest`` is the SHA-256, in hex, of everything it was loaded from; ``inherited`` is what came from an include
    alone, for hints: names of lists (``shell.state``) and hazard entries (``hazards.deny fork-bomb``).
    """

    name: str
    digest: str
    source: str = ""
    defaults: Defaults = Defaults()
    limits: Limits = Limits()
    shell: ShellRules = ShellRules()
    paths: PathRules = PathRules()
    network: NetworkRules = NetworkRules()
    redact: RedactRules = RedactRules()
    program_folders: tuple[str, ...] = ("/usr/bin", "/bin", "/usr/sbin", "/sbin")
    programs: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    hazards: HazardRules = HazardRules()
    tests: tuple[Example, ...] = ()
    inherited: frozenset[str] = frozenset()
