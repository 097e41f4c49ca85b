"""Passwords as programs make and people choose them: what the rules spare must not be one."""

import random
import string

import pytest

from execkit_mcp.redaction.names import Trust, is_secret

SIGNS = "!@#$%^&*()-_=+[]{};:,.<>?/|~"
WORDS = ("Maple", "river", "Stone", "hunter", "winter", "Summer", "admin", "orbit")


def generated(rng: random.Random) -> str:
    return "".join(rng.choice(string.ascii_letters + string.digits + SIGNS) for _ in range(rng.randint(12, 20)))


def with_a_sign(rng: random.Random) -> str:
    letters = [rng.choice(string.ascii_letters + string.digits) for _ in range(rng.randint(10, 16))]
    letters[rng.randrange(len(letters))] = rng.choice(SIGNS)
    return "".join(letters)


def chosen(rng: random.Random) -> str:
    between, end = rng.choice(["", "-", ".", "_", "!", "@", "#"]), rng.choice(["", "!", "$", "?"])
    return f"{rng.choice(WORDS)}{between}{rng.choice(WORDS)}{rng.randint(10, 9999)}{end}"


@pytest.mark.parametrize(
    ("make", "quoted", "bare"),
    [(generated, 0.99, 0.95), (with_a_sign, 0.985, 0.95), (chosen, 1.0, 1.0)],
)
def test_a_password_behind_its_name_is_hidden(make, quoted: float, bare: float):
    rng = random.Random(5)
    made = [make(rng) for _ in range(10_000)]
    spared = [each for each in made if not is_secret(each, Trust.PASSWORD, "", is_quoted=True)]
    assert len(spared) <= len(made) * (1 - quoted) + 1e-9, spared[:20]
    spared = [each for each in made if not is_secret(each, Trust.PASSWORD, "", is_quoted=False)]
    assert len(spared) <= len(made) * (1 - bare) + 1e-9, spared[:20]


@pytest.mark.parametrize("letters", ["\u0e01\u0e32\u0e23", "\u0915\u093e", "\u00e9a", "\u4f60\u597d", "a\u0301"])
def test_long_words_of_any_script_take_no_longer_than_their_length(letters: str):
    value = (letters * 512)[:500] + "#1"
    assert is_secret(value, Trust.PASSWORD, "", is_quoted=True)  # a backtracking pattern would never return
    assert not is_secret(letters * 20 + ": ", Trust.PASSWORD, "", is_quoted=True) or letters.isascii()
