import pytest

from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.shape import BASE64, assemble, fill

REDACTOR = Redactor(key=b"k")
BEGIN = "-----BEGIN {}PRIVATE " + "KEY-----"
END = "-----END {}PRIVATE " + "KEY-----"
BODY = [assemble((fill(BASE64, 64),), str(n)) for n in range(12)]
LAST = assemble((fill(BASE64, 30),), "last") + "=="


def block(kind: str = "RSA ", headers: str = "", prefix: str = "") -> str:
    lines = [BEGIN.format(kind), *headers.splitlines(), *BODY, LAST, END.format(kind)]
    return "".join(f"{prefix}{line}\n" for line in lines)


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
@pytest.mark.parametrize("prefix", ["", "    ", "> ", "+", "key.pem:", "  12\t"])
def test_the_body_of_a_private_key_is_one_secret(kind: str, prefix: str):
    clean, counts = REDACTOR.text("before\n" + block(kind, prefix=prefix) + "after\n")
    assert counts == {"private_key": 1}
    assert all(line not in clean for line in [*BODY, LAST])
    assert clean.startswith("before\n")
    assert clean.endswith("\nafter\n")


def test_lines_of_several_lengths_are_one_body():
    body = [BODY[0] + "abcd1234", BODY[1], BODY[2][:60], BODY[3][:52]]
    text = "\n".join([BEGIN.format("PGP "), "", *body, END.format("PGP "), "after\n"])
    clean, counts = REDACTOR.text(text)
    assert counts == {"private_key": 1}
    assert not any(line in clean for line in body)
    assert clean.endswith("\nafter\n")


def test_headers_of_an_encrypted_key_stay():
    clean, counts = REDACTOR.text(block(headers="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"))
    assert counts == {"private_key": 1}
    assert "DEK-Info" in clean


def test_a_key_without_end_is_redacted_and_nothing_after_it_is_lost():
    text = BEGIN.format("RSA ") + "\n" + "\n".join(BODY[:4]) + "\n"
    after = "total 12\ndone\ndrwxr-xr-x 2 root root\n" + "word\n" * 100
    clean, counts = REDACTOR.text(text + after)
    assert counts == {"private_key": 1}
    assert clean.endswith("\n" + after)
    assert not any(line in clean for line in BODY)


@pytest.mark.parametrize("newline", ["\\n", "\\\\n", " "])
def test_a_key_on_one_line_is_redacted(newline: str):
    text = newline.join([BEGIN.format(""), *BODY, LAST, END.format("")])
    clean, counts = REDACTOR.text(f'{{"type": "service_account", "private_key": "{text}", "id": "x"}}\n')
    assert sum(counts.values()) == 1
    assert not any(line in clean for line in [*BODY, LAST])
    assert '"id": "x"' in clean


def test_a_begin_line_in_prose_takes_nothing_with_it():
    text = f"a key starts with {BEGIN.format('')} as everyone knows\nsecond line\nthird\n"
    assert REDACTOR.text(text) == (text, {})


def test_a_body_that_never_ends_is_given_out_in_parts():
    text = BEGIN.format("") + "\n" + (BODY[0] + "\n") * 5000
    stream = REDACTOR.stream()
    longest = 0
    for at in range(0, len(text), 4096):
        stream.push(text[at : at + 4096])
        longest = max(longest, stream.held_chars)
    stream.finish()
    assert longest < 150_000
    assert stream.counts["private_key"] > 1


def test_pgp_and_putty_keys_are_private_keys_too():
    pgp = (
        "-----BEGIN PGP PRIVATE "
        "KEY BLOCK-----\nVersion: GnuPG\n\n"
        + "\n".join(BODY)
        + f"\n{LAST}\n=aB3d\n-----END PGP PRIVATE "
        + "KEY BLOCK-----\n"
    )
    putty = "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n" + "\n".join(BODY[:2]) + "\nPrivate-MAC: 00ff\n"
    for text in (pgp, putty):
        clean, _ = REDACTOR.text(text)
        assert not any(line in clean for line in BODY), clean


def test_a_body_line_may_start_with_a_plus_sign():
    lines = ["+" + line[1:] for line in BODY]
    for body in (lines, [lines[0], *BODY], [*BODY, lines[0]]):
        text = "\n".join([BEGIN.format("RSA "), *body, LAST, END.format("RSA ")]) + "\nafter\n"
        clean, counts = REDACTOR.text(text)
        assert counts == {"private_key": 1}
        assert not any(line in clean for line in [*body, LAST])
        assert clean.endswith("\nafter\n")
