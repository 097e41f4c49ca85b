"""The three answers a policy can give, ordered so that ``max`` combines them."""

from enum import IntEnum, StrEnum
from typing import Final


class Verdict(IntEnum):
    """allow < ask < deny: the strictest part decides the whole."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        """The lower-case word of YAML, JSON, audit and docs."""
        return self.name.lower()

    @classmethod
    def from_word(cls, word: str) -> "Verdict":
        """The verdict named by ``word``; raises KeyError for any other word."""
        return cls[word.upper()]


# Named for themselves: a member looked up through its class costs four times as much (CPython 3.11).
ALLOW: Final = Verdict.ALLOW
ASK: Final = Verdict.ASK
DENY: Final = Verdict.DENY


class ReasonCode(StrEnum):
    """Why a decision is what it is; a code never changes its meaning."""

    RULE = "policy.rule"
    NO_RULE = "policy.no_rule"
    HAZARD = "policy.hazard"
    UNPARSED = "policy.unparsed"
    UNKNOWN_PROGRAM = "policy.unknown_program"
    UNKNOWN_FLAG = "policy.unknown_flag"
    DYNAMIC_WORD = "policy.dynamic_word"
    PATH_NEVER = "policy.path_never"
    PATH_READ = "policy.path_read"
    PATH_WRITE = "policy.path_write"
    NETWORK = "policy.network"
    ENV = "policy.env"
    REDIRECT = "policy.redirect"
    SHELL_STATE = "policy.shell_state"
    WRAPPER = "policy.wrapper"
    LIMIT = "policy.limit"
    FENCE = "policy.fence"
