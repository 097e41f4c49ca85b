"""Opening sessions: from a declared target to a live shell with its policy, redactor and constructed environment."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from execkit_mcp.config.settings import Settings
from execkit_mcp.detectors import DetectSecrets
from execkit_mcp.errors import CommandInvalid, ConfigError, TransportError, TransportUnknown
from execkit_mcp.model import Clock, Entropy, Fence
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.environment import session_environment
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.environment import home_folder, protected_values, session_variables
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.session import Session, SessionFacts
from execkit_mcp.storage.spill import SpillFolder
from execkit_mcp.transports.local import LocalTransport
from execkit_mcp.transports.registry import create_transport

_TAG_KEY_BYTES = 32


class Opener:
    """Opens sessions on the targets that the settings declare."""

    def __init__(
        self,
        *,
        settings: Settings,
        policy: CompiledPolicy,
        clock: Clock,
        entropy: Entropy,
        environ: Mapping[str, str],
        owns_process: bool = False,
        spill: SpillFolder | None = None,
    ) -> None:
        self._settings = settings
        self._policy = policy
        self._clock = clock
        self._entropy = entropy
        self._environ = environ
        self._spill = spill
        self._transport = LocalTransport(owns_process=owns_process)

    def prewarm(self) -> None:
        """Start what the first session needs, in the background."""
        with contextlib.suppress(TransportError):  # the first open reports it, to somebody who listens
            self._transport.prewarm()

    def facts(self, *, name: str, target: str, owner: str) -> SessionFacts:
        """What a session of that name on that target would be.

        Raises:
            TransportUnknown: no such target is declared.
            PolicyInvalid, ConfigNotFound: the target's own policy does not load.
        """
        declared = self._settings.targets.get(target)
        if declared is None:
            names = ", ".join(sorted(self._settings.targets))
            raise TransportUnknown(
                f"No target {target!r} is declared.", hint=f"Declared targets: {names}. shell_info lists them."
            )
        policy = self._policy
        if declared.policy is not None:
            policy = load_policy(declared.policy)
        return SessionFacts(
            name=name,
            target=target,
            transport=declared.transport,
            owner=owner,
            policy=policy,
            home=home_folder(),
            workspace=str(self._settings.workspace),
            fence=Fence(),
        )

    async def open(self, *, name: str, target: str, owner: str, cwd: str | None, cols: int, rows: int) -> Session:
        """A live session.

        Raises:
            TransportUnknown, TransportUnavailable: the target is not declared, or cannot be opened here.
            CommandInvalid: the folder does not exist.
        """
        facts = self.facts(name=name, target=target, owner=owner)
        if facts.transport != "local":
            create_transport(facts.transport)  # raises: only local ones can be opened
        folder = _starting_folder(cwd, facts)
        document = facts.policy.document
        variables = session_variables(
            session=name, folders=document.program_folders, forced=session_environment(document)
        )
        driver = await Driver.open(
            self._transport,
            env=variables,
            cwd=folder,
            clock=self._clock,
            entropy=self._entropy,
            cols=cols,
            rows=rows,
        )
        redactor = Redactor(
            key=self._entropy.token_bytes(_TAG_KEY_BYTES),
            known=self._known_values(),
            confirmers=(DetectSecrets(),),
        )
        return Session(
            facts=facts,
            driver=driver,
            redactor=redactor,
            clock=self._clock,
            entropy=self._entropy,
            spill=self._spill,
        )

    def _known_values(self) -> Iterable[KnownValue]:
        """What must never be seen: secret-looking values of our own environment, and what the settings name."""
        named = protected_values(self._settings.secret_env, self._environ)
        values = [KnownValue(name=name, value=value) for name, value in named.items()]
        for file in self._settings.secret_files:
            try:
                text = Path(file).read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise ConfigError(
                    f"The file of secrets {str(file)!r} cannot be read: {os.strerror(error.errno or 0)}.",
                    hint="Mend `secrets:` in the configuration.",
                ) from error
            values += [
                KnownValue(name=f"{Path(file).name}", value=line.strip()) for line in text.splitlines() if line.strip()
            ]
        return values

    async def aclose(self) -> None:
        """End what all sessions shared."""
        await self._transport.close()


def _starting_folder(cwd: str | None, facts: SessionFacts) -> str:
    """The absolute folder that a session starts in: what was asked for (``~`` is home), else the workspace."""
    asked = Path(cwd or ".")
    if asked.parts[:1] == ("~",):
        asked = Path(facts.home, *asked.parts[1:])
    folder = Path(facts.workspace, asked)
    if not folder.is_dir():
        raise CommandInvalid(
            f"The folder {str(folder)!r} does not exist.", hint="Leave cwd out, or name a folder that is there."
        )
    return str(folder)
