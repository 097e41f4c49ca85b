"""Between a session and its exec gate: what was judged goes down, what really ran comes up; this module is that link.

The gate asks about an execve that is not on the plan of the canonical text. The session's policy then judges the
resolved argv, as a text of plain words. A denial is told in the result of the command beneath which it happened; where
the policy says ``ask``, the process waits inside its execve while a person decides.
"""

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from execkit_mcp.errors import ExecKitError
from execkit_mcp.fence.exec_rules import fits
from execkit_mcp.model import Decision, JudgedCommand, ReasonCode, Refusal, Verdict
from execkit_mcp.policy.document import Rule
from execkit_mcp.runtime.exec import Exec

_MAX_TEXT = 60_000
_HEAD_WORDS, _GROUP_WORDS = 8, 300
_MAX_REFUSALS = 40
_POLL_S = 0.25

_HINTS: Mapping[str, str] = {
    "writable": "Install it in a folder that the session cannot write, or name it by its path in a rule of the policy.",
    "interpreter": "Use an interpreter of the machine.",
    "loader": "Run the program by its own name.",
    "name": "Start the program under its own name.",
    "library": "Install the library in a folder that the session cannot write.",
    "race": "Nothing may change a command between the check and its start.",
}


class Question(Struct, frozen=True, kw_only=True):
    """An execve that the policy is asked about."""

    number: int
    path: str
    real: str
    argv: tuple[str, ...]
    cwd: str
    label: str
    why: str
    parents: tuple[str, ...]


class Answer(Struct, frozen=True, kw_only=True):
    """What becomes of it; ``approval_id``: a person decides, and it waits."""

    allow: bool
    decision: Decision | None = None
    approval_id: str | None = None


class _Waiting(NamedTuple):
    holder: Exec | None
    question: Question
    task: asyncio.Task[None]


def _words(question: Question) -> tuple[str, tuple[str, ...], str]:
    """What a no is remembered by while its command runs: a shell tries the same file by each name in its PATH."""
    return question.real, question.argv, question.cwd


