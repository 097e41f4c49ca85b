"""A function that a text defines and calls is written out at its calls: bash does the same with both texts."""

import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.shell import Unparsed, parse, render
from execkit_mcp.runtime.policies import load_policy

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")

SAME = [
    'step() { echo "==> $1"; shift; "$@"; }; step lint echo a "b c"; step test printf "%s\\n" x',
    'f() { local a="$1" b="$2"; shift 2; echo "$a $b $#" "$@" "${1:-x}"; }; f 1 2 3 "4 5"; f 1 2',
    'f() { echo "$1"; shift; echo "$1"; shift; echo "$*"; }; f a b "c d" e',
    'f() { echo "a $1"; }; f b; f "c d"',
    'f() { echo "$#" "$*"; }; f; f a; f "b c" d',
    'f() { printf "<%s>" "$@"; echo; }; f; f a "b c" \'*\'',
    'run() { echo "+ $*"; "$@"; }; run echo x "y z"; run printf "%s\\n" q',
    'f() { for x in "$@"; do echo "$x."; done; }; f a "b c"',
    'f() { echo "${1:-none} ${2%.gz}"; }; f; f a b.gz; f "" c.gz',
    'f() { local n="$1"; echo "$n$n"; }; f ab; f "c d"',
    "f() { echo $1; }; f 'a   b'; f '*'",
    'f() { echo $(( $1 + 1 )); }; f 3; for i in 1 2; do f "$i"; done',
    'f() { echo "${1:-x}" "$@"; }; n=4; f $((1 + 2)) $((n - 1))',
    'f() { [ "$1" = a ]; }; f a && echo yes; f b || echo no',
    "f() { return 1; }; f || echo failed; g() { return 0; }; g && echo fine",
    "f() { cat; }; echo in | f; f <<< here; f < /dev/null; f <<< x | tr x y",
    "f() { echo out; echo err >&2; }; f 2>&1 | sort; f 2>/dev/null",
    "f() (cd / && pwd); f; pwd > /dev/null",
    'f() { echo "[$1]"; }; echo "$(f a) $(f "b c")"; x=$(f d); echo "$x"',
    'h() { echo "<$1>"; }; g() { h "($1)"; h "$2"; }; g a "b c"',
    'function f { echo kw "$1"; }; function g() { echo both; }; f a; g',
    'f() { x=$1; echo "$1 $x"; }; x=old; f "$x-new"; echo "$x"',
    'f() { if [ "$1" -gt 2 ]; then echo big; else echo small; fi; }; f 3; f 1',
    'f() { case "$1" in a*) echo A;; *) echo other;; esac; }; f abc; f xyz; f "*"',
    'f() { [[ "$1" == a* ]] && echo match || echo none; }; f abc; f b',
    "fail() { echo \"FAIL: $1\"; exit 3; }; true || fail x; fail 'y z'; echo never",
    'f() { echo "$1" | tr a-z A-Z | head -1; }; f abc; f "$(echo d e)"',
    'f()\n{\n  echo "$1"\n}\nf a\nf b',
    'f() { "$@"; }; f A=1 true; echo $?; f if; echo $?',
    'f() { echo "$1 $HOME"; }; f ~ ; f "~"',
    'main() { echo started "$#"; }; main "$@"',
    "f() { i=$((i + 1)); }; i=0; f; f; f; echo $i",
    'f() { while read -r a b; do echo "$b $a $1"; done; }; printf "1 2\\n3 4\\n" | f z',
]


@pytest.mark.parametrize("text", SAME)
def test_bash_does_the_same_with_what_is_written_out(text, tmp_path):
    canonical = render(parse(text))
    assert parse(canonical) == parse(text)

    def run(script):
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            capture_output=True,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": "/home/u"},
            timeout=20,
            check=False,
        )
        return done.returncode, done.stdout

    assert run(canonical) == run(text)


@pytest.mark.parametrize("text", SAME)
def test_no_definition_is_left(text):
    assert "()" not in render(parse(text))


