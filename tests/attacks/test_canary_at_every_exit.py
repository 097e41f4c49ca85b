"""P3: a secret that the server knows, and one that only looks like one, leave by no exit of the system."""

import base64
import json

import pytest

from execkit_mcp.redaction.shape import ALNUM, assemble, fill

pytestmark = pytest.mark.promise("P3")

KNOWN = "Cn4" + assemble((fill(ALNUM, 25),), "canary") + "R7"
SHAPED = "gh" + "p_" + assemble((fill(ALNUM, 36),), "shaped canary")


def parts(secret: str) -> list[str]:
    """Pieces of which none may be seen, and the encodings that the table promises."""
    plain = [secret[at : at + 12] for at in (4, 9, 14)]
    encoded = [base64.b64encode(secret.encode()).decode()[4:-4], secret.encode().hex()[4:-4], secret[::-1][3:15]]
    return [*plain, *encoded]


def shows(text: str) -> bool:
    return any(part in text for secret in (KNOWN, SHAPED) for part in parts(secret))


@pytest.fixture
def canary(world):
    (world.workspace / "known.txt").write_text(f"the value is {KNOWN}\n")
    (world.workspace / "shaped.txt").write_text(f"token {SHAPED} end\n")
    (world.workspace / KNOWN).mkdir()
    (world.workspace / SHAPED).mkdir()
    return world


CALLS: list[dict[str, object]] = [
    {"command": "cat known.txt shaped.txt"},
    {"command": "cat known.txt shaped.txt >&2; false"},
    {"command": "cat known.txt shaped.txt", "tty": True},
    {"command": 'cat known.txt | base64; printf %q "$(cat known.txt)"', "max_output": 200},
    {"command": "printf '%s' \"$(cat shaped.txt)\""},
    {"command": "cat", "stdin": f"{KNOWN}\n{SHAPED}\n"},
    {"command": "seq 60000; cat known.txt shaped.txt"},
    {"command": "cat known.txt shaped.txt; sleep 30", "timeout_s": 1},
    {"command": f"cat '{KNOWN}' /nowhere/{SHAPED}"},
    {"command": f"unknown-program {KNOWN} {SHAPED}"},
    {"command": f"rm -rf /{KNOWN} {SHAPED}"},
    {"command": f"echo {KNOWN} | |"},
    {"command": f"touch {KNOWN}-{SHAPED}", "reason": f"because of {KNOWN} {SHAPED}"},
    {"command": f'cd "{KNOWN}" && pwd'},
    {"command": "cat ../known.txt & sleep 0.2"},
    {"command": f'cd "../{SHAPED}" && pwd'},
    {"command": 'printenv; echo "$COLOR"'},
    {"command": "true"},
]


READS: list[dict[str, object]] = [
    {}, {"stream": "stderr"}, {"stream": "screen"}, {"tail": 3}, {"grep": "value|token"}, {"offset": 5},
]  # fmt: skip
OTHERS: list[tuple[str, dict[str, object]]] = [
    ("shell_explain", {"command": f"cat {KNOWN} {SHAPED}"}),
    ("shell_explain", {"command": f"rm -rf /{KNOWN}/{SHAPED}"}),
    ("shell_explain", {"command": f"echo {KNOWN} {SHAPED} ("}),
    ("shell_info", {}),
    ("shell_open", {"cwd": f"/nowhere/{KNOWN}/{SHAPED}"}),
    ("shell_open", {"cwd": KNOWN, "name": "two"}),
    ("shell_info", {}),
    ("shell_run", {"command": "true", "session": KNOWN}),
    ("shell_run", {"command": "true", "approval_id": f"{KNOWN}{SHAPED}"}),
    ("shell_read", {"exec_id": f"x-{KNOWN}-{SHAPED}"}),
    ("shell_close", {"session": f"no-{SHAPED}"}),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_p3_a_canary_leaves_by_no_exit(canary, serve, mode):
    exits: list[tuple[str, str]] = []

    async with serve(mode=mode, CANARY_TOKEN=KNOWN) as served:

        async def call(tool: str, **arguments: object) -> dict[str, object]:
            result = await served.call(tool, **arguments)
            exits.append((f"{tool} {arguments}", result.model_dump_json()))
            return result.structured_content or {}

        ids = [body["exec_id"] for arguments in CALLS if (body := await call("shell_run", **arguments)).get("exec_id")]
        for exec_id in ids:
            for more in READS:
                await call("shell_read", exec_id=exec_id, **more)
        exec_id = (await call("shell_run", command="cat", tty=True, wait_s=0.1))["exec_id"]
        await call("shell_send", exec_id=exec_id, text=f"{KNOWN} {SHAPED}\n", wait_s=1)
        await call("shell_send", exec_id=exec_id, key="ctrl-d")
        await call("shell_read", exec_id=ids[0], grep=f"({KNOWN}{SHAPED}")
        for tool, arguments in OTHERS:
            await call(tool, **arguments)
    assert len(ids) >= 10
    # the queue of approvals holds what a person decides on, to the letter: only the operator reads it
    found = (*canary.state.rglob("*"), canary.folder / "server.log")
    files = [path for path in found if path.is_file() and path.name != "execkit.db"]
    exits += [(path.name, path.read_bytes().decode("utf-8", "replace")) for path in files]
    leaks = [where[:150] for where, text in exits if shows(text)]
    assert leaks == []
    assert sum("[REDACTED:" in text for _, text in exits) > len(ids)


async def test_p3_what_a_policy_forces_into_the_environment_is_known(world, serve):
    value = "orchid" + "-lantern-forced"
    world.policy.write_text(
        "version: 1\nname: p\nshell: {env: {force: {APP_SECRET: " + value + "}}}\n"
        "rules:\n  - allow: [printenv, rev, echo]\n"
    )
    async with serve() as served:
        first = await served.run("printenv APP_SECRET")
        second = await served.run('echo "$APP_SECRET" | rev')
    assert first["stdout"].startswith("[REDACTED:known:"), first
    assert value not in json.dumps([first, second])
    assert value[::-1] not in json.dumps(second)
