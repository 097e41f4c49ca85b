# ruff: noqa: E501 - forms of the grammar stand side by side
"""Texts for the oracle: this module generates shell texts of the judged subset, from a seed.

Every program is ``p``, so that a bash function can say what it was given. Words are made of quoting, known variables,
braces, tildes and quoted patterns; commands stand in lists, pipelines, loops, conditions, subshells, groups,
substitutions and behind redirects and here-documents.
"""

import random

PIECES = [
    *(
        "a",
        "b1",
        "-f",
        "--long=v",
        "é",
        "日",
        "=",
        ":",
        "/",
        ".",
        "..",
        ",",
        "%",
        "@",
        "#x",
        "+",
        "a-b",
        "x.y",
        "0",
        "12",
    ),
    *("'a b'", "''", "'*'", "'$x'", "'\"'", "'`'", "'\\'", "'a\nb'", "'\t'", "'!'", "'#'", "'~'", "'{a,b}'", "'-'"),
    *(
        '"c d"',
        '""',
        '"*?"',
        '"\\$x"',
        '"\\""',
        '"\\`"',
        '"\\\\"',
        '"a\\\nb"',
        '"\'"',
        '"!"',
        '"~"',
        '"[a]"',
        '"; p z"',
    ),
    *("\\ ", "\\*", "\\?", "\\$", "\\'", '\\"', "\\\\", "\\;", "\\&", "\\|", "\\(", "\\{", "\\#", "\\~", "\\!"),
    *("$'t\\tb'", "$'\\x41\\102'", "$'q\\'r'", "$'\\u00e9'", "$'n\\nl'"),
    *("$x", "${x}", '"$x"', '"${x}"', '"$y"', '"a${y}b"', '"$x$y"', "a$x", "\"$x\"'$x'"),
    *("{a,b}", "{1..3}", "{01..03}", "x{c,d}y", "{}", "{a}", "~", "~/z", "a~b", "a=~", "$((1+2))", '"$((3*4))"'),
]
WHOLE = [
    *("if", "then", "fi", "do", "done", "in", "time", "[[", "]]", "case", "{}", "[", "]", "a=b", "A+=c", "--", "-")
]
SUBSTITUTIONS = ["$(p i)", '"$(p j k)"', "`p l`", "<(true m)"]
TARGETS = ["/dev/null", "'/dev/null'", '"/dev/null"', "/dev/nul''l"]


def word(chance: random.Random) -> str:
    """One word."""
    if chance.random() < 0.1:
        return chance.choice(WHOLE)
    return "".join(chance.choices(PIECES, k=chance.choice((1, 1, 1, 2, 2, 3))))


def simple(chance: random.Random) -> str:
    """A simple command, with redirects and here-documents."""
    words = " ".join(word(chance) for _ in range(chance.randint(0, 4)))
    head = chance.choice(("p", "p", "p", "'p'", '"p"', "\\p"))
    text = f"{head} {words}".rstrip(" ") if not words.endswith("\\ ") else f"{head} {words}"
    form = chance.random()
    if form < 0.08:
        return f"{text} > {chance.choice(TARGETS)}"
    if form < 0.14:
        return f"{text} 2>&1 < {chance.choice(TARGETS)} z"
    if form < 0.2:
        return f"{text} <<< {word(chance)}"
    if form < 0.26:
        return f"{text} {chance.choice(SUBSTITUTIONS)}"
    return text


def command(chance: random.Random, depth: int = 0) -> str:
    """A command of any kind; nothing in it goes on for ever."""
    if depth > 2 or chance.random() < 0.45:
        return simple(chance)
    a, b = command(chance, depth + 1), command(chance, depth + 1)
    value = chance.choice(("lit", "'two words'", '"q$x"', "''", "a=b", "'*'"))
    return chance.choice(
        (
            f"{a}; {b}", f"{a} && {b}", f"{a} || {b}", f"{a} | {b}", f"{a}\n{b}", f"! {a}", f"( {a} )", f"{{ {a}; }}",
            f"if {a}; then {b}; else p no; fi", f"case w in w) {a};; *) {b};; esac", f"for i in {word(chance)} '2 3'; do p " + '"$i"; done',
            f"v={value}; p " + """"$v" 'x'"$v\"""", f"v={value} p k", f"[[ -n {chance.choice(('x', 'y', '$x'))} ]] && {a}", f"[[ a == 'a' ]] && {b}",
            f"while false; do {a}; done; {b}", f"until true; do {a}; done", f"p <<E\nbody $x\nE\n{a}", f"p <<-'E'\n\tbody $x\n\tE\n{b}",
            f'p "$({a})"', f"{a} # comment\n{b}", f"{a} |& {b}", f"time {a}", f"x={value}; {b}", f"p $(p inner) && {a}",
        )
    )  # fmt: skip


def text(chance: random.Random) -> str:
    """A whole text in which ``x`` and ``y`` are known."""
    return f"x=foo; y='a b'; {command(chance)}"
