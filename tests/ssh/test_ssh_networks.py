"""Several hosts on networks of their own: a jump host, latency, a cable that is pulled, a host that is exchanged."""

import asyncio
import time

import pytest

from execkit_mcp.errors import ExecKitError, HostKeyMismatch
from execkit_mcp.kit import open_kit
from execkit_mcp.model import Status
from execkit_mcp.runtime.request import RunRequest
from tests.ssh.conftest import POLICY
from tests.ssh.networks import network
from tests.ssh.proxy import Proxy
from tests.ssh.sshd import Sshd, require_sshd
from tests.ssh.test_ssh_sessions import until_gone


@pytest.fixture
def net():
    require_sshd()
    with network() as made:
        yield made


@pytest.fixture
def hosts(tmp_path):
    """``hosts(name, address, prefix)``: an sshd on a host of the network."""
    started = []

    def start(name, address, prefix):
        started.append(Sshd(tmp_path / name, address=address, port=2222, prefix=prefix).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


async def test_sessions_on_several_hosts_at_once_do_not_meet(net, hosts, tmp_path):
    servers = [hosts(f"h{n}", net.join(n, f"h{n}"), prefix) for n in (1, 2, 3) for prefix in [net.host(f"h{n}")]]
    texts = [server.yaml(f"h{n}") for n, server in enumerate(servers, 1)]
    config, rules = tmp_path / "config.yaml", tmp_path / "policy.yaml"
    config.write_text(texts[0] + "".join(text.removeprefix("targets:\n") for text in texts[1:]))
    rules.write_text(POLICY)
    for file in (config, rules):
        file.chmod(0o644)
    arguments = {"policy": str(rules), "config": str(config), "workspace": str(tmp_path)}
    async with open_kit(**arguments, state_dir=str(tmp_path / "state")) as kit:
        for n in (1, 2, 3):
            await kit.open_session(requester="test", target=f"h{n}", name=f"h{n}")

        async def say(n):
            request = RunRequest(command="cat /proc/net/fib_trie", session=f"h{n}", wait_s=None)
            return (await kit.run(request, requester="test")).stdout

        for n, said in enumerate(await asyncio.gather(*map(say, (1, 2, 3))), 1):
            assert [m for m in (1, 2, 3) if f"10.213.{m}.2" in said] == [n]


async def test_a_host_behind_a_jump_host_is_reached_and_both_keys_count(net, hosts, kit_for):
    jump_prefix, inner_prefix = net.host("jump"), net.host("inner")
    jump = hosts("jump", net.join(1, "jump"), jump_prefix)
    inner = hosts("inner", net.join(2, "inner", "jump"), inner_prefix)
    (jump.folder / "authorized_keys").write_bytes((inner.folder / "id.pub").read_bytes())
    both = inner.folder / "both"
    both.write_text(inner.known_hosts.read_text() + jump.known_hosts.read_text())
    options = {"known_hosts": str(both), "proxy_jump": f"{jump.user}@{jump.address}:2222"}
    async with kit_for(inner, **options) as host:
        await host.open()
        assert "10.213.2.2" in (await host.run("cat /proc/net/fib_trie")).stdout
    for server, kept in ((jump, inner), (inner, jump)):  # each of the two keys, exchanged in turn
        both.write_text(kept.known_hosts.read_text() + server.known_hosts.read_text())
        server.stop()
        server.swap_key()
        server.start()
        async with kit_for(inner, **options) as host:
            with pytest.raises(HostKeyMismatch) as found:
                await host.open()
            assert server.fingerprint in found.value.message
        server.remember()
    both.write_text(inner.known_hosts.read_text() + jump.known_hosts.read_text())
    async with kit_for(inner, **options) as host:
        await host.open()
    async with kit_for(inner, connect_timeout_s=1) as host:  # there is no other way
        with pytest.raises(ExecKitError) as found:
            await host.open()
        assert found.value.code == "transport.connect_failed"


async def test_a_cable_that_is_pulled_is_noticed_leaves_nothing_and_the_session_goes_on_later(net, hosts, kit_for):
    prefix = net.host("far")
    server = hosts("far", net.join(1, "far"), prefix)
    async with kit_for(server, keepalive_s=1, connect_timeout_s=1) as host:
        await host.open()
        await host.run("cd /etc && export GREETING=hello")
        started = await host.run("sh -c 'echo $$; exec setsid sleep 6008' & wait", timeout_s=0.5)
        pids = [int(word) for word in started.stdout.split()]
        call = asyncio.create_task(host.run("echo begun; sleep 6009"))
        async with asyncio.timeout(10):
            while host.kit._sessions.get("main", "test").current is None:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
        net.set_link(1, "down")
        begun = time.monotonic()
        result = await call
        assert time.monotonic() - begun < 4
        assert (result.status, result.exit_code) == (Status.LOST, None)
        with pytest.raises(ExecKitError) as found:
            await host.run("echo nobody")
        assert found.value.code.startswith("transport.")
        await until_gone(pids, 20)
        net.set_link(1, "up")
        again = await host.run("pwd; echo $GREETING")
        assert again.stdout == "/etc\nhello\n"
        assert "made anew" in " ".join(again.warnings)


async def test_a_host_that_is_exchanged_under_the_client_is_refused_and_on_the_record(net, hosts, kit_for):
    true_prefix, false_prefix = net.host("true"), net.host("false")
    server = hosts("true", net.join(1, "true"), true_prefix)
    async with kit_for(server, keepalive_s=1, connect_timeout_s=2) as host:
        await host.open()
        assert (await host.run("echo on")).stdout == "on\n"
        net.unjoin(1)
        other = hosts("false", net.join(1, "false"), false_prefix)
        (other.folder / "authorized_keys").write_bytes((server.folder / "id.pub").read_bytes())
        await host.until_unlinked()
        for _ in range(2):
            with pytest.raises(HostKeyMismatch) as found:
                await host.run("echo secret plans")
            assert not found.value.retryable
            assert server.fingerprint in found.value.message
            assert other.fingerprint in found.value.message
        record = host.record()
        assert "target.refused" in record
        assert other.fingerprint in record
        assert "Accepted publickey" not in (other.folder / "log").read_text()


async def test_latency_costs_time_and_nothing_else(net, hosts, kit_for):
    prefix = net.host("slow")
    server = hosts("slow", net.join(1, "slow"), prefix)
    delay_ms = 40
    async with Proxy(2222, 0 if net.delay(1, 2 * delay_ms) else delay_ms / 1e3, host=server.address) as proxy:
        options = {"host": "127.0.0.1", "port": proxy.port, "fingerprint": server.fingerprint}
        async with kit_for(server, **options) as host:
            await host.open()
            begun = time.monotonic()
            assert (await host.run("cd /etc; pwd")).stdout == "/etc\n"
            assert time.monotonic() - begun >= 2 * delay_ms / 1e3
            assert (await host.run("sleep 60", timeout_s=0.3)).status is Status.TIMED_OUT
            assert (await host.run("yes | head -c 2000000 | wc -c; pwd")).stdout.split() == ["2000000", "/etc"]
