"""The eleven traps, the matrix on each level, the race: what holds beneath when the text gate does not."""

import asyncio
import json
import os
import socket

import pytest

from execkit_mcp.config.settings import load_settings
from execkit_mcp.fence import probe as probing
from execkit_mcp.runtime.attack_matrix import attack_behind
from execkit_mcp.runtime.fencing import plan_for
from execkit_mcp.runtime.policies import load_policy
from tests.fence.conftest import POLICY, compiled, fenced  # noqa: F401 - fixtures

pytestmark = pytest.mark.promise("P2")

TRIES = 2000
FLIP = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char path[32];
static const char good[32] = "/usr/bin/true", bad[32] = "/usr/bin/factor";
static void *flip(void *x) { for (;;) { memcpy(path, bad, 32); memcpy(path, good, 32); } return 0; }
int main(int argc, char **argv) {
  int wins = 0, ran = 0, refused = 0, killed = 0;
  for (int i = 0; i < atoi(argv[1]); i++) {
    int ends[2]; pipe(ends);
    pid_t pid = fork();
    if (!pid) {
      char *words[] = {"factor", "12", 0};
      pthread_t thread; memcpy(path, good, 32); pthread_create(&thread, 0, flip, 0);
      dup2(ends[1], 1); close(ends[0]); close(ends[1]);
      execv(path, words); _exit(9);
    }
    close(ends[1]);
    char said[8]; int n = read(ends[0], said, 8), status; close(ends[0]); waitpid(pid, &status, 0);
    if (n > 0) wins++;
    else if (WIFSIGNALED(status)) killed++;
    else if (WEXITSTATUS(status) == 9) refused++;
    else ran++;
  }
  printf("wins %d ran %d refused %d killed %d\n", wins, ran, refused, killed); return 0;
}
"""
RACE = """\
version: 1
name: race
limits: {time_s: 290}
paths: {write: ["${workspace}/**"]}
rules:
  - {id: build, allow: [make], effects: trusted}
  # Both programs are in the kernel's list of files: what holds is the gate's second look, and nothing else.
  - {id: some, allow: [{factor: {args: ["7"]}}]}
  - {id: never, deny: [{factor: {args: ["12"]}}]}
