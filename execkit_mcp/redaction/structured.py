# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that a name gives away: ``DB_PASSWORD=…``, ``"token": "…"``, ``--password …``.

A rule starts at a sensitive word inside a name, steps over the rest of the name and the separator, and
takes the value in whatever quoting it stands. Only the value is replaced. Names that speak *about* a secret
(``TOKEN_FILE``, ``passwordPolicy``) are left alone, and so are values that are none (see ``value``).
"""

import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_identifier, is_placeholder, is_random, is_reference


class _Trust(Enum):
    """How much a name says about its value."""

    PASSWORD = "password"  # noqa: S105 - any value counts
    TOKEN = "token"  # noqa: S105 - a value of some length counts
    HINT = "hint"  # the name must stand alone, the value must be of some length


class NameRow(Struct, frozen=True, kw_only=True):
    """Words that make a name sensitive, the kind they give to the value, and an example of such a line."""

    kind: str
    words: tuple[str, ...]
    trust: _Trust
    example: str  # {} is where the value goes
    counter_example: str


NAMES: tuple[NameRow, ...] = (
    NameRow(
        kind="password",
        words=("password", "passwd", "passphrase", "passwort", "pwd", "passcode"),
        trust=_Trust.PASSWORD,
        example="DB_PASSWORD={}",
        counter_example="PASSWORD_FILE=/run/secrets/db",
    ),
    NameRow(
        kind="secret",
        words=("secret", "credential", "preshared", "pre-shared-key", "client-key-data"),
        trust=_Trust.TOKEN,
        example='"client_secret": "{}"',
        counter_example="secretName: web-tls",
    ),
    NameRow(
        kind="token",
        words=("token", "refresh_tok", "csrf", "xsrf", "jwt"),
        trust=_Trust.TOKEN,
        example="  token: {}",
        counter_example="max_tokens: 4096",
    ),
    NameRow(
        kind="api_key",
        words=("apikey", "api_key", "api-key", "api key", "app_key", "appkey", "dd-application-key", "license_key"),
        trust=_Trust.TOKEN,
        example="apikey = '{}'",
        counter_example="api_key = os.environ['API_KEY']",
    ),
    NameRow(
        kind="key",
        words=(
            *(f"{word}{gap}key" for gap in ("_", "-", "", " ") for word in (
                "access", "auth", "encryption", "signing", "master", "account", "shared", "service", "deploy", "storage",
                "security", "admin", "hmac", "session", "webhook", "fernet", "subscription", "private",
            )),
        ),
        trust=_Trust.TOKEN,
        example="ENCRYPTION_KEY={}",
        counter_example="private_key: ~/.ssh/id_ed25519",
    ),
    NameRow(
        kind="session",
        words=("sessionid", "session_id", "session-id", "sessid", "connect.sid", "session_cookie", "remember_token"),
        trust=_Trust.TOKEN,
        example="PHPSESSID={}",
        counter_example="session_id: main",
    ),
    NameRow(
        kind="signature",
        words=("x-amz-signature", "x-goog-signature", "signature", "sig"),
        trust=_Trust.HINT,
        example="https://store.example.com/a?se=2030&sig={}",
        counter_example="signature = verify",
    ),
    NameRow(
        kind="password",
        words=("pass", "pw", "psk", "_authtoken", "auth", "_auth", "sid", "bindpw", "userpw", "rootpw", "keypass",
               "storepass", "authpass"),
        trust=_Trust.HINT,
        example="DB_PASS={}",
        counter_example="pass: 12",
    ),
)  # fmt: skip

_ASSIGNMENT = re.compile(
    r"(?P<tail>[A-Za-z0-9_.-]{0,40})"
    r"(?:(?P<close>\\{0,3}[\"'`]?)\]?[ \t]{0,20}(?P<sep>:=|=>|={1,2}|:(?!:))[ \t]{0,20}"
    r"|(?P<attr>[\"'])[ \t]{1,8}(?:value|content)[ \t]{0,4}=[ \t]{0,4}"
    r"|(?P<xml>>)(?=[^<\n]{1,4000}</))"
)
_OPTION = re.compile(r"(?P<tail>[A-Za-z0-9-]{0,24})[ \t]{1,8}(?=[^\s-])")
_VALUE = re.compile(
    r"(?:\\{1,3}\"(?P<escaped>[^\"\n\\]{1,4000})"
    r"|[bru]{0,2}\"\"\"(?P<triple>[^\"\n]{1,4000})"
    r"|[bru@$]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.){0,4000}+)(?:\"|$)"
    r"|[bru$]{0,2}'(?P<single>(?:[^'\\\n]|\\.){0,4000}+)(?:'|$)"
    r"|(?P<bare>[^\s\"'`<>|]{1,4000}))"
)
_XML_VALUE = re.compile(r"(?:<!\[CDATA\[)?([^<\n\]]{1,4000})")
_ABOUT_TAIL = re.compile(
    r"(?:^|[_.-]|s[_.-]?)(?:file|filename|path|dir|ur[il]|name|type|kind|counts?|length|len|size|ttl|expir\w*|timeout"
    r"|policy|hint|field|label|prompt|reset|change[ds]?|age|min|max|format|version|endpoint|host|port|user|username"
    r"|algorithm|alg|manager|store|provider|class|scopes?|ref|arn|header|prefix|regex|pattern|required|enabled|rotation"
    r"|strength|limits?|usage|budget|used|window|bits|rounds|group|status|state|index|mode|service|server|command|cmd"
    r"|helper|env|var|encoding|lifetime|duration|interval|created|updated|validation|validator|authentication"
    r"|methods?|per_\w+|issuer|audience|fingerprint|public|pub)$",
    re.IGNORECASE,
)
_ABOUT_CAMEL = re.compile(
    r"(?:File|Path|Dir|Url|Uri|URL|Name|Type|Count|Length|Size|Ttl|TTL|Expir\w*|Timeout|Policy|Hint|Field|Label|Format"
    r"|Version|Endpoint|Host|Port|User|Username|Manager|Store|Provider|Class|Scopes?|Ref|Arn|Header|Prefix|Pattern"
    r"|Required|Enabled|Rotation|Limit|Usage|Status|State|Mode|Service|Env|Lifetime|Duration|Interval)$"
)
_ID_TAIL = re.compile(r"(?:[_.-]?id|Id|ID)$")
_QUERY_NAME = re.compile(r"[?&][\w.%-]*\Z")
_NEXT_PAIR = re.compile(r"[;,](?=[\w.-]{1,40}[=:])")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_NUMBER = re.compile(r"[-+]?\d[\d.,_]*(?:ms|s|m|h|d|[kKMG]?i?B?|%)?")
_MORE_WORDS = re.compile(r"[ \t]+[^\s#,;/\"'})\]]")
_MIN_TOKEN_CHARS = 6
_MAX_OPTION = 40
_MIN_KEY_DIGITS = 12


def _bare_end(text: str, start: int, end: int, name_at: int) -> int:
    """Where the unquoted value that starts at ``start`` ends."""
    value = text[start:end]
    if _QUERY_NAME.search(text, max(0, name_at - 64), name_at):
        value = re.split(r"[&#;]", value, maxsplit=1)[0]
    pair = _NEXT_PAIR.search(value)
    if pair is not None:
        value = value[: pair.start()]
    while value and (value[-1] in ",;" or (value[-1] in _CLOSERS and _CLOSERS[value[-1]] not in value)):
        value = value[:-1]
    return start + len(value)


def is_secret(value: str, trust: _Trust, tail: str, *, is_quoted: bool) -> bool:  # noqa: PLR0911 - a list of reasons
    """Whether ``value``, assigned to a sensitive name that ends in ``tail``, is to be hidden."""
    if not value or is_placeholder(value):
        return False
    if is_reference(value) and not (
        is_quoted and trust is _Trust.PASSWORD and "://" not in value and value[0] not in "/~."
    ):
        return False
    if _ID_TAIL.search(tail):
        return is_random(value)
    if trust is _Trust.PASSWORD:
        return not (tail.lower().startswith("s") and _NUMBER.fullmatch(value))
    if len(value) < _MIN_TOKEN_CHARS or " " in value.strip():
        return False
    if _NUMBER.fullmatch(value) and len(value) < _MIN_KEY_DIGITS:
        return False
    return is_quoted or trust is not _Trust.HINT or not value.isalpha()


def _assignment_rule(row: NameRow) -> Rule:  # noqa: C901 - one reading of one name
    def look(text: str, at: int, after: int, end: int) -> Iterator[Span]:  # noqa: C901, PLR0911 - as above
        if row.trust is _Trust.HINT and at and (text[at - 1].isalnum()):
            return
        found = _ASSIGNMENT.match(text, after, end)
        if found is None:
            yield from _option(text, at, after, end)
            return
        tail = found["tail"]
        if tail and (row.trust is _Trust.HINT or _ABOUT_TAIL.search(tail) or _ABOUT_CAMEL.search(tail)):
            return
        if found["xml"]:
            inner = _XML_VALUE.match(text, found.end(), end)
            if inner is not None and is_secret(inner[1], row.trust, tail, is_quoted=True):
                yield Span(inner.start(1), inner.end(1), row.kind, inner[1], Priority.STRUCTURE)
            return
        value = _VALUE.match(text, found.end(), end)
        if value is None:
            return
        group = str(value.lastgroup)
        start, stop = value.span(group)
        is_quoted = group != "bare"
        if not is_quoted:
            stop = _bare_end(text, start, stop, at)
            is_spaced = found["sep"] is not None and found.end() > found.end("sep")
            if is_spaced and found["sep"] == ":" and _MORE_WORDS.match(text, stop, end):
                return  # a sentence: "password: must be changed"
            if is_spaced and found["sep"] != ":" and is_identifier(text[start:stop]):
                return  # code: token = auth_token
        if is_secret(text[start:stop], row.trust, tail, is_quoted=is_quoted):
            yield Span(start, stop, row.kind, text[start:stop], Priority.STRUCTURE)

    def _option(text: str, at: int, after: int, end: int) -> Iterator[Span]:
        """``--password VALUE``: the name must be an option, the value the next word."""
        found = _OPTION.match(text, after, end)
        if found is None or _ABOUT_TAIL.search(found["tail"]) or (row.trust is _Trust.HINT and found["tail"]):
            return
        name_start = at
        while (
            name_start > 0
            and at - name_start < _MAX_OPTION
            and (text[name_start - 1].isalnum() or text[name_start - 1] in "-_")
        ):
            name_start -= 1
        is_option = text.startswith("-", name_start) and (name_start == 0 or text[name_start - 1] in " \t\n\"'([,")
        if not is_option:
            return
        value = _VALUE.match(text, found.end(), end)
        if value is None:
            return
        group = str(value.lastgroup)
        start, stop = value.span(group)
        if group == "bare":
            stop = _bare_end(text, start, stop, at)
        trust = _Trust.PASSWORD if row.trust is _Trust.PASSWORD else _Trust.TOKEN
        if is_secret(text[start:stop], trust, "", is_quoted=group != "bare"):
            yield Span(start, stop, row.kind, text[start:stop], Priority.STRUCTURE)

    return Rule(name=f"name:{row.kind}", keywords=row.words, look=look, is_wide=True)


RULES: tuple[Rule, ...] = tuple(_assignment_rule(row) for row in NAMES)
