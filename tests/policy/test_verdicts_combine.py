# ruff: noqa: E501 - rows of cases read one case a line
"""The verdict of a text is the maximum over its parts, and each refusal says what and how to change it."""

import pytest

from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy.document import Defaults, Element, FlagRules, Limits

EVERY_PLACE = [
    "{}",
    "ls; {}",
    "{}; ls",
    "ls && {}",
    "ls || {}",
    "ls | {}",
    "{} | ls",
    "({})",
    "{{ {}; }}",
    "if {}; then ls; fi",
    "if ls; then {}; fi",
    "if ls; then ls; else {}; fi",
    "if ls; then ls; elif {}; then ls; fi",
    "while {}; do ls; done",
    "until ls; do {}; done",
    "for f in a b; do {}; done",
    "for f in $({}); do ls; done",
    "case a in a) {};; esac",
    "case $({}) in a) ls;; esac",
    "case a in $({})) ls;; esac",
    "! {}",
    "time {}",
    "echo $({})",
    'echo "$({})"',
    "echo `{}`",
    "cat <({})",
    "cat <<< $({})",
    "cat <<E\n$({})\nE",
    "x=$({})",
    "LC_ALL=$({}) ls",
    "cat < $({})",
    "echo ${{x:-$({})}}",
    "[[ -n $({}) ]]",
    "[[ a == $({}) ]]",
    "ls & {}",
    "true\n{}",
    "ls # comment\n{}",
]


@pytest.mark.parametrize("place", EVERY_PLACE)
def test_a_denied_command_denies_the_text_wherever_it_stands(decide, place):
    decision = decide(
        place.format("rm x"),
        allow=["ls", "echo", "cat", "true"],
        deny=["rm"],
        limits=Limits(background=Verdict.ALLOW),
    )
    assert decision.verdict is Verdict.DENY
    assert decision.rule == "deny"


@pytest.mark.parametrize("place", EVERY_PLACE)
def test_a_command_that_no_rule_covers_is_never_allowed_wherever_it_stands(decide, place):
    decision = decide(place.format("rm x"), allow=["ls", "echo", "cat", "true"])
    assert decision.verdict is Verdict.DENY


def test_deny_beats_ask_and_ask_beats_allow(decide):
    assert decide("ls", allow=["ls"]).verdict is Verdict.ALLOW
    assert decide("ls", allow=["ls"], ask=["ls"]).verdict is Verdict.ASK
    assert decide("ls", allow=["ls"], ask=["ls"], deny=["ls"]).verdict is Verdict.DENY


def test_too_many_commands_are_denied_and_not_asked(decide):
    text = "; ".join(["ls"] * 6)
    decision = decide(text, allow=["ls"], limits=Limits(commands=5), defaults=Defaults(decision=Verdict.ASK))
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.LIMIT)


def test_commands_inside_substitutions_count_towards_the_limit(decide):
    text = "ls $(ls $(ls $(ls $(ls $(ls)))))"
    assert decide(text, allow=["ls"], limits=Limits(commands=5)).reason_code is ReasonCode.LIMIT


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_background_command_is_what_limits_say(decide, verdict):
    assert decide("ls &", allow=["ls"], limits=Limits(background=verdict)).verdict is verdict


def test_text_outside_the_grammar_follows_its_default_and_has_no_canonical_form(decide):
    decision = decide("coproc ls", allow=["ls"], defaults=Defaults(unparsed=Verdict.ASK))
    assert (decision.verdict, decision.reason_code, decision.canonical) == (
        Verdict.ASK,
        ReasonCode.UNPARSED,
        None,
    )
    assert "coproc" in decision.message


@pytest.mark.parametrize("text", ["ls\r", "ls # \u202e", "ls \u200bx", "ls \x1b[2J", "ls \ud800"])
def test_characters_that_deceive_are_denied_even_where_unparsed_text_is_asked(decide, text):
    decision = decide(text, allow=["ls"], defaults=Defaults(unparsed=Verdict.ASK))
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.UNPARSED)


