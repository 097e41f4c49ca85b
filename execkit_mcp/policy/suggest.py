"""The smallest rules that would cover what a person approved, never wider than what was seen.

Theory of operation. A text that was approved is judged again; each part that no rule allows yields one
element: the same program, subcommand, flags and flag values, the operands as a list, the folder it ran in.
The rule is given the fewest effects with which the part comes out allowed; nothing is guessed, each candidate
is compiled into the policy and judged. What a rule cannot say exactly is left to a person, with the reason:

    * an ask or deny rule matches (it beats every allow), or a hazard asks;
    * a path or host outside ``paths`` and ``network`` (those are not widened);
    * a program of which nothing is known, and a known one that would run what cannot be told: one approved run is no
      word for every later one, so only the operator can vouch for it;
    * shell text, words that depend on input or on variables.

What an element cannot say: the order of operands. ``cp a b`` covers ``cp b a``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import Decision, EffectKind, JudgedCommand, Verdict
from execkit_mcp.policy import globs
from execkit_mcp.policy.compare import Question
from execkit_mcp.policy.compile import CompiledPolicy, compile_policy
from execkit_mcp.policy.document import EffectGrants, Element, FlagRules, Rule, Then
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.findings import Context
from execkit_mcp.policy.knowledge import Inner, Invocation, interpret, static
from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.git_shows import QUIETING
from execkit_mcp.policy.nearest import bare_name
from execkit_mcp.policy.spelling import check_subcommand

_WORKSPACE = "${workspace}"
_MAX_NESTING = 3
_ORDERED = frozenset({"find"})
# The canonical text has them whatever was typed, and a closed list of flags need not name them.
_ADDED = frozenset(QUIETING)
_GRANTS: tuple[tuple[str, str], ...] = (
    ("write", "paths"),
    ("net", "policy"),
    ("process", "any"),
    ("state", "any"),
    ("read", "any"),
)


class CannotSay(Exception):  # an answer, not an error of ours
    """Why no rule says exactly this; the text goes to the operator."""


class Covered(Struct, frozen=True, kw_only=True):
    """A text that the suggested rules allow; ``cwd`` as a test names it."""

    command: str
    cwd: str


class Left(Struct, frozen=True, kw_only=True):
    """A text that is left to a person, and why."""

    command: str
    reason: str


class Suggestion(Struct, frozen=True, kw_only=True):
    """What ``policy suggest`` says.

    Attributes:
        rules: to be added to the policy.
        covered: each text with the folder of its test.
        left: what they do not cover.
        already: how many texts the policy allows as it is.
    """

    rules: tuple[Rule, ...]
    covered: tuple[Covered, ...]
    left: tuple[Left, ...]
    already: int


def suggest(
    approved: Iterable[Question], policy: CompiledPolicy, context: Context, example_context: Context
) -> Suggestion:
    """Rules for what was approved.

    Args:
        approved: the texts, with the folders they ran in.
        policy: what the rules are to be added to.
        context: where the texts ran.
        example_context: where the tests of a document are run; a rule must hold there as well.
    """
    grants: dict[EffectGrants | None, list[Element]] = {}
    covered: dict[Covered, None] = {}
    left: dict[str, Left] = {}
    already = 0
    for question in approved:
        where = question.context(context)
        first = judge(question.command, policy, where)
        if first.verdict is Verdict.ALLOW:
            already += 1
            continue
        try:
            found = _rules_for(question.command, first, policy, where)
            test = Covered(command=question.command, cwd=_as_pattern(where.cwd, where.workspace, is_glob=False))
            _require_test_holds(test, _with(policy, found), example_context)
        except CannotSay as reason:
            left.setdefault(question.command, Left(command=question.command, reason=str(reason)))
            continue
        for effects, element in found:
            bucket = grants.setdefault(effects, [])
            if element not in bucket:
                bucket.append(element)
        covered[test] = None
    taken = {rule.id for rule in policy.document.rules}
    ids = (each for each in (f"approved-{number}" for number in range(1, 10_000)) if each not in taken)
    rules = tuple(
        Rule(id=name, verdict=Verdict.ALLOW, elements=tuple(_merged(elements)), effects=effects)
        for name, (effects, elements) in zip(ids, grants.items(), strict=False)
    )
    return Suggestion(rules=rules, covered=tuple(covered), left=tuple(left.values()), already=already)


def _require_test_holds(test: Covered, policy: CompiledPolicy, context: Context) -> None:
    there = replace(context, cwd=_expanded(test.cwd, context))
    told = judge(test.command, policy, there)
    if told.verdict is not Verdict.ALLOW:
        raise CannotSay(
            f"its test would not hold on another machine: {told.message} "
            "Approve it with paths that are relative to the folder."
        )


Found = list[tuple[EffectGrants | None, Element]]


def _with(policy: CompiledPolicy, found: Found) -> CompiledPolicy:
    """The policy with the found elements as rules."""
    added = tuple(
        Rule(id=f"candidate-{number}", verdict=Verdict.ALLOW, elements=(element,), effects=effects)
        for number, (effects, element) in enumerate(found)
    )
    return compile_policy(replace(policy.document, rules=(*policy.document.rules, *added)))


def _rules_for(text: str, first: Decision, policy: CompiledPolicy, context: Context) -> Found:
    """An element with its effects for each part that is not allowed; CannotSay if the text stays refused."""
    if first.canonical is None:
        raise CannotSay(first.message)
    found: Found = []
    for index, part in enumerate(first.commands):
        if part.verdict is Verdict.ALLOW:
            continue
        if not part.program or not part.argv:
            raise CannotSay(part.message)
        if part.rule is not None:
            raise CannotSay(f"rule {part.rule} ({part.source}) decides it, and no allow rule lifts that")
        found.append(_for_part(text, index, part, policy, context))
    told = judge(text, _with(policy, found), context)
    if told.verdict is not Verdict.ALLOW:
        raise CannotSay(told.message)
    return found


def _for_part(
    text: str, index: int, part: JudgedCommand, policy: CompiledPolicy, context: Context
) -> tuple[EffectGrants | None, Element]:
    """The element of one part with the fewest effects that cover it."""
    name = bare_name(part.argv, policy) or part.argv[0]
    if "/" in name and not name.startswith("/"):
        raise CannotSay(f"{name} is a program of the workspace: declare it under `programs`, then name it")
    invocation = interpret((static(name), *(static(word) for word in part.argv[1:])))
    element = replace(
        _element(name, part.argv[1:], invocation, depth=0),
        cwd=(_as_pattern(context.cwd, context.workspace, is_glob=True),),
    )
    if not invocation.is_known:
        raise CannotSay(
            f"what {name} does is not known, and one approved run does not vouch for the next; to vouch, write: "
            + json.dumps({"effects": "trusted", "allow": [_mapping(element)]})
        )
    last = part.message
    for effects in _candidates():
        told = judge(text, _with(policy, [(effects, element)]), context)
        if index < len(told.commands) and told.commands[index].verdict is Verdict.ALLOW:
            return effects, element
        if index < len(told.commands):
            last = told.commands[index].message
    if any(effect.kind is EffectKind.EXEC for effect in invocation.effects) or invocation.problems:
        last += " If you vouch for it, write its rule by hand with `effects: trusted`."
    raise CannotSay(last)


def _candidates() -> Iterator[EffectGrants | None]:
    """Effects from none to all; never trust, which is the operator's to give."""
    yield None
    for size in range(1, len(_GRANTS) + 1):
        for chosen in combinations(_GRANTS, size):
            yield EffectGrants(**dict(chosen))  # type: ignore[arg-type]  # none of them is is_trusted


