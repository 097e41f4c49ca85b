"""Which host a client names once its tunnel stands; this module reads the first bytes of TLS and HTTP, and no more.

A tunnel to an allowed host can carry another host's name: in TLS as SNI, in plain HTTP as Host. A server that
answers for many hosts then serves the other one. So the first bytes are read before they are passed on.
"""

import re
from enum import Enum

from execkit_mcp.model.regex import lazy_regex

__all__ = ["MAX_OPENING", "Opening", "opening_host"]

MAX_OPENING = 1 << 16
_HANDSHAKE, _CLIENT_HELLO, _SNI = 22, 1, 0
_RECORD_HEADER, _MESSAGE_HEADER, _RANDOM = 5, 4, 34
_METHOD = lazy_regex(rb"[A-Za-z]{3,16} ")
_METHOD_BEGUN = lazy_regex(rb"[A-Za-z]{0,16}")
_REQUEST_LINE = lazy_regex(rb"[^\r\n]* HTTP/\d\.\d[ \t]*\r?")
_HOST_LINE = lazy_regex(rb"host[ \t]*:[ \t]*(.*?)[ \t]*", re.IGNORECASE)


class Opening(Enum):
    """What the first bytes say, where that is no name."""

    UNFINISHED = "more bytes are needed"
    UNNAMED = "they name no host"
    BROKEN = "they begin as TLS or HTTP and go on as neither"


def opening_host(data: bytes) -> str | Opening:
    """The host that the first bytes of a tunnel name."""
    if not data:
        return Opening.UNFINISHED
    if data[0] == _HANDSHAKE:
        return _of_tls(data)
    if _METHOD.match(data):
        return _of_http(data)
    return Opening.UNFINISHED if _METHOD_BEGUN.fullmatch(data) else Opening.UNNAMED


def _of_http(data: bytes) -> str | Opening:
    line, end, _ = data.partition(b"\n")
    if not end:
        return Opening.UNFINISHED if len(data) < MAX_OPENING else Opening.BROKEN
    if not _REQUEST_LINE.fullmatch(line):
        return Opening.UNNAMED  # another protocol whose first word looks like a method, such as SMTP
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end:
        head, end, _ = data.partition(b"\n\n")
    if not end:
        return Opening.UNFINISHED if len(data) < MAX_OPENING else Opening.BROKEN
    lines = re.split(rb"\r?\n", head)[1:]
    hosts = [found[1] for line in lines if (found := _HOST_LINE.fullmatch(line))]
    if not hosts:
        return Opening.UNNAMED
    if len(hosts) > 1 or any(line[:1] in b" \t" for line in lines if line):
        return Opening.BROKEN
    return re.sub(r":\d*$", "", hosts[0].decode("ascii", "replace"))


def _of_tls(data: bytes) -> str | Opening:
    message = b""
    at = 0
    while len(message) < _MESSAGE_HEADER or len(message) < _MESSAGE_HEADER + int.from_bytes(message[1:4]):
        header = data[at : at + _RECORD_HEADER]
        size = int.from_bytes(header[3:5])
        if len(header) < _RECORD_HEADER or len(data) < at + _RECORD_HEADER + size:
            return Opening.UNFINISHED if len(data) < MAX_OPENING else Opening.BROKEN
        if header[0] != _HANDSHAKE or header[1] != 3 or size == 0:  # noqa: PLR2004 - every version of TLS begins with 3
            return Opening.BROKEN
        message += data[at + _RECORD_HEADER : at + _RECORD_HEADER + size]
        at += _RECORD_HEADER + size
    if message[0] != _CLIENT_HELLO:
        return Opening.BROKEN
    return _name_in(message[_MESSAGE_HEADER : _MESSAGE_HEADER + int.from_bytes(message[1:4])])


def _name_in(hello: bytes) -> str | Opening:
    try:
        reader = _Reader(hello)
        reader.skip(_RANDOM)
        reader.skip(reader.number(1))
        reader.skip(reader.number(2))
        reader.skip(reader.number(1))
        if reader.is_at_end:
            return Opening.UNNAMED
        extensions = _Reader(reader.take(reader.number(2)))
        names = []
        while not extensions.is_at_end:
            kind = extensions.number(2)
            body = extensions.take(extensions.number(2))
            if kind == _SNI:
                entries = _Reader(body)
                entries = _Reader(entries.take(entries.number(2)))
                while not entries.is_at_end:
                    entry_kind = entries.number(1)
                    name = entries.take(entries.number(2))
                    if entry_kind == 0:
                        names.append(name)
    except ValueError:
        return Opening.BROKEN
    if not names:
        return Opening.UNNAMED
    return names[0].decode("ascii", "replace") if len(names) == 1 else Opening.BROKEN


class _Reader:
    """Bytes from the front; ValueError past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) != size:
            raise ValueError("the message ends early")
        self._at += size
        return taken

    def skip(self, size: int) -> None:
        self.take(size)

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))
