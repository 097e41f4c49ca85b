# ruff: noqa: E501 - an expression stands in one piece
"""Words that name secrets, in the languages and abbreviations that people use: lower case, one table for every rule."""

import re
from itertools import product

PASSWORDS: tuple[str, ...] = (
    "password", "passwd", "passphrase", "passcode", "pass phrase", "pass-phrase", "pass_phrase", "pwd", "pswd", "psw", "key content", "option key",
    "passwort", "kennwort", "contrasena", "contrase\u00f1a", "senha", "mot de passe", "motdepasse", "mot_de_passe", "wachtwoord", "haslo", "has\u0142o",
    "passord", "adgangskode", "kodeord", "heslo", "lozinka", "geslo", "zaporka", "sifre", "\u015fifre", "parool", "palavra-passe", "m\u1eadt kh\u1ea9u", "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631", "\u05e1\u05d9\u05e1\u05de\u05d4", "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19", "l\u00f6senord", "losenord", "salasana", "parola", "jelszo", "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc", "\u53e3\u4ee4",
    "\u30d1\u30b9\u30ef\u30fc\u30c9", "\ube44\ubc00\ubc88\ud638",
)  # fmt: skip
SECRETS: tuple[str, ...] = (
    "secret",
    "credential",
    "creds",
    "apikey",
    "preshared",
    "skey",
    "presharedkey",
    "pre-shared key",
)
TOKENS: tuple[str, ...] = ("token", "bearer", "jwt")
KEY_OWNERS: tuple[str, ...] = (
    "api", "access", "private", "signing", "encryption", "encrypt", "enc", "master", "account", "shared", "service", "deploy", "storage", "security", "admin", "hmac",
    "session", "webhook", "fernet", "subscription", "application", "app", "consumer", "integration", "ingestion", "registration", "license", "licence", "unseal",
    "recovery", "auth", "aes", "des", "cipher", "crypto", "server", "client", "data", "bot", "root", "ssh", "tls", "ssl", "vault", "stripe", "sendgrid",
    "openai", "anthropic", "mailgun", "twilio", "datadog", "algolia", "write", "ingest", "instrumentation", "project", "user", "secure", "jwt", "cookie", "secret", "wpa", "wep",
    "wifi", "backup", "activation", "product", "pairing", "enrollment", "join", "cluster", "gossip", "node", "agent", "device", "tsig", "psk", "network", "spend", "view", "crypt", "wireless", "wlan", "set", "mac", "seed", "rpc", "setup", "secretaccess", "upload", "release", "certificate",
)  # fmt: skip
"""What stands before ``key`` where it names a secret."""
PASS_OWNERS: tuple[str, ...] = (
    "db", "user", "root", "admin", "smtp", "mail", "imap", "pop3", "bind", "ldap", "login", "auth", "key", "store", "keystore", "truststore", "mysql", "pg", "postgres", "redis",
    "mongo", "ftp", "sftp", "ssh", "sudo", "become", "proxy", "http", "vnc", "wifi", "rpc", "vault", "app", "api", "test", "default", "my", "sql", "database", "email", "web", "site",
    "master", "backup", "cert", "p12", "pfx", "jks", "repo", "registry", "docker", "git", "nexus", "mq", "rabbit", "broker", "service", "svc", "guest", "host", "server", "temp", "plain", "plaintext", "clear", "cleartext",
)  # fmt: skip
"""What stands before ``pass`` and ``pw`` where they name a password."""

CODE_OWNERS: tuple[str, ...] = (
    "access", "activation", "license", "licence", "unlock", "auth", "security", "login", "recovery", "invite", "pairing", "registration", "redemption", "voucher", "otp", "enrollment", "join",
)  # fmt: skip
"""What stands before ``code`` where it lets somebody in."""
MORE_SECRETS: tuple[str, ...] = (
    *(f"{owner}{gap}code" for owner in CODE_OWNERS for gap in ("", "_", "-")),
    *(f"auth{gap}{word}" for word in ("string", "value", "data", "hash") for gap in ("", "_", "-")),
    *(f"{owner}{gap}seed" for owner in ("otp", "totp", "hotp", "wallet", "master", "key") for gap in ("", "_", "-")),
)
WEAK: tuple[str, ...] = (
    "_key",
    "-key",
    "_session",
    "_salt",
    "_seed",
    "_pepper",
    "_psk",
    ".psk",
    ".key",
    ":key",
    " key",
    "authkey",
    '"key=',
    "?key=",
    "&key=",
    "_pat=",
    "_pat",
    "-pat",
    "cred=",
    "cred:",
    'cred"',
    "key=",
    "key:",
    'key"',
    "key'",
    "key>",
    "key(",
    "pat=",
    "pat:",
    'pat"',
)
"""These name a secret where what follows looks generated."""
_LONGEST_FIRST = sorted(KEY_OWNERS, key=len, reverse=True)
NAMED_LIKE_A_PASSWORD = f"(?:{'|'.join(map(re.escape, PASSWORDS))}|(?:{'|'.join(sorted(PASS_OWNERS, key=len, reverse=True))})[ _.-]?(?:pass|pw)(?![a-z]))"
NAMED_LIKE_A_SECRET = f"(?:{'|'.join(map(re.escape, SECRETS))}|(?:{'|'.join(_LONGEST_FIRST)})[ _.-]?key)"
NAMED_LIKE_A_TOKEN = f"(?:{'|'.join(map(re.escape, TOKENS))})"
NAMED = f"(?:{NAMED_LIKE_A_PASSWORD}|{NAMED_LIKE_A_SECRET}|{NAMED_LIKE_A_TOKEN})"
"""Expressions for the middle of a name, to be compiled without regard to case."""


def _gate(words: tuple[str, ...]) -> str:
    """``words`` as gates read them: lower case, a question mark for what is beyond ASCII."""
    return "|".join(re.escape(word.encode("ascii", "replace").decode()).replace("\\ ", "[ ]") for word in words)


GATE = f"(?:{_gate((*PASSWORDS, *SECRETS, *TOKENS, *WEAK))}|(?:{_gate(KEY_OWNERS)})[ _.-]?key|(?:{_gate(PASS_OWNERS)})[ _.-]?(?:pass|pw)|(?:{_gate(CODE_OWNERS)})[_-]?code|auth[_-]?(?:string|value|data|hash)|(?:otp|totp|hotp|wallet|master|key)[_-]?seed)"
"""An expression that matches wherever one of the words stands (see ``gate``)."""
_GAPS = ("", "_", "-", " ", ".")
LITERALS: dict[str, tuple[str, ...]] = {
    "password": (
        *PASSWORDS,
        *(f"{owner}{gap}{word}" for owner, gap, word in product(PASS_OWNERS, _GAPS, ("pass", "pw"))),
    ),
    "secret": (*SECRETS, *MORE_SECRETS, *(f"{owner}{gap}key" for owner, gap in product(KEY_OWNERS, _GAPS))),
    "token": TOKENS,
    "weak": WEAK,
}
"""All of them spelt out, by what they are the name of."""
