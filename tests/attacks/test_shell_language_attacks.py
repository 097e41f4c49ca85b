# ruff: noqa: E501 - rows of cases read one case a line
"""P2: what the shell does with a text that was judged otherwise. One test for each way in, found by attack."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER
from execkit_mcp.runtime.environment import session_variables
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.programs import LocalPrograms

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
WIDE = """\
version: 1
name: wide
include: [builtin:base, builtin:secrets]
defaults: {decision: deny, unparsed: deny, unresolved: deny}
shell: {state: [cd, eval, declare, export, trap]}
paths: {write: ["${workspace}/**"]}
rules:
  - {id: look, allow: ["builtin:readonly", sh, bash, wait], effects: {state: any}}
  - {id: edit, allow: [touch, rm, cp], effects: {write: paths}}
"""


@pytest.fixture(scope="module")
def read_only():
    return load_policy("read-only", workspace=HERE.workspace)


@pytest.fixture(scope="module")
def ci():
    return load_policy("ci", workspace=HERE.workspace)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A policy that lists more than the shipped ones do: shells, ``eval``, ``trap``, ``declare``."""
    path = tmp_path_factory.mktemp("policy") / "wide.yaml"
    path.write_text(WIDE)
    return load_policy(str(path), workspace=HERE.workspace)


def verdict(text, policy):
    return judge(text, policy, HERE).verdict


@pytest.mark.parametrize(
    "text",
    [
        'x=/etc/motd; { x=build/a; } 5>&9; echo hi > "$x"',
        'x=/etc/motd; { x=build/a; } < /nonexistent; touch "$x"',
        'x=/etc/motd; if true; then x=build/a; else x=b; fi 5>&9; echo hi > "$x"',
        'x=/etc/motd; x=build/a < /dev/null; echo hi > "$x"',
        "cd /etc; { cd /home/dev/project && cd /home/dev/project; } 5>&9 || echo hi > motd",
    ],
)  # fmt: skip
def test_a_command_whose_redirect_fails_may_not_have_run(ci, text):
    assert verdict(text, ci) is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    [
        "printf '%n' PATH", "printf 'abc%n' IFS", "printf '%s%-5n' a PATH", "printf -- '%*n' 3 PATH", "printf -v x '%n' PATH",
        "printf '%d%ln' 1 HOME", 'printf "a$format" PATH', 'printf "a$format" "$name"', "printf 'a%n' x",
    ],
)  # fmt: skip
def test_printf_assigns_through_its_format(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY


@pytest.mark.parametrize(
    "text", ["printf '%%n' PATH", "printf '%s\\n' PATH", "printf '%5.2f%%n' 1 x", 'printf "%s: %d\\n" "$a" "$b"']
)
def test_printf_that_assigns_nothing_goes_through(read_only, text):
    assert verdict(text, read_only) is Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        'x=build; wait -px; echo hi > "$x/etc/motd"', 'x=build; wait -fnpx; echo hi > "$x/etc/motd"', 'x=build; wait -np x; echo hi > "$x/etc/motd"',
        'x=build/a; printf "%n" x; echo hi > "$x/../y"', "wait -np PATH", "wait -fpIFS",
    ],
)  # fmt: skip
def test_what_a_builtin_assigns_is_not_known_afterwards(tmp_path, text):
    path = tmp_path / "stateful.yaml"
    path.write_text(
        WIDE.replace("[cd, eval, declare, export, trap]", "[cd]").replace(
            '"builtin:readonly", sh', '"builtin:readonly"'
        )
    )
    policy = load_policy(str(path), workspace=HERE.workspace)
    assert verdict('x=build/a; echo hi > "$x/../y"', policy) is Verdict.ALLOW
    assert verdict(text, policy) is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    ["command -pp cd /etc; cat shadow", "command -pp -- cd /etc; cat shadow", "command -p -p cd /etc && cat shadow"],
)
def test_the_folder_is_tracked_behind_any_flags_of_command(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    [
        "LC_ALL=ja_JP.SJIS", "LC_ALL=zh_TW ls", "LANG=zh_CN.GBK", "LC_ALL=zh_CN.GB18030 ls", "x=zh_HK.BIG5-HKSCS; LC_ALL=$x", 'LC_ALL="$x" ls',
        "for LC_ALL in ja_JP.SJIS; do ls; done", "read LC_ALL", "env LC_ALL=ja_JP.SJIS ls", "LANGUAGE=../../tmp/x ls",
    ],
)  # fmt: skip
def test_a_locale_in_which_a_backslash_may_be_half_a_character_is_refused(read_only, text):
    # in Shift JIS the shell reads the escaped dollar of "Á\$(touch x)$y" as a live one
    assert verdict(text, read_only) is Verdict.DENY


