"""The format of ``config.yaml`` as one table of shapes: what an operator may write; longer than most for that."""

import re
from collections.abc import Mapping

from msgspec import Struct

from execkit_mcp.config.http_settings import HTTP
from execkit_mcp.config.ssh_fields import FOLDER, SSH_FIELDS, USER, VARIABLE
from execkit_mcp.config.webhook_fields import WebhookShape
from execkit_mcp.model.shape import (
    Broken,
    Field,
    JsonSchema,
    ListOf,
    MapOf,
    Number,
    Record,
    Shape,
    Text,
    Word,
    describe,
    entry_of,
)
from execkit_mcp.model.source import Node, Place, Problems, Table

CHANNELS = ("elicit", "out_of_band")
TOOLSETS = ("checkpoints",)
FENCES = ("auto", "off", "process", "namespaces")
MAX_SESSIONS = 1000
MAX_MEGABYTES = 1 << 20
MAX_PERCENT = 100 * 1024
_NAME = Text(what="a name (lower case, digits, . _ -)", pattern=r"[a-z0-9][a-z0-9._-]{0,63}", example="prod-1")
_SENTENCE = Text(what="text")


_POLICY = Text(what="a shipped policy or a policy file", example="read-only")
_LABEL = Text(what="a name", pattern=r"[A-Za-z0-9][A-Za-z0-9._:/@-]*", example="web-1")


class TargetPart(Struct, frozen=True, kw_only=True):
    """One declared target; ``options`` are the keys that only its transport knows."""

    transport: str
    policy: str | None
    cwd: str | None
    options: Mapping[str, str | int | float]
    place: Place | None = None


class TypedSecret(Struct, frozen=True, kw_only=True):
    """A secret that may be typed where a program hides what is typed; where it is kept, never what it is.

    Attributes:
        programs: bare names of the programs that may get it.
        env: the server's variable that holds it.
        file: or the file whose first line it is.
        origin: where it was declared.
    """

    programs: tuple[str, ...]
    env: str | None = None
    file: str | None = None
    origin: str = ""


class SettingsPart(Struct, frozen=True, kw_only=True):
    """What the file says; ``places`` tells where each dotted key stands."""

    values: Mapping[str, object]
    targets: Mapping[str, TargetPart]
    places: Mapping[str, Place]


_COMMON = (
    Field(key="transport", shape=_NAME, doc="How bytes reach a shell.", is_required=True),
    Field(key="policy", shape=_POLICY, doc="The policy of its sessions; the default policy unless set."),
    Field(key="cwd", shape=FOLDER, doc="The folder in which sessions start."),
    Field(key="description", shape=_SENTENCE, doc="Shown to whoever lists targets."),
)
_OPTIONS: Mapping[str, tuple[Field, ...]] = {
    "local": (),
    "ssh": SSH_FIELDS,
    "docker": (
        Field(key="container", shape=_LABEL, doc="The container; the target's name unless set."),
        Field(key="user", shape=USER, doc="User inside it."),
    ),
    "kubernetes": (
        Field(key="context", shape=_LABEL, doc="The kubeconfig context."),
        Field(key="namespace", shape=_LABEL, doc="The namespace."),
        Field(key="pod", shape=_LABEL, doc="The pod; the target's name unless set."),
        Field(key="container", shape=_LABEL, doc="The container in it."),
    ),
    "sandbox": (),
}
TRANSPORTS = tuple(_OPTIONS)


def _target(*, place: Place, **values: object) -> TargetPart:
    values.pop("description", None)
    transport, policy, cwd = (values.pop(key, None) for key in ("transport", "policy", "cwd"))
    assert isinstance(transport, str)
    options = {key: value for key, value in values.items() if isinstance(value, str | int | float)}
    return TargetPart(
        transport=transport,
        policy=policy if isinstance(policy, str) else None,
        cwd=cwd if isinstance(cwd, str) else None,
        options=options,
        place=place,
    )


