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
    (f"API_KEY=/{HEX * 2}", HEX),
    ("password: }}Xk93jd8Kq2", "Xk93jd8Kq2"),
    ("password: bcrypt-Xk93jd8Kq2", "Xk93jd8Kq2"),
    ("password=FICHIER2024", "FICHIER2024"),
    ("DB_PASSWORD=GEHEIM", "GEHEIM"),
    (f"signing key: {HEX.upper()}{HEX.upper()[:24]}", HEX.upper()),
    (f"tokens: {MADE}", MADE),
    ("const pw = 'Xk93jd8K' + 'q2mmLp04';", "q2mmLp04"),
    ('const char *password = "Xk93jd8K" "q2mmLp04";', "q2mmLp04"),
    ("EMAIL_HOST_PASSWORD=qwrt zpsd fghj klcv\n", "klcv"),
    (r'{"body":"{\u0022api_key\u0022:\u0022Xk93jd8Kq2mm\u0022}"}', "Xk93jd8Kq2mm"),
    ("{&quot;password&quot;: &quot;Xk93jd8Kq2&quot;}", "Xk93jd8Kq2"),
    ("&lt;ns:password&gt;Xk93jd8Kq2&lt;/ns:password&gt;", "Xk93jd8Kq2"),
    ("$ echo -n 'alice:Xk93jd8Kq2' | base64", "Xk93jd8Kq2"),
    ("password\uff1aMaple_river4821", "Maple_river4821"),
    ("==> /run/secrets/db_password <==\nXk93jd8Kq2mm\n", "Xk93jd8Kq2mm"),
    ("/root/.pgpass:db.example.com:5432:shop:app:Xk93jd8Kq2", "Xk93jd8Kq2"),
    ("*:*:*:app:Xk93jd8Kq2", "Xk93jd8Kq2"),
    ("args:\n- --token\n- Xk93jd8Kq2mmLp04\n", "Xk93jd8Kq2mmLp04"),
)
CALM = (
    "SECRET_KEY_FACTORY = 'PBKDF2WithHmacSHA512'",
    "- name: PASSWORD_HASH_ALGORITHM\n  value: argon2id\n",
    f"  secretRefHash: {HEX * 4}",
    f"  decryption_key_hash_sha256=resource.decryption_key_hash_sha256, # {HEX}",
    f"    key: Linux-pip-{HEX * 4}",
    "- constant-time comparison of API keys (GHSA-y0cq-65zt-4wn6)",
    f"etc/secret -> ../run/secrets/{HEX * 4}",
    "sts.GetSessionToken:41m12s",
    f"deploying Token (tx: 0x{HEX * 4})",
    "    openssl_set_encrypt_key(ctx, key, EVP_aes_128_ecb());",
    "  gnutls_pkcs11_copy_secret_key, gnutls_pkcs11_copy_x509_privkey2,",
    f"  * Add new upstream signing key {HEX.upper()}{HEX.upper()}{HEX[:8].upper()}",
    "    Gets the secret_ref of this V1FlexVolumeSource.",
    "  -P, --passwd=FICHIER",
    "  * signing-key: Updated.",
    'die "$0: cannot change to $pwd: $!\\n";',
    "SSL_passwd_cb => sub { $key_pass }",
    "pw_name:pw_passwd:pw_uid:pw_gid:pw_gecos",
    "AMQP_URL=amqp://{{ user }}:{{ password }}@mq.example.com/",
    f"libsecret-0.21.4-r0 checksum:\nQ1{MADE[:26]}=\n",
    f">>> hashlib.sha256(b\"token\").hexdigest()\n'{HEX * 4}'\n",
    "libsecret:x64-linux -> 0.21.4",
    "arn:aws:logs:*:*:log-group:/aws/lambda/orders",
    "green  open   tokens-2026.03.03     " + MADE[:22] + "   1   1",
)


@pytest.mark.parametrize("text", CALM)
def test_what_only_speaks_of_a_secret_is_left_alone(text):
    assert Redactor(key=b"k").text(text) == (text, {})


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
