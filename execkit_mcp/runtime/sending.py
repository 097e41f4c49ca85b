"""Typing into an exec that runs: what is sent is judged, put on the record, and only then typed; this module acts.

    look at the terminal → plan → judge → redeem an approval → record → look again → type

``policy/typed`` decides. The second look binds the decision to who is in front: if another program, folder or mode
has come meanwhile, nothing is typed. What remains is the moment between that look and the program's own read.
"""

import asyncio
import contextlib
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import ApprovalRequired, Blocked, CapabilityMissing, CommandInvalid, ExecKitError
from execkit_mcp.model import Decision, Verdict
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.output.pattern import LinePattern
from execkit_mcp.policy.password_prompts import may_ask
from execkit_mcp.policy.readers import Kind, readers_of, reads_itself
from execkit_mcp.policy.typed import Line, Step, plan
from execkit_mcp.policy.typed_verdict import decide
from execkit_mcp.protocol.keys import encode, key_name
from execkit_mcp.protocol.queries import Modes
from execkit_mcp.runtime.admission import strictest
from execkit_mcp.runtime.asking import Permit
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.reading import Reading, ReadRequest, Stream, piece_of, wait_for
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.secrets import TypedSecrets, reference_in
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.signalling import name_of_signal, send_signal

_KILL_LINE: Final = "\x15"
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
INTERRUPTS: Final = frozenset({"ctrl-c", "ctrl-z", "ctrl-backslash"})
_NOBODY: Final = TerminalState(processes=(), is_shell_in_front=True, is_line_mode=True, has_echo=True)
_NO_PROMPT: Final = Step(
    action="refuse",
    message="A secret is typed only where the terminal hides what is typed, to the program that asks; not here, now.",
    hint="Wait for the password prompt (wait_for), then send the reference.",
    is_retryable=True,
)
_ATTEMPTS: Final = 3
_READY_S: Final = 1.5
_LOOK_S: Final = 0.01
_RECORDED_CHARS: Final = 2000


class SendRequest(Struct, frozen=True, kw_only=True):
    """One call of ``shell_send``.

    Attributes:
        exec_id: the exec to type into.
        text: typed as it is; a line end is the Enter key.
        key: a key by name, instead of text.
        signal: a signal by name without SIG, instead of both.
        wait_s: seconds to wait for output.
        wait_for: stop waiting when output after the send matches.
        settle_ms: stop waiting when nothing has come for so many milliseconds.
        cols: the terminal's new width.
        rows: its new height.
        reason: the agent's words to the person who may have to approve.
        approval_id: an approval obtained earlier for this very text.
    """

    exec_id: str
    text: str | None = None
    key: str | None = None
    signal: str | None = None
    wait_s: float = 1.0
    wait_for: str | None = None
    settle_ms: int | None = None
    cols: int | None = None
    rows: int | None = None
    reason: str = ""
    approval_id: str | None = None

    def checked(self) -> "SendRequest":
        """This request, or the error that says what is wrong with it."""
        if self.text is not None and self.key is not None:
            raise CommandInvalid("text and key exclude each other.", hint="Send the text, then key enter.")
        if self.signal is not None and (self.text is not None or self.key is not None):
            raise CommandInvalid("signal excludes text and key.", hint="Send one of them.")
        if all(each is None for each in (self.text, self.key, self.signal, self.cols, self.rows)):
            raise CommandInvalid("There is nothing to send.", hint="Send text, key or signal.")
        if self.key is not None:
            key_name(self.key)
        if self.wait_for is not None:
            LinePattern(self.wait_for)
        if self.text is not None:
            try:
                self.text.encode("utf-8")
            except UnicodeEncodeError as error:
                raise CommandInvalid("text holds a lone surrogate, which is not text.", hint="Send Unicode.") from error
        return self


async def send(request: SendRequest, exec_: Exec, session: Session, gate: Gate, secrets: TypedSecrets) -> Reading:
    """Type, wait, and read what came since.

    Raises:
        CommandInvalid: an ended exec, a key that does not exist, text that cannot be typed there.
        Blocked: the policy refuses what would be typed.
        ApprovalRequired: a person must look at it first.
        ApprovalDenied, ApprovalExpired: the given approval does not let this be typed.
        AuditWriteFailed: the record cannot be written, so nothing was typed.
    """
    has_terminal = session.facts.locator is None or exec_.is_tty
    if session.facts.locator is not None:
        _refuse_stops(request)
    name = name_of_signal(request.signal, request.key, request.text, exec_, has_terminal=has_terminal)
    if not exec_.is_running and name is None:
        raise ended(exec_)
    stream: Stream = "stdout" if exec_.is_tty or name is not None else "screen"
    exec_.flush()
    before = exec_.chain(stream).retained.total_bytes
    if request.cols is not None or request.rows is not None:
        session.resize(request.cols, request.rows)
    notes: tuple[str, ...] = ()
    if name is not None:
        session.withdraw(exec_)
        send_signal(name, exec_, session)
    elif request.text is not None or request.key is not None:
        # one at a time: a line that another call types meanwhile may change what this one does
        async with session.typing if request.key not in INTERRUPTS else contextlib.nullcontext():
            notes = await _type_as_judged(request, exec_, session, gate, secrets)
        if request.key in INTERRUPTS:
            session.withdraw(exec_)
    await wait_for(exec_, stream, request.wait_for, wait_s=request.wait_s, after=before, settle_ms=request.settle_ms)
    return piece_of(ReadRequest(exec_id=exec_.exec_id, stream=stream, offset=before), exec_, notes)


