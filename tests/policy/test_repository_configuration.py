# ruff: noqa: E501 - rows of cases read one case a line
"""What a repository's configuration may run is found however it is written, and what is harmless is left alone."""

import os
import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.repository import running
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.repositories import configuration

LFS = '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\tsmudge = git-lfs smudge -- %f\n'
USUAL = (
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/x.git\n[branch "main"]\n\tremote = origin\n'
)
RUN = {
    '[filter "x"]\n\tclean = ./evil\n': "filter.*.clean",
    '[filter "x"] clean = ./evil\n': "filter.*.clean",
    '[FILTER "x"]\nPROCESS=./evil\n': "filter.*.process",
    "[filter.x]\nclean=./evil\n": "filter.*.clean",
    '[core] [filter "x"] clean = ./evil\n': "filter.*.clean",
    '[filter "x"]\nrequired = [core]\nclean = ./evil\n': "filter.*.clean",
    '[filter "a]b"]\n\tclean = ./evil\n': "filter.*.clean",
    '[filter "x"]\r\n\tclean = ./evil\r\n': "filter.*.clean",
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f; ./evil\n': "filter.*.clean",
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f \\\n; ./evil\n': "filter.*.clean",
    '[filter "x"]\n\tclean\n': "filter.*.clean",
    LFS + '[lfs "extension.x"]\n\tclean = ./evil\n': "filter.*.clean",
    LFS + "[lfs]\n\textension.x.priority = 0\n": "lfs.extension",
    "[include]\n\tpath = other\n": "include",
    '[includeIf "gitdir:/"]\n\tpath = other\n': "include",
    '[remote "o"]\n\tpromisor = true\n\tuploadpack = ./evil\n': "remote.*.uploadpack",
    '[extensions]\n\tpartialClone = o\n[remote "o"]\n\tuploadpack = ./evil\n': "remote.*.uploadpack",
    "#" * 70_000: "include",
}
HARMLESS = [
    "", USUAL, LFS, USUAL + LFS, "[clean]\n\trequireForce = true\n", '[remote "o"]\n\tpromisor = true\n',
    '[remote "o"]\n\tuploadpack = /usr/bin/git-upload-pack\n', '[filter "x"]\n\trequired = true\n', "[alias]\n\tcl = clean\n",
]  # fmt: skip
READS = ["git status", "git diff", "git -C . diff HEAD", "git describe --dirty", "git blame a", "cd sub && git status"]


@pytest.mark.parametrize("config", RUN, ids=range(len(RUN)))
def test_a_program_that_is_named_is_found(config):
    assert RUN[config] in running(config)


@pytest.mark.parametrize("config", HARMLESS, ids=range(len(HARMLESS)))
def test_what_runs_nothing_is_left_alone(config):
    assert running(config) == ()


class Target:
    """A target whose repositories are configured like this."""

    def __init__(self, config):
        self.config = config

    def locate(self, name):
        return f"/usr/bin/{name}"

    def resolve(self, path):
        return path

    def linked_by(self, pattern):
        return ()

    def configured(self, folder):
        assert folder.startswith("/home/dev/project")
        return self.config


def verdicts(config, texts):
    policy = load_policy("read-only", workspace="/home/dev/project")
    here = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project", locator=Target(config))
    return {text: judge(text, policy, here).verdict for text in texts}


def test_a_repository_with_a_filter_is_not_compared_with_its_work_tree():
    assert set(verdicts(next(iter(RUN)), READS).values()) == {Verdict.DENY}
    assert set(verdicts(next(iter(RUN)), ["git log", "git log -p", "git show", "git branch", "ls"]).values()) == {
        Verdict.ALLOW
    }
    assert set(verdicts(USUAL + LFS, READS).values()) == {Verdict.ALLOW}


def test_a_partial_clone_that_names_a_program_is_not_read():
    config = '[remote "o"]\n\tpromisor = true\n\tuploadpack = ./evil\n'
    assert set(verdicts(config, [*READS, "git log -p", "git show", "git cat-file -p HEAD:x"]).values()) == {
        Verdict.DENY
    }
    assert set(verdicts(config, ["git config --list", "git version", "git rev-parse HEAD"]).values()) == {Verdict.ALLOW}


def test_a_repository_that_is_not_known_may_configure_anything():
    unknown = [
        'for d in w*; do git -C "$d" status; done', 'for d in w*; do (cd "$d" && git diff); done', 'cd "$(basename w)" && git status',
        'for d in w*/; do git -C "$d" log -1; done',
    ]  # fmt: skip
    assert Verdict.ALLOW not in verdicts(USUAL, unknown).values()
    known = [
        "for d in a b; do git -C $d status; done",
        "cd sub && git log -1",
        'for d in w*; do git -C "$d" version; done',
    ]
    assert set(verdicts(USUAL, known).values()) == {Verdict.ALLOW}


def test_the_configuration_of_a_repository_is_that_of_its_submodules_and_work_trees_too(tmp_path):
    git = tmp_path / "a" / ".git"
    (git / "modules" / "libs" / "x").mkdir(parents=True)
    (git / "worktrees" / "w").mkdir(parents=True)
    (git / "config").write_text("[core]\n")
    (git / "modules" / "libs" / "x" / "config").write_text("[one]\n")
    (git / "worktrees" / "w" / "commondir").write_text("../..\n")
    (git / "worktrees" / "w" / "config.worktree").write_text("[two]\n")
    (tmp_path / "a" / ".gitmodules").write_text('[submodule "s"]\n\tpath = sub\n')
    (tmp_path / "a" / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "sub" / ".git" / "config").write_text("[three]\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {git / 'worktrees' / 'w'}\n")
    below = tmp_path / "a" / "src"
    below.mkdir()
    assert all(name in configuration(str(below)) for name in ("[core]", "[one]", "[three]"))
    assert all(name in configuration(str(tmp_path / "w")) for name in ("[core]", "[one]", "[two]"))
    assert configuration(str(tmp_path)) == ""


@pytest.mark.parametrize("name", ["config", "config.worktree"])
def test_a_pipe_in_the_place_of_a_configuration_keeps_nobody_waiting_and_counts_as_unseen(tmp_path, name):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / ".git" / name)
    assert "include" in running(configuration(str(tmp_path)))


def test_more_submodules_than_are_looked_at_count_as_unseen(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert running(configuration(str(tmp_path))) == ()
    rows = "".join(f'[submodule "m{n}"]\n\tpath = m{n}\n' for n in range(501))
    (tmp_path / ".gitmodules").write_text(rows)
    assert running(configuration(str(tmp_path))) == ("include",)
    (tmp_path / ".gitmodules").unlink()
    for number in range(501):
        (tmp_path / ".git" / "modules" / f"m{number}").mkdir(parents=True)
    assert running(configuration(str(tmp_path))) == ("include",)
