"""The verdict on one argv: which rules match it, whether they cover its effects, and what it runs in turn.

Theory of operation. Four questions, and the strictest answer wins:
    1. Does a deny rule match? Do its effects touch what is absolute (``never``, denied addresses)?
    2. The same for every command inside it (wrappers, ``sh -c``, ``find -exec``), whatever rule covers the
       outside.
    3. Which ask or allow rules match its words *and* cover its effects, its problems and what it runs?
    4. If none does: how near was the nearest?

A rule that vouches for everything (``trusted``) or hands it to a person (an ask without ``effects``) covers
what the command runs; question 2 still holds there.

Longer than most, because the four questions share one reading of the argv.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import ALLOW, ASK, DENY, NET, WRITE, Effect, EffectKind, ReasonCode
from execkit_mcp.policy.compile import CompiledElement, Named
from execkit_mcp.policy.effects import Placed, absolute, lacks, place_effects, shown_all, uncovered
from execkit_mcp.policy.environment import is_identifier
from execkit_mcp.policy.fed import feed
from execkit_mcp.policy.findings import ALLOWED, Act, Case, Finding, Site, site_for, strictest
from execkit_mcp.policy.knowledge import UNSEEN, interpret
from execkit_mcp.policy.knowledge.assigning import ASSIGNING, named_by_flag, named_by_format
from execkit_mcp.policy.knowledge.invocation import STATIC, Arg, ArgEffect, FlagUse, Inner, Invocation, static
from execkit_mcp.policy.linked import linked_outside
from execkit_mcp.policy.paths import locate
from execkit_mcp.policy.rules import matches, values_named
from execkit_mcp.policy.scope import Scope
from execkit_mcp.policy.session_state import judge_state, judge_variable, state_builtin
from execkit_mcp.policy.shell.builtins import STATE_BUILTINS
from execkit_mcp.policy.spelling import WORKSPACE

MAX_DEPTH = 8
_LEVELS = ("none", "process", "namespaces", "container", "vm")
_FEW = 6
_FREE = frozenset({"break", "continue"})
_TESTS = frozenset({"test", "["})
_ASKING_NAMES = _TESTS | ASSIGNING
_LINKING = frozenset({"ln", "cp"})
_PROJECT_WRAPPERS = frozenset({"gradlew", "mvnw"})


class Name(Struct, frozen=True, kw_only=True, gc=False):
    """What a command word names: the bare name it equals (None: none), and every path it may be."""

    bare: str | None
    paths: tuple[str, ...]


@lru_cache(maxsize=4096)
def _bare_name(word: str, folders: tuple[str, ...]) -> Name:
    """A bare name, and where it may stand."""
    return Name(bare=word, paths=tuple([f"{folder}/{word}" for folder in folders]))


def name_of(word: str, scope: Scope, case: Case, *, is_remote: bool, is_home: bool = False) -> Name:
    """What the command word names, seen through doors and links for deny rules."""
    document = case.policy.document
    locator = case.context.locator if not is_remote else None
    if "/" not in word:
        mapped = document.programs.get(word)
        return _bare_name(word, document.program_folders) if mapped is None else Name(bare=word, paths=(mapped,))
    paths: list[str] = []
    for cwd in scope.cwds or (None,):
        follow = locator.resolve if locator is not None else None
        place = locate(word, cwd=cwd, home=case.context.home, is_home=is_home, follow=follow)
        paths.extend(place.spellings if place is not None else ())
    for path in paths[:1]:
        if path in case.policy.names_by_path:
            return Name(bare=case.policy.names_by_path[path], paths=tuple(paths))
        folder, _, base = path.rpartition("/")
        if folder in document.program_folders and base not in document.programs:
            return Name(bare=base, paths=tuple(paths))
    workspace = f"{case.context.workspace}/"
    if paths and len(workspace) > len("//") and not is_remote and all(path.startswith(workspace) for path in paths):
        paths.extend([f"{WORKSPACE}/{path[len(workspace) :]}" for path in paths])
    return Name(bare=None, paths=tuple(paths) or (word,))


def _opaque(word: str, args: tuple[Arg, ...]) -> Invocation:
    """A program that is not where trusted ones live: nothing is known about it, whatever its name.

    The words of a wrapper that a project brings along are read as those of what it starts.
    """
    if (base := word.rpartition("/")[2]) in _PROJECT_WRAPPERS:
        read = interpret((static(base), *args))
        return replace(read, program=word, is_known=False, effects=(ArgEffect(kind=EffectKind.UNKNOWN, note=word),))
    flags = tuple(FlagUse(names=(arg.text.partition("=")[0],), is_known=False) for arg in args if arg.prefix[:1] == "-")
    return Invocation(
        program=word,
        is_known=False,
        flags=flags,
        operands=tuple(arg for arg in args if arg.prefix[:1] != "-"),
        effects=(ArgEffect(kind=EffectKind.UNKNOWN, note=word),),
    )


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    """One argv, read: everything that rules are compared with."""

    argv: tuple[Arg, ...]
    words: tuple[str, ...]
    name: Name
    named: Named
    invocation: Invocation
    placed: tuple[Placed, ...]
    scope: Scope
    site: Site
    depth: int


class Judged(Struct, frozen=True, kw_only=True, gc=False):
    """The answer for one argv: the finding, the rule's element that decided, and its effects and words for show."""

    finding: Finding
    effects: tuple[Effect, ...] = ()
    words: tuple[str, ...] = ()


