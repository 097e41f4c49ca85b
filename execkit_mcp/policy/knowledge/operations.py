# ruff: noqa: E501 - a table reads one row a line
"""What operators look with: queues, supervisors, pools, containers of a node, traffic control, running JVMs.

Sources: iproute2 6.1 (tc, bridge), numactl 2.0, iotop 0.6, ntp 4.2, conntrack-tools 1.4, procps 4.0 (slabtop), systemd 252
(systemd-delta, coredumpctl), cri-tools 1.28, snapd 2.6, ipvsadm 1.31, fail2ban 1.0, Postfix 3.7, RabbitMQ 3.12, Supervisor 4.2,
logrotate 3.21, OpenJDK 17 (jps, jstat, javap, jar), dmidecode 3.4, OpenZFS 2.1, stern 1.28, kubectx 0.9, unzip 6.0 manuals.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_tool = partial(Program, source="its manual", alone="--version --help -h -V")

_TC_FLAGS = (
    "-s,-stats,-statistics -d,-details -r,-raw -p,-pretty -i,-iec -g,-graph -j,-json -N,-Numeric -c,-color -t,-timestamp -o,-oneline "
    "-force -n,-netns=:s -b,-batch=:rs -cf,-conf=:r"
)
_CRI_FLAGS = (
    "-a,--all -q,--quiet -o,--output= --name= --state= --label= --pod= --image= -n,--last= -l,--latest -f,--follow --tail= --since= "
    "-t,--timestamps -v,--verbose --no-trunc --namespace= --id= -s,--seconds= -w,--watch -p,--previous"
)


def _after_jvm(reading: Reading) -> None:
    """``PID@HOST`` and ``//HOST`` are JVMs of another machine; to jps any word is a host."""
    for arg in reading.operands:
        if not arg.is_static or "@" in arg.text or "//" in arg.text or reading.name == "jps":
            reading.mark("n", arg)


def _after_iotop(reading: Reading) -> None:
    """On a terminal its keys change the priority of processes."""
    if not reading.has("-b"):
        reading.mark("p", None)


def _after_javap(reading: Reading) -> None:
    """A class stands in a file, an archive or at an address."""
    for arg in [*reading.operands, *reading.flag_values("-cp")]:
        if arg.prefix.startswith("@"):
            reading.effect(EffectKind.UNKNOWN, arg, "options from a file")
        if not arg.is_static or ":/" in arg.text:
            reading.mark("u", arg)


