# ruff: noqa: E501 - rows of cases read one case a line
"""Where words point to, and which patterns cover or touch it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.policy import globs
from execkit_mcp.policy.paths import _lexical, compile_paths, locate
from execkit_mcp.runtime.policies import load_policy

HOME, CWD = "/home/op", "/srv/app"
NEVER = compile_paths(
    ("~/.ssh/**", "/etc/shadow*", "**/.env*", "**/*.pem", "/proc/*/environ"), HOME, CWD, is_refusal=True
)


def touched(text, **kinds):
    place = locate(text, cwd=CWD, home=HOME, **kinds)
    assert place is not None
    pattern, is_undecided = NEVER.touched_by(place)
    return pattern.source if pattern is not None else is_undecided


@pytest.mark.parametrize(
    "spelled",
    [
        "/etc/shadow", "//etc//shadow", "/etc/./shadow", "/etc/../etc/shadow", "../../etc/shadow", "/etc/shadow-",
        "/proc/self/root/etc/shadow", "/proc/1/root/etc/shadow", "/proc/thread-self/root/etc/shadow",
        "/proc/self/task/9/root/etc/shadow", "/proc/self/cwd/../../etc/shadow", "/proc/self/root/../etc/shadow",
        "/proc/self/root/proc/self/root/etc/shadow", "/../../etc/shadow", "/etc/shadow/",
    ],
)  # fmt: skip
def test_every_spelling_of_a_refused_path_touches_it(spelled):
    assert touched(spelled) == "/etc/shadow*"


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("/etc/s*", "/etc/shadow*"), ("/e*/shadow", "/etc/shadow*"), ("/etc/sha[d]ow", "/etc/shadow*"),
        ("/etc/shado?", "/etc/shadow*"), ("/etc/[!a]hadow", "/etc/shadow*"), ("/*/*", "/etc/shadow*"),
        (".en?", "**/.env*"), (".e*", "**/.env*"), ("*.p[e]m", "**/*.pem"), ("/home/*/.ssh/id", "~/.ssh/**"),
        ("/home/op/.s*/id", "~/.ssh/**"), ("/proc/*/environ", "/proc/*/environ"), ("/proc/[0-9]*/env*", "/proc/*/environ"),
        ("*", True), ("*.log", False), ("/etc/h*", True), ("/etc/h*.conf", False), ("/tmp/s*", True),
    ],
)  # fmt: skip
def test_a_glob_that_could_match_touches(glob, expected):
    assert touched(glob, is_glob=True) == expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("/etc", "/etc/shadow*"), ("/", "~/.ssh/**"), (HOME, "~/.ssh/**"), ("/home", "~/.ssh/**"), ("src", True), ("/proc/1", "/proc/*/environ")],
)  # fmt: skip
def test_a_recursive_operand_touches_what_lies_below(folder, expected):
    assert touched(folder, is_recursive=True) == expected


@pytest.mark.parametrize("text", ["/proc/99/fd/7", "/dev/fd/9", "/proc/1/cwd/x", "/proc/*/root/etc/x", "*/../x"])
def test_what_cannot_be_told_is_unresolved(text):
    assert locate(text, cwd=CWD, home=HOME, is_glob="*" in text) is None


def test_relative_paths_in_an_unknown_folder_and_other_peoples_homes_are_unresolved():
    assert locate("x", cwd=None, home=HOME) is None
    assert locate("~bob/x", cwd=CWD, home=HOME, is_home=True) is None


def test_an_unknown_home_still_equals_itself():
    never = compile_paths(("~/.ssh/**",), "", "", is_refusal=True)
    place = locate("~/.ssh/id", cwd=None, home="", is_home=True)
    assert place is not None
    assert never.touched_by(place)[0] is not None


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/2", "/proc/self/fd/1", "/dev/stdin"])
def test_the_commands_own_streams_are_no_files(name):
    place = locate(name, cwd=CWD, home=HOME)
    assert place is not None
    assert place.is_stream


def test_both_ends_of_a_symbolic_link_are_judged():
    place = locate("link/x", cwd=CWD, home=HOME, follow=lambda path: path.replace("/srv/app/link", "/etc"))
    assert place is not None
    assert set(place.spellings) == {"/srv/app/link/x", "/etc/x"}
    granted = compile_paths(("/srv/app/**",), HOME, CWD)
    assert not granted.covers(place)


@pytest.mark.parametrize(
    ("pattern", "text", "is_glob", "is_covered"),
    [
        ("/a/**", "/a", False, True), ("/a/**", "/a/b/c", False, True), ("/a/**", "/ab", False, False),
        ("/a/*", "/a/b", False, True), ("/a/*", "/a/b/c", False, False), ("**/x", "/q/w/x", False, True),
        ("/a/**/z", "/a/z", False, True), ("/a/**/z", "/a/b/c/z", False, True), ("/a/**", "/a/*.o", True, True),
        ("/a/**", "/*/x", True, False), ("/a/*", "/a/*", True, True), ("/**", "/", False, True),
        ("/a/b*", "/a/[b]c", True, False), ("${workspace}/**", "/srv/app/x", False, True), ("~/x", "/home/op/x", False, True),
    ],
)  # fmt: skip
def test_patterns_cover_what_they_say(pattern, text, is_glob, is_covered):
    place = locate(text, cwd=CWD, home=HOME, is_glob=is_glob)
    assert place is not None
    assert compile_paths((pattern,), HOME, CWD).covers(place) is is_covered


def test_a_pattern_with_the_workspace_matches_nothing_where_there_is_none():
    assert compile_paths(("${workspace}/**",), HOME, "").patterns == ()


def test_a_recursive_write_needs_the_whole_tree():
    granted = compile_paths(("/a/**",), HOME, CWD)
    inside = locate("/a/b", cwd=CWD, home=HOME, is_recursive=True)
    above = locate("/", cwd=CWD, home=HOME, is_recursive=True)
    assert inside is not None
    assert above is not None
    assert granted.covers(inside)
    assert not granted.covers(above)


def test_all_of_a_home_is_refused_unless_it_is_ones_own():
    place = locate("/root/notes", cwd=CWD, home=HOME)
    assert place is not None
    assert compile_paths(("/root/**",), HOME, "", is_refusal=True).touched_by(place)[0] is not None
    assert compile_paths(("/root/**",), "/root", "", is_refusal=True).touched_by(place)[0] is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("a*", "*b", True), ("a*", "b*", False), ("[a-c]x", "[c-d]x", True), ("[a-b]x", "[c-d]x", False), ("?", ".", False), ("*", ".env", False), (".*", ".env", True), ("x[[:alpha:]]", "xy", True), (r"\*", "*", True), (r"\*", "a", False), ("", "", True), ("*a*b*", "xxaxxb", True)],
)  # fmt: skip
def test_two_patterns_meet_if_some_name_matches_both(left, right, expected):
    assert globs.meet(left, right) is expected


@pytest.mark.parametrize(
    ("pattern", "inside", "beyond"),
    [
        ("/srv/x[!a]*", "/srv/xb/c", "/srv/x/b"),
        ("/srv/x[--9]y", "/srv/x5y", "/srv/x/y"),
        ("/srv/[^x]?[!y]", "/srv/abc", "/srv/a/b"),
    ],
)
def test_no_bracket_reaches_over_a_slash(pattern, inside, beyond):
    granted = compile_paths((pattern + "/**", pattern), HOME, "")
    for text, expected in ((inside, True), (beyond, False)):
        place = locate(text, cwd=CWD, home=HOME)
        assert place is not None
        assert granted.covers(place) is expected


SECRETS = load_policy("workstation").document.paths.never


@pytest.mark.parametrize("word", ["example", "sample", "template", "dist", "default", "defaults", "schema"])
def test_examples_of_settings_are_no_secrets_and_everything_beside_them_is(word):
    never = compile_paths(SECRETS, HOME, CWD, is_refusal=True)

    def is_touched(name, **kinds):
        place = locate(name, cwd=CWD, home=HOME, **kinds)
        assert place is not None
        return never.touched_by(place)[0] is not None

    name = f".env.{word}"
    assert not is_touched(name)
    assert not is_touched(f"deep/er/{name}/x")
    assert all(is_touched(name[:size]) for size in range(len(".env"), len(".env.") + 3))
    assert all(is_touched(f"{name}{end}") for end in ("1", "-prod", "_old", "~", ".bak", ".local", "\u00c9"))
    assert is_touched(f"{name[:-1]}*", is_glob=True)


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".envrc",
        ".env_prod",
        ".env-local",
        ".env.",
        ".env.local",
        ".env.prod",
        ".env.dev",
        ".env.test",
        ".env.temp",
        ".env.temporary",
        ".env.disabled",
        ".env.exam",
        ".env.sam",
        ".env.staging",
        ".env.development",
        ".env.ci",
        ".env.EXAMPLE",
        ".env2",
    ],
)
def test_settings_are_secrets(name):
    place = locate(f"sub/{name}", cwd=CWD, home=HOME)
    assert place is not None
    assert compile_paths(SECRETS, HOME, CWD, is_refusal=True).touched_by(place)[0] is not None


STEPS = (
    "", ".", "..", "...", ".git", "a", "b*", "[x]", "\\", "proc", "self", "1", "root", "cwd", "task", "fd", "0", "dev",
    "null", "stdin", "var", "run", "lock", "etc", "mtab",
)  # fmt: skip


DOORS = (
    "/proc/self/root",
    "/proc/self/cwd",
    "/proc/1/fd/0",
    "/dev/stdin",
    "/dev/fd/3",
    "/var/run",
    "/var/lock",
    "/etc/mtab",
)


def the_long_way(text, **kinds):
    """Following links (which lead nowhere else here) keeps a path from being placed at once."""
    return locate(text, home=HOME, follow=_lexical, **kinds)


@pytest.mark.parametrize("ending", ["", "/", "/x", "/./x", "/../x", "//x", "/x/..", "/..", "x"])
@pytest.mark.parametrize("beginning", ["", "/", "/.", "/a/..", "/proc/self/root"])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_is_seen_in_every_spelling(door, beginning, ending):
    for spelled in (door, door.replace("/", "//"), door.replace("/", "/./")):
        text = beginning + spelled + ending
        assert locate(text, home=HOME, cwd=CWD) == the_long_way(text, cwd=CWD)


@given(
    steps=st.lists(st.sampled_from(STEPS), max_size=7),
    start=st.sampled_from(["", "/", "//"]),
    cwd=st.sampled_from(["/srv/app", "/proc/self", "/var", "/"]),
    is_recursive=st.booleans(),
)
def test_a_plain_spelling_leads_where_opening_every_door_leads(steps, start, cwd, is_recursive):
    text = start + "/".join(steps)
    at_once = locate(text, cwd=cwd, home=HOME, is_recursive=is_recursive)
    assert at_once == the_long_way(text, cwd=cwd, is_recursive=is_recursive)
