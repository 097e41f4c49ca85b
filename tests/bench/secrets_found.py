# ruff: noqa: E501 - a row stands in one piece
"""Redaction in figures: what is found, what is taken for a secret, how fast (seconds of one processor); two ways to do without it."""

import importlib.util
import random
import re
import sys
import time
from pathlib import Path
from types import ModuleType

from execkit_mcp.detectors import DetectSecrets
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.redaction import KnownValue, Redactor, first_stage, use_first_stage
from execkit_mcp.redaction.prefilter import Everything, Vectorscan
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.redaction.shapes import SHAPES
from execkit_mcp.redaction.table import gates

_CORPUS = Path(__file__).resolve().parents[1] / "redaction" / "corpus.py"
_ROUNDS = 8


def _corpus(name: str = "corpus") -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"redaction_{name}", _CORPUS.with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def log_text(size: int) -> str:
    """The mixed logs that speed is measured on."""
    return str(_corpus().log_text(size))


def _rate(redactor: Redactor, text: str, chunk: int) -> float:
    """The best of three: a busy machine can only make it slower."""
    best = 0.0
    for _ in range(3):
        stream = redactor.stream()
        start = time.process_time()
        for at in range(0, len(text), chunk):
            stream.push(text[at : at + chunk])
        stream.finish()
        best = max(best, len(text) / (time.process_time() - start) / 1e6)
    return best


def main() -> None:
    """Print the rows."""
    corpus = _corpus()
    redactor = Redactor(key=b"k" * 32, confirmers=(DetectSecrets(),))
    print(f"token shapes: {len(SHAPES)} rows, {len({shape.kind for shape in SHAPES})} kinds")
    sets = {
        "seen": corpus.SEEN,
        "unseen": corpus.UNSEEN,
        "second": _corpus("wild").WILD,
        "third": _corpus("later").LATER,
        "fourth": _corpus("fresh").FRESH,
        "fifth": _corpus("strange").STRANGE,
        "sixth": _corpus("foreign").FOREIGN,
        "seventh": _corpus("distant").DISTANT,
        "eighth": _corpus("unforeseen").UNFORESEEN,
        "ninth": _corpus("beyond").BEYOND,
        "tenth": _corpus("elsewhere").ELSEWHERE,
        "eleventh": _corpus("afresh").AFRESH,
        "twelfth": _corpus("lately").LATELY,
        "thirteenth": _corpus("endmost").ENDMOST,
        "fourteenth": _corpus("unread").UNREAD,
        "fifteenth": _corpus("unknown").UNKNOWN,
        "sixteenth": _corpus("untold").UNTOLD,
        "seventeenth": _corpus("unmet").UNMET,
        "eighteenth": _corpus("unheard").UNHEARD,
        "siblings": _corpus("siblings").SIBLINGS,
        "nineteenth": _corpus("unbidden").UNBIDDEN,
        "wayside": _corpus("wayside").WAYSIDE,
        "lodgers": _corpus("lodgers").LODGERS,
        "travellers": _corpus("travellers").TRAVELLERS,
        "strangers": _corpus("strangers").STRANGERS,
        "lastcomers": _corpus("lastcomers").LASTCOMERS,
        "outsiders": _corpus("outsiders").OUTSIDERS,
        "passersby": _corpus("passersby").PASSERSBY,
    }
    for name, templates in sets.items():
        total = leaked = 0
        for sample in corpus.secret_samples(_ROUNDS, templates=templates):
            total += len(sample.secrets)
            leaked += len(corpus.leaked(sample, redactor.text(sample.text)[0]))
        print(f"redaction, recall on {len(templates)} {name} templates: {1 - leaked / total:.1%} of {total}")
    learned = ("wayside", "lodgers", "travellers", "strangers", "lastcomers", "outsiders", "passersby")
    calm = [template for name in learned for template in getattr(_corpus(name), f"{name.upper()}_CALM")]
    texts = [corpus.make(template, "calm", random.Random(seed)).text for seed in range(4) for template in calm]
    altered = sum(redactor.text(text)[0] != text for text in texts)
    print(
        f"redaction, texts without a secret altered, of seven sets that the rules have seen: {altered} of {len(texts)}"
    )
    grammar = _corpus("grammar")
    rng = random.Random(1)
    made = [corpus.make(template, form, rng) for form, template in grammar.templates(len(grammar.FORMS) * _ROUNDS)]
    leaked = sum(len(corpus.leaked(sample, redactor.text(sample.text)[0])) for sample in made)
    print(
        f"redaction, recall on {len(grammar.FORMS)} formats with any name: {1 - leaked / len(made):.1%} of {len(made)}"
    )
    honest = corpus.honest_text(4 << 20, seed=2)
    counts = redactor.text(honest)[1]
    print(
        f"redaction, false alarms in {len(honest) / 1e6:.1f} MB of honest text: {sum(counts.values())} {counts or ''}"
    )
    tempting = (
        honest[: 2 << 20] + "".join(s.text for s in corpus.secret_samples(3, templates=corpus.SEEN)) + honest[2 << 20 :]
    )
    logs = corpus.log_text(4 << 20)
    known = [KnownValue(name=str(n), value="aB3" + assemble((fill(ALNUM, 24),), str(n))) for n in range(30)]
    stages = [Everything()]
    if importlib.util.find_spec("hyperscan") is not None:
        stages.append(Vectorscan.compile(gates()))
    for stage in stages:
        use_first_stage(stage)
        for label, values in (("no known values", []), ("30 known values", known)):
            one = Redactor(key=b"k" * 32, known=values, confirmers=(DetectSecrets(),))
            one.text(logs[:100_000])
            rates = ", ".join(f"{_rate(one, logs, chunk):.0f} at {chunk}" for chunk in (1 << 18, 1 << 16, 4096))
            print(f"redaction, {first_stage()}, {label}: {rates} (MB/s at chunk size, mixed logs; bar: 40)")
            print(f"    text of which every third line looks like a secret: {_rate(one, tempting, 1 << 16):.0f} MB/s")
    _plain(logs)
    _chain(honest)


