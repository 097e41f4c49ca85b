"""Honest work is not stopped: what people type on a day like any other, against the policy that is made for them.

One file a policy in ``honest_work/``, one text a line, ``\\N`` for a newline. A line that begins with ``? `` is one
that a person is meant to be asked about; any other is meant to run unasked. The lists are written by hand, not made
from the tables: a line that is refused stays in its list and counts.
"""

from pathlib import Path

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

LISTS = {
    "prod-readonly": "/srv/app",
    "workstation": "/home/dev/project",
    "k8s-debug": "/home/dev/project",
    "ci": "/build/project",
    "read-only": "/home/dev/project",
}
FOLDER = Path(__file__).parent / "honest_work"
# At most one text in twenty, as promised; what is reached today stands beside it.
MOST_STOPPED = 0.05


def rows(name):
    """Each text of a list with the verdict that is meant."""
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        text = line.removeprefix("? ").replace("\\N", "\n")
        yield text, Verdict.ASK if line.startswith("? ") else Verdict.ALLOW


@pytest.mark.parametrize("name", LISTS)
def test_at_most_one_honest_text_in_twenty_is_neither_allowed_nor_asked_as_intended(name):
    folder = LISTS[name]
    policy = load_policy(name, workspace=folder)
    here = Context(cwd=folder, home="/home/dev", workspace=folder)
    texts = list(rows(name))
    otherwise = [text for text, wanted in texts if judge(text, policy, here).verdict is not wanted]
    assert len(otherwise) <= MOST_STOPPED * len(texts), otherwise


def test_the_lists_are_long_enough_to_mean_something_and_say_nothing_twice():
    texts = [text for name in LISTS for text, _ in rows(name)]
    assert len(texts) >= 700
    assert all(len({text for text, _ in rows(name)}) == len(list(rows(name))) for name in LISTS)
    assert not (set(LISTS) ^ {path.stem for path in FOLDER.glob("*.txt")})
