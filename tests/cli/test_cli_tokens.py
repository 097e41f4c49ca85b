"""``execkit-mcp tokens``: made once, shown once, listed without their secrets, ended at once."""

import json
import re

import pytest

from execkit_mcp.audit import verify_folder
from execkit_mcp.cli.main import run


@pytest.fixture
def tokens(world, monkeypatch, capsys):
    """``tokens(*args)``: exit code, standard output, standard error."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("EXECKIT_SESSION", raising=False)

    def call(*args):
        code = run(["tokens", *args])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def test_create_prints_the_token_and_nothing_else_on_standard_output(tokens):
    code, out, err = tokens("create", "laptop")
    assert code == 0
    assert re.fullmatch(r"ekt_[0-9a-f]{8}_[A-Za-z0-9_-]{43}\n", out)
    assert "shown only now" in err
    assert out.strip() not in err


def test_list_shows_scopes_and_no_secret(tokens):
    secret = tokens("create", "ci", "--read-only", "--target", "local", "--policy", "workstation", "--expires", "12h")[
        1
    ]
    code, out, _ = tokens("list")
    assert code == 0
    assert "ci" in out
    assert "read-only; targets local; policies workstation" in out
    assert secret.strip().rpartition("_")[2] not in out
    row = json.loads(tokens("list", "--json")[1])
    assert (row["name"], row["state"], row["targets"], row["policies"], row["read_only"]) == (
        "ci", "active", ["local"], ["workstation"], True,
    )  # fmt: skip
    assert row["expires_s"] - row["created_s"] == 12 * 3600


def test_a_revoked_token_is_gone_from_the_list_and_its_name_is_free(tokens):
    tokens("create", "laptop")
    assert tokens("revoke", "laptop")[0] == 0
    assert "No token exists" in tokens("list")[1]
    assert "revoked" in tokens("list", "--all")[1]
    assert tokens("create", "laptop")[0] == 0


def test_two_active_tokens_of_one_name_are_refused(tokens):
    tokens("create", "laptop")
    code, out, err = tokens("create", "laptop")
    assert (code, out) == (2, "")
    assert "exists already" in err


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["create", "Bad Name"], "not a name"),
        (["create", "x", "--expires", "soon"], "not a time"),
        (["create", "x", "--expires", "0d"], "not a time"),
        (["create", "x", "--target", "prod"], "No target 'prod' is declared"),
        (["create", "x", "--policy", "red-only"], 'did you mean "read-only"?'),
        (["create", "x", "--metrics", "--read-only"], "--metrics stands alone"),
        (["revoke", "nobody"], "No active token"),
    ],
)
def test_a_mistake_is_named_with_the_remedy(tokens, args, told):
    code, out, err = tokens(*args)
    assert (code, out) == (2, "")
    assert told in err


def test_making_and_ending_a_token_is_on_the_record(tokens, world):
    secret = tokens("create", "laptop")[1].strip()
    tokens("revoke", "laptop")
    assert verify_folder(world.state).problem is None
    record = "".join(path.read_text() for path in world.state.glob("*.jsonl"))
    assert "token.created" in record
    assert "token.revoked" in record
    assert secret not in record


def test_an_agent_makes_no_tokens(tokens, monkeypatch):
    monkeypatch.setenv("EXECKIT_SESSION", "main")
    code, out, err = tokens("create", "mine")
    assert (code, out) == (3, "")
    assert "inside an execkit session" in err
