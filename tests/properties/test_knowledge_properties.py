"""What holds for every argv: no exception, no forgetting, no doubt that goes unsaid."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge import UNSEEN, Arg, ArgKind, interpret, knows, program_names, static
from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.spec import flags_of

SPELLINGS = sorted({name for program in PROGRAMS.values() for name in flags_of(program.flags)})
TEXTS = st.one_of(
    st.sampled_from(SPELLINGS),
    st.sampled_from(
        [
            "-",
            "--",
            "",
            "a=b",
            "s/a/b/e",
            "{print}",
            "h:x",
            "-c",
            "{}",
            ";",
            "+",
            "--x=y",
            "-xf",
            "..",
            "/etc",
        ]
    ),
    st.text(max_size=8),
)
WORDS = st.one_of(
    TEXTS.map(static),
    st.builds(lambda text, single: Arg(ArgKind.DYNAMIC, "$x", text, is_single=single), TEXTS, st.booleans()),
    TEXTS.map(lambda text: Arg(ArgKind.GLOB, text + "*", text, is_single=False)),
    st.just(UNSEEN),
)
ARGVS = st.builds(
    lambda name, rest: (static(name), *rest), st.sampled_from(program_names()), st.lists(WORDS, max_size=7)
)
DYNAMIC = Arg(ArgKind.DYNAMIC, '"$x"', "", is_single=True)
INERT = {"echo", "true", "false", ":", "test", "["}


def doubts(invocation):
    unknown = [effect for effect in invocation.effects if effect.kind is not EffectKind.READ]
    return bool(invocation.problems or unknown or invocation.inner)


@settings(max_examples=1500, deadline=None)
@given(ARGVS)
def test_interpret_never_raises_and_answers_the_same_twice(argv):
    assert interpret(argv) == interpret(argv)


@given(st.text(max_size=6), st.lists(WORDS, max_size=5))
def test_a_program_without_knowledge_is_unknown(name, rest):
    name = f"no-such-{name}"
    found = interpret((static(name), *rest))
    assert not knows(name)
    assert [effect.kind for effect in found.effects] == [EffectKind.UNKNOWN]


@pytest.mark.parametrize("name", [name for name in program_names() if name not in INERT])
def test_a_word_that_could_be_an_option_is_never_silent(name):
    found = interpret((static(name), DYNAMIC))
    assert doubts(found)


@pytest.mark.parametrize(
    "name",
    [
        "ls",
        "cat",
        "grep",
        "sort",
        "find",
        "tar",
        "sed",
        "awk",
        "git",
        "curl",
        "systemctl",
        "sudo",
        "env",
        "xargs",
        "bash",
    ],
)
def test_an_argv_without_a_name_that_is_known_is_a_problem(name):
    assert interpret((Arg(ArgKind.DYNAMIC, f"${name}", ""),)).problems
    assert interpret(()).problems


@pytest.mark.parametrize(
    ("name", "is_harmless"),
    [
        ("cat", True),
        ("grep", True),
        ("echo", True),
        ("ls", True),
        ("rm", False),
        ("sort", False),
        ("tar", False),
        ("git", False),
    ],
)
def test_unseen_words_are_a_problem_unless_no_option_has_an_effect(name, is_harmless):
    found = interpret((static(name), UNSEEN))
    assert bool(found.problems) is not is_harmless


def marked_flags():
    for name, program in sorted(PROGRAMS.items()):
        if program.read is not None or program.subcommands or name != program.names.split()[0]:
            continue
        for spelling, flag in flags_of(program.flags, is_long_only=program.is_long_only).items():
            if set(flag.marks) & set("wodnuNUxcsp?") and spelling == flag.names[0]:
                yield name, spelling, flag


@pytest.mark.parametrize(("name", "spelling", "flag"), list(marked_flags()), ids=lambda value: str(value)[:40])
def test_every_flag_with_an_effect_shows_it(name, spelling, flag):
    words = (
        [spelling, "v"]
        if flag.value == "="
        else [f"{spelling}=v" if spelling.startswith("--") else f"{spelling}v"]
        if flag.value
        else [spelling]
    )
    bare = interpret((static(name), static("x")))
    given_flag = interpret((static(name), *map(static, words), static("x")))
    assert len(given_flag.effects) + len(given_flag.inner) + len(given_flag.problems) > 0
    assert given_flag.effects != bare.effects or given_flag.inner != bare.inner or given_flag.problems


def test_a_typical_argv_takes_microseconds():
    argvs = [
        tuple(map(static, line.split())) for line in ("ls -la /tmp", "grep -rn foo src", "tail -n 5 f", "git status -s")
    ]
    for argv in argvs:
        interpret(argv)
    best = min(timed(argvs) for _ in range(5))
    assert best < 100e-6


def timed(argvs):
    start = time.perf_counter()
    for _ in range(200):
        for argv in argvs:
            interpret(argv)
    return (time.perf_counter() - start) / (200 * len(argvs))
