# ruff: noqa: E501 - an expression reads one line
"""Hazards of tampering with records: what was done is hidden, cut off or dated otherwise."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Scene, Shape, expression

_HISTORY_OFF = r"\bset\s+\+o\s+history\b|\bunset\s+(?:-v\s+)?HIST\w+|(?:^|[\s;&(])(?:export\s+|declare\s+|readonly\s+)?HIST(?:FILE|SIZE|FILESIZE|CONTROL|IGNORE)="
_HISTORY_CLEAR = r"\bhistory\s+-\w*[cwd]"


def _hides(scene: Scene) -> bool:
    return "history" in scene.text and expression(_HISTORY_CLEAR).search(scene.text) is not None


def _records_nothing(scene: Scene) -> bool:
    return ("HIST" in scene.text or "history" in scene.text) and expression(_HISTORY_OFF).search(scene.text) is not None


HAZARDS = (
    Hazard(
        id="truncate-log",
        severity=Severity.MEDIUM,
        message="empties a log",
        shapes=(
            Shape(programs="truncate", operand=r"/var/log/.*"),
            Shape(programs="logrotate", flags="-f --force"),
            Shape(programs="journalctl", flags="--vacuum-size --vacuum-time --vacuum-files --rotate"),
        ),
        writes=r"/var/log/.*",
        example="truncate -s 0 /var/log/syslog",
        harmless="tail /var/log/syslog",
    ),
    Hazard(
        id="history-clear",
        severity=Severity.MEDIUM,
        message="hides what was done",
        shapes=(Shape(programs="history", flags="-c -w -d"), Shape(programs="auditctl", flags="-D -e")),
        finder=_hides,
        found_with="history",
        writes=r".*/\.(?:bash|zsh|python)_history|/var/log/audit/.*",
        example="history -c",
        harmless="history 5",
    ),
    Hazard(
        id="history-off",
        severity=Severity.HIGH,
        message="keeps what is done out of the history",
        finder=_records_nothing,
        found_with="HIST|history",
        example="unset HISTFILE",
        harmless="echo HISTFILE",
    ),
    Hazard(
        id="log-service-stop",
        severity=Severity.CRITICAL,
        message="stops what keeps the record",
        shapes=(
            Shape(
                programs="systemctl service rc-service",
                sub="stop|disable|mask|kill|restart",
                operand=r"(?:r?syslog(?:-ng|d)?|auditd|systemd-journald|journald|fluentd?|fluent-bit|filebeat|osqueryd|falco|wazuh\S*|td-agent|vector|promtail)(?:\.\w+)?",
            ),
            Shape(
                programs="service", operand=r"(?:r?syslog(?:-ng|d)?|auditd|filebeat|osqueryd|falco)", anywhere=r" stop$"
            ),
            Shape(
                programs="pkill killall",
                operand=r"(?:r?syslogd?|auditd|systemd-journald?|filebeat|osqueryd|falco|fluentd?)",
            ),
        ),
        example="systemctl stop auditd",
        harmless="systemctl status auditd",
    ),
    Hazard(
        id="audit-rules",
        severity=Severity.HIGH,
        message="changes what the kernel records",
        shapes=(
            Shape(programs="auditctl", flags="-D -e -d -W -A -a -w -R", anywhere=r"(?:^|\s)-[DedWAawR]"),
            Shape(programs="auditctl", anywhere=r"(?:^|\s)-[DedWAawR]"),
            Shape(programs="augenrules", anywhere=r"."),
        ),
        writes=r"/etc/(?:audit|rsyslog\.d|rsyslog\.conf|syslog-ng|logrotate\.d|systemd/journald\.conf.*)(?:/.*)?",
        example="auditctl -D",
        harmless="auditctl -l",
    ),
    Hazard(
        id="login-records",
        severity=Severity.CRITICAL,
        message="changes who was seen to log in",
        writes=r"/var/(?:log|run|adm)/(?:wtmp|btmp|lastlog|utmpx?|wtmpx|faillog|tallylog).*|/run/utmp",
        example="tee /var/log/wtmp",
        harmless="last",
    ),
    Hazard(
        id="timestamp-forge",
        severity=Severity.MEDIUM,
        message="dates a system file otherwise",
        shapes=(
            Shape(
                programs="touch",
                flags="-t -d -r --date --reference",
                operand=r"/(?:etc|bin|sbin|usr|var|lib|boot|root)/.*",
            ),
        ),
        example="touch -r /etc/hosts /etc/passwd",
        harmless="touch -d yesterday notes.txt",
    ),
    Hazard(
        id="kernel-log-clear",
        severity=Severity.MEDIUM,
        message="empties the kernel's messages",
        shapes=(Shape(programs="dmesg", flags="-c -C --clear --read-clear -D --console-off -n --console-level"),),
        example="dmesg -C",
        harmless="dmesg -T",
    ),
    Hazard(
        id="clock-change",
        severity=Severity.HIGH,
        message="sets the clock",
        shapes=(
            Shape(programs="date", flags="-s --set"),
            Shape(programs="timedatectl", sub="set-time|set-timezone|set-ntp|set-local-rtc"),
            Shape(programs="hwclock", flags="-w -s --set --systohc --hctosys --systz --adjust"),
            Shape(programs="ntpdate ntpd chronyc sntp rdate", anywhere=r"\b(?:makestep|settime|-s|pool|\w+\.\w+)\b"),
        ),
        example="date -s 2020-01-01",
        harmless="date -u",
    ),
    Hazard(
        id="own-record",
        severity=Severity.CRITICAL,
        message="changes the record of this product",
        writes=r".*/(?:\.local/state|\.config|state|etc)/execkit(?:-mcp)?(?:/.*)?",
        example="tee ~/.local/state/execkit-mcp/audit.jsonl",
        harmless="cat notes/execkit-mcp.md",
    ),
)
