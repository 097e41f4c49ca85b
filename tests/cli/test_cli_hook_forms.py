"""What each client sends to its hook and understands: a table of requests and answers, no process involved."""

import json

import pytest

from execkit_mcp.cli.clients import CLIENTS
from execkit_mcp.cli.hook.forms import FORMS, NotReadable, answer_to, find_form, read_call
from execkit_mcp.model import ALLOW, ASK, DENY
from execkit_mcp.policy import Context, compile_policy, judge
from execkit_mcp.policy.document import Element, PolicyDocument, Rule

POLICY = compile_policy(
    PolicyDocument(
        name="t",
        digest="0",
        rules=(
            Rule(id="yes", verdict=ALLOW, elements=(Element(program="echo"), Element(program="rm"))),
            Rule(id="person", verdict=ASK, elements=(Element(program="date"),), reason="Look first."),
            Rule(id="no", verdict=DENY, elements=(Element(program="uname"),), reason="Never."),
        ),
    )
)


def request(name, command, **more):
    if name == "cursor":
        return {"command": command, "cwd": "/p", "workspace_roots": ["/p"], **more}
    if name == "windsurf":
        return {"tool_info": {"command_line": command, "cwd": "/p", **more}}
    return {"tool_name": min(FORMS[name].tools), "tool_input": {"command": command, **more}, "cwd": "/p"}


def decide(name, command, **more):
    form = find_form(name)
    call = read_call(form, json.dumps(request(name, command, **more)).encode())
    decision = judge(call.command, POLICY, Context(cwd="/p", home="/h", workspace="/p"))
    verdict, answer = answer_to(form, call, decision, lambda text: text)
    return verdict.word, answer


def given_back(name, answer):
    """The command that the client will run."""
    body = json.loads(answer.out)
    if name == "cursor":
        return body["updated_input"]["command"]
    output = body["hookSpecificOutput"]
    return (output.get("updatedInput") or output.get("tool_input"))["command"]


REWRITING = [name for name, form in FORMS.items() if form.can_rewrite]


@pytest.mark.parametrize("name", list(FORMS))
def test_what_the_policy_denies_is_denied_with_its_reason(name):
    verdict, answer = decide(name, "uname -a")
    assert verdict == "deny"
    assert "Never." in answer.out + answer.err
    words = {"claude-code": '"permissionDecision": "deny"', "codex": '"permissionDecision": "deny"',
             "gemini-cli": '"decision": "deny"', "cursor": '"permission": "deny"', "windsurf": ""}  # fmt: skip
    assert words[name] in answer.out
    assert answer.code == (2 if name == "windsurf" else 0)


@pytest.mark.parametrize("name", REWRITING)
def test_what_is_allowed_is_given_back_as_it_was_judged(name):
    verdict, answer = decide(name, "'e'cho a   b")
    assert verdict == "allow"
    assert given_back(name, answer) == "echo a b"
    assert given_back(name, decide(name, "echo a b")[1]) == "echo a b"


def test_a_client_that_cannot_rewrite_is_told_what_to_write():
    verdict, answer = decide("windsurf", "'e'cho a")
    assert (verdict, answer.code) == ("deny", 2)
    assert answer.err == "Write it as it would run: echo a\n"
    assert decide("windsurf", "echo a")[1].code == 0


@pytest.mark.parametrize("name", list(FORMS))
def test_what_a_person_must_decide_is_asked_where_the_client_asks_and_else_refused(name):
    verdict, _ = decide(name, "date")
    assert verdict == ("ask" if FORMS[name].can_ask else "deny")


@pytest.mark.parametrize("name", list(FORMS))
def test_a_critical_hazard_is_never_left_to_the_clients_own_dialogue(name):
    verdict, answer = decide(name, "rm -rf /")
    assert verdict == "deny"
    assert answer.out + answer.err


def test_other_arguments_of_the_tool_stay():
    _, answer = decide("claude-code", "echo  a", description="say a", timeout=5)
    assert json.loads(answer.out)["hookSpecificOutput"]["updatedInput"] == {
        "command": "echo a", "description": "say a", "timeout": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "more"),
    [("claude-code", {"dangerouslyDisableSandbox": True}), ("codex", {"sandbox_permissions": "require_escalated"})],
)
def test_leaving_the_clients_own_sandbox_takes_a_person(name, more):
    verdict, _ = decide(name, "echo a", **more)
    assert verdict == ("ask" if FORMS[name].can_ask else "deny")


@pytest.mark.parametrize(("key", "folder", "cwd"), [
    ("workdir", "sub", "/p/sub"), ("dir_path", "../q", "/p/../q"), ("directory", "/abs", "/abs"), ("workdir", "", "/p"),
])  # fmt: skip
def test_the_folder_that_a_call_names_is_the_one_that_is_judged(key, folder, cwd):
    call = read_call(FORMS["gemini-cli"], json.dumps(request("gemini-cli", "ls", **{key: folder})).encode())
    assert call.cwd == cwd


@pytest.mark.parametrize(
    ("argv", "text", "back"),
    [
        (["bash", "-lc", "echo  a"], "echo  a", ["bash", "-lc", "X"]),
        (["/bin/sh", "-c", "echo a"], "echo a", ["/bin/sh", "-c", "X"]),
        (["echo", "a b"], "echo 'a b'", ["bash", "-c", "X"]),
    ],
)
def test_an_argv_is_judged_by_what_it_runs(argv, text, back):
    call = read_call(FORMS["codex"], json.dumps(request("codex", argv)).encode())
    assert call.command == text
    assert call.rewrite("X")["command"] == back


@pytest.mark.parametrize("name", list(FORMS))
@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"null", b"{}", b'{"tool_name": 3}', b'{"tool_input": {}}', b"[" * 100_000, b"\xff\xfe",
     b'{"command": 3, "tool_info": {"command_line": 3}, "tool_name": "Bash", "tool_input": {"command": 3}}',
     b'{"command": "\\ud800", "tool_info": {"command_line": "\\ud800"}, "tool_name": 1}'],
)  # fmt: skip
def test_what_is_no_request_is_refused(name, payload):
    with pytest.raises(NotReadable):
        read_call(FORMS[name], payload)


@pytest.mark.parametrize("name", list(FORMS))
def test_a_command_with_a_character_that_no_shell_takes_is_refused(name):
    for character in ("\0", "\ud800"):
        with pytest.raises(NotReadable):
            read_call(FORMS[name], json.dumps(request(name, f"echo {character}")).encode())


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
def test_a_tool_that_is_no_shell_is_none_of_ours(name):
    assert read_call(FORMS[name], b'{"tool_name": "Read", "tool_input": {"file_path": "/etc/passwd"}}') is None
    assert read_call(FORMS[name], b'{"tool_name": "mcp__execkit__shell_run", "tool_input": {"command": "ls"}}') is None
    unknown = read_call(FORMS[name], b'{"tool_name": "NewShell", "tool_input": {"command": "ls"}}')
    assert unknown.command == "ls", "a tool nobody knows that takes a command is judged"


def test_every_client_with_a_hook_has_a_form_and_every_form_a_client():
    assert {client.id for client in CLIENTS if client.hook} == set(FORMS)
    assert find_form("claude") is FORMS["claude-code"]
    assert find_form("gemini") is FORMS["gemini-cli"]
    assert find_form("emacs") is None
