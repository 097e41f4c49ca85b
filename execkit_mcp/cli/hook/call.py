"""The process that a client starts for each command; nothing here may import anything that takes time.

Theory of operation. The options and what the client wrote go to the resident judge over a socket in the state folder,
and its answer comes back: exit code, standard output, standard error. Where nobody listens, a judge is started and
the call waits for it. The socket's folder must be ours and closed to others, and who answers must be our user.

Every way out but an answer ends with 2, which every client takes for a refusal: an unreadable input, a judge that
does not start, does not answer within the deadline or answers nonsense. Standard error says why.
"""

import _signal
import _socket
import os
import sys

DEADLINE_S = 10.0
MAX_INPUT_BYTES = 1 << 20
MAX_ANSWER_BYTES = 4 << 20
EXIT_BLOCKED = 2
OPTIONS = ("--client", "--policy", "--config", "--workspace", "--state-dir")
PASSED_ON = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR")
_PATHS = ("--policy", "--config", "--workspace", "--state-dir")
_OPTION_OF = {
    "EXECKIT_POLICY": "--policy",
    "EXECKIT_CONFIG": "--config",
    "EXECKIT_WORKSPACE": "--workspace",
    "EXECKIT_STATE_DIR": "--state-dir",
    "EXECKIT_AUDIT_DIR": "--state-dir",
}
_PEER_CREDENTIALS = 12  # struct ucred: pid, uid, gid
_PRIVATE = 0o077


class CannotAsk(Exception):
    """The judge cannot be asked; says why."""


def answer(argv: list[str]) -> int | None:
    """Answer a client's call; the exit code, or None where the arguments are not those of a call."""
    options = read_options(argv)
    if options is None:
        return None
    try:
        _signal.signal(_signal.SIGALRM, _too_late)
        _signal.setitimer(_signal.ITIMER_REAL, DEADLINE_S)
        cwd = os.getcwd()  # noqa: PTH109 - pathlib costs 10 ms here
        request = request_bytes(options, dict(os.environ), cwd, _read_input())
        code, out, err = ask(request, state_folder(options, os.environ))
    except CannotAsk as error:
        return _blocked(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the command does not run
        return _blocked(f"{type(error).__name__}: {error}")
    _write(1, out)
    _write(2, err)
    return code


def read_options(argv: list[str]) -> dict[str, str] | None:
    """``--name value`` and ``--name=value``; None for anything else, which the long way explains."""
    options: dict[str, str] = {}
    at = 0
    while at < len(argv):
        name, is_joined, value = argv[at].partition("=")
        if name not in OPTIONS or name in options:
            return None
        if not is_joined:
            at += 1
            if at == len(argv):
                return None
            value = argv[at]
        options[name] = value
        at += 1
    return options if "--client" in options else None


def state_folder(options: dict[str, str], environ: "os._Environ[str]") -> str:
    """Where the judge's socket is: the state folder of flag, variable or default."""
    stated = options.get("--state-dir") or environ.get("EXECKIT_STATE_DIR", "")
    if stated:
        return os.path.abspath(os.path.expanduser(stated))  # noqa: PTH100, PTH111 - pathlib costs 10 ms here
    base = environ.get("XDG_STATE_HOME", "")
    return f"{base if base.startswith('/') else os.path.expanduser('~/.local/state')}/execkit-mcp"  # noqa: PTH111


def request_bytes(options: dict[str, str], environ: dict[str, str], cwd: str, payload: bytes) -> bytes:
    """One request: fields, an empty one, then what the client wrote."""
    fields = [f"{name}={_absolute(name, value, cwd)}" for name, value in options.items()]
    fields += [
        f"env:{name}={_absolute(_OPTION_OF.get(name, ''), value, cwd)}"
        for name, value in environ.items()
        if name in PASSED_ON or name.startswith("EXECKIT_")
    ]
    fields.append(f"cwd={cwd}")
    return os.fsencode("\0".join([*fields, "", ""])) + payload


def _absolute(option: str, value: str, cwd: str) -> str:
    """A path of the caller's as it is for a process that stands elsewhere; the name of a shipped policy stays."""
    is_name = option == "--policy" and "/" not in value and not value.endswith((".yaml", ".yml"))
    if not value or is_name or option not in _PATHS:
        return value
    return os.path.normpath(f"{cwd}/{value}") if value[0] not in "/~" else value


def _read_input() -> bytes:
    chunks = []
    left = MAX_INPUT_BYTES + 1
    while left > 0 and (chunk := os.read(0, min(left, 65536))):
        chunks.append(chunk)
        left -= len(chunk)
    if left <= 0:
        raise CannotAsk("the client's request is over 1 MiB")
    return b"".join(chunks)


# ── the judge
# ──────────────────────────────────────────────────────────────────────────────────────────────────────


def socket_name() -> str:
    """The socket's name: another installation or version of this program has another judge."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 10 ms here
    facts = os.stat(f"{here}/judge.py")  # noqa: PTH116
    return f"judge-{facts.st_dev:x}-{facts.st_ino:x}-{facts.st_mtime_ns:x}.sock"


def ask(request: bytes, folder: str) -> tuple[int, bytes, bytes]:
    """The judge's answer, from one that is started if need be; raises CannotAsk."""
    directory = _open_folder(folder)
    try:
        peer = _connect(directory) or _start(directory, folder)
        try:
            peer.sendall(request)
            peer.shutdown(_socket.SHUT_WR)
            return _parse(_receive(peer))
        except OSError as error:
            raise CannotAsk(f"the judge went away: {error.strerror}") from None
        finally:
            peer.close()
    finally:
        os.close(directory)


def _open_folder(folder: str) -> int:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib costs 10 ms here
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CannotAsk(f"the state folder {folder} cannot be used: {error.strerror}") from None
    facts = os.fstat(directory)
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        os.close(directory)
        raise CannotAsk(f"the state folder {folder} can be written by others; look at it, then run: chmod 700 {folder}")
    return directory


def _connect(directory: int) -> "_socket.socket | None":
    peer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    try:
        peer.connect(f"/proc/self/fd/{directory}/{socket_name()}")  # a path of any length
    except OSError:
        peer.close()
        return None
    told = peer.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEER_CREDENTIALS)
    if int.from_bytes(told[4:8], sys.byteorder) != os.geteuid():
        peer.close()
        raise CannotAsk("who answers on the judge's socket is not your user")
    return peer