"""


@pytest.fixture
def matrix(tmp_path):
    """``await matrix(level, policy)``: the outcome of each attack by its id."""

    async def run(level, policy):
        (tmp_path / "work").mkdir(exist_ok=True)
        (tmp_path / "state").mkdir(exist_ok=True)
        (tmp_path / "state" / "audit.jsonl").write_text("{}\n")
        file = tmp_path / "policy.yaml"
        file.write_text(policy)
        file.chmod(0o600)
        settings = load_settings(
            policy=str(file),
            workspace=str(tmp_path / "work"),
            state_dir=str(tmp_path / "state"),
            environ={"EXECKIT_FENCE": level, "HOME": str(tmp_path)},
        )
        loaded = load_policy(str(file))
        rows = await attack_behind(plan_for(settings, loaded, environ={}), settings, loaded)
        return {row.id: row for row in rows}

    return run


@pytest.mark.parametrize("level", ["process", "namespaces"])
async def test_no_attack_of_the_matrix_is_open(matrix, level):
    rows = await matrix(level, POLICY)

    assert [row.to_json() for row in rows.values() if row.outcome != "closed"] == []
    assert len(rows) > 60


@pytest.mark.parametrize("level", ["process", "namespaces"])
@pytest.mark.parametrize("name", ["read-only", "prod-readonly", "k8s-debug", "locked"])
async def test_behind_a_policy_that_only_looks_nothing_of_the_workspace_becomes_code(tmp_path, level, name):
    (tmp_path / "work").mkdir()
    settings = load_settings(
        workspace=str(tmp_path / "work"), state_dir=str(tmp_path / "state"), policy=name,
        environ={"EXECKIT_FENCE": level, "HOME": str(tmp_path)},
    )  # fmt: skip
    policy = load_policy(name)

    rows = await attack_behind(plan_for(settings, policy, environ={}), settings, policy)

    assert [row.id for row in rows if row.outcome != "closed"] == []


@pytest.mark.parametrize(("place", "held"), [("work", True), ("", True), ("/usr/share", False), ("/", False)])
def test_the_workspace_is_no_code_unless_the_machine_runs_what_lies_there(tmp_path, place, held):
    (tmp_path / "work").mkdir()
    workspace = str(tmp_path / place)
    settings = load_settings(
        workspace=workspace,
        state_dir=str(tmp_path / "state"),
        environ={"EXECKIT_FENCE": "process", "HOME": str(tmp_path)},
    )
    plan = plan_for(settings, load_policy("read-only"), environ={})
    assert (workspace in {each.target for each in plan.mounts if "noexec" in each.options}) is held


@pytest.mark.parametrize(
    ("element", "builds"),
    [
        ("{go: {sub: [version], args: [], flags: {allow: []}}}", False),
        ("{go: {sub: [env], args: [GOPATH], flags: {allow: []}}}", False),
        ("{go: {sub: [env], args: [GOPATH]}}", True),
        ("{go: {sub: [env, test], args: [GOPATH], flags: {allow: []}}}", True),
        ("{go: {args: [GOPATH], flags: {allow: []}}}", True),
        ("{make: {args: [env], flags: {allow: []}}}", True),
        ("{go: {sub: [build]}}", True),
    ],
)
def test_a_program_that_may_only_say_its_version_or_settings_is_no_build_tool(tmp_path, element, builds):
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"version: 1\nname: p\nrules: [{{id: r, allow: [{element}], effects: trusted}}]\n")
    policy.chmod(0o600)
    settings = load_settings(
        workspace=str(tmp_path),
        state_dir=str(tmp_path / "state"),
        environ={"EXECKIT_FENCE": "process", "HOME": "/"},
    )
    plan = plan_for(settings, load_policy(str(policy)), environ={})
    assert plan.gate.writable_exec is builds


async def test_without_a_fence_the_matrix_says_that_all_is_open(tmp_path):
    settings = load_settings(workspace=str(tmp_path), state_dir=str(tmp_path), environ={"EXECKIT_FENCE": "off"})

    rows = await attack_behind(None, settings, load_policy("read-only"))

    assert {row.outcome for row in rows} == {"open"}


# ── the eleven traps ─────────────────────────────────────────────────────────────────────────────────────────


async def test_trap_1_a_path_flipped_between_check_and_use_never_wins(fenced, compiled):  # noqa: F811
    async with fenced(RACE) as f:
        flip = compiled("flip", FLIP, folder=f.workspace)
        (f.workspace / "Makefile").write_text(f"race:\n\t@{flip} $(N)\n")
        result = await f.run(f"make -s race N={TRIES}", timeout_s=280)
        words = result.stdout.split()
        counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        assert counts["wins"] == 0, counts
        assert counts["ran"] > 0, counts
        assert counts["refused"] + counts["killed"] > 0, counts


async def test_trap_2_programs_are_known_by_file_and_what_the_session_writes_does_not_run(fenced):  # noqa: F811
    async with fenced() as f:
        result = await f.python(
            "import os,shutil,subprocess\n"
            "shutil.copy('/bin/ls','wc')\n"
            "open('ls','w').write('#!/bin/sh\\necho ran\\n'); os.chmod('ls',0o755)\n"
            "for p in ('./wc','./ls'):\n"
            "  try: print(subprocess.run([p],capture_output=True,text=True).stdout)\n"
            "  except OSError as e: print(e.strerror)\n"
        )
        assert result.stdout.split("\n")[:2] == ["Permission denied"] * 2
        assert [each.argv[0] for each in result.refused] == ["./wc", "./ls"]


async def test_trap_3_relative_paths_are_resolved_where_the_process_stands(fenced):  # noqa: F811
    async with fenced() as f:
        result = await f.python(
            "import os,subprocess\n"
            "os.mkdir('bin'); os.symlink('/usr/bin/rm','bin/ls'); os.chdir('bin')\n"
            "try: subprocess.run(['./ls','--version'])\n"
            "except OSError as e: print(e.strerror)\n"
            "os.chdir('/usr/bin'); print(subprocess.run(['./ls','-d','/usr'],capture_output=True,text=True).stdout)\n"
        )
        assert result.stdout.split() == ["Permission", "denied", "/usr"]
        assert result.refused[0].program == "/usr/bin/rm"


async def test_trap_4_argv_is_a_list_and_its_first_word_is_the_programs_name(fenced):  # noqa: F811
    async with fenced(POLICY.replace("[python3, bash, sh]", "[python3]")) as f:
        result = await f.run("find . -maxdepth 0 -exec ls -d {} ';'")
        assert result.exit_code == 0, result
        (f.workspace / "run").write_text("x")
    from execkit_mcp.fence.exec_rules import SHELL, Seen, decide
    from tests.fence.test_exec_rules import GATE, PLAN

    joined = Seen("/usr/bin/git", "/usr/bin/git", "", "", ("git status", "-s"))
    assert decide(joined, SHELL, GATE, PLAN).code == "name"


async def test_trap_5_no_code_is_loaded_into_an_allowed_program(matrix):
    rows = await matrix("process", POLICY)

    assert {rows[name].outcome for name in ("enable-f", "preload", "map-code")} == {"closed"}


async def test_trap_6_every_call_that_takes_a_path_is_held(fenced, tmp_path):  # noqa: F811
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    async with fenced() as f:
        result = await f.python(PATH_CALLS.replace("OUT", str(outside)))
        held = json.loads(result.stdout)
    assert held == [], "these reached outside"
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "kept"


PATH_CALLS = r"""
import json, os, socket, stat
o = "OUT"; open("mine", "w").close(); os.symlink(o, "door"); os.mkdir("dir")
def bound():
    s = socket.socket(socket.AF_UNIX); s.bind(o + "/sock")
