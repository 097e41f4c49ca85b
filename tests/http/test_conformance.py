"""The official conformance suite, both revisions of the protocol, against two servers of one app factory.

The fixture server has what the suite calls by name: it passes everything that a revision requires. The real server has
only its own tools; what it lacks of the fixtures stands in a baseline a revision, with a reason each.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent / "conformance"
PACKAGES = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22")
REVISIONS = ("2025-11-25", "2026-07-28")
LIMIT_S = 280


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The folder of the suite's programs; EXECKIT_CONFORMANCE names one that is there already."""
    there = os.environ.get("EXECKIT_CONFORMANCE")
    if there:
        return Path(there)
    if shutil.which("npm") is None:
        pytest.skip("no npm on this machine, so the conformance suite cannot be had")
    folder = tmp_path_factory.mktemp("suite")
    done = subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES],
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"npm cannot deliver {PACKAGES}: {done.stderr[-300:]}")
    return folder / "node_modules" / ".bin"


def conformance(suite, server, revision, *flags):
    """What the suite says of ``server``, in what ``revision`` requires."""
    return subprocess.run(
        ["conformance", "server", "--url", server.url.replace("127.0.0.1", "localhost"), "--requirements", revision,
         *flags],
        env={
            **os.environ,
            "PATH": f"{suite}:{os.environ['PATH']}",
            "NODE_OPTIONS": f"--require {HERE / 'auth.cjs'}",
            "EXECKIT_TOKEN": server.token(),
        },
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_official_suite_finds_nothing_that_the_baseline_does_not_explain(http, suite, revision):
    done = conformance(suite, http(), revision, "--expected-failures", str(HERE / f"real-{revision}.yaml"))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    for scenario in ("tools-list", "server-sse-multiple-streams", "prompts-list", "dns-rebinding-protection"):
        assert f"✓ {scenario}:" in done.stdout


@pytest.mark.parametrize("revision", REVISIONS)
def test_with_the_fixtures_every_scenario_that_a_revision_requires_passes(http, suite, revision):
    server = http(program=(str(HERE / "fixture_server.py"),))
    done = conformance(suite, server, revision)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    for scenario in ("tools-call-with-progress", "resources-templates-read", "prompts-get-with-image"):
        assert f"✓ {scenario}:" in done.stdout
