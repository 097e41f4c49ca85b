"""``execkit-mcp redact``: standard input to standard output without secrets."""

import argparse
import codecs
import json
import os
import secrets
import select
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execkit_mcp.redaction import KnownValue, Redactor

_SILENCE_S = 0.05
_FIRST_STAGE_DELAY_S = 0.1
_READ_BYTES = 1 << 18
_KEY_BYTES = 32
_STDIN, _STDOUT = 0, 1

_EPILOG = """\
examples:
  env | execkit-mcp redact
  tail -f app.log | execkit-mcp redact --known-file ./secrets.txt
  echo '{"text": "Authorization: Bearer ...", "known": ["s3cr3t-value"]}' | execkit-mcp redact --json
"""


class _MalformedError(Exception):
    """A line of ``--json`` input that cannot be read."""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "redact",
        help="replace secrets in a stream of text",
        description="Copy standard input to standard output with secrets replaced by [REDACTED:kind:tag6]. "
        "The same value has the same tag within one run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--known-file",
        metavar="FILE",
        help="values to replace wherever they stand, one a line, in any usual encoding",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help='read {"text": ..., "known": [...]?} a line, write {"text", "redactions"} a line',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Redact until end of input; 0 if all was read, 2 if a line of ``--json`` input was malformed."""
    known = _known_values(args.known_file)
    _first_stage()
    try:
        return _run_json(known) if args.json else _run_stream(known)
    except BrokenPipeError:
        # whoever read our output has left; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        return 1


def _first_stage() -> None:
    """A long stream gets vectorscan on its way; a short one is over before."""
    from execkit_mcp.config.locations import state_dir  # noqa: PLC0415 - a help text needs no automata
    from execkit_mcp.runtime.first_stage import start_first_stage  # noqa: PLC0415

    start_first_stage(os.environ.get("EXECKIT_STATE_DIR") or state_dir(os.environ), delay_s=_FIRST_STAGE_DELAY_S)


def _known_values(path: str | None) -> list["KnownValue"]:
    from execkit_mcp.redaction import KnownValue  # noqa: PLC0415 - a help text needs no automata

    if path is None:
        return []
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        from execkit_mcp.errors import ConfigNotFound  # noqa: PLC0415

        raise ConfigNotFound(
            f"The file of known values {path!r} cannot be read: {error.strerror}.",
            hint="Give a readable file with one value a line.",
        ) from error
    return [KnownValue(name=f"{path}:{number}", value=line) for number, line in enumerate(text.splitlines(), 1) if line]


def _redactor(key: bytes, known: Iterable["KnownValue"]) -> "Redactor":
    from execkit_mcp.detectors import DetectSecrets  # noqa: PLC0415
    from execkit_mcp.redaction import Redactor  # noqa: PLC0415

    return Redactor(key=key, known=known, confirmers=(DetectSecrets(),))


def _run_stream(known: list["KnownValue"]) -> int:
    stream = _redactor(secrets.token_bytes(_KEY_BYTES), known).stream()
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    while True:
        if stream.held_chars and not select.select([_STDIN], [], [], _SILENCE_S)[0]:
            _write(stream.flush())
            select.select([_STDIN], [], [])
        data = os.read(_STDIN, _READ_BYTES)
        if not data:
            break
        _write(stream.push(decoder.decode(data)))
    _write(stream.push(decoder.decode(b"", final=True)) + stream.finish())
    return 0


def _write(text: str) -> None:
    data = memoryview(text.encode("utf-8", "surrogateescape"))
    while data:
        data = data[os.write(_STDOUT, data) :]


def _run_json(known: list["KnownValue"]) -> int:
    key = secrets.token_bytes(_KEY_BYTES)
    shared = _redactor(key, known)
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            text, more = _request(line)
        except _MalformedError as error:
            sys.stdout.flush()
            print(f"execkit-mcp redact: line {number}: {error}", file=sys.stderr)
            return 2
        redactor = shared
        if more:
            from execkit_mcp.redaction import KnownValue  # noqa: PLC0415

            redactor = _redactor(key, [*known, *(KnownValue(name="known", value=value) for value in more)])
        clean, counts = redactor.text(text)
        print(json.dumps({"text": clean, "redactions": counts}), flush=True)
    return 0


def _request(line: bytes) -> tuple[str, list[str]]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _MalformedError(f"not JSON: {error}") from error
    if not isinstance(request, dict) or not isinstance(request.get("text"), str):
        raise _MalformedError('expected an object with a string "text"')
    unknown = sorted(set(request) - {"text", "known"})
    if unknown:
        raise _MalformedError(f'unknown field {unknown[0]!r}; expected "text" and "known"')
    more = request.get("known") or []
    if not isinstance(more, list) or not all(isinstance(value, str) for value in more):
        raise _MalformedError('"known" must be a list of strings')
    return request["text"], more
