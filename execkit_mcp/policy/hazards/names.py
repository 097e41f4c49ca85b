"""Names and expressions that several families of hazards share."""

SHELLS = (
    "ash bash busybox dash fish ksh lua node osascript perl php pwsh python python2 python3 python3.* ruby sh tclsh zsh"
)
FETCHERS = "curl wget fetch aria2c lwp-request GET http https xh"
DECODERS = "base64 base32 xxd openssl uudecode gpg zcat gunzip rev tr"
DATABASES = "psql mysql mariadb sqlite3 sqlcmd cockroach clickhouse-client mongosh mongo cqlsh duckdb"

BROAD = (
    r"/|/\*|~|~/|~/\*|\.|\./|\.\.|\.\./.*|\*"
    r"|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var)(?:/\*?|/\.\.?)*"
    r"|/home/[^/]+/?\*?|/usr/[^/]+/?\*?|/var/[^/]+/?\*?|\$HOME.*|\"\$HOME\".*|/Users(?:/[^/]+)?/?"
)
DISK = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md|loop|disk/|mapper/|r?disk)\S*"
SQL = r"(?i:\b(?:drop\s+(?:table|database|schema|user|role|index|view)|truncate\b|delete\s+from|dropDatabase|\.drop\())"
