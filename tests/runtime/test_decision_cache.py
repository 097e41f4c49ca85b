"""A decision is given again only while everything that it was made from is the same."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime import decision_cache
from execkit_mcp.runtime.decision_cache import DecisionCache
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.programs import LocalPrograms

POLICY = """\
version: 1
name: cache
paths: {read: ["${workspace}/**", /usr/**, /bin/**], never: ["**/secret/**"]}
rules:
  - allow: [ls, cat, "true", git status]
"""


class Counted:
    def __init__(self):
        self.count = 0

    def __call__(self, text, policy, context):
        self.count += 1
        return judge(text, policy, context)


@pytest.fixture
def world(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    path.chmod(0o600)
    work = tmp_path / "work"
    (work / "secret").mkdir(parents=True)
    (work / "plain").write_text("x")
    return work, load_policy(str(path), workspace=str(work))


@pytest.fixture
def made():
    return Counted()


@pytest.fixture
def cache(made):
    return DecisionCache(made)


def where(work, **other):
    locator = LocalPrograms(("/usr/bin", "/bin"), {})
    return Context(cwd=str(work), home="/root", workspace=str(work), locator=locator, **other)


def test_the_same_text_in_the_same_place_is_judged_once(world, made, cache):
    work, policy = world
    context = where(work)
    first = cache.judge("cat plain | ls", policy, context)
    assert cache.judge("cat plain | ls", policy, context) == first == judge("cat plain | ls", policy, context)
    assert made.count == 1


@pytest.mark.promise("P1")
def test_a_name_that_became_a_link_to_what_is_refused_is_judged_anew(world, made, cache):
    work, policy = world
    context = where(work)
    assert cache.judge("cat plain", policy, context).verdict is Verdict.ALLOW
    (work / "plain").unlink()
    (work / "plain").symlink_to(work / "secret" / "key")
    assert cache.judge("cat plain", policy, context).verdict is Verdict.DENY
    (work / "plain").unlink()
    assert cache.judge("cat plain", policy, context).verdict is Verdict.ALLOW
    assert made.count == 3


def test_a_link_that_a_pattern_finds_is_looked_for_each_time(world, made, cache):
    work, policy = world
    context = where(work)
    assert cache.judge("cat p*", policy, context).verdict is Verdict.ALLOW
    (work / "pin").symlink_to(work / "secret")
    assert cache.judge("cat p*", policy, context).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "other",
    [{"cwd": "/usr"}, {"home": "/nobody"}, {"workspace": "/usr"}, {"spelled_cwd": "/there"}, {"is_durable": True}],
)
def test_every_part_of_the_context_counts(world, made, cache, other):
    work, policy = world
    context = where(work)
    cache.judge("cat plain", policy, context)
    changed = Context(**{**{name: getattr(context, name) for name in Context.__struct_fields__}, **other})
    assert cache.judge("cat plain", policy, changed) == judge("cat plain", policy, changed)
    assert made.count == 2


def test_another_policy_decides_for_itself(world, made, cache, tmp_path):
    work, policy = world
    other = tmp_path / "other.yaml"
    other.write_text(POLICY.replace("ls, cat, ", ""))
    other.chmod(0o600)
    cache.judge("cat plain", policy, where(work))
    decision = cache.judge("cat plain", load_policy(str(other), workspace=str(work)), where(work))
    assert decision.verdict is Verdict.DENY


def test_what_is_kept_is_bounded(world, made, cache, monkeypatch):
    work, policy = world
    monkeypatch.setattr(decision_cache, "MOST", 3)
    for number in range(9):
        cache.judge(f"cat plain{number}", policy, where(work))
    assert len(cache._kept) == 3
    long = "cat " + "x" * decision_cache.MOST_CHARS
    for _ in range(2):
        cache.judge(long, policy, where(work))
    assert made.count == 11
