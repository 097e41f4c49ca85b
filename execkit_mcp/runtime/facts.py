"""What runs for a caller, as rows of ``shell_info``: commands, background jobs, durable jobs."""

from typing import Final

from execkit_mcp.runtime.durable import DurableJobs
from execkit_mcp.runtime.ledger import Ledger
from execkit_mcp.runtime.sessions import Sessions

_SHOWN_CHARS: Final = 200
_SHOWN_DURABLE: Final = 50


def exec_rows(ledger: Ledger, sessions: Sessions, durable: DurableJobs, requester: str) -> list[dict[str, object]]:
    """Running execs of ``requester``, texts redacted, then its durable jobs, the ended ones too."""
    rows: list[dict[str, object]] = []
    for each in ledger.running(requester):
        session = sessions.find(each.session, requester)
        text = each.canonical if session is None else session.redact(each.canonical)
        row: dict[str, object] = {"exec_id": each.exec_id, "session": each.session, "command": text[:_SHOWN_CHARS]}
        if each.pid is not None:
            row.update(pid=each.pid, background=True)
        rows.append(row)
    return rows + [each.fact() for each in durable.of(requester)[:_SHOWN_DURABLE]]
