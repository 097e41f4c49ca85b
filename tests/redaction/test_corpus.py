"""What is found and what is left alone, on texts of every kind that a terminal shows."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from execkit_mcp.detectors import DetectSecrets
from execkit_mcp.redaction import Redactor


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"redaction_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


corpus = load("corpus")
wild = load("wild")
later = load("later")
fresh = load("fresh")
strange = load("strange")
foreign = load("foreign")
distant = load("distant")
unforeseen = load("unforeseen")
beyond = load("beyond")
elsewhere = load("elsewhere")
afresh = load("afresh")
lately = load("lately")
endmost = load("endmost")
unread = load("unread")
unknown = load("unknown")
untold = load("untold")
unmet = load("unmet")
unheard = load("unheard")
siblings = load("siblings")
unbidden = load("unbidden")
wayside = load("wayside")
lodgers = load("lodgers")
travellers = load("travellers")
strangers = load("strangers")
lastcomers = load("lastcomers")
outsiders = load("outsiders")
passersby = load("passersby")
grammar = load("grammar")
TEMPLATES = {
    "SEEN": corpus.SEEN,
    "UNSEEN": corpus.UNSEEN,
    "WILD": wild.WILD,
    "LATER": later.LATER,
    "FRESH": fresh.FRESH,
    "STRANGE": strange.STRANGE,
    "FOREIGN": foreign.FOREIGN,
    "DISTANT": distant.DISTANT,
    "UNFORESEEN": unforeseen.UNFORESEEN,
    "BEYOND": beyond.BEYOND,
    "ELSEWHERE": elsewhere.ELSEWHERE,
    "AFRESH": afresh.AFRESH,
    "LATELY": lately.LATELY,
    "ENDMOST": endmost.ENDMOST,
    "UNREAD": unread.UNREAD,
    "UNKNOWN": unknown.UNKNOWN,
    "UNTOLD": untold.UNTOLD,
    "UNMET": unmet.UNMET,
    "UNHEARD": unheard.UNHEARD,
    "SIBLINGS": siblings.SIBLINGS,
    "UNBIDDEN": unbidden.UNBIDDEN,
    "WAYSIDE": wayside.WAYSIDE,
    "LODGERS": lodgers.LODGERS,
    "TRAVELLERS": travellers.TRAVELLERS,
    "STRANGERS": strangers.STRANGERS,
    "LASTCOMERS": lastcomers.LASTCOMERS,
    "OUTSIDERS": outsiders.OUTSIDERS,
    "PASSERSBY": passersby.PASSERSBY,
}

REDACTOR = Redactor(key=b"k", confirmers=(DetectSecrets(),))


def recall(templates: dict[str, str]) -> tuple[float, list[str]]:
    found = total = 0
    missed = []
    for sample in corpus.secret_samples(4, templates=templates):
        leaks = corpus.leaked(sample, REDACTOR.text(sample.text)[0])
        total += len(sample.secrets)
        found += len(sample.secrets) - len(leaks)
        missed += [sample.template] if leaks else []
    return found / total, missed


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("SEEN", 0.98),
        ("UNSEEN", 0.95),
        ("WILD", 0.98),
        ("LATER", 0.98),
        ("FRESH", 0.97),
        ("STRANGE", 0.96),
        ("FOREIGN", 0.98),
        ("DISTANT", 0.97),
        ("UNFORESEEN", 0.97),
        ("BEYOND", 0.97),
        ("ELSEWHERE", 0.97),
        ("AFRESH", 0.97),
        ("LATELY", 0.97),
        ("ENDMOST", 0.99),
        ("UNREAD", 0.98),
        ("UNKNOWN", 0.98),
        ("UNTOLD", 0.98),
        ("UNMET", 0.98),
        ("UNHEARD", 0.98),
        ("SIBLINGS", 0.99),
        ("UNBIDDEN", 0.98),
        ("WAYSIDE", 0.99),
        ("LODGERS", 0.99),
        ("TRAVELLERS", 0.985),
        ("STRANGERS", 0.99),
        ("LASTCOMERS", 0.98),
        ("OUTSIDERS", 0.99),
        ("PASSERSBY", 0.98),
    ],
)
def test_most_secrets_of_terminal_texts_are_replaced(name: str, least: float):
    share, missed = recall(TEMPLATES[name])
    assert share >= least, sorted(set(missed))


def test_any_name_of_a_secret_in_any_format_of_a_terminal_hides_its_value():
    rng = random.Random(3)
    missed: dict[str, list[str]] = {}
    total = 0
    for form, template in grammar.templates(len(grammar.FORMS) * 3, seed=11):
        sample = corpus.make(template, form, rng)
        total += 1
        if corpus.leaked(sample, REDACTOR.text(sample.text)[0]):
            missed.setdefault(form, []).append(sample.text)
    assert sum(map(len, missed.values())) <= total * 0.02, missed


def test_at_most_one_in_two_hundred_texts_without_a_secret_is_changed():
    texts = [
        corpus.make(template, "calm", random.Random(seed)).text
        for seed in range(4)
        for template in (
            *wild.CALM,
            *later.LATER_CALM,
            *fresh.FRESH_CALM,
            *strange.STRANGE_CALM,
            *foreign.FOREIGN_CALM,
            *distant.DISTANT_CALM,
            *unforeseen.UNFORESEEN_CALM,
            *beyond.BEYOND_CALM,
            *elsewhere.ELSEWHERE_CALM,
            *afresh.AFRESH_CALM,
            *lately.LATELY_CALM,
            *endmost.ENDMOST_CALM,
            *unread.UNREAD_CALM,
            *unknown.UNKNOWN_CALM,
            *untold.UNTOLD_CALM,
            *unmet.UNMET_CALM,
            *unheard.UNHEARD_CALM,
            *siblings.SIBLINGS_CALM,
            *unbidden.UNBIDDEN_CALM,
        )
    ]
    changed = [text for text in texts if REDACTOR.text(text) != (text, {})]
    assert len(changed) <= len(texts) / 200, changed[:5]


@pytest.mark.parametrize(
    "template",
    [
        "secret=k8s!=4{rnd24}\n",
        "password=maple=={rnd24}\n",
        "password=~2024.{rnd24}\n",
        "token: 'prod/{rnd24}*'\n",
        "secret=web-db{dig8}x\n",
        "secret=a-b-c-{rnd24}\n",
        "db_secret=orbit-{rnd24}\n",
        "password=db/{rnd24}\n",
        "encryption key={hex40}\n",
        "token={uuid}\n",
        "password: KeyScheme.{rnd24}\n",
        "api_key=%env({rnd24}\n",
        "mysql -u root -p{pw} shop\n",
        "mysqldump -u root -p {rnd24} shop\n",
        "Generated token {hex40} for user alice\n",
        "kubeadm init --certificate-key {hex64}\n",
        "$ docker exec db cat /run/secrets/db_password\n{rnd24}\n",
        "BACKUP_KEY={rnd24}\n",
    ],
)
def test_what_only_looks_like_what_is_spared_is_a_secret(template: str):
    sample = corpus.make(template, "secret", random.Random(1))
    shown, _ = Redactor(key=b"k").text(sample.text)  # the rules by themselves
    assert corpus.leaked(sample, shown) == []


@pytest.mark.parametrize(
    "calm",
    [
        siblings.SIBLINGS_CALM,
        unbidden.UNBIDDEN_CALM,
        wayside.WAYSIDE_CALM,
        lodgers.LODGERS_CALM,
        travellers.TRAVELLERS_CALM,
        strangers.STRANGERS_CALM,
        lastcomers.LASTCOMERS_CALM,
        outsiders.OUTSIDERS_CALM,
        passersby.PASSERSBY_CALM,
    ],
    ids=[
        "siblings",
        "unbidden",
        "wayside",
        "lodgers",
        "travellers",
        "strangers",
        "lastcomers",
        "outsiders",
        "passersby",
    ],
)
def test_of_what_the_rules_spare_by_intent_nothing_is_changed(calm: tuple[str, ...]):
    texts = [corpus.make(template, "calm", random.Random(seed)).text for seed in range(4) for template in calm]
    assert [text for text in texts if REDACTOR.text(text) != (text, {})] == []


def test_code_is_not_taken_for_secrets():
    texts = [
        corpus.make(template, "code", random.Random(seed)).text
        for seed in range(3)
        for template in unforeseen.CODE_CALM
    ]
    assert [text for text in texts if REDACTOR.text(text) != (text, {})] == []


def test_at_most_one_place_in_a_megabyte_of_honest_text_is_changed():
    text = corpus.honest_text(1 << 20)
    clean, counts = REDACTOR.text(text)
    changed = [line for line in clean.splitlines() if "[REDACTED:" in line]
    assert sum(counts.values()) <= 1, changed[:5]


def test_what_stands_around_a_secret_stays():
    for sample in corpus.secret_samples(1, templates=corpus.SEEN):
        clean, counts = REDACTOR.text(sample.text)
        assert clean.count("\n") >= sample.text.count("\n") - 20
        assert clean.count("[REDACTED:") == sum(counts.values())


@pytest.mark.parametrize("size", [1, 3, 64, 1000])
def test_the_whole_corpus_gives_the_same_bytes_however_it_is_cut(size: int):
    text = "".join(
        sample.text for templates in TEMPLATES.values() for sample in corpus.secret_samples(1, templates=templates)
    )
    stream = REDACTOR.stream()
    out = "".join(stream.push(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()
    assert out == REDACTOR.text(text)[0]
