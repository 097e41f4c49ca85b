from tests.ssh.test_ssh_terminals import POLICY, _terminal_programs, _until_gone


async def test_an_agent_opens_a_declared_host_and_nothing_else(sshd, serve, world):
    config = world.folder / "config.yaml"
    config.write_text(sshd.yaml())
    config.chmod(0o644)
    async with serve(EXECKIT_CONFIG=str(config)) as served:
        opened = (await served.call("shell_open", target="prod-1", name="p")).structured_content
        assert (opened["transport"], opened["fence"]["level"]) == ("ssh", "none")
        result = await served.run("cd /usr; pwd; echo oops >&2; false", session="p")
        assert (result["status"], result["exit_code"], result["stdout"], result["stderr"]) == (
            "completed", 1, "/usr\n", "oops\n",
        )  # fmt: skip
        assert result["cwd"] == "/usr"
        denied = await served.call("shell_run", command="rm -rf /x", session="p")
        assert denied.is_error
        running = await served.run("sleep 60", session="p", wait_s=0.3)
        assert running["status"] == "running"
        await served.call("shell_send", exec_id=running["exec_id"], key="ctrl-c")
        read = (await served.call("shell_read", exec_id=running["exec_id"], wait_s=10)).structured_content
        assert (read["status"], read["exit_code"]) == ("completed", 130)
        typed = await served.run("sleep 60", session="p", wait_s=0.3)
        refused = await served.call("shell_send", exec_id=typed["exec_id"], text="hello")
        assert refused.structured_content["error"]["code"] == "transport.capability_missing"
        info = (await served.call("shell_info")).structured_content
        assert "prod-1" in {row["name"] for row in info["targets"]}
        for target in (f"ssh://{sshd.user}@127.0.0.1:{sshd.port}", "127.0.0.1"):
            refused = await served.call("shell_open", target=target)
            assert refused.structured_content["error"]["code"] in {"transport.unknown", "command.invalid"}
        explained = (await served.call("shell_explain", command="cat ~/.ssh/id", session="p")).structured_content
        assert explained["verdict"] == "deny"


async def test_a_host_that_is_not_trusted_is_an_error_of_the_contract(sshd, serve, world):
    config = world.folder / "config.yaml"
    config.write_text(sshd.yaml(known_hosts=world.folder / "none"))
    config.chmod(0o644)
    async with serve(EXECKIT_CONFIG=str(config)) as served:
        refused = await served.call("shell_open", target="prod-1")
        error = refused.structured_content["error"]
        assert refused.is_error
        assert (error["code"], error["retryable"]) == ("transport.host_key_unknown", False)
        assert sshd.fingerprint in error["message"]
        assert (await served.run("echo here"))["stdout"] == "here\n"


async def test_an_agent_drives_a_program_on_a_hosts_terminal(sshd, serve, world):
    config = world.folder / "config.yaml"
    config.write_text(sshd.yaml())
    config.chmod(0o644)
    world.policy.write_text(POLICY)
    async with serve(EXECKIT_CONFIG=str(config)) as served:
        opened = (await served.call("shell_open", target="prod-1", name="p")).structured_content
        assert "tty" in opened["capabilities"]
        running = await served.run("cd /usr && python3 -q", session="p", tty=True, wait_s=0.3)
        exec_id = running["exec_id"]
        await served.call("shell_read", exec_id=exec_id, wait_for=">>>", wait_s=10)
        sent = (
            await served.call("shell_send", exec_id=exec_id, text="6*7\n", wait_for="\n42", wait_s=10)
        ).structured_content
        assert "42" in sent["text"]
        screen = (await served.call("shell_read", exec_id=exec_id, stream="screen")).structured_content
        assert screen["text"].startswith(">>> 6*7\n42\n")
        refused = await served.call("shell_send", exec_id=exec_id, key="ctrl-z")
        assert refused.structured_content["error"]["code"] == "transport.capability_missing"
        await served.call("shell_send", exec_id=exec_id, key="ctrl-d")
        read = (await served.call("shell_read", exec_id=exec_id, wait_s=10)).structured_content
        assert (read["status"], read["exit_code"]) == ("completed", 0)
        assert (await served.run("pwd", session="p"))["stdout"] == "/usr\n"
        left = _terminal_programs()
        assert left
    await _until_gone(left)