def read_argv(
    argv: tuple[Arg, ...], scope: Scope, case: Case, site: Site, *, depth: int, words: tuple[str, ...] = ()
) -> Reading:
    """The argv with its program and effects; ``argv[0]`` is static."""
    word = argv[0].text
    name = name_of(word, scope, case, is_remote=site.is_remote, is_home=argv[0].is_home)
    if name.bare is None:
        invocation = _opaque(word, argv[1:])
    else:
        invocation = interpret(argv if name.bare == word else (static(name.bare), *argv[1:]))
    if case.fed and depth == 0:
        starts, case.fed = case.fed, ()
        invocation = feed(invocation, starts)
    placed = place_effects(invocation, scope, case, site) if invocation.effects else ()
    return Reading(
        argv=argv,
        words=words or tuple([arg.text for arg in argv]),
        name=name,
        named=_named(name, case, site),
        invocation=invocation,
        placed=placed,
        scope=scope,
        site=site,
        depth=depth,
    )


def _named(name: Name, case: Case, site: Site) -> Named:
    """The elements about the program; a refusal also knows one by the last part of its path."""
    if name.bare is not None:
        return site.book.answers.get((name.bare, name.paths)) or site.book.named(name.bare, name.paths)
    allow, ask, deny = site.book.named(None, name.paths)
    inside = [path.rpartition("/") for path in name.paths]
    base = next((base for folder, _, base in inside if folder in case.policy.document.program_folders), None)
    return (allow, ask, deny if base is None else site.book.named(base, name.paths)[DENY])


def _wording(reading: Reading) -> str:
    """The program and subcommand, as a rule would name them."""
    program = reading.name.bare or reading.argv[0].text
    return " ".join((program, *reading.invocation.subcommand))


def judge_argv(  # noqa: C901 - the four questions, in order
    argv: tuple[Arg, ...],
    scope: Scope,
    case: Case,
    site: Site,
    *,
    depth: int = 0,
    via: str = "",
    words: tuple[str, ...] = (),
) -> Judged:
    """The verdict on one argv with everything that it runs; ``words``: its texts, if they are at hand."""
    if not argv:
        return Judged(finding=ALLOWED)
    if depth > MAX_DEPTH:
        return Judged(
            finding=Finding(
                verdict=DENY,
                code=ReasonCode.LIMIT,
                message=f"Commands are wrapped more than {MAX_DEPTH} deep at {via}.",
                hint="Run the innermost command by itself.",
            )
        )
    if argv[0].kind is not STATIC:
        return Judged(finding=_unknown_name(argv[0], case, site))
    word = argv[0].text
    if word in STATE_BUILTINS and (builtin := state_builtin(word, argv[1:])) is not None:
        return Judged(
            finding=judge_state(builtin, argv[1:], scope, case, site, depth),
            effects=(Effect(EffectKind.STATE, word),),
        )
    if word in _FREE:
        return Judged(finding=ALLOWED)
    reading = read_argv(argv, scope, case, site, depth=depth, words=words)
    placed = reading.placed
    effects = shown_all(placed) if placed else []
    is_recorded = site.is_outer or site.is_absolute_only
    if is_recorded:
        _record(reading, case, via, tuple(effects))
    found = _absolute(reading, case) if placed or reading.named[2] else []
    inner = reading.invocation.inner
    if inner:
        within = site if site.is_absolute_only else replace(site, is_absolute_only=True)
        if is_recorded:
            found.extend(_judge_inner(each, reading, case, within, effects) for each in inner)
    if not site.is_absolute_only:
        found.append(_by_rules(reading, case))
        if reading.name.bare in _ASKING_NAMES and (assigned := _assigned_by(reading, case)) is not None:
            found.append(assigned)
    return Judged(
        finding=found[0] if len(found) == 1 else strictest(found or [ALLOWED]),
        effects=_distinct(effects) if len(effects) > 1 else tuple(effects),
        words=reading.words,
    )


