"""100 MB of output: through a whole session, and through each part of its way alone."""

import codecs
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import secrets_found
from report import Report, against

from execkit_mcp import aio
from execkit_mcp.detectors import DetectSecrets
from execkit_mcp.output import RetainedText
from execkit_mcp.redaction import Redactor
from execkit_mcp.runtime.sdk_policy import Policy
from execkit_mcp.storage.spill import SpillFolder

SECTION = "100 MB of output"
SIZE = 100_000_000
PIECE = 1 << 18
ROUNDS = 2
LINE = "2026-11-21T10:00:00Z INFO worker-3 request path=/api/v1/items status=200 bytes=5123 took=12ms\n"


def _cat_and_decode(source: Path) -> float:
    start = time.perf_counter()
    with subprocess.Popen(["cat", str(source)], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        decode = codecs.getincrementaldecoder("utf-8")().decode
        while data := cat.stdout.read1(PIECE):
            decode(data)
    return time.perf_counter() - start


def _redact(pieces: Iterable[str]) -> float:
    stream = Redactor(key=b"0" * 32, confirmers=(DetectSecrets(),)).stream()  # as a session's
    start = time.perf_counter()
    for piece in pieces:
        stream.push(piece)
    stream.finish()
    return time.perf_counter() - start


def _retain(text: str, rounds: int, retained: RetainedText) -> float:
    start = time.perf_counter()
    for _ in range(rounds):
        retained.append(text)
    took = time.perf_counter() - start
    assert retained.total_bytes == rounds * len(text)
    retained.discard()
    return took


async def measure(report: Report, folder: Path) -> None:
    """Fill the section: the best of some rounds, in turn.

    The text is one line again and again, and the mixed logs that redaction is measured on.
    """
    logs = secrets_found.log_text(PIECE * 16)
    texts = {"one line": (LINE * (2 * PIECE // len(LINE)))[:PIECE], "mixed logs": logs}
    spill = SpillFolder(folder)
    rate = 0.0
    taken: dict[str, float] = {}
    opened = aio.create(
        policy=Policy.default_deny(allow=["cat"]), state_dir=str(folder / "flood"), workspace=str(folder)
    )
    async with opened as session:
        for name, text in texts.items():
            pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)] * (SIZE // len(text))
            source = folder / "source.txt"
            with source.open("w") as file:
                file.writelines(pieces)
            size = source.stat().st_size
            plain, redaction, whole = [], [], []
            for _ in range(ROUNDS):
                plain.append(_cat_and_decode(source))
                redaction.append(_redact(pieces))
                start = time.perf_counter()
                result = await session.exec("cat source.txt")
                whole.append(time.perf_counter() - start)
                assert abs(result.truncated["stdout"].total_bytes - size) < size / 100, result.truncated
            rate = size / min(redaction)
            taken[name] = min(whole)
            report.add(SECTION, f"{name}: `cat` into a pipe that Python decodes", f"{min(plain) * 1e3:.0f} ms")
            report.add(SECTION, f"{name}: redaction alone", f"{min(redaction) * 1e3:.0f} ms", f"{rate / 1e6:.0f} MB/s")
            times = min(whole) / (2 * min(plain) + min(redaction))
            note = f"{times:.2f} x (2 x cat + redaction of the same)"
            report.add(SECTION, f"{name}: `cat` in a session, to its result", f"{min(whole) * 1e3:.0f} ms", note)
    allowed = 2 * min(plain) + SIZE / rate
    for name, took in taken.items():
        note = f"2 x cat + redaction at its rate on mixed logs; {against(took * 1e3, round(allowed * 1e3), 'ms')}"
        report.add(SECTION, f"{name}: to its result, of what is allowed", f"{took * 1e3:.0f} ms", note)
    for name, limit, store in (
        ("kept in memory, 1 MiB", 1 << 20, None),
        ("kept on disk, 1 MiB", 1 << 20, spill.store("a")),
        ("kept on disk, all of it", 1 << 28, spill.store("b")),
    ):
        took = _retain(texts["one line"], SIZE // PIECE, RetainedText(limit_bytes=limit, store=store))
        report.add(SECTION, name, f"{took * 1e3:.0f} ms")
    spill.close()
