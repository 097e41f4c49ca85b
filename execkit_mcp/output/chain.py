"""One stream's way from bytes to bounded, clean, redacted text: decode, terminal, redaction, retention.

The order is a safety property: terminal clean-up before redaction (an escape code can split a secret),
redaction before anything is kept or cut (a cut can leave half a secret).
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from execkit_mcp.output.byte_store import ByteStore
from execkit_mcp.output.decode import Decoder
from execkit_mcp.output.retained import DEFAULT_LIMIT_BYTES, RetainedText
from execkit_mcp.output.terminal import Terminal, plain_bytes
from execkit_mcp.redaction import Redactor

_NONE: Final[Mapping[str, int]] = MappingProxyType({})
_NO_TEXT: Final = hashlib.sha256().hexdigest()


class _Flow:
    """What a stream needs while it flows; it is let go when the command ends."""

    __slots__ = ("decoder", "redactor", "terminal")

    def __init__(self, redactor: Redactor) -> None:
        self.decoder = Decoder()
        self.terminal = Terminal()
        self.redactor = redactor.stream()

    def read(self, data: bytes) -> str:
        """The clean text that ``data`` completes; plain text, which nearly all output is, takes the short way."""
        valid = self.decoder.push_valid(data)
        if valid is None:
            return self.terminal.push(self.decoder.push(data))
        text, whole = valid
        if self.terminal.is_at_rest and (plain := plain_bytes(whole)) is not None:
            return self.terminal.push_plain(text if plain is whole else plain.decode())
        return self.terminal.push(text)


class OutputChain:
    """The output of one exec on one stream.

    Attributes:
        retained: what is decided so far; it never holds an undecided line.
    """

    __slots__ = ("_counts", "_digest", "_flow", "_invalid_bytes", "_on_text", "_redactor", "retained")

    def __init__(
        self,
        *,
        redactor: Redactor | None,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        store: ByteStore | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        """Begin; ``on_text`` is given each piece of decided text as it comes. No redactor: nothing is ever pushed."""
        self._redactor = redactor
        self._flow: _Flow | None = None
        self._counts: Mapping[str, int] = _NONE
        self._invalid_bytes = 0
        self._digest: hashlib._Hash | None = None
        self._on_text = on_text
        self.retained = RetainedText(limit_bytes=limit_bytes, store=store)

    def push(self, data: bytes) -> None:
        """Take the next bytes."""
        flow = self._flow
        if flow is None:
            assert self._redactor is not None
            flow = self._flow = _Flow(self._redactor)
        text = flow.read(data)
        if text:
            self._keep(flow.redactor.push(text))

    def flush(self) -> None:
        """Give out what is held, the beginning of a possible secret excepted; the stream goes on.

        After it ``retained`` holds everything that a person could see, so that later output can be told
        apart.
        """
        flow = self._flow
        if flow is not None:
            self._keep(flow.redactor.push(flow.terminal.flush()) + flow.redactor.flush())

    def settle(self) -> None:
        """Decide everything that is held: the command has ended.

        Bytes may still be pushed afterwards (a background job's); they are a new text to the redactor.
        """
        flow = self._flow
        if flow is None:
            return
        text = flow.terminal.push(flow.decoder.finish()) + flow.terminal.finish()
        self._keep(flow.redactor.push(text) + flow.redactor.finish())
        self._counts, self._invalid_bytes = self.redactions, self.invalid_bytes
        self._flow = None
        self.retained.rest()

    finish = settle

    def _keep(self, text: str) -> None:
        if not text:
            return
        data = text.encode("utf-8", "replace")
        self.retained.append_bytes(data)
        if self._digest is None:
            self._digest = hashlib.sha256()
        self._digest.update(data)
        if self._on_text is not None:
            self._on_text(text)

    @property
    def sha256(self) -> str:
        """The SHA-256 of all decided text as UTF-8, whether or not it is still kept."""
        return _NO_TEXT if self._digest is None else self._digest.hexdigest()

    def pending(self) -> str:
        """The redacted look of what is not decided yet, such as a prompt; it may still change."""
        flow = self._flow
        return "" if flow is None else flow.redactor.preview(flow.terminal.pending())

    def snapshot(self) -> RetainedText:
        """``retained`` with ``pending`` at its end; do not append to it."""
        self.retained.verify()
        pending = self.pending()
        return self.retained.with_pending(pending) if pending else self.retained

    @property
    def redactions(self) -> Mapping[str, int]:
        """How many secrets of each kind were replaced in what is decided."""
        counts = _NONE if self._flow is None else self._flow.redactor.counts
        if not (counts and self._counts):  # nearly always there is none at all, and Counters add slowly
            return dict(counts or self._counts)
        return dict(Counter(self._counts) + Counter(counts))

    @property
    def invalid_bytes(self) -> int:
        """How many U+FFFD stand for bytes that were not UTF-8 text."""
        return self._invalid_bytes + (0 if self._flow is None else self._flow.decoder.replaced)
