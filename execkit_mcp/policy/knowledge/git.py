# ruff: noqa: E501 - a table reads one row a line
"""git, after the 2.39 manual pages: subcommands that read, that write, and that may run something.

Only flags whose effect is known are in the tables; any other is a problem.

git reads configuration that can run programs (fsmonitor, textconv, pager, aliases); that is kept out by the
environment a policy forces, not by this table. A command that reads the repository reads the folder it is
started in.

Over 400 lines, because it is the table of one program.
"""

from execkit_mcp.policy.knowledge.git_shows import NOWHERE, after_diff, after_paths, after_shows, path_in
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program, words_of

_FORMAT = (
    "--pretty=? --format= --oneline --abbrev-commit --no-abbrev-commit --abbrev=? --date= --encoding= "
    "--notes=? --no-notes --show-signature"
)
_DIFF = (
    "-p -u --patch -s --no-patch -U= --unified= --raw --patch-with-raw --patch-with-stat --minimal "
    "--patience --histogram "
    "--diff-algorithm= --anchored= --stat=? --compact-summary --numstat --shortstat --dirstat=? "
    "--summary -z --name-only "
    "--name-status --color=? --no-color --color-moved=? --color-words=? --word-diff=? "
    "--word-diff-regex= --no-renames "
    "-M,--find-renames=? -C,--find-copies=? -B=? -D --diff-filter= -S= -G= --pickaxe-all "
    "--pickaxe-regex -R -a --text "
    "--ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space "
    "--ignore-blank-lines -I= "
    "--inter-hunk-context= -W --function-context --exit-code --quiet -q --no-ext-diff "
    "--no-textconv --ext-diff:x --textconv:x "
    "--ignore-submodules=? --submodule=? --src-prefix= --dst-prefix= --no-prefix --relative=? "
    "--full-index --binary "
    "--check --cached --staged --merge-base --no-index>paths --output=:w -O=:r --find-object= --cc "
    "-c --combined-all-paths -m "
    "-t --ita-invisible-in-index --no-indent-heuristic --indent-heuristic --left-right -l="
)
_LOG = (
    f"{_FORMAT} -n= --max-count= --skip= --since= --after= --until= --before= --author= "
    f"--committer= --grep= --grep-reflog= "
    "--all-match --invert-grep -i -E -F -P --regexp-ignore-case --extended-regexp --fixed-strings "
    "--merges --no-merges "
    "--min-parents= --max-parents= --first-parent --not --all --branches=? --tags=? --remotes=? "
    "--glob= --exclude= --reflog "
    "--cherry-pick --cherry-mark --cherry --left-only --right-only -g --walk-reflogs --boundary "
    "--simplify-by-decoration "
    "--full-history --dense --sparse --simplify-merges --ancestry-path=? --date-order "
    "--author-date-order --topo-order --reverse "
    "--no-walk=? --do-walk --graph --no-graph --decorate=? --no-decorate --decorate-refs= --follow "
    "--source --full-diff "
    "-L= --parents --children --relative-date --show-pulls --no-expand-tabs --expand-tabs=? "
    "--mailmap --use-mailmap --log-size --stdin:?"
)
_READ = "-*;R"
_WRITE = "-*;d"
_WRITE_AND_HOOKS = "-*;dx"


# Words that a message of git's shows when they are no file's name.
_FROM_FILE = " --pathspec-from-file=:r --pathspec-file-nul"
_STRATEGY = "-X,--strategy-option= -S,--gpg-sign=?:x --no-gpg-sign"
_MERGE = (
    "--commit --no-commit -e,--edit --no-edit --ff --no-ff --ff-only -n --stat "
    "--no-stat --log=? -m,--message= "
    "-x --squash --abort --continue --quit --skip -q,--quiet -v,--verbose "
    "--allow-unrelated-histories --signoff --verify --no-verify"
)


_SHOWING = words_of(
    "--all --regexp -z --null --name-only --show-origin --show-scope --show-names --local --global --system --worktree"
)


