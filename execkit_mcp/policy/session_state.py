"""Builtins and assignments that change the session: what ``shell.state`` and ``shell.env`` say of them.

One function judges a variable however it is assigned; the dangerous list of ``environment.py`` is absolute.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.effects import place_word, refused_place
from execkit_mcp.policy.environment import (
    BASE_FORCE,
    is_dangerous,
    is_identifier,
    is_locale,
    is_plain_locale,
    is_plain_zone,
)
from execkit_mcp.policy.findings import ALLOWED, Case, Finding, Site, adding, strictest
from execkit_mcp.policy.knowledge.builtins import only_shows
from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind, static
from execkit_mcp.policy.scope import Scope
from execkit_mcp.policy.shell.builtins import STATE_BUILTINS, stopping_options

_SAME = {"readarray": "mapfile", ".": "source", "typeset": "declare"}
_DECLARERS = frozenset({"export", "declare", "typeset", "readonly", "local"})
# Flags of builtins that take a value, so that the words after them are not names.
_VALUED = {"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc", "getopts": ""}
_LOOKS = frozenset({"-l", "-t", "-lt"})
_OPENED = lazy_regex(r"[0-9]")
_DEFAULT_NAMES = {"read": "REPLY", "mapfile": "MAPFILE", "readarray": "MAPFILE"}


def state_builtin(word: str, args: tuple[Arg, ...] = ()) -> str | None:
    """The builtin that ``word`` runs if it belongs to ``shell.state``, else None: then it is a program to the rules."""
    if word not in STATE_BUILTINS or only_shows(word, args):
        return None
    return None if word == "hash" and _only_looks_up(args) else word


def _only_looks_up(args: tuple[Arg, ...]) -> bool:
    """Whether ``hash`` lists, or finds programs where PATH, which nothing may set, has them anyway."""
    return all(arg.is_static and "/" not in arg.text and (arg.prefix[:1] != "-" or arg.text in _LOOKS) for arg in args)


def _switched(builtin: str, args: tuple[Arg, ...]) -> frozenset[str] | None:
    """The stopping options that ``set`` switches, if it does nothing else."""
    is_set = builtin == "set" and all(arg.is_static for arg in args)
    return stopping_options([arg.text for arg in args]) if is_set else None


def judge_variable(  # noqa: PLR0911 - each reason ends it
    name: str,
    values: tuple[str, ...] | None,
    case: Case,
    *,
    is_exported: bool = False,
    free: Iterable[str] = (),
    is_absolute_only: bool = False,
) -> Finding:
    """The verdict on assigning ``name``.

    Args:
        name: the variable.
        values: every value it may take; None if unknown.
        case: the open case.
        is_exported: whether programs see it.
        free: names that the deciding rule lets stand in front of its program.
        is_absolute_only: whether only what no rule can lift counts.
    """
    rules = case.policy.document.shell
    if not is_identifier(name):
        return _refused(
            f"{name!r} is not a plain variable name; the shell would evaluate it.",
            "Use a plain variable name.",
        )
    if is_dangerous(name):
        forced = rules.env_force.get(name, case.context.forced.get(name, BASE_FORCE.get(name)))
        if forced is not None and values == (forced,):
            return ALLOWED
        return _refused(
            f"Setting {name} changes what programs run or trust; it is refused however it is assigned.",
            f"Only the policy may set it: `shell.env.force: {{{name}: …}}`.",
        )
    if (
        is_locale(name)
        and (refusal := _judge_locale(name, values, case, is_absolute_only=is_absolute_only)) is not None
    ):
        return refusal
    if name == "TZ" and (strange := next((value for value in values or () if not is_plain_zone(value)), "")):
        return _refused(f"TZ={strange} makes programs open that file.", "Name a time zone: `TZ=Europe/Berlin`.")
    if is_absolute_only or name in rules.env_set or name in free:
        return ALLOWED
    if not is_exported and name == name.lower():
        return ALLOWED
    return Finding(
        verdict=max(case.policy.document.defaults.decision, Verdict.ASK),
        code=ReasonCode.ENV,
        message=f"The policy does not let a command set {name}.",
        hint=f"Add `{name}` to `shell.env.set`.",
    )


def _judge_locale(name: str, values: tuple[str, ...] | None, case: Case, *, is_absolute_only: bool) -> Finding | None:
    hint = f"Use `{name}=C`, or a name that ends in .UTF-8."
    if values is not None:
        strange = next((value for value in values if not is_plain_locale(name, value)), None)
        if strange is None:
            return None
        return _refused(f"With {name}={strange} the shell may read a text otherwise than it was judged.", hint)
    if is_absolute_only:
        return None
    return Finding(
        verdict=max(case.policy.document.defaults.unresolved, Verdict.ASK),
        code=ReasonCode.ENV,
        message=f"Which locale {name} would name is not known, and some change how the shell reads a text.",
        hint=hint,
    )


def _refused(message: str, hint: str) -> Finding:
    return Finding(verdict=Verdict.DENY, code=ReasonCode.ENV, message=message, hint=hint, is_absolute=True)


def _state_refused(message: str, hint: str) -> Finding:
    return Finding(verdict=Verdict.DENY, code=ReasonCode.SHELL_STATE, message=message, hint=hint, is_absolute=True)


def declared(args: tuple[Arg, ...]) -> list[tuple[str | None, tuple[str, ...] | None]]:
    """Names and values of ``export A=b C``; a word that may be any assignment has the name None."""
    out: list[tuple[str | None, tuple[str, ...] | None]] = []
    for arg in args:
        if arg.is_static and arg.text.startswith(("-", "+")):
            continue
        name, equals, value = arg.prefix.partition("=")
        if arg.is_static:
            out.append((name.removesuffix("+"), (value,) if equals and not name.endswith("+") else None))
        else:
            out.append((name.removesuffix("+") if equals else None, None))
    return out


def named(
    builtin: str, args: tuple[Arg, ...], letters: set[str] | None = None, descriptors: list[Arg] | None = None
) -> list[Arg]:
    """The variables that ``read``, ``mapfile``, ``unset`` or ``getopts`` names.

    Its flags go to ``letters``, and what ``-u`` reads from to ``descriptors``.
    """
    valued = _VALUED.get(builtin, "")
    names: list[Arg] = []
    index = 0
    takes_options = True
    while index < len(args):
        arg = args[index]
        index += 1
        if takes_options and arg.is_static and arg.text == "--":
            takes_options = False
            continue
        if takes_options and arg.is_static and arg.text.startswith("-") and len(arg.text) > 1:
            for position, letter in enumerate(arg.text[1:], start=2):
                if letters is not None:
                    letters.add(letter)
                if letter not in valued:
                    continue
                rest = arg.text[position:]
                value = static(rest) if rest else (args[index] if index < len(args) else static(""))
                index += not rest
                if builtin == "read" and letter == "a":
                    names.append(value)
                if letter == "u" and descriptors is not None:
                    descriptors.append(value)
                break
            continue
        takes_options = False
        names.append(arg)
    if builtin == "getopts":
        return names[1:2]
    return names or ([static(_DEFAULT_NAMES[builtin])] if builtin in _DEFAULT_NAMES else [])


def _judge_names(  # noqa: C901, PLR0912 - one builtin after another
    builtin: str, args: tuple[Arg, ...], case: Case
) -> list[Finding]:
    found: list[Finding] = []
    if builtin in _DECLARERS:
        for flag in (arg.text for arg in args if arg.is_static and arg.text[:1] in "-+" and len(arg.text) > 1):
            if builtin != "export" and set(flag[1:]) & set("inAaulcI"):
                message = f"{builtin} {flag} gives a variable a meaning that cannot be judged."
                found += [_state_refused(message, "Leave the flag out.")]
        is_exported = builtin == "export" or any("x" in arg.prefix for arg in args if arg.prefix[:1] == "-")
        for name, values in declared(args):
            if name is None:
                found.append(_refused(f"Which variable {builtin} would set is not known.", "Write the name out."))
            else:
                found.append(judge_variable(name, values, case, is_exported=is_exported))
    elif builtin in ("read", "mapfile", "readarray", "getopts", "unset"):
        letters: set[str] = set()
        descriptors: list[Arg] = []
        names = named(builtin, args, letters, descriptors)
        if any(not _OPENED.fullmatch(each.text) for each in descriptors):
            # From 10 on the shell keeps its own: there what it is told next can be read, before it reads that itself.
            found.append(
                _state_refused(f"{builtin} -u reads from the shell's own descriptors.", "Use one from 0 to 9.")
            )
        if builtin == "read" and letters & {"e", "E"}:
            found.append(
                _state_refused("On a terminal, the line editor of read -e runs what is typed.", "Leave -e out.")
            )
        for arg in names:
            if not arg.is_static or not is_identifier(arg.text):
                found.append(
                    _refused(
                        f"{builtin} would evaluate {arg.text}, which is not a plain variable name.",
                        "Use a plain variable name.",
                    )
                )
            elif arg.text in _DEFAULT_NAMES.values():
                continue
            else:
                values = () if builtin == "unset" and is_locale(arg.text) else None
                found.append(judge_variable(arg.text, values, case))
    return found


def judge_state(  # noqa: C901, PLR0917 - one builtin after another
    builtin: str, args: tuple[Arg, ...], scope: Scope, case: Case, site: Site, depth: int
) -> Finding:
    """The verdict on a builtin that changes the session: listed in ``shell.state``, harmless as it stands."""
    found = _judge_names(builtin, args, case)
    listed = case.policy.document.shell.state
    family = _SAME.get(builtin, builtin)
    if builtin == "eval":
        text = " ".join(arg.text for arg in args) if all(arg.is_static for arg in args) else None
        if text is not None:
            found.append(case.judge_script(text, scope, site, depth + 1, is_bash=True))
        elif not site.is_absolute_only:
            found.append(_state_refused("The text that eval would run is not known.", "Run the command itself."))
    elif (builtin == "exec" and args) or (builtin == "builtin" and args):
        found.append(_unwrapped(args, scope, case, site, depth))
    elif builtin in ("mapfile", "readarray") and any(arg.prefix.startswith("-") and "C" in arg.text for arg in args):
        found.append(_state_refused(f"{builtin} -C runs text.", "Leave -C out."))
    elif builtin == "trap" and (action := _trapped(args)) is not None:
        if action.is_static:
            found.append(case.judge_script(action.text, Scope(cwds=None), site, depth + 1, is_bash=True))
        else:
            found.append(_state_refused("The text that trap would run is not known.", "Write it out."))
    elif builtin in ("cd", "pushd") or family == "source":
        found.extend(_judge_folder(args, scope, case, site))
    if builtin == "alias" and not site.is_absolute_only:
        functions = case.policy.document.shell.functions
        found.append(
            replace(
                _state_refused("An alias changes what later commands mean.", "See `shell.functions`."),
                verdict=functions,
            )
            if functions is not Verdict.ALLOW
            else ALLOWED
        )
    switched = _switched(builtin, args)
    is_listed = builtin in listed or family in listed or (switched is not None and switched <= listed)
    if not is_listed and not site.is_absolute_only:
        lacking = sorted(switched - listed) if switched is not None else [builtin]
        found.append(
            _state_refused(
                f"{builtin} changes the session, and `shell.state` does not list it.",
                adding(lacking, "shell.state", tuple(sorted(listed)), case.policy.document),
            )
        )
    return strictest(found or [ALLOWED])


def _trapped(args: tuple[Arg, ...]) -> Arg | None:
    """The text that ``trap`` would run; None if it only lists or resets."""
    rest = args[1:] if args and args[0].is_static and args[0].text == "--" else args
    return rest[0] if rest and rest[0].text not in ("-", "-l", "-p", "") else None


def _unwrapped(args: tuple[Arg, ...], scope: Scope, case: Case, site: Site, depth: int) -> Finding:
    rest = args
    while rest and rest[0].is_static and rest[0].text.startswith("-"):
        if "a" in rest[0].text:  # git-push is what `git` does by that name
            return _state_refused("exec -a tells a program another name.", "Leave -a out.")
        rest = rest[1:]
    return case.judge_argv(rest, scope, site, depth + 1)


def _judge_folder(args: tuple[Arg, ...], scope: Scope, case: Case, site: Site) -> list[Finding]:
    """``never`` covers entering a folder; where the folder is unknown there is nothing to compare."""
    found: list[Finding] = []
    for arg in args:
        if arg.is_static and arg.text.startswith(("-", "+")):
            continue
        places = place_word(arg, scope, case, site)
        refusal = refused_place(places, site, case, "Entering") if places else None
        if refusal is not None:
            found.append(refusal)
    return found


# ── what they do to the scope ───────────────────────────────────────────────────────────────────────────


def after_builtin(builtin: str, args: tuple[Arg, ...], scope: Scope, case: Case, site: Site) -> tuple[Scope, Scope]:
    """The scope after the builtin succeeded, and after it failed."""
    if builtin in ("cd", "pushd", "popd"):
        return scope.enter(_entered(builtin, args, scope, case, site)), scope
    if builtin in _DECLARERS:
        after = scope
        for name, values in declared(args):
            if name is None:
                return Scope(cwds=scope.cwds), Scope(cwds=scope.cwds)
            if values is not None or name in scope.variables:
                after = after.assign(name, values)
        return after, after.join(scope)
    if builtin in ("read", "mapfile", "readarray", "getopts", "unset"):
        names = [arg.text for arg in named(builtin, args)]
        if builtin == "unset" or all(is_identifier(name) for name in names):
            after = scope.forget(names)
            return after, after
    if _switched(builtin, args) is not None or builtin == "exit":  # nothing comes after it
        return scope, scope
    blank = Scope(cwds=None)
    return blank, blank


def _entered(builtin: str, args: tuple[Arg, ...], scope: Scope, case: Case, site: Site) -> tuple[str, ...] | None:
    rest = [arg for arg in args if not (arg.is_static and arg.text in ("-L", "-P", "-e", "--"))]
    if builtin == "popd":
        return None
    if not rest:
        if builtin != "cd" or not case.context.home:
            return None
        rest = [Arg(ArgKind.STATIC, "~", "~", is_home=True)]
    arg = rest[0]
    if len(rest) > 1 or arg.kind is not ArgKind.STATIC or arg.text.startswith(("-", "+")) or not arg.text:
        return None
    places = place_word(arg, scope, case, site)
    if not places or any(place.is_stream for place in places):
        return None
    return tuple(dict.fromkeys(spelling for place in places for spelling in place.spellings))