@pytest.mark.parametrize(
    "text", ["LC_ALL=C sort f", "LANG=en_US.UTF-8 ls", "LC_ALL=C.utf8 ls", "LC_ALL= ls", "LANG=de_DE sort f"]
)
def test_a_plain_locale_goes_through(read_only, text):
    assert verdict(text, read_only) is Verdict.ALLOW


def test_a_session_does_not_inherit_such_a_locale(monkeypatch):
    monkeypatch.setenv("LC_ALL", "ja_JP.SJIS")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    variables = session_variables(folders=["/usr/bin"], forced={})
    assert "LC_ALL" not in variables
    assert variables["LANG"] == "de_DE.UTF-8"


@pytest.mark.parametrize(
    "text",
    [
        "cat /dev/fd/../environ", "cat /dev/stdin/shadow < /etc", "cat /dev/fd/3/shadow 3< /etc", "cat /proc/self/fd/3/../shadow 3< /etc/apt",
        "cat /proc/thread-self/fd/0/shadow < /etc", "grep -R x /dev/fd/ 3< /etc", "cat /dev/f*/3/shadow 3< /etc", "cat /??v/fd/3/shadow 3< /etc",
        "cat /pro?/self/root/etc/shadow", "cat /proc/self/roo[t]/etc/shadow", "cd /dev/fd; cat ../environ", "cat /dev/core",
        "cat /dev/fd/0/../1 < /etc", "cat /proc/self/task/*/fd/3/shadow 3< /etc", "cat /proc/self/task/*/root/etc/shadow", "cat /proc/self/ta*/1/root/etc/shadow",
    ],
)  # fmt: skip
def test_a_descriptor_is_a_door_to_the_folder_that_it_was_opened_on(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY


def test_a_write_through_the_folder_of_descriptors_is_placed_where_the_kernel_puts_it(ci):
    assert verdict("echo x > /dev/fd/../cwd/../../tmp/x", ci) is Verdict.DENY
    assert verdict("echo x > /dev/stderr; cat /dev/fd/0 /dev/stdin; ls /dev/fd", ci) is Verdict.ALLOW


@pytest.mark.parametrize(
    "text", ["x=''; find \"$x\"*", "x=; cat ${x}*", "for x in a ''; do cat \"$x\"*; done", "x=''; sort \"$x\"?*"]
)
def test_a_pattern_behind_an_empty_value_may_find_an_option(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    ["sort -k1$x f", "tail -n+$n f", "grep -m1$n x f", "cut -f1$x f", "xargs -n1$x basename", "ls -I*$x", "du -d1$x ."],
)
def test_a_value_that_is_not_quoted_may_become_an_option_behind_it(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY  # with x='1 -o /home/dev/.bashrc' sort writes there


@pytest.fixture
def workspace(tmp_path):
    """A workspace with links out of it and to git's own folder, a policy for it, and where it is judged."""
    work, outside = tmp_path / "work", tmp_path / "outside"
    (work / ".git").mkdir(parents=True)
    outside.mkdir()
    (outside / "shadow").touch()
    (work / "link").symlink_to(outside)
    (work / "file").symlink_to(outside / "shadow")
    (work / "git").symlink_to(".git")
    (work / "plain").symlink_to(tmp_path)
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 1\nname: p\ninclude: [builtin:base]\ndefaults: {decision: deny, unparsed: deny, unresolved: deny}\n"
        f'paths: {{write: ["${{workspace}}/**"], never: ["{outside}/shadow"]}}\n'
        "hazards: {ask: [], deny: [builtin:dangerous]}\n"
        'rules: [{allow: ["builtin:readonly"]}, {allow: [touch, cp, ln, link, tee], effects: {write: paths}}]\n'
    )
    policy = load_policy(str(path), workspace=str(work))
    here = Context(cwd=str(work), home="/h", workspace=str(work), locator=LocalPrograms(["/usr/bin", "/bin"], {}))
    return lambda text: judge(text.replace("OUT", str(outside)), policy, here)


@pytest.mark.parametrize(
    "text",
    [
        "echo x > l*/f", "echo x > ./?ink/f", "touch l*/f", "tee fil* < x", "cat l*/shadow", "cat fil*", "grep -r x l*", "cat < li*/sh*",
        'for d in l*; do echo x > "$d/f"; done', 'for d in */; do touch "$d/f"; done', "ls l*/shadow",
    ],
)  # fmt: skip
def test_a_pattern_that_finds_a_link_is_placed_where_the_link_leads(workspace, text):
    assert workspace(text).verdict is Verdict.DENY
    assert workspace("touch a*; cat [a-k]*.txt; ls l*/none*").verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "ln -s OUT/d o && echo x > o/f", "for i in 1 2; do echo x >> o/f; ln -s OUT/d o; done", "ln -s OUT/rc rc; tee rc < x", "cp -s OUT/rc rc; touch rc",
        "cp -P plain new; echo x > new/f", "cp -d plain new && touch new/f", "ln OUT/rc rc", "cp -l OUT/rc rc", "cp -al OUT/rc rc", "link OUT/rc rc",
        "ln -s OUT/d o; ln x o", "ln -t . OUT/rc",
    ],
)  # fmt: skip
def test_a_link_is_no_way_to_write_what_may_not_be_written(workspace, text):
    assert workspace(text).verdict is Verdict.DENY


