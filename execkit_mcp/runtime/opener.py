"""Opening sessions: from a declared target to a live shell with its policy, redactor and constructed environment."""

import asyncio
import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from execkit_mcp.approvals import ApproverSecret
from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import (
    CommandInvalid,
    ConfigError,
    ExecKitError,
    TransportError,
    TransportUnavailable,
    TransportUnknown,
)
from execkit_mcp.fence.host import below
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Clock, Entropy, Fence
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.document import RedactRules
from execkit_mcp.policy.environment import is_dangerous, is_identifier, session_environment
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.runtime.admission import Admissions
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.egress import proxy_variables, without_proxy
from execkit_mcp.runtime.environment import SESSION_VARIABLE, home_folder, protected_values, session_variables
from execkit_mcp.runtime.fencing import described, fence_for, plan_for
from execkit_mcp.runtime.first_stage import start_first_stage, stop_first_stage
from execkit_mcp.runtime.guarded import guarded
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.pool import ShellPool
from execkit_mcp.runtime.redactor_seed import RedactorSeed
from execkit_mcp.runtime.remote import REMOTE, RemoteTargets, passphrases
from execkit_mcp.runtime.sandbox_plan import bounded, bounds_of, sandbox_plan
from execkit_mcp.runtime.sandboxes import Sandbox, Sandboxes
from execkit_mcp.runtime.secrets import TypedSecrets
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.session_facts import SessionFacts
from execkit_mcp.runtime.temporary import new_folder
from execkit_mcp.runtime.webhooks import webhook_secret
from execkit_mcp.storage.spill import SpillFolder
from execkit_mcp.transports.local import LocalTransport
from execkit_mcp.transports.registry import create_transport
from execkit_mcp.transports.sandbox import SandboxTransport

if TYPE_CHECKING:
    import tempfile

    from execkit_mcp.runtime.remote_driver import RemoteDriver

COLS, ROWS = 120, 40
_TAG_KEY_BYTES = 32