calls = {
    "open": lambda: open(o + "/new", "w"), "append": lambda: open(o + "/file", "a"),
    "truncate": lambda: os.truncate(o + "/file", 0), "creat": lambda: os.open(o + "/c", os.O_CREAT | os.O_WRONLY),
    "mkdir": lambda: os.mkdir(o + "/d"), "mknod": lambda: os.mknod(o + "/n"), "mkfifo": lambda: os.mkfifo(o + "/f"),
    "rename": lambda: os.rename("mine", o + "/m"), "rename-in": lambda: os.rename(o + "/file", "stolen"),
    "link": lambda: os.link("mine", o + "/l"), "symlink": lambda: os.symlink("mine", o + "/s"),
    "unlink": lambda: os.unlink(o + "/file"), "through-link": lambda: open("door/x", "w"), "bind": bound,
    "dirfd": lambda: os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=os.open(o, os.O_RDONLY)),
    "tmpfile": lambda: os.open(o, os.O_TMPFILE | os.O_WRONLY),
    "device": lambda: os.mknod("dev", stat.S_IFBLK | 0o600, os.makedev(254, 0)),
    "exchange": lambda: os.replace("dir", o + "/file"),
}
reached = []
for name, call in calls.items():
    try: call(); reached.append(name)
    except OSError: pass
print(json.dumps(reached))
"""


async def test_trap_7_a_rule_for_a_file_does_not_grant_its_folder(fenced, tmp_path):  # noqa: F811
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "one").write_text("1")
    (tmp_path / "given" / "two").write_text("2")
    policy = POLICY.replace("paths: {", f'paths: {{read: ["{tmp_path}/given/one", "${{workspace}}/**"], ').replace(
        "[python3, bash, sh]", "[python3]"
    )
    async with fenced(policy) as f:
        result = await f.python(
            f"for n in ('one','two'):\n  try: print(open('{tmp_path}/given/'+n).read())\n"
            "  except OSError as e: print(e.strerror)\n"
        )
        assert result.stdout.split("\n")[:2] == ["1", "Permission denied"]


async def test_trap_8_no_listener_outside_is_reached(fenced):  # noqa: F811
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        for level in ("process", "namespaces"):
            async with fenced(level=level) as f:
                result = await f.python(
                    f"import socket\ntry: socket.create_connection(('127.0.0.1',{port}),2); print('reached')\n"
                    "except OSError as e: print('held')\n"
                )
                assert result.stdout == "held\n"


async def test_trap_9_no_namespace_no_ring_no_signal_to_the_server(matrix):
    rows = await matrix("process", POLICY)
    tried = ("userns", "clone-userns", "io-uring", "signal-server", "signal-keeper", "setns")

    assert {name: rows[name].outcome for name in tried} == dict.fromkeys(tried, "closed")


ASKING = """\
version: 1
name: asking
shell: {state: [cd]}
paths: {write: ["${workspace}/**"]}
rules:
  - {id: code, allow: [python3], effects: trusted}
  - {id: look, ask: [id], reason: A person looks at this.}
  - {id: never, deny: [rm]}
