"""The attack matrix: what somebody tries who has talked past the text gate and owns the shell; this module is the table.

Each row is a few lines of bash, or of Python where bash cannot do it, that print ``OPEN`` if they got what they wanted.
They name what the runner (``runtime/attack_matrix``) has put into the folder ``$D``: ``copied`` and ``wc`` (copies of a program),
``linked`` and ``hard`` (links to one that no rule names), ``script`` (``#!/bin/sh``), ``own`` (a script whose interpreter is
``copied``), ``lib.so`` (a library); and ``$STATE``, ``$CONFIG`` (files of configuration and policy), ``$OWN`` (those of
them that did not come with us), ``$PORT`` (a listener outside), ``$SERVER`` and ``$KEEPER`` (process ids), ``$TERMINAL`` (``$TERMINAL_AT``: device and inode), ``$SHARED`` and ``$KEY`` (a terminal, a file of shared memory, and its System V key, all outside).
"""

from typing import NamedTuple

__all__ = ["ATTACKS", "PYTHON_PREAMBLE", "Attack"]


class Attack(NamedTuple):
    """One row: its class, a sentence, the lines; ``needs`` names the program that must be allowed for it to be tried."""

    id: str
    kind: str
    title: str
    text: str
    needs: str = ""


def _sh(name: str, kind: str, title: str, text: str, needs: str = "") -> Attack:
    return Attack(name, kind, title, text, needs)


def _py(name: str, kind: str, title: str, text: str) -> Attack:
    return Attack(name, kind, title, text, "python3")


