"""How results read as text: what a person would see, then one line of status.

Some clients show their model only this text, so it says everything that the structured result says.
"""

import json

from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import ExecResult, JobNote, Status

_HEAD_CHARS = 12  # what `audit verify --head` needs at least


def _entry(result: ExecResult) -> list[str]:
    """The audit entry, as ``audit verify --head`` takes it."""
    mark = result.audit
    return [] if mark is None else [f"audit {mark.seq}:{mark.head[:_HEAD_CHARS]}"]


def _counts(result: ExecResult) -> list[str]:
    return [
        f"{name}: {count.omitted_bytes} of {count.total_bytes} bytes, {count.omitted_lines} of {count.total_lines}"
        f" lines left out; shell_read(exec_id={result.exec_id!r}, stream={name!r}) reads them by offset, tail or grep"
        for name, count in result.truncated.items()
    ]


def _ending(result: ExecResult) -> str:
    if result.status is Status.RUNNING:
        return f"still running, poll with shell_read(exec_id={result.exec_id!r}, wait_s=30)"
    how = f"exit {result.exit_code}" if result.exit_code is not None else "exit code unknown"
    if result.signal:
        how += f" ({result.signal})"
    if result.status is not Status.COMPLETED:
        how = f"{result.status.value}, {how}"
    return how


def _job(job: JobNote) -> str:
    how = job.status.value if job.exit_code is None else f"{job.status.value}, exit {job.exit_code}"
    return f"background job exec {job.exec_id} · pid {job.pid} · {how} · {job.command}"


def text_of_result(result: ExecResult) -> str:
    """An ExecResult as text."""
    if result.status in {Status.DENIED, Status.APPROVAL_PENDING} and result.decision is not None:
        decision = result.decision
        by = f"rule {decision.rule}" if decision.rule else decision.reason_code.value
        lines = [f"{result.status.value} ({by}): {decision.message}"]
        if decision.hint:
            lines.append(decision.hint)
        if result.approval_id:
            lines.append(f"approval_id: {result.approval_id}")
        lines.extend(result.warnings)
        lines.extend(f"[{entry}]" for entry in _entry(result))
        return "\n".join(lines)
    blocks = [result.stdout.rstrip("\n")] if result.stdout else []
    if result.stderr:
        blocks.append("[stderr]\n" + result.stderr.rstrip("\n"))
    facts = [_ending(result), f"{result.duration_ms:.0f} ms", f"cwd {result.cwd}", f"session {result.session}"]
    if result.exec_id and result.status is not Status.RUNNING:
        facts.append(f"exec {result.exec_id}")
    if result.pipe_status:
        facts.append("pipe status " + " ".join(map(str, result.pipe_status)))
    if result.redactions:
        facts.append("redacted " + ", ".join(f"{count} {kind}" for kind, count in result.redactions.items()))
    if result.fence is not None:
        gate = " + exec gate" if result.fence.exec_gate else ""
        facts.append(f"fence {result.fence.level}{gate}, network {result.fence.network}")
    facts.extend(_entry(result))
    blocks.append("[" + " · ".join(facts) + "]")
    if result.env_delta is not None:
        blocks.append("[environment: " + json.dumps(result.env_delta, ensure_ascii=False) + "]")
    blocks.extend(f"[{line}]" for line in (*_counts(result), *map(_job, result.jobs), *result.warnings))
    return "\n".join(blocks)


def text_of_error(error: ExecKitError) -> str:
    """``code: message. hint``."""
    message = error.message if error.message.endswith((".", "!", "?")) else error.message + "."
    return f"{error.code}: {message}" + (f" {error.hint}" if error.hint else "")


def text_of_read(body: dict[str, object]) -> str:
    """A reading as text."""
    code = body.get("exit_code")
    facts = [
        f"{body['stream']}: bytes {body['offset']} to {body['next_offset']} of {body['total_bytes']}",
        f"{body['total_lines']} lines",
        str(body["status"]) + (f", exit {code}" if code is not None else ""),
        "end" if body["eof"] else f"more: offset={body['next_offset']}",
    ]
    if "matches" in body:
        facts.insert(0, f"{body['matches']} matching lines")
    text = str(body["text"]).rstrip("\n")
    status = "[" + " · ".join(facts) + "]"
    warnings = body.get("warnings")
    extra = [f"[{line}]" for line in warnings] if isinstance(warnings, list) else []
    return "\n".join([*([text] if text else []), status, *extra])


def text_of_facts(body: object, indent: str = "") -> str:
    """Nested facts as indented ``name: value`` lines."""
    if isinstance(body, dict):
        rows = []
        for name, value in body.items():
            if isinstance(value, dict | list) and value:
                rows.append(f"{indent}{name}:\n{text_of_facts(value, indent + '  ')}")
            else:
                rows.append(f"{indent}{name}: {_scalar(value)}")
        return "\n".join(rows)
    if isinstance(body, list):
        if all(not isinstance(item, dict | list) for item in body):
            return indent + ", ".join(_scalar(item) for item in body)
        return "\n".join(indent + "- " + text_of_facts(item, indent + "  ").lstrip() for item in body)
    return indent + _scalar(body)


def _scalar(value: object) -> str:
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
