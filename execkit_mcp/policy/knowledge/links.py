# ruff: noqa: E501 - a table reads one row a line
"""Network devices: what shows their state, and everything else, which changes it.

Sources: ethtool 6.1, iw 5.19, NetworkManager 1.42 (nmcli) manuals.
"""

from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program, words_of

_IW_SHOWS = frozenset(
    {
        (), ("dev",), ("list",), ("phy",), ("reg", "get"), ("dev", "", "info"), ("dev", "", "link"), ("dev", "", "station", "dump"),
        ("dev", "", "scan", "dump"), ("dev", "", "survey", "dump"), ("phy", "", "info"), ("phy", "", "channels"),
    }
)  # fmt: skip
_IW_HEADS = words_of("dev phy")


def _after_iw(reading: Reading) -> None:
    """``iw dev NAME verb``: the verbs that show; every other one changes the device."""
    words = [word.text if word.is_static else "?" for word in reading.operands]
    if len(words) > 1 and words[0] in _IW_HEADS:
        words[1] = ""
    if tuple(words) not in _IW_SHOWS:
        reading.mark("s", None)


_NMCLI = (
    "-t,--terse -p,--pretty -m,--mode= -c,--colors= -f,--fields= -g,--get-values= -e,--escape= -w,--wait= -o,--overview"
)

PROGRAMS = (
    Program(
        names="ethtool",
        source="ethtool 6.1 manual: a flag in small letters or `--show-…` shows",
        is_long_only=True,
        flags="-i -driver -S -statistics -k -show-features -show-offload -g -show-ring -c -show-coalesce -a -show-pause -T "
        "-show-time-stamping -P -show-permaddr -l -show-channels -n -show-nfc -x -show-rxfh -show-eee -show-fec -show-priv-flags "
        "-show-phys -module-info -m -json",
        operands="-",
        alone="-h --help --version",
    ),
    Program(names="iw", source="iw 5.19 manual", operands="-*", after=_after_iw, alone="--version help --help"),
    Program(
        names="nmcli",
        source="NetworkManager 1.42 manual: secrets are shown with -s alone",
        flags=_NMCLI,
        subcommands={
            "general|gen|g": "",
            "general|gen|g status|permissions|logging": "",
            "general|gen|g hostname": "s*",
            "networking|net|n": "",
            "networking|net|n connectivity": "-",
            "radio|r": "",
            "radio|r all|wifi|wwan": "s*",
            "device|dev|d": "",
            "device|dev|d status|show": "-*",
            "device|dev|d wifi": "",
            "device|dev|d wifi list": Grammar(operands="-*;s"),
            "connection|con|c": "",
            "connection|con|c show": Grammar(flags="--active --order=", operands="-*"),
            "networking|net|n on|off": ";s",
            "device|dev|d set|connect|reapply|modify|disconnect|delete|lldp|monitor": "-*;s",
            "device|dev|d wifi connect|hotspot|rescan|show-password": "-*;s?",
            "connection|con|c up|down|add|modify|clone|edit|delete|reload|load|import|export|migrate|monitor": "-*;s?",
        },
        alone="-v --version -h --help help",
    ),
)
