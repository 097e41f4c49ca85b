"""Every exception this package raises: one class and one stable code each.

    ExecKitError
    ├── ConfigError            config.invalid
    │   ├── ConfigNotFound     config.not_found
    │   └── ConfigPermissions  config.permissions
    ├── PolicyError
    │   ├── PolicyInvalid      policy.document_invalid
    │   ├── PolicyExampleFailed policy.example_failed
    │   └── Blocked            policy.denied          (carries .decision)
    │       ├── ApprovalRequired  approval.required   (carries .approval_id)
    │       ├── ApprovalDenied    approval.denied
    │       └── ApprovalExpired   approval.expired
    ├── SessionError
    │   ├── SessionNotFound    session.not_found
    │   ├── SessionBusy        session.busy           (details.exec_id)
    │   ├── SessionClosed      session.closed
    │   └── SessionLimit       session.limit
    ├── ExecNotFound           exec.not_found
    ├── ExecExpired            exec.expired
    ├── CommandError
    │   ├── CommandTimeout     command.timeout
    │   ├── CommandCancelled   command.cancelled
    │   ├── CommandInvalid     command.invalid
    │   └── CommandTooLarge    command.too_large
    ├── TransportError
    │   ├── TransportUnknown   transport.unknown
    │   ├── TransportUnavailable transport.unavailable
    │   ├── ConnectFailed      transport.connect_failed
    │   ├── AuthFailed         transport.auth_failed
    │   ├── HostKeyUnknown     transport.host_key_unknown
    │   ├── HostKeyMismatch    transport.host_key_mismatch
    │   ├── TransportLost      transport.lost
    │   └── CapabilityMissing  transport.capability_missing
    ├── FenceUnavailable       fence.unavailable
    ├── CheckpointError
    │   ├── CheckpointNotFound checkpoint.not_found
    │   ├── CheckpointConflict checkpoint.conflict
    │   └── CheckpointTooLarge checkpoint.too_large
    ├── StorageUnavailable     storage.unavailable
    ├── AuditError
    │   ├── AuditWriteFailed   audit.write_failed
    │   └── AuditChainBroken   audit.chain_broken
    └── InternalError          internal.error

It is longer than most: a class for each code. A code never changes its meaning.
A message says what happened and to what; a hint says what to do next.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from execkit_mcp.model.decision import Decision

__all__ = [
    "ApprovalDenied",
    "ApprovalExpired",
    "ApprovalRequired",
    "AuditBusy",
    "AuditChainBroken",
    "AuditError",
    "AuditWriteFailed",
    "AuthFailed",
    "Blocked",
    "CapabilityMissing",
    "CheckpointConflict",
    "CheckpointError",
    "CheckpointNotFound",
    "CheckpointTooLarge",
    "CommandCancelled",
    "CommandError",
    "CommandInvalid",
    "CommandTimeout",
    "CommandTooLarge",
    "ConfigError",
    "ConfigNotFound",
    "ConfigPermissions",
    "ConnectFailed",
    "ExecExpired",
    "ExecKitError",
    "ExecNotFound",
    "FenceUnavailable",
    "HostKeyMismatch",
    "HostKeyUnknown",
    "InternalError",
    "PolicyError",
    "PolicyExampleFailed",
    "PolicyInvalid",
    "SessionBusy",
    "SessionClosed",
    "SessionError",
    "SessionLimit",
    "SessionNotFound",
    "StorageUnavailable",
    "TransportError",
    "TransportLost",
    "TransportUnavailable",
    "TransportUnknown",
]

Details = Mapping[str, object]


class ExecKitError(Exception):
    """The root: catch this to catch everything that this package raises on purpose.

    Attributes:
        code: the stable, dotted code of the contract.
        message: what happened, and to what, in one sentence.
        hint: what to do next; empty when there is nothing to do.
        retryable: whether the same call may succeed later without any change.
        details: facts for programs, JSON-able.
    """

    code: ClassVar[str] = "internal.error"
    retryable_by_default: ClassVar[bool] = False

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool | None = None, details: Details | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = self.retryable_by_default if retryable is None else retryable
        self.details: dict[str, object] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" {self.hint}" if self.hint else "")

    def to_json(self) -> dict[str, object]:
        """The five fields of the contract, as they stand in ``structuredContent.error``."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
            "details": self.details,
        }


class InternalError(ExecKitError):
    """A fault of ours; never shown as a command's output."""

    code = "internal.error"


class ConfigError(ExecKitError):
    """A configuration file, variable or flag is wrong; the message opens with ``file:line:col``."""

    code = "config.invalid"


class ConfigNotFound(ConfigError):
    """A configuration or policy file that was named does not exist."""

    code = "config.not_found"


class ConfigPermissions(ConfigError):
    """A configuration or policy file, or a state folder, is open to others."""

    code = "config.permissions"


class PolicyError(ExecKitError):
    """Something about a policy: the document, or what it decided."""

    code = "policy.document_invalid"


