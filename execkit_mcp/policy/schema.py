"""The policy format, version 1, as one table of shapes: it reads files, and editors complete from it.

Every row of ``DOCUMENT`` is a section of ``POLICY.md``. ``read_sheet`` turns one file's nodes into a
``Sheet`` and notes everything that is wrong with it; ``json_schema`` is generated from the same rows. Longer
than most modules because it is that one table: split, a reader would have to put it together again.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from execkit_mcp.model.shape import (
    Broken,
    Field,
    JsonSchema,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
    Word,
    describe,
    entry_of,
    place_of,
)
from execkit_mcp.model.source import Node, Place, Problems, Scalar, Table
from execkit_mcp.model.verdict import ReasonCode, Verdict
from execkit_mcp.policy.document import (
    Approval,
    EffectGrants,
    Element,
    Example,
    Limits,
    RedactRules,
    Require,
    Rule,
    Spared,
)
from execkit_mcp.policy.elements_text import PATHS, ElementShape
from execkit_mcp.policy.sheet import (
    DefaultsPart,
    HazardsPart,
    Include,
    LimitsPart,
    NetworkPart,
    ProgramsPart,
    Sheet,
    ShellPart,
    WrittenExample,
    WrittenRule,
)
from execkit_mcp.policy.spelling import (
    FOLDER,
    NETWORK,
    PATH,
    RULE_ID,
    SLUG,
    VARIABLE_NAME,
    check_folder,
    check_hazard,
    check_state_builtin,
)

FORMAT_VERSION = 1
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
_WEEK_S = 604_800
_MAX_BYTES = 1 << 30

VERDICT = Word(words={verdict.word: verdict for verdict in Verdict})
_NOT_ALLOW = Word(
    words={"deny": Verdict.DENY, "ask": Verdict.ASK},
    refused={"allow": "what no rule allows may be asked for, never allowed: write deny or ask"},
)
_TIME = Number(what="a number of seconds", low=0, high=_WEEK_S, is_whole=False, is_low_excluded=True)


def _part(build: type) -> object:
    """A builder that drops the place, for sections that no message names."""

    def make(*, place: Place, **values: object) -> object:
        del place
        return build(**values)

    return make


def _section(build: type, *fields: Field, check: object = None) -> Record[object]:
    return Record(
        build=_part(build),  # type: ignore[arg-type]
        fields=fields,
        what=", ".join(each.key for each in fields),
        check=check,  # type: ignore[arg-type]
    )


DEFAULTS = _section(
    DefaultsPart,
    Field(key="decision", shape=_NOT_ALLOW, doc="What happens where no rule speaks; deny unless set."),
    Field(
        key="unparsed",
        shape=_NOT_ALLOW,
        doc="Text outside the judged grammar; deny unless set. Sessions refuse it all the same; a hook may ask.",
    ),
    Field(
        key="unresolved",
        shape=_NOT_ALLOW,
        doc="Dynamic program names, words that could be options, unknown flags.",
    ),
)


def _check_times(table: Table, problems: Problems, label: str) -> None:
    """The time of a run fits below the longest time that may be asked for."""
    time, longest = (_number(table, key) for key in ("time_s", "time_max_s"))
    bound = Limits().time_max_s if longest is None else longest
    if time is not None and time > bound:
        meant = "raise time_max_s" if longest is not None else f"set time_max_s ({bound:g} unless set) as well"
        problems.add(place_of(table, "time_s"), f"{label}.time_s: {time:g} is over time_max_s; {meant}")


def _number(table: Table, key: str) -> float | None:
    entry = entry_of(table, key)
    value = entry.value.value if entry and isinstance(entry.value, Scalar) else None
    return value if isinstance(value, int | float) else None


_TIMES = (
    Field(
        key="time_s",
        shape=_TIME,
        doc="Seconds after which a command is interrupted, unless it asks for another time.",
    ),
    Field(key="time_max_s", shape=_TIME, doc="The longest time that a command may ask for."),
)
LIMITS = _section(
    LimitsPart,
    *_TIMES,
    Field(
        key="output_bytes",
        shape=Number(what="a number of bytes", low=1024, high=_MAX_BYTES),
        doc="Bytes of a command's output that are kept; counts stay exact beyond it.",
    ),
    Field(
        key="commands",
        shape=Number(what="a number of commands", low=1, high=1000),
        doc="Simple commands in one text, substitutions included.",
    ),
    Field(
        key="processes",
        shape=Number(what="a number of processes", low=1, high=4_194_304),
        doc="Processes that a session may have at a time.",
    ),
    Field(key="background", shape=VERDICT, doc="Commands that end in &; deny unless set."),
    Field(key="durable", shape=VERDICT, doc="Commands that go on when the server ends; deny unless set."),
    check=_check_times,
)


def _shell(*, place: Place, env: Mapping[str, object] | None = None, **values: object) -> ShellPart:
    del place
    return ShellPart(**values, **{f"env_{key}": value for key, value in (env or {}).items()})  # type: ignore[arg-type]


def _mapping(*, place: Place, **values: object) -> Mapping[str, object]:
    del place
    return values


_ENV = Record(
    build=_mapping,
    what="set, force",
    fields=(
        Field(
            key="set",
            shape=ListOf(item=VARIABLE_NAME, what="variable names"),
            doc="Names that a command may assign.",
        ),
        Field(
            key="force",
            shape=MapOf(
                key=VARIABLE_NAME,
                value=Text(what="the variable's value", may_be_empty=True),
                what="variable names to values",
            ),
            doc="Variables that every session has and no command changes.",
        ),
    ),
)
SHELL: Record[ShellPart] = Record(
    build=_shell,
    what="functions, state, env",
    fields=(
        Field(key="functions", shape=VERDICT, doc="Function definitions and aliases; deny unless set."),
        Field(
            key="state",
            shape=ListOf(
                item=Text(what="a builtin", example="export", check=check_state_builtin),
                what="builtins",
            ),
            doc="Builtins that may change the session.",
        ),
        Field(key="env", shape=_ENV, doc="Environment variables."),
    ),
)
NETWORKS = ListOf(item=NETWORK, what="network patterns")
NETWORK_RULES = _section(
    NetworkPart,
    Field(key="allow", shape=NETWORKS, doc="host:port patterns and CIDR blocks; absent: none."),
    Field(key="deny", shape=NETWORKS, doc="Beats every allow."),
)


class _ProgramsShape:
    """``default`` is a list of folders, every other key a program and its absolute path."""

    folders = ListOf(item=FOLDER, what="folders", may_be_empty=False)
    named = MapOf(
        key=Text(what="a program name", pattern=r"[^/\s*?\[\]~$-][^/\s*?\[\]~$]*", example="deploy"),
        value=Text(what="an absolute path", example="/opt/tools/deploy", check=check_folder),
        what="program names to absolute paths",
    )

    def read(self, node: Node, problems: Problems, label: str) -> ProgramsPart | Broken:
        """The folders and the named programs."""
        if not isinstance(node, Table):
            return self.named.read(node, problems, label)  # type: ignore[return-value]  # always broken
        default = entry_of(node, "default")
        folders = self.folders.read(default.value, problems, f"{label}.default") if default else None
        others = tuple(entry for entry in node.entries if entry is not default)
        named = self.named.read(Table(place=node.place, entries=others), problems, label)
        if isinstance(named, Broken) or isinstance(folders, Broken):
            return Broken.BROKEN
        return ProgramsPart(folders=folders, named=named)

    def schema(self) -> JsonSchema:
        """An object with one fixed key."""
        return {
            "type": "object",
            "properties": {"default": self.folders.schema()},
            "additionalProperties": self.named.value.schema(),
        }


_GRANTS: Mapping[str, tuple[str, ...]] = {
    "read": ("any", "paths", "none"),
    "write": ("paths", "none"),
    "exec": ("recurse", "none"),
    "net": ("policy", "none"),
    "state": ("any", "none"),
    "process": ("any", "none"),
}


class _EffectsShape:
    """``trusted``, or how much of each effect a rule covers."""

    grants = _section(
        EffectGrants,
        *(
            Field(
                key=kind,
                shape=Word(words={word: word for word in words}),
                doc=f"How far the rule covers {kind}.",
            )
            for kind, words in _GRANTS.items()
        ),
    )

    def read(self, node: Node, problems: Problems, label: str) -> EffectGrants | Broken:
        """The grants."""
        if isinstance(node, Scalar):
            if node.value == "trusted":
                return EffectGrants(is_trusted=True)
            meant = "trusted or {read: …, write: …, exec: …, net: …, state: …, process: …}"
            problems.add(node.place, f"{label}: expected {meant}, found {describe(node)}")
            return Broken.BROKEN
        grants = self.grants.read(node, problems, label)
        assert isinstance(grants, EffectGrants | Broken)
        return grants

    def schema(self) -> JsonSchema:
        """The word or the object."""
        return {"anyOf": [{"const": "trusted"}, self.grants.schema()]}


_SPARED = _section(
    Spared,
    Field(
        key="value",
        shape=Text(what="a glob of at least four plain characters", pattern=r".*[^*?\[\]]{4}.*", example="test-key-*"),
        doc="A glob over the whole value.",
        is_required=True,
    ),
    Field(key="reason", shape=Text(what="a reason", max_length=500), doc="Why it is none.", is_required=True),
)
REDACT = _section(
    RedactRules,
    Field(
        key="detectors",
        shape=ListOf(item=Text(what="a detector", pattern=SLUG, example="detect-secrets"), what="detectors"),
        doc="Asked about lines that no rule decides: detect-secrets, plugins of it, installed ones; [] for none.",
    ),
    Field(
        key="entropy",
        shape=Number(what="bits a character", low=0, high=8, is_whole=False),
        doc="From where a string of base64 on such a line counts as a secret; 4 unless set.",
    ),
    Field(
        key="allow",
        shape=ListOf(item=_SPARED, what="values that are no secrets"),
        doc="What looks like a secret and is none, with the reason.",
    ),
)
_REQUIRE = _section(
    Require,
    Field(
        key="fence",
        shape=Word(words={word: word for word in ("none", "process", "namespaces", "container", "vm")}),
        doc="The level that must hold beneath the shell.",
    ),
    Field(
        key="network",
        shape=Word(words={word: word for word in ("none", "filtered", "open")}),
        doc="What the fence lets out.",
    ),
)
_APPROVAL = _section(
    Approval,
    Field(
        key="channel",
        shape=Word(words={word: word for word in ("elicit", "out_of_band", "both")}),
        doc="How a human is asked.",
    ),
    Field(
        key="ttl_s",
        shape=Number(what="a number of seconds", low=0, high=_WEEK_S, is_whole=False, is_low_excluded=True),
        doc="Seconds after which an unanswered request is a denial.",
    ),
)
_ELEMENTS: ListOf[Element] = ListOf(item=ElementShape(), what="elements", may_be_empty=False)
_VERDICT_KEYS = tuple(verdict.word for verdict in Verdict)
_PERMISSIVE_KEYS = ("effects", "require", "otherwise", "approval", "limits")


def _check_rule(table: Table, problems: Problems, label: str) -> None:
    """One verdict a rule; nothing that could not matter."""
    keys = [entry.key for entry in table.entries]
    verdicts = [key for key in keys if key in _VERDICT_KEYS]
    if len(verdicts) != 1:
        found = " and ".join(verdicts) or "none of them"
        problems.add(table.place, f"{label}: a rule has exactly one of allow, ask and deny, found {found}")
    if verdicts == ["deny"]:
        for key in _PERMISSIVE_KEYS:
            if key in keys:
                problems.add(place_of(table, key), f"{label}.{key}: a deny rule runs nothing, so remove {key}")
    if "otherwise" in keys and "require" not in keys:
        problems.add(place_of(table, "otherwise"), f"{label}.otherwise: it needs a require beside it")


def _rule(*, place: Place, **values: object) -> WrittenRule:
    verdict = next(each for each in Verdict if each.word in values)
    elements = values.pop(verdict.word)
    limits = values.pop("limits", None)
    times = {"time_s": limits.time_s, "time_max_s": limits.time_max_s} if isinstance(limits, LimitsPart) else {}
    rule = Rule(
        **{"id": "", **values, **times},  # type: ignore[arg-type]  # the fields below give each parameter its type
        verdict=verdict,
        elements=elements,  # type: ignore[arg-type]
        source=place.file_line,
    )
    return WrittenRule(rule=rule, has_id=bool(rule.id), place=place)


RULE: Record[WrittenRule] = Record(
    build=_rule,
    what="id, one of allow, ask and deny, reason, effects, require, otherwise, approval, limits",
    check=_check_rule,
    also={"oneOf": [{"required": [key]} for key in _VERDICT_KEYS]},
    fields=(
        Field(key="id", shape=Text(what="a rule id", pattern=RULE_ID, example="ro.text"), doc="Names the rule."),
        Field(key="allow", shape=_ELEMENTS, doc="These may run."),
        Field(key="ask", shape=_ELEMENTS, doc="A human decides on these."),
        Field(key="deny", shape=_ELEMENTS, doc="These never run."),
        Field(key="reason", shape=Text(what="a sentence"), doc="Said to whoever is refused or asked."),
        Field(key="effects", shape=_EffectsShape(), doc="trusted, or how much of each effect the rule covers."),
        Field(key="require", shape=_REQUIRE, doc="The fence that must hold."),
        Field(key="otherwise", shape=_NOT_ALLOW, doc="What happens where that fence is not available."),
        Field(key="approval", shape=_APPROVAL, doc="How to ask."),
        Field(
            key="limits",
            shape=_section(LimitsPart, *_TIMES, check=_check_times),
            doc="Times of this rule's commands.",
        ),
    ),
)
_HAZARD_LIST = ListOf(
    item=Text(what="a hazard id", example="builtin:dangerous", check=check_hazard),
    what="hazards",
)
HAZARDS = _section(
    HazardsPart,
    Field(key="ask", shape=_HAZARD_LIST, doc="Hazards that raise an allow to ask."),
    Field(key="deny", shape=_HAZARD_LIST, doc="Hazards that are refused."),
)


def _example(*, place: Place, **values: object) -> WrittenExample:
    example = Example(**values, source=place.file_line)  # type: ignore[arg-type]
    return WrittenExample(example=example, place=place)


TEST: Record[WrittenExample] = Record(
    build=_example,
    what="run, expect, because, rule, cwd",
    fields=(
        Field(key="run", shape=Text(what="a command", max_length=70_000), doc="The text.", is_required=True),
        Field(key="expect", shape=VERDICT, doc="Its verdict.", is_required=True),
        Field(
            key="because",
            shape=Word(words={code.value: code.value for code in ReasonCode}),
            doc="The reason code.",
        ),
        Field(
            key="rule",
            shape=Text(what="a rule id", pattern=RULE_ID, example="hard"),
            doc="The deciding rule.",
        ),
        Field(key="cwd", shape=PATH, doc="The folder in which it runs; the workspace unless set."),
    ),
)


class _IncludeShape:
    """The name of an included document, with its place."""

    text = Text(what="builtin:NAME or a file", example="builtin:base")

    def read(self, node: Node, problems: Problems, label: str) -> Include | Broken:
        """The include."""
        name = self.text.read(node, problems, label)
        return name if isinstance(name, Broken) else Include(name, node.place)

    def schema(self) -> JsonSchema:
        """A string."""
        return self.text.schema()


class _VersionShape:
    """The number 1."""

    def read(self, node: Node, problems: Problems, label: str) -> int | Broken:
        """The version."""
        if isinstance(node, Scalar) and node.value == FORMAT_VERSION and type(node.value) is int:
            return FORMAT_VERSION
        known = f"this release knows format version {FORMAT_VERSION}; write version: {FORMAT_VERSION}"
        problems.add(node.place, f"{label}: found {describe(node)}, but {known}")
        return Broken.BROKEN

    def schema(self) -> JsonSchema:
        """A constant."""
        return {"const": FORMAT_VERSION}


def _sheet(*, place: Place, version: int, **values: object) -> Sheet:
    del version
    return Sheet(place=place, **values)  # type: ignore[arg-type]  # the fields below give each parameter its type


DOCUMENT: Record[Sheet] = Record(
    build=_sheet,
    what="a policy",
    fields=(
        Field(key="version", shape=_VersionShape(), doc="The format's version, 1.", is_required=True),
        Field(
            key="name",
            shape=Text(what="a name (lower case, digits, . _ -)", pattern=SLUG, example="prod-readonly"),
            doc="Names the policy in decisions.",
            is_required=True,
        ),
        Field(
            key="include",
            shape=ListOf(item=_IncludeShape(), what="builtin:NAME or files", max_items=64),
            doc="Documents to build upon; an included deny can never be loosened.",
        ),
        Field(key="defaults", shape=DEFAULTS, doc="What happens where no rule speaks."),
        Field(key="limits", shape=LIMITS, doc="Bounds on one run."),
        Field(key="shell", shape=SHELL, doc="What a command may do to the session itself."),
        Field(key="paths", shape=PATHS, doc="Which paths may be read and written."),
        Field(key="network", shape=NETWORK_RULES, doc="Which hosts may be reached."),
        Field(key="redact", shape=REDACT, doc="Who looks for secrets beside the built-in rules, and what is none."),
        Field(key="programs", shape=_ProgramsShape(), doc="Where programs run from."),
        Field(key="rules", shape=ListOf(item=RULE, what="rules"), doc="The rules; their order never matters."),
        Field(key="hazards", shape=HAZARDS, doc="Dangerous patterns that ask or deny whatever a rule allows."),
        Field(
            key="tests",
            shape=ListOf(item=TEST, what="tests"),
            doc="Run at every load; a failing one refuses to start.",
        ),
    ),
)


def read_sheet(node: Node, problems: Problems) -> Sheet | None:
    """What one file says, or None after noting everything that is wrong with it."""
    sheet = DOCUMENT.read(node, problems, "")
    if isinstance(sheet, Broken):
        return None
    return replace(sheet, rules=_with_ids(sheet, problems))


def _with_ids(sheet: Sheet, problems: Problems) -> tuple[WrittenRule, ...]:
    """The rules, unnamed ones numbered as ``name#3``; an id that stands twice is a problem."""
    seen: dict[str, Place] = {}
    numbered: list[WrittenRule] = []
    for number, written in enumerate(sheet.rules, start=1):
        if written.has_id and written.rule.id in seen:
            first = seen[written.rule.id]
            problems.add(written.place, f'the rule id "{written.rule.id}" stands twice; the first is at {first}')
        seen.setdefault(written.rule.id, written.place)
        if written.has_id:
            numbered.append(written)
        else:
            rule = replace(written.rule, id=f"{sheet.name}#{number}")
            numbered.append(WrittenRule(rule=rule, has_id=False, place=written.place))
    return tuple(numbered)


def json_schema() -> JsonSchema:
    """The JSON Schema of a policy file, for editors."""
    return {
        "$schema": SCHEMA_ID,
        "title": "execkit-mcp policy, format version 1",
        **DOCUMENT.schema(),
        "$defs": {"element": ElementShape().schema()},
    }
