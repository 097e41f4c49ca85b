"""What a watcher costs the session that is watched: the same commands with and without an open page, in turns.

The page runs as its own process, as `execkit-mcp web` does; a browser is stood in for by a process that listens to the
stream and fetches the session's page whenever it changed, at the pace of the page's own script.
"""

import http.client
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from report import Report, against

from execkit_mcp import aio
from execkit_mcp.runtime.sdk_policy import Policy

SECTION = "One command while a page shows the session"
HERE = Path(__file__).resolve().parent
TURNS = 8
PACE_S = 0.7


def watch(address: str, path: str, stream: str, cookie: str) -> None:
    """Listen, and fetch the page when something changed; until killed."""
    listening = http.client.HTTPConnection(address)
    listening.request("GET", stream, headers={"Cookie": cookie})
    answer = listening.getresponse()
    fetching = http.client.HTTPConnection(address)
    said, last_s = False, 0.0
    while line := answer.readline():
        if not said:
            print("ready", flush=True)
            said = True
        if line.startswith(b"event: change") and time.monotonic() - last_s > PACE_S:
            last_s = time.monotonic()
            fetching.request("GET", path, headers={"Cookie": cookie})
            fetching.getresponse().read()


def login(link: str) -> tuple[str, str, str]:
    """Where the page is, the path of the login, and its cookie."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", f"{parts.path}?{parts.query}")
    answer = connection.getresponse()
    base = str(answer.getheader("location")).removesuffix("/inbox")
    return parts.netloc, base, str(answer.getheader("set-cookie")).split(";")[0]


async def measure(report: Report, folder: Path, rounds: int) -> None:
    """Fill the section."""
    state = folder / "watched"
    samples: dict[bool, list[float]] = {False: [], True: []}
    async with aio.create(
        policy=Policy.default_deny(allow=[":"]), state_dir=str(state), workspace=str(folder)
    ) as session:
        await session.exec(":")
        page = subprocess.Popen(  # noqa: ASYNC220 - before anything is measured
            [sys.executable, "-m", "execkit_mcp", "web", "--port", "0", "--state-dir", str(state)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        )  # fmt: skip
        try:
            assert page.stdout is not None
            address, base, cookie = login(page.stdout.readline().strip())
            (name,) = (path.stem for path in (state / "recordings").glob("*.cast"))
            wanted = [address, f"{base}/sessions/{name}", f"{base}/events?recording={name}", cookie]
            for turn in range(2 * TURNS):
                is_watched = turn % 2 == 1
                watcher = None
                if is_watched:
                    watcher = subprocess.Popen(  # noqa: ASYNC220 - before anything is measured
                        [sys.executable, str(HERE / "watching.py"), *wanted], stdout=subprocess.PIPE, text=True
                    )
                    assert watcher.stdout is not None
                    watcher.stdout.readline()
                for _ in range(rounds):
                    start = time.perf_counter()
                    await session.exec(":")
                    samples[is_watched].append((time.perf_counter() - start) * 1e3)
                if watcher is not None:
                    watcher.kill()
                    watcher.wait()
        finally:
            page.terminate()
            page.wait()
    alone, watched = statistics.median(samples[False]), statistics.median(samples[True])
    report.times(SECTION, "nobody watches", samples[False])
    more = (watched / alone - 1) * 100
    report.times(SECTION, "a page shows it live", samples[True], f"{more:+.1f} %; {against(more, 5, '%')}")


if __name__ == "__main__":
    watch(*sys.argv[1:])
