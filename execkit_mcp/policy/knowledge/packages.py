"""Package managers.

Sources: apt 2.6, dpkg 1.21, rpm 4.18, dnf 4.14, pacman 6, apk 2.14, brew 4 manuals.
"""

from functools import partial

from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_CHANGES = "-*;dxUs"
_apt = partial(
    Program,
    source="apt 2.6 manual",
    flags="-q,--quiet=? -y,--yes,--assume-yes --assume-no "
    "-s,--simulate,--just-print,--dry-run,--recon,--no-act -V,--verbose-versions "
    "-o,--option=:x -c,--config-file=:x -a,--all-versions --installed --upgradable "
    "--manual-installed -f,--full --names-only "
    "-n -g,--generate -i,--important --no-recommends --recurse --no-color -t,--target-release=",
    alone="--version -v --help -h",
)
_INSPECT = (
    "show|search|list|policy|madison|depends|rdepends|showpkg|showsrc|stats|dump|dumpavail|unmet|pkgnames|dotty|xvcg"
)


def _after_dpkg(reading: Reading) -> None:
    """Only query actions are without effect; ``-I -c`` and the like read an archive."""
    if reading.has("-I", "-c"):
        for path in reading.operands[:1]:
            reading.mark("r", path)
    elif not reading.has(
        "-l",
        "-L",
        "-s",
        "-S",
        "-p",
        "--get-selections",
        "--print-architecture",
        "--compare-versions",
        "-V",
        "-C",
    ):
        reading.mark("dxs", None)
        reading.mark("?", None)


_SIMULATED = frozenset(
    {"upgrade", "full-upgrade", "dist-upgrade", "install", "reinstall", "remove", "purge", "autoremove", "autopurge"}
)


def _after_apt(reading: Reading) -> None:
    """What ``-s`` only simulates changes nothing."""
    if not (reading.has("-s") and reading.subcommand and reading.subcommand[0] in _SIMULATED):
        reading.mark("dxUs", None)


def _after_rpm(reading: Reading) -> None:
    """Query and verify modes; everything else changes the machine."""
    if reading.has("-V") and reading.has("-p", "--dbpath"):
        reading.mark("x", None)  # the package may bring a script to verify it with
    if reading.has("-p"):
        for path in reading.operands:
            reading.mark("ru" if "://" in path.text else "r", path)
    if not reading.has("-q", "-V", "--querytags", "--showrc"):
        reading.mark("dxs", None)


PROGRAMS = (
    _apt(
        names="apt apt-get apt-cache aptitude",
        subcommands={
            _INSPECT: "-*",
            "changelog": "-*;N",
            "update|upgrade|full-upgrade|dist-upgrade|install|reinstall|remove|purge|autoremove|"
            "auto-remove|autopurge|clean|autoclean|"
            "auto-clean|source|build-dep|download|edit-sources|check|satisfy|moo": Grammar(
                operands="-*", after=_after_apt
            ),
        },
    ),
    Program(
        names="apt-mark",
        source="apt 2.6 manual",
        subcommands={"showauto|showmanual|showhold": "-*", "auto|manual|hold|unhold|minimize-manual": "-*;s"},
    ),
    opaque(
        "apt-key add-apt-repository apt-file aptdcon dselect debootstrap unattended-upgrade",
        "their manuals",
        "dxUs",
    ),
    Program(
        names="dpkg dpkg-deb",
        source="dpkg 1.21 manual",
        flags="-l,--list -L,--listfiles -s,--status -S,--search -p,--print-avail --get-selections "
        "--print-architecture "
        "--print-foreign-architectures -V,--verify -C,--audit -I,--info -c,--contents --no-pager "
        "--compare-versions --admindir=:R --root=:R "
        "-i,--install -r,--remove -P,--purge --configure --unpack -a,--pending -x,--extract "
        "-e,--control -b,--build -R,--recursive "
        "--force-all --set-selections --clear-selections",
        operands="-*",
        after=_after_dpkg,
    ),
    Program(
        names="dpkg-query",
        source="dpkg 1.21 manual",
        flags="-l,--list -L,--listfiles -s,--status -S,--search -p,--print-avail "
        "-W,--show -f,--showformat= --admindir=:R --no-pager --load-avail",
        operands="-*",
    ),
    Program(
        names="rpm",
        source="rpm 4.18 manual",
        flags="-q,--query -V,--verify -a,--all -i,--info -l,--list -c,--configfiles -d,--docfiles "
        "-f,--file=?:f -p,--package -g,--group "
        "--qf,--queryformat= -R,--requires --provides --scripts --changelog --whatrequires= "
        "--whatprovides= -s,--state --last --querytags "
        "--showrc -v,--verbose -h --nosignature --nodigest -e,--erase:s -U,--upgrade:s "
        "-F,--freshen:s --root=:Rx --dbpath=:R --import:s",
        operands="-*",
        after=_after_rpm,
    ),
    Program(
        names="yum dnf microdnf zypper",
        source="dnf 4.14 manual",
        flags="-q,--quiet -v,--verbose -y,--assumeyes -C,--cacheonly --installed --available --all "
        "--enabled --disabled --showduplicates",
        alone="--version --help -h",
        subcommands={
            "list|ls|info|search|se|provides|whatprovides|repolist|repoinfo|history|check-update|"
            "deplist|repoquery|rq|updateinfo|lr": "-*;N",
            "history undo|redo|rollback": _CHANGES,
            "install|remove|erase|update|upgrade|reinstall|downgrade|autoremove|clean|makecache|"
            "groupinstall|distro-sync|swap|module|mark": _CHANGES,
        },
    ),
    Program(
        names="brew",
        source="brew 4 manual",
        flags="-q,--quiet -v,--verbose --cask --formula --json=? --versions -1 -l",
        alone="--version -v --help -h",
        subcommands={
            "list|ls|info|deps|uses|leaves|config|--prefix|--cellar|outdated|desc": "-*",
            "search|doctor": "-*;N",
            "install|uninstall|remove|rm|upgrade|update|reinstall|tap|untap|services|"
            "cleanup|link|unlink|bundle|edit|create|pin": _CHANGES,
        },
    ),
    Program(
        names="apk",
        source="apk 2.14 manual",
        flags="-v,--verbose -q,--quiet -a,--all -L,--contents -I -e,--installed",
        alone="--version -h --help",
        subcommands={
            "info|list|policy|version|dot|audit|stats": "-*",
            "search": "-*;N",
            "add|del|update|upgrade|fix|cache|fetch": _CHANGES,
        },
    ),
    opaque(
        "yay paru emerge portage snapd pkg pkg_add xbps-install guix opkg swupd",
        "their manuals",
        "dxUs",
        alone="--version -V --help",
    ),
)
