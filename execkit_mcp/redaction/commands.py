# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets in what people type and programs say: options of one program, protocol lines, calls with a user and a password, prose.

A row is as in ``surroundings``. Where nothing but a word speaks for the value, it must look made: digits and letters,
and both cases or a symbol.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.place import PlaceRow
from execkit_mcp.redaction.value import is_numbered, is_path, is_random, is_wordy

_VALUE = r"(?:\"(?P<{0}d>[^\"\n]{{1,400}})\"|'(?P<{0}s>[^'\n]{{1,400}})'|(?P<{0}b>[^\s\"'`;|&<>]{{1,400}}))"
_SYMBOL = lazy_regex(r"[^A-Za-z0-9_.:/-]")
_NAMED_AFTER = lazy_regex(r"[A-Za-z0-9]{1,20}(?:Password|Token|Secret|Credential|Key)s?")
_DIGIT = lazy_regex(r"\d")
_LETTER = lazy_regex(r"[^\W\d_]")
_JOINT = lazy_regex(r"[^A-Za-z0-9]")
_PAIR = lazy_regex(
    r"-{0,2}(?!(?:value|data)=)[A-Za-z]?[a-z]{2,20}(?:[_.-][a-z]{2,20}){0,3}(?:[A-Z][a-z]{1,20}){0,2}(?:ID)?=[^=]"
)
_VERSION = lazy_regex(
    r"V\d(?:(?:alpha|beta)\d)?(?:[A-Z]+[a-z]+)+|v?\d+(?:[._-]\d+)+[\w.+-]*|v\d\w{0,7}|[\w-]+[:@]v?[\d.]+[\w.-]*|\d+[A-Za-z]{1,6}|[\d.:]+\w?"
)


def is_made(secret: str) -> bool:
    """Whether ``secret`` looks like a password or token rather than a word, a version, a path or a number."""
    if _DIGIT.search(secret) is None or _LETTER.search(secret) is None or is_path(secret):
        return False
    if (
        _NAMED_AFTER.fullmatch(secret) is not None
        or _VERSION.fullmatch(secret) is not None
        or "://" in secret
        or secret.count("|") > 1
        or secret.startswith(("--", "$", "<", "{", "["))
    ):
        return False
    is_cased = not secret.islower() and not secret.isupper()
    return is_cased or _SYMBOL.search(secret) is not None


def is_chosen(secret: str) -> bool:
    """Whether ``secret`` looks made, or chosen by a person: a word and a number."""
    return is_made(secret) or is_numbered(secret)


def is_generated(secret: str) -> bool:
    """As above, and no words: what stands in running text."""
    return is_made(secret) and not is_wordy(secret) and not is_pair(secret)


def is_pair(value: str) -> bool:
    """Whether ``value`` is the name of something else and its value: ``request_id=…``."""
    return _PAIR.match(value) is not None


def is_said(secret: str) -> bool:
    """Whether ``secret`` stands out of running text."""
    return is_generated(secret) or is_numbered(secret) or (is_made(secret) and _JOINT.search(secret) is not None)


_FILLER = r"(?:[ \t]{1,2}(?!(?:hash|hashes|digest|fingerprint|checksum|id|ids|sha\d*|commit|name|file|path|for|from|user|of|by|on|at|in|host|version)\b)[A-Za-z][a-z]{0,13})"
_SPOKEN = r"(?:passphrase|password|passwd|secret|token|credentials?|api[ _-]?key|(?:access|secret|unseal|recovery|encryption|master)[ _]key|\bkey)"