"""


async def test_trap_10_an_approval_resumes_the_held_exec_itself(fenced):  # noqa: F811
    async with fenced(ASKING.replace("allow: [python3]", "allow: [python3, xargs]")) as f:
        (f.workspace / "c.py").write_text(
            "import os,subprocess\nprint(os.getpid()); print(subprocess.run(['/usr/bin/nproc']))"
        )
        task = asyncio.create_task(f.run("id"))
        first = await task
        assert first.approval_id
        f.kit.answer(first.approval_id, approve=True, channel="cli", who="a person")
        again = await f.run("id", approval_id=first.approval_id)
        assert again.exit_code == 0, again
        assert "uid=" in again.stdout
        assert again.refused == ()


async def test_trap_11_a_nested_refusal_stands_in_the_result_with_rule_argv_and_remedy(fenced):  # noqa: F811
    async with fenced() as f:
        result = await f.python("import subprocess; subprocess.run(['/bin/rm','-rf','x'])")
        refusal = result.refused[0]
        assert (refusal.rule, refusal.argv) == ("never", ("/bin/rm", "-rf", "x"))
        assert "python3 code.py" in refusal.parents[-1]
        assert any("rule never" in line for line in result.warnings)
        other = await f.python("import subprocess; subprocess.run(['/usr/bin/id'])")
        assert "id" in other.refused[0].hint


async def test_what_ran_and_what_was_refused_stand_in_the_audit(fenced):  # noqa: F811
    async with fenced() as f:
        await f.python("import subprocess; subprocess.run(['/bin/ls']); subprocess.run(['/usr/bin/id'])")
        await f.run("true")
        log = ""
        async with asyncio.timeout(20):  # what ran is told in batches
            while "/usr/bin/ls" not in log or '"exec.refused"' not in log:
                await asyncio.sleep(0.02)
                log = "".join(path.read_text() for path in f.state.rglob("*.jsonl"))
        assert '"exec.ran"' in log


@pytest.mark.promise("P6")
async def test_what_ran_stands_in_the_audit_with_the_command_that_it_ran_for(fenced):  # noqa: F811
    async with fenced() as f:
        ids = {}
        for command in ["ls", "wc /dev/null", "head /dev/null", "ls; true"] * 4:  # the next begins before it is told
            ids[(await f.run(command)).exec_id] = command.split()[0].rstrip(";")
        ran = {}
        async with asyncio.timeout(20):
            while len(ran) < len(ids):
                await asyncio.sleep(0.02)
                log = [json.loads(line) for path in f.state.rglob("*.jsonl") for line in path.read_text().splitlines()]
                ran = {e["data"]["exec_id"]: e["data"]["programs"] for e in log if e["kind"] == "exec.ran"}
    assert {each: [row.split()[0].rpartition("/")[2] for row in rows] for each, rows in ran.items()} == {
        each: [program] for each, program in ids.items()
    }


async def test_our_own_folders_cannot_be_seen(fenced, tmp_path):  # noqa: F811
    for level in ("process", "namespaces"):
        async with fenced(level=level) as f:
            result = await f.python(
                f"import os\nfor p in ({str(f.state)!r}, {str(tmp_path / 'policy.yaml')!r}):\n"
                "  try: print(os.listdir(p) if os.path.isdir(p) else open(p).read())\n"
                "  except OSError as e: print('held')\n"
            )
            assert set(result.stdout.split()) <= {"held", "[]"}, level


async def test_a_shell_that_was_replaced_has_the_same_fence(fenced):  # noqa: F811
    async with fenced() as f:
        await f.run("bash -c 'kill -9 $PPID'")
        result = await f.python("import subprocess; subprocess.run(['/usr/bin/id'])")
        assert result.refused
        assert result.fence.level == "process"


async def test_a_durable_job_stands_behind_the_fence_too(fenced, tmp_path):  # noqa: F811
    async with fenced(POLICY.replace("background: allow", "background: allow, durable: allow")) as f:
        (f.workspace / "d.py").write_text(f"open({str(tmp_path / 'stolen')!r},'w')")
        started = await f.run("python3 d.py", durable=True)
        assert started.fence.level == "process"
        from execkit_mcp.runtime.reading import ReadRequest

        end = await f.kit.read(ReadRequest(exec_id=started.exec_id, stream="stderr", wait_s=20), requester="agent")
        assert "PermissionError" in end.text
        assert not (tmp_path / "stolen").exists()


def test_the_kernel_of_this_machine_was_probed():
    found = probing.probe()

    assert ("landlock" in found.has) == (found.landlock_abi > 0)
    assert os.getpid() > 0


async def test_in_namespaces_a_session_sees_its_own_processes_and_its_jobs_are_told_apart(fenced):  # noqa: F811
    async with fenced(level="namespaces") as f:
        started = await f.run("sleep 30 & echo started")
        assert started.jobs[0].status.value == "running"
        seen = await f.run("echo /proc/[0-9]*")
        assert len(seen.stdout.split()) < 6
        stopped = await f.run("sleep 60", timeout_s=1)
        assert stopped.status.value == "timed_out"
        assert f.kit.info(requester="agent")["execs"], "the job of an earlier command lives on"


async def test_executing_a_fifo_does_not_stop_the_supervisor(fenced):  # noqa: F811
    async with fenced() as f:
        result = await f.python(
            "import os,subprocess\nos.mkfifo('pipe',0o755)\n"
            "try: subprocess.run(['./pipe'])\nexcept OSError as e: print(e.strerror)\n"
        )
        assert result.stdout == "Permission denied\n"
        assert (await f.run("ls")).exit_code == 0


async def test_a_process_that_others_kill_while_it_starts_is_no_race(fenced):  # noqa: F811
    code = """
import os, signal, subprocess
for _ in range(300):
    child = subprocess.Popen(["sleep", "100"], start_new_session=True)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
"""
    async with fenced() as f:
        result = await f.python(code)
        assert (result.exit_code, result.refused) == (0, ())
