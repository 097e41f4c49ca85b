"""A group promises that a use without an effect is harmless: so every program in it must have a table."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy.groups import GROUPS
from execkit_mcp.policy.knowledge import program_names

CASES = [
    ("xmllint --noout a.xml", True),
    ("xmllint --xpath //a a.xml", True),
    ("xmllint --noent a.xml", False),
    ("xmllint -noent a.xml", False),
    ("xmllint --xinclude a.xml", False),
    ("xmllint --c14n a.xml", False),
    ("xmllint --valid a.xml", False),
    ("xmllint --loaddtd a.xml", False),
    ("xmllint --shell a.xml", False),
    ("xmllint --output b.xml a.xml", False),
    ("xmllint https://example.com/a.xml", False),
    ("xmllint --noout /etc/shadow", False),
    ("cloc src", True),
    ("cloc --git HEAD", False),
    ("cloc --out=report src", False),
    ("cloc --config=x src", False),
    ("cloc x.tar.gz", False),
    ("tokei src -o json", True),
    ("ipcs -a", True),
    ("hash git", True),
    ("tldr --update", False),
]


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_every_name_in_a_group_has_knowledge(group):
    known = set(program_names())
    elements = GROUPS[group]
    assert len(elements) > 80
    assert sorted({element.program for element in elements} - known) == []


@pytest.mark.parametrize(("text", "is_harmless"), CASES)
def test_a_program_of_the_group_is_allowed_for_what_only_looks(decide, text, is_harmless):
    verdict = decide(text, allow=["builtin:readonly"]).verdict
    assert (verdict is Verdict.ALLOW) is is_harmless
