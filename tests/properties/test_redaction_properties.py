# ruff: noqa: E501 - a pattern or a row stands in one piece
import base64
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execkit_mcp.redaction import KnownValue, Redactor, nearby
from execkit_mcp.redaction.commands import COMMANDS
from execkit_mcp.redaction.lines import Lines
from execkit_mcp.redaction.names import NAMES
from execkit_mcp.redaction.prefilter import Everything, Vectorscan
from execkit_mcp.redaction.scanner import Scanner
from execkit_mcp.redaction.shape import ALNUM, BASE64, assemble, fill
from execkit_mcp.redaction.shapes import SHAPES
from execkit_mcp.redaction.sight import View, lower, view_of
from execkit_mcp.redaction.span import Span
from execkit_mcp.redaction.surroundings import PLACES
from execkit_mcp.redaction.table import CONFIRM_WORDS, RULES, gates

STRONG = "aB3" + assemble((fill(ALNUM, 20),), "property") + "Z7"
WEAK = "correct-horse"
BODY = "".join(assemble((fill(BASE64, 64),), str(n)) + "\n" for n in range(3))
BLOB = base64.b64encode(f"A=1\nDB={STRONG}\nC=3\n".encode() * 3).decode()
PIECES = st.sampled_from(
    [
        *(assemble(shape.example, "p") for shape in SHAPES[::6]),
        STRONG, STRONG[:9], STRONG[9:], STRONG[::-1], WEAK, WEAK[:5], WEAK[5:], "\n", "\n", " ", "\t", "plain text", "\x1b[1m",
        "-----BEGIN PRIVATE " + "KEY-----\n", BODY, BODY[:30], "-----END PRIVATE " + "KEY-----\n", "password=", "x: y\n", "é",
        "\n".join(STRONG[at : at + 8] for at in range(0, len(STRONG), 8)), " ".join(STRONG), BLOB[:76] + "\n" + BLOB[76:], "\r\n",
        "\udcff", "'", '"', "- name: DB_PASSWORD\n", "  value: ", "hunter22x\n", "<string>",
        "user,password\n", "prod,hunter22x\n", "| id | api_token |\n", "|---|---|\n", "| 1 | hunter22x |\n", "Initial password:\n", "name    token\n",
        "prod    hunter22x\n", "Recovery codes:\n", "\n\n", "api_key of a1b2c3 d4e5f6 ", "x_key=a1q9Zr7T " * 60,
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_any_split_of_the_text_gives_the_same_output(pieces, sizes):
    text = "".join(pieces)
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value=STRONG), KnownValue(name="b", value=WEAK)])
    whole, counts = redactor.text(text)
    stream = redactor.stream()
    out, at, turn = "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out += stream.push(text[at : at + size])
        stream.preview()
        at += size
        turn += 1
    out += stream.finish()
    assert out == whole
    assert dict(stream.counts) == counts
    assert STRONG not in out
    assert out.count("[REDACTED:") == sum(counts.values())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abc xyz\n.,012", max_size=300))
def test_text_without_secrets_passes_unchanged(text):
    assert Redactor(key=b"k").text(text) == (text, {})


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), min_size=12, max_size=40).filter(
        lambda v: len(v.strip()) >= 12 and len(v.splitlines()) == 1
    )
)
def test_a_known_value_never_survives_as_it_is(value):
    clean, _ = Redactor(key=b"k", known=[KnownValue(name="a", value=value)]).text(f"<{value}>\n")
    assert value not in clean


LINES = st.lists(
    st.one_of(
        PIECES,
        st.sampled_from([row.example for row in (*NAMES, *PLACES, *COMMANDS)]).flatmap(
            lambda example: st.sampled_from([STRONG, "pässwörd-1", "K\u212a9" + STRONG, "\u0661" * 9 + "a", "x"]).map(
                lambda value: example.replace("{}", value)
            )
        ),
        st.text(alphabet="aZ9_-=:\"' \n\tpaswordtokenky://@\u212a\u017f\u0661é\x1c\\", max_size=40),
    ),
    max_size=10,
)


