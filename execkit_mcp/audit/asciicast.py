"""A recording's lines, pure: asciicast v2 with markers that join what was seen to the audit log.

A file is a header and then one event a line, ``[seconds, code, text]``: ``o`` is output, ``r`` a new size of the
terminal, ``m`` a marker. A marker is words ``key=value`` and, where there is a command, `` $ `` and the command as it
was judged, secrets replaced::

    audit=12 exec=x_ab12 verdict=allow rule=r1 $ ls -la      a command starts; 12 is its entry in the audit log
    audit=13 exec=x_ab12 status=completed exit=0 ms=12       it has ended
    audit=14 verdict=deny rule=never $ rm -rf /              refused
    audit=15 verdict=ask approval=a_1 $ git push             waits for a person

Source: https://docs.asciinema.org/manual/asciicast/v2/
"""

import json
from collections.abc import Mapping

from msgspec import Struct
from msgspec.json import Encoder

__all__ = ["Event", "Marker", "event_line", "header_line", "marker", "parse_event", "parse_header", "parse_marker"]

VERSION = 2
_ENCODE = Encoder().encode
_COMMAND = " $ "


class Event(Struct, frozen=True, kw_only=True):
    """One event: when (seconds after the start), what (``o``, ``m``, ``r``), and its text."""

    time_s: float
    code: str
    text: str


class Marker(Struct, frozen=True, kw_only=True):
    """What a marker says.

    Attributes:
        audit: number of the entry in the audit log.
        exec_id: the exec; empty for what did not run.
        verdict: allow, ask or deny where something was decided.
        rule: the rule that decided.
        approval_id: the approval that was asked for or used.
        status: how the exec ended.
        exit_code: its exit code, if it is known.
        command: the canonical text, secrets replaced.
        words: every word of the marker.
    """

    audit: int | None
    exec_id: str
    verdict: str
    rule: str
    approval_id: str
    status: str
    exit_code: int | None
    command: str
    words: Mapping[str, str]


def header_line(
    *, cols: int, rows: int, started_s: float, title: str, env: Mapping[str, str], facts: Mapping[str, object]
) -> bytes:
    """The first line of a file; ``facts`` stand under ``execkit``."""
    header = {
        "version": VERSION,
        "width": cols,
        "height": rows,
        "timestamp": int(started_s),
        "title": title,
        "env": dict(env),
        "execkit": dict(facts),
    }
    return json.dumps(header, separators=(",", ":")).encode() + b"\n"


def event_line(time_s: float, code: str, text: str) -> bytes:
    """The line of one event, with its line feed."""
    try:
        body = _ENCODE(text)
    except UnicodeEncodeError:  # half of a surrogate pair is no text
        body = _ENCODE(text.encode("utf-8", "replace").decode())
    return b'[%.6f,"%s",%s]\n' % (time_s, code.encode(), body)


def parse_header(line: bytes) -> Mapping[str, object]:
    """The header; ValueError if the line is none."""
    header = json.loads(line)
    if not isinstance(header, dict) or header.get("version") != VERSION:
        raise ValueError("this is not an asciicast v2 file")
    return header


def parse_event(line: bytes) -> Event:
    """The event; ValueError if the line is none."""
    match json.loads(line):
        case [int() | float() as time_s, str() as code, str() as text]:
            return Event(time_s=float(time_s), code=code, text=text)
        case _:
            raise ValueError("this is not an event of an asciicast v2 file")


def marker(command: str | None = None, **words: object) -> str:
    """A marker's text; words that are None or empty are left out."""
    text = " ".join([f"{name}={_word(value)}" for name, value in words.items() if value is not None and value != ""])
    return text if command is None else text + _COMMAND + command


def parse_marker(text: str) -> Marker:
    """What a marker of ours says; of a stranger's, whatever fits."""
    words_text, has_command, command = text.partition(_COMMAND)
    words = dict(word.split("=", 1) for word in words_text.split(" ") if "=" in word)
    return Marker(
        audit=_number(words.get("audit")),
        exec_id=words.get("exec", ""),
        verdict=words.get("verdict", ""),
        rule=words.get("rule", ""),
        approval_id=words.get("approval", ""),
        status=words.get("status", ""),
        exit_code=_number(words.get("exit")),
        command=command if has_command else "",
        words=words,
    )


def _word(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else "_".join(text.split())


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