def _chain(text: str) -> None:
    data = text.encode()
    chain = OutputChain(redactor=Redactor(key=b"k" * 32), limit_bytes=1 << 20)
    start = time.process_time()
    for at in range(0, len(data), 1 << 18):
        chain.push(data[at : at + (1 << 18)])
    chain.settle()
    print(
        f"output chain (decode, terminal, redaction, retention): {len(data) / (time.process_time() - start) / 1e6:.0f} MB/s"
    )
    samples = []
    for at in range(0, 4096 * 400, 4096):
        start = time.process_time()
        Redactor(key=b"k" * 32).stream().push(text[at : at + 4096])
        samples.append((time.process_time() - start) * 1e3)
    samples.sort()
    print(f"redaction of 4 KiB: median {samples[200]:.2f} ms, p99 {samples[395]:.2f} ms; bar: 5 ms")


def _plain(text: str) -> None:
    """The same shapes as plain expressions, and detect-secrets alone."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    part = text[:200_000]
    patterns = [re.compile(shape.pattern) for shape in SHAPES]
    start = time.process_time()
    for pattern in patterns:
        for _ in pattern.finditer(part):
            pass
    print(f"Python re, each shape searched for: {len(part) / (time.process_time() - start) / 1e6:.2f} MB/s")
    plugins = [plugin() for plugin in get_mapping_from_secret_type_to_class().values()]
    start = time.process_time()
    for line in part.splitlines():
        for plugin in plugins:
            for _ in plugin.analyze_string(line):
                pass
    print(f"detect-secrets alone: {len(part) / (time.process_time() - start) / 1e6:.2f} MB/s")


if __name__ == "__main__":
    main()
