# ruff: noqa: E501 - a table reads one row a line
"""Safer ways to the same end: a table from a dangerous command to one that shows or does less.

A row fits a program, its leading word and one of its flags. What it offers is either a command of its own
(``{operands}`` stands for the operands, quoted) or the same command without some words and with others.
An offer is a proposal for people: it is judged like everything else before anybody is shown it.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from execkit_mcp.policy import globs
from execkit_mcp.policy.knowledge import Invocation, interpret, static
from execkit_mcp.policy.shell.quoting import is_plain, quote


class Row(Struct, frozen=True, kw_only=True):
    """One safer way.

    Attributes:
        program: names or globs, separated by spaces.
        sub: the first word behind the program (alternatives separated by ``|``); empty: any.
        flags: at least one of these flags, separated by spaces; empty: none needed.
        instead: the other command; empty: the same one, changed by ``drop``, ``add`` and ``swap``.
        drop: words left out.
        add: words added at the end.
        swap: a word and the one that takes its place.
        why: what is better about it.
        example: a command that the row fits.
    """

    program: str
    sub: str = ""
    flags: str = ""
    instead: str = ""
    drop: str = ""
    add: str = ""
    swap: tuple[str, str] = ("", "")
    why: str
    example: str


class Alternative(Struct, frozen=True):
    """A safer command and why it is safer."""

    command: str
    why: str


ROWS: tuple[Row, ...] = (
    Row(program="rm", flags="-r -R --recursive", instead="find {operands} -maxdepth 2", why="shows what would go", example="rm -rf build"),
    Row(program="rm shred truncate", instead="ls -ld {operands}", why="shows what would go", example="rm notes.txt"),
    Row(program="find", flags="-delete", drop="-delete", add="-print", why="shows what would be deleted", example="find . -name '*.log' -delete"),
    Row(program="sed", flags="-i --in-place", drop="-i --in-place", why="prints the result and leaves the file", example="sed -i s/a/b/ x"),
    Row(program="sort", flags="-o --output", instead="sort {operands}", why="prints the result", example="sort -o out in"),
    Row(program="tar", flags="-x --extract --get", instead="tar -tf {f}", why="lists the archive", example="tar -xf x.tar"),
    Row(program="unzip", instead="unzip -l {operands}", why="lists the archive", example="unzip x.zip"),
    Row(program="rsync", flags="--delete --delete-after --delete-before --delete-excluded --remove-source-files", add="--dry-run", why="shows what would change", example="rsync -a --delete a b"),
    Row(program="patch", add="--dry-run", why="shows whether it applies", example="patch -p1 x.diff"),
    Row(program="chmod chown chgrp", flags="-R --recursive", instead="ls -ld {operands}", why="shows what stands there now", example="chmod -R 777 x"),
    Row(program="dd mkfs* wipefs fdisk parted sfdisk", instead="lsblk -f", why="shows the disks and what is on them", example="mkfs.ext4 /dev/sdb1"),
    Row(program="git", sub="push", flags="-f --force", drop="-f --force", add="--force-with-lease", why="refuses to overwrite what you have not seen", example="git push --force origin main"),
    Row(program="git", sub="push", add="--dry-run", why="shows what would be pushed", example="git push origin main"),
    Row(program="git", sub="reset", flags="--hard", instead="git stash", why="keeps the changes where they can be fetched back", example="git reset --hard HEAD~1"),
    Row(program="git", sub="clean", instead="git clean -n -d", why="shows what would be removed", example="git clean -fdx"),
    Row(program="git", sub="branch", flags="-D", drop="-D", add="-d", why="refuses to drop what is not merged", example="git branch -D old"),
    Row(program="git", sub="checkout|restore", instead="git diff", why="shows what would be lost", example="git checkout -- ."),
    Row(program="git", sub="pull", instead="git fetch", why="changes no file of the workspace", example="git pull"),
    Row(program="git", sub="stash", flags="", instead="git stash list", why="shows what is there", example="git stash clear"),
    Row(program="kubectl", sub="apply", swap=("apply", "diff"), why="shows what would change", example="kubectl apply -f web.yaml"),
    Row(program="kubectl", sub="delete|scale|drain|patch|replace|create|label|annotate", add="--dry-run=server", why="asks the server without changing it", example="kubectl delete pod web-1"),
    Row(program="kubectl", sub="delete|scale|drain|patch|edit|label|annotate", instead="kubectl get {operands}", why="shows what stands there now", example="kubectl delete pod web-1"),
    Row(program="kubectl", sub="edit", swap=("edit", "get"), add="-o yaml", why="shows it", example="kubectl edit deploy web"),
    Row(program="kubectl", sub="exec", instead="kubectl logs {second}", why="shows what the pod said, from outside", example="kubectl exec web-1 -- sh"),
    Row(program="helm", sub="install|upgrade|uninstall|rollback|delete", add="--dry-run", why="shows what would change", example="helm upgrade web ./chart"),
    Row(program="terraform tofu", sub="apply", instead="terraform plan", why="shows what would change", example="terraform apply"),
    Row(program="terraform tofu", sub="destroy", instead="terraform plan -destroy", why="shows what would go", example="terraform destroy"),
    Row(program="docker podman", sub="system|volume|image|container|builder|network", instead="docker system df", why="shows what takes the room", example="docker system prune -af"),
    Row(program="docker podman", sub="rm|stop|kill|restart", instead="docker ps -a", why="shows the containers", example="docker rm -f web"),
    Row(program="docker podman", sub="exec", instead="docker logs --tail 100 {second}", why="shows what the container said, from outside", example="docker exec web sh"),
    Row(program="systemctl service", sub="stop|restart|disable|mask|kill|start|reload|enable", instead="systemctl status {second}", why="shows its state and its last lines", example="systemctl restart nginx"),
    Row(program="kill pkill killall", instead="ps -ef", why="shows what runs", example="kill -9 1"),
    Row(program="shutdown reboot halt poweroff", instead="uptime", why="shows how long it has run", example="reboot"),
    Row(program="apt-get apt", sub="install|remove|upgrade|purge|autoremove|dist-upgrade|full-upgrade", add="--simulate", why="shows what would change", example="apt-get remove nginx"),
    Row(program="dnf yum", sub="install|remove|upgrade|update", add="--assumeno", why="shows what would change", example="dnf remove nginx"),
    Row(program="npm", sub="publish", add="--dry-run", why="shows what would be published", example="npm publish"),
    Row(program="crontab", flags="-r -e", instead="crontab -l", why="shows the table", example="crontab -r"),
    Row(program="iptables ip6tables", flags="-F --flush -A --append -D --delete -P --policy", instead="iptables -L -n", why="shows the rules", example="iptables -F"),
    Row(program="sysctl", flags="-w --write", instead="sysctl -a", why="shows the values", example="sysctl -w vm.swappiness=10"),
    Row(program="aws", sub="s3", add="--dryrun", why="shows what would change", example="aws s3 rm s3://bucket/x"),
    Row(program="cp mv", add="-n", why="overwrites nothing", example="cp a b"),
    Row(program="less more vi vim nano view", instead="cat {operands}", why="prints it and ends", example="vi notes.txt"),
    Row(program="journalctl", flags="--vacuum-size --vacuum-time --vacuum-files --rotate", instead="journalctl --disk-usage", why="shows how much it takes", example="journalctl --vacuum-size=1M"),
)  # fmt: skip


def alternatives(argv: Sequence[str]) -> Iterator[Alternative]:
    """Every safer way for an argv whose first word is a bare program name."""
    invocation = interpret(tuple(static(word) for word in argv))
    operands = [operand.text for operand in invocation.operands]
    first = (*invocation.subcommand, *operands)[:1]
    spelled = {name for use in invocation.flags for name in use.names}
    for row in ROWS:
        if not any(globs.matches(argv[0], each) for each in row.program.split()):
            continue
        if row.sub and (not first or first[0] not in row.sub.split("|")):
            continue
        if row.flags and not spelled & set(row.flags.split()):
            continue
        command = _from_template(row, invocation) if row.instead else _changed(row, argv)
        if command is not None and command != " ".join(_quoted(word) for word in argv):
            yield Alternative(command, row.why)


def _from_template(row: Row, invocation: Invocation) -> str | None:
    """The other command with this one's operands; None where it needs a word that is not there."""
    words = [operand.text for operand in invocation.operands]
    behind = [word for word in words if word not in invocation.subcommand]
    known = {
        "operands": [word for word in words if not word.startswith("-")],
        "second": [word for word in (behind if invocation.subcommand else behind[1:]) if not word.startswith("-")][:1],
        "f": [use.value.text for use in invocation.flags if "-f" in use.names and use.value is not None][:1],
    }
    command = row.instead
    for name, values in known.items():
        if f"{{{name}}}" in command:
            if not values:
                return None
            command = command.replace(f"{{{name}}}", " ".join(_quoted(value) for value in values))
    return command


def _changed(row: Row, argv: Sequence[str]) -> str:
    left_out = row.drop.split()
    before, after = row.swap
    words: list[str] = []
    for word in argv:
        if word in left_out or (row.drop and word.partition("=")[0] in left_out):
            continue
        words.append(after if before and word == before and before not in words else word)
    added = [word for word in row.add.split() if word not in words]
    end = words.index("--") if "--" in words else len(words)
    return " ".join(_quoted(word) for word in (*words[:end], *added, *words[end:]))


def _quoted(word: str) -> str:
    return word if is_plain(word) else quote(word)
