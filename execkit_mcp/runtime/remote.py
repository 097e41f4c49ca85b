"""Targets on other machines: one transport each, what their sessions start with, and who is told when a door is shut.

Nothing is connected before somebody opens a session. A refusal that matters to the operator (a host key above all) goes
on the record, through ``record``.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from execkit_mcp.config.settings import TargetSettings
from execkit_mcp.errors import CommandInvalid, ExecKitError, TransportUnavailable
from execkit_mcp.model import Clock, Entropy, Fence
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.environment import session_environment
from execkit_mcp.redaction import KnownValue
from execkit_mcp.runtime.environment import SESSION_VARIABLE
from execkit_mcp.runtime.remote_driver import RemoteDriver
from execkit_mcp.runtime.remote_fence import RemoteFence, fence_on
from execkit_mcp.runtime.remote_programs import RemotePrograms
from execkit_mcp.runtime.session_facts import SessionFacts

if TYPE_CHECKING:
    from execkit_mcp.transports.base import ShellPlan, StreamChannel
    from execkit_mcp.transports.ssh.probe import HostFacts
    from execkit_mcp.transports.ssh.transport import SshTransport

__all__ = ["REMOTE", "RemoteTargets", "insecure_warnings", "passphrases", "ssh_options"]

REMOTE: Final = frozenset({"ssh"})
Recorder = Callable[[str, Mapping[str, object]], None]


def ssh_options(target: TargetSettings) -> dict[str, str | int | float]:
    """What the operator has stated; the port's default is ssh_config's."""
    return {key: value for key, value in target.options.items() if key in target.stated or key == "host"}


class RemoteTargets:
    """The remote targets that were used, by name."""

    def __init__(self, *, environ: Mapping[str, str], clock: Clock, entropy: Entropy) -> None:
        self._environ = environ
        self._clock = clock
        self._entropy = entropy
        self._transports: dict[str, SshTransport] = {}
        self._fences: dict[tuple[str, str, str, str], RemoteFence] = {}
        self._told: set[tuple[str, str]] = set()
        self.record: Recorder = lambda _kind, _data: None
        self.redact: Callable[[str], str] = lambda text: text

    def transport(self, target: TargetSettings) -> "SshTransport":
        """The transport of a target; nothing is connected yet."""
        found = self._transports.get(target.name)
        if found is None:
            from execkit_mcp.transports.ssh.target import target_from  # noqa: PLC0415 - loads asyncssh
            from execkit_mcp.transports.ssh.transport import SshTransport  # noqa: PLC0415

            found = SshTransport(target_from(target.name, ssh_options(target)), self._environ)
            self._transports[target.name] = found
        return found

    async def open(
        self, facts: SessionFacts, target: TargetSettings, *, cwd: str | None, cols: int, rows: int
    ) -> tuple[SessionFacts, RemoteDriver]:
        """A live shell on the host, and what is known of it.

        Raises:
            TransportError: it cannot be reached, does not let us in, shows a key that is not known, has no bash.
            CommandInvalid: the folder does not exist.
        """
        transport = self.transport(target)
        try:
            host = await transport.ready()
        except ExecKitError as error:
            self._refused(target, error)
            raise
        self._connected(target, transport, host)
        workspace = _absolute(target.cwd or "~", home=host.home, base=host.home)
        folder = _absolute(cwd or ".", home=host.home, base=workspace)
        document = facts.policy.document
        facts = _with_host(facts, host, workspace=workspace, warnings=self.warnings(target))
        locator = RemotePrograms(document.program_folders, document.programs, transport.ask)
        env = {
            **_variables(facts.policy, host, forced=session_environment(document)),
            SESSION_VARIABLE: facts.name,
        }
        fence = await self._fence(target, facts.policy, transport, host, workspace)
        facts = replace(facts, fence=fence.fence)
        watched = _Watched(transport, lambda error: self._refused(target, error))
        try:
            driver = await RemoteDriver.open(
                watched,
                env=env,
                cwd=folder,
                clock=self._clock,
                entropy=self._entropy,
                cols=cols,
                rows=rows,
                shell=host.shell,
                fence=fence.plan,
            )
        except TransportUnavailable as error:
            if cwd is None or "folder" not in error.message:
                raise
            raise CommandInvalid(
                f"The folder {folder!r} does not exist on target {target.name}.",
                hint="Leave cwd out, or name a folder that is there.",
            ) from error
        return replace(facts, locator=locator), driver

    async def _fence(
        self, target: TargetSettings, policy: CompiledPolicy, transport: "SshTransport", host: "HostFacts", place: str
    ) -> RemoteFence:
        """What holds beneath shells there; worked out once for each policy and key of the host."""
        key = (target.name, transport.fingerprint, policy.ref.digest, place)
        found = self._fences.get(key)
        if found is None:
            from execkit_mcp.transports.ssh.probe import started  # noqa: PLC0415 - loads asyncssh

            found = await fence_on(
                transport.target.fence,
                policy,
                python=host.python,
                shell=started(host),
                home=host.home,
                workspace=place,
                ask=transport.ask,
            )
            self._fences[key] = found
        return found

    def warnings(self, target: TargetSettings) -> tuple[str, ...]:
        """What is said with each result of the target."""
        return insecure_warnings(target)

    def _connected(self, target: TargetSettings, transport: "SshTransport", host: "HostFacts") -> None:
        """Put on the record what the host is, once for each key that it shows."""
        key = (target.name, transport.fingerprint)
        if key not in self._told:
            self._told.add(key)
            self.record(
                "target.probed",
                {"target": target.name, "host_key": transport.fingerprint, **host.to_json()},
            )

    def _refused(self, target: TargetSettings, error: ExecKitError) -> None:
        self.record(
            "target.refused",
            {
                "target": target.name,
                "code": error.code,
                "message": self.redact(error.message),  # it may quote what the host has said
                **{name: self.redact(str(value)) for name, value in error.details.items() if name != "target"},
            },
        )

    async def aclose(self) -> None:
        """End every connection."""
        transports, self._transports = list(self._transports.values()), {}
        for transport in transports:
            await transport.aclose()


class _Watched:
    """A transport whose refusals are told of, also when a session makes its link anew."""

    name = "ssh"

    def __init__(self, inner: "SshTransport", on_refusal: Callable[[ExecKitError], None]) -> None:
        self._inner = inner
        self._on_refusal = on_refusal

    async def open(self, plan: "ShellPlan") -> "StreamChannel":
        """Open a channel."""
        try:
            return await self._inner.open(plan)
        except ExecKitError as error:
            self._on_refusal(error)
            raise


def passphrases(targets: Iterable[TargetSettings], environ: Mapping[str, str]) -> list[KnownValue]:
    """The passphrases of declared targets' keys, which no output may show; one that cannot be read is no secret yet."""
    found: list[KnownValue] = []
    for target in targets:
        name, file = target.options.get("passphrase_env"), target.options.get("passphrase_file")
        value = environ.get(str(name), "") if name is not None else ""
        if file is not None:
            path = Path(str(file)).expanduser()
            with contextlib.suppress(OSError):
                value = path.read_text("utf-8", "replace").partition("\n")[0] if path.is_file() else ""
        if value:
            found.append(KnownValue(name=f"{target.name}.passphrase", value=value))
    return found


