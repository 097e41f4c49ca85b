"""The table of MCP clients: where each keeps its servers and hooks, in which format, under which keys.

The paths are those of Linux. ``{home}`` is the home folder, ``{config}`` is ``$XDG_CONFIG_HOME`` or ``~/.config``,
``{project}`` the project's folder; a variable of the client's own (``$CODEX_HOME``) stands first where it has one.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from execkit_mcp.config.locations import home_dir
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model.shape import closest

Scope = Literal["user", "project"]
Format = Literal["json", "toml", "yaml"]
Entry = Callable[[Sequence[str], Mapping[str, str]], dict[str, object]]
Remote = Callable[[str, str], dict[str, object]]

TOOL_TIMEOUT_S: Final = 660
"""Above the longest that a call may wait (``wait_s`` is at most 600 s)."""
HOOK_TIMEOUT_S: Final = 20
"""Above the deadline that a hook sets itself, so that a slow answer is our refusal and not the client's shrug."""


class HookPlace(Struct, frozen=True, kw_only=True):
    """Where a client keeps the hook of its own shell tool.

    Attributes:
        user: the file for every project.
        project: the file for one project.
        path: the keys above the list of hooks.
        item: the list's item for a command.
        required: keys that the file must have besides.
        note: what a person has to do or know.
    """

    user: str
    project: str
    path: tuple[str, ...]
    item: Callable[[str], dict[str, object]]
    required: Mapping[str, object] = {}
    note: str = ""


