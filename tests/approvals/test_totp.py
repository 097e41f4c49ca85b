import pytest

from execkit_mcp.approvals import totp

SECRET = b"12345678901234567890"  # RFC 6238, appendix B


@pytest.mark.parametrize(
    ("epoch_s", "code"),
    [(59, "94287082"), (1111111109, "07081804"), (1111111111, "14050471"), (1234567890, "89005924"),
     (2000000000, "69279037"), (20000000000, "65353130")],
)  # fmt: skip
def test_the_codes_are_those_of_the_rfc(epoch_s, code):
    assert totp.code_at(SECRET, totp.step_of(epoch_s), digits=8) == code


def test_a_neighbouring_step_is_accepted_and_an_older_one_is_not():
    now = 2_000_000_000.0
    step = totp.step_of(now)
    for near in (-1, 0, 1):
        assert totp.matching_step(SECRET, totp.code_at(SECRET, step + near), now) == step + near
    assert totp.matching_step(SECRET, totp.code_at(SECRET, step - 2), now) is None
    assert totp.matching_step(SECRET, totp.code_at(SECRET, step), now, after=step) is None


def test_the_secret_survives_the_way_to_an_app_and_back():
    assert totp.secret_from_text(totp.secret_text(SECRET)) == SECRET
    uri = totp.provisioning_uri(SECRET, account="anna b")
    assert uri.startswith("otpauth://totp/execkit-mcp:anna%20b?secret=")
    with pytest.raises(ValueError, match="base32"):
        totp.secret_from_text("1!")
