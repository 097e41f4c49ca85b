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

    __slots__ = ("_held", "replaced")

    def __init__(self) -> None:
        self._held = b""  # the beginning of a character
        self.replaced = 0

    def push_valid(self, data: bytes) -> tuple[str, bytes] | None:
        """The text that ``data`` completes and its bytes; None, and nothing taken, if there is anything to mend."""
        whole = self._held + data if self._held else data
        if 0 in whole:
            return None
        try:
            text, used = codecs.utf_8_decode(whole, "strict", False)
        except UnicodeDecodeError:
            return None
        self._held = whole[used:]
        return text, whole[:used]

    def push(self, data: bytes) -> str:
        """The text that ``data`` completes."""
        valid = self.push_valid(data)
        return self._mended(data, is_last=False) if valid is None else valid[0]

    def finish(self) -> str:
        """What was held back: an incomplete last character as U+FFFD, or nothing."""
        return self._mended(b"", is_last=True)

    def _mended(self, data: bytes, *, is_last: bool) -> str:
        whole = self._held + data
        # surrogateescape marks each invalid byte: a U+FFFD that the program itself wrote is not counted
        text, used = codecs.utf_8_decode(whole, "surrogateescape", is_last)
        self._held = whole[used:]
        genuine = text.count(REPLACEMENT)
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", REPLACEMENT)
        self.replaced += text.count(REPLACEMENT) - genuine
        return text
