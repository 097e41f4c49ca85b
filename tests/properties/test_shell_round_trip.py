"""Properties of parser and renderer: any text parses or is refused, no tree is written ambiguously."""

import importlib.util
import random
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from execkit_mcp.policy.shell import Unparsed, parse, render, tree
from execkit_mcp.policy.shell.builtins import DECLARATION_BUILTINS, KEYWORDS
from execkit_mcp.policy.shell.flat import flat_script
from execkit_mcp.policy.shell.lexer import Budget
from execkit_mcp.policy.shell.parser import Parser
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.reader import is_argument_text

SPEC = importlib.util.spec_from_file_location("oracle_grammar", Path(__file__).parents[1] / "oracle" / "grammar.py")
assert SPEC is not None
assert SPEC.loader is not None
grammar = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(grammar)

T = TypeVar("T")
NAMES = st.sampled_from(["x", "foo", "_a1"])
TEXTS = st.text(st.sampled_from("ab1-=/.:~*?[]{}!#$'\"\\`;&|<>() \n\té%^,+@\x1b\u202e"), min_size=1, max_size=6)
WORDS_LIKE_SYNTAX = st.sampled_from(
    ["if", "then", "time", "{", "}", "!", "[[", "]]", "a=b", "in", "do", "{}", "[", "]", "-f"]
)
LITERALS = (TEXTS | WORDS_LIKE_SYNTAX).map(literal)
SUMS = st.sampled_from(["1", "1 + 2", "( 1 << 3 ) * 0x1f", "- 1", "1 ? 2 : 3"])
GLOBS = st.sampled_from(["*", "?", "[a-z]", "[!x]", "[[:alpha:]]"]).map(tree.Glob)


