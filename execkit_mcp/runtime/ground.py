"""What a kit stands on: settings, policy, state folder and record. Whatever can refuse a start refuses it here.

It loads little, so that a server that has its ground can greet its client before it loads the rest.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.audit.writer import AuditLog, Keep
from execkit_mcp.config.settings import Settings, TargetSettings, load_settings
from execkit_mcp.errors import ConfigNotFound
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.runtime.commit import STALL_S
from execkit_mcp.runtime.guarded import guarded
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.storage import Database, open_database
from execkit_mcp.storage.spill import SpillFolder

__all__ = ["Ground", "open_ground"]


class Ground(Struct, frozen=True, kw_only=True):
    """What is settled and held before anything can run."""

    settings: Settings
    policy: CompiledPolicy
    environ: Mapping[str, str]
    clock: Clock
    entropy: Entropy
    database: Database
    spill: SpillFolder
    audit: AuditLog


@contextmanager
def open_ground(
    *,
    policy: str | CompiledPolicy | None = None,
    config: str | None = None,
    workspace: str | None = None,
    state_dir: str | None = None,
    targets: Mapping[str, TargetSettings] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    entropy: Entropy | None = None,
) -> Iterator[Ground]:
    """Read configuration and policy, open state folder and record; close both at the end.

    Raises:
        ConfigError, PolicyError: configuration or policy is wrong; nothing was started.
        StorageUnavailable: the state folder cannot be used.
        AuditWriteFailed: the record cannot be written.
    """
    environ = os.environ if environ is None else environ
    clock = clock or SystemClock()
    entropy = entropy or SystemEntropy()
    settings = load_settings(
        config=config,
        policy=policy if isinstance(policy, str) else None,
        workspace=workspace,
        state_dir=state_dir,
        environ=environ,
    )
    _require_workspace(settings.workspace)
    if targets:  # from a caller who is the operator himself
        settings = replace(settings, targets={**settings.targets, **targets})
    compiled = guarded(policy if isinstance(policy, CompiledPolicy) else load_policy(settings.policy), settings)
    _require_webhook_secret(settings, environ)
    database = open_database(Path(settings.state_dir))
    spill = SpillFolder(settings.state_dir)
    try:
        audit = AuditLog.open(
            Path(settings.audit_dir),
            clock=clock,
            entropy=entropy,
            lock_wait_s=STALL_S,
            is_sealed_at_close=True,
            segment_bytes=settings.audit_segment_mb << 20,
            keep=Keep(days=settings.audit_keep_days, megabytes=settings.audit_keep_mb),
        )
        try:
            yield Ground(
                settings=settings,
                policy=compiled,
                environ=environ,
                clock=clock,
                entropy=entropy,
                database=database,
                spill=spill,
                audit=audit,
            )
        finally:
            audit.close()
    finally:
        spill.close()
        database.close()


def _require_workspace(folder: str) -> None:
    if not Path(folder).is_dir():
        raise ConfigNotFound(
            f"There is no workspace folder {folder}.", hint="Make it, or name another: --workspace DIR."
        )


def _require_webhook_secret(settings: Settings, environ: Mapping[str, str]) -> None:
    if settings.webhook is not None and "out_of_band" in settings.approval_channels:
        from execkit_mcp.runtime.webhooks import webhook_secret  # noqa: PLC0415 - only where a webhook is configured

        webhook_secret(settings, environ)
