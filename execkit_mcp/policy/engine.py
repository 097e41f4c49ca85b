"""The decision: a text, a policy and a context go in, a verdict that explains itself comes out.

Theory of operation. The text is parsed into the closed subset; what does not parse is never allowed. The tree
is walked in execution order and every part is judged: commands, redirects, assignments, substitutions, tests,
loop words. The verdict is the maximum over all parts; nothing ends the walk early. Hazards then raise it. The
canonical text, and nothing else, may be run.

``judge`` never raises, whatever the text: a fault of ours is a denial with a warning.
"""

from execkit_mcp.model import (
    READ,
    ApprovalTerms,
    Decision,
    Effect,
    HazardHit,
    ReasonCode,
    RuleLimits,
    Severity,
    Verdict,
)
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy import hazards
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.document import Approval, Rule
from execkit_mcp.policy.feeding import whole_names
from execkit_mcp.policy.findings import ALLOWED, Act, Case, Context, Finding, Site, strictest
from execkit_mcp.policy.hardening import harden, is_concerned
from execkit_mcp.policy.knowledge.invocation import Arg
from execkit_mcp.policy.linked import written_through
from execkit_mcp.policy.programs import MAX_DEPTH, judge_argv
from execkit_mcp.policy.scope import Scope
from execkit_mcp.policy.shell.flat import plain_words
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.render import render, render_plain
from execkit_mcp.policy.shell.tree import Script, Sequence
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER, Unparsed
from execkit_mcp.policy.walk import Walk

_MAX_COMMANDS = 200
_UNSTATED = Approval()
_USUAL_APPROVAL = ApprovalTerms()
_NO_SCRIPT = Script(Sequence(()), 1)  # of a text that is read without a tree: one plain command
_NO_LIMITS = RuleLimits()
# Subcommands of git that write what they saw of the files' times into the index, GIT_OPTIONAL_LOCKS or not.
_REFRESHING = frozenset({("diff",), ("describe",)})
_UP_TO_WILDCARD = lazy_regex(r"[^*?\[\\]*")


def judge(text: str, policy: CompiledPolicy, context: Context) -> Decision:
    """The decision on a command text. Pure; never raises."""
    try:
        return _judge(text, policy, context)
    except Exception as fault:  # noqa: BLE001 — the top handler: a fault of ours denies, and says so
        return Decision(
            verdict=Verdict.DENY,
            canonical=None,
            rule=None,
            reason_code=ReasonCode.RULE,
            message="Judging this text failed, and what cannot be judged is denied.",
            hint="Write the command more plainly, and report the warning as a fault of execkit-mcp.",
            policy=policy.ref,
            warnings=(f"fault while judging: {type(fault).__name__}: {fault}",),
        )


def _judge(text: str, policy: CompiledPolicy, context: Context) -> Decision:
    document = policy.document
    limit = document.limits.commands
    words = None if is_concerned(text) else plain_words(text)
    script = _NO_SCRIPT
    if words is None:
        try:
            script = _script(text, max(limit, _MAX_COMMANDS))
        except Unparsed as refusal:
            return _unparsed(text, refusal, policy)
    case = Case(policy, context, judge_script=_judge_script, judge_argv=_judge_argv)
    case.command_count[0] = script.command_count
    # HOME is on the list of what nothing may set, so the session's home is its value.
    known = {"HOME": (context.home,)} if context.home else {}
    folders: tuple[str, ...] | None = (context.cwd,) if context.cwd else None
    if folders is not None and context.spelled_cwd not in ("", context.cwd):
        folders = (*folders, context.spelled_cwd)
    start = Scope(cwds=folders, variables=known)
    walk = Walk(case, case.site)
    if words is not None:
        walk.lone(words, start)
    else:
        walk.sequence(script.body, start)
    if case.command_count[0] > limit:
        case.add(
            Finding(
                verdict=Verdict.DENY,
                code=ReasonCode.LIMIT,
                message=f"The text holds {case.command_count[0]} commands; the policy allows {limit}.",
                hint="Split the text, or raise `limits.commands`.",
                is_absolute=True,
            ),
            argv=(),
        )
    if case.links and (through := written_through(case)) is not None:
        case.add(through, argv=())
    if context.is_durable and document.limits.durable is not Verdict.ALLOW:
        case.add(
            Finding(
                verdict=document.limits.durable,
                code=ReasonCode.LIMIT,
                message="A durable job goes on when the server ends; the policy does not allow that.",
                hint="Leave out durable, or set `limits.durable: allow`.",
            ),
            argv=("durable",),
        )
    scene = hazards.Scene(acts=tuple(case.acts), writes=(*case.writes, *hazards.written_by(case.acts)), text=text)
    mapped, locator = document.programs, context.locator
    locate = mapped.get if locator is None else lambda name: mapped.get(name) or locator.locate(name)
    canonical = render_plain(words, locate=locate) if words is not None else render(script, locate=locate)
    return _decide(case, scene, canonical)


