"""The tables of refused patterns answer as the patterns do, asked one after another."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from execkit_mcp.policy import globs, path_meeting
from execkit_mcp.policy.path_meeting import Meeting, meets
from execkit_mcp.policy.paths import compile_paths
from execkit_mcp.runtime.policies import load_document

NAMES = ("a", "b", ".env", ".aws", "credentials", "id_rsa", "home", "srv", "x y", "[", "a*")
REFUSED = (
    "a", "b", "*", ".env*", "*.pem", "id_*", "a*b", "?", "[ab]", "[!a]*", "**", ".aws", "credentials", "\\*", "*a*",
    "srv",
)  # fmt: skip
WILD = ("*", "?", "*.pem", ".e*", "a*", "*a", "[ab]", "[!.]*", "**", "id_?sa", ".*", "c*s")

refused = st.lists(
    st.tuples(st.sampled_from(["/", "**/"]), st.lists(st.sampled_from(REFUSED), min_size=1, max_size=4)).map(
        lambda pair: pair[0] + "/".join(pair[1])
    ),
    max_size=8,
)
wanted = st.lists(st.sampled_from(NAMES).map(globs.escape) | st.sampled_from(WILD), max_size=5).map(tuple)


def one_after_another(patterns, path, *, is_recursive):
    is_undecided = False
    for number, pattern in enumerate(patterns):
        met = meets(pattern, path, is_recursive=is_recursive)
        if met:
            return number, False
        is_undecided = is_undecided or met is None
    return None, is_undecided


@settings(max_examples=1000)
@given(refused, wanted, st.booleans())
@example(["**/.env*", "/srv/**"], ("srv", "*"), False)
@example(["**/.aws/credentials"], ("home", ".aws"), True)
@example(["**/**"], (), True)
def test_the_first_pattern_is_the_one_that_asking_each_of_them_finds(sources, path, is_recursive):
    patterns = compile_paths(tuple(sources), "/home/a", "/w", is_refusal=True).patterns
    meeting = Meeting(patterns)
    expected = one_after_another(patterns, path, is_recursive=is_recursive)
    assert meeting.first(path, is_recursive=is_recursive) == expected
    assert meeting.first(path, is_recursive=is_recursive) == expected, "remembered"


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            ["home", "a", "srv", ".ssh", "*", ".e*", "etc", "s*", "*.key", "proc", "*on*", "var", "?", "b"]
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_the_shipped_refusals_answer_so_too(path, is_recursive):
    patterns = compile_paths(load_document("read-only").paths.never, "/home/a", "/w", is_refusal=True).patterns
    expected = one_after_another(patterns, tuple(path), is_recursive=is_recursive)
    assert Meeting(patterns).first(tuple(path), is_recursive=is_recursive) == expected


_segments = st.lists(st.sampled_from([*REFUSED, *WILD]), max_size=5).map(tuple)


@settings(max_examples=1000)
@given(_segments, _segments)
@example(("srv", "**"), ("srv", "a", "b"))
@example(("**",), ())
def test_the_aligned_beginning_is_only_a_shorter_way_to_the_same_answer(left, right):
    assert path_meeting.segments_meet(left, right) is path_meeting._rests_meet(left, right)
