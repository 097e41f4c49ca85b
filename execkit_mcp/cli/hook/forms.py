"""The table of what each client sends to its hook and what it understands: JSON in, JSON out, no input or output here.

| client | event | the command | asks a person | takes a rewritten command |
|---|---|---|---|---|
| Claude Code | PreToolUse | tool_input.command | yes | yes |
| Codex | PreToolUse | tool_input.command | no: refused | yes |
| Gemini CLI | BeforeTool | tool_input.command | no: refused | yes |
| Cursor | beforeShellExecution | command | yes | yes |
| Windsurf | pre_run_command | tool_info.command_line | no: refused | no: what is not canonical is refused |
"""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from execkit_mcp.model import Decision, Severity, Verdict

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_ESCALATIONS: Final = ("dangerouslyDisableSandbox", "with_escalated_permissions", "require_escalated")
_COMMAND_KEYS: Final = ("command", "cmd")
_FOLDER_KEYS: Final = ("workdir", "dir_path", "directory", "cwd")


class NotReadable(ValueError):
    """What the client sent is no request of this form; says what is wrong."""


class Call(Struct, frozen=True, kw_only=True):
    """What a client asks about.

    Attributes:
        command: the text that its shell tool would run.
        cwd: the folder that it names; "" where it names none.
        project: the project's folder, where the client says it.
        rewrite: the input with another command, for the answer.
        wants_more: it would leave the client's own sandbox.
    """

    command: str
    cwd: str
    project: str
    rewrite: Callable[[str], dict[str, Any]]
    wants_more: bool = False


class Answer(Struct, frozen=True, kw_only=True):
    """What the hook prints, and its exit code."""

    code: int = 0
    out: str = ""
    err: str = ""


class Form(Struct, frozen=True, kw_only=True):
    """One client.

    Attributes:
        id: its name in ``--client``.
        tools: the names of its shell tools; a call of another tool is none of ours.
        can_ask: whether it shows a person a question when told so.
        can_rewrite: whether it runs what it is given back.
        read: what it sent, as a call.
        say: verdict, reason and the input to use, in its words.
    """

    id: str
    tools: frozenset[str] = frozenset()
    can_ask: bool
    can_rewrite: bool
    read: Callable[[Mapping[str, Any]], Call]
    say: Callable[[Verdict, str, dict[str, Any] | None], Answer]


# ── what they send
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def _text(found: object, what: str) -> str:
    if not isinstance(found, str):
        raise NotReadable(f"{what} is no text")
    return found


def _optional(found: object, what: str) -> str:
    return "" if found is None else _text(found, what)


def _call(given: Mapping[str, Any], cwd: str, project: str) -> Call:
    """A tool's input with a command in it."""
    key = next((key for key in _COMMAND_KEYS if key in given), None)
    if key is None:
        raise NotReadable("there is no command in tool_input")
    command, restore = _command(given[key])
    folder = next((_text(given[name], name) for name in _FOLDER_KEYS if given.get(name)), "")
    cwd = folder if folder.startswith("/") else f"{cwd}/{folder}" if folder and cwd else cwd
    escalated = any(given.get(name) for name in _ESCALATIONS)
    escalated |= given.get("sandbox_permissions") in _ESCALATIONS
    return Call(
        command=command,
        cwd=cwd,
        project=project,
        rewrite=lambda text: {**given, key: restore(text)},
        wants_more=bool(escalated),
    )


def _command(found: object) -> tuple[str, Callable[[str], Any]]:
    """The text of a command, which may be an argv, and how to put another in its place."""
    if isinstance(found, str):
        return found, lambda text: text
    if not isinstance(found, list) or not found or not all(isinstance(word, str) for word in found):
        raise NotReadable("command is no text")
    *before, text = found
    if len(before) == 2 and before[0].rpartition("/")[2] in _SHELLS and before[1] in {"-c", "-lc"}:  # noqa: PLR2004
        return text, lambda new: [*before, new]
    return shlex.join(found), lambda new: ["bash", "-c", new]


