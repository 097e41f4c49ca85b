r"""Our own small shell on a host, beside the sessions': signals, looks, questions, and no orphans; this module is it.

SSH has no way to signal the process group of a command, and sshd leaves everything alive whose connection is gone. So
one more channel holds a plain shell that waits for our lines. It knows the shells of all sessions; when its input ends,
or nothing has come for a while (a link that was cut makes no noise), it kills them with all that they started, then
itself. Processes are found from their parents, and, should they have left those, by a mark in their environment.

Nothing that an agent wrote ever gets here but as a quoted word.
"""

import asyncio
import contextlib
import secrets
import signal
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Final

import asyncssh

from execkit_mcp.errors import ConnectFailed, TransportLost, TransportUnavailable
from execkit_mcp.transports.base import ShellLook

__all__ = ["MARK_VARIABLE", "Control", "quote"]

MARK_VARIABLE: Final = "EXECKIT_MARK"
"""The variable of a session's shell that finds its processes again."""
_AGAIN: Final = "Send the call again; if it stays, look at the host and the way to it."
_RS: Final = b"\x1e"
_ASK_S: Final = 10.0
_END_S: Final = 4.0
_MAX_ANSWER: Final = 8 << 20
_MAX_NOISE: Final = 1 << 20
_SHOWN_NOISE: Final = 300
_LONGEST_MARK: Final = 128
_OWN_WORDS: Final = b"s='"

