# ruff: noqa: E501 - texts stand side by side
"""P2: words that a program reads otherwise than its table says, found in a third attack: little languages and options."""

import shutil
import subprocess

import pytest

from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
# A number may stand before a name, brackets in a pattern end where awk says, `length` may stand before a pattern,
# and what `-e` adds goes on where the one before it stopped.
AWK = [
    """awk 'BEGIN{x=1system("touch x")}'""", """awk 'BEGIN{x=.5system("touch x")}'""", """awk 'BEGIN{x=1e5system("touch x")}'""",
    """awk 'BEGIN{x=0xasystem("touch x")}'""", """awk 'BEGIN{x=1.system("touch x")}'""", """awk 'BEGIN{x=1getline < "/etc/shadow"; print}'""",
    """awk 'BEGIN{1ARGV[1]="/etc/shadow"}1'""", """awk '!/[[:alpha:]/]"/ { print 1 | "id" } /"/'""", """awk '!/[a\\]/]"/ { print 1 | "id" } /"/'""",
    """awk '!/[[.a.]/]"/ { print 1 | "id" } /"/'""", """awk '!/[[=a=]/]"/ { print 1 | "id" } /"/'""", """awk 'length /"/ { print 1 | "id" } /"/'""",
    """awk -e 'BEGIN{print 1,' -e '2 > "out"}'""", """gawk -e 'BEGIN{x=1 &&' -e 'y > "out"; print x,' -e '1 > "out"}'""",
]  # fmt: skip
# Options whose value is taken by another word than it seems, files behind which flags are files, and tasks that the last flag sets.
OPTIONS = [
    "jq -R --indent --arg . /etc/shadow 2", "jq -R -L --arg . /etc/shadow x", "jq -L --rawfile . /etc/shadow", "jq --indent --args . /etc/shadow 2",
    "xxd a -p", "xxd a -r", "xxd -p -- a -r", "less a -p /etc/shadow", "less a -P /etc/shadow", "less -p +G /etc/shadow", "less +G -o out x",
    "less +G -Oout x", "less -b64oout x", "less '-Pa$oout' x", "less +1G +!id x", "tree -Lo 1 out", "tree -aIo x out", "tree -Ho . out src",
    "ag -A root /etc/shadow", "ack -C root /etc/shadow", "ag --context=root /etc/shadow", "unzip -x a.zip", "unzip a.zip -l", "unzip a.zip -p 'src/*'",
    "unzip a.zip -Z", "unzip -q -Z a.zip", "unzip -l a.zip x -d/tmp", "unzip -q a.zip -t", "xz -t -d a.xz", "xz -l -z a", "xz -td a.xz", "bzip2 -t -z a",
    "zstd -l -d a.zst", "tput cols init", "tput cols reset",
]  # fmt: skip
# What reads a project, or builds it, before it says its version; what makes folders; and what opens a file to learn the zone.
STARTED = [
    "ninja -v", "mvn -v", "mvn --version", "tox -h", "sbt -v", "rake -v", "just -v", "task -v", "ant -v", "bazel --version", "pytest --version",
    "flake8 --version", "pylint --help", "podman --root /tmp/x ps", "podman --runroot x ps", "TZ=/dev/watchdog date", "TZ=:/etc/shadow date",
    "TZ=../../../dev/watchdog date", "TZ=/usr/share/zoneinfo/../../../dev/x date", "env TZ=/dev/watchdog date", "for z in /dev/x; do TZ=$z date; done",
    "TZ=/dev/watchdog; date",
]  # fmt: skip
# It looks for the name in every folder of configuration, whichever the word begins with.
CONFIGURATION = [
    "systemd-analyze cat-config shadow", "systemd-analyze cat-config /run/shadow", "systemd-analyze cat-config /usr/lib/shadow",
    "systemd-analyze cat-config //etc/./shadow", "systemd-analyze cat-config sudoers", "systemd-analyze cat-config ssh/ssh_host_rsa_key",
    "systemd-analyze cat-config systemd/../shadow", "systemd-analyze cat-config wireguard/wg0.conf", "systemd-analyze cat-config /lib/sudoers",
]  # fmt: skip
HONEST = [
    "awk '{s+=$1} END {printf \"%.2f\\n\", s/1024/1024}' x", "awk '/[[:alpha:]]+/{print $1*1e3, .5, 1.}' x", "awk '/^[^#]/ && !/[]a]/' x",
    "awk 'length > 80' x", "awk 'NR>=10 && NR<=2e2' x", "awk '/a[\\\\]b|\\[[0-9]+\\]/' x", "jq --indent 2 . x", "jq -L lib --arg a b . x", "xxd -l 64 -p a",
    "less +G x", "less -N -S x", "less -x4 x", "tree -aL 2 src", "tree -L2", "tree -L 2 -I node_modules", "ag -A 2 root src", "unzip -l a.zip",
    "unzip -p a.zip x", "unzip -Z1 a.zip", "xz -dt a.xz", "gzip -tv a.gz", "zstd -t a.zst", "tput cols lines", "gradle -v", "make -v", "cmake --version",
    "TZ=Europe/Berlin date", "TZ=UTC date", "TZ=:/etc/localtime date", "TZ='<+03>-3' date", "for z in UTC Asia/Tokyo; do TZ=$z date; done",
    "systemd-analyze cat-config systemd/journald.conf", "kubectl get pods -n=web -o=wide", "rg -g=*.py x", "docker compose config --quiet=true", "find x -print0 | xargs -0 -I{} cat {}", "find . -print0 | xargs -0 -n2 cat",
]  # fmt: skip


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in ("read-only", "prod-readonly", "k8s-debug")}


