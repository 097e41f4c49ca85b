"""What the record says was run, refused and approved: the questions for ``policy replay`` and ``policy suggest``."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from execkit_mcp.audit.chain import Broken, Entry, parse_line
from execkit_mcp.audit.excerpt import read_excerpt
from execkit_mcp.audit.folder import read_segments, verify_folder
from execkit_mcp.errors import AuditChainBroken, CommandInvalid
from execkit_mcp.model import Verdict
from execkit_mcp.policy.compare import Question

_REDACTED = "[REDACTED:"


class Recorded(Struct, frozen=True, kw_only=True):
    """What a record holds for us.

    Attributes:
        questions: what was decided, oldest first.
        approved: what a person approved, oldest first.
        unknown: how many commands cannot be judged again, because a secret in them was redacted.
    """

    questions: tuple[Question, ...]
    approved: tuple[Question, ...]
    unknown: int


def read_record(path: Path, key: bytes | None) -> list[Entry]:
    """The entries of an audit folder, of one of its files, or of what ``audit show --json`` printed.

    Raises:
        AuditChainBroken: it is not whole, or it is no record.
        CommandInvalid: it cannot be read.
    """
    try:
        if not path.is_dir():
            with path.open("rb") as file:
                return read_excerpt(file, key)
        report = verify_folder(path, key=key)
        if report.problem is None:
            segments, _ = read_segments(path)
            lines = (line for segment in segments for line in segment.lines if line.endswith(b"\n"))
            return [parse_line(line, key) for line in lines]
        cause = str(report.problem)
    except OSError as error:
        raise CommandInvalid(
            f"The record {path} cannot be read: {error.strerror}.", hint="Name an audit folder or one of its files."
        ) from error
    except Broken as broken:
        cause = str(broken)
    raise AuditChainBroken(
        f"The record {path} is not as it was written: {cause}.",
        hint="Nothing is concluded from it. If the log has a key, give it with --audit-key.",
    )


def recorded(entries: Iterable[Entry]) -> Recorded:
    """What was decided and approved, as questions; each different one once."""
    questions: dict[Question, None] = {}
    requests: dict[str, Question] = {}
    approved: dict[Question, None] = {}
    fed: set[str] = set()
    unknown = 0
    for entry in entries:
        data = entry.data
        approval = str(data.get("approval_id") or "")
        if entry.kind == "approval.decided" and data.get("state") == "approved" and approval in requests:
            approved.setdefault(requests[approval])
        if entry.kind == "exec.started" and approval and (data.get("stdin_bytes") or data.get("tty")):
            fed.add(approval)
        if entry.kind not in ("exec.started", "decision", "approval.requested"):
            continue
        question = _question(data, was_run=entry.kind == "exec.started")
        if question is None:
            unknown += entry.kind != "approval.requested"
        elif entry.kind == "approval.requested":
            requests[approval] = question
        else:
            questions.setdefault(question)
    without_input = {requests[each] for each in fed if each in requests}
    return Recorded(
        questions=tuple(questions),
        approved=tuple(each for each in approved if each not in without_input),
        unknown=unknown,
    )


def _question(data: Mapping[str, object], *, was_run: bool) -> Question | None:
    """The question of one entry; None where its text is not all there."""
    text = data.get("canonical")
    if text is None:
        text = data.get("text")
    cwd = data.get("cwd")
    verdict = data.get("verdict")
    if not isinstance(text, str) or not isinstance(cwd, str) or _REDACTED in text or _REDACTED in cwd:
        return None
    known = {each.word: each for each in Verdict}
    if verdict not in known:
        return None
    return Question(command=text, cwd=cwd if cwd.startswith("/") else "", before=known[str(verdict)], was_run=was_run)


def ran(questions: Iterable[Question]) -> Iterator[Question]:
    """Those that ran."""
    return (question for question in questions if question.was_run)
