# ruff: noqa: E501 - a pattern or a row stands in one piece
"""What names say about their values: the table of sensitive words, and which values they make a secret."""

from enum import Enum

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.value import (
    UUID,
    is_algorithm,
    is_basic,
    is_cipher,
    is_date,
    is_mingled,
    is_placeholder,
    is_pointer,
    is_random,
    is_reference,
    is_wordy,
)


class Trust(Enum):
    """How much a name says about its value."""

    PASSWORD = "password"  # noqa: S105 - any value counts
    SECRET = "secret"  # noqa: S105 - a value of some length counts
    TOKEN = "token"  # noqa: S105 - a value of some length that is no word counts
    HINT = "hint"  # the name must stand alone, the value must be of some length
    WEAK = "weak"  # as above, and the value must look generated


ALONE = frozenset({Trust.HINT, Trust.WEAK})


class NameRow(Struct, frozen=True, kw_only=True):
    """Words that make a name sensitive, the kind they give to the value, and an example of such a line."""

    kind: str
    words: tuple[str, ...]
    trust: Trust
    example: str  # {} is where the value goes
    counter_example: str


NAMES: tuple[NameRow, ...] = (
    NameRow(
        kind="password",
        words=("password", "passwd", "passphrase", "passwort", "pwd", "passcode", "requirepass", "pass_phrase", "pass-phrase",
               "psw", "pswd", "passwort", "kennwort", "_clave", "contrasena", "contrase\u00f1a", "senha", "motdepasse", "mot_de_passe", "passord", "adgangskode", "kodeord", "heslo", "lozinka", "geslo", "zaporka", "sifre", "\u015fifre", "parool", "palavra-passe", "wachtwoord"),
        trust=Trust.PASSWORD,
        example="DB_PASSWORD={}",
        counter_example="PASSWORD_FILE=/run/secrets/db",
    ),
    NameRow(
        kind="secret",
        words=("secret", "secret id", "preshared", "pre-shared-key", "client-key-data", ".dockerconfigjson", ".dockercfg", "symmkey", "clear-text", "_salt", "ticketsalt", "tokensalt", "passwordsalt", "erlang_cookie", "erlangcookie", "passhash"),
        trust=Trust.SECRET,
        example='"client_secret": "{}"',
        counter_example="secretName: web-tls",
    ),
    NameRow(
        kind="secret",
        words=("credential", "routing_key", "routing-key", "routingkey", "routing key"),
        trust=Trust.TOKEN,
        example='"credential": "{}"',
        counter_example="credential: name_of_one",
    ),
    NameRow(
        kind="token",
        words=("token", "refresh_tok", "csrf", "xsrf", "jwt"),
        trust=Trust.TOKEN,
        example="  token: {}",
        counter_example="max_tokens: 4096",
    ),
    NameRow(
        kind="api_key",
        words=("apikey", "api_key", "api-key", "api key", "api.key", "app_key", "appkey", "dd-application-key", "license_key"),
        trust=Trust.SECRET,
        example="apikey = '{}'",
        counter_example="api_key = os.environ['API_KEY']",
    ),
    NameRow(
        kind="key",
        words=(
            *(f"{word}{gap}key" for gap in ("_", "-", "", " ") for word in (
                "access", "auth", "encryption", "signing", "master", "account", "shared", "service", "deploy", "storage",
                "security", "admin", "hmac", "session", "webhook", "fernet", "subscription", "private", "application", "consumer", "integration", "ingestion", "registration", "write",
                "license", "unseal", "recovery", "activation", "enrollment", "instrumentation", "gossip", "tsig", "cipher", "aes", "wpa", "backup", "validation", "decryption",
            )),
        ),
        trust=Trust.SECRET,
        example="ENCRYPTION_KEY={}",
        counter_example="private_key: ~/.ssh/id_ed25519",
    ),
    NameRow(
        kind="session",
        words=("sessionid", "session_id", "session-id", "sessid", "connect.sid", "session_cookie", "remember_token"),
        trust=Trust.TOKEN,
        example="PHPSESSID={}",
        counter_example="session_id: main",
    ),
    NameRow(
        kind="signature",
        words=("x-amz-signature", "x-goog-signature", "signature", "sig"),
        trust=Trust.WEAK,
        example="https://store.example.com/a?se=2030&sig={}",
        counter_example="signature = verify",
    ),
    NameRow(
        kind="password",
        words=("pass", "pw", "psk", "_authtoken", "bindpw", "userpw", "rootpw", "keypass", "storepass", "authpass",
               "become_pass", "ssh_pass", "authtok", "rootpass", "dbpass", "userpass", "adminpass", "smtppass", "mailpass"),
        trust=Trust.HINT,
        example="DB_PASS={}",
        counter_example="pass: 12",
    ),
    NameRow(
        kind="credential",
        words=("auth", "_auth"),
        trust=Trust.WEAK,
        example='{{"auth": "{}"}}'.replace("{{", "{").replace("}}", "}"),
        counter_example='"auth": "xaccount"',
    ),
    NameRow(
        kind="session",
        words=("sid",),
        trust=Trust.WEAK,
        example="https://app.example.com/a?sid={}",
        counter_example='"Sid": "xaccount"',
    ),
)  # fmt: skip

