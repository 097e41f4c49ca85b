# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Secrets that their place gives away: headers, cookies, URLs, command lines, SQL and a few file formats.

Each row is a pattern that is matched at a keyword, with the secret in its group ``secret``; a row may say
that it holds many (cookies).
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.place import PlaceRow
from execkit_mcp.redaction.value import is_reference, is_wordy

_GAP = r"(?:\\{0,2}[\"']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,2}[\"']?|\\{0,2}[\"'][ \t]{0,8},[ \t]{0,8}\\{0,2}[\"'])[ \t]?"
"""A comma only between quotes: elsewhere it joins the names of headers, or code follows."""
_HEADER = lazy_regex(r"(?:[A-Z][A-Za-z]*|[a-z]+)(?:-(?:[A-Z][A-Za-z]*|[a-z]+|\d))+")
_WORD = r"(?P<secret>[^\s\"'`,;\\<>]{3,4000})"
_OPTION_VALUE = r"(?:\"(?P<double>[^\"\n]{1,400})\"|'(?P<single>[^'\n]{1,400})'|(?P<bare>[^\s\"'`;|&<>]{1,400}))"


_READS_STDIN = r"(?:(?<![a-z])(?:smb)?passwd|kinit|cryptsetup|sudo -S|--password-stdin|--with-token|docker secret|gpg|vault login|clevis|load-key|openssl|htpasswd)[^\n|;&]{0,120}\Z"