ATTACKS: tuple[Attack, ...] = (
    _sh("unlisted-program", "exec", "a program that no rule names", "$UNLISTED >/dev/null 2>&1 && echo OPEN"),
    _sh("copied-binary", "exec", "a copy of a program in the workspace", "$D/copied && echo OPEN"),
    _sh("copied-name", "exec", "a copy that is called like an allowed program", "$D/wc </dev/null && echo OPEN"),
    _sh("symlink", "exec", "a link to a program that no rule names", "$D/linked >/dev/null 2>&1 && echo OPEN"),
    _sh("hard-link", "exec", "a hard link to a program", "$D/hard >/dev/null 2>&1 && echo OPEN"),
    _sh("loader", "exec", "the dynamic loader runs a copy", "$LOADER $D/copied && echo OPEN"),
    _sh(
        "loader-system",
        "exec",
        "the dynamic loader runs a program that no rule names",
        "$LOADER $UNLISTED >/dev/null 2>&1 && echo OPEN",
    ),
    _sh("script", "exec", "a script in the workspace", "$D/script && echo OPEN"),
    _sh("own-interpreter", "exec", "a script whose interpreter stands in the workspace", "$D/own && echo OPEN"),
    _sh(
        "other-name",
        "exec",
        "an allowed program under another's name",
        "(exec -a 'git status' $ALLOWED --version >/dev/null 2>&1) && echo OPEN",
    ),
    _sh(
        "other-argv",
        "exec",
        "an allowed program with words that nobody judged",
        "$ALLOWED --execkit-attack-$RANDOM >/dev/null 2>&1; case $? in 126|127) ;; *) echo OPEN;; esac",
    ),
    _sh(
        "enable-f",
        "code",
        "a library of the workspace as a builtin of bash",
        "m=$(enable -f $D/lib.so nothing 2>&1); case $m in *permit*|*denied*|*map*) ;; *) echo OPEN;; esac",
    ),
    _sh(
        "preload",
        "code",
        "LD_PRELOAD puts a library of the workspace into an allowed program",
        "while read -r a m x; do case $m:$x in *x*:*$D/lib.so) echo OPEN;; esac; done < <(LD_PRELOAD=$D/lib.so cat /proc/self/maps 2>/dev/null)",
        "cat",
    ),
    _py(
        "memfd",
        "code",
        "a program that is in no folder",
        "fd=libc.memfd_create(b'x',0); fd>=0 and (os.write(fd,open(D+'/copied','rb').read()), runs(f'/proc/self/fd/{fd}') and won())",
    ),
    _py(
        "execveat",
        "code",
        "an exec that names no path",
        "fd=os.open(D+'/copied',os.O_RDONLY); pid=os.fork()\nif pid==0: call(322,fd,b'',ptr(0),ptr(0),0x1000); os._exit(9)\nos.waitstatus_to_exitcode(os.waitpid(pid,0)[1])==0 and won()",
    ),
    _sh(
        "read-state",
        "files",
        "the state folder: approvals, audit, ledger",
        "for f in $STATE/*; do [[ -f $f ]] && read -r x < $f && echo OPEN && break; done; [[ -w $STATE ]] && : > $STATE/execkit-attack && echo OPEN",
    ),
    _sh(
        "list-state",
        "files",
        "the names in the state folder",
        "for f in $STATE/*; do [[ -e $f ]] && echo OPEN && break; done",
    ),
    _sh(
        "read-config",
        "files",
        "the configuration and the policy",
        "for f in $OWN; do [[ -f $f ]] && read -r x < $f && [[ -n $x ]] && echo OPEN && break; done",
    ),
    _sh(
        "write-config",
        "files",
        "a change of the policy",
        "for f in $CONFIG; do [[ -f $f ]] && echo '# execkit-attack' >> $f && echo OPEN; done",
    ),
    _sh("write-etc", "files", "a file in /etc", "echo x > /etc/execkit-attack && echo OPEN"),
    _sh("write-home", "files", "a shell's start-up file in the home folder", ": >> $HOME/.profile && echo OPEN"),
    _sh("write-system", "files", "a program of the system", ": >> /usr/bin/env && echo OPEN"),
    _sh("shadow", "files", "password hashes", "read -r x < /etc/shadow && [[ -n $x ]] && echo OPEN"),
    _sh(
        "raw-disk",
        "files",
        "the disk below the file system",
        "for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/xvda; do read -rN 1 x < $d && echo OPEN; done",
    ),
    _sh("core-pattern", "kernel", "the kernel's core dump handler", ": >> /proc/sys/kernel/core_pattern && echo OPEN"),
    _sh(
        "release-agent",
        "kernel",
        "a cgroup's release agent",
        "for f in /sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent; do : >> $f && echo OPEN; done",
    ),
    _sh("sysrq", "kernel", "the kernel's emergency keys", ": >> /proc/sysrq-trigger && echo OPEN"),
    _sh("kcore", "kernel", "the kernel's memory", "read -rN 1 x < /proc/kcore && echo OPEN"),
    _sh("server-environ", "processes", "the server's environment", "read -rN 1 x < /proc/$SERVER/environ && echo OPEN"),
    _sh("server-memory", "processes", "the server's memory", ": <> /proc/$SERVER/mem && echo OPEN"),
    _sh(
        "server-files",
        "processes",
        "the server's open files",
        "for f in /proc/$SERVER/fd/*; do [[ -e $f ]] && echo OPEN && break; done",
    ),
    _sh(
        "server-root",
        "processes",
        "the file tree as the server sees it",
        "for f in /proc/$SERVER/root/etc/*; do [[ -e $f ]] && echo OPEN && break; done",
    ),
    _sh("signal-server", "processes", "a signal to the server", "kill -0 $SERVER && echo OPEN"),
    _sh("signal-keeper", "processes", "a signal to the supervisor of the fence", "kill -0 $KEEPER && echo OPEN"),
    _py("ptrace", "processes", "steering another process", "call(101,16,SERVER,0,0)==0 and won()"),
    _py(
        "ptrace-child",
        "processes",
        "steering a process of one's own (past what was judged)",
        "pid=os.fork()\nif pid==0: time.sleep(2); os._exit(0)\ncall(101,16,pid,0,0)==0 and won()",
    ),
    _py(
        "process-vm",
        "processes",
        "reading another process's memory",
        "b=ctypes.create_string_buffer(8); v=(ctypes.c_size_t*2)(ctypes.addressof(b),8); r=(ctypes.c_size_t*2)(0x400000,8); call(310,SERVER,v,1,r,1,0)>=0 and won()",
    ),
    _py(
        "pidfd-getfd",
        "processes",
        "taking a descriptor of the server",
        "p=os.pidfd_open(SERVER); call(438,p,0,0)>=0 and won()",
    ),
    _py(
        "tiocsti",
        "terminal",
        "typing on the terminal in the shell's name",
        "import fcntl\nfor n in (0,2): fcntl.ioctl(os.open('/dev/tty',os.O_RDWR),0x5412,b'\\n'); won(); break",
    ),
    _py("userns", "kernel", "a user namespace where one is root", "libc.unshare(0x10000000)==0 and won()"),
    _py(
        "clone-userns",
        "kernel",
        "the same by clone",
        "p=call(56,0x10000011,0,0,0,0)\nif p==0: os._exit(0)\np>0 and won()",
    ),
    _py("mount", "kernel", "a mount", "libc.mount(b'none',D.encode(),b'tmpfs',0,None)==0 and won()"),
    _py("umount", "kernel", "taking away what hides the state folder", "libc.umount2(STATE.encode(),2)==0 and won()"),
    _py(
        "setns",
        "kernel",
        "entering the server's namespaces",
        "f=os.open(f'/proc/{SERVER}/ns/mnt',os.O_RDONLY); libc.setns(f,0)==0 and won()",
    ),
    _py("chroot", "kernel", "another root", "os.chroot(D); won()"),
    _py(
        "io-uring",
        "kernel",
        "calls that no filter sees",
        "b=ctypes.create_string_buffer(120); call(425,4,b)>=0 and won()",
    ),
    _py(
        "bpf", "kernel", "a program in the kernel", "b=ctypes.create_string_buffer(120); call(321,0,b,120)>=0 and won()"
    ),
    _py("keyctl", "kernel", "the kernel's key rings", "call(250,0,-3,1)>=0 and won()"),
    _py("userfaultfd", "kernel", "stopping the kernel in a copy", "call(323,0)>=0 and won()"),
    _py(
        "perf",
        "kernel",
        "performance counters",
        "b=ctypes.create_string_buffer(128); b[4]=128; call(298,b,0,-1,-1,0)>=0 and won()",
    ),
    _py(
        "mknod",
        "kernel",
        "a device node",
        "import stat; os.mknod(D+'/disk',0o600|stat.S_IFBLK,os.makedev(254,0)); won()",
    ),
    _py(
        "handle",
        "kernel",
        "a file by its number",
        "b=ctypes.create_string_buffer(64); b[0]=8; r=libc.open_by_handle_at(os.open('/',os.O_RDONLY),b,0); (r>=0 or ctypes.get_errno()!=1) and won()",
    ),
    _py(
        "new-seccomp-listener",
        "kernel",
        "answering the exec gate's questions oneself",
        "class P(ctypes.Structure): _fields_=[('n',ctypes.c_ushort),('c',ctypes.c_void_p)]\nc=ctypes.create_string_buffer(bytes.fromhex('0600000000 00ff7f'.replace(' ',''))+b'',8); p=P(1,ctypes.addressof(c)); call(317,1,8,ctypes.byref(p))>=0 and won()",
    ),
    _py(
        "capabilities",
        "kernel",
        "a capability",
        "t=open('/proc/self/status').read(); int(t.split('CapEff:')[1].split()[0],16) and won()",
    ),
    _py(
        "setuid",
        "kernel",
        "a program that runs as another user",
        "open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0]!='1' and won()",
    ),
    _py(
        "map-code",
        "code",
        "a file of the workspace mapped as code",
        "import mmap; f=os.open(D+'/lib.so',os.O_RDONLY); mmap.mmap(f,4096,flags=mmap.MAP_PRIVATE,prot=mmap.PROT_READ|mmap.PROT_EXEC); won()",
    ),
    _sh("dev-tcp", "network", "a service of this machine, by bash", "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo OPEN"),
    _sh("dev-udp", "network", "a datagram, by bash", "echo x > /dev/udp/127.0.0.1/$PORT && echo OPEN"),
    _py(
        "tcp",
        "network",
        "a service of this machine",
        "import socket; socket.create_connection(('127.0.0.1',PORT),2); won()",
    ),
    _py("udp", "network", "a datagram", "import socket; socket.socket(2,2).sendto(b'x',('127.0.0.1',PORT)); won(UDP)"),
    _py("packet", "network", "raw packets", "import socket; socket.socket(17,3,0); won()"),
    _py("vsock", "network", "the machine's host", "import socket; socket.socket(40,1,0); won()"),
    _py("alg", "network", "the kernel's ciphers (a rare family)", "import socket; socket.socket(38,5,0); won()"),
    _py(
        "abstract",
        "network",
        "an abstract socket of another program",
        "import socket; s=socket.socket(1,1); s.connect('\\0execkit-attack-'+str(PORT)); won()",
    ),
    _py(
        "limit-server",
        "processes",
        "a limit on the server's processor time, which would end it",
        "import resource; resource.prlimit(SERVER,resource.RLIMIT_CPU,(10**6,10**6)); won()",
    ),
    _py(
        "other-terminal",
        "terminal",
        "the terminal of somebody outside, to write on it or read what is typed",
        "at=os.fstat(os.open(os.environ['TERMINAL'],os.O_RDWR|os.O_NOCTTY)); "
        "f'{at.st_dev}:{at.st_ino}'==os.environ['TERMINAL_AT'] and won()",
    ),
    _py(
        "shared-memory",
        "processes",
        "shared memory of a program outside",
        "os.open('/dev/shm/'+os.environ['SHARED'],os.O_RDWR); won()",
    ),
    _py(
        "sysv-memory",
        "processes",
        "the same by its System V key",
        "libc.shmget(int(os.environ['KEY']),0,0)>=0 and won()",
    ),
    _py(
        "rename-out",
        "files",
        "a file renamed out of the workspace",
        "os.rename(D+'/script','/etc/execkit-attack'); won()",
    ),
    _py(
        "link-in",
        "files",
        "a file outside, written through a link",
        "os.symlink('/etc/execkit-attack',D+'/l'); open(D+'/l','w'); won()",
    ),
    _py(
        "truncate",
        "files",
        "a file outside, cut",
        "os.truncate('/etc/hostname',0) if False else os.open('/etc/hostname',os.O_WRONLY); won()",
    ),
    _py(
        "hard-link-out",
        "files",
        "a file outside, written through a hard link",
        "os.link('/etc/hostname',D+'/h'); open(D+'/h','a'); won()",
    ),
)

PYTHON_PREAMBLE = """\
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
def call(n, *a): return libc.syscall(ctypes.c_long(n), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a])
def ptr(n): return ctypes.c_void_p(n)
def won(*_): print('OPEN')
def runs(path):
    pid = os.fork()
    if pid == 0:
        try: os.execv(path, ['copied'])
        finally: os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
D, STATE, SERVER, PORT = os.environ['D'], os.environ['STATE'], int(os.environ['SERVER']), int(os.environ['PORT'])
UDP = None
"""
