"""P1: the shell gets the canonical text and nothing else, and runs exactly the words that were judged."""

import ast
import json

import pytest

from execkit_mcp import aio
from execkit_mcp.errors import Blocked
from execkit_mcp.runtime.driver import Driver

pytestmark = pytest.mark.promise("P1")

# Each prints the words that it was given, as a Python list, when run through the recorder.
SPELLINGS = [
    "RECORD a b c",
    "RECORD 'a b' \"c d\" e\\ f",
    "RECORD a'b'\"c\"d",
    "RECORD $'tab\\there' $'\\x41\\102'",
    "RECORD '' \"\" x",
    "RECORD {a,b}{1..3} {x {} {a}",
    "RECORD a#b '#c' # not this",
    "RECORD one \\\n  two",
    "RECORD '!x' !y a!b",
    "RECORD 'é' ü 日本",
    "RECORD -n --flag=v -- -x",
    "RECORD a=b c= =d",
    'RECORD "$((1 + 2))" $((4*5))',
    'x=lit; RECORD "$x" "a${x}b" \'$x\'',
    "for i in 1 '2 3'; do RECORD \"$i\"; done",
    'RECORD "$(echo sub)" `echo back`',
    "RECORD a;RECORD b&&RECORD c||RECORD d",
    "{ RECORD g; } 2>/dev/null; (RECORD s)",
    "RECORD if then fi '{' '}' in do",
    "! RECORD x; RECORD ~ '~' a~b",
    "case a in a|b) RECORD yes;; *) RECORD no;; esac",
    "if [[ a == a && -n x ]]; then RECORD t; else RECORD e; fi",
    "RECORD \"a\nb\" 'c\td'",
    "RECORD \\* '*' '?' '[a]'",
]

RECORDER = "import sys; print(sys.argv[1:])"


@pytest.fixture
async def session(world):
    (world.workspace / "record.py").write_text(RECORDER)
    async with aio.create(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
    ) as opened:
        yield opened


@pytest.fixture
def delivered(monkeypatch):
    """Every text that reaches a shell."""
    texts = []
    begin = Driver.begin

    def spy(self, command, **options):
        texts.append(command)
        return begin(self, command, **options)

    monkeypatch.setattr(Driver, "begin", spy)
    return texts


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_the_words_that_were_judged_are_the_words_that_run(session, delivered, spelling):
    text = spelling.replace("RECORD", "python3 record.py")
    done = await session.exec(text)
    decision, _ = await session._kit.explain(text, requester="sdk")
    assert delivered == [decision.canonical]
    got = [ast.literal_eval(line) for line in done.stdout.splitlines() if line.startswith("[")]
    judged = [list(command.argv[2:]) for command in decision.commands if command.argv[1:2] == ("record.py",)]
    assert got, done
    for words in got:  # a command of a branch that was not taken is judged and does not run
        assert any(_fits(words, argv) for argv in judged), (words, judged)


def _fits(words: list[str], argv: list[str]) -> bool:
    """Whether real words are what was judged; a word that only the shell could work out fits anything."""
    dynamic = ("$", "`", "~", "<(")
    return len(words) == len(argv) and all(
        word == arg or any(mark in arg for mark in dynamic) for word, arg in zip(words, argv, strict=True)
    )


REFUSED = [
    "python3 record.py $(rm x)",
    "rm\tx",
    "r''m x",
    "\\rm x",
    "command rm x",
    "env rm x",
    "true && { false || rm x; }",
    "cat <<E | sh\nrm x\nE",
    "echo $(echo $(rm x))",
    "ls\u202e; rm x",
    "ls #\x01",
    "f() { rm x; }; f",
    "alias ls=rm; ls x",
    "eval 'r''m x'",
    "coproc rm x",
    "ls\rrm x",
]


@pytest.mark.parametrize("text", REFUSED)
async def test_a_refused_text_never_reaches_a_shell(session, delivered, world, text):
    (world.workspace / "x").write_text("")
    with pytest.raises(Blocked):
        await session.exec(text)
    assert delivered == []
    assert (world.workspace / "x").exists()


async def test_the_record_holds_the_canonical_text(session, world):
    await session.exec("'e'cho   \"hi\"   # a comment")
    log = "".join(path.read_text() for path in world.state.glob("*.jsonl"))
    started = [json.loads(line) for line in log.splitlines() if '"exec.started"' in line]
    assert started[-1]["data"]["canonical"] == "echo hi"
