# ruff: noqa: E501 - a table reads one row a line
"""P2: a repository whose configuration names a program in every place that git knows runs none of them when it is read."""

import shlex
import subprocess

import pytest

from execkit_mcp import aio
from execkit_mcp.errors import Blocked

pytestmark = pytest.mark.promise("P2")

# Configuration that names a program; {spy} leaves a mark with the word behind it.
NAMED = {
    "diff.evil.textconv": "textconv",
    "diff.external": "external",
    "core.fsmonitor": "fsmonitor",
    "core.pager": "pager",
    "pager.log": "pager",
    "pager.diff": "pager",
    "pager.branch": "pager",
    "core.editor": "editor",
    "sequence.editor": "editor",
    "core.sshCommand": "ssh",
    "core.askPass": "askpass",
    "credential.helper": "credential",
    "gpg.program": "gpg",
    "gpg.ssh.program": "gpg",
    "gpg.ssh.defaultKeyCommand": "gpg",
    "interactive.diffFilter": "filter",
    "man.evil.cmd": "man",
    "browser.evil.cmd": "browser",
    "core.alternateRefsCommand": "alternates",
    "trailer.sign.cmd": "trailer",
    "remote.origin.uploadpack": "uploadpack",
}
PLAIN = {
    "man.viewer": "evil", "web.browser": "evil", "diff.submodule": "diff", "log.showSignature": "true",
    "status.submoduleSummary": "true", "stash.showPatch": "true", "trailer.sign.key": "Signed: ",
}  # fmt: skip
HOOKS = ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc")

# Every subcommand that read-only allows, in the forms that show most.
LOOKS = [
    "git status", "git status -s -b --ignored", "git status --porcelain=v2", "git diff", "git diff --stat", "git diff HEAD~1",
    "git diff --cached", "git diff -G x HEAD~1", "git diff --word-diff", "git diff --no-index a.evil b.evil", "timeout 9 git diff",
    "env git diff", "git -C . diff", "git --no-pager diff", "git diff -- a.evil", "(git diff)", "echo $(git diff)", "if git diff; then git show; fi",
    "find . -maxdepth 1 -name a.evil -exec git diff -- {} +", "git log", "git log -p", "git log -p --all", "git log -S one", "git log -G one",
    "git log --cc", "git log -L1,1:a.evil", "git log --format=%G?", "git log --show-signature", "git log -1 -p", "git log --follow -p a.evil",
    "git show", "git show HEAD~1", "git show v1", "git show HEAD:a.evil", "git whatchanged -p", "git blame a.evil", "git annotate a.evil",
    "git grep one", "git stash list -p", "git stash show", "git stash show -p", "git reflog -p", "git reflog show -p", "git diff-tree -p HEAD~1 HEAD",
    "git diff-index -p HEAD", "git diff-files -p", "git branch -vv", "git tag -n", "git tag -l --format='%(contents)'", "git verify-tag v1",
    "git verify-commit HEAD", "git describe --dirty", "git ls-files -m", "git ls-files -s", "git ls-tree -r HEAD", "git cat-file -p HEAD:a.evil",
    "git shortlog -s", "git rev-list --all", "git rev-parse HEAD", "git show-ref", "git for-each-ref", "git name-rev HEAD", "git merge-base HEAD v1",
    "git count-objects -v", "git check-ignore a.evil", "git check-attr -a a.evil", "git symbolic-ref HEAD", "git var GIT_EDITOR", "git version",
    "git cherry v1", "git show-branch", "git remote -v", "git remote show -n origin", "git config -l", "git worktree list", "git submodule status",
    "git notes list", "git fsck", "git help -a", "git help log", "git log --help", "timeout 9 git help log",
]  # fmt: skip
# What cannot be held: git hands no flag on, or asks the configuration first. These are not allowed.
REFUSED = [
    "git range-diff v1 HEAD~1 HEAD", "git status -v", "git help -w log", "git diff --submodule=diff",
    "git log -p --submodule=diff", "git diff --textconv", "git diff --ext-diff", "git grep --textconv one", "git cat-file --textconv HEAD:a.evil",
    "git cat-file --filters HEAD:a.evil", "git lg", "git -c alias.x='!id' x", "sh -c 'git diff'", "c=diff; git $c", "git remote show origin",
    "git -p log", "git diff --no-textconv --textconv --no-ext-diff",
]  # fmt: skip


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"},
    )