class FenceWatch:
    """One session's; ``judge`` gives the policy's decision on a text in a folder.

    Args:
        rules: the policy's rules by id.
        resolve: the file behind a program's name or path, links followed, or None.
        judge: the decision on a text in a folder.
        ask: puts a decision to a person, or looks for the answer to the approval whose id is given: the id to wait
            for, or None where it may run; raises where it may not.
        record: puts something on the record.
    """

    def __init__(
        self,
        *,
        rules: Mapping[str, Rule],
        is_open: bool,
        resolve: Callable[[str], str | None],
        judge: Callable[[str, str], Decision],
        ask: Callable[[Decision, Question, str | None], str | None],
        record: Callable[[str, Mapping[str, object]], None],
        redact: Callable[[str], str],
    ) -> None:
        self._rules = rules
        self._is_open = is_open
        self._resolve = resolve
        self._judge = judge
        self._ask = ask
        self._record = record
        self._redact = redact
        self._files: dict[str, str | None] = {}
        self._current: Exec | None = None
        self._sent = False
        self._tell: Callable[[str, Sequence[Mapping[str, object]], bool], None] = lambda _exec_id, _entries, _keeps: (
            None
        )
        self._answer: Callable[[int, bool, bool], None] = lambda _number, _allow, _trusted: None
        self._drain: Callable[[], None] = lambda: None
        self._waiting: dict[int, _Waiting] = {}
        self._refused_once: set[tuple[str, tuple[str, ...], str]] = set()
        self._typed: list[JudgedCommand] = []

    def connect(
        self,
        *,
        tell: Callable[[str, Sequence[Mapping[str, object]], bool], None],
        answer: Callable[[int, bool, bool], None],
        drain: Callable[[], None],
    ) -> None:
        """Join it to the session's channel."""
        self._tell, self._answer, self._drain = tell, answer, drain

    # ── before and after a command ───────────────────────────────────────────────────────────────────────

    def begins(self, exec_: Exec, *, keeps: bool, cwd: str = "") -> None:
        """Tell the gate what ``exec_`` was judged for in ``cwd``; ``keeps``: jobs of earlier commands still run."""
        self._current = exec_
        self._refused_once.clear()
        self._typed.clear()
        entries = self._entries(exec_.decision, cwd)
        if entries or self._sent:
            self._sent = bool(entries)
            self._tell(exec_.exec_id, entries, keeps)

    def typed(self, decision: Decision) -> None:
        """Tell the gate what a text was judged for that is typed into a running command."""
        self._typed += [each for each in decision.commands if each.verdict is Verdict.ASK]
        entries = self._entries(decision)
        if entries:
            self._sent = True
            self._tell("" if self._current is None else self._current.exec_id, entries, True)

    def ended(self) -> None:
        """Take what the gate said before the command ended."""
        self._drain()

    def _entries(self, decision: Decision, cwd: str = "") -> list[Mapping[str, object]]:
        entries: list[Mapping[str, object]] = []
        for command in decision.commands:
            if not command.program or not command.argv:
                continue
            real = self._file(command.program, cwd)
            if real is None:
                continue
            rule = self._rules.get(command.rule or "")
            trusts = rule is not None and rule.effects is not None and rule.effects.is_trusted
            entries.append(
                {
                    "real": real,
                    "argv": list(command.argv[1:]),
                    "trusted": trusts or command.verdict is Verdict.ASK,
                }
            )
        return entries

    def _file(self, program: str, cwd: str) -> str | None:
        if "/" in program:  # a path is looked at anew: what stands there can change
            if program.startswith("/"):
                return self._resolve(program)
            return self._resolve(f"{cwd}/{program}") if cwd else None
        if program not in self._files:
            if len(self._files) > 2000:  # noqa: PLR2004 - names of programs; more is an attack
                self._files.clear()
            self._files[program] = self._resolve(program)
        return self._files[program]

    # ── what the gate says ───────────────────────────────────────────────────────────────────────────────

    def heard(self, message: Mapping[str, Any]) -> None:
        """One message of the gate."""
        kind = message["event"]
        if kind == "judge":
            self._on_question(
                Question(
                    number=message["number"],
                    path=message["path"],
                    real=message["real"],
                    argv=tuple(message["argv"]),
                    cwd=message["cwd"],
                    label=message["label"],
                    why=message["why"],
                    parents=tuple(message["parents"]),
                )
            )
        elif kind == "gone":
            self._gone(message["number"])
        elif kind == "refused":
            self._refused(
                Refusal(
                    program=message["real"],
                    argv=tuple(message["argv"]),
                    rule=None,
                    reason_code=ReasonCode.FENCE.value,
                    message=message["why"],
                    hint=_HINTS.get(message["code"], ""),
                    parents=tuple(message["parents"]),
                )
            )
        elif kind == "ran":
            programs = [self._redact(shlex.join(row)) for row in message["rows"]]
            self._log("exec.ran", {"programs": programs}, exec_id=message["exec_id"])

    def _on_question(self, question: Question) -> None:
        try:
            decision = self._decide(question)
            verdict = self._verdict(question, decision)
            if verdict is Verdict.ASK and self._was_approved(question, decision):
                self._answer(question.number, True, True)
                return
            if verdict is Verdict.ASK and _words(question) in self._refused_once:
                self._answer(question.number, False, False)
                return
            if verdict is Verdict.ASK:
                approval_id = self._ask(decision, question, None)
                if approval_id is not None:
                    self._held(question, decision, approval_id)
                    return
                verdict = Verdict.ALLOW
        except ExecKitError as error:
            self._answer(question.number, False, False)
            self._refuse(question, None, str(error))
            return
        is_trusted = question.label == "trusted" or self._is_trusting(decision)
        if verdict is Verdict.DENY:
            self._refuse(question, decision, decision.message)
        self._answer(question.number, verdict is Verdict.ALLOW, is_trusted)

    def _decide(self, question: Question) -> Decision:
        """The strictest decision on the argv; one that is too long to judge as a whole is judged in pieces."""
        words = [question.path if "/" in question.path else question.real, *question.argv[1:]]
        text = shlex.join(words)
        if len(text) <= _MAX_TEXT:
            return self._judge(text, question.cwd)
        head, rest = words[:_HEAD_WORDS], words[_HEAD_WORDS:]
        decisions = [
            self._judge(shlex.join([*head, *rest[at : at + _GROUP_WORDS]]), question.cwd)
            for at in range(0, len(rest), _GROUP_WORDS)
        ]
        return max(decisions, key=lambda each: each.verdict)

    def _verdict(self, question: Question, decision: Decision) -> Verdict:
        """What is vouched for runs what it likes, except what a rule denies, and asks where a rule asks."""
        if question.label != "trusted":
            return decision.verdict
        is_refused = decision.verdict is Verdict.DENY and decision.rule is not None
        if question.why == "asked":
            is_asked = decision.verdict is Verdict.ASK and (decision.rule is not None or bool(decision.hazards))
            return decision.verdict if is_refused or is_asked else Verdict.ALLOW
        if question.why == "denied":
            return Verdict.DENY if is_refused else Verdict.ALLOW if self._is_open else decision.verdict
        return decision.verdict

    def _was_approved(self, question: Question, decision: Decision) -> bool:
        """Whether a person has said yes to this very exec already, as a part of the text that runs.

        Its program was in another folder than could be told beforehand (``cd build && ./tool``). What he saw must be
        what the policy sees now: the same words, the same effects, for the same reason.
        """
        exec_ = self._current
        if exec_ is None or len(decision.commands) != 1:
            return False
        now = decision.commands[0]

        def is_that(then: JudgedCommand) -> bool:
            same = (then.effects, then.rule, then.reason_code) == (now.effects, now.rule, now.reason_code)
            return then.verdict is Verdict.ASK and same and fits(then.argv[1:], question.argv[1:])

        typed = next(
            (each for each in self._typed if is_that(each) and self._file(each.program, "") == question.real), None
        )
        if typed is not None:  # a line that he approved runs once
            self._typed.remove(typed)
            return True
        return question.label == "shell" and any(
            is_that(then) and then.program == question.path for then in exec_.decision.commands
        )

    def _is_trusting(self, decision: Decision) -> bool:
        rule = self._rules.get(decision.rule or "")
        return rule is not None and rule.effects is not None and rule.effects.is_trusted

    def _held(self, question: Question, decision: Decision, approval_id: str) -> None:
        exec_ = self._current
        chain = " ← ".join(map(self._redact, question.parents)) or "the shell"
        if exec_ is not None:
            exec_.notes.append(
                f"held: {self._redact(shlex.join(question.argv))} waits until a person decides on {approval_id} "
                f"(execkit-mcp approve {approval_id}); started by {chain}"
            )
            exec_.held[approval_id] = decision
        task = asyncio.get_running_loop().create_task(self._wait(question, decision, approval_id, exec_))
        self._waiting[question.number] = _Waiting(exec_, question, task)
        task.add_done_callback(lambda _: self._waiting.pop(question.number, None))

    def _gone(self, number: int) -> None:
        """A process that was held has ended: whatever is answered now, nothing runs."""
        waiting = self._waiting.pop(number, None)
        if waiting is not None:
            waiting.task.cancel()

    def withdraw(self, exec_: Exec) -> None:
        """What is held beneath the exec fails, and no answer is waited for."""
        for each in [each for each in self._waiting.values() if each.holder is exec_]:
            self._refused_once.add(_words(each.question))
            self._gone(each.question.number)
            self._answer(each.question.number, False, False)

    async def _wait(self, question: Question, decision: Decision, approval_id: str, exec_: Exec | None) -> None:
        is_allowed = False
        try:
            while self._ask(decision, question, approval_id) is not None:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)  # the answer may be given in another process
            is_allowed = True
        except ExecKitError as error:
            self._refused_once.add(_words(question))
            self._refuse(question, decision, f"It was held, and not let go: {error.message}")
        finally:
            if exec_ is not None:
                exec_.held.pop(approval_id, None)
        self._answer(question.number, is_allowed, True)

    def _refuse(self, question: Question, decision: Decision | None, message: str) -> None:
        self._refused(
            Refusal(
                program=question.real,
                argv=question.argv[:24],
                rule=decision.rule if decision is not None else None,
                reason_code=decision.reason_code.value if decision is not None else ReasonCode.FENCE.value,
                message=message,
                hint=decision.hint if decision is not None else "",
                parents=question.parents,
            )
        )

    def _refused(self, refusal: Refusal) -> None:
        shown = Refusal(
            program=self._redact(refusal.program),
            argv=tuple(map(self._redact, refusal.argv)),
            rule=refusal.rule,
            reason_code=refusal.reason_code,
            message=self._redact(refusal.message),
            hint=self._redact(refusal.hint),
            parents=tuple(map(self._redact, refusal.parents)),
        )
        exec_ = self._current
        if exec_ is not None and len(exec_.refused) < _MAX_REFUSALS and shown not in exec_.refused:
            exec_.refused.append(shown)
        self._log("exec.refused", shown.to_json())

    def _log(self, kind: str, data: Mapping[str, object], *, exec_id: str = "") -> None:
        """``exec_id``: whose it is; "" for the command that is there now."""
        current = self._current.exec_id if self._current is not None else None
        try:
            self._record(kind, {"exec_id": exec_id or current, **data})
        except ExecKitError:
            return  # the next command finds the record closed, and does not run

    def close(self) -> None:
        """Nobody waits any more."""
        for each in tuple(self._waiting.values()):
            each.task.cancel()
