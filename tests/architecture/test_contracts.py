"""The house rules that a machine can hold us to: layers, silence of the deciding folders, the shape of the tree."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "execkit_mcp"
SANS_IO = ("model", "errors.py", "redaction", "policy", "protocol", "output")
FORBIDDEN = frozenset(
    """
    asyncio os socket subprocess time random pathlib yaml mcp mcp_types asyncssh pexpect ptyprocess
    sqlite3 shutil tempfile select threading io fcntl pty termios http
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


def sans_io_files() -> list[Path]:
    out: list[Path] = []
    for name in SANS_IO:
        path = PACKAGE / name
        out += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return out


def imported_names(path: Path) -> set[str]:
    """Top-level names of everything that a file imports anywhere, lazy imports included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", sans_io_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_deciding_module_imports_nothing_that_does_input_or_output(path):
    assert not imported_names(path) & FORBIDDEN


def test_import_contracts_hold():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


AUDIT_HOOK = r"""
import sys
import execkit_mcp.policy, execkit_mcp.redaction, execkit_mcp.output.chain, execkit_mcp.output.budget
import execkit_mcp.protocol.machine
from execkit_mcp.policy import Context, compile_policy, judge
from execkit_mcp.policy.document import Element, PolicyDocument, Rule
from execkit_mcp.model import Verdict
from execkit_mcp.redaction import Redactor
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.output.budget import view

document = PolicyDocument(name="t", digest="0", rules=(
    Rule(id="r", verdict=Verdict.ALLOW, elements=(Element(program="cat"), Element(program="grep"))),
))

def work():
    policy = compile_policy(document)
    context = Context(cwd="/srv", home="/home/a", workspace="/srv")
    for text in ("cat a | grep b", "rm -rf /", "cat <<E\nx\nE", "for i in a b; do cat $i; done", "((", "sudo cat x"):
        judge(text, policy, context)
    redactor = Redactor(key=b"k" * 32, known=())
    chain = OutputChain(redactor=redactor, limit_bytes=10_000)
    chain.push(b"hello \x1b[31mred\x1b[0m\npass" + b"word=hunter2hunter2\n\xff\n")
    chain.settle()
    view(chain.snapshot(), 1000)

work()  # once, so that lazy imports and caches are filled
seen = []
armed = True
def hook(event, args):
    if armed and event.split(".")[0] in {"open", "os", "socket", "subprocess", "shutil", "fcntl", "sqlite3"}:
        seen.append((event, args))
sys.addaudithook(hook)
work()
armed = False
print(seen)
sys.exit(bool(seen))
"""


def test_the_deciding_folders_do_no_input_or_output_at_run_time():
    done = subprocess.run(
        [sys.executable, "-c", AUDIT_HOOK], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing():
    empty = {"utils", "helpers", "common", "core", "misc", "util", "helper"}
    assert [str(path) for path in PACKAGE.rglob("*") if path.stem in empty] == []


def test_a_long_module_says_why_it_is_long():
    long = []
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text()
        if source.count("\n") > 400:
            docstring = ast.get_docstring(ast.parse(source)) or ""
            if not re.search(r"400 lines|size cap|[Ll]onger\s+than most", docstring):
                long.append(f"{path.relative_to(ROOT)}: {source.count(chr(10))}")
    assert long == []


def test_only_the_named_files_stand_at_the_top():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("not a git checkout: what belongs to the project cannot be told from what lies about")
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in top if not name.startswith(".")} == {
        "pyproject.toml", "README.md", "Makefile", "execkit_mcp", "policies", "tests", "poc",
    }  # fmt: skip
