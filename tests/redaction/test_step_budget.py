"""A flood of names costs no more than other text, and hides more rather than less."""

import time

import pytest

from execkit_mcp.redaction import Redactor, nearby, scanner
from execkit_mcp.redaction.prefilter import Everything, Vectorscan
from execkit_mcp.redaction.table import gates
from tests.runtime.test_first_stage import HAS_WHEEL

FLOODS = (
    "_key=a1q9Zr7T ",
    "aut_key=a1aaaaaaaa_key=a1",
    "value='a1b2c3' name='x_key ",
    "api_key of a1b2c3 d4e5f6 ",
    "_key=a1q9Zr7T\n",
)
MADE = "Qz7" + "vT2mK9xW4pL8sB1n"
SECRETS = (
    f"api_key is {MADE} ",
    f"the auth key of the farm: {MADE} ",
    f"'value': '{MADE}', 'name': 'bot_key'",
)


def shown(text: str, size: int) -> str:
    stream = Redactor(key=b"k").stream()
    return "".join(stream.push(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()


@pytest.mark.parametrize("flood", FLOODS)
def test_the_values_that_are_judged_are_bounded_by_the_length_of_the_text(flood: str, monkeypatch):
    judged = []
    monkeypatch.setattr(nearby, "is_given", lambda *args, **kwargs: judged.append(args) and False)
    text = flood * (100_000 // len(flood)) + "\n"
    Redactor(key=b"k").text(text)
    assert judged
    assert len(judged) <= len(text) / 16 + 512 + 1


@pytest.mark.parametrize("flood", FLOODS[:4])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_behind_a_flood_is_hidden_all_the_same(flood: str, secret: str):
    assert MADE not in Redactor(key=b"k").text(flood * 3000 + secret + "\n")[0]


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 17])
def test_what_a_flood_leaves_does_not_depend_on_the_cut(flood: str, size: int):
    text = (flood * 900 + "\n" + f"note: build a1b2c3 of the key x9y8z7w6 {MADE}\n" * 5) * 3 + "plain\n" * 3000
    text += "\n".join(SECRETS) * 2
    assert shown(text, size) == shown(text, len(text))


@pytest.mark.parametrize("flood", FLOODS)
def test_the_first_stage_does_not_change_what_a_flood_leaves(flood: str):
    own = scanner.scanner()
    before = own.prefilter
    text = (flood * 2000 + "\nkey key key key a1b2 no gate opens here\n") * 2
    try:
        outs = []
        for engine in (Everything(), Vectorscan.compile(gates()) if HAS_WHEEL else Everything()):
            own.prefilter = engine
            outs.append(Redactor(key=b"k").text(text))
    finally:
        own.prefilter = before
    assert outs[0] == outs[1]


def test_a_line_after_a_flood_is_judged_by_itself_again():
    calm = "cache hit for item 4711a in 12ms\n"
    text = FLOODS[0] * 3000 + "\n" + calm * 300 + "a token digest 5d41402abc4b2a76\n"
    assert Redactor(key=b"k").text(text)[0].endswith(calm * 300 + "a token digest 5d41402abc4b2a76\n")


def test_an_environment_of_secrets_is_no_flood():
    text = "".join(f"SERVICE_{n}_API_KEY={MADE}{n}\nSERVICE_{n}_HOST=node{n}.example.com\n" for n in range(500))
    clean, counts = Redactor(key=b"k").text(text)
    assert counts.get("unread") is None
    assert clean.count("[REDACTED:") == 500
    assert clean.count("node") == 500


DENSE = (
    "cookie=a=1;",
    'cookie="a1',
    "mosquitto_",
    '"kty":"RSA" ',
    '"data":{"a":"bbbb", ',
    "a:bbbbbbb@c ",
    "::add-mask::",
    "password>",
)


@pytest.mark.parametrize("flood", DENSE)
def test_twice_the_text_costs_about_twice_the_time(flood: str):
    redactor = Redactor(key=b"k")

    def took(size: int) -> float:
        text = (flood * (size // len(flood) + 1))[:size] + "\n"
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            redactor.text(text)
            best = min(best, time.process_time() - start)
        return best

    took(4000)
    assert took(64_000) < 3.2 * took(32_000) + 0.05


@pytest.mark.parametrize("times", [1, 2, 15, 16, 17, 40, 400])
def test_a_token_behind_many_of_its_beginnings_is_hidden_to_its_end(times: int):
    beginning = "xo" + "xe-"
    text = "set " + beginning * times + MADE * 5 + " done\n"
    clean = Redactor(key=b"k").text(text)[0]
    assert MADE[-9:] not in clean
    assert clean.endswith(" done\n")
