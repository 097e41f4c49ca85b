"""What runs without a second stop is what nobody can change between the check and the exec; all else is stopped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.fence import kernel, processes
from execkit_mcp.fence.seccomp import GROUPS
from execkit_mcp.fence.steady import Mounts, SteadyPaths, changeable_behind
from tests.fence.gated import gated_shell

pytestmark = [pytest.mark.promise("P2"), pytest.mark.timeout(60)]
TRUE, PYTHON = os.path.realpath("/usr/bin/true"), os.path.realpath(sys.executable)
ECHO = os.path.realpath("/usr/bin/echo")
_SEIZE = 0x4206
_NO_RANDOM = 0x0040000


@pytest.fixture
def stops(monkeypatch):
    """The processes that were seized, to be stopped again before their first instruction."""
    seized = []
    ptrace = kernel.ptrace

    def noting(request, pid, data=0):
        if request == _SEIZE:
            seized.append(pid)
        return ptrace(request, pid, data)

    monkeypatch.setattr(kernel, "ptrace", noting)
    return seized


def test_a_program_of_the_system_is_stopped_the_first_time_only(stops, tmp_path):
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        assert shell.run("for i in 1 2 3 4; do /usr/bin/true; echo $?; done", [(TRUE, (), False)]) == "0\n" * 4
        assert (len(stops), shell.ran) == (1, [[TRUE]] * 4)


def test_other_words_for_the_same_file_are_bound_as_well(stops, tmp_path):
    plan = [(ECHO, ("$x",), False)]
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        shell.run("for x in a b; do /usr/bin/echo $x; done", plan)
        assert shell.run("for x in b c b c; do /usr/bin/echo $x; done", plan) == "b\nc\nb\nc\n"
        assert [row[1] for row in shell.ran] == ["a", "b", "b", "c", "b", "c"]


def test_what_a_program_starts_is_stopped_each_time(stops, tmp_path):
    code = (
        "import os\nfor i in range(3): os.fork() or os.execv('/usr/bin/true', ['true'])\nfor i in range(3): os.wait()"
    )
    (tmp_path / "code.py").write_text(code)
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        plan = [(PYTHON, (str(tmp_path / "code.py"),), True), (TRUE, (), False)]
        shell.run(f"/usr/bin/true; /usr/bin/true; {PYTHON} {tmp_path}/code.py", plan)
        assert (len(stops), len(shell.ran)) == (1 + 1 + 3, 2 + 1 + 3)


def test_where_a_call_comes_from_proves_nothing(stops, tmp_path):
    """It is a hint which saves a look: native code can put its call at any place."""
    code = (
        "import os\nfor i in range(3): os.fork() or os.execv('/usr/bin/true', ['true'])\nfor i in range(3): os.wait()"
    )
    (tmp_path / "code.py").write_text(code)
    with gated_shell({"is_open": False}, changeable=[str(tmp_path)]) as shell:
        plan = [(PYTHON, (str(tmp_path / "code.py"),), False), (TRUE, (), False)]
        shell.run("/usr/bin/true", plan)
        fork_of_shell = shell.gate._fork_of_shell
        shell.gate._fork_of_shell = lambda tid, _: fork_of_shell(tid, shell.gate._calls_from)
        shell.run(f"{PYTHON} {tmp_path}/code.py", plan)
        assert (len(stops), shell.questions) == (2, [TRUE] * 3)


def test_a_shell_that_became_another_program_is_not_taken_for_the_shell(stops, tmp_path):
    """Its image is learned before it can execute anything, or native code would pass for bash."""
    code = (
        "import os\nfor i in range(3): os.fork() or os.execv('/usr/bin/true', ['true'])\nfor i in range(3): os.wait()"
    )
    (tmp_path / "code.py").write_text(f"{code}\nos.execv('/bin/bash', ['bash', '--norc'])")
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        bash = os.path.realpath("/bin/bash")
        plan = [(PYTHON, (str(tmp_path / "code.py"),), True), (TRUE, (), False), (bash, ("--norc",), True)]
        shell.run(f"exec {PYTHON} {tmp_path}/code.py", plan)
        shell.run("/usr/bin/true; /usr/bin/true", plan)
        assert len(stops) == len(shell.ran) == 1 + 3 + 1 + 2


@pytest.mark.parametrize("is_known_by_its_image", [True, False])
@pytest.mark.parametrize("then", ["/usr/bin/id", "(/usr/bin/id)", "/usr/bin/id | /usr/bin/id", "exec /usr/bin/id"])
def test_a_shell_whose_exec_failed_is_still_the_shell(stops, tmp_path, then, is_known_by_its_image):
    """Else it would be trusted as what it never became, and would run what it likes."""
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        plan = [(ECHO, ("on",), False)]
        shell.run("/usr/bin/echo on; /usr/bin/echo on", plan)
        huge = "shopt -s execfail; x=$(printf %0200000d 0); export x"
        said = shell.run(f"{huge}; exec /usr/bin/echo on; unset x", plan)
        if not is_known_by_its_image:
            shell.gate._fork_of_shell = lambda _tid, _calls_from: None
        shell.run(f"{then}; :", plan)
        assert ("too long" in said, len(stops)) == (True, 1)
        questions = {(each["real"], each["label"]) for each in shell.said if each["event"] == "judge"}
        assert questions == {(os.path.realpath("/usr/bin/id"), "shell")}


@pytest.mark.parametrize(("program", "trust"), [("/usr/bin/true", True), ("/usr/bin/tar", False)])
def test_what_may_start_others_is_stopped_each_time(stops, tmp_path, program, trust):
    """Had its exec failed unseen, others of its group would pass for what it was to start."""
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        shell.run(f"for i in 1 2 3; do {program} --version; done", [(os.path.realpath(program), ("--version",), trust)])
        assert len(stops) == len(shell.ran) == 3


def test_what_a_bound_program_leaves_behind_runs_nothing_for_its_name(stops, tmp_path):
    """An exec that failed unseen gives those of its group no right to the program."""
    with gated_shell({"is_open": False}, changeable=[str(tmp_path)]) as shell:
        plan = [(ECHO, ("on",), False)]
        shell.run("/usr/bin/echo on; /usr/bin/echo on", plan)
        assert len(stops) == 1
        assert {each.program for each in shell.gate._groups.values()} <= {"echo", ""}
        assert shell.gate._groups[os.getpgid(shell.pid)].program == ""


def test_a_script_is_stopped_each_time(stops, tmp_path):
    script = "/usr/bin/ldd"
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        shell.run(f"{script} x; {script} x; {script} x", [(os.path.realpath(script), ("x",), True)])
        assert len([row for row in shell.ran if row[0] == os.path.realpath(script)]) == 3
        assert len(stops) >= 3


def test_a_file_that_was_replaced_is_stopped_again(stops, tmp_path):
    program = tmp_path / "program"
    with gated_shell({"writable_exec": True}, changeable=["/nowhere"]) as shell:
        for number in (1, 2):
            fresh = tmp_path / "fresh"
            fresh.write_bytes(Path(TRUE).read_bytes() + b" " * number)
            fresh.chmod(0o755)
            fresh.rename(program)
            shell.run(f"{program}; {program}; {program}", [(str(program), (), False)])
            assert len(stops) == number


def test_a_path_through_what_the_session_can_change_is_stopped_each_time(stops, tmp_path):
    (tmp_path / "link").symlink_to("/usr/bin")
    with gated_shell(changeable=[str(tmp_path)]) as shell:
        shell.run(f"for i in 1 2 3; do {tmp_path}/link/true; done", [(TRUE, (), False)])
        assert len(stops) == 3


def test_without_knowing_what_can_be_changed_each_is_stopped(stops):
    with gated_shell() as shell:
        shell.run("for i in 1 2 3; do /usr/bin/true; done", [(TRUE, (), False)])
        assert len(stops) == 3


def test_nobody_behind_the_filter_says_that_its_program_lies_elsewhere(tmp_path):
    """Else native code could pass for a fork of the shell."""
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nsize = ctypes.c_uint()\n"
        "print(libc.prctl(35, 15, ctypes.byref(size), 0, 0), ctypes.get_errno(), libc.prctl(15, b'name', 0, 0, 0))"
    )
    (tmp_path / "code.py").write_text(code)
    with gated_shell(groups=("inspect",)) as shell:
        assert shell.run(f"{PYTHON} {tmp_path}/code.py", [(PYTHON, (str(tmp_path / "code.py"),), True)]) == "-1 1 0\n"


def test_images_that_can_be_foretold_prove_nothing(monkeypatch):
    assert processes.are_images_random()
    monkeypatch.setattr(kernel, "personality", lambda: _NO_RANDOM)
    assert not processes.are_images_random()


def test_a_process_with_more_threads_than_one_has_no_image():
    code = "import threading; threading.Thread(target=input).start(); print(flush=True); threading.Event().wait(20)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        assert processes.image_of(other.pid) is None
        other.kill()


def test_a_fork_has_its_parents_image_and_the_same_program_anew_has_not():
    line = "(echo $BASHPID; read x) <&0 & echo $BASHPID; wait"
    shells = [
        subprocess.Popen(["/bin/bash", "--norc", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    images = []
    for shell in shells:
        pids = [int(shell.stdout.readline()) for _ in range(2)]
        images.append([processes.image_of(pid) for pid in pids])
    for shell in shells:
        shell.communicate(b"\n", timeout=20)
    (one, fork), (two, its_fork) = images
    assert one.places == fork.places
    assert two.places == its_fork.places
    assert all(a != b for a, b in zip(one.places, two.places, strict=True))


MOUNTS = """\
22 1 8:1 / / rw - ext4 /dev/a rw
23 22 8:2 / /home rw - ext4 /dev/b rw
24 22 8:2 / /mnt/all\\040homes rw - ext4 /dev/b rw
25 22 8:2 /me/work/bin /opt/bin rw - ext4 /dev/b rw
26 22 8:1 /srv/tools /tools rw - ext4 /dev/a rw
27 22 8:2 /me/work /covered rw - ext4 /dev/b rw
28 22 0:9 / /covered rw - tmpfs tmpfs rw
29 23 0:10 / /home/me/work/disk rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "is_steady"),
    [
        ("/usr/bin/x", True),
        ("/home/me/other/x", True),
        ("/home/me/work/x", False),
        ("/home/me/work", False),
        ("/home/me/worker/x", True),
        ("/mnt/all homes/me/work/x", False),
        ("/mnt/all homes/me/x", True),
        ("/opt/bin/x", False),
        ("/opt/binary", True),
        ("/tools/x", False),
        ("/covered/x", True),
        ("/home/me/work/disk/x", False),
        ("/proc/self/exe", False),
        ("/dev/fd/3", False),
        ("/usr/../home/me/work/x", False),
        ("//usr/./bin//x", True),
    ],
)
def test_a_folder_that_can_be_changed_is_known_under_each_of_its_names(tmp_path, path, is_steady):
    root = os.open(tmp_path, os.O_PATH)
    try:
        assert SteadyPaths(root, Mounts(MOUNTS), ["/home/me/work", "/srv"]).leads_on(path) is is_steady
    finally:
        os.close(root)


