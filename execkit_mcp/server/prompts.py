"""Prompts that a person can pick in the client: to have a policy written, and to have refusals explained."""

from collections.abc import Mapping
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from msgspec import Struct

MAX_ARGUMENT_CHARS: Final = 2000

_WRITE_POLICY: Final = """\
Write an execkit-mcp policy for this: {purpose}

Read execkit://policy for what holds now. A policy is YAML, default-deny:

version: 1
name: short-name
paths: {{read: ["${{workspace}}/**"], write: ["${{workspace}}/build/**"]}}
rules:
  - allow: [ls, cat, "git status", "git diff"]
  - {{id: deploy, ask: ["systemctl restart web"], reason: A person looks first.}}
  - {{id: never, deny: [rm], reason: Nothing is deleted here.}}
tests:
  - {{run: "ls -l", expect: allow}}
  - {{run: "rm -rf build", expect: deny}}

Rules: name programs with their subcommands, never a shell or an interpreter unless the purpose needs it; put what
changes something under `ask`; keep `paths` narrow; add tests, for each rule one command that it must let through and
one that it must refuse. Show the file and say for each rule why it is needed. You cannot put a policy into force: the
person saves it, runs `execkit-mcp policy test FILE`, and starts the server with `--policy FILE`.
"""

_EXPLAIN_REFUSALS: Final = """\
Read execkit://audit and execkit://policy. List what was denied or still waits for approval, the rule or reason of each,
and what would do instead within the policy (shell_explain tells without running anything). Where the work cannot be
done within the policy, write the narrowest rule that would allow it, for a person to judge. Do not run the refused
commands in another form.
"""


class PromptSpec(Struct, frozen=True, kw_only=True):
    """One prompt; ``arguments`` are its placeholders with what each is."""

    name: str
    title: str
    description: str
    text: str
    arguments: Mapping[str, str]


PROMPTS: Final = (
    PromptSpec(
        name="write_policy",
        title="Write a policy for …",
        description="A default-deny policy with tests for one purpose.",
        text=_WRITE_POLICY,
        arguments={"purpose": "What the agent is to do, on which machine."},
    ),
    PromptSpec(
        name="explain_refusals",
        title="Why was that refused?",
        description="What was refused, why, and what would be allowed.",
        text=_EXPLAIN_REFUSALS,
        arguments={},
    ),
)


def listed() -> types.ListPromptsResult:
    """All of them."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=spec.name,
                title=spec.title,
                description=spec.description,
                arguments=[
                    types.PromptArgument(name=name, description=text, required=True)
                    for name, text in spec.arguments.items()
                ],
            )
            for spec in PROMPTS
        ]
    )


def prompt(name: str, arguments: Mapping[str, str] | None) -> types.GetPromptResult:
    """One of them, filled in.

    Raises:
        MCPError: there is none of that name, or an argument is missing, unknown or too long.
    """
    spec = next((each for each in PROMPTS if each.name == name), None)
    if spec is None:
        raise MCPError(
            types.INVALID_PARAMS, f"There is no such prompt; there are {', '.join(p.name for p in PROMPTS)}."
        )
    given = dict(arguments or {})
    if set(given) != set(spec.arguments) or any(len(text) > MAX_ARGUMENT_CHARS for text in given.values()):
        raise MCPError(
            types.INVALID_PARAMS,
            f"{spec.name} takes {', '.join(spec.arguments) or 'no arguments'}, up to {MAX_ARGUMENT_CHARS} characters.",
        )
    text = spec.text.format(**given) if spec.arguments else spec.text
    return types.GetPromptResult(
        description=spec.description,
        messages=[types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))],
    )
