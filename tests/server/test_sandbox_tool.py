"""A sandbox over MCP: opened like any target; its own tool is there where the operator asks for it."""

import json

import pytest


@pytest.fixture
def configured(world):
    folder = world.folder / "config/execkit-mcp"
    folder.mkdir(parents=True)

    def write(text):
        (folder / "config.yaml").write_text(text)
        (folder / "config.yaml").chmod(0o600)

    return write


async def test_every_server_has_the_target(serve, world):
    async with serve() as served:
        opened = (await served.call("shell_open", target="sandbox", name="sb")).structured_content
        assert (opened["target"], opened["transport"], opened["fence"]["level"]) == ("sandbox", "sandbox", "namespaces")
        await served.run("echo x >new", session="sb")
        info = (await served.call("shell_info")).structured_content
    assert {row["name"] for row in info["targets"]} >= {"local", "sandbox"}
    assert not (world.workspace / "new").exists()


async def test_the_tool_takes_a_sandbox_from_snapshot_to_apply(serve, world, configured):
    configured("toolsets: [checkpoints]\n")
    async with serve(answer="allow once") as served:
        names = [tool.name for tool in (await served.client.list_tools()).tools]
        assert names[-1] == "shell_sandbox"
        await served.call("shell_open", target="sandbox", name="sb")
        await served.run("echo x >new", session="sb")
        made = (await served.call("shell_sandbox", action="snapshot", session="sb")).structured_content
        assert made["snapshots"] == ["s1"]
        await served.run("echo y >other", session="sb")
        await served.call("shell_sandbox", action="restore", session="sb", snapshot="s1")
        diff = (await served.call("shell_sandbox", action="diff", session="sb")).structured_content
        assert diff["changes"] == ["added new"]
        done = (await served.call("shell_sandbox", action="apply", session="sb")).structured_content
        assert done.get("applied") == 1, done
    assert any("A new" in question for question in served.questions)
    assert (world.workspace / "new").read_text() == "x\n"


async def test_nobody_there_means_that_it_waits(serve, world, configured):
    configured("toolsets: [checkpoints]\n")
    async with serve() as served:
        await served.call("shell_open", target="sandbox", name="sb")
        await served.run("echo x >new", session="sb")
        result = await served.call("shell_sandbox", action="apply", session="sb")
        assert result.is_error
        assert result.structured_content["status"] == "approval_pending"
        assert result.structured_content["approval_id"] in result.content[0].text
        refused = await served.call("shell_sandbox", action="diff", session="main")
        assert json.loads(json.dumps(refused.structured_content))["error"]["code"] in {
            "session.not_found",
            "checkpoint.not_found",
        }
    assert not (world.workspace / "new").exists()


async def test_a_default_target_that_is_a_sandbox_brings_its_tool(serve, configured):
    configured("target: box\ntargets: {box: {transport: sandbox}}\n")
    async with serve() as served:
        assert "shell_sandbox" in [tool.name for tool in (await served.client.list_tools()).tools]
        result = await served.run("echo on")
    assert (result["stdout"], result["fence"]["level"]) == ("on\n", "namespaces")
