"""P3: what a command computes into a variable that is named like a secret is known from its end on."""

import base64
import json

import pytest

pytestmark = pytest.mark.promise("P3")

# no vendor's shape: nothing but the name of the variable says that it is secret
VALUE = "orchid" + "-lantern-" + "meadow7"


@pytest.mark.parametrize(
    "assignment",
    [
        "export DB_PASSWORD=$(cat plain.txt)",
        'DB_PASSWORD="$(cat plain.txt)"',
        "read -r DB_PASSWORD < plain.txt",
    ],
)
async def test_p3_a_variable_that_was_computed_is_known_afterwards(world, serve, assignment):
    (world.workspace / "plain.txt").write_text(VALUE + "\n")
    world.policy.write_text(
        "version: 1\nname: p\n"
        "shell: {state: [export, read], env: {set: [DB_PASSWORD]}}\n"
        'rules:\n  - allow: [cat, echo, printf, base64, rev, read, export, "true"]\n'
    )
    async with serve() as served:
        first = await served.call("shell_run", command=assignment)
        if (first.structured_content or {}).get("status") != "completed":
            pytest.fail(json.dumps(first.structured_content))
        answers = [
            await served.call("shell_run", command=command)
            for command in (
                'echo "$DB_PASSWORD"',
                'echo "$DB_PASSWORD" | rev',
                'printf %s "$DB_PASSWORD" | base64',
                "cat plain.txt",
            )
        ]
    shown = json.dumps([answer.model_dump(mode="json") for answer in answers])
    assert VALUE not in shown
    assert VALUE[::-1] not in shown
    assert base64.b64encode(VALUE.encode()).decode()[2:-4] not in shown
    assert "env_delta" not in json.dumps(first.structured_content) or first.structured_content["env_delta"] is None


async def test_p3_what_else_a_command_computes_stays_readable(world, serve):
    (world.workspace / "plain.txt").write_text("release-candidate-7\n")
    world.policy.write_text(
        "version: 1\nname: p\nshell: {state: [export], env: {set: [RELEASE]}}\n"
        'rules:\n  - allow: [cat, echo, export, "true"]\n'
    )
    async with serve() as served:
        await served.call("shell_run", command="export RELEASE=$(cat plain.txt)")
        shown = await served.run('echo "$RELEASE"')
    assert shown["stdout"] == "release-candidate-7\n"
