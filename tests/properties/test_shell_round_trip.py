"""Properties of parser and renderer: any text parses or is refused, no tree is written ambiguously."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execkit_mcp.policy.shell import Unparsed, parse, render, tree
from execkit_mcp.policy.shell.quoting import literal

NAMES = st.sampled_from(["x", "foo", "_a1"])
TEXTS = st.text(st.sampled_from("ab1-=/.:~*?[]{}!#$'\"\\`;&|<>() \n\té%^,+@\x1b\u202e"), min_size=1, max_size=6)
WORDS_LIKE_SYNTAX = st.sampled_from(
    ["if", "then", "time", "{", "}", "!", "[[", "]]", "a=b", "in", "do", "{}", "[", "]", "-f"]
)
LITERALS = (TEXTS | WORDS_LIKE_SYNTAX).map(literal)
GLOBS = st.sampled_from(["*", "?", "[a-z]", "[!x]", "[[:alpha:]]"]).map(tree.Glob)


def merged(parts: list[tree.Part]) -> tree.Word:
    result: list[tree.Part] = []
    for part in parts:
        if isinstance(part, tree.Literal) and result and isinstance(result[-1], tree.Literal):
            result[-1] = literal(result[-1].text + part.text)
        else:
            result.append(part)
    return tree.Word(tuple(result))


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
    return plain | stripped | replaced | length


def words(sequences: st.SearchStrategy[tree.Sequence] | None, *, is_split: bool) -> st.SearchStrategy[tree.Word]:
    """Words; where nothing is split, every expansion is a quoted one and nothing is a pattern."""
    kinds: list[st.SearchStrategy[tree.Part]] = [LITERALS, parameters(quoted=True)]
    if sequences is not None:
        kinds.append(st.builds(tree.Substitution, sequences, quoted=st.just(value=True)))
        kinds.append(st.builds(tree.ProcessSubstitution, st.sampled_from(["<", ">"]), sequences))
    if is_split:
        kinds += [parameters(quoted=False), GLOBS]
    parts = st.lists(st.one_of(kinds), max_size=4)

    def finished(drawn: list[tree.Part]) -> tree.Word:
        return merged([literal("./"), *drawn] if drawn and isinstance(drawn[0], tree.Glob) else drawn)

    return parts.map(finished)


def simples(sequences: st.SearchStrategy[tree.Sequence] | None) -> st.SearchStrategy[tree.Simple]:
    values = words(sequences, is_split=False)
    arguments = words(sequences, is_split=True)
    programs = LITERALS.filter(lambda part: not part.text.startswith("%")).map(lambda part: tree.Word((part,)))
    redirects = st.builds(
        tree.Redirect,
        st.sampled_from(["<", ">", ">>", ">|", "<>"]),
        arguments,
        st.none() | st.integers(0, 9),
    ) | st.builds(tree.Redirect, st.just("<<<"), values)
    assignments = st.builds(tree.Assignment, NAMES, values, st.sampled_from(["=", "+="]))
    return st.builds(
        lambda assigned, program, rest, redirected: tree.Simple(tuple(assigned), (program, *rest), tuple(redirected)),
        st.lists(assignments, max_size=2),
        programs,
        st.lists(arguments, max_size=3),
        st.lists(redirects, max_size=2),
    )


def conditions(values: st.SearchStrategy[tree.Word]) -> st.SearchStrategy[tree.Condition]:
    leaf = st.builds(tree.Unary, st.sampled_from(["-f", "-n", "-z"]), values) | st.builds(
        tree.Binary, st.sampled_from(["==", "!=", "<", "-nt"]), values, values
    )
    result: st.SearchStrategy[tree.Condition] = leaf
    for _ in range(1):
        pair = st.builds(tree.Both, st.sampled_from(["&&", "||"]), result, result)
        result = leaf | st.builds(tree.Not, result) | pair
    return result


def sequences_of(commands: st.SearchStrategy[tree.Command]) -> st.SearchStrategy[tree.Sequence]:
    pipelines = st.builds(
        tree.Pipeline, st.lists(commands, min_size=1, max_size=2).map(tuple), st.booleans(), st.booleans()
    )
    rest = st.lists(st.tuples(st.sampled_from(["&&", "||"]), pipelines), max_size=1).map(tuple)
    items = st.builds(tree.Item, st.builds(tree.AndOr, pipelines, rest), st.booleans())
    return st.lists(items, min_size=1, max_size=2).map(lambda drawn: tree.Sequence(tuple(drawn)))


def compounds(inner: st.SearchStrategy[tree.Command]) -> st.SearchStrategy[tree.Command]:
    bodies = sequences_of(inner)
    values = words(bodies, is_split=False)
    clauses = st.builds(tree.CaseClause, st.lists(values, min_size=1, max_size=2).map(tuple), bodies)
    return st.one_of(
        simples(bodies),
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
        st.builds(tree.Test, conditions(values)),
    )


@st.composite
def scripts(draw: st.DrawFn) -> tree.Script:
    depth = draw(st.integers(0, 1))
    commands: st.SearchStrategy[tree.Command] = simples(None)
    for _ in range(depth):
        commands = compounds(commands)
    return tree.Script(draw(sequences_of(commands)))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(scripts())
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
