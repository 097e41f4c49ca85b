"""What a policy says about redaction: which detectors are asked, and what is no secret."""

from importlib.metadata import EntryPoint

import pytest

from execkit_mcp.detectors import create_detectors, detector_names, registry
from execkit_mcp.errors import ConfigError, PolicyInvalid
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.runtime.policies import load_policy

VALUE = "aB3" + assemble((fill(ALNUM, 24),), "policy") + "9Z"
TOKEN = "gh" + "p_" + assemble((fill(ALNUM, 36),), "policy")


class Finder:
    def confirm(self, line: str) -> list[tuple[str, str]]:
        return [("house_key", word) for word in line.split() if word.startswith("hk")]


class Broken:
    def confirm(self, line: str) -> list[tuple[str, str]]:
        raise RuntimeError(line)


@pytest.fixture
def installed(monkeypatch):
    points = [
        EntryPoint(name="finder", value=f"{__name__}:Finder", group=registry.GROUP),
        EntryPoint(name="broken", value=f"{__name__}:Broken", group=registry.GROUP),
    ]
    found = {"finder": Finder, "broken": Broken}
    monkeypatch.setattr(EntryPoint, "load", lambda point: found[point.name])
    monkeypatch.setattr(
        registry, "entry_points", lambda group, name=None: [p for p in points if name is None or p.name == name]
    )


def clean(line: str, names: tuple[str, ...] | None, **more: object) -> tuple[str, dict[str, int]]:
    return Redactor(key=b"k", confirmers=create_detectors(names, **more)).text(line)


def test_an_installed_detector_is_asked_and_named(installed):
    assert "finder" in detector_names()
    assert clean("state_key: hk12345678\n", ("finder",))[1] == {"house_key": 1}
    assert clean("state_key: hk12345678\n", ())[1] == {}


def test_an_installed_detector_that_fails_hides_what_could_be_a_secret(installed):
    text, counts = clean(f"state_key: {VALUE}\n", ("broken",))
    assert counts == {"unchecked": 1}
    assert VALUE not in text


def test_single_plugins_and_the_limit_of_entropy_are_chosen(installed):
    line = f"state_key: {VALUE}\n"
    assert clean(line, ("ibm-cos-hmac",))[1] == {}
    assert clean(line, ("base64-entropy",))[1] == {"base64_high_entropy_string": 1}
    assert clean(line, ("base64-entropy",), entropy=7.5)[1] == {}


def test_an_unknown_detector_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError) as refused:
        create_detectors(("no-such",))
    assert "detect-secrets" in refused.value.hint


def policy(folder, text: str):
    file = folder / "p.yaml"
    file.write_text("version: 1\nname: p\n" + text)
    file.chmod(0o600)
    return load_policy(str(file))


def test_a_policy_chooses_detectors_and_says_what_is_no_secret(tmp_path):
    rules = policy(
        tmp_path,
        "redact:\n  detectors: [keyword, base64-entropy]\n  entropy: 4.5\n"
        '  allow:\n    - {value: "test-key-*", reason: Made for the tests; opens nothing.}\n',
    ).document.redact
    assert rules.detectors == ("keyword", "base64-entropy")
    assert rules.entropy == 4.5
    assert rules.allow[0].value == "test-key-*"


@pytest.mark.parametrize(
    "text",
    [
        "redact: {detectors: [no-such]}",
        "redact: {allow: [{value: '*', reason: all}]}",
        "redact: {allow: [{value: 'test-key-*'}]}",
        "redact: {entropy: 9}",
        "redact: {plugins: []}",
    ],
)
def test_a_policy_that_says_something_else_of_redaction_is_refused(tmp_path, text: str):
    with pytest.raises((PolicyInvalid, ConfigError)):
        policy(tmp_path, text + "\n")


def test_what_is_spared_stays_unless_it_is_known():
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value="test-key-known-1")], spared=("test-key-*",))
    assert redactor.text("password=test-key-12 x\n")[1] == {}
    assert redactor.text("password=test-key-known-1 x\n")[1] == {"known": 1}
    assert redactor.text(f"password=other-{TOKEN}\n")[1] != {}
