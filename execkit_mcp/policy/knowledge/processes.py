# ruff: noqa: E501 - a table reads one row a line
"""Processes, memory and mounts.

Sources: procps 4.0, psmisc 23.6, lsof 4.95, util-linux 2.38, sysstat 12.6 manuals.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import Arg, FlagUse, static
from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program

_procps = partial(Program, source="procps 4.0 manual")
_util = partial(Program, source="util-linux 2.38 manual")
_BSD_PS = frozenset("aAcfhjlmnrsSTuvwxXZgLH")
_BSD_PS_VALUED = frozenset("oOkptUq")
# Letters behind a dash that are never an error, values that may be one, and letters of which only one may stand.
_SURE_PS = frozenset("aAcdefFHjlLmMNPTVwyZ")
_VALUED_PS = frozenset("CGgkoOpqstuU")
_CHECKED_PS = frozenset("gsu")
_THREADS_PS = frozenset("HLmT")
_WORDED_PS = frozenset(
    ("--sort", "--format", "--user", "--group", "--pid", "--ppid", "--sid", "--tty", "--cols", "--columns", "--lines")
)
_LSOF_ADDRESS = lazy_regex(r"[46]?(?:tcp|udp|TCP|UDP)?(?:@[\w.:\[\]-]+)?(?::[\w,-]+)?")
_SIGNALS = (
    "-HUP,-INT,-QUIT,-KILL,-TERM,-USR1,-USR2,-STOP,-CONT,-PIPE,-ALRM,-CHLD,-WINCH,-SIGHUP,-SIGINT,-SIGQUIT,-SIGKILL,-SIGTERM,-SIGUSR1,"
    "-SIGUSR2,-SIGSTOP,-SIGCONT,-ABRT,-SEGV,-TSTP,-TTIN,-TTOU,-ILL,-TRAP,-BUS,-FPE"
)


def _after_ps(reading: Reading) -> None:  # noqa: C901 - one branch for each form in the manual
    """BSD clusters without a dash; ``e`` among them, or a column ``environ``, shows the environment of processes."""
    columns = reading.flag_values("-o", "-O")
    words = list(reading.operands)
    while words:
        word = words.pop(0)
        if not word.is_static:
            reading.dynamic(word, "could turn out to be an option")
        elif word.text.replace(",", "").isdigit():
            continue
        elif _BSD_PS_VALUED.issuperset(word.text[-1:]) and _BSD_PS.issuperset(word.text[:-1]):
            value = words.pop(0) if words else static("")
            if word.text[-1] in "oO":
                columns.append(value)
        elif not _BSD_PS.issuperset(word.text):
            if "e" in word.text:
                _shows_environments(reading)
            reading.unknown_flag(word.text)
    for column in columns:
        if not column.is_static:
            reading.dynamic(column, "could be the column environ")
        elif "environ" in column.text.lower():
            _shows_environments(reading)
    if all(word.is_static and word.text.replace(",", "").isdigit() for word in reading.operands):
        _read_again(reading)


def _read_again(reading: Reading) -> None:
    """Words that are an error behind their dash are all read once more as if it were not there: ``-auxe``, ``-ef -u -x``.

    The second reading fails as well if a word without a dash is left in it, other than the number of a process.
    """
    seen: list[str] = []
    is_sure = True
    follows = ""
    for word in reading.args:
        if follows:
            is_sure = is_sure and not (follows in _CHECKED_PS and word.prefix.startswith("-"))
            if follows in _CHECKED_PS and word.could_be_option and not word.is_static:
                reading.dynamic(word, "could turn out to be an option")
            follows = ""
        elif word.prefix[:2] == "--":
            seen.extend("H" if word.text == "--forest" else "")
            follows = "-" if word.text in _WORDED_PS else ""
        elif word.prefix[:1] == "-":
            letters, valued, value = _split_at(word.text[1:], _VALUED_PS)
            seen.extend(letters)
            is_sure = is_sure and _SURE_PS.issuperset(letters) and not (value and valued in _CHECKED_PS)
            follows = "" if value else valued
    is_sure = is_sure and not follows and len(_THREADS_PS.intersection(seen)) < len("LT")
    dashed = [word for word in reading.args if word.prefix[:1] == "-" and word.prefix[:2] != "--"]
    if not is_sure and any("e" in _split_at(word.text[1:], _BSD_PS_VALUED)[0] for word in dashed):
        _shows_environments(reading)
    if not is_sure and (unseen := next((w for w in reading.args if not w.is_static and w.could_be_option), None)):
        reading.dynamic(unseen, "could turn out to be an option")


def _split_at(text: str, valued: frozenset[str]) -> tuple[str, str, str]:
    """The letters before the first that takes a value, that letter, and what is attached to it."""
    for index, letter in enumerate(text):
        if letter in valued:
            return text[:index], letter, text[index + 1 :]
    return text, "", ""


def _shows_environments(reading: Reading) -> None:
    """The environment of every process, the caller's own and others."""
    reading.effect(EffectKind.READ, static("/proc"), "environments of processes", is_deep=True)


