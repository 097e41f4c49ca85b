"""Whether a command may run: this module is the door to the policy engine.

A document becomes a ``CompiledPolicy``; ``judge`` takes a text to a ``Decision``; ``explain`` puts it in
words. The folder does no input or output: files are read in ``config/``, the target is asked through
``model.ProgramLocator``.
"""

from execkit_mcp.policy.compile import CompiledPolicy, compile_policy
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.environment import session_environment
from execkit_mcp.policy.examples import ExampleFailure, run_examples
from execkit_mcp.policy.explain import explain
from execkit_mcp.policy.findings import Context

__all__ = [
    "CompiledPolicy",
    "Context",
    "ExampleFailure",
    "compile_policy",
    "explain",
    "judge",
    "run_examples",
    "session_environment",
]