def _distinct(effects: list[Effect]) -> tuple[Effect, ...]:
    """Each once; to compare a few is quicker than to hash them."""
    if len(effects) > _FEW:
        return tuple(dict.fromkeys(effects))
    return tuple([effect for number, effect in enumerate(effects) if effect not in effects[:number]])


def _unknown_name(arg: Arg, case: Case, site: Site) -> Finding:
    if site.is_absolute_only:
        return ALLOWED
    return Finding(
        verdict=max(case.policy.document.defaults.unresolved, ASK),
        code=ReasonCode.DYNAMIC_WORD,
        message=f"Which program {arg.text} names is not known before the shell runs it.",
        hint="Write the program's name as a plain word.",
    )


def _record(reading: Reading, case: Case, via: str, effects: tuple[Effect, ...]) -> None:
    """Put the program on the list that hazards are matched against."""
    invocation = reading.invocation
    if invocation.program in _LINKING and (target := linked_outside(invocation, reading.placed, reading.site)):
        case.links.append((len(case.acts), target))
    program = reading.name.bare or reading.words[0]
    if "/" in program:
        program = program.rpartition("/")[2] or reading.words[0]
    case.acts.append(
        Act(
            argv=reading.words,
            program=program,
            invocation=invocation,
            effects=effects,
            via=via,
            upstream=tuple(case.streams_to),
        )
    )


def _absolute(reading: Reading, case: Case) -> list[Finding]:
    """Deny rules that match, and effects that nothing lifts."""
    found = absolute(reading.placed, reading.site, case) if reading.placed else []
    for compiled in _matching(reading.named[2], reading, case) if reading.named[2] else ():
        reason = compiled.rule.reason
        found.append(
            Finding(
                verdict=DENY,
                code=ReasonCode.RULE,
                message=f"Rule {compiled.rule.id} denies {_wording(reading)}." + (f" {reason}" if reason else ""),
                hint=f"No allow rule lifts a denial; it stands at {compiled.source or 'the policy'}.",
                by=compiled,
                is_absolute=True,
            )
        )
    return found


def _matching(elements: Sequence[CompiledElement], reading: Reading, case: Case) -> list[CompiledElement]:
    """Those of the elements, all of which name the program, whose conditions hold."""
    if not elements:
        return []
    cwds = None if reading.site.is_remote else reading.scope.cwds
    home, workspace = case.context.home, case.context.workspace
    return [
        compiled
        for compiled in elements
        if compiled.minds_nothing or matches(compiled, reading.invocation, cwds=cwds, home=home, workspace=workspace)
    ]


def _by_rules(reading: Reading, case: Case) -> Finding:
    """The strictest of the rules that cover it, or why none does."""
    near: list[Finding] = []
    inner: list[Finding] | None = None
    allow, ask, _ = reading.named
    for elements in (ask, allow) if ask else (allow,):
        covering: list[Finding] = []
        for compiled in _matching(elements, reading, case):
            misses = _misses(reading, compiled, case)
            if misses:
                miss = strictest(misses)
                told = miss.hint.replace("the rule", f"rule {compiled.rule.id}")
                near.append(replace(miss, hint=told, source=compiled.source))
                continue
            granted = _granted(compiled, reading, case)
            if not reading.invocation.inner:
                covering.append(granted)
            else:
                outcome = [granted]
                if compiled.then is not None:
                    site = site_for(
                        case,
                        compiled.then,
                        compiled.then_paths or reading.site.paths,
                        is_remote=reading.site.is_remote,
                        is_outer=False,
                    )
                    outcome.extend(_judge_inner(each, reading, case, site) for each in reading.invocation.inner)
                elif not (compiled.grants.is_trusted or compiled.grants.covers_all):
                    if inner is None:
                        within = replace(reading.site, is_outer=False)
                        inner = [_judge_inner(each, reading, case, within) for each in reading.invocation.inner]
                    outcome.extend(inner)
                covering.append(strictest(outcome))
        if covering:
            return covering[0] if len(covering) == 1 else min(covering, key=lambda finding: finding.verdict)
    if near:
        return min(near, key=lambda finding: finding.verdict)
    return _no_rule(reading, case)