class Client(Struct, frozen=True, kw_only=True):
    """One client.

    Attributes:
        id: what ``setup`` calls it.
        title: what people call it.
        aliases: other names that are understood.
        form: the format of its configuration.
        user: its configuration for every project.
        project: its configuration for one project; "" where it has none.
        path: the keys above the server's entry.
        entry: the server's entry from its command line and variables.
        remote: its entry for a server that listens, from the URL and the variable that holds the token ("": none).
        programs: programs whose presence says that it is installed.
        override: the variable that moves its folder, and the folder that it moves.
        check: how a person sees that it works.
        hook: where its hooks stand; None where it has none.
    """

    id: str
    title: str
    aliases: tuple[str, ...] = ()
    form: Format
    user: str
    project: str
    path: tuple[str, ...]
    entry: Entry
    remote: Remote
    programs: tuple[str, ...] = ()
    override: tuple[str, str] | None = None
    check: str
    hook: HookPlace | None = None

    def file(self, scope: Scope, project: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
        """Its configuration file; None where it has none of that scope."""
        return self._place(self.user if scope == "user" else self.project, project, environ)

    def hook_file(self, scope: Scope, project: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
        """Its hooks' file; None where it has none."""
        if self.hook is None:
            return None
        return self._place(self.hook.user if scope == "user" else self.hook.project, project, environ)

    def _place(self, template: str, project: Path, environ: Mapping[str, str]) -> Path | None:
        if not template:
            return None
        home = home_dir(environ)
        stated = environ.get("XDG_CONFIG_HOME", "")
        config = stated if stated.startswith("/") else f"{home}/.config"
        if self.override and template.startswith(self.override[1]) and environ.get(self.override[0]):
            template = environ[self.override[0]] + template.removeprefix(self.override[1])
            return Path(template).expanduser().absolute()
        path = template.replace("{home}", str(home)).replace("{config}", config).replace("{project}", str(project))
        return _other_ending(Path(path))


def _other_ending(path: Path) -> Path:
    """``x.jsonc`` where that one exists and ``x.json`` does not."""
    other = path.with_suffix(".jsonc")
    return other if path.suffix == ".json" and not path.exists() and other.exists() else path


# ── how each writes a server down
# ──────────────────────────────────────────────────────────────────────────────────────


def _plain(argv: Sequence[str], env: Mapping[str, str], **more: object) -> dict[str, object]:
    return {"command": argv[0], "args": list(argv[1:]), **({"env": dict(env)} if env else {}), **more}


def _with_type(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return {"type": "stdio", **_plain(argv, env)}


def _claude(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return {**_with_type(argv, env), "timeout": TOOL_TIMEOUT_S * 1000}


def _codex(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return _plain(argv, env, startup_timeout_sec=30, tool_timeout_sec=TOOL_TIMEOUT_S)


def _gemini(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return _plain(argv, env, timeout=TOOL_TIMEOUT_S * 1000)


def _zed(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return {"source": "custom", "enabled": True, **_plain(argv, env)}


def _goose(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return {
        "type": "stdio",
        "name": "execkit",
        "enabled": True,
        "cmd": argv[0],
        "args": list(argv[1:]),
        "envs": dict(env),
        "timeout": TOOL_TIMEOUT_S,
    }


def _opencode(argv: Sequence[str], env: Mapping[str, str]) -> dict[str, object]:
    return {
        "type": "local",
        "command": list(argv),
        "enabled": True,
        "timeout": 30_000,
        **({"environment": dict(env)} if env else {}),
    }


def _remote(
    url: str = "url", written: str = "${{env:{name}}}", **more: object
) -> Callable[[str, str], dict[str, object]]:
    """An entry with a URL; the token stays in a variable, never in the file."""

    def entry(address: str, variable: str) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {written.format(name=variable)}"}
        return {**more, url: address, **({"headers": headers} if variable else {})}

    return entry


def _codex_remote(address: str, variable: str) -> dict[str, object]:
    token = {"bearer_token_env_var": variable} if variable else {}
    return {"url": address, "tool_timeout_sec": TOOL_TIMEOUT_S, **token}


# ── how each writes a hook down
# ──────────────────────────────────────────────────────────────────────────────────────


def _grouped(matcher: str, timeout: int) -> Callable[[str], dict[str, object]]:
    def item(command: str) -> dict[str, object]:
        return {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": timeout}]}

    return item


def _cursor_hook(command: str) -> dict[str, object]:
    return {"command": command, "timeout": HOOK_TIMEOUT_S, "failClosed": True}


def _windsurf_hook(command: str) -> dict[str, object]:
    return {"command": command, "show_output": True}


CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        id="claude-code",
        title="Claude Code",
        aliases=("claude",),
        form="json",
        user="{home}/.claude.json",
        project="{project}/.mcp.json",
        path=("mcpServers",),
        entry=_claude,
        remote=_remote(type="http", written="${{{name}}}"),
        programs=("claude",),
        override=("CLAUDE_CONFIG_DIR", "{home}"),
        check="claude mcp list",
        hook=HookPlace(
            user="{home}/.claude/settings.json",
            project="{project}/.claude/settings.json",
            path=("hooks", "PreToolUse"),
            item=_grouped("Bash", HOOK_TIMEOUT_S),
        ),
    ),
    Client(
        id="cursor",
        title="Cursor",
        form="json",
        user="{home}/.cursor/mcp.json",
        project="{project}/.cursor/mcp.json",
        path=("mcpServers",),
        entry=_with_type,
        remote=_remote(),
        programs=("cursor", "cursor-agent"),
        check="Cursor settings, MCP: execkit has a green dot",
        hook=HookPlace(
            user="{home}/.cursor/hooks.json",
            project="{project}/.cursor/hooks.json",
            path=("hooks", "beforeShellExecution"),
            item=_cursor_hook,
            required={"version": 1},
        ),
    ),
    Client(
        id="codex",
        title="Codex",
        form="toml",
        user="{home}/.codex/config.toml",
        project="{project}/.codex/config.toml",
        path=("mcp_servers",),
        entry=_codex,
        remote=_codex_remote,
        programs=("codex",),
        override=("CODEX_HOME", "{home}/.codex"),
        check="codex mcp list",
        hook=HookPlace(
            user="{home}/.codex/hooks.json",
            project="{project}/.codex/hooks.json",
            path=("hooks", "PreToolUse"),
            item=_grouped("Bash", HOOK_TIMEOUT_S),
            note="Codex runs a hook only once you have looked at it: type /hooks in Codex and trust it.",
        ),
    ),
    Client(
        id="gemini-cli",
        title="Gemini CLI",
        aliases=("gemini",),
        form="json",
        user="{home}/.gemini/settings.json",
        project="{project}/.gemini/settings.json",
        path=("mcpServers",),
        entry=_gemini,
        remote=_remote("httpUrl", "${{{name}}}", timeout=TOOL_TIMEOUT_S * 1000),
        programs=("gemini",),
        check="gemini mcp list (in a trusted folder)",
        hook=HookPlace(
            user="{home}/.gemini/settings.json",
            project="{project}/.gemini/settings.json",
            path=("hooks", "BeforeTool"),
            item=_grouped("run_shell_command", HOOK_TIMEOUT_S * 1000),
        ),
    ),
    Client(
        id="vscode",
        title="VS Code",
        aliases=("code", "vs-code"),
        form="json",
        user="{config}/Code/User/mcp.json",
        project="{project}/.vscode/mcp.json",
        path=("servers",),
        entry=_with_type,
        remote=_remote(type="http"),
        programs=("code", "codium"),
        check="in VS Code: MCP: List Servers",
    ),
    Client(
        id="windsurf",
        title="Windsurf",
        form="json",
        user="{home}/.codeium/windsurf/mcp_config.json",
        project="",
        path=("mcpServers",),
        entry=_plain,
        remote=_remote("serverUrl"),
        programs=("windsurf",),
        check="Windsurf settings, Cascade, MCP servers",
        hook=HookPlace(
            user="{home}/.codeium/windsurf/hooks.json",
            project="{project}/.windsurf/hooks.json",
            path=("hooks", "pre_run_command"),
            item=_windsurf_hook,
        ),
    ),
    Client(
        id="zed",
        title="Zed",
        form="json",
        user="{config}/zed/settings.json",
        project="{project}/.zed/settings.json",
        path=("context_servers",),
        entry=_zed,
        remote=_remote(written="${{{name}}}", enabled=True),
        programs=("zed", "zeditor"),
        check="in Zed: agent panel, settings, MCP servers",
    ),
    Client(
        id="goose",
        title="Goose",
        form="yaml",
        user="{config}/goose/config.yaml",
        project="",
        path=("extensions",),
        entry=_goose,
        remote=_remote("uri", "${{{name}}}", type="streamable_http", name="execkit", enabled=True),
        programs=("goose",),
        check="goose configure, toggle extensions",
    ),
    Client(
        id="opencode",
        title="opencode",
        form="json",
        user="{config}/opencode/opencode.json",
        project="{project}/opencode.json",
        path=("mcp",),
        entry=_opencode,
        remote=_remote(written="{{env:{name}}}", type="remote", enabled=True),
        programs=("opencode",),
        check="opencode mcp list",
    ),
)

_BY_NAME: Final = {name: client for client in CLIENTS for name in (client.id, *client.aliases)}


def find_client(name: str) -> Client:
    """The row of a client by its id or another name of it.

    Raises:
        CommandInvalid: there is none.
    """
    found = _BY_NAME.get(name.lower().replace("_", "-"))
    if found is None:
        raise CommandInvalid(
            f'There is no client "{name}"{closest(name, _BY_NAME) or "."}',
            hint=f"Known: {', '.join(each.id for each in CLIENTS)}.",
        )
    return found
