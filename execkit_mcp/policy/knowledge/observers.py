# ruff: noqa: E501 - a table reads one row a line
"""What looks at running programs, at traffic and at other machines.

Sources: strace 6.8, ltrace 0.7, perf 6.8, bpftrace 0.20, gdb 14, valgrind 3.22, nmap 7.94, tcpdump 4.99, tshark 4.2,
mtr 0.95, arping 2.24, telnet (inetutils 2.4) manuals.
"""

from execkit_mcp.policy.knowledge.spec import Grammar, Program

_PERF_RECORD = (
    "-a,--all-cpus -c,--count= -C,--cpu= -D,--delay= -e,--event= -f,--force -F,--freq= -g --call-graph= -i,--no-inherit "
    "-m,--mmap-pages= -n,--no-samples -N,--no-buildid-cache -o,--output=:w -p,--pid=:p -q,--quiet -s,--stat -t,--tid=:p "
    "-u,--uid= -v,--verbose -W,--weight --filter= --max-size= --overwrite --switch-output=?"
)

PROGRAMS = (
    Program(
        names="strace",
        source="strace 6.8 manual",
        is_permuting=False,
        is_wrapper=True,
        flags="-a,--columns= -A -b= -c,--summary-only -C,--summary -d,--debug -D,--daemonize -e,--trace= -E,--env=:x "
        "-f,--follow-forks -ff -F -h -i,--instruction-pointer -I,--interruptible= -k,--stack-traces -n -N -o,--output=:wx "
        "-O,--summary-syscall-overhead= -p,--attach=:p -P,--trace-path= -q,--quiet=? -r,--relative-timestamps=? "
        "-s,--string-limit= -S,--summary-sort-by= -t -T,--syscall-times=? -u,--user=:s -U,--summary-columns= -v,--no-abbrev -V "
        "-w,--summary-wall-clock -x -X,--const-print-style= -y -Y,--decode-pids= -z,--successful-only -Z,--failed-only",
        operands="A",
        empty="p",
        alone="-V --version -h --help",
    ),
    Program(
        names="ltrace",
        source="ltrace 0.7 manual",
        is_permuting=False,
        is_wrapper=True,
        flags="-a,--align= -A= -b,--no-signals -c -C,--demangle -D,--debug= -e= -f -F,--config=:r -h,--help -i -l,--library= "
        "-L -n,--indent= -o,--output=:w -p=:p -r -s= -S -t -T -u=:s -V,--version -w,--where= -x=",
        operands="A",
        empty="p",
        alone="-V --version -h --help",
    ),
    Program(
        names="perf",
        source="perf 6.8 manual",
        has_local_flags=True,
        subcommands={
            "list": "-*",
            "script|annotate|timechart": "-*;rx",
            "report|diff": Grammar(
                flags="-i,--input=:r -k,--vmlinux=:r -s,--sort= -S,--symbols= -d,--dsos= -F,--fields= -g --stdio --no-children "
                "-n,--show-nr-samples -q,--quiet -v,--verbose --header -o,--output=:w --objdump=:x --addr2line=:x "
                "--symfs=:R -G --percent-limit= --tid= --pid= --comms=",
                operands="-*;r",
            ),
            "stat": Grammar(
                flags="-a,--all-cpus -A -B -c -C,--cpu= -d -e,--event= -I,--interval-print= -i,--no-inherit -n,--null -o,--output=:w "
                "-p,--pid=:p -r,--repeat= -S,--sync -t,--tid=:p -v,--verbose -x,--field-separator= --append "
                "--pre=:c --post=:c --per-core --per-socket --timeout= --metrics=",
                operands="A",
                is_leading=True,
                empty="p",
            ),
            "record": Grammar(flags=_PERF_RECORD, operands="A;w", is_leading=True, empty="pw"),
            "top": Grammar(flags=_PERF_RECORD, operands="-*;p"),
            "trace": Grammar(flags=_PERF_RECORD, operands="A", is_leading=True, empty="p"),
        },
        alone="--version --help -v -h",
    ),
    Program(
        names="bpftrace",
        source="bpftrace 0.20 manual: a program may call system() and write files",
        flags="-e=:x -l=? -f= -o=:w -p=:p -c=:c -I=:R -v -d -dd -B= --include=:r --unsafe:x --usdt-file-activation --info",
        operands="rx -*;ps",
        alone="--version -V --help -h --info",
    ),
    Program(
        names="gdb gdbserver lldb",
        source="gdb 14 manual: its commands include shell",
        is_long_only=True,
        flags="-batch -q -quiet -silent -n -nx -nh -p=:px -pid=:px -c=:r -core=:r -e=:r -exec=:r -s=:r -symbols=:r -se=:r "
        "-x=:rx -command=:rx -ix=:rx -init-command=:rx -ex=:x -eval-command=:x -iex=:x -init-eval-command=:x -d=:R "
        "-directory=:R -cd=:R -args -tui -nw -tty=:w -b= -l= -ni -write:w -return-child-result -readnow",
        operands="-*;xR",
        alone="--version -v --help -h",
    ),
    Program(
        names="valgrind",
        source="valgrind 3.22 manual: ./.valgrindrc is read first",
        is_permuting=False,
        is_wrapper=True,
        flags="-h,--help -q,--quiet -v,--verbose -d --version --tool= --trace-children= --track-fds= --time-stamp= --log-fd= "
        "--log-file=:w --log-socket=:n --xml= --xml-fd= --xml-file=:w --xml-socket=:n --demangle= --num-callers= --leak-check= "
        "--show-leak-kinds= --track-origins= --suppressions=:r --gen-suppressions= --error-exitcode= --db-attach=:x "
        "--db-command=:x --callgrind-out-file=:w --cachegrind-out-file=:w --massif-out-file=:w --vgdb= --extra-debuginfo-path=:R",
        operands="A;x",
        alone="--version --help -h",
    ),
    Program(
        names="nmap",
        source="nmap 7.94 manual: -sC, -A and --script run scripts",
        is_long_only=True,
        flags="-p= -sS -sT -sU -sA -sW -sM -sN -sF -sX -sY -sZ -sV -sn -sP -sL -sO -PS=? -PA=? -PU=? -PE -PP -PM -PR -Pn -n -R -F "
        "-O -v -vv -vvv -d -r -6 -T0 -T1 -T2 -T3 -T4 -T5 --open --reason --top-ports= --host-timeout= --max-retries= --min-rate= "
        "--max-rate= --exclude= --traceroute --iflist --packet-trace -g= --source-port= -e= -S= -D= --dns-servers=:n --proxies=:n "
        "-sC:x -A:x --script=:x --script-args= --script-args-file=:r --datadir=:Rx --servicedb=:r --versiondb=:r -iL=:rU -iR=:U "
        "--excludefile=:r -oN=:w -oX=:w -oG=:w -oS=:w -oA=:w --append-output --resume=:rwU --stylesheet= --webxml --no-stylesheet "
        "--privileged --unprivileged",
        operands="n*",
        alone="--version -V --help -h",
    ),
    Program(
        names="tcpdump",
        source="tcpdump 4.99 manual",
        flags="-A -b -B= -c= -C= -d -D,--list-interfaces -e -E= -f -F=:r -G= -H -i,--interface= -I,--monitor-mode -j= -J -K -l -L "
        "-m=:r -M= -n -N -#,--number -O -p -q -Q= -r=:f -s,--snapshot-length= -S -t -T= -u -U,--packet-buffered -v -V=:r -w=:o -W= "
        "-x -X -y= -z=:x -Z=:s --count --print --immediate-mode --time-stamp-precision=",
        operands="-*;s",
        alone="--version --help -h -D --list-interfaces",
    ),
    Program(
        names="tshark dumpcap",
        source="tshark 4.2 manual: Lua scripts of the home folder are loaded",
        flags="-2 -a= -b= -B= -c= -C=:x -d= -D -e= -E= -f= -F= -g -h -H=:r -i= -I -j= -J= -K=:r -l -L -n -N= -o=:x -O= -p -P -q -Q "
        "-r=:f -R= -s= -S= -t= -T= -u= -U= -v -V -w=:w -W= -x -X=:x -y= -Y= -z= --color --export-objects=:w --export-tls-session-keys=:w "
        "--no-duplicate-keys --enable-protocol= --disable-protocol=",
        operands="-*;sx",
        alone="--version -v --help -h -D",
    ),
    Program(
        names="mtr",
        source="mtr 0.95 manual",
        flags="-4 -6 -a,--address= -b,--show-ips -B,--bitpattern= -c,--report-cycles= -C,--csv -e,--mpls -f,--first-ttl= "
        "-F,--filename=:rU -G,--gracetime= -i,--interval= -I,--interface= -j,--json -l,--raw -L,--localport= -m,--max-ttl= -M,--mark= "
        "-n,--no-dns -N,--inet6 -o,--order= -p,--split -P,--port= -Q,--tos= -r,--report -s,--psize= -S,--sctp -t,--curses -T,--tcp "
        "-u,--udp -U,--max-unknown= -w,--report-wide -x,--xml -y,--ipinfo= -z,--aslookup -Z,--timeout=",
        operands="n*",
        alone="--version -v --help -h",
    ),
    Program(
        names="arping",
        source="arping (iputils) manual",
        flags="-A:s -b -c= -D -f -h -i= -I= -q -s=:s -U:s -V -w=",
        operands="n",
        alone="-V -h --help",
    ),
    Program(
        names="telnet",
        source="telnet (inetutils 2.4) manual: its escape runs a shell",
        flags="-4 -6 -8 -a -b= -c -d -e= -E -K -l= -L -n=:w -r -x -X=",
        operands="n -;x",
    ),
)
