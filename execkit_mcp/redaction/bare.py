"""Unquoted values behind the name of a secret: where they end, and which are code, types or sentences."""

import re

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.names import Trust
from execkit_mcp.redaction.value import is_identifier, is_phrase, is_prompt, is_wordy

MAX_NAME = 40
"""So far a name is looked for to the left of its word."""
_QUERY_NAME = lazy_regex(r"[?&][\w.%-]*\Z")
_BARE_LITERAL = lazy_regex(r"(?:-?\d[\d.]*(?:[eE][+-]?\d+)?|true|false|null)(?=[,}\]])")
_NEXT_PAIR = lazy_regex(r"[;,](?=[\w.-]{1,40}[=:])")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_SENTENCE = lazy_regex(r"(?:[ \t]+[\w'{}<>\u00c0-\uffff-]+){2}")
_DOTTED_NAME = lazy_regex(r"(?:^|\n)[ \t]*(?:[\w-]+\.)+[\w-]*\Z")
_PROPERTY = lazy_regex(r"(?:^|\n)[ \t]*[\w.-]*\Z")
_ENCODED_WORD = lazy_regex(r"(?:=?[C-F][0-9A-F]=[89AB][0-9A-F])")
"""A letter beyond ASCII as mails hold it: ``zur=C3=BCck``."""
_COMMENT = lazy_regex(r"(?:^|\n)[ \t]*(?:[#;]|//|--)[#; \t]*[\w.-]*\Z")
MORE_WORDS = lazy_regex(r"[ \t]+[^\s#,;/\"'})\]]")
_NEXT_FIELD = lazy_regex(r"[A-Z][A-Za-z0-9]{0,40}:\S")
_UNPACKED = lazy_regex(r"\w, ?[\w.]{0,40}\Z")  # user, password = …
_TYPE = lazy_regex(r"(?:\w{1,40}\.)?(?:[A-Z]+[a-z]*\d{0,3}){1,6}|(?:[a-z]{1,12}\.)?(?:str|bytes)")
_AFTER_A_TYPE = frozenset(",)=")
_PLAIN_TYPE = lazy_regex(r"[A-Z][a-z]+(?:[A-Z][a-z]+){0,6}")
_AFTER_A_PLAIN_TYPE = frozenset(";<|[")
_MINIFIED = lazy_regex(
    r"!{1,2}(?:[01](?!\w)|[\w$]*\.)|\+\w\)|case\"|(?:true|false|null|void|undefined)(?:[,;)}\"]|\?\?|==)|[\w$]{1,40}==(?!$)|[\w$]{1,40};(?:if|for|return|var|let|const|this)\b"
    r"|[A-Za-z_$][\w$.]{0,60}(?:[+-]\d{1,2})?(?:[)}\]]{1,3}[,;=.]|[)}\]]{2,8}[,;=.:?]|\}{1,3}[a-z]{2,10}(?:\W|$))|[\w$]{1,3},[\w$]{1,3}\.\w+\}|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+(?:\?\?|\|\||&&|,[\w$]+\.)"
    r"|[A-Za-z_$][\w$]{0,20}[+-]\d{1,2}(?:[;,)}\]]|$)"
)
"""How a value goes on where code has no blanks."""
_OPENS_MORE = frozenset({'{"', "{'", '["', "['", "{\\"})
_VARIABLE = lazy_regex(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*")
_TYPED = lazy_regex(
    r"_{0,2}(?:[A-Z][A-Za-z_]*|[a-z]+(?:[A-Z][A-Za-z_]*|__\w+)|string)(?:\d|(?:8|16|32|64)(?:Array|_t))?"
)
_CONSTANT = lazy_regex(r"\d{1,6}|0x[0-9a-fA-F]{1,8}")
_CAMEL = lazy_regex(r"[a-z]+(?:[A-Z][a-z]+)+")
_SNAKE = lazy_regex(r"[a-z]+\d?(?:_(?:[a-z]+\d?|\d{1,2}))+")
_QUOTES = frozenset("\"'`")
_OPENERS = frozenset("([")
_AFTER_A_VARIABLE = frozenset({",", ")", "}", "\n", ""})
_AFTER_AN_ARGUMENT = frozenset(",)")
_OPERATOR = lazy_regex(r"[ \t]+(?:&&|\|\||\?\?|===?)[ \t]")
_OBJECT = lazy_regex(r"[a-z]{2,20}(?:-[a-z]{2,20}){1,2}")
_GROUPED = lazy_regex(r"[a-z]{4}(?: [a-z]{4}){3}(?=[ \t\r]*(?:$|\n|#))")
"""A password for one application, as a provider of mail shows it."""
_META = lazy_regex(r"[A-Z\u00c0-\u00de]{3,16}(?:\\f[BIRP])?")
"""What manuals call a value."""
_OPTION = lazy_regex(r"(?:^|[\s\[(,|])(?:\\f[BIRP])?\\?-{1,2}[\w\\-]*\Z")
_MAX_SCHEME_PART = 5
_MIN_BEFORE_WORDS = 3


def bare_end(text: str, start: int, end: int, name_at: int) -> int:
    """Where the unquoted value that starts at ``start`` ends."""
    value = text[start:end]
    if ("&" in value or "#" in value or ";" in value) and _QUERY_NAME.search(text, max(0, name_at - 64), name_at):
        value = re.split(r"[&#;]", value, maxsplit=1)[0]
    pair = _NEXT_PAIR.search(value) if "," in value or ";" in value else None
    if pair is not None:
        value = value[: pair.start()]
    while value and (value[-1] in ",;" or (value[-1] in _CLOSERS and _CLOSERS[value[-1]] not in value)):
        value = value[:-1]
    return start + len(value)


def _default(text: str, start: int, stop: int, name_at: int) -> tuple[int, int]:
    """Where the default of ``${PASSWORD:-default}`` stands, if that is what the value is."""
    if text[start] not in "-=+" or text.rfind("${", max(0, name_at - MAX_NAME), name_at) < 0:
        return start, stop
    end = text.find("}", start, stop)
    return start + 1, stop if end < 0 else end


def _is_bare_code(value: str, trust: Trust, sep: str, *, is_spaced: bool, is_env: bool) -> bool:
    """Whether an unquoted ``value`` after ``sep`` is code or a comment rather than a value."""
    is_password = trust is Trust.PASSWORD
    if "}/" in value or (sep == ":" and is_spaced and _NEXT_FIELD.match(value) is not None):
        return True  # src/{token1 => token2}/a; {Password: User:app}
    if sep == "==" or (is_spaced and value.startswith("#")) or (not is_env and _MINIFIED.match(value) is not None):
        return True
    if value[:2] in _OPENS_MORE or (value[:1] == "{" and sep == "=>"):
        return True  # {"type": "string"}
    if value[:1] in {"[", "(", "{"} and (not is_password or (is_spaced and sep != ":")):
        return True
    if (
        sep == ":"
        and not is_spaced
        and ((value.isalpha() and len(value) <= _MAX_SCHEME_PART) or value.startswith("chauthtok)"))
    ):
        return True  # passwd:uid
    return is_spaced and sep != ":" and (is_identifier(value) or (not is_password and value.isalpha()))


def _is_type(bare: str, following: str, trust: Trust) -> bool:
    """Whether ``bare``, behind a colon, is a type: ``password: str,``."""
    return (following in _AFTER_A_TYPE and _TYPE.fullmatch(bare) is not None) or (
        following in _AFTER_A_PLAIN_TYPE and trust is not Trust.PASSWORD and _PLAIN_TYPE.fullmatch(bare) is not None
    )


def _is_translation(text: str, at: int, stop: int, end: int, tail: str) -> bool:
    """Whether a sentence is assigned to a name with dots: ``errors.password.short=The password is too short``."""
    line = text[text.rfind("=", at, stop) + 1 : min(end, stop + 200)].strip()
    if is_phrase(line) and is_prompt(line):
        return True
    if _SENTENCE.match(text, stop, end) is None and not is_prompt(line) and not is_phrase(line):
        return False
    named = _PROPERTY if "." in tail else _DOTTED_NAME
    return named.search(text, max(0, at - 2 * MAX_NAME), at) is not None


def _is_commented(text: str, at: int, bare: str) -> bool:
    """Whether a word is what a line that is commented out gives: ``;admin_password = admin``."""
    return bare.isalpha() and _COMMENT.search(text, max(0, at - 2 * MAX_NAME), at) is not None


def _is_named_in_code(bare: str, following: str, found: re.Match[str]) -> bool:
    """Whether ``bare`` is a variable: ``"password": new_pw,`` or ``login(password=new_pw)``."""
    if following == ";":  # a type, a constant, a variable
        is_type = found["sep"] == ":" and _TYPED.fullmatch(bare) is not None
        line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
        is_spaced = found.end() > found.end("sep") and ";" not in line[-200:]  # in a connection string it is a value
        return is_type or (
            found["sep"] == "=" and is_spaced and (bare.isalpha() or _CONSTANT.fullmatch(bare) is not None)
        )
    if following in _AFTER_AN_ARGUMENT and found["sep"] == ":" and _CAMEL.fullmatch(bare) is not None:
        return True
    if found["sep"] == ":":
        is_code = bare[:1] in _OPENERS or _VARIABLE.fullmatch(bare) is not None
        return found["close"] in _QUOTES and is_code and following in _AFTER_A_VARIABLE
    return found["sep"] == "=" and following in _AFTER_AN_ARGUMENT and _SNAKE.fullmatch(bare) is not None


def _is_object(text: str, at: int, bare: str, following: str, found: re.Match[str]) -> bool:
    """Whether a log names a Secret: ``secret=web-db namespace=prod``."""
    is_alone = not found["tail"] and found["sep"] == "=" and not found["close"] and text[at - 1 : at] in {"", " ", "\n"}
    return is_alone and following in {"", " ", "\n"} and _OBJECT.fullmatch(bare) is not None


def bare_value(
    text: str, at: int, bounds: tuple[int, int, int], trust: Trust, found: re.Match[str]
) -> tuple[int, int] | None:
    """Where the value stands that is assigned to the name of the word at ``at``; None: it is no value.

    Args:
        text: all of it.
        at: where the word stands.
        bounds: where what follows the separator starts and stops, and where the line ends.
        trust: what the word says.
        found: the rest of the name and the separator.
    """
    start, stop, end = bounds
    start, stop = _default(text, start, stop, at)
    sep = found["sep"] or ""
    literal = _BARE_LITERAL.match(text, start, stop) if sep == ":" and found["close"] else None
    stop = bare_end(text, start, stop, at) if literal is None else literal.end()
    is_spaced = bool(sep) and found.end() > found.end("sep")
    grouped = _GROUPED.match(text, start, end) if trust is Trust.PASSWORD else None
    if grouped is not None and not is_wordy(grouped[0].replace(" ", "")):
        stop = grouped.end()
    is_sentence = is_spaced and MORE_WORDS.match(text, stop, end) is not None
    if is_sentence and (sep == ":" or stop - start < _MIN_BEFORE_WORDS):
        return None  # "password: must be changed"
    if text[start : start + 1] == "[" and text[start + 1 : stop].isalpha() and text[stop:end].strip():
        return None  # password: [use 'op item get …' to reveal it]
    if is_spaced and sep == "=" and _OPERATOR.match(text, stop, end) is not None:
        return None  # password = given && given.password
    bare = text[start:stop]
    if _META.fullmatch(bare) is not None and _OPTION.search(text, max(0, at - MAX_NAME), at) is not None:
        return None  # --password=FILE
    following = text[stop : stop + 1]
    is_word = sep == "=" and bare.strip("\u00bf\u00a1\"'\u00ab").replace("'", "").replace("\u2019", "").isalpha()
    if (
        (sep == ":" and _is_type(bare, following, trust))
        or (is_word and is_spaced and _UNPACKED.search(text, max(0, at - 80), at))
        or (is_word and _is_translation(text, at, stop, end, found["tail"]))
        or (sep == "=" and not is_spaced and _ENCODED_WORD.match(bare))
        or _is_bare_code(bare, trust, sep, is_spaced=is_spaced, is_env=text[at : at + 2].isupper())
        or (is_spaced and (found["tail"].endswith(bare) or _is_commented(text, at, bare)))
        or _is_named_in_code(bare, following, found)
        or (trust is Trust.SECRET and _is_object(text, at, bare, following, found))
        or (following == ">" and bare.endswith("="))  # an arrow
        or bare.rstrip(")];,") == text[at : at + len(bare)].rstrip("=)];,")
    ):
        return None  # token = auth_token, pwd=pwd
    return start, stop