# a value that names itself is the name of a variable: client_secret=client_secret, "client_secret_basic"
_NAME_LIKE = lazy_regex(
    r"\[?(?:[A-Za-z]{0,60}_[A-Za-z_]{0,60}|[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,6}|[A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){1,5}|(?:\w{1,40}\.)?[A-Za-z][a-z]{0,40}\d{0,5}(?:[A-Z]{1,6}[a-z]{1,40}){1,6})"
    r"[\]),;:\"'}]{0,4}"
)
_SENSITIVE = lazy_regex(
    r"(?i:passw|passphrase|secret|token|key|credential|auth|signature|session|_pass\b|_pw\b|pwd|mot de passe|contrase|senha|kennwort|wachtwoord|adgangskode|passord|heslo|jelsz|has\u0142|l\xf6senord|salasana|schl\xfcssel|parola|\u043f\u0430\u0440\u043e\u043b|\u5bc6\u7801|\u30d1\u30b9\u30ef\u30fc\u30c9)"
)
_DIGEST = lazy_regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KNOWN_ID = lazy_regex(r"[0-9A-F]{64}|S-1(?:-\d+)+|[Ss]tmt\d+|[\w.@-]+-[0-9a-f]{17}")
"""What directories, policies and session managers call things by."""
_SIGNED = lazy_regex(r"ME[QUY]CI[A-Za-z0-9+/=]{40,}")
"""A signature of ECDSA, which stands beside what it signs for everybody to check."""
_TEMPLATE = lazy_regex(r"[\w.-]+(?:/[\w.-]+)+\.(?:html?|txt|j2|jinja2?|tpl|md)")
_ADDRESS = lazy_regex(r"0x(?:[0-9a-f]{1,16}|[0-9a-fA-F]{40})")
_ID_TAIL = lazy_regex(r"(?:[_.-]?id|Id|ID)$")
_NUMBER = lazy_regex(
    r"0[xX][0-9a-fA-F]{1,16}|[-+]?\d[\d.,_]*(?:ms|s|m|h|d|[kKMG]?i?B?|%)?|(?:\d{1,4}(?:\.\d{1,9})?(?:ms|us|ns|[wdhms])){2,6}"
)
_CAMEL = lazy_regex(r"[a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,6}\d?")
_NAMING = frozenset({Trust.SECRET, Trust.TOKEN})
_BLANKS = lazy_regex(r"[\s.,;:!?()]+")
_MIN_BLANKS = 3
_LITTLE_WORDS = lazy_regex(
    r"(?i:\b(?:at|least|must|be|the|of|is|a|an|to|your|with|for|characters|and|or|from|no|not|in|on|by|if)\b)"
)
_TRANSLATED = lazy_regex(
    r"\A(?=.*[^\x00-\x7f])(?:[^\W\d_]|[\s.,:;!?'\u2019\"\u201c\u201d\u201e\u00ab\u00bb()\\\u0300-\u036f\u0900-\u0dff\u0e00-\u109f-])*+\Z|[ ](?:\{\{[A-Z]{3,20}\}\}|\$\d\b)|(?:\{\{[A-Z]{3,20}\}\}|\$\d)[ ]"
)
"""Letters that are not ASCII and no digit, or a place for a name: the words of a page."""
_CHARACTERS = lazy_regex(
    r"(?i:\b(?:zeichen|caract[e\xe8]res|caratteri|tekens|tecken|tegn|znak\w{0,3}|merkki\w{0,3}|karakter\w{0,4}|\u0441\u0438\u043c\u0432\u043e\u043b\w{0,3})\b)"
)
_MIN_TOKEN_CHARS = 6
_MAX_ID_TAIL = 3
_MIN_WEAK_CHARS = 10
_MAX_LOOKED_THROUGH = 512
_MIN_KEY_DIGITS = 12
_MIN_PIN_DIGITS = 4


