"""From files to one document: this module is how includes are found, merged and checked as a whole.

Theory of operation. ``load`` asks the caller's ``read`` for each file (it does no I/O itself), depth first,
each file once. Every problem of every file is collected before ``PolicyInvalid`` is raised; a document is
returned only when there is none. Then the sheets are merged, included ones first:

    ==========================================  ===========================================================
    rules, paths.never, network.deny, hazards   add up: a denial from anywhere holds, because deny beats all
    decision, unparsed, unresolved, functions,  the strictest that anyone states, else the default
    background, times, other limits
    paths.read, paths.write, network.allow,     the including file's own list; where it says nothing, what its
    shell.state                                 includes say together
    shell.env.set, programs.default             add up, the including file's first
    shell.env.force, programs.NAME              add up; two values for one name are refused, both places named
    name, tests                                 the including file's only (included tests hold for their file)
    ==========================================  ===========================================================
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from msgspec import Struct

from execkit_mcp.errors import ConfigError, PolicyInvalid
from execkit_mcp.model.source import Node, Place, Problems, plain
from execkit_mcp.model.verdict import Verdict
from execkit_mcp.policy.document import (
    Defaults,
    HazardRules,
    Limits,
    NetworkRules,
    PathRules,
    PolicyDocument,
    RedactRules,
    Rule,
    ShellRules,
)
from execkit_mcp.policy.schema import read_sheet
from execkit_mcp.policy.sheet import LimitsPart, Sheet

MAX_INCLUDE_DEPTH = 8
MAX_FILES = 64
T = TypeVar("T")
Number = TypeVar("Number", int, float)


class SourceFile(Struct, frozen=True, kw_only=True):
    """One file that was read: ``identity`` tells it from every other, ``node`` is its tree."""

    identity: str
    node: Node


class Read(Protocol):
    """How the loader gets at files.

    ``included_from`` is the identity of the file that names it, None for the first. Raises ConfigError (or
    PolicyInvalid, whose message already names places) when there is no such file or it cannot be used.
    """

    def __call__(self, name: str, *, included_from: str | None) -> SourceFile:
        """The file that ``name`` stands for."""
        ...


def load(name: str, read: Read) -> PolicyDocument:
    """The document that ``name`` and everything it includes make; raises PolicyInvalid with every problem."""
    gathering = _Gathering(read)
    root = gathering.take(name, included_from=None, chain=(), place=None)
    document = _merge(gathering, root) if root is not None and not gathering.problems else None
    if document is None or gathering.problems:
        facts = [
            {
                "file": each.place.file,
                "line": each.place.line,
                "column": each.place.column,
                "message": each.message,
            }
            for each in gathering.problems
        ]
        raise PolicyInvalid(str(gathering.problems), details={"problems": facts})
    return document


class _Gathering:
    """The sheets found so far, included ones before those that include them."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.problems = Problems()
        self.sheets: dict[str, Sheet] = {}
        self.nodes: dict[str, Node] = {}
        self.children: dict[str, tuple[str, ...]] = {}

    def take(self, name: str, *, included_from: str | None, chain: tuple[str, ...], place: Place | None) -> str | None:
        """Read ``name`` and what it includes; returns its identity, None when it could not be read at all."""
        try:
            source = self._read(name, included_from=included_from)
        except (ConfigError, PolicyInvalid) as error:
            if place is None:
                raise
            self.problems.add(place, f"include {name}: {error.message}")
            return None
        identity = source.identity
        if identity in chain:
            assert place is not None
            circle = " includes ".join((*chain[chain.index(identity) :], identity))
            self.problems.add(place, f"include {name}: the files include each other in a circle: {circle}")
            return None
        if identity in self.nodes:
            return identity
        if place is not None and (len(chain) >= MAX_INCLUDE_DEPTH or len(self.nodes) >= MAX_FILES):
            limit = f"{MAX_INCLUDE_DEPTH} levels or {MAX_FILES} files"
            self.problems.add(place, f"include {name}: over {limit} of includes; write fewer, larger files")
            return None
        self.nodes[identity] = source.node
        sheet = read_sheet(source.node, self.problems)
        if sheet is None:
            return identity
        found = [
            self.take(each.name, included_from=identity, chain=(*chain, identity), place=each.place)
            for each in sheet.include
        ]
        self.children[identity] = tuple(each for each in found if each is not None)
        self.sheets[identity] = sheet
        return identity


