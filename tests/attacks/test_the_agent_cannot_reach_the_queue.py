"""P4: no text that an agent may send touches the files by which people judge."""

import pytest

pytestmark = pytest.mark.promise("P4")


@pytest.mark.parametrize(
    "command",
    [
        "cat {state}/execkit.db",
        "ls {state}",
        "head -c 10 {state}/approver.json",
        "cat {state}/../state/execkit.db",
        "echo x > {state}/approver.json",
        "cat {state}/*",
        "grep -r x {state}",
        "cat < {state}/execkit.db-wal",
        "cd {state}",
        "grep -r '' {above}",
    ],
)
async def test_no_judged_command_touches_the_state_folder(serve, world, command):
    async with serve() as served:
        body = await served.run(command.format(state=world.state, above=world.folder))
        assert body["status"] == "denied", body
        assert body["decision"]["reason_code"] == "policy.path_never"


async def test_a_link_into_the_state_folder_is_seen_through(serve, world):
    async with serve() as served:
        await served.run("true")
        (world.workspace / "innocent").symlink_to(world.state / "execkit.db")
        assert (await served.run("cat innocent"))["status"] == "denied"


async def test_a_state_folder_inside_the_workspace_is_guarded_and_the_workspace_stays_usable(serve, world):
    inside = world.workspace / "state"
    async with serve(EXECKIT_STATE_DIR=str(inside)) as served:
        assert (await served.run("grep -r nothing ."))["status"] == "completed"
        assert (await served.run("ls -R"))["status"] == "completed"
        for name in ("execkit.db", "approver.json", "audit.head"):
            assert (await served.run(f"cat state/{name}"))["status"] == "denied"


async def test_the_configuration_file_is_guarded(serve, world):
    config = world.folder / "config" / "execkit-mcp" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("approvals: {ttl_s: 100}\n")
    config.chmod(0o600)
    async with serve() as served:
        assert (await served.run(f"cat {config}"))["status"] == "denied"


@pytest.mark.parametrize("fence", ["off", "process"])
async def test_the_state_of_another_server_of_the_same_user_is_guarded_too(serve, world, monkeypatch, fence):
    usual = world.folder / "home" / ".local" / "state" / "execkit-mcp"
    usual.mkdir(parents=True)
    (usual / "execkit.db").write_text("pending")
    async with serve(EXECKIT_FENCE=fence, HOME=str(world.folder / "home")) as served:
        body = await served.run(f"cat {usual}/execkit.db")
        assert (body["status"], body["decision"]["reason_code"]) == ("denied", "policy.path_never")
        told = await served.run(f"""python3 -c "print(open('{usual}/execkit.db').read())" """)
        assert ("pending" in told["stdout"]) is (fence == "off")
