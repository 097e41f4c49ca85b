"""The hash chain, pure: how an entry becomes a line, and what makes a folder of lines whole.

Theory of operation. An entry is one line of canonical JSON:
``{"data":…,"kind":…,"prev":…,"seq":…,"time":…,"hash":…}``. ``hash`` is SHA-256 (HMAC-SHA-256 where a key is
given) over the bytes of the line without its hash, and ``prev`` is the hash of the entry before, so each hash
speaks for everything up to there. The first ``prev`` comes from a random log id: no line of one log fits into
another. A log is a row of segment files; a segment opens with a ``log.opened`` entry that names the log and,
after a crash, the torn bytes that the segment before it ends with.

The head is a small file of its own: how many entries there are, where the last one ends, its hash. It is
written after each entry, so lines cut from the end are missed. After a crash it may be behind by the entry
that nobody was told of; it is never ahead.

What this proves: any edit, cut, insertion, swap or replacement by someone who does not rewrite everything
after it *and* the head. Who can write the folder and knows no key can do exactly that: rewrite the whole, or
put back an older copy of both. With a key file that he cannot read he can only put back an older copy;
against that, keep the printed head (``audit verify`` shows it) somewhere else.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Self

from msgspec import Struct, field

__all__ = [
    "HEAD_BYTES",
    "OPENED",
    "Broken",
    "Entry",
    "Head",
    "Problem",
    "Report",
    "Segment",
    "genesis",
    "key_id",
    "parse_line",
    "seal",
    "verify",
]

OPENED = "log.opened"
HEAD_BYTES = 512
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_HASH_FIELD = b',"hash":"'
_TAIL_BYTES = len(_HASH_FIELD) + 64 + len(b'"}\n')
_FIELDS = {"data", "kind", "prev", "seq", "time"}


class Broken(Exception):  # a finding, not an error of ours
    """A line or head that is not what was written; the text says in which way."""


class Entry(Struct, frozen=True, kw_only=True):
    """One line of the log, read back."""

    seq: int
    time: str
    kind: str
    data: Mapping[str, object]
    prev: str
    hash: str

    def to_json(self) -> dict[str, object]:
        """The entry as a JSON object."""
        return {
            "seq": self.seq,
            "time": self.time,
            "kind": self.kind,
            "data": dict(self.data),
            "prev": self.prev,
            "hash": self.hash,
        }


class Head(Struct, frozen=True, kw_only=True):
    """Where the log ends.

    Attributes:
        log: the log's random id.
        seq: number of the last entry, 0 before the first.
        hash: its hash.
        segment: number of the segment in which it stands.
        end: the byte of that segment just behind it.
    """

    log: str
    seq: int
    hash: str
    segment: int
    end: int

    def to_bytes(self, key: bytes | None) -> bytes:
        """The head as it stands in its file: always ``HEAD_BYTES`` long, to be written in one piece."""
        body = _dumps({"end": self.end, "hash": self.hash, "log": self.log, "segment": self.segment, "seq": self.seq})
        line = body[:-1] + b',"mac":"' + _digest(b"head" + body, key).encode() + b'"}'
        return line.ljust(HEAD_BYTES - 1) + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, key: bytes | None) -> Self:
        """What ``to_bytes`` wrote; Broken for anything else."""
        try:
            fields = json.loads(data)
            head = cls(
                log=fields["log"],
                seq=fields["seq"],
                hash=fields["hash"],
                segment=fields["segment"],
                end=fields["end"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise Broken("the head file cannot be read") from error
        if not hmac.compare_digest(head.to_bytes(key), data):
            raise Broken("the head file was edited, or was written with another key")
        return head


class Segment(Struct, frozen=True, kw_only=True):
    """One file of the log: its name, its number, and its lines, each with its line feed."""

    name: str
    number: int
    lines: Iterable[bytes]


class Problem(Struct, frozen=True, kw_only=True):
    """The first thing that is not as it was written."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class Report(Struct, frozen=True, kw_only=True):
    """What a verification found; ``problem`` is None when the log is whole.

    Attributes:
        entries: how many entries hold, up to the first problem.
        log: the log's id.
        last_hash: the hash that speaks for all of them.
        problem: the first bad line, if there is one.
        notes: what is unusual without being a break: a torn line after a crash, entries behind the head.
    """

    entries: int
    log: str
    last_hash: str
    problem: Problem | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_intact(self) -> bool:
        """Whether nothing was edited, cut, swapped, inserted or replaced."""
        return self.problem is None

    def to_json(self) -> dict[str, object]:
        """The report as a JSON object."""
        problem = self.problem
        return {
            "intact": problem is None,
            "entries": self.entries,
            "log": self.log,
            "head": self.last_hash,
            "problem": None
            if problem is None
            else {
                "code": "audit.chain_broken",
                "file": problem.file,
                "line": problem.line,
                "message": problem.message,
            },
            "notes": list(self.notes),
        }


def genesis(log: str) -> str:
    """The ``prev`` of the first entry of log ``log``."""
    return hashlib.sha256(b"execkit audit log 1\n" + log.encode("ascii", "backslashreplace")).hexdigest()


def key_id(key: bytes | None) -> str:
    """A name for ``key`` that gives nothing of it away; empty for no key."""
    return "" if key is None else hmac.new(key, b"execkit audit key id", "sha256").hexdigest()[:16]


