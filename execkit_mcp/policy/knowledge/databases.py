"""Database clients: what they are told to run is not judged, so it is unknown. Sources: their manuals."""

from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.spec import Program

PROGRAMS = (
    Program(
        names="psql",
        source="psql 15 manual: a backslash command runs, reads and writes",
        flags="-c,--command=:x? -f,--file=:rx? -d,--dbname=:U -h,--host=:n -p,--port= -U,--username= "
        "-w,--no-password -W,--password -l,--list -v,--set= -X,--no-psqlrc -1,--single-transaction "
        "-o,--output=:wx -L,--log-file=:w -a,--echo-all -b,--echo-errors -e,--echo-queries "
        "-E,--echo-hidden -q,--quiet -s,--single-step -S,--single-line -A,--no-align --csv "
        "-F,--field-separator= "
        "-H,--html -P,--pset=:x -R,--record-separator= -t,--tuples-only -T,--table-attr= "
        "-x,--expanded -z -0 -V",
        operands="- -;x?N",
        alone="--version -V --help -?",
    ),
    opaque(
        "mysqladmin mysqldump mysqlimport mycli pgcli pg_dump pg_dumpall pg_restore "
        "pg_ctl createdb dropdb createuser dropuser initdb vacuumdb reindexdb clusterdb",
        "their manuals",
        "x?NU",
        alone="--version -V --help",
    ),
    opaque(
        "sqlite litecli duckdb sqlcmd bcp sqlplus isql usql clickhouse-client clickhouse cqlsh "
        "influx neo4j-admin cypher-shell",
        "their manuals: dot commands run and write",
        "dx?",
        alone="--version -version --help -help",
    ),
    opaque(
        "mongosh mongo mongodump mongorestore mongoexport mongoimport redis-server "
        "kafka-topics memcached ldapsearch ldapmodify ldapadd ldapdelete",
        "their manuals",
        "x?NU",
        alone="--version --help -V",
    ),
)
