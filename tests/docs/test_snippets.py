"""Every snippet of README and guides is read by the program that it is for: no command, option or key is made up."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from execkit_mcp.cli.main import COMMANDS, build_parser
from execkit_mcp.config.settings import load_settings
from execkit_mcp.runtime.policies import load_document

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "policies" / "README.md",
    *sorted((ROOT / "execkit_mcp" / "docs").rglob("*.md")),
    *sorted((ROOT / ".github").glob("*.md")),
]
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SNIPPETS = [
    pytest.param(language, text, id=f"{page.relative_to(ROOT)}-{number}-{language or 'plain'}")
    for page in PAGES
    for number, (language, text) in enumerate(BLOCK.findall(page.read_text()), start=1)
]


def commands(text):
    """The command lines of this program in a block, joined over their continuations, up to a pipe or redirection."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ ").strip(), comments=True)
        while any(is_ours := [word.rpartition("/")[2] == "execkit-mcp" for word in words]):
            words = words[is_ours.index(True) + 1 :]
            ends = [number for number, word in enumerate(words) if word in {"|", "||", ">", "<", "&", "&&", ";"}]
            yield words[: ends[0]] if ends else words


def check_command(words):
    if not words or words[0] not in COMMANDS:
        assert not words or words[0].startswith("-"), words
        return
    code = 0
    try:
        build_parser(words[0]).parse_args(words)
    except SystemExit as stop:
        code = stop.code
    assert code == 0, f"the command line does not know: execkit-mcp {shlex.join(words)}"


def check_yaml(text, folder):
    body = yaml.safe_load(text)
    path = folder / "snippet.yaml"
    path.write_text(text)
    path.chmod(0o600)
    if isinstance(body, dict) and "rules" in body and "version" in body:
        load_document(str(path))
    elif isinstance(body, dict) and set(body) <= {
        "targets",
        "policy",
        "approvals",
        "secrets",
        "limits",
        "audit",
        "http",
    }:
        load_settings(config=str(path), environ={"HOME": str(folder)})


@pytest.mark.parametrize(("language", "text"), SNIPPETS)
def test_a_snippet_is_what_its_program_takes(language, text, tmp_path):
    if language == "json":
        json.loads(text)
    elif language == "toml":
        tomllib.loads(text)
    elif language == "python":
        compile(text, "snippet", "exec")
    elif language == "yaml":
        check_yaml(text, tmp_path)
    elif language in {"console", "sh", "bash", ""} and "agent>" not in text:
        lines = text if language != "console" else "\n".join(re.findall(r"^\$ (.*)$", text, re.MULTILINE))
        try:
            found = list(commands(lines))
        except ValueError:  # a drawing, not a command line
            found = []
        for words in found:
            check_command(words)
        for target in re.findall(r"^(?:\$ )?make ([a-z]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target


def test_there_are_snippets_of_every_kind():
    languages = {language for parameter in SNIPPETS for language in [parameter.values[0]]}
    assert {"yaml", "python", "console"} <= languages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target
