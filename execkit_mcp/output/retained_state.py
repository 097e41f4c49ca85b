"""What a retained text is, apart from its bytes: written down by one process, read by another; this module is both."""

from collections import deque
from collections.abc import Mapping

from execkit_mcp.output.byte_store import ByteStore
from execkit_mcp.output.retained import RetainedText

__all__ = ["load", "save"]

_NUMBERS = ("head_limit", "tail_limit", "head_bytes", "tail_bytes", "newlines", "total_bytes")


def save(text: RetainedText) -> dict[str, object]:
    """The state of ``text``, for ``load``."""
    return {
        "head_limit": text._head_limit,  # noqa: SLF001 - this module is the other half of that class
        "tail_limit": text._tail_limit,  # noqa: SLF001
        "head_bytes": text._head_bytes,  # noqa: SLF001
        "tail_bytes": text._tail_bytes,  # noqa: SLF001
        "newlines": text._newlines,  # noqa: SLF001
        "total_bytes": text.total_bytes,
        "blocks": [list(block) for block in text._blocks],  # noqa: SLF001
        "is_open": text._open,  # noqa: SLF001
        "is_terminated": text.is_terminated,
        "trouble": text.trouble,
    }


def load(state: Mapping[str, object], store: ByteStore) -> RetainedText:
    """The text whose bytes lie in ``store``; raises ValueError if the state makes no sense."""
    numbers = {}
    for name in _NUMBERS:
        value = state.get(name)
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} is {value!r}")
        numbers[name] = value
    blocks = state.get("blocks")
    if not isinstance(blocks, list):
        raise ValueError("blocks are missing")  # noqa: TRY004 - it was read from a file
    text = RetainedText(limit_bytes=numbers["head_limit"] + numbers["tail_limit"], store=store)
    text._head_limit, text._tail_limit = numbers["head_limit"], numbers["tail_limit"]  # noqa: SLF001
    text._head_bytes, text._tail_bytes = numbers["head_bytes"], numbers["tail_bytes"]  # noqa: SLF001
    text._newlines, text.total_bytes = numbers["newlines"], numbers["total_bytes"]  # noqa: SLF001
    text._blocks = deque((int(size), int(newlines)) for size, newlines in blocks)  # noqa: SLF001
    text._open = state.get("is_open") is True  # noqa: SLF001
    text.is_terminated = state.get("is_terminated") is True
    text.trouble = str(state.get("trouble", ""))
    return text
