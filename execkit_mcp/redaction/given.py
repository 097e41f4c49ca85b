# ruff: noqa: E501 - a pattern stands in one piece
"""Whether a value that stands near the name of a secret is that secret, by how it looks and how near it stands."""

from enum import Enum

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.names import Trust
from execkit_mcp.redaction.value import (
    UUID,
    is_algorithm,
    is_cipher,
    is_date,
    is_identifier,
    is_mingled,
    is_numbered,
    is_path,
    is_placeholder,
    is_random,
    is_reference,
    is_wordy,
)


class Distance(Enum):
    """What stands between a name and a value."""

    BESIDE = "beside"  # nothing but quoting, markup, a sign, a word like "is"
    NEAR = "near"  # a few words
    FAR = "far"  # words, numbers, other values


_MIN_CHARS = 6
_MAX_CHARS = 400
_MIN_NEAR = 8
_MIN_GENERATED = 12
_MIN_FAR = 20
_MIN_KEY = 16
_MAX_PART = 24
MIN_DIGITS = 14
_DIGIT = lazy_regex(r"\d")
_UNSPACED = lazy_regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{3}")
"""Of a sentence that parts no words."""
_LETTER = lazy_regex(r"[^\W\d_]")
_HEX_KEY = lazy_regex(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_DIGEST_LIKE = lazy_regex(
    r"(?:[A-Za-z0-9]+[-:/._])+[0-9a-f]{7,64}|[0-9a-f]+|[0-9A-F]+|[a-z0-9]+(?:[-:/.][A-Za-z0-9]+)+"
)
_WORDS_JOINED = lazy_regex(r"[A-Z][a-z]{2,20}[-_.!@#$%&*+]\w{2,20}\d{1,6}")
_NOT_ONE = lazy_regex(
    r"v?(?:\d+:)?\d+(?:[._-]\d+)+[\w.+-]*|[\d.,:/-]+[A-Za-z%]{0,6}|[A-Za-z][\w-]*-v?\d+(?:\.\w+)+|0[xX](?:[0-9a-fA-F]{1,16}|[0-9a-fA-F]{40})|[\w-]+[@:]v?\d[\d.]*[\w.-]*"  # versions, numbers
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)*|(?:[\w-]+\.)+[a-z]{2,12}(?::\d{1,5})?(?:/\S*)?|\w+(?:/[\w.-]+)+(?::[\w.-]+)?"  # mail, hosts, images
    r"|[\w./-]+\.\w{1,5}(?::\d+){1,2}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?:[0-9a-fA-F]{2}:){3,}[0-9a-fA-F]{2}"
    r"|(?:MI|AAAA|MFkwEw|MFYwEA|MHYwEA|MCowBQ)[A-Za-z0-9+/=]{20,}|ssh-\S+|SHA\d+:\S+|[A-Za-z_]\w*(?:\[\S*\]|\(\S*\)|\{\S*\}|->\S*|::\S*)\S*|-{1,2}[A-Za-z]\S*|[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+|[A-Z]+\d+|[a-z]+(?:-[a-z0-9]+)+|[a-z]{2,12}\d{0,3}(?:_[a-z]{1,12}\d{0,4}){3,}|system:\S+|(?i:ctrl|alt|shift|cmd|meta)\+\S+"
    r"|[\w.]*[a-z\d](?:Key|Token|Password|Secret|Credential|Auth|Error|Exception)s?"
)
_CODE = lazy_regex(
    r"A-Za-z|a-z0-9|0-9A-Z|[(){}\[\]<>\\]|^return!|^\$?[A-Za-z_.]+[+-]\d\Z|\$\{|%[sd]|&&|\|\||::|->|=>|:=|^[&*~/@-]|[:/]$"
)


def _is_varied(value: str) -> bool:
    return any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)


def _is_generated(value: str) -> bool:
    if len(value) < _MIN_GENERATED or is_wordy(value):
        return False
    return _is_varied(value) or is_random(value) or is_mingled(value)


def _is_key(value: str) -> bool:
    """Whether ``value`` looks generated even where only the word key speaks for it."""
    if _HEX_KEY.fullmatch(value) is not None:
        return True
    if is_wordy(value) or _DIGEST_LIKE.fullmatch(value) is not None:
        return is_mingled(value) and _is_varied(value)
    if "." in value and not is_mingled(value):
        return False
    return (len(value) >= _MIN_KEY and _is_varied(value)) or (is_mingled(value) and len(value) >= _MIN_NEAR)


def _is_base64(value: str) -> bool:
    """Whether ``value`` only looks like a path because it has slashes in it."""
    return "/" in value and any(len(part) > _MAX_PART and _is_varied(part) for part in value.split("/"))


def _is_none(value: str) -> bool:
    """Whether ``value`` is something else: a version, a path, code, a placeholder."""
    return bool(
        (_NOT_ONE.fullmatch(value) and not _is_base64(value))
        or (_CODE.search(value) and not _is_base64(value))
        or "://" in value
        or is_placeholder(value)
        or is_cipher(value)
        or is_date(value)
        or is_path(value)
        or is_identifier(value)
        or is_reference(value)
    )


def _is_chosen(value: str, *, is_quoted: bool) -> bool:
    """Whether ``value`` looks like a password that a person chose."""
    return is_numbered(value) or (is_quoted and _is_varied(value) and not is_algorithm(value))


def is_given(value: str, trust: Trust, distance: Distance, *, is_quoted: bool) -> bool:  # noqa: PLR0911 - a list of reasons
    """Whether ``value`` is what was named."""
    is_beside, is_password = distance is Distance.BESIDE, trust is Trust.PASSWORD
    least = _MIN_FAR if distance is Distance.FAR else _MIN_CHARS if is_beside else _MIN_NEAR
    if not value.isascii() and _UNSPACED.search(value) is not None:
        return False
    if not least <= len(value) <= _MAX_CHARS or _DIGIT.search(value) is None or " " in value:
        return False
    if trust is Trust.WEAK and not is_beside:
        return False
    if value.isdigit() or UUID.fullmatch(value) is not None:
        return is_beside and trust is Trust.TOKEN and len(value) >= MIN_DIGITS
    if _LETTER.search(value) is None or _is_none(value):
        return False
    if trust is Trust.WEAK:
        return _is_key(value)
    if _is_generated(value):
        return distance is not Distance.FAR or _is_varied(value)
    if distance is Distance.FAR or len(value) < _MIN_NEAR:
        return is_beside and is_password and is_quoted and is_mingled(value)
    is_taken_as_one = is_password and (is_quoted or is_beside) and _WORDS_JOINED.fullmatch(value) is not None
    return (
        is_taken_as_one or is_mingled(value) or (is_beside and is_password and _is_chosen(value, is_quoted=is_quoted))
    )
