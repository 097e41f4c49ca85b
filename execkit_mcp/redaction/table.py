"""All rules in one place, and the words that make a line worth a second opinion."""

from functools import cache

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction import below, cells, headers, keyblock, nearby, pairs, quoted, structured
from execkit_mcp.redaction.calls import CALLS
from execkit_mcp.redaction.chosen import CHOSEN
from execkit_mcp.redaction.commands import COMMANDS
from execkit_mcp.redaction.devices import DEVICES
from execkit_mcp.redaction.gate import Gates, gate_of_words, gates_of_words
from execkit_mcp.redaction.place import place_rule
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.shape import rule_of
from execkit_mcp.redaction.shapes import SHAPES
from execkit_mcp.redaction.surroundings import PLACES
from execkit_mcp.redaction.vendors import VENDORS

RULES: tuple[Rule, ...] = (
    *(rule_of(shape) for shape in SHAPES),
    *structured.RULES,
    *(place_rule(row) for row in (*PLACES, *COMMANDS, *VENDORS, *CALLS, *DEVICES, *CHOSEN)),
    *headers.RULES,
    *cells.RULES,
    *quoted.RULES,
    *nearby.RULES,
    *below.RULES,
    *pairs.RULES,
    *keyblock.RULES,
)

CONFIRM_WORDS: tuple[str, ...] = (
    "_key", "-key", "key=", 'key"', "key:", "key'", "password", "passwd", "secret", "token", "credential",
    "auth=", "auth:", "private", "apikey", "signature", "certificate_key", "contrasena", "service_pass",
)  # fmt: skip
"""Lower-case words; a line that holds one and that no rule decided is shown to the confirmers."""

_CONFIRM_GATE = (
    gate_of_words(CONFIRM_WORDS)
    + r"(?::[ \t\"']+[^ \t\n:\"']{8}|[^\n]*(?:(?:=|[^:]:)[\"' \t]*[^ \t\n:\"']{8}|[ \"'=:][a-z0-9+/_-]{20}))"
)
"""A confirmer believes only values of eight characters and more, or long runs of characters."""

CONFIRMED_LINE = lazy_regex(_CONFIRM_GATE)


def _several(gates: str | tuple[str, ...]) -> tuple[str, ...]:
    return (gates,) if isinstance(gates, str) else gates


@cache
def gates() -> Gates:
    """The expressions of the first stage."""
    quick = dict.fromkeys(gate for rule in RULES if not rule.is_behind for gate in _several(rule.gate()))
    every = (*dict.fromkeys((*quick, *(gate for rule in RULES for gate in _several(rule.gate())), _CONFIRM_GATE)),)
    words = {*CONFIRM_WORDS, *(word for rule in RULES if rule.is_behind for word in rule.keywords)}
    least = sorted(word for word in words if not any(other != word and other in word for other in words))
    return Gates(every, frozenset(range(len(quick), len(every))), gates_of_words(least))


@cache
def gates_of_rules() -> tuple[int, ...]:
    """For each rule the bits of the numbers of its gates."""
    numbers = {gate: number for number, gate in enumerate(gates().expressions)}
    return tuple(sum(1 << numbers[gate] for gate in set(_several(rule.gate()))) for rule in RULES)


@cache
def confirm_gate() -> int:
    """The number of the gate of lines that are shown to the confirmers."""
    return gates().expressions.index(_CONFIRM_GATE)


_MIN_OPEN = 3


@cache
def _prefixes() -> tuple[frozenset[str], int]:
    words = {word for shape in SHAPES if not shape.lead_chars for word in shape.keywords if len(word) >= _MIN_OPEN}
    return frozenset(words), max(map(len, words))


def is_open_token(token: str) -> bool:
    """Whether ``token``, the unfinished end of a line, may be the beginning of a vendor's token."""
    if len(token) < _MIN_OPEN:
        return False
    low = token.lower()
    words, longest = _prefixes()
    starts = any(low[:size] in words for size in range(_MIN_OPEN, min(longest, len(low)) + 1))
    return starts or any(word.startswith(low) for word in words)