def _refuse_stops(request: SendRequest) -> None:
    """Where the shell has no job control nobody could continue what was stopped, not even the shell itself."""
    if request.key == "ctrl-z" or request.signal in {"STOP", "TSTP"}:
        raise CapabilityMissing(
            "A session on this target has no job control: what is stopped would hold it.",
            hint="End the command with key ctrl-c or signal TERM, or open another session beside it.",
        )


class _Overtaken(CommandInvalid):
    """The terminal changed while a send was judged."""


async def _type_as_judged(
    request: SendRequest, exec_: Exec, session: Session, gate: Gate, secrets: TypedSecrets
) -> tuple[str, ...]:
    """Type; if the terminal changed meanwhile, judge anew for who is there now, unless an approval was used up."""
    for _ in range(_ATTEMPTS):
        try:
            return await _type(request, exec_, session, gate, secrets)
        except _Overtaken as error:
            gate.record_typed(None, session, exec_id=exec_.exec_id, withdrawn=str(error.message))
            if request.approval_id is not None:
                raise
            last = error
    raise last


async def _type(
    request: SendRequest, exec_: Exec, session: Session, gate: Gate, secrets: TypedSecrets
) -> tuple[str, ...]:
    key = key_name(request.key) if request.key is not None else None
    step, state = await _planned(request.text, key, exec_, session)
    reference = reference_in(request.text)
    if reference is not None and step.action == "password":
        name, end = reference
        value = await _secret(name, state, session, gate, secrets)
        session.protect(name, value)
        gate.record_typed(None, session, exec_id=exec_.exec_id, secret=name, into=session.redact(_front(state)))
        await _put((value + (end if state.is_line_mode else end.replace("\n", "\r"))).encode(), exec_, session, state)
        return ()
    match step.action:
        case "hold":
            exec_.typed = replace(step.line, last=exec_.typed.last, is_once=exec_.typed.is_once)
            count = len(step.line.held)
            return (f"{count} characters are held until the line ends; send key enter to have it judged and typed",)
        case "refuse":
            raise CommandInvalid(session.redact(step.message), hint=step.hint, retryable=step.is_retryable)
        case "password":
            gate.record_typed(None, session, exec_id=exec_.exec_id, verdict="deny", message=step.message)
            raise Blocked(step.message, hint=step.hint)
        case _:
            pass
    decision = None
    if step.action == "judge":
        context = gate.context(session.facts, cwd=session.cwd)
        decision = await session.judged(
            lambda: strictest([decide(step, state, policy, context) for policy in session.facts.policies])
        )
        if decision.verdict is not Verdict.ALLOW:
            _refuse_or_ask(decision, step, request, exec_, session=session, gate=gate)
    gate.record_typed(decision, session, exec_id=exec_.exec_id, **_facts(step, request, session))
    if decision is not None and session.watch is not None:
        session.watch.typed(decision)
    modes = exec_.view.modes if exec_.view is not None else Modes()
    now = await _put(_bytes(step, decision, state, modes), exec_, session, None if step.key in INTERRUPTS else state)
    reader = next((each for each in now.front if step.process is not None and each.pid == step.process.pid), None)
    is_shell = step.reader is not None and step.reader.kind is Kind.SHELL
    last = (reader.pid, reader.naps) if reader is not None and is_shell else exec_.typed.last
    is_once = exec_.typed.is_once if decision is None else decision.verdict is not Verdict.ALLOW
    exec_.typed = replace(step.line, last=last, is_once=is_once)
    return ()


async def _secret(name: str, state: TerminalState, session: Session, gate: Gate, secrets: TypedSecrets) -> str:
    """A secret's value, once it is known who is in front; raises as ``TypedSecrets.value``."""

    def told() -> str | ExecKitError:
        try:
            return secrets.value(name, state, gate.context(session.facts, cwd=session.cwd).locator)
        except ExecKitError as error:
            return error

    found = await session.judged(told)
    if isinstance(found, ExecKitError):
        raise found
    return found


async def _put(data: bytes, exec_: Exec, session: Session, judged: TerminalState | None) -> TerminalState:
    """Type it, if the terminal still stands as it did when this was judged (None: however it stands).

    Returns the terminal as it stood just before.
    """
    told = await session.type(exec_, data, judged)
    if told is not None and not told.is_typed and exec_.is_running:
        raise _Overtaken(
            "Another program came to the front of the terminal while this was judged; nothing was typed.",
            hint="Look at the screen and send it again if it still fits.",
            retryable=True,
        )
    if told is None or not told.is_typed:
        raise ended(exec_)
    return told.state or _NOBODY


