"""The first stage changes how fast the redactor is, never what it gives out."""

import random

import pytest

from execkit_mcp.redaction import Redactor, scanner
from execkit_mcp.redaction.prefilter import Everything, Vectorscan
from execkit_mcp.redaction.table import gates
from tests.runtime.test_first_stage import HAS_WHEEL

from .test_corpus import TEMPLATES, corpus, grammar


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = random.Random(5)
    made = [corpus.make(template, form, rng) for form, template in grammar.templates(len(grammar.FORMS) * 2, seed=5)]
    made += [sample for templates in TEMPLATES.values() for sample in corpus.secret_samples(1, templates=templates)]
    return [*(sample.text for sample in made), corpus.honest_text(1 << 17, seed=5)]


@pytest.fixture
def stage():
    own = scanner.scanner()
    before = own.prefilter
    yield own
    own.prefilter = before


def test_both_give_the_same_bytes(texts, stage):
    shown = []
    for engine in (Everything(), Vectorscan.compile(gates()) if HAS_WHEEL else Everything()):
        stage.prefilter = engine
        redactor = Redactor(key=b"k")
        shown.append([redactor.text(text) for text in texts])
    different = [text for text, one, other in zip(texts, *shown, strict=True) if one != other]
    assert different == []


def test_where_a_line_stands_changes_nothing_for_the_first_stage(stage):
    lines = ("  # password: tundra#river{}", ">> passphrase: quartz{}", "$ pass show db/prod\nQ{}", "token: orbit{}")
    text = "".join(
        "." * size + "\n" + line.format(7980 + size) + "\n" for line in lines for size in (*range(70), 120, 300)
    )
    shown = []
    for engine in (Everything(), Vectorscan.compile(gates()) if HAS_WHEEL else Everything()):
        stage.prefilter = engine
        shown.append(Redactor(key=b"k").text(text)[0])
    assert shown[0] == shown[1]
