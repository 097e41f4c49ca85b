import base64
import hashlib
import hmac
import os
import subprocess
import sys

import asyncssh
import pytest

from execkit_mcp.errors import ConfigError, HostKeyMismatch, HostKeyUnknown
from execkit_mcp.transports.ssh.connect import connect
from execkit_mcp.transports.ssh.hostkeys import HostKeys, fingerprint_of
from execkit_mcp.transports.ssh.target import target_from
from tests.conftest import ROOT


def key():
    return asyncssh.generate_private_key("ssh-ed25519")


def public():
    return key().convert_to_public()


def line(name, each):
    return f"{name} {each.export_public_key('openssh').decode()}"


def hashed(name):
    salt = os.urandom(20)
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def verdict(tmp_path, text, shown, *, host="h.example.com", port=22, **options):
    path = tmp_path / "known_hosts"
    path.write_text(text)
    options = {"fingerprint": None, "accepts_any": False, **options}
    keys = HostKeys(target="t", host=host, port=port, paths=[str(path)], **options)
    if shown in keys.known.revoked:
        return "revoked"
    return "accepted" if keys.accepts(shown) else keys.refusal.code


A, B = public(), public()


@pytest.mark.parametrize(
    ("text", "host", "port", "expected"),
    [
        ("", "h.example.com", 22, "transport.host_key_unknown"),
        (line("h.example.com", A), "h.example.com", 22, "accepted"),
        (line("h.example.com", B), "h.example.com", 22, "transport.host_key_mismatch"),
        (line("other.example.com", B), "h.example.com", 22, "transport.host_key_unknown"),
        (line("*.example.com", A), "h.example.com", 22, "accepted"),
        (line("*.example.com,!h.example.com", A), "h.example.com", 22, "transport.host_key_unknown"),
        (line(hashed("h.example.com"), A), "h.example.com", 22, "accepted"),
        (line(hashed("h.example.com"), B), "h.example.com", 22, "transport.host_key_mismatch"),
        (line("[h.example.com]:2222", A), "h.example.com", 2222, "accepted"),
        (line(hashed("[h.example.com]:2222"), B), "h.example.com", 2222, "transport.host_key_mismatch"),
        (line("h.example.com", A), "h.example.com", 2222, "accepted"),
        (line("h.example.com", B), "h.example.com", 2222, "transport.host_key_unknown"),
        (line("@revoked h.example.com", A), "h.example.com", 22, "revoked"),
        (line("@revoked *", A) + line("h.example.com", A), "h.example.com", 22, "revoked"),
        (line("@revoked *", A) + line("[h.example.com]:2222", A), "h.example.com", 2222, "revoked"),
        (line("@cert-authority *", A), "h.example.com", 22, "transport.host_key_unknown"),
        ("nonsense\nh.example.com\n" + line("h.example.com", A), "h.example.com", 22, "accepted"),
        (line("10.0.0.5", B), "10.0.0.5", 22, "transport.host_key_mismatch"),
    ],
    ids=lambda value: "known" if isinstance(value, str) and "ssh-" in value else None,  # keys are new in each process
)
def test_known_hosts_decides_as_ssh_does(tmp_path, text, host, port, expected):
    assert verdict(tmp_path, text, A, host=host, port=port) == expected


def test_a_pinned_fingerprint_beats_every_file(tmp_path):
    text = line("h.example.com", A)
    assert verdict(tmp_path, text, B, fingerprint=fingerprint_of(B)) == "accepted"
    assert verdict(tmp_path, text, A, fingerprint=fingerprint_of(B)) == "transport.host_key_mismatch"
    assert verdict(tmp_path, line("@revoked *", B), B, fingerprint=fingerprint_of(B)) == "revoked"


def test_a_line_that_may_revoke_and_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="known_hosts:1"):
        verdict(tmp_path, "@revoked h.example.com", A)


def test_a_mismatch_shows_both_fingerprints_and_is_never_retried(tmp_path):
    path = tmp_path / "known_hosts"
    path.write_text(line("h.example.com", B))
    keys = HostKeys(target="t", host="h.example.com", port=22, paths=[str(path)], fingerprint=None, accepts_any=False)
    assert not keys.accepts(A)
    assert isinstance(keys.refusal, HostKeyMismatch)
    assert fingerprint_of(A) in keys.refusal.message
    assert fingerprint_of(B) in keys.refusal.message
    assert keys.refusal.retryable is False


