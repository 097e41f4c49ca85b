import pytest
from msgspec import structs

from execkit_mcp.errors import ExecExpired, ExecNotFound
from execkit_mcp.model import Decision, PolicyRef, ReasonCode, Verdict
from execkit_mcp.output import OutputChain
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.redaction import Redactor
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.ledger import Ledger, LedgerLimits
from execkit_mcp.storage.spill import SpillFolder
from execkit_mcp.testing import FakeClock

DECISION = Decision(
    verdict=Verdict.ALLOW, canonical="true", rule="r", reason_code=next(iter(ReasonCode)), message="", hint="",
    policy=PolicyRef(name="p", digest="d"),
)  # fmt: skip


class World:
    def __init__(self, folder, **limits):
        self.spill = SpillFolder(folder)
        self.clock = FakeClock()
        self.ledger = Ledger(self.clock, structs.replace(LedgerLimits(), **limits))
        self.count = 0

    def run(self, size, *, session="main", owner="me", ends=True, key=None):
        self.count += 1
        exec_id = f"x_{self.count}"

        def make_chain(stream):
            store = self.spill.store(f"{exec_id}.{stream}")
            return OutputChain(redactor=Redactor(key=b"k"), limit_bytes=1 << 20, store=store)

        exec_ = Exec(
            exec_id=exec_id, session=session, owner=owner, decision=DECISION, make_chain=make_chain,
            started_s=self.clock.monotonic_s(),
        )  # fmt: skip
        exec_.key = None if key is None else (key, ("true",))
        self.ledger.add(exec_)
        exec_.feed("stdout", b"word\n" * (size // 5))
        if ends:
            exec_.finish(Completion(exit_code=0, duration_ms=0.0))
        return exec_id

    def kept(self):
        return [f"x_{n}" for n in range(1, self.count + 1) if self.is_kept(f"x_{n}")]

    def is_kept(self, exec_id):
        try:
            self.ledger.get(exec_id, "me")
        except ExecExpired:
            return False
        return True


@pytest.fixture
def world(tmp_path):
    made = []

    def make(**limits):
        made.append(World(tmp_path, **limits))
        return made[-1]

    yield make
    for each in made:
        each.spill.close()


async def test_the_oldest_finished_exec_goes_when_there_are_too_many(world):
    one = world(execs=3)
    running = one.run(10, ends=False)
    for _ in range(4):
        one.run(10)
    assert one.kept() == [running, "x_4", "x_5"]


async def test_output_goes_when_its_session_keeps_too_much_and_its_counts_stay(world, tmp_path):
    one = world(session_bytes=500_000)
    for _ in range(4):
        one.run(200_000)
    one.run(10)
    other = one.run(200_000, session="other")
    assert one.kept() == ["x_4", "x_5", other] or one.kept() == ["x_3", "x_4", "x_5", other]
    with pytest.raises(ExecExpired) as caught:
        one.ledger.get("x_1", "me")
    assert caught.value.details["stdout"] == {"total_bytes": 200_000, "total_lines": 40_000}
    assert not list(tmp_path.rglob("x_1.stdout"))


async def test_output_goes_when_it_is_old(world):
    one = world(age_s=100.0)
    one.run(10)
    one.run(10, ends=False)
    one.clock.advance(99)
    one.run(10)
    assert one.kept() == ["x_1", "x_2", "x_3"]
    one.clock.advance(65)
    assert one.kept() == ["x_2", "x_3"]


async def test_the_exec_of_somebody_else_is_not_found_whether_kept_or_not(world):
    one = world(execs=1)
    one.run(10)
    one.run(10)
    one.run(10)
    for exec_id in ("x_1", "x_3", "x_99"):
        with pytest.raises(ExecNotFound):
            one.ledger.get(exec_id, "somebody else")


async def test_closing_a_session_removes_what_it_has_on_disk(world, tmp_path):
    one = world()
    big, small = one.run(200_000), one.run(10)
    other = one.run(200_000, session="other")
    one.ledger.session_closed("main", "me")
    assert one.kept() == [small, other]
    assert [path.name for path in tmp_path.rglob("x_*")] == [f"{other}.stdout"]
    assert big not in one.kept()
    one.ledger.close()
    assert not list(tmp_path.rglob("x_*"))


async def test_a_key_is_not_forgotten_when_its_exec_ages_out(world):
    one = world(execs=1)
    first = one.run(10, key="k")
    assert one.ledger.repeated("k", ("true",), "me").exec_id == first
    assert one.ledger.repeated("k", ("true",), "you") is None
    one.run(10)
    one.run(10)
    with pytest.raises(ExecExpired):
        one.ledger.repeated("k", ("true",), "me")
    assert one.ledger.repeated("other", ("true",), "me") is None
