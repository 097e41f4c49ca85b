# ruff: noqa: E501 - an expression reads one line
"""Hazards of privilege: who may act as whom, and the guards that keep it so."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="user-change",
        severity=Severity.HIGH,
        message="changes who may log in",
        shapes=(
            Shape(
                programs="userdel useradd usermod adduser deluser groupdel groupadd groupmod gpasswd chpasswd passwd chsh chage vipw vigr"
            ),
        ),
        example="userdel alice",
        harmless="id alice",
    ),
    Hazard(
        id="sudoers",
        severity=Severity.CRITICAL,
        message="changes who may become root",
        shapes=(Shape(programs="visudo"),),
        writes=r"/etc/sudoers(?:\.d/.*)?",
        example="visudo",
        harmless="sudo -l",
    ),
    Hazard(
        id="permission-bits",
        severity=Severity.HIGH,
        message="gives a program more rights than its caller",
        shapes=(Shape(programs="setcap", anywhere=r"."), Shape(programs="setfacl chattr", anywhere=r".")),
        example="setcap cap_setuid+ep x",
        harmless="getcap x",
    ),
    Hazard(
        id="sudo",
        severity=Severity.MEDIUM,
        message="acts as another user",
        shapes=(Shape(programs="sudo doas su pkexec runuser"),),
        example="sudo ls",
        harmless="groups",
    ),
    Hazard(
        id="mandatory-access-off",
        severity=Severity.HIGH,
        message="switches a kernel guard off",
        shapes=(
            Shape(programs="setenforce", operand=r"0|[Pp]ermissive"),
            Shape(programs="aa-disable aa-teardown aa-complain apparmor_parser"),
            Shape(programs="sysctl", flags="-w --write"),
            Shape(programs="sysctl", operand=r"\S+=.*"),
        ),
        example="setenforce 0",
        harmless="getenforce",
    ),
    Hazard(
        id="kernel-module",
        severity=Severity.HIGH,
        message="changes the running kernel",
        shapes=(
            Shape(programs="modprobe insmod rmmod kmod swapoff", anywhere=r"."),
            Shape(programs="mount", flags="-o --options --bind --move"),
            Shape(programs="umount umount2 swapoff"),
        ),
        example="modprobe -r ext4",
        harmless="lsmod",
    ),
    Hazard(
        id="root-shell",
        severity=Severity.HIGH,
        message="opens a shell of another user",
        shapes=(
            Shape(programs="sudo", flags="-i -s --login --shell"),
            Shape(programs="sudo doas", anywhere=r"(?:^|\s)(?:su|bash|sh|zsh|dash)(?:\s+-\w*)?$"),
            Shape(programs="su", anywhere=r"^(?:-|-l|--login)?(?: root)?$"),
            Shape(programs="machinectl", anywhere=r"^(?:shell|login)\b"),
        ),
        example="sudo -i",
        harmless="sudo -l",
    ),
    Hazard(
        id="password-file-read",
        severity=Severity.HIGH,
        message="reads password hashes",
        shapes=(
            Shape(
                programs="*",
                reads=r"/etc/(?:shadow|gshadow|master\.passwd|security/opasswd)-?|/etc/shadow.*",
                reads_within="/etc/",
            ),
            Shape(programs="getent", operand=r"g?shadow"),
            Shape(programs="unshadow pwunconv"),
        ),
        example="cat /etc/shadow",
        harmless="cat /etc/hostname",
    ),
    Hazard(
        id="process-inspect",
        severity=Severity.HIGH,
        message="reads or changes another process from inside",
        shapes=(
            Shape(programs="gdb lldb", flags="-p --pid"),
            Shape(programs="strace ltrace bpftrace perf trace-cmd", flags="-p --pid --attach-pid"),
            Shape(programs="gcore reptyr jmap jstack py-spy rbspy process_vm_readv", operand=r".+"),
            Shape(programs="gdbserver", flags="--attach"),
        ),
        example="gdb -p 4711",
        harmless="ps aux",
    ),
    Hazard(
        id="memory-read",
        severity=Severity.CRITICAL,
        message="reads the memory of processes or of the kernel",
        shapes=(
            Shape(
                programs="*",
                reads=r"/proc/(?:\d+|self|\*)/(?:mem|environ|auxv)|/dev/(?:mem|kmem|port)|/proc/kcore",
                reads_within="/proc/ /dev/",
            ),
        ),
        writes=r"/proc/(?:\d+|self|\*)/mem|/dev/(?:mem|kmem|port)",
        example="xxd /proc/1/mem",
        harmless="cat /proc/meminfo",
    ),
    Hazard(
        id="login-stack",
        severity=Severity.CRITICAL,
        message="changes how logins are checked",
        writes=r"/etc/(?:pam\.d|pam\.conf|security|polkit-1|krb5\.conf|sssd|nsswitch\.conf|login\.defs|securetty)(?:/.*)?",
        example="tee /etc/pam.d/sshd",
        harmless="cat /etc/pam.d/sshd",
    ),
    Hazard(
        id="library-preload",
        severity=Severity.CRITICAL,
        message="puts a library into every program",
        writes=r"/etc/ld\.so\.(?:preload|conf|conf\.d/.*|cache)",
        shapes=(Shape(programs="ldconfig", operand=r".+"),),
        example="tee /etc/ld.so.preload",
        harmless="cat /etc/ld.so.conf",
    ),
    Hazard(
        id="password-guessing",
        severity=Severity.HIGH,
        message="guesses passwords",
        shapes=(
            Shape(
                programs="hydra john hashcat medusa ncrack crackmapexec netexec aircrack-ng fcrackzip crunch patator"
            ),
        ),
        example="hydra -l root ssh://192.0.2.1",
        harmless="id root",
    ),
    Hazard(
        id="namespace-enter",
        severity=Severity.HIGH,
        message="leaves or enters a namespace or root",
        shapes=(Shape(programs="nsenter unshare chroot pivot_root switch_root systemd-nspawn"),),
        example="nsenter -t 1 -m sh",
        harmless="lsns",
    ),
)
