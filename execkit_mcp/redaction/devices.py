# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets in what devices, wireless networks and servers with protocols of their own print. A row is as in ``surroundings``.

WIFI:T:WPA;S:home;P:…;;        crypto isakmp key … address 10.0.0.1        "AUTH" "default" "…"
"""

from execkit_mcp.redaction.commands import is_made
from execkit_mcp.redaction.place import PlaceRow
from execkit_mcp.redaction.value import is_wordy


def _has_digit(secret: str) -> bool:
    return any(c.isdigit() for c in secret)


_PLAIN = frozenset("/_.:")


def _is_answer(secret: str) -> bool:
    """Whether what a protocol's PASS is given is no name of a test, which some print behind the same word."""
    return _has_digit(secret) and not secret.isdigit() and (_PLAIN.isdisjoint(secret) or secret[-3:].isdigit())


DEVICES: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="password",
        keywords=("wifi:",),
        pattern=r"(?i:wifi):(?=[^\n]{0,200}S:)(?:[TSHRKE]{1,3}:(?:[^;\\\n]|\\.){0,200}+;){0,5}P:(?P<secret>(?:[^;\\\n]|\\.){4,200}+)(?=;)",
        example="WIFI:T:WPA;S:home;P:{};;",
        counter_example="WIFI:T:nopass;S:home;;",
        may_be_glued=True,
        gate=r"wifi:[^\n]*p:[^\n]*;",
    ),
    PlaceRow(
        kind="password",
        keywords=('psk="', "psk='"),
        pattern=r"psk=[\"'](?P<secret>[^\"'\n]{8,63})[\"']",
        example='psk="{}"',
        counter_example='psk="********"',
        may_be_glued=True,
    ),
    PlaceRow(
        kind="key",
        keywords=("isakmp key ", " key 5 ", " key 6 ", " key 7 ", " key 8 ", " key 9 "),
        pattern=r"(?i:isakmp key[ \t]{1,4}(?:[06][ \t]{1,4})?(?P<secret>\S{4,200})[ \t]{1,4}(?:address|hostname)|[ \t]key[ \t](?:[567][ \t](?P<s2>[0-9a-f]{10,200})|[89][ \t](?P<s3>\$\d\$\S{10,200}))(?=\s|$))",
        check=_has_digit,
        example="crypto isakmp key {} address 10.0.0.1",
        counter_example="crypto isakmp key address",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("plaintext ", "cleartext "),
        pattern=r"(?:plain|clear)text[ \t]{1,4}[\"']?(?P<secret>[^\s\"']{6,200})[\"']?[ \t\r]{0,4}(?=$|\n)",
        check=_has_digit,
        example='password manager user-name "admin" plaintext "{}"',
        counter_example="the message is plaintext utf-8",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=('"auth" "', '"requirepass" "', '"masterauth" "'),
        pattern=r"\"(?i:auth|requirepass|masterauth)\"(?:[ \t]\"[^\"\n]{1,64}\")?[ \t]\"(?P<secret>[^\"\n]{4,400})\"[ \t\r]{0,4}(?=$|\n|\"SETNAME)",
        example='1700000000.1 [0 10.0.0.2:51234] "AUTH" "default" "{}"',
        counter_example='"AUTH" ""',
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=(" on >", " off >", " on #", " sanitize-payload >", " sanitize-payload #"),
        pattern=r"[ \t](?:on|off|sanitize-payload)[ \t](?:>(?P<secret>[^\s\"']{4,400})|#(?P<s2>[0-9a-f]{64}))(?=[ \t]|$|\n)",
        before=r"(?i:user)[ \t][\w.-]{1,64}(?:[ \t](?:on|off))?\Z",
        example="user default on >{} ~* &* +@all",
        counter_example="turn it on > 5 times",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=('send "', "send -- ", "send '"),
        pattern=r"send[ \t](?:--[ \t])?[\"'](?P<secret>[^\"'\\\n$ ]{6,200})\\[rn][\"']",
        check=lambda secret: is_made(secret) or (_has_digit(secret) and len(secret) > 7 and secret.isalnum()),  # noqa: PLR2004 - a choice, not an answer
        example='send "{}\\\\r"'.replace("\\\\", "\\"),
        counter_example='send "yes\\r"',
    ),
    PlaceRow(
        kind="password",
        keywords=("-command 'echo ", '-command "echo ', "-command=echo ", "-cmd 'echo ", "askpass='echo ", "_passcommand='echo ", '_passcommand="echo '),
        pattern=r"(?:-command|-cmd|askpass|_PASSCOMMAND)[ =][\"']?echo[ \t](?P<secret>[^\s\"'$|;&]{6,200})",
        check=lambda secret: _has_digit(secret) or not is_wordy(secret),
        example="restic backup / --password-command 'echo {}'",
        counter_example="restic backup / --password-command 'cat file'",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("pass ", "auth "),
        pattern=r"(?:PASS|AUTH)[ \t](?P<secret>[^\s\"'\\:/]{6,200}?)(?=\\r|\.\.|[ \t\r]{0,4}(?:$|\n))",
        before=r"(?:^|\n|\")(?:[<>=-]{1,5}[ \t]|C: )?\Z",
        check=_is_answer,
        example="---> PASS {}",
        counter_example="PASS src/app.test.js",
    ),
    PlaceRow(
        kind="password",
        keywords=("login ",),
        pattern=r"LOGIN[ \t]\"?[^\s\"]{1,100}\"?[ \t](?:\"(?P<secret>[^\"\n]{4,200})\"|(?P<s2>[^\s\"]{6,200}))[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n|[>:][ \t])\w{1,10}[ \t]\Z",
        check=_has_digit,
        example='a1 LOGIN alice "{}"',
        counter_example='a1 LOGIN alice ""',
    ),
    PlaceRow(
        kind="password",
        keywords=("sip:", "sips:"),
        pattern=r"sips?:[\w.+-]{1,64}:(?P<secret>[^\s@:/\"'<>]{4,200})@(?=[\w\[])",
        example="sip:alice:{}@pbx.example.com",
        counter_example="sip:alice@pbx.example.com",
    ),
    PlaceRow(
        kind="password",
        keywords=("secret,id=",),
        pattern=r"secret,id=[\w-]{1,60}(?:,format=\w{1,10})?,data=(?P<secret>[^\s,\"']{4,400})",
        example="-object secret,id=s0,data={}",
        counter_example="-object secret,id=s0,file=/run/k",
    ),
    PlaceRow(
        kind="telegram_bot_token",
        keywords=("/bot",),
        pattern=r"/bot\d{6,12}:(?P<secret>[A-Za-z0-9_-]{30,40})(?![A-Za-z0-9_-])",
        check=_has_digit,
        example="",
        counter_example="url: /bot6120394857:none/getUpdates",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"),
        pattern=r"\$[a-z0-9]{1,10}\$[^\s:\"']{20,200}:(?P<secret>[^\s:\"']{4,100})[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t]{0,4}\Z",
        check=_has_digit,
        example="",
        counter_example="$6$abcdefgh$none",
        may_be_glued=True,
        gate=r"\$[a-z0-9]+\$[^ \t\n:]{20}[^ \t\n]*:",
    ),
    PlaceRow(
        kind="password",
        keywords=("slappasswd ", "wbinfo ", "mosquitto_passwd ", "ejabberdctl ", "prosodyctl ", "elasticsearch-users ", "user set password ", "uci set ", "pro attach ", "ua attach ", "/secure set ", "client_send ", "register =>", "register=>"),
        pattern=r"slappasswd[ \t][^\n|;&]{0,80}?-s[ \t]{1,4}[\"']?(?P<s1>[^\s\"']{4,200})|wbinfo[ \t][^\n|;&]{0,80}?-a[ \t]{1,4}[\"']?[^\s%\"']{1,80}%(?P<s2>[^\s\"']{4,200})"
        r"|mosquitto_passwd[ \t][^\n|;&]{0,40}?-\w{0,2}b[ \t]{1,4}\S{1,200}[ \t]{1,4}\S{1,64}[ \t]{1,4}[\"']?(?P<s3>[^\s\"']{4,200})|(?:ejabberdctl|prosodyctl)[ \t]{1,4}(?:register|change_password)[ \t]{1,4}\S{1,64}[ \t]{1,4}\S{1,100}[ \t]{1,4}[\"']?(?P<s4>[^\s\"']{4,200})"
        r"|elasticsearch-users[ \t][^\n|;&]{0,100}?-p[ \t]{1,4}[\"']?(?P<s5>[^\s\"']{4,200})|user set password[ \t]{1,4}\d{1,3}[ \t]{1,4}[\"']?(?P<s6>[^\s\"']{4,200})|uci set[ \t][\w.@\[\]-]{1,100}\.(?:key|psk|password)=[\"']?(?P<s7>[^\s\"']{6,200})"
        r"|(?:pro|ua) attach[ \t]{1,4}(?P<s8>[A-Za-z0-9]{20,60})(?=\s|$)|/secure set[ \t]{1,4}\S{1,64}[ \t]{1,4}(?P<s9>\S{4,200})|client_send[ \t]{0,4}=[ \t:^]{0,8}[\w.@-]{1,80}[ \t:^]{1,8}(?P<s10>[^\s:^]{6,200})|register[ \t]{0,4}=>[ \t]{0,4}[\w.+-]{1,64}:(?P<s11>[^\s@:]{4,200})@",
        check=_has_digit,
        example="slappasswd -s {}",
        counter_example="wbinfo -a alice",
        may_be_reference=False,
        gate=r"(?:slappasswd |wbinfo |mosquitto_passwd |ejabberdctl |prosodyctl |elasticsearch-users |user set password |uci set |pro attach |ua attach |/secure set |client_send |register ?=>)",
    ),
    PlaceRow(
        kind="url_key",
        keywords=("trojan://", "hysteria2://", "hysteria://", "hy2://", "vless://", "ss://", "tuic://"),
        pattern=r"(?:trojan|hysteria2?|hy2|vless|ss|tuic)://(?P<secret>[^\s@/\"'<>]{8,200})@",
        check=_has_digit,
        example="trojan://{}@h1.example.com:443?sni=h1",
        counter_example="trojan://h1.example.com:443",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="key",
        keywords=('"clients": [{"id"', '"clients":[{"id"'),
        pattern=r"\"clients\": ?\[\{\"id\": ?\"(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\"(?=[^\n]{0,100}(?:alterId|flow|level|email))",
        example="",
        counter_example='"clients": [{"id": "first"}]',
    ),
    PlaceRow(
        kind="key",
        keywords=("key =", "key="),
        pattern=r"key[ \t]{0,4}=[ \t]{0,4}\"(?P<secret>[A-Za-z0-9+/]{16,88}={0,2})\"[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t]{0,8}\Z",
        check=lambda secret: is_made(secret) and not is_wordy(secret) and not secret.isupper(),
        example='key = "{}"',
        counter_example='key = "value-of-the-key"',
        may_be_glued=True,
        gate=r"^[ \t]*key[ \t]*=[ \t]*\"[a-z0-9+/]{16}",
    ),
    PlaceRow(
        kind="password",
        keywords=("esxcli ",),
        pattern=r"esxcli[ \t][^\n|;&]{0,200}?[ \t](?:-p|--password)[ \t=](?P<secret>[^\s\"']{4,200})",
        example="esxcli system account add -i alice -p {}",
        counter_example="esxcli system account list",
    ),
)  # fmt: skip
