"""The page as its own process, and a person in front of it who uses no browser."""

import contextlib
import html
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.web import chromium as browsers

MINUTE = 60.0


class Person:
    """Somebody who is logged in: knows the path of his login and holds its cookie."""

    def __init__(self, client: Any, answer: Any) -> None:
        self.client = client
        self.base = answer.headers["location"].removesuffix("/inbox")
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        self.origin = str(client.base_url).rstrip("/")

    def get(self, path: str, **options: Any) -> Any:
        """A page of his login."""
        return self.client.get(
            self.base + path, headers={"cookie": self.cookie, **options.pop("headers", {})}, **options
        )

    def csrf(self) -> str:
        """What his forms carry."""
        page = self.get("/health", headers={"x-execkit-refresh": "1"})
        return re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)[1]

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Any:
        """Send a form as his browser would."""
        due = {"cookie": self.cookie, "origin": self.origin, "sec-fetch-site": "same-origin", **headers}
        return self.client.post(
            self.base + path, data={"csrf": self.csrf(), **(fields or {})}, headers={k: v for k, v in due.items() if v}
        )

    def answer(self, approval_id: str, answer: str, **fields: str) -> str:
        """Answer an approval as its card does; what the next page tells."""
        shown = self.get(f"/inbox/{approval_id}").text
        digest = re.search(r'name="digest" value="([^"]+)"', shown)
        self.post(f"/inbox/{approval_id}", {"digest": digest[1] if digest else "", "answer": answer, **fields})
        return self.flash()

    def flash(self) -> str:
        """What the next page tells him."""
        told = re.search(r'<p class="flash[^>]*>(.*?)</p>', self.get("/inbox").text, re.DOTALL)
        return html.unescape(re.sub("<[^>]+>", "", told[1])) if told else ""


@dataclass(kw_only=True)
class Web:
    """A running page.

    Attributes:
        link: the one-time link that it printed.
        origin: where it answers.
    """

    process: subprocess.Popen[str]
    link: str
    origin: str
    command: list[str]
    environment: dict[str, str]
    clients: list[Any] = field(default_factory=list)

    @property
    def client(self) -> Any:
        """A client without cookies of its own, which follows nothing by itself."""
        import httpx2

        if not self.clients:
            self.clients.append(httpx2.Client(base_url=self.origin, timeout=30))
        return self.clients[0]

    def login(self, link: str | None = None) -> Person:
        """Use a link up."""
        answer = self.client.get(link or self.link)
        assert answer.status_code == 303, answer.text
        self.client.cookies.clear()
        return Person(self.client, answer)

    def another_link(self) -> str:
        """What ``execkit-mcp web --link`` prints."""
        done = subprocess.run(
            [*self.command, "--link"], env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def close(self) -> None:
        """End it as Ctrl-C does."""
        for client in self.clients:
            client.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


@pytest.fixture
def web(world: Any) -> Iterator[Callable[..., Web]]:
    """``web(*options)``: the page over this world's state folder, as its own process; ended at the end."""
    pages: list[Web] = []

    def start(*options: str) -> Web:
        command = [sys.executable, "-m", "execkit_mcp", "web"]
        environment = world.environment(EXECKIT_POLICY=str(world.policy))
        log = (world.folder / "web.log").open("a")
        process = subprocess.Popen(
            [*command, "--port", "0", *options],
            env=environment, cwd=world.workspace, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        log.close()
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link, (world.folder / "web.log").read_text()
        origin = link.partition("/login")[0]
        pages.append(Web(process=process, link=link, origin=origin, command=command, environment=environment))
        return pages[-1]

    yield start
    for page in pages:
        page.close()
        assert page.process.stdout is not None
        page.process.stdout.close()
        assert "Traceback" not in (world.folder / "web.log").read_text(), (world.folder / "web.log").read_text()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsers.Chromium]:
    """One browser for all tests; each of them opens a page that shares nothing with others."""
    path = browsers.find_chromium()
    if path is None:
        pytest.skip("no Chromium here: install it (Debian: sudo apt-get install chromium)")
    browser = browsers.start(path, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests put screenshots: a temporary folder, or the one that EXECKIT_SCREENSHOTS names."""
    named = os.environ.get("EXECKIT_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True)
    return folder


def request(**fields: Any) -> Any:
    """A question to a person."""
    import time

    from execkit_mcp.approvals import ApprovalRequest
    from execkit_mcp.model import PolicyRef

    now_s = time.time()
    return ApprovalRequest(
        **{
            "canonical": "touch made.txt",
            "target": "local",
            "cwd": "/srv",
            "policy": PolicyRef(name="test", digest="d" * 64),
            "requester": "stdio",
            "created_s": now_s,
            "expires_s": now_s + 5 * MINUTE,
            **fields,
        }
    )


@pytest.fixture
def submit(world: Any) -> Callable[..., str]:
    """``submit(**fields)``: put a question into the queue, as a server would; its id."""
    from execkit_mcp.runtime.desk import ApprovalDesk

    def put(**fields: Any) -> str:
        desk = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
        try:
            return desk.queue.submit(request(**fields)).id
        finally:
            desk.close()

    return put


class Recorded:
    """A recording that a test writes as the recorder does."""

    def __init__(self, folder: Path, *, session: str = "main", target: str = "local", requester: str = "stdio") -> None:
        import time

        from execkit_mcp.audit.recording import RecordingWriter, recording_id, recordings_folder

        started_s = time.time() - 600
        self.id = recording_id(started_s=started_s, session=session, chance=os.urandom(3).hex())
        self.now_s = 1.0
        self.number = 0
        facts = {"session": session, "target": target, "requester": requester}
        self.writer = RecordingWriter(
            recordings_folder(folder), self.id,
            facts=lambda: facts, size=(80, 24), started_s=started_s, on_part=lambda _part: None,
        )  # fmt: skip

    def event(self, code: str, text: str, *, after_s: float = 0.1) -> None:
        """One event."""
        from execkit_mcp.audit.asciicast import event_line

        self.now_s += after_s
        self.writer.write(event_line(self.now_s, code, text))

    def ran(self, command: str, output: str = "", *, ends: bool = True, cwd: str = "/srv", **words: object) -> None:
        """A command that ran."""
        from execkit_mcp.audit.asciicast import marker

        self.number += 1
        name = f"x_{self.number:012x}"
        self.event("m", marker(command, audit=self.number, exec=name, **{"verdict": "allow", "rule": "look", **words}))
        self.event("o", f"\x1b[2m{cwd}$\x1b[0m " + command.replace("\n", "\r\n") + "\r\n", after_s=0)
        if output:
            self.event("o", output.replace("\n", "\r\n"))
        if ends:
            self.event("m", marker(None, audit=self.number, exec=name, status="completed", exit=0, ms=12))

    def refused(self, command: str, **words: object) -> None:
        """A command that did not run."""
        from execkit_mcp.audit.asciicast import marker

        self.number += 1
        self.event("m", marker(command, audit=self.number, **{"verdict": "deny", "rule": "never", **words}))

    def close(self) -> None:
        """The session is over."""
        self.writer.close()


@pytest.fixture
def recorded(world: Any) -> Iterator[Callable[..., Recorded]]:
    """``recorded(session=…)``: a recording in this world's state folder."""
    made: list[Recorded] = []

    def make(**facts: str) -> Recorded:
        world.state.mkdir(mode=0o700, exist_ok=True)
        made.append(Recorded(world.state, **facts))
        return made[-1]

    yield make
    for each in made:
        each.close()
