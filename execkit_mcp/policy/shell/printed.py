"""What some commands are sure to print: this module is the table of those whose output is one short, plain word.

``$(pidof -s nginx)`` prints a number, ``$(date +%F)`` a date: whatever it is, it starts with a letter or a digit and
holds no slash and no blank. So ``/proc/$(pidof -s nginx)/limits`` is a path of a known shape. An output may be empty
where the command fails; whoever asks has to reckon with that.

A row is an expression over the command's words, one a line; a word that does not start with a plain character is none.
"""

import re

from msgspec.structs import replace

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.tree import AndOr, Item, Literal, Redirect, Sequence, Simple, Word

_OPERAND = r"[^-\n][^\n]*"
_UNIT = r"[^-\n*?\[][^\n*?\[]*"  # of a pattern there may be several
_MAIN_PID = r"(?:--value\n(?:-p\nMainPID|--property=MainPID)|(?:-p\nMainPID|--property=MainPID)\n--value)"
# The names of these start with a letter or a digit and hold no slash, as those of hosts do; other kinds are freer.
_KINDS = (
    r"kubectl\n(?:-n\n[a-z][^\n]*\n)?get\n(?:%s)"
    r"(?:\n(?:-A|-[nl]\n[a-z][^\n]*|--(?:namespace|selector|field-selector)=[^\n]*))*"
    r"\n(?:-o\n|-o|-o=|--output=)%s(?:\n-[nl]\n[a-z][^\n]*)*"
)
_ANY_KIND = (
    "pods?|po|nodes?|no|ns|namespaces?|svc|services?|deploy|deployments?|sts|statefulsets?|ds|daemonsets?|jobs?|cronjobs?|"
    "cj|rs|replicasets?|pvc"
)
_ONE_OBJECT = (
    r"kubectl\n(?:-n\n[a-z][^\n]*\n)?get\n(?:%s)(?:\n[A-Za-z0-9][^\n]*)?(?:\n-[nl]\n[a-z][^\n]*)*"
    r"\n(?:-o\n|-o|-o=|--output=)jsonpath=\{\.(?:items\[0\]\.)?"
    r"(?:spec\.nodeName|status\.(?:podIP|hostIP|phase)|metadata\.name)\}"
    r"(?:\n-[nl]\n[a-z][^\n]*)*"
)
# Prints one word that starts with a digit, or nothing. Each row with an example.
_DIGITS = (
    r"wc\n-[lcwmL]",  # … | wc -l
    r"nproc(?:\n--all)?",  # nproc
    r"id\n-[ug]",  # id -u
    r"date(?:\n-u)?\n\+%[sYmdHMSjVFTy](?:[-_.:T]|%[sYmdHMSjVFTy])*",  # date +%F
    rf"pgrep\n-(?=[a-z]*[onc])[fxionc]+(?:\n{_OPERAND})?",  # pgrep -o nginx
    rf"pidof\n-s\n{_OPERAND}",  # pidof -s nginx
    rf"grep\n-[ivwxEF]*c[ivwxEF]*\n{_OPERAND}(?:\n{_OPERAND})?",  # … | grep -c error
    rf"stat\n-c\n%[sugXYZia]\n{_OPERAND}",  # stat -c %s a.bin
    rf"systemctl\nshow\n{_MAIN_PID}\n{_UNIT}",  # systemctl show -p MainPID --value nginx
    rf"systemctl\nshow\n{_UNIT}\n{_MAIN_PID}",  # systemctl show nginx -p MainPID --value
    r"git\nrev-list\n--count\nHEAD",  # git rev-list --count HEAD
    r"uname\n-r",  # uname -r
)
# Prints one word that starts with a letter or a digit, or nothing.
_LETTERS = (
    r"id\n-[ug]n|whoami|arch|uname(?:\n-[sm])?",  # whoami
    r"git\nrev-parse\n--short(?:=\d+)?\nHEAD",  # git rev-parse --short HEAD
    # kubectl get pods -o jsonpath='{.items[0].metadata.name}'
    _KINDS % (_ANY_KIND, r"jsonpath=\{\.items\[0\]\.metadata\.name\}"),
    _ONE_OBJECT % _ANY_KIND,  # kubectl get pod web-1 -o jsonpath='{.spec.nodeName}'
    r"git\nmerge-base\n[A-Za-z0-9][^\n]*\n[A-Za-z0-9][^\n]*",  # git merge-base main HEAD
    r"git\nrev-parse\n(?:--verify\n|-q\n)*HEAD(?:[~^]\d*)?",  # git rev-parse HEAD
    r"git\nrev-parse\n--verify\n[A-Za-z0-9][^\n]*",  # git rev-parse --verify origin/main
    r"git\nrev-list\n(?:-n\n1|-1|-n1|--max-count=1)\n[A-Za-z0-9][^\n]*",  # git rev-list -n 1 v1.0
)
# Print any number of such words.
_MANY_DIGITS = (
    r"seq(?:\n[0-9]{1,9}){1,3}",  # seq 1 5
    rf"pgrep(?:\n-(?:[fxi]+|[uUP]\n\w+)){{0,4}}\n{_OPERAND}",  # pgrep -f gunicorn
    rf"pidof\n{_OPERAND}",  # pidof nginx
)
_COMMITS = (
    r"git\nrev-list(?:\n(?:--reverse|--no-merges|--merges|--first-parent|-n\n\d+|-\d+|--max-count=\d+))*"
    r"\n[A-Za-z0-9][^\n]*"
)
_MANY_LETTERS = (
    r"docker\nps(?:\n(?:-q|-aq|-qa|-a|--quiet))+",  # docker ps -q
    # kubectl get pods -o jsonpath='{.items[*].metadata.name}'
    _KINDS % (_ANY_KIND, r"jsonpath=\{\.items\[\*\]\.metadata\.name\}"),
    # git rev-list -5 HEAD
    _COMMITS,
)
# Prints nothing that starts with a dash: a path or a date. Not a branch or tag, whose name a repository chooses.
_NO_OPTION = lazy_regex(
    r"pwd(?:\n-[LP])?|git\nrev-parse\n--show-toplevel"  # pwd
    r"|date(?:\n(?:-u|--utc|-d\n[^\n]+|--date=[^\n]+))*\n"  # date +%d/%b/%Y
    r"\+(?:%[YmdHMSjVFTybBaAeDRIu]|[A-Za-z0-9])[^\n]*"
)
_FIRST = lazy_regex(r"(?:head|tail)\n(?:-n\n?1|-1)")  # … | head -1
_IN_ONE_LINE = lazy_regex(r"pidof\n|jsonpath")
_QUIET_IDS = lazy_regex(r"docker\n(?!.*\n(?:-q|-aq|-qa|--quiet)(?:\n|\Z))", re.DOTALL)
_NOWHERE = (Literal("/dev/null"),)
NUMBER, WORD, POD = "[0-9]*", "*", "pod/*"
_WORD_SHAPES = ((lazy_regex("|".join(_DIGITS)), NUMBER), (lazy_regex("|".join(_LETTERS)), WORD))
_LIST_SHAPES = (
    (lazy_regex("|".join((*_DIGITS, *_MANY_DIGITS))), NUMBER),
    (lazy_regex("|".join((*_LETTERS, *_MANY_LETTERS))), WORD),
    (lazy_regex(_KINDS % ("pods?|po", "name")), POD),  # kubectl get pods -n prod -o name
    (lazy_regex(_KINDS % (_ANY_KIND, "name")), "*/*"),  # kubectl get deploy -n prod -o name
)