_SCRIPT: Final = r"""
PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin; export PATH; LC_ALL=C; export LC_ALL
unset ENV BASH_ENV CDPATH IFS
nl='
'
shells=
direct() {
  if [ -r /proc/self/task/$$/children ]; then cat /proc/"$1"/task/*/children 2>/dev/null
  else ps -A -o pid= -o ppid= 2>/dev/null | while read -r p q; do [ "$q" = "$1" ] && echo "$p"; done; fi
}
tree() { for k in $(direct "$1"); do echo "$k"; tree "$k"; done; }
async() {
  [ -r /proc/"$1"/status ] || return 1
  while read -r a b; do
    case $a in SigIgn:) case $b in *[67ef]) return 0;; esac; return 1;; esac
  done </proc/"$1"/status
}
note() { eval "left_$1=\" \$(direct "$1" | tr '\\n' ' ')\""; }
front() {
  eval "l=\${left_$1-}"
  for c in $(direct "$1"); do
    case $l in *" $c "*) continue;; esac
    [ "$2" = jobs ] && async "$c" || { echo "$c"; tree "$c"; }
  done
}
mine() { [ -r /proc/"$1"/environ ] || [ ! -d /proc/self ] || return 1
  [ ! -d /proc/self ] || tr '\0' '\n' </proc/"$1"/environ 2>/dev/null | grep -q -x -F "EXECKIT_MARK=$2"; }
marked() { for e in $(grep -l -s -a -F "EXECKIT_MARK=$1" /proc/[0-9]*/environ 2>/dev/null); do
  e=${e#/proc/}; echo "${e%/environ}"; done; }
finish() {
  i=0
  while [ $i -lt 5 ]; do
    i=$((i+1)); all=$(marked "$2")
    mine "$1" "$2" && all="$all $(tree "$1") $1"
    left=
    for p in $all; do [ "$p" = $$ ] || left="$left $p"; done
    [ -n "$left" ] || break
    kill -KILL $left 2>/dev/null
  done
}
learn() { # what its input is; a command that has begun meanwhile has another
  l=$(readlink /proc/"$1"/fd/0 2>/dev/null)
  case $l in pipe:*|socket:*) eval "in_$1=\$l";; esac
}
add() { shells="$shells $1:$2"; learn "$1"; }
drop() { s=; for e in $shells; do case $e in "$1":*) ;; *) s="$s $e";; esac; done; shells=$s; }
end() { finish "$1" "$2"; drop "$1"; }
hit() {
  [ -n "$4" ] || kill -CONT "$1" 2>/dev/null
  f=$(front "$1" "$3")
  # the whole group at once, so that no part of a pipe ends by itself; jobs ignore it. The shell with it, not after
  # it: once its child has ended it is at our own lines again.
  if [ "$2$4" = INT ]; then kill -INT -- "-$1" || f="$1 $f"; fi 2>/dev/null
  [ -n "$f" ] && { kill -"$2" $f; kill -CONT $f; } 2>/dev/null
}
shell() { kill -CONT "$1" 2>/dev/null; kill -"$2" "$1" 2>/dev/null; }
strays() {
  s=$1; shift
  for c in $(direct "$s"); do
    keep=; for k in "$@"; do [ "$k" = "$c" ] && keep=1; done
    [ -n "$keep" ] || kill -KILL "$c" $(tree "$c") 2>/dev/null
  done
}
look() {
  l=$(readlink /proc/"$1"/fd/0 2>/dev/null) || { printf 'unknown'; return; }
  eval "s=\${in_$1-}"
  if [ -z "$s" ]; then learn "$1"; eval "s=\${in_$1-}"; fi
  read -r x </proc/"$1"/stat && x=${x##*) } || { printf 'unknown'; return; }
  if [ "$l" != "$s" ]; then printf 'inside %s' "${x%% *}"; else printf 'script %s' "${x%% *}"; fi
}
real() {
  readlink -n -m -- "$1" 2>/dev/null && return
  p=$1; r=
  while [ -n "$p" ]; do
    x=$(readlink -f -- "$p" 2>/dev/null) && [ -n "$x" ] && { printf '%s%s' "${x%/}" "$r"; return; }
    r=/${p##*/}$r; p=${p%/*}
  done
  printf %s "$r"
}
configured() { (
  cd "$1" && g=$(git rev-parse --git-common-dir) && t=$(git rev-parse --show-toplevel; :)
  [ -n "$g" ] && cat "$g/config" "$g/config.worktree" "$(git rev-parse --git-dir)/config.worktree"
  [ -n "$g" ] && [ -d "$g/modules" ] && find "$g/modules" -name config -type f -exec cat {} +
  [ -n "$t" ] && sed -n 's/^[[:space:]]*path[[:space:]]*=[[:space:]]*//p' "$t/.gitmodules" |
    while IFS= read -r m; do cat "$t/$m/.git/config"; done
) 2>/dev/null | tr -d '\000-\010\013-\037' | head -c 100000; }
program() { [ -f "$1" ] && [ -x "$1" ] && printf y; }
names() { for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do [ -e "$f" ] || [ -L "$f" ] && printf '%s/' "${f##*/}"; done; }
over() { trap '' HUP TERM INT PIPE; for e in $shells; do finish "${e%%:*}" "${e#*:}"; done; exit 0; }
trap over HUP TERM; trap '' INT PIPE QUIT
printf '\036%s:%s\036' "$1" "$$"
while :; do
  if [ -n "${BASH_VERSION-}" ]; then IFS= read -r -t "$2" line || break; else IFS= read -r line || break; fi
  eval "$line"
done
over
"""

_START: Final = (
    "for b in /bin/bash /usr/bin/bash /usr/local/bin/bash /bin/sh; do "
    '[ -x "$b" ] && exec /usr/bin/env -i HOME="$HOME" SHELL="$SHELL" "$b" -c "$s" execkit {mark} {quiet} 2>/dev/null; '
    "done\n"
)


def quote(text: str) -> str:
    """``text`` as one word on one line of the control shell."""
    return "'" + text.replace("'", "'\\''").replace("\n", "'\"$nl\"'") + "'"


class _Session(asyncssh.SSHClientSession):  # type: ignore[type-arg]
    """Passes bytes and the end on."""

    def __init__(self, owner: "Control") -> None:
        self._owner = owner

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Standard output; and what is complained of until it has started."""
        if datatype is None:
            self._owner.received(data)
        else:
            self._owner.complained(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, whyever."""
        self._owner.lost(exc)


