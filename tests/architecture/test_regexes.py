"""Expressions that are compiled when they are first asked: each compiles, and no module compiles one while it loads."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.model.regex import lazy_regex

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "execkit_mcp"

EACH = r"""
import gc, importlib, pkgutil, re
import execkit_mcp
from execkit_mcp.model.regex import _Uncompiled

for found in pkgutil.walk_packages(execkit_mcp.__path__, "execkit_mcp."):
    if not found.name.endswith("__main__") and ".programs." not in found.name:
        importlib.import_module(found.name)
waiting = [each for each in gc.get_objects() if isinstance(each, _Uncompiled)]
for each in waiting:
    each.search
print(len(waiting))
"""


def _compiled_at_load(tree: ast.AST) -> list[int]:
    """Lines on which ``re.compile`` stands outside functions: it runs when the module is loaded."""
    lines = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            lines.append(node.lineno)
        lines += _compiled_at_load(node)
    return lines


def test_no_module_compiles_an_expression_while_it_is_loaded():
    at_load = [
        f"{path.relative_to(ROOT)}:{line}: write lazy_regex (execkit_mcp.model.regex) instead of re.compile"
        for path in PACKAGE.rglob("*.py")
        for line in _compiled_at_load(ast.parse(path.read_text()))
    ]
    assert at_load == []


def test_each_expression_that_waits_to_be_asked_is_one():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EACH], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda each: each.search("xab").span(), (1, 3)),
        (lambda each: each.match("xab"), None),
        (lambda each: each.fullmatch("ab", 0, 2)["b"], "b"),
        (lambda each: each.sub("-", "ab AB"), "- -"),
        (lambda each: [found.start() for found in each.finditer("abab")], [0, 2]),
        (lambda each: each.findall("ab"), ["b"]),
        (lambda each: each.split("1ab2"), ["1", "b", "2"]),
        (lambda each: (each.pattern, each.groups, dict(each.groupindex)), ("a(?P<b>b)", 1, {"b": 1})),
        (lambda each: each.flags & re.IGNORECASE, re.IGNORECASE),
    ],
)
def test_an_expression_answers_the_first_question_and_the_next_like_a_compiled_one(ask, answer):
    expression = lazy_regex(r"a(?P<b>b)", re.IGNORECASE)
    assert [ask(expression), ask(expression), ask(re.compile(r"a(?P<b>b)", re.IGNORECASE))] == [answer] * 3


def test_an_expression_that_is_none_says_so_whenever_it_is_asked():
    expression = lazy_regex("(")
    for _ in range(2):
        with pytest.raises(re.error):
            expression.search("x")


def test_asking_for_what_no_expression_has_compiles_nothing():
    expression = lazy_regex("(")
    with pytest.raises(AttributeError):
        expression.span  # noqa: B018 - asked for is enough
