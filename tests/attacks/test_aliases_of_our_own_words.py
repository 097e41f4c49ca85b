"""P5: an alias of any name, also that of a reserved word, breaks no command after its own."""

import asyncio
import secrets
import time

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports.local import LocalTransport

pytestmark = pytest.mark.promise("P5")

RESERVED = "! case coproc do done elif else esac fi for function if in select then time until while { } [["
BUILTINS = (
    "[ . : alias builtin declare enable eval exec jobs printf read return set shopt test trap umask unalias unset"
)
ASSIGNMENTS = "__ek_p= __ek_f=250 __ek_f=10"
ENV = {"PATH": "/usr/bin:/bin", "TERM": "dumb"}


class _Clock:
    monotonic_s = staticmethod(time.monotonic)
    epoch_s = staticmethod(time.time)


class _Entropy:
    token_hex = staticmethod(secrets.token_hex)
    token_bytes = staticmethod(secrets.token_bytes)


@pytest.fixture
async def run(tmp_path):
    transport = LocalTransport()
    driver = await Driver.open(transport, env=ENV, cwd=str(tmp_path), clock=_Clock(), entropy=_Entropy())

    async def run_it(command, **options):
        out = {"stdout": b"", "stderr": b"", "tty": b""}

        def sink(name, data):
            out[name] += data

        done = await asyncio.wait_for(driver.run(command, sink=sink, **options), 15)
        return done, out["stdout"], out["stderr"]

    run_it.driver = driver
    yield run_it
    await driver.close()
    await transport.close()


async def known_alias(run, name):
    deadline = time.monotonic() + 5
    while f"alias {name}=" not in getattr(run.driver._machine._snapshot, "aliases", "") and name not in "{}":
        assert time.monotonic() < deadline, "no snapshot has the alias"
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", [*RESERVED.split(), *BUILTINS.split(), *ASSIGNMENTS.split()])
async def test_commands_after_it_run_as_before(run, name):
    await run("cd /usr; marker=kept; (exit 3)")
    await run(f"BASH_ALIASES['{name}']='echo hijacked; __ek_p=7; false'")
    await known_alias(run, name)  # a snapshot was taken through it
    done, out, err = await run("\\echo $marker; (\\exit 3)")
    assert (done.exit_code, done.warnings, out, err) == (3, (), b"kept\n", b"")
    done, out, err = await run("\\echo $?; \\pwd")
    assert (done.exit_code, done.warnings, out, err) == (0, (), b"3\n/usr\n", b"")
    done, _, _ = await run("\\echo 'open")  # the quote takes the end of line one
    assert (done.exit_code, done.pipe_status, done.warnings) == (2, (), ())
    done, out, err = await run("sleep 60", timeout_s=0.05)
    assert (done.is_timed_out, done.interrupted_with, err) == (True, ("SIGINT",), b"")


@pytest.mark.parametrize("name", ["TERM=", "TERM=xterm-256color", "TERM='xterm-256color'", "TERM"])
async def test_a_terminal_command_after_it_has_its_terminal(run, name):
    await run(f'BASH_ALIASES["{name}"]="echo hijacked;"')
    seen = bytearray()
    await run.driver.run("\\echo $TERM", sink=lambda _, data: seen.extend(data), tty=True)
    assert bytes(seen) == b"xterm-256color\r\n"


@pytest.mark.parametrize("name", ["[[", "[", ":", "case", "{", "alias", "set", "shopt", "eval", "printf", "__ek_f=10"])
async def test_a_shell_that_ends_under_it_is_restored_with_it(run, name):
    await run("cd /usr; marker=kept; shopt -s dotglob; set -f; f() { [[ x ]] && echo f; }")
    await run(f"BASH_ALIASES['{name}']='echo hijacked; false'; \\alias zz='echo last'")
    await known_alias(run, "zz")
    done, _, _ = await run("marker=fresh; \\exit 3")
    assert (done.exit_code, done.is_state_restored) == (3, True)
    assert "as they were before" not in done.warnings[0]
    _, out, err = await run("\\echo $marker $-; \\builtin shopt dotglob; \\f; zz")
    assert (out.split()[0], b"f" in out.split()[1], err) == (b"fresh", True, b"")
    assert out.endswith(b"on\nf\nlast\n")