# What used to be written out as something else: it is refused now, or written out faithfully.
DIFFERED = [
    'g() { x=2; }; f() { g; echo "$1"; }; x=1; f "$x"',
    'f() { x=2; echo "$@"; }; x=1; f "$x"',
    'f() { echo a; echo "$1"; }; false; f "$?"',
    'f() { cd /; [ "$1" = / ] || echo kept; }; f "$PWD"',
    'f() { a=(z); echo "$1"; }; a=(1 2); f "${a[0]}"',
    'f() { : "${x:=5}"; echo "$1"; }; x=; f "$x"',
    'f() { shift 2; echo "$1"; }; f a',
    'f() { echo $? "$1"; }; false; f "$HOME"',
    'f() { echo "${PIPESTATUS[0]} $1"; }; false | true; f "$HOME x"',
    'f() { local x=1; echo $x; }; g() { echo "[$x]"; }; f; g',
    'f() { if [[ $1 = a ]]; then local x=1; fi; echo "[$x]"; }; f a; f b',
    'f() { echo "[$x]"; local x=1; }; f; f',
    'f() { local a=1 b=$a; echo "[$b]"; }; f',
    "f() { local x=$(false); }; f && echo ok",
    "f() { local x=$(false) && echo ok; }; f",
    "f() { local x=$(false); echo $?; }; f",
    'f() { for i in 1 2; do local x; echo "[$x]"; x=$i; done; }; f',
    'f() { echo "$1" "$2"; }; false; f "$(echo a)" "$?"',
    "f() { break; }; for i in 1 2 3; do f; echo $i; done",
    "f() { for j in 1 2; do break 2; done; }; for i in 1 2 3; do f; echo $i; done",
    "f() { return 3; }; f; echo $?",
    "f() { return 256; }; f; echo $?",
    "f() { echo ${1-x}; }; f",
    "f() { echo $(( $# + 1 )); }; f a b",
    'f() { echo "$FUNCNAME"; }; f',
    'f() { :; }; f "$(echo effect > z)"; cat z',
    'f() { echo "$@" "$@"; }; f "$(echo x >> log)"; cat log',
    'f() { local IFS=,; echo "$*"; }; f a b; echo "$*"; x=a,b; echo $x',
    "IFS=,; f() { echo $1; }; f a,b",
    'f() { "$@"; }; f shift; echo $?',
    'f() { "$@"; }; f local x=3; echo $x',
    'f() { declare z=5; }; f; echo "[$z]"',
    'set -u; f() { echo "$1"; }; f; echo after',
    "f() { [[ $1 =~ $2 ]] && echo y || echo n; }; f abc a.c",
    "f() { echo \"${x:-$1}\"; }; f 'a}b'; f '\"'",
    "p() { echo in; }; trap 'p a' EXIT; p x",
    "p() { echo in; }; p; unset -f p; p",
    "p() { echo in; }; command -v p && p",
    'arg_1_1=z; f() { echo "$1 $arg_1_1"; }; f "$HOME"',
]


@pytest.mark.parametrize("text", DIFFERED)
def test_what_would_differ_is_refused(text, tmp_path):
    try:
        canonical = render(parse(text))
    except Unparsed:
        return
    found = []
    for index, script in enumerate((text, canonical)):
        folder = tmp_path / str(index)
        folder.mkdir()
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            capture_output=True,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": "/home/u"},
            timeout=20,
            check=False,
        )
        found.append((done.returncode, done.stdout))
    assert found[0] == found[1]


DEFINED = [
    "x=$({})",
    "ls <({})",
    "if true; then {}; fi",
    "{{ {}; }} > x",
    "({})",
    "{} | cat",
    "{} &",
    "! {}",
    "for i in a; do {}; done",
]


