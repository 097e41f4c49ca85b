"""What would make a question unnecessary: the narrowest rule for it, with its test, for an operator to read and to add.

Nothing here changes a policy. A person who wants "always" puts the text into the policy file, where it has a name, a
reason and a test that runs at every load.
"""

from msgspec import Struct

from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import ApprovalDenied, ConfigError, ExecKitError, PolicyError
from execkit_mcp.model import Verdict
from execkit_mcp.policy import CompiledPolicy, Context, judge
from execkit_mcp.policy.compare import Question
from execkit_mcp.policy.explain import explain
from execkit_mcp.policy.shell import Unparsed, parse
from execkit_mcp.policy.suggest import suggest, to_yaml
from execkit_mcp.runtime.environment import home_folder
from execkit_mcp.runtime.policies import example_context, load_policy, shipped_names
from execkit_mcp.runtime.programs import LocalPrograms

__all__ = ["SuggestedRule", "preview", "suggested_rule"]


class SuggestedRule(Struct, frozen=True, kw_only=True):
    """A policy file with the rule and its test, or why no rule says exactly this."""

    text: str
    is_rule: bool


def suggested_rule(request: ApprovalRequest, settings: Settings) -> SuggestedRule:
    """The narrowest rule that would allow ``request``; it is only text."""
    if request.is_hiding:
        return SuggestedRule(
            text="No rule is suggested: a part of the command looks like a secret and is not shown.", is_rule=False
        )
    if request.stdin is not None or request.is_tty or request.typed_into:
        return SuggestedRule(
            text="No rule is suggested: a rule cannot say what the command reads from its input.", is_rule=False
        )
    try:
        policy = _policy_of(request, settings)
    except ExecKitError as error:
        return SuggestedRule(text=f"No rule is suggested: {error.message}", is_rule=False)
    if policy is None:
        return SuggestedRule(text=f"No rule is suggested: {_OTHER_POLICY}", is_rule=False)
    question = Question(command=request.canonical, cwd=request.cwd)
    found = suggest([question], policy, _context(request, settings, policy), example_context())
    if not found.rules:
        reasons = "; ".join(each.reason for each in found.left) or "the policy allows it as it is"
        return SuggestedRule(text=f"No rule says exactly this: {reasons}", is_rule=False)
    name = policy.document.name
    include = str(shipped_policies_dir() / f"{name}.yaml") if name in shipped_names() else policy.document.source
    return SuggestedRule(text=to_yaml(found, name=f"{name}-approved", include=include).rstrip(), is_rule=True)


def preview(text: str, request: ApprovalRequest, settings: Settings) -> str:
    """What the policy of ``request`` says of an edited ``text``, as far as it can be told here.

    Raises:
        ApprovalDenied: the policy denies it, so that a yes would be for nothing.
    """
    try:
        if "[REDACTED:" not in text:  # which the queue refuses, and says why
            parse(text)
    except Unparsed as refusal:
        raise ApprovalDenied(f"No session runs the edited text: {refusal}.", hint=_EDIT_HINT) from refusal
    try:
        policy = _policy_of(request, settings)
    except (ConfigError, PolicyError) as error:
        return f"It is judged when it runs: {error.message}"
    if policy is None:
        return f"It is judged when it runs: {_OTHER_POLICY}"
    decision = judge(text, policy, _context(request, settings, policy))
    if decision.verdict is Verdict.DENY:
        raise ApprovalDenied(f"The policy denies the edited text: {decision.message}", hint=_EDIT_HINT)
    return f"edited     : {explain(decision, policy)}"


_EDIT_HINT = "Nothing was decided. Write another text, or deny it with a reason."
_OTHER_POLICY = (
    "the policy that asked is not the one that the configuration names now (give --config, or EXECKIT_POLICY)."
)


def _policy_of(request: ApprovalRequest, settings: Settings) -> CompiledPolicy | None:
    """The very policy that asked, if the settings still name it."""
    target = settings.targets.get(request.target)
    names = [name for name in (target.policy if target is not None else None, settings.policy) if name is not None]
    names += [name for name in shipped_names() if name == request.policy.name]
    for name in dict.fromkeys(names):
        policy = load_policy(name)
        if policy.ref.digest == request.policy.digest:
            return policy
    return None


def _context(request: ApprovalRequest, settings: Settings, policy: CompiledPolicy) -> Context:
    document = policy.document
    return Context(
        cwd=request.cwd,
        home=home_folder(),
        workspace=str(settings.workspace),
        locator=LocalPrograms(document.program_folders, document.programs),
    )
