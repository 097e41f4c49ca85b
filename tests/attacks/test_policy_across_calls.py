"""P2 over several calls: what one call leaves in the shell does not change what the next was judged to be."""

import pytest

from execkit_mcp import aio
from execkit_mcp.errors import Blocked

pytestmark = pytest.mark.promise("P2")


@pytest.fixture
async def reading(world):
    """A session under the policy that only looks."""
    async with aio.create(policy="read-only", workspace=str(world.workspace), state_dir=str(world.state)) as session:
        yield session


@pytest.mark.parametrize("door", ["/proc/self/cwd", "/proc/self/root", "/proc/thread-self/cwd"])
async def test_going_up_starts_where_the_shell_thinks_it_is(reading, door):
    await reading.exec(f"cd {door}")
    with pytest.raises(Blocked):
        await reading.exec("cd .. && cat environ")
    with pytest.raises(Blocked):
        await reading.exec("cd ..; cat < environ")


@pytest.mark.parametrize(
    "text",
    ["printf '%n' PATH", "LC_ALL=ja_JP.SJIS", "read -r PATH <<< /tmp", "command -pp cd /etc; cat shadow"],
)
async def test_nothing_that_words_depend_on_can_be_changed(reading, text):
    before = (await reading.exec('echo "$PATH $LC_ALL"')).stdout
    with pytest.raises(Blocked):
        await reading.exec(text)
    assert (await reading.exec('echo "$PATH $LC_ALL"')).stdout == before


async def test_a_variable_of_an_earlier_call_is_never_a_known_word(reading):
    await reading.exec("x='-o out'")
    for text in ("sort -k1$x f", "sort $x f", 'cat "$x"', 'for y in "$x"; do sort "$y"; done', "ls ${x}*"):
        with pytest.raises(Blocked):
            await reading.exec(text)


# The shell's own input stands at a descriptor from 10 on while it runs a command; what a process that outlives the
# command takes from there is missing from the next line that the shell is told, or is the nonce of its status.
@pytest.mark.parametrize(
    "words",
    [
        "read -r -N 7 -u 11 x",
        "read -u11 x",
        "read -ru 11 x",
        "command read -u 11 x",
        "mapfile -u 11 x",
        'n=1; read -u "1$n" x',
    ],
)
async def test_nobody_reads_what_the_shell_is_told(reading, words):
    for text in (words, f": <({words})", f"{{ {words}; }} | cat"):
        with pytest.raises(Blocked):
            await reading.exec(text)
    assert (await reading.exec('read -r -u 3 x 3<<< here; echo "$x"')).stdout == "here\n"