@pytest.mark.parametrize(
    ("links", "path", "is_steady"),
    [
        ({"bin": "usr/bin"}, "/bin/x", True),
        ({"usr/bin/x": "/etc/alternatives/x", "etc/alternatives/x": "/usr/bin/y"}, "/usr/bin/x", True),
        ({"usr/bin/x": "../../work/x"}, "/usr/bin/x", False),
        ({"usr/bin/x": "/etc/x", "etc/x": "../work/dir/../../usr/bin/y"}, "/usr/bin/x", False),
        ({"bin": "/work/bin"}, "/bin/x", False),
        ({"loop": "loop"}, "/loop/x", False),
    ],
)
def test_each_link_on_the_way_is_looked_at(tmp_path, links, path, is_steady):
    for name, target in links.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(target)
    root = os.open(tmp_path, os.O_PATH)
    try:
        assert SteadyPaths(root, Mounts("1 0 8:1 / / rw - ext4 x rw"), ["/work"]).leads_on(path) is is_steady
    finally:
        os.close(root)


@pytest.mark.parametrize(
    ("paths", "groups", "found"),
    [
        ([("/", "rl"), ("/work", "rlw"), ("/tmp", "rlwx")], GROUPS, ("/work", "/tmp")),
        ([("/work", "rlw"), ("/proc", "rlw")], GROUPS, None),
        ([("/", "rlw")], GROUPS, None),
        ([("/proc/self", "rlw")], GROUPS, None),
        ([("/work", "rlw")], [name for name in GROUPS if name != "inspect"], None),
        ([("/work", "rlw")], [name for name in GROUPS if name != "mounts"], None),
    ],
)
def test_where_the_kernel_does_not_hold_the_session_nothing_is_bound(paths, groups, found):
    plan = {"landlock": {"paths": paths}, "seccomp": {"groups": list(groups)}}
    assert changeable_behind(plan) == found
    assert changeable_behind({**plan, "landlock": None}) is None
