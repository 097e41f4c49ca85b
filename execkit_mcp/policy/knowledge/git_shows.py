# ruff: noqa: E501 - a table reads one row a line
"""What git's looking commands show: which files, and through which programs of the repository's own choice.

A repository's configuration may name a program for every kind of file: ``diff.external``, ``diff.NAME.command``
and ``diff.NAME.textconv`` run when a diff is shown. Two flags switch them off, and the canonical text gets both
(``hardening.py``); a diff without them runs something unknown. In a submodule, and behind ``range-diff``, git does
not hand the flags on. A page of help is shown by a program that ``man.viewer`` names.

Source: git 2.39 manual and a repository that configures all of them (``tests/attacks/test_hostile_repositories.py``).
"""

from execkit_mcp.model import EffectKind
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import words_of

# Switch off what a repository's configuration runs to show a diff; they have no other effect.
QUIETING = ("--no-ext-diff", "--no-textconv")
# As the first word it keeps every repository out, and with it what a repository configures to show a page of help.
NOWHERE = "--git-dir=/dev/null"
# Subcommands that take the two, and show a diff at once …
DIFFS = words_of("diff show blame annotate stash/show")
# … or once a flag asks for it, or for a search in the lines of it.
LOGS = words_of("log whatchanged reflog reflog/show stash/list")
_PATCHES = frozenset((
    "-p", "-u", "--patch", "-U", "--unified", "--patch-with-raw", "--patch-with-stat", "-c", "--cc", "-m", "-S", "-G", "-L",
    "--color-words", "--word-diff", "--word-diff-regex", "-W", "--function-context", "--full-diff", "--binary",
    "--combined-all-paths", "--check", "--find-object", "--ita-invisible-in-index",
))  # fmt: skip
_PATH_AT_END = lazy_regex(r":([\w./@+-]+)\Z")  # of `"$commit":path`
_BY_ITS_CHOICE = "the repository's own diff programs: give --no-ext-diff --no-textconv"


def after_shows(reading: Reading) -> None:
    """A diff runs what the repository configures, unless both flags switch that off; then see ``after_paths``."""
    _note_programs(reading)
    after_paths(reading)


def _note_programs(reading: Reading) -> None:
    words = "/".join(reading.subcommand)
    asks = any(not _PATCHES.isdisjoint(use.names) for use in reading.flags if not use.is_global)
    shows = words in DIFFS or (words in LOGS and asks)
    if shows and not all(reading.has(flag) for flag in QUIETING):
        reading.effect(EffectKind.EXEC, None, _BY_ITS_CHOICE)
    if any(value.text == "diff" or not value.is_static for value in reading.flag_values("--submodule")):
        reading.effect(EffectKind.EXEC, None, "programs that the configuration of a submodule names")


def after_diff(reading: Reading) -> None:
    """A path outside the repository makes ``git diff`` compare plain files."""
    after_shows(reading)
    for operand in reading.operands:
        if (
            operand.text.startswith(("/", "~"))
            or "../" in operand.text
            or operand.text == ".."
            or not operand.is_static
        ):
            reading.mark("R", operand)


def after_paths(reading: Reading) -> None:
    """Which files a command shows: what stands behind ``--``, ``REVISION:PATH``, and words with a dot in their name."""
    behind = reading.args[reading.terminated_at :] if reading.terminated_at is not None else ()
    is_last = reading.subcommand[:1] in {("blame",), ("annotate",)}
    for index, operand in enumerate(reading.operands):
        if not operand.is_static:
            if (behind_revision := _PATH_AT_END.search(operand.text)) is not None:
                _mark_path(reading, behind_revision[1])
            elif ":" in operand.text:
                reading.mark("f", operand)
            continue
        is_path = operand in behind or (is_last and index == len(reading.operands) - 1)
        _mark_path(reading, path_in(operand.text, is_path=is_path))
    if not is_last:
        for lines in reading.flag_values("-L"):
            _mark_path(reading, lines.text.rpartition(":")[2])


def path_in(word: str, *, is_path: bool = False) -> str:
    """The path in a word: all of it, or what follows ``REVISION:``, ``:0:`` or a magic word; ``""`` if it has none."""
    revision, colon, rest = word.partition(":")
    if colon and revision:
        return rest
    if colon:
        stage, separator, staged = rest.partition(":")
        if separator and stage in {"0", "1", "2", "3"}:
            return staged
        return rest.rpartition(")")[2].lstrip("/!^")
    name = word.rpartition("/")[2]
    return word if is_path or ("." in name and ".." not in name) else ""


def _mark_path(reading: Reading, path: str) -> None:
    if not path:
        return
    folders = [use.value for use in reading.flags if use.is_global and "-C" in use.names and use.value is not None]
    for folder in reversed(folders):
        path = path if path.startswith("/") or not folder.is_static else f"{folder.text}/{path}"
    reading.mark("f", static(path))
