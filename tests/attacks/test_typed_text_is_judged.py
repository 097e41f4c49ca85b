"""P2: what is typed to a running program is policy input; nothing slips past by being typed instead of run."""

import asyncio
import contextlib
import json
import shutil

import pytest
from msgspec.structs import replace

from execkit_mcp.errors import ApprovalRequired, Blocked, CommandInvalid, ExecKitError
from execkit_mcp.kit import open_kit
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy.typed import Line, plan
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.runtime.session import Session

pytestmark = pytest.mark.promise("P2")

POLICY = """\
version: 1
name: typed
include: [builtin:secrets]
limits: {time_s: 60}
shell: {state: [cd, read, source, ., ulimit]}
paths: {read: ["${workspace}/**", /usr/**, /etc/passwd], write: ["${workspace}/**"]}
rules:
  - allow: [ls, cat, echo, printf, sleep, "true", pwd, grep, top, "timeout"]
  - {id: shells, effects: trusted, allow: [{bash: {flags: {deny: [-c]}}}, {dash: {flags: {deny: [-c]}}}]}
  - {id: python, effects: trusted, allow: [{python3: {flags: {deny: [-c]}}}]}
  - {id: others, effects: trusted, allow: [{perl: {flags: {deny: [-e]}}}, {node: {flags: {deny: [-e]}}}]}
  - {id: viewers, effects: trusted, allow: [{more: {args: ["*.txt"]}}, {less: {args: ["*.txt"]}}]}
  - {id: editors, effects: trusted, allow: [{vim: {flags: {deny: [-c]}, args: ["*.txt"]}}]}
  - {id: debugger, effects: trusted, allow: [{gdb: {flags: {deny: [-ex]}}}]}
  - {id: look, ask: [touch], reason: A person looks at this.}
  - {id: never, deny: [rm], reason: Nothing is deleted here.}
"""


