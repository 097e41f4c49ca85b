"""Files to and from a host over SFTP: bounded, resumed, replaced in one step; this module judges nothing.

Whoever calls has had the path judged: links are followed by the host, so he resolves them there first (``real``).
An upload goes to a file of its own beside the target (mode 0600 until it is whole), which then takes its place; one
that broke off is gone on with, if what is there is the beginning of it. A download is written in the same way here.
"""

import contextlib
import hashlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import asyncssh

from execkit_mcp.errors import CommandInvalid, CommandTooLarge, ExecKitError, TransportLost
from execkit_mcp.transports.ssh.transport import SshTransport

__all__ = ["MAX_BYTES", "Progress", "SshFiles"]

MAX_BYTES: Final = 1 << 30
_CHUNK: Final = 1 << 18
_PART: Final = ".execkit-part"
_MODE_BITS: Final = 0o7777
Progress = Callable[[int, int], None]
"""Told of bytes that have arrived, and of all there are."""


def _silent(_done: int, _total: int) -> None:
    """Nobody wants to know."""


class SshFiles:
    """Files of one host; ``max_bytes`` bounds each."""

    def __init__(self, transport: SshTransport, *, max_bytes: int = MAX_BYTES) -> None:
        self._transport = transport
        self._max_bytes = max_bytes

    async def real(self, path: str) -> str:
        """The absolute path with every link on the host followed. Raises TransportError, CommandInvalid."""
        async with self._client(path) as client:
            found = await client.realpath(path)
            return found if isinstance(found, str) else found.decode("utf-8", "surrogateescape")

    async def upload(self, source: Path, path: str, *, mode: int | None = None, progress: Progress = _silent) -> int:
        """Put the file ``source`` at ``path``; the bytes that were sent now.

        Raises:
            CommandTooLarge: it is over the limit.
            CommandInvalid: one of the paths cannot be used, or the host has no room; ``path`` is as it was.
            TransportError: the host cannot be reached, or the link was lost; call again, and it is gone on with.
        """
        total = self._bounded(_size_of(source), str(source))
        part = f"{path}{_PART}"
        async with self._client(path) as client:
            before = await self._mode_of(client, path)
            begun = await self._begun(client, part, source, total)
            with source.open("rb") as reader:
                reader.seek(begun)
                flags = asyncssh.FXF_WRITE | asyncssh.FXF_CREAT | (0 if begun else asyncssh.FXF_TRUNC)
                attrs = asyncssh.SFTPAttrs(permissions=0o600)
                async with await client.open(part, flags, attrs, encoding=None) as writer:
                    at = begun
                    while chunk := reader.read(_CHUNK):
                        await writer.write(chunk, at)
                        at += len(chunk)
                        progress(at, total)
            await client.chmod(part, (mode if mode is not None else before) or 0o600)
            await self._replace(client, part, path)
        return at - begun

    async def download(self, path: str, target: Path, *, progress: Progress = _silent) -> int:
        """Put the host's file ``path`` at ``target``; the bytes that came now. Raises as ``upload`` does."""
        part = target.with_name(target.name + _PART)
        async with self._client(path) as client, await client.open(path, "rb", encoding=None) as reader:
            attributes = await reader.stat()
            if attributes.type not in {None, asyncssh.FILEXFER_TYPE_REGULAR, asyncssh.FILEXFER_TYPE_UNKNOWN}:
                raise CommandInvalid(f"{path} on the host is no file.", hint="Name a regular file.")
            total = self._bounded(attributes.size or 0, path)
            begun = 0
            with contextlib.suppress(FileNotFoundError):
                begun = part.stat().st_size
            if begun and (begun > total or await _digest_there(reader, begun) != _digest_here(part, begun)):
                begun = 0
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | (0 if begun else os.O_TRUNC)
            at = begun
            with os.fdopen(os.open(part, flags, 0o600), "wb") as writer:
                writer.seek(begun)
                while at <= self._max_bytes and (chunk := await reader.read(_CHUNK, at)):
                    writer.write(_bytes(chunk))
                    at += len(chunk)
                    progress(at, max(total, at))
                writer.truncate()
        self._bounded(at, path)  # a file, or a host, that says less than it sends
        part.replace(target)
        return at - begun

    def _bounded(self, size: int, name: str) -> int:
        if size > self._max_bytes:
            raise CommandTooLarge(
                f"{name} has {size} bytes, over the limit of {self._max_bytes}.", hint="Move a smaller file."
            )
        return size

    async def _mode_of(self, client: asyncssh.SFTPClient, path: str) -> int | None:
        try:
            found = await client.stat(path)
        except asyncssh.SFTPNoSuchFile:
            return None
        if found.type not in {None, asyncssh.FILEXFER_TYPE_REGULAR, asyncssh.FILEXFER_TYPE_UNKNOWN}:
            raise CommandInvalid(f"{path} on the host is no file.", hint="Name a file.")
        return None if found.permissions is None else found.permissions & _MODE_BITS

    async def _begun(self, client: asyncssh.SFTPClient, part: str, source: Path, total: int) -> int:
        """How much of ``source`` stands in ``part`` already; anything else there is taken away."""
        try:
            there = await client.lstat(part)
        except asyncssh.SFTPNoSuchFile:
            return 0
        size = there.size or 0
        if there.type == asyncssh.FILEXFER_TYPE_REGULAR and 0 < size <= total:
            async with await client.open(part, "rb", encoding=None) as reader:
                if await _digest_there(reader, size) == _digest_here(source, size):
                    return size
        await client.remove(part)  # a link that waits there is not followed
        return 0

    async def _replace(self, client: asyncssh.SFTPClient, part: str, path: str) -> None:
        try:
            await client.posix_rename(part, path)
        except asyncssh.SFTPOpUnsupported:
            with contextlib.suppress(asyncssh.SFTPNoSuchFile):
                await client.remove(path)
            await client.rename(part, path)

    @asynccontextmanager
    async def _client(self, path: str) -> AsyncIterator[asyncssh.SFTPClient]:
        """A file channel; what goes wrong on it becomes one error of ours."""
        try:
            async with await self._transport.files() as client:
                yield client
        except ExecKitError:
            raise
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.ConnectionLost) as error:
            raise TransportLost(
                "The link was lost; the rest can follow.", hint="Call again.", retryable=True
            ) from error
        except asyncssh.SFTPError as error:
            raise CommandInvalid(
                f"{path} on the host cannot be used: {' '.join(str(error.reason).split())[:200]}.",
                hint="Check path, permissions and free space there.",
            ) from error
        except OSError as error:
            raise CommandInvalid(
                f"{error.filename or path} cannot be used: {error.strerror}.", hint="Check path and free space."
            ) from error


async def _digest_there(reader: asyncssh.SFTPClientFile, size: int) -> bytes:
    digest, at = hashlib.sha256(), 0
    while at < size and (chunk := await reader.read(min(_CHUNK, size - at), at)):
        digest.update(_bytes(chunk))
        at += len(chunk)
    return digest.digest()


def _bytes(chunk: str | bytes) -> bytes:
    """What a file that was opened without an encoding gives."""
    assert isinstance(chunk, bytes)
    return chunk


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise CommandInvalid(f"{path} cannot be read: {error.strerror}.", hint="Check the path.") from error


def _digest_here(path: Path, size: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as reader:
        while size > 0 and (chunk := reader.read(min(_CHUNK, size))):
            digest.update(chunk)
            size -= len(chunk)
    return digest.digest()
