"""Builds what is handed out: wheel, sdist, MCPB bundle, plugin and extension archives, SBOM, checksums.

    python .packaging/build.py dist            # build
    python .packaging/build.py dist --check    # build twice and say whether both came out the same

The same sources give the same bytes: times come from SOURCE_DATE_EPOCH (default: 2026-01-01).
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
EPOCH = os.environ.get("SOURCE_DATE_EPOCH", "1767225600")
SKIPPED = {"__pycache__", ".DS_Store"}


def version() -> str:
    """The version that the package says."""
    return re.search(r'VERSION = "([^"]+)"', (ROOT / "execkit_mcp/model/version.py").read_text())[1]


def build_python(target: Path) -> None:
    """Wheel and sdist, with the build backend of pyproject.toml."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(target)],
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
    )  # fmt: skip


def pack(target: Path, entries: dict[str, Path]) -> None:
    """A zip archive whose bytes depend on names and contents alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, date_time=(2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, entries[name].read_bytes())


def files(folder: Path, prefix: str = "") -> dict[str, Path]:
    """Every file below a folder, by the name that it has in an archive."""
    return {
        prefix + str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file() and not SKIPPED & set(path.parts) and path.suffix != ".pyc"
    }


def build_archives(target: Path) -> None:
    """The MCPB bundle (the sources, run by uv), the Claude Code plugin, the Gemini extension."""
    bundle = {
        "manifest.json": HERE / "mcpb/manifest.json",
        "pyproject.toml": ROOT / "pyproject.toml",
        "README.md": ROOT / "README.md",
        ".github/LICENSE": ROOT / ".github/LICENSE",
        **files(ROOT / "execkit_mcp", "execkit_mcp/"),
        **files(ROOT / "policies", "policies/"),
    }
    pack(target / f"execkit-mcp-{version()}.mcpb", bundle)
    pack(target / f"execkit-claude-plugin-{version()}.zip", files(HERE / "claude-plugin"))
    pack(target / f"execkit-gemini-extension-{version()}.zip", files(HERE / "gemini-extension"))


def requirements() -> dict[str, str]:
    """Every distribution that an installation without extras has, with the version that is installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted, found = [re.split(r"[\s;<>=!~\[]", line)[0] for line in project["dependencies"]], {}
    while wanted:
        name = wanted.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        found[name] = distribution.version
        wanted += [
            re.split(r"[\s;<>=!~\[(]", line)[0] for line in distribution.requires or [] if "extra ==" not in line
        ]
    return found


def build_sbom(target: Path) -> None:
    """A CycloneDX bill of materials of the package and what it brings."""
    own = {"type": "application", "name": "execkit-mcp", "version": version(), "bom-ref": "execkit-mcp",
           "licenses": [{"license": {"id": "Apache-2.0"}}]}  # fmt: skip
    components = [
        {"type": "library", "name": name, "version": number, "purl": f"pkg:pypi/{name}@{number}", "bom-ref": name}
        for name, number in sorted(requirements().items())
    ]
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [{"ref": "execkit-mcp", "dependsOn": [each["bom-ref"] for each in components]}],
    }
    (target / f"execkit-mcp-{version()}.cdx.json").write_text(json.dumps(body, indent=2) + "\n")


def build(target: Path) -> dict[str, str]:
    """Everything into ``target``; file name → SHA-256, also written to SHA256SUMS."""
    target.mkdir(parents=True, exist_ok=True)
    build_python(target)
    build_archives(target)
    build_sbom(target)
    made = [path for path in sorted(target.iterdir()) if path.name != "SHA256SUMS" and version() in path.name]
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}
    (target / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


def main() -> int:
    """0, or 1 where two builds differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, help="the folder to build into")
    parser.add_argument("--check", action="store_true", help="build a second time elsewhere and compare")
    arguments = parser.parse_args()
    sums = build(arguments.target.resolve())
    for name, digest in sums.items():
        print(f"{digest}  {name}")
    if arguments.check:
        with tempfile.TemporaryDirectory() as folder:
            again = build(Path(folder))
        if again != sums:
            print(f"differs: {sorted(name for name in sums if again.get(name) != sums[name])}", file=sys.stderr)
            return 1
        print("Both builds are the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
