"""Other spellings of one command that a shell would run all the same: the attacks of ``policy mutate``.

Two tables of ``variant_forms``. ``AROUND`` puts the whole text into something that runs it; ``WORDS`` spells
the words of a simple command differently. Rows that only hold for programs (not for builtins that change the
session) say so. Flags are moved, taken apart and spelled out only where the knowledge of the program reads the
variant as the same flags and operands. Nothing here is random: the same text gives the same variants, in the
same order.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge import Invocation, interpret, static
from execkit_mcp.policy.shell import tree
from execkit_mcp.policy.shell.builtins import BUILTINS, STATE_BUILTINS
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.quoting import is_plain
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER, Unparsed
from execkit_mcp.policy.variant_forms import AROUND, WORDS


class Variant(Struct, frozen=True):
    """Another spelling: which kind of trick, and the text."""

    kind: str
    text: str


def variants(text: str) -> Iterator[Variant]:
    """Every other spelling of ``text``, none twice."""
    seen = {text}
    for variant in _all(text):
        if variant.text not in seen and len(variant.text) < _MAX_CHARACTERS:
            seen.add(variant.text)
            yield variant


_MAX_CHARACTERS = 60_000


def _all(text: str) -> Iterator[Variant]:
    try:
        script: tree.Script | None = parse(text)
    except Unparsed:
        script = None
    argv = plain_words(script) if script is not None else None
    changes_session = script is not None and _changes_session(script)
    fields = _text_fields(text)
    for row in AROUND:
        if not (row.is_child and changes_session) and _fits_quotes(row.form, text):
            yield Variant(row.kind, _fill(row.form, fields))
    if argv is None:
        return
    yield from _of_words(argv, changes_session=changes_session)
    if not changes_session:
        yield from _of_flags(argv)
        yield from _of_paths(argv)


def _fill(form: str, fields: dict[str, str]) -> str:
    return form.format(**fields)


def _fits_quotes(form: str, text: str) -> bool:
    """Rows that put the text inside two kinds of quotes take only texts in which neither occurs."""
    return not ("{p}" in form or "{s}" in form) or not set("'\"\\$`!{}\n#%|") & set(text)


def _text_fields(text: str) -> dict[str, str]:
    data = text.encode("utf-8", "surrogatepass")
    as_hex = "".join(f"\\x{byte:02x}" for byte in data)
    return {
        "t": text,
        "q": _quoted(text),
        "b": b64encode(data).decode(),
        "x": f"'{as_hex}'",
        "h": as_hex,
        "p": text,
        "s": text,
    }


def _quoted(word: str) -> str:
    return word if is_plain(word) else "'" + word.replace("'", "'\\''") + "'"


def _joined(words: Sequence[str]) -> str:
    return " ".join(_quoted(word) for word in words)


# ── the words of a simple command ───────────────────────────────────────────────────────────────────────────


def _simple(script: tree.Script) -> tree.Simple | None:
    """The one simple command that the script is; None if it is anything else."""
    items = script.body.items
    if len(items) != 1 or items[0].is_background or items[0].command.rest:
        return None
    pipeline = items[0].command.first
    only = pipeline.commands[0]
    is_plain_pipeline = len(pipeline.commands) == 1 and not pipeline.negated and not pipeline.timed
    return only if is_plain_pipeline and isinstance(only, tree.Simple) else None


def plain_words(script: tree.Script) -> tuple[str, ...] | None:
    """Its words, if it is a simple command of nothing but plain words."""
    simple = _simple(script)
    if simple is None or simple.assignments or simple.redirects or not simple.words:
        return None
    words: list[str] = []
    for word in simple.words:
        if not all(isinstance(part, tree.Literal) for part in word.parts):
            return None
        words.append("".join(part.text for part in word.parts if isinstance(part, tree.Literal)))
    is_clean = all(HOSTILE_CHARACTER.search(word) is None for word in words)
    return tuple(words) if words[0] and is_clean else None


def _changes_session(script: tree.Script) -> bool:
    """Whether what is denied is a change of the session itself, which a child process could not make."""
    simple = _simple(script)
    if simple is None:
        return False
    if not simple.words:
        return bool(simple.assignments)
    head = simple.words[0].parts
    only = head[0] if len(head) == 1 else None
    return isinstance(only, tree.Literal) and only.text in STATE_BUILTINS


def _of_words(argv: tuple[str, ...], *, changes_session: bool) -> Iterator[Variant]:
    program, rest = argv[0], argv[1:]
    fields = {
        "a": _joined(argv),
        "p": _quoted(program),
        "p1": _quoted(program[:1]),
        "p2": _quoted(program[1:]) if program[1:] else "''",
        "ph": "".join(f"\\x{byte:02x}" for byte in program.encode()),
        "r": _joined(rest),
        "q": _quoted(_joined(argv)),
    }
    is_by_path = "/" in program
    for row in WORDS:
        if row.is_child and (changes_session or program in BUILTINS):
            continue
        if is_by_path and "bin/" in row.form:
            continue
        if not is_plain(program) and ("{p1}" in row.form or '"{p}"' in row.form or "\\{p}" in row.form):
            continue
        if row.kind in ("xargs", "ifs") and not all(is_plain(word) for word in rest):
            continue
        yield Variant(row.kind, _fill(row.form, fields).rstrip(" "))
    if len(argv) > 1 and all(is_plain(word) and "," not in word for word in argv):
        yield Variant("brace expansion", "{" + ",".join(argv) + "}")
        yield Variant("variable", f"x='{' '.join(rest)}'; {program} $x")
        yield Variant("variable", f"x='{' '.join(argv)}'; $x")
    for index, word in enumerate(rest, start=1):
        before, after = _joined(argv[:index]), _joined(argv[index + 1 :])
        for kind, spelled in _spellings(word):
            yield Variant(kind, f"{before} {spelled} {after}".rstrip(" "))
        yield Variant("variable", f'x={_quoted(word)}; {before} "$x" {after}'.rstrip(" "))
        yield Variant("command substitution", f"{before} $(printf %s {_quoted(word)}) {after}".rstrip(" "))


def _spellings(word: str) -> Iterator[tuple[str, str]]:
    """One word, quoted in other ways."""
    if not word:
        return
    if is_plain(word):
        yield "quoting", f"{word[:1]}''{word[1:]}"
        yield "quoting", f"'{word}'"
        yield "quoting", f'"{word}"'
        yield "escape", "".join(f"\\{character}" for character in word)
    yield "ansi-c", "$'" + "".join(f"\\x{byte:02x}" for byte in word.encode()) + "'"


# ── flags and paths, as the knowledge of the program reads them ────────────────────────────────────────────


def _read(argv: Sequence[str]) -> Invocation:
    return interpret(tuple(static(word) for word in argv))


def _meaning(found: Invocation) -> object:
    """What must stay the same: subcommand, flags in any order, operands in order, and no new doubt."""
    flags = sorted((use.names, use.value.text if use.value is not None else "") for use in found.flags)
    operands = [operand.text for operand in found.operands]
    return found.subcommand, flags, operands, len(found.problems)


def _of_flags(argv: tuple[str, ...]) -> Iterator[Variant]:
    """Flags moved, taken apart, joined, shortened and spelled out."""
    found = _read(argv)
    if not found.is_known:
        return
    meaning = _meaning(found)
    for kind, changed in _flag_changes(argv, found):
        if _meaning(_read(changed)) == meaning:
            yield Variant(kind, _joined(changed))


def _flag_changes(  # noqa: C901 - one way of changing after another
    argv: tuple[str, ...], found: Invocation
) -> Iterator[tuple[str, tuple[str, ...]]]:
    program, rest = argv[0], argv[1:]
    options = tuple(word for word in rest if word.startswith("-") and word not in ("-", "--"))
    others = tuple(word for word in rest if word not in options)
    names = {name: use.names for use in found.flags for name in use.names}
    yield "flag order", (program, *others, *options)
    yield "flag order", (program, *reversed(options), *others)
    yield "flag order", (program, *options, *others)
    yield "flag order", (program, *options, "--", *others)
    if len(others) > 1:
        yield "flag order", (program, others[0], *options, *others[1:])
    for index, word in enumerate(argv):
        if index == 0 or word not in options:
            continue
        before, after = argv[:index], argv[index + 1 :]
        spelled, equals, value = word.partition("=")
        for other in names.get(spelled, ()):
            if other != spelled:
                yield "long and short", (*before, other + equals + value, *after)
                if equals:
                    yield "long and short", (*before, other, value, *after)
        if equals:
            yield "attached value", (*before, spelled, value, *after)
        elif after and not after[0].startswith("-"):
            yield "attached value", (*before, f"{word}={after[0]}", *after[1:])
            yield "attached value", (*before, word + after[0], *after[1:])
        if word.startswith("--") and len(spelled) > len("--abc"):
            for length in (len(spelled) - 1, len(spelled) - 2, (len(spelled) + 2) // 2):
                yield "unique prefix", (*before, spelled[:length] + equals + value, *after)
        if word[0] == "-" and word[1] != "-" and len(word) > len("-a"):
            yield "clusters", (*before, *(f"-{letter}" for letter in word[1:]), *after)
            yield "clusters", (*before, "-" + word[:0:-1], *after)
        yield "repeated flag", (*before, word, word, *after)
    singles = [word for word in options if len(word) == len("-a")]
    if len(singles) > 1:
        joined = "-" + "".join(word[1] for word in singles)
        yield "clusters", (program, joined, *(word for word in rest if word not in singles))


def _of_paths(argv: tuple[str, ...]) -> Iterator[Variant]:
    """Paths that are read or written, by other ways to the same file."""
    touched = {
        effect.arg.text
        for effect in _read(argv).effects
        if effect.kind in (EffectKind.READ, EffectKind.WRITE) and effect.arg is not None
    }
    for index, word in enumerate(argv[1:], start=1):
        if word not in touched or not is_plain(word) or word.startswith("-"):
            continue
        before, after = _joined(argv[:index]), _joined(argv[index + 1 :])
        for spelled in _path_spellings(word):
            yield Variant("path", f"{before} {spelled} {after}".rstrip(" "))
        if argv[0] == "cat" and len(argv) == len(("cat", word)):
            yield Variant("path", f"cat < {word}")


_PATHS: tuple[Callable[[str, str], str], ...] = (
    lambda folder, base: f"{folder}/./{base}",
    lambda folder, base: f"{folder}//{base}",
    lambda folder, base: f"{folder}/{base[:-1]}?",
    lambda folder, base: f"{folder}/[{base[0]}]{base[1:]}",
    lambda folder, base: f"{folder}/{base[:1]}*{base[1:]}",
    lambda folder, base: f"{folder}/{{{base},none}}",
)


def _path_spellings(path: str) -> Iterator[str]:
    folder, slash, base = path.rpartition("/")
    if not slash:
        folder = "."
    # No bracket and no wildcard matches a leading dot (bash, "Filename Expansion"): such a spelling is another file.
    ways = [way for way in _PATHS if not base.startswith(".") or "[" not in way("", base)]
    if base and base not in (".", ".."):
        yield from (way(folder, base) for way in ways)
    if path.startswith("/"):
        yield f"/proc/self/root{path}"
        yield f"/..{path}"
        yield f"/{path}"
        first = path.split("/")[1]
        if folder:
            yield f"/{first}/..{path}"
            yield f"/{first}/../{path[1:]}"
        yield f"../../../../../../../../../../..{path}"
    elif not path.startswith("~"):
        yield f"./{path}"
        yield f"x/../{path}"
        yield f'"$PWD"/{path}'