class Control:
    """The control shell of one host. Lines go out in order; answers come in order."""

    def __init__(self, *, quiet_s: float, on_lost: Callable[[], None]) -> None:
        self._quiet_s = quiet_s
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._channel: asyncssh.SSHClientChannel | None = None  # type: ignore[type-arg]
        self._buffer = bytearray()
        self._said = self._complaint = b""
        self._is_started = False
        self._asked: deque[tuple[bytes, asyncio.Future[bytes]]] = deque()
        self._beat: asyncio.TimerHandle | None = None
        self.is_open = True

    async def start(self, connection: asyncssh.SSHClientConnection, open_s: float) -> None:
        """Start it on ``connection``. Raises ChannelOpenError (asyncssh), TransportUnavailable, ConnectFailed."""
        mark = secrets.token_hex(8)
        channel, _ = await connection.create_session(
            lambda: _Session(self), "exec /bin/sh", encoding=None, env={}, send_env=[], request_pty=False
        )
        self._channel = channel
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._asked.append((_RS + mark.encode() + b":", answer))
        script = _SCRIPT.replace("'", "'\\''")
        start = _START.format(mark=mark, quiet=int(self._quiet_s * 4) + 1)
        with contextlib.suppress(OSError):  # it has gone already, which is told apart
            channel.write(f"s='{script}'\n{start}".encode())
        try:
            async with asyncio.timeout(open_s):
                await answer
        except TimeoutError:
            said = self.noise
            self.close()
            raise TransportUnavailable(
                f"No shell answered on the host within {open_s:g} s.{said}",
                hint=(
                    "Look at what the account's start-up files (.bashrc, .zshenv), or a forced command, do: "
                    "they may wait, run on or start something that is no shell."
                ),
            ) from None
        except TransportLost as error:
            raise ConnectFailed(
                f"The host ended the account's shell before it answered.{self.noise}",
                hint=(
                    "Check that the account is not locked, has a shell and no forced command, and that its start-up "
                    "files (.bashrc, .zshenv) neither end it nor read its input."
                ),
                retryable=False,
            ) from error
        except BaseException:
            self.close()
            raise
        self._keep_beating()

    @property
    def noise(self) -> str:
        """What was said instead of an answer, in a form that can be shown."""
        said = self._said or bytes(self._buffer[: len(_OWN_WORDS) + _SHOWN_NOISE])
        if said.startswith(_OWN_WORDS):
            return " It sends back what it is sent."
        text = (said.strip() or self._complaint).decode("utf-8", "replace")
        text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
        return f" It said: {text[:_SHOWN_NOISE]}" if text else ""

    def _keep_beating(self) -> None:
        if self.is_open:
            self.send(":")
            self._beat = self._loop.call_later(self._quiet_s, self._keep_beating)

    def received(self, data: bytes) -> None:
        """Bytes from the shell."""
        self._buffer += data
        if not self._is_started and len(self._buffer) > _MAX_NOISE:
            self._said = self._said or bytes(self._buffer[:_SHOWN_NOISE])
            del self._buffer[:-_LONGEST_MARK]  # start-up files may say what they like
        while self._asked:
            mark, answer = self._asked[0]
            at = self._buffer.find(mark)
            end = self._buffer.find(_RS, at + len(mark)) if at >= 0 else -1
            if end < 0:
                break
            body = bytes(self._buffer[:at])
            del self._buffer[: end + 1]
            self._asked.popleft()
            self._is_started = True
            if not answer.done():
                answer.set_result(body)
        if len(self._buffer) > _MAX_ANSWER:
            self._buffer.clear()
            self.close()

    def complained(self, data: bytes) -> None:
        """Errors: of interest only if no shell comes."""
        if not self._is_started and len(self._complaint) < _SHOWN_NOISE:
            self._complaint += data[:_SHOWN_NOISE]

    def lost(self, _error: Exception | None) -> None:
        """The shell or the way to it is gone."""
        if not self.is_open:
            return
        self.is_open = False
        if self._beat is not None:
            self._beat.cancel()
        while self._asked:
            _, answer = self._asked.popleft()
            if not answer.done():
                answer.set_exception(TransportLost("The way to the host was lost.", hint=_AGAIN, retryable=True))
                answer.exception()  # nobody may wait for it any more
        self._on_lost()

    def send(self, line: str) -> None:
        """Have one line carried out; nothing is answered."""
        if self._channel is not None and self.is_open:
            with contextlib.suppress(OSError, asyncssh.Error):
                self._channel.write(line.encode("utf-8", "surrogateescape") + b"\n")

    async def ask(self, line: str) -> bytes:
        """What a line prints. Raises TransportLost."""
        if not self.is_open:
            raise TransportLost("The way to the host was lost.", hint=_AGAIN, retryable=True)
        mark = secrets.token_hex(8)
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._asked.append((_RS + mark.encode() + b":", answer))
        self.send(f"{{ {line}; }} </dev/null 2>/dev/null; printf '\\036%s:\\036' {mark}")
        try:
            async with asyncio.timeout(_ASK_S):
                return await answer
        except TimeoutError:
            self.close()
            raise TransportLost(f"The host did not answer within {_ASK_S:g} s.", hint=_AGAIN, retryable=True) from None

    # -- shells --------------------------------------------------------------------------------------

    def adopt(self, pid: int, mark: str) -> None:
        """A session's shell: it ends with us."""
        self.send(f"add {pid} {mark}")

    async def end(self, pid: int, mark: str) -> None:
        """Kill a shell with everything that was started in it, and wait until that is done."""
        with contextlib.suppress(TransportLost, TimeoutError):
            async with asyncio.timeout(_END_S):
                await self.ask(f"end {pid} {mark}")

    def signal_foreground(
        self, pid: int, number: signal.Signals, *, has_jobs: bool = False, spares_shell: bool = False
    ) -> None:
        """Signal what the shell's command has started, its own ``&`` apart; SIGINT reaches the shell unless spared."""
        kind, who = "jobs" if has_jobs else "plain", "spared" if spares_shell else ""
        self.send(f"hit {pid} {_name(number)} {kind} {who}".rstrip())

    async def note(self, pid: int) -> None:
        """From now on what is directly below the shell counts as jobs of earlier commands."""
        await self.ask(f"note {pid}")

    def signal_shell(self, pid: int, number: signal.Signals) -> None:
        """Signal the shell."""
        self.send(f"shell {pid} {_name(number)}")

    def end_strays(self, pid: int, spared: Collection[int]) -> None:
        """Kill what is below the shell but ``spared``."""
        self.send(" ".join(["strays", str(pid), *map(str, sorted(spared))]))

    async def look(self, pid: int) -> ShellLook:
        """What the shell does; where that cannot be told, it is inside a command."""
        words = (await self.ask(f"look {pid}")).split()
        return ShellLook(
            is_waiting=words == [b"script", b"S"],
            is_inside=words[:1] != [b"script"],
            is_stopped=words[1:] in ([b"T"], [b"t"]),
        )

    async def fields(self, scripts: Iterable[str]) -> list[bytes]:
        """What each of ``scripts`` prints, in one round trip; none of them may print NUL."""
        joined = "; ".join(f"{script}; printf '\\000'" for script in scripts)
        return (await self.ask(joined)).split(b"\0")[:-1]

    def close(self) -> None:
        """Let it go: its input ends, and with it every shell that it knows."""
        if self._channel is not None:
            with contextlib.suppress(OSError, asyncssh.Error):
                self._channel.write_eof()
                self._channel.close()
        self.lost(None)


def _name(number: signal.Signals) -> str:
    return number.name.removeprefix("SIG")