PROGRAMS = (
    _tool(names="numastat", flags="-c -m -n -v -z -p=:- -s=?:-", operands="-*"),
    _tool(
        names="iotop",
        flags="-o,--only -b,--batch -n,--iter= -d,--delay= -p,--pid= -u,--user= -P,--processes -a,--accumulated -k,--kilobytes "
        "-t,--time -q,--quiet --no-help",
        operands="",
        after=_after_iotop,
    ),
    _tool(names="slabtop", flags="-d,--delay= -o,--once -s,--sort= --human", operands=""),
    _tool(
        names="ntpq",
        flags="-p,--peers -n,--numeric -4,--ipv4 -6,--ipv6 -c,--command=:? -i,--interactive:x -w,--wide",
        operands="n*;N",
    ),
    _tool(
        names="conntrack",
        flags="-L,--dump -C,--count -S,--stats -E,--event -G,--get -o,--output= -p,--proto= -s,--src= -d,--dst= --sport= --dport= "
        "--state= -f,--family= -n,--src-nat= -r,--reply-src= -q,--reply-dst= -m,--mark= -e,--event-mask= -z,--zero:s -D,--delete:s "
        "-F,--flush:s -I,--create:s -U,--update:s -A,--add:s -R,--load-file=:rs",
        operands="-*",
    ),
    _tool(
        names="tc",
        is_long_only=True,
        flags=_TC_FLAGS,
        subcommands={
            "qdisc|class|filter|chain|action|actions show|list|ls": "-*",
            "qdisc|class|filter|chain|action|actions": "s*",
            "monitor": "-*",
        },
    ),
    _tool(
        names="bridge",
        is_long_only=True,
        flags=f"{_TC_FLAGS} -4 -6",
        subcommands={"link|fdb|mdb|vlan|vni show|list|ls": "-*", "link|fdb|mdb|vlan|vni": "s*", "monitor": "-*"},
    ),
    _tool(names="systemd-delta", flags="-t,--type= --diff=? --no-pager", operands="R*"),
    _tool(
        names="coredumpctl",
        flags="--no-pager --no-legend -S,--since= -U,--until= -r,--reverse -F,--field= -1 -n= --json= -q,--quiet --all -D,--directory=:R "
        "--file=:r --root=:R --image=:R -o,--output=:w --debugger=:x -A,--debugger-arguments=:x",
        subcommands={"list|info": "-*", "debug|gdb": "-*;x", "dump": "-*;?"},
    ),
    _tool(
        names="crictl",
        flags="-r,--runtime-endpoint=:U -i,--image-endpoint=:U -c,--config=:rU -D,--debug --timeout=",
        has_local_flags=True,
        is_remote=True,
        subcommands={
            "ps|images|img|pods|stats|statsp|info|version|logs|inspect|inspectp|inspecti|imagefsinfo": Grammar(
                flags=_CRI_FLAGS, operands="-*;N"
            ),
            "exec|attach|port-forward|run|runp|create|start|stop|stopp|rm|rmp|rmi|pull|update|checkpoint|config": "-*;dxN",
        },
    ),
    _tool(
        names="snap",
        flags="--all --color= --unicode= --abs-time --last= -n= --global --verbose",
        subcommands={
            "list|info|services|changes|tasks|version|connections|interfaces|warnings|find": "-*;N",
            "install|remove|refresh|revert|enable|disable|start|stop|restart|set|unset|connect|disconnect|run|try|ack|login|logout|"
            "alias|unalias|save|restore|forget|download|switch|abort|debug|get": "-*;dxUs",
        },
    ),
    _tool(
        names="ipvsadm",
        flags="-L,-l,--list>list -S,--save>list -n,--numeric -c,--connection --stats --rate --timeout --daemon --sort --exact "
        "-t,--tcp-service= -u,--udp-service= -f,--fwmark-service= -A,--add-service:s -E,--edit-service:s -D,--delete-service:s -C,--clear:s "
        "-R,--restore:s -Z,--zero:s -a,--add-server:s -e,--edit-server:s -d,--delete-server:s --set:s --start-daemon=:s --stop-daemon=:s",
        operands="-*;s",
        modes={"list": "-*"},
    ),
    _tool(
        names="fail2ban-client",
        flags="-s=:w -c=:Rx -q -v",
        subcommands={
            "status|ping|version|banned": "-*",
            "start|stop|reload|restart|set|unban|add|delete|flushlogs|get": "-*;s",
        },
    ),
    _tool(names="postqueue", flags="-p -j -v -f:s -i=:s -s=:s -c=:Rx", operands=""),
    _tool(names="mailq", flags="-v", operands=""),
    _tool(
        names="rabbitmqctl",
        flags="-n,--node=:C -p,--vhost= -q,--quiet -s,--silent --formatter= -t,--timeout= --online --offline --local -l,--longnames",
        subcommands={
            "list_queues|list_exchanges|list_connections|list_channels|list_consumers|list_bindings|list_vhosts|list_policies|"
            "list_unresponsive_queues|status|cluster_status|ping|version": "-*;N",
        },
    ),
    _tool(
        names="supervisorctl",
        flags="-c,--configuration=:rx -s,--serverurl=:u -u,--username= -p,--password= -i,--interactive:x -r,--history-file=:w",
        subcommands={"status|pid|avail|version": "-*;N"},
        empty="x",
    ),
    _tool(
        names="logrotate",
        flags="-d,--debug>dry -f,--force -v,--verbose -s,--state=:w -l,--log=:w -m,--mail=:x",
        operands="r*;dxs",
        modes={"dry": "R*"},
    ),
    _tool(names="jps", flags="-q -m -l -v -V", operands="-*", after=_after_jvm),
    _tool(
        names="jstat",
        is_long_only=True,
        flags="-class -compiler -gc -gccapacity -gccause -gcmetacapacity -gcnew -gcnewcapacity -gcold -gcoldcapacity -gcutil "
        "-printcompilation -options -t -h=",
        operands="-*",
        after=_after_jvm,
    ),
    _tool(
        names="javap",
        is_long_only=True,
        flags="-c -l -p,-private -s -v,-verbose -public -protected -package -sysinfo -constants -cp,-classpath,--class-path=:R "
        "-bootclasspath=:R --module-path=:R -m,--module= --system=:R --multi-release= -J=?:x",
        operands="-*;R",
        after=_after_javap,
    ),
    _tool(
        names="dmidecode",
        flags="-t,--type= -s,--string= -H,--handle= -q,--quiet -u,--dump -d,--dev-mem=:r --dump-bin=:w --from-dump=:r --no-sysfs --oem-string=",
        operands="",
    ),
    _tool(
        names="zpool",
        flags="-v -x -H -p -P -T= -o= -L -D -i -l -g -s -t -e -w -j -c=:x",
        subcommands={"status|list|iostat|get|history|events|version": "-*"},
    ),
    _tool(
        names="zfs",
        flags="-r -d= -H -p -o= -t= -s= -S= -j",
        subcommands={"list|get|holds|version": "-*"},
    ),
    _tool(
        names="stern",
        flags="-n,--namespace= -A,--all-namespaces -c,--container= -E,--exclude-container= -e,--exclude= -i,--include= -l,--selector= "
        "-s,--since= -t,--timestamps=? -o,--output= --tail= --no-follow --color= --only-log-lines --max-log-requests= --exclude-pod= "
        "--container-state= --field-selector= --init-containers=? --ephemeral-containers=? -H,--highlight= --node= --context=:C "
        "--kubeconfig=:rxU --config=:rx --stdin -T,--template-file=:r --template= -p,--prompt",
        operands="-*;N",
        is_remote=True,
    ),
    _tool(names="kubectx kubens", flags="-c,--current -d=:s -u,--unset:s -r,--raw", operands="s*"),
    _tool(names="crc32", flags="", operands="r*"),
)
