"""A command whose time is up stops where it is: nothing behind it runs, and the shell adds nothing to its output."""

import asyncio

import pytest

from execkit_mcp.protocol.ladder import is_list
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport
from tests.interaction.stubborn import python

LIMIT_S = 20
POLITE = python("import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: raise SystemExit(3)")
SLOW = python(
    "import signal, sys, time\nsignal.signal(2, lambda *_: (time.sleep(0.1), print(4), sys.exit()))\ntime.sleep(60)"
)
DEAF = python("import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)")


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


@pytest.mark.parametrize("before", ["true", "false"])
async def test_the_shell_adds_nothing_to_the_output_of_a_program_that_is_interrupted(run, before):
    await run(before)
    completion, out = await run("sleep 60", timeout_s=0.2)
    assert (completion.exit_code, completion.signal, out) == (130, "SIGINT", b"")


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60\necho no",
        "sleep 60 | cat\necho no",
        "sleep 60; echo no",
        "{ sleep 60; }\necho no",
        "f() { sleep 60; }; f\necho no",
        f"{POLITE}; echo no",
        f"{POLITE}\necho no",
        f"{POLITE} || echo no",
        f"if {POLITE}; then echo no; else echo no; fi",
        f"for i in 1 2; do {POLITE}; echo no; done; echo no",
        f"{DEAF}; echo no",
        f"{DEAF} || echo no",
    ],
)
async def test_nothing_behind_an_interrupted_program_is_carried_out(run, command):
    for _ in range(2):
        await run("true")
        completion, out = await run(command, timeout_s=0.2)
        assert completion.is_timed_out
        assert b"no" not in out
        assert completion.exit_code in {130, 143}


async def test_a_program_that_ends_in_peace_says_its_own_exit_code(run):
    completion, out = await run(POLITE, timeout_s=0.2)
    assert (completion.exit_code, completion.signal, out) == (3, None, b"")


async def test_a_program_in_a_list_is_given_the_time_to_end_in_peace(run):
    completion, out = await run(f"{SLOW}; echo no", timeout_s=0.3)
    assert (completion.exit_code, out, completion.interrupted_with) == (130, b"4\n", ("SIGINT",))


@pytest.mark.parametrize(
    "command", ["a; b", "a\nb", "a && b", "a || b", "for i in 1; do a; done", "'a' ; b", 'a "b"; c']
)
def test_what_has_a_second_command_is_a_list(command):
    assert is_list(command)


@pytest.mark.parametrize("command", ["a", "a | b", "a 'b; c'", 'a "b && \\" || c"', "a >&2", "a \\; b", "a\n", "a &>b"])
def test_one_command_is_no_list(command):
    assert not is_list(command)
