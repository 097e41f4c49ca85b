"""The commands ``audit replay`` and ``audit recordings``: play what a session looked like, and list what there is.

A recording may come from anywhere, so only what draws text is passed on to the terminal: colours, cursor moves
and erasing. Everything else that a terminal would obey is left out.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from execkit_mcp.cli.state import add_state_options, audit_folder
from execkit_mcp.model.regex import lazy_regex

if TYPE_CHECKING:
    from execkit_mcp.audit.asciicast import Event

__all__ = ["add_to", "drawable", "play", "run_list", "run_replay"]

_EXAMPLE = """\
examples:
  execkit-mcp audit recordings                    what there is, the newest first
  execkit-mcp audit replay main                   the newest recording of the session main, as it happened
  execkit-mcp audit replay main --speed 4 --idle 1
  execkit-mcp audit replay session.cast --speed max --markers
"""
_FORBIDDEN = lazy_regex(
    "\x1b\\[(?P<kept>\\??[0-9;]{0,32}[ABCDEFGHJKSTdmhl])"
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"  # strings for the terminal itself: titles, clipboard, keys
    "|\x1b\\[[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-Z\\\\^-~]?|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]"
)
_MODE = lazy_regex(r"\?(?!7[hl]|25[hl])|[hl]\Z(?<!\?7[hl])(?<!\?25[hl])")
_MOST = 1e6
_RESET = "\x1b[0m\x1b[?7h\x1b[?25h\n"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register both commands below ``audit``."""
    for name, text, run in (
        ("replay", "play a recording in the terminal", run_replay),
        ("recordings", "list the recordings of sessions, the newest first", run_list),
    ):
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_state_options(command)
        if name == "replay":
            command.add_argument("recording", metavar="SESSION|FILE", help="a session, a recording's id, or a file")
            command.add_argument(
                "--speed", type=_speed, default=1.0, metavar="N", help="times as fast; max: no waiting"
            )
            command.add_argument("--idle", type=_seconds, metavar="S", help="never wait longer than this many seconds")
            command.add_argument("--markers", action="store_true", help="show the entries of the audit log as well")
        else:
            command.add_argument("--json", action="store_true", help="JSON instead of text, one object a line")
        command.set_defaults(run=run)


def run_replay(args: argparse.Namespace) -> int:
    """Play; 0 at the end, also when it was interrupted."""
    import time  # noqa: PLC0415 # heavy imports belong to the run

    def sleep(seconds: float) -> None:
        sys.stdout.flush()
        time.sleep(seconds)

    paths = _paths(args)
    try:
        play(_events(paths), out=sys.stdout, speed=args.speed, idle_s=args.idle, markers=args.markers, sleep=sleep)
    except KeyboardInterrupt:
        sys.stdout.write(_RESET)
    sys.stdout.flush()
    return 0


def play(
    events: "Iterator[Event]",
    *,
    out: TextIO,
    speed: float,
    idle_s: float | None,
    markers: bool,
    sleep: Callable[[float], None],
) -> None:
    """Write each event's text when its time has come; ``speed`` 0 waits for nothing."""
    last_s = 0.0
    encoding = out.encoding or "ascii"
    for event in events:
        wait_s, last_s = max(0.0, event.time_s - last_s), max(last_s, event.time_s)
        if idle_s is not None:
            wait_s = min(wait_s, idle_s)
        if speed and wait_s:
            sleep(wait_s / speed)
        if event.code == "o":
            text = drawable(event.text)
        elif event.code == "m" and markers:
            line = drawable(event.text).replace("\r", "").replace("\n", " ")
            text = f"\x1b[36m── {line}\x1b[0m\r\n"
        else:
            continue
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))


def drawable(text: str) -> str:
    """``text`` without anything that a terminal would obey, drawing apart."""

    def kept(found: re.Match[str]) -> str:
        sequence = found["kept"]
        if sequence is None or _MODE.search(sequence):
            return ""
        return found.group()

    return _FORBIDDEN.sub(kept, text) if not text.isprintable() else text


def run_list(args: argparse.Namespace) -> int:
    """List them."""
    import json  # noqa: PLC0415 # heavy imports belong to the run

    from execkit_mcp.approvals import visible  # noqa: PLC0415
    from execkit_mcp.audit.folder import unreadable  # noqa: PLC0415
    from execkit_mcp.audit.recording import recordings_folder  # noqa: PLC0415
    from execkit_mcp.audit.recordings import list_recordings  # noqa: PLC0415

    folder = recordings_folder(audit_folder(args))
    try:
        os.listdir(folder)  # noqa: PTH208 - what cannot be read is not the same as nothing
    except FileNotFoundError:
        pass
    except OSError as error:
        raise unreadable(folder, error) from error
    found = list_recordings(folder)
    if not found and not args.json:
        print("No recording is kept.")
    for each in found:
        if args.json:
            facts = {"id": each.id, "files": list(map(str, each.paths)), "bytes": each.size, "live": each.is_live}
            print(json.dumps({**facts, **dict(each.facts)}))
            continue
        state = "live" if each.is_live else "ended"
        names = visible(f"{each.session} on {each.facts.get('target')} for {each.facts.get('requester')}")
        print(f"{each.id}  {state:5}  {each.size:>10} bytes  {names}")
    return 0


def _paths(args: argparse.Namespace) -> tuple[Path, ...]:
    from execkit_mcp.audit.recording import recordings_folder  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.audit.recordings import find_recording  # noqa: PLC0415

    path = Path(args.recording)
    if path.suffix == ".cast" or "/" in args.recording:
        return (path,)
    return find_recording(recordings_folder(audit_folder(args)), args.recording).paths


def _events(paths: tuple[Path, ...]) -> "Iterator[Event]":
    from execkit_mcp.audit.recordings import read_events, read_header  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    for path in paths:
        try:
            read_header(path)
            offset = 0
            while True:
                events, after = read_events(path, offset)
                yield from events
                if after == offset:
                    break
                offset = after
        except (OSError, ValueError, RecursionError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else "it is not an asciicast v2 file"
            raise CommandInvalid(
                f"The recording {path} cannot be played: {why}.", hint="`audit recordings` lists what can be."
            ) from error


def _speed(text: str) -> float:
    if text == "max":
        return 0.0
    return _seconds(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < _MOST:
        raise argparse.ArgumentTypeError("write a number above 0")
    return number