def seal(
    *, seq: int, time: str, kind: str, data: Mapping[str, object], prev: str, key: bytes | None
) -> tuple[bytes, str]:
    """The line of an entry, with its line feed, and its hash; ValueError or TypeError if it is not JSON."""
    body = _dumps({"data": data, "kind": kind, "prev": prev, "seq": seq, "time": time})
    digest = _digest(body, key)
    return body[:-1] + _HASH_FIELD + digest.encode() + b'"}\n', digest


def parse_line(line: bytes, key: bytes | None) -> Entry:
    """The entry on ``line``; Broken unless every byte is what ``seal`` wrote."""
    tail = line[-_TAIL_BYTES:]
    digest = tail[len(_HASH_FIELD) : -3]
    if not (tail.startswith(_HASH_FIELD) and line.endswith(b'"}\n')):
        raise Broken("this is not an audit entry")
    body = line[:-_TAIL_BYTES] + b"}"
    if not hmac.compare_digest(_digest(body, key).encode(), digest):
        raise Broken("the entry was edited: its hash does not fit its content")
    try:
        fields = json.loads(body)
        if set(fields) != _FIELDS or not isinstance(fields["data"], dict) or type(fields["seq"]) is not int:
            raise Broken("the entry's fields are not those of an audit entry")
    except (ValueError, TypeError) as error:
        raise Broken("the entry is not JSON") from error
    return Entry(hash=digest.decode(), **fields)


def verify(segments: Iterable[Segment], head: bytes | None, *, key: bytes | None = None) -> Report:
    """Read every line of every segment, in order, against the chain and the head; never raises."""
    walk = _Walk(key=key)
    try:
        walk.start(head)
        for segment in segments:
            walk.segment(segment)
        walk.finish()
    except Broken as broken:
        problem = Problem(file=walk.file, line=walk.line, message=str(broken))
        return Report(entries=walk.seq, log=walk.log, last_hash=walk.hash, problem=problem)
    return Report(entries=walk.seq, log=walk.log, last_hash=walk.hash, notes=tuple(walk.notes))


class _Walk(Struct):
    """Where a verification stands: the last good entry, and what must still turn up."""

    key: bytes | None
    file: str = "audit.head"
    line: int = 0
    log: str = ""
    seq: int = 0
    hash: str = ""
    number: int = 0
    torn: bytes = b""
    head: Head | None = None
    is_head_seen: bool = False
    notes: list[str] = field(default_factory=list)

    def start(self, head: bytes | None) -> None:
        if head is None:
            raise Broken("the head file is missing: without it a cut end could not be seen")
        self.head = Head.from_bytes(head, self.key)
        self.log = self.head.log
        self.hash = genesis(self.log)
        self.is_head_seen = self.head.seq == 0 and self.head.hash == self.hash

    def segment(self, segment: Segment) -> None:
        self.file, self.line = segment.name, 0
        if segment.number != self.number + 1:
            raise Broken(f"a segment is missing: this is number {segment.number}, {self.number + 1} was due")
        self.number = segment.number
        torn_before, self.torn = self.torn, b""
        end = 0
        for line in segment.lines:
            self.line += 1
            if self.torn:
                raise Broken("an entry stands behind a torn line")
            if not line.endswith(b"\n"):
                self.torn = line
                continue
            end += len(line)
            self.entry(parse_line(line, self.key), end, torn_before)
        if self.line == 0 or (self.line == 1 and self.torn):
            # A crash while this segment was being opened: nothing stands in it, and the next one must say so.
            self.torn = torn_before + self.torn

    def entry(self, entry: Entry, end: int, torn_before: bytes) -> None:
        if entry.seq != self.seq + 1 or entry.prev != self.hash:
            raise Broken(f"entry {entry.seq} does not follow entry {self.seq}: one was cut, inserted or swapped")
        if self.line == 1:
            self.opening(entry, torn_before)
        self.seq, self.hash = entry.seq, entry.hash
        head = self.head
        if head is not None and head.seq == entry.seq:
            if (head.hash, head.segment, head.end) != (entry.hash, self.number, end):
                raise Broken(f"entry {entry.seq} is not the one that the head file names")
            self.is_head_seen = True

    def opening(self, entry: Entry, torn_before: bytes) -> None:
        data = entry.data
        declared = (data.get("torn_bytes"), data.get("torn_sha256"))
        if entry.kind != OPENED or (data.get("log"), data.get("segment")) != (self.log, self.number):
            raise Broken("the segment does not open with the name of its log and its number")
        if data.get("key") != key_id(self.key):
            raise Broken("the segment was written with another key")
        if declared != (len(torn_before), hashlib.sha256(torn_before).hexdigest()):
            raise Broken("the end of the segment before this one was changed after it was closed")
        if torn_before:
            self.notes.append(f"{self.file} follows a crash: {len(torn_before)} bytes before it were never finished.")

    def finish(self) -> None:
        head = self.head
        if not self.is_head_seen:
            due = "?" if head is None else head.seq
            raise Broken(f"the end was cut: the head file names entry {due}, the last one is {self.seq}")
        if head is not None and self.seq > head.seq:
            self.notes.append(
                f"{self.seq - head.seq} entries stand behind the head: after a crash, or somebody added them."
            )
        if self.torn:
            self.notes.append(f"{self.file} ends with a torn line of {len(self.torn)} bytes, which a crash cut.")


def _dumps(value: Mapping[str, object]) -> bytes:
    return _ENCODER.encode(value).encode("ascii")


def _digest(body: bytes, key: bytes | None) -> str:
    if key is None:
        return hashlib.sha256(body).hexdigest()
    return hmac.new(key, body, "sha256").hexdigest()
