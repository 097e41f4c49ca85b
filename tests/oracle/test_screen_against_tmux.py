"""The screen that is shown against a real terminal's: what tmux shows after the same output.

Output is made by chance of pieces whose meaning is settled; where terminals differ (insertion and repetition at the
right margin, steps back from the left one, lines deleted outside of the margins) none is made.
``EXECKIT_FUZZ=N`` tries N texts.
"""

import os
import random
import shutil
import subprocess
import unicodedata

import pytest

from execkit_mcp.output.emulator import Emulator

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed here")
COLS, ROWS = 40, 10
TEXTS = min(int(os.environ.get("EXECKIT_FUZZ") or 120), 5_000)
MARKS = ["e\u0301", "a\u0308\u0323", "o\u0302", "n\u0303"]
PIECES = (
    lambda r: "".join(r.choices("abcdefgXYZ 0123", k=r.randint(1, 50))),
    lambda r: "".join(r.choices("漢字日本語テスト한글", k=r.randint(1, 6))),
    lambda r: "".join(r.choices("😀🚀✅🎉", k=r.randint(1, 3))),
    lambda r: f"\r\n{r.choice(MARKS) * r.randint(1, 3)}",
    lambda r: r.choice(["\r\n", "\n", "\r", "\t", "\rabc\b\b"]) * r.randint(1, 4),
    lambda r: f"\x1b[{r.randint(1, ROWS)};{r.randint(1, COLS)}H",
    lambda r: f"\x1b[{r.randint(0, 4)}{r.choice('ABCD')}",
    lambda r: f"\x1b[{r.choice([1, COLS - 1, COLS, 20])}G",
    lambda r: f"\x1b[{r.randint(1, ROWS)}d",
    lambda r: f"\x1b[{r.choice(['', '0', '1', '2'])}{r.choice('JK')}",
    lambda r: f"\x1b[r\x1b[{r.randint(1, ROWS)};1H\x1b[{r.randint(1, 3)}{r.choice('LM')}",
    lambda r: f"\x1b[{r.randint(1, 5)}{r.choice('@PX')}",
    lambda r: f"\x1b[{r.randint(1, 4)};{r.randint(6, ROWS)}r",
    lambda r: r.choice(["\x1b[r", "\x1bM", "\x1bM\x1bM", "\x1bD", "\x1bE"]),
    lambda r: f"\x1b[{r.randint(1, 3)}{r.choice('ST')}",
    lambda r: r.choice(["\x1b7", "\x1b[s", "\x1b8", "\x1b[u"]),
    lambda r: f"\x1b[?1049h\x1b[2J\x1b[3;{r.randint(1, COLS)}Hfull\x1b[{ROWS};{COLS - 2}Hscr\x1b[?1049l",
    lambda r: f"\x1b[{r.choice(['1;31', '0', '38;5;196', '38;2;1;2;3', '4:3'])}m",
    lambda r: f"\rx\x1b[{r.randint(1, 20)}b",
    lambda r: r.choice(["\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1bP+q544e\x1b\\"]),
    lambda r: f"\r\x1b[4h{'ins' * r.randint(1, 2)}\x1b[4l",
    lambda r: f"\r\x1b[?7l{'w' * r.randint(COLS - 10, COLS + 10)}\x1b[?7h\r",
    lambda r: f"\x1b[{r.randint(1, 2)}Z",
)  # fmt: skip


class Tmux:
    """A tmux of its own with one window."""

    def __init__(self, folder):
        self.folder = folder
        self.run("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), "-s", "m", "cat")
        self.run("set", "-g", "status", "off")
        self.run("set", "-g", "remain-on-exit", "on")
        self.run("resize-window", "-t", "m", "-x", str(COLS), "-y", str(ROWS))

    def run(self, *words):
        command = ["tmux", "-S", str(self.folder / "socket"), "-f", "/dev/null", *words]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20, check=False).stdout

    def shows(self, text):
        (self.folder / "text").write_text(text, newline="")
        own = f"tmux -S {self.folder}/socket"
        end = f"printf '\\033[?2004h'; {own} wait-for -S shown; sleep 20"
        self.run("respawn-pane", "-k", "-t", "m", f"stty raw -echo; cat {self.folder}/text; {end}")
        self.run("wait-for", "shown")
        lines = self.run("capture-pane", "-p", "-N", "-t", "m").split("\n")[:ROWS]
        return [unicodedata.normalize("NFC", line).rstrip() for line in lines]


@pytest.fixture
def tmux(tmp_path):
    opened = Tmux(tmp_path)
    yield opened
    opened.run("kill-server")


def test_the_screen_is_what_tmux_shows(tmux):
    chance = random.Random("screen")
    for number in range(TEXTS):
        text = "".join(chance.choice(PIECES)(chance) for _ in range(chance.randint(3, 14)))
        emulator = Emulator(COLS, ROWS)
        emulator.feed(text)
        shown = [row.text.rstrip() for row in emulator.rows()]
        expected = tmux.shows(text)
        if shown != expected:  # tmux draws in a process of its own: it may have been looked at too early
            expected = tmux.shows(text)
        assert shown == expected, (number, text)
