# ruff: noqa: E501 - forms of the grammar stand side by side
"""Texts for the oracle: this module generates shell texts of the judged subset, from a seed.

Every program is ``p``, so that a bash function can say what it was given, and in which folder. Words are made of
quoting, known variables, parameter operators, braces, tildes and quoted patterns; commands stand in lists, pipelines,
loops, conditions, subshells, groups, substitutions of all kinds and behind redirects and here-documents.

What changes the shell between two commands is the second half: assignments and folders, in every place where they may
not happen, happen in another process, or happen only sometimes (``CHANGES``, ``AROUND``). The folders ``d/e`` and ``f``
are there; descriptor 9 of a text is closed.
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
    *(
        "{a,b}",
        "{1..3}",
        "{01..03}",
        "x{c,d}y",
        "{}",
        "{a}",
        "~",
        "~/z",
        "a~b",
        "a=~",
        "$((1+2))",
        '"$((3*4))"',
        "$((v+1))",
        '"$((v * ($x+2)))"',
    ),
]
WHOLE = [
    *("if", "then", "fi", "do", "done", "in", "time", "[[", "]]", "case", "{}", "[", "]", "a=b", "A+=c", "--", "-")
]
SUBSTITUTIONS = [
    "$(p i)",
    '"$(p j k)"',
    "`p l`",
    "<(true m)",
    "$(p <<< s)",
    '"$(p `p n`)"',
    "$( (p o) )",
    "<(p q)",
    "$(p r # c\n)",
    '"$(<f/none)"',
]
TARGETS = ["/dev/null", "'/dev/null'", '"/dev/null"', "/dev/nul''l", "$n", '"$n"']
OPERATED = [
    *(
        "${x:-d e}",
        '"${x:-d e}"',
        '"${z:-d}"',
        "${z:+w}",
        '"${x:+w$x}"',
        "${#x}",
        '"${x:1:2}"',
        "${x: -1}",
        '"${x%o*}"',
        "${x##*o}",
    ),
    *(
        '"${x/o/0}"',
        "${y// /_}",
        "\"${y/#a/'q r'}\"",
        '"${x^^}"',
        "${x,}",
        '"${x/%o/"$y"}"',
        '"${y%%[ab]*}"',
        "${z-}",
        '"${z-"}"\'"\'',
    ),
]
REDIRECTS = [
    *(
        "> {t}",
        ">> {t}",
        ">| {t}",
        "2> {t}",
        "&> {t}",
        "&>> {t}",
        ">& {t}",
        "< {t}",
        "<> {t}",
        "3< {t}",
        "3<> {t}",
        "2>&1",
        ">&2",
    ),
    *(
        "3>&1 >&3",
        "2>&-",
        "<&-",
        "5>&9",
        "< f/none",
        "<<< 'h s'",
        '3<<< "$y"',
        "> >(cat)",
        "< <(p sub)",
        "<<E\nbody $x\nE",
        "<<-'E'\n\tq $x\n\tE",
    ),
]
VALUES = [
    "one",
    "'two words'",
    '"q$x"',
    "''",
    "a=b",
    "'*'",
    "$y",
    '"${v-}b"',
    "~",
    "a:~/b",
    "{a,b}",
    "$(p w)",
    "-n",
    "d",
]
NAMES = ["v", "w", "x"]
CHANGES = [
    *(
        "{n}={v}",
        "{n}+={v}",
        "{n}={v} w={v}",
        "{n}={v} p k",
        "unset {n}",
        "read {n} <<< {v}",
        "read {n} w <<< 'r s t'",
        "IFS=: read -r {n} w <<< a:b",
    ),
    *(
        "export {n}={v}",
        "export {n}",
        "printf -v {n} '%s' {v}",
        "printf 'ab%n' {n}",
        "printf '%s' {n}",
        "mapfile {n} < /dev/null",
        "{n}={v} read w <<< z",
    ),
    *(
        "{n}=({v} {v})",
        "{n}+=({v})",
        "{n}=()",
        '{n}=("${w[@]}" {v})',
        "{n}=({a,b}{1,2} '[0]=q' \\[x)",
        "read -ra {n} <<< 'r s t'",
        "mapfile -t {n} <<< {v}",
    ),
    *(
        "cd d",
        "cd d/e",
        "cd ..",
        "cd .",
        "cd f",
        "cd none",
        "cd -",
        "cd",
        "cd -- d",
        "cd -P d",
        "cd -LP f",
        'cd "${v-}"',
        "command cd d",
        "command -pp cd f",
    ),
    *(
        "builtin cd d",
        "command -v cd",
        "pushd d",
        "pushd f",
        "popd",
        "cd d && cd e",
        "cd none || cd f",
        "cd d/../f",
        "cd d > none/x",
        "cd d 5>&9",
        "c=cd; $c d",
    ),
]
AROUND = [
    *(
        "{c}",
        "{c}",
        "{c}",
        "{{ {c}; }}",
        "( {c} )",
        "{{ {c}; }} 5>&9",
        "{{ {c}; }} < f/none",
        "{c} 2> /dev/null",
        "if {c}; then {c2}; fi",
        "{c} && {c2}",
    ),
    *(
        "if true; then {c}; else {c2}; fi 5>&9",
        "if false; then {c}; else {c2}; fi",
        "if false; then {c}; elif {c2}; then p t; else {c}; fi",
        "{c} || {c2}",
    ),
    *(
        "case x in x) {c} ;; esac",
        "case x in y) {c} ;; *) {c2} ;; esac 5>&9",
        "case $x in foo | bar) {c} ;; (*) {c2} ;; esac",
        "! {c} && {c2}",
        "{c} | p",
        "p | {c}",
    ),
    *(
        "for i in 1 '2 3'; do {c}; p \"$i\"; done",
        "for i in a b; do {c}; break; {c2}; done",
        "for i in a; do continue; {c}; done",
        "for v in m n; do {c}; done 5>&9",
    ),
    *(
        "while {c}; do {c2}; break; done",
        "until {c}; do {c2}; break; done",
        "while false; do {c}; done",
        "while true; do {c} && break; {c2}; break; done",
        "time {c}",
    ),
    *(
        'p "$({c}; p "${{v-}}")"',
        "p <({c})",
        "[[ -n $({c}) ]]",
        "[[ $x == f* && -z ${{v-}} ]] && {c}",
        "[[ $x =~ ^(f|b).*o$ ]] || {c}",
        "for ((n=0; n<2; n++)); do {c}; done",
        "((n = v + 1)); [[ $n -ge 1 ]] && {c}",
        "n=0; while ((n < 2)); do {c}; ((n += 1)); done",
        "{{ {c}; }} | {{ {c2}; p; }}",
    ),
    *(
        "p `{c}`",
        "{{ {{ {c}; }} 5>&9 || {c2}; }}",
        "( ( {c} ) && {c2} )",
        "{c} <<E\n$(p here)\nE",
        "z={v} {c}",
        "wait; {c}",
        'for d in d f; do cd "$d"; p; cd ..; done',
    ),
]


def word(chance: random.Random) -> str:
    """One word."""
    if chance.random() < 0.1:
        return chance.choice(WHOLE)
    return "".join(chance.choices(PIECES, k=chance.choice((1, 1, 1, 2, 2, 3))))


def simple(chance: random.Random) -> str:  # noqa: PLR0911 - each form ends it
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
    if form < 0.32:
        return f"{text} {chance.choice(OPERATED)}"
    if form < 0.38:
        redirect = chance.choice(REDIRECTS).replace("{t}", chance.choice(TARGETS))
        return f"{redirect} {text}" if "\n" not in redirect and chance.random() < 0.3 else f"{text} {redirect}"
    return text


def change(chance: random.Random) -> str:
    """Something that changes a variable or the folder, in a place where it may not happen."""

    def one() -> str:
        text = chance.choice(CHANGES).replace("{n}", chance.choice(NAMES))
        while "{v}" in text:
            text = text.replace("{v}", chance.choice(VALUES), 1)
        return text

    around = chance.choice(AROUND)
    if "<<E" in around:
        return around.replace("{c}", "p").replace("{v}", chance.choice(VALUES))
    return around.format(c=one(), c2=one(), v=chance.choice(VALUES))


def changing(chance: random.Random) -> str:
    """Several changes, and after each what the shell then is."""
    lines = [f"v={chance.choice(VALUES)}"]
    for number in range(chance.randint(1, 4)):
        lines += [
            change(chance),
            f'p "${{v-}}" "$v" "a$w" "$x" k{number}',
            f'p "${{v[@]}}" "a${{w[1]}}" "${{#x[@]}}" "${{w[@]}}" k{number}',
            'for i in "${v[@]}" "${x[@]}"; do p "$i"; done',
        ]
    return "\n".join(lines)


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
    body = changing(chance) if chance.random() < 0.4 else command(chance)
    return f"x=foo; y='a b'; n=/dev/null; {body}"
