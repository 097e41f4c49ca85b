"""What the parser accepts, and the one canonical text of each form."""

import pytest

from execkit_mcp.policy.shell import parse, render
from execkit_mcp.policy.shell.unparsed import Unparsed

ACCEPTED = [
    # text, canonical text
    ("", ""),
    ("  # nothing but a comment", ""),
    ("ls -la /tmp", "ls -la /tmp"),
    ("ls   -l\t/tmp  # a comment", "ls -l /tmp"),
    ("ls \\\n  -l", "ls -l"),
    ("a;b;", "a; b"),
    ("a\nb\n\n", "a; b"),
    ("a & b &", "a & b &"),
    ("a&&b||c", "a && b || c"),
    ("a |b|& c", "a | b 2>&1 | c"),
    ("! a | b", "! a | b"),
    ("time a | b", "time a | b"),
    ("! time a", "time ! a"),
    ("a | time b", "a | 'time' b"),
    ("(a; b) > f", "(a; b) > f"),
    ("( (a) )", "( (a) )"),
    ("{ a; b; }", "{ a; b; }"),
    ("{ a & }", "{ a & }"),
    # quoting
    ("echo 'a b' \"c d\" e\\ f", "echo 'a b' 'c d' 'e f'"),
    ("'r'm -r\\f /", "rm -rf /"),
    ("echo it\\'s", "echo 'it'\\''s'"),
    ("echo ''", "echo ''"),
    ('echo a""b', "echo ab"),
    (r"echo $'a\tb' $'\x41\102\u0043\cA'", "echo 'a\tb' $'ABC\\x01'"),
    (r"echo $'\x1b[0m it\'s'", r"echo $'\x1b[0m it\'s'"),
    (r"echo $'\u202e'", r"echo $'\xe2\x80\xae'"),
    ('echo "a\\$b\\n"', "echo 'a$b\\n'"),
    ('echo "a\\\nb"', "echo ab"),
    ("echo é", "echo 'é'"),
    ("echo $ a$", "echo '$' 'a$'"),
    ("echo a#b", "echo 'a#b'"),
    ("'if' x", "'if' x"),
    ("\\time x", "'time' x"),
    ("echo if then { } ! [[ time in do", "echo if then '{' '}' '!' '[[' time in do"),
    ("'a=b' c", "'a=b' c"),
    ('a\\=b"$c"', "'a=b'\"$c\""),
    ("env a=b c", "env a=b c"),
    ("find . -name '*.c' -exec rm {} \\;", "find . -name '*.c' -exec rm {} ';'"),
    ("[ -f x ]", "[ -f x ]"),
    # arithmetic: of a variable nothing but digits and signs is read
    ("echo $((1+2))", "echo $((1 + 2))"),
    ("echo $((x))", "echo $(((${x//[^0123456789-]/}+0)))"),
    ('echo "$(( $x*${y} ))"', 'echo "$(((${x//[^0123456789-]/}+0) * (${y//[^0123456789-]/}+0)))"'),
    ("echo $(($1 + $# - ${#x}))", "echo $(((${1//[^0123456789-]/}+0) + $# - ${#x}))"),
    ("((i++))", 'i="$(((${i//[^0123456789-]/}+0) + 1))"'),
    ("((--i))", 'i="$(((${i//[^0123456789-]/}+0) - 1))"'),
    ("(( i = 3 )) > f", 'i="$((3))" > f'),
    ("((i*=2+1))", 'i="$(((${i//[^0123456789-]/}+0) * ( 2 + 1 )))"'),
    ("((i > 2)) && a", '[[ "$(((${i//[^0123456789-]/}+0) > 2))" -ne 0 ]] && a'),
    ("[[ $n -gt 3 ]]", '[[ "${n//[^0123456789-]/}" -gt 3 ]]'),
    ('[[ n -le "$m" ]]', '[[ "${n//[^0123456789-]/}" -le "${m//[^0123456789-]/}" ]]'),
    (
        "for ((i=0;i<3;i++)); do a; done",
        (
            '{ i="$((0))"; while [[ "$(((${i//[^0123456789-]/}+0) < 3))" -ne 0 ]]; do a;'
            ' i="$(((${i//[^0123456789-]/}+0) + 1))"; done; }'
        ),
    ),
    ("for ((;;))\ndo a; break; done", '{ while [[ "$((1))" -ne 0 ]]; do a; break; done; }'),
    # patterns
    ("rm *", "rm ./*"),
    ("rm *.c ?a [a-z]*", "rm ./*.c ./?a ./[a-z]*"),
    ("ls a* /tmp/[[:alpha:]]? b[!x]", "ls a* /tmp/[[:alpha:]]? b[!x]"),
    ("echo '*' \\* \"[a]\"", "echo '*' '*' '[a]'"),
    ("echo a[b", "echo 'a[b'"),
    ("for f in *; do a; done", "for f in ./*; do a; done"),
    # braces
    ("cp a{,.bak}", "cp a a.bak"),
    ("echo {1..3} {a..c} {01..3} {5..1..2} {3..1}", "echo 1 2 3 a b c 01 02 03 5 3 1 3 2 1"),
    ("echo {a,b{c,d}}e", "echo ae bce bde"),
    ("echo {} {a} {a {a,b", "echo {} '{a}' '{a' '{a,b'"),
    ("echo {{a,b}}", "echo '{a}' '{b}'"),
    ("echo '{a,b}' {'a,b'}", "echo '{a,b}' '{a,b}'"),
    ("echo {'a b',c}", "echo 'a b' c"),
    ("echo {,a}", "echo a"),
    ("{echo,a}", "echo a"),
    # tildes
    ("ls ~ ~/x ~root/y", "ls ~ ~/x ~root/y"),
    ("ls ~/'a b' \"~\" \\~ ~'/x' a~", "ls ~/'a b' '~' '~' '~/x' 'a~'"),
    ("a=~/x:~/y b", "a=~/x:~/y b"),
    ("make a=~/x --b=~/x", "make a=~/x '--b=~/x'"),
    # parameters
    ('echo $x ${x} "$x" "a $x b" $x/y ${x}y', 'echo $x $x "$x" "a $x b" $x/y ${x}y'),
    ("echo $? $$ $# $@ $* $0 $1 $! $- ${10} $10", "echo $? $$ $# $@ $* $0 $1 $! $- ${10} ${1}0"),
    ("echo ${#x} ${x:-a} ${x-a} ${x:+a} ${x+a} ${x:?a}", "echo ${#x} ${x:-a} ${x-a} ${x:+a} ${x+a} ${x:?a}"),
    ("echo ${x#a} ${x##a} ${x%a} ${x%%.*}", "echo ${x#a} ${x##a} ${x%a} ${x%%.*}"),
    ("echo ${x/a/b} ${x//\\//_} ${x/#a} ${x/%a/}", "echo ${x/a/b} ${x//'/'/_} ${x/#a} ${x/%a/}"),
    ("echo ${x:1} ${x: -3:2} ${x^^} ${x,,} ${x^}", "echo ${x: 1} ${x: -3:2} ${x^^} ${x,,} ${x^}"),
    ('echo "${x:-a b}" "${x:-$y}" "${x:-$(a)}"', 'echo "${x:-a b}" "${x:-${y}}" "${x:-$(a)}"'),
    ("echo ${x:-'a b'}", "echo ${x:-'a b'}"),
    ("echo ${x%%%}", "echo ${x%%'%'}"),
    ('echo ${x//"$y"/z}', 'echo ${x//"${y}"/z}'),
    # substitutions
    ("echo $(a; b) `c \\`d\\``", "echo $(a; b) $(c $(d))"),
    ('echo "$(a "$b")"', 'echo "$(a "$b")"'),
    ("echo $( (a) )", "echo $( (a))"),
    ("diff <(a) <(b | c) > >(d)", "diff <(a) <(b | c) > >(d)"),
    ("echo $(< f)", "echo $(< f)"),
    ("echo $((1+ 2)) $(( (3<<2) & 0xff ))", "echo $((1 + 2)) $((( 3 << 2 ) & 0xff))"),
    # redirects
    ("a <b >c 2>>d 3<>e >|f", "a < b > c 2>> d 3<> e >| f"),
    ("a 2>&1 >&2 <&- 1>&-", "a 2>&1 >&2 <&- 1>&-"),
    ("a &>f", "a > f 2>&1"),
    ("a >&f", "a > f 2>&1"),
    ("a &>>f", "a >> f 2>&1"),
    ("> f a b", "a b > f"),
    ("a 2 > f", "a 2 > f"),
    ("a2>f", "a2 > f"),
    ("a '2'>f", "a 2 > f"),
    ("> f", "> f"),
    ('a <<< x <<< "$y z"', 'a <<< x <<< "$y z"'),
    # here-documents
    ("cat <<E\nx $y\nE\n", 'cat <<< "x $y"'),
    ("cat <<'E'\nx $y\nE", "cat <<< 'x $y'"),
    ("cat <<-E\n\tx\n\tE\n", "cat <<< x"),
    ("cat <<E\nE\n", "cat < /dev/null"),
    ("cat <<E | wc\na\nb\nE\nls", "cat <<< 'a\nb' | wc; ls"),
    ("cat <<A <<B\na\nA\nb\nB\n", "cat <<< a <<< b"),
    ('cat <<E\na\\\nb "c" \\$d\nE\n', "cat <<< 'ab \"c\" $d'"),
    ("echo $(cat <<E\nx\nE\n)", "echo $(cat <<< x)"),
    ("(cat <<E)\nx\nE\n", "(cat <<< x)"),
    ("cat <<E\n\nE\n", "cat <<< ''"),
    # compound commands
    ("if a; then b; elif c; then d; else e; fi", "if a; then b; elif c; then d; else e; fi"),
    ("if a\nthen\n b\nfi", "if a; then b; fi"),
    ("if ( a ) then b; fi", "if (a); then b; fi"),
    ("while a; do b & done", "while a; do b & done"),
    ("until a; do b; done < f", "until a; do b; done < f"),
    ("for i in a 'b c' $d; do e; done", "for i in a 'b c' $d; do e; done"),
    ("for i in; do e; done", "for i in; do e; done"),
    ("for i\nin a\ndo e\ndone", "for i in a; do e; done"),
    (
        "case $x in a|b*) c;; (esac) d;; '*') ;; *) e; esac",
        "case \"$x\" in (a | b*) c ;; ('esac') d ;; ('*') ;; (*) e ;; esac",
    ),
    ("case x in esac", "case x in esac"),
    ("[[ -f x && ! ( a == b* || $c < d ) ]]", '[[ -f x && ! ( a == b* || "$c" < d ) ]]'),
    ("[[ $x ]]", '[[ -n "$x" ]]'),
    ("[[ $# -gt 0 && 1 -eq 01 ]]", '[[ "$#" -gt 0 && 1 -eq 01 ]]'),
    ("[[ '-f' == '=' ]]", "[[ '-f' == '=' ]]"),
    ("[[ $x =~ ^[0-9]+$ ]]", '[[ "$x" =~ ^[0-9]+$ ]]'),
    # assignments
    ("a=1 b='c d' e=$f g+=h i", "a=1 b='c d' e=\"$f\" g+=h i"),
    ("a=", "a="),
    ("a=*", "a='*'"),
    ("export a=$b c=* 'd e=f'", "export a=\"$b\" 'c=*' 'd e=f'"),
    ("export PATH=~/bin:$PATH", 'export PATH=~/bin:"$PATH"'),
    ("declare a='b c'$d", 'declare a="b c$d"'),
]