_TARGETS: Mapping[str, Record[TargetPart]] = {
    transport: Record(
        build=_target,
        fields=(
            Field(
                key="transport",
                shape=Word(words={transport: transport}),
                doc=_COMMON[0].doc,
                is_required=True,
            ),
            *_COMMON[1:],
            *options,
        ),
        what=", ".join(each.key for each in (*_COMMON, *options)),
    )
    for transport, options in _OPTIONS.items()
}


class _TargetShape:
    """One target; its transport decides which other keys it may have."""

    transport = Word(words={name: name for name in TRANSPORTS})

    def read(self, node: Node, problems: Problems, label: str) -> TargetPart | Broken:
        """The target."""
        entry = entry_of(node, "transport") if isinstance(node, Table) else None
        if not isinstance(node, Table):
            problems.add(node.place, f"{label}: expected a mapping with a transport, found {describe(node)}")
            return Broken.BROKEN
        if entry is None:
            known = ", ".join(TRANSPORTS)
            problems.add(node.place, f"{label}: the key transport is missing; write one of {known}")
            return Broken.BROKEN
        transport = self.transport.read(entry.value, problems, f"{label}.transport")
        return transport if isinstance(transport, Broken) else _TARGETS[transport].read(node, problems, label)

    def schema(self) -> JsonSchema:
        """One alternative a transport."""
        return {"oneOf": [record.schema() for record in _TARGETS.values()]}


class _TargetsShape:
    """Every declared target; ``local`` is always local."""

    targets = MapOf(key=_NAME, value=_TargetShape(), what="target names to targets")

    def read(self, node: Node, problems: Problems, label: str) -> dict[str, TargetPart] | Broken:
        """The targets by name."""
        targets = self.targets.read(node, problems, label)
        local = targets.get("local") if isinstance(targets, dict) else None
        if local is not None and local.transport != "local" and local.place is not None:
            problems.add(local.place, f"{label}.local: it has the transport local; give this target another name")
        return targets

    def schema(self) -> JsonSchema:
        """An object of targets."""
        return self.targets.schema()


def _mapping(*, place: Place, **values: object) -> Mapping[str, object]:
    del place
    return values


def _group(*fields: Field) -> Shape[object]:
    return Record(build=_mapping, fields=fields, what=", ".join(each.key for each in fields))


_PROGRAM = Text(what="a program's bare name", pattern=r"[A-Za-z0-9][A-Za-z0-9._+-]*", example="sudo")


def _typed_secret(*, place: Place, to: tuple[str, ...], env: str | None = None, file: str | None = None) -> TypedSecret:
    return TypedSecret(env=env, file=file, programs=to, origin=str(place))


class _TypedSecretShape:
    """A secret to type: kept in a variable or in a file, not in both."""

    record: Record[TypedSecret] = Record(
        build=_typed_secret,
        what="env, file, to",
        fields=(
            Field(key="env", shape=VARIABLE, doc="The server's variable that holds it."),
            Field(key="file", shape=FOLDER, doc="The file whose first line it is."),
            Field(
                key="to",
                shape=ListOf(item=_PROGRAM, what="program names", may_be_empty=False),
                doc="The programs that may get it, from the policy's program folders.",
                is_required=True,
            ),
        ),
    )

    def read(self, node: Node, problems: Problems, label: str) -> TypedSecret | Broken:
        """The secret."""
        found = self.record.read(node, problems, label)
        if isinstance(found, TypedSecret) and (found.env is None) == (found.file is None):
            problems.add(node.place, f"{label}: write either env or file")
            return Broken.BROKEN
        return found

    def schema(self) -> JsonSchema:
        """Its record."""
        return self.record.schema()


