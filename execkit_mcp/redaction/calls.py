# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that a call, a command or a daemon's file holds without naming them. A row is as in ``surroundings``.

Client("AC…", "…")        bot.login('…')        expdp system/…@orcl        nsupdate -y hmac-sha256:k:…
"""

import re

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.commands import is_made
from execkit_mcp.redaction.place import PlaceRow
from execkit_mcp.redaction.value import is_path, is_random, is_wordy

_HEX_KEY = lazy_regex(r"[0-9a-f]{32}|[0-9a-f]{64}")
_DOTTED = lazy_regex(r"[\w-]+(?:\.[\w-]+){2,}\.(?:com|net|org|io|dev|local|internal|svc)")


def _is_argument(secret: str) -> bool:
    """Whether an argument without a name looks generated."""
    if is_wordy(secret) or is_path(secret) or _DOTTED.fullmatch(secret) is not None or not is_random(secret):
        return False
    is_varied = any(c.isupper() for c in secret) and any(c.islower() for c in secret)
    return is_varied or _HEX_KEY.fullmatch(secret) is not None


CALLS: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="key",
        keywords=("login(", "client(", "sign(", "verify(", "configure(", "authenticate(", "search(", "api(", "bot(", "service(", "session("),
        pattern=r"[A-Za-z]{3,14}\((?:[^()\"'\n]{1,80}+|\"[^\"\n]{0,120}+\"|'[^'\n]{0,120}+'){0,6}?[\"'](?!AC[0-9a-f]{32}[\"'])(?=[^\"'\n]{0,60}[a-z])(?=[^\"'\n]{0,60}[0-9])(?P<secret>[A-Za-z0-9+/=_.:-]{16,400})[\"']",
        check=_is_argument,
        example="bot.login('{}');",
        counter_example="bot.login('from-the-environment-2026');",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:login|client|sign|verify|configure|authenticate|search|api|bot|service|session)\([^\n]*[\"'][a-z0-9+/=_.:-]{16}",
    ),
    PlaceRow(
        kind="password",
        keywords=(": eap ", ": xauth ", ": ntlm ", 'l2tpd "', 'pptpd "', 'pppoe "', 'pppd "'),
        pattern=r"(?:: (?:EAP|XAUTH|NTLM)|(?:l2tpd|pptpd|pppoe|pppd))[ \t]{1,4}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
        example='alice : EAP "{}"',
        counter_example='alice : EAP ""',
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("expdp ", "impdp ", "sqlldr ", "rman target ", "sqlcl ", "+login "),
        pattern=r"(?:expdp|impdp|sqlldr|rman target|sqlcl)[ \t]{1,4}[\"']?[\w$#.]{1,60}/(?P<secret>[^\s@\"'/]{3,100})|\+login[ \t]{1,4}\S{1,60}[ \t]{1,4}(?P<s2>[^\s+]\S{3,100})",
        example="expdp system/{}@orcl full=y",
        counter_example="expdp / full=y",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="key",
        keywords=("nsupdate ", "-y hmac-", "-y 'hmac-"),
        pattern=r"(?:nsupdate[ \t][^\n|;&]{0,100}?)?-y[ \t]{0,4}[\"']?(?:[\w-]{1,20}:)?[\w.-]{1,80}:(?P<secret>[A-Za-z0-9+/]{12,200}={0,2})",
        check=is_random,
        example="dig -y hmac-sha256:k:{} example.com",
        counter_example="nsupdate -k /etc/rndc.key",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("tacacs-server ", "radius-server ", "neighbor ", "peer "),
        pattern=r"(?:tacacs|radius)-server[ \t][^\n]{0,100}?[ \t]key[ \t](?:[0567] )?(?P<secret>\S{4,200})|(?:neighbor|peer)[ \t]\S{1,60}[ \t]password[ \t](?:[0567] |cipher )?[\"']?(?P<s2>[^\s\"']{4,200})",
        check=lambda secret: any(c.isdigit() for c in secret),
        example="tacacs-server host 10.0.0.9 key {}",
        counter_example="tacacs-server host 10.0.0.9 key",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="token",
        keywords=("cargo login ", "cargo owner "),
        pattern=r"cargo (?:login|owner)(?:[ \t]{1,4}--\S{1,40}(?:[ \t]{1,4}(?!--)[\w-]{1,40}(?=[ \t]))?){1,4}[ \t]{1,4}(?P<secret>[A-Za-z0-9_-]{20,200})",
        check=is_made,
        example="cargo login --registry mine {}",
        counter_example="cargo login --registry mine",
    ),
    PlaceRow(
        kind="signature",
        keywords=("x-honeycomb-team", "cb-access-sign", "x-signature", "x-hub-signature", "x-api-secret", "x-license-key", "x-account-key"),
        pattern=r"[A-Za-z-]{6,30}\\{0,2}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,2}[\"']?(?P<secret>[^\s\"'`,;\\<>]{16,400})",
        check=is_random,
        example="x-honeycomb-team: {}",
        counter_example="x-honeycomb-team: none",
    ),
    PlaceRow(
        kind="authorization",
        keywords=("digest username", "digest realm", "digest nonce"),
        pattern=r"(?i:digest)[ \t][^\n]{0,800}?response=\\{0,2}[\"']?(?P<secret>[0-9a-f]{32,64})",
        example='Authorization: Digest username="a", response="{}{}{}{}"',
        counter_example='WWW-Authenticate: Digest realm="x", nonce="0"',
    ),
    PlaceRow(
        kind="password",
        keywords=("recovery code", "backup code", "scratch code"),
        pattern=r"(?i:(?:recovery|backup|scratch) codes?)[^:\n]{0,40}:[ \t]{1,8}(?P<secret>[A-Za-z0-9-]{6,24}(?:[ ,]{1,3}[A-Za-z0-9-]{6,24}){0,19})[ \t\r]{0,4}(?=$|\n)",
        check=lambda secret: all(any(c.isdigit() for c in one) for one in re.split(r"[ ,]+", secret)),
        example="Backup codes: {}",
        counter_example="Backup codes: missing",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="webhook",
        keywords=("/webhook/", "/webhooks/", "/hooks/", "/hook/", "/push/"),
        pattern=r"/(?:(?:web)?hooks?|push)/(?:[^\s\"'<>/?#]{1,80}/){0,6}?(?P<secret>[A-Za-z0-9_-]{20,200})(?=/?(?:[\s\"'<>?#]|$))",
        check=_is_argument,
        example="https://chat.example.com/hooks/{}",
        counter_example="https://docs.example.com/webhooks/getting-started-with-webhooks-2",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="key",
        keywords=("oathtool ", "codecov", "signtool ", "key = aq", "message-digest-key ", "snmp community "),
        pattern=r"oathtool[ \t][^\n|;&]{0,100}?(?<=[ \t])(?P<s1>[A-Za-z2-7]{16,128}|[0-9a-fA-F]{32,128})(?=\s|$)|codecov\S{0,40}[ \t][^\n|;&]{0,100}?-t[ \t=](?P<s2>[0-9a-f-]{36})"
        r"|signtool[ \t][^\n]{0,200}?[ \t]/p[ \t](?P<s3>[^\s/]\S{3,100})|key = (?P<s4>AQ[A-Za-z0-9+/]{34,44}==)"
        r"|message-digest-key[ \t]\d{1,3}[ \t]md5[ \t](?:\d[ \t])?(?P<s5>\S{4,100})|snmp community[ \t](?P<s6>\S{6,100})",
        check=lambda secret: any(c.isdigit() for c in secret) or (secret.isupper() and not is_wordy(secret)),
        example="signtool sign /f c.pfx /p {} a.exe",
        counter_example="signtool sign /f c.pfx a.exe",
        may_be_reference=False,
        gate=r"(?:oathtool |codecov[^ \t\n]*[ \t]|signtool |key = aq|message-digest-key |snmp community )",
    ),
    PlaceRow(
        kind="password",
        keywords=("passcode", "one-time password", "one-time code", "verification code", "security code", "login code"),
        pattern=r"(?i:passcode|one-time (?:password|code)|(?:verification|security|login) code)[^\n:]{0,40}?(?::| is)[ \t]{1,4}(?P<secret>\d{6,10})(?!\d)",
        example="",
        counter_example="verification code: none",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=('"-a"', '"-p"', '"-w"', '"--pass"', '"-u"', '"--user"', "'-a'", "'-p'", "'-w'", "'-u'"),
        pattern=r"[\"']-(?:[apPw]|-pass)[\"'](?:,[ \t]{0,4}|[ \t]a\d{1,3}=)[\"'](?P<secret>[^\"'\n$]{4,400})[\"']|[\"']-(?:u|-user)[\"'](?:,[ \t]{0,4}|[ \t]a\d{1,3}=)[\"'][^\s:\"']{1,100}:(?P<s2>[^\"'\n$]{3,400})[\"']",
        before=r"[\"'](?:[\w./-]{0,60}/)?(?:(?:redis|valkey|keydb|memc)-?cli|mysql\w*|mariadb[\w-]*|mongo\w*|psql|cqlsh|ldap\w+|sshpass|curl|wget|http|influx|sqlcmd|docker|nats|clickhouse-client|rabbitmqadmin|ipmitool)[\"'](?:,|[ \t]a\d{1,3}=)[^\n]{0,200}\Z",
        check=lambda secret: not secret.isdigit() and is_path(secret) is False,
        example='test: ["CMD", "redis-cli", "-a", "{}", "ping"]',
        counter_example='test: ["CMD", "redis-cli", "-p", "6379", "ping"]',
        may_be_glued=True,
        gate=r"[\"']--?[apuw][a-z]*[\"'](?:,[ \t]*| a[0-9]+=)[\"'][^\n\"']{4}",
    ),
    PlaceRow(
        kind="secret",
        keywords=("omniauth ", "omniauth(", "provider ", "provider("),
        pattern=r"(?:omniauth|provider)[ (][ \t]{0,4}[:\"'][\w\"']{2,40},[ \t]{0,4}[\"'][^\"'\n]{4,200}[\"'],[ \t]{0,4}[\"'](?P<secret>[^\"'\n]{12,400})[\"']",
        check=lambda secret: is_random(secret, 12) and not is_wordy(secret),
        example="provider :github, 'Iv1.8a61f9b3a7aba766', '{}', scope: 'user'",
        counter_example="provider :github, 'client-of-ours', 'the-secret-of-ours'",
    ),
    PlaceRow(
        kind="url_key",
        keywords=(".alchemy.com/v2/", ".alchemyapi.io/v2/", ".infura.io/v3/", ".quiknode.pro/", "rpc.ankr.com/", ".getblock.io/", ".blastapi.io/", "api.telegram.org/bot"),
        pattern=r"[./]?[\w.]{4,30}/(?:v\d/|bot\d{3,12}:|\w{2,20}/)?(?P<secret>[A-Za-z0-9_-]{24,80})(?=[\s\"'/?#]|$)",
        check=is_random,
        example="SEPOLIA_RPC_URL=https://eth-sepolia.g.alchemy.com/v2/{}",
        counter_example="https://mainnet.infura.io/v3/your-project",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("set-password ", "change-password "),
        pattern=r"(?:set|change)-password[ \t]{1,4}(?:-\S{1,20}[ \t]{1,4}){0,2}[\w.@-]{1,64}[ \t]{1,4}[\"']?(?P<secret>[^\s\"'-][^\s\"']{5,200})[\"']?(?=\s|$)",
        check=lambda secret: any(c.isdigit() for c in secret),
        example="ceph dashboard ac-user-set-password admin {}",
        counter_example="ceph dashboard ac-user-set-password admin",
        may_be_glued=True,
        may_be_reference=False,
    ),
)  # fmt: skip
