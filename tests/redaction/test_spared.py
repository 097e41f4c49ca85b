"""What is spared as code or as a name of something else is no secret that merely begins or ends like it."""

import time

import pytest

from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.redaction.shape import HEX as HEX_DIGITS
from execkit_mcp.redaction.value import is_placeholder

MADE = assemble((fill(ALNUM, 38),), "spared")
HEX = assemble((fill(HEX_DIGITS, 16),), "spared")
SECRETS = (
    (f"aws_secret_access_key = //{MADE}", MADE),
    ('password="&amp;Xk93jd8Kq2"', "Xk93jd8Kq2"),
    ("password=&quot;Xk93jd8Kq2&quot;", "Xk93jd8Kq2"),
    ('"password": "@Sunny2024.Day1"', "Sunny2024"),
    ("DB_PASSWORD=k9x2m4q8_password", "k9x2m4q8"),
    (f'API_KEY="a{HEX}_key"', HEX),
    ("password: ab_cd.Xk93jd", "Xk93jd"),
    ("login: alice; password: Xk93jdK2; port: 22", "Xk93jdK2"),
    ("host=db,password=prod_8f3k2j9d,user=app", "8f3k2j9d"),
    (f"signingkey: {HEX}", HEX),
    (f"signingkey {MADE}", MADE),
    ("$ make show-password\nXk93jd8Kq2mm\n", "Xk93jd8Kq2mm"),
    ("$ cd app && cat password.txt\nXk93jd8Kq2mm\n", "Xk93jd8Kq2mm"),
    ("$ cat public_key_passphrase.txt\nXk93jd8Kq2mmLp04\n", "Xk93jd8Kq2mmLp04"),
    ("Root token   9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "9b1deb4d"),
    ("X-Consul-Token 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "9b1deb4d"),
    ("Created token 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d for alice", "9b1deb4d"),
    ("$ make token\nXk93jd8Kq2mmLp04\n", "Xk93jd8Kq2mmLp04"),
    ("Server=db;User=sa;Password = swordfish;Encrypt=yes", "swordfish"),
    ("password: correctHorse\n", "correctHorse"),
    ('"password": Sommer7\n', "Sommer7"),
    (f"S3_KEY={MADE}", MADE),
    (f"vault/token-prod {MADE}", MADE),
    ('curl -H "api-key: 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d" https://a.example.com', "9b1deb4d"),
)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_that_begins_like_code_is_hidden(text, secret):
    assert secret not in Redactor(key=b"k").text(text)[0]


@pytest.mark.parametrize("flood", ["x=a-b ", 'x="-b ', "x=cookie:b=1 ", "x=cookie:b=1234567a ", "x=cookie:cookie:b=1 "])
def test_cookies_in_cookies_are_walked_once(flood):
    began = time.process_time()
    shown = Redactor(key=b"k").text("-b " + flood * (60_000 // len(flood)) + f"z={MADE}\n")[0]
    assert time.process_time() - began < 5
    assert MADE not in shown


def test_a_long_value_is_no_placeholder_soon():
    began = time.process_time()
    assert not is_placeholder(":!A:!" + "SHA-" * 10_000 + "~(")
    assert time.process_time() - began < 1