def _read_kill(reading: Reading) -> None:
    """``kill -l`` lists; every other form signals."""
    words = [word.text for word in reading.args if word.is_static]
    reading.operands.extend(word for word in reading.args if not word.prefix.startswith("-"))
    reading.flags.extend(FlagUse(names=(word,)) for word in words if word.startswith("-") and word != "--")
    if words and words[0] in {"-l", "-L", "--list", "--table"} and len(words) == len(reading.args):
        return
    for word in reading.args:
        if not word.is_static:
            reading.dynamic(word, "is a process that is not known")
            reading.mark("p", word)
        elif not word.text.startswith("-"):
            reading.mark("p", word)
    if not reading.effects:
        reading.mark("p", None)


def _after_mount(reading: Reading) -> None:
    """Without operands and ``-a`` it lists."""
    if reading.operands or reading.has(
        "-a", "--bind", "--rbind", "--move", "-o", "-t:x", "-L", "-U", "--source", "--target"
    ):
        reading.mark("sd", None)


def _after_dmesg(reading: Reading) -> None:
    if reading.operands:
        reading.effect(EffectKind.UNKNOWN, reading.operands[0], "dmesg takes no operand")


_KILL_BY_NAME = (
    "--signal= -e,--echo -c,--count -f,--full -g,--pgroup= -G,--group= -i,--ignore-case "
    "-l,--list-name -a,--list-full -n,--newest -o,--oldest "
    "-O,--older= -P,--parent= -s,--session= -t,--terminal= -u,--euid= -U,--uid= -x,--exact "
    "-F,--pidfile=:r -L,--logpidfile -r,--runstates= "
    "--cgroup= --ns= --nslist= -v,--inverse -w,--lightweight -d,--delimiter= -A,--ignore-ancestors "
    "-Q,--shell-quote"
)


def _before_lsof(reading: Reading) -> None:
    """``-i address`` as one word: the value of ``-i`` may stand apart, if it looks like an address."""
    kept: list[Arg] = []
    for arg in reading.args:
        before = kept[-1].text if kept and kept[-1].is_static else ""
        is_open = before.startswith("-") and before.endswith("i") and before[1:].isalpha()
        if is_open and arg.is_static and arg.text and _LSOF_ADDRESS.fullmatch(arg.text):
            kept[-1] = static(before + arg.text)
        else:
            kept.append(arg)
    reading.args = tuple(kept)


def _after_sysctl(reading: Reading) -> None:
    """``name=value`` writes; a name with slashes is a path below ``/proc/sys``, and old versions follow its ``..``."""
    for word in reading.operands:
        if "=" in word.text or not word.is_static:
            reading.mark("s", word)
        elif "/" in word.text:
            reading.mark("f", static(f"/proc/sys/{word.text}"))


