"""The manifest of promises against the tests, both ways, and against the README."""

import ast
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ROOT / "tests" / "attacks"


def manifest() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("requirements_manifest", ROOT / "tests" / "requirements.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROMISES


def promises_of(path: Path) -> set[str]:
    """Ids in ``pytest.mark.promise("…")`` of a test file."""
    return {
        argument.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "promise"
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }


def test_every_attack_test_names_promises_of_the_manifest():
    for path in sorted(ATTACKS.glob("test_*.py")):
        ids = promises_of(path)
        assert ids, f"{path.name} names no promise"
        assert ids <= set(manifest()), path.name


def test_every_promise_has_an_attack_test():
    covered = set().union(*(promises_of(path) for path in ATTACKS.glob("test_*.py")))
    assert set(manifest()) <= covered


def test_the_readme_lists_every_promise_with_its_limit():
    rows = {
        line.split("|")[1].strip(): line
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("| P")
    }
    assert set(rows) == set(manifest())
    for line in rows.values():
        assert len(line.split("|")[3].strip()) > 20, line
