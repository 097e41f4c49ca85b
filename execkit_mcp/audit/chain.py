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

A seal (see ``seals``) is a signed statement of how far a segment reaches. A segment whose opening names a signer has
one as soon as the next segment stands. Segments may be removed from the front, if an entry of the log
(``log.retired``) says how far, with the hash there.

What this proves: any edit, cut, insertion, swap or replacement by someone who does not rewrite everything
after it *and* the head. Who can write the folder and knows no key can do exactly that: rewrite the whole, or
put back an older copy of both. With a key file that he cannot read he can only put back an older copy;
against that, keep the printed head (``audit verify`` shows it) or a result's ``audit`` somewhere else. Where he has
no signing key either, all that was sealed stands.

It is longer than most: how a line is made and what a reader must find are two sides of one format.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Self

import msgspec
from msgspec import Struct, field

__all__ = [
    "HEAD_BYTES",
    "OPENED",
    "RECORDED",
    "RESTORED",
    "RETIRED",
    "Broken",
    "Entry",
    "Head",
    "Noted",
    "Problem",
    "Report",
    "Seal",
    "Segment",
    "behind_note",
    "genesis",
    "is_zeroed",
    "key_id",
    "parse_line",
    "seal",
    "verify",
]

OPENED = "log.opened"
RETIRED = "log.retired"
RESTORED = "log.restored"
RECORDED, UNRECORDED = "recording.finished", "recording.removed"
HEAD_BYTES = 512
_ENCODER = msgspec.json.Encoder(order="sorted")
_ASCII_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
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


class Seal(Struct, frozen=True, kw_only=True):
    """How far a segment reached when it was sealed; the signature has been checked.

    Attributes:
        log: the log's id.
        segment: its number.
        seq: its last entry then.
        hash: that entry's hash.
        end: the byte just behind it.
        is_final: whether nothing follows in this segment.
        key: the public key's short name.
    """

    log: str
    segment: int
    seq: int
    hash: str
    end: int
    is_final: bool
    key: str


