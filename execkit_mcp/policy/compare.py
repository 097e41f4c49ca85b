"""What a policy changes: questions that were decided before, decided anew, grouped by how they differ."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import Decision, Verdict
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.findings import Context


class Question(Struct, frozen=True, kw_only=True):
    """A command to decide on.

    Attributes:
        command: the text.
        cwd: where it would run; empty: where the others do.
        home: what ``~`` means; empty: as for the others.
        label: its id in the corpus or record; empty: none.
        category: what kind of command it is; empty: not said.
        before: what was decided on it, where that is on record.
        was_run: whether it ran, where that is on record.
    """

    command: str
    cwd: str = ""
    home: str = ""
    label: str = ""
    category: str = ""
    before: Verdict | None = None
    was_run: bool = False

    def context(self, base: Context) -> Context:
        """Where it would run."""
        return replace(base, cwd=self.cwd or base.cwd, home=self.home or base.home)


class Change(Struct, frozen=True, kw_only=True):
    """One question that gets another verdict."""

    question: Question
    before: Verdict
    after: Decision

    @property
    def is_stricter(self) -> bool:
        """Whether the new verdict is the stricter one."""
        return self.after.verdict > self.before

    def to_json(self) -> dict[str, object]:
        """The change as a JSON object."""
        question, after = self.question, self.after
        known = {"id": question.label, "category": question.category, "cwd": question.cwd}
        return {
            "command": question.command,
            **{key: value for key, value in known.items() if value},
            "rule": after.rule,
            "reason_code": after.reason_code.value,
            "message": after.message,
        }


class Comparison(Struct, frozen=True, kw_only=True):
    """Every change, the graver groups first."""

    judged: int
    changes: tuple[Change, ...]

    @property
    def stricter(self) -> int:
        """How many questions get a stricter verdict."""
        return sum(change.is_stricter for change in self.changes)

    def groups(self) -> list[tuple[Verdict, Verdict, list[Change]]]:
        """The changes by old and new verdict: what loosens first, from the widest step to the smallest."""
        keys = sorted(
            {(change.before, change.after.verdict) for change in self.changes},
            key=lambda pair: (pair[1] > pair[0], -abs(pair[0] - pair[1]), pair[1]),
        )
        return [
            (
                before,
                after,
                [each for each in self.changes if (each.before, each.after.verdict) == (before, after)],
            )
            for before, after in keys
        ]

    def to_json(self) -> dict[str, object]:
        """The comparison as a JSON object."""
        return {
            "judged": self.judged,
            "changed": len(self.changes),
            "stricter": self.stricter,
            "looser": len(self.changes) - self.stricter,
            "groups": [
                {
                    "from": before.word,
                    "to": after.word,
                    "count": len(changes),
                    "commands": [change.to_json() for change in changes],
                }
                for before, after, changes in self.groups()
            ],
        }


def decided_by(policy: CompiledPolicy, context: Context) -> Callable[[Question], Verdict]:
    """The verdict of ``policy`` on a question."""
    return lambda question: judge(question.command, policy, question.context(context)).verdict


def compare(
    questions: Iterable[Question], before: Callable[[Question], Verdict], policy: CompiledPolicy, context: Context
) -> Comparison:
    """Each question whose verdict by ``policy`` is not the one that ``before`` gives."""
    changes: list[Change] = []
    judged = 0
    for question in questions:
        judged += 1
        old = before(question)
        new = judge(question.command, policy, question.context(context))
        if new.verdict is not old:
            changes.append(Change(question=question, before=old, after=new))
    return Comparison(judged=judged, changes=tuple(changes))
