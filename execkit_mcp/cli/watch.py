"""The command ``watch``: the approval inbox and the live sessions, in a terminal.

One loop: wait for a key or a tenth of a second, look whether the database or the recording has changed, draw. Raw mode
and the alternate screen are left however the loop ends.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from execkit_mcp.cli.person import open_desk, refuse_inside_a_session, show, user
from execkit_mcp.cli.state import add_state_options, state_folder

if TYPE_CHECKING:
    from pathlib import Path

    from execkit_mcp.cli.watch_inbox import Answer
    from execkit_mcp.runtime.desk import ApprovalDesk

__all__ = ["add_to", "run"]

_EXAMPLE = """\
examples:
  execkit-mcp watch           answer what waits, and look over the agent's shoulder (v)
  execkit-mcp watch --lines   no screen: a line for each question and each answer as they come
  execkit-mcp watch --once    the inbox as it stands, and leave
"""
TICK_S: Final = 0.1
_KEYS: Final = {
    b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"\x1b[5~": "page-up",
    b"\x1b[6~": "page-down", b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace",
    b"\x15": "clear", b"\x1b": "escape", b"\x03": "q", b"\x04": "q", b"\t": "v",
}  # fmt: skip


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "watch",
        help="answer approvals and follow sessions in a terminal",
        description="The approval inbox and the live sessions, in a terminal.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_state_options(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--lines", action="store_true", help="print lines as they come, until interrupted")
    how.add_argument("--once", action="store_true", help="print what waits and leave")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Watch until a key says otherwise; exit code 0."""
    refuse_inside_a_session()
    desk = open_desk(args)
    if args.once:
        waiting = desk.pending()
        show("\n\n".join(map(desk.text_of, waiting)) if waiting else "No approval waits.")
    elif args.lines or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _print_lines(desk)
    else:
        _Watch(desk, state_folder(args) / "recordings").loop()
    return 0


def _print_lines(desk: "ApprovalDesk") -> None:
    """A line for each approval whenever its state changes."""
    import time  # noqa: PLC0415 # heavy imports belong to the run

    from execkit_mcp.approvals import State, summary  # noqa: PLC0415

    told: dict[str, str] = {each.id: each.state.value for each in desk.latest() if each.state is not State.PENDING}
    mark: object = None
    while True:
        now = desk.change_mark()
        if now != mark or any(state == "pending" for state in told.values()):
            mark = now
            for each in desk.latest():
                if told.get(each.id) != each.state.value:
                    told[each.id] = each.state.value
                    show(summary(each, now_s=desk.now_s()))
        time.sleep(TICK_S)


class _Watch:
    """The screen and its loop."""

    def __init__(self, desk: "ApprovalDesk", recordings: "Path") -> None:
        from execkit_mcp.cli.watch_inbox import Inbox  # noqa: PLC0415 # heavy imports belong to the run
        from execkit_mcp.cli.watch_live import LiveView, SessionList  # noqa: PLC0415

        self._desk = desk
        self._inbox = Inbox(desk.needs_code)
        self._sessions = SessionList(recordings)
        self._live: LiveView | None = None
        self._is_inbox = True
        self._drawn: list[str] = []

    def loop(self) -> None:
        """Show and answer until ``q``."""
        import os  # noqa: PLC0415
        import select  # noqa: PLC0415

        fd = sys.stdin.fileno()
        with _raw_terminal(fd):
            mark: object = None
            while True:
                if (now := self._desk.change_mark()) != mark or self._is_inbox:
                    mark = now
                    self._inbox.refresh(self._desk.pending(), self._desk.now_s())
                self._draw()
                if not select.select([fd], [], [], TICK_S)[0]:
                    continue
                data = os.read(fd, 4096)
                if not data or not self._take(data):
                    return

    def _take(self, data: bytes) -> bool:
        """The keys in ``data``; False to leave."""
        for key in keys_of(data):
            if self._is_inbox and self._inbox.is_typing:
                self._answer(self._inbox.press(key, self._desk.now_s()))
            elif key == "q":
                return False
            elif key in ("v", "escape"):
                self._turn(key)
            elif self._is_inbox:
                self._answer(self._inbox.press(key, self._desk.now_s()))
            elif self._live is None:
                self._open(key)
        return True

    def _turn(self, key: str) -> None:
        if self._live is not None:
            self._live = None
        elif not self._is_inbox or key == "v":
            self._is_inbox = not self._is_inbox
            self._sessions.refresh()

    def _open(self, key: str) -> None:
        from execkit_mcp.cli.watch_live import LiveView  # noqa: PLC0415

        found = self._sessions.press(key)
        if found is not None:
            self._live = LiveView(found)

    def _answer(self, answer: "Answer | None") -> None:
        from execkit_mcp.approvals import Channel  # noqa: PLC0415
        from execkit_mcp.errors import ExecKitError  # noqa: PLC0415

        if answer is None:
            return
        try:
            if answer.is_yes:
                self._desk.approve(
                    answer.approval_id,
                    by=Channel.WATCH,
                    who=user(),
                    scope=answer.scope,
                    edited=answer.edited,
                    code=answer.code,
                )
            else:
                self._desk.deny(answer.approval_id, by=Channel.WATCH, who=user(), reason=answer.reason)
        except ExecKitError as error:
            self._inbox.note = f"{error.message} {error.hint}"
            return
        self._inbox.refresh(self._desk.pending(), self._desk.now_s())
        self._inbox.note = f"{'Approved' if answer.is_yes else 'Denied'}: {answer.approval_id}"

    def _draw(self) -> None:
        import shutil  # noqa: PLC0415

        cols, rows = shutil.get_terminal_size()
        if self._live is not None:
            self._live.refresh()
            lines = self._live.lines(cols, rows)
        elif self._is_inbox:
            lines = self._inbox.lines(cols, rows, self._desk.now_s())
        else:
            self._sessions.refresh()
            lines = self._sessions.lines(cols, rows)
        if lines != self._drawn:
            self._drawn = lines
            encoding = sys.stdout.encoding or "ascii"
            text = "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J"
            sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
            sys.stdout.flush()


def keys_of(data: bytes) -> Iterator[str]:
    """The keys that a terminal's bytes mean: names, or characters."""
    if data in _KEYS:
        yield _KEYS[data]
        return
    rest = data
    while rest:
        known = next((code for code in sorted(_KEYS, key=len, reverse=True) if rest.startswith(code)), None)
        if known == b"\x1b" and len(rest) > 1:  # a sequence that means nothing here
            return
        if known is not None:
            yield _KEYS[known]
            rest = rest[len(known) :]
            continue
        size = next((n for n in range(1, 5) if _is_character(rest[:n])), 1)
        yield rest[:size].decode("utf-8", "replace")
        rest = rest[size:]


def _is_character(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


@contextmanager
def _raw_terminal(fd: int) -> Iterator[None]:
    """Keys one by one, no echo, an own screen; everything is put back."""
    import termios  # noqa: PLC0415
    import tty  # noqa: PLC0415

    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        modes = termios.tcgetattr(fd)
        modes[3] &= ~termios.ISIG  # ctrl-c is a key here, so that the screen is put back
        termios.tcsetattr(fd, termios.TCSANOW, modes)
        sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[2J")
        sys.stdout.flush()
        yield
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