class Noted(Struct, frozen=True, kw_only=True):
    """An entry that was noted elsewhere: its number, if it is known, and its hash or the beginning of it."""

    seq: int | None
    hash: str

    def __str__(self) -> str:
        return self.hash if self.seq is None else f"{self.seq}:{self.hash}"


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
        behind: how many entries stand behind the one that the head names.
        sealed: the last entry that a seal speaks for, 0 for none.
        recordings: finished recordings by file name: bytes, SHA-256, and the entry that says so.
    """

    entries: int
    log: str
    last_hash: str
    problem: Problem | None = None
    notes: tuple[str, ...] = ()
    behind: int = 0
    sealed: int = 0
    recordings: Mapping[str, tuple[object, object, int]] = field(default_factory=dict)

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
            "sealed": self.sealed,
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


def is_zeroed(rest: bytes) -> bool:
    """Whether the end of a segment looks like what a power cut leaves: pages that were never written read as zeros.

    It counts as torn where no entry that was acknowledged can stand; who zeroes one of those is found by the head.
    """
    return b"\0" in rest


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


def verify(
    segments: Iterable[Segment],
    head: bytes | None,
    *,
    key: bytes | None = None,
    seals: Mapping[int, Seal | str] | None = None,
    noted: Iterable[Noted] = (),
    signer: str = "",
) -> Report:
    """Read every line of every segment, in order, against the chain, the head and the seals; never raises.

    Args:
        segments: what there is.
        head: the head file.
        key: the key of the hashes, if they have one.
        seals: by segment, the seal, or what is wrong with it; None: seals are not looked at.
        noted: entries that must stand there.
        signer: the key that each segment must name, if it names one; empty: whichever.
    """
    walk = _Walk(key=key, seals=seals, noted=list(noted), due_signer=signer)
    try:
        walk.start(head)
        for segment in segments:
            walk.segment(segment)
        walk.finish()
    except Broken as broken:
        problem = Problem(file=walk.file, line=walk.line, message=str(broken))
        return Report(entries=walk.seq, log=walk.log, last_hash=walk.hash, problem=problem, sealed=walk.sealed)
    behind = walk.seq - (walk.head.seq if walk.head is not None else 0)
    if behind:
        walk.notes.append(behind_note(behind))
    return Report(
        entries=walk.seq,
        log=walk.log,
        last_hash=walk.hash,
        notes=tuple(walk.notes),
        behind=behind,
        sealed=walk.sealed,
        recordings=walk.recordings,
    )


def behind_note(count: int) -> str:
    """What is said of entries that the head does not name yet."""
    return f"{count} entries stand behind the head: after a crash, or somebody added them."


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
    seals: Mapping[int, Seal | str] | None = None
    noted: list[Noted] = field(default_factory=list)
    signer: str = ""
    due_signer: str = ""
    opened: tuple[int, str] | None = None
    sealed: int = 0
    ends: dict[int, tuple[int, str]] = field(default_factory=dict)
    missing: int = 0  # segments that are gone from the front
    is_missing_told: bool = False
    recordings: dict[str, tuple[object, object, int]] = field(default_factory=dict)

    def start(self, head: bytes | None) -> None:
        if head is None:
            raise Broken("the head file is missing: without it a cut end could not be seen")
        self.head = Head.from_bytes(head, self.key)
        self.log = self.head.log
        self.hash = genesis(self.log)
        self.is_head_seen = self.head.seq == 0 and self.head.hash == self.hash

    def segment(self, segment: Segment) -> None:
        self.file, self.line = segment.name, 0
        if self.number == 0:
            self.missing = self.number = segment.number - 1
        if segment.number != self.number + 1:
            raise Broken(f"a segment is missing: this is number {segment.number}, {self.number + 1} was due")
        self.number = segment.number
        torn_before, self.torn = self.torn, b""
        end = 0
        lines = iter(segment.lines)
        for line in lines:
            self.line += 1
            if not line.endswith(b"\n"):
                self.torn = line
                break
            try:
                entry = parse_line(line, self.key)
            except Broken:
                self.torn = line + b"".join(lines)
                if is_zeroed(self.torn):
                    break
                raise
            end += len(line)
            self.entry(entry, end, torn_before)
        if self.line == 0 or (self.line == 1 and self.torn):
            # A crash while this segment was being opened: nothing stands in it, and the next one must say so.
            self.torn = torn_before + self.torn

    def entry(self, entry: Entry, end: int, torn_before: bytes) -> None:
        if self.missing and not self.ends:  # what came before was retired, as an entry further on must say
            self.seq, self.hash = entry.seq - 1, entry.prev
            self.ends[self.missing] = (self.seq, self.hash)
        if entry.seq != self.seq + 1 or entry.prev != self.hash:
            raise Broken(f"entry {entry.seq} does not follow entry {self.seq}: one was cut, inserted or swapped")
        if self.line == 1:
            self.leave(is_last=False)
            self.opening(entry, torn_before)
            self.opened = (self.number, self.file)
        self.seq, self.hash = entry.seq, entry.hash
        head = self.head
        if head is not None and head.seq == entry.seq:
            if (head.hash, head.segment, head.end) != (entry.hash, self.number, end):
                raise Broken(f"entry {entry.seq} is not the one that the head file names")
            self.is_head_seen = True
        seal = self.seal(self.number)
        if seal is not None and seal.seq == entry.seq:
            if (seal.log, seal.hash, seal.end) != (self.log, entry.hash, end):
                raise Broken(f"entry {entry.seq} is not the one that the segment's seal names")
            self.sealed = entry.seq
        self.told(entry)

    def told(self, entry: Entry) -> None:
        """What an entry says about the record itself, and what was noted of it elsewhere."""
        for noted in [each for each in self.noted if each.seq in (None, entry.seq)]:
            if entry.hash.startswith(noted.hash):
                self.noted.remove(noted)
            elif noted.seq is not None:
                raise Broken(f"entry {entry.seq} is not the one that was noted: its hash is {entry.hash}")
        data = entry.data
        if entry.kind == RETIRED:
            last, end = data.get("segment"), (data.get("seq"), data.get("hash"))
            if not isinstance(last, int) or (last >= self.missing and self.ends.get(last, (0, "")) != end):
                raise Broken("what this entry says of removed segments does not fit the others")
            self.is_missing_told = self.is_missing_told or last >= self.missing  # an earlier one says less
        elif entry.kind == RESTORED:
            self.notes.append(
                f"{self.file}: {data.get('entries')} entries before number {entry.seq} were missing when a writer"
                " opened the log (a power cut, or somebody cut them) and were put back from the journal."
            )
        elif entry.kind == RECORDED:
            self.recordings[str(data.get("file"))] = (data.get("bytes"), data.get("sha256"), entry.seq)
        elif entry.kind == UNRECORDED:
            name = str(data.get("recording"))
            for file in [file for file in self.recordings if file.split(".")[0] == name]:
                del self.recordings[file]

    def seal(self, number: int) -> Seal | None:
        """The seal of a segment."""
        seal = None if self.seals is None else self.seals.get(number)
        if isinstance(seal, str):
            self.line = 0
            raise Broken(seal)
        return seal

    def leave(self, *, is_last: bool) -> None:
        """The segment that was opened last ends here: does it reach as far as its seal says?"""
        if not self.opened:
            return
        number, file = self.opened
        self.ends[number] = (self.seq, self.hash)
        here, self.file = self.file, file
        seal = self.seal(number)
        if seal is None:
            if self.signer and self.seals is not None and not is_last:
                self.line = 0
                raise Broken("the segment is complete and has no seal: its seal was removed")
            self.file = here
            return
        if seal.seq > self.seq or self.sealed < seal.seq:
            raise Broken(f"the end was cut: the seal names entry {seal.seq}, the last one here is {self.seq}")
        if seal.key != self.signer and self.signer:
            raise Broken("the segment was sealed with another key than it names")
        if seal.is_final and seal.seq != self.seq:
            raise Broken(f"entries stand behind number {seal.seq}, the last one that the seal names")
        if not seal.is_final and not is_last:
            raise Broken("the segment is complete and its seal is an old one")
        self.file = here

    def opening(self, entry: Entry, torn_before: bytes) -> None:
        data = entry.data
        declared = (data.get("torn_bytes"), data.get("torn_sha256"))
        if entry.kind != OPENED or (data.get("log"), data.get("segment")) != (self.log, self.number):
            raise Broken("the segment does not open with the name of its log and its number")
        if data.get("key") != key_id(self.key):
            raise Broken("the segment was written with another key")
        is_before_retired = self.number == self.missing + 1 and self.missing > 0
        if declared != (len(torn_before), hashlib.sha256(torn_before).hexdigest()) and not is_before_retired:
            raise Broken("the end of the segment before this one was changed after it was closed")
        self.signer = str(data.get("signer") or "")
        if self.due_signer and self.signer not in ("", self.due_signer):
            raise Broken(f"the segment is to be sealed with another key ({self.signer}, not {self.due_signer})")
        if torn_before:
            self.notes.append(f"{self.file} follows a crash: {len(torn_before)} bytes before it were never finished.")

    def finish(self) -> None:
        head = self.head
        self.leave(is_last=True)
        if self.missing and not self.is_missing_told:
            raise Broken(f"segments 1 to {self.missing} are missing, and no entry says that they were retired")
        for noted in self.noted:
            if noted.seq is not None and self.ends and noted.seq <= min(self.ends.values())[0] and self.missing:
                self.notes.append(f"Entry {noted.seq} was retired: whether it stood there cannot be told any more.")
            else:
                raise Broken(f"the end was cut: entry {noted} was noted elsewhere, the last one is {self.seq}")
        if not self.is_head_seen:
            due = "?" if head is None else head.seq
            raise Broken(f"the end was cut: the head file names entry {due}, the last one is {self.seq}")
        if self.torn:
            self.notes.append(f"{self.file} ends with a torn line of {len(self.torn)} bytes, which a crash cut.")


def _dumps(value: Mapping[str, object]) -> bytes:
    """One line of ASCII: what is not, a person who looks at the file could misread.

    Bytes become base64, and a number that JSON has not becomes null, as msgspec has it.
    """
    try:
        line = _ENCODER.encode(value)
    except UnicodeEncodeError:  # a name that is not UTF-8
        line = b"\xff"
    return line if line.isascii() else _ASCII_ENCODER.encode(value).encode("ascii")


def _digest(body: bytes, key: bytes | None) -> str:
    if key is None:
        return hashlib.sha256(body).hexdigest()
    return hmac.digest(key, body, "sha256").hex()