def test_a_link_that_nothing_is_written_through_goes_through(workspace):
    for text in ("ln -s OUT/rc rc", "ln -s sub s; echo x > s/f", "ln x y", "ln -s OUT/d o; ls o 2> /dev/null"):
        assert workspace(text).verdict is Verdict.ALLOW, text


@pytest.mark.parametrize(
    "text", ["echo x > git/config", "cp x git/hooks/y", "touch .g?t/config", "echo x > .git/hook*/y", "ln -s .git g; ls", "touch .[g]it/config"]
)  # fmt: skip
def test_what_git_executes_is_seen_behind_links_and_patterns(workspace, text):
    assert workspace(text).reason_code == "policy.hazard"


@pytest.mark.parametrize(
    "inner",
    [
        "[[ a || ./evil ]]", "[[ a > /etc/motd ]]", "ls &> x", "touch {a,b}", "cat <<< x", "x=a; x+=b; ls", "echo ${x//a/b}", "echo ${x:1:2}",
        "cat $'\\x2fx'", "cat <(ls)", "ls |& cat", "time ls", "ls [^a]b", "ls >& x", "ls *.c",
    ],
)  # fmt: skip
def test_text_for_a_posix_shell_holds_nothing_that_it_reads_otherwise(wide, inner):
    quoted = "'" + inner.replace("'", "'\\''") + "'"
    assert verdict(f"sh -c {quoted}", wide) is Verdict.DENY
    assert verdict(f"find . -exec sh -c {quoted} ';'", wide) is Verdict.DENY
    assert verdict(f"watch {quoted}", wide) is Verdict.DENY


@pytest.mark.parametrize("shell", ["bash -c", "eval", "sh -c"])
def test_text_that_is_not_rendered_anew_holds_nothing_that_bash_may_misread(wide, shell):
    assert verdict(f"{shell} 'echo $(cat <<E\nE\nls;cat f)'", wide) is Verdict.DENY  # bash 5.2.15 runs `ls cat f`
    assert verdict(f"{shell} 'ls *'", wide) is Verdict.DENY  # a file may be named -x, and no ./ is put before it
    assert verdict(f"{shell} 'ls ./*; cat <<E\nx\nE\n'", wide) is Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "bash -kc 'ls LD_PRELOAD=./e.so'", "bash -o keyword -c 'ls LD_PRELOAD=./e.so'", "bash -ac 'x=1'", "trap -- ./evil EXIT", "trap -- 'rm /x' DEBUG",
        "declare -x npm_config_node_options=-r./evil", "declare -gx npm_config_script_shell=./evil", "histchars=abc", "MAILPATH='/x?$(rm y)'",
    ],
)  # fmt: skip
def test_words_that_would_mean_something_else_are_refused(wide, text):
    assert verdict(text, wide) is Verdict.DENY


