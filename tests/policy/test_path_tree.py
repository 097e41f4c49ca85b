"""The tree of path patterns answers as their regular expressions do, one after another."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.policy.paths import _expression, compile_paths
from execkit_mcp.runtime.policies import load_document

SEGMENTS = ("a", "b", "*", "a*", "*b", "a*b", "**", "?", "[ab]", "[!a]", "\\*", "*a*", ".env*")
NAMES = ("a", "b", "ab", "axb", "", ".", ".env", ".env.local", "*", "a\nb")

patterns = st.lists(
    st.lists(st.sampled_from(SEGMENTS), max_size=4).map(lambda parts: "/" + "/".join(parts)), max_size=6
)
paths = st.lists(st.sampled_from(NAMES), max_size=5).map("/".join)


def first_by_expression(found, path, *, is_refusal):
    matching = (each for each in found.patterns if _expression(each, deep=is_refusal).fullmatch(path))
    return next(matching, None)


def first_by_tree(found, path):
    number = found.tree.first(path)
    return None if number is None else found.patterns[number]


@given(sources=patterns, path=paths, is_rooted=st.booleans(), is_refusal=st.booleans())
def test_the_first_pattern_is_the_one_that_the_expressions_find(sources, path, is_rooted, is_refusal):
    path = "/" + path if is_rooted else path
    found = compile_paths(tuple(sources), "/home/a", "/w", is_refusal=is_refusal)
    assert first_by_tree(found, path) == first_by_expression(found, path, is_refusal=is_refusal)


@pytest.mark.parametrize("is_refusal", [True, False])
def test_every_pair_of_a_short_pattern_and_a_short_path_agrees(is_refusal):
    for length in (0, 1, 2):
        for parts in product(SEGMENTS, repeat=length):
            found = compile_paths(("/" + "/".join(parts),), "", "", is_refusal=is_refusal)
            for names in product(("", *NAMES[:5], ".env"), repeat=2):
                path = "/" + "/".join(names)
                assert first_by_tree(found, path) == first_by_expression(found, path, is_refusal=is_refusal), path


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/home/user/work/.env",
        "/home/user/.ssh/id_ed25519",
        "/home/other/.aws/credentials",
        "/root/x",
        "/etc/shadow-",
        "/proc/7/task/8/environ",
        "/srv/app/main.py",
        "/srv/service-account-1.json",
        "/home/user/.ssh",
        "/home/user",
    ],
)
def test_the_shipped_refusals_agree(path):
    refused = load_document("read-only").paths.never
    found = compile_paths(refused, "/home/user", "/home/user/work", is_refusal=True)
    assert first_by_tree(found, path) == first_by_expression(found, path, is_refusal=True)
