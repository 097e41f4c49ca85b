"""One stream's way from bytes to bounded, clean, redacted text: decode, terminal, redaction, retention.

The order is a safety property: terminal clean-up before redaction (an escape code can split a secret),
redaction before anything is kept or cut (a cut can leave half a secret).
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping

from execkit_mcp.output.byte_store import ByteStore
from execkit_mcp.output.decode import Decoder
from execkit_mcp.output.retained import DEFAULT_LIMIT_BYTES, RetainedText
from execkit_mcp.output.terminal import Terminal
from execkit_mcp.redaction import Redactor


class OutputChain:
    """The output of one exec on one stream.

    Attributes:
        retained: what is decided so far; it never holds an undecided line.
    """

    __slots__ = (
        "_decoder", "_digest", "_is_settled", "_on_text", "_redactor", "_settled_counts", "_stream", "_terminal",
        "retained",
    )  # fmt: skip

    def __init__(
        self,
        *,
        redactor: Redactor,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        store: ByteStore | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        """Begin; ``on_text`` is given each piece of decided text as it comes."""
        self._redactor = redactor
        self._decoder = Decoder()
        self._terminal = Terminal()
        self._stream = redactor.stream()
        self._settled_counts: Counter[str] = Counter()
        self._is_settled = True
        self._digest = hashlib.sha256()
        self._on_text = on_text
        self.retained = RetainedText(limit_bytes=limit_bytes, store=store)

    def push(self, data: bytes) -> None:
        """Take the next bytes."""
        self._is_settled = False
        text = self._terminal.push(self._decoder.push(data))
        if text:
            self._keep(self._stream.push(text))

    def flush(self) -> None:
        """Give out what is held, the beginning of a possible secret excepted; the stream goes on.

        After it ``retained`` holds everything that a person could see, so that later output can be told
        apart.
        """
        self._keep(self._stream.push(self._terminal.flush()) + self._stream.flush())

    def settle(self) -> None:
        """Decide everything that is held: the command has ended.

        Bytes may still be pushed afterwards (a background job's); they are a new text to the redactor.
        """
        if self._is_settled:
            return
        self._is_settled = True
        text = self._terminal.push(self._decoder.finish()) + self._terminal.finish()
        self._keep(self._stream.push(text) + self._stream.finish())
        self._settled_counts.update(self._stream.counts)
        self._stream = self._redactor.stream()
        self.retained.rest()

    finish = settle

    def _keep(self, text: str) -> None:
        if not text:
            return
        self.retained.append(text)
        self._digest.update(text.encode("utf-8", "surrogatepass"))
        if self._on_text is not None:
            self._on_text(text)

    @property
    def sha256(self) -> str:
        """The SHA-256 of all decided text as UTF-8, whether or not it is still kept."""
        return self._digest.hexdigest()

    def pending(self) -> str:
        """The redacted look of what is not decided yet, such as a prompt; it may still change."""
        return "" if self._is_settled else self._stream.preview(self._terminal.pending())

    def snapshot(self) -> RetainedText:
        """``retained`` with ``pending`` at its end; do not append to it."""
        self.retained.verify()
        pending = self.pending()
        return self.retained.with_pending(pending) if pending else self.retained

    @property
    def redactions(self) -> Mapping[str, int]:
        """How many secrets of each kind were replaced in what is decided."""
        counts = self._stream.counts
        if not (counts and self._settled_counts):  # nearly always there is none at all, and Counters add slowly
            return dict(counts or self._settled_counts)
        return dict(self._settled_counts + counts)

    @property
    def invalid_bytes(self) -> int:
        """How many U+FFFD stand for bytes that were not UTF-8 text."""
        return self._decoder.replaced
