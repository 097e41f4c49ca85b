"""Owner of one durable job, outliving the server that started it; this module is that process.

    guardian (own session, subreaper) ── runner (subreaper; holds the lock) ── bash -c TEXT ── what it started

The runner reads the job's outputs, cleans and redacts them with all that the server knew, and keeps them within their
bound in the job's folder: nothing that was not redacted lies on the disk, and a flood fills nothing. When the main
command ends, what it left is ended with it and its exit code written down. If the runner is killed, the guardian ends
the job; only who kills both leaves something behind.
"""

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from execkit_mcp.fence import enter
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.output.retained_state import save
from execkit_mcp.protocol.signal_names import signal_name
from execkit_mcp.runtime.redactor_seed import RedactorSeed
from execkit_mcp.storage.durable import DurableFolder, take_lock
from execkit_mcp.transports import keeper

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTTOU)
_CHUNK = 1 << 18
_WRITE_S = 0.1
_GRACE_S = 2.0
_LAST_READS = 64
_PREVIEW_CHARS = 4096


class _Runner:
    def __init__(self, folder: DurableFolder, spec: dict[str, Any]) -> None:
        self._folder = folder
        self._spec = spec
        redactor = RedactorSeed.from_json(spec["secrets"]).redactor()
        self._chains = {
            name: OutputChain(redactor=redactor, limit_bytes=spec["limit_bytes"], store=folder.file(name))
            for name in ("stdout", "stderr")
        }
        self._started_s = time.monotonic()
        self._is_timed_out = False
        self._written_s = 0.0
        self._is_dirty = True
        self._pid = 0
        self._rungs = 0
        self._fds: dict[int, str] = {}

    def run(self, ready: int) -> None:
        """Start the job, say so, and see it through."""
        process = subprocess.Popen(  # noqa: S603 - the text that was judged
            [self._spec["bash"], "--norc", "--noprofile", "-c", self._spec["text"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._spec["cwd"],
            env=self._spec["env"],
            process_group=0,
            preexec_fn=self._become_job,  # noqa: PLW1509 - this process has one thread
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._pid = process.pid
        self._write("running")
        os.write(ready, b"ok")
        os.close(ready)
        self._fds = {process.stdout.fileno(): "stdout", process.stderr.fileno(): "stderr"}
        for fd in self._fds:
            os.set_blocking(fd, False)
        code = self._follow(process)
        self._read(_LAST_READS)
        keeper.end_all_below()
        self._read(_LAST_READS)
        for chain in self._chains.values():
            chain.settle()
        self._write("timed_out" if self._is_timed_out else "completed", code)

    def _become_job(self) -> None:
        """In the child: its fence, which has no exec gate, because nobody may be there to answer."""
        plan = self._spec["fence"]
        if plan is not None:
            enter.enter_namespaces(plan)
            enter.enter_tree(plan, self._spec["cwd"])
        _become_job()
        if plan is not None:
            enter.restrict(plan, None)

    def _follow(self, process: "subprocess.Popen[bytes]") -> int:
        watched = os.pidfd_open(process.pid)
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        for fd in self._fds:
            poll.register(fd, select.POLLIN)
        limit_s = self._spec["timeout_s"]
        end_s = None if limit_s is None else self._started_s + limit_s
        while True:
            ready = dict(poll.poll(_WRITE_S * 1000 if self._is_dirty or end_s is not None else None))
            for fd in ready.keys() & self._fds.keys():
                if not self._take(fd):
                    poll.unregister(fd)
            if watched in ready:
                os.close(watched)
                return process.wait()
            now_s = time.monotonic()
            if end_s is not None and now_s >= end_s:
                self._is_timed_out = True
                end_s = None if self._is_killed(process.pid) else now_s + _GRACE_S
            if self._is_dirty and now_s - self._written_s >= _WRITE_S:
                self._write("running")

    def _is_killed(self, group: int) -> bool:
        """End it the next harder way; whether that was the last one."""
        self._rungs += 1
        if self._rungs == 1:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
                os.killpg(group, signal.SIGCONT)
            return False
        keeper.end_trees({os.getpid()}, are_roots_spared=True)
        return True

    def _take(self, fd: int) -> bool:
        """Read once; False at the end of that stream."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            del self._fds[fd]
            return False
        self._chains[self._fds[fd]].push(data)
        self._is_dirty = True
        return True

    def _read(self, times: int) -> None:
        """What is in the pipes, without waiting for more."""
        for _ in range(times):
            ready = select.select(list(self._fds), [], [], 0)[0]
            if not ready:
                return
            for fd in ready:
                self._take(fd)

    def _write(self, status: str, code: int | None = None) -> None:
        self._written_s, self._is_dirty = time.monotonic(), False
        name = signal_name(-code) if code is not None and code < 0 else None
        redactions: dict[str, int] = {}
        for chain in self._chains.values():
            for kind, count in chain.redactions.items():
                redactions[kind] = redactions.get(kind, 0) + count
        state = {
            "status": status,
            "exit_code": 128 - code if code is not None and code < 0 else code,
            "signal": name,
            "pid": self._pid,
            "duration_ms": (time.monotonic() - self._started_s) * 1e3,
            "redactions": redactions,
            "streams": {name: save(chain.retained) for name, chain in self._chains.items()},
            "pending": {name: chain.pending()[-_PREVIEW_CHARS:] for name, chain in self._chains.items()},
        }
        with contextlib.suppress(OSError):  # a full disk ends no job; the next one may be written
            self._folder.write("state", state)


def _become_job() -> None:
    keeper.end_with_parent()
    keeper.reset_signals()
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (min(soft, 0), hard))


def main(folder: str, spec_fd: int, ready: int) -> None:
    """Run the job that the descriptor ``spec_fd`` tells of; ``ready`` gets ``ok``, or what went wrong."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)
    keeper.become_subreaper()
    pid = os.fork()
    if pid:
        os.close(ready)
        os.close(spec_fd)
        while os.waitpid(-1, 0)[0] != pid:
            pass
        keeper.end_all_below()
        return
    keeper.become_subreaper()
    with open(spec_fd, "rb") as file:
        spec = json.load(file)
    try:
        lock = take_lock(Path(folder, "lock"))
        os.umask(spec["umask"])
        _Runner(DurableFolder(Path(folder)), spec).run(ready)
        os.close(lock)
    except Exception as error:
        keeper.end_all_below()
        with contextlib.suppress(OSError):
            os.write(ready, f"{type(error).__name__}: {error}".encode())
        raise SystemExit(1) from error


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