def _after_config(reading: Reading) -> None:
    """``git config`` reads with a get flag or a lone dotted name; else it changes what may run programs (``edit``)."""
    is_reading = reading.has(
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "-l",
        "--list",
        "--get-color",
        "--get-colorbool",
    )
    is_changing = reading.has(
        "--add", "--unset", "--unset-all", "--replace-all", "--rename-section", "--remove-section", "-e"
    )
    for blob in reading.flag_values("--blob"):
        reading.mark("f", static(path_in(blob.text)))
    words = [word.text if word.is_static else "" for word in reading.operands]
    is_verb = len(words) == 1 and "." not in words[0] and words != ["list"]
    # Flags of a verb stand behind it; a git that has no verbs yet calls `get` and `list` no name of a key.
    following = [word for word in words[1:] if word.startswith("-") or not word]
    if words[:1] in (["get"], ["list"]) and _SHOWING.issuperset(following):
        is_reading = is_reading or words[0] == "get" or len(following) == len(words) - 1
    if is_changing or (not is_reading and (is_verb or len(reading.operands) != 1)):
        reading.mark("dsx", None)
    reading.mark("R", None)


def _after_branch(reading: Reading) -> None:
    """``git branch`` and ``git tag`` list; a name without a list flag makes one, ``-d -m`` change."""
    is_listing = reading.has(
        "-l",
        "--list",
        "-a",
        "-r",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--show-current",
        "-n",
    )
    is_changing = reading.has("-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u", "--unset-upstream", "-s", "-t", "-F")
    if is_changing or (reading.operands and not is_listing):
        reading.mark("d", None)
    if reading.has("--edit-description", "-s", "--verify") or (reading.has("-e") and reading.subcommand == ("tag",)):
        reading.mark("x", None)
    reading.mark("R", None)


def _after_config_flag(reading: Reading) -> None:
    """Clones and fetches through ``ext::`` and ``file`` remotes run or read; so does a host with a dash."""
    for operand in reading.operands:
        if "::" in operand.prefix or not operand.is_static:
            reading.mark("x", None)


def _after_symbolic_ref(reading: Reading) -> None:
    """``git symbolic-ref NAME`` shows; with a second word or ``-d`` it changes."""
    if reading.has("-d") or len(reading.operands) != 1:
        reading.mark("d", None)
    reading.mark("R", None)


_BRANCH = (
    "-a,--all -r,--remotes -v,--verbose -q,--quiet -l,--list -d,--delete -D -m,--move -M -c,--copy "
    "-C -f,--force --show-current "
    "--contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= "
    "--column=? --no-column --color=? "
    "--no-color --abbrev=? --no-abbrev -i,--ignore-case -t,--track=? --no-track "
    "-u,--set-upstream-to= --unset-upstream "
    "--edit-description --create-reflog"
)
_TAG = (
    "-l,--list -n=? -d,--delete -a,--annotate:d -s,--sign -u,--local-user=:d -f,--force -m,--message= -F,--file=:r "
    "-v,--verify --contains=? --no-contains=? --merged=? "
    "--no-merged=? --points-at= --sort= --format= --column=? --no-column --color=? "
    "-i,--ignore-case -e,--edit --cleanup= --create-reflog"
)

_GREP = (
    "--cached --untracked --no-index:R? --no-exclude-standard --exclude-standard "
    "--recurse-submodules -a --text --no-textconv --textconv:x "
    "-i --ignore-case -I --max-depth= -r --recursive --no-recursive -w --word-regexp -v "
    "--invert-match -h -H --full-name "
    "-E --extended-regexp -G --basic-regexp -P --perl-regexp -F --fixed-strings -n --line-number "
    "--column -l --files-with-matches "
    "--name-only -L --files-without-match -z --null -o --only-matching -c --count --color=? "
    "--no-color --break --heading "
    "-p --show-function -A= --after-context= -B= --before-context= -C= --context= -W "
    "--function-context -m= --max-count= --threads= "
    "-f=:r -e= --and --or --not --all-match -q --quiet -O=?:x --open-files-in-pager=?:x"
)


def _after_remote_show(reading: Reading) -> None:
    """Without ``-n`` it asks the other side, by a program that the repository's configuration may name."""
    if reading.operands and not reading.has("-n"):
        reading.mark("xN", None)


