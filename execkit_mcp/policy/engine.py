"""The decision: a text, a policy and a context go in, a verdict that explains itself comes out.

Theory of operation. The text is parsed into the closed subset; what does not parse is never allowed. The tree
is walked in execution order and every part is judged: commands, redirects, assignments, substitutions, tests,
loop words. The verdict is the maximum over all parts; nothing ends the walk early. Hazards then raise it. The
canonical text, and nothing else, may be run.

``judge`` never raises, whatever the text: a fault of ours is a denial with a warning.
"""

from execkit_mcp.model import ApprovalTerms, Decision, HazardHit, ReasonCode, RuleLimits, Severity, Verdict
from execkit_mcp.policy import hazards
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.findings import ALLOWED, Act, Case, Context, Finding, Site, strictest
from execkit_mcp.policy.knowledge.invocation import Arg
from execkit_mcp.policy.programs import MAX_DEPTH, judge_argv
from execkit_mcp.policy.scope import Scope
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.render import render
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER, Unparsed
from execkit_mcp.policy.walk import Walk

_MAX_COMMANDS = 200


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
    limit = policy.document.limits.commands
    try:
        script = parse(text, max_commands=max(limit, _MAX_COMMANDS))
    except Unparsed as refusal:
        return _unparsed(text, refusal, policy)
    case = Case(policy, context, judge_script=_judge_script, judge_argv=_judge_argv)
    case.command_count[0] = script.command_count
    # HOME is on the list of what nothing may set, so the session's home is its value.
    known = {"HOME": (context.home,)} if context.home else {}
    start = Scope(cwds=(context.cwd,) if context.cwd else None, variables=known)
    Walk(case, case.site).sequence(script.body, start)
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
    scene = hazards.Scene(acts=tuple(case.acts), writes=(*case.writes, *hazards.written_by(case.acts)), text=text)
    locator = context.locator

    def locate(name: str) -> str | None:
        mapped = policy.document.programs.get(name)
        return mapped if mapped is not None or locator is None else locator.locate(name)

    return _decide(case, scene, render(script, locate=locate))


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
        hint="Shorten or split the text."
        if refusal.is_limit
        else "Write it with plain commands, pipes, loops and redirects, and without that construct.",
        policy=policy.ref,
        hazards=tuple(hazards.hit_of(hazard) for hazard in hits),
        approval=_approval([], [hazards.hit_of(hazard) for hazard in hits]),
    )


def _judge_script(case: Case, text: str, scope: Scope, site: Site, depth: int) -> Finding:
    """The verdict on shell text inside a text: ``sh -c``, ``eval``, ``ssh host``."""
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
    inner = case.inner()
    if site.is_absolute_only or site.is_outer:
        case.command_count[0] += script.command_count
    Walk(inner, site, depth).sequence(script.body, scope)
    return strictest(inner.findings or [ALLOWED])


def _judge_argv(case: Case, argv: tuple[Arg, ...], scope: Scope, site: Site, depth: int) -> Finding:
    return judge_argv(argv, scope, case, site, depth=depth).finding


def _approval(findings: list[Finding], hits: list[HazardHit]) -> ApprovalTerms:
    """How a person is asked: the strictest channel and the shortest time of all rules concerned."""
    stated = [finding.by.rule.approval for finding in findings if finding.by is not None]
    channels = [each.channel for each in stated if each.channel is not None]
    channel = "both"
    if "out_of_band" in channels or any(hit.severity is Severity.CRITICAL for hit in hits):
        channel = "out_of_band"
    elif channels:
        channel = channels[0]
    times = [each.ttl_s for each in stated if each.ttl_s is not None]
    return ApprovalTerms(channel=channel, ttl_s=min(times)) if times else ApprovalTerms(channel=channel)


def _limits(findings: list[Finding]) -> RuleLimits:
    rules = [finding.by.rule for finding in findings if finding.by is not None]
    times = [rule.time_s for rule in rules if rule.time_s is not None]
    most = [rule.time_max_s for rule in rules if rule.time_max_s is not None]
    return RuleLimits(time_s=min(times, default=None), time_max_s=min(most, default=None))


def _decide(case: Case, scene: hazards.Scene, canonical: str) -> Decision:
    """Everything that was found, as one decision."""
    rules = case.policy.document.hazards
    found = hazards.find(scene)
    hits = [hazards.hit_of(hazard) for hazard in found]
    told = strictest(case.findings or [ALLOWED])
    raised = max((hazards.verdict_on(hazard, rules) for hazard in found), default=Verdict.ALLOW)
    if raised > told.verdict:
        worst = next(hazard for hazard in found if hazards.verdict_on(hazard, rules) is raised)
        told = Finding(
            verdict=raised,
            code=ReasonCode.HAZARD,
            message=f"Hazard {worst.id}: this {worst.message}.",
            hint=hazards.hint(worst, rules, raised),
        )
    by = told.by
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
        limits=_limits(case.findings),
        approval=_approval(case.findings, hits),
        warnings=tuple(case.warnings),
    )


__all__ = ["Act", "Context", "judge"]
