"""The format of ``config.yaml`` as one table of shapes: what an operator may write."""

import re
from collections.abc import Mapping

from msgspec import Struct

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
MAX_SESSIONS = 1000
_NAME = Text(what="a name (lower case, digits, . _ -)", pattern=r"[a-z0-9][a-z0-9._-]{0,63}", example="prod-1")
_SENTENCE = Text(what="text")


def _check_folder(text: str) -> str:
    if text.startswith(("/", "~/")) or text == "~":
        return "" if "\0" not in text else "a path holds no NUL"
    return f'"{text}" is relative; begin with / or ~/'


FOLDER = Text(what="a folder", example="~/work", check=_check_folder)
_POLICY = Text(what="a shipped policy or a policy file", example="read-only")
_HOST = Text(what="a host name or address", pattern=r"[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?", example="prod-1")
_USER = Text(what="a user name", pattern=r"[A-Za-z0-9_][A-Za-z0-9._-]*\$?", example="deploy")
_LABEL = Text(what="a name", pattern=r"[A-Za-z0-9][A-Za-z0-9._:/@-]*", example="web-1")


class TargetPart(Struct, frozen=True, kw_only=True):
    """One declared target; ``options`` are the keys that only its transport knows."""

    transport: str
    policy: str | None
    cwd: str | None
    options: Mapping[str, str | int]
    place: Place | None = None


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
    "ssh": (
        Field(key="host", shape=_HOST, doc="Host name or address; the target's name unless set."),
        Field(key="port", shape=Number(what="a port", low=1, high=65_535), doc="Port; 22 unless set."),
        Field(key="user", shape=_USER, doc="User name."),
        Field(key="identity_file", shape=FOLDER, doc="Private key."),
        Field(key="known_hosts", shape=FOLDER, doc="File of known host keys."),
        Field(
            key="fingerprint",
            shape=Text(what="a fingerprint", pattern=r"SHA256:[A-Za-z0-9+/]{43}=?", example="SHA256:" + "A" * 43),
            doc="The host key that is accepted.",
        ),
    ),
    "docker": (
        Field(key="container", shape=_LABEL, doc="The container; the target's name unless set."),
        Field(key="user", shape=_USER, doc="User inside it."),
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
    options = {key: value for key, value in values.items() if isinstance(value, str | int)}
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


_VARIABLE = Text(what="the name of an environment variable", pattern=r"[A-Za-z_][A-Za-z0-9_]*", example="API_TOKEN")
_FILE = Record(
    build=_mapping,
    what="the configuration",
    fields=(
        Field(key="policy", shape=_POLICY, doc="The default policy."),
        Field(key="target", shape=_NAME, doc="The default target."),
        Field(key="targets", shape=_TargetsShape(), doc="Named places where sessions can be opened."),
        Field(
            key="workspace",
            shape=FOLDER,
            doc="What ${workspace} means; where the server was started unless set.",
        ),
        Field(key="state_dir", shape=FOLDER, doc="Where approvals and the ledger are kept."),
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
            ),
            doc="How a human is asked.",
        ),
        Field(
            key="secrets",
            shape=_group(
                Field(
                    key="env",
                    shape=ListOf(item=_VARIABLE, what="variable names"),
                    doc="Variables whose values are secret.",
                ),
                Field(
                    key="files",
                    shape=ListOf(item=FOLDER, what="files"),
                    doc="Files that hold a secret a line.",
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
                )
            ),
            doc="Bounds on the whole server.",
        ),
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
    return shapes[key].complaint(text)


def is_policy_file(name: str) -> bool:
    """Whether ``name`` is a file rather than a shipped policy."""
    return "/" in name or re.search(r"\.ya?ml$", name) is not None
