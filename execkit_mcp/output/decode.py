"""Bytes to text: incremental UTF-8 in which nothing is lost silently.

Invalid bytes and NUL become U+FFFD and are counted. A character that a chunk border splits is held back
until its rest arrives, so the text does not depend on how the stream was cut.
"""

import codecs

REPLACEMENT = "\ufffd"


class Decoder:
    """An incremental UTF-8 decoder for one stream.

    Attributes:
        replaced: how many U+FFFD stand for invalid bytes or NUL so far.
    """

    __slots__ = ("_decoder", "replaced")

    def __init__(self) -> None:
        # surrogateescape marks each invalid byte: a U+FFFD that the program itself wrote is not counted
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.replaced = 0

    def push(self, data: bytes) -> str:
        """The text that ``data`` completes."""
        return self._mend(self._decoder.decode(data, False))

    def finish(self) -> str:
        """What was held back: an incomplete last character as U+FFFD, or nothing."""
        return self._mend(self._decoder.decode(b"", True))

    def _mend(self, text: str) -> str:
        if text.isascii():
            genuine = 0
        else:
            genuine = text.count(REPLACEMENT)
            try:
                text.encode()
            except UnicodeEncodeError:
                text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if "\0" in text:
            text = text.replace("\0", REPLACEMENT)
        if not text.isascii():
            self.replaced += text.count(REPLACEMENT) - genuine
        return text
