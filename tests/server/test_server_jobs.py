"""Background jobs and the environment delta through the real server and the SDK's client, which checks every schema."""


async def test_a_job_is_listed_read_and_signalled_over_mcp(serve):
    async with serve() as served:
        body = await served.run("sh -c 'echo out; sleep 61' & echo on")
        (job,) = body["jobs"]
        assert job["status"] == "running"
        info = (await served.call("shell_info")).structured_content
        assert {"exec_id": job["exec_id"], "background": True, "pid": job["pid"]}.items() <= info["execs"][0].items()
        ended = await served.call("shell_send", exec_id=job["exec_id"], signal="TERM", wait_s=10)
        assert not ended.is_error
        read = (await served.call("shell_read", exec_id=job["exec_id"], wait_s=10)).structured_content
        assert (read["status"], read["text"]) == ("completed", "out\n")
        wrong = await served.call("shell_send", exec_id=job["exec_id"], signal="TERM")
        assert wrong.structured_content["error"]["code"] == "command.invalid"
        assert (await served.call("shell_send", exec_id=job["exec_id"], signal="NOSUCH")).is_error


async def test_text_says_what_the_structured_result_says(serve):
    async with serve() as served:
        result = await served.call("shell_run", command="export GREETING=hi; sleep 61 &", env_delta=True)
        body = result.structured_content
        assert body["env_delta"]["set"] == {"GREETING": "hi"}
        (job,) = body["jobs"]
        text = result.content[0].text
        for part in (job["exec_id"], str(job["pid"]), job["command"], '"GREETING": "hi"'):
            assert part in text


async def test_durable_is_refused_unless_the_policy_says_otherwise(serve):
    async with serve() as served:
        body = await served.run("sleep 61", durable=True)
        assert body["status"] == "denied"
        assert "limits.durable" in body["decision"]["hint"]
