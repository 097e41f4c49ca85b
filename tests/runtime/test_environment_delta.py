"""What a command did to the exported variables, when that is asked; real bash."""

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.protocol.dialects.bash_env import delta, exported
from execkit_mcp.runtime.request import RunRequest


@pytest.fixture
async def ask(world):
    world.policy.write_text(
        world.policy.read_text().replace("set: [GREETING, COLOR]", "set: [A, B, C, D, E, F, G, H, LOGIN]")
    )
    token = "Zk" + "9vQp" * 6
    async with open_kit(
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        environ={"DEPLOY_TOKEN": token},
    ) as kit:

        async def run(command, **options):
            options = {"env_delta": True, **options}
            result = await kit.run(RunRequest(command=command.replace("TOKEN_VALUE", token), **options), requester="a")
            assert token not in str(result)
            return result

        yield run


NOTHING = {"set": {}, "changed": {}, "unset": []}
ROWS = [
    ("export A=1", {"set": {"A": "1"}}),
    ("B=2; true", {}),
    ("export B", {"set": {"B": "2"}}),
    ("export A=one", {"changed": {"A": "one"}}),
    ("A=two", {"changed": {"A": "two"}}),
    ("unset A; export B=", {"changed": {"B": ""}, "unset": ["A"]}),
    ("C=3 true", {}),
    ("export D='a \"b\" $c `d` \\ e'", {"set": {"D": 'a "b" $c `d` \\ e'}}),
    ("export E='é\nnew\tline'\"'\"", {"set": {"E": "é\nnew\tline'"}}),
    ("(export F=1)", {}),
    ("false", {}),
    ("set -e; false && true", {}),
    ("set +e", {}),
]  # fmt: skip


async def test_each_command_tells_what_it_set_changed_and_unset(ask):
    for command, wanted in ROWS:
        result = await ask(command)
        assert result.status.value == "completed", result
        assert result.env_delta == {**NOTHING, **wanted}, command


async def test_the_exit_code_and_what_the_next_command_sees_of_it_are_as_without(ask):
    assert (await ask("sh -c 'exit 7'")).exit_code == 7
    assert (await ask("echo $?")).stdout == "7\n"
    assert (await ask("false | true | sh -c 'exit 3'")).pipe_status in ((1, 0, 3), ())


async def test_values_are_redacted(ask):
    result = await ask("export LOGIN=TOKEN_VALUE")
    assert "REDACTED" in result.env_delta["set"]["LOGIN"]


async def test_it_is_told_only_when_asked_and_only_by_the_same_shell(ask):
    assert (await ask("export G=1", env_delta=False)).env_delta is None
    assert "env_delta" not in (await ask("true", env_delta=False)).to_json()
    assert (await ask("exit 3")).env_delta is None
    assert (await ask("sleep 60", timeout_s=0.2)).env_delta in (None, NOTHING)
    assert (await ask("export H=1")).env_delta["set"] == {"H": "1"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('declare -x A="1"\ndeclare -x B\ndeclare -ax C=([0]="1")\ndeclare -x D=""\n', {"A": "1", "D": ""}),
        ('declare -x A="x\ndeclare -x B=\\"1\\"\n"\n', {"A": 'x\ndeclare -x B="1"\n'}),
        ("declare -x A=$'a\\nb\\001\\'\\\\'\n", {"A": "a\nb\x01'\\"}),
    ],
)
def test_bash_writes_values_so_that_they_can_be_read_back(text, wanted):
    assert exported(text) == wanted
    assert delta(wanted, wanted).to_json() == NOTHING
