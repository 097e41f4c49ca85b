"""P3: secrets do not come back, however the stream is cut, coloured, folded or encoded."""

import base64
import time

import pytest

from execkit_mcp.output import OutputChain, view
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.redaction.shape import ALNUM, BASE64, assemble, fill

pytestmark = pytest.mark.promise("P3")

SECRET = "Zq8" + assemble((fill(ALNUM, 24),), "attack") + "w3"
TOKEN = "gh" + "p_" + assemble((fill(ALNUM, 36),), "attack")


def shown(*pieces: bytes, known: str = SECRET) -> str:
    chain = OutputChain(redactor=Redactor(key=b"k", known=[KnownValue(name="a", value=known)]))
    seen = ""
    for piece in pieces:
        chain.push(piece)
        seen += chain.snapshot().read(0, 1 << 20).text
    chain.settle()
    return seen + chain.retained.read(0, 1 << 20).text


@pytest.mark.parametrize("secret", [SECRET, TOKEN])
@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_p3_a_secret_split_over_chunks_does_not_come_back(secret: str, size: int):
    data = f"value {secret} end\n".encode()
    text = shown(*(data[at : at + size] for at in range(0, len(data), size)))
    assert secret not in text
    assert secret[:14] not in text


@pytest.mark.parametrize("secret", [SECRET, TOKEN])
@pytest.mark.parametrize(
    "code", ["\x1b[0m", "\x1b]0;x\x07", "\x1b(B", "\b \b", "\x07", "\x9b1m", "\x1b[1K" * 0 + "\x1b[m\x1b[K"]
)
def test_p3_escape_codes_inside_a_secret_do_not_hide_it(secret: str, code: str):
    text = shown((secret[:11] + code + secret[11:] + "\n").encode())
    assert "[REDACTED:" in text
    assert secret[:11] not in text
    assert secret[11:] not in text


def test_p3_the_stream_redactor_alone_sees_through_escape_codes():
    for code in ("\x1b[0m", "\x1b]0;x\x07", "\x1b(B", "\x9b1m"):
        clean, counts = Redactor(key=b"k").text(f"\x1b[31m{TOKEN[:9]}{code}{TOKEN[9:]}\x1b[0m\n")
        assert counts == {"github_token": 1}
        assert TOKEN[12:] not in clean


def test_p3_a_secret_under_a_rewritten_line_does_not_come_back():
    assert SECRET[4:] not in shown(f"{SECRET}\rabc\n".encode())
    assert SECRET not in shown(f"abc\r{SECRET}\n".encode())
    assert SECRET not in shown(f"{SECRET[:9]}XX\x1b[2D{SECRET[9:]}\n".encode())


def test_p3_a_cut_never_leaves_half_a_secret():
    chain = OutputChain(redactor=Redactor(key=b"k", known=[KnownValue(name="a", value=SECRET)]))
    chain.push((f"x{SECRET}y" * 2000).encode())
    chain.settle()
    for budget in range(1, 600, 7):
        text, _ = view(chain.retained, budget)
        assert SECRET[:6] not in text
        assert SECRET[-6:] not in text


@pytest.mark.parametrize("width", [8, 16, 20, 60, 64, 76])
def test_p3_the_environment_through_base64_and_fold_does_not_come_back(width: int):
    env = f"HOME=/root\nAPP={SECRET}\nPATH=/bin\n"
    for prefix in ("", "A", "AB"):
        blob = base64.b64encode((prefix + env).encode()).decode()
        folded = "\n".join(blob[at : at + width] for at in range(0, len(blob), width)) + "\n"
        back = "".join(shown(folded.encode()).split())
        core = base64.b64encode(("xyz" + SECRET)[len(prefix) :].encode()).decode()
        assert "[REDACTED:known:" in back
        assert core[8:28] not in back
        plain = "".join(env[at : at + width] + "\n" for at in range(0, len(env), width))
        assert SECRET[8:16] not in shown(plain.encode())


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", " ", "''", "\\", '"'])
def test_p3_what_is_put_between_the_characters_does_not_hide_a_known_value(mark: str):
    assert "[REDACTED:known:" in shown((mark.join(SECRET) + "\n").encode())


@pytest.mark.parametrize("change", [str.upper, str.lower, str.swapcase, lambda v: v[::-1]])
def test_p3_a_changed_known_value_does_not_come_back(change):
    assert change(SECRET) not in shown(f"{change(SECRET)}\n".encode())


def test_p3_a_flushed_half_is_followed_by_a_swallowed_half():
    stream = Redactor(key=b"k").stream()
    out = stream.push("pass" + "word=first") + stream.flush()
    out += stream.push("second third\n") + stream.finish()
    assert "first" not in out
    assert "second" not in out
    assert out.endswith(" third\n")


def test_p3_silence_does_not_bring_out_the_beginning_of_a_token():
    stream = Redactor(key=b"k", known=[KnownValue(name="a", value=SECRET)]).stream()
    for secret in (TOKEN, SECRET):
        out = stream.push(f"see {secret[:20]}") + stream.flush()
        assert secret[:20] not in out
        out += stream.push(f"{secret[20:]} ok\n")
        assert secret[:20] not in out
        assert secret[20:] not in out
        assert out.startswith("see ")
        assert out.endswith(" ok\n")


HOSTILE = [
    "pass" + "word" * 50_000,
    "://" + "a:" * 60_000,
    "eyJ" + "a" * 100_000 + "." * 1000,
    "eyJ." * 50_000,
    "-----BEGIN PRIVATE " + "KEY-----" + "\\n" * 60_000,
    "mysql " * 30_000,
    "cookie: " + "a=b;" * 50_000,
    "token" + " " * 200_000,
    "secret='" * 30_000,
    "\x1b[" * 60_000,
    "\x1b]" * 60_000,
    "sig=" * 50_000,
    "'" * 200_000,
    "htpasswd -b" + " -b" * 50_000,
    "ldapsearch " * 20_000,
    "identified by " * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:12].encode("unicode_escape").decode() for text in HOSTILE])
def test_p3_no_line_makes_the_redactor_slow(text: str):
    start = time.perf_counter()
    shown((text + "\n").encode())
    assert time.perf_counter() - start < 6


def test_p3_nothing_is_lost_around_what_is_replaced():
    body = "".join(assemble((fill(BASE64, 64),), str(n)) + "\n" for n in range(4))
    text = f"one {SECRET} two\nthree\n-----BEGIN PRIVATE " + f"KEY-----\n{body}four five\nsix\n"
    clean, _ = Redactor(key=b"k", known=[KnownValue(name="a", value=SECRET)]).text(text)
    for word in ("one ", " two\n", "three\n", "four five\n", "six\n"):
        assert word in clean
