"""What ``setup`` would change for a client: pure text in, text out, but for reading the files."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from execkit_mcp.cli.clients.change import FileChange, read_text
from execkit_mcp.cli.clients.launcher import Launcher
from execkit_mcp.cli.clients.table import Client, Scope
from execkit_mcp.config.edit import add_item, drop, drop_items, merge, read
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model.regex import lazy_regex

SERVER: Final = "execkit"
_OURS: Final = lazy_regex(r"execkit[-_]mcp\S*\s+hook\s+--client\b")


class Wish(Struct, frozen=True, kw_only=True):
    """What the operator wants written down.

    Attributes:
        launcher: how this program is started.
        options: options of ``serve`` and ``hook``.
        serve: options of ``serve`` alone.
        name: the server's name in the client.
        url: the address of a server that listens, in place of one that the client starts.
        token_env: the variable that holds the token for it.
    """

    launcher: Launcher
    options: Sequence[str] = ()
    serve: Sequence[str] = ()
    name: str = SERVER
    url: str = ""
    token_env: str = ""


def server_change(client: Client, scope: Scope, project: Path, wish: Wish, *, remove: bool = False) -> FileChange:
    """The change to the client's list of servers.

    Raises:
        CommandInvalid: the client has no such scope.
        ConfigError: its file cannot be read or edited.
    """
    file = client.file(scope, project)
    if file is None:
        raise CommandInvalid(
            f"{client.title} has no configuration for one project.",
            hint="Leave --scope project out: it has one a user.",
        )
    before = read_text(file)
    path = (*client.path, wish.name)
    if remove:
        after = drop(before or "", client.form, path, name=str(file))
        return FileChange(path=file, before=before, after=_or_none(after, client, before, file))
    argv = [*wish.launcher.argv, "serve", *wish.options, *wish.serve]
    entry = client.remote(wish.url, wish.token_env) if wish.url else client.entry(argv, wish.launcher.env)
    text = before or ""
    if _is_of_another_kind(read(text, client.form, str(file)), path, entry):
        text = drop(text, client.form, path, name=str(file))
    return FileChange(path=file, before=before, after=merge(text, client.form, path, entry, name=str(file)))


_ADDRESSES: Final = frozenset({"url", "httpUrl", "serverUrl", "uri", "command", "cmd"})


def _is_of_another_kind(values: Any, path: Sequence[str], entry: Mapping[str, object]) -> bool:
    """Whether the entry that stands there starts a server where this one names an address, or the other way round."""
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return isinstance(values, dict) and bool(_ADDRESSES & set(values) - set(entry))


def _or_none(after: str, client: Client, before: str | None, file: Path) -> str | None:
    """No file where nothing is left of one that this program had made."""
    if before is None or after == before:
        return before
    return after if read(after, client.form, str(file)) or _has_remarks(after) else None


def _has_remarks(text: str) -> bool:
    return bool(re.search(r"//|/\*|#", text))


def hook_command(client: Client, wish: Wish) -> str:
    """The shell line of the hook: whatever goes wrong in it, it ends with 2, the one code that blocks."""
    env = [f"{name}={value}" for name, value in wish.launcher.env.items()]
    argv = [*(["env", *env] if env else []), *wish.launcher.argv, "hook", "--client", client.id, *wish.options]
    return f"sh -c {shlex.quote(f'{shlex.join(argv)} || exit 2')}"


def is_hook_of_ours(item: object) -> bool:
    """Whether an item of a client's list of hooks is this program's."""
    if not isinstance(item, dict):
        return False
    commands: list[Any] = [item.get("command"), *(each.get("command") for each in item.get("hooks") or [])]
    return any(isinstance(command, str) and _OURS.search(command) for command in commands)


def hook_change(
    client: Client, scope: Scope, project: Path, wish: Wish, *, remove: bool = False, before: FileChange | None = None
) -> FileChange:
    """The change to the client's hooks; ``before`` is an earlier change to the same file.

    Raises:
        CommandInvalid: the client has no hooks.
        ConfigError: its file cannot be read or edited.
    """
    place, file = client.hook, client.hook_file(scope, project)
    if place is None or file is None:
        raise CommandInvalid(
            f"{client.title} has no hook for its own shell tool.", hint="Leave --hook out; its MCP server is guarded."
        )
    on_disk = read_text(file)
    text = before.after if before is not None and before.path == file else on_disk
    name = str(file)
    item = place.item(hook_command(client, wish))
    if not remove and _items(read(text or "", "json", name), place.path).count(item) == 1:
        only = sum(map(is_hook_of_ours, _items(read(text or "", "json", name), place.path))) == 1
        if only:
            return FileChange(path=file, before=on_disk, after=text)
    after = drop_items(text or "", place.path, is_hook_of_ours, name=name)
    if remove:
        left: Mapping[str, object] = read(after, "json", name)
        is_empty = set(left) <= set(place.required) and not _has_remarks(after)
        return FileChange(path=file, before=on_disk, after=None if is_empty or text is None else after)
    for key, value in place.required.items():
        if key not in read(after, "json", name):
            after = merge(after, "json", (), {key: value}, name=name)
    return FileChange(path=file, before=on_disk, after=add_item(after, place.path, item, name=name))


def _items(values: Any, path: Sequence[str]) -> list[object]:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values if isinstance(values, list) else []


def state_of(client: Client, project: Path) -> dict[str, object]:
    """Where a client stands: is it installed, does it know the server, does its shell tool ask the hook."""
    import shutil  # noqa: PLC0415 - only when asked

    places: list[str] = []
    hooks: list[str] = []
    problem = ""
    command: object = None
    for scope in ("user", "project"):
        try:
            file = client.file(scope, project)
            if file is not None:
                here: Any = read(read_text(file) or "", client.form, str(file))
                for key in (*client.path, SERVER):
                    here = here.get(key) if isinstance(here, dict) else None
                if isinstance(here, dict):
                    places.append(str(file))
                    stated = here.get("command", here.get("cmd"))
                    command = command or (stated[0] if isinstance(stated, list) and stated else stated)
            file = client.hook_file(scope, project)
            if file is not None and client.hook is not None:
                items = _items(read(read_text(file) or "", "json", str(file)), client.hook.path)
                hooks += [str(file)] if any(map(is_hook_of_ours, items)) else []
        except Exception as error:  # noqa: BLE001 - one client's broken file must not hide the others
            problem = str(error)
    user = client.file("user", project)
    return {
        "client": client.id,
        "title": client.title,
        "installed": any(shutil.which(program) for program in client.programs)
        or (user is not None and (user.exists() or (user.parent.exists() and str(user.parent) != str(Path.home())))),
        "configured": places,
        "command": command if isinstance(command, str) else None,
        "hooks": hooks,
        "problem": problem,
    }