def _digest(nodes: Iterable[Node]) -> str:
    """SHA-256 over what the files say, in reading order; comments and layout do not count."""
    content = json.dumps([plain(node) for node in nodes], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def _merge(gathering: _Gathering, root: str) -> PolicyDocument:
    sheets = tuple(gathering.sheets.values())
    top = gathering.sheets[root]
    problems = gathering.problems
    rules = _rules(sheets, problems)
    _check_tests(top, rules, problems)
    nearest = _Nearest(gathering, root)
    state = nearest.of(lambda sheet: sheet.shell.state)
    hazards = _hazards(sheets)
    return PolicyDocument(
        name=top.name,
        digest=_digest(gathering.nodes.values()),
        source=top.place.file,
        defaults=_defaults(sheets),
        limits=_limits([sheet.limits for sheet in sheets]),
        shell=ShellRules(
            functions=_strictest(sheets, lambda sheet: sheet.shell.functions, ShellRules().functions),
            state=ShellRules().state if state is None else frozenset(state),
            env_set=_union(sheet.shell.env_set or () for sheet in reversed(sheets)),
            env_force=_agreed(sheets, lambda sheet: sheet.shell.env_force, "shell.env.force", problems),
        ),
        paths=PathRules(
            read=nearest.of(lambda sheet: sheet.paths.read),
            write=nearest.of(lambda sheet: sheet.paths.write),
            never=_union(sheet.paths.never for sheet in sheets),
        ),
        network=NetworkRules(
            allow=nearest.of(lambda sheet: sheet.network.allow),
            deny=_union(sheet.network.deny for sheet in sheets),
        ),
        redact=RedactRules(
            detectors=nearest.of(lambda sheet: sheet.redact.detectors),
            entropy=_least((sheet.redact.entropy for sheet in sheets), math.inf) if _has_entropy(sheets) else None,
            allow=tuple(dict.fromkeys(spared for sheet in sheets for spared in sheet.redact.allow)),
        ),
        program_folders=_union(sheet.programs.folders or () for sheet in reversed(sheets))
        or PolicyDocument(name="", digest="").program_folders,
        programs=_agreed(sheets, lambda sheet: sheet.programs.named, "programs", problems),
        rules=rules,
        hazards=hazards,
        tests=tuple(written.example for written in top.tests),
        inherited=frozenset(_inherited(top, nearest, hazards)),
    )


def _has_entropy(sheets: Iterable[Sheet]) -> bool:
    return any(sheet.redact.entropy is not None for sheet in sheets)


def _inherited(top: Sheet, nearest: "_Nearest", hazards: HazardRules) -> Iterator[str]:
    """What the top file does not state itself: lists that it would replace, hazard entries that it cannot take back."""
    picks: dict[str, Callable[[Sheet], tuple[str, ...] | None]] = {
        "shell.state": lambda sheet: sheet.shell.state,
        "paths.read": lambda sheet: sheet.paths.read,
        "paths.write": lambda sheet: sheet.paths.write,
        "network.allow": lambda sheet: sheet.network.allow,
    }
    for key, pick in picks.items():
        if pick(top) is None and nearest.of(pick) is not None:
            yield key
    for key, entries, own in (
        ("hazards.ask", hazards.ask, top.hazards.ask),
        ("hazards.deny", hazards.deny, top.hazards.deny),
    ):
        yield from (f"{key} {entry}" for entry in entries if entry not in (own or ()))


class _Nearest:
    """Lists that the including file states anew, or else takes from its includes together."""

    def __init__(self, gathering: _Gathering, root: str) -> None:
        self._gathering = gathering
        self._root = root

    def of(self, pick: Callable[[Sheet], tuple[str, ...] | None]) -> tuple[str, ...] | None:
        """The list that ``pick`` takes from a sheet; None where nobody states it."""
        return self._from(self._root, pick)

    def _from(self, identity: str, pick: Callable[[Sheet], tuple[str, ...] | None]) -> tuple[str, ...] | None:
        own = pick(self._gathering.sheets[identity])
        if own is not None:
            return own
        included = [self._from(child, pick) for child in self._gathering.children[identity]]
        stated = [each for each in included if each is not None]
        return _union(stated) if stated else None


def _union(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for one in lists for each in one))