def named(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """The same strategy, of which Hypothesis does not write out every part when it names it."""
    return st.deferred(lambda: strategy)


def merged(parts: list[tree.Part]) -> tree.Word:
    result: list[tree.Part] = []
    for part in parts:
        if isinstance(part, tree.Literal) and result and isinstance(result[-1], tree.Literal):
            result[-1] = literal(result[-1].text + part.text)
        else:
            result.append(part)
    return tree.Word(tuple(result))


DEFAULTS = st.lists(
    TEXTS.filter(is_argument_text).map(literal) | st.just(tree.Parameter("y", quoted=True)), max_size=3
).map(merged)


def parameters(*, quoted: bool) -> st.SearchStrategy[tree.Part]:
    plain = st.builds(tree.Parameter, NAMES | st.sampled_from(["1", "12", "@", "#", "?"]), quoted=st.just(quoted))
    pattern = st.lists(LITERALS | GLOBS, min_size=1, max_size=3).map(merged)
    stripped = st.builds(
        tree.Parameter, NAMES, st.sampled_from(["#", "##", "%", "%%", "^^"]), pattern, quoted=st.just(quoted)
    )
    replaced = st.builds(
        tree.Parameter,
        NAMES,
        st.sampled_from(["/", "//", "/#", "/%"]),
        pattern,
        quoted=st.just(quoted),
        replacement=st.none() | pattern,
    )
    length = st.builds(tree.Parameter, NAMES, st.just("length"), quoted=st.just(quoted))
    sliced = st.builds(
        lambda name, offset: tree.Parameter(name, ":", tree.Word((tree.Literal(offset),)), quoted=quoted),
        NAMES | st.sampled_from(["@", "*"]),
        st.sampled_from(["0", "1:2", "-1", "3:-2"]),
    )
    words_ = (DEFAULTS if quoted else st.lists(LITERALS, max_size=2).map(merged)) | st.just(tree.Word(()))
    defaulted = st.builds(
        tree.Parameter, NAMES, st.sampled_from([":-", "-", ":+", "+", ":?"]), words_, quoted=st.just(quoted)
    )
    return plain | stripped | replaced | length | sliced | defaulted


def words(sequences: st.SearchStrategy[tree.Sequence] | None, *, is_split: bool) -> st.SearchStrategy[tree.Word]:
    """Words; where nothing is split, every expansion is a quoted one and nothing is a pattern."""
    kinds: list[st.SearchStrategy[tree.Part]] = [LITERALS, parameters(quoted=True)]
    kinds.append(st.builds(tree.Arithmetic, SUMS, quoted=st.just(value=True)))
    if sequences is not None:
        if is_split:
            kinds.append(st.builds(tree.Substitution, sequences, quoted=st.just(value=False)))
        kinds.append(st.builds(tree.Substitution, sequences, quoted=st.just(value=True)))
        kinds.append(st.builds(tree.ProcessSubstitution, st.sampled_from(["<", ">"]), sequences))
    if is_split:
        kinds += [parameters(quoted=False), GLOBS, st.builds(tree.Arithmetic, SUMS, quoted=st.just(value=False))]
    parts = st.lists(st.one_of(kinds), max_size=4)

    def finished(drawn: list[tree.Part]) -> tree.Word:
        return merged([literal("./"), *drawn] if drawn and isinstance(drawn[0], tree.Glob) else drawn)

    def homed(user: str, drawn: list[tree.Part]) -> tree.Word:
        return merged([tree.Tilde(user), *([literal("/"), *drawn] if drawn else [])])

    return named(
        parts.map(finished) | st.builds(homed, st.sampled_from(["", "root"]), st.lists(st.one_of(kinds), max_size=2))
    )


def redirections(
    arguments: st.SearchStrategy[tree.Word], values: st.SearchStrategy[tree.Word]
) -> st.SearchStrategy[tree.Redirect]:
    descriptors = st.none() | st.integers(0, 9)
    copies = st.sampled_from(["0", "1", "2", "9", "-"]).map(lambda text: tree.Word((tree.Literal(text),)))
    return st.one_of(
        st.builds(tree.Redirect, st.sampled_from(["<", ">", ">>", ">|", "<>"]), arguments, descriptors),
        st.builds(tree.Redirect, st.sampled_from([">&", "<&"]), copies, descriptors),
        st.builds(tree.Redirect, st.just("<<<"), values, descriptors),
    )


def simples(sequences: st.SearchStrategy[tree.Sequence] | None) -> st.SearchStrategy[tree.Simple]:
    values = words(sequences, is_split=False)
    arguments = words(sequences, is_split=True)
    programs = LITERALS.filter(lambda part: not part.text.startswith("%")).map(lambda part: tree.Word((part,)))
    redirects = named(redirections(arguments, values))
    assignments = st.builds(tree.Assignment, NAMES, values, st.sampled_from(["=", "+="]))
    arrays = st.builds(
        tree.Assignment,
        NAMES,
        st.just(tree.Word(())),
        st.sampled_from(["=", "+="]),
        st.lists(arguments, max_size=3).map(tuple),
    )
    with_words = st.builds(
        lambda assigned, program, rest, redirected: tree.Simple(tuple(assigned), (program, *rest), tuple(redirected)),
        st.lists(assignments, max_size=2),
        programs | parameters(quoted=True).map(lambda part: tree.Word((part,))),
        st.lists(arguments, max_size=3),
        st.lists(redirects, max_size=2),
    )
    unnamed = st.builds(
        lambda assigned, redirected: tree.Simple(tuple(assigned), (), tuple(redirected)),
        st.lists(assignments, max_size=2),
        st.lists(redirects, max_size=2),
    ).filter(lambda command: bool(command.assignments or command.redirects))
    filled = st.lists(assignments | arrays, min_size=1, max_size=2).map(lambda each: tree.Simple(tuple(each), (), ()))
    return with_words | unnamed | filled


def regexes(part: st.SearchStrategy[tree.Part]) -> st.SearchStrategy[tree.Word]:
    """Right sides of ``=~``: plain runs with groups, and quoted characters between them."""
    runs = st.sampled_from(["^a", "(b|c)", "[0-9]+", "x{1,3}", "((d)|e*)", "[[:alpha:]]?", "|f"]).map(tree.Glob)

    def joined(drawn: list[tree.Part]) -> tree.Word:
        parts: list[tree.Part] = []
        for each in drawn:
            last = parts[-1] if parts else None
            if isinstance(each, tree.Glob) and isinstance(last, tree.Glob):
                parts[-1] = tree.Glob(last.text + each.text)
            else:
                parts.append(each)
        return merged(parts)

    return st.lists(runs | part, min_size=1, max_size=3).map(joined)


def conditions(values: st.SearchStrategy[tree.Word]) -> st.SearchStrategy[tree.Condition]:
    numbers = st.sampled_from(["1", "-12"]).map(lambda text: tree.Word((tree.Literal(text),)))
    patterns = st.lists(LITERALS | GLOBS, min_size=1, max_size=3).map(merged)
    leaf = st.one_of(
        st.builds(tree.Unary, st.sampled_from(["-f", "-n", "-z", "-t", "-o", "-L"]), values),
        st.builds(tree.Binary, st.sampled_from(["==", "!=", "<", ">", "-nt", "-ot", "-ef"]), values, values),
        st.builds(tree.Binary, st.sampled_from(["==", "!="]), values, patterns),
        st.builds(tree.Binary, st.sampled_from(["-eq", "-lt", "-ge"]), numbers, numbers),
        st.builds(tree.Binary, st.just("=~"), values, regexes(LITERALS | parameters(quoted=True))),
    )
    result: st.SearchStrategy[tree.Condition] = leaf
    for _ in range(2):
        pair = st.builds(tree.Both, st.sampled_from(["&&", "||"]), result, result)
        result = named(leaf | st.builds(tree.Not, result) | pair)
    return result


def sequences_of(commands: st.SearchStrategy[tree.Command]) -> st.SearchStrategy[tree.Sequence]:
    pipelines = st.builds(
        tree.Pipeline, st.lists(commands, min_size=1, max_size=2).map(tuple), st.booleans(), st.booleans()
    )
    rest = st.lists(st.tuples(st.sampled_from(["&&", "||"]), pipelines), max_size=1).map(tuple)
    items = st.builds(tree.Item, st.builds(tree.AndOr, pipelines, rest), st.booleans())
    return named(st.lists(items, min_size=1, max_size=2).map(lambda drawn: tree.Sequence(tuple(drawn))))


def compounds(inner: st.SearchStrategy[tree.Command]) -> st.SearchStrategy[tree.Command]:
    bodies = sequences_of(inner)
    values = words(bodies, is_split=False)
    patterns = values | st.lists(LITERALS | GLOBS, min_size=1, max_size=3).map(merged)
    clauses = st.builds(
        tree.CaseClause,
        st.lists(patterns, min_size=1, max_size=2).map(tuple),
        bodies | st.just(tree.Sequence(())),
    )
    redirects = st.lists(named(redirections(words(bodies, is_split=True), values)), max_size=2).map(tuple)
    kinds = st.one_of(
        st.builds(tree.Subshell, bodies),
        st.builds(tree.Group, bodies),
        st.builds(
            tree.If,
            st.lists(st.tuples(bodies, bodies), min_size=1, max_size=2).map(tuple),
            st.none() | bodies,
        ),
        st.builds(tree.Loop, st.sampled_from(["while", "until"]), bodies, bodies),
        st.builds(tree.For, NAMES, st.lists(words(bodies, is_split=True), max_size=2).map(tuple), bodies),
        st.builds(tree.Case, values, st.lists(clauses, max_size=2).map(tuple)),
        st.builds(tree.Test, named(conditions(values))),
    )
    return simples(bodies) | st.builds(lambda kind, redirected: replace(kind, redirects=redirected), kinds, redirects)


PLAIN = named(simples(None))
SCRIPTS = st.builds(tree.Script, sequences_of(PLAIN) | sequences_of(named(compounds(PLAIN))))


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCRIPTS)
def test_a_tree_is_the_tree_of_its_canonical_text(script: tree.Script) -> None:
    text = render(script)
    assert parse(text, max_depth=60) == script
    assert render(parse(text, max_depth=60)) == text


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from("ab =$(){}[]'\"\\`;&|<>!*?~#,.-+\n1/:@^%_") | st.characters(), max_size=40))
def test_any_text_parses_or_is_refused_by_name(text: str) -> None:
    try:
        script = parse(text)
    except Unparsed as refusal:
        is_named = bool(refusal.construct) and refusal.line >= 1 and refusal.column >= 1
        assert is_named, text
    else:
        canonical = render(script)
        assert parse(canonical) == script
        assert render(parse(canonical)) == canonical