PROGRAMS = (
    _procps(
        names="ps",
        flags="-aAdefFHjlLmMNTVwyZcxrhn -C= -G,--Group= -g= -p,--pid= -q,--quick-pid= --ppid= -s,--sid= "
        "-t,--tty= -u= -U,--User= --user= --group= "
        "-o,--format= -O= --sort= -k= --forest --headers --no-headers --no-heading --cols= "
        "--columns= --width= --rows= --lines= --cumulative --deselect "
        "--context --info --heading --signames --date-format=",
        operands="-*",
        after=_after_ps,
    ),
    _procps(
        names="top htop atop",
        flags="-b,--batch -c -d,--delay= -E,--scale-summary-mem= -e,--scale-task-mem= -H,--threads-show "
        "-h -i,--idle-toggle -n,--iterations= -O -o,--sort-override= "
        "-p,--pid= -S,--accum-time-toggle -s,--secure-mode -U= -u,--filter-any-user= -V "
        "-w,--width=? -1,--single-cpu-toggle",
        after=lambda reading: None if reading.has("-b") and reading.name == "top" else reading.mark("p", None),
    ),
    _procps(
        names="free",
        flags="-b,--bytes -k,--kibi -m,--mebi -g,--gibi -t,--total -h,--human --si -l,--lohi -w,--wide "
        "-c,--count= -s,--seconds= -L,--line "
        "-v,--committed -V --kilo --mega --giga --tera --peta --tebi --pebi",
        unseen="-",
    ),
    _procps(
        names="vmstat",
        flags="-a,--active -f,--forks -m,--slabs -n,--one-header -s,--stats -d,--disk -D,--disk-sum "
        "-p,--partition= -S,--unit= -w,--wide "
        "-t,--timestamp -y,--no-first -V -h",
        operands="- -",
    ),
    _procps(names="pgrep pidwait", flags=_KILL_BY_NAME + " -h -V", operands="-*"),
    _procps(
        names="pkill",
        flags=_KILL_BY_NAME + " " + _SIGNALS.replace(",", " ") + " -q,--queue=",
        operands="p*;p",
        is_numeric=True,
        is_long_only=True,
    ),
    _procps(
        names="pidof",
        flags="-s,--single-shot -c,--check-root -x -o,--omit-pid= -S,--separator= -q -t,--lightweight "
        "-w,--with-workers -z",
        operands="-*",
    ),
    _procps(
        names="pmap pwdx",
        flags="-x,--extended -X -d,--device -q,--quiet -p,--show-path -A,--range= "
        "-c,--read-rc:r -n,--create-rc:w -N,--create-rc-to=:w -C,--read-rc-from=:r -V",
        operands="-*",
    ),
    _procps(names="tload", operands="-*;x"),
    _procps(names="skill snice", operands="p*;p"),
    Program(names="kill", source="bash 5.2 manual", read=_read_kill, alone="--help --version -l -L"),
    Program(
        names="killall",
        source="psmisc 23.6 manual",
        flags="-e,--exact -I,--ignore-case -g,--process-group -i,--interactive -l,--list -q,--quiet "
        "-r,--regexp -s,--signal= "
        "-u,--user= -v,--verbose -V -w,--wait -n,--ns= -o,--older-than= -y,--younger-than= "
        + _SIGNALS.replace(",", " "),
        operands="p*;p",
        is_numeric=True,
        is_long_only=True,
        alone="--help --version -l --list -V",
    ),
    Program(names="killall5", source="sysvinit manual", operands="p*;p"),
    Program(
        names="pstree",
        source="psmisc 23.6 manual",
        flags="-AcCGhnNStUVZ -H= -a,--arguments -p,--show-pids -u,--uid-changes -s,--show-parents -l,--long "
        "-g,--show-pgids --thread-names -T,--hide-threads",
        operands="-*",
    ),
    Program(
        names="fuser",
        source="psmisc 23.6 manual",
        flags="-a,--all -k,--kill:p -i,--interactive -I,--inode -l,--list-signals -m,--mount "
        "-M,--ismountpoint -n,--namespace= "
        "-s,--silent -u,--user -v,--verbose -V -4 -6 -w",
        operands="f*",
    ),
    Program(
        names="lsof",
        source="lsof 4.95 manual",
        flags="-abChlnNOPRtUVvwX -c= -d= -F=? -g=? -i=? -o=? -p= -r=? -s=? -u= -L=? -T=? -S=? -x=? -E -H "
        "-K=? -M -D=:rw",
        operands="f*",
        before=_before_lsof,
    ),
    _util(
        names="dmesg",
        flags="-C,--clear:s -c,--read-clear:s -D,--console-off:s -d,--show-delta -E,--console-on:s "
        "-e,--reltime -F,--file=:r -f,--facility= -H,--human -J,--json "
        "-k,--kernel -L,--color=? -l,--level= -n,--console-level=:s -P,--nopager "
        "-p,--force-prefix -r,--raw --noescape -S,--syslog -s,--buffer-size= -T,--ctime "
        "-t,--notime --time-format= -u,--userspace -W,--follow-new -w,--follow -x,--decode "
        "--since= --until= -V -h",
        is_abbreviating=True,
    ),
    _util(
        names="lsblk",
        flags="-A,--noempty -D,--discard -E,--dedup= -I,--include= -J,--json -M,--merge -O,--output-all "
        "-P,--pairs -S,--scsi -N,--nvme -v,--virtio -T,--tree=? "
        "-a,--all -b,--bytes -d,--nodeps -e,--exclude= -f,--fs -i,--ascii -l,--list -m,--perms "
        "-n,--noheadings -o,--output= -p,--paths -r,--raw -s,--inverse -t,--topology "
        "-w,--width= -x,--sort= -y,--shell -z,--zoned --sysroot=:R -V -h",
        operands="f*",
        is_abbreviating=True,
    ),
    _util(
        names="lscpu lsmem lsns lsipc lslocks lsirq lslogins",
        flags="-a,--all -b,--online,--bytes -B -C,--caches=? -c,--offline -J,--json -e,--extended=? "
        "-p,--parse=? -s,--sysroot=:R -S,--split= "
        "-x,--hex -y,--physical --output-all --output= -o= -n,--noheadings -r,--raw -t= -V -h "
        "-l,--list -u,--notruncate -i",
        operands="-*",
    ),
    _util(
        names="findmnt",
        flags="-s,--fstab -m,--mtab -k,--kernel -p,--poll=? -w,--timeout= -A,--all -a,--ascii -b,--bytes "
        "-C,--nocanonicalize -c,--canonicalize -D,--df -d,--direction= "
        "-e,--evaluate -F,--tab-file=:r -f,--first-only -i,--invert -J,--json -l,--list "
        "-M,--mountpoint= -N,--task= -n,--noheadings -O,--options= -o,--output= --output-all "
        "-P,--pairs "
        "-R,--submounts -r,--raw -S,--source= -T,--target= -t,--types= -U,--uniq -u,--notruncate "
        "-v,--nofsroot -x,--verify --real --pseudo --tree -V -h",
        operands="-*",
    ),
    _util(names="mountpoint", flags="-q,--quiet --nofollow -d,--fs-devno -x,--devno", operands="f"),
    _util(
        names="blkid",
        flags="-o,--output= -s,--match-tag= -t,--match-token= -c,--cache-file=:w -g,--garbage-collect:s "
        "-k,--list-filesystems -l,--list-one -L,--label= -U,--uuid= -p,--probe -i,--info "
        "-n,--match-types= -u,--usages= -d,--no-encoding -D -S,--size= -O,--offset= -V -h",
        operands="f*",
    ),
    _util(
        names="mount",
        flags="-l,--show-labels -t,--types= -V -h -v,--verbose -a,--all -o,--options= -r,--read-only -w,--rw "
        "-B,--bind -R,--rbind -M,--move -L,--label= -U,--uuid= "
        "-T,--fstab=:r -f,--fake -n,--no-mtab -i,--internal-only -O,--test-opts= --source= "
        "--target= -N,--namespace= --mkdir=?",
        operands="s*",
        after=_after_mount,
    ),
    _util(
        names="swapon",
        flags="-s,--summary>list --show=?>list --noheadings --raw --bytes -a,--all "
        "-d,--discard=? -e,--ifexists -f,--fixpgsz "
        "-o,--options= -L= -U= -p,--priority= -T,--fstab=:r -v,--verbose -V -h",
        operands="s*;s",
        modes={"list": "-*"},
    ),
    _util(
        names="umount swapoff losetup fsfreeze fstrim mkswap blockdev blkdiscard wipefs sfdisk cfdisk "
        "partx addpart delpart zramctl pivot_root switch_root hwclock ctrlaltdel rtcwake wdctl",
        operands="s*;s",
        flags="-a,--all -l -f,--force -R,--recursive -n -v,--verbose -d --lazy -s,--summary --show",
        alone="--help --version -V -h",
    ),
    _util(
        names="fdisk parted gdisk sgdisk",
        flags="-l,--list>list -s -u=? -V -h",
        operands="s*;d",
        modes={"list": "f*"},
    ),
    _util(names="renice", operands="p*;p", flags="-n= -p -g -u", is_numeric=True),
    opaque(
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mke2fs "
        "fsck fsck.ext4 e2fsck tune2fs resize2fs debugfs xfs_repair mdadm "
        "cryptsetup lvm pvcreate vgcreate lvcreate lvremove vgremove pvremove hdparm smartctl "
        "nvme badblocks btrfs",
        "their manuals",
        "ds",
    ),
    opaque(
        "insmod rmmod modprobe depmod kexec update-grub grub-install update-initramfs ldconfig "
        "alternatives update-alternatives",
        "their manuals",
        "dsx",
    ),
    Program(names="lsmod", source="kmod 30 manual"),
    Program(
        names="lvs vgs pvs",
        source="lvm2 2.03 manual: reports; --config may name programs",
        flags="-a,--all -o,--options= -O,--sort= -v,--verbose -q,--quiet -S,--select= --units= --noheadings --nosuffix --separator= "
        "--aligned --unbuffered --rows --segments --reportformat= --readonly --config=:x",
        operands="-*",
        alone="--version --help -h",
    ),
    Program(names="getenforce", source="SELinux 3.4 manual"),
    Program(names="sestatus", source="SELinux 3.4 manual", flags="-v -b"),
    Program(
        names="modinfo",
        source="kmod 30 manual",
        flags="-F,--field= -k,--set-version= -0,--null -n,--filename -b,--basedir=:R -V -h -a -d -l -p",
        operands="-*",
    ),
    Program(names="lspci lsusb ", source="pciutils 3.9 manual", flags="-vknDtbPmx -q:U -H:s -s= -d=", operands=""),
    Program(
        names="iostat mpstat pidstat",
        source="sysstat 12.6 manual",
        flags="-AabBcdDFhHIkmnNqrRSsTtuvVwWxyzZ -p=? -P= -j= -g= -o= -f=?:r --human --dec= --pretty -C -X -U=? -G= -e:x",
        operands="-*",
    ),
    Program(
        names="sar",
        source="sysstat 12.6 manual",
        flags="-AbBdDFhHpqrSuvVwWyzC -x -e= -s= -i= -I= -m= -n= -P= -j= -o=:w -f=:r -t --human --dec= --pretty --iface= --dev= --fs= --int=",
        operands="-*",
    ),
    Program(
        names="sysctl",
        source="procps 4.0 manual",
        flags="-a,--all -A -X -N,--names -n,--values -e,--ignore -b,--binary -r,--pattern= -q,--quiet "
        "-w,--write>write -p,--load=?:rs "
        "--system:s -d -f:rs",
        operands="-*",
        modes={"write": "s*"},
        after=_after_sysctl,
    ),
    Program(names="dstat nmon glances btop bpytop", source="their manuals", operands="-*;x"),
)
