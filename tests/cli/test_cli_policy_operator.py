"""``policy diff``, ``replay``, ``suggest`` and ``mutate`` as a process, over real records."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.audit import AuditLog
from execkit_mcp.testing import FakeClock, FakeEntropy

ROOT = Path(__file__).parents[2]
REDACTED = "curl -H [REDACTED:bearer:abc123] https://example.com"


@pytest.fixture
def policy(tmp_path):
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONPATH": str(ROOT),
    }

    def run(
        *arguments: str, stdin: str = "", program: tuple[str, ...] = ("policy",)
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "execkit_mcp", *program, *arguments],
            input=stdin,
            text=True,
            capture_output=True,
            env=environ,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def write(tmp_path):
    def text(content, name="mine.yaml"):
        path = tmp_path / name
        path.write_text(content)
        path.chmod(0o600)
        return str(path)

    return text


MINE = "version: 1\nname: mine\ndefaults: {decision: ask}\nrules: [{id: r, allow: [echo, ls]}, {id: d, deny: [rm]}]\n"


@pytest.fixture
def mine(write):
    return write(MINE)


@pytest.fixture
def record(tmp_path):
    """An audit folder with what a session left: things that ran, were refused, were approved or turned down."""
    folder = tmp_path / "audit"
    log = AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy())
    cwd = str(tmp_path)

    def facts(command, verdict, **more):
        return {"canonical": command, "cwd": cwd, "verdict": verdict, **more}

    log.append("exec.started", facts("ls -l", "allow", exec_id="e1", approval_id=None))
    log.append("decision", facts("rm x", "deny"))
    log.append("decision", {**facts("x", "deny"), "canonical": None, "text": "coproc x"})
    log.append("exec.started", facts(REDACTED, "allow", exec_id="e2"))
    for number, (command, state) in enumerate(
        [("kill 5", "approved"), ("kill 6", "approved"), ("destroy prod", "denied"), ("feed", "approved")]
    ):
        log.append("approval.requested", facts(command, "ask", approval_id=f"ap{number}"))
        log.append("approval.decided", {"approval_id": f"ap{number}", "state": state, "by": "cli", "who": "op"})
    log.append("exec.started", facts("kill 5", "ask", exec_id="e3", approval_id="ap0"))
    log.append("exec.started", facts("feed", "ask", exec_id="e4", approval_id="ap3", stdin_bytes=5))
    log.close()
    return folder


def test_diff_groups_what_gets_another_decision_and_lists_the_looser_first(policy, mine, write):
    other = write(MINE.replace("echo, ls", "echo, rm").replace("deny: [rm]", "deny: [ls]"), "other.yaml")
    corpus = write("echo a\nls\n# a comment\n\nrm x\nrm y\nmkdir x\n", "corpus.txt")
    done = policy("diff", mine, other, "--corpus", corpus)
    assert done.returncode == 1
    assert done.stdout.startswith("5 judged, 3 differ: 2 looser, 1 stricter\n") or "stricter" in done.stdout
    answer = json.loads(policy("diff", mine, other, "--corpus", corpus, "--json").stdout)
    assert (answer["before"]["name"], answer["judged"], answer["changed"]) == ("mine", 5, 3)
    assert [(group["from"], group["to"], group["count"]) for group in answer["groups"]] == [
        ("deny", "ask", 2),
        ("allow", "deny", 1),
    ]
    assert answer["groups"][0]["commands"][0]["command"] == "rm x"
    assert answer["groups"][0]["commands"][0]["id"] == "5"
    assert policy("diff", mine, mine, "--corpus", corpus).returncode == 0


def test_diff_reads_rows_with_their_folder_and_category(policy, mine, write):
    other = write(MINE.replace("ls]", "{ls: {cwd: [/srv]}}]"), "other.yaml")
    rows = [
        {"id": "a1", "command": "ls", "category": "ops", "cwd": "/srv", "source": "own"},
        {"id": "a2", "command": "ls", "category": "ops", "cwd": "/tmp"},
    ]
    answer = json.loads(
        policy("diff", mine, other, "--corpus", "-", "--json", stdin="\n".join(map(json.dumps, rows))).stdout
    )
    (group,) = answer["groups"]
    assert [(each["id"], each["category"], each["cwd"]) for each in group["commands"]] == [("a2", "ops", "/tmp")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"command": "ls"}\nls\n', "corpus:2: not a JSON object"),
        ('{"command": "ls"}\n{"command": 5}\n', "corpus:2: not a JSON object"),
        ('{"command": "ls", "cwd": "srv"}\n', 'corpus:1: "cwd" is not an absolute path'),
        ('{"command": "ls", "id": 5}\n', 'corpus:1: "id" is no text'),
    ],
)
def test_a_corpus_that_cannot_be_read_is_named_with_its_line(policy, mine, write, text, said):
    done = policy("diff", mine, mine, "--corpus", write(text, "corpus"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "cannot be read" in policy("diff", mine, mine, "--corpus", "./none").stderr


def test_replay_tells_what_ran_and_would_be_stopped(policy, mine, write, record):
    assert policy("replay", "--policy", mine, "--audit", str(record)).returncode == 0
    stricter = write(MINE.replace("deny: [rm]", "deny: [ls]"), "stricter.yaml")
    done = policy("replay", "--policy", stricter, "--audit", str(record))
    assert done.returncode == 1
    assert "1 commands that ran would be stopped or asked about" in done.stdout
    assert "1 commands were not judged: a secret in them is redacted" in done.stdout
    answer = json.loads(policy("replay", "--policy", stricter, "--audit", str(record), "--json").stdout)
    assert answer["stopped"] == 1
    assert [(each["from"], each["to"], each["count"]) for each in answer["groups"]] == [
        ("deny", "ask", 1),
        ("allow", "deny", 1),
    ]


def test_replay_reads_the_record_of_this_machine_a_folder_a_segment_and_what_show_printed(policy, mine, record, write):
    segment = record / "audit-000001.jsonl"
    rows = [json.loads(line) for line in segment.read_text().splitlines()]
    printed = write("".join(json.dumps(row) + "\n" for row in rows[3:]), "printed.jsonl")
    for source in (str(record), str(segment), printed):
        assert policy("replay", "--policy", mine, "--audit", source).returncode == 0, source
    done = policy("replay", "--policy", mine)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read: No such file" in done.stderr


def test_what_run_left_on_the_record_is_replayed(policy, mine, write):
    for command in ("echo one", "ls -l", "rm x"):
        policy("--", command, program=("run", "--policy", mine))
    stricter = write(MINE.replace("deny: [rm]", "deny: [ls]"), "stricter.yaml")
    answer = json.loads(policy("replay", "--policy", stricter, "--json").stdout)
    assert (answer["judged"], answer["stopped"]) == (3, 1)
    stopped = [each["command"] for group in answer["groups"] if group["to"] == "deny" for each in group["commands"]]
    assert len(stopped) == 1
    assert stopped[0].endswith("/ls -l")


def test_nothing_is_concluded_from_a_record_that_was_edited(policy, mine, record, write):
    segment = record / "audit-000001.jsonl"
    whole = segment.read_text()
    lines = whole.splitlines(keepends=True)
    for name, text in {
        "edited": whole.replace('"kill 5"', '"kill 1"'),
        "cut": "".join([*lines[:3], *lines[4:]]),
        "swapped": "".join([lines[0], lines[2], lines[1]]),
        "other": "ls -l\n",
    }.items():
        for command in ("replay", "suggest"):
            done = policy(command, "--policy", mine, "--audit", write(text, name))
            assert (done.returncode, done.stdout) == (1, ""), name
            assert "audit.chain_broken" in done.stderr
    segment.write_text(whole.replace('"kill 5"', '"kill 1"'))
    assert "audit.chain_broken" in policy("suggest", "--policy", mine, "--audit", str(record)).stderr


def test_suggest_prints_a_policy_that_loads_and_covers_what_was_approved_only(policy, mine, record, write):
    done = policy("suggest", "--policy", mine, "--audit", str(record))
    assert done.returncode == 0
    assert "2 commands covered, 0 allowed as it is, 0 left to you" in done.stderr
    suggested = write(done.stdout, "suggested.yaml")
    tested = policy("test", suggested)
    assert (tested.returncode, tested.stdout) == (0, "mine-approved: 2 of 2 tests hold\n")
    for command, code in [("kill 5", 0), ("kill 7", 3), ("kill", 3), ("kill -9 5", 3)]:
        assert policy("check", "--policy", suggested, "--", command).returncode == code, command
    for command in ("destroy prod", "feed", "rm x"):
        assert policy("check", "--policy", suggested, "--", command).returncode == 3, command
    assert policy("check", "--policy", suggested, "--", "ls").returncode == 0


def test_suggest_builds_on_a_shipped_policy_and_leaves_with_a_reason_what_no_rule_can_say(policy, record, write):
    log = AuditLog.open(record, clock=FakeClock(), entropy=FakeEntropy())
    cwd = str(record.parent)
    for number, command in enumerate(["rm -rf build", "sh -c 'touch x'", "ls"]):
        facts = {"canonical": command, "cwd": cwd, "verdict": "ask", "approval_id": f"b{number}"}
        log.append("approval.requested", facts)
        log.append("approval.decided", {"approval_id": f"b{number}", "state": "approved"})
    log.close()
    answer = json.loads(policy("suggest", "--policy", "workstation", "--audit", str(record), "--json").stdout)
    assert answer["already"] == 1
    reasons = {each["command"]: each["reason"] for each in answer["left"]}
    assert "Hazard rm-recursive" in reasons["rm -rf build"]
    assert "shell text" in reasons["sh -c 'touch x'"]
    assert "# not covered: " in answer["yaml"]
    assert policy("test", write(answer["yaml"], "suggested.yaml")).returncode == 0


def test_mutate_prints_the_score_and_exits_1_when_a_variant_gets_past(policy, write):
    rules = "rules: [{id: r, allow: [cat]}, {id: d, deny: [{cat: {args: [/etc/motd]}}]}]\n"
    leaky = write(f"version: 1\nname: leaky\n{rules}tests: [{{run: cat /etc/motd, expect: deny}}]\n")
    done = policy("mutate", leaky)
    assert done.returncode == 1
    assert "mine.yaml:4" in done.stdout
    assert "cat < /etc/motd" in done.stdout
    answer = json.loads(policy("mutate", leaky, "--json").stdout)["policies"]["leaky"]
    assert answer["stopped"] + len(answer["escapes"]) == answer["total"]
    done = policy("mutate", "locked")
    assert done.returncode == 0
    assert "variants of 18 denied tests stopped" in done.stdout


@pytest.mark.parametrize("part", ["diff", "replay", "suggest", "mutate"])
def test_help_carries_an_example(policy, part):
    done = policy(part, "--help")
    assert done.returncode == 0
    assert f"execkit-mcp policy {part}" in done.stdout.split("example")[-1]


def test_explain_has_no_colour_unless_a_person_looks(policy, mine):
    assert "\x1b" not in policy("explain", "--policy", mine, "--", "rm x").stdout


def test_colour_follows_the_terminal_and_no_color(monkeypatch):
    from execkit_mcp.cli.colour import painter

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert painter(Terminal())("deny", "deny") == "\x1b[31;1mdeny\x1b[0m"
    monkeypatch.setenv("TERM", "dumb")
    assert painter(Terminal())("deny", "deny") == "deny"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert painter(Terminal())("deny", "deny") == "deny"


def test_test_warns_of_idle_rules_and_still_exits_0(policy, write):
    done = policy("test", write("version: 1\nname: p\nrules: [{id: r, allow: [systemtcl]}]\n"))
    assert done.returncode == 0
    assert "mine.yaml:3:25: rule r: systemtcl: " in done.stdout
    assert 'did you mean "systemctl"?' in done.stdout


def test_a_number_of_commands_to_show_is_none_or_more(policy, mine, write):
    corpus = write("corpus.txt", "ls\nrm x\n")
    done = policy("diff", "read-only", str(mine), "--corpus", str(corpus), "--show", "-1")
    assert done.returncode == 2
    assert "not a number of commands" in done.stderr
