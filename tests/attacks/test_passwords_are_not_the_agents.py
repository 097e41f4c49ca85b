"""P3: where the terminal hides what is typed, only a declared secret goes in, and it is never seen."""

import shutil

import pytest

from execkit_mcp.errors import Blocked, CommandInvalid, ConfigError, ExecKitError
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest

pytestmark = pytest.mark.promise("P3")

PARTS = ["orange", "-Staple", "-7261", "-Kqx"]
VALUE = "".join(PARTS)
ASK = """\
import getpass, sys
word = getpass.getpass("Password: ")
print("length", len(word), flush=True)
print("said", word, word[::-1], word.encode().hex())
"""


@pytest.fixture
async def prompt(world):
    (world.workspace / "ask.py").write_text(ASK)
    config = world.folder / "config.yaml"
    config.write_text(
        "secrets:\n  typed:\n    mail: {env: MAIL_WORD, to: [python3]}\n    other: {env: MAIL_WORD, to: [sudo]}\n"
        f"    filed: {{file: {world.folder}/word, to: [python3]}}\n"
        "    lines: {env: TWO_LINES, to: [python3]}\n"
        f"    empty: {{env: NOT_SET, to: [python3]}}\n"
    )
    config.chmod(0o600)
    (world.folder / "word").write_text(VALUE + "2\nsecond line\n")
    async with open_kit(
        config=str(config),
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        environ={"MAIL_WORD": VALUE, "TWO_LINES": f"{VALUE}\nrm -rf x", "EXECKIT_FENCE": "off"},  # no fence helps here
    ) as kit:
        yield Prompt(kit, world)


KEYS = """\
import os, sys, termios, tty
modes = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"Password: ")
word = b""
while (key := os.read(0, 1)) not in b"\\r\\n":
    word += key
    os.write(1, b"*")
termios.tcsetattr(0, termios.TCSANOW, modes)
print("length", len(word), flush=True)
print("said", word.decode(), flush=True)
"""


class Prompt:
    def __init__(self, kit, world):
        self.kit, self.world, self.exec_id = kit, world, ""

    async def start(self, command="python3 ask.py"):
        self.exec_id = (await self.kit.run(RunRequest(command=command, tty=True, wait_s=0), requester="a")).exec_id
        await self.read(wait_for="Password", wait_s=10)
        return self

    async def read(self, **options):
        return await self.kit.read(ReadRequest(exec_id=self.exec_id, **options), requester="a")

    async def type(self, text=None, **options):
        return await self.kit.send(
            SendRequest(exec_id=self.exec_id, text=text, **{"wait_s": 0.0, **options}), requester="a"
        )

    def record(self):
        return "".join(path.read_text(errors="replace") for path in self.world.state.rglob("*") if path.is_file())


async def test_text_of_the_agent_is_refused_and_nothing_reaches_the_program(prompt):
    await prompt.start()
    for text in ("letmein\n", "x", " "):
        with pytest.raises(Blocked, match="password"):
            await prompt.type(text)
    await prompt.type(key="enter")
    end = await prompt.read(wait_s=10)
    assert "length 0" in end.text
    assert "letmein" not in prompt.record()


async def test_keys_that_would_type_characters_are_refused(prompt):
    await prompt.start()
    for key in ("space", "tab", "up", "alt-x", "ctrl-a"):
        with pytest.raises(Blocked):
            await prompt.type(key=key)
    await prompt.type(key="ctrl-c")


@pytest.mark.parametrize(("name", "length"), [("mail", len(VALUE)), ("filed", len(VALUE) + 1)])
async def test_a_declared_secret_is_typed_and_appears_nowhere(prompt, name, length):
    await prompt.start()
    sent = await prompt.type(f"${{secret:{name}}}\n", wait_s=10)
    end = await prompt.read(wait_s=10)
    screen = await prompt.read(stream="screen")
    assert f"length {length}" in end.text
    assert "[REDACTED:known:" in end.text
    shown = sent.text + end.text + screen.text + repr(sent) + prompt.record()
    for form in (VALUE, VALUE[::-1], VALUE.encode().hex(), VALUE[3:15]):
        assert form not in shown
    assert f'"secret":"{name}"' in prompt.record().replace(" ", "")


async def test_a_prompt_that_takes_single_keys_gets_none_of_the_agents(prompt):
    (prompt.world.workspace / "keys.py").write_text(KEYS)
    await prompt.start("python3 keys.py")
    for text in ("letmein\n", "l", "1234\n"):
        with pytest.raises(Blocked, match="password"):
            await prompt.type(text)
    await prompt.type("${secret:mail}\n", wait_s=10)
    end = await prompt.read(wait_s=10)
    assert f"length {len(VALUE)}\n" in end.text
    assert "[REDACTED:known:" in end.text
    assert VALUE not in end.text + prompt.record()
    assert "letmein" not in prompt.record()


async def test_a_secret_for_one_program_is_not_typed_to_another(prompt):
    await prompt.start()
    with pytest.raises(Blocked, match="sudo"):
        await prompt.type("${secret:other}\n")
    await prompt.type(key="ctrl-c")


async def test_a_program_of_that_name_from_elsewhere_does_not_get_it(prompt):
    fake = prompt.world.workspace / "sudo"
    shutil.copy("/usr/bin/dash", fake)
    (prompt.world.workspace / "pose.sh").write_text(
        "stty -echo; printf 'Password: '; exec -a /usr/bin/sudo ./sudo -c 'read x; echo $x'\n"
    )
    await prompt.start("bash pose.sh")
    with pytest.raises(Blocked, match="sudo"):
        await prompt.type("${secret:other}\n")
    await prompt.type(key="ctrl-c")


async def test_a_secret_is_not_typed_where_the_terminal_shows_it(prompt):
    result = await prompt.kit.run(RunRequest(command="cat", tty=True, wait_s=0), requester="a")
    prompt.exec_id = result.exec_id
    with pytest.raises(CommandInvalid, match="hides") as refused:
        await prompt.type("${secret:mail}\n")
    assert refused.value.retryable
    await prompt.type(key="ctrl-d")


async def test_an_unknown_and_an_empty_secret_are_named_without_a_value(prompt):
    await prompt.start()
    with pytest.raises(CommandInvalid, match="No secret 'none'"):
        await prompt.type("${secret:none}\n")
    with pytest.raises(ConfigError, match="has no value"):
        await prompt.type("${secret:empty}\n")
    with pytest.raises(ConfigError, match="control character") as refused:
        await prompt.type("${secret:lines}\n")
    assert VALUE not in str(refused.value)
    with pytest.raises(ExecKitError):
        await prompt.type("x${secret:mail}\n")
    await prompt.type(key="ctrl-c")


async def test_the_sessions_own_shell_gets_no_secret(prompt):
    result = await prompt.kit.run(RunRequest(command="read -rsp Password: word", tty=True, wait_s=0), requester="a")
    prompt.exec_id = result.exec_id
    await prompt.read(wait_for="Password", wait_s=10)
    with pytest.raises(Blocked, match="own shell"):
        await prompt.type("${secret:mail}\n")
    await prompt.type(key="ctrl-c")


async def test_a_declared_secret_is_known_before_it_was_ever_typed(prompt):
    (prompt.world.workspace / "found").write_text(f"{VALUE}\n{VALUE}2\n")
    result = await prompt.kit.run(RunRequest(command="cat found"), requester="a")
    assert result.stdout.count("[REDACTED:known:") == 2
    assert VALUE not in result.stdout