def _tool_input(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    given = payload.get("tool_input")
    if not isinstance(given, dict):
        raise NotReadable("there is no tool_input")
    return given


def _read_tool(payload: Mapping[str, Any]) -> Call:
    return _call(_tool_input(payload), _optional(payload.get("cwd"), "cwd"), "")


def _read_cursor(payload: Mapping[str, Any]) -> Call:
    roots = payload.get("workspace_roots") or [""]
    if not isinstance(roots, list):
        raise NotReadable("workspace_roots is no list")
    given = {"command": payload["command"]} if "command" in payload else {}
    return _call(given, _optional(payload.get("cwd"), "cwd"), _optional(roots[0], "workspace_roots"))


def _read_windsurf(payload: Mapping[str, Any]) -> Call:
    given = payload.get("tool_info")
    if not isinstance(given, dict) or "command_line" not in given:
        raise NotReadable("there is no tool_info.command_line")
    return _call({"command": given["command_line"]}, _optional(given.get("cwd"), "cwd"), "")


# ── what they understand
# ───────────────────────────────────────────────────────────────────────────────────────────


def _printed(body: Mapping[str, Any]) -> Answer:
    return Answer(out=json.dumps(body, ensure_ascii=False) + "\n")


def _say_pre_tool_use(verdict: Verdict, reason: str, given: dict[str, Any] | None) -> Answer:
    output = {"hookEventName": "PreToolUse", "permissionDecision": verdict.word, "permissionDecisionReason": reason}
    if given is not None:
        output["updatedInput"] = given  # type: ignore[assignment] # JSON
    return _printed({"hookSpecificOutput": output})


def _say_gemini(verdict: Verdict, reason: str, given: dict[str, Any] | None) -> Answer:
    body: dict[str, Any] = {"decision": verdict.word, "reason": reason}
    if given is not None:
        body["hookSpecificOutput"] = {"hookEventName": "BeforeTool", "tool_input": given}
    return _printed(body)


def _say_cursor(verdict: Verdict, reason: str, given: dict[str, Any] | None) -> Answer:
    body: dict[str, Any] = {"permission": verdict.word}
    if verdict is not Verdict.ALLOW:
        body |= {"user_message": reason, "agent_message": reason}
    if given is not None:
        body["updated_input"] = given
    return _printed(body)


def _say_windsurf(verdict: Verdict, reason: str, _given: dict[str, Any] | None) -> Answer:
    return Answer() if verdict is Verdict.ALLOW else Answer(code=2, err=f"{reason}\n")


FORMS: Final[Mapping[str, Form]] = {
    form.id: form
    for form in (
        Form(
            id="claude-code",
            tools=frozenset({"Bash"}),
            can_ask=True,
            can_rewrite=True,
            read=_read_tool,
            say=_say_pre_tool_use,
        ),
        Form(
            id="codex",
            tools=frozenset({"Bash", "shell", "exec_command", "shell_command", "local_shell", "unified_exec"}),
            can_ask=False,
            can_rewrite=True,
            read=_read_tool,
            say=_say_pre_tool_use,
        ),
        Form(
            id="gemini-cli",
            tools=frozenset({"run_shell_command"}),
            can_ask=False,
            can_rewrite=True,
            read=_read_tool,
            say=_say_gemini,
        ),
        Form(id="cursor", can_ask=True, can_rewrite=True, read=_read_cursor, say=_say_cursor),
        Form(id="windsurf", can_ask=False, can_rewrite=False, read=_read_windsurf, say=_say_windsurf),
    )
}
_ALIASES: Final = {"claude": "claude-code", "gemini": "gemini-cli"}


def find_form(name: str) -> Form | None:
    """The form of a client, or None."""
    return FORMS.get(_ALIASES.get(name, name))


def read_call(form: Form, payload: bytes) -> Call | None:
    """What a client sent; None where it is about a tool that is no shell.

    Raises:
        NotReadable: it is no request of this client.
    """
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        raise NotReadable("it is no JSON") from None
    if not isinstance(body, dict):
        raise NotReadable("it is no JSON object")
    tool = body.get("tool_name")
    if form.tools and tool not in form.tools:
        if not isinstance(tool, str):
            raise NotReadable("there is no tool_name")
        given = body.get("tool_input")
        has_command = isinstance(given, dict) and any(key in given for key in _COMMAND_KEYS)
        if tool.startswith("mcp") or not has_command:
            return None
    call = form.read(body)
    if "\0" in call.command or any("\ud800" <= char <= "\udfff" for char in call.command + call.cwd):
        raise NotReadable("the command holds what no shell takes")
    return call


def no_opinion() -> Answer:
    """For a tool that is no shell: the client decides as it would without us."""
    return Answer(out="{}\n")


def answer_to(form: Form, call: Call, decision: Decision, redact: Callable[[str], str]) -> tuple[Verdict, Answer]:
    """The verdict that the client can carry out, in its words."""
    verdict = max(decision.verdict, Verdict.ASK) if call.wants_more else decision.verdict
    reason = _reason(decision)
    if verdict is Verdict.ASK:
        if decision.approval.channel == "out_of_band" or any(
            hit.severity is Severity.CRITICAL for hit in decision.hazards
        ):
            verdict, reason = Verdict.DENY, f"{reason} A person must approve it outside this client: {_ELSEWHERE}"
        elif not form.can_ask:
            verdict, reason = (
                Verdict.DENY,
                f"{reason} A person must approve it, and a hook cannot ask here: {_ELSEWHERE}",
            )
    if verdict is Verdict.DENY:
        return verdict, form.say(verdict, redact(reason), None)
    is_other = decision.canonical is not None and decision.canonical != call.command
    if is_other and not form.can_rewrite:
        reason = f"Write it as it would run: {decision.canonical}"
        return Verdict.DENY, form.say(Verdict.DENY, redact(reason), None)
    # also where nothing differs: what two readers of one JSON text could take differently is settled by us
    given = call.rewrite(decision.canonical) if form.can_rewrite and decision.canonical is not None else None
    return verdict, form.say(verdict, redact(reason), given)


_ELSEWHERE: Final = "use the tool shell_run of execkit, or tell the user."


def _reason(decision: Decision) -> str:
    parts = [decision.message, decision.hint if decision.verdict is not Verdict.ALLOW else ""]
    return " ".join(part for part in parts if part)
