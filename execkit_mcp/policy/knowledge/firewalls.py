# ruff: noqa: E501 - a table reads one row a line
"""Packet filters: listing is reading, everything else changes who may talk to whom.

Sources: iptables 1.8, nftables 1.0, ufw 0.36, firewalld 1.3, ipset 7.19 manuals.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_MATCHES = (
    "-t,--table= -n,--numeric -v,--verbose -x,--exact -w,--wait=? --line-numbers -4,--ipv4 -6,--ipv6 -p,--protocol= -s,--source= "
    "-d,--destination= -i,--in-interface= -o,--out-interface= -j,--jump= -g,--goto= -m,--match= --dport= --sport= --state= --ctstate= "
    "--comment= --to-destination= --to-source= --reject-with= --log-prefix="
)

_NFT_WORD = lazy_regex(r"[A-Za-z0-9_./:-]+")


def _after_nft(reading: Reading) -> None:
    """Words are put together and read as a script: behind ``;`` or a newline begins another command."""
    for word in reading.operands:
        if not word.is_static or _NFT_WORD.fullmatch(word.text) is None:
            reading.mark("s", word)


PROGRAMS = (
    Program(
        names="iptables ip6tables",
        source="iptables 1.8 manual",
        flags=f"{_MATCHES} -L,--list>list -S,--list-rules>list -C,--check>list -A,--append=:s -D,--delete=:s -I,--insert=:s "
        "-R,--replace=:s -F,--flush:s -Z,--zero:s -N,--new-chain=:s -X,--delete-chain:s -P,--policy=:s -E,--rename-chain=:s "
        "-c,--set-counters= --modprobe=:x",
        operands="-*;s",
        modes={"list": "-*"},
        alone="-V --version -h --help",
    ),
    Program(
        names="iptables-save ip6tables-save",
        source="iptables 1.8 manual",
        flags="-c,--counters -t,--table= -f,--file=:w -M,--modprobe=:x -V,--version",
    ),
    Program(
        names="nft",
        source="nftables 1.0 manual",
        flags="-a,--handle -c,--check -D,--define=:s -e,--echo -f,--file=:fs -i,--interactive:s -I,--includepath=:R -j,--json "
        "-n,--numeric -N,--reversedns -o,--optimize -s,--stateless -S,--service -t,--terse -T -u -y",
        subcommands={
            "list|describe|monitor": Grammar(operands="-*", after=_after_nft),
            "add|create|insert|replace|delete|destroy|flush|rename|reset|import|export": "-*;s",
        },
        alone="-v --version -h --help -V",
    ),
    Program(
        names="ufw",
        source="ufw 0.36 manual",
        flags="--dry-run --force",
        subcommands={
            "status": "-*",
            "version": "",
            "show": "-*",
            "app list|info": "-*",
            "enable|disable|reload|reset|default|logging|allow|deny|reject|limit|delete|insert|prepend|route": "-*;s",
            "app update|default": "-*;s",
        },
    ),
    Program(
        names="firewall-cmd",
        source="firewalld 1.3 manual",
        flags="--state --get-default-zone --get-active-zones --get-zones --get-services --get-icmptypes --list-all --list-all-zones "
        "--list-services --list-ports --list-rich-rules --list-interfaces --list-sources --zone= --permanent -q,--quiet "
        "--info-zone= --info-service= --query-service= --query-port= --query-interface= --query-panic "
        "--add-service=:s --remove-service=:s --add-port=:s --remove-port=:s --add-rich-rule=:s --remove-rich-rule=:s "
        "--add-interface=:s --remove-interface=:s --change-interface=:s --add-source=:s --remove-source=:s --set-default-zone=:s "
        "--add-forward-port=:s --add-masquerade:s --remove-masquerade:s --panic-on:s --panic-off:s --reload:s --complete-reload:s "
        "--runtime-to-permanent:s --new-zone=:s --delete-zone=:s --direct:s",
        operands="?*",
        alone="-V --version -h --help",
    ),
    Program(
        names="ipset",
        source="ipset 7.19 manual",
        flags="-o,--output= -q,--quiet -r,--resolve -s,--sorted -n,--name -t,--terse -f,--file=:rws -exist",
        subcommands={
            "list": "-*",
            "save": "-*",
            "test": "-*",
            "version": "",
            "create|add|del|destroy|flush|rename|swap|restore": Grammar(operands="-*;s"),
        },
    ),
)
