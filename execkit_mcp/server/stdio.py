"""MCP over standard input and output: the SDK's server between the client's lines and ours.

A line that is no message is answered with an error, with the id that it names if there is one: its sender may be
waiting. An opening request that was greeted already is handed to the SDK like any other; its answer is dropped.
"""

import asyncio
import json
import sys
from typing import Any, Final, Self

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from msgspec import Struct

from execkit_mcp.server.greeting import Greeting
from execkit_mcp.server.lines import MAX_LINE_BYTES, Answers, Lines

_BURST: Final = 16


class Refusal(Struct, frozen=True, kw_only=True):
    """What becomes of a line that is no message: an error for its sender, or in place of the answer that it was."""

    error: types.JSONRPCError
    is_for_us: bool = False


def refuse(line: bytes | None) -> Refusal:
    """The error that a bad line stands for; None is a line that was too long to read.

    A request is answered under its own id. A bad answer to a request of ours counts as an error answer to it, so that
    nobody waits for a better one. An id is never taken from anything else: it could be that of another request.
    """
    if line is None:
        return _refusal(None, types.INVALID_REQUEST, f"The message is longer than {MAX_LINE_BYTES} bytes.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, types.PARSE_ERROR, "The line is not JSON in UTF-8.")
    told = "The line is not a JSON-RPC 2.0 message: one object, in valid Unicode."
    id_ = message.get("id") if isinstance(message, dict) else None
    if isinstance(id_, bool) or not isinstance(id_, int | str) or not str(id_).isprintable():
        return _refusal(None, types.INVALID_REQUEST, told)
    if "method" in message:
        return _refusal(id_, types.INVALID_REQUEST, told)
    is_answer = "result" in message or "error" in message
    return _refusal(id_ if is_answer else None, types.INVALID_REQUEST, told, is_for_us=is_answer)


def _refusal(id_: int | str | None, code: int, told: str, *, is_for_us: bool = False) -> Refusal:
    error = types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=told))
    return Refusal(error=error, is_for_us=is_for_us)


def encoded(message: types.JSONRPCMessage) -> bytes:
    """The line of ``message``. Names of files need not be Unicode; what is not becomes ``?`` rather than no answer."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


class _Stream:
    """What the SDK expects of either stream; nothing is held."""

    async def aclose(self) -> None:
        """Nothing is held."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """The client's messages, straight from its lines: the SDK reads from this as from a stream of its own."""

    def __init__(self, lines: Lines, answers: "_Outgoing") -> None:
        self._lines = lines
        self._answers = answers
        self._burst = 0

    async def receive(self) -> SessionMessage:
        """The next message; EndOfStream at the end of input."""
        self._burst += 1
        if self._burst % _BURST == 0:  # a client that writes without end gives the others their turn
            await asyncio.sleep(0)
        while True:
            line = await self._lines.next()
            if line is not None and not line:
                raise anyio.EndOfStream
            if line is not None and not line.strip():
                continue
            try:
                return SessionMessage(types.jsonrpc_message_adapter.validate_json(line or b"", by_name=False))
            except ValueError:
                refusal = refuse(line)
                if refusal.is_for_us:
                    return SessionMessage(refusal.error)
                await self._answers.send(SessionMessage(refusal.error))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Outgoing(_Stream):
    """Our messages, but for the one answer that the client has."""

    def __init__(self, answers: Answers, greeted: Greeting | None) -> None:
        self._answers = answers
        self._greeted = greeted

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        message, greeted = item.message, self._greeted
        if greeted is not None and _is_answer_to(greeted.id, message):
            self._greeted = None
            if not isinstance(message, types.JSONRPCResponse) or message.result != greeted.result:
                sys.stderr.write(
                    "execkit-mcp: the installed mcp package answers this opening otherwise; install version 2.3\n"
                )
            return
        await self._answers.write(encoded(message))


def _is_answer_to(id_: int | str, message: types.JSONRPCMessage) -> bool:
    return isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id == id_


async def serve_lines(server: Server[Any], lines: Lines, answers: Answers, greeted: Greeting | None) -> None:
    """Run ``server`` until the end of input; ``greeted`` is what the first line, still to be read, was answered."""
    outgoing = _Outgoing(answers, greeted)
    await server.run(_Incoming(lines, outgoing), outgoing, server.create_initialization_options())
