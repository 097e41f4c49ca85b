# ruff: noqa: E501 - a pattern stands in one piece
r"""Lines of a table that are named by their first cell, and commands that are given many secrets at once.

    secret_id      6779376b-ef3d-…            vault kv put secret/app db_pass=… api=…
    DB_PASS        secret   …                 kubectl create secret generic db --from-literal=password=…
    api_key      | …

The name is a sensitive one, the cell looks made; without a name (in a store of secrets) the value must look made too.
"""

from collections.abc import Iterator

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.commands import is_chosen, is_made, is_pair, is_said
from execkit_mcp.redaction.gate import gate_of_words
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_date, is_mingled, is_placeholder, is_random, is_reference, is_wordy
from execkit_mcp.redaction.words import GATE, NAMED

_WORDS = ("password", "passwd", "passphrase", "_pass", "_pwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "access key", "api key", "private_key", "_key", "_pw", "accesskey", "privatekey", "encryptionkey", "masterkey", "adminpass", "rootpass", "dbpass", "userpass")  # fmt: skip
_NAME = lazy_regex(r"[ \t]{0,12}(?:[|\u2502][ \t]{0,8})?[\"'*`]{0,2}[A-Za-z][\w.-]{0,60}(?: [Kk]ey)?[\"'*`]{0,2}\Z")
_REST_OF_NAME = lazy_regex(r"(?P<tail>[\w.-]{0,20})[\"'*`]{0,2}(?:[ \t]{0,60}[|\u2502]|\t| {2,80}(?=\S))")
_ABOUT = lazy_regex(r"(?i:file|path|name|type|url|accessor|duration|policies|renewable|ttl|version|count|id)\Z|s\Z")
_CELL = lazy_regex(r"[ \t|\u2502]{0,80}(?P<cell>[^\s|\u2502]{1,4096})")
_MOST_CELLS = 6
_MIN_CHARS = 8
_NUMBERED = lazy_regex(r"[A-Za-z]{3,40}\d{3,8}")
_UUID = lazy_regex(r"(?P<prefix>[A-Za-z][\w.:/-]*[-_.:/])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEY_ID = lazy_regex(r"[A-Z0-9]{16,24}")
_IMAGE = lazy_regex(
    r"[\w.-]+(?:/[\w.-]+)+(?::[\w.-]+)?|[\w.-]+:[\w.-]+|\d[\d.,]*\w{0,3}|[\w.-]+\.(?:ya?ml|json|py|go|ts|js|rs|md|sh|txt|conf|toml|key|pem)"
)


def _is_cell_secret(value: str, name: str) -> bool:
    if (
        len(value) < _MIN_CHARS
        or is_placeholder(value)
        or is_reference(value)
        or is_date(value)
        or is_pair(value)
        or _IMAGE.fullmatch(value)
        or (_KEY_ID.fullmatch(value) and "access" in name and "secret" not in name)
    ):
        return False
    uuid = _UUID.fullmatch(value)
    if uuid is not None:
        return "secret" in name and not uuid["prefix"]  # consumer-1-b1c2…
    if is_random(value) and not is_wordy(value):
        return not value.replace("-", "").isalnum() or any(c.isupper() for c in value) or len(value) > 24  # noqa: PLR2004 - names of pods
    if "pass" in name and _NUMBERED.fullmatch(value) is not None:
        return True
    if is_mingled(value):
        return True
    return is_made(value) and ("pass" in name or not is_wordy(value)) and value.count("-") < 2  # noqa: PLR2004


def _cells(text: str, at: int, after: int, end: int) -> Iterator[Span]:
    start = text.rfind("\n", 0, at) + 1
    if at - start > 80 or text[start : start + 4] in {"drwx", "-rw-", "lrwx"}:  # noqa: PLR2004 - a first cell
        return
    rest = _REST_OF_NAME.match(text, after, end)
    if (
        rest is None
        or _NAME.match(text[start:at] + "x") is None
        or (_ABOUT.search(rest["tail"]) and text[at : rest.end("tail")].lower() != "secret_id")
    ):
        return
    name = text[start : rest.end("tail")].lower()
    position = rest.end()
    for _ in range(_MOST_CELLS):
        cell = _CELL.match(text, position, end)
        if cell is None:
            return
        position = cell.end()
        value = cell["cell"].strip("`*'\"")
        if value and _is_cell_secret(value, name):
            first = cell.start("cell") + cell["cell"].index(value)
            yield Span(first, first + len(value), "secret", value, Priority.STRUCTURE)
            return


_STORES = (
    "kv put ",
    "kv patch ",
    "vault write ",
    "secrets set ",
    "--from-literal",
    "secret put ",
    "secrets put ",
    "secrets import ",
    "variables set ",
    "variables --set ",
)
_STORED = lazy_regex(
    r"(?:[\"']?(?P<name>[A-Za-z_][\w.-]{0,80})=)(?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'|(?P<bare>[^\s\"'|;&]{1,4096}))|[^\s\"']{1,400}[\"']?"
)
_BLANKS = lazy_regex(r"[ \t=]{1,8}[\"']?")
_OPEN_NAMES = lazy_regex(
    r"(?i:user(?:name)?|login|host(?:name)?|port|url|endpoint|region|email|mail|db(?:_?name)?|database|name|type|policies|ttl|\w*_ttl|period|path|key_type|format|version|env|environment|node_env|debug|log_level|driver|ca|cert|bound_\w+|role_?\w*|allowed_\w+|max_\w+|default_\w+|creation_statements|plugin_name|connection_url)"
)
_MOST_STORED = 40


_MIN_PIN = 4


def _stored(text: str, at: int, after: int, end: int) -> Iterator[Span]:
    """Each ``NAME=value`` that a store of secrets is given."""
    position = after
    is_literal = text.startswith("--from-literal", at)
    for _ in range(1 if is_literal else _MOST_STORED):
        gap = _BLANKS.match(text, position, end)
        found = _STORED.match(text, gap.end() if gap is not None else position, end)
        if found is None or text[found.start()] in "|;&":
            return
        position = found.end() + (found["double"] is not None or found["single"] is not None)
        group = found.lastgroup
        if found["name"] is None or group is None or _OPEN_NAMES.fullmatch(found["name"]):
            continue
        value = found[group]
        if (
            not is_placeholder(value.strip("`'\""))
            and not is_reference(value)
            and value[0] not in "@$-"
            and (any(c.isdigit() for c in value) or not value.isalpha())
            and not (value.isdigit() and len(value) < _MIN_PIN)  # a count
        ):
            yield Span(*found.span(group), "secret", value, Priority.STRUCTURE)


_DATA = lazy_regex(
    r"\"(?P<name>[\w.-]{1,80})\"[ \t]{0,4}:[ \t]{0,4}\"(?P<value>[A-Za-z0-9+/]{4,65536}={0,2})\",?[ \t]{0,4}"
)
_OF_SECRET = lazy_regex(r"\"kind\"[ \t]{0,4}:[ \t]{0,4}\"Secret\"")
_ANOTHER = lazy_regex(r"\"data\": ?\{")
_MAX_OBJECT = 1 << 16
_MAX_HEAD = 400


def _data(text: str, at: int, after: int, end: int) -> Iterator[Span]:
    """``"data": {…}`` of a Kubernetes secret that stands on one line."""
    start, stop = max(0, at - _MAX_HEAD), min(end, after + _MAX_OBJECT)
    another = _ANOTHER.search(text, after, stop)  # what follows it is its own
    stop = another.start() if another is not None else stop
    if _OF_SECRET.search(text, max(text.rfind("\n", start, at) + 1, start), stop) is None:
        return
    while (found := _DATA.match(text, after, end)) is not None:
        after = found.end()
        yield Span(*found.span("value"), "secret", found["value"], Priority.STRUCTURE)


_PAIR = lazy_regex(
    r"\"(?P<name>[\w.-]{1,80})\"[ \t]{0,4}:[ \t]{0,4}(?:\"(?P<value>[^\"\\\n]{0,4096})\"|[\w.-]{1,40}),?[ \t]{0,4}"
)


def _store(text: str, _at: int, after: int, end: int) -> Iterator[Span]:
    """``{"data": {"data": {…}`` of a store of secrets: what looks made."""
    while (found := _PAIR.match(text, after, end)) is not None:
        after = found.end()
        value = found["value"]
        if value and _OPEN_NAMES.fullmatch(found["name"]) is None and _is_cell_secret(value, found["name"].lower()):
            yield Span(*found.span("value"), "secret", value, Priority.STRUCTURE)


_JWK = lazy_regex(r"\"kty\"[ \t]{0,4}:[ \t]{0,4}\"(?:oct|RSA|EC|OKP)\"")
_JWK_MEMBER = lazy_regex(r"\\?\"(?:k|d|p|q|dp|dq|qi)\\?\"[ \t]{0,4}:[ \t]{0,4}\\?\"(?P<value>[A-Za-z0-9_-]{16,2000})")
_MAX_JWK = 8000


def _jwk(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """The private members of a key in JSON, wherever in its object they stand."""
    if _JWK.match(text, at, end) is None:
        return
    before, after = max(0, at - _MAX_JWK), min(end, at + _MAX_JWK)
    first = max(text.rfind("{", before, at), text.rfind('"kty"', before, at), before)  # another one looks on from there
    lasts = [each for each in (text.find("}", at, after), text.find('"kty"', at + 1, after)) if each >= 0]
    for found in _JWK_MEMBER.finditer(text, first, min(lasts, default=after)):
        yield Span(*found.span("value"), "private_key", found["value"], Priority.STRUCTURE)


_INSERT = lazy_regex(
    r"(?i:insert(?: ignore)? into|replace into)[ \t]{1,4}[\w.\"`\[\]]{1,100}[ \t]{0,4}\((?P<names>[^()\n]{1,1000})\)[ \t]{0,4}(?i:values?)[ \t]{0,4}"
)
_SENSITIVE = lazy_regex(rf"(?i:.*(?:passw|{NAMED})\w*)")
_ROW = lazy_regex(r"\((?P<row>(?:[^()'\n]|'(?:[^'\n\\]|''|\\.){0,4096}+')*+)\)[ \t]{0,4},?[ \t]{0,4}")
_FIELD = lazy_regex(r"[ \t]*(?:'(?P<text>(?:[^'\n\\]|''|\\.){0,4096}+)'|[^,'\n]*)[ \t]*(?:,|$)")


def _inserted(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """``INSERT INTO users (name, password) VALUES ('…', '…')``: the values of the columns that are named like secrets."""
    head = _INSERT.match(text, at, end)
    if head is None:
        return
    wanted = [
        index for index, name in enumerate(head["names"].split(",")) if _SENSITIVE.fullmatch(name.strip(' \t"`[]'))
    ]
    position = head.end()
    while wanted and (row := _ROW.match(text, position, end)) is not None:
        position = row.end()
        first, last = row.span("row")
        fields = []
        while first < last and (found := _FIELD.match(text, first, last)) is not None:
            fields.append(found)
            first = found.end()
        for index in wanted:
            value = fields[index]["text"] if index < len(fields) else None
            if value and not is_placeholder(value) and not value.isspace():
                yield Span(*fields[index].span("text"), "secret", value, Priority.STRUCTURE)


_BEFORE = lazy_regex(r"(?:^|[\s(])[\"'`]?(?P<secret>[^\s\"'`()<>]{6,100})[\"'`]?\Z")
_MAX_SPOKEN = 110


def _spoken(text: str, at: int, _after: int, _end: int) -> Iterator[Span]:
    """``use … as the password``."""
    first = max(text.rfind("\n", max(0, at - _MAX_SPOKEN), at) + 1, at - _MAX_SPOKEN, 0)
    found = _BEFORE.search(text[first:at])
    if found is not None and is_said(found["secret"]) and not is_reference(found["secret"]):
        yield Span(
            first + found.start("secret"), first + found.end("secret"), "password", found["secret"], Priority.STRUCTURE
        )


_SPOKEN = tuple(
    f" {verb} {word}"
    for verb in ("as the", "as", "as your", "as my", "is the", "is your", "is my", "is our")
    for word in (
        "password",
        "passphrase",
        "token",
        "api key",
        "secret",
        "wifi password",
        "root password",
        "admin password",
    )
)
_ACCOUNT = lazy_regex(
    r"(?P<name>[A-Za-z_][\w.$-]{0,63}):(?:(?P<plain>[^\s:*!]{4,100}):\d{1,7}:\d{1,7}:[^:\n]{0,100}:/[^:\n]{0,100}:/[^\s:]{1,60}|\d{1,9}:[0-9a-fA-F]{32}:(?P<hash>[0-9a-fA-F]{32}):::)"
)


def _account(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """The password of a line of accounts, as tools show that guessed it; the hash of one as they dump it."""
    found = _ACCOUNT.match(text, text.rfind("\n", 0, at) + 1, end)
    if found is None:
        return
    group = str(found.lastgroup)
    if group == "hash" or is_chosen(found[group]):
        yield Span(*found.span(group), "password", found[group], Priority.STRUCTURE)


RULES: tuple[Rule, ...] = (
    Rule(
        name="cells:spoken",
        keywords=_SPOKEN,
        look=_spoken,
        gate=lambda: r"[^ \t\n]{6}[^\n]* (?:as|is)(?: the| your| my| our)? [^\n]*(?:pass|token|key|secret)",
        is_behind=True,
    ),
    Rule(
        name="cells:account",
        keywords=("::/", ":/bin/", ":/home/", ":/usr/", ":::"),
        look=_account,
        gate=lambda: (
            r"^[a-z_][a-z0-9_?.$-]*:(?:[^ \t\n:]{4}[^ \t\n:]*:[0-9]+:[0-9]+:[^\n]*:/|[0-9]+:[0-9a-f]{32}:[0-9a-f]{32}:::)"
        ),
        is_of_line=True,
    ),
    Rule(
        name="cells:name",
        keywords=_WORDS,
        look=_cells,
        gate=lambda: (
            r"^[ \t|?\"'*`]*[a-z0-9_?. -]*"
            + gate_of_words(_WORDS)
            + "[a-z0-9_.-]*[\"'*`]*(?:[ \\t]*[|?]|\\t|  )[^\\n]*[0-9?]"
        ),
        is_behind=True,
    ),
    Rule(
        name="cells:stored",
        keywords=_STORES,
        look=_stored,
        gate=lambda: gate_of_words(_STORES) + "[^\\n]*=",
        is_behind=True,
    ),
    Rule(
        name="cells:insert",
        keywords=("insert into ", "replace into ", "insert ignore into "),
        look=_inserted,
        gate=lambda: rf"(?:insert|replace)[^\n]*(?:passw|{GATE})[^\n]*values?",
        is_wide=True,
        is_behind=True,
    ),
    Rule(name="cells:jwk", keywords=('"kty"',), look=_jwk, gate=lambda: r"\"kty\"", is_behind=True),
    Rule(
        name="cells:store",
        keywords=('"data":{"data":{', '"data": {"data": {'),
        look=_store,
        gate=lambda: r"\"data\": ?\{\"data\": ?\{",
        is_behind=True,
    ),
    Rule(
        name="cells:data",
        keywords=('"data":{', '"data": {'),
        look=_data,
        gate=lambda: r"\"data\": ?\{",
        is_wide=True,
        is_behind=True,
    ),
)
