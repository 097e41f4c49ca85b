"""``execkit-mcp setup CLIENT``: writes this server into a client's configuration, or takes it out again."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execkit_mcp.cli.clients import Client
    from execkit_mcp.cli.clients.plan import Wish

_EPILOG = """\
examples:
  execkit-mcp setup                              which clients there are, and which know this server
  execkit-mcp setup claude-code                  for all your projects
  execkit-mcp setup cursor --scope project       for the project in this folder
  execkit-mcp setup codex --policy read-only --hook
                                                 and guard Codex's own shell tool with the same policy
  execkit-mcp setup zed --print                  show what would change, change nothing
  execkit-mcp setup claude-code --remove --hook  take both out again
  execkit-mcp setup cursor --url http://127.0.0.1:8765/mcp --token-env SHELL_TOKEN
                                                 a server that runs already; the token stays in the variable
  execkit-mcp setup all                          every client that is installed

The file keeps its comments, order and other keys; the one before is kept beside it as FILE.TIME.bak. Running it again
changes nothing.

exit codes: 0 done or nothing to do, 2 a file that cannot be read or edited (it is left as it is).
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "setup",
        help="connect a client to this server",
        description="Write this server into a client's configuration: shows the change, keeps a backup.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("client", metavar="CLIENT", nargs="?", help="claude-code, cursor, codex, gemini-cli … or all")
    parser.add_argument("--scope", choices=["user", "project"], help="for you (default) or one project")
    parser.add_argument("--project", metavar="DIR", help="the project's folder (default: this one); --scope project")
    parser.add_argument("--print", dest="only_print", action="store_true", help="show the change, make none")
    parser.add_argument("--remove", action="store_true", help="take it out again")
    parser.add_argument("--hook", action="store_true", help="also guard the client's own shell tool")
    parser.add_argument("--hook-only", action="store_true", help="only the hook, not the server")
    parser.add_argument("--name", metavar="NAME", default="execkit", help="the server's name there (default: execkit)")
    parser.add_argument("--policy", metavar="NAME|FILE", help="the policy (default: as configured)")
    parser.add_argument("--config", metavar="FILE", help="the configuration file that the server reads")
    parser.add_argument("--workspace", metavar="DIR", help="what ${workspace} means (default: where the client starts)")
    parser.add_argument("--state-dir", metavar="DIR", help="where approvals and the audit log are kept")
    parser.add_argument("--read-only", action="store_true", help="serve in read-only mode")
    parser.add_argument("--url", metavar="URL", help="connect to a server that listens, in place of starting one")
    parser.add_argument("--token-env", metavar="NAME", help="with --url: the variable that holds the bearer token")
    parser.add_argument("--json", action="store_true", help="without CLIENT: print the table as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show and make the changes."""
    from execkit_mcp.cli.clients import CLIENTS, find_client  # noqa: PLC0415 - only when running
    from execkit_mcp.cli.clients.plan import state_of  # noqa: PLC0415

    project = _project(arguments)
    if arguments.client is None:
        return _table(project, as_json=arguments.json)
    if arguments.client == "all":
        chosen = [client for client in CLIENTS if state_of(client, project)["installed"]]
        if not chosen:
            print(f"None of the known clients is installed: {', '.join(each.id for each in CLIENTS)}.")
            return 0
        if arguments.scope == "project":
            chosen = [client for client in chosen if client.project]
        for client in chosen:
            _set_up(client, arguments, project, lenient=True)
        return 0
    _set_up(find_client(arguments.client), arguments, project, lenient=False)
    return 0


def _project(arguments: argparse.Namespace) -> Path:
    """The project's folder; naming one means its scope."""
    from execkit_mcp.errors import CommandInvalid, ConfigNotFound  # noqa: PLC0415 - only when running

    if arguments.scope == "user" and arguments.project is not None:
        raise CommandInvalid("--project names a project, --scope user means every one.", hint="Leave out one of them.")
    arguments.scope = arguments.scope or ("user" if arguments.project is None else "project")
    project = Path(arguments.project or ".").expanduser().resolve()
    if not project.is_dir():
        raise ConfigNotFound(f"There is no project folder {project}.", hint="Check the spelling, or make it first.")
    return project


def _table(project: Path, *, as_json: bool) -> int:
    import json  # noqa: PLC0415 - only when running

    from execkit_mcp.cli.clients import CLIENTS  # noqa: PLC0415
    from execkit_mcp.cli.clients.plan import state_of  # noqa: PLC0415

    rows = [state_of(client, project) for client in CLIENTS]
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        places = row["configured"]
        known = "connected" if places else "installed, not connected" if row["installed"] else "not found"
        hook = ", hook" if row["hooks"] else ""
        print(f"{row['client']!s:12} {known}{hook}{'  (' + str(row['problem']) + ')' if row['problem'] else ''}")
    print("\nConnect one with: execkit-mcp setup CLIENT")
    return 0


def _set_up(client: "Client", arguments: argparse.Namespace, project: Path, *, lenient: bool) -> None:
    from execkit_mcp.cli.clients.plan import hook_change, server_change  # noqa: PLC0415 - only when running

    wish = _wish(arguments)
    scope = arguments.scope
    changes = []
    if not arguments.hook_only:
        changes.append(server_change(client, scope, project, wish, remove=arguments.remove))
    if (arguments.hook or arguments.hook_only) and not (lenient and client.hook is None):
        earlier = changes[0] if changes else None
        change = hook_change(client, scope, project, wish, remove=arguments.remove, before=earlier)
        changes = [each for each in changes if each.path != change.path] + [change]
    needed = [change for change in changes if change.is_needed]
    for change in needed:
        print(change.diff(), end="")
    if not needed:
        files = ", ".join(str(change.path) for change in changes)
        told = (
            f"nothing to remove; it is not in {files}"
            if arguments.remove
            else f"nothing to change; {files} says it already"
        )
        print(f"{client.title}: {told}.")
        return
    if arguments.only_print:
        print(f"\n{client.title}: this would change; nothing was written.")
        return
    for change in needed:
        backup = change.apply()
        print(
            f"{client.title}: {'wrote' if change.path.exists() else 'removed'} {change.path}"
            + (f", kept the old one as {backup}" if backup else "")
        )
    if arguments.remove:
        return
    if client.hook is not None and client.hook.note and (arguments.hook or arguments.hook_only):
        print(client.hook.note)
    if not arguments.hook_only:
        print(f"Restart {client.title}, then check: {client.check}")


def _wish(arguments: argparse.Namespace) -> "Wish":
    import re  # noqa: PLC0415 - only when running

    from execkit_mcp.cli.clients.launcher import find_launcher  # noqa: PLC0415 - only when running
    from execkit_mcp.cli.clients.plan import Wish  # noqa: PLC0415
    from execkit_mcp.config.settings_file import is_policy_file  # noqa: PLC0415
    from execkit_mcp.errors import ConfigError  # noqa: PLC0415
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", arguments.name):
        raise ConfigError(
            f"--name: {arguments.name!r} is no name that every client takes.",
            hint="Use up to 64 letters, digits, hyphens and underscores.",
        )
    options: list[str] = []
    if arguments.policy is not None:
        if arguments.read_only and arguments.policy != "read-only":
            raise ConfigError(
                f"--read-only and --policy {arguments.policy} contradict each other.", hint="Leave out one of them."
            )
        name = str(_absolute(arguments.policy)) if is_policy_file(arguments.policy) else arguments.policy
        load_policy(name)  # what the server would refuse to start with is not written down
        options += ["--policy", name]
    _require_start(arguments)
    for option in ("config", "workspace", "state_dir"):
        value = getattr(arguments, option)
        if value is not None:
            options += [f"--{option.replace('_', '-')}", str(_absolute(value))]
    url = _address(arguments)
    given = [*options[::2], *(["--read-only"] if arguments.read_only else [])]
    if url and given and not (arguments.hook or arguments.hook_only):
        raise ConfigError(
            f"{', '.join(given)}: the server at --url has its own policy and places.",
            hint="Leave them out here; give them where that server is started.",
        )
    serve = ["--read-only"] if arguments.read_only else []
    return Wish(
        launcher=find_launcher(),
        options=options,
        serve=serve,
        name=arguments.name,
        url=url,
        token_env=arguments.token_env or "",
    )


def _address(arguments: argparse.Namespace) -> str:
    """The URL that was given, fit to be written down; "" where none was."""
    import re  # noqa: PLC0415 - only when running

    from execkit_mcp.errors import ConfigError  # noqa: PLC0415

    url, token = arguments.url or "", arguments.token_env or ""
    if token and (not url or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", token)):
        raise ConfigError("--token-env wants --url and the name of a variable.", hint="Never put a token itself here.")
    if url and not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", url):
        raise ConfigError(f"--url: {url!r} is no address of a server.", hint="For example: http://127.0.0.1:8765/mcp")
    return url


def _require_start(arguments: argparse.Namespace) -> None:
    """Raise what the server would refuse to start with."""
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 - only when running
    from execkit_mcp.errors import ConfigNotFound  # noqa: PLC0415

    if arguments.remove:
        return
    if arguments.config is not None:
        load_settings(config=str(_absolute(arguments.config)))
    if arguments.workspace is not None and not _absolute(arguments.workspace).is_dir():
        raise ConfigNotFound(
            f"There is no workspace folder {_absolute(arguments.workspace)}.", hint="Make it, or name another."
        )


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