PLACES: tuple[PlaceRow, ...] = (
    PlaceRow(
        kind="authorization",
        keywords=("authorization", "proxy-authorization", "x-authorization"),
        pattern=r"(?i:[a-z-]{0,8}authorization)" + _GAP + r"(?:(?i:bearer|basic|token|bot|digest|negotiate|apikey|key|oauth|jwt"
        r"|splunk|sso-key|ssws|genie\w+|[A-Z][A-Za-z0-9-]{2,20})[ \t]{1,4})?(?P<secret>[^\s\"'`,;\\<>]{6,8000})",
        check=lambda secret: (not secret.strip(")]};").replace("-", "").isalpha() or len(secret) > 24) and not secret.startswith(("username=", "Credential=")),  # noqa: PLR2004 - a variable, a header's name
        example="Authorization: Bearer {}",
        counter_example="Authorization: Bearer $TOKEN",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("creds ", "creds=", "login="),
        pattern=r"(?:creds[= ]|login=)[\"']?[^\s:\"'/]{1,100}:(?P<secret>[^\s\"']{4,200})",
        example="skopeo copy --src-creds app:{} docker://a docker://b",
        counter_example="login=alice:12",
        may_be_glued=True,
        gate=r"(?:creds[= ]|login=)",
    ),
    PlaceRow(
        kind="password",
        keywords=("<<< ", "<<<"),
        pattern=r"<<<[ \t]{0,4}\$?[\"']?(?P<secret>[^\s\"'$(<][^\s\"']{3,300})",
        before=_READS_STDIN,
        example="kinit app@EXAMPLE.COM <<< '{}'",
        counter_example="cat <<< hello1234",
        may_be_glued=True,
        may_be_reference=False,
        gate="<<<",
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
        check=lambda secret: not is_reference(secret.strip(")]};")) and not (_HEADER.fullmatch(secret) and is_wordy(secret)),
        example="X-Api-Key: {}",
        counter_example="X-Api-Key: ${KEY}",
    ),
    PlaceRow(
        kind="url_password",
        keywords=("://",),
        pattern=r"://(?P<user>[^\s/?#@:\"'<>\[\]]{0,256}):(?!\d{1,5}/|(?P=user)@(?:localhost|127\.0\.0\.1)\b)(?P<secret>[^\s@\"'<>]{1,512})@(?=[^\s@])",
        example="postgres://app:{}@db.example.com/app",
        counter_example="http://db.example.com:8080/a@b",
        may_be_glued=True,
        gate=r"://[^ \t\n/?#@:]*:[^ \t\n@]+@[^ \t\n@]",
    ),
    PlaceRow(
        kind="url_key",
        keywords=("://",),
        pattern=r"://(?P<secret>[a-f0-9]{32}(?=:[^\s@]{1,100}@)|[a-f0-9]{32}(?=:?@)|(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{20,255}(?=:?@))(?=.)",
        example="https://{}@sentry.example.com/4",
        counter_example="https://deploy@git.example.com/a.git",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="curl_user",
        keywords=("-u ", "--user ", "--user=", "--proxy-user ", "-u'", '-u"'),
        pattern=r"-(?:u|-user|-proxy-user)[= ]{0,2}[\"']?[^\s:\"'=/<\[{]{1,128}:(?!:)[\"']?(?P<secret>[^\s\"']{1,256})",
        check=lambda secret: not secret.isdigit(),  # a numeric uid:gid
        example="curl -u admin:{} https://example.com",
        counter_example="docker run -u 1000:1000 alpine",
    ),
    PlaceRow(
        kind="password",
        keywords=("mysql", "mysqldump", "mysqladmin", "mariadb"),
        pattern=r"(?:mysql\w{0,20}+|mariadb[\w-]{0,20}+)(?:[ \t][^\n|;&]{0,400}?)?[ \t]-p(?![ \t]+(?:--?[A-Za-z]|[a-z_]{1,64}(?:[ \t]*[<>|;&]|[ \t]*$)))[ \t=]?"
        + _OPTION_VALUE,
        example="mysql -u root -p{} shop",
        counter_example="mysql -u root -p shop < dump.sql",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("mongo", "mongosh", "mongodump", "sshpass", "7z", "zip",
                  "unzip", "rar", "unrar", "steghide", "mosquitto_", "docker login", "podman login", "helm registry", "skopeo login", "az login",
                  "oc login", "impacket"),
        pattern=r"(?:mongo\w{0,20}+|sshpass|7z\w?|unzip(?= [^\n]{0,400}-P)|zip(?= [^\n]{0,400}-P)|unrar|rar|steghide|mosquitto_\w{1,20}+|(?:docker|podman|skopeo|az|oc"
        r"|helm registry) login)(?:[ \t][^\n|;&]{0,400}?)?[ \t]-[pP](?![ \t]+--?[A-Za-z])[ \t=]?" + _OPTION_VALUE,
        example="sshpass -p {} ssh db.example.com",
        counter_example="mongosh --version",
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
        gate=r"password[ \t]+[^ \t\n]+[ \t]*\r?$",
    ),
    PlaceRow(
        kind="password",
        keywords=(":5432:", ":5433:", ":6432:", ":3306:", ":*:"),
        pattern=r":(?:\d{4}|\*):[^:\s]{1,100}:[^:\s]{1,100}:(?P<secret>[^\s:]{1,200})(?=$|\n|\r)",
        before=r"(?:^|[^\w:*-])(?:[\w./~-]{1,120}:)?[\w.*-]{1,120}\Z",  # no part of an ARN
        check=lambda secret: any(c.isalnum() for c in secret),
        example="db.example.com:5432:shop:app:{}",
        counter_example="0.0.0.0:5432: listening",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("echo ", "printf "),
        pattern=r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?(?:[\"']?%s(?:\\n)?[\"']?[ \t]{1,4})?[\"']?(?P<secret>[^\s\"'|]{4,400})[\"']?[ \t]{0,4}\|"
        r"[ \t]{0,4}(?:sudo[ \t](?:[^|\n]{0,40}[ \t])?-S|[^|\n]{0,200}--(?:password-stdin|with-token)|(?:docker|podman) secret create|(?:sudo[ \t])?(?:passwd|cryptsetup|gpg|gh auth login|kinit))",
        example="echo {} | docker login -u alice --password-stdin registry.example.com",
        counter_example="echo $TOKEN | docker login --password-stdin",
    ),
    PlaceRow(
        kind="password",
        keywords=("echo ", "printf "),
        pattern=r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?[\"']?[\w.-]{1,64}:(?P<secret>[^\s\"'|]{4,400}?)(?:\\n)?[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t])?chpasswd",
        example="echo 'alice:{}' | sudo chpasswd",
        counter_example="echo alice:12 | cat",
    ),
    PlaceRow(
        kind="password",
        keywords=("requirepass", "masterauth", "bindpw", "rootpw", "masterpass", "sasl_passwd", "auth-pass", "auth_pass", "{plain}", "{cleartext}", "cargo login", "npm login",
                  "stats auth", "rpcpassword"),
        pattern=r"(?:requirepass|masterauth|bindpw|rootpw|masterpass|auth_pass|rpcpassword)[ \t=]{1,8}[\"']?(?P<secret>[^\s\"']{3,300})"
        r"|auth-pass[ \t]{1,4}[\w.-]{1,60}[ \t]{1,4}(?P<s3>[^\s\"']{4,300})|\{(?:PLAIN|CLEARTEXT|plain|cleartext)\}(?P<s4>[^\s:]{3,200})"
        r"|cargo login[ \t]{1,4}(?P<s5>[A-Za-z0-9_-]{16,200})"
        r"|stats auth[ \t]{1,8}[^\s:]{1,60}:(?P<s2>[^\s\"'#][^\s\"']{2,300})",
        example="requirepass {}",
        counter_example="requirepass ${REDIS_PASSWORD}",
    ),
    PlaceRow(
        kind="password",
        keywords=("password for ", "password is ", "passphrase is ", "token is ", "secret is ", "key is ", "password set to ",
                  "password changed to ", "password was ", "token: ", "password to "),
        pattern=r"(?:(?i:password|passphrase|token|secret|key)(?: (?:for|of) [\w.@-]{1,64})?(?: (?:is|was|(?:re)?set to|changed to|to)):?) {1,3}[\"'`]?(?P<secret>(?=[^\s\"'`]{0,60}\d)(?=[^\s\"'`]{0,60}[A-Za-z])[^\s\"'`]{8,400}?)[.,;:]?(?=[\s\"'`]|$)",
        example="the password for root is {}",
        counter_example="password for alice is required",
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("enable secret", "enable password", "username ", "key-string", "snmp-server community", "server-key",
                  "pre-shared-key", "rocommunity", "rwcommunity", "tacacs-server key", "radius-server key"),
        pattern=r"(?:enable (?:secret|password)|username \S{1,60} (?:privilege \d{1,2} )?(?:password|secret)(?= (?:[05789] |\S*\d))|key-string|(?:tacacs|radius)-server key)[ \t](?:[05789] )?(?P<secret>[^\s]{4,200})"
        r"|(?:snmp-server community|r[ow]community)[ \t]{1,4}(?P<s2>[^\s]{3,100})|pre-shared-key (?:local |remote |address \S{1,40} key )?(?:ascii-text )?[\"']?(?P<s3>[^\s\"']{4,100})",
        check=lambda secret: secret not in {"public", "private"},
        example="enable secret 5 {}",
        counter_example="enable secret",
        gate=r"(?:enable (?:secret|password)|username [^ \t\n]+ (?:privilege|password|secret)|key-string|(?:tacacs|radius)-server key|snmp-server community|r[ow]community|pre-shared-key)[ \t]",
        may_be_reference=False,
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
    PlaceRow(
        kind="password",
        keywords=("-u ", "--user ", "--user=", "--username ", "--username="),
        pattern=r"(?:-u|--user(?:name)?)[ =]{1,2}[^\s=]{1,100}[ \t]{1,4}(?:-{1,2}[a-zA-Z][\w-]{0,30}[ =][^\s]{1,100}[ \t]{1,4}){0,3}-p[ =]?[\"']?(?P<secret>(?=[^\s\"']{0,60}[A-Za-z])(?=[^\s\"']{0,60}\d)[^\s\"'/=]{6,200})[\"']?(?=\s|$)",
        example="cqlsh db.example.com -u reader -p {}",
        counter_example="docker run -u app -p 8080:80 web",
    ),
    PlaceRow(
        kind="password",
        keywords=("net use ", "add_user ", "change_password ", "mc alias set ", "ssh-keygen ", "identify ", "nickserv",
                  "acl setuser ", "> auth ", "sqlplus ", "credentials(", "password(", ": psk ", "sonar.login=", "_authtoken "),
        pattern=r"(?i:net use)[ \t][^\n]{0,200}?/user:\S{1,100}[ \t]{1,4}(?P<secret>[^\s/]{4,200})"
        r"|(?:add_user|change_password)[ \t]{1,4}[^\s-]{1,100}[ \t]{1,4}[\"']?(?P<s2>[^\s\"']{4,200})"
        r"|mc alias set[ \t]{1,4}\S{1,60}[ \t]{1,4}https?://\S{1,200}[ \t]{1,4}(?:(?![A-Z0-9]{16,24}[ \t])\S{1,100}[ \t]{1,4})?(?P<s3>(?:[A-Z0-9]{16,24}[ \t]{1,4})?[^\s-]\S{7,200})"
        r"|ssh-keygen[ \t][^\n]{0,200}?(?<!\[)-[NP][ \t]{1,4}(?:\"(?P<s4>[^\"\n]{1,200})\"|'(?P<s5>[^'\n]{1,200})'|(?P<s6>[^\s\"'-]\S{3,200}))"
        r"|(?i:identify)[ \t]{1,4}(?P<s7>(?=\S{0,60}\d)[^\s]{8,200})(?=\s|$)"
        r"|(?i:acl setuser)[ \t][^\n]{0,200}?[ \t]>(?P<s8>\S{4,200})"
        r"|> (?i:auth)[ \t]{1,4}(?:[^\s\"'|]{1,60}[ \t]{1,4})?[\"']?(?P<s9>[^\s\"'|]{4,300})[\"']?[ \t\r]{0,4}$"
        r"|sqlplus[ \t]{1,4}(?:-\w{1,2}[ \t]{1,4}){0,3}[\"']?[\w$#.]{1,60}/(?P<s10>[^\s@\"'/]{3,100})[\"']?(?=@|\s|$)"
        r"|(?i:credentials)\((?:[^\n()\"']{0,80}[\"'][^\"'\n]{1,120}[\"'],[ \t]{0,4}){1,3}[\"'](?P<s11>[^\"'\n]{6,200})[\"']\)"
        r"|(?i:password)\([\"'](?P<s12>[^\"'\n]{1,200})[\"']\)"
        r"|: PSK [\"'](?P<s13>[^\"'\n]{4,200})[\"']"
        r"|sonar\.login=(?P<s14>[A-Za-z0-9_]{20,80})|_authToken[ \t]{1,4}(?P<s15>[^\s\"'$]{8,300})",
        example="rabbitmqctl add_user app {}",
        counter_example="rabbitmqctl list_users",
        may_be_glued=True,
        may_be_reference=False,
        gate=r"(?:net use |add_user |change_password |mc alias set |ssh-keygen |identify |acl setuser |> auth |sqlplus |credentials\(|password\([\"']|: psk |sonar\.login=|_authtoken )",
    ),
    PlaceRow(
        kind="password",
        keywords=("password...", "secret...", "token..."),
        pattern=r"(?i:password|secret|token)\.{3,60}(?P<secret>[^\s.][^\s\"']{5,200})",
        example="HikariConfig - password........................{}",
        counter_example="Enter password...",
        may_be_glued=True,
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=('"name"', '"key"', "name: ", "name=", "key="),
        pattern=r"\"?(?i:name|key)\"?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[\w./-]{0,80}(?i:passw(?:or)?d|passwd|passphrase|secret|token|credential|[a-z]pass\b|_pass\b|_pw\b|_?pwd\b|(?:api|private|access|auth|encryption|signing|master|deploy|service|storage|account|shared|session|webhook|hmac|admin)[_-]?key)[\w.-]{0,40}(?<![Nn]ame)(?<![Nn]AME)[\"']?"
        r"(?:[ \t]{0,4},[ \t]{0,4}\"[A-Za-z]{1,20}\"[ \t]{0,4}:[ \t]{0,4}(?:\"[^\"\n]{0,80}\"|true|false|null|\d{1,9})){0,3}[ \t]{0,4},[ \t]{0,4}\"?(?i:value)\"?[ \t]{0,4}[:=][ \t]{0,4}[\"'](?P<secret>[^\"'\n]{1,4096})[\"']",
        example='[{"name":"DB_PASSWORD","value":"{}"}]',
        counter_example='[{"name":"DB_PASSWORD","value":""}]',
        may_be_reference=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("password ", "passphrase "),
        pattern=r"(?i:password|passphrase)(?:[ \t]{1,8}(?:(?i:password)[ \t]{1,4})?)(?![\w.-]{1,40}=[^=\s])(?P<secret>(?=[^\s\"']{0,60}\d)(?=[^\s\"']{0,60}[A-Za-z])[^\s\"'<>()]{8,200}?)[.,;:]?(?=\s|$)",
        example="nmcli dev wifi connect home password {}",
        counter_example="password for alice2 expired",
        check=lambda secret: secret.count("|") <= 1,  # of a log, parted by bars
        may_be_glued=True,
        may_be_reference=False,
        may_be_words=False,
    ),
    PlaceRow(
        kind="password",
        keywords=("]:25 ", "]:465 ", "]:587 ", "]:2525 "),
        pattern=r"\]:\d{2,5}[ \t]{1,8}[^\s:]{1,120}:(?P<secret>\S{3,200})(?=\s|$)",
        example="[smtp.example.com]:587 alice@example.com:{}",
        counter_example="[smtp.example.com]:587 refused",
        may_be_glued=True,
    ),
    PlaceRow(
        kind="password",
        keywords=("bundle_",),
        pattern=r"BUNDLE_\w{1,100}__\w{1,60}[\"']?[:=][ \t]{0,4}[\"']?(?:[^\s:\"'/]{1,100}:)?(?P<secret>[^\s\"'/]{8,200})",
        example='BUNDLE_GEMS__EXAMPLE__COM: "alice:{}"',
        counter_example="BUNDLE_PATH: vendor",
    ),
    PlaceRow(
        kind="key",
        keywords=("_key=", "_key "),
        before=r"(?<!CACHE)(?<!Cache)(?<!PUBLIC)(?<!PRIMARY)(?<!FOREIGN)(?<!PARTITION)(?<!SORT)(?<!LOOKUP)(?<!IDEMPOTENCY)\Z",
        pattern=r"_K(?:EY|ey)[ =][\"']?(?P<secret>(?=[^\s\"']{0,20}\d)(?:[a-f0-9]{32,128}|[A-Za-z0-9_+/=.-]{20,400}))(?=[\s\"']|$)",
        check=lambda secret: len(secret) != 40 or not secret.isupper() or any(c in secret for c in "GHIJKLMNOPQRSTUVWXYZ"),  # noqa: PLR2004 - the fingerprint of a public key
        example="BACKUP_KEY={}",
        counter_example="CACHE_KEY=user-12",
        may_be_glued=True,
        may_be_reference=False,
        may_be_words=False,
    ),
)  # fmt: skip
