# ruff: noqa: E501 - an expression reads one line
"""Hazards of git history: what others have is overwritten, what was not committed is lost."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="git-force-push",
        severity=Severity.HIGH,
        message="overwrites history that others have",
        shapes=(
            Shape(programs="git", sub="push", flags="-f --force --force-with-lease --mirror --delete -d --prune"),
            Shape(programs="git", sub="push", operand=r"[+:].*"),
        ),
        example="git push --force",
        harmless="git push origin main",
    ),
    Hazard(
        id="git-reset-hard",
        severity=Severity.HIGH,
        message="throws uncommitted work away",
        shapes=(
            Shape(programs="git", sub="reset", flags="--hard --merge"),
            Shape(programs="git", sub="checkout|restore", operand=r"\.|\./|:/|\*|\*\*.*"),
            Shape(programs="git", sub="checkout|switch", flags="-f --force --discard-changes"),
            Shape(programs="git", sub="checkout", anywhere=r"(^| )-- "),
            Shape(programs="git", sub="restore", operand=r".+", without="-S --staged"),
            Shape(programs="git", sub="restore", operand=r".+", flags="-W --worktree"),
            # A word that looks like a file, and two words: a revision and a path.
            Shape(
                programs="git",
                sub="checkout",
                operand=r".*[A-Za-z_*]\.[A-Za-z]\w{0,9}|.*/|:.*",
                without="-b -B --orphan -t --track",
            ),
            Shape(
                programs="git",
                sub="checkout",
                anywhere=r"\bcheckout (?:-\S+ )*[^-\s]\S* [^-\s]",
                without="-b -B --orphan -t --track",
            ),
            Shape(programs="git", sub="rm", flags="-f --force"),
        ),
        example="git reset --hard",
        harmless="git reset",
    ),
    Hazard(
        id="git-clean",
        severity=Severity.HIGH,
        message="removes files that git does not know",
        shapes=(Shape(programs="git", sub="clean", flags="-f --force"),),
        example="git clean -fdx",
        harmless="git clean -n",
    ),
    Hazard(
        id="git-drop",
        severity=Severity.MEDIUM,
        message="removes branches, stashes or history",
        shapes=(
            Shape(programs="git", sub="branch", flags="-D -d --delete -f --force -M -C"),
            Shape(programs="git", sub="stash drop|stash clear"),
            Shape(programs="git", sub="stash|stash push|stash save", flags="-a --all"),
            Shape(programs="git", sub="checkout", flags="-B"),
            Shape(programs="git", sub="switch", flags="-C --force-create"),
            Shape(programs="git", sub="tag", flags="-d --delete -f --force"),
            Shape(
                programs="git",
                sub="reflog expire|reflog delete|gc|filter-branch|filter-repo|update-ref|worktree remove|rebase|replace|prune|submodule deinit",
            ),
        ),
        example="git branch -D old",
        harmless="git branch --list",
    ),
    Hazard(
        id="git-history-rewrite",
        severity=Severity.HIGH,
        message="writes the history anew",
        shapes=(
            Shape(programs="git", sub="filter-branch|filter-repo|replace|fast-import"),
            Shape(programs="git-filter-repo bfg"),
        ),
        example="git filter-branch --all",
        harmless="git log --all",
    ),
    Hazard(
        id="git-lose-the-way-back",
        severity=Severity.HIGH,
        message="removes what could be restored",
        shapes=(
            Shape(programs="git", sub="reflog expire|reflog delete|prune"),
            Shape(programs="git", sub="gc", flags="--prune --aggressive"),
        ),
        example="git reflog expire --all",
        harmless="git reflog",
    ),
    Hazard(
        id="git-store",
        severity=Severity.HIGH,
        message="changes by hand what git stores",
        writes=r".*/\.git/(?:HEAD|index|packed-refs|shallow|(?:refs|objects|logs)(?:/.*)?)",
        example="rm .git/index",
        harmless="rm -f .git/index.lock",
    ),
    Hazard(
        id="git-checks-skipped",
        severity=Severity.MEDIUM,
        message="leaves out the checks of the repository",
        shapes=(
            Shape(programs="git", sub="commit|push|merge|rebase|am", flags="--no-verify"),
            Shape(programs="git", sub="commit", flags="-n"),
        ),
        example="git commit --no-verify -m x",
        harmless="git commit -m x",
    ),
    Hazard(
        id="git-runs-a-program",
        severity=Severity.HIGH,
        message="makes git run a program from now on",
        shapes=(
            Shape(
                programs="git",
                anywhere=r"(?i)\b(?:core\.(?:hookspath|fsmonitor|pager|sshcommand|editor|askpass|gitproxy)|alias\.\S+|\S+\.(?:textconv|clean|smudge|process|driver|cmd)|diff\.external|credential\.\S*helper|gpg\.\S*program|sequence\.editor|init\.templatedir)[= ]",
            ),
        ),
        example="git config core.hooksPath /tmp/x",
        harmless="git config user.name",
    ),
    Hazard(
        id="git-remote-change",
        severity=Severity.MEDIUM,
        message="changes where pushes go",
        shapes=(Shape(programs="git", sub="remote add|remote set-url|remote rename|remote remove|remote rm"),),
        example="git remote set-url origin https://example.com/x.git",
        harmless="git remote -v",
    ),
    Hazard(
        id="hosted-repository",
        severity=Severity.HIGH,
        message="removes or opens a hosted repository",
        shapes=(
            Shape(
                programs="gh",
                anywhere=r"^(?:repo (?:delete|archive|edit|rename)|release delete|secret|variable|ssh-key|deploy-key|run delete|cache delete|ruleset)\b",
            ),
            Shape(programs="gh", anywhere=r"^api\b.*(?:-X|--method)[ =]?(?:DELETE|PUT|PATCH|POST)\b"),
            Shape(
                programs="glab",
                anywhere=r"^(?:repo|release|variable|ssh-key|deploy-key) (?:delete|set|add|transfer|archive)\b",
            ),
        ),
        example="gh repo delete acme/site",
        harmless="gh repo view acme/site",
    ),
)