def _script(text: str, limit: int) -> Script:
    """The text as read, with what is added to it; what was rewritten has to read back as the same tree."""
    script = parse(text, max_commands=limit)
    after = whole_names(script, text)
    if after is not script and parse(render(after), max_commands=limit).body != after.body:
        after = script
    return harden(after, text)


def _unparsed(text: str, refusal: Unparsed, policy: CompiledPolicy) -> Decision:
    scene = hazards.Scene(acts=(), writes=(), text=text)
    hits = list(hazards.find(scene))
    verdict = max(policy.document.defaults.unparsed, Verdict.ASK)
    code = ReasonCode.LIMIT if refusal.is_limit else ReasonCode.UNPARSED
    if refusal.is_limit or HOSTILE_CHARACTER.search(text) is not None:
        verdict = Verdict.DENY
    for hazard in hits:
        verdict = max(verdict, hazards.verdict_on(hazard, policy.document.hazards))
    return Decision(
        verdict=verdict,
        canonical=None,
        rule=None,
        reason_code=code,
        message=f"The text is outside what can be judged: {refusal}.",
        hint=_unparsed_hint(refusal),
        policy=policy.ref,
        hazards=tuple(hazards.hit_of(hazard) for hazard in hits),
        approval=_approval([], [hazards.hit_of(hazard) for hazard in hits]),
    )


def _unparsed_hint(refusal: Unparsed) -> str:
    if refusal.is_limit:
        return "Shorten or split the text."
    if refusal.construct.startswith("unterminated"):
        return "Close it, and send the text whole: one call is one complete text."
    return "Write it with plain commands, pipes, loops and redirects, and without that construct."


def _judge_script(  # noqa: PLR0917 - as it is handed on
    case: Case,
    text: str,
    scope: Scope,
    site: Site,
    depth: int,
    is_bash: bool,  # noqa: FBT001 - as it is handed on
) -> Finding:
    """The verdict on shell text inside a text: ``sh -c``, ``eval``, ``ssh host``.

    Unlike the text itself it is not rendered anew, so it must not hold what its own shell would read otherwise.
    """
    if depth > MAX_DEPTH:
        return Finding(
            verdict=Verdict.DENY,
            code=ReasonCode.LIMIT,
            message=f"Shell texts are nested more than {MAX_DEPTH} deep.",
            hint="Run the innermost command by itself.",
        )
    try:
        script = parse(text)
    except Unparsed as refusal:
        if site.is_absolute_only:
            return ALLOWED
        return Finding(
            verdict=max(case.policy.document.defaults.unparsed, Verdict.ASK),
            code=ReasonCode.LIMIT if refusal.is_limit else ReasonCode.UNPARSED,
            message=f"The text inside is outside what can be judged: {refusal}.",
            hint="Run the inner command by itself.",
        )
    strange = script.misread or ("" if is_bash else script.extension)
    if strange and not site.is_absolute_only:
        return Finding(
            verdict=max(case.policy.document.defaults.unparsed, Verdict.ASK),
            code=ReasonCode.UNPARSED,
            message=f"The text inside goes to a shell that may read {strange} otherwise than it is judged.",
            hint="Write it without that construct"
            + ("." if is_bash else ", run the inner command by itself, or give it to `bash -c`."),
        )
    inner = case.inner()
    if site.is_absolute_only or site.is_outer:
        case.command_count[0] += script.command_count
    Walk(inner, site, depth).sequence(script.body, scope)
    return strictest(inner.findings or [ALLOWED])