def _misses(reading: Reading, compiled: CompiledElement, case: Case) -> list[Finding]:
    """What keeps a rule whose words match from covering the invocation."""
    grants = compiled.grants
    invocation = reading.invocation
    if grants.covers_all:
        return []
    element = compiled.element
    minds_words = compiled.minds_words
    if grants.is_trusted:
        problems = [each for each in invocation.problems if minds_words and each.code is ReasonCode.DYNAMIC_WORD]
        is_blind = minds_words and not invocation.is_known and any(not arg.is_static for arg in reading.argv)
        if is_blind and not problems:
            return [_unresolved(case, ReasonCode.DYNAMIC_WORD, "A word of it is not known before the shell runs it")]
    else:
        problems = list(invocation.problems)
    found = [_unresolved(case, problem.code, problem.message) for problem in problems] if problems else []
    if reading.placed:
        names_use = bool(element.sub) or not invocation.subcommand
        servers = values_named(element, invocation) if compiled.minds_flags or compiled.minds_early_flags else ()
        found.extend(uncovered(reading.placed, grants, reading.site, case, names_use=names_use, servers=servers))
    if invocation.inner and not grants.is_trusted and grants.exec == "none":
        found.append(
            Finding(
                verdict=max(case.policy.document.defaults.decision, ASK),
                code=ReasonCode.WRAPPER,
                message=f"It would run another command, and rule {compiled.rule.id} grants no exec.",
                hint="Put `effects: {exec: recurse}` on the rule.",
            )
        )
    return found


def _unresolved(case: Case, code: ReasonCode, message: str) -> Finding:
    hints = {
        ReasonCode.UNKNOWN_FLAG: "Leave the flag out, use `ask`, or vouch for it with `effects: trusted`.",
        ReasonCode.DYNAMIC_WORD: "Write the word out, put it behind `--`, or quote it behind a plain prefix.",
        ReasonCode.UNKNOWN_PROGRAM: "Put the program under `ask`, or vouch for it with `effects: trusted`.",
    }
    return Finding(
        verdict=max(case.policy.document.defaults.unresolved, ASK),
        code=code,
        message=message if message.endswith(".") else f"{message}.",
        hint=hints.get(code, "Run the inner command by itself, or put the wrapper under `ask`."),
    )


def _granted(compiled: CompiledElement, reading: Reading, case: Case) -> Finding:
    """The rule's own verdict, stricter where the fence that it requires is not there."""
    rule = compiled.rule
    granted = Finding(
        verdict=rule.verdict,
        code=ReasonCode.RULE,
        message=f"Rule {rule.id} {'allows' if rule.verdict is ALLOW else 'asks a person about'} "
        f"{_wording(reading)}." + (f" {rule.reason}" if rule.reason else ""),
        hint=""
        if rule.verdict is ALLOW
        else f"Move it to `allow` at {compiled.source or 'the policy'} to run it unasked.",
        by=compiled,
    )
    if rule.require is None:
        return granted
    fence = case.context.fence
    lacking: list[str] = []
    wanted = rule.require.fence
    if wanted is not None and (wanted not in _LEVELS or _LEVELS.index(wanted) > _LEVELS.index(fence.level)):
        lacking.append(f"fence {wanted} (here: {fence.level})")
    network = rule.require.network
    if network == "none" and fence.network != "none":
        lacking.append(f"network none (here: {fence.network})")
    if network == "filtered" and fence.network not in ("filtered", "none"):
        lacking.append(f"network filtered (here: {fence.network})")
    if not lacking:
        return granted
    return Finding(
        verdict=max(rule.verdict, rule.otherwise),
        code=ReasonCode.FENCE,
        message=f"Rule {rule.id} requires {' and '.join(lacking)}.",
        hint="Open the session where that fence holds, or change `require` or `otherwise` of the rule.",
        by=compiled,
    )


def _no_rule(reading: Reading, case: Case) -> Finding:
    verdict = max(case.policy.document.defaults.decision, ASK)
    wording = _wording(reading)
    names_program = reading.name.bare is not None and reading.name.bare in reading.site.book.names
    program = reading.name.bare or reading.argv[0].text
    then = _then_of(reading, case)
    if not program:
        return Finding(
            verdict=verdict,
            code=ReasonCode.UNKNOWN_PROGRAM,
            message="The command's first word is empty, and no program has such a name.",
            hint="Write the program's name there, or leave the empty word out.",
        )
    if not reading.invocation.is_known and not names_program:
        return Finding(
            verdict=verdict,
            code=ReasonCode.UNKNOWN_PROGRAM,
            message=f"No rule names {wording}, and what it does is not known.",
            hint=f"Put it under `ask` in {then}."
            if then
            else f"Add `allow: [{program}]` with `effects: trusted`, or put it under `ask`.",
        )
    return Finding(
        verdict=verdict,
        code=ReasonCode.NO_RULE,
        message=f"No rule allows {wording}" + (" with these words or in this folder." if names_program else "."),
        hint=f'Add to allow{f" in {then}" if then else ""}: "{wording}"' + _effect_hint(reading, case),
    )


