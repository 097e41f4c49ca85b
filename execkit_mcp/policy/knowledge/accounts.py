# ruff: noqa: E501 - a table reads one row a line
"""Users, groups and what was logged about them.

Sources: shadow 4.13, util-linux 2.38, glibc 2.36 (getent) manuals.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program

_util = partial(Program, source="util-linux 2.38 manual")
_OPEN_TABLES = {
    "hosts": "hosts",
    "ahosts": "hosts",
    "ahostsv4": "hosts",
    "ahostsv6": "hosts",
    "passwd": "passwd",
    "group": "group",
    "services": "services",
    "protocols": "protocols",
    "networks": "networks",
    "rpc": "rpc",
    "ethers": "ethers",
    "aliases": "aliases",
    "netgroup": "netgroup",
    "initgroups": "group",
}


def _after_getent(reading: Reading) -> None:
    """Each table is a file; ``shadow`` and ``gshadow`` hold password hashes."""
    for arg in reading.operands[:1]:
        if not arg.is_static:
            reading.dynamic(arg, "could be the shadow table")
        elif arg.text in _OPEN_TABLES:
            reading.effect(EffectKind.READ, static(f"/etc/{_OPEN_TABLES[arg.text]}"))
        else:
            reading.effect(EffectKind.READ, static(f"/etc/{arg.text}"))
            reading.effect(EffectKind.UNKNOWN, arg, "secret")
    if reading.operands and "hosts" in reading.operands[0].text:
        # The name is a message to whoever answers for its domain.
        for name in reading.operands[1:]:
            if not (name.is_static and name.text == "localhost"):
                reading.mark("U", None)


PROGRAMS = (
    Program(
        names="getent",
        source="glibc 2.36 manual",
        flags="-s,--service=:x -i,--no-idn -A,--no-addrconfig",
        operands="-*",
        after=_after_getent,
    ),
    Program(
        names="w",
        source="procps 4.0 manual",
        flags="-h,--no-header -u,--no-current -s,--short -f,--from -o,--old-style -i,--ip-addr -p,--pids -V "
        "-c,--container -t,--terminal",
        operands="-*",
    ),
    _util(
        names="last lastb",
        flags="-a,--hostlast -d,--dns -f,--file=:r -F,--fulltimes -i,--ip -n,--limit= -p,--present= "
        "-R,--nohostname -s,--since= -t,--until= "
        "--time-format= -w,--fullnames -x,--system -V -h",
        operands="-*",
        is_numeric=True,
    ),
    Program(
        names="lastlog",
        source="shadow 4.13 manual",
        flags="-b,--before= -C,--clear:s -R,--root=:Rx -S,--set:s -t,--time= -u,--user= -h",
        operands="",
    ),
    Program(
        names="faillog chage",
        source="shadow 4.13 manual",
        flags="-l,--list -a,--all -u,--user=",
        operands="-*",
        after=lambda reading: None if reading.has("-l", "-a") else reading.mark("s", None),
    ),
    Program(names="finger pinky", source="coreutils 9.1 manual", flags="-bfhilpqswm", operands="-*"),
    Program(
        names="passwd",
        source="shadow 4.13 manual",
        flags="-S,--status>show -a,--all -d,--delete -e,--expire -i,--inactive= -k,--keep-tokens -l,--lock -n,--mindays= -q,--quiet "
        "-r,--repository= -R,--root=:Rx -u,--unlock -w,--warndays= -x,--maxdays=",
        operands="-*;s",
        modes={"show": "-*"},
        after=lambda reading: (
            reading.mark("s", None) if reading.has("-d", "-e", "-i", "-l", "-n", "-u", "-w", "-x") else None
        ),
    ),
    opaque(
        "chpasswd useradd adduser userdel deluser usermod groupadd addgroup groupdel delgroup "
        "groupmod gpasswd chsh chfn newusers pwconv pwunconv grpconv "
        "setcap pam-auth-update ",
        "shadow 4.13 manual",
        "s",
    ),
    opaque(
        "gpg gpg2 gpg-agent pass age sops keyctl secret-tool ssh-askpass kinit klist kdestroy certbot step mkcert",
        "their manuals",
        "dxU",
    ),
    Program(names="getcap", source="libcap 2.66 manual", flags="-r+ -v -n -h", operands="f*"),
    Program(
        names="getfacl",
        source="acl 2.3 manual",
        flags="-a,--access -d,--default -c,--omit-header -e,--all-effective -s,--skip-base -R,--recursive+ "
        "-L,--logical -P,--physical -t,--tabular "
        "-n,--numeric -p,--absolute-names -E,--no-effective -v -h",
        operands="f*",
    ),
    Program(
        names="setfacl",
        source="acl 2.3 manual",
        flags="-m,--modify= -x,--remove= -b,--remove-all -k,--remove-default -R,--recursive+ "
        "-M,--modify-file=:r -X,--remove-file=:r -d,--default "
        "--set= --set-file=:r --restore=:r? -n,--no-mask -L -P --test",
        operands="w*",
    ),
    Program(
        names="getfattr lsattr",
        source="attr 2.5, e2fsprogs 1.47 manuals",
        flags="-n,--name= -d,--dump -e,--encoding= -h,--no-dereference -m,--match= -R,--recursive+ -a -l -p -v",
        operands="f*",
    ),
    Program(names="chattr setfattr", source="e2fsprogs 1.47 manual", operands="?*;d", flags="-R+ -V -f"),
)