def _judge_argv(case: Case, argv: tuple[Arg, ...], scope: Scope, site: Site, depth: int) -> Finding:
    return judge_argv(argv, scope, case, site, depth=depth).finding


def _approval(rules: list[Rule], hits: list[HazardHit]) -> ApprovalTerms:
    """How a person is asked: the strictest channel and the shortest time of all rules concerned."""
    stated = [rule.approval for rule in rules if rule.approval != _UNSTATED]
    if not (stated or hits):
        return _USUAL_APPROVAL
    channels = [each.channel for each in stated if each.channel is not None]
    channel = "both"
    if "out_of_band" in channels or any(hit.severity is Severity.CRITICAL for hit in hits):
        channel = "out_of_band"
    elif channels:
        channel = channels[0]
    times = [each.ttl_s for each in stated if each.ttl_s is not None]
    if not times:
        return ApprovalTerms(channel=channel)
    return ApprovalTerms(channel=channel, ttl_s=min(times), is_ttl_stated=True)


def _limits(rules: list[Rule]) -> RuleLimits:
    times = [rule.time_s for rule in rules if rule.time_s is not None]
    most = [rule.time_max_s for rule in rules if rule.time_max_s is not None]
    if not times and not most:
        return _NO_LIMITS
    return RuleLimits(time_s=min(times, default=None), time_max_s=min(most, default=None))


def _decide(case: Case, scene: hazards.Scene, canonical: str) -> Decision:
    """Everything that was found, as one decision."""
    rules = case.policy.document.hazards
    found = hazards.find(scene)
    hits = [hazards.hit_of(hazard) for hazard in found] if found else []
    told = strictest(case.findings or [ALLOWED])
    raised = max([hazards.verdict_on(hazard, rules) for hazard in found]) if found else told.verdict
    if raised > told.verdict:
        worst = next(hazard for hazard in found if hazards.verdict_on(hazard, rules) is raised)
        told = Finding(
            verdict=raised,
            code=ReasonCode.HAZARD,
            message=f"Hazard {worst.id}: this {worst.message}.",
            hint=hazards.hint(worst, rules, raised, case.policy.document.inherited),
        )
    by = told.by
    concerned = [finding.by.rule for finding in case.findings if finding.by is not None and finding.by.states_terms]
    return Decision(
        verdict=told.verdict,
        canonical=canonical,
        rule=by.rule.id if by is not None else None,
        reason_code=told.code,
        message=told.message or "Nothing in this text needs a rule.",
        hint=told.hint,
        policy=case.policy.ref,
        hazards=tuple(hits),
        commands=tuple(case.parts),
        limits=_limits(concerned) if concerned else _NO_LIMITS,
        approval=_approval(concerned, hits) if concerned or hits else _USUAL_APPROVAL,
        warnings=tuple(case.warnings),
        only_reads=told.verdict is Verdict.ALLOW and _only_reads(case),
    )


def _only_reads(case: Case) -> bool:
    """Whether nothing in it does more than read files; what a rule vouches for must be understood, too.

    A device is no file: to open some of them does something (watchdog(4) restarts the machine).
    """
    for act in case.acts:
        found = act.invocation
        if found.problems or found.inner or not found.is_known or not _are_reads(act.effects):
            return False
        if found.program == "git" and found.subcommand[:1] in _REFRESHING:
            return False
    return all(_are_reads(part.effects) for part in case.parts if part.effects)


def _are_reads(effects: tuple[Effect, ...]) -> bool:
    for effect in effects:
        value = effect.value
        if value != "/dev/null" and (effect.kind is not READ or _may_be_device(value)):
            return False
    return True


def _may_be_device(path: str) -> bool:
    """Whether a path, or one that the pattern finds, may be below ``/dev`` (also by ``/proc/self/root``)."""
    start = _UP_TO_WILDCARD.match(path)
    sure = start.group() if start is not None else ""
    return "/dev/" in f"{path}/" or (sure != path and "/dev".startswith(sure))


__all__ = ["Act", "Context", "judge"]
