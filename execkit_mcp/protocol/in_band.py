"""Records between a command's own bytes on one stream, taken apart; this module is that splitter.

A record counts only with a nonce that was announced (``framing``). What could still become the head of one is held
back, at most some twenty bytes; everything else is output and passes at once. A record of a nonce that has been used
up is dropped, so that what a shell says twice never shows.
"""

from collections import deque

from execkit_mcp.protocol.framing import NONCE_BYTES

__all__ = ["InBand"]

_RS = b"\x1e"
_HEX = 2 * NONCE_BYTES
_HEAD = 1 + _HEX + 1
_REMEMBERED = 16
_MAX_RECORD = 16 << 20


class InBand:
    """Feeds on chunks of one stream, however they are cut."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._record = bytearray()
        self._end = b""
        self._old: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._current: tuple[bytes, ...] = ()

    def announce(self, nonces: set[str]) -> None:
        """Records carry one of these from now on; those that carried another before are dropped."""
        current = tuple(sorted(nonce.encode() for nonce in nonces if nonce))
        if current != self._current:
            self._old.extend(nonce for nonce in self._current if nonce not in current)
            self._current = current

    def push(self, data: bytes) -> tuple[bytes, list[bytes]]:
        """The output in ``data`` and the records that it completes, whole, as ``RecordParser`` takes them."""
        if not self._held and not self._end and _RS not in data:
            return data, []
        pending = bytes(self._held) + data
        self._held.clear()
        output = bytearray()
        records: list[bytes] = []
        while pending:
            if self._end:
                pending = self._take_record(pending, records)
                continue
            at = pending.find(_RS)
            if at < 0:
                output += pending
                break
            output += pending[:at]
            head = pending[at : at + _HEAD]
            if len(head) < _HEAD and self._may_become(head[1:]):
                self._held += head
                break
            if not self._is_known(head[1 : 1 + _HEX]):
                output += _RS
                pending = pending[at + 1 :]
                continue
            self._end = b"\0\x1d" + head[1 : 1 + _HEX] + b"\n"
            self._record += head
            pending = pending[at + _HEAD :]
        return bytes(output), records

    def flush(self) -> bytes:
        """What was held back and is output after all."""
        held, self._held = bytes(self._held), bytearray()
        return held

    def _take_record(self, pending: bytes, records: list[bytes]) -> bytes:
        """Move bytes into the open record; what follows its end comes back."""
        start = max(len(self._record) - len(self._end) + 1, 0)
        self._record += pending
        at = self._record.find(self._end, start)
        if at < 0:
            if len(self._record) > _MAX_RECORD:
                self._record.clear()
                self._end = b""
            return b""
        stop = at + len(self._end)
        rest = bytes(self._record[stop:])
        if bytes(self._record[1 : 1 + _HEX]) in self._current:
            records.append(bytes(self._record[:stop]))
        self._record.clear()
        self._end = b""
        return rest

    def _is_known(self, nonce: bytes) -> bool:
        return nonce in self._current or nonce in self._old

    def _may_become(self, begun: bytes) -> bool:
        begun = begun[:_HEX]
        return any(nonce.startswith(begun) for nonce in (*self._current, *self._old))