# ── one element ──────────────────────────────────────────────────────────────────────────────────────────────


def _element(name: str, words: Sequence[str], invocation: Invocation, *, depth: int) -> Element:
    """Exactly this invocation, as far as an element can say it."""
    _refuse_wider(name, invocation)
    _require_all_seen(words, invocation)
    uses = [use for use in invocation.flags if _ADDED.isdisjoint(use.names)]
    names = tuple(dict.fromkeys(globs.escape(use.names[0]) for use in uses))
    values: dict[str, tuple[str, ...]] = {}
    for use in uses:
        if use.value is not None:
            key = globs.escape(use.names[0])
            values[key] = (*values.get(key, ()), globs.escape(use.value.text))
    return Element(
        program=globs.escape(name) if name != "[" else name,
        sub=_leading_words(invocation),
        args=tuple(dict.fromkeys(globs.escape(operand.text) for operand in invocation.operands)),
        flags=FlagRules(allow=names, require=names, values={key: tuple(dict.fromkeys(v)) for key, v in values.items()}),
        then=_then(invocation, depth) if invocation.inner else None,
    )


def _leading_words(invocation: Invocation) -> tuple[tuple[str, ...], ...]:
    """The subcommand; where there is none, several operands in their order, so that none of them can be left out."""
    if invocation.subcommand:
        return (invocation.subcommand,)
    words = tuple(operand.text for operand in invocation.operands)
    if len(words) < 2:  # noqa: PLR2004 - one operand cannot change places, and leaving it out is no operand
        return ()
    odd = next((word for word in words if word.split() != [word] or check_subcommand(word)), None)
    if odd is not None:
        raise CannotSay(f"no rule can say that {odd} stands among its words, so that it could be left out")
    return (words,)


