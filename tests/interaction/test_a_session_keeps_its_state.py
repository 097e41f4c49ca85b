"""P5, the whole of it in one session, through policy, redaction and record: what a day of an agent does to a shell."""

import pytest

from execkit_mcp import aio
from execkit_mcp.model import Status

pytestmark = pytest.mark.promise("P5")

IGNORES_INTERRUPT = """\
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
async def session(world):
    (world.workspace / "sub").mkdir()
    (world.workspace / "stubborn.py").write_text(IGNORES_INTERRUPT)
    async with aio.create(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
    ) as opened:
        yield opened


async def poison(session) -> None:
    done = await session.exec("cd sub; kept='a  b'; export GREETING=hi; umask 027")
    assert done.exit_code == 0, done


async def check(session, world) -> None:
    done = await session.exec('echo "$kept"; printenv GREETING; umask; pwd')
    assert done.stdout == f"a  b\nhi\n0027\n{world.workspace / 'sub'}\n", done
    assert done.cwd == str(world.workspace / "sub")


async def test_over_a_thousand_commands(session, world):
    await poison(session)
    for number in range(1000):
        done = await session.exec(f"echo {number}; echo e{number} >&2")
        assert (done.stdout, done.stderr, done.exit_code) == (f"{number}\n", f"e{number}\n", 0)
    await check(session, world)


async def test_over_a_flood_with_exact_counts(session, world):
    await poison(session)
    done = await session.exec("seq 1 6700000", max_output=1000)
    expected = sum(9 * 10 ** (digits - 1) * (digits + 1) for digits in range(1, 7)) + 5_700_001 * 8
    assert expected > 50_000_000
    count = done.truncated["stdout"]
    assert (count.total_bytes, count.total_lines) == (expected, 6_700_000)
    assert done.stdout.endswith("6700000\n")
    await check(session, world)


async def test_over_three_timeouts(session, world):
    await poison(session)
    for command, tty in (
        ("sleep 60", False),
        ("python3 ../stubborn.py", False),
        ("cat", True),
    ):
        done = await session.exec(command, timeout_s=0.4, tty=tty)
        assert done.status is Status.TIMED_OUT, done
        await check(session, world)


async def test_over_an_exit(session, world):
    await poison(session)
    done = await session.exec("echo before; exit 7")
    assert (done.stdout, done.exit_code) == ("before\n", 7)
    assert done.warnings
    await check(session, world)


async def test_over_a_killed_shell(session, world):
    await poison(session)
    done = await session.exec("kill -9 $$")
    assert done.signal == "SIGKILL"
    assert done.exit_code == 137
    after = await session.exec("pwd")
    assert after.exit_code == 0
    if after.cwd != str(world.workspace / "sub") or done.status is Status.LOST:
        assert done.warnings


async def test_over_background_jobs(session, world):
    await poison(session)
    done = await session.exec("sleep 300 & echo started")
    assert done.stdout == "started\n"
    assert done.duration_ms < 5000
    await check(session, world)


async def test_a_result_has_all_its_parts(session, world):
    done = await session.exec("echo out; echo err >&2; false | true | false")
    assert (done.stdout, done.stderr, done.exit_code) == ("out\n", "err\n", 1)
    assert done.pipe_status == (1, 0, 1)
    assert done.session == "main"
    assert done.exec_id
    assert 0 < done.duration_ms < 5000
    assert done.to_json()["fence"].keys() >= {"level", "exec_gate", "network"}


async def test_the_servers_environment_never_reaches_a_session(session, world, monkeypatch):
    monkeypatch.setenv("UNRELATED_VALUE", "from-the-server")
    done = await session.exec("env")
    names = {line.split("=")[0] for line in done.stdout.splitlines()}
    assert "UNRELATED_VALUE" not in names
    assert {"PATH", "HOME", "USER", "EXECKIT_SESSION"} <= names
