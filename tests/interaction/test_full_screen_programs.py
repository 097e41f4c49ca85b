"""Real full-screen programs, driven the way an agent drives them: run, look at the screen, type, look again."""

import asyncio
import re
import shutil

import pytest

from execkit_mcp.errors import CommandInvalid, ExecKitError
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest

POLICY = """\
version: 1
name: screens
limits: {time_s: 60}
shell: {state: [cd, read]}
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [ls, cat, echo, printf, sleep, seq, yes, head, "true", tput, printenv, kill]
  - {id: trusted, effects: trusted, allow: [bash, dash, sh, python3, less, more, vim, top, stty, gdb, sqlite3, man]}
"""


def needs(program):
    missing = shutil.which(program) is None
    return pytest.mark.skipif(missing, reason=f"{program} is not installed here")


class Terminal:
    def __init__(self, kit, world):
        self.kit, self.world, self.exec_id = kit, world, ""

    async def start(self, command):
        result = await self.kit.run(RunRequest(command=command, tty=True, wait_s=0.05), requester="a")
        self.exec_id = result.exec_id
        return result

    async def screen(self, pattern=None, **options):
        wait_s = 0 if pattern is None else 10
        request = ReadRequest(exec_id=self.exec_id, stream="screen", wait_for=pattern, wait_s=wait_s, **options)
        return await self.kit.read(request, requester="a")

    async def shows(self, pattern):
        shown = await self.screen(pattern)
        assert re.search(pattern, shown.text), shown.text
        return shown

    async def type(self, text=None, **options):
        request = SendRequest(exec_id=self.exec_id, text=text, **{"wait_s": 0.0, **options})
        return await self.kit.send(request, requester="a")

    async def ended(self):
        read = await self.kit.read(ReadRequest(exec_id=self.exec_id, wait_s=10), requester="a")
        assert read.status == "completed"
        return read


@pytest.fixture
async def terminal(world):
    world.policy.write_text(POLICY)
    (world.workspace / "a.txt").write_text("".join(f"line {n} of the file\n" for n in range(1, 500)))
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:
        yield Terminal(kit, world)


@needs("vim")
async def test_vim_is_opened_edited_and_left(terminal):
    await terminal.start("vim -u NONE a.txt")
    first = await terminal.shows("line 30 of the file")
    assert first.text.splitlines()[0] == "line 1 of the file"
    await terminal.type("ihello ")
    await terminal.type(key="escape")
    assert (await terminal.shows("hello line 1")).cursor == (1, 6)
    await terminal.type(":wq\n")
    await terminal.ended()
    assert (terminal.world.workspace / "a.txt").read_text().startswith("hello line 1 ")


@needs("less")
async def test_less_pages_searches_and_leaves(terminal):
    await terminal.start("less a.txt")
    await terminal.shows("line 39 of the file")
    await terminal.type(" ")
    assert "line 1 of" not in (await terminal.shows("line 78 of the file")).text
    await terminal.type("/line 300 \n")
    assert (await terminal.shows("line 300 of")).text.splitlines()[0] == "line 300 of the file"
    await terminal.type(key="up")
    await terminal.shows("line 299 of")
    await terminal.type("q")
    await terminal.ended()


@needs("top")
async def test_top_shows_its_table_and_leaves(terminal):
    await terminal.start("top")
    await terminal.shows(r"PID +USER")
    await terminal.type("q")
    await terminal.ended()


@needs("sqlite3")
async def test_a_database_shell_answers(terminal):
    await terminal.start("sqlite3 :memory:")
    await terminal.shows("sqlite>")
    await terminal.type("select 6*7;\n")
    await terminal.shows("\n42")
    await terminal.type(key="ctrl-d")
    await terminal.ended()


async def test_the_python_prompt_computes(terminal):
    await terminal.start("python3 -q")
    await terminal.shows(">>>")
    sent = await terminal.type("6*7\n", wait_for=r"\n42", wait_s=10)
    assert "42" in sent.text
    await terminal.type(key="ctrl-d")
    await terminal.ended()


async def test_a_shell_below_the_session_keeps_its_prompt_clean(terminal):
    await terminal.start("bash --norc")
    await terminal.shows(r"[#$] \n")
    for number in range(5):
        await terminal.type(f"echo {number}{number}\n", wait_for=rf"\n{number}{number}", wait_s=10)
    shown = await terminal.screen()
    assert [line for line in shown.text.splitlines() if line[:1].isdigit()] == ["00", "11", "22", "33", "44"]
    await terminal.type(key="ctrl-d")
    await terminal.ended()


DIALOG = r"""
import sys, termios, tty
old = termios.tcgetattr(0)
tty.setraw(0)
try:
    names, at = ["alpha", "beta", "gamma"], 0
    sys.stdout.write("\x1b[?1049h\x1b[?1h\x1b[2J")
    while True:
        for row, name in enumerate(names):
            sys.stdout.write(f"\x1b[{row + 2};4H{'>' if row == at else ' '} {name}")
        sys.stdout.flush()
        key = sys.stdin.read(1)
        if key == "\x1b":
            key += sys.stdin.read(2)
        if key == "\x1bOB":
            at = min(at + 1, 2)
        elif key in "\r\n":
            break
finally:
    sys.stdout.write("\x1b[?1l\x1b[?1049l")
    termios.tcsetattr(0, termios.TCSANOW, old)
print("chosen", names[at])
"""