def _require_all_seen(words: Sequence[str], invocation: Invocation) -> None:
    """Every word must be one that an element can name, or it would cover other words in its place."""
    names = {name for use in invocation.flags for name in use.names}
    values = {use.value.text for use in invocation.flags if use.value is not None}
    known = {"--", *names, *values, *invocation.subcommand, *(operand.text for operand in invocation.operands)}
    if odd := next((name for name in names if "=" in name), None):
        raise CannotSay(f"no rule can name the word {odd} of it")
    for word in words:
        spelled, equals, value = word.partition("=")
        is_attached = bool(equals) and value in values
        is_shortened = spelled.startswith("--") and any(name.startswith(spelled) for name in names)
        if word in known or (is_shortened and (is_attached or not equals)) or (spelled in names and is_attached):
            continue
        rest = word[1:] if word.startswith("-") else "?"
        while rest and f"-{rest[0]}" in names:
            rest = rest[1:]
        if rest and rest not in values:
            raise CannotSay(f"no rule can name the word {word} of it")
    if invocation.program in _ORDERED and any(each.kind is not EffectKind.READ for each in invocation.effects):
        raise CannotSay(f"what {invocation.program} does depends on the order of its words, which no rule can say")


def _refuse_wider(name: str, invocation: Invocation) -> None:
    """An element names leading words; where more words make another subcommand, it would cover that too."""
    program = PROGRAMS.get(name)
    if program is None or not invocation.subcommand:
        return
    words = invocation.subcommand
    for spelled in program.subcommands:
        longer = spelled.split()
        is_longer = len(longer) > len(words) and all(
            word in each.split("|") for word, each in zip(words, longer, strict=False)
        )
        if is_longer:
            raise CannotSay(f"a rule for `{name} {' '.join(words)}` would cover `{name} {spelled}` as well")


def _then(invocation: Invocation, depth: int) -> Then:
    """Rules of its own for what a wrapper runs."""
    if depth >= _MAX_NESTING:
        raise CannotSay("commands are wrapped too deep")
    return Then(allow=tuple(_inner(inner, depth) for inner in invocation.inner))


