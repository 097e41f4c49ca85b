"""A command that ends or breaks its own shell costs what it changed itself, never what stood before it."""

import asyncio

import pytest

from execkit_mcp.protocol.ladder import may_end_shell
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

LIMIT_S = 20
ENDS = (
    "kill -9 $$",
    "kill -KILL $BASHPID",
    "kill -40 $$; sleep 60",
    "kill -32 $$; sleep 60",
    "exec sleep 60",
    "exec true",
    "exec bash",
    "set -e; sleep 60",
    "set -o vi; sleep 60",
    "trap 'sleep 60' EXIT; exit 3",
    "trap 'kill -9 $$' INT; sleep 60",
    "ulimit -n 3; sleep 60",
    "enable -n printf eval; sleep 60",
    'for i in $(seq 3 260); do eval "exec $i>&-"; done; sleep 60',
)


@pytest.fixture
async def run(tmp_path):
    transport = LocalTransport()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "xterm"}
    driver = await Driver.open(transport, env=env, cwd=str(tmp_path), clock=SystemClock(), entropy=SystemEntropy())

    async def run_once(command, **options):
        out = bytearray()
        async with asyncio.timeout(LIMIT_S):
            completion = await driver.run(command, sink=lambda _stream, data: out.extend(data), **options)
        return completion, bytes(out)

    yield run_once
    await driver.close()
    await transport.close()


@pytest.mark.parametrize("command", ENDS)
async def test_what_the_moment_before_made_is_there_in_the_shell_that_replaces_it(run, command):
    await run("cd /usr; kept=yes; greet() { echo hello; }")  # and at once, before anything can be saved in quiet
    completion, _ = await run(command, timeout_s=0.2)
    assert completion.is_shell_replaced
    assert completion.is_state_restored
    assert "restored" in completion.warnings[0]
    assert (await run('echo "$kept $(pwd)"; greet'))[1] == b"yes /usr\nhello\n"


@pytest.mark.parametrize(("number", "name"), [(34, "SIGRTMIN"), (40, "SIGRTMIN+6"), (64, "SIGRTMAX")])
async def test_signals_without_a_word_of_their_own_have_a_name(run, number, name):
    for command in (f"kill -{number} $$", f"bash -c 'kill -{number} $$'"):
        completion, _ = await run(command)
        assert (completion.exit_code, completion.signal) == (128 + number, name)


@pytest.mark.parametrize("tty", [False, True])
@pytest.mark.parametrize("end", ["exit 3", "kill -HUP $$; sleep 60"])
async def test_what_the_command_itself_made_before_it_ended_the_shell_is_there(run, end, tty):
    completion, _ = await run(f"cd /usr; kept=yes; {end}", tty=tty)
    assert "options were restored. Its" in completion.warnings[0]
    assert (await run('echo "$kept $(pwd)"'))[1] == b"yes /usr\n"


async def test_the_exit_code_of_a_shell_that_ended_is_what_the_next_command_sees(run):
    await run("set -e")
    completion, _ = await run("(exit 4)")
    assert (completion.exit_code, completion.is_shell_replaced) == (4, True)
    assert (await run("echo $?"))[1] == b"4\n"


async def test_a_trap_on_err_hears_a_failure_once(run):
    await run("trap 'echo failed >>told' ERR")
    await run("false")
    await run("true")
    assert (await run("cat told"))[1] == b"failed\n"


async def test_under_errexit_an_earlier_failure_is_still_told(run):
    await run("(exit 3)")
    await run("true; set -e; ! true")  # a list that fails without ending the shell
    assert (await run("echo $?; set +e"))[1] == b"1\n"


@pytest.mark.parametrize("command", [*ENDS, "a; set -u", "killall x", "python3 -c 'os.kill(1, 9)'"])
def test_the_state_is_saved_before_what_looks_as_if_it_ends_the_shell(command):
    assert may_end_shell(command)


@pytest.mark.parametrize("command", ["ls", "sleep 60", "cd /; x=1", "./settings", "git reset", "cat killer.txt"])
def test_other_commands_do_not_wait_for_that(command):
    assert not may_end_shell(command)