@pytest.mark.parametrize("text", [*AWK, *OPTIONS, *STARTED])
def test_no_policy_that_looks_allows(policies, text):
    assert [name for name, policy in policies.items() if judge(text, policy, HERE).verdict is Verdict.ALLOW] == []


@pytest.mark.parametrize("text", CONFIGURATION)
def test_a_refused_path_is_refused_by_the_name_of_a_configuration(policies, text):
    assert judge(text, policies["prod-readonly"], HERE).reason_code is ReasonCode.PATH_NEVER


@pytest.mark.parametrize("text", HONEST)
def test_who_looks_still_may(policies, text):
    decision = judge(text, policies["read-only"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


def test_a_project_on_a_workstation_may_be_built_verbosely():
    policy = load_policy("workstation", workspace=HERE.workspace)
    assert [judge(text, policy, HERE).verdict for text in ("ninja -v", "mvn -v")] == [Verdict.ALLOW] * 2


# That these are no fancies: the programs themselves, where they are installed.
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["awk", 'BEGIN{x=1system("echo ran")}'], "ran"),
        (["awk", '!/[[:alpha:]/]"/ { print 1 | "echo ran; cat" } /"/', "in"], "ran"),
        (["jq", "-R", "--indent", "--arg", ".", "in", "2"], "words"),
        (["less", "in", "-p", "other"], "other"),
    ],
)
def test_the_program_does_it(argv, said, tmp_path):
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")
    for name, text in (("in", "words"), ("-p", "words"), ("other", "other")):
        (tmp_path / name).write_text(f"{text}\n")
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
    assert said in done.stdout


def test_xxd_writes_to_a_flag_behind_a_file(tmp_path):
    if shutil.which("xxd") is None:
        pytest.skip("no xxd here")
    (tmp_path / "in").write_text("words\n")
    subprocess.run(["xxd", "in", "-p"], cwd=tmp_path, capture_output=True, timeout=20, check=False)
    assert (tmp_path / "-p").exists()


# `-o=value` is `-o value` to some, and `--quiet=false` asks for what `--quiet` keeps back.
EQUALS = [
    "kubectl get pods -o=custom-columns-file=/etc/shadow", "kubectl get pods -o=jsonpath-file=/etc/shadow", "kubectl get pods -Ao=go-template-file=/etc/shadow",
    "kubectl diff -f=/home/dev/.ssh/x.yaml", "kubectl rollout status -o=jsonpath-file=/etc/shadow deploy/x", "rg -f=/etc/shadow x",
    "tokei -i=/etc/shadow", "docker compose config --quiet=false", "docker compose config --services=false", "docker compose config --quiet --quiet=false",
    "docker-compose config --quiet=false",
]  # fmt: skip
# xargs heeds the last of -I and -n, and find names the folder that it starts in as well.
FED = [
    "find x -print0 | xargs -0 -I{} -n2 uniq in", "find x -print0 | xargs -0 -n2 -I{} uniq in", "find x -print0 | xargs -0 -I{} -n5 env",
    "find ./evil -print0 | xargs -0 -I{} -n5 timeout 5", "find x -print0 | xargs -0 -I{} -n5 git branch", "find x -print0 | xargs -0 -I{} -n2 xxd in",
    "find x -print0 | xargs -0 -I{} -n5 hostname", "find /etc/shad -exec cat {}ow ';'", "find /etc/shad -print0 | xargs -0 -I% cat %ow",
    "find /etc/shad -exec cat x {}ow +",
]  # fmt: skip
# Who asks for a host, and whose keys or words reach further.
OPERATED = [
    "jps example.com", "jps -l 10.0.0.1", "javap @options", "javap -c @options", "iotop", "iotop -o -d 1", "openssl verify http://example.com/x.pem",
    "openssl verify org.openssl.engine:x:y",
]  # fmt: skip


