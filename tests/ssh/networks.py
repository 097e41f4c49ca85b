"""Hosts of their own on this machine: network namespaces joined with veth pairs, as root, for tests of ssh."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

PREFIX = "10.213"


def ip(*words: str) -> None:
    """Run ip(8)."""
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)


class Network:
    """One namespace for each host; each joined with this machine or with another host by a link of its own."""

    def __init__(self) -> None:
        self._tag = f"ek{os.getpid() % 100_000}"
        self._names: list[str] = []
        self._links: list[str] = []

    def host(self, name: str) -> tuple[str, ...]:
        """A new host; the words before a command that runs there."""
        space = f"{self._tag}-{name}"
        ip("netns", "add", space)
        self._names.append(space)
        ip("-n", space, "link", "set", "lo", "up")
        return ("ip", "netns", "exec", space)

    def join(self, number: int, host: str, other: str | None = None) -> str:
        """A link between ``host`` and ``other`` (None: this machine); the address of ``host`` on it."""
        near, far = f"{self._tag}n{number}", f"{self._tag}f{number}"
        here = () if other is None else ("-n", f"{self._tag}-{other}")
        there = f"{self._tag}-{host}"
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", there)
        if other is None:
            self._links.append(near)
        else:
            ip("link", "set", near, "netns", f"{self._tag}-{other}")
        ip(*here, "addr", "add", f"{PREFIX}.{number}.1/30", "dev", near)
        ip("-n", there, "addr", "add", f"{PREFIX}.{number}.2/30", "dev", far)
        ip(*here, "link", "set", near, "up")
        ip("-n", there, "link", "set", far, "up")
        return f"{PREFIX}.{number}.2"

    def set_link(self, number: int, state: str) -> None:
        """Pull the cable of a link of this machine (``down``), or plug it in (``up``)."""
        ip("link", "set", f"{self._tag}n{number}", state)

    def unjoin(self, number: int) -> None:
        """Take a link of this machine away."""
        ip("link", "del", f"{self._tag}n{number}")
        self._links.remove(f"{self._tag}n{number}")

    def delay(self, number: int, milliseconds: int) -> bool:
        """Make a link slow; False where this kernel cannot."""
        words = ["tc", "qdisc", "add", "dev", f"{self._tag}n{number}", "root", "netem", "delay", f"{milliseconds}ms"]
        return shutil.which("tc") is not None and not subprocess.run(words, check=False, capture_output=True).returncode

    def close(self) -> None:
        """Take everything away."""
        for link in self._links:
            subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)
        for name in self._names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """Namespaces for as long as the block lasts; skips, with the reason, where they cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces of one's own need root")
    if shutil.which("ip") is None:
        pytest.skip("no ip(8) on this machine: install iproute2 (.ci/setup does where it is root)")
    made = Network()
    try:
        made.host("probe")
        made.join(250, "probe")
        made.unjoin(250)
    except subprocess.CalledProcessError as error:
        made.close()
        pytest.skip(f"this machine gives no network namespaces: {error.stderr.decode().strip()}")
    try:
        yield made
    finally:
        made.close()
