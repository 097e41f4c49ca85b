"""Policies for tests, written as nouns: the engine is tested without the loader."""

from collections.abc import Callable

import pytest

from execkit_mcp.model import Decision, Verdict
from execkit_mcp.policy import Context, compile_policy, judge
from execkit_mcp.policy.document import Element, PathRules, PolicyDocument, Rule

HOME = "/home/op"
CWD = "/srv/app"


@pytest.fixture
def decide() -> Callable[..., Decision]:
    """Judge a text under a policy made from lists of elements and fields of the document."""

    def run(text: str, *, context: Context | None = None, **fields: object) -> Decision:
        rules = [
            Rule(id=name, verdict=Verdict.from_word(name), elements=tuple(map(_element, fields.pop(name, ()))))
            for name in ("allow", "ask", "deny")
        ]
        rules += list(fields.pop("rules", ()))
        never = fields.pop("never", ("~/.ssh/**", "/etc/shadow*", "**/.env*", "/proc/*/environ"))
        fields.setdefault(
            "paths", PathRules(never=never, write=fields.pop("write", None), read=fields.pop("read", None))
        )
        document = PolicyDocument(name="t", digest="d", rules=tuple(rules), **fields)
        where = context or Context(cwd=CWD, home=HOME, workspace=CWD)
        return judge(text, compile_policy(document), where)

    return run


def _element(entry: object) -> Element:
    if isinstance(entry, Element):
        return entry
    program, *sub = str(entry).split()
    return Element(program=program, sub=(tuple(sub),) if sub else (), source="policy.yaml:7")