_FILE = Record(
    build=_mapping,
    what="the configuration",
    fields=(
        Field(key="policy", shape=_POLICY, doc="The default policy."),
        Field(key="target", shape=_NAME, doc="The default target."),
        Field(
            key="toolsets",
            shape=ListOf(item=Word(words={name: name for name in TOOLSETS}), what="toolsets"),
            doc="Tools that are offered beside the core ones.",
        ),
        Field(key="targets", shape=_TargetsShape(), doc="Named places where sessions can be opened."),
        Field(
            key="workspace",
            shape=FOLDER,
            doc="What ${workspace} means; where the server was started unless set.",
        ),
        Field(key="state_dir", shape=FOLDER, doc="Where approvals and the ledger are kept."),
        Field(
            key="fence",
            shape=Word(words={name: name for name in FENCES}),
            doc="What holds beneath the shell of local sessions: the best that disturbs nothing, none, or a level.",
        ),
        Field(key="audit_dir", shape=FOLDER, doc="Where the audit log is kept; the state folder unless set."),
        Field(
            key="approvals",
            shape=_group(
                Field(
                    key="channels",
                    shape=ListOf(
                        item=Word(words={name: name for name in CHANNELS}),
                        what="channels",
                        may_be_empty=False,
                    ),
                    doc="How a human may be asked.",
                ),
                Field(
                    key="ttl_s",
                    shape=Number(what="a number of seconds", low=0, high=604_800, is_whole=False, is_low_excluded=True),
                    doc="Seconds after which an unanswered request is a denial.",
                ),
                Field(
                    key="wait_s",
                    shape=Number(what="a number of seconds", low=0, high=600, is_whole=False),
                    doc="Seconds that a call waits for a person unless it says itself (wait_s).",
                ),
                Field(key="webhook", shape=WebhookShape(), doc="Where questions are sent, signed."),
            ),
            doc="How a human is asked.",
        ),
        Field(
            key="secrets",
            shape=_group(
                Field(
                    key="env",
                    shape=ListOf(item=VARIABLE, what="variable names"),
                    doc="Variables whose values are secret.",
                ),
                Field(
                    key="files",
                    shape=ListOf(item=FOLDER, what="files"),
                    doc="Files that hold a secret a line.",
                ),
                Field(
                    key="typed",
                    shape=MapOf(key=_NAME, value=_TypedSecretShape(), what="names to secrets"),
                    doc="Secrets that ${secret:NAME} may type where a program hides what is typed.",
                ),
            ),
            doc="Values that never come back in output.",
        ),
        Field(
            key="limits",
            shape=_group(
                Field(
                    key="sessions",
                    shape=Number(what="a number of sessions", low=1, high=MAX_SESSIONS),
                    doc="Sessions that may be open at a time.",
                ),
                Field(
                    key="idle_s",
                    shape=Number(what="a number of seconds", low=1, high=31_536_000, is_whole=False),
                    doc="Seconds without use after which a session is closed, unless something runs in it.",
                ),
                Field(
                    key="memory_mb",
                    shape=Number(what="a number of megabytes", low=16, high=MAX_MEGABYTES),
                    doc="Memory that the processes of one session may hold; then it is closed.",
                ),
                Field(
                    key="total_memory_mb",
                    shape=Number(what="a number of megabytes", low=16, high=MAX_MEGABYTES),
                    doc="Memory that all sessions may hold together; then the greatest is closed.",
                ),
                Field(
                    key="cpu_percent",
                    shape=Number(what="a percentage", low=1, high=MAX_PERCENT),
                    doc="Share of one processor that a session gets; 200 is two whole ones.",
                ),
                Field(
                    key="file_mb",
                    shape=Number(what="a number of megabytes", low=1, high=MAX_MEGABYTES),
                    doc="Size that one file may grow to in a fenced session.",
                ),
                Field(
                    key="disk_mb",
                    shape=Number(what="a number of megabytes", low=1, high=MAX_MEGABYTES),
                    doc="Room on the disk that what a sandbox writes in its workspace may take.",
                ),
                Field(
                    key="output_mb",
                    shape=Number(what="a number of megabytes", low=1, high=MAX_MEGABYTES),
                    doc="Output of one session that is kept; the oldest is let go of first.",
                ),
            ),
            doc="Bounds on the whole server.",
        ),
        Field(
            key="audit",
            shape=_group(
                Field(
                    key="recordings",
                    shape=Word(words={"on": "on", "off": "off"}),
                    doc="Whether sessions are recorded; on unless set.",
                ),
                Field(
                    key="recordings_days",
                    shape=Number(what="a number of days", low=0, high=36_500, is_whole=False, is_low_excluded=True),
                    doc="Days after which a recording is removed; 30 unless set.",
                ),
                Field(
                    key="recordings_mb",
                    shape=Number(what="a number of megabytes", low=1, high=MAX_MEGABYTES),
                    doc="Recordings that are kept, in megabytes; the oldest go first. 2048 unless set.",
                ),
                Field(
                    key="keep_days",
                    shape=Number(what="a number of days", low=0, high=36_500, is_whole=False, is_low_excluded=True),
                    doc="Days after which a full segment of the audit log is removed; never unless set.",
                ),
                Field(
                    key="keep_mb",
                    shape=Number(what="a number of megabytes", low=1, high=MAX_MEGABYTES),
                    doc="Audit log that is kept, in megabytes; the oldest segments go first. All of it unless set.",
                ),
                Field(
                    key="segment_mb",
                    shape=Number(what="a number of megabytes", low=1, high=1024),
                    doc="Megabytes after which a segment of the log is sealed and the next begins; 64 unless set.",
                ),
                Field(
                    key="otlp_endpoint",
                    shape=Text(
                        what="the base URL of an OpenTelemetry collector",
                        pattern=r"https?://[^\s/?#]+(/[^\s?#]*)?",
                        example="http://127.0.0.1:4318",
                    ),
                    doc="Where spans of sessions and commands go; as $OTEL_EXPORTER_OTLP_ENDPOINT says unless set.",
                ),
            ),
            doc="The record: how much is kept, and for how long.",
        ),
        Field(key="http", shape=HTTP, doc="What `serve --transport http` listens on, and whom it believes."),
    ),
)


