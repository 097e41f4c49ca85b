"""What is asked of the runtime: one command, and who asks for it."""

from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import asdict, replace

from execkit_mcp.errors import CommandInvalid, CommandTooLarge

MAX_REQUEST_BYTES = 1_048_576
DEFAULT_SESSION = "main"
DEFAULT_TARGET = "local"
_DAY_S = 86_400.0 * 366
_Wait = Annotated[float, Meta(ge=0, le=_DAY_S)]
_Timeout = Annotated[float, Meta(gt=0, le=_DAY_S)]
_Chars = Annotated[int, Meta(ge=0)]


class RunRequest(Struct, frozen=True, kw_only=True):
    """One call of ``shell_run``.

    Attributes:
        command: the agent's text.
        session: name of an open session, or None for the default one, which is opened if need be.
        wait_s: seconds to wait for the end; None waits until the end.
        timeout_s: seconds after which the command is interrupted; None: as the policy says.
        stdin: text for standard input; None reads ``/dev/null``.
        tty: run on the session's terminal.
        max_output: characters a stream that the result keeps.
        reason: the agent's words to the person who may have to approve.
        approval_id: an approval obtained earlier for this very command.
        idempotency_key: a second call with the same key gets the first call's exec instead of running again.
        durable: it goes on when session and server end; it runs in a shell of its own, in the session's folder.
        env_delta: say what the command did to the exported variables.
    """

    command: str
    session: str | None = None
    wait_s: _Wait | None = 30.0
    timeout_s: _Timeout | None = None
    stdin: str | None = None
    tty: bool = False
    max_output: _Chars = 20_000
    reason: str = ""
    approval_id: str | None = None
    idempotency_key: str | None = None
    env_delta: bool = False
    durable: bool = False

    def checked(self) -> "RunRequest":
        """This request, or the error that says what is wrong with its values, sizes or characters."""
        try:
            convert(asdict(self), RunRequest)  # the SDK's caller may give anything
        except ValidationError as error:
            told, _, name = str(error).partition(" - at `$.")
            raise CommandInvalid(
                f"{name.rstrip('`')}: {told[:1].lower()}{told[1:]}.", hint="Pass a value of that kind."
            ) from error
        for name, text in (("command", self.command), ("stdin", self.stdin or "")):
            try:
                size = len(text.encode("utf-8"))
            except UnicodeEncodeError as error:
                raise CommandInvalid(
                    f"{name} holds a lone surrogate at character {error.start + 1}, which is not text.",
                    hint="Send valid Unicode.",
                ) from error
            if size > MAX_REQUEST_BYTES:
                raise CommandTooLarge(
                    f"{name} has {size} bytes; the limit is {MAX_REQUEST_BYTES}.",
                    hint="Write the data to a file and work on the file.",
                )
        if not self.command.strip():
            raise CommandInvalid("command is empty.", hint="Send the command to run.")
        if self.tty and self.stdin is not None:
            raise CommandInvalid(
                "stdin and tty exclude each other: on a terminal, input is what shell_send types.",
                hint="Leave out one of them.",
            )
        if self.durable and (self.tty or self.stdin is not None or self.idempotency_key is not None):
            raise CommandInvalid(
                "durable excludes tty, stdin and idempotency_key.",
                hint="A durable job reads nothing; give it a file, and find it again with shell_info.",
            )
        return self

    @property
    def call(self) -> tuple[object, ...]:
        """What must be the same for a repeated ``idempotency_key`` to mean the same call."""
        return (self.command, self.session, self.stdin, self.tty)

    def approved_by(self, approval_id: str) -> "RunRequest":
        """The same request, with the approval that it obtained."""
        return replace(self, approval_id=approval_id)
