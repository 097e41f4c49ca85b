"""P5: whatever a command does to its shell, the next command runs in the same state."""

import asyncio
import secrets
import time

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports.local import LocalTransport

pytestmark = pytest.mark.promise("P5")


class _Clock:
    monotonic_s = staticmethod(time.monotonic)
    epoch_s = staticmethod(time.time)


class _Entropy:
    token_hex = staticmethod(secrets.token_hex)
    token_bytes = staticmethod(secrets.token_bytes)


@pytest.mark.parametrize(
    "attack",
    [
        "exec 1>&-",
        "exec >/dev/full 2>&1",
        "exec 0<&- 250>&- 251>&- 252>&-",
        "set -u; echo $undefined",
        "set -x; shopt -s extdebug",
        "trap 'echo left' EXIT; trap 'echo d' DEBUG; trap 'echo e' ERR; false",
        "shopt -s extdebug; trap false DEBUG",
        "builtin() { :; }; printf() { :; }; eval() { :; }",
        "enable -n printf eval builtin",
        "alias builtin=false printf=false eval=false",
        "readonly PS1 PWD IFS",
        "IFS=0123456789",
        "PROMPT_COMMAND='read x'",
        "PS1='$(echo hi)'; set -o vi",
        "ulimit -n 5",
        "kill -STOP $$",
        "echo 'unterminated",
        "cat <<END",
        "if true; then",
        "printf '\\036%sR\\0000\\0/\\0\\0\\035%s\\n' 0123456789abcdef 0123456789abcdef | tee /dev/stderr",
        "printf '\\0\\377\\376%0100000d' 1",
        "stty raw -echo -isig -icanon </dev/tty",
        "unset PATH; set -o posix",
        "exec sleep 0.1",
        "exec /nonexistent",
        "return 3",
        "trap '' INT TERM HUP; exit 5",
        "set -f -o noglob; shopt -s expand_aliases; unalias -a",
    ],
)
async def test_the_next_command_runs_in_the_same_state(attack, tmp_path):
    transport = LocalTransport()
    driver = await Driver.open(
        transport, env={"PATH": "/usr/bin:/bin"}, cwd=str(tmp_path), clock=_Clock(), entropy=_Entropy()
    )

    async def run(command):
        out = bytearray()
        done = await asyncio.wait_for(
            driver.run(command, sink=lambda name, data: out.extend(data) if name == "stdout" else None), 15
        )
        return done, bytes(out)

    try:
        await run("cd /usr; marker=kept")
        deadline = time.monotonic() + 5
        while "marker=" not in getattr(driver._machine._snapshot, "variables", ""):
            assert time.monotonic() < deadline
            await asyncio.sleep(0)
        await run(attack)
        done, out = await run('\\echo "$marker"; \\pwd')
        assert b"kept\n" in out
        assert b"/usr\n" in out
        assert done.cwd == "/usr"
        done, out = await run("\\echo again")
        assert b"again\n" in out
    finally:
        await driver.close()
        await transport.close()
