# ruff: noqa: E501 - a table reads one row a line
"""Key stores and embedded databases: which commands only read, and which flags run, read or write files.

Sources: redis-cli 7.2, sqlite3 3.45, mysql 8.0 client, etcdctl 3.5, mongosh 2.1 manuals.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_REDIS_FLAGS = (
    "-h=:n -p= -s=:w -a= -u=:U -r= -i= -n= -2 -3 -x -X= -d= -D= -c -e -t= --user= --pass= --askpass --raw --no-raw --quoted-input "
    "--csv --json --no-auth-warning --verbose --tls --sni= --cacert=:r --cacertdir=:R --cert=:r --key=:r --insecure --tls-ciphers= "
    "--stat --latency --latency-history --latency-dist --bigkeys --memkeys --hotkeys --scan --pattern= --count= --intrinsic-latency= "
    "--eval=:rx --rdb=:w --functions-rdb=:w --pipe:x --replica --ldb:x --ldb-sync-mode:x --cluster=:x"
)
_REDIS_READS = (
    "get|mget|exists|ttl|pttl|type|strlen|getrange|hget|hmget|hgetall|hkeys|hvals|hlen|hexists|llen|lrange|lindex|scard|smembers|"
    "sismember|zcard|zrange|zscore|zrank|zcount|scan|hscan|sscan|zscan|keys|dbsize|info|ping|time|randomkey|bitcount|getbit|pfcount|"
    "xlen|xrange|xinfo|geopos|geodist|lastsave|role|echo"
)

# With -readonly and -safe a text can neither write nor run; what still reaches other files is left out: dot commands, of
# which `.trace` and `.testcase` write, and the table that lists folders and reads files.
_SQLITE_SHOWS = lazy_regex(r"\.(?:tables|schema|indexes|databases|dbinfo)(?: [\w%]+)?")
_SQLITE_REACHES = lazy_regex(
    r"(?im)^\s*\.|fsdir|lsdir|readfile|writefile|load_extension|\bedit\b|attach|vacuum|zipfile"
)
_SQLITE_OPENS = ("-append", "-zip", "-deserialize", "-vfs", "-unsafe-testing")


def _after_sqlite(reading: Reading) -> None:
    """``sqlite3 -readonly -safe FILE 'SELECT …'`` reads the file; anything else may run, read and write."""
    words = reading.operands
    # The last of the ways to open a file holds: `-readonly -append` creates it.
    is_held = reading.has("-readonly") and reading.has("-safe") and not any(map(reading.has, _SQLITE_OPENS))
    is_held = is_held and len(words) > 1
    texts = words[1:]
    is_read = is_held and all(
        text.is_static and (_SQLITE_SHOWS.fullmatch(text.text) or not _SQLITE_REACHES.search(text.text))
        for text in texts
    )
    if is_read and words[0].is_static and not words[0].text.startswith("file:"):
        reading.mark("r", words[0])
        return
    for path in words[:1]:
        reading.mark("d", path)
    reading.mark("x", None)


PROGRAMS = (
    Program(
        names="redis-cli valkey-cli",
        source="redis-cli 7.2 --help; a command outside these is unknown",
        is_permuting=False,
        has_local_flags=True,
        flags=_REDIS_FLAGS,
        operands=";N",
        empty="xN",
        subcommands={
            f"{_REDIS_READS}|{_REDIS_READS.upper()}": "-*;N",
            "object|OBJECT": "-*;N",
            "config get|GET": "-*;N",
            "CONFIG get|GET": "-*;N",
            "client list|LIST|info|INFO|id|ID": "-*;N",
            "CLIENT list|LIST|info|INFO|id|ID": "-*;N",
            "memory usage|USAGE|stats|STATS": "-*;N",
            "slowlog get|GET|len|LEN": "-*;N",
            "SLOWLOG get|GET|len|LEN": "-*;N",
        },
        alone="--version -v --help",
    ),
    Program(
        names="sqlite3",
        source="sqlite3 3.45 manual: SQL and dot commands run, read and write",
        is_long_only=True,
        flags="-A:w -append -ascii -bail -batch -box -column -cmd=:x -csv -deserialize -echo -init=:rx -header -noheader -help -html "
        "-interactive -json -line -list -lookaside= -markdown -memtrace -mmap= -newline= -nofollow -nonce= -nullvalue= -pagecache= "
        "-quote -readonly -safe -separator= -stats -table -tabs -unsafe-testing -version -vfs= -zip",
        operands="-*",
        after=_after_sqlite,
        alone="-version --version -help --help",
    ),
    Program(
        names="mysql mariadb",
        source="mysql 8.0 manual: its commands include system and source",
        flags="-A,--no-auto-rehash -B,--batch -b,--no-beep -C,--compress -D,--database= -e,--execute=:x -E,--vertical -f,--force "
        "-h,--host=:n -H,--html -i -L,--skip-line-numbers -N,--skip-column-names -n,--unbuffered -o -p,--password=? -P,--port= "
        "-q,--quick -r,--raw -S,--socket=:w -s,--silent -t,--table -T -u,--user= -U,--safe-updates -v,--verbose -w,--wait -X,--xml "
        "--defaults-file=:rx --defaults-extra-file=:rx --defaults-group-suffix= --login-path= --ssl-ca=:r --ssl-cert=:r --ssl-key=:r "
        "--ssl-mode= --tee=:w --pager=:x --init-command=:x --local-infile=?:x --plugin-dir=:Rx --default-auth= --protocol=",
        operands="-;xN",
        alone="--version -V --help -?",
    ),
    Program(
        names="etcdctl",
        drops_equals=True,
        source="etcdctl 3.5 manual",
        flags="--endpoints=:U --cacert=:r --cert=:r --key=:r --user= --password= -w,--write-out= --hex --debug --command-timeout= "
        "--dial-timeout= --insecure-skip-tls-verify --insecure-transport --discovery-srv=:U",
        subcommands={
            "get": Grammar(
                flags="--prefix --from-key --keys-only --count-only --limit= --order= --sort-by= --rev= --consistency= "
                "--print-value-only",
                operands="-*;N",
            ),
            "version": "",
            "endpoint health|status|hashkv": Grammar(flags="--cluster", operands="-*;N"),
            "member list": "-*;N",
            "alarm list": "-*;N",
            "snapshot save": "w;N",
            "put|del|txn|compaction|defrag|lease|lock|elect|move-leader|make-mirror|auth|user|role|migrate": "-*;sN",
            "watch": "A;xN",
            "member add|remove|update|promote": "-*;sN",
            "snapshot restore": "r;d",
        },
    ),
)
