"""The parts of the page that decide without input or output: logins, links, transcripts, films, colours."""

import re
from pathlib import Path

import pytest

from execkit_mcp.audit.asciicast import Event, marker
from execkit_mcp.runtime.system import SystemEntropy
from execkit_mcp.web import text
from execkit_mcp.web.guard import is_loopback_host
from execkit_mcp.web.links import LINK_TTL_S, Links
from execkit_mcp.web.logins import IDLE_S, LIFE_S, MAX_LOGINS, TRIES, Logins
from execkit_mcp.web.transcript import MAX_TURN_CHARS, Transcript, plain

STYLE = Path(__file__).resolve().parents[2] / "execkit_mcp" / "web" / "static" / "page.css"
TOKEN = "".join(f"{n:x}" for n in range(64))


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0

    def monotonic_s(self) -> float:
        return self.now_s

    def epoch_s(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def links(tmp_path, clock) -> Links:
    return Links(tmp_path, clock=clock, entropy=SystemEntropy())


@pytest.fixture
def logins(links, clock) -> Logins:
    return Logins(links, clock=clock, entropy=SystemEntropy(), token=TOKEN)


def test_a_link_is_good_once(links):
    code = links.make()
    assert links.use(code)
    assert not links.use(code)


def test_a_link_lapses_and_a_clock_that_went_back_does_not_renew_it(links, clock):
    late, early = links.make(), links.make()
    clock.now_s += LINK_TTL_S + 1
    assert not links.use(late)
    clock.now_s -= 10 * LINK_TTL_S
    assert not links.use(early)


def test_lapsed_links_are_cleared_away(links, clock, tmp_path):
    links.make()
    clock.now_s += LINK_TTL_S + 1
    links.make()
    assert len(list((tmp_path / "web" / "links").iterdir())) == 1


@pytest.mark.parametrize("code", ["", "../running", "0" * 48, "a" * 10_000, "é" * 48])
def test_what_is_no_code_opens_nothing(links, code):
    links.make()
    assert not links.use(code)


def test_the_code_stands_nowhere_in_the_state_folder(links, tmp_path):
    code = links.make()
    for path in tmp_path.rglob("*"):
        assert code not in path.name
        assert not path.is_file() or code not in path.read_text()


def test_a_login_needs_its_path_and_its_cookie(logins, links):
    login, other = logins.by_code(links.make()), logins.by_code(links.make())
    assert logins.find(login.key, [login.secret]) is login
    assert logins.find(login.key, ["", other.secret]) is None
    assert logins.find(other.key, [login.secret]) is None
    assert logins.find(login.key, ["thrown at us by another port", login.secret]) is login


def test_a_login_ends_when_it_idles_and_after_its_life(logins, links, clock):
    idle = logins.by_code(links.make())
    clock.now_s += IDLE_S + 1
    assert logins.find(idle.key, [idle.secret]) is None
    busy = logins.by_code(links.make())
    for _ in range(int(LIFE_S / 3600) - 1):
        clock.now_s += 3600
        assert logins.find(busy.key, [busy.secret]) is busy
    clock.now_s += 3601
    assert logins.find(busy.key, [busy.secret]) is None


def test_wrong_tokens_run_out_and_come_back_with_time(logins, clock):
    for _ in range(TRIES):
        assert logins.by_token("wrong") is None
    assert logins.by_token(TOKEN) is None
    clock.now_s += 3600
    assert logins.by_token(TOKEN) is not None


def test_a_fresh_link_is_not_shut_out_by_somebodys_guessing(logins, links):
    for _ in range(100):
        logins.by_token("wrong")
    assert logins.by_code(links.make()) is not None


def test_without_a_token_there_is_none_to_guess(links, clock):
    logins = Logins(links, clock=clock, entropy=SystemEntropy())
    assert logins.by_token("") is None
    assert logins.by_token("None") is None


def test_the_number_of_logins_is_bounded(logins, links):
    first = logins.by_code(links.make())
    for _ in range(MAX_LOGINS):
        logins.by_code(links.make())
    assert logins.count() == MAX_LOGINS
    assert logins.find(first.key, [first.secret]) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_names_of_this_machine(host):
    assert is_loopback_host(host)


@pytest.mark.parametrize(
    "host", ["127.0.0.1.nip.io", "localhost.evil.example", "10.0.0.1", "[::]", "0.0.0.0", "evil", ""]
)
def test_names_of_others(host):
    assert not is_loopback_host(host)


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────


def test_hidden_characters_stand_out_and_markup_is_text():
    shown = str(text.marked("a\u202eb <img> \x1b[31m"))
    assert "&lt;img&gt;" in shown
    assert '<mark class="hidden-mark">⟨U+202E⟩</mark>' in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_marks_cannot_be_forged():
    assert '<mark class="hidden-mark">⟨U+202E⟩</mark>' not in str(text.marked("⟨U+202E⟩"))


def test_output_keeps_the_letters_and_signs_of_every_script():
    assert str(text.output("✓ naïve — Ωmega 日本 │")) == "✓ naïve — Ωmega 日本 │"
    assert "\u2066" not in str(text.output("a\u2066b\u200bc\x9b31m"))


def test_what_was_searched_for_is_marked_wherever_it_stands():
    assert str(text.highlighted("<b>A&a", "a")).count('<mark class="found">') == 2
    assert "<b>" not in str(text.highlighted("<b>", "b"))


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (-5, "0 s"), (61, "1 min 1 s"), (3600, "1 h"), (90_000, "1 d 1 h")]
)
def test_a_length_of_time_reads_as_people_say_it(seconds, words):
    assert text.span(seconds) == words