def _start(directory: int, folder: str) -> "_socket.socket":
    """Start a judge and wait until it listens."""
    import subprocess  # noqa: PLC0415 - only for the first call

    read_end, write_end = os.pipe()
    try:
        subprocess.Popen(  # noqa: S603 - this interpreter, this package
            [sys.executable, "-m", "execkit_mcp.cli.hook.judge", folder, str(write_end)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write_end,),
            start_new_session=True,
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join([_package_parent(), os.environ.get("PYTHONPATH", "")])},
        )
        os.close(write_end)
        why = b""
        while chunk := os.read(read_end, 4096):
            why += chunk
    finally:
        os.close(read_end)
    peer = _connect(directory)
    if peer is None:
        raise CannotAsk(f"the judge did not start{': ' + why.decode(errors='replace') if why else ''}")
    return peer


def _package_parent() -> str:
    return os.path.abspath(f"{__file__}/../../../..")  # noqa: PTH100 - pathlib costs 10 ms here


def _receive(peer: "_socket.socket") -> bytes:
    chunks = []
    left = MAX_ANSWER_BYTES
    while left > 0 and (chunk := peer.recv(min(left, 65536))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _parse(data: bytes) -> tuple[int, bytes, bytes]:
    r"""``CODE OUT-LENGTH ERR-LENGTH\n``, then both texts: an answer that was cut is none."""
    head, _, body = data.partition(b"\n")
    words = head.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):  # noqa: PLR2004 - code, two lengths
        raise CannotAsk("the judge gave no answer")
    code, out, err = map(int, words)
    if len(body) != out + err or code not in {0, EXIT_BLOCKED}:
        raise CannotAsk("the judge's answer was cut")
    return code, body[:out], body[out:]


# ── ways out
# ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _blocked(why: str) -> int:
    _write(2, f"execkit-mcp: the command was not judged and does not run: {why}.\n".encode(errors="replace"))
    return EXIT_BLOCKED


def _too_late(_number: int, _frame: object) -> None:
    _blocked(f"no answer within {DEADLINE_S:g} s")
    os._exit(EXIT_BLOCKED)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
