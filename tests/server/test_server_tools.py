"""The seven tools over a real stdio connection, in both protocol eras."""

import json

import pytest

MODES = ["auto", "legacy"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_seven_tools_are_listed_whole(serve, mode):
    async with serve(mode=mode) as served:
        tools = (await served.client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "shell_run", "shell_read", "shell_send", "shell_open", "shell_close", "shell_info", "shell_explain",
    ]  # fmt: skip
    for tool in tools:
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["type"] == "object"
        assert tool.description
        assert len(tool.description) < 2000
        assert tool.annotations is not None
    by_name = {tool.name: tool for tool in tools}
    assert by_name["shell_run"].annotations.destructive_hint is True
    assert by_name["shell_run"].annotations.open_world_hint is True
    assert by_name["shell_run"].meta == {"anthropic/alwaysLoad": True}
    assert by_name["shell_read"].annotations.read_only_hint is True
    assert by_name["shell_close"].annotations.idempotent_hint is True
    listing = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
    assert "null" not in listing.replace('"null"', "")


@pytest.mark.parametrize("mode", MODES)
async def test_instructions_are_short_and_say_the_workflow_first(serve, mode):
    async with serve(mode=mode) as served:
        instructions = served.client.instructions
    assert len(instructions) < 2000
    assert "shell_run" in instructions[:200]


@pytest.mark.parametrize("mode", MODES)
async def test_state_stays_between_calls_and_both_forms_are_complete(serve, world, mode):
    (world.workspace / "sub").mkdir()
    async with serve(mode=mode) as served:
        await served.run("cd sub; greeting='good day'; umask 027")
        result = await served.call("shell_run", command='echo "$greeting"; pwd; umask; echo oops >&2; false')
    body = result.structured_content
    assert body["status"] == "completed"
    assert body["exit_code"] == 1
    assert body["stdout"] == f"good day\n{world.workspace / 'sub'}\n0027\n"
    assert body["stderr"] == "oops\n"
    assert body["cwd"] == str(world.workspace / "sub")
    assert body["session"] == "main"
    assert body["fence"]["level"] in {"process", "none"}
    assert {"level", "exec_gate", "network"} <= body["fence"].keys()
    assert result.is_error is False
    text = result.content[0].text
    for part in ("good day", "oops", "exit 1", str(world.workspace / "sub")):
        assert part in text


async def test_a_refusal_is_an_error_with_its_rule_and_what_would_be_allowed(serve, world):
    victim = world.workspace / "victim"
    victim.mkdir()
    async with serve() as served:
        result = await served.call("shell_run", command=f"rm -rf {victim}")
        other = await served.call("shell_run", command="nmap example.com")
    body = result.structured_content
    assert result.is_error is True
    assert body["status"] == "denied"
    assert body["decision"]["rule"] == "never"
    assert "Nothing is deleted here." in body["decision"]["message"]
    assert victim.is_dir()
    assert other.structured_content["decision"]["hint"]
    assert "denied" in other.content[0].text


async def test_a_long_command_is_polled_and_sent_ctrl_c(serve):
    async with serve() as served:
        body = await served.run("echo started; sleep 60", wait_s=0.3)
        assert body["status"] == "running"
        assert body["exit_code"] is None
        exec_id = body["exec_id"]
        busy = await served.call("shell_run", command="echo x")
        assert busy.is_error
        assert busy.structured_content["error"]["code"] == "session.busy"
        assert busy.structured_content["error"]["details"]["exec_id"] == exec_id
        seen = (await served.call("shell_read", exec_id=exec_id)).structured_content
        assert seen["text"] == "started\n"
        assert seen["eof"] is False
        await served.call("shell_send", exec_id=exec_id, key="ctrl-c")
        end = (await served.call("shell_read", exec_id=exec_id, wait_s=10)).structured_content
        assert end["status"] == "completed"
        assert end["exit_code"] == 130
        assert (await served.run("echo alive"))["stdout"] == "alive\n"


async def test_what_a_result_leaves_out_is_counted_and_stays_readable(serve):
    async with serve() as served:
        body = await served.run("seq 1 100000", max_output=2000)
        count = body["truncated"]["stdout"]
        assert count["total_lines"] == 100_000
        assert count["total_bytes"] == 588_895
        marker = next(line for line in body["stdout"].splitlines() if "left out" in line)
        kept = len(body["stdout"].encode()) - len(marker.encode()) - 1
        assert kept + count["omitted_bytes"] == count["total_bytes"]
        exec_id = body["exec_id"]
        found = (await served.call("shell_read", exec_id=exec_id, grep="^5000.$")).structured_content
        assert found["text"].splitlines() == [f"{n}:{n}" for n in range(50000, 50010)]
        assert found["matches"] == 10
        last = (await served.call("shell_read", exec_id=exec_id, tail=2)).structured_content
        assert last["text"] == "99999\n100000\n"
        pieces, offset = [], 0
        while True:
            page = (
                await served.call("shell_read", exec_id=exec_id, offset=offset, max_output=200_000)
            ).structured_content
            pieces.append(page["text"])
            offset = page["next_offset"]
            if page["eof"]:
                break
        assert "".join(pieces) == "".join(f"{n}\n" for n in range(1, 100_001))


async def test_standard_input_comes_from_the_call(serve):
    async with serve() as served:
        assert (await served.run("tr a-z A-Z", stdin="hello\n"))["stdout"] == "HELLO\n"
        assert (await served.run("wc -c", stdin="x" * 300_000))["stdout"].strip() == "300000"
        assert (await served.run("cat"))["stdout"] == ""


async def test_a_terminal_command_is_typed_into(serve):
    async with serve() as served:
        body = await served.run("cat", tty=True, wait_s=0.2)
        assert body["status"] == "running"
        sent = (
            await served.call("shell_send", exec_id=body["exec_id"], text="hello", wait_for="hello")
        ).structured_content
        assert "hello" in sent["text"]
        await served.call("shell_send", exec_id=body["exec_id"], key="enter")
        await served.call("shell_send", exec_id=body["exec_id"], key="ctrl-d")
        end = (await served.call("shell_read", exec_id=body["exec_id"], wait_s=10)).structured_content
        assert end["status"] == "completed"
        assert end["exit_code"] == 0


async def test_a_line_typed_to_a_shell_is_asked_for_like_a_command(serve, world):
    async with serve(answer="allow once") as served:
        body = await served.run("bash --norc", tty=True, wait_s=0.2)
        typed = await served.call(
            "shell_send", exec_id=body["exec_id"], text="touch typed && echo made\n", wait_for=r"\nmade", wait_s=10
        )
        assert not typed.is_error, typed.content
        assert "typed into" in served.questions[0]
        assert (world.workspace / "typed").exists()
        refused = await served.call("shell_send", exec_id=body["exec_id"], text="rm typed\n")
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == "policy.denied"
        assert (world.workspace / "typed").exists()
        screen = await served.call("shell_read", exec_id=body["exec_id"], stream="screen")
        assert screen.structured_content["cursor"][0] >= 1
        await served.call("shell_send", exec_id=body["exec_id"], key="ctrl-d")


async def test_a_line_that_waits_for_a_person_says_so_and_is_typed_once(serve, world):
    async with serve() as served:
        body = await served.run("bash --norc", tty=True, wait_s=0.2)
        asked = await served.call("shell_send", exec_id=body["exec_id"], text="touch typed\n")
        assert asked.structured_content["status"] == "approval_pending"
        assert asked.structured_content["approval_id"].startswith("apr_")
        again = await served.call(
            "shell_send", exec_id=body["exec_id"], text="touch typed\n", approval_id="apr_000000000000"
        )
        assert not (world.workspace / "typed").exists()
        assert again.structured_content["error"]["code"].startswith("approval.")
        await served.call("shell_send", exec_id=body["exec_id"], key="ctrl-d")


async def test_sessions_are_opened_listed_and_closed(serve, world):
    async with serve() as served:
        opened = (await served.call("shell_open", cwd=str(world.workspace), name="side")).structured_content
        assert opened["session"] == "side"
        assert opened["transport"] == "local"
        assert opened["shell"] == "bash"
        assert opened["capabilities"]
        info = (await served.call("shell_info")).structured_content
        assert [row["session"] for row in info["sessions"]] == ["side"]
        assert info["targets"][0]["name"] == "local"
        again = await served.call("shell_open", name="side")
        assert again.is_error
        assert (await served.call("shell_close", session="side")).structured_content["closed"] is True
        assert (await served.call("shell_close", session="side")).structured_content["closed"] is False
        gone = await served.call("shell_run", command="true", session="side")
        assert gone.structured_content["error"]["code"] == "session.not_found"


async def test_explain_decides_without_running(serve, world):
    async with serve() as served:
        body = (await served.call("shell_explain", command="touch x")).structured_content
        assert body["verdict"] == "ask"
        assert body["rule"] == "look"
        assert "touch" in body["explanation"]
    assert not (world.workspace / "x").exists()


BAD_ARGUMENTS = [
    ("shell_run", {"command": 7}, "command"),
    ("shell_run", {}, "command"),
    ("shell_run", {"command": "true", "wait_s": "soon"}, "wait_s"),
    ("shell_run", {"command": "true", "colour": 1}, "colour"),
    ("shell_run", {"command": "true", "max_output": 0}, "max_output"),
    ("shell_run", {"command": "true", "timeout_s": -1}, "timeout_s"),
    ("shell_run", {"command": "   "}, "command"),
    ("shell_run", {"command": "cat", "stdin": "x", "tty": True}, "stdin"),
    ("shell_read", {"exec_id": "x", "stream": "stdlog"}, "stream"),
    ("shell_send", {"exec_id": "x", "key": "any-key"}, "key"),
    ("shell_open", {"name": "../x"}, "name"),
    ("shell_info", {"verbose": True}, "verbose"),
]


async def test_a_wrong_argument_is_named(serve):
    async with serve() as served:
        for tool, arguments, name in BAD_ARGUMENTS:
            result = await served.client.call_tool(tool, arguments)
            error = result.structured_content["error"]
            assert result.is_error
            assert name in error["message"], (tool, arguments)
            assert set(error) == {"code", "message", "hint", "retryable", "details"}
            assert result.content[0].text.startswith(f"{error['code']}: ")
        assert (await served.run("echo fine"))["stdout"] == "fine\n"


async def test_unknown_things_have_their_codes(serve):
    async with serve() as served:
        for tool, arguments, code in [
            ("shell_read", {"exec_id": "x_none"}, "exec.not_found"),
            ("shell_run", {"command": "true", "session": "none"}, "session.not_found"),
            ("shell_open", {"target": "mars"}, "transport.unknown"),
            ("shell_run", {"command": "x" * 1_100_000}, "command.too_large"),
        ]:
            result = await served.client.call_tool(tool, arguments)
            assert result.is_error
            assert result.structured_content["error"]["code"] == code
        nul = await served.call("shell_run", command="echo a\0b")
        assert nul.structured_content["decision"]["reason_code"] == "policy.unparsed"
        long = await served.call("shell_run", command="echo " + "x" * 70_000)
        assert long.structured_content["decision"]["reason_code"] == "policy.limit"


async def test_where_the_terminal_shows_nothing_no_password_is_typed(serve):
    ask = "python3 -c 'import getpass; print(len(getpass.getpass()))'"
    async with serve() as served:
        body = await served.run(ask, tty=True, wait_s=0.2)
        await served.call("shell_read", exec_id=body["exec_id"], wait_for="Password", wait_s=10)
        typed = await served.call("shell_send", exec_id=body["exec_id"], text="letmein\n")
        assert typed.is_error
        assert "password" in typed.structured_content["error"]["message"]
        await served.call("shell_send", exec_id=body["exec_id"], key="ctrl-c")
        end = (await served.call("shell_read", exec_id=body["exec_id"], wait_s=10)).structured_content
        assert end["status"] != "running"
        assert "7" not in end["text"].splitlines()


async def test_a_call_repeated_with_its_key_does_not_run_twice(serve, world):
    async with serve() as served:
        once = 'python3 -c \'open("runs", "a").write("x")\''
        first = await served.run(once, idempotency_key="k1")
        again = await served.run(once, idempotency_key="k1")
        assert first["exec_id"] == again["exec_id"]
        assert (world.workspace / "runs").read_text() == "x"
        await served.run(once, idempotency_key="k2")
        assert (world.workspace / "runs").read_text() == "xx"
        other = await served.call("shell_run", command="pwd", idempotency_key="k1")
        assert other.is_error
        assert "used for another call" in other.content[0].text


async def test_a_repeated_call_waits_for_the_run_that_is_still_going_on(serve):
    async with serve() as served:
        first = await served.run("sleep 1; echo done", idempotency_key="k", wait_s=0)
        assert first["status"] == "running"
        again = await served.run("sleep 1; echo done", idempotency_key="k", wait_s=20)
        assert (again["exec_id"], again["stdout"]) == (first["exec_id"], "done\n")


async def test_a_waiting_call_tells_its_progress_to_a_client_that_asks(serve):
    told = []

    async def progress(seconds, _total, message):
        told.append((seconds, message))

    async with serve() as served:
        await served.client.call_tool("shell_run", {"command": "sleep 2.5"}, progress_callback=progress)
    assert told[:2] == [(1.0, "waiting, 1 s"), (2.0, "waiting, 2 s")]
