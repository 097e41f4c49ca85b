"""The resident judge: one process a user that answers the hooks of his clients, started by the first call.

It keeps policies loaded and puts every answer on the record before it gives it. Policy and configuration files are
looked at before each answer: what was edited holds from the next command on, and what no longer loads refuses all.
It goes when nobody has asked for a while, or when its socket is gone.
"""

import contextlib
import fcntl
import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from execkit_mcp.cli.hook.call import MAX_INPUT_BYTES, socket_name
from execkit_mcp.cli.hook.forms import (
    Answer,
    Call,
    Form,
    NotReadable,
    answer_to,
    find_form,
    no_opinion,
    read_call,
)
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Decision, Verdict

_IDLE_S: Final = 900.0
_LOOK_S: Final = 5.0
_PEER_S: Final = 5.0
_MAX_BENCHES: Final = 16
_LOCK: Final = "judge.lock"


class Request(Struct, frozen=True, kw_only=True):
    """One call: options, variables, the folder of the calling process, what the client wrote."""

    options: Mapping[str, str]
    environ: Mapping[str, str]
    cwd: str
    payload: bytes


def parse_request(data: bytes) -> Request:
    """The request of ``call.request_bytes``; raises NotReadable."""
    head, found, payload = data.partition(b"\0\0")
    if not found:
        raise NotReadable("the request is cut")
    options: dict[str, str] = {}
    environ: dict[str, str] = {}
    cwd = ""
    for field in os.fsdecode(head).split("\0"):
        name, _, value = field.partition("=")
        if name == "cwd":
            cwd = value
        elif name.startswith("env:"):
            environ[name.removeprefix("env:")] = value
        else:
            options[name] = value
    return Request(options=options, environ=environ, cwd=cwd, payload=payload)


class Bench:
    """A policy that stands ready for calls with the same options and variables."""

    def __init__(self, request: Request) -> None:
        from execkit_mcp.audit.writer import AuditLog  # noqa: PLC0415 - a bench is where work begins
        from execkit_mcp.config.locations import config_dir, home_dir  # noqa: PLC0415
        from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
        from execkit_mcp.runtime.guarded import guarded  # noqa: PLC0415
        from execkit_mcp.runtime.opener import Opener  # noqa: PLC0415
        from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415
        from execkit_mcp.runtime.programs import LocalPrograms  # noqa: PLC0415
        from execkit_mcp.runtime.system import SystemClock, SystemEntropy  # noqa: PLC0415

        options, environ = request.options, request.environ
        known = {name: value for name, value in environ.items() if name != "EXECKIT_SESSION"}
        files: list[str] = [
            options.get("--config") or known.get("EXECKIT_CONFIG") or f"{config_dir(known)}/config.yaml"
        ]
        self.settings = load_settings(
            config=options.get("--config"),
            policy=options.get("--policy"),
            workspace=options.get("--workspace"),
            state_dir=options.get("--state-dir"),
            environ=known,
        )
        self.policy = guarded(load_policy(self.settings.policy, on_file=files.append), self.settings)
        clock, entropy = SystemClock(), SystemEntropy()
        self.opener = Opener(
            settings=self.settings, policy=self.policy, clock=clock, entropy=entropy, environ={**os.environ, **known}
        )
        self.audit = AuditLog.open(Path(self.settings.audit_dir), clock=clock, entropy=entropy)
        self.locator = LocalPrograms(self.policy.document.program_folders, self.policy.document.programs)
        self.home = str(home_dir(known))
        self._stamps = {file: _stamp(file) for file in files}

    def is_fresh(self) -> bool:
        """Whether every file that it was made from is still the same."""
        return all(_stamp(file) == stamp for file, stamp in self._stamps.items())

    def judge(self, form: Form, call: Call, request: Request) -> Answer:
        """Judge, record, answer."""
        from execkit_mcp.policy import Context, judge  # noqa: PLC0415 - loaded with the bench

        workspace = self._workspace(call, request)
        cwd = os.path.abspath(os.path.join(workspace, call.cwd))  # noqa: PTH100, PTH118 - drops ..
        context = Context(cwd=cwd, home=self.home, workspace=workspace, locator=self.locator)
        decision = judge(call.command, self.policy, context)
        verdict, answer = answer_to(form, call, decision, self.opener.redact)
        self.audit.append("hook.decision", self._facts(form, call, decision, verdict, cwd))
        return answer

    def _workspace(self, call: Call, request: Request) -> str:
        """The project: what the operator set, else what the client says of itself; never where the agent has gone."""
        if self.settings.origins.get("workspace", "default") != "default":
            return self.settings.workspace
        named = request.environ.get("CLAUDE_PROJECT_DIR") or request.environ.get("GEMINI_PROJECT_DIR") or call.project
        return named if named.startswith("/") else request.cwd

    def _facts(self, form: Form, call: Call, decision: Decision, verdict: Verdict, cwd: str) -> dict[str, object]:
        redact = self.opener.redact
        facts: dict[str, object] = {
            "requester": f"hook:{form.id}",
            "cwd": redact(cwd),
            "verdict": verdict.word,
            "reason_code": decision.reason_code.value,
            "rule": decision.rule,
            "message": redact(decision.message),
            "canonical": redact(decision.canonical) if decision.canonical is not None else None,
            "hazards": [hit.id for hit in decision.hazards],
            "policy": {"name": decision.policy.name, "digest": decision.policy.digest},
        }
        if decision.canonical is None:
            facts["text"] = redact(call.command[:2000])
        return facts

    def close(self) -> None:
        """Give the record back."""
        self.audit.close()


