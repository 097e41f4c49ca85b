"""What is handed out: complete, of one version, the same bytes twice, locked down where it runs by itself."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from execkit_mcp.cli.clients.plan import is_hook_of_ours
from execkit_mcp.cli.main import COMMANDS, build_parser
from execkit_mcp.model.version import VERSION
from execkit_mcp.server.tools import TOOLS

ROOT = Path(__file__).parents[2]
HERE = ROOT / ".packaging"


def read_json(name):
    return json.loads((HERE / name).read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, str(HERE / "build.py"), str(folder), "--check"],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Both builds are the same." in done.stdout
    return folder


def sources(*folders):
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()  # fmt: skip
    return set(listed)


def test_the_wheel_holds_every_module_guide_and_policy(built):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for source in sources("execkit_mcp"):
        assert source in names, source
    for source in sources("policies"):
        assert f"execkit_mcp/{source}" in names, source
    assert not [name for name in names if name.startswith(("tests/", "poc/"))]


def test_the_sdist_holds_what_it_takes_to_test_and_build(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for source in sources("execkit_mcp", "policies", "tests", "poc", ".packaging", ".ci", "README.md", "Makefile"):
        assert source in names, source


def test_the_bundle_holds_the_package_and_its_manifest(built):
    (bundle,) = built.glob("*.mcpb")
    archive = zipfile.ZipFile(bundle)
    names = set(archive.namelist())
    manifest = json.loads(archive.read("manifest.json"))
    assert manifest["server"]["entry_point"] in names
    assert {"pyproject.toml", "policies/workstation.yaml", ".github/LICENSE"} <= names
    assert {tool["name"] for tool in manifest["tools"]} <= {spec.name for spec in TOOLS}


def test_the_bill_of_materials_names_every_dependency(built):
    (file,) = built.glob("*.cdx.json")
    body = json.loads(file.read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[\s;<>=\[]", line)[0].lower() for line in project["dependencies"]}
    assert wanted <= {component["name"] for component in body["components"]}
    assert body["metadata"]["component"]["version"] == VERSION


def test_the_checksums_are_those_of_the_files(built):
    done = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=built, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name",
    ["server.json", "mcpb/manifest.json", "claude-plugin/.claude-plugin/plugin.json",
     "gemini-extension/gemini-extension.json"],
)  # fmt: skip
def test_every_manifest_says_the_version_of_the_package(name):
    body = read_json(name)
    assert body["version"] == VERSION
    assert all(package["version"] == VERSION for package in body.get("packages", []))


def test_the_plugin_serves_and_guards_the_clients_own_shell():
    server = read_json("claude-plugin/.mcp.json")["mcpServers"]["execkit"]
    assert build_parser("serve").parse_args(server["args"]).command == "serve"
    (item,) = read_json("claude-plugin/hooks/hooks.json")["hooks"]["PreToolUse"]
    assert is_hook_of_ours(item)
    assert item["hooks"][0]["command"].endswith("|| exit 2'")


def test_the_container_runs_without_root_and_from_pinned_names():
    lines = (HERE / "Containerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER")]
    assert users == ["65532:65532"]
    bases = [line for line in lines if line.startswith("FROM")]
    assert all(":" in base and "latest" not in base for base in bases)
    assert "--read-only" in "\n".join(lines)
    assert "--cap-drop=all" in "\n".join(lines)


@pytest.mark.parametrize(
    "setting",
    ["NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "CapabilityBoundingSet=",
     "RestrictSUIDSGID=yes", "LockPersonality=yes", "SystemCallArchitectures=native", "UMask=0077", "User=execkit"],
)  # fmt: skip
def test_the_service_is_locked_down(setting):
    assert setting in (HERE / "execkit-mcp.service").read_text().splitlines()


def test_systemd_finds_nothing_to_say_about_the_service(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd on this machine")
    unit = (HERE / "execkit-mcp.service").read_text().replace("/opt/execkit/bin/execkit-mcp", "/bin/true")
    (tmp_path / "execkit-mcp.service").write_text(unit)
    done = subprocess.run(
        [program, "verify", str(tmp_path / "execkit-mcp.service")], capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    about_it = [line for line in done.stderr.splitlines() if "execkit-mcp.service" in line]
    assert (done.returncode, about_it) == (0, [])


def test_the_service_starts_what_the_command_line_knows():
    unit = (HERE / "execkit-mcp.service").read_text()
    for line in re.findall(r"^ExecStart(?:Pre)?=\S+ (.*)$", unit, re.MULTILINE):
        words = line.split()
        assert words[0] in COMMANDS
        assert build_parser(words[0]).parse_args(words).command == words[0]
