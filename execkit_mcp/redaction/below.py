# ruff: noqa: E501 - a pattern or a row stands in one piece
r"""Lines that speak for the lines below them: the heads of tables, and announcements.

    name,user,password          Initial password:            $ vault print token
    prod,app,…                    …                          …

A rule marks such a line where it stands (a span of the kind ``MARK``, which hides nothing). ``Below`` walks the rows
that follow and remembers at the end of a region which table is still open, so that a cut between two rows changes
nothing. A row that does not fit its head ends the table.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.announced import PRINTERS, SECTIONS, Announcement, announced_on, announcement_of
from execkit_mcp.redaction.gate import gate_of_words
from execkit_mcp.redaction.names import Trust, is_secret
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.words import LITERALS, NAMED_LIKE_A_PASSWORD, NAMED_LIKE_A_SECRET

MARK = ""
"""The kind of a span that only says: look below."""

_TUPLE = "("
_SEPARATORS = "|\u2502\t,;"
_MAX_HEAD = 400
_MAX_ROW = 8192
_TABS = "\t\t"  # so many that cells stand below each other
_COPY = lazy_regex(r"COPY [\w.\"]{1,120} \((?P<names>[\w\", ]{1,300})\) FROM stdin;[ \t\r]*$")
_INSERT = lazy_regex(
    r"(?i)[ \t]*(?:insert(?: ignore)?|replace) into [\w.\"`\[\]]{1,100} ?\((?P<names>[\w\"`\[\], \t]{1,300})\)[ \t]*values[ \t\r]*$"
)
_ROW = lazy_regex(r"[ \t]*\((?P<row>(?:[^()'\n]|'(?:[^'\n\\]|''|\\.){0,4096}+')*+)\)[ \t]*[,;]?[ \t\r]*$")
_FIELD = lazy_regex(r"(?:'(?:[^'\n\\]|''|\\.){0,4096}+'|[^,'\n])+")
_NAME = lazy_regex(
    r"(?!(?:from|import|def|return|class|if|for|while|self) )[A-Za-z_][\w ./#-]{0,40}(?: ?\([\w %/]{1,16}\))?"
)
_COLUMNS: tuple[tuple[re.Pattern[str], Trust, str], ...] = (
    (lazy_regex(rf"(?i:(?:[\w .-]*[_ .-])?{NAMED_LIKE_A_PASSWORD}(?:[_ ](?:hash|plain|plaintext|value|text|\d))?|pass|pw|[a-z]{{1,20}}(?-i:Password|Passwd|Pass|Pwd))"), Trust.PASSWORD, "password"),
    (lazy_regex(rf"(?i:(?:[\w .-]*[_ .-])?(?:{NAMED_LIKE_A_SECRET}s?|secret[ _.-]?(?:access[ _.-]?)?key)(?:[_ ](?:base|value|\d))?)|[a-z]{{1,20}}(?:Secret|ApiKey|Key)"), Trust.SECRET, "secret"),
    (lazy_regex(r"(?i:(?:[\w .-]*[_ .-])?(?:token|tokens|bearer|jwt|cookie|session[ _.-]?key|totp|otp|otpauth|totp[_ ]?seed|mfa[_ ]?seed))|[a-z]{1,20}Token"), Trust.TOKEN, "token"),
)  # fmt: skip
_NAMES_A_SECRET = frozenset({"keyname", "secretname", "tokenname"})
_RULER = lazy_regex("[\\s|+:=\u2500-\u257f-]+")
_QUOTED = lazy_regex(r'"(?:[^"]|"")*"|[^",;\t|]*')
_OTHERS = (
    "[client.",
    "[mon.",
    "[mgr.",
    "[osd.",
    "[mds.",
    "user.login",
    "auth.login",
    "session.login",
    "[admins]",
    "[users]",
)
_FILES = (
    ".psk",
    ".pass",
    ".pw",
    "keyfile",
    "auth.txt",
    "auth.conf",
    "userpass",
    "user-pass",
    "login.txt",
    "login.conf",
    "pass.txt",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".key",
    ".p8",
    "privkey",
    "private.pem",
    "private-key.pem",
)
_WORDS = (*(word for kind in ("password", "secret", "token") for word in LITERALS[kind]), "cookie", "authkey", "keys create", "keygen", "genkey", "mnemonic", "totp", "stringdata:", "crypt' =>", *_FILES, *_OTHERS, *(f"{word}{end}" for word in SECTIONS for end in ('":', ":", "]", 'settings":', 'options":', 'config":', "settings:", "config:")), "seed phrase", "recovery phrase", "backup phrase", "seed words", "auth-user-pass",
    ".vault.azure.net/secrets/", "recovery code", "backup code", "scratch code", "requirepass", "masterauth", "keyname", "assword", "assphrase", "ugfzc3dvcmq6", "random_string", "random_id", "tls_private_key", '"type"', "$pass", "$pw", " pass ", "gopass ", "| pass", "|pass", ",pass", ";pass", "\tpass", "  pass", "| pw", "|pw", ",pw", ";pw", "\tpw", "  pw")  # fmt: skip
_HEAD_LINE = lazy_regex(
    "(?:>>>|==> |In |irb|>|Content-D|untrusted)|[\\w .#()/|\u2502\t,;\"'*`%$-]*+(?:\r?$)", re.MULTILINE
)
_BOOTSTRAP = lazy_regex(r"[a-z0-9]{6}\.[a-z0-9]{16}")
"""What ``kubeadm token list`` lists."""
_TOLD = lazy_regex(r"[$#%>\u276f] |334 |expect|(?:re)?set|ed\b")
_MARK_ENDS = frozenset(":{|>\\-\"',.])}[(;")


class Table(Struct, frozen=True):
    """What rows look like: cells between ``separator`` (two blanks: aligned), or what was announced."""

    separator: str = ""
    count: int = 1
    columns: tuple[tuple[int, Trust, str], ...] = ()
    rows: int = 1 << 30
    said: Announcement | None = None


def table_of(line: str) -> Table | None:
    """The table that ``line`` is the head of, if one of its columns holds secrets."""
    if len(line) > _MAX_HEAD:
        return None
    inserted = _INSERT.match(line)
    if inserted is not None:
        names = [name.strip(' \t"`[]') for name in inserted["names"].split(",")]
        return _table(_TUPLE, names)
    copied = _COPY.match(line)
    if copied is not None:
        line = copied["names"].replace(", ", "\t").replace(",", "\t")
    separator = _TABS if _TABS in line else next((one for one in _SEPARATORS if one in line), "  ")
    if separator not in line:
        return None
    cells = [text.strip(" \t\r\"'*`") for text, _ in _cells(line.lstrip("# "), separator)]
    if len(cells) < 2 or not all(_NAME.fullmatch(cell) for cell in cells):  # noqa: PLR2004 - one column is no table
        return None
    return _table(separator, cells)


def _table(separator: str, cells: list[str]) -> Table | None:
    """The table whose head has ``cells``, if one of them is named like a secret."""
    columns = tuple(
        (index, trust, kind)
        for index, cell in enumerate(cells)
        for pattern, trust, kind in _COLUMNS
        if pattern.fullmatch(cell) is not None
    )
    if any(cell.lower().replace(" ", "") in _NAMES_A_SECRET for cell in cells):
        columns += tuple((index, Trust.SECRET, "secret") for index, cell in enumerate(cells) if cell.lower() == "value")
    return Table(separator, len(cells), columns) if columns else None


def announced_by(line: str, *, is_printer: bool = True) -> Table | None:
    """What ``line`` announces for the lines after it."""
    said = announcement_of(line, is_printer=is_printer) if len(line) <= _MAX_HEAD else None
    return Table(rows=said.lines, said=said) if said is not None else None


def _cells(line: str, separator: str) -> list[tuple[str, int]]:
    """The cells of a row and where each starts; an outer pipe begins and ends no cell."""
    if separator == _TABS:
        return [(found[0], found.start()) for found in re.finditer(r"[^\t]+", line)]
    if separator == "  ":
        return [(found[0], found.start()) for found in re.finditer(r"\S+(?: \S+)*", line)]
    out: list[tuple[str, int]] = []
    at = 0
    while at <= len(line):
        end = -1
        if separator in ",;\t" and line.startswith('"', at):
            quoted = _QUOTED.match(line, at)
            end = line.find(separator, quoted.end() if quoted else at)
        else:
            end = line.find(separator, at)
        end = len(line) if end < 0 else end
        out.append((line[at:end], at))
        at = end + 1
    if separator in "|\u2502":
        out = out[bool(not out[0][0].strip()) : len(out) - bool(len(out) > 1 and not out[-1][0].strip())]
    return out


def _fields(line: str) -> list[tuple[str, int]]:
    """The fields of a row of ``INSERT … VALUES`` and where each starts."""
    row = _ROW.match(line)
    if row is None:
        return []
    return [(found[0], found.start()) for found in _FIELD.finditer(line, *row.span("row"))]


def _is_cell_secret(value: str, trust: Trust) -> bool:
    if " " in value or not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False  # a word in a table is more often about secrets
    return _BOOTSTRAP.fullmatch(value) is not None or is_secret(value, trust, "", is_quoted=False)


def secrets_of(table: Table, line: str) -> list[Span] | None:
    """The secrets of a row, with offsets in ``line``; None if it is no row of ``table``."""
    if len(line) > _MAX_ROW:
        return None
    if table.said is not None:
        return announced_on(table.said, line)
    if not line.strip():
        return None
    if _RULER.fullmatch(line) is not None:
        return []
    cells = _cells(line.rstrip("\r"), table.separator) if table.separator != _TUPLE else _fields(line)
    if len(cells) != table.count:
        return None
    spans: list[Span] = []
    for index, trust, kind in table.columns:
        text, at = cells[index]
        value = text.strip(" \t\"'`")
        if value and _is_cell_secret(value, trust):
            start = at + text.index(value)
            spans.append(Span(start, start + len(value), kind, value, Priority.STRUCTURE))
    return spans


class Below:
    """The state of one stream: the table that is open where its text stands."""

    __slots__ = ("_open", "_states", "_table")

    def __init__(self) -> None:
        self._table: Table | None = None
        self._open = ""  # the beginning of a line that was given out before its end came
        self._states: list[tuple[int, Table | None]] = []

    def copy(self) -> "Below":
        """The same state, free to be advanced."""
        other = Below()
        other._table, other._open = self._table, self._open
        return other

    @property
    def is_open(self) -> bool:
        """Whether a table is open where the next text starts."""
        return self._table is not None

    def skip(self) -> None:
        """The next text holds no head of a table, and none is open."""
        self._states = []

    def find(self, text: str, marks: Iterable[int]) -> Iterator[Span]:
        """Secrets in the rows below the lines that start at ``marks``, and in those of the table that is open."""
        self._states = [(0, self._table)]
        starts = sorted(set(marks))
        if self._table is not None:
            yield from self._walk(text, 0, starts[0] if starts else len(text), self._table)
        for index, start in enumerate(starts):
            end = text.find("\n", start)
            head = (self._open if start == 0 else "") + (text[start:] if end < 0 else text[start:end])
            stop = starts[index + 1] if index + 1 < len(starts) else len(text)
            table = self._row_of(head, start)
            if table is not None:  # it only reads like a head
                yield from self._walk(text, start, stop, table)
                continue
            table = table_of(head) or announced_by(head)
            if end < 0 or table is None:
                continue
            self._states.append((end + 1, table))
            yield from self._walk(text, end + 1, stop, table)

    def _row_of(self, line: str, start: int) -> Table | None:
        """The open table of which the line at ``start`` is a row with a secret."""
        at, table = self._states[-1]
        return table if table is not None and table.said is None and at == start and secrets_of(table, line) else None

    def _walk(self, text: str, at: int, stop: int, table: Table) -> Iterator[Span]:
        left = table.rows
        while at < stop:
            end = text.find("\n", at)
            is_whole = end >= 0
            end = end if is_whole else len(text)
            ahead = len(self._open) if at == 0 else 0
            spans = secrets_of(table, (self._open if at == 0 else "") + text[at:end]) if left > 0 else None
            if spans is None:
                if is_whole or left <= 0:
                    self._states.append((at, None))
                return
            if table.said is not None and not spans:
                table = structs.replace(table, said=structs.replace(table.said, skips=table.said.skips - 1))
            else:
                left -= 1
            for span in spans:
                start = span.start - ahead + at
                if span.end - ahead + at > at:
                    yield span._replace(start=max(start, at), end=span.end - ahead + at)
            at = end + 1
            self._states.append((at, structs.replace(table, rows=left)))
        self._states.append((at, structs.replace(table, rows=left)))

    def commit(self, decided: str) -> None:
        """``decided`` was given out: the next text follows it."""
        if not decided:
            return
        start = decided.rfind("\n") + 1
        self._table = next((table for at, table in reversed(self._states) if at <= start), None)
        line = (self._open if start == 0 else "") + decided[start:]
        self._open = line[:_MAX_ROW]
        if len(line) > _MAX_ROW:
            self._table = None


def _mark(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """Mark the line of a keyword if it speaks for the lines below it."""
    start = text.rfind("\n", 0, at) + 1
    if end - start > _MAX_HEAD:
        return
    is_told = text[max(start, end - 2) : end].rstrip(" \t\r")[-1:] in _MARK_ENDS or _TOLD.search(text, start, end)
    if not is_told and _HEAD_LINE.match(text, start, end) is None:
        return
    line = text[start:end]
    if announced_by(line, is_printer=False) is not None or table_of(line) is not None:
        yield Span(start, end, MARK, "", Priority.CONFIRMED)


def _printed(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """Mark the line of a command that prints a secret."""
    start = text.rfind("\n", 0, at) + 1
    if end - start <= _MAX_HEAD:
        yield Span(start, end, MARK, "", Priority.CONFIRMED)


_CLEAR = r"passw|passp|passc|pass[ _-]phrase|pwd|pswd|psw|secret|token|cred|jwt|bearer|cookie|(?:recovery|backup|scratch)[ ]code|mnemonic|senha|kennwort|contrase|wachtwoord|haslo|senord|passord|adgangskode|kodeord|heslo|lozinka|geslo|zaporka|ifre|parool|palavra|salasana|jelszo|parola|mot.de.passe|masterauth|assword|assphrase|preshared|\?\?"
"""A piece of each of the words: many gates hold it, so it is short."""
_SHORT = "pass|pw|key"
"""These count in running text only where no letter follows."""


def _words_gates() -> tuple[str, ...]:
    words, bordered = f"(?:{_CLEAR}|{_SHORT})", rf"(?:{_CLEAR}|(?:{_SHORT})[^a-z\n])"
    cells = r"[a-z0-9_ .#()/|\t,;\"'*`?$-]*"
    opened = r"[a-z0-9_.:\"'-]*\]?[ \t]*(?:[:=][ \t]*[a-z0-9_?]*[{\[(]|=>[ \t]*\[|:[ \t]*[|>][-+0-9]*|=\\|=>)[ \t\r]*$"
    prompt = r"(?:[$#%?>]|expect)"
    return (
        rf"^(?:>>>|in |irb|>|==>)[^\n]*{words}",
        rf"^{cells}{bordered}{cells}\r?$",
        rf"^{cells}(?:{_SHORT})\r?$",
        rf"{words}[^:\n]*:[ \t\r]*$",
        f"{words}{opened}",
        rf"{prompt}[^\n]*(?:{_CLEAR})[^\n]*$",  # once in a line, which may be question marks, as they look here
        rf"{prompt}[^\n]*(?:{_SHORT})[^a-z\n]",
        rf"{prompt}[^\n]*(?:{_SHORT})\r?$",
        rf"^[ \t]*[0-9]+\) \"[^\n]*{words}",
        rf"^/?[a-z0-9_.-]+/[^ \t\n]*{words}[a-z0-9_-]*[ \t\r]*$",
        r"keys?[ ]create|keygen|genkey|auth-?keys|mnemonic|(?:seed|recovery|backup)[ ](?:phrase|words)|auth-user-pass>|vault[.]azure[.]net/secrets/|untrusted comment|resource[ \t]+\"(?:random_|tls_private_key)|keyname(?:[\"'][ \t]*:|[ \t])|334 ugfz",
        rf"form-data;[^\n]*{words}",
        rf"{prompt}[^\n]*{gate_of_words(_FILES)}",
        rf"(?:{'|'.join(SECTIONS)})(?:settings|options|config)?[\"']?[ \t]*(?:[:\]=][ \t]*[{{]?|=>[ \t]*(?:\[|array\())[ \t\r]*$",
        gate_of_words(_OTHERS),
        r"stringdata:",
        r"<[a-z0-9_?:.-]*(?:password|passphrase|secret)>[ \t\r]*$",
        r"\"type\"[ \t]*:[ \t]*\"(?:random_|tls_private_key)",
        r"totp",
        r"\"type\"[^\n]*(?:secret|password|token|securestring)",
        rf"(?:name|key)[\"']?[ \t]*[:=][^\n]*{words}",
        rf"{words}[^\n]*(?:reset|generated|created|updated|changed|rotated)",
    )


RULES: tuple[Rule, ...] = (
    Rule(name="below:head", keywords=_WORDS, look=_mark, gate=_words_gates, is_of_line=True, is_behind=True),
    Rule(name="below:printed", keywords=PRINTERS, look=_printed, gate=lambda: gate_of_words(PRINTERS), is_of_line=True),
)
