"""Builds the documentation site: guides as they are, the reference written from the code.

    python .packaging/site.py DIR         # writes DIR/index.html and the rest
    python .packaging/site.py --pages DIR # only the Markdown pages

A link that leads nowhere fails the build.
"""

import argparse
import ast
import inspect
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from execkit_mcp import errors  # noqa: E402
from execkit_mcp.cli.main import COMMANDS, build_parser  # noqa: E402
from execkit_mcp.config.settings import VARIABLES  # noqa: E402
from execkit_mcp.policy.hazards import FAMILIES  # noqa: E402
from execkit_mcp.server.tools import TOOLS  # noqa: E402

GITHUB = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
PROMISES_MARK = "<!-- promises -->"
MECHANISMS = {
    "P1": "A strict parser of a subset of bash; canonical text printed from the judged tree; paths resolved.",
    "P2": "Default deny; argv to effects by a table of command knowledge; the strictest part decides; fences beneath.",
    "P3": "Known values in a table of encodings, token shapes, names; bounded hold-back over every cut.",
    "P4": "A digest of command, folder, target, policy, requester; single use; channels chosen by the policy.",
    "P5": "Status on a private descriptor; an interrupt ladder; a watched shell that is replaced with its state.",
    "P6": "A hash chain on the disk before a command runs; recordings that name their entries; verification by anyone.",
    "P7": "Every failure is a refusal with code, reason and hint; each result names the fence that held.",
}


def commands_page() -> str:
    """The help of every command."""
    lines = ["# Commands", ""]
    for command in COMMANDS:
        parser = build_parser(command)
        (action,) = [each for each in parser._actions if each.dest == "command"]  # noqa: SLF001 - argparse has no other way
        shown = action.choices[command]
        shown.prog = f"execkit-mcp {command}"
        lines += [f"## {command}", "", "```", shown.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def tools_page() -> str:
    """Every MCP tool with its arguments and results."""
    lines = ["# Tools", "", "What the server offers to a client. Text and structured content tell the same.", ""]
    for spec in TOOLS:
        lines += [f"## {spec.name}", "", spec.description, "", "| argument | type | default | |", "|---|---|---|---|"]
        schema = spec.to_mcp().input_schema
        for name, argument in schema["properties"].items():
            must = name in schema.get("required", [])
            default = "required" if must else f"`{argument['default']}`" if "default" in argument else ""
            kind = " ".join(f"`{each}`" for each in argument.get("enum", [argument.get("type", "")]))
            lines.append(f"| `{name}` | {kind} | {default} | {argument.get('description', '')} |")
        facts = ", ".join(f"`{name}`" for name in spec.result.model_fields)
        lines += ["", f"Result: {facts}.", ""]
    return "\n".join(lines)


def errors_page() -> str:
    """Every error code with what it means."""
    lines = ["# Error codes", "", "Codes never change meaning.", "", "| code | means |", "|---|---|"]
    found = {}
    for _, each in inspect.getmembers(errors, inspect.isclass):
        if issubclass(each, errors.ExecKitError) and each is not errors.ExecKitError and "code" in vars(each):
            found[each.code] = (inspect.getdoc(each) or "").split("\n\n")[0].replace("\n", " ")
    lines += [f"| `{code}` | {_cell(text)} |" for code, text in sorted(found.items())]
    return "\n".join([*lines, ""])


def hazards_page() -> str:
    """Every dangerous pattern."""
    lines = ["# Hazards", "", "Patterns that are at least asked, whatever a rule allows. Policies name them by id.", ""]
    for family, rows in FAMILIES.items():
        lines += [f"## {family}", "", "| id | severity | what |", "|---|---|---|"]
        lines += [f"| `{row.id}` | {row.severity.value} | {_cell(row.message)} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def variables_page() -> str:
    """Every environment variable."""
    lines = ["# Variables", "", "An option wins over a variable, a variable over the file, the file over the default."]
    lines += ["", "| variable | setting |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | `{setting}` |" for name, setting in VARIABLES.items()), ""])


def promises() -> str:
    """Each promise with mechanism, limits and the tests that attack it."""
    readme = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| (P\d) \| (.*?) \| (.*?) \|$", readme, re.MULTILINE)
    attacks: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests/attacks").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "promise":
                attacks.setdefault(node.args[0].value, []).append(path.name)
    lines = []
    for name, promise, limit in rows:
        tests = ", ".join(f"`{test}`" for test in dict.fromkeys(attacks.get(name, [])))
        lines += [f"### {name}", "", promise, "", f"*Mechanism.* {MECHANISMS[name]}", "", f"*Limit.* {limit}", ""]
        lines += [f"*Attacked by* (in `tests/attacks/`): {tests}.", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def write_pages(folder: Path) -> None:
    """Every page as Markdown."""
    shutil.copytree(
        ROOT / "execkit_mcp/docs", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "__pycache__")
    )
    model = folder / "threat-model.md"
    model.write_text(model.read_text().replace(PROMISES_MARK, promises()))
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    for name, page in {"commands": commands_page, "tools": tools_page, "errors": errors_page,
                       "hazards": hazards_page, "variables": variables_page}.items():  # fmt: skip
        (reference / f"{name}.md").write_text(page())
    for name, target in GITHUB.items():
        (folder / target).write_text(_relinked((ROOT / ".github" / name).read_text(), folder))
    (folder / "policies.md").write_text(_relinked((ROOT / "policies/README.md").read_text(), folder))
    (folder / "index.md").write_text(_relinked((ROOT / "README.md").read_text(), folder))


def _relinked(text: str, folder: Path) -> str:
    """Links between files of the repository as links between pages; what is no page is plain text."""

    def link(match: re.Match[str]) -> str:
        label, target = match[1], match[2]
        if target.startswith(("http://", "https://", "#")):
            return match[0]
        name = target.rpartition("/")[2]
        page = GITHUB.get(name, "policies.md" if target.endswith("policies/README.md") else "")
        page = page or target.removeprefix("../").removeprefix("execkit_mcp/docs/")
        is_page = page in {*GITHUB.values(), "policies.md", "index.md"} or (folder / page).is_file()
        return f"[{label}]({page})" if is_page else label

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, text)


def main() -> int:
    """0, or what mkdocs says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, help="the folder to write")
    parser.add_argument("--pages", action="store_true", help="only the Markdown pages")
    arguments = parser.parse_args()
    if arguments.pages:
        arguments.target.mkdir(parents=True, exist_ok=True)
        write_pages(arguments.target)
        return 0
    target = arguments.target.resolve()
    with tempfile.TemporaryDirectory() as name:
        pages = Path(name) / "pages"
        pages.mkdir()
        write_pages(pages)
        settings = Path(name) / "mkdocs.yml"
        settings.write_text((ROOT / ".packaging/mkdocs.yml").read_text().replace("docs_dir: .", f"docs_dir: {pages}"))
        return subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(settings), "-d", str(target)],
            check=False,
        ).returncode  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