COMMANDS: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="secret",
        keywords=('"sensitive": true', '"sensitive":true'),
        pattern=r"\"sensitive\":[ ]?true,[^{}\n]{0,80}?\"value\":[ ]?\"(?P<secret>(?:[^\"\\\n]|\\.){1,4096}+)\"",
        example='"db_password": {"sensitive": true, "type": "string", "value": "{}"}',
        counter_example='"db_password": {"sensitive": true, "type": "string"}',
    ),
    PlaceRow(
        kind="password",
        keywords=("convertto-securestring",),
        pattern=r"(?i:convertto-securestring)(?:[ \t]{1,4}-(?i:asplaintext|force|string)){0,3}[ \t]{1,4}(?:\"(?P<s1>[^\"\n$]{3,400})\"|'(?P<s2>[^'\n]{3,400})')",
        example="ConvertTo-SecureString -AsPlainText '{}' -Force",
        counter_example="ConvertTo-SecureString $env:PW -AsPlainText -Force",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("bundle config ", "sqlalchemy url", "could not parse"),
        pattern=r"bundle config[ \t](?:set[ \t])?(?:--\w+[ \t]){0,2}[\w.:/-]{4,120}[ \t](?:(?P<s0>[A-Za-z0-9_-]{16,200}):x-oauth-basic|[\w.@+-]{1,64}:(?P<s1>[^\s:\"'/]{6,200}))(?=\s|$)"
        r"|(?i:sqlalchemy url|could not parse)[^\n\"']{0,80}[\"'][\w+]{2,40}:?/{0,3}[\w.@-]{1,64}:(?P<s2>[^\s\"':/@]{1,200})@",
        example="bundle config set --global gems.example.com alice:{}",
        counter_example="bundle config set --local path vendor/bundle",
        gate=r"(?:bundle config|sqlalchemy url|could not parse)[ \t]",
    ),
    PlaceRow(
        kind="token",
        keywords=("-u ", "--user "),
        pattern=r"-(?:u|-user)[ \t][\"']?(?:(?P<s1>[A-Za-z0-9_-]{20,200}):|:(?P<s2>[A-Za-z0-9_-]{20,200}))[\"']?(?=\s|$)",
        check=lambda secret: is_random(secret) and not is_wordy(secret),
        example="curl -u {}: https://api.example.com/v1/charges",
        counter_example="curl -u name-of-the-service-account-2: https://example.com",
    ),
    PlaceRow(
        kind="password",
        keywords=("ipmitool ", "sqlcmd ", "bcp ", "evil-winrm ", "crackmapexec ", "netexec ", "nxc ", "hdbsql ", "beeline ", "psexec", "rdesktop ",
                  "racadm ", "ncftp", "kadmin ", "ipa-", "doveadm ", "medusa ", "ncrack ", "plink ", "pscp ", "psftp ", "impala-shell ", "nodetool ", "dsconf ", "softhsm2-util ", "rabbitmqadmin ", "p4 ", "kdb5_util ", "secedit ", "winrs ", "isql ", "tsql ", "fisql ", "certutil ", "x11vnc ", "vncpasswd"),
        pattern=r"(?:ipmitool|sqlcmd|bcp|evil-winrm|crackmapexec|netexec|nxc|hdbsql|beeline|psexec\w*|rdesktop|racadm|ncftp\w*|kadmin|ipa-(?:server|client|replica)-\w+|doveadm|medusa|ncrack|plink|pscp|psftp|impala-shell|nodetool|dsconf|softhsm2-util|rabbitmqadmin|p4|kdb5_util|winrs|[it]sql|fisql|certutil|x11vnc|vncpasswd)"
        r"[ \t][^\n|;&]{0,300}?[ \t]-(?:[pPw]|pw|passwd)[ \t:=]{0,2}" + _VALUE.format("a"),
        check=lambda secret: not secret.isdigit() and not secret.startswith("-"),
        example="ipmitool -I lanplus -H bmc.example.com -U admin -P {} power status",
        counter_example="ipmitool -I lanplus -H bmc.example.com power status",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("snmpwalk ", "snmpget ", "snmpset ", "snmpbulkwalk ", "snmptable ", "snmptranslate ", "snmpbulkget ", "snmpstatus "),
        pattern=r"snmp[a-z]+[ \t][^\n|;&]{0,300}?[ \t]-[AXc][ \t]?" + _VALUE.format("a"),
        example="snmpwalk -v2c -c {} switch.example.com",
        counter_example="snmpwalk -c public switch.example.com",
        check=lambda secret: secret.lower() not in {"public", "private"},
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("snmpwalk ", "snmpget ", "snmpset ", "snmpbulkwalk ", "snmptable "),
        pattern=r"snmp[a-z]+[ \t][^\n|;&]{0,300}?[ \t]-X[ \t]?" + _VALUE.format("a"),
        example="snmpget -v3 -u admin -l authPriv -x AES -X {} switch.example.com",
        counter_example="snmpget -v3 -u admin switch.example.com",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("ipa-server-", "ipa-replica-", "ipa-adtrust-"),
        pattern=r"ipa-(?:server|replica|adtrust)-\w+[ \t][^\n|;&]{0,300}?[ \t]-(?:a|-admin-password)[ \t=]{0,2}" + _VALUE.format("a"),
        example="ipa-server-install -U -a {}",
        counter_example="ipa-server-install -U",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="token",
        keywords=("service install ", "--token ey", "--token=ey", "tunnel run "),
        pattern=r"(?:service install[ \t]{1,4}|tunnel run[ \t]{1,4}(?:--token[ \t=]{1,4})?|--token[ =])(?P<secret>ey[A-Za-z0-9_=+/-]{40,2000})",
        example="",
        counter_example="cloudflared service install",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="passphrase",
        keywords=("echo ", "printf "),
        pattern=r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?(?:[\"']?%s(?:\\n)?[\"']?[ \t]{1,4})?(?:\"(?P<s1>[^\"\n$`]{8,200})\"|'(?P<s2>[^'\n]{8,200})')[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?(?:cryptsetup|gpg2?|veracrypt|openssl|ssh-add|borg|restic|age|zfs)[ \t][^|\n]{0,200}?(?:--key-file[ =]-|--passphrase-fd|--stdin|fd:0|stdin|luks(?:Open|Format|AddKey)|load-key)",
        example="",
        counter_example="echo 'hello there' | gpg --encrypt",
        gate=r"(?:echo|printf)[ \t]+[^\n|]*\|[^\n]*(?:cryptsetup|gpg|veracrypt|openssl|ssh-add|borg|restic|age|zfs)[ ]",
    ),
    PlaceRow(
        kind="password",
        keywords=("createuser ",),
        pattern=r"(?i:createuser)[ \t]{1,4}\S{1,60}[ \t]{1,4}(?:MD5|SHA[\d-]*)[ \t]{1,4}(?!AES|DES)" + _VALUE.format("a"),
        example='createUser admin SHA "{}" AES',
        counter_example="createUser admin SHA",
    ),
    PlaceRow(
        kind="password",
        keywords=("createuser ",),
        pattern=r"(?i:createuser)[ \t]{1,4}\S{1,60}[ \t][^\n]{1,300}?[ \t](?:DES|AES[\w-]*)[ \t]{1,4}" + _VALUE.format("a"),
        example="createUser admin SHA AES {}",
        counter_example="createUser admin SHA AES",
    ),
    PlaceRow(
        kind="password",
        keywords=("/p:", "/password:", "/pass:"),
        pattern=r"/p(?:ass(?:word)?)?:" + _VALUE.format("a"),
        check=lambda secret: is_made(secret) and "=" not in secret,
        example="xfreerdp /u:alice /p:{} /v:host.example.com",
        counter_example="msbuild /p:Configuration=Release2",
        may_be_reference=False,
        may_be_words=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("login ", "logon "),
        pattern=r"log[io]n[ \t](?:[^\n|;&]{0,120}?[ \t])?-p[ \t=]{1,2}" + _VALUE.format("a"),
        check=is_made,
        example="conan remote login -p {} mine alice",
        counter_example="login -p",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("lftp ", "ncftpget ", "ncftpput "),
        pattern=r"lftp[ \t][^\n|;&]{0,200}?-u[ \t]?[^\s,]{1,64},(?P<secret>[^\s\"'|;&]{3,200})",
        example="lftp -u alice,{} ftp://files.example.com",
        counter_example="lftp -u alice ftp://files.example.com",
    ),
    PlaceRow(
        kind="password",
        keywords=("radtest ",),
        pattern=r"radtest[ \t]{1,4}(?:-\S{1,10}[ \t]{1,4}){0,4}[^\s-]\S{0,64}[ \t]{1,4}" + _VALUE.format("a"),
        example="radtest alice {} localhost",
        counter_example="radtest -h",
    ),
    PlaceRow(
        kind="secret",
        keywords=("radtest ",),
        pattern=r"radtest[ \t]{1,4}(?:-\S{1,10}[ \t]{1,4}){0,4}[^\s-]\S{0,64}[ \t]{1,4}\S{1,200}[ \t]{1,4}\S{1,200}[ \t]{1,4}\d{1,9}[ \t]{1,4}" + _VALUE.format("a"),
        example="radtest alice $X localhost 0 {}",
        counter_example="radtest alice $PASS localhost 0",
    ),
    PlaceRow(
        kind="password",
        keywords=("openssl enc ", "openssl aes", "openssl des"),
        pattern=r"openssl[ \t](?:enc|aes|des)[^\n|;&]{0,300}?[ \t]-[kK][ \t]{1,4}" + _VALUE.format("a"),
        example="openssl enc -aes-256-cbc -k {} -in a -out b",
        counter_example="openssl enc -aes-256-cbc -kfile key -in a",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="key",
        keywords=("openssl enc ", "openssl aes", " -iv "),
        pattern=r"(?:openssl[ \t](?:enc|aes)[^\n|;&]{0,300}?)? -iv[ \t]{1,4}(?P<secret>[0-9a-fA-F]{16,64})(?=\s|$)",
        example="openssl enc -d -iv {}{}{}{}",
        counter_example="openssl enc -d -iv $IV",
        may_be_glued=True,
        gate=r" -iv[ \t]+[0-9a-f]{16}",
    ),
    PlaceRow(
        kind="password",
        keywords=("openssl passwd ", "mkpasswd ", "rclone obscure ", "reset-admin-password ", "initialpassword ", "vault operator unseal ",
                  "vault unseal ", "setapikey ", "wandb login ", "-setcookie ", "net user ", "mysqladmin ", "rootpw ", "auth plain ", "addauth digest ",
                  "lpass login ", "insecure-password ", "huggingface-cli login ", "gh auth ", "tailscale up ", "ngrok authtoken ", "ngrok config add-authtoken ",
                  "add-authtoken ", "authtoken ", "snyk auth ", "railway login ", "cloudflared ", "pulumi login ", "infracost auth ", "stripe login ", "dvc remote modify ",
                  "composer config "),
        pattern=r"openssl passwd(?:[ \t]+-(?!in\b|noverify)\S{1,12}(?:[ \t]+[^\s-]\S{0,16}(?=[ \t]+-))?){0,4}[ \t]+[\"']?(?P<s1>[^\s\"'-][^\s\"']{5,200})"
        r"|mkpasswd(?:[ \t]+-\S{1,20}(?:[ =](?:sha-?\d{3}|md5\w*|des\w*|yescrypt|bcrypt\w?|scrypt|\d{1,6})(?=[ \t]))?){0,3}+[ \t]+[\"']?(?P<s2>[^\s\"'<>|-][^\s\"']{5,200})|rclone obscure[ \t]+[\"']?(?P<s3>[^\s\"'-][^\s\"']{2,200})"
        r"|reset-admin-password[ \t]+[\"']?(?P<s4>[^\s\"'-][^\s\"']{2,200})|vault (?:operator )?unseal[ \t]+(?P<s5>[A-Za-z0-9+/=]{20,100})"
        r"|(?i:setapikey)[ \t]+(?P<s6>[^\s\"'-][^\s\"']{7,200})|(?:wandb|huggingface-cli|snyk|railway|infracost|stripe)(?: \w+)? (?:login|auth)[ \t]+(?P<s7>[A-Za-z0-9_-]{20,100})"
        r"|(?:wandb login|snyk auth|lpass login)[ \t]+(?P<s8>(?=\S*\d)[A-Za-z0-9_-]{16,100})|-setcookie[ \t]+[\"']?(?P<s9>[^\s\"'-][^\s\"']{5,200})"
        r"|(?i:net user)[ \t]+[^\s/]{1,60}[ \t]+(?P<s10>[^\s/*][^\s]{3,200})|mysqladmin[ \t][^\n|;&]{0,200}?[ \t]password[ \t]+[\"']?(?P<s11>[^\s\"']{4,200})"
        r"|rootpw[ \t]+(?:--(?:plaintext|iscrypted|lock)[ \t]+){1,2}(?P<s12>\S{4,200})|(?i:auth plain)[ \t]+(?P<s13>[A-Za-z0-9+/]{12,800}={0,2})"
        r"|addauth digest[ \t]+[^\s:]{1,64}:(?P<s14>\S{3,200})|add-authtoken[ \t]+(?P<s15>\S{20,100})|(?<!-)authtoken[ \t]+(?P<s16>(?=\S*\d)[A-Za-z0-9_-]{20,100})"
        r"|dvc remote modify[ \t][^\n]{0,100}?(?:password|secret\w*|token)[ \t]+[\"']?(?P<s17>[^\s\"']{4,400})"
        r"|composer config[ \t][^\n]{0,100}?(?:http-basic|token|oauth)\S*[ \t]+(?:\S{1,64}[ \t]+)?[\"']?(?P<s18>[^\s\"']{8,400})",
        example="rclone obscure {}",
        counter_example="net user alice /add",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:openssl passwd |mkpasswd |rclone obscure |reset-admin-password |vault (?:operator )?unseal |setapikey |wandb login |huggingface-cli login |snyk auth |railway login |infracost auth |stripe login "
        r"|lpass login |-setcookie |net user |mysqladmin |rootpw |auth plain |addauth digest |authtoken |dvc remote modify |composer config )",
    ),
    PlaceRow(
        kind="password",
        keywords=("http-basic.", "convertto-securestring ", "passwd/user-password", "passwd/root-password", "auth-user-pass ", "ldappasswd ", "smbpasswd -w ",
                  "connect to ", "-auth ", "--basic ", "psk-raw ", "eap-password "),
        pattern=r"http-basic\.\S{1,100}[ \t]+\S{1,100}[ \t]+[\"']?(?P<s1>[^\s\"']{3,300})|(?i:convertto-securestring)[ \t]+(?:-String[ \t]+)?[\"'](?P<s2>[^\"'\n$]{3,300})[\"']"
        r"|passwd/(?:user|root)-password(?:-again)?[ \t]+password[ \t]+(?P<s3>\S{3,200})|auth-user-pass[ \t]+<<<[ \t]*[\"']?[^\s\"']{1,64}[ \t]+(?P<s4>[^\s\"']{3,200})"
        r"|ldappasswd[ \t][^\n]{0,200}?-s[ \t]+[\"']?(?P<s5>[^\s\"']{3,200})|smbpasswd -w[ \t]+[\"']?(?P<s6>[^\s\"']{3,200})"
        r"|(?i:connect to[ \t]+\w{1,40}[ \t]+user[ \t]+\w{1,40}[ \t]+using)[ \t]+[\"']?(?P<s7>[^\s\"';]{3,200})|-auth[ \t]+[\w.@-]{1,64}:(?P<s8>[^\s\"']{6,200})",
        example="poetry config http-basic.mine alice {}",
        counter_example="poetry config http-basic.mine",
        may_be_glued=True,
        may_be_reference=False,
    ),
    # what protocols say
    PlaceRow(
        kind="password",
        keywords=("pass ", "auth ", "login "),
        pattern=r"(?:PASS|AUTH)[ \t]{1,2}(?:[a-z_]\w{0,31}[ \t]{1,2})?(?:oauth:)?(?P<secret>[^\s\"'|:]{4,300})[ \t\r]{0,4}(?=$|\n)|(?:LOGIN)[ \t]{1,2}[\"']?[\w.@+-]{1,80}[\"']?[ \t]{1,2}[\"']?(?P<s2>[^\s\"'|]{4,300})[\"']?[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)(?:[\w.:]{0,30}[>:] ?|[A-Za-z]{0,4}\d{1,5} |C: )?\Z",
        check=is_made,
        example="C: PASS {}",
        counter_example="PASS tests/unit/test_session2.py",
        may_be_reference=False,
        gate=r"(?:pass|auth|login)[ \t]",
    ),
    PlaceRow(
        kind="authorization",
        keywords=("true\t", "false\t"),
        pattern=r"(?:TRUE|FALSE)\t/[^\t\n]{0,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,100}\t(?P<secret>[^\s]{6,4000})",
        check=lambda secret: any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret),
        example=".example.com\tTRUE\t/\tTRUE\t1790000000\tsid\t{}",
        counter_example=".example.com\tTRUE\t/\tTRUE\t1790000000\tlang\ten",
        gate=r"(?:true|false)\t/[^\t\n]*\t(?:true|false)\t[0-9]+\t",
    ),
    PlaceRow(
        kind="url_token",
        keywords=("?code=", "&code=", "/reset/", "/reset-password/", "/password-reset/", "/verify/", "/confirm/", "/activate/", "/magic/", "/magic-link/", "/invite/", "/invitation/", "/unsubscribe/", "/join/"),
        pattern=r"(?:[?&]code=|/(?:reset(?:-password)?|password-reset|verify|confirm|activate|magic(?:-link)?|invite|invitation|unsubscribe|join)/)(?P<secret>(?:\d(?:/|%2[Ff]))?[A-Za-z0-9._~-]{16,1000})",
        check=is_generated,
        example="GET /callback?code={}&state=x",
        counter_example="https://example.com/reset/your-account-settings-page",
        may_be_glued=True,
    ),
    # calls with a user and a password
    PlaceRow(
        kind="password",
        keywords=('"\t', '" "', '" * "'),
        pattern=r"\"(?:[ \t]{1,4}\*)?[ \t]{1,4}\"(?P<secret>[^\"\n]{8,200})\"(?:[ \t]{1,4}\*)?[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)\"[\w.@-]{1,64}\Z",
        check=lambda secret: is_chosen(secret) or (secret.startswith("md5") and is_random(secret)),
        example='"alice" "{}"',
        counter_example='"alice" "Alice Example"',
        may_be_glued=True,
        may_be_reference=False,
        gate=r"^\"[a-z0-9_.@-]+\"[ \t]+(?:\*[ \t]+)?\"[^\"\n]{8}",
    ),
    PlaceRow(
        kind="password",
        keywords=("adminpassword", "password string", "secret string", "token string", "key string", "password securestring"),
        pattern=r"(?i:param[ \t]{1,4})?\w{0,40}(?i:password|secret|token|key)[ \t]{1,4}(?:string|securestring|String|str|SecureString)[ \t]{0,4}=[ \t]{0,4}[\"'](?P<secret>[^\"'\n]{6,400})[\"']",
        example="param adminPassword string = '{}'",
        counter_example="param adminPassword string",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:password|secret|token|key)[ \t]+(?:secure)?string",
    ),
    PlaceRow(
        kind="password",
        keywords=("password", "passwd", "secret", "token"),
        pattern=r"(?i:password|passwd|secret|token)\w{0,20}[ \t]{0,24}[|\u2502][ \t]{0,4}(?P<secret>[^\s|\u2502]{6,400})[ \t\r]{0,60}[|\u2502]?[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t]{0,8}(?:[|\u2502][ \t]{0,8})?[\w.-]{0,40}\Z",
        check=lambda secret: any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret),
        example="api_token | {}",
        counter_example="api_token | character varying",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:password|passwd|secret|token)[a-z0-9_?]*[ \t]*[|?][ \t]*[^ \t\n|]{6}",
    ),
    PlaceRow(
        kind="session",
        keywords=('"name"', '"key"'),
        pattern=r"\"(?i:name|key)\"[ \t]{0,4}:[ \t]{0,4}\"(?i:[\w.-]{0,40}(?:session|cookie|sid|auth|authorization|jwt|bearer)[\w.-]{0,20})\"[ \t]{0,4},[ \t]{0,4}\"(?i:value)\"[ \t]{0,4}:[ \t]{0,4}\"(?:(?i:bearer|basic|token) )?(?P<secret>[^\"\n ]{10,4096})\"",
        check=lambda secret: any(c.isdigit() for c in secret),
        example='{"name":"session","value":"{}"}',
        counter_example='{"name":"session","value":"disabled-everywhere"}',
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("://",),
        pattern=r"://[^\s\"']{4,200}[ \t]{1,8}[\w.@-]{1,64}[ \t]{1,8}(?P<secret>\S{8,200})[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[a-z]{3,8}\Z",
        check=is_said,
        example="https://files.example.com/dav alice {}",
        counter_example="https://files.example.com/dav alice rw",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"://[^ \t\n\"']{4}[^ \t\n\"']*[ \t]+[a-z0-9_.@-]+[ \t]+[^ \t\n]{8}",
    ),
    PlaceRow(
        kind="password",
        keywords=("root:", "admin:", "administrator:", "ubuntu:", "postgres:", "deploy:", "user:"),
        pattern=r"(?:root|admin|administrator|ubuntu|postgres|deploy|user):(?P<secret>[^\s:\"'/@]{8,200})[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t#+>-]{0,12}\Z",
        check=is_made,
        example="    root:{}",
        counter_example="    root:x",
        may_be_reference=False,
        gate=r"(?:root|admin|administrator|ubuntu|postgres|deploy|user):[^ \t\n:\"'/@]{8}",
    ),
    # prose
    PlaceRow(
        kind="token",
        keywords=("passphrase", "password", "passwd", "secret", "token", "credential", "api key", "api_key", "apikey", "api-key", " key ", "_key ", " key: ",
                  "access key", "secret key", "unseal key", "recovery key", "encryption key", "master key"),
        pattern=r"(?i:" + _SPOKEN + r")s?" + _FILLER + r"{0,4}(?:[ \t]{1,2}#?\d{1,2})?(?:[ \t]{0,2}(?:\[[^\]\n]{0,20}\])?(?::|=|->|=>|\u2192)[ \t]{0,8}|[ \t]{1,8})[\"'`(]?(?P<secret>[A-Za-z0-9+/=_~!#%*.^$@&-]{10,400}?)[\"'`),.;]{0,2}(?=\s|$)",
        check=is_generated,
        before=r"(?<!:)(?<![Pp]age)(?<!PAGE)(?<!page[_-])(?<![Nn]ext)(?<!next[_-])(?<!uation)(?<!uation[_-])(?<![Ss]ync)\Z",
        gate=r"(?:passphrase|password|passwd|secret|token|credential|api[ _-]?key|key)[a-z \t#0-9\[\]:=>?-]*[ \t\"'`(:=>][a-z0-9+/=_~!#%*.^$@&-]{10}",
        example="Generated new token {} for alice",
        counter_example="token for user alice2024Example was revoked",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("password ", "passphrase ", "credentials ", "credential "),
        pattern=r"(?i:(?:with|using|new|temporary|initial|your|the)[ \t]{1,2})?(?i:password|passphrase)[ \t]{1,2}[\"'`]?(?![\w.-]{1,40}=[^=\s])(?P<secret>[^\s\"'`<>()]{8,200}?)[\"'`]?[.,;]?(?=\s|$)"
        r"|(?i:credentials?)[ \t]{1,2}[\"'`]?[\w.@-]{1,64}[/:](?P<s2>[^\s\"'`<>()/]{8,200}?)[\"'`]?[.,;]?(?=\s|$)",
        check=lambda secret: is_generated(secret) or (is_made(secret) and _JOINT.search(secret) is not None),
        example="logging in as alice with password {}",
        counter_example="password authentication/2 failed",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="key",
        keywords=("key 0x", "key is 0x", "key: 0x", "using key "),
        pattern=r"key(?: is|:)?[ \t]{1,4}(?:0x)?(?P<secret>[0-9a-fA-F]{32,128})(?![0-9a-fA-F])",
        example="random: app: using key 0x{}{}{}{}",
        counter_example="using key 0x12",
        may_be_glued=True,
    ),
)  # fmt: skip