@pytest.mark.parametrize(("text", "canonical"), ACCEPTED, ids=[text for text, _ in ACCEPTED])
def test_an_accepted_form_has_one_canonical_text(text: str, canonical: str) -> None:
    tree = parse(text)
    assert render(tree) == canonical
    assert parse(canonical) == tree
    assert render(parse(canonical)) == canonical


def test_a_located_program_is_written_with_its_absolute_path_and_builtins_stay() -> None:
    def locate(name: str) -> str | None:
        return {"ls": "/usr/bin/ls", "time": "/opt/my tools/time"}.get(name)

    text = "ls | cd ls && $(ls) || echo <(ls); a | time ls; ./ls"
    assert render(parse(text), locate=locate) == (
        "/usr/bin/ls | cd ls && $(/usr/bin/ls) || echo <(/usr/bin/ls); a | '/opt/my tools/time' ls; ./ls"
    )


def test_every_simple_command_is_counted_substitutions_included() -> None:
    assert parse("a | b; echo $(c `d`) <(e); for i in 1 2; do f; done").command_count == 7


def test_limits_say_that_they_are_limits() -> None:
    for text in (
        "a;" * 201,
        "( " * 13 + "a" + ")" * 13,
        "echo " + "$(echo " * 5000 + ")" * 5000,
        "echo " + "{" * 60000,
        "if a; then " * 5000,
        "[[ " + "! " * 30000 + "a ]]",
        "[[ " + "( " * 30000,
        "[[ " + "a && " * 10000 + "a ]]",
        "echo " + "${a:-" * 6000,
        "echo {1..9999}",
        "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
        "echo " + "{1..200} " * 21,
        "x" * 65537,
        "é" * 40000,
    ):
        with pytest.raises(Unparsed) as caught:
            parse(text)
        assert caught.value.is_limit, text[:40]
    assert parse("(a)", max_depth=1)
    with pytest.raises(Unparsed, match="more than 1 commands"):
        parse("a; b", max_commands=1)