class Opener:
    """Opens sessions on the targets that the settings declare.

    Attributes:
        secrets: what may be typed at hidden prompts.
    """

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
        admissions: Admissions | None = None,
        narrowed_by: tuple[str, ...] = (),
    ) -> None:
        self._settings = settings
        self._policy = policy
        self._admissions = admissions or Admissions()
        self._narrowed_by = narrowed_by
        self._loaded: dict[str, CompiledPolicy] = {}
        self._clock = clock
        self._entropy = entropy
        self._environ = environ
        self._spill = spill
        self.secrets = TypedSecrets(settings.typed_secrets, environ)
        self._redactor: Redactor | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._plans: dict[tuple[str, str], FencePlan | None] = {}
        self._transport = LocalTransport(owns_process=owns_process)
        self.sandboxes = Sandboxes(SpillFolder(settings.state_dir, "sandboxes"))
        self._pool = ShellPool(self._transport, clock=clock, entropy=entropy)
        self.remote = RemoteTargets(environ=environ, clock=clock, entropy=entropy)
        self.remote.redact = self.redact

    def prewarm(self) -> None:
        """Start what the first session needs, in the background."""
        with contextlib.suppress(TransportError):  # the first open reports it, to somebody who listens
            self._transport.prewarm()
            with contextlib.suppress(ExecKitError):
                plan = self._plan(self._policy, "local")
                variables = self._variables(self._policy, plan)
                self._pool.keep_warm(variables, [SESSION_VARIABLE], str(self._settings.workspace), COLS, ROWS, plan)

    @property
    def fence(self) -> Fence:
        """What holds beneath a session on the default target."""
        target = self._settings.targets[self._settings.default_target]
        return described(self._settings, self._policy, transport=target.transport)

    def facts(self, *, name: str, target: str, owner: str) -> SessionFacts:
        """What a session of that name on that target would be.

        Raises:
            TransportUnknown: no such target is declared.
            PolicyInvalid, ConfigNotFound: the target's own policy does not load.
        """
        admission = self._admissions.of(owner)
        names = self.targets_for(owner)
        declared = self._settings.targets.get(target) if target in names else None
        if declared is None:
            raise TransportUnknown(
                f"No target {target!r} is declared.",
                hint=f"Declared targets: {', '.join(names) or 'none'}; see shell_info or `execkit-mcp targets`.",
            )
        policy = self._policy
        if declared.policy is not None:
            policy = guarded(load_policy(declared.policy), self._settings)
        plan = self._plan(policy, declared.transport)
        return SessionFacts(
            name=name,
            target=target,
            transport=declared.transport,
            owner=owner,
            policy=policy,
            home=home_folder(),
            workspace=str(self._settings.workspace),
            fence=fence_for(plan, transport=declared.transport),
            plan=plan,
            narrowed_by=self._narrowing((*self._narrowed_by, *(admission.policies if admission else ())), policy),
        )

    def _plan(self, policy: CompiledPolicy, transport: str) -> FencePlan | None:
        """The fence of a session under that policy; derived once, because sessions are opened in a hurry."""
        key = (policy.ref.digest, transport)
        if key not in self._plans:
            plan = plan_for(
                self._settings, policy, transport=transport, environ=self._environ, temporary=self._temporary_folder()
            )
            self._plans[key] = bounded(plan, self._settings)
        return self._plans[key]

    def _temporary_folder(self) -> str:
        """Where programs behind a fence keep what they need for a moment; ends with the server."""
        if self._temporary is None:
            self._temporary = new_folder()
        return self._temporary.name

    def _variables(self, policy: CompiledPolicy, plan: FencePlan | None) -> dict[str, str]:
        """The variables of a session under that policy, all but its name."""
        document = policy.document
        variables = session_variables(folders=document.program_folders, forced=session_environment(document))
        if plan is not None and self._temporary is not None and not _may_write(plan, "/tmp"):  # noqa: S108 - the folder
            variables.setdefault("TMPDIR", self._temporary.name)
        return variables if plan is None or not plan.listeners else {**proxy_variables(policy), **variables}

    def targets_for(self, owner: str) -> tuple[str, ...]:
        """The declared targets on which ``owner`` may open sessions."""
        admission = self._admissions.of(owner)
        declared = sorted(self._settings.targets)
        if admission is None or admission.targets is None:
            return tuple(declared)
        return tuple(name for name in declared if name in admission.targets)

    def _narrowing(self, names: tuple[str, ...], own: CompiledPolicy) -> tuple[CompiledPolicy, ...]:
        """The policies of these names, each loaded once; ``own`` need not be asked twice."""
        for name in names:
            if name not in self._loaded:
                self._loaded[name] = load_policy(name)
        found = [self._loaded[name] for name in dict.fromkeys(names)]
        return tuple(each for each in found if each.ref != own.ref)

    async def open(
        self,
        *,
        name: str,
        target: str,
        owner: str,
        cwd: str | None,
        cols: int,
        rows: int,
        sandbox: Sandbox | None = None,
    ) -> Session:
        """A live session; ``sandbox``: on these layers, instead of new ones.

        Raises:
            TransportUnknown, TransportUnavailable: the target is not declared, or cannot be opened here.
            CommandInvalid: the folder does not exist.
        """
        try:
            async with contextlib.AsyncExitStack() as undo:
                session = await self._open(
                    undo, name=name, target=target, owner=owner, cwd=cwd, cols=cols, rows=rows, sandbox=sandbox
                )
                undo.pop_all()
                return session
        except OSError as error:
            is_full = error.errno in (errno.EMFILE, errno.ENFILE)
            raise TransportUnavailable(
                f"The session could not be opened: {error.strerror or error}.",
                hint="Close sessions, or start the server with a higher `ulimit -n`."
                if is_full
                else "See that this machine has memory, processes and disk left.",
                retryable=True,
            ) from error

    async def _open(
        self,
        undo: contextlib.AsyncExitStack,
        *,
        name: str,
        target: str,
        owner: str,
        cwd: str | None,
        cols: int,
        rows: int,
        sandbox: Sandbox | None,
    ) -> Session:
        facts = self.facts(name=name, target=target, owner=owner)
        document = facts.policy.document
        forced = session_environment(document)
        driver: Driver | RemoteDriver
        if facts.transport in REMOTE:
            variables = dict(forced)
            facts, driver = await self.remote.open(facts, self._settings.targets[target], cwd=cwd, cols=cols, rows=rows)
        elif facts.transport == "sandbox":
            sandbox = sandbox or self.sandboxes.create(self._settings.workspace)
            try:
                facts, variables, driver = await self._open_sandbox(facts, sandbox, cwd=cwd, cols=cols, rows=rows)
            except BaseException:
                sandbox.close()
                raise
        else:
            if facts.transport != "local":
                create_transport(facts.transport)  # raises: it cannot be opened
            folder = _starting_folder(cwd, facts)
            variables = self._variables(facts.policy, facts.plan)
            driver = await self._pool.open(variables, {SESSION_VARIABLE: name}, folder, cols, rows, facts.plan)
        undo.push_async_callback(driver.close)
        start_first_stage(self._settings.state_dir)
        secrets = self._new_seed(document.redact, forced=variables)
        redactor = secrets.redactor()

        async def open_outside(env: Mapping[str, str], cwd: str) -> Driver:
            carried = {key: text for key, text in env.items() if is_identifier(key) and not is_dangerous(key)}
            ours = self._variables(facts.policy, None)  # nothing inside says what runs outside
            return await self._fresh(
                without_proxy({**carried, **ours, SESSION_VARIABLE: name}), cwd=cwd, cols=cols, rows=rows
            )

        session = Session(
            facts=facts,
            driver=driver,
            redactor=redactor,
            clock=self._clock,
            entropy=self._entropy,
            spill=self._spill,
            secrets=secrets,
            open_outside=open_outside if sandbox is None else None,  # what runs in a sandbox stays there
            bounds=None if facts.plan is None else bounds_of(facts, self._settings, sandbox),
        )
        if sandbox is not None:
            self.sandboxes.put(owner, name, sandbox)
            session.on_close = lambda: self.sandboxes.drop(owner, name)
        return session

    async def _open_sandbox(
        self, facts: SessionFacts, sandbox: Sandbox, *, cwd: str | None, cols: int, rows: int
    ) -> tuple[SessionFacts, dict[str, str], Driver]:
        """A shell in a root of its own."""
        plan = bounded(sandbox_plan(facts.policy, sandbox, self._settings.state_dir), self._settings)
        facts = replace(facts, workspace=sandbox.workspace, plan=plan, fence=fence_for(plan))
        document = facts.policy.document
        variables = {
            **proxy_variables(facts.policy),
            **session_variables(folders=document.program_folders, forced=session_environment(document)),
        }
        env = {**variables, SESSION_VARIABLE: facts.name}
        driver = await self._fresh(env, cwd=_starting_folder(cwd, facts), cols=cols, rows=rows, plan=plan)
        return facts, variables, driver

    async def _fresh(
        self, env: Mapping[str, str], *, cwd: str, cols: int, rows: int, plan: FencePlan | None = None
    ) -> Driver:
        """A shell that nobody had ready."""
        return await Driver.open(
            self._transport if plan is None else SandboxTransport(self._transport),
            env=env,
            cwd=cwd,
            clock=self._clock,
            entropy=self._entropy,
            cols=cols,
            rows=rows,
            fence=plan,
        )

    def redact(self, text: str) -> str:
        """``text`` as it may be shown where no session is."""
        if self._redactor is None:
            self._redactor = self._new_seed(self._policy.document.redact).redactor()
        return self._redactor.text(text)[0]

    def _new_seed(self, rules: RedactRules, *, forced: Mapping[str, str] | None = None) -> RedactorSeed:
        """What a redactor is made of; ``forced``: an environment, whose secret-looking values count as well."""
        known = [*self._known_values(), *passphrases(self._settings.targets.values(), self._environ)]
        known += [KnownValue(name=name, value=value) for name, value in protected_values((), forced or {}).items()]
        return RedactorSeed(key=self._entropy.token_bytes(_TAG_KEY_BYTES), known=tuple(known), rules=rules)

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
        values.extend(self.secrets.known())
        enrolled = ApproverSecret.of(self._settings.state_dir).known_values()
        values += [KnownValue(name="approver", value=value) for value in enrolled]
        if self._settings.webhook is not None:
            values.append(KnownValue(name="webhook", value=webhook_secret(self._settings, self._environ)))
        return values

    async def aclose(self) -> None:
        """End what all sessions shared."""
        await self._pool.close()
        stop_first_stage()
        await self.remote.aclose()
        await self._transport.close()
        await asyncio.to_thread(self.sandboxes.close)
        if self._temporary is not None:
            self._temporary.cleanup()


def _may_write(plan: FencePlan, path: str) -> bool:
    return plan.gate is not None and below(path, plan.gate.writable)


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
