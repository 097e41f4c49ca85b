"""One host and the connections to it, shared by all its sessions; this module is the ssh transport.

    connection ┬ control shell (signals, looks, questions, no orphans)
               ├ session's bash
               └ session's bash …        a host that takes no more channels on it: one more connection

The first connection opens with the first session. A connection whose last channel is closed stays for the next
session; all end with the transport. When the link is lost, the next ``open`` makes it anew, and verifies the key anew.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import asyncssh

from execkit_mcp.errors import CapabilityMissing, ConnectFailed, ExecKitError, TransportLost
from execkit_mcp.fence.sent import shell_words
from execkit_mcp.transports.base import ShellPlan
from execkit_mcp.transports.ssh.channel import SshChannel
from execkit_mcp.transports.ssh.connect import Connected, connect
from execkit_mcp.transports.ssh.control import Control
from execkit_mcp.transports.ssh.probe import HostFacts, capabilities_of, lacks_for_terminal, probe, started
from execkit_mcp.transports.ssh.target import SshTarget
from execkit_mcp.transports.ssh.terminal import SshTerminal

__all__ = ["SshTransport"]

T = TypeVar("T")
_AGAIN: Final = "Send the call again; if it stays, look at the host and the way to it."
_MAX_CONNECTIONS: Final = 64
_LEAVE_S: Final = 2.0
_RECOVER_S: Final = 0.2


class _Link:
    """One connection and how many channels it has; ``most``: how many it takes, once a host has said so."""

    def __init__(self, connected: Connected) -> None:
        self.connected = connected
        self.channels = 0
        self.most: int | None = None

    @property
    def connection(self) -> asyncssh.SSHClientConnection:
        return self.connected.connection

    @property
    def is_usable(self) -> bool:
        return not self.connection.is_closed()


class SshTransport:
    """Opens shells on one host."""

    name = "ssh"

    def __init__(self, target: SshTarget, environ: Mapping[str, str]) -> None:
        self.target = target
        self._environ = environ
        self._links: list[_Link] = []
        self._control: Control | None = None
        self._facts: HostFacts | None = None
        self._lock = asyncio.Lock()
        self._channels: set[SshChannel] = set()
        self._recovery: asyncio.Task[None] | None = None
        self._is_closed = False

    # -- what callers ask ------------------------------------------------------------------------------

    async def ready(self) -> HostFacts:
        """Be connected, with a control shell; what the host is. Raises TransportError, ConfigError."""
        async with self._lock:
            await self._controlled()
            assert self._facts is not None
            return self._facts

    @property
    def fingerprint(self) -> str:
        """The host key that was accepted last."""
        return self._links[-1].connected.fingerprint if self._links else ""

    @property
    def connections(self) -> int:
        """How many connections stand."""
        return sum(link.is_usable for link in self._links)

    async def open(self, plan: ShellPlan) -> SshChannel:
        """Start a shell there. Raises TransportError, ConfigError."""
        async with self._lock:
            await self._controlled()
            facts = self._facts
            assert facts is not None

            async def start(link: _Link) -> SshChannel:
                channel = SshChannel(
                    self._current_control, self._told_loss, self._open_terminal, capabilities_of(facts)
                )
                shell = started(facts)
                if plan.fence is not None:
                    shell = shell_words(facts.python, plan.fence, shell)
                await channel.start(link.connection, plan, shell=shell, env=facts.env, open_s=self.target.open_s)
                return channel

            opened = await self._on_some_link(start)
            self._channels.add(opened)
            return opened

    async def _open_terminal(
        self, shell_mark: str, cols: int, rows: int, on_data: Callable[[bytes], None]
    ) -> SshTerminal:
        """A terminal for a shell of ours. Raises CapabilityMissing, TransportError."""
        async with self._lock:
            facts = self._facts
            assert facts is not None
            lacks = lacks_for_terminal(facts)
            if lacks:
                raise CapabilityMissing(
                    f"Sessions on target {self.target.name} can have no terminal: {lacks}.",
                    hint="Leave tty out; give input as stdin.",
                )

            async def start(link: _Link) -> SshTerminal:
                terminal = SshTerminal(secrets.token_hex(8), on_data)
                await terminal.start(
                    link.connection,
                    python=facts.python,
                    env=facts.env,
                    cols=cols,
                    rows=rows,
                    shell_mark=shell_mark,
                    open_s=self.target.open_s,
                )
                return terminal

            return await self._on_some_link(start)

    def _current_control(self) -> Control:
        assert self._control is not None
        return self._control

    def _control_lost(self) -> None:
        """Somebody has ended it, or the link is gone: then no shell is left for which another would be needed."""
        if not self._is_closed and self._recovery is None:
            self._recovery = asyncio.get_running_loop().create_task(self._recover())

    async def _recover(self) -> None:
        """Another control shell for the shells that are still there."""
        try:
            await asyncio.sleep(_RECOVER_S)
            async with self._lock:
                if self._control is None or self._control.is_open or not self._channels:
                    return
                with contextlib.suppress(ExecKitError):
                    await self._controlled()
        finally:
            self._recovery = None

    async def ask(self, scripts: list[str]) -> list[bytes]:
        """What each of ``scripts`` prints on the host, in one round trip. Raises TransportError."""
        control = self._control
        if control is None or not control.is_open:
            async with self._lock:
                control = await self._controlled()
        return await control.fields(scripts)

    async def files(self) -> asyncssh.SFTPClient:
        """A file channel; whoever asks closes it. Raises TransportError."""
        async with self._lock:
            await self._controlled()
            return await self._on_some_link(lambda link: link.connection.start_sftp_client())

    async def aclose(self) -> None:
        """End every shell of ours on the host and every connection."""
        self._is_closed = True
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
        if self._control is not None:
            self._control.close()
        links, self._links = self._links, []
        for link in links:
            for connection in (link.connection, *reversed(link.connected.hops)):
                connection.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_S):
                for link in links:
                    await link.connection.wait_closed()
                return
        for link in links:
            link.connection.abort()

    # -- connections -----------------------------------------------------------------------------------

    async def _controlled(self) -> Control:
        """The control shell; connects and asks what the host is, if that is not known. Called under the lock."""
        if self._is_closed:
            raise TransportLost("The target is closed.", hint="Open a new session.")
        if self._control is not None and self._control.is_open:
            return self._control
        control = Control(quiet_s=self.target.keepalive_s, on_lost=self._control_lost)

        async def start(link: _Link) -> None:
            await control.start(link.connection, self.target.open_s)

        await self._on_some_link(start)
        try:
            if self._facts is None:
                self._facts = await probe(control, self.target.name, self.target.shell)
        except BaseException:
            control.close()
            raise
        self._control = control
        for channel in self._channels:
            channel.adopted()
        return control

    async def _on_some_link(self, start: Callable[[_Link], Awaitable[T]]) -> T:
        """Start a channel on a connection that takes one; on a new one if none does."""
        self._links = [link for link in self._links if link.is_usable]
        for link in self._links:
            if link.most is not None and link.channels >= link.most:
                continue
            try:
                return await self._counted(link, start)
            except asyncssh.ChannelOpenError as error:
                if not link.is_usable:
                    continue
                if link.channels == 0:
                    raise _refused(error) from error
                link.most = link.channels  # MaxSessions: this many, and no more
            except (asyncssh.Error, OSError):  # the link went away at this very moment
                link.connection.abort()
        if len(self._links) >= _MAX_CONNECTIONS:
            raise ConnectFailed(f"{_MAX_CONNECTIONS} connections to the host are full.", hint="Close sessions.")
        link = _Link(await connect(self.target, self._environ))
        self._links.append(link)
        try:
            return await self._counted(link, start)
        except asyncssh.ChannelOpenError as error:
            raise _refused(error) from error
        except (asyncssh.Error, OSError) as error:
            raise TransportLost(
                f"The connection was lost as it was made: {error}.", hint=_AGAIN, retryable=True
            ) from error

    async def _counted(self, link: _Link, start: Callable[[_Link], Awaitable[T]]) -> T:
        started = await start(link)
        link.channels += 1
        if isinstance(started, SshChannel | SshTerminal):
            started.on_gone = lambda: self._gone(link, started)
        return started

    def _gone(self, link: _Link, channel: SshChannel | SshTerminal) -> None:
        link.channels -= 1
        if isinstance(channel, SshChannel):
            self._channels.discard(channel)

    def _told_loss(self, error: Exception | None) -> str:
        why = " ".join(str(error).split())[:200].rstrip(".") if error is not None else "it was closed"
        return f"The connection to {self.target.name} was lost ({why})."


def _refused(error: asyncssh.ChannelOpenError) -> ConnectFailed:
    return ConnectFailed(
        f"The host gives no session: {' '.join(str(error).split())[:200].rstrip('.')}.",
        hint="MaxSessions of its SSH server may be 0, or the account may not run commands.",
        retryable=False,
    )
