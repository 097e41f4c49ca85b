"""Whether the right-hand side of a sensitive name is a secret, or a placeholder, a reference or code."""

import re

_PLACEHOLDER = re.compile(
    r"""
      [*.xX•#_?-]+ | x{3,}[-_ ]?.* | \*{3,}.*                      # masks
    | <[^<>]*> | \[[^\[\]]*\] | \{\{?[^{}]*\}?\}                    # <token> [token] {token} {{ token }}
    | %[sd(].* | %\w+% | @\w+@                                      # format strings
    | \$\{[^{}]*\}[;,]? | \$\(.*\)? | \$[A-Za-z_]\w* | \$\$?\{?\{.* # references
    | `.*
    | (?:!ref|!sub|!vault|!secret|env:|vault:|ssm:|op://|arn:|secretref:|valuefrom|ref\+).*
    | (?:your|my|the|some|insert|enter|add|put|replace|fake|dummy|sample|example|placeholder|redacted|masked|hidden)
      [-_ .]?\w*(?:[-_ .]\w+)*
    | change[-_]?(?:me|it|this)! | change[-_]?(?:me|it|this)
    | null|none|nil|undefined|unset|empty|true|false|yes|no|on|off|n/?a|tbd|todo|unknown|default|required|optional
    | missing|invalid|expired|incorrect|wrong|failed|denied|ok|set|not|is|was|has|for|and|or|from|to|in|of|with|must
    | string|str|text|bytes|int|integer|bool|boolean|number|any|object|array|list|dict|map|char|varchar\S*|opaque
    | password|passwd|passphrase|secret|token|key|apikey|api[-_]key|credentials?|prompt|ask|bearer|basic|digest
    | \[redacted:[^\]]*\]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DOCUMENTED = re.compile(r"[A-Za-z0-9/+_-]{0,60}EXAMPLE(?:KEY)?")
_CALL = re.compile(r"[A-Za-z_$][\w$.:>-]{0,80}(?:\(|\[(?:['\"\w]|$))")
_DOTTED = re.compile(r"[A-Za-z_$][A-Za-z_$]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z_]*)+;?")
_IDENTIFIER = re.compile(r"[A-Za-z][a-z]*(?:_[a-z]+)+;?|[a-z]+(?:[A-Z][a-z]+)+;?|[A-Z]+(?:_[A-Z]+)+")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+-]*(?:[/\\][\w.@+-]*)*")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s@]*", re.IGNORECASE)
_DIGEST = re.compile(r"(?:sha(?:1|256|384|512)|md5)[:-].*", re.IGNORECASE)
_MIN_RANDOM_CHARS = 16
_MAX_SEGMENT = 24


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret instead of being one."""
    if _PLACEHOLDER.fullmatch(value) is not None:
        return True
    return _DOCUMENTED.fullmatch(value) is not None


def is_reference(value: str) -> bool:
    """Whether ``value`` is code, a path, a URL without credentials or a digest."""
    return bool(
        _CALL.match(value)
        or _DOTTED.fullmatch(value)
        or _DIGEST.fullmatch(value)
        or _URL.fullmatch(value)
        or is_path(value)
    )


def is_path(value: str) -> bool:
    """Whether ``value`` is a file's path rather than base64 with slashes in it."""
    if _PATH.fullmatch(value) is None or len(value) < 2:  # noqa: PLR2004
        return False
    return not any(len(part) > _MAX_SEGMENT and is_random(part) for part in re.split(r"[/\\]", value))


def is_identifier(value: str) -> bool:
    """Whether an unquoted ``value`` reads like the name of a variable."""
    return _IDENTIFIER.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Whether ``value`` looks generated: long enough, with digits and letters."""
    return (
        len(value) >= _MIN_RANDOM_CHARS
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and " " not in value
    )