@pytest.mark.parametrize("text", [*EQUALS, *FED, *OPERATED])
def test_no_policy_that_looks_allows_it_by_another_spelling(policies, text):
    assert [name for name, policy in policies.items() if judge(text, policy, HERE).verdict is Verdict.ALLOW] == []


@pytest.mark.parametrize(
    "text",
    [
        "find /home/dev/project -maxdepth 0 -exec touch {}-x ';'",
        "find /home/dev/project -print0 | xargs -0 -I% cp x %-x",
        "find /tmp -maxdepth 0 -exec mkdir {}x ';'",
    ],
)
def test_what_stands_beside_the_start_is_not_below_it(text):
    policy = load_policy("workstation", workspace=HERE.workspace)
    assert judge(text, policy, HERE).verdict is not Verdict.ALLOW
    assert judge("find src -exec touch {}.x ';'", policy, HERE).verdict is Verdict.ALLOW


def test_xargs_appends_where_n_is_the_last(tmp_path):
    for name in ("in", "x"):
        (tmp_path / name).write_text(f"{name}\n")
    text = "find x -print0 | xargs -0 -I{} -n2 uniq in"
    subprocess.run(["bash", "-c", text], cwd=tmp_path, capture_output=True, timeout=20, check=False)
    assert (tmp_path / "x").read_text() == "in\n"


# A pattern lists the folder that it looks into, whatever the program does with the names.
LISTED = [
    "echo ~/.ssh/*", "printf '%s\\n' ~/.ssh/id_*", "echo /etc/ssl/private/*", "basename -a /root/*", ": ~/.s*/*", "x=$(echo ~/.ssh/*)",
    "echo /home/*/.ssh/*", "[ x = ~/.ssh/* ]", "echo /proc/[0-9]*/environ", "echo /etc/[s]hadow", "true | echo ~/.aws/*", "d=/root; echo $d/*",
]  # fmt: skip


@pytest.mark.parametrize("text", LISTED)
def test_a_refused_folder_is_not_listed_by_a_pattern(policies, text):
    assert judge(text, policies["read-only"], HERE).reason_code is ReasonCode.PATH_NEVER


@pytest.mark.parametrize("text", ["echo *", "echo src/*.py", "echo ./*.md", "echo /tmp/*", "ls /var/log/*.log"])
def test_other_folders_are(policies, text):
    assert judge(text, policies["read-only"], HERE).verdict is Verdict.ALLOW


# A refused path in a commit that a command names, and a path in one that an earlier call left in a variable.
COMMITTED = [
    'c=$(git rev-parse HEAD); git show "$c:.env"', 'c=$(git rev-parse HEAD); git show "${c}:src/.env.local"', 'git cat-file -p "$(git rev-parse HEAD):.env"',
    'for c in $(git rev-list -3 HEAD); do git show "$c:.env"; done', 'git grep x "$(git rev-parse HEAD):.env"', 'git show "HEAD:$x"', 'git show "HEAD:.e$x"',
    'git cat-file -p "HEAD:$x"', 'c=$(git rev-parse HEAD); git show "$c:$p"', 'git diff "$(git merge-base a b):.env" HEAD',
]  # fmt: skip


@pytest.mark.parametrize("text", COMMITTED)
def test_a_refused_path_is_refused_behind_any_commit(policies, text):
    assert judge(text, policies["read-only"], HERE).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("end", ['"$c"', '"$c:README.md"', '"$c" -- go.mod', '"$c":src/a.py'])
def test_other_paths_in_a_commit_are_shown(policies, end):
    text = f"c=$(git rev-parse HEAD); git show {end}"
    assert judge(text, policies["read-only"], HERE).verdict is Verdict.ALLOW
