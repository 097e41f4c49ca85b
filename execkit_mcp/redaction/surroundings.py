# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that their place gives away: headers, cookies, URLs, command lines, SQL and a few file formats.

Each row is a pattern that is matched at a keyword, with the secret in its group ``secret``; a row may say
that it holds many (cookies).
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_placeholder, is_reference

_GAP = r"\\{0,2}[\"']?[ \t]{0,8}[:=,][ \t]{0,8}\\{0,2}[\"']?[ \t]?"
_WORD = r"(?P<secret>[^\s\"'`,;\\<>]{3,4000})"
_OPTION_VALUE = r"(?:\"(?P<double>[^\"\n]{1,400})\"|'(?P<single>[^'\n]{1,400})'|(?P<bare>[^\s\"'`;|&<>]{1,400}))"


class PlaceRow(Struct, frozen=True, kw_only=True):
    """A place where a secret stands.

    Attributes:
        kind: stands in the tag.
        keywords: lower case; where the pattern starts.
        pattern: has groups ``secret`` or ``double``, ``single`` and ``bare``.
        example: a line with ``{}`` where the secret goes.
        counter_example: a line that looks alike and holds none.
        may_be_glued: whether a letter or digit may stand right before the keyword.
        may_be_reference: whether the secret may look like a path or code (a URL's password may).
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    example: str
    counter_example: str
    may_be_glued: bool = False
    may_be_reference: bool = True


PLACES: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="authorization",
        keywords=("authorization", "proxy-authorization", "x-authorization"),
        pattern=r"(?i:[a-z-]{0,8}authorization)" + _GAP + r"(?:(?i:bearer|basic|token|bot|digest|negotiate|apikey|key|oauth|jwt"
        r"|splunk|sso-key|genie\w+)[ \t]{1,4})?(?P<secret>[^\s\"'`,;\\<>]{6,8000})",
        example="Authorization: Bearer {}",
        counter_example="Authorization: Bearer $TOKEN",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="bearer",
        keywords=("bearer",),
        pattern=r"(?i:bearer)[ \t]{1,4}(?P<secret>[A-Za-z0-9_.~+/=-]{16,8000})",
        example="curl --oauth2-bearer x -H 'Bearer {}'",
        counter_example="Bearer authentication is required",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="api_key",
        keywords=("x-api-key", "x-auth-token", "x-auth-key", "x-access-token", "private-token", "x-amz-security-token",
                  "x-vault-token", "x-api-token", "ocp-apim-subscription-key", "x-goog-api-key", "x-functions-key",
                  "x-auth-email-key", "dd-api-key", "x-csrf-token", "x-consul-token", "job-token"),
        pattern=r"[A-Za-z-]{6,30}" + _GAP + _WORD,
        example="X-Api-Key: {}",
        counter_example="X-Api-Key: ${KEY}",
    ),
    PlaceRow(
        kind="url_password",
        keywords=("://",),
        pattern=r"://[^\s/?#@:\"'<>]{0,256}:(?!\d{1,5}/)(?P<secret>[^\s@\"'<>]{1,512})@(?=[^\s@])",
        example="postgres://app:{}@db.example.com/app",
        counter_example="http://db.example.com:8080/a@b",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="url_key",
        keywords=("://",),
        pattern=r"://(?P<secret>[a-f0-9]{32}|(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{20,255}):?@(?=[^\s@])",
        example="https://{}@sentry.example.com/4",
        counter_example="https://deploy@git.example.com/a.git",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="curl_user",
        keywords=("-u ", "--user ", "--user=", "--proxy-user ", "-u'", '-u"'),
        pattern=r"-(?:u|-user|-proxy-user)[= ]{0,2}[\"']?[^\s:\"'=/]{1,128}:(?P<secret>[^\s\"']{1,256})",
        example="curl -u admin:{} https://example.com",
        counter_example="docker run -u 1000:1000 alpine",
    ),
    PlaceRow(
        kind="password",
        keywords=("mysql", "mysqldump", "mysqladmin", "mariadb", "mongo", "mongosh", "mongodump", "sshpass", "7z", "zip",
                  "unzip", "rar", "mosquitto_", "docker login", "podman login", "helm registry", "skopeo login", "az login",
                  "oc login", "impacket"),
        pattern=r"(?:mysql\w*|mariadb[\w-]*|mongo\w*|sshpass|7z\w?|unzip|zip|rar|mosquitto_\w+|(?:docker|podman|skopeo|az|oc"
        r"|helm registry) login)(?:[ \t][^\n|;&]{0,400}?)?[ \t]-[pP][ \t=]?" + _OPTION_VALUE,
        example="mysql -u root -p{} shop",
        counter_example="mysql --version",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("redis-cli", "rediscli_auth", "keydb-cli", "valkey-cli"),
        pattern=r"(?:redis|keydb|valkey)-cli(?:[ \t][^\n|;&]{0,300}?)?[ \t](?:-a|--pass)[ \t=]?" + _OPTION_VALUE
        + r"|REDISCLI_AUTH=" + _OPTION_VALUE.replace("double", "d2").replace("single", "s2").replace("bare", "b2"),
        example="redis-cli -h cache -a {} ping",
        counter_example="redis-cli ping",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldappasswd", "ldapdelete"),
        pattern=r"ldap\w+[ \t][^\n|;&]{0,400}?-w[ \t]?" + _OPTION_VALUE,
        example="ldapsearch -x -D cn=admin -w {} -b dc=example",
        counter_example="ldapsearch -x -b dc=example",
    ),
    PlaceRow(
        kind="password",
        keywords=("-passin", "-passout", "-pass "),
        pattern=r"-pass(?:in|out)?[ \t]{1,4}[\"']?pass:(?P<secret>[^\s\"']{1,256})",
        example="openssl rsa -in k.pem -passin pass:{}",
        counter_example="openssl rsa -passin env:PASS",
    ),
    PlaceRow(
        kind="password",
        keywords=("htpasswd",),
        pattern=r"htpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*(?:[ \t]+-\w+)*[ \t]+[^\s]{1,200}[ \t]+(?:[^\s-][^\s]{0,99}[ \t]+)?(?P<secret>[^\s]{1,200})",
        example="htpasswd -bc users.txt alice {}",
        counter_example="htpasswd -c users.txt alice",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("smbclient", "cifs", "winexe", "rpcclient"),
        pattern=r"(?:smbclient|winexe|rpcclient|cifs)[^\n]{0,300}?(?:-U[ \t]?[\"']?[^\s%]{1,100}%|\bpass(?:word)?=)(?P<secret>[^\s\"',]{1,200})",
        example="smbclient //files/share -U alice%{}",
        counter_example="smbclient -L //files",
    ),
    PlaceRow(
        kind="password",
        keywords=("identified by", "password '", 'password "', "with password", "identified with"),
        pattern=r"(?i:identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by|(?:with[ \t]{1,4})?(?:encrypted[ \t]{1,4})?password)"
        r"[ \t]{1,4}(?:(?i:password)[ \t]{1,4})?[\"'](?P<secret>[^\"'\n]{1,200})[\"']",
        example="ALTER USER app WITH PASSWORD '{}';",
        counter_example="ALTER USER app VALID UNTIL 'tomorrow';",
    ),
    PlaceRow(
        kind="password",
        keywords=("machine ", "login ", "password "),
        pattern=r"(?:(?<![^\n])(?:machine[ \t]{1,4}\S{1,200}[ \t]{1,4})?(?:login[ \t]{1,4}\S{1,200}[ \t]{1,4})?[ \t]{0,4}"
        r"|login[ \t]{1,4}\S{1,200}[ \t]{1,4})password[ \t]{1,4}(?P<secret>\S{1,200})[ \t]{0,4}(?=$|\n|\r)",
        example="machine git.example.com login deploy password {}",
        counter_example="password for admin was changed",
    ),
    PlaceRow(
        kind="password",
        keywords=(":5432:", ":5433:", ":6432:", ":3306:", ":*:"),
        pattern=r":(?:\d{4}|\*):[^:\s]{1,100}:[^:\s]{1,100}:(?P<secret>[^\s:]{1,200})(?=$|\n|\r)",
        example="db.example.com:5432:shop:app:{}",
        counter_example="0.0.0.0:5432: listening",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("chpasswd",),
        pattern=r"chpasswd[ \t]*<<<[ \t]*[\"']?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{1,200})",
        example="chpasswd <<< 'alice:{}'",
        counter_example="chpasswd -e < file",
    ),
    PlaceRow(
        kind="key",
        keywords=("private key:", "privkey", "seed phrase", "wg set"),
        pattern=r"(?i:private key|privkey|wg set)[^\n]{0,60}?[:= ][ \t]{0,4}[\"']?(?P<secret>(?:0x)?[A-Fa-f0-9]{64}|[A-Za-z0-9+/]{43}=)(?![A-Za-z0-9+/=])",
        example="private key: {}{}{}{}",
        counter_example="private key: hidden",
    ),
)  # fmt: skip

_ANALYTICS = re.compile(
    r"(?:_ga\w*|_gid|_fbp|lang|locale|theme|tz|timezone|currency|consent\w*|cookieconsent\w*)", re.IGNORECASE
)
_COOKIE_HEADER = re.compile(r"(?i:set-cookie2?|cookie)\\{0,2}[\"']?[ \t]{0,4}(?P<sep>[:=])[ \t]{0,4}\\{0,2}[\"']?")
_COOKIE_OPTION = re.compile(r"(?:-b|--cookie)[= ]{1,2}[\"']?(?=[^\s=]{1,100}=)")
_COOKIE = re.compile(r"[ \t]{0,4}(?P<name>[\w.!#$%&*+^`|~-]{1,128})=\"?(?P<value>[^\s;\"',\\]{0,8000})\"?[;,]?")
_MIN_COOKIE_CHARS = 6
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority", "version"})


def _cookies(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    header = _COOKIE_HEADER.match(text, at, end) or _COOKIE_OPTION.match(text, at, end)
    if header is None:
        return
    position = header.end()
    while (cookie := _COOKIE.match(text, position, end)) is not None:
        position = cookie.end()
        name, value = cookie["name"].lower(), cookie["value"]
        if name in _ATTRIBUTES or _ANALYTICS.fullmatch(name) or len(value) < _MIN_COOKIE_CHARS or is_placeholder(value):
            continue
        yield Span(cookie.start("value"), cookie.end("value"), "cookie", value, Priority.STRUCTURE)


def _rule(row: PlaceRow) -> Rule:
    match = re.compile(row.pattern).match
    is_plain = "(?P<secret>" in row.pattern

    def look(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
        if not row.may_be_glued and at and text[at - 1].isalnum():
            return
        found = match(text, at, end)
        if found is None:
            return
        group = "secret" if is_plain else str(found.lastgroup)
        secret = found[group]
        if is_placeholder(secret) or (not row.may_be_reference and is_reference(secret)):
            return
        if row.kind == "curl_user" and secret.isdigit():
            return  # a numeric uid:gid
        yield Span(found.start(group), found.end(group), row.kind, secret, Priority.STRUCTURE)

    return Rule(name=f"place:{row.kind}", keywords=row.keywords, look=look)


RULES: tuple[Rule, ...] = (
    *(_rule(row) for row in PLACES),
    Rule(name="place:cookie", keywords=("cookie", "-b "), look=_cookies),
)