def _is_code(value: str, trust: Trust, *, is_quoted: bool) -> bool:
    """Whether ``value`` is a name, a call or a path; in quotes a password may look like one."""
    if _NAME_LIKE.fullmatch(value) is not None and _SENSITIVE.search(value) is not None:
        return True
    is_free = (
        is_quoted
        and trust is Trust.PASSWORD
        and "://" not in value
        and value[0] not in "/~."
        and _TEMPLATE.fullmatch(value) is None
    )
    return is_reference(value) and not is_free


def _is_prose(value: str) -> bool:
    """Whether ``value`` is a sentence about a secret: 'Password used to make the key'."""
    if _TRANSLATED.search(value) is not None:
        return True
    if " " not in value or any(not word.isdigit() and any(map(str.isdigit, word)) for word in _BLANKS.split(value)):
        return False
    if _SENSITIVE.search(value) is not None or _CHARACTERS.search(value) is not None:
        return True
    return value.count(" ") >= _MIN_BLANKS and (value[-1] in ".!?" or len(_LITTLE_WORDS.findall(value)) > 1)


def is_secret(value: str, trust: Trust, tail: str, *, is_quoted: bool, kind: str = "") -> bool:  # noqa: C901, PLR0911 - a list of reasons
    """Whether ``value``, assigned to a sensitive name that ends in ``tail``, is to be hidden."""
    if trust is not Trust.PASSWORD and len(value) < _MIN_TOKEN_CHARS:
        return False
    if len(value) > _MAX_LOOKED_THROUGH:
        return is_random(value) and not is_pointer(value)  # no placeholder is that long; keeps hostile lines linear
    if (
        not value
        or is_placeholder(value)
        or (value[-1] in ")]}:,;." and is_placeholder(value.rstrip(")]}:,;.")))
        or is_cipher(value)
        or _is_code(value, trust, is_quoted=is_quoted)
        or (
            tail == "Key" and trust is Trust.PASSWORD and value.islower() and is_wordy(value)
        )  # adminPasswordKey: postgres-password
    ):
        return False
    is_inherited = tail == "s" and trust is Trust.SECRET and value.isalpha()  # secrets: inherit
    if (
        is_inherited
        or (kind in {"session", "credential"} and _KNOWN_ID.fullmatch(value) is not None)
        or (kind == "signature" and _SIGNED.match(value) is not None)
    ):
        return False
    if kind == "session" and UUID.search(value) is not None:
        return False  # what a log calls a session; a cookie is seen as one
    if _ID_TAIL.search(tail):
        is_uuid = (trust is Trust.TOKEN or len(tail) > _MAX_ID_TAIL) and UUID.fullmatch(value) is not None
        return (
            is_random(value)
            and not is_uuid  # secret_id, not token_id or UserSecretsId
            and _DIGEST.fullmatch(value) is None
            and _KNOWN_ID.fullmatch(value) is None
        )
    is_number = _NUMBER.fullmatch(value) is not None
    if tail and len(value) < 2 * _MIN_KEY_DIGITS and (is_number or is_date(value)):
        return False
    if trust is Trust.PASSWORD:
        return not (is_number and len(value) < _MIN_PIN_DIGITS) and not (is_quoted and _is_prose(value))
    if (
        len(value) < _MIN_TOKEN_CHARS
        or " " in value.strip()
        or (is_number and len(value) < _MIN_KEY_DIGITS)
        or is_date(value)
    ):
        return False
    if not is_quoted and trust in _NAMING and _CAMEL.fullmatch(value) is not None and is_wordy(value):
        return False
    if trust is Trust.TOKEN:
        return _ADDRESS.fullmatch(value) is None and (
            is_random(value) or is_mingled(value) or not (value.isalpha() or is_wordy(value) or tail[:1] in {"s", "S"})
        )
    if trust is Trust.WEAK:
        return (
            not value.endswith("...")
            and not is_algorithm(value)
            and is_random(value, _MIN_WEAK_CHARS)
            and not is_wordy(value)
        ) or is_basic(value)
    return trust is Trust.SECRET or is_quoted or not value.isalpha()


def is_named_after(value: str, trust: Trust) -> bool:
    """Whether ``value``, which follows a name and a comma, is one more name of a list."""
    if trust is Trust.PASSWORD:
        return value.replace("_", "").replace("-", "").isalpha() or (is_wordy(value) and value.islower())
    return is_wordy(value) or _CAMEL.fullmatch(value) is not None
