"""How much of a word the policy knows before it runs."""

import pytest

from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind
from execkit_mcp.policy.shell import parse
from execkit_mcp.policy.shell.builtins import BUILTINS, DECLARATION_BUILTINS, STATE_BUILTINS
from execkit_mcp.policy.shell.tree import Simple, Word
from execkit_mcp.policy.shell.words import source_of, to_arg

S, G, D = ArgKind.STATIC, ArgKind.GLOB, ArgKind.DYNAMIC
VARIABLES = {"d": ("/tmp", "/var"), "s": ("a b",), "e": ("",), "g": ("*",), "many": tuple(map(str, range(9)))}


def word(text: str) -> Word:
    command = parse("x " + text).body.items[0].command.first.commands[0]
    assert isinstance(command, Simple)
    return command.words[1]


ROWS = [
    ("a", [Arg(S, "a", "a")]),
    ("''", [Arg(S, "", "")]),
    ("'-r'f", [Arg(S, "-rf", "-rf")]),
    ("a*b", [Arg(G, "a*b", "a", is_single=False)]),
    ("*", [Arg(G, "./*", "./", is_single=False)]),
    ("a'*'[bc]\\?", [Arg(G, "a\\*[bc]\\?", "a*", is_single=False)]),
    ("~", [Arg(S, "~", "~", is_home=True)]),
    ("~/x", [Arg(S, "~/x", "~/x", is_home=True)]),
    ("~bin/*", [Arg(G, "~bin/*", "~bin/", is_single=False, is_home=True)]),
    ("~/$x", [Arg(D, "~/$x", "~/", is_single=False, is_home=True)]),
    ("'~'", [Arg(S, "~", "~")]),
    ("a=~", [Arg(D, "a=~", "a=")]),
    ("$x", [Arg(D, "$x", is_single=False)]),
    ('"$x"', [Arg(D, '"$x"')]),
    ('-o"$x"', [Arg(D, '-o"$x"', "-o")]),
    ('"$@"', [Arg(D, '"$@"', is_single=False)]),
    ('"$*"', [Arg(D, '"$*"')]),
    ("$#", [Arg(D, "$#")]),
    ("${#x}", [Arg(D, "${#x}")]),
    ("$(a)", [Arg(D, "$(a)", is_single=False)]),
    ('x"$(a)"', [Arg(D, 'x"$(a)"', "x")]),
    ("<(a)", [Arg(D, "<(a)", "/dev/fd/", is_pipe=True)]),
    ("$d/x", [Arg(S, "/tmp/x", "/tmp/x"), Arg(S, "/var/x", "/var/x")]),
    ('"$d"/*', [Arg(G, "/tmp/*", "/", is_single=False), Arg(G, "/var/*", "/", is_single=False)]),
    ('"$s"', [Arg(S, "a b", "a b")]),
    ("$s", [Arg(D, "$s", is_single=False)]),
    ("$e", [Arg(D, "$e", is_single=False)]),
    ('"$e"', [Arg(S, "", "")]),
    ("$g", [Arg(D, "$g", is_single=False)]),
    ('"$g"?', [Arg(G, "\\*?", "*", is_single=False)]),
    ('"$many$many"', [Arg(D, '"${many}$many"')]),
    ('"${d%x}"', [Arg(D, '"${d%x}"')]),
]


@pytest.mark.parametrize(("text", "args"), ROWS, ids=[text for text, _ in ROWS])
def test_a_word_is_known_as_far_as_it_is_sure(text: str, args: list[Arg]) -> None:
    assert list(to_arg(word(text), VARIABLES)) == args


def test_the_source_of_a_word_is_its_canonical_text() -> None:
    assert source_of(word("'a'\"$b\"")) == 'a"$b"'


def test_state_and_declaration_builtins_are_builtins() -> None:
    assert STATE_BUILTINS < BUILTINS
    assert DECLARATION_BUILTINS < STATE_BUILTINS