@contextlib.asynccontextmanager
async def opened(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:
        yield Typist(kit, world)


@pytest.fixture
async def kit(world):
    world.policy.write_text(POLICY)
    async with opened(world) as typist:
        yield typist


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed here")


class Typist:
    def __init__(self, kit, world):
        self.kit, self.world, self.exec_id = kit, world, ""

    async def start(self, command, prompt=None, **options):
        result = await self.kit.run(RunRequest(command=command, tty=True, wait_s=0.05, **options), requester="a")
        assert result.status == "running", (result.decision, result.stdout)
        self.exec_id = result.exec_id
        if prompt is not None:
            await self.sees(prompt)
        return self

    async def sees(self, pattern, wait_s=10):
        read = await self.kit.read(ReadRequest(exec_id=self.exec_id, wait_for=pattern, wait_s=wait_s), requester="a")
        return read.text

    async def type(self, text=None, **options):
        return await self.kit.send(
            SendRequest(exec_id=self.exec_id, text=text, **{"wait_s": 0.0, **options}), requester="a"
        )

    async def refuses(self, text=None, **options):
        with pytest.raises(ExecKitError) as refused:
            await self.type(text, **options)
        return refused.value

    async def end(self):
        for _ in range(3):
            try:
                await self.type(key="ctrl-c")
                await self.type(key="ctrl-d", wait_s=0.3)
            except ExecKitError:
                return

    def record(self):
        lines = [line for path in sorted(self.world.state.rglob("*.jsonl")) for line in path.read_text().splitlines()]
        return [json.loads(line) for line in lines]


BASH = "bash --norc"
PROMPT = r"[#$] "


async def test_a_line_at_a_shell_prompt_is_judged_like_a_command(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start(BASH, PROMPT)
    await kit.type("echo one  'two'\n")
    assert "one two" in await kit.sees(r"\none two")
    refused = await kit.refuses("rm kept.txt\n")
    assert isinstance(refused, Blocked)
    assert refused.decision.rule == "never"
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_the_shell_gets_the_canonical_text_and_not_the_agents(kit):
    await kit.start(BASH, PROMPT)
    await kit.type("l's'   -d   .\n")
    assert "/usr/bin/ls -d ." in await kit.sees(r"/ls -d \.")
    await kit.end()


async def test_a_line_sent_in_pieces_is_judged_whole(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start(BASH, PROMPT)
    for piece in ("r", "m", " kept", ".txt"):
        await kit.type(piece)
    refused = await kit.refuses(key="enter")
    assert refused.decision.rule == "never"
    assert "11 characters of earlier sends are still held before it; key ctrl-u drops them" in refused.hint
    await kit.type(key="ctrl-u")
    assert "still held" not in (await kit.refuses("rm kept.txt\n")).hint
    await kit.type("echo ok\n")
    await kit.sees(r"\nok")
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_what_is_held_is_not_on_the_shells_line(kit):
    await kit.start(BASH, PROMPT)
    held = await kit.type("rm -rf /tmp/nothing-here")
    assert "held" in held.warnings[0]
    assert "rm -rf" not in await kit.sees("rm -rf", wait_s=0.3)
    await kit.end()


RECALLING = ["up", "down", "ctrl-r", "ctrl-p", "ctrl-n", "tab", "alt-x", "ctrl-x", "ctrl-o", "escape", "left", "f1"]


@pytest.mark.parametrize("key", RECALLING)
async def test_keys_that_recall_complete_or_edit_are_refused_at_a_prompt(kit, key):
    await kit.start(BASH, PROMPT)
    assert "nobody has judged" in (await kit.refuses(key=key)).message
    await kit.end()


@pytest.mark.parametrize("text", ["\x12", "\x1b[A", "ec\tho\n", "a\x16\x12b\n", "echo \x9b\n", "x\x7f"])
async def test_control_characters_in_text_are_refused(kit, text):
    await kit.start(BASH, PROMPT)
    assert (await kit.refuses(text)).code == "command.invalid"
    await kit.end()


async def test_an_approval_is_asked_for_the_line_and_fits_only_it(kit):
    await kit.start(BASH, PROMPT)
    asked = await kit.refuses("touch made\n")
    assert isinstance(asked, ApprovalRequired)
    assert not (kit.world.workspace / "made").exists()
    question = kit.kit.question(asked.approval_id, channel="cli")
    assert "typed into" in question
    assert "bash" in question
    kit.kit.answer(asked.approval_id, approve=True, channel="cli", who="me")
    with pytest.raises(ExecKitError) as other:
        await kit.kit.run(RunRequest(command="touch made", session=None, approval_id=asked.approval_id), requester="a")
    assert other.value.code in {"approval.expired", "session.busy"}
    await kit.refuses("touch other\n", approval_id=asked.approval_id)
    await kit.type("touch made\n", approval_id=asked.approval_id, wait_s=0.3)
    await kit.type("echo done\n")
    await kit.sees(r"\ndone")
    assert (kit.world.workspace / "made").exists()
    await kit.end()


async def test_type_ahead_to_a_program_in_front_of_a_shell_is_not_read_by_that_shell(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start(BASH, PROMPT)
    await kit.type("sleep 1\n", wait_s=0.3)
    assert (await kit.refuses("rm kept.txt\n")).code in {"policy.denied", "approval.required"}
    await kit.refuses(key="up")
    await kit.sees("never", wait_s=1.2)
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_type_ahead_before_a_shell_that_the_same_command_starts_is_not_read_by_it(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start("sleep 1; bash --norc")
    assert (await kit.refuses("rm kept.txt\n")).code in {"policy.denied", "approval.required"}
    await kit.sees(PROMPT)
    await kit.type("echo alive\n")
    await kit.sees(r"\nalive")
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_a_shell_that_a_script_started_is_seen_behind_the_program_in_front(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    (kit.world.workspace / "start.sh").write_text("bash --norc -i\n")
    await kit.start("dash start.sh", PROMPT)
    await kit.type("sleep 1\n", wait_s=0.3)
    assert (await kit.refuses("rm kept.txt\n")).code in {"policy.denied", "approval.required"}
    await kit.sees("never", wait_s=1.2)
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_what_stands_on_the_shells_line_already_is_not_carried_out_with_it(kit):
    await kit.start(BASH, PROMPT)
    kit.kit._sessions.find("main", "a")._driver.send(b"echo stray; ")
    await kit.type("echo one\n")
    assert "\nstray" not in await kit.sees(r"\none")
    kit.kit._sessions.find("main", "a")._driver.send(b"echo stray")
    await kit.type(key="enter")
    await kit.type("echo two\n")
    assert "\nstray" not in await kit.sees(r"\ntwo")
    await kit.end()


async def test_an_approval_for_one_shell_does_not_fit_another(kit):
    await kit.start(BASH, PROMPT)
    asked = await kit.refuses("touch made\n")
    kit.kit.answer(asked.approval_id, approve=True, channel="cli", who="me")
    await kit.end()
    await kit.kit.read(ReadRequest(exec_id=kit.exec_id, wait_s=5), requester="a")
    await kit.start(BASH, PROMPT)
    refused = await kit.refuses("touch made\n", approval_id=asked.approval_id)
    assert refused.code == "approval.expired"
    assert not (kit.world.workspace / "made").exists()
    await kit.end()


def test_a_shell_that_is_still_at_work_gets_no_line():
    shell = TerminalProcess(
        pid=2, started=1, parent=1, path="/usr/bin/dash", argv=("sh",), cwd="/srv", is_foreground=True
    )
    busy = TerminalState(processes=(shell,), is_shell_in_front=False, is_line_mode=True, has_echo=True)
    step = plan(text="cat shadow\n", key=None, line=Line(), state=busy)
    assert (step.action, step.is_retryable) == ("refuse", True)
    reading = replace(busy, processes=(replace(shell, is_reading=True),))
    assert plan(text="cat shadow\n", key=None, line=Line(), state=reading).action == "judge"
    on_its_way = Line(last=(2, 0))  # it has not woken since the last line was typed
    assert plan(text="cat shadow\n", key=None, line=on_its_way, state=reading).action == "refuse"
    unread = replace(reading, unread_bytes=4)
    assert plan(text="cat shadow\n", key=None, line=Line(), state=unread).action == "refuse"


async def test_what_one_command_left_unread_the_next_does_not_get(kit):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start("sleep 0.8")
    await kit.type("rm kept.txt\n")
    await kit.kit.read(ReadRequest(exec_id=kit.exec_id, wait_s=5), requester="a")
    await kit.start(BASH, PROMPT)
    await kit.type("echo alive\n")
    assert "rm kept" not in (await kit.sees(r"\nalive")).split("alive")[0]
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_a_line_is_judged_in_the_folder_where_the_shell_stands(kit):
    (kit.world.workspace / "passwd").write_text("mine")
    await kit.start(BASH, PROMPT)
    await kit.type("cd /usr\n", wait_s=0.3)
    await kit.type("cat passwd\n", wait_s=0.3)
    await kit.type("cd /\n", wait_s=0.3)
    assert (await kit.refuses("cat passwd\n")).decision is not None
    await kit.end()


@pytest.mark.parametrize("shell", ["dash", "bash --norc --noediting -i"])
async def test_a_line_is_not_taken_while_the_shell_is_still_busy_with_the_one_before(kit, shell):
    await kit.start(shell, PROMPT)
    await kit.type("cd /; true\n")
    secret = await kit.refuses("cat shadow.txt\n")
    assert "/shadow.txt" in secret.decision.message
    await kit.end()


async def test_an_interpreter_is_judged_as_its_program_text(kit):
    await kit.start("python3 -q", ">>> ")
    refused = await kit.refuses("import os; os.remove('x')\n")
    assert refused.decision.canonical == "/usr/bin/python3 -c 'import os; os.remove('\\''x'\\'')'"
    held = await kit.type("import os")
    assert "held" in held.warnings[0]
    await kit.refuses(key="up")
    await kit.end()


async def test_an_editor_runs_nothing_and_a_viewer_only_moves(kit):
    (kit.world.workspace / "a.txt").write_text("one\ntwo needle\nthree\n" * 100)
    await kit.start("less a.txt", "one")
    await kit.type(" ")
    await kit.type("/needle\n")
    for text in ("!id\n", "v", "|$cat\n", "s out\n", ":e /etc/shadow\n", "-oout\n", "q!id\n"):
        await kit.refuses(text)
    await kit.type("q")
    await kit.kit.read(ReadRequest(exec_id=kit.exec_id, wait_s=5), requester="a")
    await kit.start("vim a.txt", "needle")
    for text in (":!id\n", "ihello", ":r !id\n", ":w /tmp/x\n", "!!id\n"):
        await kit.refuses(text)
    await kit.type(key="down")
    await kit.type(":q!\n")
    end = await kit.kit.read(ReadRequest(exec_id=kit.exec_id, wait_s=5), requester="a")
    assert end.status == "completed"


async def test_a_program_that_poses_under_another_name_is_judged_by_its_file(kit):
    await kit.start(BASH, PROMPT)
    refused = await kit.refuses("exec -a cat bash\n")
    assert refused.decision is not None
    await kit.end()


@pytest.mark.parametrize("command", ["source /dev/stdin", ". /dev/tty", "read -r x; source /dev/stdin"])
async def test_text_that_the_sessions_own_shell_would_carry_out_is_not_data(kit, command):
    (kit.world.workspace / "kept.txt").write_text("x")
    await kit.start(command)
    assert (await kit.refuses("rm kept.txt\n")).code == "policy.denied"
    assert (kit.world.workspace / "kept.txt").exists()
    await kit.end()


async def test_an_interpreters_own_commands_are_program_text(kit):
    await kit.start("gdb -q -nx", "gdb")
    for text in ("shell id\n", "!id\n", "python import os\n", "source x\n"):
        assert (await kit.refuses(text)).code == "policy.denied"
    await kit.type("q\n")


async def test_a_shell_that_reads_otherwise_than_bash_gets_only_what_both_read_alike(kit):
    await kit.start("dash", PROMPT)
    for text in ("[[ -e a ]] && ls\n", "cat <<< hi\n", "echo 'a\\nb'\n", "echo 'it'\\''s'!\n"):
        assert (await kit.refuses(text)).code == "policy.denied"
    await kit.type("echo 'a  b' c && ls -d . | cat\n")
    assert "a  b c" in await kit.sees(r"\na  b c")
    await kit.end()


@pytest.mark.parametrize("text", ["echo a!b\n", "echo !!\n", "echo 'x'!-1\n", "^a^b\n"])
async def test_history_of_an_interactive_shell_is_not_recalled(kit, text):
    await kit.start(BASH, PROMPT)
    assert (await kit.refuses(text)).code == "policy.denied"
    await kit.end()


async def test_data_goes_to_a_program_that_the_policy_lets_read_it(kit):
    await kit.start("cat")
    await kit.type("rm -rf is only a text here\n")
    await kit.sees("only a text here\nrm -rf")
    await kit.type(key="ctrl-d")


async def test_each_send_is_on_the_record_before_it_goes_out(kit):
    await kit.start(BASH, PROMPT)
    await kit.type("echo one\n")
    await kit.refuses("rm x\n")
    await kit.end()
    typed = [entry["data"] for entry in kit.record() if entry["kind"] == "exec.typed"]
    assert [each["verdict"] for each in typed if "verdict" in each] == ["allow", "deny"]
    assert typed[0]["canonical"] == "echo one"
    assert "bash" in typed[0]["into"]


async def test_another_program_in_front_at_the_last_moment_gets_nothing(kit, monkeypatch):
    await kit.start(BASH, PROMPT)
    driver = kit.kit._sessions.find("main", "a")._driver
    real, looks = driver.terminal, []

    def look():
        looks.append(real())
        state = looks[-1]
        return (
            None
            if state is None
            else replace(state, processes=tuple(replace(each, started=len(looks)) for each in state.processes))
        )

    monkeypatch.setattr(driver, "terminal", look)
    refused = await kit.refuses("echo one\n")
    assert isinstance(refused, CommandInvalid)
    assert refused.retryable
    monkeypatch.setattr(driver, "terminal", real)
    assert "\none" not in await kit.sees(r"\none", wait_s=0.3)
    await kit.end()


async def test_a_terminal_that_changes_what_is_typed_gets_no_line(kit):
    import termios

    await kit.start("dash", PROMPT)
    session = kit.kit._sessions.find("main", "a")
    master = session._driver._channel.fds["tty"]
    modes = termios.tcgetattr(master)
    modes[6][termios.VKILL] = b"k"
    termios.tcsetattr(master, termios.TCSANOW, modes)
    assert "stty" in (await kit.refuses("echo k rm -rf x\n")).message
    await asyncio.sleep(0)
    await kit.end()


@needs("more")
async def test_a_search_in_more_is_no_way_to_a_shell(kit):
    (kit.world.workspace / "a.txt").write_text("one\ntwo needle\nthree\n" * 100)
    await kit.start("more a.txt", "--More--")
    refused = await kit.refuses("/needle!>made.txt\n")
    assert isinstance(refused, Blocked)
    await kit.type(" ", wait_s=0.3)
    assert not (kit.world.workspace / "made.txt").exists()
    await kit.end()


@pytest.mark.parametrize(
    ("command", "prompt", "text"),
    [
        ("python3 -mpdb x.py", r"\(Pdb\)", "open('made.txt', 'w')\n"),
        pytest.param("perl -d x.pl", "DB<", "open(my $f, '>', 'made.txt')\n", marks=needs("perl")),
        pytest.param("node inspect x.js", "debug> ", "exec(\"require('fs').x\")\n", marks=needs("node")),
    ],
)
async def test_a_debugger_is_judged_as_an_interpreter(kit, command, prompt, text):
    for name in ("x.py", "x.pl", "x.js"):
        (kit.world.workspace / name).write_text("1;\n2;\n")
    await kit.start(command, prompt)
    assert isinstance(await kit.refuses(text), Blocked)
    assert not (kit.world.workspace / "made.txt").exists()
    await kit.end()


@pytest.mark.parametrize("limit", [99, 250])
async def test_a_shell_that_cannot_undo_its_redirects_does_not_read_the_terminal_as_its_script(kit, limit):
    await kit.start(f"ulimit -n {limit}")
    await asyncio.sleep(0.2)
    with contextlib.suppress(CommandInvalid):
        await kit.type(">made.txt\n", wait_s=0.3)
    assert not (kit.world.workspace / "made.txt").exists()
    assert (await kit.kit.run(RunRequest(command="echo here"), requester="a")).stdout == "here\n"


async def test_what_no_builtin_was_judged_to_read_is_not_typed_to_the_sessions_own_shell(kit):
    await kit.start("while true; do true; done")
    refused = await kit.refuses("anything\n")
    assert "Nobody reads" in str(refused)
    await kit.end()


async def test_of_two_sends_at_once_the_second_is_judged_after_the_first_is_typed(kit, monkeypatch):
    await kit.start(BASH, PROMPT)
    seen, judged, typed = [], Session.judged, Session.type

    async def judges(session, judge):
        seen.append("judged")
        await asyncio.sleep(0.05)
        return await judged(session, judge)

    async def types(session, *arguments):
        seen.append("typed")
        return await typed(session, *arguments)

    monkeypatch.setattr(Session, "judged", judges)
    monkeypatch.setattr(Session, "type", types)
    await asyncio.gather(kit.type("cd /\n"), kit.type("echo two\n", wait_for="\ntwo", wait_s=5))
    assert seen == ["judged", "typed"] * 2
    await kit.end()


@needs("gdb")
async def test_an_approved_line_is_not_repeated_by_an_empty_one(world):
    world.policy.write_text(POLICY.replace("ask: [touch]", "ask: [touch, {gdb: {flags: {require: [-ex]}}}]"))
    async with opened(world) as kit:
        await _approves_once(kit)


async def _approves_once(kit):
    await kit.start("gdb -q -nx", r"\(gdb\) ")
    asked = await kit.refuses("print $n++\n")
    assert isinstance(asked, ApprovalRequired)
    kit.kit.answer(asked.approval_id, approve=True, channel="cli", who="me")
    await kit.type("print $n++\n", approval_id=asked.approval_id, wait_for=r"\$1 = ", wait_s=5)
    for again in ({"text": "\n"}, {"key": "enter"}, {"text": "  \n"}):
        assert "repeat" in str(await kit.refuses(**again))
    assert "$2" not in (await kit.type("y\n", wait_s=0.3)).text
    await kit.end()
