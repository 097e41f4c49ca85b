# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that people choose: a word and a number count as one where a place speaks for them. A row is as in ``surroundings``.

user = "alice:…"        schtasks /ru alice /rp …        requests.get(url, auth=("alice", "…"))        Pass …

Over 400 lines: a table, read one row at a time.
"""

import base64

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.commands import is_chosen, is_made, is_said
from execkit_mcp.redaction.place import PlaceRow
from execkit_mcp.redaction.value import is_numbered, is_random, is_wordy


def _is_token(secret: str) -> bool:
    """Whether ``secret`` is long and random enough to be nothing else."""
    return is_random(secret) and not is_wordy(secret)


def _is_encoded(secret: str) -> bool:
    """Whether ``secret`` is the base64 of what looks made or chosen."""
    try:
        text = base64.b64decode(secret + "=" * (-len(secret) % 4)).decode("ascii").strip()
    except ValueError:
        return False
    return text.isprintable() and " " not in text and (is_chosen(text) or _is_token(text))


_UUID = lazy_regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


CHOSEN: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="password",
        keywords=("auth", "user", "login", "creds", "credential", "account", "userpwd"),
        pattern=r"(?i:auth|user(?:info|pwd)?|login|creds?|credentials?|account)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[A-Za-z][\w.@+-]{0,63}:(?P<secret>[^\s\"'/:@,;()<>\[\]{}]{6,200})(?=[\s\"',;)]|$)",
        check=is_chosen,
        example='user = "alice:{}"',
        counter_example="user=alice:1000",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:auth|user|login|cred|account)[a-z]*[\"']?[ \t]*[:=][ \t]*[\"']?[a-z][a-z0-9_?.@+-]*:[^ \t\n\"'/:@]{6}",
    ),
    PlaceRow(
        kind="credential",
        keywords=("_auth=", "_auth: ", "_auth = "),
        pattern=r"(?i:_auth)[ \t]{0,4}[:=][ \t]{0,4}[\"']?[A-Za-z][\w.@+-]{0,63}/(?P<secret>[^\s\"'/:@,;()<>]{6,200})(?=[\s\"',;)]|$)",
        check=is_chosen,
        example="",
        counter_example="GRAPH_AUTH=alice/none",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("jdbc:oracle:",),
        pattern=r"jdbc:oracle:\w{2,8}:[\w$#.]{1,60}/\"?(?P<secret>[^\s@\"'/]{3,100})\"?@",
        example="jdbc:oracle:thin:app/{}@db.example.com:1521:X",
        counter_example="jdbc:oracle:thin:@db.example.com:1521:X",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("--askpass ", "/rp ", "/ru ", "nuget push ", "com2sec ", "$user", "password "),
        pattern=r"--askpass[ =](?P<s1>[^\s\"'/$-][^\s\"'/]{4,200})(?=\s|$)|/ru[ \t]{1,4}\S{1,100}[ \t]{1,4}/rp[ \t]{1,4}[\"']?(?P<s2>[^\s\"']{3,200})|/rp[ \t]{1,4}[\"']?(?P<s3>[^\s\"']{3,200})"
        r"|nuget push[ \t][^\n|;&]{0,200}?[ \t](?:-k|--api-key|-ApiKey)[ \t]{1,4}(?P<s4>[^\s\"']{16,200})|com2sec6?[ \t]{1,8}(?:-Cn[ \t]{1,4}\S{1,40}[ \t]{1,4})?\S{1,60}[ \t]{1,8}\S{1,60}[ \t]{1,8}(?P<s5>[^\s\"']{3,100})"
        r"|\$USER\d{1,3}\$=(?:[^\s!/]{1,64}!)?(?P<s6>[^\s\"'/]{6,200})|PASSWORD[ \t]{1,4}[\w.@-]{1,64}[ \t]{1,4}=[ \t]{1,4}(?P<s7>[^\s\"']{6,200})(?=\s|$)",
        check=lambda secret: is_chosen(secret) or _is_token(secret),
        example="schtasks /create /tn x /ru alice /rp {}",
        counter_example="schtasks /create /tn x /ru SYSTEM",
        may_be_reference=False,
        gate=r"(?:--askpass[ =]|/rp |/ru |nuget push |com2sec|\$user[0-9]|password[ \t]+[a-z0-9_?.@-]+[ \t]+=)",
    ),
    PlaceRow(
        kind="password",
        keywords=("pass ",),
        pattern=r"[Pp]ass[ \t]{1,8}[\"']?(?P<secret>[^\s\"'/]{6,200})[\"']?[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t]{0,12}\Z",
        check=is_chosen,
        example="Pass {}",
        counter_example="Pass phase2",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"^[ \t]*pass[ \t]+[\"']?[^ \t\n\"'/]{6}",
    ),
    PlaceRow(
        kind="password",
        keywords=("login", "account", "credentials", "creds", "user"),
        pattern=r"(?i:login|account|credentials?|creds|user(?:name)?)(?:[ \t]{1,2}(?i:is|are|for|now|on|to|was|with|the|[a-z]{1,12})){0,4}[:=]?[ \t]{1,4}[\w.@+-]{1,64}[ \t]{1,2}/[ \t]{1,2}(?P<secret>[^\s/]{6,200}?)[.,;]?[ \t\r]{0,4}(?=$|\n)",
        check=is_said,
        example="the staging login is reader / {}",
        counter_example="account manager / sales4",
        may_be_reference=False,
        gate=r"(?:login|account|cred|user)[^\n]*[ ]/[ ]+[^ \t\n/]{6}",
    ),
    PlaceRow(
        kind="password",
        keywords=("user_",),
        pattern=r"user_(?!id|name|email|mail|agent|group|type|role|data|count|uuid|login|key|pool|dir|home|table|ref|host|tag|lang|timezone|version)\w{1,40}=\"(?P<secret>[^\s\"]{6,200})\"(?=[\s;]|$)",
        check=is_chosen,
        example='user_alice="{}";',
        counter_example='user_agent="Mozilla50"',
    ),
    PlaceRow(
        kind="webhook",
        keywords=("/services/t",),
        pattern=r"/services/T[A-Z0-9]{6,20}/B[A-Z0-9]{6,20}/(?P<secret>[A-Za-z0-9]{16,48})(?![A-Za-z0-9])",
        example="https://chat.example.com/services/T0AB12CD/B0AB12CD/{}",
        counter_example="https://chat.example.com/services/T0AB12CD/B0AB12CD/none",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("identified by ",),
        pattern=r"(?i:identified[ \t]{1,4}by[ \t]{1,4}(?!(?:values?|externally|globally|password|as|random|auth\w*|with)\b))(?P<secret>[^\s\"'();,]{3,200})(?=[\s;,]|$)",
        check=is_chosen,
        example="CREATE USER app IDENTIFIED BY {} DEFAULT TABLESPACE users;",
        counter_example="CREATE USER app IDENTIFIED BY externally;",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("pptpd", "l2tpd", "pppd", "pppoe"),
        pattern=r"(?:pptpd|l2tpd|pppd|pppoe)[\"']?[ \t]{1,8}[\"']?(?P<secret>[^\s\"']{4,200})[\"']?[ \t]{1,8}[\"']?(?:\*|\d{1,3}\.\d)",
        check=is_chosen,
        example="alice  pptpd  {}  *",
        counter_example="alice  pptpd  none  *",
    ),
    PlaceRow(
        kind="key",
        keywords=("encrypt",),
        pattern=r"encrypt[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<secret>[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{32}|[A-Za-z0-9+/]{43}=)(?![A-Za-z0-9+/=])",
        check=lambda secret: is_made(secret) and not is_wordy(secret),
        example="",
        counter_example="encrypt = true",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password_hash",
        keywords=("-pbkdf2-", "-pbkdf2:"),
        pattern=r"-pbkdf2[-:](?:sha\d{1,3}[:,-])?(?P<secret>[0-9a-f]{40,128},[0-9a-f]{16,128})",
        example="",
        counter_example="admin = -pbkdf2-none",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("<(echo ", "<(printf "),
        pattern=r"<\((?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?[\"']?(?:[\w.@-]{1,64}\\n)?(?P<secret>[^\s\"'()$`\\]{4,400})[\"']?\)",
        check=is_chosen,
        example="openvpn --askpass <(echo {})",
        counter_example="diff <(echo one) <(echo two)",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("hdbuserstore set ", ".logon ", "user-create ", "create-user ", "user-add ", "maas login ", "mschapv2", "ttls-", "authinfo:", "security "),
        pattern=r"(?i:hdbuserstore set)[ \t]{1,4}(?:\S{1,60}[ \t]{1,4}){3}(?P<s1>[^\s\"']{4,200})|\.(?i:logon)[ \t]{1,4}[^\s/,]{1,100}/[^\s/,]{1,60},(?P<s2>[^\s;,]{3,100})"
        r"|(?:user-create|create-user|user-add)[ \t]{1,4}[\w.@]{1,64}[ \t]{1,4}[\"']?(?P<s3>[^\s\"'-][^\s\"']{5,200})|maas login[ \t]{1,4}(?:\S{1,60}[ \t]{1,4}){2}(?P<s4>\S{20,200})"
        r"|(?:MSCHAPV2|(?i:ttls)-\w{2,10})[\"']?[ \t]{1,8}\"(?P<s5>[^\"\n]{4,100})\"|(?i:authinfo):[^\n]{0,120}?\"P[:=](?P<s6>[^\"\n]{3,200})\""
        r"|security[ \t](?:import|unlock-keychain|create-keychain|set-key-partition-list)[ \t][^\n|;&]{0,200}?-[pPk][ \t]{1,4}[\"']?(?P<s7>(?!\S*keychain)[^\s\"']{4,200})",
        check=lambda secret: is_chosen(secret) or _is_token(secret),
        example="hdbuserstore SET KEY db.example.com:30015 alice {}",
        counter_example="hdbuserstore SET KEY db.example.com:30015 alice secret",
        may_be_reference=False,
        gate=r"(?:hdbuserstore set |[.]logon |user-create |create-user |user-add |maas login |mschapv2[\"' \t]|ttls-[a-z]+[\"' \t]|authinfo:|security (?:import|unlock|create|set))",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=(" -u ", " --username ", " --user ", " -u"),
        pattern=r"[ \t]-U[ \t]?[\"']?[\w.@\\-]{1,64}%(?P<secret>[^\s\"']{3,200})|[ \t](?:-[uU]|--user(?:name)?)[ =][\"']?[\w.@-]{1,64}[\"']?(?:[ \t]{1,4}-{1,2}[a-zA-Z][\w-]{0,30}(?:[ =][^\s-]\S{0,100})?){0,3}[ \t]{1,4}-[wWP][ =]?[\"']?(?P<s2>[^\s\"'/-][^\s\"'/]{4,200})[\"']?(?=\s|$)",
        check=is_chosen,
        example="net ads join -U alice%{}",
        counter_example="ssh -U alice -w 0:0",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"[ \t](?:-u|--user(?:name)?)[ =]?[^\n]*(?:%|[ \t]-[wp])",
    ),
    PlaceRow(
        kind="password",
        keywords=('value "', "value '"),
        pattern=r"(?i:value)[ \t]{1,4}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
        before=r"(?i:passw(?:or)?d|passwd|secret|token|passphrase)[\w-]{0,20}[ \t]{1,8}(?i:pic(?:ture)?|type)[ \t]{1,4}\S{1,30}[ \t]{1,8}\Z",
        check=is_chosen,
        example='01 WS-PASSWORD PIC X(12) VALUE "{}".',
        counter_example='01 WS-PASSWORD PIC X(12) VALUE "SPACES".',
    ),
    PlaceRow(
        kind="password",
        keywords=("using ",),
        pattern=r"(?i:using)[ \t]{1,4}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
        before=r"(?i:user)[ \t]{1,4}[\"']?[\w.@-]{1,64}[\"']?[ \t]{1,4}\Z",
        check=is_chosen,
        example="CONNECT TO 'db@srv' USER 'app' USING '{}';",
        counter_example="CONNECT TO 'db@srv' USER 'app' USING 'pool';",
    ),
    PlaceRow(
        kind="password",
        keywords=("pass=", "pass =", "pass:", 'pass":', "pass':", "pass>"),
        pattern=r"[Pp](?:ass|ASS)(?:[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?|>)(?P<secret>[^\s\"',;(){}\[\]<>]{6,200})(?=[\s\"',;)}]|$)",
        before=r"(?:^|[\s\"'{(,;.&?:<-])(?!(?i:by|com|tres|sur|over|under|encom|im|render|compute|shader|multi|single|first|second|two|pre|post|main|each|last|next|sub|depth|shadow|color))[A-Za-z_]{1,24}\Z",
        check=lambda secret: is_chosen(secret) or _is_token(secret),
        example="remotepass = {}",
        counter_example="bypass = stage1234",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="token",
        keywords=("token =", "token:", "token="),
        pattern=r"[Tt]oken[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<secret>[A-Za-z]{3,40}\d{3,8})[\"']?[ \t\r]{0,4}(?=$|\n)",
        before=r"(?:^|\n)[ \t]{0,12}(?:[\w.-]{1,40}[_.-])?\Z",
        check=is_numbered,
        example="",
        counter_example="token = token123",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="key",
        keywords=('"key"', "'key'"),
        pattern=r"[\"']key[\"'][ \t]{0,4}:[ \t]{0,4}[\"'](?P<secret>[a-f0-9]{32,64}|[A-Za-z0-9_+/=-]{20,200})[\"']",
        before=r"[\"']user(?:name)?[\"'][ \t]{0,4}:[ \t]{0,4}[\"'][^\"'\n]{1,100}[\"'][ \t]{0,4},[ \t]{0,4}\Z",
        check=lambda secret: is_random(secret) and not is_wordy(secret),
        example='{"username":"alice","key":"{}{}{}{}"}'.replace("{}{}{}{}", "{}"),
        counter_example='{"username":"alice","key":"none"}',
    ),
    PlaceRow(
        kind="api_key",
        keywords=('-h "x-', "-h 'x-", "-h x-", 'header "x-', "header 'x-", "header=x-", "header='x-", 'header="x-'),
        pattern=r"(?i:-h |header[ =])[\"']?[Xx]-[\w-]{0,40}(?i:api|key|token|auth|secret|sign)[\w-]{0,20}:[ \t]{0,4}(?P<secret>[^\s\"'`,;\\<>$]{10,4000})",
        check=lambda secret: is_random(secret, 10) and not is_wordy(secret),
        example="curl -H 'X-Acme-Art-Api: {}' https://example.com",
        counter_example="curl -H 'X-Acme-Api: 2026-11-22' https://example.com",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="key",
        keywords=("rtmp://", "rtmps://"),
        pattern=r"rtmps?://[^\s\"'/]{1,200}(?:/[^\s\"'/]{1,100}){0,2}/(?P<secret>[A-Za-z0-9_-]{12,200})(?=[\s\"'?]|$)",
        check=lambda secret: is_random(secret, 12) and not is_wordy(secret),
        example="ffmpeg -f flv rtmp://live.example.com/app/{}",
        counter_example="ffmpeg -f flv rtmp://live.example.com/app/stream",
    ),
    PlaceRow(
        kind="password_hash",
        keywords=("md5:", "obf:1", "crypt:"),
        pattern=r"MD5:(?P<secret>[0-9a-f]{32})(?=,[a-z])|OBF:(?P<s2>1[a-z0-9]{10,200})|CRYPT:(?P<s3>[A-Za-z0-9./]{13})(?=[,\s]|$)",
        before=r"(?:^|[\s=\"'>:])\Z",
        example="",
        counter_example="MD5: done",
    ),
    PlaceRow(
        kind="passphrase",
        keywords=("key '", 'key "', "phrase '", 'phrase "', "mnemonic '", 'mnemonic "', "words '", 'words "', "seed '", 'seed "'),
        pattern=r"(?:key|phrase|mnemonic|words|seed)[ \t=]{1,3}[\"'](?P<secret>[a-z]{3,8}(?: [a-z]{3,8}){11}(?:(?: [a-z]{3,8}){3}){0,4})[\"']",
        before=r"-[\w-]{0,20}\Z",
        example="",
        counter_example="--key 'one two three'",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("connect(", "connection(", "mysqli(", "pdo(", "auth(", "auth=(", "auth = (", "credential(", "credentials(", "login(", "authenticate(", "signin(", "sign_in(", "password(", "user(", "database("),
        pattern=r"(?:[A-Za-z_]{0,12}?(?i:connect|database|connection|mysqli|pdo|auth|credentials?|login|authenticate|sign_?in|(?:create|change|set|update|reset|add)\w{0,20}(?:password|user)|userpassword|password|user)\(|auth ?= ?\()(?:[ \t]{0,4}(?:[\"'][^\"'\n]{0,200}[\"']|\$?[A-Za-z_][\w.]{0,40})[ \t]{0,4},){0,2}"
        r"[ \t]{0,4}[\"'][\w.@%-]{1,64}[\"'][ \t]{0,4},[ \t]{0,4}[\"'](?![a-z0-9+]{2,10}://)(?P<secret>[^\"'\n]{6,200})[\"']",
        check=lambda secret: is_made(secret) or _is_token(secret),
        example="DBI->connect('dbi:mysql:x', 'app', '{}');",
        counter_example="client.connect('db1.example.com', 'app', 'shop-db-2')",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:connect|database|connection|mysqli|pdo|auth|credentials?|login|authenticate|sign_?in|password|user|auth ?= ?)\([^\n]*[\"'],[ \t]*[\"']",
    ),
    PlaceRow(
        kind="password",
        keywords=("mysqli(", "mysql_connect(", "mysqli_connect(", "real_connect(", "pymysql.connect(", "mysqldb.connect(", "getconnection(", "createconnection("),
        pattern=r"[A-Za-z_.]{4,20}\((?:[ \t]{0,4}(?:[\"'][^\"'\n]{0,200}[\"']|\$?[A-Za-z_][\w.]{0,40})[ \t]{0,4},)[ \t]{0,4}[\"'][\w.@%-]{1,64}[\"'][ \t]{0,4},[ \t]{0,4}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
        check=is_chosen,
        example='new mysqli("localhost", "shop", "{}", "shop");',
        counter_example='new mysqli("localhost", "shop", "secret", "shop");',
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("auth=(", "auth = (", "credential(", "credentials(", "usernamepassword(", "auth' => [", "auth: [", 'auth": [', 'auth" => [', "auth=[", "auth => [", "auth':["),
        pattern=r"(?i:auth ?= ?\(|auth[\"']?[ ]?(?:=>|:|=)[ ]?\[|(?:networkcredential|credentials?|usernamepassword\w{0,20})\()[ \t]{0,4}[\"'][\w.@%-]{1,64}[\"'][ \t]{0,4},[ \t]{0,4}[\"'](?P<secret>[^\"'\n]{6,200})[\"']",
        check=is_chosen,
        example="requests.get(url, auth=('alice', '{}'))",
        counter_example="requests.get(url, auth=('alice', 'password'))",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("login(", "authenticate("),
        pattern=r"(?:login|authenticate)\([ \t]{0,4}[\"'][\w.+-]{1,64}@[\w.-]{3,100}[\"'][ \t]{0,4},[ \t]{0,4}[\"'](?P<secret>[a-z]{16}|[a-z]{4}(?: [a-z]{4}){3})[\"']",
        check=lambda secret: not is_wordy(secret.replace(" ", "")),
        example="",
        counter_example="server.login('alice@example.com', 'applicationpassw')",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="key",
        keywords=("accounts",),
        pattern=r"accounts[\"']?[ \t]{0,4}[:=][ \t]{0,4}\[[ \t]{0,4}[\"'](?:0x)?(?P<secret>[0-9a-f]{64})[\"']",
        example="",
        counter_example='accounts: ["alice"]',
        may_be_glued=True,
    ),
    PlaceRow(
        kind="secret",
        keywords=("echo ", "base64 -d", "base64 --decode"),
        pattern=r"echo[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?(?P<secret>[A-Za-z0-9+/]{8,4000}={0,2})[\"']?[ \t]{0,4}\|[ \t]{0,4}base64[ \t]{1,4}(?:-[dD]\b|--decode)"
        r"|base64[ \t]{1,4}(?:-[dD]|--decode)[ \t]{0,4}<<<[ \t]{0,4}[\"']?(?P<s2>[A-Za-z0-9+/]{8,4000}={0,2})[\"']?(?=\s|$)",
        check=_is_encoded,
        example="",
        counter_example="echo aGVsbG8gd29ybGQK | base64 -d",
        gate=r"base64[ \t]+(?:-d|--decode)",
    ),
    PlaceRow(
        kind="password",
        keywords=("echo ", "printf "),
        pattern=r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4}|[\"']?%s[\"']?[ \t]{1,4})?[\"']?[\w.@-]{1,64}:(?P<secret>[^\s|\"'$`]{6,200})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:base64|openssl[ \t]{1,4}(?:base64|enc[ \t]{1,4}-base64))",
        check=is_chosen,
        example="echo -n 'alice:{}' | base64",
        counter_example="echo -n 'alice:none' | base64",
        may_be_reference=False,
        gate=r"(?:echo|printf)[ \t][^\n|]*:[^\n|]*\|[ \t]*(?:base64|openssl)",
    ),
    # what tools that test passwords show
    PlaceRow(
        kind="password",
        keywords=("\\",),
        pattern=r"\\[\w.$-]{1,64}:(?P<secret>[^\s:\"'\\]{6,100})(?=[ \t]{1,4}\(|[ \t\r]{0,4}(?:$|\n))",
        before=r"\][ \t]{1,4}[\w.-]{1,60}\Z",
        check=is_chosen,
        example="[+] EX\\alice:{}",
        counter_example="[+] EX\\alice:disabled",
        may_be_glued=True,
        gate=r"\\[a-z0-9_?.$-]+:[^ \t\n:\"'\\]{6}",
    ),
    PlaceRow(
        kind="password_hash",
        keywords=("ntlm", "::"),
        pattern=r"NTLM[ \t]{0,12}:[ \t]{1,4}(?P<s1>[0-9a-f]{32})(?![0-9a-f])|::[\w.-]{1,60}:[0-9a-fA-F]{16}:(?P<s2>[0-9a-fA-F]{32}:[0-9a-fA-F]{32,4000})",
        example="",
        counter_example="NTLM: none",
        may_be_glued=True,
        gate=r"(?:ntlm[ \t]*:|::[a-z0-9_?.-]+:[0-9a-f]{16}:[0-9a-f]{32})",
    ),
    PlaceRow(
        kind="password",
        keywords=("_pat=",),
        pattern=r"_PAT=[\"']?(?P<secret>[^\s\"'`;|&<>]{16,400})",
        before=r"(?:^|[\s;\"'])[A-Z][A-Z0-9_]{0,40}\Z",
        check=is_random,
        example="BOARD_PAT={}",
        counter_example="BOARD_PAT=none",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("-gu ", "-au ", "-ru ", "-su ", "-du ", "-lu ", "allow ", "community", "ss-server ", "ss-local ", "ssserver ", "sslocal ", "ss-redir "),
        pattern=r"-[agrsdl]u[ \t]{1,4}\S{1,64}[ \t]{1,4}-[agrsdl]p[ \t]{1,4}[\"']?(?P<s1>[^\s\"'/-][^\s\"'/]{4,200})|(?:ss-(?:server|local|redir)|ss(?:server|local))[ \t][^\n|;&]{0,200}?[ \t]-k[ \t]{1,4}[\"']?(?P<s4>[^\s\"'-][^\s\"']{4,200})|allow[ \t]{1,4}[\w.-]{1,64}:(?P<s2>[^\s\"':/]{6,200})(?=[ \t\r]{0,4}(?:$|\n|read))|(?i:community)[\"'\]\[]{0,8}[ \t]{0,4}(?::|=>|=)[ \t]{0,4}[\"']?(?P<s3>[^\s\"',;]{5,100})",
        check=is_chosen,
        example="vmrun -gu alice -gp {} list a.vmx",
        counter_example="allow alice:none",
        may_be_reference=False,
        gate=r"(?:-[agrsdl]u[ \t]+[^ \t\n]+[ \t]+-[agrsdl]p[ \t]|ss-?(?:server|local|redir)[ \t]|allow[ \t]+[a-z0-9_?.-]+:|community[\"'\]\[]*[ \t]*[:=])",
    ),
    PlaceRow(
        kind="key",
        keywords=("snmp-server user ",),
        pattern=r"snmp-server user[ \t]\S{1,64}[ \t][^\n]{0,100}?auth[ \t]\S{1,12}[ \t](?P<secret>\S{6,200}(?:[ \t]priv[ \t](?:\S{1,12}[ \t])?\S{6,200})?)",
        check=lambda secret: any(c.isdigit() for c in secret),
        example="snmp-server user alice network-admin auth md5 {} localizedkey",
        counter_example="snmp-server user alice network-admin auth md5 none",
    ),
    PlaceRow(
        kind="key",
        keywords=("<key>", "?key=", "&key=", "/key/", "/token/", "/apikey/", "/api-key/", "/catch/"),
        pattern=r"<key>(?P<s1>[0-9a-f]{32,64}|(?=[A-Za-z+/]{0,40}\d)[A-Za-z0-9+/]{20,200}={0,2})</key>|[?&]key=(?P<s2>[0-9a-f]{32,64})(?![0-9a-f])|/(?:key|token|api-?key)/(?P<s3>[A-Za-z0-9_-]{16,200})(?=[\s\"'/?]|$)|/catch/\d{1,12}/(?P<s4>[a-z0-9]{6,40})",
        check=lambda secret: is_random(secret, 6) and not is_wordy(secret) and _UUID.fullmatch(secret) is None,
        example="https://maker.example.com/trigger/x/with/key/{}",
        counter_example="https://docs.example.com/api/key/getting-started-2",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="token",
        keywords=("api token ", "api key ", "access token ", "auth token ", "secret key ", "api-key ", "api-token "),
        pattern=r"(?i:api|access|auth|secret)[ -](?i:token|key)[ \t][^:\n]{1,60}:[ \t]{1,8}[\"'`]?(?P<secret>[A-Za-z0-9_+/=.-]{16,400})[\"'`]?[ \t\r]{0,4}(?=$|\n)",
        check=lambda secret: is_random(secret) and not is_wordy(secret) and _UUID.fullmatch(secret) is None,
        example="Paste API Token from that page: {}",
        counter_example="Paste API Token from that page: later",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="token",
        keywords=("/t/",),
        pattern=r"/t/(?:(?P<secret>(?=[^\s/]{0,60}[A-Z])(?=[^\s/]{0,60}[a-z])[A-Za-z0-9_-]{16,200})|(?P<s2>(?:[a-z]{2}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))(?=[\s\"'/?]|$)",
        before=r"://[^\s\"'<>/]{3,120}(?:/[\w.-]{1,40}){0,3}\Z",
        check=lambda secret: _UUID.fullmatch(secret[-36:]) is not None or (is_random(secret) and not is_wordy(secret)),
        example="channel_alias: https://conda.example.com/t/{}/",
        counter_example="https://docs.example.com/t/getting-started-2/",
        may_be_glued=True,
    ),
)  # fmt: skip
