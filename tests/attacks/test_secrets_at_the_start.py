"""P3: nothing leaves a server that is still starting: not through the first call, not in the reason why it ends."""

import json
import subprocess

import pytest

from execkit_mcp.redaction.shape import ALNUM, assemble, fill

pytestmark = pytest.mark.promise("P3")

LIMIT_S = 60
KNOWN = "Kn8" + assemble((fill(ALNUM, 25),), "known at the start") + "W2"
SHAPED = "gh" + "p_" + assemble((fill(ALNUM, 36),), "shaped at the start")
OPENING = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "early", "version": "1"}},
}


def shows(text: str) -> bool:
    return any(secret[at : at + 12] in text for secret in (KNOWN, SHAPED) for at in (4, 10))


def calls(*calls):
    """The opening and calls, written before the server has read a line."""
    messages = [OPENING, {"method": "notifications/initialized"}]
    messages += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 2)
    ]
    return "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages)


def answers(world, given, wanted):
    """What a server answers to lines that lay there when it started, and what it said to its operator."""
    with subprocess.Popen(
        world.serve_command(), env=world.environment(API_TOKEN=KNOWN), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as server:  # fmt: skip
        server.stdin.write(given)
        server.stdin.flush()
        found = {}
        while wanted - found.keys():
            line = server.stdout.readline()
            assert line
            found[json.loads(line).get("id")] = line
        _, told = server.communicate(timeout=LIMIT_S)
    return found, told


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell_run", {"command": "cat both"}),
        ("shell_run", {"command": "cat both >&2; false"}),
        ("shell_run", {"command": "cat both", "tty": True}),
        ("shell_run", {"command": f"cat /nowhere/{KNOWN} /nowhere/{SHAPED}"}),
        ("shell_run", {"command": f"{SHAPED} {KNOWN}"}),
        ("shell_run", {"command": "true", f"argument_{SHAPED}": KNOWN}),
        ("shell_explain", {"command": f"rm {KNOWN} {SHAPED}"}),
        ("shell_read", {"exec_id": KNOWN}),
        (f"tool_{SHAPED}", {}),
    ],
)
def test_p3_a_call_that_is_there_before_the_server_is_redacted_like_any_other(world, tool, arguments):
    (world.workspace / "both").write_text(f"the value is {KNOWN}\ntoken {SHAPED} end\n")
    found, told = answers(world, calls((tool, arguments)), {1, 2})
    assert "REDACTED" in found[2]
    assert not shows("".join(found.values()) + told)


@pytest.mark.parametrize("secret", [KNOWN, SHAPED], ids=["known", "shaped"])
@pytest.mark.parametrize(
    "settings",
    ["policy: %s\n", "%s: 1\n", 'secrets: "%s"\n', "target: %s\n", "policy: 1\ntoolsets: [%s]\n"],
)
def test_p3_the_reason_why_a_server_does_not_start_quotes_no_secret(world, settings, secret):
    folder = world.folder / "config" / "execkit-mcp"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(settings % secret)
    command = [part for part in world.serve_command() if part not in ("--policy", str(world.policy))]
    done = subprocess.run(
        command, input="", env=world.environment(API_TOKEN=KNOWN),
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "REDACTED" in done.stderr
    assert not shows(done.stdout + done.stderr)
