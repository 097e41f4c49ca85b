"""Where the bytes of a retained text lie: this module is the port, and its simplest form, memory."""

from typing import Protocol

__all__ = ["ByteStore", "MemoryStore"]


class ByteStore(Protocol):
    """Bytes by position; every method may raise StorageUnavailable."""

    def write(self, at: int, data: bytes) -> None:
        """Put ``data`` at position ``at``; nobody reads what lies between it and an earlier end."""

    def read(self, at: int, size: int) -> bytes:
        """``size`` bytes from position ``at``, all of them written before."""

    def verify(self) -> None:
        """See that what was written can be read; raise if it is gone."""

    def rest(self) -> None:
        """Give back what is only needed while more is written; writing may go on all the same."""

    def discard(self) -> None:
        """Remove everything."""

    @property
    def is_spilled(self) -> bool:
        """Whether the bytes lie outside this process."""


class MemoryStore:
    """A ByteStore in memory."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, at: int, data: bytes) -> None:
        """See ByteStore."""
        if at > len(self._data):
            self._data.extend(bytes(at - len(self._data)))
        self._data[at : at + len(data)] = data

    def read(self, at: int, size: int) -> bytes:
        """See ByteStore."""
        return bytes(self._data[at : at + size])

    def verify(self) -> None:
        """See ByteStore."""

    def rest(self) -> None:
        """See ByteStore."""

    def discard(self) -> None:
        """See ByteStore."""
        self._data = bytearray()

    @property
    def is_spilled(self) -> bool:
        """See ByteStore."""
        return False
