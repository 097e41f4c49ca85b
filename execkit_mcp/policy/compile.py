"""From a document to what the engine runs: groups expanded, grants completed, elements indexed by name.

Everything that does not depend on the session is done once, here. What depends on it (home, workspace) is
filled in by ``paths.compile_paths``, which remembers its answers.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.errors import PolicyInvalid
from execkit_mcp.model import PolicyRef, Verdict
from execkit_mcp.policy import globs, groups
from execkit_mcp.policy.document import (
    Approval,
    EffectGrants,
    Element,
    FlagRules,
    PathRules,
    PolicyDocument,
    Rule,
    Then,
)

_MAX_ANSWERS = 4096
_NO_FLAGS = FlagRules()
_UNSTATED = Approval()
# State builtins by which a value may turn out another than the one that was assigned.
_ATTRIBUTING = frozenset({"declare", "typeset", "local", "readonly", "set", "shopt"})


class Grants(Struct, frozen=True, kw_only=True):
    """What a rule covers, completed with the defaults of its verdict."""

    is_trusted: bool
    covers_all: bool
    read: str
    write: str
    exec: str
    net: str
    state: str
    process: str


class CompiledElement(Struct, frozen=True, kw_only=True, eq=False):
    """One element with the rule that it stands in; ``then`` is the rule book for what it runs, if any.

    ``minds_flags``, ``minds_early_flags`` and ``minds_words`` say which of the element's conditions there are at all;
    ``minds_nothing``: its program is all that it asks for. ``states_terms``: its rule says how long a run or an
    approval may last, or who is asked. ``subs`` and ``sub_lengths``: the subcommands that it names, and how many words
    they have.
    """

    element: Element
    rule: Rule
    grants: Grants
    minds_flags: bool
    minds_early_flags: bool
    minds_words: bool
    minds_nothing: bool
    subs: frozenset[tuple[str, ...]]
    sub_lengths: tuple[int, ...]
    states_terms: bool
    then: "RuleBook | None" = None
    then_paths: PathRules | None = None

    @property
    def source(self) -> str:
        """``file:line`` of the element, or of its rule."""
        return self.element.source or self.rule.source


class Index(Struct, frozen=True, eq=False):
    """Elements of one verdict, by bare program name; globs and absolute paths apart."""

    by_name: Mapping[str, tuple[CompiledElement, ...]]
    others: tuple[CompiledElement, ...]

    def every(self) -> Iterable[CompiledElement]:
        """All its elements."""
        for found in self.by_name.values():
            yield from found
        yield from self.others

    def named(self, name: str | None, paths: tuple[str, ...]) -> tuple[CompiledElement, ...]:
        """Every element whose program matches the bare ``name`` or one of the absolute ``paths``."""
        if not self.others:
            return self.by_name.get(name, ()) if name is not None else ()
        return tuple(self._search(name, paths))

    def _search(self, name: str | None, paths: tuple[str, ...]) -> Iterable[CompiledElement]:
        if name is not None:
            yield from self.by_name.get(name, ())
        for compiled in self.others:
            program = compiled.element.program
            if "/" in program:
                if any(globs.matches(path, program, crosses=False) for path in paths):
                    yield compiled
            elif name is not None and globs.matches(name, program, crosses=False):
                yield compiled


Named: TypeAlias = tuple[tuple[CompiledElement, ...], tuple[CompiledElement, ...], tuple[CompiledElement, ...]]


class RuleBook(Struct, frozen=True, eq=False):
    """All rules that apply at one place; ``names``: every program that some allow or ask element names."""

    allow: Index
    ask: Index
    deny: Index
    names: frozenset[str] = frozenset()
    answers: dict[tuple[str | None, tuple[str, ...]], Named] = field(default_factory=dict)

    def named(self, name: str | None, paths: tuple[str, ...]) -> Named:
        """The elements about a program, by verdict: allow, ask, deny; remembered."""
        key = (name, paths)
        answer = self.answers.get(key)
        if answer is None:
            if len(self.answers) >= _MAX_ANSWERS:
                self.answers.clear()
            allow, ask, deny = (index.named(name, paths) for index in (self.allow, self.ask, self.deny))
            answer = self.answers[key] = (allow, ask, deny)
        return answer

    def index(self, verdict: Verdict) -> Index:
        """The elements of one verdict."""
        return (self.allow, self.ask, self.deny)[verdict]


class CompiledPolicy(Struct, frozen=True, kw_only=True, eq=False):
    """A policy ready to judge with."""

    document: PolicyDocument
    ref: PolicyRef
    book: RuleBook
    names_by_path: Mapping[str, str]
    tracks_variables: bool = True
    sites: dict[tuple[object, ...], object] = field(default_factory=dict)


_ALLOW_DEFAULTS = {
    "read": "paths",
    "write": "none",
    "exec": "recurse",
    "net": "none",
    "state": "none",
    "process": "none",
}


def _grants(rule: Rule) -> Grants:
    stated = rule.effects
    named = {} if stated is None else {key: getattr(stated, key) for key in _ALLOW_DEFAULTS}
    return Grants(
        is_trusted=stated is not None and stated.is_trusted,
        covers_all=stated is None and rule.verdict is Verdict.ASK,
        **{key: named.get(key) or default for key, default in _ALLOW_DEFAULTS.items()},
    )


def _expand(elements: Iterable[Element], rule: Rule) -> Iterable[Element]:
    """The elements with groups replaced by what they hold."""
    for element in elements:
        if not element.program.startswith(groups.PREFIX):
            yield element
            continue
        group = groups.GROUPS.get(element.program)
        if group is None:
            raise PolicyInvalid(
                f"{element.source or rule.source}: there is no group {element.program!r}",
                hint=f"Shipped groups: {', '.join(sorted(groups.GROUPS))}.",
            )
        for member in group:
            yield replace(member, source=element.source or rule.source, cwd=element.cwd, env=element.env)


def _element(element: Element, rule: Rule, outer_deny: tuple[CompiledElement, ...]) -> CompiledElement:
    minds_flags, minds_early_flags = element.flags != _NO_FLAGS, element.global_flags != _NO_FLAGS
    minds_words = bool(element.sub or element.args is not None or minds_flags or minds_early_flags)
    compiled = CompiledElement(
        element=element,
        rule=rule,
        grants=_grants(rule),
        minds_flags=minds_flags,
        minds_early_flags=minds_early_flags,
        minds_words=minds_words,
        subs=frozenset(element.sub),
        sub_lengths=tuple(sorted({len(words) for words in element.sub})),
        minds_nothing=not minds_words and element.cwd is None,
        states_terms=rule.approval != _UNSTATED or rule.time_s is not None or rule.time_max_s is not None,
    )
    if element.then is None:
        return compiled
    book = _then_book(element.then, rule, element.source or rule.source, outer_deny)
    return replace(compiled, then=book, then_paths=element.then.paths or PathRules())


def _then_book(then: Then, rule: Rule, source: str, outer_deny: tuple[CompiledElement, ...]) -> RuleBook:
    """The rules of a ``then``: its own, and every deny rule of the document, because a denial is absolute."""
    compiled: list[CompiledElement] = []
    for verdict, elements in (
        (Verdict.ALLOW, then.allow),
        (Verdict.ASK, then.ask),
        (Verdict.DENY, then.deny),
    ):
        effects = rule.effects if verdict is Verdict.ALLOW and rule.verdict is Verdict.ALLOW else None
        inner = Rule(
            id=rule.id,
            verdict=verdict,
            elements=elements,
            reason=rule.reason,
            effects=_without_trust(effects),
            approval=rule.approval,
            source=source,
        )
        compiled.extend(_element(each, inner, outer_deny) for each in _expand(elements, inner))
    return _book((*compiled, *outer_deny))


def _without_trust(effects: EffectGrants | None) -> EffectGrants | None:
    """Grants as the command behind a wrapper inherits them: trust in the wrapper is not inherited."""
    return None if effects is None or effects.is_trusted else effects


def _index(elements: Iterable[CompiledElement]) -> Index:
    by_name: dict[str, list[CompiledElement]] = {}
    others: list[CompiledElement] = []
    for compiled in elements:
        program = compiled.element.program
        if "/" in program or (globs.is_pattern(program) and program != "["):
            others.append(compiled)
        else:
            by_name.setdefault(program, []).append(compiled)
    return Index({name: tuple(found) for name, found in by_name.items()}, tuple(others))


def _book(elements: Iterable[CompiledElement]) -> RuleBook:
    every = tuple(elements)
    allow, ask, deny = (_index(each for each in every if each.rule.verdict is verdict) for verdict in Verdict)
    return RuleBook(allow, ask, deny, names=frozenset(allow.by_name) | frozenset(ask.by_name))


def compile_policy(document: PolicyDocument) -> CompiledPolicy:
    """The document, ready to judge with; raises PolicyInvalid if it names a group that does not exist."""
    denies = tuple(
        _element(element, rule, ())
        for rule in document.rules
        if rule.verdict is Verdict.DENY
        for element in _expand(rule.elements, rule)
    )
    others = tuple(
        _element(element, rule, denies)
        for rule in document.rules
        if rule.verdict is not Verdict.DENY
        for element in _expand(rule.elements, rule)
    )
    return CompiledPolicy(
        document=document,
        ref=PolicyRef(name=document.name, digest=document.digest),
        book=_book((*denies, *others)),
        names_by_path={path: name for name, path in document.programs.items()},
        tracks_variables=_ATTRIBUTING.isdisjoint(document.shell.state),
    )
