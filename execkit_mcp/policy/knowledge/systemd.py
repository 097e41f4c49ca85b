"""systemd's tools. Source: systemd 252 manual. All of them take their flags anywhere."""

import re
from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_COMMON = (
    "--no-pager --no-legend -H,--host=:nx -M,--machine=:x -q,--quiet --no-ask-password -l,--full --system --user -h"
)
_systemd = partial(Program, source="systemd 252 manual", alone="--help --version -h")
_POWER = (
    "reboot|poweroff|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|"
    "rescue|emergency|exit|default|switch-root"
)


def _after_clock(reading: Reading) -> None:
    reading.effect(EffectKind.STATE, None, "the host's name or clock")


def _after_hostnamectl(reading: Reading) -> None:
    """``hostnamectl hostname`` shows; with a name it sets."""
    if reading.operands:
        reading.effect(EffectKind.STATE, reading.operands[0], "the host's name")


def _after_journal(reading: Reading) -> None:
    """Operands are ``FIELD=value``, or a path to a program or device."""
    for arg in reading.operands:
        if arg.prefix.startswith("/"):
            reading.mark("f", arg)


_CONFIG_FOLDERS = ("/etc/", "/run/", "/usr/local/lib/", "/usr/lib/", "/lib/")


def _after_cat_config(reading: Reading) -> None:
    """The name, without the folder that it may begin with, is looked for in each folder of configuration."""
    for arg in reading.operands:
        if not arg.is_static:
            reading.mark("r?", arg)
            continue
        text = re.sub("/+(?:[.]/+)*", "/", arg.text)
        name = next((text.removeprefix(each) for each in _CONFIG_FOLDERS if text.startswith(each)), text.lstrip("/"))
        for folder in _CONFIG_FOLDERS[:-1]:  # the last is another name of the one before
            reading.mark("r", static(f"{folder}{name}"))
            reading.mark("R", static(f"{folder}{name}.d"))


def _after_service(reading: Reading) -> None:
    """``service NAME status`` looks, though through the service's own script; the rest changes it."""
    words = reading.operands
    is_looking = (
        len(words) == len(("name", "status")) and words[1].text == "status" and words[1].is_static
    ) or reading.has("--status-all")
    reading.mark("x" if is_looking else "px", None)
    if not is_looking:
        for word in words[:1]:
            reading.mark("p", word)


def _after_systemctl(reading: Reading) -> None:
    """Without a subcommand it lists units."""
    if not reading.subcommand and not reading.operands:
        reading.subcommand = ("list-units",)