@pytest.mark.parametrize("text", ["read -e x", "read -rep 'name? ' x", "read -p x -e y", "read -ei z x"])
def test_the_line_editor_of_read_is_refused(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY  # M-C-e expands what was typed, substitutions included


@pytest.mark.parametrize(
    "text",
    [
        'while IFS= read -r line; do echo "$line"; done < f', "IFS=, read -r a b <<< 'x,y'", "IFS=: read -ra parts < f",
        "[[ $x =~ ^(foo|bar)$ ]]", "[[ $v =~ ^v[0-9]+\\.[0-9]+$ ]] && echo yes", "[[ $ip =~ ^([0-9]{1,3}\\.){3}[0-9]{1,3}$ ]]", "[[ $x =~ ^a|b$ ]]",
    ],
)  # fmt: skip
def test_everyday_reading_and_matching_goes_through(read_only, text):
    assert verdict(text, read_only) is Verdict.ALLOW, judge(text, read_only, HERE).message


@pytest.mark.parametrize(
    "text", ["IFS=x", "IFS=x; ls", "IFS=x ls", "IFS=x eval ls", "export IFS=x", "PATH=x read y", "x=ls; IFS=x $x"]
)
def test_nothing_but_read_may_have_separators_of_its_own(read_only, text):
    assert verdict(text, read_only) is Verdict.DENY


@pytest.mark.parametrize("text", ["cp *.c build/", "mv src/*.log /tmp/", "cp -r [a-f]* build/"])
def test_a_wildcard_does_not_stand_for_the_folders_of_a_denied_operand(ci, text):
    assert verdict(text, ci) is Verdict.ALLOW, judge(text, ci, HERE).message


@pytest.mark.parametrize(
    "text", ["cp x .git/hook*/y", "cp x */hooks/y", "tee ./.git/c*", "mv x ../project/.g*/hooks/z"]
)
def test_a_wildcard_that_may_find_a_denied_operand_is_denied(ci, text):
    assert verdict(text, ci) is Verdict.DENY


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ('{ x = ($1) / 2; print ">" x }', "behind a / that may be a division"),
        ("{ print > $1 }", "a file that is not one plain string"),
        ('{ print | "sh" }', "sends its output to a command"),
        ('BEGIN { system("x") }', "holds system"),
        ('{ print > "out" }', "would write /home/dev/project/out"),
    ],
)
def test_the_refusal_of_an_awk_program_says_what_is_in_it(read_only, program, said):
    decision = judge(f"awk '{program}' f", read_only, HERE)
    assert decision.verdict is Verdict.DENY
    assert said in decision.message


@pytest.mark.parametrize(
    "text", ["x=${y:-$'\\u202e'rm}", "cat <<< ${y:-$'\\u200b'}", "[[ ${y:-$'\\x9b'} == a ]]", "x=${y-$'\\u2028'}"]
)
def test_what_a_person_approves_holds_no_character_that_he_cannot_see(ci, text):
    canonical = judge(text, ci, HERE).canonical or ""
    assert HOSTILE_CHARACTER.search(canonical) is None


@pytest.mark.parametrize(
    "text",
    [
        'x=/opt; for f in $x/*; do x=/tmp; touch "$f"; done', 'x=/home/dev; for f in "$x"/.bash*; do x=/tmp; tee "$f" < evil; done',
        'x=/opt; for f in $x/*; do for x in /tmp; do touch "$f"; done; done', 'x=/opt; for f in $x/*; do x=/tmp; echo y > "$f"; done',
    ],
)  # fmt: skip
def test_a_pattern_keeps_the_values_that_it_had_when_it_was_expanded(ci, text):
    assert verdict(text, ci) is Verdict.DENY
    assert verdict('x=/tmp; for f in $x/*; do touch "$f"; done', ci) is Verdict.ALLOW