FLAT_TOKENS = (
    st.text(st.sampled_from("ab1-=/.:%,+@_"), min_size=1, max_size=6)
    | st.sampled_from(sorted(KEYWORDS | DECLARATION_BUILTINS | {"command", "builtin"}))
    | st.sampled_from(
        ["'q x'", '"q|"', "''", '""', "{}", "\\;", "\\(", "\\!", "!", "2", "12", "%1", "~", "*", "#c", "$x"]
    )
    | st.sampled_from(
        ["\n", "|", "||", "&&", ";", ";;", "|&", "&", ">", ">>", "2>", "<", "2>&1", "1>&2", ">&2", "<<", ">|"]
    )
)


@settings(max_examples=3000)
@given(st.lists(st.tuples(FLAT_TOKENS, st.sampled_from([" ", "  ", "\t", ""])), min_size=1, max_size=9))
def test_a_text_read_in_one_step_is_the_tree_that_the_grammar_makes(tokens):
    text = "".join(token + blank for token, blank in tokens)
    script = flat_script(text, 9)
    if script is not None:
        budget = Budget(9, 9)
        assert script.body == Parser(text, budget).script()
        assert (script.command_count, budget.extension, budget.misread) == (budget.commands, "", "")


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_a_text_of_the_grammar_means_what_its_canonical_text_means(seed: int) -> None:
    text = grammar.text(random.Random(seed))
    try:
        script = parse(text)
    except Unparsed:
        return
    canonical = render(script)
    again = parse(canonical)
    assert again == script
    assert render(again) == canonical
    assert (again.command_count, again.misread) == (script.command_count, "")


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("select x in a b; do ls; done", "select loop"),
        ("for ((i=0; i<3; i++)); do continue; done", "arithmetic for loop"),
        (" ((a[0]++))", "array subscript"),
        ("a=([0]=2)", "array item with a subscript"),
        ("a+=(1 2) ls", "array assignment before a command"),
        ("a[0]=x", "array assignment"),
        ("echo ${a[b]}", "array subscript"),
        ("echo ${!x}", "indirect expansion"),
        ("echo ${x@P}", "parameter transformation"),
        ("echo $((x++))", "assignment inside arithmetic"),
        ("echo $(($(ls)))", "command inside arithmetic"),
        ("[[ $x$y -eq 1 ]]", "arithmetic comparison"),
        ("[[ -v x ]]", "operator -v"),
        ("coproc ls", "coproc"),
        ("ls {fd}> x", "descriptor variable"),
        ("case x in a) ls;& esac", "falls through"),
        ("ls @(a|b)", "extended glob"),
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "x=$({})", "ls <({})", "if true; then {}; fi", "{{ {}; }} > x", "p <<E\n$({})\nE"]
)
def test_what_is_not_in_the_subset_is_refused_wherever_it_stands(text: str, construct: str, around: str) -> None:
    with pytest.raises(Unparsed) as refusal:
        parse(around.format(text))
    assert construct in refusal.value.construct