def printed_word(body: Sequence) -> str:
    """The glob of the one plain word that the commands print if they print anything; empty if that is not sure."""
    return _shape(body, _WORD_SHAPES)


def printed_words(body: Sequence) -> str:
    """The glob of each of the plain words that the commands print; empty if that is not sure."""
    return _shape(body, _LIST_SHAPES)


def prints_no_option(body: Sequence) -> bool:
    """Whether what the commands print starts with no dash, if they print anything."""
    return bool(printed_word(body)) or _NO_OPTION.fullmatch(_printer(body) or "") is not None


def prints_folder(body: Sequence) -> bool:
    """Whether the commands print the folder that they run in."""
    return len(body.items[0].command.first.commands) == 1 and _printer(body) in ("pwd", "pwd\n-L", "pwd\n-P")


def printed_lines(body: Sequence) -> str:
    """The glob of the one plain word that stands on each line that the commands print; empty if that is not sure."""
    text = _printer(body)
    is_one_a_line = text is not None and _IN_ONE_LINE.search(text) is None
    return _shape(body, _LIST_SHAPES) if is_one_a_line else ""


def _shape(body: Sequence, shapes: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    text = _printer(body)
    if text is not None and _FIRST.fullmatch(text) is not None:
        pipeline = body.items[0].command.first
        before = replace(pipeline, commands=pipeline.commands[:-1])
        return printed_lines(Sequence((Item(AndOr(before)),))) if before.commands else ""
    if text is None or _QUIET_IDS.match(text) is not None:
        return ""
    return next((shape for pattern, shape in shapes if pattern.fullmatch(text) is not None), "")


def _printer(body: Sequence) -> str | None:
    """The words of the only command that prints, one a line; None if there are others."""
    if len(body.items) != 1 or body.items[0].is_background or body.items[0].command.rest:
        return None
    pipeline = body.items[0].command.first
    if pipeline.timed:
        return None
    for command in pipeline.commands:
        redirects = command.redirects
        if any(each.operator != "<" and not is_away(each) for each in redirects):
            return None
    last = pipeline.commands[-1]
    if not isinstance(last, Simple) or last.assignments:
        return None
    texts = [_text(word) for word in last.words]
    return None if None in texts else "\n".join(each for each in texts if each is not None)


def is_away(redirect: Redirect) -> bool:
    """Whether a redirect takes error messages away: any other file may be the output itself (``/dev/stdout``)."""
    parts = redirect.target.parts
    return redirect.operator in (">", ">>") and redirect.descriptor == 2 and parts == _NOWHERE  # noqa: PLR2004


def _text(word: Word) -> str | None:
    """A word that is known, or one that starts with what is known and can be no option."""
    if not word.parts or not isinstance(word.parts[0], Literal):
        return None
    text = word.parts[0].text
    if not text or "\n" in text:
        return None
    if len(word.parts) == 1:
        return text
    is_one = all(
        isinstance(part, Literal)
        or (getattr(part, "quoted", False) and not getattr(part, "name", "").endswith(("@", "@]")))
        for part in word.parts
    )
    return text + "?" if is_one and text[0] not in "-+%" else None