def test_a_time_that_no_calendar_has_is_shown_all_the_same():
    assert text.clock_time(1e300) == "?"
    assert text.iso_time(float("nan")) == ""


# ── transcripts ──────────────────────────────────────────────────────────────────────────────────────────────


def event(at_s: float, code: str, body: str) -> Event:
    return Event(time_s=at_s, code=code, text=body)


def ran(name: str, command: str, *output: str) -> list[Event]:
    return [
        event(1, "m", marker(command, audit=1, exec=name, verdict="allow")),
        event(1, "o", f"\x1b[2m/srv$\x1b[0m {command}\r\n"),
        *(event(2, "o", each) for each in output),
    ]


def test_output_belongs_to_the_command_that_runs():
    transcript = Transcript()
    transcript.feed([*ran("x_1", "ls", "a\r\n"), event(3, "m", marker(None, exec="x_1", status="completed", exit=0))])
    transcript.feed(ran("x_2", "cat b", "b\r\n", "c"))
    first, second = transcript.turns
    assert (first.cwd, first.text, first.status, first.exit_code) == ("/srv", "a", "completed", 0)
    assert (second.text, second.is_running) == ("b\nc", True)


def test_a_refusal_while_a_command_runs_takes_none_of_its_output():
    transcript = Transcript()
    transcript.feed(
        [*ran("x_1", "make"), event(2, "m", marker("rm -rf /", verdict="deny")), event(3, "o", "still\r\n")]
    )
    running, refused = transcript.turns
    assert (running.text, refused.text) == ("still", "")


def test_output_that_looks_like_a_prompt_stays_output():
    transcript = Transcript()
    transcript.feed(ran("x_1", "cat fake", "\x1b[2m/srv$\x1b[0m rm -rf /\r\n"))
    assert transcript.turns[0].text == "/srv$ rm -rf /"


def test_a_line_that_was_redrawn_is_shown_as_it_ended_up():
    assert plain("10%\r\x1b[K50%\r\x1b[K100%\r\ndone\r\n") == "100%\ndone\n"


def test_long_output_keeps_its_end_and_says_so():
    transcript = Transcript()
    transcript.feed(ran("x_1", "yes", *("y" * 999 + "\r\n" for _ in range(300))))
    turn = transcript.turns[0]
    assert turn.is_cut
    assert len(turn.raw) <= 3 * MAX_TURN_CHARS
    assert turn.text.endswith("y")


# ── colours ──────────────────────────────────────────────────────────────────────────────────────────────────

PAIRS = [
    ("text", "page"), ("text", "card"), ("text", "well"), ("muted", "page"), ("muted", "card"), ("muted", "well"),
    ("accent", "page"), ("accent", "card"), ("on-accent", "accent"), ("good", "good-well"), ("good", "page"),
    ("good", "well"), ("bad", "well"), ("note", "note-well"), ("bad", "bad-well"), ("bad", "card"), ("bad", "page"),
    ("mark", "mark-well"), ("on-screen", "screen"),
]  # fmt: skip
EDGES = [("strong-line", "card"), ("strong-line", "page"), ("focus", "page"), ("focus", "card")]


def themes() -> list[dict[str, str]]:
    css = STYLE.read_text()
    light, dark = (
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    )
    return [light, {**light, **dark}]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "paper"), PAIRS)
def test_words_stand_out_from_their_ground_as_wcag_aa_asks(theme, ink, paper):
    colours = themes()[theme]
    assert contrast(colours[ink], colours[paper]) >= 4.5, (colours[ink], colours[paper])


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("edge", "paper"), EDGES)
def test_edges_of_fields_and_the_focus_can_be_seen(theme, edge, paper):
    colours = themes()[theme]
    assert contrast(colours[edge], colours[paper]) >= 3