class WithGates:
    """A first stage of Python's own expressions; vectorscan stands beside it where it is installed."""

    name = "python"

    def __init__(self) -> None:
        self.gates = [re.compile(gate, re.MULTILINE) for gate in gates().expressions]

    def stretches(self, view: View) -> tuple[list[tuple[int, int]], dict[int, int]]:
        data = lower(view.text).encode("ascii", "replace").decode()
        out, fired, at = [], {}, 0
        for line in data.split("\n"):
            matching = sum(1 << number for number, gate in enumerate(self.gates) if gate.search(line))
            if matching:
                out.append((at, at + len(line)))
                fired[at] = matching
            at += len(line) + 1
        return out, fired


STAGES = [WithGates()]
if importlib.util.find_spec("hyperscan") is not None:
    STAGES.append(Vectorscan.compile(gates()))


def found(scanner: Scanner, view: View) -> tuple[list[Span], list[Span]]:
    """What the rules say about ``view``, and what comes of their marks; a name alone says nothing yet."""
    spans = scanner.scan(view)[0]
    said = sorted(span for span in spans if span.kind != nearby.MARK)
    return said, sorted(Lines().found(view, spans)[0])


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_the_first_stage_never_hides_a_line_in_which_a_rule_finds_something(stage):
    all_lines, gated = (Scanner(RULES, CONFIRM_WORDS, one) for one in (Everything(), stage))

    @example(["password=", ":9"])
    @example(["api_token | " + "\u0661" * 9 + "a:"])  # a digit, though none of ASCII's
    @settings(max_examples=250, deadline=None)
    @given(LINES)
    def holds(pieces):
        view = view_of("".join(pieces))
        assert found(gated, view) == found(all_lines, view)

    holds()


def templates() -> str:
    """Texts of all templates of the measuring corpora."""
    modules = {}
    for name in (
        "corpus",
        "wild",
        "later",
        "fresh",
        "strange",
        "foreign",
        "distant",
        "unforeseen",
        "beyond",
        "elsewhere",
        "afresh",
        "lately",
        "endmost",
    ):
        path = Path(__file__).resolve().parents[1] / "redaction" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"gated_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        modules[name] = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[name])
    corpus = modules["corpus"]
    all_templates = {
        **corpus.SEEN,
        **corpus.UNSEEN,
        **modules["wild"].WILD,
        **modules["later"].LATER,
        **modules["fresh"].FRESH,
        **modules["strange"].STRANGE,
        **modules["foreign"].FOREIGN,
        **modules["distant"].DISTANT,
        **modules["unforeseen"].UNFORESEEN,
        **modules["beyond"].BEYOND,
        **modules["elsewhere"].ELSEWHERE,
        **modules["afresh"].AFRESH,
        **modules["lately"].LATELY,
        **modules["endmost"].ENDMOST,
    }
    return "".join(sample.text for sample in corpus.secret_samples(1, templates=all_templates))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_the_first_stage_lets_every_template_through(stage):
    view = view_of(templates())
    all_lines, gated = (Scanner(RULES, CONFIRM_WORDS, one) for one in (Everything(), stage))
    assert found(gated, view) == found(all_lines, view)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_the_first_stage_lets_every_example_of_the_tables_through(stage):
    texts = [assemble(shape.example, seed) for shape in SHAPES for seed in "abcd"]
    texts += [row.example.replace("{}", STRONG) for row in (*NAMES, *PLACES, *COMMANDS)]
    text = "".join(f"before {one} after\n{one}\n" for one in texts)
    view = view_of(text)
    all_lines, gated = (Scanner(RULES, CONFIRM_WORDS, one) for one in (Everything(), stage))
    assert found(gated, view) == found(all_lines, view)
