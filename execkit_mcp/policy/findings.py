"""What the parts of the engine hand to one another: findings, the place they stand in, the open case.

A ``Finding`` is a verdict with its reason. ``weight`` breaks ties between findings of the same verdict when
the decision picks the one to tell: what is absolute comes before what merely lacks a rule.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.model import (
    ALLOW,
    Effect,
    Fence,
    JudgedCommand,
    ProgramLocator,
    ReasonCode,
    Verdict,
)
from execkit_mcp.policy.compile import CompiledElement, CompiledPolicy, RuleBook
from execkit_mcp.policy.document import PathRules, PolicyDocument
from execkit_mcp.policy.knowledge.invocation import Arg, Invocation
from execkit_mcp.policy.paths import PathSet, compile_paths
from execkit_mcp.policy.scope import Scope

_MAX_SITES = 256
_WEIGHTS = {
    ReasonCode.RULE: 9,
    ReasonCode.PATH_NEVER: 8,
    ReasonCode.ENV: 7,
    ReasonCode.SHELL_STATE: 6,
    ReasonCode.LIMIT: 6,
    ReasonCode.NETWORK: 5,
    ReasonCode.FENCE: 5,
}


class Context(Struct, frozen=True, kw_only=True):
    """Where a text would run.

    Attributes:
        cwd: the session's folder; ``""`` if unknown.
        spelled_cwd: the same folder through the links by which the shell entered it: its ``cd ..`` goes up from there.
        home: the session's home folder; ``""`` if unknown.
        workspace: what ``${workspace}`` stands for; ``""``: patterns with it match nothing.
        locator: the target's file names, if they can be asked.
        fence: what holds beneath the shell.
        forced: the session's environment by force, name to value.
        is_durable: whether it would go on when the server ends.
    """

    cwd: str = ""
    spelled_cwd: str = ""
    home: str = ""
    workspace: str = ""
    locator: ProgramLocator | None = None
    fence: Fence = field(default_factory=Fence)
    forced: Mapping[str, str] = field(default_factory=dict)
    is_durable: bool = False


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """A verdict on one part, with its reason and what would change it."""

    verdict: Verdict
    code: ReasonCode
    message: str
    hint: str = ""
    by: CompiledElement | None = None
    source: str = ""
    is_absolute: bool = False

    @property
    def weight(self) -> int:
        """How much this finding deserves to be the one that is told."""
        return _WEIGHTS.get(self.code, 1) + (10 if self.is_absolute else 0) + (1 if self.by is not None else 0)

    def at_least(self, verdict: Verdict) -> "Finding":
        """The same finding, no milder than ``verdict``."""
        return self if self.verdict >= verdict else replace(self, verdict=verdict)


ALLOWED = Finding(verdict=ALLOW, code=ReasonCode.RULE, message="")


def strictest(findings: "list[Finding]") -> Finding:
    """The finding to tell: the highest verdict, then the weightiest, then the first."""
    best = findings[0]
    if len(findings) == 1:
        return best
    for finding in findings[1:]:
        verdict = finding.verdict
        if verdict > best.verdict or (verdict is best.verdict and finding.weight > best.weight):
            best = finding
    return best


class Act(Struct, frozen=True, kw_only=True, gc=False):
    """One program as it would run: what hazards are matched against."""

    argv: tuple[str, ...]
    program: str
    invocation: Invocation
    effects: tuple[Effect, ...]
    via: str = ""
    is_piped_into: bool = False
    upstream: tuple[str, ...] = ()


class Site(Struct, frozen=True, kw_only=True):
    """The rules and folders that hold at one place of a text.

    Attributes:
        book: the rules.
        paths: read and write patterns; never: the refused ones.
        is_remote: whether commands run on another machine: folders there are unknown.
        is_absolute_only: only what no rule can lift counts: the inside of what a rule vouched for.
        is_outer: whether this is the text itself, whose insides are also walked for what is absolute.
    """

    book: RuleBook
    paths: PathRules
    never: PathSet
    read: PathSet | None
    write: PathSet
    is_remote: bool = False
    is_absolute_only: bool = False
    is_outer: bool = True


ScriptJudge: TypeAlias = "Callable[[Case, str, Scope, Site, int, bool], Finding]"
ArgvJudge: TypeAlias = "Callable[[Case, tuple[Arg, ...], Scope, Site, int], Finding]"


class Case:
    """The open case of one text: policy, context and what has been found so far."""

    __slots__ = (
        "acts",
        "argv_judge",
        "command_count",
        "context",
        "fed",
        "findings",
        "links",
        "parts",
        "policy",
        "read_by",
        "script_judge",
        "site",
        "streams_to",
        "tracks_variables",
        "warnings",
        "writes",
    )

    def __init__(
        self, policy: CompiledPolicy, context: Context, *, judge_script: ScriptJudge, judge_argv: ArgvJudge
    ) -> None:
        self.script_judge = judge_script
        self.argv_judge = judge_argv
        self.policy = policy
        self.context = context
        self.parts: list[JudgedCommand] = []
        self.findings: list[Finding] = []
        self.acts: list[Act] = []
        self.links: list[tuple[int, str]] = []
        self.streams_to: list[str] = []
        self.writes: list[str] = []
        self.warnings: list[str] = []
        self.command_count = [0]
        self.read_by: set[int] = set()  # descriptors that were opened to read
        paths = policy.document.paths
        self.site = site_for(self, policy.book, paths)
        self.tracks_variables = policy.tracks_variables
        self.fed: tuple[Arg, ...] = ()

    def judge_script(self, text: str, scope: Scope, site: "Site", depth: int, *, is_bash: bool) -> Finding:
        """The verdict on shell text inside the text, which bash or another shell will read as it stands."""
        return self.script_judge(self, text, scope, site, depth, is_bash)

    def judge_argv(self, argv: tuple[Arg, ...], scope: Scope, site: "Site", depth: int) -> Finding:
        """The verdict on an argv inside the text."""
        return self.argv_judge(self, argv, scope, site, depth)

    def add(
        self,
        finding: Finding,
        *,
        argv: tuple[str, ...],
        program: str = "",
        effects: tuple[Effect, ...] = (),
    ) -> None:
        """Put one judged part on the record."""
        by = finding.by
        self.findings.append(finding)
        self.parts.append(
            JudgedCommand(
                argv=argv,
                program=program,
                effects=effects,
                verdict=finding.verdict,
                rule=by.rule.id if by is not None else None,
                source=finding.source or (by.source if by is not None else ""),
                reason_code=finding.code,
                message=finding.message,
            )
        )

    def inner(self) -> "Case":
        """A case for a text inside this one: findings of its own, everything else shared."""
        case = Case(self.policy, self.context, judge_script=self.script_judge, judge_argv=self.argv_judge)
        case.acts, case.writes, case.warnings = self.acts, self.writes, self.warnings
        case.links = self.links
        case.command_count, case.read_by = self.command_count, self.read_by
        case.streams_to = list(self.streams_to)
        return case

    def warn(self, warning: str) -> None:
        """Note something that the caller must know, once."""
        if warning not in self.warnings:
            self.warnings.append(warning)


def adding(entries: Sequence[str], key: str, stated: Sequence[str], document: PolicyDocument) -> str:
    """The hint to put entries into a list; a list that is inherited has to be written out whole.

    Args:
        entries: what it lacks.
        key: the list, as a policy names it (``shell.state``).
        stated: what it holds.
        document: the policy.
    """
    if key in document.inherited:
        whole = json.dumps([*stated, *entries], ensure_ascii=False)
        return f"Write `{key}: {whole}`: a list of the policy's own takes the place of its include's."
    return f"Add {' and '.join(f'`{each}`' for each in entries)} to `{key}`."


def site_for(case: "Case", book: RuleBook, paths: PathRules, *, is_remote: bool = False, is_outer: bool = True) -> Site:
    """The site of a rule book: ``never`` is the document's wherever the command runs."""
    home, workspace = case.context.home, case.context.workspace
    key = (id(book), id(paths), home, workspace, is_remote, is_outer)  # a site keeps book and paths alive
    known = case.policy.sites.get(key)
    if known is not None:
        return known  # type: ignore[return-value]
    refused = case.policy.document.paths.never
    if paths.never and paths.never is not refused:
        refused = (*refused, *paths.never)
    site = Site(
        book=book,
        paths=paths,
        never=compile_paths(refused, home, workspace, is_refusal=True),
        read=None if paths.read is None else compile_paths(paths.read, home, workspace),
        write=compile_paths(paths.write or (), home, workspace),
        is_remote=is_remote,
        is_outer=is_outer,
    )
    if len(case.policy.sites) >= _MAX_SITES:
        case.policy.sites.clear()
    case.policy.sites[key] = site
    return site
