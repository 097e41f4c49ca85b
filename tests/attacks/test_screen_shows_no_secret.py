"""P3: a secret that only the screen puts together, from pieces, is covered there too."""

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.output.emulator import Emulator
from execkit_mcp.output.screen_text import shown
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest

pytestmark = pytest.mark.promise("P3")

PARTS = ["Vq7", "mT2x", "Kp9z", "Lw4s", "Rb8n", "Yc3h", "Df6g"]
SECRET = "".join(PARTS)
TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


def text_of(output, cols=40, rows=12):
    emulator = Emulator(cols, rows)
    emulator.feed(output)
    redactor = Redactor(key=b"k" * 32, known=[KnownValue(name="S", value=SECRET)])
    text, counts = shown([*emulator.scrollback(), *emulator.rows()], redactor)
    return text, counts


def pieces(size):
    return [SECRET[at : at + size] for at in range(0, len(SECRET), size)]


def hidden(text):
    return all(SECRET[at : at + 8] not in text for at in range(len(SECRET) - 7))


FOLDED = "".join(f"│ {piece:<7} │\r\n" for piece in pieces(7))
CASES = {
    "on one row": f"key {SECRET} end",
    "over the edge": "x" * 30 + SECRET + " end",
    "over the edge of the last row": "\r\n" * 11 + "x" * 30 + SECRET,
    "partly scrolled out": "x" * 30 + SECRET + "\r\n" * 11 + "end",
    "by cursor moves": "".join(
        f"\x1b[5;{1 + at}H{piece}" for at, piece in zip(range(0, 99, 4), pieces(4), strict=False)
    ),
    "backwards": "".join(
        f"\x1b[5;{1 + at}H{piece}" for at, piece in reversed(list(zip(range(0, 99, 3), pieces(3), strict=False)))
    ),
    "with colours": "".join(f"\x1b[3{n % 8}m{c}" for n, c in enumerate(SECRET)),
    "in a frame": "┌─────────┐\r\n" + FOLDED + "└─────────┘",
    "in a frame of ASCII": "+---------+\r\n" + FOLDED.replace("│", "|") + "+---------+",
    "over what stood there": "#" * 40 + "\r" + SECRET,
    "by insertion": SECRET[10:] + "\r\x1b[10@" + SECRET[:10],
    "by deletion": SECRET[:5] + "XXXX" + SECRET[5:] + "\x1b[6G\x1b[4P",
    "by repetition of a sequence": "\x1b7" + SECRET[:9] + "\x1b8\x1b[9C" + SECRET[9:],
    "on the alternate screen": f"\x1b[?1049h\x1b[3;3H{SECRET}",
}


@pytest.mark.parametrize("name", CASES)
def test_a_known_value_is_covered_however_it_came_to_stand_there(name):
    text, counts = text_of(CASES[name])
    assert hidden(text), text
    assert "[REDACTED:known:" in text
    assert counts.get("known", 0) >= 1


def test_a_token_that_runs_over_the_edge_is_covered():
    text, _ = text_of("x" * 25 + " " + TOKEN + "\r\nnext line stays")
    assert TOKEN[10:20] not in text
    assert TOKEN[-8:] not in text
    assert "next line stays" in text


def test_what_is_no_secret_stays_where_it_is():
    text, counts = text_of("one\r\n  two │ three\r\n" + "=" * 40 + "\r\nfour")
    assert text == "one\n  two │ three\n" + "=" * 40 + "\nfour\n"
    assert counts == {}


async def test_the_screen_of_a_real_program_is_covered(world):
    (world.workspace / "draw.sh").write_text(
        "".join(f"printf '\\033[4;{1 + 4 * n}H{piece}'\n" for n, piece in enumerate(pieces(4))) + "printf '\\n\\n'\n"
    )
    async with open_kit(
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        environ={"THE_TOKEN": SECRET},
    ) as kit:
        result = await kit.run(RunRequest(command="sh draw.sh", tty=True), requester="a")
        screen = await kit.read(ReadRequest(exec_id=result.exec_id, stream="screen"), requester="a")
    assert "[REDACTED:known:" in screen.text
    assert hidden(screen.text)
