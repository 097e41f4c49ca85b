r"""What a git repository runs when it is read: this module finds it in the text of the repository's configuration.

``environment.GIT_HARDENING`` overrides every key by which git runs a program, but for keys that hold a name of the
repository's own choice. Those are looked for, where the target can be asked (``ProgramLocator.configured``):

    * ``filter.NAME.clean`` and ``.process`` run on files of the work tree that ``git status`` or ``git diff`` compares;
    * ``remote.NAME.uploadpack`` of a partial clone runs when an object is missing (git < 2.44 does not know
      ``GIT_NO_LAZY_FETCH``);
    * ``include`` brings in a file that was not looked at.

The commands of git-lfs are known: they run a program of a trusted folder, unless an extension is configured.
The text is read more strictly than git reads it: what might be such a key counts as one.
"""

import re
from functools import lru_cache

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import Invocation
from execkit_mcp.policy.knowledge.spec import words_of

# They compare files of the work tree with what is committed …
_COMPARING = words_of(
    "status diff diff-index diff-files describe blame annotate ls-files checkout restore stash add commit"
)
# … and these look at no object.
_APART = words_of("config version help rev-parse remote check-ignore check-attr var symbolic-ref worktree init")

_FILTERING = frozenset({"clean", "process"})
_SECTION = lazy_regex(r"\[[ \t]*([A-Za-z0-9-]+)")
_KEY = lazy_regex(
    r"(?:^|\])[ \t\r]*(clean|process|uploadpack|promisor|partialclone)\b[ \t\r]*(?:=[ \t]*(.*))?",
    re.MULTILINE | re.IGNORECASE,
)
_LFS = lazy_regex(r'"?(?:git-lfs clean(?: --skip)? -- %f|git-lfs filter-process(?: --skip)?)"?')
_MAX_TEXT = 64 * 1024
ANY_PROGRAM = '[filter "x"]\nclean = x\n[remote "x"]\npromisor = true\nuploadpack = x\n'
"""Stands for the configuration of a repository that cannot be looked at."""


@lru_cache(maxsize=32)
def running(config: str) -> tuple[str, ...]:
    """The keys of a configuration that name a program which reading the repository may run.

    A key counts wherever it stands: git begins a section in the middle of a line, and a value may look like one.
    """
    if not config:
        return ()
    sections = {found.lower() for found in _SECTION.findall(config)}
    found: list[str] = []
    if len(config) > _MAX_TEXT or not sections.isdisjoint({"include", "includeif"}):
        found.append("include")
    keys = [(key.lower(), value.strip()) for key, value in _KEY.findall(config)]
    if "filter" in sections:
        found += [f"filter.*.{key}" for key, value in keys if key in _FILTERING and not _LFS.fullmatch(value)]
        if "lfs" in sections and "extension" in config.lower():
            found.append("lfs.extension")
    names = {key for key, _ in keys}
    if "uploadpack" in names and not names.isdisjoint({"promisor", "partialclone"}):
        found.append("remote.*.uploadpack")
    return tuple(dict.fromkeys(found))


def may_run(invocation: Invocation, config: str) -> tuple[str, ...]:
    """The keys that the git command would have git run a program by."""
    words = invocation.subcommand[:1]
    if not words or words[0] in _APART:
        return ()
    keys = running(config)
    return keys if words[0] in _COMPARING else tuple([key for key in keys if key.startswith(("remote.", "include"))])
