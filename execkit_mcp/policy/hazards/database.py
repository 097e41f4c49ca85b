# ruff: noqa: E501 - an expression reads one line
"""Hazards of databases: data removed, copied out whole, or turned into running programs."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.names import DATABASES, SQL
from execkit_mcp.policy.hazards.shape import Hazard, Shape

_CLIENTS = DATABASES

HAZARDS = (
    Hazard(
        id="sql-destroy",
        severity=Severity.HIGH,
        message="removes data from a database",
        shapes=(
            Shape(programs=DATABASES, anywhere=SQL),
            Shape(programs="dropdb dropuser mysqladmin", anywhere=r".*"),
            Shape(programs="mongorestore pg_restore", flags="--drop --clean -c"),
            Shape(
                programs="cqlsh influx isql sqlcmd snowsql bq clickhouse-client",
                anywhere=r"(?i)\b(?:drop|truncate|delete)\b",
            ),
            Shape(
                programs="npx yarn pnpm bundle rails rake sequelize airflow",
                anywhere=r"\bdb[: ](?:drop|reset|purge|schema:load|migrate:reset|setup)\b",
            ),
            Shape(programs="psql mysql mariadb sqlite3", flags="-f --file -init"),
            Shape(programs="mysql mariadb", is_fed=True),
            Shape(programs="pg_ctl", sub="stop|restart|promote"),
        ),
        example="psql -c 'DROP TABLE users'",
        harmless="psql -c 'SELECT 1'",
    ),
    Hazard(
        id="redis-flush",
        severity=Severity.HIGH,
        message="empties a key store",
        shapes=(
            Shape(
                programs="redis-cli valkey-cli",
                anywhere=r"(?i)\b(?:flushall|flushdb|shutdown|config\s+set|debug|script\s+flush|del|unlink|slaveof|replicaof|bgrewriteaof|swapdb|migrate|restore|acl\s+setuser)\b",
            ),
        ),
        example="redis-cli FLUSHALL",
        harmless="redis-cli GET a",
    ),
    Hazard(
        id="sql-update-all",
        severity=Severity.HIGH,
        message="changes every row of a table",
        shapes=(Shape(programs=_CLIENTS, anywhere=r"(?is)\bupdate\s+[\w.\"`]+\s+set\b(?!.*\bwhere\b)"),),
        example="psql -c 'UPDATE users SET admin = true'",
        harmless="psql -c 'UPDATE users SET admin = true WHERE id = 1'",
    ),
    Hazard(
        id="sql-alter",
        severity=Severity.HIGH,
        message="changes the shape of a database",
        shapes=(
            Shape(
                programs=_CLIENTS,
                anywhere=r"(?i)\b(?:alter\s+(?:table|database|system|schema|column|index)|rename\s+table|create\s+or\s+replace|drop\s+(?:column|constraint|trigger|function))\b",
            ),
        ),
        example="psql -c 'ALTER TABLE users DROP COLUMN name'",
        harmless="psql -c 'SELECT name FROM users'",
    ),
    Hazard(
        id="sql-rights",
        severity=Severity.HIGH,
        message="changes who may do what in a database",
        shapes=(
            Shape(
                programs=_CLIENTS,
                anywhere=r"(?i)\b(?:grant|revoke)\s+[\w, ]+\s+(?:on|to|from)\b|\b(?:create|alter)\s+(?:user|role|login)\b|\bset\s+password\b|\bcreateUser\(",
            ),
            Shape(programs="createuser"),
        ),
        example="mysql -e 'GRANT ALL ON a.b TO c'",
        harmless="mysql -e 'SHOW GRANTS'",
    ),
    Hazard(
        id="sql-to-shell",
        severity=Severity.CRITICAL,
        message="lets a database run programs or touch files",
        shapes=(
            Shape(
                programs=_CLIENTS,
                anywhere=r"(?i)\b(?:to|from)\s+program\b|\binto\s+(?:outfile|dumpfile)\b|\bload_file\s*\(|\bxp_cmdshell\b|\bpg_(?:read|write)\w*file\b|\blo_(?:import|export)\b|\bload_extension\b|\\!|(?:^|['\"\s])\.(?:shell|system|load|import|once|output)\b|\bwritefile\s*\(|\bsystem\s+\S",
            ),
        ),
        example="psql -c \"COPY t TO PROGRAM 'sh'\"",
        harmless="psql -c 'SELECT 1 FROM programs'",
    ),
    Hazard(
        id="database-dump",
        severity=Severity.MEDIUM,
        message="copies a whole database out",
        shapes=(
            Shape(
                programs="pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport pg_basebackup mysqlpump xtrabackup"
            ),
            Shape(programs="sqlite3", anywhere=r"\.(?:dump|backup|clone|save)\b"),
            Shape(programs="redis-cli valkey-cli", anywhere=r"--(?:functions-)?rdb"),
        ),
        example="pg_dump shop",
        harmless="psql -l",
    ),
    Hazard(
        id="database-restore",
        severity=Severity.HIGH,
        message="writes over a database",
        shapes=(
            Shape(programs="pg_restore", without="-l --list", anywhere=r"^(?!.*(?:--list\b|\s-l\b|^-l\b)).*\S"),
            Shape(programs="mongorestore mongoimport mysqlimport innobackupex"),
            Shape(programs="sqlite3", anywhere=r"\.restore\b"),
            Shape(programs="psql mysql mariadb", is_fed=True),
        ),
        example="mongorestore dump",
        harmless="pg_restore --list shop.dump",
    ),
    Hazard(
        id="mongo-destroy",
        severity=Severity.HIGH,
        message="removes documents or collections",
        shapes=(
            Shape(
                programs="mongosh mongo",
                anywhere=r"\b(?:drop(?:Database|Index(?:es)?|User|Role)?|deleteMany|deleteOne|remove|findOneAndDelete|shutdownServer|bulkWrite)\s*\(",
            ),
        ),
        example="mongosh --eval 'db.users.deleteMany({})'",
        harmless="mongosh --eval 'db.users.countDocuments()'",
    ),
    Hazard(
        id="framework-database-reset",
        severity=Severity.HIGH,
        message="throws an application's database away",
        shapes=(
            Shape(
                programs="rails rake bin/rails",
                anywhere=r"\bdb:(?:drop|reset|purge|schema:load|setup|rollback|seed:replant|migrate:reset|truncate_all)",
            ),
            Shape(programs="prisma npx pnpm yarn", anywhere=r"\bmigrate reset\b|--force-reset|--accept-data-loss"),
            Shape(programs="alembic", anywhere=r"^downgrade\b"),
            Shape(programs="php artisan", anywhere=r"\b(?:migrate:(?:fresh|refresh|reset|rollback)|db:wipe)\b"),
            Shape(programs="python*", anywhere=r"manage\.py (?:flush|reset_db|sqlflush)\b"),
            Shape(programs="sequelize knex typeorm", anywhere=r"\b(?:db:drop|undo|rollback|schema:drop)"),
            Shape(programs="flyway", anywhere=r"\b(?:clean|undo|repair)\b"),
            Shape(programs="liquibase", anywhere=r"\b(?:drop-all|dropAll|rollback)"),
            Shape(programs="mix", anywhere=r"\becto\.(?:drop|reset|rollback)\b"),
        ),
        example="rails db:drop",
        harmless="rails db:version",
    ),
    Hazard(
        id="queue-purge",
        severity=Severity.HIGH,
        message="throws waiting messages away",
        shapes=(
            Shape(
                programs="rabbitmqctl rabbitmqadmin",
                anywhere=r"\b(?:purge_queue|delete_queue|reset|force_reset|stop_app|delete_vhost|delete_user|purge|delete)\b",
            ),
            Shape(
                programs="kafka-topics kafka-topics.sh kafka-delete-records kafka-delete-records.sh kafka-consumer-groups",
                anywhere=r"--(?:delete|reset-offsets|offset-json-file)\b",
            ),
            Shape(programs="nats", anywhere=r"\b(?:purge|rm|delete)\b"),
            Shape(programs="celery", anywhere=r"\b(?:purge|control shutdown)\b"),
        ),
        example="rabbitmqctl purge_queue jobs",
        harmless="rabbitmqctl list_queues",
    ),
    Hazard(
        id="search-index-delete",
        severity=Severity.HIGH,
        message="asks a server to delete",
        shapes=(
            Shape(programs="curl", anywhere=r"(?:^|\s)(?:-X|--request)[ =]?DELETE\b"),
            Shape(programs="http https xh", anywhere=r"^(?:\S+ )*DELETE\b"),
            Shape(programs="wget", anywhere=r"--method[ =]DELETE\b"),
        ),
        example="curl -X DELETE https://example.com/index",
        harmless="curl -X GET https://example.com/index",
    ),
)
