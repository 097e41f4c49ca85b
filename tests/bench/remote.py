"""A host over SSH on loopback: our sessions beside what asyncssh itself takes, in turn, in one run."""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import asyncssh
from report import Report

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.remote_driver import RemoteDriver
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.ssh.target import target_from
from execkit_mcp.transports.ssh.transport import SshTransport

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.ssh.proxy import Proxy
from tests.ssh.sshd import SSHD, serving

SECTION = "A host over SSH (loopback)"
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TERM": "dumb"}
POLICY = 'version: 1\nname: bench\nrules:\n  - allow: ["true", ls, cat, echo]\n'
KEEPALIVE_S = 2.0
OPENS = 10
MANY = 50


def _discard(_stream: str, _data: bytes) -> None:
    """Nobody reads it."""


async def measure(report: Report, rounds: int) -> None:
    """One command, one more session, fifty of them, a cut link."""
    if not SSHD:
        report.add(SECTION, "no sshd on this machine", "-")
        return
    with tempfile.TemporaryDirectory() as name, serving(Path(name) / "host") as server:
        options = server.options_for()
        transport = SshTransport(target_from("bench", options), os.environ)
        await transport.ready()
        raw = await asyncssh.connect(
            server.address, server.port, username=server.user, client_keys=[str(server.identity)],
            known_hosts=str(server.known_hosts), config=None, agent_path=None,
        )  # fmt: skip
        await _commands(report, Path(name), server, transport, raw, rounds)
        await _opens(report, transport, raw)
        raw.close()
        await transport.aclose()
        await _cut(report, server)


async def _commands(report, folder, server, transport, raw, rounds) -> None:  # type: ignore[no-untyped-def] # noqa: PLR0917 - one place
    shell = await raw.create_process("exec /bin/bash --norc --noprofile", encoding=None)
    driver = await RemoteDriver.open(transport, env=ENV, cwd="/", clock=SystemClock(), entropy=SystemEntropy())
    config, policy = folder / "config.yaml", folder / "policy.yaml"
    config.write_text(server.yaml("bench"))
    policy.write_text(POLICY)
    for file in (config, policy):
        file.chmod(0o644)
    samples: dict[str, list[float]] = {"raw": [], "driver": [], "kit": [], "channel": []}
    async with open_kit(
        policy=str(policy), config=str(config), workspace=str(folder), state_dir=str(folder / "state")
    ) as kit:
        await kit.open_session(target="bench", requester="bench")
        request = RunRequest(command="true", wait_s=None)
        for number in range(rounds):
            start = time.perf_counter()
            shell.stdin.write(b"true; echo x\n")
            await shell.stdout.readline()
            samples["raw"].append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            await driver.run("true", sink=_discard)
            samples["driver"].append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            await kit.run(request, requester="bench")
            samples["kit"].append((time.perf_counter() - start) * 1e3)
            if number % 10 == 0:
                start = time.perf_counter()
                await raw.run("true")
                samples["channel"].append((time.perf_counter() - start) * 1e3)
    await driver.close()
    shell.close()
    base, channel = statistics.median(samples["raw"]), statistics.median(samples["channel"])

    def note(which: str) -> str:
        taken = statistics.median(samples[which])
        return f"{taken / base:.2f} x the raw round trip, {channel / taken:.0f} x faster than a new channel"

    report.times(SECTION, "a persistent asyncssh shell, raw", samples["raw"])
    report.times(SECTION, "true in an open session, the session protocol alone", samples["driver"], note("driver"))
    report.times(SECTION, "true in an open session, every gate and the record", samples["kit"], note("kit"))
    report.times(SECTION, "a new exec channel for each command", samples["channel"])


async def _opens(report: Report, transport: SshTransport, raw: asyncssh.SSHClientConnection) -> None:
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(OPENS):
        start = time.perf_counter()
        await raw.run("true")
        floor.append((time.perf_counter() - start) * 1e3)
        start = time.perf_counter()
        driver = await RemoteDriver.open(transport, env=ENV, cwd="/", clock=SystemClock(), entropy=SystemEntropy())
        ours.append((time.perf_counter() - start) * 1e3)
        await driver.close()
    more = statistics.median(ours) - statistics.median(floor)
    report.times(SECTION, "a new exec channel until its end", floor)
    report.times(SECTION, "one more session on the connection", ours, f"{more:+.1f} ms over a new exec channel")
    drivers = await asyncio.gather(
        *(
            RemoteDriver.open(transport, env=ENV, cwd="/", clock=SystemClock(), entropy=SystemEntropy())
            for _ in range(MANY)
        )
    )
    start = time.perf_counter()
    await asyncio.gather(*(driver.run("true", sink=_discard) for driver in drivers))
    took = (time.perf_counter() - start) * 1e3
    report.add(SECTION, f"true in {MANY} sessions at once", f"{took:.0f} ms", f"{transport.connections} connections")
    await asyncio.gather(*(driver.close() for driver in drivers))


async def _cut(report: Report, server) -> None:  # type: ignore[no-untyped-def]
    async with Proxy(server.port) as proxy:
        server.known_hosts.write_text(server.known_hosts.read_text().replace(str(server.port), str(proxy.port)))
        options = server.options_for(port=proxy.port, keepalive_s=KEEPALIVE_S)
        transport = SshTransport(target_from("cut", options), os.environ)
        driver = await RemoteDriver.open(transport, env=ENV, cwd="/", clock=SystemClock(), entropy=SystemEntropy())
        call = asyncio.create_task(driver.run("sleep 60", sink=_discard))
        await asyncio.sleep(0.5)
        proxy.cut()
        start = time.perf_counter()
        await call
        took = time.perf_counter() - start
        report.add(SECTION, "a link that is cut is found", f"{took:.1f} s", f"{took / KEEPALIVE_S:.2f} x keepalive")
        await driver.close()
        await transport.aclose()


if __name__ == "__main__":
    asyncio.run(measure(Report(), int(os.environ.get("BENCH_ROUNDS", "400"))))
