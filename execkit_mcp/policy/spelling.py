"""How single texts of a policy are spelled: each check returns what is wrong and what was meant, or nothing.

Shared by the element grammar and the document's sections; every check is pure and takes the text as written.
"""

import re

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.shape import Text, closest
from execkit_mcp.policy.groups import DANGEROUS
from execkit_mcp.policy.shell.builtins import STATE_BUILTINS, STOPPING_OPTIONS

SLUG = r"[a-z0-9][a-z0-9._-]{0,63}"
RULE_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
WORKSPACE = "${workspace}"
_SHELL_TEXT = lazy_regex(r"[|&;<>()$`\"'\\\n{}#!=]")
_PORT = lazy_regex(r"\*|[1-9][0-9]{0,4}")
_MAX_PORT = 65_535
_HOST = lazy_regex(r"(?:[A-Za-z0-9*?_](?:[A-Za-z0-9*?_.-]*[A-Za-z0-9*?_])?)\.?")
_IPV4_LIKE = lazy_regex(r"[0-9.]+(?:/[0-9]+)?")


def check_path_pattern(text: str) -> str:
    """A glob on paths: absolute, or below ``~/``, ``${workspace}`` or ``**/``."""
    rest = text.removeprefix(WORKSPACE)
    if "$" in rest:
        name = re.search(r"\$\{?(\w*)", rest)
        word = name[1] if name else ""
        return f'"{text}" holds the variable "{word}"; the only one is {WORKSPACE}, at the beginning'
    if rest != text and rest and not rest.startswith("/"):
        return f'"{text}" continues after {WORKSPACE} without a slash; write {WORKSPACE}/{rest}'
    return _complain_of_anchor(text, is_anchored=rest != text) or _complain_of_parts(text)


def _complain_of_anchor(text: str, *, is_anchored: bool) -> str:
    if re.match(r"~[^/]", text):
        return f'"{text}" names another user\'s home; write its absolute path'
    if is_anchored or text == "~" or text.startswith(("/", "~/", "**/")):
        return ""
    anywhere = f"**/{text.removeprefix('./')}"
    return f'"{text}" is relative; begin with /, ~/, {WORKSPACE} or **/ (in any folder: {anywhere})'


def _complain_of_parts(text: str) -> str:
    if re.search(r"(?:^|/)\.\.?(?:/|$)", text):
        return f'"{text}" holds . or .. as a folder; write the path that it leads to'
    if "//" in text:
        return f'"{text}" holds //; write a single /'
    if text.endswith("/") and text != "/":
        return f'"{text}" ends in /; write {text.rstrip("/")}/** for the folder and everything below it'
    if re.search(r"\{[^}]*[,.][^}]*\}", text):
        return f'"{text}" holds braces, which are no glob here; write one pattern for each alternative'
    return ""


def check_folder(text: str) -> str:
    """An absolute folder or file without globs, for programs that are trusted."""
    if not text.startswith("/"):
        return f'"{text}" is not absolute; programs run from fixed places only'
    if re.search(r"[*?\[\]~$]", text):
        return f'"{text}" holds a glob or variable; write the path out'
    return check_path_pattern(text)


def check_network(text: str) -> str:
    """A ``host:port``, ``host``, address or CIDR block, with ``*`` in host or port."""
    if "://" in text:
        host = text.split("://", 1)[1].split("/", 1)[0]
        return f'"{text}" is a URL; write host:port, for example {host}:443'
    host, port = _split_port(text)
    if port and (not _PORT.fullmatch(port) or (port != "*" and int(port) > _MAX_PORT)):
        return f'"{text}" has the port "{port}"; write a number from 1 to {_MAX_PORT}, or *'
    if text.endswith(":"):
        return f'"{text}" ends in a colon; write {text}* for every port'
    if ":" in host or host.startswith("[") or _IPV4_LIKE.fullmatch(host) or "/" in host:
        return _check_address(text, host.strip("[]"))
    return (
        ""
        if _HOST.fullmatch(host)
        else f'"{text}" is not host:port; write for example localhost:443 or *.example.com:443'
    )


