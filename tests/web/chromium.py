"""A real browser for tests: headless Chromium, spoken to in its own protocol (CDP) over a websocket."""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_S = 60
WAIT_S = 20
_KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "Tab": (9, ""),
    "ArrowRight": (39, ""),
    "ArrowLeft": (37, ""),
    " ": (32, " "),
}
_ARGUMENTS = (
    "--headless=new", "--remote-debugging-port=0", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--mute-audio", "--font-render-hinting=none", "--disable-dev-shm-usage",
)  # fmt: skip


def find_chromium() -> str | None:
    """The browser's path, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection, session: str) -> None:
        self._socket = socket
        self._session = session
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._reader = asyncio.create_task(self._read())

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        message = {"id": self._number, "method": method, "params": parameters, "sessionId": self._session}
        await self._socket.send(json.dumps(message))
        async with asyncio.timeout(WAIT_S + 5):
            return await answer

    async def _read(self) -> None:
        async for text in self._socket:
            message = json.loads(text)
            if message.get("sessionId") != self._session:
                continue
            if "id" in message:
                answer = self._answers.pop(message["id"], None)
                if answer is not None and not answer.done():
                    answer.set_result(message)
                continue
            method, parameters = message["method"], message["params"]
            if method == "Page.loadEventFired":
                self._loaded.set()
            elif method == "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            elif method == "Runtime.exceptionThrown":
                self.problems.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                self.problems.append(parameters["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                self.problems.append(f"a dialog opened: {parameters['message']}")
                self._number += 1
                accept = {"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                await self._socket.send(json.dumps({**accept, "sessionId": self._session}))

    async def open(self, url: str) -> None:
        """Go to ``url`` and wait until it is loaded."""
        async with self.loading():
            answer = await self.send("Page.navigate", url=url)
            assert "errorText" not in answer["result"], answer

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[None]:
        """Wait for the page that what happens inside leads to."""
        self._loaded.clear()
        yield
        async with asyncio.timeout(WAIT_S):
            await self._loaded.wait()

    async def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        answer = await self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        result = answer["result"]
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until a JavaScript condition holds; looks whenever the page changes, and at least every 50 ms."""
        text = await self.run(
            f"""new Promise((resolve) => {{
                const end = performance.now() + {WAIT_S * 1000};
                const look = () => {{
                    let holds = false;
                    try {{ holds = Boolean({condition}); }} catch {{ holds = false; }}
                    if (holds) resolve("");
                    else if (performance.now() > end) resolve(document.body ? document.body.innerText : "no page");
                    else setTimeout(look, 50);
                }};
                look();
            }})"""
        )
        assert text == "", f"{condition} never came true; the page says:\n{text}"

    async def click(self, selector: str) -> None:
        """Press the left button of the mouse in the middle of an element, and let go of it."""
        async with self.pressed(selector):
            pass

    @asynccontextmanager
    async def pressed(self, selector: str) -> AsyncIterator[None]:
        """Hold the left button of the mouse down in the middle of an element."""
        place = await self.run(
            f"""(() => {{
                const element = document.querySelector({json.dumps(selector)});
                element.scrollIntoView({{block: "center"}});
                const box = element.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        where = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        await self.send("Input.dispatchMouseEvent", type="mousePressed", **where)
        yield
        await self.send("Input.dispatchMouseEvent", type="mouseReleased", **where)

    async def press(self, key: str, *, is_repeat: bool = False) -> None:
        """Press a key and let go of it."""
        code, text = _KEYS.get(key, (ord(key.upper()[0]), key))
        facts = {"key": key, "windowsVirtualKeyCode": code, "autoRepeat": is_repeat}
        await self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **facts)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **facts)

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.send("Input.insertText", text=text)

    async def show_as(self, *, width: int = 1200, height: int = 860, dark: bool = False, phone: bool = False) -> None:
        """The size of the window, and the colours that the person prefers."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[feature])

    async def screenshot(self, path: Path, *, is_whole: bool = False) -> None:
        """Write a picture of what is seen; with ``is_whole`` of the page from top to bottom."""
        answer = await self.send("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        _write(path, answer["result"]["data"])

    async def close(self) -> None:
        """Stop listening."""
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader


class Chromium:
    """One browser process with a profile of its own."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        assert process.stderr is not None
        self._process = process
        self._address = address
        self._complaints = threading.Thread(target=process.stderr.read, daemon=True)  # so that it never waits for us
        self._complaints.start()

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """A tab that shares nothing with others."""
        async with connect(self._address, max_size=None) as socket:
            context = await _call(socket, 1, "Target.createBrowserContext")
            made = await _call(
                socket, 2, "Target.createTarget", url="about:blank", browserContextId=context["browserContextId"]
            )
            joined = await _call(socket, 3, "Target.attachToTarget", targetId=made["targetId"], flatten=True)
            page = Page(socket, joined["sessionId"])
            for domain in ("Page", "Runtime", "Network", "Log"):
                await page.send(f"{domain}.enable")
            await page.show_as()
            try:
                yield page
            finally:
                await page.close()

    def close(self) -> None:
        """End it with all its children."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        self._complaints.join(10)
        assert self._process.stderr is not None
        self._process.stderr.close()


def _write(path: Path, picture: str) -> None:
    path.write_bytes(base64.b64decode(picture))


async def _call(socket: ClientConnection, number: int, method: str, **parameters: Any) -> dict[str, Any]:
    await socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
    async with asyncio.timeout(WAIT_S):
        while (message := json.loads(await socket.recv())).get("id") != number:
            pass
    result: dict[str, Any] = message["result"]
    return result


def start(path: str, folder: Path) -> Chromium:
    """Start the browser with its profile in ``folder``."""
    arguments = [path, *_ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # it refuses to run as root otherwise
    process = subprocess.Popen(
        [*arguments, "about:blank"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    assert process.stderr is not None
    for line in process.stderr:  # it says where it listens, or ends
        if line.startswith(b"DevTools listening on "):
            return Chromium(process, line.split()[-1].decode())
    raise AssertionError(f"{path} did not start: {process.wait(10)}")
