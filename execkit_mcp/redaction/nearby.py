# ruff: noqa: E501 - a pattern stands in one piece
r"""Secrets that stand somewhere behind the name of one, whatever stands between: quotes, markup, a cell border, a few words.

    <td>DB_PASSWORD</td><td>…</td>      db.setPassword("…");      token for deployments is now …

The other rules know formats; this one knows names and values. From the name it goes on word by word, and judges each: the more words stood between, the more a value must look generated. A word that speaks of something
else (``digest``, ``commit``, ``expires``) ends the walk.

A rule only marks the names; ``Nearby`` walks on from them, on a budget of steps that the text itself earns: a step for
every so many characters, some of them saved up. So a flood of names costs no more than other text. Where the budget is
spent, everything on the rest of the line that could be a value is hidden without a look. What was earned depends on the
text alone, never on where a chunk ended, and only a line that passes the gate is charged.

Over 400 lines: names, the walk and what it costs are one idea; a fourth of it is tables of words.
"""

import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.given import MIN_DIGITS, Distance, is_given
from execkit_mcp.redaction.names import Trust
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.steps import MOST_LEFT, Steps
from execkit_mcp.redaction.structured import FOLDER, OF_GIT, is_public, is_type_name, speaks_about
from execkit_mcp.redaction.value import UUID, is_random, is_wordy
from execkit_mcp.redaction.words import GATE, LITERALS

_MOST_BEFORE = 40
_REACH = 240
_MOST_WORDS = 5
_MOST_OTHERS = 2

KEYWORDS: dict[str, Trust] = {
    word: Trust(kind) for kind in ("weak", "token", "secret", "password") for word in LITERALS[kind]
}
"""Lower-case words that name a secret, and how much they say about what follows."""