def test_a_text_that_is_too_long_is_a_limit(decide):
    decision = decide("ls " + "x" * 70_000, allow=["ls"])
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.LIMIT)


def test_unresolved_words_are_never_allowed(decide):
    decision = decide("ls $x", allow=["ls"])
    assert (decision.verdict, decision.reason_code) == (Verdict.ASK, ReasonCode.DYNAMIC_WORD)
    assert decide("$x y", allow=["ls"]).verdict is Verdict.ASK
    assert decide("ls --no-such-flag", allow=["ls"]).reason_code is ReasonCode.UNKNOWN_FLAG


def test_every_refusal_says_what_and_how_to_change_it(decide):
    for text in [
        "rm x",
        "ls > out",
        "cat /etc/shadow",
        "FOO=1",
        "set -e",
        "x y",
        "ls $x",
        "coproc ls",
        "sort -o a b",
    ]:
        decision = decide(text, allow=["ls", "cat", "sort"])
        assert decision.verdict is not Verdict.ALLOW
        assert decision.message, text
        assert decision.hint, text


def test_the_hint_names_the_line_that_would_allow_it(decide):
    assert '"rm"' in decide("rm x", allow=["ls"]).hint
    assert "write: paths" in decide("sort -o a b", allow=["sort"]).hint
    assert "paths.write" in decide("ls > out", allow=["ls"]).hint
    assert "`set -e` and `set -o pipefail`" in decide("set -eo pipefail", allow=["ls"]).hint
    assert "`umask`" in decide("umask 0", allow=["ls"]).hint


def test_flags_slip_past_neither_by_place_nor_by_spelling(decide):
    hard = Element(program="rm", flags=FlagRules(any=("-r", "-R", "--recursive")))
    for text in [
        "rm -rf x",
        "rm -fr x",
        "rm x -r",
        "rm --recursive x",
        "rm --recurs x",
        "rm -f -R x",
        "'r'm -r x",
        "/bin/rm -r x",
    ]:
        assert decide(text, ask=["rm"], deny=[hard]).rule == "deny", text
    assert decide("rm x", ask=["rm"], deny=[hard]).verdict is Verdict.ASK


def test_a_fault_inside_a_rule_denies_and_is_reported(decide, monkeypatch):
    from execkit_mcp.policy import programs

    def broken(*_: object, **__: object) -> bool:
        message = "broken"
        raise RuntimeError(message)

    monkeypatch.setattr(programs, "matches", broken)
    decision = decide("git status", allow=["git status"])
    assert decision.verdict is Verdict.DENY
    assert any("broken" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    "text",
    ["{ ls; } > out", "(ls) > out", "if ls; then ls; fi > out", "while ls; do ls; done > out", "for f in a; do ls; done > out", "case a in a) ls;; esac > out", "[[ a == a ]] > out"],
)  # fmt: skip
def test_the_redirect_of_a_compound_command_is_judged(decide, text):
    assert decide(text, allow=["ls"]).reason_code is ReasonCode.PATH_WRITE


@pytest.mark.parametrize("test", ["[[ -e /etc/shadow ]]", "[[ ! -r /etc/shadow ]]", "[[ a -nt /etc/shadow ]]"])
def test_a_file_test_reads(decide, test):
    assert decide(test).reason_code is ReasonCode.PATH_NEVER


@pytest.mark.parametrize("loop", ["while ls", "until ls", "for f in a b"])
def test_what_a_loop_changes_is_unknown_at_its_start(decide, loop):
    text = f"d=/tmp/a; {loop}; do cat $d; d=/etc/shadow; done"
    assert decide(text, allow=["ls", "cat"]).verdict is not Verdict.ALLOW
    text = f"cd /tmp; {loop}; do cat shadow; cd /etc; done"
    assert decide(text, allow=["ls", "cat"]).verdict is not Verdict.ALLOW


def test_commands_wrapped_too_deep_are_denied(decide):
    decision = decide("env " * 12 + "ls", allow=["env", "ls"])
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.LIMIT)
