# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Lines that announce a secret which stands on one of the next lines, and how it stands there.

    api_key: |            "db_password": {             1) "requirepass"         $ aws configure get aws_secret_access_key
      …                     "sensitive": true,          2) "…"                  …
                            "value": "…"

A row is a kind of announcing line; ``FORMS`` are the ways in which a value may follow.
"""

import re

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.commands import is_made
from execkit_mcp.redaction.given import Distance, is_given
from execkit_mcp.redaction.names import Trust, is_secret
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_date, is_placeholder, is_reference, is_wordy
from execkit_mcp.redaction.words import NAMED, NAMED_LIKE_A_PASSWORD

_STRONG = NAMED
_MOST_CODES = 20
_MIN_ITEM = 12


class Form(Struct, frozen=True):
    """How a value stands on its line, and what may stand between it and its announcement."""

    value: re.Pattern[str]
    between: re.Pattern[str] | None = None


_ALONE = lazy_regex(
    r"[ \t]*(?:(?:\d{1,2}[.)]|[-*]|=>?|Out\[\d+\]:|\$\d{1,3} =)[ \t]+)?(?:base64:|[bru](?=[\"']))?(?:\"(?P<double>[^\s\"]{8,4096})\"|'(?P<single>[^\s']{8,4096})'|(?P<secret>[^\s\"']{8,4096}))[ \t\r]*"
)
_MEMBER = lazy_regex(
    r"[ \t]*(?:\{|[\"']?[A-Za-z][\w-]{0,40}[\"']?[ \t]*[:=][ \t]*(?:[\"'][^\"'\n]{0,120}[\"']|[\w.-]{0,60}),?)[ \t\r]*"
)
FORMS: dict[str, Form] = {
    "alone": Form(_ALONE, lazy_regex(r"[ \t\r]*|[-=]{3,40}[ \t\r]*|[^\w\n]{0,8}(?i:warn|note|using)[^\n]{0,200}|(?:>>>|In \[\d{1,4}\]:|irb\S{0,20}>) (?:print\()?[\w.]{1,40}(?:\(\))?\)?")),
    "codes": Form(_ALONE),
    "phrase": Form(lazy_regex(r"[ \t]*(?P<secret>[a-z]{3,8}(?: [a-z]{3,8}){11}(?:(?: [a-z]{3,8}){3}){0,4})[ \t\r]*"), lazy_regex(r"[^a-z\n]*|[^\n]*[.:!=]+[ \t\r]*")),
    "second": Form(lazy_regex(r"(?P<secret>[^\s<]{4,400})[ \t\r]*"), lazy_regex(r"[\w.@+-]{1,64}[ \t\r]*")),
    "section": Form(
        lazy_regex(r"[ \t]*[\"']?(?:[Kk]ey|KEY|[Vv]alue)[\"']?[ \t]*(?::|=>?)[ \t]*(?:\"(?P<double>[^\"\n]{10,4096})\"|'(?P<single>[^'\n]{10,4096})'|(?P<secret>[^\s\"'{}\[\],]{10,4096})),?[ \t\r]*"),
        lazy_regex(r"[ \t]*[\"']?[A-Za-z][\w.-]{0,40}[\"']?[ \t]*[:=][ \t]*[^\n{}]{0,200}"),
    ),
    "element": Form(lazy_regex(r"[ \t]*<(?:[Vv]alue|string|data|text)>(?P<secret>[^<\n]{3,4096})</\w{4,6}>[ \t\r]*")),
    "entries": Form(
        lazy_regex(r"[ \t]+[\w.-]{1,60}:[ \t]+(?:\"(?P<double>[^\"\n]{8,4096})\"|'(?P<single>[^'\n]{8,4096})'|(?P<secret>[^\s\"'{}\[\],]{8,4096}))[ \t\r]*"),
        lazy_regex(r"[ \t]+[\w.-]{1,60}:[^\n]{0,400}"),
    ),
    "rpc": Form(lazy_regex(r"[^\n]{0,200}\"(?:result|token|auth|session)\":[ ]?\"(?P<secret>[A-Za-z0-9_-]{16,400})\"[^\n]{0,200}"), lazy_regex(r"[<>*{} ][^\n]{0,200}")),
    "accounts": Form(lazy_regex(r"[ \t]*[\w.@-]{1,64}[ \t]*=[ \t]*(?P<secret>[^\s\"'=]{6,200})[ \t\r]*")),
    "key": Form(lazy_regex(r"(?P<secret>[A-Za-z0-9+/]{20,80}={0,2})[ \t\r]*")),
    "passwords": Form(lazy_regex(r"(?P<secret>(?:\S{6,80}[ \t]{1,2}){0,12}\S{6,80})[ \t\r]*")),
    "digits": Form(lazy_regex(r"[ \t]*(?:(?:\d{1,2}[.)]|[-*])[ \t]+)?(?P<secret>[\w-]{6,40}(?:[ -][\w-]{3,40}){0,5})[ \t\r]*")),
    "member": Form(
        lazy_regex(r"[ \t]*[\"']?[Vv]alue[\"']?[ \t]*[:=][ \t]*(?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'),?[ \t\r]*"),
        _MEMBER,
    ),
    "block": Form(lazy_regex(r"[ \t]*[\"']?(?P<secret>[^\s\"'#]{4,4096})[\"']?[ \t\r]*")),
    "item": Form(lazy_regex(r"[ \t]*\"(?P<secret>[^\"\n]{1,4096})\",?[ \t\r]*")),
    "items": Form(
        lazy_regex(r"[ \t]*(?:-[ \t]+)?(?:\[\d{1,3}\][ \t]+)?(?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'|(?P<secret>[^\s\"',\[\](){}]{6,4096})),?[ \t\r]*"),
    ),
    "dump": Form(lazy_regex(r"[ \t]*string\(\d{1,5}\)[ \t]\"(?P<secret>[^\n]{1,4096})\"[ \t\r]*")),
    "reply": Form(lazy_regex(r"[ \t]*\d{1,3}\)[ \t]\"(?P<secret>[^\"\n]{1,4096})\"[ \t\r]*")),
    "send": Form(lazy_regex(r"[ \t]*send[ \t](?:--[ \t])?[\"'](?P<secret>[^\"'\\\n$]{3,400})(?:\\[rn]){0,2}[\"'][ \t\r]*")),
    "cell": Form(
        lazy_regex(r"[ \t]*[|\u2502][ \t]*(?:[\"'`])?(?i:value|secret\w*|plaintext)[\"'`]?[ \t]*[|\u2502][ \t]*(?P<secret>[^\s|\u2502]{4,4096})[ \t]*[|\u2502]?[ \t\r]*"),
        lazy_regex(r"[ \t]*[|\u2500-\u257f+][^\n]{0,300}"),
    ),
    "result": Form(
        lazy_regex(r"[ \t]*[+~-]?[ \t]*(?:result|private_key_\w+|hex|b64_\w+)[ \t]*=[ \t]*\"(?P<secret>[^\"\n]{4,8192})\"[^\n]{0,80}|[^\n]{0,300}?\"(?:result|private_key_\w+|hex|b64_\w+)\":[ \t]*\"(?P<double>[^\"\n]{4,8192})\"[^\n]{0,300}"),
        lazy_regex(r"[ \t]*[+~#{}-]?[ \t]*\w{0,40}[ \t]*=?[^\n]{0,300}"),
    ),
    "users": Form(
        lazy_regex(r"[ \t]*-?[ \t]*[\"']?[\w.-]{1,64}:(?!\s)(?P<secret>[^\s\"']{4,400})[\"']?[ \t\r]*"),
        lazy_regex(r"[ \t]*(?:list|users|expire)\b[^\n]{0,80}"),
    ),
    "sent": Form(lazy_regex(r"[ \t]*(?:->|=>|~>|<~|>>?|C:|<-)?[ \t]*(?P<secret>[A-Za-z0-9+/]{6,4096}={0,2})[ \t\r]*")),
    "new": Form(lazy_regex(r"[ \t]*(?:[Nn]ew )?[Vv]alue:[ \t](?P<secret>\S{6,400})[ \t\r]*"), lazy_regex(r"(?![Nn]ew value)[^\n]{0,200}")),
}  # fmt: skip


class Announcement(Struct, frozen=True):
    """A line after which a value follows in the form ``form``.

    Attributes:
        line: what the whole line looks like (searched for).
        trust: how much the line says about the value; none: the value itself must look made.
        hint: without trust: what the line names.
        lines: how many values may follow.
        skips: how many lines of the form's ``between`` may stand before the value.
        example: such a line.
        ends: the characters of which one ends the line.
        holds: strings of which one stands in the line; a look at both is all that most lines cost.
    """

    line: re.Pattern[str]
    form: str
    example: str
    trust: Trust | None = None
    hint: Trust = Trust.SECRET
    lines: int = 1
    skips: int = 0
    ends: str = ""
    holds: tuple[str, ...] = ("",)


_NO_VALUE = lazy_regex(r"[ \t]*(?:--|[\w.-]{1,64}@[\w.-]{1,100}:\S{0,200}[#$%][ \t\r]*$)")
"""An option; what a shell asks with."""
_ACCOUNT = lazy_regex(r"[\w.$-]{1,64}:[x*!]*:\d*:[^\n]*")
"""A line of passwd or group, which holds no password itself."""
SECTIONS = (
    "jwt",
    "encryption",
    "crypto",
    "crypt",
    "signing",
    "hmac",
    "openai",
    "anthropic",
    "sendgrid",
    "mailgun",
    "stripe",
    "algolia",
    "datadog",
    "pusher",
    "recaptcha",
    "storage",
    "webhook",
    "license",
    "b2",
)
"""Parts of a configuration in which ``key`` names a secret."""
PRINTERS = ("print-access-token", "print-identity-token", "initial-password", "pass show ", "gopass show ", "auth token", "auth:token", "create token ", "get-token", "op read ", "versions access ",
             "read -field", "kv get -field", "reveal ", "get-password", "find-generic-password", "get-login-password", "bw get password", "decrypt-secret", "get-secret-value",
             "generate-password", "pwgen", "openssl rand", "rake secret", "rails secret", "token_hex", "token_urlsafe", "get-access-token", "secret-tool lookup",
             "configure get aws_secret", "configure get aws_session", "chamber read", "base64 -d", "base64 --decode", "config:get ", "wg genkey", "wg genpsk", "node-token", "/dev/urandom", "rbw get ", "--showsecret", "security find-", "print token", "keyring get ", "--with-decryption", "nmcli -s ", "--show-secrets", "key:generate", "generate:key", "gen-key", "generate-key", "generate-token", "generate-secret", "gensecret", "generate_key()", "os.urandom(", "secrets.choice", "securerandom.", "randombytes(", "phx.gen.secret")  # fmt: skip
ANNOUNCEMENTS: tuple[Announcement, ...] = (
    Announcement(
        lazy_regex(r"(?i)[$#%\u276f] (?:terraform|tofu) output -json[^\n]{0,100}" + NAMED + r"[\w.\"'-]{0,20}[ \t\r]*$"),
        "member", "$ terraform output -json | jq .db_password", Trust.SECRET, skips=4, holds=("output -json",)),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*[|\u2502][ \t]*(?:name|key|variable|parameter)[ \t]*[|\u2502][ \t]*[\w./-]{0,100}" + NAMED + r"[\w.-]{0,20}(?<!name)[ \t]*[|\u2502]?[ \t\r]*$"),
        "cell", "|  Name   |  /prod/db/password  |", Trust.SECRET, skips=6, holds=("|", "\u2502")),
    Announcement(lazy_regex(r"resource[ \t]\"(?:random_password|random_string|random_id|tls_private_key)\"[^\n]{0,120}$"), "result", 'resource "random_password" "db" {', Trust.SECRET, skips=16, ends="{"),
    Announcement(lazy_regex(r"\"type\"[ \t]*:[ \t]*\"(?:random_password|random_string|random_id|random_bytes|tls_private_key)\",[ \t\r]*$"), "result", '"type": "random_password",', Trust.SECRET, skips=16, ends=","),
    Announcement(lazy_regex(r"[$#%\u276f] [\w-]{2,20}(?: [\w-]{2,20})? (?:auth[: ]|get )(?:print-)?(?:\w{1,20}-)?token[ \t\r]*$"), "alone", "$ heroku auth:token", Trust.SECRET, skips=2, ends="n", holds=("token",)),
    Announcement(
        lazy_regex(r"[$#%\u276f] (?:sudo )?(?:cat|head|tail|more|less|bat|sed)(?: -\S{1,12}(?: \d{1,6})?){0,3} [\w./~@-]{0,160}(?:\.key|\.p8|\.pk8|id_(?:rsa|dsa|ecdsa|ed25519)|priv(?:ate)?[\w-]{0,8}\.pem)[ \t\r]*$"),
        "key", "# tail -n 4 server.key", Trust.SECRET, lines=200, holds=("$ ", "# ", "% ", "\u276f ")),
    Announcement(
        lazy_regex(r"[$#%\u276f] (?:sudo )?(?:cat|head|tail|more|less|bat) [\w./~@-]{0,120}(?:auth|user-?pass|login|creds?|credentials?)(?:[._-][\w.-]{0,20})?[ \t\r]*(?:#[^\n]{0,100})?$"),
        "second", "$ cat /etc/openvpn/auth.txt", hint=Trust.PASSWORD, skips=1, holds=("auth", "pass", "login", "cred")),
    Announcement(
        lazy_regex(rf"(?i)^[ \t]*[\"']?[\w.-]{{0,24}}(?:{'|'.join(SECTIONS)})(?:settings|options|config)?[\"']?[ \t]*(?::[ \t]*\{{?|=[ \t]*\{{|=>[ \t]*(?:\[|array\())[ \t\r]*$|^\[[\w.]{{0,24}}(?:{'|'.join(SECTIONS)})\][ \t\r]*$"),
        "section", '"Jwt": {', hint=Trust.PASSWORD, skips=6, ends="{:][("),
    Announcement(lazy_regex(r"^[ \t]*stringData:[ \t\r]*$"), "entries", "stringData:", hint=Trust.PASSWORD, lines=_MOST_CODES, skips=_MOST_CODES, ends=":", holds=("stringData",)),
    Announcement(lazy_regex(r"^[ \t]*<(?:\w{1,20}:)?[\w.-]{0,40}(?:[Pp]assword|[Pp]assphrase|[Ss]ecret)>[ \t\r]*$"), "element", "<Password>", Trust.PASSWORD, ends=">"),
    Announcement(lazy_regex(r"[$#%\u276f] (?:pwgen|apg|makepasswd|diceware|gpw)\b[^\n|]{0,100}$"), "passwords", "$ pwgen -s 20 3", Trust.SECRET, lines=_MOST_CODES, holds=("pwgen", "apg", "makepasswd", "diceware", "gpw")),
    Announcement(
        lazy_regex(r"(?i)[$#%\u276f] [^\n]{0,160}\btokens? (?:add|create|new|generate)\b[^\n]{0,120}$"),
        "cell", "$ pveum user token add monitor@pve prom", Trust.SECRET, skips=8, holds=("oken",)),
    Announcement(
        lazy_regex(r"^(?:#|[^\n]{0,80}[$#%\u276f] (?:sudo )?(?:cat|head|tail|more|less|bat)) [\w./~-]{0,120}(?:[._-]secrets|sasl_passwd|passwd\.client|chap-secrets)[ \t\r]*$"),
        "users", "# /etc/rsyncd.secrets", Trust.PASSWORD, lines=_MOST_CODES, holds=("secrets", "passwd")),
    Announcement(lazy_regex(r"^[ \t]*\[(?:client|mon|osd|mgr|mds|rgw)\.[\w.-]{1,60}\][ \t\r]*$"), "section", "[client.admin]", hint=Trust.PASSWORD, skips=2, ends="]", holds=("[",)),
    Announcement(lazy_regex(r"\"method\": ?\"(?:user\.login|auth\.login|session\.login|login)\""), "rpc", '{"method":"user.login"', Trust.SECRET, skips=1, holds=(".login", '"login"')),
    Announcement(lazy_regex(r"^\[(?:admins|users)\][ \t\r]*$"), "accounts", "[users]", hint=Trust.PASSWORD, lines=_MOST_CODES, ends="]", holds=("[admins]", "[users]")),
    Announcement(lazy_regex(r"(?i)[$#%\u276f] [^\n]{0,80}reset-password\b[^\n]{0,100}$"), "new", "$ elasticsearch-reset-password -u elastic", Trust.PASSWORD, skips=3, holds=("reset-password",)),
    Announcement(lazy_regex(r"^[ \t]*chpasswd:[ \t\r]*$"), "users", "chpasswd:", Trust.PASSWORD, lines=20, skips=2, ends=":", holds=("chpasswd",)),
    Announcement(
        lazy_regex(r"(?i)^(?:save|store|keep|write down|print|copy|download|these are|here are)\b[^\n]{0,60}(?:recovery|backup|scratch) codes\b[^\n]{0,160}\.[ \t\r]*$"),
        "digits", "Save your recovery codes in a safe place.", lines=_MOST_CODES, skips=1, ends=".", holds=("code",)),
    Announcement(
        lazy_regex(r"(?i)(?:recovery|backup|scratch) codes?\b[^:\n]{0,100}:[ \t\r]*$"), "digits", "Recovery codes:", Trust.PASSWORD, lines=_MOST_CODES, ends=":", holds=("code",)),
    Announcement(
        lazy_regex(r"(?i)(?:seed|recovery|mnemonic|secret|backup)[ _-]?(?:phrase|words?)?\b(?:[^\n]{0,120})$"),
        "phrase",
        "Save this seed phrase to recover your keypair:",
        Trust.PASSWORD, skips=2, holds=("seed", "recovery", "nemonic", "phrase", "words")),
    Announcement(
        lazy_regex(r"(?i)^(?!\[sudo\]|(?:enter |new |current )?password:|[^\n]{0,60}(?:'s password|password for))(?=[^:\n]{0,200}:[ \t\r]*$)[^:\n]{0,100}" + NAMED_LIKE_A_PASSWORD + r"(?![a-z])[^:\n]{0,100}:[ \t\r]*$"),
        "alone",
        "The db password:",
        hint=Trust.PASSWORD, skips=1, ends=":"),
    Announcement(
        lazy_regex(r"(?i)^(?:\[[^\]\n]{1,60}\][ \t]{1,3}){0,3}[\"']?(?:[\w .'-]{0,60}[ _.-])?" + NAMED + r"(?![a-z])[\w -]{0,24}[\"']?:[ \t\r]*$"),
        "alone",
        "Your new HMAC key:",
        lines=_MOST_CODES, skips=1, ends=":"),
    Announcement(
        lazy_regex(r"untrusted comment: [^\n]{0,80}secret key[ \t\r]*$"), "block", "untrusted comment: minisign encrypted secret key", Trust.PASSWORD, holds=("untrusted comment",)),
    Announcement(
        lazy_regex(r"\.vault\.azure\.net/secrets/[^\n]{0,200}\",[ \t\r]*$"),
        "member",
        '"id": "https://x.vault.azure.net/secrets/db/1",',
        Trust.SECRET, skips=6, ends=",", holds=("vault.azure",)),
    Announcement(
        lazy_regex(r"<auth-user-pass>[ \t\r]*$"), "second", "<auth-user-pass>", hint=Trust.PASSWORD, skips=1, ends=">", holds=("<auth-user-pass>",)),
    Announcement(
        lazy_regex(r"(?i)^[^\n$#%]{0,80}[$#%\u276f] (?!(?:sudo )?(?:docker|podman|nerdctl) (?:run|create|build|secret|service|compose|container|images?)\b(?![^\n]{0,100}--rm))(?!(?:git|sha\d*sum|md5sum|b2sum|cksum|uuidgen|sha|md5|date|whoami|ls|find|stat|wc|hostname|rg|ag|ack|grep(?! -\w*[ohP])|cd|mkdir|touch|rm|cp|mv|diff|tree|du|file|realpath|which|pytest|cargo|mvn|gradle|tsc|eslint) (?![^\n]{0,200}(?:[;&|] ?(?:cat|head|tail|pass|gopass|vault|echo|jq|kubectl|openssl|op|aws)[ ]|\b(?:show|print|gen|get)[_-](?:password|passwd|secret|token|key))))[^\n]{0,200}(?:" + NAMED + r"|auth-?keys?\b|authkeys?\b|keys? (?:create|new|add|show|get)|keygen|genkey)[^\n]{0,120}$"),
        "alone",
        "$ headscale preauthkeys create -u 1",
        hint=Trust.PASSWORD, holds=("$ ", "# ", "% ", "\u276f ")),
    Announcement(
        lazy_regex(r"(?i)^==> (?:[\w.~-]{0,60}/){0,12}[\w.-]{0,40}" + NAMED + r"(?![a-z])[\w.-]{0,12}(?<!\.md)(?<!\.log) <==[ \t\r]*$"), "alone", "==> /run/secrets/db_password <==", hint=Trust.PASSWORD, ends="=", holds=("==> ",)),
    Announcement(
        lazy_regex(r"(?i)^/?(?:[\w.-]{1,60}/){1,12}[\w.-]{0,40}" + NAMED + r"(?![a-z])[\w-]{0,12}[ \t\r]*$"),
        "alone",
        "/app/db_password",
        hint=Trust.PASSWORD, holds=("/",)),
    Announcement(
        lazy_regex(r"(?i)^Content-Disposition: form-data; name=\"[\w.-]{0,40}" + NAMED + r"[\w.-]{0,20}\"[ \t\r]*$"),
        "alone",
        'Content-Disposition: form-data; name="password"',
        hint=Trust.PASSWORD, skips=1, ends='"', holds=("form-data",)),
    Announcement(
        lazy_regex(r"(?i)(?:password|passwd|passphrase|passcode|secret|token|api[ _-]?key|(?:access|private|unseal|recovery|secret)[ _]key|credentials?)\b[^:\n]{0,100}:[ \t\r]*$"),
        "alone",
        "Initial admin password:",
        skips=1, ends=":"),
    Announcement(
        lazy_regex(r"(?i)(?:passwords|passphrases|secrets|tokens|api[ _-]?keys|(?:access|private|unseal|recovery|secret)[ _]keys)\b[^:\n]{0,100}:[ \t\r]*$"),
        "codes",
        "Unseal keys:", lines=_MOST_CODES, ends=":"),
    Announcement(
        lazy_regex(r"(?:>>>|In \[\d+\]:|irb[^>]{0,20}>|>|^[\w.:@/\[\]-]{1,60}>) (?:[^=\n]|(?<=\w)=(?=[\"'])){0,200}(?:(?i:password|passwd|secret|token|api_?key)(?:[\w\"'\])]{0,12}|:[\w:.-]{1,60})|(?:[\w.\[\]\"']{0,40}[_.\"'])?key[\"'\]]{0,2}|\bgenerate_key\(\))[ \t\r]*$"),
        "codes",
        ">>> settings.DATABASES['default']['PASSWORD']",
        hint=Trust.PASSWORD, lines=1 << 30, holds=(">>> ", "In [", "irb", "> ")),
    Announcement(
        lazy_regex(r"^[^\n$#%]{0,80}[$#%\u276f] (?:sudo )?(?:echo|printenv|cat|head|tail|more|jq|yq|pass|get|vault|kubectl|terraform|tofu|pulumi|heroku|doppler|chamber|consul|etcdctl|gcloud|aws|az|op|bw|rbw|gh|glab|git|npm|openssl|docker)\b[^=\n]{0,300}(?i:password|passwd|passphrase|secret|token|api_?key|cookie|\.psk|\.pass|\.pw|keyfile)[\w\"'\])}./-]{0,40}(?:[ \t][\w./~-]{1,80})?[ \t\r]*$"),
        "alone",
        "$ cat /run/secrets/db_password",
        hint=Trust.PASSWORD, skips=1, holds=("$ ", "# ", "% ", "\u276f ")),
    Announcement(
        lazy_regex(r"(?i)" + _STRONG + r"[\w.-]{0,40}(?<!name)(?<!file)(?<!path)[\"']?[ \t]*:[ \t]*[|>][-+0-9]{0,2}[ \t\r]*$"), "block", "api_key: |", Trust.SECRET, ends="|>-+0123456789", holds=(": |", ": >", ":|", ":>")),
    Announcement(
        lazy_regex(r"(?:^|[\s;])(?i:[\w.-]{0,40}" + _STRONG + r"[\w.-]{0,40}(?<!name)(?<!file)(?<!path))=\\[ \t\r]*$"), "block", "export API_TOKEN=\\", Trust.SECRET, ends="\\"),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*[\"']?[\w.:/-]{0,60}" + _STRONG + r"[\w.-]{0,20}(?<!name)[\"']?[ \t]*[:=][ \t]*\{[ \t\r]*$"),
        "member",
        '"db_password": {',
        Trust.SECRET,
        skips=4, ends="{"),
    Announcement(
        lazy_regex(r"^[ \t]*[\"']?(?:keyName|KeyName)[\"']?[ \t]*:[ \t]*[\"'][^\n\"']{1,60}[\"'],[ \t\r]*$"),
        "member",
        '"keyName": "key1",',
        Trust.SECRET,
        skips=3, ends=",", holds=("eyName",)),
    Announcement(
        lazy_regex(r"(?i)^[ \t{]*(?:-[ \t]+)?[\"']?(?:name|key)[\"']?[ \t]*[:=][ \t]*[\"']?[\w.-]{0,40}" + _STRONG + r"[\w.-]{0,20}(?<!name)[\"']?,?[ \t\r]*$"),
        "member",
        '"name": "AUTH_ENCRYPTION_KEY",',
        Trust.SECRET,
        skips=3,
    ),
    Announcement(
        lazy_regex(r"(?i)^[ \t{]*\"type\"[ \t]*:[ \t]*\"(?:secret|password|token|credential|securestring)\",[ \t\r]*$"),
        "member",
        '"type": "secret",',
        hint=Trust.PASSWORD,
        skips=2,
        ends=",",
    ),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*\"-{1,2}[\w.-]{0,40}(?:" + _STRONG + r"|requirepass)\",[ \t\r]*$"), "item", '"--requirepass",', Trust.PASSWORD, ends=","
    ),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*-[ \t]+[\"']?-{1,2}[\w.-]{0,40}(?:" + _STRONG + r"|requirepass)[\"']?[ \t\r]*$"), "items", "- --token", Trust.TOKEN, holds=("- -", "- '-", '- "-')
    ),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*(?:[\w.:-]{1,40}[ \t]+)?[\"']?[\w.-]{0,60}" + NAMED_LIKE_A_PASSWORD + r"(?:s|_?list)?[\"']?[ \t]*(?:[:=][ \t]*(?:\w{1,20})?[\[(]|=>[ \t]*\[)[ \t\r]*$"),
        "items", "password: Some(", Trust.PASSWORD, lines=_MOST_CODES, ends="[("),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*(?:[\w.:-]{1,40}[ \t]+)?[\"']?[\w.-]{0,60}(?:" + NAMED + r"|(?:[a-z]{2,20})[_-]keys?)(?:s|_?list)?[\"']?[ \t]*(?:[:=][ \t]*(?:\w{1,20})?[\[(]|=>[ \t]*\[)[ \t\r]*$"),
        "items", '"admin_keys": [', lines=_MOST_CODES, ends="[("),
    Announcement(
        lazy_regex(r"(?i)^\$?[\w.]{0,40}\$[\w.]{0,20}" + NAMED + r"[ \t\r]*$"), "items", "$password", hint=Trust.PASSWORD, lines=3, holds=("$",)),
    Announcement(
        lazy_regex(r"(?i)^[ \t]*(?:protected|private|public|var)[ \t]+\$\w{0,40}(?:" + _STRONG + r"|pass|pw)\w{0,20}[ \t]*=>[ \t\r]*$"), "dump", "  protected $pass =>", Trust.PASSWORD, ends=">"),
    Announcement(
        lazy_regex(r"(?i)[>#$] select[ \t][^\n]{0,200}" + NAMED + r"\w{0,20}\b[^\n]{0,200};[ \t\r]*$"), "alone", "sqlite> select password from users limit 1;", hint=Trust.PASSWORD, lines=_MOST_CODES, ends=";"),
    Announcement(
        lazy_regex(r"[$#%\u276f] (?:go)?pass(?: show)?(?: -\w{1,12})?[ \t][\w.@-]{1,60}(?:/[\w.@-]{1,60}){1,6}[ \t\r]*$"), "alone", "$ pass mail/work", hint=Trust.PASSWORD, holds=("pass ",)),
    Announcement(lazy_regex(r"334 UGFzc3dvcmQ6[ \t\r]*$"), "sent", "334 UGFzc3dvcmQ6", Trust.PASSWORD),
    Announcement(lazy_regex(r"(?i)\[[\"']?[\w.:-]{0,40}" + _STRONG + r"[\w.-]{0,20}[\"']?(?::[\w:\"']{1,40})?\][ \t]*=>[ \t\r]*$"), "dump", '["password"]=>', Trust.PASSWORD, ends=">", holds=("=>",)),
    Announcement(lazy_regex(r"(?i)^[ \t]*\d{1,3}\) \"[\w.-]{0,40}(?:" + _STRONG + r"|requirepass|masterauth)[\w.-]{0,20}\"[ \t\r]*$"), "reply", '1) "requirepass"', Trust.PASSWORD, ends='"', holds=(') "',)),
    Announcement(lazy_regex(r"(?i)^[ \t]*expect[ \t][^\n]{0,60}(?:assword|assphrase|secret|token|\bPIN)[^\n]{0,40}$"), "send", 'expect "assword:"', Trust.PASSWORD, holds=("expect",)),
    Announcement(lazy_regex(r"(?i)\b(?:password|token|secret|api key)\b[^\n]{0,80}\b(?:reset|changed|generated|created|updated|rotated)\b[^\n]{0,40}$"), "new", "Password for the [elastic] user successfully reset.", Trust.PASSWORD, holds=("reset", "changed", "generated", "created", "updated", "rotated")),
)  # fmt: skip
_ANY_END = tuple(one for one in ANNOUNCEMENTS if not one.ends)
_BY_END = {
    end: tuple(one for one in ANNOUNCEMENTS if not one.ends or end in one.ends)
    for end in {end for one in ANNOUNCEMENTS for end in one.ends}
}
_TELLS_OF_KEYS = lazy_regex(
    r"[$#%\u276f] [^\n]{0,200}(?: pubkey <|-pubout|keygen [^\n]{0,80}-[ylBL]\b|\.metadata\.(?!annotations)(?![^\n]{0,200}\.data\b)|(?<!> )public[_-]?key(?![_-]?(?:pass|pw|secret|token))|fingerprint(?![_-]?(?:pass|pw|secret|token)))"
    r"|(?:>>>|^[\w.:@/\[\]-]{0,60}>|In \[\d{1,4}\]:) [^\n]{0,200}(?i:hexdigest\(|\b(?:sha\d{1,3}|md5|blake\w{1,4}|crc32)\()|(?i:checksum|fingerprint|thumbprint|digest|integrity)s?[\"']?[ \t]*:[ \t\r]*$"
)
"""Commands that show the public half of a key, a digest, or what an object is called."""
_PRINTED = Announcement(lazy_regex(""), "alone", "$ vault print token", hint=Trust.PASSWORD, skips=1)


def announcement_of(line: str, *, is_printer: bool = True) -> Announcement | None:
    """What ``line`` announces; ``is_printer``: whether it may be a command that prints a secret."""
    if _TELLS_OF_KEYS.search(line) is not None:
        return None
    for one in _BY_END.get(line.rstrip(" \t\r")[-1:], _ANY_END):
        for word in one.holds:
            if word in line:
                break
        else:
            continue
        if one.line.search(line) is not None:
            return one
    low = line.lower() if is_printer else ""
    return _PRINTED if is_printer and any(word in low for word in PRINTERS) else None


def announced_on(said: Announcement, line: str) -> list[Span] | None:
    """The secret on ``line``, with offsets in it; an empty list where the value may still follow; None: it does not."""
    form = FORMS[said.form]
    found = form.value.fullmatch(line)
    if found is not None and _NO_VALUE.match(line) is None and _ACCOUNT.fullmatch(line.strip()) is None:
        group = str(found.lastgroup)
        value = found[group]
        is_one = (
            (said.form == "passwords" and not any(map(is_wordy, value.split())))
            or is_secret(value, said.trust, "", is_quoted=True)
            if said.trust is not None
            else (_looks_made(value) and (said.form != "items" or len(value) >= _MIN_ITEM))
            or is_given(value, said.hint, Distance.BESIDE, is_quoted=False)
        )
        if is_one:
            return [Span(found.start(group), found.end(group), "secret", value, Priority.STRUCTURE)]
    if said.skips and form.between is not None and form.between.fullmatch(line) is not None:
        return []
    return None


def _looks_made(value: str) -> bool:
    is_mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if (
        not is_mixed
        or is_placeholder(value)
        or is_reference(value)
        or is_date(value)
        or value.endswith(":")
        or "(" in value
        or "==" in value.rstrip("=")
    ):
        return False
    return not is_wordy(value) or is_made(value.rstrip(".,"))
