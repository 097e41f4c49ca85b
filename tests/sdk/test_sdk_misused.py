"""The SDK in hands that make mistakes: wrong values, forks; an error that names the cause, and nothing is lost."""

import asyncio
import os
import subprocess
import sys

import pytest

import execkit_mcp
from execkit_mcp import Policy, aio
from execkit_mcp.errors import CommandInvalid, ConfigError, PolicyInvalid


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("misused")
    policy = Policy.default_deny(allow=["echo", "cat"])
    with execkit_mcp.create(policy=policy, state_dir=str(folder / "state"), workspace=str(folder)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"command": None}, "command: expected `str`"),
        ({"command": b"echo"}, "command: expected `str`, got `bytes`"),
        ({"timeout_s": 0}, "timeout_s: expected `float` > 0"),
        ({"timeout_s": -1}, "timeout_s: expected `float` > 0"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"timeout_s": float("inf")}, "timeout_s"),
        ({"timeout_s": "3"}, "timeout_s: expected `float | null`, got `str`"),
        ({"max_output": -1}, "max_output: expected `int` >= 0"),
        ({"stdin": b"x"}, "stdin: expected `str | null`, got `bytes`"),
        ({"tty": "yes"}, "tty: expected `bool`"),
        ({"reason": None}, "reason: expected `str`"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_and_the_session_goes_on(session, options, says):
    with pytest.raises(CommandInvalid) as caught:
        session.exec(**{"command": "echo x", **options})
    assert says in caught.value.message
    assert session.exec("echo on").stdout == "on\n"


def test_a_session_of_another_event_loop_says_so_instead_of_waiting_for_ever(tmp_path):
    policy = Policy.default_deny(allow=["echo"])

    async def opened():
        async with aio.create(policy=policy, state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as session:
            told = await asyncio.to_thread(asyncio.run, used(session))
            assert "another event loop" in told
            assert "Open a session in each loop" in told
            return (await session.exec("echo on")).stdout

    async def used(session):
        with pytest.raises(RuntimeError) as caught:
            await session.exec("echo x")
        return str(caught.value)

    assert asyncio.run(opened()) == "on\n"


def test_places_may_be_path_objects(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\nname: mine\nrules: [{allow: [pwd]}]\n")
    policy.chmod(0o600)
    (tmp_path / "inner").mkdir()
    places = {"workspace": tmp_path, "state_dir": tmp_path / "state", "cwd": tmp_path / "inner"}
    with execkit_mcp.create(policy=policy, **places) as opened:
        assert opened.exec("pwd").stdout == f"{tmp_path}/inner\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"policy": 123}, "policy is 123; it must be a Policy, text, a path, or None"),
        ({"workspace": 3}, "workspace is 3"),
        ({"state_dir": b"state"}, "state_dir is b'state'"),
        ({"config": ["x"]}, "config is ['x']"),
        ({"cwd": 1.5}, "cwd is 1.5"),
        ({"target": None}, "target is None; it must be text"),
        ({"approver": "yes"}, "approver is 'yes', which cannot be called"),
    ],
)
def test_a_wrong_argument_of_create_is_named_and_nothing_is_opened(tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        execkit_mcp.create(**{"state_dir": "state", **options})
    assert says in caught.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"allow": "echo"}, "allow is 'echo'; it must be a list"),
        ({"ask": None}, "ask is None"),
        ({"include": "builtin:base"}, "include is 'builtin:base'"),
        ({"paths": {"write": "/tmp/**"}}, "paths.write is '/tmp/**'"),
    ],
)
def test_a_string_is_not_taken_for_a_list_of_its_letters(options, says):
    with pytest.raises(PolicyInvalid) as caught:
        Policy.default_deny(**options)
    assert says in caught.value.message


PROGRAM = """
import multiprocessing, os, signal, sys
import execkit_mcp
from execkit_mcp import Policy
signal.alarm(40)
POLICY = Policy.default_deny(allow=["echo"])
def opened(name):
    return execkit_mcp.create(policy=POLICY, state_dir=name, workspace=".")
with opened("state") as session:
    print(session.exec("echo before").stdout, end="", flush=True)
{body}
    print(session.exec("echo after").stdout, end="")
"""
FORKS = {
    "a child that leaves the block": (
        """
    if os.fork() == 0:
        sys.exit(3)
    print(os.wait()[1] >> 8)
""",
        "3",
    ),
    "a child that uses its parent's session": (
        """
    if os.fork() == 0:
        try:
            session.exec("echo never")
        except execkit_mcp.ExecKitError as error:
            print(error.code, "from which this one was forked" in error.message, flush=True)
        os._exit(0)
    os.wait()
""",
        "session.closed True",
    ),
    "a child with a session of its own": (
        """
    def work(queue):
        with opened("second") as mine:
            queue.put(mine.exec("echo child").stdout.strip())
    forking = multiprocessing.get_context("fork")
    queue = forking.Queue()
    child = forking.Process(target=work, args=(queue,))
    child.start()
    print(queue.get(timeout=30))
    child.join(10)
""",
        "child",
    ),
}


@pytest.mark.parametrize("case", FORKS)
def test_a_fork_neither_hangs_nor_takes_anything_from_the_parent(tmp_path, case):
    body, says = FORKS[case]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{body}", body)],
        cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split("\n")) == (0, ["before", says, "after", ""]), done.stderr
