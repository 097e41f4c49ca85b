# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that a name gives away: ``DB_PASSWORD=…``, ``"token": "…"``, ``--password …``.

A rule starts at a sensitive word inside a name, steps over the rest of the name and the separator, and
takes the value in whatever quoting it stands. Only the value is replaced. Names that speak *about* a secret
(``TOKEN_FILE``, ``passwordPolicy``) are left alone, and so are values that are none (see ``value``).

Over 400 lines: names, separators and what is assigned are one idea; a third of it is tables of words.
"""

import re
import string
from collections.abc import Iterator
from functools import lru_cache

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.bare import MAX_NAME as _MAX_OPTION
from execkit_mcp.redaction.bare import MORE_WORDS, bare_end, bare_value
from execkit_mcp.redaction.gate import BORDER, gate_of_words
from execkit_mcp.redaction.names import ALONE, NAMES, NameRow, Trust, is_named_after, is_secret
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_wordy

_ASSIGNMENT = lazy_regex(
    r"(?P<tail>[A-Za-z0-9_.-]{0,40})"
    r"(?:(?P<type>:[ \t]{0,4}&?(?:'static )?[A-Za-z][\w<>.?\[\]|]{0,30}[ \t]{0,4}=[ \t]{0,4})(?=[\"'`])"
    r"|(?P<close>\\{0,3}[\"'`]?)(?:\]|\*{1,2})?[ \t]{0,20}(?P<sep>:=|=>|={1,2}|:(?!:)(?:\*\*)?)[ \t]{0,20}"
    r"|(?P<attr>[\"'])[ \t]{1,8}(?:\w{1,12}:)?(?:value|content)[ \t]{0,4}=[ \t]{0,4}"
    r"|(?P<tuple>,)[ \t]{0,2}(?=\"[^\"\n]*\"\})"
    r"|(?P<quote>[\"'])[ \t]{0,4}(?P<comma>,)[ \t]{0,20}(?=[\"'])"
    r"|[\"']?(?:[ \t][\w:.-]{1,40}=\"[^\"<>\n]{0,80}\"){0,4}[ \t]{0,4}(?P<xml>>)(?=[^<\n]))"
)
_ASSIGNED_GATE = (
    r"[a-z0-9_.-]*(?:\\*[\"'`]?(?:\]|\*\*?)?[ \t]*(?:(?::=|=>|==?)(?:\*\*)?[ \t]*[^ \t\n]|:(?:\*\*)?(?:[ \t]+[^ \t\n]|[^ \t:\n]))"
    r"|[\"'][ \t]+(?:[a-z0-9_?]+:)?(?:value|content)[ \t]*=[ \t]*[^ \t\n]|[\"']?(?:[ \t][a-z0-9_?:.-]+=\"[^\"<>\n]*\")*[ \t]*>[^<\n]|[\"'][ \t]*,[ \t]*[\"']|,[ \t]*\")"
)
_ENDS_A_NAME = frozenset("\n()/,;!?{}&|@#$%^+~<[")
_GOES_ON = frozenset(string.ascii_letters + string.digits + "_.-")
_OPTION_GATE = r"[a-z0-9_-]*[ \t]+[^ \t\n-]"
_SETTER = lazy_regex(
    r"(?:^|[\s#/;&|])(?:setenv|SetEnv|set -[a-zA-Z]{1,3}|set -[gxU] -[gxU]|ENV|ARG|flyctl secrets set|set)[ \t]{1,4}[\"']?[A-Za-z0-9_.-]*\Z"
)
_OPTION = lazy_regex(r"(?P<tail>[A-Za-z0-9_-]{0,24})[ \t]{1,8}(?=[^\s-])")
_WRAPPED = r"(?:(?:Some|Just|Ok|Secret|SecretStr|SecretString|SecretValue|Sensitive|Optional\.of|String|NewSecret|Password|Protected)(?:::new|::from)?\((?=[\"'])|(?:\([\w.*\[\]=]{1,40}\)[ ]?){1,2}(?=\")|0x[0-9a-f]{1,16}[ ](?=\")|(?:<[a-z]{1,10}>){1,2})?"
"""What may stand around a literal: ``Some("…")``, ``SecretStr('…')``."""
_VALUE = lazy_regex(
    _WRAPPED + r"(?:\\{1,3}\"(?P<escaped>(?:[^\"\n\\]|\\{1,7}[^\"\n\\]){1,1024}+)"
    r"|[bruf]{0,2}\"\"\"(?P<triple>[^\"\n]{1,1024})"
    r"|[bruf@$]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.){0,1024}+)"
    r"|[brufN$]{0,2}'(?P<single>(?:[^'\\\n]|\\.){0,1024}+)"
    r"|`(?P<tick>[^`\n]{1,1024})"
    r"|(?P<bare>[^\s\"'`<>|]{1,1024}+(?:[\"'`][A-Za-z0-9][^\s\"'`<>|]{0,1024}+){0,8}))"
)
_MAX_VALUE = 1024
_MAX_ELEMENT = 1 << 16
_REST = {
    "escaped": lazy_regex(r"(?:[^\"\n\\]|\\{1,7}[^\"\n\\])*+"),
    "triple": lazy_regex(r"[^\"\n]*"),
    "double": lazy_regex(r"(?:[^\"\\\n]|\\.)*+"),
    "single": lazy_regex(r"(?:[^'\\\n]|\\.)*+"),
    "tick": lazy_regex(r"[^`\n]*"),
    "bare": lazy_regex(r"[^\s\"'`<>|]*"),
}
"""What belongs to a value beyond the part that was judged."""
_ENV_REST = lazy_regex(r"\S*")
_XML_VALUE = lazy_regex(r"(?:<!\[CDATA\[)?([^<\n\]]{1,1024})")
_ABOUT_TAIL = lazy_regex(
    r"(?:^|[_.-]|s[_.-]?)(?:mgmt|normalize_form|questions?|files?|filename|paths?|dirs?|stdin|fd|too_?\w{4,8}|mismatch\w*|incorrect|forgot\w*|ur[il]|name|type|kind|counts?|length|len|size|ttl|expir\w*|timeout"
    r"|policy|hint|field|label|prompt|reset|change[ds]?|age|min|max|format|version|endpoint|host|port|user|username"
    r"|algorithm|algo|alg|region|manager|store|provider|class|scopes?|ref|arn|header|prefix|regex|pattern|required|enabled|rotation"
    r"|strength|limits?|usage|budget|used|window|bits|rounds|group|status|state|index|mode|service|server|command|cmd"
    r"|helper|mgr|env|var|accessor|stdin|cache|source|retain|delimiter|location|variable|params?|parameters?|property|attribute|column|input|button|title|message|msg|desc|description|help|tooltip|placeholder|encoding|encryption|lifetime|duration|interval|created|updated|validation|validator|authentication"
    r"|(?:\w{1,20}\.)?(?:go|py|js|ts|tsx|vue|rb|rs|java|cpp|md|ya?ml|json|sh|php|cs|kt|enc|gpg|asc|zip|tgz|csv|lock|log)|iz\w+|ise[rd]?|maps?|methods?|per_\w+|issuer|audience|fingerprint|public|pub)$"
    r"|\.(?:confirm|errors?|invalid|wrong|short|long|weak|strong|empty|missing|success|submit|cancel|warning|link|repeat|again|rules?|toggle|update|updated|send|sent|save|saved|edit|caption|heading|subtitle|note|ok|blank|common|button|throttled)(?:[._-]\w+)*$",
    re.IGNORECASE,
)
_ABOUT_CAMEL = lazy_regex(
    r"(?:File|Path|Dir|Url|Uri|URL|Name|Type|Count|Length|Size|Ttl|TTL|Expir\w*|Timeout|Policy|Hint|Field|Label|Format"
    r"|Version|Endpoint|Host|Port|User|Username|Manager|Store|Provider|Class|Scopes?|Ref|Arn|Header|Prefix|Pattern"
    r"|Required|Enabled|Rotation|Limit|Usage|Status|State|Mode|Service|Env|Lifetime|Duration|Interval|Prevention|Used"
    r"|Of|Changed|Lengths|Flags|Decode|Requirements?|Settings?|Resource|Arguments?|Job|Worker|Task|Handler|Controller|Filter|Middleware|Interceptor|Repository|Factory|Builder"
    r"|Helper|Utils?|Tests?|Spec|Exception|Error|Impl|Config|Configuration|Generator|Validator|Parser|Dto|DTO|Module|Component|View|Form|Event|Listener|Cache|Encoder"
    r"|Guard|Strategy|Adapter|Converter|Serializer|Migration|Scanner|Plugin|Grant|Subentry|LastSet|Time|Date|Attempts?|Failures?|Lockout|Quality|Accessor|CheckValue|Ciphertext\w*|KeySpec|Spec|Variable|Var|Params?|Parameters?|Property|Attribute|Column|Input|Button|Title|Message|Msg|Desc|Description|Help|Tooltip|Placeholder)$"
    r"|^sId$|^(?:Policy|Last|Expir|Changed|Reset|Min|Max)[A-Z]\w*$"
)
_OF_DIGEST = lazy_regex(r"(?i:hash|digest|checksum)(?:[_-]?(?i:sha[_-]?\d{1,3}|md5|hex|b64|base64))?$")
"""What ends the name of the digest of a secret."""
_ARROW = lazy_regex(r"\"[ \t]{1,4}->[ \t]{1,4}\"([^\"\n]{1,4096})")
_ENV_NAME = lazy_regex(r"(?:\A|\n)[A-Z][A-Z0-9_]*\Z")
_DESCRIBES = lazy_regex(r"[\"'(\[]?[A-Za-z][A-Za-z'-]{0,20}[\"')\],:.]{0,2}[ \t]+[A-Za-z(\"'<\[]")
_PASSES = lazy_regex(
    r"(?i:first|second|third|multi|single|two|one|render|compute|shader|depth|shadow|next|last|each|main|pre|post|sub|by|com)[_-]?\Z"
)
_PUBLIC = lazy_regex(r"(?i:public[ _-]?(?:key[ _-]?)?|existing[_-]?|(?<![a-z])lib)\Z")
_CURSORS = (
    "next", "forward", "backward", "sequence", "page", "batch", "prev", "previous", "starting", "marker", "continuation", "pagination", "idempotency", "cancel", "cancellation",
    "initial_cluster", "initial-cluster", "sync", "resume", "cursor", "lock", "update", "clientrequest", "client_request", "client-request", "lifecycle-action", "copyproduct", "copy-product", "bos", "eos", "pad", "unk", "mask",
)  # fmt: skip
"""What stands before ``token`` where everybody may know it."""
_PAGES = ("page ", "continuation ", "pagination ")
_TYPE_NAME = lazy_regex(r"::[A-Za-z0-9:]{0,60}\Z")
_SHORT_WORD = 4
_SHORT_HEAD = 12
_RESOURCE = lazy_regex(r"[A-Za-z0-9]:\Z")
_DEFINE = lazy_regex(
    r"(?:define|putenv|setenv|ini_set|config|setting|option|set|put|add|VALUES|,|^|\[)[ \t]{0,4}\([ \t]{0,4}[\"'][\w.-]{0,40}\Z"
)
_OPTION_IN_QUOTES = lazy_regex(r"[\"']-{1,2}[\w.-]{0,40}\Z")
_PAIR_END = lazy_regex(r"[\"'][ \t]{0,4}\)")
_NUMBERED = lazy_regex(r"[a-z]\d{3,}\Z|[^\w]")
_QUOTES = {"double": '"', "single": "'"}
_MIN_GENERATED = 12
_KEY_END = lazy_regex(r"[\"']?[ \t]{0,4}:")
FOLDER = ("PWD=/", 'PWD="/', "PWD='/")  # and OLDPWD: where a shell stands


def _after_comma(text: str, at: int, end: int, row: NameRow, found: re.Match[str]) -> Iterator[Span]:
    """``define('DB_PASSWORD', 'value')``: only values in quotes, and none that continues a list of names."""
    value = _VALUE.match(text, found.end(), end)
    inside = (value["double"] or value["single"] or "") if value is not None else ""
    if value is not None and _KEY_END.match(text, value.end(), end) is not None:
        return  # "https://…/token","jwks_uri":
    is_pair = (
        value is not None
        and _NUMBERED.search(inside) is not None
        and _PAIR_END.match(text, value.end(), end) is not None
        and _DEFINE.search(text[max(0, at - 2 * _MAX_OPTION) : at]) is not None
    )
    is_option = _OPTION_IN_QUOTES.search(text[max(0, at - _MAX_OPTION) : at]) is not None
    if (
        value is not None
        and (is_pair or is_option or not is_named_after(inside, row.trust))
        and is_secret(inside, row.trust, found["tail"], is_quoted=True)
    ):
        group = str(value.lastgroup)
        first, last = value.span(group)
        last = _whole(text, first, last, end, group)
        yield Span(first, last, row.kind, text[first:last], Priority.STRUCTURE)


def _whole(text: str, start: int, stop: int, end: int, group: str) -> int:
    """Where the value that starts at ``start`` really ends, if it is longer than what is judged."""
    if stop - start < _MAX_VALUE:
        return stop
    rest = _REST[group].match(text, stop, end)
    return stop if rest is None else rest.end()


def _in_element(text: str, start: int, end: int, row: NameRow, tail: str) -> Iterator[Span]:
    """``<password>value</password>``."""
    inner = _XML_VALUE.match(text, start, end)
    if inner is None:
        return
    start, stop = inner.span(1)
    if stop - start >= _MAX_VALUE:
        stop = text.find("<", stop, min(end, stop + _MAX_ELEMENT))
        if stop < 0:
            return
    if text.startswith(("<a ", "<link "), text.rfind("<", 0, start)):
        return
    is_word = inner[1].isalpha() and text[start - 2 : start - 1] in {'"', "'"}  # <span class="token">text
    if text.startswith("</", stop) and not is_word and is_secret(inner[1], row.trust, tail, is_quoted=True):
        yield Span(start, stop, row.kind, text[start:stop], Priority.STRUCTURE)


def _opens_before(text: str, at: int, quote: str) -> bool:
    """Whether ``quote`` opens right before the name that holds the word at ``at``."""
    first = at
    while first > 0 and at - first < _MAX_OPTION and (text[first - 1].isalnum() or text[first - 1] in "-_."):
        first -= 1
    return text.startswith(quote, first - 1) if first else False


def _is_key_of_another(text: str, at: int, end: int, found: re.Match[str], *, is_bare: bool) -> bool:
    """Whether what follows a colon is a name with a value of its own, or the rest of one name."""
    if found["sep"] != ":":
        return False
    if found["close"] and _BINDS.match(text, found.end(), end) is not None:
        return True  # <Field v-model="form.password" :error="…">
    is_glued = is_bare and found.end() == found.end("sep")  # "api-key: b1c2…" is a header
    return is_glued and _KEPT_UNDER.match(text, found.end(), end) is not None and _opens_before(text, at, '"')


def _assigned(text: str, at: int, end: int, row: NameRow, found: re.Match[str]) -> Iterator[Span]:
    """``NAME=value`` and its many relatives."""
    value = _VALUE.match(text, found.end(), end)
    if value is None:
        return
    group = str(value.lastgroup)
    start, stop = value.span(group)
    if group == "tick" and " " in value["tick"]:
        return  # `cat file`
    if group in _QUOTES and found["sep"] == ":" and not found["close"] and _opens_before(text, at, _QUOTES[group]):
        return  # the "Password:" prompt
    if _is_key_of_another(text, at, end, found, is_bare=group == "bare"):
        return
    if group == "bare":
        bounds = bare_value(text, at, (start, stop, end), row.trust, found)
        if bounds is None:
            return
        start, stop = bounds
    if is_secret(text[start:stop], row.trust, found["tail"], is_quoted=group != "bare", kind=row.kind):
        stop = _whole(text, start, stop, end, group)
        if (
            group == "bare"
            and found["sep"] == "="
            and _ENV_NAME.search(text, max(0, at - _MAX_OPTION), found.start("tail"))
        ):
            rest = _ENV_REST.match(text, stop, end)  # a line of an environment: nothing in it is quoting
            stop = rest.end() if rest is not None else stop
        yield Span(start, stop, row.kind, text[start:stop], Priority.STRUCTURE)
        yield from _concatenated(text, stop, end, row.kind)
        arrow = _ARROW.match(text, stop, end)  # a plan of changes: "old" -> "new"
        if arrow is not None:
            yield Span(*arrow.span(1), row.kind, arrow[1], Priority.STRUCTURE)


_NEXT_LITERAL = lazy_regex(r"[\"'][ \t]{0,4}(?:[+.&][ \t]{0,4})?[\"'](?P<more>[^\"'\n]{3,1000})(?=[\"'])")
_MOST_LITERALS = 8


def _concatenated(text: str, stop: int, end: int, kind: str) -> Iterator[Span]:
    """The other parts of a literal that is written in several: ``"…" + "…"``."""
    for _ in range(_MOST_LITERALS):
        found = _NEXT_LITERAL.match(text, stop, end)
        if found is None or not any(map(str.isalnum, found["more"])):
            return
        yield Span(*found.span("more"), kind, found["more"], Priority.STRUCTURE)
        stop = found.end()


_BINDS = lazy_regex(r"[a-z][a-z-]{0,30}=\"")
OF_GIT = lazy_regex(
    r"(?:(?<=user\.)signingkey[ \t]{0,4}=?[ \t]{0,4}|(?<![\w.-])signingkey(?: = ?| ))"
    r"[\"']?(?:0x)?(?:[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{40}|[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{40})!?(?=[\s\"']|\Z)"
)
"""The id of the key that git signs with."""
_KEPT_UNDER = lazy_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\"")
_FIELDS = ("id=", "type=", "src=", "source=", "name=", "file=")


def _is_no_argument(text: str, start: int, stop: int, end: int) -> bool:
    """Whether what follows an option only tells of its value.

    --password-stdin    Take it from stdin         --secret id=npmrc,src=…         -Password (Read-Host …)
    """
    return (
        text.startswith(_FIELDS, start)
        or (text[start - 2 : start].isspace() and _DESCRIBES.match(text, start, end) is not None)
        or (text[start] == "(" and ")" not in text[start:stop] and text.find(")", stop, end) >= 0)
    )


def _option(text: str, at: int, after: int, end: int, row: NameRow) -> Iterator[Span]:
    """``--password VALUE``: the name must be an option, the value the next word; also ``ENV DB_PASSWORD value``."""
    head = text[max(0, at - 2 * _MAX_OPTION) : at]
    is_set = ("set" in head or "Set" in head or "ENV" in head or "ARG" in head) and _SETTER.search(head) is not None
    if not is_set and text.find("-", max(0, at - _MAX_OPTION), at) < 0:
        return
    found = _OPTION.match(text, after, end)
    if (
        found is None
        or _ABOUT_TAIL.search(found["tail"])
        or (row.trust in ALONE and found["tail"])
        or is_public(text, at)
    ):
        return
    name_start = at
    while (
        name_start > 0
        and at - name_start < _MAX_OPTION
        and (text[name_start - 1].isalnum() or text[name_start - 1] in "-_")
    ):
        name_start -= 1
    is_option = is_set or (
        text.startswith("-", name_start) and (name_start == 0 or text[name_start - 1] in " \t\n\"'([,")
    )
    if not is_option:
        return
    value = _VALUE.match(text, found.end(), end)
    if value is None:
        return
    group = str(value.lastgroup)
    start, stop = value.span(group)
    if group == "bare":
        stop = bare_end(text, start, stop, at)
        if _is_no_argument(text, start, stop, end) or (
            is_set and text[start:stop].isalpha() and MORE_WORDS.match(text, stop, end) is not None
        ):
            return  # a sentence: set the password if …
    is_given = row.trust is Trust.SECRET and "=" not in text[start:stop] and any(c.isdigit() for c in text[start:stop])
    trust = Trust.PASSWORD if row.kind == "password" else Trust.SECRET if is_given else Trust.TOKEN
    tail = "id" if found["tail"].lower().endswith("id") else ""
    if is_secret(text[start:stop], trust, tail, is_quoted=group != "bare", kind=row.kind):
        stop = _whole(text, start, stop, end, group)
        yield Span(start, stop, row.kind, text[start:stop], Priority.STRUCTURE)


@lru_cache(maxsize=1024)
def speaks_about(tail: str, *, is_password: bool) -> bool:
    """Whether a name with ``tail`` after its word speaks about a secret instead of holding one."""
    if not tail:
        return False
    if _ABOUT_TAIL.search(tail) or _ABOUT_CAMEL.search(tail):
        return True
    return not is_password and _OF_DIGEST.search(tail) is not None


def is_type_name(text: str, at: int) -> bool:
    """Whether the word at ``at`` is part of the name of a kind of thing: AWS::IAM::AccessKey."""
    found = _TYPE_NAME.search(text[max(0, at - 2 * _MAX_OPTION) : at])
    return (
        found is not None and (found[0].rpartition("::")[2] or text[at])[0].isupper()
    )  # profile::db::password is none


def _is_cursor(head: str) -> bool:
    """Whether a token with ``head`` before its word pages, locks or makes a request idempotent."""
    if head.endswith(("Client", "client", "-client-")):
        return True
    low = head.lower().rstrip("_-")
    if low.endswith(_PAGES):
        return True
    return low.endswith(_CURSORS) and not low.endswith("unlock")


def is_public(text: str, at: int) -> bool:
    """Whether the word at ``at`` is part of another name: PublicKeyToken, existingSecret, first_pass."""
    first = max(0, at - _SHORT_HEAD)
    is_turn = text[at : at + 5].lower().rstrip("=: \t\"'") == "pass" and _PASSES.search(text, first, at) is not None
    if text[at : at + 5].lower() == "token" and _is_cursor(text[max(0, at - 2 * _SHORT_HEAD) : at]):
        return True
    if text.startswith("secret", at) and text.endswith("hashed_", first, at):
        return True  # of a baseline of secrets
    return is_turn or _PUBLIC.search(text, first, at) is not None


def _is_no_name(text: str, at: int, after: int, found: re.Match[str]) -> bool:
    """Whether the word at ``at`` is part of something that only looks like a name."""
    tail = found["tail"]
    is_type = text.rfind("::", max(0, at - _MAX_OPTION), at) >= 0 and is_type_name(text, at)
    is_of_git = found["sep"] == "=" and OF_GIT.match(text, at) is not None
    if is_type or is_of_git or text.startswith(FOLDER, at):
        return True
    is_short = after - at < _SHORT_WORD  # AppPropsWithLayout
    if (is_short and not (text[at:after].islower() or text[at:after].isupper() or text[at].isupper())) or is_public(
        text, at
    ):
        return True
    if found["tuple"]:
        return not _opens_before(text, at, "{")  # {password,"value"}
    if found["sep"] == ":":
        if text[after : after + 1] == ":" and _RESOURCE.search(text, max(0, at - 2), at):
            return True  # arn:…:secret:prod/db
        is_asked = text.startswith("?", found.end()) and text.rfind("${", max(0, at - _MAX_OPTION), at) >= 0
        first = max(0, at - 2 * _MAX_OPTION)
        if is_asked or text.rfind("{{resolve:", first, at) >= 0 or text.rfind("${file:", first, at) >= 0:
            return True  # ${PASSWORD:?missing}, {{resolve:secretsmanager:…:SecretString:field}}, ${file:/secrets:field}
    # the name of a digest, or a word inside an identifier that was made at random
    return text.endswith("checksum/", 0, at) or (len(tail) > _MIN_GENERATED and tail.isalnum() and not is_wordy(tail))


def _assignment_rule(row: NameRow) -> Rule:
    ends = _ENDS_A_NAME | _GOES_ON if row.trust in ALONE else _ENDS_A_NAME

    def look(text: str, at: int, after: int, end: int) -> Iterator[Span]:
        if text[after : after + 1] in ends:
            return
        found = _ASSIGNMENT.match(text, after, end)
        if found is None:
            yield from _option(text, at, after, end, row)
            return
        tail = found["tail"]
        if (
            (tail and row.trust in ALONE)
            or speaks_about(tail, is_password=row.trust is Trust.PASSWORD)
            or _is_no_name(text, at, after, found)
        ):
            return
        if found["comma"]:
            yield from _after_comma(text, at, end, row, found)
        elif found["xml"]:
            yield from _in_element(text, found.end(), end, row, tail)
        else:
            yield from _assigned(text, at, end, row, found)

    def gates() -> tuple[str, ...]:
        words = gate_of_words(row.words)
        border = BORDER if row.trust in ALONE else ""
        return (
            f"{border}{words}{_ASSIGNED_GATE}",
            f"-[a-z0-9_?-]*{words}{_OPTION_GATE}",
            f"(?:set|env|arg)[^\\n]*[ \\t][\"']?[a-z0-9_.-]*{words}{_OPTION_GATE}",
        )

    return Rule(
        name=f"name:{row.kind}",
        keywords=row.words,
        look=look,
        gate=gates,
        is_glued=row.trust not in ALONE,
        is_wide=True,
        is_behind=row.trust not in ALONE,
    )


RULES: tuple[Rule, ...] = tuple(_assignment_rule(row) for row in NAMES)