def _inner(inner: Inner, depth: int) -> Element:
    if not inner.argv or inner.is_unknown:
        raise CannotSay(
            "it runs shell text or something that cannot be told; if you vouch for it, write its rule by hand"
        )
    if inner.has_appended_input:
        raise CannotSay("some of its words come from its input")
    if inner.sets_env or not all(arg.is_static for arg in inner.argv):
        raise CannotSay("it sets variables or has words that are not known before it runs")
    name = inner.argv[0].text
    if "/" in name:
        raise CannotSay("it runs a program by its path")
    words = [arg.text for arg in inner.argv[1:]]
    return _element(name, words, interpret(inner.argv), depth=depth + 1)


def _merged(elements: Sequence[Element]) -> Iterator[Element]:
    """Elements that differ in their one operand alone, as one with a list; nothing else is put together."""
    together: dict[str, list[Element]] = {}
    for element in elements:
        key = repr(replace(element, args=None)) if element.args is not None and len(element.args) == 1 else ""
        together.setdefault(key or repr(element), []).append(element)
    for group in together.values():
        args = tuple(dict.fromkeys(arg for each in group for arg in each.args or ()))
        yield replace(group[0], args=args) if len(group) > 1 else group[0]


def _as_pattern(path: str, workspace: str, *, is_glob: bool) -> str:
    """The folder as a policy names it: below ``${workspace}`` where it lies there."""
    if not path:
        raise CannotSay("the folder that it ran in is not known")
    shown = globs.escape if is_glob else str
    if workspace and (path == workspace or path.startswith(f"{workspace}/")):
        return _WORKSPACE + shown(path[len(workspace) :])
    return shown(path)


def _expanded(path: str, context: Context) -> str:
    return context.workspace + path.removeprefix(_WORKSPACE) if path.startswith(_WORKSPACE) else path


# ── as YAML ──────────────────────────────────────────────────────────────────────────────────────────────────


def to_yaml(suggestion: Suggestion, *, name: str, include: str) -> str:
    """A policy file: the rules on top of the policy ``include``, each text as a test."""
    lines = [
        f"# Rules for {len(suggestion.covered)} approved commands. Read each before you use it.",
        *(f"# not covered: {json.dumps(each.command)}: {json.dumps(each.reason)[1:-1]}" for each in suggestion.left),
        "version: 1",
        f"name: {name}",
        f"include: [{json.dumps(include)}]",
        "rules:" if suggestion.rules else "rules: []",
    ]
    for rule in suggestion.rules:
        lines += [f"  - id: {rule.id}", "    reason: A person approved these."]
        if rule.effects is not None:
            lines.append(f"    effects: {_effects(rule.effects)}")
        lines.append("    allow:")
        lines += [f"      - {json.dumps(_mapping(element))}" for element in rule.elements]
    lines.append("tests:" if suggestion.covered else "tests: []")
    for test in suggestion.covered:
        lines.append(f"  - {json.dumps({'run': test.command, 'expect': 'allow', 'cwd': test.cwd})}")
    return "\n".join(lines) + "\n"


def _effects(effects: EffectGrants) -> str:
    stated = {key: getattr(effects, key) for key, _ in _GRANTS if getattr(effects, key) is not None}
    return json.dumps(stated)


def _mapping(element: Element) -> Mapping[str, object]:
    conditions: dict[str, object] = {}
    if element.sub:
        conditions["sub"] = [" ".join(words) for words in element.sub]
    flags: dict[str, object] = {"allow": list(element.flags.allow or ())}
    if element.flags.require:
        flags["require"] = list(element.flags.require)
    if element.flags.values:
        flags["values"] = {key: list(globs_of_value) for key, globs_of_value in element.flags.values.items()}
    conditions["flags"] = flags
    conditions["args"] = list(element.args or ())
    if element.cwd is not None:
        conditions["cwd"] = list(element.cwd)
    if element.then is not None:
        conditions["then"] = {"allow": [_mapping(each) for each in element.then.allow]}
    return {element.program: conditions}
