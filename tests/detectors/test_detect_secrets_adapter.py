import subprocess
import sys

import pytest

from execkit_mcp.detectors import DetectSecrets
from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.shape import ALNUM, HEX, assemble, fill

VALUE = "aB3" + assemble((fill(ALNUM, 24),), "detector") + "9Z"


def test_a_candidate_that_no_rule_decides_is_confirmed_by_detect_secrets():
    line = f"state_key: {VALUE}\n"
    assert Redactor(key=b"k").text(line) == (line, {})
    clean, counts = Redactor(key=b"k", confirmers=[DetectSecrets()]).text(line)
    assert VALUE not in clean
    assert clean.startswith("state_key: [REDACTED:")
    assert sum(counts.values()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "cache_key: " + assemble((fill(HEX, 40),)),
        "primary_key=12345678",
        "public_key: " + VALUE,
        "key: value",
        "foreign_key = customer_id_reference",
        "token_hash: sha256:" + assemble((fill(HEX, 64),)),
        "request_key=123e4567-e89b-12d3-a456-426614174000",
    ],
)
def test_digests_and_public_values_are_not_confirmed(line: str):
    assert Redactor(key=b"k", confirmers=[DetectSecrets()]).text(line) == (line, {})


def test_only_candidate_lines_are_shown_to_a_confirmer():
    seen: list[str] = []

    class Spy:
        def confirm(self, line: str) -> list[tuple[str, str]]:
            seen.append(line)
            return []

    Redactor(key=b"k", confirmers=[Spy()]).text(f"plain {VALUE}\nstate_key={VALUE}\npass" + f"word={VALUE}\n")
    assert seen == [f"state_key={VALUE}"]


def test_a_detector_that_fails_neither_leaks_nor_loses_output():
    class Broken:
        secret_type = "Broken"

        def analyze_string(self, line: str) -> list[str]:
            raise RuntimeError(line)

    confirmer = DetectSecrets(load=lambda: [Broken()])
    clean, counts = Redactor(key=b"k", confirmers=[confirmer]).text(f"a\nstate_key={VALUE}\nb\n")
    assert VALUE not in clean
    assert counts == {"unchecked": 1}
    assert clean.startswith("a\nstate_key=[")
    assert clean.endswith("\nb\n")


def test_a_detector_that_cannot_be_loaded_fails_closed():
    def load() -> list[object]:
        raise ImportError

    clean, _ = Redactor(key=b"k", confirmers=[DetectSecrets(load=load)]).text(f"state_key={VALUE}\n")
    assert VALUE not in clean


def test_the_library_is_imported_only_when_it_is_needed():
    code = "import sys, execkit_mcp.detectors as d; d.DetectSecrets(); print('detect_secrets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_a_detector_finds_counts_whatever_it_looks_like():
    class Sure:
        def confirm(self, _line):
            return [("own", "/srv/keys/aB3xYz12")]

    shown = Redactor(key=b"k", confirmers=(Sure(),)).text("pubkey secret_of: /srv/keys/aB3xYz12\n")[0]
    assert "aB3xYz12" not in shown