@pytest.mark.parametrize("frame", ["{}", *DEFINED])
@pytest.mark.parametrize("text", ["f() { ls; }", "function f { ls; }", "f() (ls)"])
def test_a_definition_stands_by_itself_and_is_called(frame, text):
    with pytest.raises(Unparsed, match="function definition"):
        parse(frame.format(text))
    with pytest.raises(Unparsed, match="function definition"):
        parse(frame.format(text) + "\nls")


ATTACKS = [
    "ls() { cat /etc/shadow; }; ls",
    'f() { cat "$1"; }; f /etc/shadow',
    'f() { "$@"; }; f rm -rf x',
    'f() { "$@"; }; g() { f "$@"; }; g touch x',
    "f() { $1 x; }; f rm",
    "f() { cat $1; }; f 'a /etc/shadow'",
    'f() { cat "$1"; }; f ~/.ssh/id_ed25519',
    'f() { cat "$1"; }; f "$(cat list)"',
    'f() { echo x > "$1"; }; f out',
    "f() { cat; }; f > out",
    "f() { cat; }; f < /etc/shadow",
    "f() { find . $1; }; f -delete",
    'f() { find . "$1"; }; f -delete',
    'f() { sort "$1" x; }; f -oout',
    "f() { PATH=$1 ls; }; f /tmp",
    'f() { export PATH="$1"; }; f /tmp; ls',
    'f() { echo "$(rm "$1")"; }; f x',
    "f() { local PATH=/tmp; ls; }; f",
    "f() { local LD_PRELOAD=x; ls; }; f",
    "f() { eval \"$1\"; }; f 'rm x'",
    "f() { x=$1; $x y; }; f rm",
    "f() { ls; }; export -f f; f",
    'f() { echo "${1:=x}"; }; f',
    "f() { awk \"$1\" x; }; f 'BEGIN{system(\"id\")}'",
    "f() { sed -n \"$1\" x; }; f '1e id'",
    'f() { printf -v "$1" x; }; f PATH',
    'f() { read "$1"; }; f PATH',
    'f() { cd "$1" && cat shadow; }; f /etc',
    'f() { for x in "$@"; do cat "$x"; done; }; f /etc/shadow',
    'f() { a=("$@"); cat "${a[0]}"; }; f /etc/shadow',
    'f() { [[ -f "$1" ]]; }; f /etc/shadow',
    'f() { cat <<< "$(<"$1")"; }; f /etc/shadow',
    "bash -c 'f() { rm x; }; f'",
    "eval 'f() { rm x; }; f'",
    "f() { rm x; }; trap f EXIT; f",
]  # fmt: skip


@pytest.mark.promise("P2")
@pytest.mark.parametrize("text", ATTACKS)
@pytest.mark.parametrize("name", ["read-only", "prod-readonly", "k8s-debug"])
def test_a_function_hides_nothing(name, text):
    assert judge(text, load_policy(name, workspace=HERE.workspace), HERE).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("depth", [10, 40])
def test_functions_that_multiply_are_bounded(depth):
    text = (
        "f0() { :; :; }; " + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}; " for n in range(1, depth)) + f"f{depth - 1}"
    )
    with pytest.raises(Unparsed):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "f() { echo " + '"$*" ' * 2000 + "; }; f " + '"$a" ' * 2000,
        "f() { " + 'echo "$@"; ' * 150 + "}; f " + '"a$b" ' * 3000,
        "f() { echo " + '"$1" ' * 3000 + "; }; g() { " + 'f "$1"; ' * 20 + "}; " + 'g "$x"; ' * 3,
    ],
)
def test_words_that_calls_multiply_are_bounded(text):
    with pytest.raises(Unparsed, match="words written out"):
        parse(text)


def test_many_locals_are_bounded():
    with pytest.raises(Unparsed, match="local variables"):
        parse("f() { local " + " ".join(f"a{n}" for n in range(9000)) + "; ls; }; f")


def test_a_text_for_another_shell_is_not_read_through_its_functions():
    assert parse("f() { ls; }; f").misread == "a function definition"
