"""``audit show`` and ``audit verify`` on a real record: filters, following, what was noted elsewhere."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp import aio
from execkit_mcp.cli.main import run as main
from execkit_mcp.errors import Blocked
from execkit_mcp.runtime.sdk_policy import Policy

ROOT = Path(__file__).parents[2]
POLICY = Policy.default_deny(allow=["echo"])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")

    async def work():
        marks = []
        async with aio.create(policy=POLICY, state_dir=str(folder / "state"), workspace=str(folder)) as session:
            marks.append((await session.exec("echo needle")).audit)
            with pytest.raises(Blocked):
                await session.exec("rm x")
            marks.append((await session.exec("echo other")).audit)
        return marks

    return folder / "state", asyncio.run(work())


@pytest.fixture
def show(recorded, capsys):
    def run(*words):
        code = main(["audit", "show", "--json", "--state-dir", str(recorded[0]), *words])
        out = capsys.readouterr().out
        return code, [json.loads(line) for line in out.splitlines()]

    return run


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("--verdict", "deny"), ["decision"]),
        (("--verdict", "allow"), ["exec.started", "exec.finished"] * 2),
        (("--grep", "need.e"), ["exec.started"]),
        (("--kind", "exec.finished"), ["exec.finished"] * 2),
        (("--kind", "exec.", "--last", "1"), ["exec.finished"]),
        (("--session", "nobody"), []),
        (("--since", "2999-01-01"), []),
        (("--since", "1h", "--verdict", "deny"), ["decision"]),
        (("--target", "local", "--kind", "exec."), ["exec.started", "exec.finished"] * 2),
        (("--target", "elsewhere"), []),
    ],
)
def test_only_what_is_asked_for_is_shown(show, words, kinds):
    code, entries = show(*words)
    assert code == 0
    assert [entry["kind"] for entry in entries] == kinds


@pytest.mark.parametrize("words", [("--since", "soon"), ("--grep", "("), ("--last", "0"), ("--verdict", "maybe")])
def test_a_filter_that_says_nothing_is_a_usage_error(show, words):
    with pytest.raises(SystemExit) as caught:
        show(*words)
    assert caught.value.code == 2


def test_an_entry_of_a_result_is_found_and_a_false_one_is_not(recorded, capsys):
    state, (first, last) = recorded
    verify = ["audit", "verify", "--state-dir", str(state)]
    assert main([*verify, "--head", f"{first.seq}:{first.head}", "--head", last.head[:12]]) == 0
    assert "sealed up to" in capsys.readouterr().out
    assert main([*verify, "--head", f"{last.seq}:{first.head}"]) == 1
    error = capsys.readouterr().err
    assert "audit-000001.jsonl" in error
    assert "noted" in error
    assert main([*verify, "--head", f"9999:{first.head}"]) == 1
    with pytest.raises(SystemExit):
        main([*verify, "--head", "nonsense"])


def test_the_public_key_can_be_kept_elsewhere_and_given_back(recorded, tmp_path, capsys):
    state, _ = recorded
    assert main(["audit", "key", "--state-dir", str(state)]) == 0
    (tmp_path / "audit.pub").write_text(capsys.readouterr().out)
    assert main(["audit", "verify", "--state-dir", str(state), "--public-key", str(tmp_path / "audit.pub")]) == 0
    (tmp_path / "audit.pub").write_text("nothing")
    assert main(["audit", "verify", "--state-dir", str(state), "--public-key", str(tmp_path / "audit.pub")]) == 1


def test_entries_are_shown_as_they_come(tmp_path):
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}

    async def work():
        async with aio.create(policy=POLICY, state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as session:
            await session.exec("echo before")
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "execkit_mcp", "audit", "show", "--json", "--follow", "--kind", "exec.finished",
                "--state-dir", str(tmp_path / "state"), stdout=subprocess.PIPE, env=environ,
            )  # fmt: skip
            async with asyncio.timeout(30):
                first = json.loads(await process.stdout.readline())
                result = await session.exec("echo afterwards")
                second = json.loads(await process.stdout.readline())
            process.send_signal(2)
            await process.communicate()
            return first, second, result, process.returncode

    first, second, result, code = asyncio.run(work())
    assert first["seq"] < second["seq"] == result.audit.seq
    assert code == 0