PROGRAMS = (
    _systemd(
        names="systemctl",
        flags=f"{_COMMON} -t,--type= --state= -p,--property= -P= -a,--all -r,--recursive --reverse "
        f"--after --before --with-dependencies "
        "-n,--lines= -o,--output= --value --plain --show-types --failed --no-reload "
        "--firmware-setup --job-mode= -f,--force:p --now:p --runtime "
        "--global -i --no-wall --message= --kill-whom,--kill-who= -s,--signal= --what= "
        "--preset-mode= --root=:R --image=:Rs --no-block "
        "--no-warn --wait --show-transaction -T --mkdir --read-only --marked --timestamp= "
        "--dry-run --check-inhibitors= --drop-in= "
        "--legend=",
        after=_after_systemctl,
        subcommands={
            "status|is-active|is-enabled|is-failed|is-system-running|list-units|list-unit-files|"
            "list-timers|list-sockets|list-jobs|"
            "list-dependencies|list-machines|list-paths|list-automounts|show|cat|help|get-default|"
            "show-environment": "-*",
            "start|stop|restart|reload|try-restart|try-reload-or-restart|reload-or-restart|"
            "reload-or-try-restart|condrestart|force-reload|kill|isolate|freeze|thaw|cancel": "p*",
            "clean": "p*;d",
            _POWER: "-*;p",
            "daemon-reload|daemon-reexec|reset-failed|preset-all": ";s",
            "enable|disable|mask|unmask|reenable|preset|link|revert|set-default|set-property|"
            "add-wants|add-requires|edit|"
            "set-environment|unset-environment|import-environment|log-level|log-target|bind|mount-image|"
            "service-log-level|service-log-target|service-watchdogs": "s*",
        },
    ),
    _systemd(
        names="journalctl",
        flags=f"{_COMMON} -m,--merge -b,--boot=? --list-boots -k,--dmesg -t,--identifier= -u,--unit= "
        f"--user-unit= -p,--priority= --facility= "
        "-g,--grep= --case-sensitive=? -c,--cursor= --cursor-file=:rw --after-cursor= "
        "--show-cursor -S,--since= -U,--until= -F,--field= "
        "-N,--fields -n,--lines=? -f,--follow -e,--pager-end -x,--catalog -r,--reverse "
        "-o,--output= --output-fields= --utc --no-hostname "
        "--no-full -a,--all --no-tail --truncate-newline --disk-usage --header --list-catalog "
        "--dump-catalog --update-catalog:s "
        "-D,--directory=:R --file=:r --root=:R --image=:Rs --namespace= --vacuum-size=:s "
        "--vacuum-files=:s --vacuum-time=:s "
        "--rotate:s --flush:s --sync:s --relinquish-var:s --smart-relinquish-var:s --setup-keys:s "
        "--interval= --verify --verify-key= --force",
        operands="-*",
        is_abbreviating=True,
        is_numeric=True,  # `-b -1`: the boot before this one
        after=_after_journal,
    ),
    _systemd(
        names="hostnamectl",
        flags=f"{_COMMON} --static --transient --pretty --json= -j",
        after=_after_hostnamectl,
        subcommands={
            "status": "",
            "hostname|set-hostname|icon-name|set-icon-name|chassis|set-chassis|deployment|"
            "set-deployment|location|set-location": Grammar(operands="-*", after=_after_hostnamectl),
        },
    ),
    _systemd(
        names="timedatectl",
        flags=f"{_COMMON} --adjust-system-clock:s --monitor -p,--property= -a,--all --value",
        subcommands={
            "status|show|list-timezones|timesync-status|show-timesync": "-*",
            "set-time|set-timezone|set-local-rtc|set-ntp|ntp-servers|revert": Grammar(
                operands="-*", after=_after_clock
            ),
        },
    ),
    _systemd(
        names="localectl",
        flags=_COMMON,
        subcommands={
            "status|list-locales|list-keymaps|list-x11-keymap-models": "-*",
            "set-locale|set-keymap|set-x11-keymap": "-*;s",
        },
    ),
    _systemd(
        names="loginctl",
        flags=f"{_COMMON} -p,--property= -a,--all --value -n,--lines= -o,--output= --kill-whom= -s,--signal=",
        subcommands={
            "list-sessions|list-users|list-seats|session-status|user-status|seat-status|"
            "show-session|show-user|show-seat": "-*",
            "kill-session|kill-user|terminate-session|terminate-user|terminate-seat|activate|"
            "lock-session|unlock-session|lock-sessions|unlock-sessions": "p*;p",
            "enable-linger|disable-linger|attach|flush-devices": "-*;s",
        },
    ),
    _systemd(
        names="systemd-analyze",
        flags=f"{_COMMON} --order --require --from-pattern= --to-pattern= --fuzz= --man:x --generators=?:x "
        f"--iterations= --json=",
        subcommands={
            "time|blame|critical-chain|plot|dot|unit-paths|condition|calendar|timestamp|timespan|"
            "syscall-filter|capability|exit-status|security": "-*",
            "verify|dump": "r*",
            "cat-config": Grammar(operands="-*", after=_after_cat_config),
            "log-level|log-target|set-log-level|service-watchdogs": "s*",
        },
    ),
    _systemd(
        names="resolvectl",
        flags=f"{_COMMON} -4 -6 -i,--interface= -t,--type= -c,--class= --json= --legend=",
        subcommands={
            "status|statistics|dns|domain|show-cache": "",
            "query|service|openpgp|tlsa": "-*;U",
            "flush-caches|reset-statistics|reset-server-features|revert|llmnr|mdns": "-*;s",
        },
    ),
    _systemd(
        names="systemd-detect-virt systemd-path systemd-id128 systemd-cgls systemd-escape",
        flags="-c -v -r -q,--quiet --no-pager -l -a -k -p,--path --list --unescape -u --suffix= --template=",
        operands="-*",
    ),
    _systemd(
        names="systemd-tmpfiles systemd-sysusers systemd-cat systemd-mount systemd-umount systemd-creds "
        "systemd-cryptenroll networkctl "
        "bootctl portablectl homectl userdbctl",
        operands="-*;dxs",
    ),
    _systemd(
        names="systemd-cgtop",
        flags="-p,--order=? -t -c -m -i -b,--batch -r,--raw -k -P --recursive= -n,--iterations= -1 "
        "-d,--delay= --depth= --cpu=?",
        operands="-",
    ),
    _systemd(names="service", operands="- -*", after=_after_service),
    _systemd(
        names="reboot shutdown poweroff halt init telinit",
        operands="-*;p",
        flags="-f,--force -h -r -c -P -H -k -p,--poweroff -w --no-wall -n -d",
        alone="--help --version",
    ),
)