async def test_an_unknown_host_is_refused_before_anything_is_sent(sshd, kit_for, tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("")
    async with kit_for(sshd, known_hosts=empty) as host:
        with pytest.raises(HostKeyUnknown, match=r"SHA256:.*trust prod-1|SHA256:") as refused:
            await host.open()
        assert refused.value.details["fingerprint"] == sshd.fingerprint
        assert "targets trust prod-1" in refused.value.hint
        assert '"target.refused"' in host.record()


async def test_a_key_that_is_swapped_stops_a_reconnect_and_is_on_the_record(own_sshd, kit_for):
    server = own_sshd()
    async with kit_for(server) as host:
        await host.open()
        await host.run("cd /usr")
        old = server.fingerprint
        for pid in server.sessions():
            os.kill(pid, 9)
        server.stop()
        new = server.swap_key()
        server.start()
        await host.until_unlinked()
        for _ in range(2):
            with pytest.raises(HostKeyMismatch) as refused:
                await host.run("pwd")
            assert old in refused.value.message
            assert new in refused.value.message
        assert '"transport.host_key_mismatch"' in host.record()
        server.remember()
        result = await host.run("pwd")
        assert result.stdout == "/usr\n"
        assert "made anew" in result.warnings[0]


async def test_accepting_any_key_is_said_at_the_start_and_in_each_result(sshd, kit_for, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.write_text("")
    async with kit_for(sshd, known_hosts=empty, insecure_accept_any_host_key=True) as host:
        assert "accepts any host key" in capsys.readouterr().err
        await host.open()
        for _ in range(2):
            assert any("accepts any host key" in each for each in (await host.run("true")).warnings)


@pytest.mark.parametrize(
    "line", ["StrictHostKeyChecking no", "UserKnownHostsFile none", "UserKnownHostsFile /dev/null"]
)
async def test_no_setting_of_ssh_config_turns_the_check_off(sshd, tmp_path, line):
    config = tmp_path / "ssh_config"
    config.write_text(f"Host *\n  {line}\n  GlobalKnownHostsFile /dev/null\n")
    config.chmod(0o600)
    options = sshd.options_for(ssh_config=str(config))
    del options["known_hosts"]
    with pytest.raises(HostKeyUnknown):
        await connect(target_from("t", options), {})


async def test_an_alias_with_everything_in_ssh_config_is_enough(sshd, tmp_path):
    config = tmp_path / "ssh_config"
    config.write_text(
        f"Host web-*\n  HostName 127.0.0.1\n  Port {sshd.port}\n  User {sshd.user}\n  IdentityFile {sshd.identity}\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {sshd.known_hosts}\n  ForwardAgent yes\n  SendEnv *\n"
    )
    config.chmod(0o600)
    found = await connect(target_from("web-1", {"ssh_config": str(config)}), {})
    assert found.fingerprint == sshd.fingerprint
    assert found.connection._agent_forward_path is None
    found.connection.close()
    await found.connection.wait_closed()
    config.chmod(0o666)
    with pytest.raises(ConfigError, match="written by others"):
        await connect(target_from("web-1", {"ssh_config": str(config)}), {})


@pytest.mark.parametrize(
    ("line", "options", "cipher"),
    [
        ("", (), "aes128-gcm@openssh.com"),
        ("Ciphers aes256-ctr", (), "aes256-ctr"),
        ("", ("Ciphers chacha20-poly1305@openssh.com",), "chacha20-poly1305@openssh.com"),
    ],
)
async def test_the_cipher_is_the_quick_one_unless_somebody_has_said_otherwise(
    own_sshd, tmp_path, line, options, cipher
):
    server = own_sshd(*options)
    config = tmp_path / "ssh_config"
    config.write_text(f"Host *\n  {line}\n")
    config.chmod(0o600)
    found = await connect(target_from("t", server.options_for(ssh_config=str(config))), {})
    assert found.connection.get_extra_info("send_cipher") == cipher
    found.connection.close()
    await found.connection.wait_closed()


async def test_a_jump_host_is_verified_like_every_other(sshd, own_sshd, tmp_path):
    jump = own_sshd("AllowTcpForwarding yes", name="jump")
    both = tmp_path / "both"
    both.write_text(sshd.known_hosts.read_text() + jump.known_hosts.read_text())
    (jump.folder / "authorized_keys").write_bytes((sshd.folder / "id.pub").read_bytes())
    options = sshd.options_for(known_hosts=str(both), proxy_jump=f"{jump.user}@127.0.0.1:{jump.port}")
    found = await connect(target_from("t", options), {})
    assert len(found.hops) == 1
    assert found.fingerprint == sshd.fingerprint
    for connection in (found.connection, *found.hops):
        connection.close()
        await connection.wait_closed()
    with pytest.raises(HostKeyUnknown, match=str(jump.port)):
        await connect(target_from("t", {**options, "known_hosts": str(sshd.known_hosts)}), {})


async def test_a_host_certificate_of_a_known_authority_is_accepted_and_of_another_is_not(own_sshd, tmp_path):
    authority = key()
    folder = tmp_path / "host"
    folder.mkdir()
    server = own_sshd(f"HostCertificate {folder / 'host_key-cert.pub'}")
    public = asyncssh.read_public_key(str(folder / "host_key.pub"))
    certificate = authority.generate_host_certificate(public, "h", principals=["127.0.0.1"])
    (folder / "host_key-cert.pub").write_bytes(certificate.export_certificate())
    server.stop()
    server.start()
    for known, is_accepted in ((authority, True), (key(), False)):
        server.known_hosts.write_text(line("@cert-authority *", known))
        if is_accepted:
            found = await connect(target_from("t", server.options_for()), {})
            found.connection.close()
            await found.connection.wait_closed()
        else:
            with pytest.raises((HostKeyUnknown, HostKeyMismatch)):
                await connect(target_from("t", server.options_for()), {})


def run(tmp_path, *arguments, stdin=b"", **environment):
    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *arguments],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment},
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_trust_needs_a_person_or_the_expected_fingerprint(sshd, tmp_path):
    config = tmp_path / "config.yaml"
    known = tmp_path / "known" / "hosts"
    config.write_text(sshd.yaml(known_hosts=known))
    config.chmod(0o644)
    trust = ("targets", "trust", "prod-1", "--config", str(config))
    failed = run(tmp_path, "targets", "check", "prod-1", "--config", str(config))
    assert failed.returncode == 1
    assert b"FAIL host key" in failed.stdout
    assert run(tmp_path, *trust, stdin=b"yes\n").returncode == 2
    wrong = run(tmp_path, *trust, "--fingerprint", "SHA256:" + "A" * 43)
    assert wrong.returncode == 1
    assert run(tmp_path, *trust, "--fingerprint", sshd.fingerprint, EXECKIT_SESSION="main").returncode == 3
    assert not known.exists()
    assert run(tmp_path, *trust, "--fingerprint", sshd.fingerprint).returncode == 0
    assert known.stat().st_mode & 0o777 == 0o600
    checked = run(tmp_path, "targets", "check", "prod-1", "--config", str(config))
    assert (checked.returncode, checked.stdout.count(b"ok  ")) == (0, 9)
    config.write_text(sshd.yaml(known_hosts=known) + "policy: read-onyl\n")
    unjudged = run(tmp_path, "targets", "check", "prod-1", "--config", str(config))
    assert (unjudged.returncode, b'FAIL policy: There is no shipped policy "read-onyl"' in unjudged.stdout) == (1, True)
    config.write_text(sshd.yaml(known_hosts=known))
    examined = run(tmp_path, "doctor", "--target", "prod-1", "--config", str(config)).stdout.decode()
    assert "latency: " in examined
    again = run(tmp_path, *trust)
    assert b"known already" in again.stdout
    url = f"ssh://{sshd.user}@127.0.0.1:{sshd.port}"
    by_url = run(tmp_path, "targets", "trust", url, "--fingerprint", sshd.fingerprint)
    assert by_url.returncode == 0, by_url.stderr
    assert (tmp_path / ".ssh" / "known_hosts").exists()
    assert b"known already" in run(tmp_path, "targets", "trust", url).stdout
    listed = run(tmp_path, "targets", "--config", str(config))
    assert b"prod-1: ssh" in listed.stdout