def read_settings(node: Node, problems: Problems) -> SettingsPart | None:
    """What a configuration file says, or None after noting everything that is wrong with it."""
    read = _FILE.read(node, problems, "")
    if isinstance(read, Broken) or problems:
        return None
    values: dict[str, object] = {}
    places: dict[str, Place] = {}
    _flatten(node, "", places)
    for key, value in read.items():
        if isinstance(value, Mapping) and key != "targets":
            values.update({f"{key}.{inner}": each for inner, each in value.items()})
        elif key != "targets":
            values[key] = value
    targets = read.get("targets", {})
    assert isinstance(targets, dict)
    return SettingsPart(values=values, targets=targets, places=places)


def _flatten(node: Node, prefix: str, places: dict[str, Place]) -> None:
    if isinstance(node, Table):
        for entry in node.entries:
            places[prefix + entry.key] = entry.place
            _flatten(entry.value, f"{prefix}{entry.key}.", places)


def json_schema() -> JsonSchema:
    """The JSON Schema of a configuration file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "execkit-mcp configuration",
        **_FILE.schema(),
    }


def complain_of_text(key: str, text: str) -> str:
    """What is wrong with ``text`` as the value of ``key``, when it came from outside the file."""
    shapes: Mapping[str, Text] = {
        "policy": _POLICY,
        "target": _NAME,
        "workspace": FOLDER,
        "state_dir": FOLDER,
        "audit_dir": FOLDER,
    }
    return shapes[key].complaint(text) if key in shapes else ""


def is_policy_file(name: str) -> bool:
    """Whether ``name`` is a file rather than a shipped policy."""
    return "/" in name or re.search(r"\.ya?ml$", name) is not None
