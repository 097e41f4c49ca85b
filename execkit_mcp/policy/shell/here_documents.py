r"""Here-documents: this module is where a body ends and how it becomes a here-string.

A here-string appends a newline and expands nothing that a here-document does not, so ``cat <<E`` with the
body ``x\\n`` is ``cat <<< x``. The canonical text thereby never holds a here-document; bash misreads some
of those inside substitutions.
"""

from msgspec import Struct
from msgspec.structs import force_setattr

from execkit_mcp.policy.shell.braces import Mark, RawWord
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.tree import Glob, Literal, Part, Redirect, Tilde, Word


class HereDocument(Struct, frozen=True):
    """A here-document whose body has not been read yet."""

    redirect: Redirect
    delimiter: str
    is_stripped: bool
    is_quoted: bool
    position: int

    def complete(self, operator: str, target: Word) -> None:
        """Fill in the redirect: it stands in the tree already, and nobody has seen the tree yet."""
        force_setattr(self.redirect, "operator", operator)
        force_setattr(self.redirect, "target", target)


def delimiter(raw: RawWord | None, written: str) -> str | None:
    """The delimiter that a raw word stands for; None if it is none or not a plain one."""
    if raw is None or any(character in written for character in "$`\n"):
        return None
    pieces: list[str] = []
    for part in raw:
        if isinstance(part, Mark):
            pieces.append(part.value)
        elif isinstance(part, Literal | Glob):
            pieces.append(part.text)
        elif isinstance(part, Tilde):
            pieces.append("~" + part.user)
        else:
            return None
    return "".join(pieces)


def body_lines(source: str, start: int, document: HereDocument) -> tuple[str, int] | None:
    """The body that begins at ``start`` and where the text goes on behind it; None if it never ends.

    In an unquoted here-document bash joins continued lines before it looks for the delimiter.
    """
    lines: list[str] = []
    position = start
    while position < len(source):
        line = ""
        while True:
            end = source.find("\n", position)
            piece = source[position:] if end < 0 else source[position:end]
            position = len(source) if end < 0 else end + 1
            line += piece
            backslashes = len(piece) - len(piece.rstrip("\\"))
            if document.is_quoted or backslashes % 2 == 0 or end < 0:
                break
            line = line[:-1]
        if document.is_stripped:
            line = line.lstrip("\t")
        if line == document.delimiter:
            return "".join(lines), position
        lines.append(line + "\n")
    return None


def without_last_newline(parts: list[Part]) -> tuple[Part, ...] | None:
    """The parts less the newline that a here-string adds; None if they do not end in one."""
    last = parts[-1]
    if not isinstance(last, Literal) or not last.text.endswith("\n"):
        return None
    text = last.text[:-1]
    return (*parts[:-1], literal(text)) if text else tuple(parts[:-1])
