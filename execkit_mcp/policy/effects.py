"""Whether what a rule grants covers what an argv would do.

``place_effects`` finds out where each effect lands; ``absolute`` says what no rule can lift (``never``, denied
addresses); ``uncovered`` says what a particular rule does not grant, with the line that would grant it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import ASK, DENY, NET, READ, WRITE, Effect, EffectKind, ProgramLocator, ReasonCode
from execkit_mcp.policy import network
from execkit_mcp.policy.compile import Grants
from execkit_mcp.policy.findings import Case, Finding, Site, adding
from execkit_mcp.policy.folders import moved
from execkit_mcp.policy.knowledge.assigning import ASSIGNS
from execkit_mcp.policy.knowledge.invocation import (
    DYNAMIC,
    GLOB,
    PICKED_BY,
    Arg,
    ArgEffect,
    Invocation,
    static,
)
from execkit_mcp.policy.paths import Place, locate
from execkit_mcp.policy.replacing import replaces_names
from execkit_mcp.policy.repository import ANY_PROGRAM, may_run
from execkit_mcp.policy.scope import Scope

_HERE = static(".")
_PATHS = (READ, WRITE)


class Placed(Struct, frozen=True, kw_only=True, gc=False):
    """An effect and where it lands; ``places`` None: that cannot be told."""

    effect: ArgEffect
    places: tuple[Place, ...] | None = ()
    endpoint: network.Endpoint | None = None

    @property
    def text(self) -> str:
        """The word that causes it."""
        return self.effect.arg.text if self.effect.arg is not None else ""

    def shown(self) -> Effect:
        """The effect as decisions show it."""
        kind = self.effect.kind
        if kind in _PATHS:
            value = self.places[0].lexical if self.places else self.text
            return Effect(kind, value + ("/**" if self.effect.is_recursive else ""))
        if self.effect.picks_server:
            return Effect(kind, f"configured:{self.text}")
        if kind is NET:
            return Effect(kind, str(self.endpoint) if self.endpoint is not None else self.effect.note or self.text)
        return Effect(kind, self.text or self.effect.note)


def shown_all(placed: Sequence[Placed]) -> list[Effect]:
    """The effects as decisions show them; a path that leads elsewhere also where it leads."""
    found: list[Effect] = []
    for each in placed:
        found.append(each.shown())
        for place in each.places or ():
            if place.others and each.effect.kind in _PATHS:
                found.extend([Effect(each.effect.kind, other) for other in place.others])
    return found


def place_word(
    arg: Arg, scope: Scope, case: Case, site: Site, *, is_recursive: bool = False
) -> tuple[Place, ...] | None:
    """Every place that a word may point to; None if that cannot be told."""
    if arg.is_pipe:
        return (Place(lexical="/dev/fd", is_stream=True),)
    if arg.kind is DYNAMIC:
        return None
    context = case.context
    locator = context.locator if not site.is_remote else None
    cwds: Sequence[str | None] = (None,) if site.is_remote or scope.cwds is None else scope.cwds
    if locator is None and len(cwds) == 1:
        is_glob = arg.kind is GLOB
        only = locate(arg.text, cwds[0], context.home, is_home=arg.is_home, is_glob=is_glob, is_recursive=is_recursive)
        return None if only is None else (only,)
    is_relative = not arg.is_home and not arg.text.startswith("/")
    places: list[Place] = []
    for cwd in cwds if is_relative or "cwd" in arg.text else cwds[:1]:
        place = locate(
            arg.text,
            cwd=cwd,
            home=context.home,
            is_home=arg.is_home,
            is_glob=arg.kind is GLOB,
            is_recursive=is_recursive,
            follow=locator.resolve if locator is not None else None,
            find=locator.linked_by if locator is not None else None,
        )
        if place is None:
            return None
        places.append(place)
    return tuple(places)


def place_effects(invocation: Invocation, scope: Scope, case: Case, site: Site) -> tuple[Placed, ...]:
    """Each effect of the invocation with where it lands."""
    placed: list[Placed] = []
    # A link reaches everything below its target, and a relative target starts from the link, not from here.
    is_link = invocation.program == "ln"
    for effect in invocation.effects:
        if effect.kind in _PATHS:
            arg = effect.arg if effect.arg is not None else _HERE
            is_recursive = effect.is_recursive or (is_link and effect.kind is READ)
            places = place_word(arg, scope, case, site, is_recursive=is_recursive)
            if is_link and effect.kind is READ and ".." in arg.text.split("/"):
                places = None
            if places and effect.kind is WRITE and replaces_names(invocation):
                places = tuple([replace(place, is_stream=False) for place in places])
            placed.append(Placed(effect=effect, places=places))
        elif effect.kind is NET and effect.arg is not None and effect.arg.is_static:
            placed.append(Placed(effect=effect, endpoint=network.endpoint_of(effect.arg.text)))
        else:
            placed.append(Placed(effect=effect))
    if invocation.program == "git" and case.context.locator is not None and not site.is_remote:
        placed.extend(_by_repository(invocation, scope, case, case.context.locator))
    return tuple(placed)


def _by_repository(invocation: Invocation, scope: Scope, case: Case, locator: ProgramLocator) -> Iterable[Placed]:
    """What git would run because the configuration of the repository that it works in says so."""
    folders = moved(invocation, scope.cwds, case.context.home) if scope.cwds is not None else None
    if folders is None and may_run(invocation, ANY_PROGRAM):
        yield Placed(effect=ArgEffect(kind=EffectKind.EXEC, note="what a repository that is not known configures"))
    for folder in dict.fromkeys(folders or ()):
        for key in may_run(invocation, locator.configured(folder)):
            yield Placed(effect=ArgEffect(kind=EffectKind.EXEC, note=f"{key} of the repository in {folder}"))


def refused_place(places: tuple[Place, ...], site: Site, case: Case, verb: str) -> Finding | None:
    """The finding if one of the places lies under ``never``; notes what only the fence can hold."""
    for place in places:
        if place.is_stream:
            continue
        pattern, is_undecided = site.never.touched_by(place)
        if pattern is not None:
            return Finding(
                verdict=DENY,
                code=ReasonCode.PATH_NEVER,
                message=f"{verb} {place.lexical} touches {pattern.source}, which `paths.never` refuses.",
                hint=f"Nothing lifts `paths.never`; an operator would have to take out `{pattern.source}`.",
                is_absolute=True,
            )
        if is_undecided:
            held = "only the fence holds those" if case.context.fence.level != "none" else "and there is no fence here"
            case.warn(f"Names that `paths.never` refuses at any depth (**/…) may stand below {place.lexical}: {held}.")
    return None


def absolute(placed: tuple[Placed, ...], site: Site, case: Case) -> list[Finding]:
    """What no rule can lift: refused paths and addresses."""
    found: list[Finding] = []
    for each in placed:
        if each.effect.kind in _PATHS and each.places:
            verb = "Reading" if each.effect.kind is READ else "Writing"
            refusal = refused_place(each.places, site, case, verb)
            if refusal is not None:
                found.append(refusal)
        elif each.endpoint is not None:
            refused = network.matching(each.endpoint, case.policy.document.network.deny, is_refusal=True)
            if refused is not None:
                found.append(
                    Finding(
                        verdict=DENY,
                        code=ReasonCode.NETWORK,
                        message=f"{each.endpoint} falls under `network.deny` ({refused}).",
                        hint=f"Nothing lifts `network.deny`; an operator would have to take out `{refused}`.",
                        is_absolute=True,
                    )
                )
    return found


def _missing(case: Case, code: ReasonCode, message: str, hint: str, *, is_unresolved: bool = False) -> Finding:
    defaults = case.policy.document.defaults
    verdict = defaults.decision
    if is_unresolved:
        verdict = max(defaults.unresolved, ASK)
    return Finding(verdict=max(verdict, ASK), code=code, message=message, hint=hint)


def path_uncovered(  # noqa: PLR0911 - each reason ends it
    placed: Placed, grant: str, site: Site, case: Case
) -> Finding | None:
    """Why a read or write is not covered by a grant of ``any``, ``paths`` or ``none``; None if it is."""
    is_read = placed.effect.kind is READ
    word, code = ("read", ReasonCode.PATH_READ) if is_read else ("write", ReasonCode.PATH_WRITE)
    places = placed.places
    if places and all(place.is_free(is_read=is_read) for place in places):
        return None
    if grant == "any" and is_read:
        return None
    where = places[0].lexical if places else placed.text or "an unknown place"
    list_name = f"{'' if site.book is case.policy.book else 'then.'}paths.{word}"
    if grant == "none":
        lacking = lacks((placed,), site, case)
        return _missing(
            case,
            code,
            f"It would {word} {where}, and the rule does not grant {word}.",
            f"Add `effects: {{{word}: paths}}` to the rule." + (f" {lacking}" if lacking else ""),
        )
    if places is None:
        return _missing(
            case,
            ReasonCode.DYNAMIC_WORD if placed.effect.arg and not placed.effect.arg.is_static else code,
            f"It would {word} {where}, and where that is cannot be told.",
            f"Write the path out as a plain word below one of `{list_name}`"
            + (", or put `effects: {read: any}` on the rule." if is_read else "."),
            is_unresolved=True,
        )
    if is_read and site.read is None:
        return None
    granted = site.read if is_read else site.write
    kept = [place for place in places if not place.is_free(is_read=is_read)]
    outside = next((place for place in kept if not (granted and granted.covers(place))), None)
    if outside is None:
        return None
    return _missing(
        case,
        code,
        f"It would {word} {outside.lexical}, which is outside `{list_name}`"
        + (", and `then` takes nothing from `paths`." if list_name.startswith("then") else "."),
        adding(
            [f"{outside.lexical}{'/**' if outside.is_recursive else ''}"],
            list_name,
            (site.paths.read if is_read else site.paths.write) or (),
            case.policy.document,
        ),
    )


def beyond(placed: tuple[Placed, ...], site: Site, case: Case) -> list[tuple[str, str]]:
    """Entries that lists lack whatever effects a rule grants: (list, entry), for what a hint has to name besides."""
    found: list[tuple[str, str]] = []
    prefix = "" if site.book is case.policy.book else "then."
    for each in placed:
        if each.effect.kind in _PATHS and each.places:
            is_read = each.effect.kind is EffectKind.READ
            granted = site.read if is_read else site.write
            if is_read and granted is None:
                continue
            name = f"{prefix}paths.{'read' if is_read else 'write'}"
            found.extend(
                (name, f"{place.lexical}{'/**' if place.is_recursive else ''}")
                for place in each.places
                if not place.is_free(is_read=is_read) and not (granted and granted.covers(place))
            )
        elif each.endpoint is not None and not each.effect.picks_server:
            allowed = case.policy.document.network.allow or ()
            if network.matching(each.endpoint, allowed) is None:
                found.append(("network.allow", str(each.endpoint)))
    return list(dict.fromkeys(found))


def lacks(placed: tuple[Placed, ...], site: Site, case: Case) -> str:
    """One sentence a list that lacks entries: what else to write so that the grants hold."""
    found = beyond(placed, site, case)
    stated = {
        "paths.read": site.paths.read,
        "paths.write": site.paths.write,
        "network.allow": case.policy.document.network.allow,
    }
    sentences = [
        adding([entry for key, entry in found if key == name], name, stated.get(name) or (), case.policy.document)
        for name in dict.fromkeys(key for key, _ in found)
    ]
    return " ".join(sentences)


def _picked_uncovered(placed: Placed, grants: Grants, case: Case, servers: Sequence[Arg]) -> Finding | None:
    """Why a server that a flag picks is not covered; equal words of two flags are two servers."""
    if grants.net == "any" or any(placed.effect.arg is each for each in servers):
        return None
    flag = placed.effect.note.removeprefix(PICKED_BY)
    return _missing(
        case,
        ReasonCode.NETWORK,
        f"{flag} {placed.text} picks the server or the identity, and the rule does not name it.",
        f"Name it in the rule: `flags: {{values: {{{flag}: [{placed.text}]}}}}`.",
    )


def _net_uncovered(placed: Placed, grants: Grants, case: Case, *, names_use: bool) -> Finding | None:
    note = placed.effect.note
    if note == "configured":
        if names_use or grants.net == "any":
            return None
        return _missing(
            case,
            ReasonCode.NETWORK,
            "It would talk to a server that is configured elsewhere.",
            "Name program and subcommand in the rule, as in `git fetch`.",
        )
    endpoint = placed.endpoint
    where = str(endpoint) if endpoint is not None else placed.text or "an unknown host"
    if endpoint is None or note == "unknown":
        return _missing(
            case,
            ReasonCode.NETWORK,
            f"It would talk to {where}, and which hosts those are cannot be told.",
            "Put the program under `ask`, or name one fixed host and forbid following redirects.",
        )
    allowed = case.policy.document.network.allow or ()
    if grants.net == "policy" and network.matching(endpoint, allowed) is not None:
        return None
    return _missing(
        case,
        ReasonCode.NETWORK,
        f"It would talk to {where}, and "
        + ("that is not in `network.allow`." if grants.net == "policy" else "the rule does not grant the network."),
        f"Add `{where}` to `network.allow`."
        if grants.net == "policy"
        else f"Add `effects: {{net: policy}}` to the rule and `{where}` to `network.allow`.",
    )


def uncovered(
    placed: tuple[Placed, ...],
    grants: Grants,
    site: Site,
    case: Case,
    *,
    names_use: bool,
    servers: Sequence[Arg] = (),
) -> list[Finding]:
    """What the grants do not cover, each with the line that would; empty if they cover everything.

    Args:
        placed: the effects and where they land.
        grants: what the rule covers.
        site: where the command stands.
        case: the open case.
        names_use: whether the rule names program and subcommand, which grants the server configured for it.
        servers: values of flags that the rule names one by one, which grants the servers that they pick.
    """
    if grants.is_trusted or grants.covers_all:
        return []
    found: list[Finding] = []
    for each in placed:
        kind = each.effect.kind
        finding: Finding | None = None
        if kind is READ:
            finding = path_uncovered(each, grants.read, site, case)
        elif kind is WRITE:
            finding = path_uncovered(each, grants.write, site, case)
        elif kind is NET:
            finding = (
                _picked_uncovered(each, grants, case, servers)
                if each.effect.picks_server
                else _net_uncovered(each, grants, case, names_use=names_use)
            )
        elif kind is EffectKind.STATE:
            is_free = grants.state == "any" or each.effect.note == ASSIGNS
            finding = None if is_free else _plain(case, each, "change state", "state")
        elif kind is EffectKind.PROCESS:
            finding = None if grants.process == "any" else _plain(case, each, "act on processes or services", "process")
        elif kind is EffectKind.EXEC:
            finding = _missing(
                case,
                ReasonCode.WRAPPER,
                f"It would run something that cannot be told{_named(each)}.",
                "Put it under `ask`, or vouch for it with `effects: trusted`.",
            )
        else:
            finding = _missing(
                case,
                ReasonCode.UNKNOWN_PROGRAM,
                "What it would do is not known.",
                "Put it under `ask`, or vouch for it with `effects: trusted`.",
            )
        if finding is not None:
            found.append(finding)
    return found


def _named(placed: Placed) -> str:
    """What it is, in brackets; empty where nobody can say."""
    told = placed.text or (placed.effect.note if placed.effect.note != "unknown" else "")
    return f" ({told})" if told else ""


def _plain(case: Case, placed: Placed, what: str, key: str) -> Finding:
    detail = placed.text or placed.effect.note
    return _missing(
        case,
        ReasonCode.NO_RULE,
        f"It would {what}{f' ({detail})' if detail else ''}, and the rule does not grant that.",
        f"Add `effects: {{{key}: any}}` to the rule, or put it under `ask`.",
    )