def _before_git(reading: Reading) -> None:
    """``git SUBCOMMAND --help`` is ``git help SUBCOMMAND``; ``NOWHERE`` keeps every repository out."""
    if reading.args and reading.args[0].is_static and reading.args[0].text == NOWHERE:
        reading.args = reading.args[1:]
        reading.modes.add("nowhere")
    words = reading.args
    if len(words) == len(("push", "--help")) and words[1].text == "--help" and words[1].is_static:
        reading.args = (static("help"), words[0])


PROGRAMS = (
    Program(
        names="git",
        source="git 2.39 manual",
        flags="-C=:R -c=:x --config-env=:x --exec-path=?:x --html-path --man-path --info-path "
        "-p,--paginate:x -P --no-pager "
        "--no-replace-objects --bare --git-dir=:Rx --work-tree=:R --namespace= --super-prefix= "
        "--literal-pathspecs "
        "--glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --list-cmds= "
        "--attr-source=",
        has_local_flags=True,
        is_numeric=True,
        before=_before_git,
        alone="--version --help -v -h --html-path --man-path --info-path --exec-path",
        subcommands={
            # ── reading ───────────────────────────────────────────────────────────────────────────────────
            "status": Grammar(
                flags="-s,--short -b,--branch --show-stash --porcelain=? --long -v,--verbose:x "
                "-u,--untracked-files=? "
                "--ignore-submodules=? --ignored=? -z --column=? --no-column --ahead-behind "
                "--no-ahead-behind --renames --no-renames "
                "--find-renames=?",
                operands=_READ,
            ),
            "log|whatchanged|show": Grammar(
                flags=f"{_LOG} {_DIFF}", operands=_READ, modes={"paths": "R*"}, after=after_shows
            ),
            "diff": Grammar(flags=_DIFF, operands=_READ, modes={"paths": "R*;R"}, after=after_diff),
            "diff-tree|diff-index|diff-files": Grammar(
                flags=f"{_DIFF} -r --root --no-commit-id --pretty=? --format=",
                operands=_READ,
                modes={"paths": "R*"},
                after=after_shows,
            ),
            "shortlog": Grammar(
                flags="-n,--numbered -s,--summary -e,--email -c,--committer --group= --format= --since= "
                "--until= --all "
                "--no-merges --merges --author= -w=?",
                operands=_READ,
            ),
            "rev-list": Grammar(
                flags=f"{_LOG} --count --objects --timestamp --header --quiet --left-right --disk-usage=?",
                operands=_READ,
            ),
            "rev-parse": Grammar(
                flags="--verify -q --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name "
                "--all --branches=? --tags=? --remotes=? "
                "--git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir "
                "--is-inside-work-tree --is-bare-repository "
                "--is-shallow-repository --show-cdup --show-prefix --show-toplevel "
                "--show-superproject-working-tree --git-path= --sq "
                "--revs-only --no-revs --flags --no-flags --default= --path-format= "
                "--show-object-format=? --since= --until= --not",
                operands=_READ,
            ),
            "ls-files": Grammar(
                flags="-c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored -s,--stage "
                "-u,--unmerged -k,--killed --directory "
                "--eol -z -x,--exclude= -X,--exclude-from=:r --exclude-per-directory= "
                "--exclude-standard --error-unmatch --full-name "
                "--recurse-submodules --abbrev=? --debug --deduplicate -t -v -f --format= --with-tree=",
                operands=_READ,
            ),
            "ls-tree": Grammar(
                flags="-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree "
                "--abbrev=? --format=",
                operands=_READ,
            ),
            "cat-file": Grammar(
                flags="-t -s -e -p --textconv:x --filters:x --batch=?:? --batch-check=? --batch-all-objects "
                "--buffer --unordered",
                operands=_READ,
                after=after_paths,
            ),
            "blame|annotate": Grammar(
                flags="-L= -l -t -f -n -s -e -w -p -c -b --root --show-stats --porcelain "
                "--line-porcelain --incremental --date= --since= "
                "--reverse= --first-parent -M=? -C=? --ignore-rev= --ignore-revs-file=:r "
                "--contents=:r --show-name --show-number "
                "--show-email --abbrev= --color-lines --color-by-age --minimal -S=:r --no-textconv --no-ext-diff --textconv:x",
                operands=_READ,
                after=after_shows,
            ),
            "describe": Grammar(
                flags="--all --tags --contains --abbrev=? --exact-match --debug --long --match= --exclude= "
                "--always "
                "--first-parent --dirty=? --broken=? --candidates=",
                operands=_READ,
            ),
            "name-rev|merge-base|cherry|show-ref|for-each-ref|count-objects|var|check-ignore|"
            "check-attr|show-branch|"
            "verify-commit|verify-tag|fsck|get-tar-commit-id|stripspace": Grammar(
                flags="--all -a --is-ancestor --fork-point --octopus --independent -v --verbose --heads "
                "--tags --head -d --dereference -s --hash=? "
                "--abbrev=? --verify -q --quiet --format= --sort= --count= --points-at= "
                "--contains=? --merged=? --no-merged=? --no-contains=? "
                "-H --human-readable --name-only --refs= --always -n --non-matching --no-index -z --stdin -l",
                operands=_READ,
            ),
            "symbolic-ref": Grammar(
                flags="-q,--quiet --short --recurse --no-recurse -d,--delete -m=",
                operands="-*",
                after=_after_symbolic_ref,
            ),
            "grep": Grammar(flags=_GREP, operands=_READ, after=after_paths),
            "reflog": Grammar(flags=f"{_LOG} {_DIFF}", operands=_READ, after=after_shows),
            "reflog show": Grammar(flags=f"{_LOG} {_DIFF}", operands=_READ, after=after_shows),
            "reflog list|exists": _READ,
            "reflog expire|delete|drop|write": _WRITE,
            "branch": Grammar(flags=_BRANCH, operands="-*", after=_after_branch),
            "tag": Grammar(flags=_TAG, operands="-*", after=_after_branch),
            "remote": Grammar(flags="-v --verbose", operands=_READ),
            "remote get-url": Grammar(flags="--push --all", operands=_READ),
            "remote show": Grammar(flags="-n", operands="-*;R", after=_after_remote_show),
            "remote add|rename|remove|rm|set-head|set-branches|set-url|prune|update": Grammar(
                flags="-f -t= -m= --tags --no-tags --mirror=? --push --add --delete -a -d --auto "
                "--dry-run -n -p --prune",
                operands="-*;dN",
            ),
            "config": Grammar(
                flags="--get --get-all --get-regexp --get-urlmatch -l,--list --get-color --get-colorbool "
                "--global --system --local --worktree "
                "-f,--file=:r --blob= --type= --bool --int --bool-or-int --path --expiry-date "
                "-z,--null --name-only --show-origin "
                "--show-scope --includes --no-includes --default= --add --unset --unset-all "
                "--replace-all --rename-section "
                "--remove-section -e,--edit --fixed-value",
                operands="-*",
                is_leading=True,  # `git config core.x --get` sets it to `--get`
                after=_after_config,
            ),
            "stash": Grammar(
                flags="-p -k --keep-index --no-keep-index -u --include-untracked -a --all -q --quiet -m= "
                "--message= -S --staged",
                operands=_WRITE_AND_HOOKS,
            ),
            "stash list": Grammar(flags=f"{_LOG} {_DIFF}", operands=_READ, after=after_shows),
            "stash show": Grammar(flags=_DIFF, operands=_READ, after=after_shows),
            "stash push|save|pop|apply|drop|clear|branch|store|create": Grammar(
                flags="-p -k --keep-index --no-keep-index -u --include-untracked -a --all -q --quiet -m= "
                "--message= --index -S --staged" + _FROM_FILE,
                operands=_WRITE_AND_HOOKS,
            ),
            "worktree list": Grammar(flags="--porcelain -v -z", operands=_READ),
            "worktree add|remove|move|prune|lock|unlock|repair": Grammar(
                flags="-f --force -b= -B= -d --detach --checkout --no-checkout -q --lock", operands="d*;dx"
            ),
            "submodule status|summary": Grammar(flags="--cached --recursive -q --quiet --files -n=", operands=_READ),
            "submodule add|init|update|deinit|sync|set-url|set-branch|absorbgitdirs|foreach": "-*;dxN",
            "bisect log": Grammar(flags=_LOG, operands=_READ),
            "bisect view|visualize": Grammar(flags=_LOG, operands="-*;Rx"),
            "bisect": "-*;dx",
            "notes list|show": _READ,
            # A page is shown by a program that `man.viewer` names, unless the canonical text keeps the repository out.
            "help": Grammar(
                flags="-a,--all -g,--guides -v,--verbose --no-verbose --no-external-commands --no-aliases "
                "-m,--man -w,--web:x -i,--info:x -c,--config",
                operands="x*",
                modes={"nowhere": "-*"},
            ),
            "version": Grammar(flags="--build-options", operands="-*"),
            # It hands no flag on to the `git log` that shows the patches.
            "range-diff": Grammar(flags=_DIFF, operands="-*;Rx"),
            # ── writing: hooks and filters may run ────────────────────────────────────────────────────────
            "add": Grammar(
                flags="-v,--verbose -n,--dry-run -f,--force -i:x -p:x -e:x -u,--update "
                "-A,--all,--no-ignore-removal "
                "--no-all,--ignore-removal -N,--intent-to-add --refresh --ignore-errors "
                "--chmod= --renormalize --sparse --patch:x --interactive:x --edit:x" + _FROM_FILE,
                operands="f*;dx",
            ),
            "rm|mv": Grammar(
                flags="-f,--force -n,--dry-run -r --cached --ignore-unmatch -q,--quiet -k -v,--verbose --sparse"
                + _FROM_FILE,
                operands="d*;d",
            ),
            "commit": Grammar(
                flags="-a,--all -m,--message= -F,--file=:r -C,--reuse-message= -c,--reedit-message= "
                "--fixup= --squash= --reset-author "
                "--short --branch --porcelain --long -z --author= --date= -t,--template=:r "
                "-s,--signoff --no-signoff --trailer= "
                "-n,--no-verify --allow-empty --allow-empty-message --cleanup= -e,--edit --no-edit "
                "--amend --no-post-rewrite -i,--include "
                "-o,--only -u,--untracked-files=? -v,--verbose -q,--quiet --dry-run --status "
                "--no-status -S,--gpg-sign=? --no-gpg-sign "
                "-p,--patch" + _FROM_FILE,
                operands="f*;dx",
            ),
            "checkout|switch|restore": Grammar(
                flags="-q,--quiet --progress --no-progress -f,--force --ours --theirs -b= -B= "
                "-c,--create= -C,--force-create= -t,--track=? "
                "--no-track --guess --no-guess -l -d,--detach --orphan= -m,--merge --conflict= "
                "-p,--patch --ignore-skip-worktree-bits "
                "--overlay --no-overlay --discard-changes -s,--source= -S,--staged -W,--worktree "
                "--recurse-submodules=? --overwrite-ignore" + _FROM_FILE,
                operands=_WRITE_AND_HOOKS,
            ),
            "cherry-pick|revert": Grammar(
                flags=f"{_MERGE} {_STRATEGY} --strategy=:x -s --mainline= --cleanup= --allow-empty --keep-redundant-commits",
                operands=_WRITE_AND_HOOKS,
            ),
            # A strategy is a program: `git-merge-NAME`.
            "merge": Grammar(
                flags=f"{_MERGE} -s,--strategy=:x {_STRATEGY} -F,--file=:r --into-name= --cleanup= --autostash --no-autostash",
                operands=_WRITE_AND_HOOKS,
            ),
            "reset": Grammar(
                flags="--soft --mixed --hard --merge --keep -q,--quiet -p,--patch -N --refresh --no-refresh"
                + _FROM_FILE,
                operands=_WRITE,
            ),
            "clean": Grammar(flags="-d -f,--force -i:x -n,--dry-run -q,--quiet -e,--exclude= -x -X", operands=_WRITE),
            "rebase": Grammar(
                flags=f"{_STRATEGY} -s,--strategy=:x -x,--exec=:x -i,--interactive:x --edit-todo:x --onto= --root --keep-base "
                "--continue --abort --skip --quit --show-current-patch -r,--rebase-merges=? --autosquash --no-autosquash "
                "--autostash --no-autostash --ff --no-ff -f,--force-rebase --fork-point --no-fork-point -q,--quiet "
                "-v,--verbose --stat -n,--no-stat --verify --no-verify --signoff --keep-empty --update-refs "
                "--reapply-cherry-picks --no-reapply-cherry-picks --apply -m,--merge --empty= --whitespace= -C=",
                operands=_WRITE_AND_HOOKS,
            ),
            "apply": Grammar(
                flags="--stat --numstat --summary --check --index --cached -3,--3way --apply --no-add -R,--reverse --reject -z -p= "
                "-C= --unidiff-zero --allow-overlap --inaccurate-eof --recount -v,--verbose -q,--quiet --binary --exclude= "
                "--include= --whitespace= --ignore-space-change --ignore-whitespace -N,--intent-to-add --allow-empty "
                "--directory=:d --unsafe-paths:? --build-fake-ancestor=:w",
                operands="r*;dx",
            ),
            "am|bundle|filter-branch|filter-repo|difftool|mergetool|gc|maintenance|"
            "repack|prune|hook|citool|gui|"
            "replace|update-index|update-ref|write-tree|commit-tree|read-tree|"
            "hash-object|mktag|mktree|notes|"
            "rerere|sparse-checkout|credential|credential-store|credential-cache|daemon|"
            "http-backend|instaweb|format-patch|"
            "fast-export|fast-import|pack-objects|unpack-objects|index-pack|sh-setup|lfs|flow|"
            "subtree|p4|svn": Grammar(operands="-*;dx"),
            "init": Grammar(
                flags="-q,--quiet --bare --template=:Rx --separate-git-dir=:d -b,--initial-branch= "
                "--shared=? --object-format=",
                operands="d;d",
            ),
            "archive": Grammar(
                flags="--format= -l,--list -v,--verbose --prefix= -o,--output=:w --worktree-attributes "
                "--add-file=:r "
                "--remote=:Ux --exec=:x -0123456789",
                operands="-*;Rx",
            ),
            # ── network ───────────────────────────────────────────────────────────────────────────────────
            "fetch|pull": Grammar(
                flags="--all -a,--append --depth= --deepen= --shallow-since= --unshallow --dry-run "
                "-f,--force -k,--keep -p,--prune "
                "-P,--prune-tags -n --no-tags -t,--tags -j,--jobs= -q,--quiet -v,--verbose "
                "--progress --no-progress -4,--ipv4 -6,--ipv6 "
                "--multiple --atomic --set-upstream --recurse-submodules=? --no-recurse-submodules "
                "--upload-pack=:x --rebase=? --no-rebase "
                "--ff-only --no-ff --ff --autostash --no-autostash --squash --no-commit --commit "
                "-e,--edit --no-edit --stat --no-stat "
                "-o,--server-option=",
                operands="-*;dxN",
                after=_after_config_flag,
            ),
            "push": Grammar(
                flags="--all --mirror --tags --follow-tags --atomic -n,--dry-run -f,--force "
                "--force-with-lease=? --force-if-includes "
                "-d,--delete --prune -q,--quiet -v,--verbose --progress --no-progress "
                "-u,--set-upstream --no-verify --signed=? "
                "--receive-pack,--exec=:x -o,--push-option= --porcelain -4,--ipv4 -6,--ipv6 "
                "--recurse-submodules= --repo=",
                operands="-*;RxN",
                after=_after_config_flag,
            ),
            "clone": Grammar(
                flags="-l,--local --no-hardlinks -s,--shared --reference=:R -q,--quiet -v,--verbose "
                "--progress -n,--no-checkout --bare "
                "--mirror -o,--origin= -b,--branch= -u,--upload-pack=:x --template=:Rx "
                "-c,--config=:x --depth= --single-branch "
                "--no-single-branch --no-tags --recurse-submodules=?:x --shallow-submodules "
                "--separate-git-dir=:d -j,--jobs= --sparse --filter=",
                operands="u d;dx",
                after=_after_config_flag,
            ),
            "ls-remote": Grammar(
                flags="-h,--heads -t,--tags --refs -q,--quiet --exit-code --get-url --sort= --symref --upload-pack=:x",
                operands="-*;N",
                after=_after_config_flag,
            ),
            "request-pull|send-email|imap-send|remote-http|remote-https|remote-ext": "-*;Ux",
        },
    ),
)