def _then_of(reading: Reading, case: Case) -> str:
    """The `then` that judges the command, in words; empty where the document's own rules do."""
    book = reading.site.book
    if book is case.policy.book:
        return ""
    inside = (each for index in (book.allow, book.ask) for each in index.every())
    rule = next((each.rule.id for each in inside), "")
    return f"`then` of rule {rule}" if rule else "the `then` of the rule for the command around it"


def _effect_hint(reading: Reading, case: Case) -> str:
    """The grants that the effects would need besides, and the entries that lists lack."""
    if not reading.placed:
        return "."
    kinds = [
        each.effect.kind
        for each in reading.placed
        if not (each.places and all(p.is_stream for p in each.places)) and each.effect.note != "configured"
    ]
    wanted = [
        text
        for kind, text in (
            (WRITE, "write: paths"),
            (NET, "net: policy"),
            (EffectKind.STATE, "state: any"),
            (EffectKind.PROCESS, "process: any"),
        )
        if kind in kinds
    ]
    if EffectKind.EXEC in kinds or EffectKind.UNKNOWN in kinds:
        return " with `effects: trusted`."
    entries = lacks(reading.placed, reading.site, case)
    return (f" with `effects: {{{', '.join(wanted)}}}`." if wanted else ".") + (f" {entries}" if entries else "")


def _judge_inner(
    inner: Inner, reading: Reading, case: Case, site: Site, effects: list[Effect] | None = None
) -> Finding:
    """The verdict on a command inside another."""
    if inner.is_remote and not site.is_remote:
        site = replace(site, is_remote=True)
    scope = Scope(cwds=None) if site.is_remote else Scope(cwds=reading.scope.cwds)
    found: list[Finding] = [
        judge_variable(
            name,
            (value.text,) if value.is_static else None,
            case,
            is_exported=True,
            is_absolute_only=site.is_absolute_only,
        )
        for name, value in inner.sets_env
    ]
    if inner.argv:
        argv = (*inner.argv, UNSEEN) if inner.has_appended_input else inner.argv
        if effects is not None:
            effects.append(Effect(EffectKind.EXEC, " ".join(arg.text for arg in argv)))
        judged = judge_argv(argv, scope, case, site, depth=reading.depth + 1, via=inner.via)
        if effects is not None:
            effects.extend(judged.effects)
        found.append(judged.finding)
    elif inner.script is not None and inner.script.is_static:
        if effects is not None:
            effects.append(Effect(EffectKind.EXEC, inner.script.text))
        found.append(case.judge_script(inner.script.text, scope, site, reading.depth + 1, is_bash=inner.is_bash))
    elif not site.is_absolute_only:
        found.append(
            _unresolved(case, ReasonCode.WRAPPER, f"What {inner.via or reading.argv[0].text} would run cannot be told")
        )
    return strictest(found or [ALLOWED])


def _assigned_by(reading: Reading, case: Case) -> Finding | None:
    """``printf`` and ``wait`` can assign; ``test -v`` evaluates the subscript of what it names."""
    program = reading.name.bare
    args = reading.argv[1:]
    if program in _TESTS:
        for index, arg in enumerate(args[:-1]):
            following = args[index + 1]
            if arg.text in ("-v", "-R") and not (following.is_static and is_identifier(following.text)):
                compares = following.is_static and following.text in ("=", "==", "!=", "]")
                if not compares:
                    return _subscript(arg.text, following)
    if program in ASSIGNING:
        found: list[Finding] = []
        named = named_by_flag(program, args)
        if named is not None:
            what = "printf -v" if program == "printf" else "wait -p"
            if not named.is_static or not is_identifier(named.text):
                return _subscript(what, named)
            found.append(judge_variable(named.text, None, case))
        if program == "printf":
            found.extend(judge_variable(arg.text, None, case) for arg in named_by_format(args) if arg.is_static)
        return strictest(found) if found else None
    return None


def _subscript(what: str, arg: Arg) -> Finding:
    return Finding(
        verdict=DENY,
        code=ReasonCode.ENV,
        message=f"{what} would evaluate {arg.text or 'a missing name'}, which is not a plain variable name.",
        hint="Use a plain variable name: letters, digits and underscores.",
        is_absolute=True,
    )
