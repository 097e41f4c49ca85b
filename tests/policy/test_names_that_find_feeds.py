"""``find … -print0 | xargs -0 …``: the names are those below the start folders, as in ``find -exec``."""

import pytest

from execkit_mcp.model import Verdict

ALLOW = ["find", "xargs", "cat", "wc", "head", "grep", "sort", "rm", "sh"]
KNOWN = [
    "find . -type f -print0 | xargs -0 wc -l",
    "find . -print0 | sort -z | xargs -0 -n1 grep -n foo",
    "find src docs -print0 2>/dev/null | xargs -0 -I{} head -n1 {}",
    "find . -print0 | xargs -0 -I% cat %",
    "find . -print0 | xargs -r0 -P 4 cat",
]
UNKNOWN = [
    "find . -print0 -print | xargs -0 cat",
    "find . -printf '/etc/shadow\\0' -print0 | xargs -0 cat",
    "find . -exec printf '/etc/shadow\\0' ';' -print0 | xargs -0 cat",
    "find . -print0 2>&1 | xargs -0 cat",
    "find . -print0 | xargs -0 -d x cat",
    "find . -print0 | xargs -0 -a list cat",
    "find . -print0 | xargs -0 < list cat",
    "find . -print0 | sort -z list | xargs -0 cat",
    "find . -print0 | head -z -c 5 | xargs -0 cat",
    "find . -print0 | grep -z -o b | xargs -0 cat",
    "find . -print0 | cat list | xargs -0 cat",
    "find . -print0 | xargs -0 xargs cat",
    "find . -print0 | xargs -0 sh -c 'xargs -0 cat'",
    "find . -print0 | xargs -0 -I% sh -c 'cat %'",
    "find . -print0 | xargs -0 -I% cat {} %",
    "find -files0-from list -print0 | xargs -0 cat",
    'find "$x" -print0 | xargs -0 cat',
    "(cd /etc; find . -print0) | xargs -0 cat",
    "find . -print0 | xargs -0 sort -o",
]


@pytest.mark.parametrize("text", KNOWN)
def test_names_from_find_are_paths_below_its_folders(decide, text):
    assert decide(text, allow=ALLOW).verdict is Verdict.ALLOW


@pytest.mark.parametrize("text", UNKNOWN)
def test_anything_that_may_be_another_name_stays_unseen(decide, text):
    assert decide(text, allow=ALLOW).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("text", ["find /etc -print0 | xargs -0 cat", "find ~/.ssh -print0 | xargs -0 cat"])
def test_refused_folders_stay_refused(decide, text):
    assert decide(text, allow=ALLOW).verdict is Verdict.DENY


def test_what_xargs_runs_needs_its_own_grants(decide):
    text = "find . -print0 | xargs -0 rm"
    assert decide(text, allow=["find", "xargs"]).verdict is Verdict.DENY
    assert decide(text, allow=["find", "xargs", "rm"]).verdict is Verdict.DENY
