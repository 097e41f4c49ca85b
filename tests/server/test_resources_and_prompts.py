"""Resources, prompts and instructions: what a client learns without calling a tool."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from execkit_mcp.server.greeting import INSTRUCTIONS
from execkit_mcp.server.prompts import PROMPTS


def test_the_instructions_are_under_two_thousand_characters():
    assert len(INSTRUCTIONS) < 2000


async def test_policy_sessions_and_record_can_be_read(serve):
    async with serve() as served:
        await served.run("echo hello")
        await served.run("rm x")
        listed = {str(each.uri): each for each in (await served.client.list_resources()).resources}
        assert {"execkit://policy", "execkit://sessions", "execkit://audit", "execkit://docs/http"} <= set(listed)

        async def read(uri):
            return (await served.client.read_resource(uri)).contents[0].text

        policy = json.loads(await read("execkit://policy"))
        assert policy["name"] == "test"
        assert {"never", "look"} <= {rule["id"] for rule in policy["rules"]}
        sessions = json.loads(await read("execkit://sessions"))
        assert [each["session"] for each in sessions["sessions"]] == ["main"]
        record = json.loads(await read("execkit://audit"))
        assert {"exec.started", "exec.finished", "decision"} <= {entry["kind"] for entry in record}
        assert (await read("execkit://docs/http")).startswith("# ")
        with pytest.raises(MCPError, match="no such resource"):
            await read("execkit://docs/../../../etc/passwd")


@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
async def test_what_is_not_there_has_the_code_of_the_revision_and_names_the_uri(serve, mode, code):
    async with serve(mode=mode) as served:
        assert (await served.client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError) as caught:
            await served.client.read_resource("execkit://nothing")
    assert (caught.value.error.code, caught.value.error.data) == (code, {"uri": "execkit://nothing"})


async def test_a_prompt_is_filled_in(serve):
    async with serve() as served:
        names = [each.name for each in (await served.client.list_prompts()).prompts]
        assert names == [spec.name for spec in PROMPTS]
        got = await served.client.get_prompt("write_policy", {"purpose": "deploy {web} with git"})
        assert "deploy {web} with git" in got.messages[0].content.text
        with pytest.raises(MCPError, match="takes purpose"):
            await served.client.get_prompt("write_policy", {})


def test_the_policy_in_the_prompt_is_one(tmp_path):
    from execkit_mcp.runtime.policies import load_policy
    from execkit_mcp.server.prompts import prompt

    text = prompt("write_policy", {"purpose": "x"}).messages[0].content.text
    policy = tmp_path / "policy.yaml"
    policy.write_text(text[text.index("version: 1") : text.index("Rules: name")])
    policy.chmod(0o644)
    assert load_policy(str(policy)).ref.name == "short-name"
