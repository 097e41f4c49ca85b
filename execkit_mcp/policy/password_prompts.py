r"""What a program in raw mode asks for; this module reads it from the line that the cursor is on.

Where the kernel collects lines and echoes nothing, a password is read (``TerminalState.is_reading_password``). A
program that reads single keys (a mask of ``*``, a form on the whole screen) looks like any editor to the kernel; what
it shows before the cursor is all there is to go by.
"""

from typing import Final

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.policy.readers import Kind, reader_of

__all__ = ["asks_for_password", "may_ask"]

_FAR: Final = 400
_KINDS: Final = frozenset({Kind.OTHER, Kind.CARRIER})
_BEFORE_MORE: Final = (
    r"pass[ -]?(?:word|phrase|code|wd)s?|passwd|pwd|pin(?:[ -]code)?|otp|credentials|"
    r"pass?wort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|parola|пароль|密码|密碼|パスワード|비밀번호"
)
_AT_END: Final = (
    r"secret|token|(?:api|access|secret|private|license)[ -]?key|(?:verification|recovery|one[ -]time)[ -]code"
)
_HINT: Final = r"(?:\s*(?:\([^)\n]{0,60}\)|\[[^\]\n]{0,60}\]))?"
_MASK: Final = r"[\s\u2502|]{0,20}[*\u2022\u25cf\u00b7\u2219\u00d7x_-]{0,200}\s{0,200}"
_PROMPT: Final = lazy_regex(
    rf"(?i)(?:^|\W)(?:(?:{_BEFORE_MORE})(?![\w=]|[./]\w)[^\n?]{{0,60}}?|(?:{_AT_END}){_HINT})\s?"
    rf"(?:[:\uff1a>\u203a\u00bb\u276f\u25b8]|\[[^\]\n]{{0,30}}(?:hidden|mask)[^\]\n]{{0,30}}\]){_MASK}\Z"
)
_CHOICE: Final = lazy_regex(r"(?i)\by(?:es)?\s?/\s?n")


def may_ask(state: TerminalState) -> bool:
    """Whether what the terminal shows decides: single keys without echo, to a program that is no prompt or editor."""
    return (
        not (state.is_line_mode or state.has_echo or state.is_shell_in_front)
        and bool(state.front)
        and all(reader_of(each).kind in _KINDS for each in state.front)
    )


def asks_for_password(shown: str) -> bool:
    """Whether ``shown``, the text left of the cursor, asks for a password or the like.

    >>> asks_for_password("? Password: [input is masked] ****"), asks_for_password("│ Passphrase: ")
    (True, True)
    >>> asks_for_password("[sudo: authenticate] Password: ***"), asks_for_password("Save the password [y/N]: ")
    (True, False)
    """
    return _PROMPT.search(shown[-_FAR:]) is not None and _CHOICE.search(shown) is None
