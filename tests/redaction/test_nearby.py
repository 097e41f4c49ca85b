"""Values that stand somewhere behind the name of a secret, and those that are none."""

import pytest

from execkit_mcp.redaction import Redactor

REDACTOR = Redactor(key=b"k")
MADE = "Qz7" + "vT2mK9xW4pL8sB1n"
CHOSEN = "Velvet" + "#stone" + "42"


@pytest.mark.parametrize(
    "line",
    [
        "<tr><td>DB_PASSWORD</td><td>{}</td></tr>",
        '<input id="api_key" type="text" value="{}" />',
        '{{"value": "{}", "name": "BOT_TOKEN"}}',
        'ds.setPassword("{}");',
        'public string ApiToken {{ get; set; }} = "{}";',
        "const dbPw = process.env.DB_PW || '{}';",
        "admin_pass: &x {}",
        "unseal key .......... {}",
        'keystorePass <- "{}"',
        "\u30d1\u30b9\u30ef\u30fc\u30c9: {}",
        "mot de passe : {}",
        "Using access token {} for the next hour",
    ],
)
@pytest.mark.parametrize("value", [MADE, CHOSEN])
def test_a_value_beside_the_name_of_a_secret_is_hidden_whatever_stands_between(line: str, value: str):
    text = line.format(value) + "\n"
    if "Using" in line and value is CHOSEN:
        text = text.replace(" for the next hour", "")
    assert value not in REDACTOR.text(text)[0]


@pytest.mark.parametrize(
    "line",
    [
        "Failed password for root from 10.0.0.12 port 51234 ssh2",
        "token digest 5d41402abc4b2a76b9719d911017c592",
        "cache_key=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "secret/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "isinstance(private_key, ed25519.Ed25519PrivateKey)",
        'js-tokens-4.0.0.tgz#19203fb59991df98e3a287050d4647cdeaf32499"',
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCd12",
        "sha512-K+M7v2YPvKxB4xqWcf+QFCCUJLB4YR0ed1amQPW198gRYblPEtusA71vyoTF8xyPSWCAicvNwRpDrE5DWp0Tg",
        "OLDPWD=/tmp/pytest-of-root/pytest-13/test_state_stays_between_calls_and_both_0/work",
        'declare -x PWD="/tmp/pytest-of-root/pytest-13/test_state_stays_between_calls_and_both_0/work"',
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ],
)
def test_what_only_stands_near_a_sensitive_word_is_left_alone(line: str):
    assert REDACTOR.text(line + "\n") == (line + "\n", {})


@pytest.mark.parametrize(
    "name", ["pushKey", "merchant-key", "TENANT_KEY", "unlockCode", "otp_seed", "API_PAT", "relayPass", "wlan key"]
)
@pytest.mark.parametrize("form", ['"{0}": "{1}"', "{0}={1}", "{0}: {1}"])
def test_names_that_no_list_holds_speak_for_what_looks_generated(name: str, form: str):
    for value in (MADE, "0a1b2c3d4e5f" + "60718293a4b5c6d7e8f90a1b"[:20]):
        assert value not in REDACTOR.text(form.format(name, value) + "\n")[0]


@pytest.mark.parametrize(
    "line", ["monkey=bananas12", "keyboard: us12intl", 'hotkey" : "ctrl+f12"', "compat=gnu2024", "first_pass=done12"]
)
def test_words_that_only_end_like_such_a_name_say_nothing(line: str):
    assert REDACTOR.text(line + "\n") == (line + "\n", {})
