"""What a person is asked to approve, and the digest that ties the answer to exactly that.

The digest covers everything that changes what runs: canonical command, target, the user it runs as, cwd, policy digest,
requester, standard input, whether the agent may type into it, what it would be typed into, whether it outlives the
server; and what the person judged by: each effect and hazard, and what would stand in files that it overwrites. Each
field is written as ``name:bytes:`` and its bytes, so that no two different requests have the same encoding.

There are two forms of a request. The true one never leaves the memory of the process that asks: its digest is taken
with a key, so that a weak secret in a command cannot be guessed from it. ``shown_by`` gives the other one, with every
secret replaced: that one is stored, listed and sent.

What the digest does not cover: the values that the session's variables will have when the command runs. A command that
uses them shows their names.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from execkit_mcp.model import Decision, HazardHit, PolicyRef, Severity

__all__ = ["SHOWN_STDIN_CHARACTERS", "ApprovalRequest", "Stdin", "keyed"]

SHOWN_STDIN_CHARACTERS = 4000
_FORMAT = b"execkit approval 2\n"
_BULKY = ("recent", "diff")
_TAG = "[REDACTED:"
_COMMAND, _EFFECT, _CONTENT = "command", "effect", "file to overwrite"


class Stdin(Struct, frozen=True, kw_only=True, gc=False):
    """Standard input of the command: its head to look at, the digest and size of the whole to bind to.

    ``text`` is all of it, in the true form alone.
    """

    sha256: str
    size_bytes: int
    head: str
    is_whole: bool = True
    text: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """The summary of ``text``."""
        data = text.encode("utf-8", "surrogatepass")
        return cls(
            sha256=hashlib.sha256(data).hexdigest(),
            size_bytes=len(data),
            head=text[:SHOWN_STDIN_CHARACTERS],
            is_whole=len(text) <= SHOWN_STDIN_CHARACTERS,
            text=text,
        )

    def shown_by(self, redact: Callable[[str], str]) -> Self:
        """What may be stored: the head of the redacted text, because a cut can leave half a secret."""
        shown = redact(self.text or self.head)[:SHOWN_STDIN_CHARACTERS]
        return type(self)(sha256="", size_bytes=self.size_bytes, head=shown, is_whole=self.is_whole)


class ApprovalRequest(Struct, frozen=True, kw_only=True, gc=False):
    """One question to a person.

    Attributes:
        canonical: the text that would run.
        target: the name of the target.
        cwd: the session's folder.
        policy: which policy said ``ask``.
        requester: who asked: transport and client.
        created_s: when, in seconds since the epoch.
        expires_s: from then on the answer is no.
        session: the name of the session that it would run in.
        session_key: the very session, so that another of the same name is not taken for it.
        run_as: the user that it would run as, as far as the target says; empty if it does not.
        stdin: its standard input, if there is any.
        is_tty: whether the agent may type into it while it runs.
        typed_into: the running exec that ``stdin`` would be typed into; empty for a command of its own.
        is_durable: whether it goes on when the server ends.
        agent_reason: what the agent said it wants; never to be believed.
        message: why the policy asks.
        rule: id of the deciding rule.
        effects: each thing that it would do, as text.
        hazards: the dangerous patterns in it.
        channel: ``elicit``, ``out_of_band`` or ``both``, as the policy says.
        recent: what ran in that session before it, oldest first.
        diff: how files that it would overwrite would change, as far as that can be told.
        replaced: a digest of the contents that ``diff`` was made of; empty if there are none.
    """

    canonical: str
    target: str
    cwd: str
    policy: PolicyRef
    requester: str
    created_s: float
    expires_s: float
    session: str = ""
    session_key: str = ""
    run_as: str = ""
    stdin: Stdin | None = None
    is_tty: bool = False
    typed_into: str = ""
    is_durable: bool = False
    agent_reason: str = ""
    message: str = ""
    rule: str | None = None
    effects: tuple[str, ...] = ()
    hazards: tuple[HazardHit, ...] = ()
    channel: str = "both"
    recent: tuple[str, ...] = ()
    diff: str = ""
    replaced: str = ""

    @classmethod
    def from_decision(
        cls,
        decision: Decision,
        *,
        target: str,
        cwd: str,
        requester: str,
        now_s: float,
        session: str = "",
        session_key: str = "",
        run_as: str = "",
        stdin: str | None = None,
        is_tty: bool = False,
        typed_into: str = "",
        is_durable: bool = False,
        agent_reason: str = "",
        recent: tuple[str, ...] = (),
        diff: str = "",
        replaced: str = "",
    ) -> Self:
        """The question that ``decision`` (verdict ``ask``) raises; ValueError if it has no canonical text."""
        if decision.canonical is None:
            raise ValueError("a text that did not parse cannot be approved")
        effects = dict.fromkeys(str(effect) for command in decision.commands for effect in command.effects)
        return cls(
            canonical=decision.canonical,
            target=target,
            cwd=cwd,
            policy=decision.policy,
            requester=requester,
            created_s=now_s,
            expires_s=now_s + decision.approval.ttl_s,
            session=session,
            session_key=session_key,
            run_as=run_as,
            stdin=None if stdin is None else Stdin.of(stdin),
            is_tty=is_tty,
            typed_into=typed_into,
            is_durable=is_durable,
            agent_reason=agent_reason,
            message=decision.message,
            rule=decision.rule,
            effects=tuple(effects),
            hazards=decision.hazards,
            channel=decision.approval.channel,
            recent=recent,
            diff=diff,
            replaced=replaced,
        )

    @property
    def is_critical(self) -> bool:
        """Whether a hazard in it is critical."""
        return any(hazard.severity is Severity.CRITICAL for hazard in self.hazards)

    @property
    def is_out_of_band_only(self) -> bool:
        """Whether the client's own dialogue may not answer: the policy says so, or a hazard is critical."""
        return self.channel == "out_of_band" or self.is_critical

    @property
    def is_hiding(self) -> bool:
        """Whether a part of what would run was replaced because it looks like a secret."""
        return _TAG in self.canonical or (self.stdin is not None and _TAG in self.stdin.head)

    @property
    def ttl_s(self) -> float:
        """Seconds from asking to expiry."""
        return self.expires_s - self.created_s

    def bindings(self) -> tuple[tuple[str, str], ...]:
        """What the digest covers: each thing's name, as a person calls it, and its value."""
        return (
            (_COMMAND, self.canonical),
            ("target", self.target),
            ("user", self.run_as),
            ("folder", self.cwd),
            ("policy", self.policy.digest),
            ("requester", self.requester),
            ("standard input", "none" if self.stdin is None else f"sha256:{self.stdin.sha256}"),
            ("terminal", "yes" if self.is_tty else "no"),
            ("typed into", self.typed_into or "nothing"),
            ("durable", "yes" if self.is_durable else "no"),
            (_EFFECT, "\0".join((*self.effects, *(f"{hit.id}:{hit.severity.value}" for hit in self.hazards)))),
            (_CONTENT, self.replaced),
        )

    def digest(self, key: bytes = b"") -> str:
        """HMAC-SHA256 over an encoding of ``bindings`` that no other bindings share."""
        return self._digest(key, self.bindings())

    def grant_digest(self, key: bytes) -> str:
        """The same for a grant: what the command writes may differ from run to run, everything else may not."""
        return self._digest(key, (pair for pair in self.bindings() if pair[0] != _CONTENT))

    def _digest(self, key: bytes, bindings: Iterable[tuple[str, str]]) -> str:
        digest = hmac.new(key, _FORMAT, "sha256")
        for name, value in bindings:
            data = value.encode("utf-8", "surrogatepass")
            digest.update(f"{name}:{len(data)}:".encode())
            digest.update(data)
        return digest.hexdigest()

    def marks(self, key: bytes) -> dict[str, str]:
        """A short keyed digest of each binding: tells which one differs, and no more."""
        return {name: keyed(key, name, value)[:16] for name, value in self.bindings()}

    def differences(self, marks: Mapping[str, str], key: bytes) -> tuple[str, ...]:
        """Names of the bindings in which this request differs from the one that had ``marks``.

        Another command has other effects; that is not told twice.
        """
        found = [name for name, mark in self.marks(key).items() if marks.get(name) != mark]
        return tuple(name for name in found if name != _EFFECT or found[0] != _COMMAND)

    def shown_by(self, redact: Callable[[str], str]) -> Self:
        """This request as it may be stored and shown: every text in it through ``redact``."""

        def text(value: str) -> str:
            shown = redact(value) if value else value
            return shown if shown.isascii() else shown.encode("utf-8", "backslashreplace").decode()

        return replace(
            self,
            canonical=text(self.canonical),
            target=text(self.target),
            cwd=text(self.cwd),
            requester=text(self.requester),
            session=text(self.session),
            run_as=text(self.run_as),
            stdin=None if self.stdin is None else self.stdin.shown_by(text),
            typed_into=text(self.typed_into),
            agent_reason=text(self.agent_reason),
            message=text(self.message),
            effects=tuple(map(text, self.effects)),
            hazards=tuple(replace(hit, message=text(hit.message)) for hit in self.hazards),
            recent=tuple(map(text, self.recent)),
            diff=text(self.diff),
        )

    def to_json(self) -> dict[str, object]:
        """The request as a JSON object; ``loads`` brings it back."""
        return {
            **{name: getattr(self, name) for name in self.__struct_fields__},
            "policy": asdict(self.policy),
            "stdin": None if self.stdin is None else asdict(self.stdin),
            "effects": list(self.effects),
            "hazards": [{"id": hit.id, "severity": hit.severity.value, "message": hit.message} for hit in self.hazards],
            "recent": list(self.recent),
        }

    def dumps(self) -> str:
        """``to_json`` as ASCII text: every character survives, lone surrogates included."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @classmethod
    def loads(cls, text: str) -> "ApprovalRequest":
        """What ``dumps`` wrote; ValueError for anything else."""
        try:
            try:
                return _decoder(cls).decode(text)
            except (msgspec.DecodeError, UnicodeError):  # a lone surrogate, which only json takes
                return msgspec.convert(json.loads(text), cls)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(f"not an approval request: {error}") from error

    def split(self) -> tuple[str, str]:
        """This request in two texts: what a list needs, and what only the question itself shows."""
        slim = replace(self, recent=(), diff="")
        return slim.dumps(), json.dumps({name: getattr(self, name) for name in _BULKY}, separators=(",", ":"))

    def with_detail(self, detail: str) -> Self:
        """This request with the second text of ``split``; ValueError if it is none."""
        value = json.loads(detail)
        if not isinstance(value, Mapping) or set(value) != set(_BULKY):
            raise ValueError("not the detail of an approval request")
        return replace(self, recent=tuple(map(str, value["recent"])), diff=str(value["diff"]))


@cache
def _decoder(kind: type[ApprovalRequest]) -> msgspec.json.Decoder[ApprovalRequest]:
    return msgspec.json.Decoder(kind)


def keyed(key: bytes, *parts: str) -> str:
    """A keyed BLAKE2 digest over ``parts``, each with its length, as hex digits."""
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=32).hexdigest()