def insecure_warnings(target: TargetSettings) -> tuple[str, ...]:
    """The warning of a target that accepts any host key."""
    if not target.options.get("insecure_accept_any_host_key"):
        return ()
    told = f"Target {target.name} accepts any host key (insecure_accept_any_host_key): "
    return (f"{told}whoever stands between here and the host reads and changes everything.",)


def _with_host(facts: SessionFacts, host: "HostFacts", *, workspace: str, warnings: tuple[str, ...]) -> SessionFacts:
    return replace(
        facts, home=host.home, workspace=workspace, run_as=host.user, shell=host.shell, fence=Fence(), warnings=warnings
    )


def _variables(policy: CompiledPolicy, host: "HostFacts", *, forced: Mapping[str, str]) -> dict[str, str]:
    """The variables of a session there, all but its name: nothing of ours, nothing of the host's own set-up."""
    return {
        "PATH": ":".join(policy.document.program_folders),
        "HOME": host.home,
        "USER": host.user,
        "LOGNAME": host.user,
        "SHELL": host.shell_path.partition(" ")[0],
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        **forced,
    }


def _absolute(path: str, *, home: str, base: str) -> str:
    """``path`` on the host, with ``~`` and relative to ``base``."""
    asked = PurePosixPath(path)
    if asked.parts[:1] == ("~",):
        asked = PurePosixPath(home, *asked.parts[1:])
    return str(PurePosixPath(base, asked))