def _front(state: TerminalState) -> str:
    return ", ".join(" ".join(process.argv)[:200] for process in state.front)


async def _planned(text: str | None, key: str | None, exec_: Exec, session: Session) -> tuple[Step, TerminalState]:
    """What to do, once the terminal is ready for it: a command that has just begun needs a moment."""
    commands = exec_.decision.commands
    to_come, is_shell_reading = readers_of(commands), reads_itself(commands)
    is_reference = reference_in(text) is not None
    loop = asyncio.get_running_loop()
    until = loop.time() + _READY_S
    while True:
        if not exec_.is_running:
            raise ended(exec_)
        state = await session.terminal(exec_)
        is_last = loop.time() >= until
        if state is not None:
            step = plan(
                text=text,
                key=key,
                line=exec_.typed,
                state=state,
                to_come=to_come,
                is_shell_reading=is_shell_reading,
                shown=exec_.view.left_of_cursor() if exec_.view is not None and may_ask(state) else "",
            )
            # A program may yet come to the front, or the one that is there leave it to the shell behind it.
            is_early = step.action == "judge" and (step.is_overheard or (not state.front and bool(to_come)))
            if is_reference and (step.action != "password" or step.is_secret_refused):
                step, is_early = _NO_PROMPT, True
            if is_last or not (is_early or step.is_retryable):
                return step, state
        elif is_last:
            raise CommandInvalid(
                "What was typed before has not been read yet, so nothing more is typed.",
                hint="Wait until the program reads, or send key ctrl-c.",
                retryable=True,
            )
        elif key in INTERRUPTS:  # held until the command has begun
            return Step(action="type", key=key), _NOBODY
        await asyncio.sleep(_LOOK_S)


def _refuse_or_ask(
    decision: Decision, step: Step, request: SendRequest, exec_: Exec, *, session: Session, gate: Gate
) -> None:
    """Return only if a person has approved it."""
    if decision.verdict is Verdict.DENY:
        gate.record_typed(decision, session, exec_id=exec_.exec_id, **_facts(step, request, session))
        held = len(exec_.typed.held)
        rest = f" {held} characters of earlier sends are still held before it; key ctrl-u drops them." if held else ""
        raise Blocked(
            session.redact(decision.message),
            decision=decision,
            hint=session.redact(decision.hint) + rest,
            details={"reason_code": decision.reason_code.value, "rule": decision.rule, "verdict": "deny"},
        )
    asked = RunRequest(
        command=step.text, stdin=step.text, tty=True, reason=request.reason, approval_id=request.approval_id
    )
    typed_into = f"exec {exec_.exec_id}: {_seat(step)}"
    answer = gate.asking.ask(decision, asked, session, typed_into=typed_into)
    if isinstance(answer, Permit):
        return
    raise ApprovalRequired(
        session.redact(decision.message),
        approval_id=answer.approval_id,
        decision=decision,
        hint="Nothing was typed. When a person has approved, send the same again with approval_id.",
    )


def _seat(step: Step) -> str:
    process = step.process
    if process is None:
        return "the session's shell"
    return f"{' '.join(process.argv)[:200]} (process {process.pid}) in {process.cwd or 'an unknown folder'}"


def _facts(step: Step, request: SendRequest, session: Session) -> dict[str, object]:
    text = step.key or step.text
    return {
        "into": session.redact(_seat(step)) if step.process is not None else "",
        "kind": step.reader.kind.value if step.reader is not None else "",
        "typed": session.redact(text[:_RECORDED_CHARS]),
        "typed_chars": len(text),
        "is_key": bool(step.key),
        "approval_id": request.approval_id,
    }


def _bytes(step: Step, decision: Decision | None, state: TerminalState, modes: Modes) -> bytes:
    if step.key:
        return encode(step.key, is_application_cursor=modes.is_application_cursor)
    text = step.text
    is_line = step.reader is not None and step.reader.kind in {Kind.SHELL, Kind.INTERPRETER}
    if is_line and decision is not None:
        text = f"{decision.canonical if step.reader is not None and step.reader.kind is Kind.SHELL else text}\n"
    body = text.rstrip("\n")
    if modes.is_bracketed_paste and "\n" in body:
        text = f"{_PASTE}{body}{_PASTED}{text[len(body) :]}"
    if is_line:  # nothing that stands there already may become part of it
        text = _KILL_LINE + text
    return (text if state.is_line_mode else text.replace("\n", "\r")).encode("utf-8")


def ended(exec_: Exec) -> CommandInvalid:
    """The error of typing into an exec that has ended."""
    exec_.typed = Line()
    return CommandInvalid(
        f"Exec {exec_.exec_id!r} has ended; nothing was sent.",
        hint="Read its output with shell_read, or start a command with tty=true.",
        details={"status": exec_.status.value},
    )