class PolicyInvalid(PolicyError):
    """A policy document does not load; the message opens with ``file:line:col``."""

    code = "policy.document_invalid"


class PolicyExampleFailed(PolicyError):
    """A test inside a policy document does not hold, so the policy is refused."""

    code = "policy.example_failed"


class Blocked(PolicyError):
    """A command was not run; ``decision`` says why and what would be allowed."""

    code = "policy.denied"

    def __init__(
        self, message: str, *, decision: "Decision | None" = None, hint: str = "", details: Details | None = None
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.decision = decision


class ApprovalRequired(Blocked):
    """A human must decide first; ``approval_id`` names the request."""

    code = "approval.required"

    def __init__(self, message: str, *, approval_id: str, decision: "Decision | None" = None, hint: str = "") -> None:
        super().__init__(message, decision=decision, hint=hint, details={"approval_id": approval_id})
        self.approval_id = approval_id


class ApprovalDenied(Blocked):
    """A human said no."""

    code = "approval.denied"


class ApprovalExpired(Blocked):
    """An approval was used already, ran out, or belongs to another command, folder, target or policy."""

    code = "approval.expired"


class SessionError(ExecKitError):
    """Something about a session."""

    code = "session.closed"


class SessionNotFound(SessionError):
    """No session of that name is open."""

    code = "session.not_found"


class SessionBusy(SessionError):
    """A session serves one command at a time; ``details.exec_id`` names the running one."""

    code = "session.busy"
    retryable_by_default = True


class SessionClosed(SessionError):
    """The session was closed, or its shell ended and could not be replaced."""

    code = "session.closed"


class SessionLimit(SessionError):
    """No more sessions may be opened."""

    code = "session.limit"
    retryable_by_default = True


class ExecNotFound(ExecKitError):
    """No exec of that id is known."""

    code = "exec.not_found"


class ExecExpired(ExecKitError):
    """The output asked for has aged out; ``details`` keeps its counts."""

    code = "exec.expired"


class CommandError(ExecKitError):
    """Something about one command."""

    code = "command.invalid"


class CommandTimeout(CommandError):
    """A command ran past its time and was interrupted."""

    code = "command.timeout"


class CommandCancelled(CommandError):
    """The caller cancelled the command."""

    code = "command.cancelled"


class CommandInvalid(CommandError):
    """An argument of a call has the wrong type or value; the message names it."""

    code = "command.invalid"


class CommandTooLarge(CommandError):
    """A request is over 1 MiB."""

    code = "command.too_large"


class TransportError(ExecKitError):
    """Something about how bytes reach a shell."""

    code = "transport.unavailable"


class TransportUnknown(TransportError):
    """No target or transport of that name is declared."""

    code = "transport.unknown"


class TransportUnavailable(TransportError):
    """The transport cannot work here; the message names what is missing."""

    code = "transport.unavailable"


class ConnectFailed(TransportError):
    """The other side could not be reached."""

    code = "transport.connect_failed"
    retryable_by_default = True


class AuthFailed(TransportError):
    """The other side refused our credentials."""

    code = "transport.auth_failed"


class HostKeyUnknown(TransportError):
    """The host's key is not known; an operator must accept it."""

    code = "transport.host_key_unknown"


class HostKeyMismatch(TransportError):
    """The host's key changed; never retried."""

    code = "transport.host_key_mismatch"


class TransportLost(TransportError):
    """The link or the shell was lost while a command ran."""

    code = "transport.lost"


class CapabilityMissing(TransportError):
    """The target cannot do what was asked."""

    code = "transport.capability_missing"


class FenceUnavailable(ExecKitError):
    """A rule requires a fence that this target does not have."""

    code = "fence.unavailable"


class CheckpointError(ExecKitError):
    """A workspace in layers cannot do what was asked."""

    code = "checkpoint.conflict"


class CheckpointNotFound(CheckpointError):
    """There is no snapshot of that name, or the session is no sandbox."""

    code = "checkpoint.not_found"


class CheckpointConflict(CheckpointError):
    """Something is not as it was: a workspace that changed meanwhile, a sandbox in which something runs."""

    code = "checkpoint.conflict"


class CheckpointTooLarge(CheckpointError):
    """More changed than can be shown, or more snapshots than there may be."""

    code = "checkpoint.too_large"


class StorageUnavailable(ExecKitError):
    """The state folder or its database cannot be used."""

    code = "storage.unavailable"


class AuditError(ExecKitError):
    """Something about the audit log."""

    code = "audit.write_failed"


class AuditWriteFailed(AuditError):
    """The record could not be written, so nothing ran."""

    code = "audit.write_failed"


class AuditBusy(AuditWriteFailed):
    """Another process holds the record, so nothing ran; the record itself is as good as before."""


class AuditChainBroken(AuditError):
    """The record was edited, cut or swapped; the message names the first bad entry."""

    code = "audit.chain_broken"
