"""Records on the status descriptor: bytes in, whole records out; this module is that parser.

    RS nonce kind NUL field NUL … field NUL GS nonce LF

A record counts only with a nonce that was announced, so nothing that a command writes can be one by
accident, and whatever stands between records is dropped. Fields hold no NUL, because nothing in a shell
can.
"""

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

__all__ = ["NONCE_BYTES", "Record", "RecordParser"]

NONCE_BYTES = 8
_MAX_BUFFER = 16 << 20
_HEAD = lazy_regex(rb"\x1e([0-9a-f]{%d})([A-Z])\0" % (2 * NONCE_BYTES))


class Record(Struct, frozen=True, kw_only=True):
    """One record: whose it is, what it is, what it says."""

    nonce: str
    kind: str
    fields: tuple[bytes, ...]


class RecordParser:
    """Feeds on chunks, however they are cut."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def push(self, data: bytes, nonces: frozenset[str] | set[str]) -> list[Record]:
        """The records that ``data`` completes, those with a known nonce only."""
        buffer = self._buffer
        buffer += data
        records: list[Record] = []
        at = 0
        while True:
            head = _HEAD.search(buffer, at)
            if head is None:
                tail = buffer.rfind(b"\x1e", max(at, len(buffer) - 2 * NONCE_BYTES - 3))
                at = len(buffer) if tail < 0 else tail
                break
            nonce = head[1].decode()
            if nonce not in nonces:
                at = head.end()
                continue
            end = buffer.find(b"\0\x1d" + head[1] + b"\n", head.end() - 1)
            if end < 0:
                at = head.start()
                break
            body = bytes(buffer[head.end() : max(end, head.end())])
            records.append(Record(nonce=nonce, kind=head[2].decode(), fields=tuple(body.split(b"\0"))))
            at = end + 2 * NONCE_BYTES + 3
        del buffer[:at]
        if len(buffer) > _MAX_BUFFER:
            buffer.clear()
        return records
