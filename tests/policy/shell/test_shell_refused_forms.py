"""What the parser refuses, and the name it gives it."""

import sys
import unicodedata

import pytest

from execkit_mcp.policy.shell import Unparsed, parse
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER

REFUSED = [
    # text, construct, line, column
    ("ls; echo a | coproc x", "coproc", 1, 14),
    ("f() { a; }", "function definition that the same text does not call", 1, 1),
    ("function f { a; }", "function definition that the same text does not call", 1, 1),
    ("if a; then f() { b; }; f; fi", "function definition that does not stand by itself", 1, 1),
    ("f() { a; } && f", "function definition that does not stand by itself", 1, 1),
    ("echo $(f() { a; }; f)", "function definition inside a substitution", 1, 8),
    ("cd() { a; }; cd", "function definition", 1, 1),
    ("f() { a; }; f() { b; }; f", "function definition", 1, 1),
    ("f() { f; }; f", "function that calls itself", 1, 1),
    ("f() { g; }; g() { f; }; f", "function that calls itself", 1, 1),
    ("f() { if a; then shift; fi; }; f b", "shift in a function", 1, 1),
    ("f() { a || return 1; b; }; f", "return in a function", 1, 1),
    ("f() { a; }; x=1 f", "assignment before the call of a function", 1, 1),
    ("f() { a $1; }; f $x", "argument of a function that may become several words", 1, 1),
    ("f() { a $1; }; f *", "argument of a function that may become several words", 1, 1),
    ("f() { local n=1; a; }; n=2; f", "local variable of a function whose name is used outside", 1, 1),
    ("f() { a $*; }; f 'b c'", "$* of words that may be split", 1, 1),
    ("ls @(a|b)", "extended glob", 1, 4),
    ("ls !(a)", "extended glob", 1, 4),
    ("a=([1]=2)", "array item with a subscript", 1, 4),
    ("a=(1) ls", "array assignment before a command", 1, 1),
    ("declare a=(1 2)", "array assignment", 1, 9),
    ("a[0]=1", "array assignment or pattern in a command name", 1, 1),
    ("echo 'a", "unterminated single quote", 1, 6),
    ('echo "a', "unterminated double quote", 1, 6),
    ("echo `a", "unterminated backquote", 1, 6),
    ("echo $(a", "unterminated compound command", 1, 8),
    ("a\nb <<E\nc", "unterminated here-document", 2, 5),
    ("echo $(cat <<E)\nx\nE\n", "here-document body outside its substitution", 1, 8),
    ("select x in a; do b; done", "select loop", 1, 1),
    ("for ((a, b; c; d)); do a; done", "arithmetic expansion", 1, 1),
    ("for ((i;;)); do a; done", "arithmetic for loop", 1, 1),
    ("for ((i=0;i<3;i++)); do continue; done", "continue inside an arithmetic for loop", 1, 1),
    ("for x; do a; done", "for loop over the positional parameters", 1, 1),
    ("((a[0]=1))", "array subscript", 1, 1),
    ("((a=b=1))", "assignment inside arithmetic", 1, 1),
    ("((a); (b))", "arithmetic expansion", 1, 1),
    ("echo ${!x}", "indirect expansion ${!name}", 1, 6),
    ("echo ${x:=a}", "assignment inside a parameter expansion", 1, 6),
    ("echo ${x@P}", "parameter transformation ${name@…}", 1, 6),
    ("echo ${x[y]}", "array subscript", 1, 6),
    ("echo ${x:$y}", "offset that is not a constant number", 1, 10),
    ("echo ${x:-a b}", "blank inside an unquoted parameter expansion", 1, 12),
    ('echo "${x:-it\'s}"', "quotes or braces inside a parameter expansion", 1, 14),
    ("echo $((x++))", "assignment inside arithmetic", 1, 6),
    ("echo $((--x))", "assignment inside arithmetic", 1, 6),
    ("echo $((x=1))", "assignment inside arithmetic", 1, 6),
    ("echo $((x<<=1))", "assignment inside arithmetic", 1, 6),
    ("echo $((a[$(id)]))", "array subscript", 1, 6),
    ("echo $(($(id) + 1))", "command inside arithmetic (its output is evaluated, and can run commands)", 1, 6),
    ("echo $((`id`))", "command inside arithmetic (its output is evaluated, and can run commands)", 1, 6),
    ("echo $((10#$x))", "arithmetic expansion", 1, 6),
    ("echo $((${x:-1}))", "arithmetic expansion", 1, 6),
    ("echo $((1) )", "arithmetic expansion", 1, 6),
    ("echo $[1]", "old arithmetic expansion $[ ]", 1, 6),
    ('echo $"a"', 'translated string $""', 1, 6),
    ("case x in a) b;& esac", "case clause that falls through", 1, 15),
    ("case x in a) b;;& esac", "case clause that falls through", 1, 17),
    ("! ! a", "double negation", 1, 3),
    ("a | ! b", "negation inside a pipeline", 1, 5),
    ("time -v a", "option of the time keyword", 1, 6),
    ("time -p -v a", "option of the time keyword", 1, 6),
    ("time -p", "option of the time keyword", 1, 6),
    ("time", "time without a command", 1, 5),
    ("a {x}> f", "descriptor variable {name}>", 1, 3),
    ("a 10> f", "file descriptor above 9", 1, 3),
    ("a >&63", "descriptor that is not a number", 1, 3),
    ("a >& $x", "descriptor that is not a number", 1, 3),
    ("a 2>&b", "descriptor that is not a number", 1, 3),
    ("a >", "redirect without a target", 1, 4),
    ("a > # b", "comment where a word is expected", 1, 5),
    ("echo $'\\0'", "escape in a $' quote that is not plain text", 1, 6),
    ("echo $'\\xff'", "escape in a $' quote that is not plain text", 1, 6),
    (
        "[[ $a$b -eq 1 ]]",
        "arithmetic comparison -eq of words that may be no numbers (their values are evaluated)",
        1,
        4,
    ),
    (
        "[[ $(a) -eq 1 ]]",
        "arithmetic comparison -eq of words that may be no numbers (their values are evaluated)",
        1,
        4,
    ),
    (
        "[[ 'a[0]' -eq 1 ]]",
        "arithmetic comparison -eq of words that may be no numbers (their values are evaluated)",
        1,
        4,
    ),
    ("[[ -v a ]]", "operator -v in [[ ]]", 1, 4),
    ("[[ a", "operator in [[ ]]", 1, 5),
    ("echo ~+ a", "tilde prefix", 1, 6),
    ("echo {a..1}", "brace sequence", 1, 6),
    ("echo {a,{b,c}", "unbalanced brace", 1, 6),
    ("echo $a{b,c}", "variable name beside a brace expansion", 1, 6),
    ("echo {~,a}", "tilde inside a brace expansion", 1, 6),
    ("cat <<< a:~", "tilde inside a word", 1, 11),
    ("echo a=~/{b,c}", "tilde inside a brace expansion", 1, 6),
    ('echo "$${x}"', "process id before a brace", 1, 9),
    ("echo a\\\nb", "line continuation inside a word", 1, 7),
    ("echo $\\\n(a)", "line continuation behind a dollar", 1, 6),
    ("echo a\\", "backslash at the end of the text", 1, 7),
    ("*/x a", "pattern in a command name", 1, 1),
    ("%1", "job as a command name", 1, 1),
    ("command export a=$b", "unquoted expansion in an indirect declaration", 1, 16),
    ("echo ''$x", "empty quotes beside an unquoted expansion", 1, 6),
    ("echo [$x]", "bracket expression", 1, 6),
    ("a;;", "unexpected ';'", 1, 2),
    ("a && ", "missing command", 1, 6),
    ("a )", "unexpected ')'", 1, 3),
    ("fi", "unexpected 'fi'", 1, 1),
    ("()", "compound command without commands", 1, 1),
    ("if a; then b", "unterminated compound command", 1, 1),
    ("echo a\x00", "character U+0000", 1, 7),
    ("a # \x1b[2J", "character U+001B", 1, 5),
    ("a\r\nb", "character U+000D", 1, 2),
    ("a\n# \u202e", "character U+202E", 2, 3),
    ("echo '\u200b'", "character U+200B", 1, 7),
    ("\ufeffls", "character U+FEFF", 1, 1),
    ("echo \ud800", "character U+D800", 1, 6),
    ("echo \u0085", "character U+0085", 1, 6),
    ("echo \u2028", "character U+2028", 1, 6),
]


@pytest.mark.parametrize(("text", "construct", "line", "column"), REFUSED, ids=[repr(row[0]) for row in REFUSED])
def test_a_refused_form_is_named_and_located(text: str, construct: str, line: int, column: int) -> None:
    with pytest.raises(Unparsed) as caught:
        parse(text)
    found = caught.value
    assert (found.construct, found.line, found.column) == (construct, line, column)
    assert str(found) == f"{construct} at line {line}, column {column}"
    assert not found.is_limit


def test_every_format_and_control_character_is_refused() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        is_hostile = category in ("Cf", "Cs", "Zl", "Zp") or (category == "Cc" and character not in "\t\n")
        is_refused = HOSTILE_CHARACTER.match(character) is not None
        assert is_refused == is_hostile or (is_refused and category == "Cn"), hex(code)
