"""The tests inside a policy document: each is judged, and what differs from what is expected is told."""

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import Decision
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.document import Example
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.findings import Context


class ExampleFailure(Struct, frozen=True, kw_only=True):
    """One example that did not come out as its document says.

    Attributes:
        example: what was expected.
        decision: what came out.
        message: the difference, in a sentence that starts with ``file:line`` where there is one.
    """

    example: Example
    decision: Decision
    message: str


def example_context(example: Example, context: Context) -> Context:
    """Where a test runs; ``${workspace}`` and ``~`` in its folder mean what they mean in path patterns."""
    cwd = example.cwd
    if cwd is None:
        return context
    for name, value in (("${workspace}", context.workspace), ("~", context.home)):
        if value and (cwd == name or cwd.startswith(f"{name}/")):
            return replace(context, cwd=value + cwd[len(name) :])
    return replace(context, cwd=cwd)


def run_examples(policy: CompiledPolicy, context: Context) -> tuple[ExampleFailure, ...]:
    """Every example of the document that fails; empty if the document does what it says."""
    failures: list[ExampleFailure] = []
    for example in policy.document.tests:
        decision = judge(example.run, policy, example_context(example, context))
        differences: list[str] = []
        if decision.verdict is not example.expect:
            differences.append(f"expected {example.expect.word}, got {decision.verdict.word}")
        if example.because is not None and decision.reason_code.value != example.because:
            differences.append(f"expected because {example.because}, got {decision.reason_code.value}")
        if example.rule is not None and decision.rule != example.rule:
            differences.append(f"expected rule {example.rule}, got {decision.rule or 'none'}")
        if differences:
            prefix = f"{example.source}: " if example.source else ""
            message = f"{prefix}{example.run!r}: {'; '.join(differences)} ({decision.message})"
            failures.append(ExampleFailure(example=example, decision=decision, message=message))
    return tuple(failures)