_OPEN_KEYS = lazy_regex(
    r"(?i:cache|public|pub|primary|foreign|partition|sort|idempotency|object|row|group|map|hash|lookup|s3|index|unique|dedup\w*|etag|translation|i18n|msg|message|state|resource|redis|host"
    r"|known|kms|file|query|search|bucket|record|cert|lock|metric|label|label_?set|dict|json|column|registry|hot|accelerator|return|enter|arrow|issue|build|config|store|route|feature|meta|ssh|gpg|pgp"
    r"|signer|verify|verification|verifying|site|publishable|anon|websocket|event|context|data_?set|checksum|digest|content|correlation|trace|tracking|session_?cache|kernel|module|apt|rpm)\Z"
)
"""What stands before ``_key`` in names of what everybody may know."""
_LONGEST_TAIL = 24
_TAIL = lazy_regex(r"[A-Za-z0-9_.-]{0,24}")
_CLOSE = lazy_regex(r"\\{0,3}[\"'`]?[ \t]{0,2}[\])]?")
_STEP = lazy_regex(
    r"(?P<markup><(?:!\[CDATA\[|/?[A-Za-z][^<>\n]{0,80}>)|\{ get;[^{}\n]{0,40}\}|(?<=: )(?:&\w{1,40}|!{1,2}\w{1,20})(?= )"
    r"|\[\d{1,3}\]|(?<=[ \t])(?:type|class|style|size|autocomplete|placeholder|maxlength|id)=\"[^\"<>\n]{0,80}\")"
    r"|\\{1,3}\"(?P<escaped>[^\"\\\n]{0,400})\\{1,3}\""
    r"|\"(?P<double>[^\"\n]{0,400})\"|'(?P<single>[^'\n]{0,400})'|`(?P<tick>[^`\n]{0,400})`"
    r"|(?P<bare>[^\s\"'`<>|\u2502\u2503,;&(){}\[\]=]{1,400}(?:={1,2}(?=[\s,;)\]}<]|$))?)"
    r"|(?P<mark>[\s|\u2502\u2503,()]+|[\"'`<>;&{}\[\]=])"
)
_CHOSEN = frozenset(
    {"secret", "creds", "credential"}
    | {f"{net}{gap}key" for net in ("wifi", "wlan", "wpa", "wep", "wireless", "network") for gap in " _-."}
)
"""These name values that people choose, as passwords are."""
_ENDS = frozenset(";&")
_END_OF_CELL = lazy_regex(r"</?(?:tr|br|li|p|div|h\d|ul|table)\b", re.IGNORECASE)
_JOINS = frozenset(
    [
        "is",
        "was",
        "are",
        "be",
        "set",
        "to",
        "as",
        "now",
        "=",
        ":=",
        ":",
        "::",
        "=>",
        "->",
        "→",
        "==",
        "string",
        "str",
        "text",
        "const",
        "val",
        "var",
        "let",
        "static",
        "final",
        "char",
        "*",
        "&",
        "&str",
        "type",
        "value",
        "default",
        "default_value",
        "values",
        "valuefrom",
        "hidden",
        "password",
        "secret",
        "token",
        "key",
        "end",
        "field",
        "opaque",
        "in",
        "the",
        "current",
        "for",
        "with",
        "new",
        "using",
        "used",
        "will",
        "equals",
        "a",
        "an",
        "of",
        "your",
        *(_ARE := ("\u00e9", "\u00e8", "es", "ist", "lautet", "est", "jest", "\u00e4r", "\u044d\u0442\u043e")),
    ]
)
"""Words that may stand between a name and its value without saying anything."""
_MOVES = frozenset(["for", "of", "with", "using", "used", "new", "in", "end", "field"])
_LEADS = frozenset(["is", "was", "are", "=", ":=", ":", "=>", "->", "→", "to", "now", "be", "as", *_ARE])
_OTHER_MATTERS = lazy_regex(
    r"(?:hash|hashed|hashes|digest|sha\d*|md5|fingerprint|checksum|commit|revision|rev|ref|ids?|(?:topic|client|user|group|tenant|object|subscription|resource|account|project|instance|key|message|order|customer|device|app|application)_?id|uuid|guid|public|version|expir\w*|length|len|size|count|line|file|path|port|pid"
    r"|username|host|url|uri|integrity|serial|etag|trace\w*|span|request\w*|sequence|accessor|issuer|algorithm|alg|kid|certificate|cert|image|took|tx|txn|txid|transaction|block|address|contract"
    r"|see|docs?|import|require|include|issue|because|instead|than|under|when|if|else|not|no|return|returns):?"
)
_ONLY_JOINS = _JOINS - {"type"}
_NAMES_OF_VALUES = _JOINS | {"val", "data", "content", "data-value", "plaintext", "result"}
_SHORT_ID = lazy_regex(r"[0-9a-f]{7,16}")
_COMMIT = lazy_regex(r"[0-9a-f]{40}")
_FINGERPRINT = lazy_regex(r"[0-9A-F]{40}")
"""What a key of PGP is called: ``new signing key 1988…``."""
_DIGEST = lazy_regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FUNCTION = lazy_regex(r"[A-Za-z_]\w*(?:[._][A-Za-z]\w*)+")
_A_NAME = lazy_regex(r"-{0,2}[a-z][\w.-]*", re.IGNORECASE)
_DIGEST_OF = lazy_regex(r"(?i:(?:sha|blake|md|sm|crc|ripemd|hmac|shake|keccak)[\w/-]{0,20}) ?\([^()\n]{0,60}\Z")
"""What stands before the name of a file whose digest is shown: ``SHA256(secrets.enc)= …``."""
_SEALED = lazy_regex(r"Ag[A-D][A-Za-z0-9+/=]{60,}")
_MAY_LEAD = lazy_regex(r"created|modified|updated|added|generated|issued|name|from|at|tag|type")
_WORD = lazy_regex(r"[A-Za-z][a-z']{0,13}:?|[^\W\d_](?:[^\W\d_A-Z]|['\u2019]){0,13}:?")
_SIGNS = lazy_regex(r"\W+")
_RUN = string.ascii_letters + string.digits + "+/_-"
_DIGIT = lazy_regex("[0-9]")
_LONG_RUN = 6
_KEY_ID = lazy_regex(r"[A-Z0-9]{16,24}")
"""What an access key is called, and everybody may know."""
_IN_RUN = r"[^ \t\r\n\f\v\"'`<>|,;&(){}\[\]=]"
_LONG_ENOUGH = lazy_regex(r"[^\s\"'`<>|,;&(){}\[\]=]{6,400}")
_LEAD = lazy_regex(r"\A(?:[:*\uff1a\uff1d]+|\.{3,}|(?!(?i:sha\d{0,3}|md5):)[A-Za-z][\w.-]{0,40}:(?=[^\s:/]{6}))+")
"""What may be glued to the front of a value: a sign, dots, the name of a user."""
_LIST = lazy_regex(r"[\"']?,[ \t]{0,4}[\"']?")
_SERIES = lazy_regex(r"[a-z]{2,20}s-\d{1,6}(?:[.-]\d{1,4}){0,3}")
"""Of ``.security-tokens-7`` and ``tokens-2026.03.03``, which are each one of many."""
_OF_SOURCES = lazy_regex(r"(?:vendor|packages|libs?|modules|src|deps|third_party|plugins|apps|services|submodules)/\Z")
_KEPT_UNDER = lazy_regex(
    r"(?::(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[\"']|\[[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\])"
)
"""``"token:b1c2…"``, what a cache keeps it under."""
_IN_TAG = lazy_regex(r"<[\w:.-]{0,60}\Z")
_REST_OF_TAG = lazy_regex(r"[^<>\n]{0,200}>")
_NAMES_VALUE = lazy_regex(
    r"(?i:value|val)[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?P<quote>[\"'])(?P<value>[^\"'\n]{4,400})(?P=quote)[ \t]{0,4}(?:,|(?i:where|and))[ \t]{0,4}[\"']?(?i:name|key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"'][\w.-]{0,60}\Z"
)
_MAX_BEFORE = 560
_MAX_NAME = 72
_IS_NAME = lazy_regex(r"(?i:name|key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"'][\w.-]{0,60}\Z")
_IS_VALUE = lazy_regex(r"[\"']?[ \t]{0,4}[:=]")
_COULD_BE = lazy_regex(r"\S{6,}")
"""What is hidden where no step is left, if there is a digit in it."""


_SHORT_WORD = 3
_CAMEL = frozenset({"key=", "key:", 'key"', "key'", "key>", "key(", "pat=", "pat:", 'pat"'})
_PATS = frozenset({"_pat", "-pat"})
_JOINERS = frozenset("_-./")
_OF_FOLDERS = frozenset({Trust.TOKEN, Trust.WEAK})


def _is_inside_word(text: str, at: int, after: int, word: str) -> bool:
    """Whether ``word`` at ``at`` is only a piece of a longer word (bypass, tokenizer, keyword)."""
    if word == "passwd" and text.startswith("ch", at - 2):
        return True
    if word in _CAMEL:
        return not (text[at].isupper() and at > 0 and text[at - 1].islower())  # pushKey=
    if word in _PATS and (text[after : after + 1].isalnum() or text[after : after + 1] in _JOINERS):
        return True
    if after - at <= _SHORT_WORD and text[at].islower() and not text[at:after].islower():
        return True  # OpsWorks
    if at == 0 or not (text[at - 1].isalpha() and text[at - 1].islower()):
        return False
    return not text[at].isupper() and word.startswith(
        ("pw", "psw", "creds", "jwt", "skey", "pat ", "senha", "mdp", "haslo", "parola")
    )


def _is_begun(text: str, after: int, word: str) -> bool:
    """Whether a longer word begins with ``word``: keychain, keyboard."""
    rest = text[after : after + 2]
    return word.endswith("key") and rest[:1].islower() and rest.rstrip(":= \"'") != "s"


def _is_in_blob(text: str, at: int, after: int) -> bool:
    """Whether the word only happens to stand in a longer run of characters that was made at random."""
    head = text[max(0, at - _MOST_BEFORE) : at]
    tail = text[after : after + _MOST_BEFORE]
    run = head[len(head.rstrip(_RUN)) :] + text[at:after] + tail[: len(tail) - len(tail.lstrip(_RUN))]
    return len(run) > after - at and (is_random(run) or len(run) > _MOST_BEFORE) and not is_wordy(run)


@lru_cache(maxsize=1024)
def _is_open_key(head: str) -> bool:
    return _OPEN_KEYS.search(head) is not None


def _before(text: str, at: int, trust: Trust, kind: str) -> Iterator[Span]:
    """The value of ``"value": "…", "name": "DB_PASSWORD"``, whose name stands at ``at``."""
    shift = max(0, at - _MAX_BEFORE)
    found = _NAMES_VALUE.search(text[shift:at])
    if found is not None and is_given(found["value"], trust, Distance.BESIDE, is_quoted=True):
        yield Span(found.start("value") + shift, found.end("value") + shift, kind, found["value"], Priority.CONFIRMED)


MARK = "~"
"""The kind of a span that only says: the name of a secret stands here."""


def _mark(_text: str, at: int, after: int, _end: int) -> Iterator[Span]:
    yield Span(at, after, MARK, "", Priority.CONFIRMED)


class _Name(NamedTuple):
    """The name of a secret: what its word says, and where the value may begin."""

    trust: Trust
    kind: str
    position: int  # -1: behind it there is none


def _name_at(text: str, at: int, after: int, end: int) -> _Name | None:
    """The name whose word stands at ``at``, if it is one."""
    head = text[max(0, at - 64) : at]
    word = text[at:after].lower()
    trust = KEYWORDS[word]
    kind = "key" if trust is Trust.WEAK else trust.value
    is_password = trust is Trust.PASSWORD
    if trust is Trust.WEAK and _is_open_key(head[-24:].rpartition(" ")[2]):
        return None
    if word in _CHOSEN:
        trust = Trust.PASSWORD
    if _is_inside_word(text, at, after, word) or (trust is Trust.WEAK and _is_begun(text, after, word)):
        return None
    if word in _CAMEL:
        after = at + _SHORT_WORD
    found = _TAIL.match(text, after, end)
    tail = found[0].rstrip(".-") if found is not None else ""
    position = after + len(tail)
    if found is not None and found.end() - after == _LONGEST_TAIL and text[found.end() : found.end() + 1].isalnum():
        return _Name(trust, kind, -1)  # what follows is still the name
    if (
        speaks_about(tail, is_password=is_password)
        or text[position : position + 1] in {"@", "#"}
        or (head[-1:] + text[after : after + 1] == "::" and head[-2:] != "::")
        or head.endswith(("checksum/", '"hashed_'))
        or OF_GIT.match(text, at) is not None
        or ("(" in head and _DIGEST_OF.search(head) is not None)
        or ("::" in head and is_type_name(text, at))
        or text.startswith(FOLDER, at)
        or tail.lower().endswith(("_id", "-id"))
        or _SERIES.fullmatch(word + tail) is not None
        or tail.endswith(("Id", "ID"))
        or (tail.startswith("-") and trust in _OF_FOLDERS and _OF_SOURCES.search(head) is not None)  # vendor/token-lib
        or _KEPT_UNDER.match(text, position, end) is not None
        or is_public(text, at)
        or _is_in_blob(text, at, position)
    ):
        return _Name(trust, kind, -1)
    is_tag = "<" in head and _IN_TAG.search(head) is not None
    close = (_REST_OF_TAG if is_tag else _CLOSE).match(text, position, end)
    return _Name(trust, kind, close.end() if close is not None else position)


class _Token(NamedTuple):
    """A word of a line, or what stands in quotes."""

    text: str
    start: int
    is_quoted: bool
    is_led: bool  # a sign such as ``=`` stands before it
    leads: bool  # a colon stands behind it
    is_name: bool = False  # what follows is its own value, jid=…, or encrypted, ENC[…
    is_call: bool = False  # EVP_aes_128_ecb()


def _tokens(text: str, position: int, stop: int) -> Iterator[_Token]:
    """What stands on the line up to ``stop``, as far as it may belong to one name."""
    is_led = False
    while (found := _STEP.match(text, position, stop)) is not None:
        position = found.end()
        group = str(found.lastgroup)
        token = found[group]
        if group == "mark" and token not in _ENDS:
            is_led = is_led or token == "="  # noqa: S105 - a sign
        elif group in {"mark", "markup"}:
            if group == "mark" or _END_OF_CELL.match(token) is not None:
                return
        elif group != "bare":
            if not token:
                return
            yield _Token(token, found.start(group), is_quoted=True, is_led=is_led, leads=False)
            is_led = False
        elif not token[0].isalnum() and _SIGNS.fullmatch(token) is not None:
            is_led = True
        else:
            kept = _LEAD.sub("", token) if ":" in token or token[0] in "*.\uff1a\uff1d" else token
            start = found.start(group) + len(token) - len(kept)
            kept = kept.rstrip(".,:!?*") or kept
            if "=" in kept.rstrip("="):
                return  # the next name
            sign = text[position : position + 1]
            is_name = (sign == "=" and _A_NAME.fullmatch(kept) is not None) or (sign in {"[", "("} and kept == "ENC")
            is_call = sign == "(" and _FUNCTION.fullmatch(kept) is not None
            yield _Token(kept, start, False, is_led or token[0] == ":", token.endswith(":"), is_name, is_call)
            is_led = False


class _Gap:
    """What was seen between a name and the place that is looked at."""

    __slots__ = ("_others", "_words", "distance", "is_led")

    def __init__(self) -> None:
        self.distance = Distance.BESIDE
        self.is_led = False
        self._words = self._others = 0

    def at(self, token: _Token) -> Distance:
        """How near the name is to ``token``."""
        is_led = self.is_led or token.is_led
        return Distance.BESIDE if is_led and self.distance is Distance.NEAR else self.distance

    def takes(self, token: _Token) -> bool:
        """Whether a value may still stand behind ``token``, which is none."""
        low = token.text.lower().lstrip("-")
        if (token.is_name and low not in _NAMES_OF_VALUES) or _SEALED.fullmatch(token.text) is not None:
            return False
        if low not in _ONLY_JOINS and (
            _OTHER_MATTERS.fullmatch(low) is not None
            or (not token.leads and token.text != "TYPE" and _MAY_LEAD.fullmatch(low) is not None)
        ):
            return False
        is_led = token.leads or low in _LEADS
        if low in _JOINS:
            if low in _MOVES:
                self.distance = Distance.NEAR
            self.is_led = is_led or (self.is_led and low not in _MOVES) or token.is_led
            return True
        if _SIGNS.fullmatch(low) is not None:
            return True
        if _WORD.fullmatch(token.text) is not None:
            self._words += 1
        else:
            self._others += 1
        self.is_led = is_led
        self.distance = Distance.FAR if self._others else Distance.NEAR
        is_text = token.is_quoted and " " in token.text
        return self._words <= _MOST_WORDS and self._others <= _MOST_OTHERS and not is_text


def _is_id(value: str, trust: Trust, distance: Distance) -> bool:
    """Whether ``value`` is what commits, keys and objects are called, as in ``created key [1f2e…]``.

    A sign must stand before such a one if it is a secret.
    """
    if distance is Distance.BESIDE:
        is_key = trust in {Trust.WEAK, Trust.SECRET} and _FINGERPRINT.fullmatch(value) is not None
        return (
            is_key
            or _SHORT_ID.fullmatch(value) is not None
            or (trust is Trust.WEAK and _COMMIT.fullmatch(value) is not None)
        )
    return (
        _SHORT_ID.fullmatch(value) is not None
        or _DIGEST.fullmatch(value) is not None
        or UUID.fullmatch(value) is not None
    )


def _walk(text: str, position: int, stop: int, trust: Trust, steps: Steps) -> Iterator[_Token]:
    """The value, or the list of values, that belongs to a name which ends at ``position``."""
    gap = _Gap()
    last: _Token | None = None
    for token in _tokens(text, position, stop):
        if last is not None and _LIST.fullmatch(text, last.start + len(last.text), token.start) is None:
            return
        if not steps.spend(1):
            return
        distance = gap.at(token)
        is_led = token.is_led or gap.is_led or (token.is_quoted and distance is Distance.BESIDE)
        if (
            not token.is_call
            and (is_led or not _is_id(token.text, trust, distance))
            and is_given(token.text, trust, distance, is_quoted=token.is_quoted)
        ):
            yield token
            last = token  # more of them may follow
        elif last is not None or not gap.takes(token):
            return


class Nearby:
    """The state of one stream: how many steps its text has earned and not spent."""

    __slots__ = ("_left", "_states")

    def __init__(self) -> None:
        self._left = MOST_LEFT
        self._states: list[tuple[int, int]] = []  # how much was left where

    def copy(self) -> "Nearby":
        """The same state, free to be advanced."""
        other = Nearby()
        other._left = self._left
        return other

    def skip(self) -> None:
        """The next text holds no name."""
        self._states = []

    def commit(self, decided: int) -> None:
        """``decided`` characters were given out: the next text follows them."""
        at, left = 0, self._left
        if self._states:
            at, left = next(((at, left) for at, left in reversed(self._states) if at <= decided), (0, left))
        self._left = min(MOST_LEFT, left + decided - at)
        self._states = []

    def find(self, text: str, marks: Iterable[tuple[int, int]]) -> Iterator[Span]:
        """Values that stand near the words at ``marks``: where each begins and ends."""
        self._states = []
        steps = Steps(self._left, 0)
        run = end = -1  # the next run of characters that may be a value; the end of the line
        hidden = 0  # up to here everything is hidden
        for at, after in sorted(marks, key=itemgetter(1, 0)):
            if at < hidden:
                continue
            if at >= end:
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                run = -1
            if run < after:
                run = _next_run(text, after, end)
            is_behind, is_reversed = run < after + _REACH, _is_reversed(text, at)
            if not is_behind and not is_reversed:
                continue
            steps.earn(after)
            if steps.spend(1 + 2 * is_reversed):
                yield from _values(text, at, after, end, steps, is_behind=is_behind, is_reversed=is_reversed)
            if steps.left < 0:
                steps.left, hidden = 0, end
                yield from _unread(text, max(text.rfind("\n", 0, at) + 1, at - _MAX_BEFORE) if is_reversed else at, end)
            self._states.append((after, steps.left))


def _values(
    text: str, at: int, after: int, end: int, steps: Steps, *, is_behind: bool, is_reversed: bool
) -> Iterator[Span]:
    """What belongs to the name whose word stands at ``at``."""
    name = _name_at(text, at, after, end)
    if name is None:
        return
    if is_reversed:
        yield from _before(text, at, name.trust, name.kind)
    if is_behind and name.position >= 0:
        is_id = "access" in text[at:after].lower()
        for token in _walk(text, name.position, min(end, name.position + _REACH), name.trust, steps):
            if is_id and _KEY_ID.fullmatch(token.text) is not None:
                continue
            yield Span(token.start, token.start + len(token.text), name.kind, token.text, Priority.CONFIRMED)


def _unread(text: str, first: int, end: int) -> Iterator[Span]:
    """Everything that may be a value."""
    for found in _COULD_BE.finditer(text, first, end):
        if _DIGIT.search(found[0]) is not None:
            yield Span(*found.span(), "unread", found[0], Priority.CONFIRMED)


def _is_reversed(text: str, at: int) -> bool:
    """Whether a value may stand before the name whose word stands at ``at``: value="…" name="…"."""
    found = _IS_NAME.search(text, max(0, at - _MAX_NAME), at)
    named = text.rfind("alue", max(0, at - _MAX_BEFORE), found.start()) if found is not None else -1
    return named >= 0 and _IS_VALUE.match(text, named + len("alue")) is not None and text.find("\n", named, at) < 0


def _next_run(text: str, at: int, end: int) -> int:
    """Where the next run of characters stands that could be a value; far away if there is none."""
    while (found := _LONG_ENOUGH.search(text, at, end)) is not None:
        run = found[0]
        if _DIGIT.search(run) is not None and (not run.isdigit() or len(run) >= MIN_DIGITS):
            return found.start()
        at = found.end()
    return end + _REACH + 1


_RUN_GATE = "|".join(_IN_RUN * at + "[0-9]" + _IN_RUN * (_LONG_RUN - 1 - at) for at in range(_LONG_RUN))
"""As many characters as a value has at least, and a digit among them."""
RULES: tuple[Rule, ...] = (
    Rule(
        name="nearby:value",
        keywords=tuple(KEYWORDS),
        look=_mark,
        is_behind=True,
        gate=lambda: (
            rf"{GATE}[^\n]*(?:{_RUN_GATE})[^\n]*$",
            r"val(?:ue)?[\"']?[ \t]*[:=][^\n]*(?:name|key)[\"']?[ \t]*[:=][ \t]*[\"'][a-z0-9_.-]*" + GATE,
        ),
    ),
)