def _stamp(file: str) -> tuple[int, ...] | None:
    try:
        facts = os.stat(file)  # noqa: PTH116 - looked at before each answer
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode)


class Judge:
    """The benches, by what they were made for."""

    def __init__(self) -> None:
        self._benches: dict[tuple[Any, ...], Bench] = {}

    def answer(self, data: bytes) -> Answer:
        """The answer to a request; never raises."""
        try:
            return self._answer(parse_request(data))
        except NotReadable as error:
            return _blocked(f"What the client sent cannot be read: {error}.")
        except ExecKitError as error:
            return _blocked(str(error))
        except Exception as error:  # noqa: BLE001 - the top handler: fail closed
            return _blocked(f"{type(error).__name__}: {error}")

    def _answer(self, request: Request) -> Answer:
        name = request.options.get("--client", "")
        form = find_form(name)
        if form is None:
            raise NotReadable(f'there is no client "{name}"')
        call = read_call(form, request.payload)
        if call is None:
            return no_opinion()
        key = (*sorted(request.options.items()), *sorted(request.environ.items()))
        bench = self._benches.pop(key, None)
        if bench is not None and not bench.is_fresh():
            bench.close()
            bench = None
        if bench is None:
            bench = Bench(request)
        try:
            answer = bench.judge(form, call, request)
        except BaseException:
            bench.close()  # a record that failed is read anew by the next bench
            raise
        self._benches[key] = bench
        while len(self._benches) > _MAX_BENCHES:
            self._benches.pop(next(iter(self._benches))).close()
        return answer


def _blocked(why: str) -> Answer:
    return Answer(code=2, err=f"execkit-mcp: the command was not judged and does not run: {why}\n")


# ── the process
# ────────────────────────────────────────────────────────────────────────────────────────────────────


def listen(folder: Path) -> socket.socket | None:
    """A listening socket in ``folder``; None where a judge listens already."""
    os.chdir(folder)  # a socket's path may have 107 bytes; a name has no such trouble
    name = socket_name()
    os.umask(0o077)
    with Path(_LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(name)
            return None
        Path(name).unlink(missing_ok=True)
        for other in Path().glob("judge-*.sock"):  # of versions that are gone; whose judge sees it and goes
            other.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(name)
        listener.listen(64)
        return listener


def serve(listener: socket.socket, name: str) -> None:
    """Answer one call after the other until nobody asks any more."""
    judge = Judge()
    mine = _stamp_of_name(name)
    last = time.monotonic()
    listener.settimeout(_LOOK_S)
    while time.monotonic() - last < _IDLE_S and _stamp_of_name(name) == mine:
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            continue
        with peer, contextlib.suppress(OSError):
            peer.settimeout(_PEER_S)
            data = _receive(peer)
            answer = judge.answer(data)
            out, err = answer.out.encode(errors="replace"), answer.err.encode(errors="replace")
            peer.sendall(b"%d %d %d\n" % (answer.code, len(out), len(err)) + out + err)
        last = time.monotonic()


def _stamp_of_name(name: str) -> tuple[int, int] | None:
    try:
        facts = os.lstat(name)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _receive(peer: socket.socket) -> bytes:
    chunks = []
    left = MAX_INPUT_BYTES * 2
    while left > 0 and (chunk := peer.recv(min(left, 65536))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def main(argv: list[str]) -> int:
    """``python -m execkit_mcp.cli.hook.judge FOLDER DESCRIPTOR``: serve; the descriptor closes once it listens."""
    folder, ready = Path(argv[0]), int(argv[1])
    from execkit_mcp.storage.folder import open_private_folder  # noqa: PLC0415 - only in this process

    try:
        listener = listen(open_private_folder(folder))
    except (ExecKitError, OSError) as error:
        os.write(ready, str(error).encode(errors="replace")[:4000])
        return 1
    finally:
        os.close(ready)
    if listener is None:
        return 0
    with listener:
        serve(listener, socket_name())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