def _strictest(sheets: Iterable[Sheet], pick: Callable[[Sheet], Verdict | None], default: Verdict) -> Verdict:
    stated = [verdict for verdict in map(pick, sheets) if verdict is not None]
    return max(stated) if stated else default


def _defaults(sheets: tuple[Sheet, ...]) -> Defaults:
    plain_defaults = Defaults()
    return Defaults(
        decision=_strictest(sheets, lambda sheet: sheet.defaults.decision, plain_defaults.decision),
        unparsed=_strictest(sheets, lambda sheet: sheet.defaults.unparsed, plain_defaults.unparsed),
        unresolved=_strictest(sheets, lambda sheet: sheet.defaults.unresolved, plain_defaults.unresolved),
    )


def _least(stated: Iterable[Number | None], default: Number) -> Number:
    known = [each for each in stated if each is not None]
    return min(known) if known else default


def _limits(parts: list[LimitsPart]) -> Limits:
    default = Limits()
    longest = _least((part.time_max_s for part in parts), default.time_max_s)
    processes = [part.processes for part in parts if part.processes is not None]
    background = [part.background for part in parts if part.background is not None]
    durable = [part.durable for part in parts if part.durable is not None]
    return Limits(
        time_s=min(_least((part.time_s for part in parts), default.time_s), longest),
        time_max_s=longest,
        output_bytes=_least((part.output_bytes for part in parts), default.output_bytes),
        commands=_least((part.commands for part in parts), default.commands),
        processes=min(processes) if processes else None,
        background=max(background) if background else default.background,
        durable=max(durable) if durable else default.durable,
    )


def _agreed(
    sheets: Iterable[Sheet], pick: Callable[[Sheet], Mapping[str, str]], label: str, problems: Problems
) -> dict[str, str]:
    """The mappings together; a name with two values is a problem."""
    merged: dict[str, str] = {}
    where: dict[str, Place] = {}
    for sheet in sheets:
        for name, value in pick(sheet).items():
            if merged.get(name, value) != value:
                first = f'"{merged[name]}" in {where[name].file}'
                problems.add(sheet.place, f'{label}.{name}: "{value}" here, but {first}; write one of them')
            merged.setdefault(name, value)
            where.setdefault(name, sheet.place)
    return merged


def _hazards(sheets: Iterable[Sheet]) -> HazardRules:
    """Both lists add up; the default holds for a list that nobody states."""
    asks = [sheet.hazards.ask for sheet in sheets if sheet.hazards.ask is not None]
    denies = (sheet.hazards.deny for sheet in sheets if sheet.hazards.deny is not None)
    return HazardRules(ask=_union(asks) if asks else HazardRules().ask, deny=_union(denies))


def _rules(sheets: Iterable[Sheet], problems: Problems) -> tuple[Rule, ...]:
    """Every rule of every sheet; an id that stands in two files is a problem."""
    places: dict[str, Place] = {}
    rules: list[Rule] = []
    for sheet in sheets:
        for written in sheet.rules:
            first = places.setdefault(written.rule.id, written.place)
            if first != written.place:
                clash = f'the rule id "{written.rule.id}" stands twice; the first is at {first}'
                problems.add(written.place, clash if written.has_id else f"{clash}; give both files names of their own")
            rules.append(written.rule)
    return tuple(rules)


def _check_tests(top: Sheet, rules: Iterable[Rule], problems: Problems) -> None:
    """A test names a rule that exists."""
    from execkit_mcp.model.shape import closest  # noqa: PLC0415 - one name, needed for a message only

    known = [rule.id for rule in rules]
    for written in top.tests:
        if written.example.rule is not None and written.example.rule not in known:
            near = closest(written.example.rule, known)
            problems.add(written.place, f'there is no rule with the id "{written.example.rule}"{near}')
