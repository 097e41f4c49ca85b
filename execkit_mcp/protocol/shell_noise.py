r"""What an interactive bash without a terminal says of itself, taken out of a command's errors.

``[1] 4711`` when a job starts (only if the command holds an ``&``), and that it could not set a terminal up that it
does not have, after a child was killed. Whoever writes just these lines himself loses lines that said nothing. A line
that may become one is held until that is known, or until ``flush``.
"""

import re

from execkit_mcp.model.regex import lazy_regex

__all__ = ["ShellNoise", "without_noise"]

_TERMINAL = rb"bash: \[\d{1,10}: \d{1,5} \(\d{1,3}\)\] tcsetattr: Inappropriate ioctl for device\n"
_JOB = rb"\[\d{1,5}\] \d{1,10}\n"
_WORDS = b"tcsetattr: Inappropriate ioctl for device"
_ON_TERMINAL = lazy_regex(_TERMINAL.replace(rb"\n", rb"\r?\n"))
_MAY_BE_TERMINAL = lazy_regex(rb"bash: (?:\[[\d: ]{0,18}(?:\([\d]{0,3}(?:\)(?:\](?: (?P<words>[^\n]*))?)?)?)?)?\Z")
_MAY_BE_JOB = lazy_regex(rb"\[\d{0,5}(?:\](?: \d{0,10})?)?\Z")


def without_noise(data: bytes) -> bytes:
    """What a terminal shows, without the whole lines of that kind that bash wrote to it."""
    return _ON_TERMINAL.sub(b"", data) if _WORDS in data else data


class ShellNoise:
    """One command's errors, however they are cut."""

    def __init__(self, *, has_jobs: bool = False) -> None:
        self._is_noise = re.compile(_TERMINAL + (b"|" + _JOB if has_jobs else b""))
        self._has_jobs = has_jobs
        self._held = b""
        self._is_line_start = True

    def push(self, data: bytes) -> bytes:
        """What can be passed on."""
        if not self._held and b"[" not in data and not self._may_begin(data):
            self._is_line_start = data.endswith(b"\n") if data else self._is_line_start
            return data
        lines = (self._held + data).splitlines(keepends=True)
        self._held = b""
        out: list[bytes] = []
        for line in lines:
            is_start = self._is_line_start
            if not line.endswith(b"\n") and is_start and self._may_become(line):
                self._held = line
                break
            self._is_line_start = line.endswith(b"\n")
            if not (is_start and self._is_noise.fullmatch(line)):
                out.append(line)
        return b"".join(out)

    def flush(self) -> bytes:
        """What is held: nothing more comes."""
        held, self._held = self._held, b""
        return held

    def _may_begin(self, data: bytes) -> bool:
        """Whether the last line could be the beginning of one, before its first bracket."""
        last = data.rpartition(b"\n")[2]
        return bool(last) and b"bash: ".startswith(last) and (b"\n" in data or self._is_line_start)

    def _may_become(self, line: bytes) -> bool:
        if b"bash: [".startswith(line):
            return True
        if self._has_jobs and _MAY_BE_JOB.match(line):
            return True
        found = _MAY_BE_TERMINAL.match(line)
        return found is not None and _WORDS.startswith(found["words"] or b"")
