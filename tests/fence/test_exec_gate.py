"""The exec gate on a real kernel, beneath a shell that no text gate reads: what it remembers, and what it may not."""

import os
import subprocess
import sys

import pytest

from execkit_mcp.fence import processes, waiting
from execkit_mcp.fence.exec_gate import ExecGate
from execkit_mcp.fence.exec_rules import SHELL, Seen
from execkit_mcp.fence.executables import Executables
from execkit_mcp.fence.second_stop import Board, Judged
from tests.fence.gated import GATE, gated_shell

pytestmark = [pytest.mark.promise("P2"), pytest.mark.timeout(60)]
TRUE, PYTHON = os.path.realpath("/usr/bin/true"), os.path.realpath(sys.executable)
_WALL = 0x40000000


@pytest.fixture(params=["what Linux 6.13 has", "an older kernel", "a filter around us"])
def kernel(request, monkeypatch):
    """The ways in which the gate may have to look at a process."""
    if request.param == "an older kernel":
        monkeypatch.setattr(processes, "_has_info", False)
    elif request.param == "a filter around us":
        monkeypatch.setattr(waiting, "_has_call", False)


def test_what_was_judged_runs_however_often_and_stands_in_the_record_each_time(kernel):
    with gated_shell() as shell:
        assert shell.run("for i in 1 2 3; do /usr/bin/true; echo $?; done", [(TRUE, (), False)]) == "0\n0\n0\n"
        assert (shell.ran, shell.questions) == ([[TRUE]] * 3, [])


def test_a_yes_that_is_remembered_is_none_for_the_next_command(kernel):
    with gated_shell() as shell:
        shell.run("/usr/bin/true; /usr/bin/true", [(TRUE, (), False)])
        assert "126" in shell.run("/usr/bin/true; echo $?")
        assert (shell.questions, len(shell.ran)) == ([TRUE], 2)


def test_a_yes_that_is_remembered_is_none_for_other_words(kernel):
    with gated_shell() as shell:
        shell.run("/usr/bin/true; /usr/bin/true; /usr/bin/true --version", [(TRUE, (), False)])
        assert (shell.questions, len(shell.ran)) == ([TRUE], 2)


def test_a_yes_to_the_shell_is_none_for_a_program_below_it(kernel):
    code = "import subprocess; subprocess.run(['/usr/bin/true'])"
    with gated_shell({"is_open": False}) as shell:
        plan = [(TRUE, (), False), (PYTHON, ("-c", code), False)]
        assert "PermissionError" in shell.run(f'/usr/bin/true; "{PYTHON}" -c "{code}"', plan)
        assert shell.questions == [TRUE]


def test_what_a_trusted_program_starts_from_any_thread_is_known_as_its_own(kernel):
    code = "import os, threading; threading.Thread(target=os.execv, args=('/usr/bin/echo', ['echo', 'here'])).start()"
    with gated_shell() as shell:
        said = shell.run(f'"{PYTHON}" -c "{code}"', [(PYTHON, ("-c", code), True)])
        assert (said, shell.questions, shell.refusals) == ("here\n", [], [])
        assert shell.ran[-1] == [os.path.realpath("/usr/bin/echo"), "here"]


def test_what_a_program_leaves_behind_keeps_its_label(kernel):
    """Its parent is gone and the shell has become its parent: it is still not the shell."""
    code = "import os, time; os.fork() or os.fork() or (time.sleep(0.3), os.execv('/usr/bin/true', ['true']))"
    with gated_shell({"is_open": False}) as shell:
        plan = [(PYTHON, ("-c", code), False), (TRUE, (), False)]
        shell.run(f'"{PYTHON}" -c "{code}"; read -t 1 <> <(:)', plan)
        assert shell.questions == [TRUE]


def test_an_interpreter_that_is_replaced_while_the_gate_lives_is_no_race(tmp_path):
    interpreter, script = tmp_path / "interpreter", tmp_path / "script"
    interpreter.symlink_to("/bin/bash")
    script.write_text(f"#!{interpreter}\necho done\n")
    script.chmod(0o755)
    with gated_shell() as shell:
        plan = [(str(script), (), False)]
        assert shell.run(str(script), plan) == "done\n"
        interpreter.unlink()
        interpreter.symlink_to("/bin/sh")
        assert (shell.run(str(script), plan), shell.refusals) == ("done\n", [])


def test_a_file_that_was_changed_in_place_is_read_again_whatever_its_time_says(tmp_path):
    script = tmp_path / "script"
    files = Executables(os.getpid(), ())
    for interpreter in ("/bin/sh", "/usr/bin/env"):
        script.write_text(f"#!{interpreter} word\n")
        os.utime(script, (1, 1))
        assert files.find(os.getpid(), str(script)).interpreter == os.path.realpath(interpreter)
    files.close()


def test_a_file_in_the_place_of_another_is_another(tmp_path):
    program = tmp_path / "program"
    files = Executables(os.getpid(), ())
    found = []
    for _ in range(2):
        fresh = tmp_path / "fresh"
        fresh.write_bytes(b"\x7fELF")
        fresh.rename(program)
        found.append(files.find(os.getpid(), str(program)).runs)
        assert found[-1] == files.find(os.getpid(), str(program)).runs == (program.stat().st_dev, program.stat().st_ino)
    assert found[0] != found[1]
    files.close()


def test_a_process_that_was_seized_in_error_is_let_go_and_goes_on():
    """Its number belonged to one that asked and was killed."""
    with subprocess.Popen(
        ["/bin/sh", "-c", "read x; exec /bin/echo it goes on"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        board = Board()
        gate = ExecGate(
            shell=os.getpid(), listener=os.open("/dev/null", os.O_RDONLY), gate=GATE, report=lambda _: None, board=board
        )
        seen = Seen(path=TRUE, real=TRUE, interpreter="", interpreter_word="", argv=("true",))
        judged = Judged(seen, gate._files.find(os.getpid(), TRUE), b"true\0", SHELL)
        gate._let(7, other.pid, judged, 1)
        assert board.traced(*os.waitpid(other.pid, _WALL))
        assert board.expected == {}
        assert other.communicate(b"\n", timeout=20)[0] == b"it goes on\n"
        gate.close()