def commits(folder):
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / ".gitattributes").write_text("*.evil diff=evil\n")
    for text in ("one", "two"):
        (folder / "a.evil").write_text(f"{text}\n")
        (folder / "b.evil").write_text(f"b {text}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", text)


def arm(folder, spy):
    for key, mark in NAMED.items():
        git(folder, "config", key, f"{spy} {mark}")
    for key, value in PLAIN.items():
        git(folder, "config", key, value)
    git(folder, "config", "alias.lg", f"!{spy} alias")
    git(folder, "config", "remote.origin.url", f"ext::{spy} ext")
    hooks = folder / ".git" / "hooks"
    for hook in HOOKS if hooks.parent.is_dir() else ():
        (hooks / hook).write_text(f"#!/bin/sh\n{spy} hook\n")
        (hooks / hook).chmod(0o755)
    (folder / "a.evil").write_text("changed\n")


@pytest.fixture
def hostile(world):
    """The workspace as a repository with a submodule, both configured to run the spy; where the spy leaves its marks."""
    marks = world.folder / "marks"
    spy = world.folder / "spy"
    spy.write_text(f'#!/bin/sh\necho "$1" >> {shlex.quote(str(marks))}\n')
    spy.chmod(0o755)
    inside = world.folder / "inside"
    commits(inside)
    commits(world.workspace)
    git(world.workspace, "submodule", "add", "-q", str(inside), "sub")
    git(world.workspace, "commit", "-qm", "sub")
    git(world.workspace, "tag", "-a", "-m", "t", "v1", "HEAD~1")
    commits(world.workspace / "sub")
    (world.workspace / "a.evil").write_text("stashed\n")
    git(world.workspace, "stash", "-q")
    arm(world.workspace / "sub", spy)
    arm(world.workspace, spy)
    marks.unlink(missing_ok=True)
    return marks


async def test_reading_a_hostile_repository_runs_nothing_of_it(world, hostile):
    ran = {}
    async with aio.create(policy="read-only", workspace=str(world.workspace), state_dir=str(world.state)) as session:
        for command in LOOKS:
            await session.exec(command)
            if hostile.exists():
                ran[command] = hostile.read_text().split()
                hostile.unlink()
    assert ran == {}


async def test_what_a_hostile_repository_could_still_run_is_refused(world, hostile):
    async with aio.create(policy="read-only", workspace=str(world.workspace), state_dir=str(world.state)) as session:
        for command in REFUSED:
            with pytest.raises(Blocked):
                await session.exec(command)
    assert not hostile.exists()


def test_the_repository_is_hostile(world, hostile):
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(world.folder), "TERM": "dumb"}
    seen = set()
    for command in ("git diff HEAD~1", "git log -p", "git diff -G x HEAD~1", "git status", "git help log", "git log --show-signature",
                    "git range-diff v1 HEAD~1 HEAD", "git lg", "git diff --no-ext-diff --no-textconv --submodule=diff"):  # fmt: skip
        subprocess.run(["bash", "-c", command], cwd=world.workspace, env=bare, capture_output=True, check=False)
        seen |= set(hostile.read_text().split()) if hostile.exists() else set()
    assert {"external", "textconv", "fsmonitor", "man", "alias", "hook"} <= seen


COMPARES = [
    "git status",
    "git diff",
    "git -C . diff HEAD",
    "cd sub; git describe --dirty",
    "git blame a.evil",
    "git diff-index -p HEAD",
]


@pytest.mark.parametrize("where", [".", "sub"])
async def test_a_filter_that_a_repository_names_runs_on_no_file_of_its_work_tree(world, hostile, where):
    folder = world.workspace / where
    (folder / ".gitattributes").write_text("*.evil filter=evil\n")
    git(folder, "config", "filter.evil.clean", f"{world.folder / 'spy'} clean; cat")
    hostile.unlink(missing_ok=True)
    async with aio.create(policy="read-only", workspace=str(world.workspace), state_dir=str(world.state)) as session:
        for command in COMPARES:
            with pytest.raises(Blocked, match=r"filter\.\*\.clean"):
                await session.exec(command)
        await session.exec("git log -p -- a.evil")
    assert not hostile.exists()