def _split_port(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, port = text.partition("]")
        return host + "]", port.removeprefix(":")
    if text.count(":") > 1:  # a bare IPv6 address
        return text, ""
    host, _, port = text.partition(":")
    return host, port


def _check_address(text: str, host: str) -> str:
    from ipaddress import ip_network  # noqa: PLC0415 - only documents that name addresses pay for it

    try:
        ip_network(host)
    except ValueError as wrong:
        try:
            meant = str(ip_network(host, strict=False))
        except ValueError:
            return f'"{text}" is not an address or CIDR block ({wrong})'
        return f'"{text}" has bits set behind its prefix; write {meant}'
    return ""


def check_program(text: str) -> str:
    """A program word: bare name, glob on names, absolute path, path below the workspace, or ``builtin:GROUP``."""
    if text.startswith(("/", f"{WORKSPACE}/")) and not _SHELL_TEXT.search(text.removeprefix(WORKSPACE)):
        return check_path_pattern(text)
    if _SHELL_TEXT.search(text):
        return f'"{text}" looks like shell text; an element names one program and its subcommand words'
    if text.startswith("-"):
        return f'"{text}" begins with a dash, so it is a flag; write {{PROGRAM: {{flags: {{any: ["{text}"]}}}}}}'
    if text.startswith("~"):
        return f'"{text}" lies in a home; write an absolute path, or declare it under programs'
    if "/" in text and not text.startswith("/"):
        return f'"{text}" is a relative path; write a bare name, an absolute path or {WORKSPACE}/…'
    return ""


def check_flag(text: str) -> str:
    """A flag or a glob on flags."""
    if not text.startswith(("-", "+")):
        meant = f"--{text}" if len(text) > 1 else f"-{text}"
        return f'"{text}" is not a flag; write {meant} (operands belong under args)'
    if "=" in text:
        name, _, value = text.partition("=")
        return f'"{text}" holds a value; write flags: {{values: {{{name}: ["{value}"]}}}}'
    if re.search(r"\s", text):
        return f'"{text}" holds a space; write each flag as an entry of its own'
    return ""


def check_subcommand(text: str) -> str:
    """One or more leading subcommand words."""
    for word in text.split():
        if word.startswith("-"):
            return f'"{text}" holds the flag {word}; write it under flags'
        if _SHELL_TEXT.search(word):
            return f'"{text}" looks like shell text; write subcommand words only'
    return ""


def check_state_builtin(text: str) -> str:
    """A builtin that changes the session, or an option of ``set`` that only stops a text early."""
    if text in STATE_BUILTINS or text in STOPPING_OPTIONS:
        return ""
    if text.startswith("set "):
        return f'"{text}" cannot be listed by itself; those that can are {", ".join(STOPPING_OPTIONS)}'
    near = closest(text, STATE_BUILTINS)
    return f'"{text}" is no builtin that changes the session{near or "; a program belongs under rules"}'


def check_hazard(text: str) -> str:
    """A hazard id, a glob on ids, or ``builtin:dangerous``."""
    if text.startswith("builtin:"):
        return "" if text == DANGEROUS else f'there is no "{text}" among hazards; write {DANGEROUS}'
    from fnmatch import fnmatchcase  # noqa: PLC0415 - only documents that name single hazards pay for it

    from execkit_mcp.policy.hazards import HAZARDS  # noqa: PLC0415 - the table needs what imports this module

    known = [hazard.id for hazard in HAZARDS]
    if any(fnmatchcase(each, text) for each in known):
        return ""
    return f'there is no hazard "{text}"{closest(text, known)}'


PATH = Text(what="a path pattern", example="/var/log/**", check=check_path_pattern)
FOLDER = Text(what="an absolute path", example="/usr/bin", check=check_folder)
NETWORK = Text(what="a network pattern", example="localhost:*", check=check_network)
FLAG = Text(what="a flag", example="--recursive", check=check_flag)
SUBCOMMAND = Text(what="subcommand words", example="rollout status", check=check_subcommand)
GLOB = Text(what="a glob", example="app-*.service", may_be_empty=True)
VARIABLE_NAME = Text(what="a variable name", example="LC_ALL", pattern=VARIABLE)
