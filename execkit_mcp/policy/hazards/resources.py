"""Hazards of resources and services: what starves, stops or never ends."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Scene, Shape, expression

_FORK_BOMB = r"(?P<name>[A-Za-z_:.][\w:.]*)\s*\(\s*\)\s*\{[^}]*(?<![\w:.])(?P=name)\s*\|\s*(?P=name)(?![\w:.])[^}]*&"
_COLON_BOMB = r":\s*\(\s*\)\s*\{.*:\s*\|\s*:"


def _fork_bomb(scene: Scene) -> bool:
    if "|" not in scene.text or "(" not in scene.text:
        return False
    return any(expression(each).search(scene.text) for each in (_FORK_BOMB, _COLON_BOMB))


HAZARDS = (
    Hazard(
        id="fork-bomb",
        severity=Severity.CRITICAL,
        message="starts processes without end",
        finder=_fork_bomb,
        found_with=r"\(",
        example=":(){ :|:& };:",
        harmless="echo ':|:'",
    ),
    Hazard(
        id="kill-all",
        severity=Severity.HIGH,
        message="kills what it does not name",
        shapes=(
            Shape(programs="kill", operand=r"-1|1|0"),
            Shape(programs="kill", anywhere=r"(^|\s)(--\s+)?-1(\s|$)"),
            Shape(programs="killall pkill killall5", anywhere=r".*"),
        ),
        example="kill -9 -1",
        harmless="kill 4711",
    ),
    Hazard(
        id="shutdown",
        severity=Severity.CRITICAL,
        message="stops the machine",
        shapes=(
            Shape(programs="shutdown reboot halt poweroff telinit init kexec"),
            Shape(
                programs="systemctl",
                operand=r"(?:systemd-)?(?:poweroff|reboot|halt|kexec|soft-reboot|rescue|emergency|suspend|hibernate|shutdown|exit|ctrl-alt-del|runlevel[06])(?:\.(?:target|service))?",
            ),
        ),
        example="shutdown -h now",
        harmless="uptime",
    ),
    Hazard(
        id="service-stop",
        severity=Severity.HIGH,
        message="stops a service",
        shapes=(
            Shape(
                programs="systemctl",
                sub="stop|disable|mask|kill|isolate|restart|reload-or-restart|try-restart|rescue|emergency|poweroff|reboot|halt|suspend|hibernate|kexec",
            ),
            Shape(programs="service rc-service", operand=r"stop|restart|reload"),
            Shape(programs="initctl launchctl supervisorctl", sub="stop|unload|remove|bootout|shutdown"),
        ),
        example="systemctl stop ssh",
        harmless="systemctl status ssh",
    ),
    Hazard(
        id="endless-read",
        severity=Severity.MEDIUM,
        message="reads a source that never ends",
        shapes=(
            Shape(
                programs="cat cp sort tac base64 xxd od hexdump gzip sha256sum md5sum wc",
                without="-N --read-bytes -n -l -len --length",
                reads=r"/dev/(?:zero|u?random|full)",
            ),
            Shape(programs="dd", anywhere=r"\bif=/dev/(?:zero|u?random|full)\b(?!.*\bcount=)"),
        ),
        example="cat /dev/zero",
        harmless="head -c 10 /dev/zero",
    ),
    Hazard(
        id="disk-fill",
        severity=Severity.MEDIUM,
        message="reserves gigabytes",
        shapes=(
            Shape(
                programs="fallocate truncate mkfile",
                anywhere=r"(?:-l|-s|--length|--size)[ =]?\+?\d+(?:[GTPE]i?B?|\d{9,})\b",
            ),
            Shape(programs="dd", anywhere=r"\bbs=\d+[GT]\b|\bcount=\d{7,}\b"),
            Shape(
                programs="head",
                anywhere=r"(?:-c|--bytes)[ =]?\d+(?:[GTPEZY]i?B?|\d{9,})\b",
                reads=r"/dev/(?:zero|u?random|full)",
            ),
        ),
        example="fallocate -l 500G x.img",
        harmless="fallocate -l 1M x.img",
    ),
    Hazard(
        id="stress",
        severity=Severity.MEDIUM,
        message="loads the machine on purpose",
        shapes=(Shape(programs="stress stress-ng memtester sysbench fio bonnie++ prime95 mprime cpuburn burnP6"),),
        example="stress -c 8",
        harmless="nproc",
    ),
    Hazard(
        id="many-processes",
        severity=Severity.MEDIUM,
        message="starts as many processes as there is work",
        shapes=(
            Shape(programs="xargs", anywhere=r"(?:^|\s)(?:-P\s?|--max-procs[ =])(?:0|\d{3,})\b"),
            Shape(programs="parallel", anywhere=r"(?:^|\s)(?:-j\s?|--jobs[ =])(?:0|\d{3,})\b"),
            Shape(programs="make gmake ninja", anywhere=r"(?:^|\s)-j\s?\d{3,}\b"),
        ),
        example="xargs -P 0 -n 1 echo",
        harmless="xargs -P 4 -n 1 echo",
    ),
    Hazard(
        id="load-test",
        severity=Severity.HIGH,
        message="loads another machine on purpose",
        shapes=(
            Shape(
                programs="ab wrk wrk2 hey siege hping3 slowloris slowhttptest vegeta bombardier locust k6 t50 mausezahn"
            ),
            Shape(programs="ping ping6", flags="-f"),
        ),
        example="wrk -c 400 https://example.com/",
        harmless="curl https://example.com/",
    ),
    Hazard(
        id="endless-wait",
        severity=Severity.MEDIUM,
        message="waits for ever",
        shapes=(
            Shape(programs="sleep", operand=r"inf(?:inity)?|\d{6,}[smhd]?|\d{3,}[hd]"),
            Shape(programs="tail", flags="-f -F --follow", operand=r"/dev/null"),
        ),
        example="sleep infinity",
        harmless="sleep 5",
    ),
    Hazard(
        id="priority",
        severity=Severity.MEDIUM,
        message="takes the machine from others",
        shapes=(
            Shape(programs="nice renice", anywhere=r"(?:-n|--adjustment|--priority)[ =]?-\d|^--\d"),
            Shape(programs="chrt", flags="-f -r -d --fifo --rr --deadline"),
            Shape(programs="ionice", anywhere=r"-c\s?(?:1|realtime)\b"),
            Shape(programs="choom", flags="-n --adjust"),
        ),
        example="renice -n -20 4711",
        harmless="renice -n 5 4711",
    ),
    Hazard(
        id="miner",
        severity=Severity.CRITICAL,
        message="earns money with the machine",
        shapes=(
            Shape(programs="xmrig minerd cpuminer cgminer bfgminer ethminer nbminer t-rex lolMiner xmr-stak"),
            Shape(programs="*", anywhere=r"stratum\+(?:tcp|ssl)://"),
        ),
        example="xmrig -o stratum+tcp://example.com:3333",
        harmless="top -b -n 1",
    ),
)