async def test_a_menu_is_chosen_with_arrow_keys_in_the_form_that_it_asked_for(terminal):
    (terminal.world.workspace / "menu.py").write_text(DIALOG)
    await terminal.start("python3 menu.py")
    await terminal.shows("> alpha")
    await terminal.type(key="down")
    await terminal.shows("> beta")
    await terminal.type(key="down")
    await terminal.shows("> gamma")
    await terminal.type(key="enter")
    assert "chosen gamma" in (await terminal.ended()).text
    assert (await terminal.screen()).text == "chosen gamma\n"


async def test_the_terminal_answers_a_program_that_waits_for_it(terminal):
    (terminal.world.workspace / "ask.py").write_text(
        "import os, sys, termios, tty\n"
        "old = termios.tcgetattr(0)\ntty.setraw(0)\n"
        r"os.write(1, b'\x1b[5;9H\x1b[6n\x1b[c\x1b]11;?\x07\x1b[?2004$p')" "\n"
        "got = b''\nwhile not got.endswith(b'y'):\n    got += os.read(0, 100)\n"
        "termios.tcsetattr(0, termios.TCSANOW, old)\nprint()\nprint(ascii(got))\n"
    )  # fmt: skip
    await terminal.start("python3 ask.py")
    text = (await terminal.ended()).text
    assert r"b'\x1b[5;9R\x1b[?62;22c\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2004;2$y'" in text


async def test_a_change_of_size_reaches_the_program_and_the_screen(terminal):
    await terminal.start("bash --norc")
    await terminal.shows(r"[#$] \n")
    await terminal.type(cols=61, rows=17)
    await terminal.type("stty size\n", wait_for="17 61", wait_s=10)
    await terminal.type("seq 40\n", wait_for="40", wait_s=10)
    shown = await terminal.shows("\n40\n")
    assert len(shown.text.splitlines()) <= 17
    assert "\n30\n" in (await terminal.screen(offset=0)).text
    await terminal.type(key="ctrl-d")
    await terminal.ended()


async def test_a_send_returns_when_the_screen_is_still(terminal):
    await terminal.start("cat")
    loop = asyncio.get_running_loop()
    began = loop.time()
    sent = await terminal.type("hello\n", wait_s=30, settle_ms=150)
    assert "hello\nhello" in sent.text
    assert 0.1 < loop.time() - began < 10
    await terminal.type(key="ctrl-d")


async def test_an_old_match_does_not_end_a_wait(terminal):
    await terminal.start("cat")
    await terminal.type("needle\n", wait_for="needle\nneedle", wait_s=10)
    sent = await terminal.type("other\n", wait_for="needle", wait_s=0.3)
    assert "needle" not in sent.text
    await terminal.type(key="ctrl-d")


async def test_a_flood_leaves_the_screen_at_hand_and_its_end_exact(terminal):
    await terminal.start("yes some line of a flood | head -n 300000; echo the end")
    await terminal.ended()
    shown = await terminal.screen()
    assert shown.text.splitlines()[-1] == "the end"
    assert shown.text.splitlines()[0] == "some line of a flood"


async def test_a_bad_pattern_and_an_unknown_key_lose_nothing(terminal):
    await terminal.start("cat")
    with pytest.raises(CommandInvalid):
        await terminal.type("x\n", wait_for="(")
    with pytest.raises(CommandInvalid, match="no key"):
        await terminal.type(key="ctrl-cc")
    with pytest.raises(ExecKitError):
        await terminal.type("x", key="enter")
    sent = await terminal.type("fine\n", wait_for="fine\nfine", wait_s=10)
    assert "x" not in sent.text
    await terminal.type(key="ctrl-d")
    await terminal.ended()


async def test_several_lines_are_pasted_where_the_program_asked_for_it(terminal):
    (terminal.world.workspace / "paste.py").write_text(
        "import os, termios, tty\nold = termios.tcgetattr(0)\ntty.setraw(0)\n"
        r"os.write(1, b'\x1b[?2004hready')" "\n"
        "got = b''\nwhile not got.endswith(b'~\\r'):\n    got += os.read(0, 100)\n"
        "termios.tcsetattr(0, termios.TCSANOW, old)\nprint(ascii(got))\n"
    )  # fmt: skip
    await terminal.start("python3 paste.py")
    await terminal.shows("ready")
    await terminal.type("one\ntwo\n")
    assert r"b'\x1b[200~one\rtwo\x1b[201~\r'" in (await terminal.ended()).text


async def test_term_is_set_for_terminals_only_and_does_not_stay(terminal):
    run = terminal.kit.run
    for command in ("echo $TERM", "cd / && echo $TERM", "true; true; printenv TERM"):
        result = await run(RunRequest(command=command, tty=True), requester="a")
        assert result.stdout.strip() == "xterm-256color", command
    for command in ("true", "kill -HUP $$; sleep 60"):  # also of a shell that ended meanwhile
        await run(RunRequest(command=command, tty=True), requester="a")
        assert (await run(RunRequest(command="echo $TERM"), requester="a")).stdout.strip() == "dumb"
