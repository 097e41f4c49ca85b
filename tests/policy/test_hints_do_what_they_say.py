# ruff: noqa: E501 - rows of cases read one case a line
"""What a refusal tells the operator to write is written, and the text is judged again: it must come out better.

Each hint that names a line is applied to the policy's text as it stands, one after another, until the text is no longer
refused; a hint that repeats itself or changes nothing is wrong.
"""

import json
import re
from collections import Counter

import pytest

from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.config.strict_yaml import parse
from execkit_mcp.model import Fence, ReasonCode, Verdict
from execkit_mcp.model.source import plain
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.explain import explain_json
from execkit_mcp.policy.hazards import BY_ID
from execkit_mcp.runtime.policies import load_policy

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
MOST = 6

# Texts that the policy refuses, and that a person may come to allow by doing what they are told.
CASES = {
    "read-only": (
        "touch x", "mkdir -p build", "echo x > notes.txt", "ls >> log", "sort -o out in", "sed -i s/a/b/ x", "find . -delete",
        "find . -fprintf out x", "tee x", "cp a b", "tar cf x.tar src", "curl https://example.com", "wget https://example.com/x",
        "kill 1", "ip link set lo down", "hostname web", "date -s now", "sysctl -w a=b", "umask 022", "set -a", "export LEVEL=1",
        "LEVEL=1 ls", "frobnicate --x", "ls --no-such-flag", "git push", "git commit -m x", "git stash", "ping -c 1 10.0.0.1",
        "kubectl --context prod get pods", "kubectl delete pod web", "docker restart web", "systemctl restart nginx", "make",
        "sleep 1 &", "echo x > /dev/tcp/10.0.0.1/80", "timeout 5 touch x", "xargs touch < names", "find . -exec touch {} +",
        "mkfs.ext4 /dev/loop9", "git reset --hard", "nice touch x", "ssh example.com ls", "hash -r", "sh -c 'touch x'",
        "dmesg -C", "journalctl --rotate", "crontab -r", "echo hi | tee out", "uniq a b", "chmod +x run", "rm notes.txt",
    ),
    "prod-readonly": (
        "cat /var/lib/mysql/x", "cat /home/dev/notes", "cat < /var/lib/x", "systemctl stop nginx", "touch /tmp/x",
        "echo 1 > /proc/sys/vm/drop_caches", "docker exec web ls", "sudo cat /etc/hosts", "sudo tee /srv/x", "truncate -s 0 /var/log/x",
        "find /var/log -name x -delete", "ls -R /var/lib", "kill -9 1", "grep x /home/dev/y", "kubectl get pods",
    ),
    "workstation": (
        "umask 077", "trap ls EXIT", "ulimit -c 0", "set -v", "shopt -s nullglob", "echo hello > /etc/motd", "LEVEL=1 ls",
        "touch /srv/x", "make -C /srv/other all", "terraform plan", "sort -o /srv/out in", "docker compose up -d", "gh pr merge 12",
    ),
}  # fmt: skip
ROWS = [(name, text) for name, texts in CASES.items() for text in texts]

# ── doing what a hint says ──────────────────────────────────────────────────────────────────────────────────


def add_rule(sheet, verdict, entry, effects):
    rule = {"id": f"added-{len(sheet['rules'])}", verdict: [entry]}
    if effects:
        rule["effects"] = effects
    sheet["rules"].append(rule)


def effects_of(text):
    return "trusted" if text == "trusted" else dict(each.split(": ") for each in text.strip("{}").split(", "))


def give(sheet, rule, text):
    """Put the effects on the rule that came nearest."""
    found = next(each for each in sheet["rules"] if each["id"] == rule)
    found["effects"] = {**found.get("effects", {}), **effects_of(text)}


def _wrapper(sheet, rule):
    """The `then` of a rule of one element, to be changed."""
    element = next(each for each in sheet["rules"] if each["id"] == rule)["allow"][0]
    return next(iter(element.values()))["then"]


def extend(sheet, section, key, entry):
    place = sheet
    for step in (*section.split("."),):
        place = place.setdefault(step, {})
    place[key] = [*(place.get(key) or ()), entry]


def write_out(sheet, section, key, entries):
    place = sheet
    for step in section.split("."):
        place = place.setdefault(step, {})
    place[key] = json.loads(entries)


def take_in(sheet, policy, key, entry):
    """Write what an include holds into the policy itself, without one entry of its hazards."""
    document = policy.document
    sheet["include"] = [each for each in sheet["include"] if each != "builtin:base"]
    sheet.setdefault("shell", {}).setdefault("state", sorted(document.shell.state))
    sheet["hazards"] = {"ask": list(document.hazards.ask), "deny": list(document.hazards.deny)}
    sheet["hazards"][key] = [each for each in sheet["hazards"][key] if each != entry]


def apply(hint, sheet, policy, command):  # noqa: C901, PLR0911, PLR0912 - one kind of hint after another
    """Change the sheet as the hint says; the kind of hint, or None where it speaks about the command itself."""
    kind = None
    if found := re.match(r'Add to allow in `then` of rule (\S+): "([^"]+)"', hint):
        _wrapper(sheet, found[1])["allow"].append(found[2])
        return "then"
    if found := re.match(r"Add `([^`]+)` to `then\.paths\.(\w+)`", hint):
        _wrapper(sheet, "look-as-root").setdefault("paths", {}).setdefault(found[2], []).append(found[1])
        return "then"
    if found := re.match(r'Add to allow: "([^"]+)"(?: with `effects: (.+?)`)?\.', hint):
        add_rule(sheet, "allow", found[1], effects_of(found[2]) if found[2] else None)
        hint = hint[found.end() :]
        if not hint:
            return "rule"
        kind = "rule"
    if found := re.match(r"Add `allow: \[(.+?)\]` with `effects: trusted`", hint):
        add_rule(sheet, "allow", found[1], "trusted")
        return "trusted"
    if hint.startswith(("Put it under `ask`", "Put the program under `ask`")) or "use `ask`" in hint:
        add_rule(sheet, "ask", command["argv"][0], None)
        return "ask"
    if found := re.match(r"Name it in rule (\S+): `flags: \{values: \{(\S+): \[(.+)\]\}\}`", hint):
        rule = next(each for each in sheet["rules"] if each["id"] == found[1])
        program = command["argv"][0].rpartition("/")[2]
        for element in rule["allow"]:
            if isinstance(element, dict) and program in element:
                element[program].setdefault("flags", {}).setdefault("values", {})[found[2]] = [found[3]]
        return "server"
    for section, key, entries in re.findall(r"Write `(paths|network|shell)\.(\w+): (\[.+?\])`", hint):
        write_out(sheet, section, key, entries)
        kind = kind or key
    for what in re.findall(r"`(effects: \{.+?\})`", hint):
        give(sheet, re.search(r"\brule (\S+?)[ .,]", f"{hint} ")[1], what.removeprefix("effects: "))
        kind = "effects"
    if "limits.background: allow" in hint:
        sheet.setdefault("limits", {})["background"] = "allow"
        return "background"
    if found := re.match(r"`([^`]+)` under `hazards\.(ask|deny)` comes from an include", hint):
        take_in(sheet, policy, found[2], found[1])
        return "hazard"
    if found := re.match(r"Move `([^`]+)` from `hazards.deny` to `hazards.ask`", hint):
        sheet["hazards"]["deny"].remove(found[1])
        sheet["hazards"]["ask"].append(found[1])
        return "hazard"
    if found := re.match(r"`hazards.deny` has it through `([^`]+)`: .+ and `([^`]+)` under `hazards.ask`", hint):
        others = [row for row in BY_ID if row != found[2]]
        sheet["hazards"] = {"deny": others, "ask": [found[2]]}
        return "hazard"
    plain_hint = re.sub(r"`effects: .+?`", "", hint)
    for entries, section, key in re.findall(
        r"((?:`[^`]+`(?: and )?)+) to `(paths|network|shell\.env|shell)\.(\w+)`", plain_hint
    ):
        for entry in re.findall(r"`([^`]+)`", entries):
            extend(sheet, section, key, entry)
        kind = kind or key
    return kind


def follow(name, text, folder):
    """Each verdict and the kind of hint that was followed, from the first to the last."""
    sheet = plain(parse((shipped_policies_dir() / f"{name}.yaml").read_bytes(), name))
    sheet.pop("tests")
    sheet["rules"] = list(sheet["rules"])
    path = folder / "policy.yaml"
    steps = []
    while True:
        path.write_text(json.dumps(sheet))
        path.chmod(0o600)
        policy = load_policy(str(path), workspace=HERE.workspace)
        decision = judge(text, policy, HERE)
        answer = explain_json(decision, policy, HERE)
        if decision.verdict is Verdict.ALLOW or len(steps) == MOST:
            return decision, [*steps, (decision.verdict, None, decision.hint)]
        part = next((each for each in answer["commands"] if each["message"] == decision.message), {})
        kind = apply(decision.hint, sheet, policy, part)
        steps.append((decision.verdict, kind, decision.hint))
        if kind is None:
            return decision, steps


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hints")
    return {(name, text): follow(name, text, folder) for name, text in ROWS}


# Texts of which a hint rightly says no line of policy, each with what it says.
ABOUT_THE_COMMAND = {
    "xargs touch < names": "Write the word out, put it behind `--`",
    "ls -R /var/lib": "Nothing lifts `paths.never`",
}
ASKED_IN_THE_END = ("wget https://example.com/x", "ls --no-such-flag", "crontab -r")


@pytest.mark.parametrize(("name", "text"), ROWS, ids=[f"{name}: {text}" for name, text in ROWS])
def test_following_the_hints_ends_in_what_they_promise(followed, name, text):
    decision, steps = followed[name, text]
    assert steps[0][0] is not Verdict.ALLOW, "the sample is of refused texts"
    hints = [hint for _, _, hint in steps]
    assert len(set(hints)) == len(hints), "a hint that was followed comes again"
    if text in ABOUT_THE_COMMAND:
        assert decision.hint.startswith(ABOUT_THE_COMMAND[text])
    elif text in ASKED_IN_THE_END:
        assert decision.verdict is Verdict.ASK
        assert "ask" in {kind for _, kind, _ in steps}
    else:
        assert decision.verdict is Verdict.ALLOW, hints


def test_the_sample_holds_enough_of_every_kind_of_hint(followed):
    kinds = Counter(kind for _, steps in followed.values() for _, kind, _ in steps if kind is not None)
    hints = [hint for _, steps in followed.values() for _, _, hint in steps]
    kinds["write"] = sum("to `paths.write`" in hint for hint in hints)
    kinds["allow"] = sum("to `network.allow`" in hint for hint in hints)
    wanted = {
        "rule": 20, "write": 15, "effects": 10, "trusted": 1, "ask": 3, "state": 6, "set": 3, "read": 3, "hazard": 10,
        "then": 3, "server": 1, "background": 1, "allow": 3,
    }  # fmt: skip
    assert {kind: count for kind, count in wanted.items() if kinds[kind] < count} == {}
    assert len(ROWS) >= 60


SAFER = ("git clean -fdx", "git push --force", "find . -delete", "rm -rf build", "sed -i s/a/b/ x", "sort -o out in", "vi x",
         "git reset --hard HEAD~1", "systemctl restart nginx", "docker rm -f web", "crontab -r", "sysctl -w a=b", "reboot",
         "journalctl --vacuum-size=1M", "kubectl delete pod web", "git checkout -- .", "tar -xf x.tar", "kill -9 1")  # fmt: skip


def test_a_safer_way_that_is_offered_has_the_verdict_that_stands_beside_it():
    offered = 0
    for name in CASES:
        policy = load_policy(name, workspace=HERE.workspace)
        for text in SAFER:
            decision = judge(text, policy, HERE)
            for part in explain_json(decision, policy, HERE)["commands"]:
                for offer in part["alternatives"]:
                    told = judge(offer["command"], policy, HERE)
                    assert told.verdict.word == offer["verdict"] != "deny", (name, text, offer)
                    assert told.verdict <= decision.verdict, (name, text, offer)
                    offered += 1
    assert offered >= 20


def test_a_then_without_paths_of_its_own_writes_nothing_and_says_so(followed):
    _, steps = followed["prod-readonly", "sudo tee /srv/x"]
    assert "Add `/srv/x` to `then.paths.write`." in [hint for _, _, hint in steps]


def test_one_hint_names_the_rule_and_the_list_that_lacks_an_entry(followed):
    steps = followed["read-only", "touch x"][1]
    assert len(steps) == 2
    assert steps[0][2].endswith("with `effects: {write: paths}`. Add `/home/dev/project/x` to `paths.write`.")


def test_a_list_that_an_include_states_is_written_out_whole(followed):
    hint = followed["read-only", "umask 022"][1][0][2]
    assert hint.startswith('Write `shell.state: ["cd", ')
    assert "\"umask\"]`: a list of the policy's own takes the place of its include's." in hint
    assert followed["workstation", "umask 077"][1][0][2] == "Add `umask` to `shell.state`."


# ── hazards that deny, fences, texts that are not read ─────────────────────────────────────────────────────


def policy_of(folder, text):
    path = folder / "policy.yaml"
    path.write_text(text)
    path.chmod(0o600)
    return load_policy(str(path), workspace=HERE.workspace)


HAZARDS_THAT_DENY = {
    "by its name": ("hazards: {ask: [], deny: [rm-recursive]}", "rm -rf build", "Move `rm-recursive` from"),
    "by the group": (
        'hazards: {ask: [], deny: ["builtin:dangerous"]}',
        "rm -rf build",
        "`hazards.deny` has it through",
    ),
    "by a glob": ('hazards: {ask: [], deny: ["rm-*"]}', "rm -rf build", "`hazards.deny` has it through"),
    "by an include": (
        'include: ["builtin:base"]',
        "dd if=a of=/dev/sda",
        "`disk-overwrite` under `hazards.deny` comes",
    ),
}


@pytest.mark.parametrize("how", HAZARDS_THAT_DENY)
def test_a_hazard_that_denies_asks_once_its_hint_is_followed(how, tmp_path):
    line, text, begin = HAZARDS_THAT_DENY[how]
    sheet = f"version: 1\nname: t\n{line}\nrules: [{{id: all, effects: trusted, allow: [rm, dd]}}]\n"
    policy = policy_of(tmp_path, sheet)
    decision = judge(text, policy, HERE)
    assert decision.verdict is Verdict.DENY
    assert decision.hint.startswith(begin)
    changed = plain(parse(sheet.encode(), "t"))
    changed["hazards"] = {key: list(entries) for key, entries in changed.get("hazards", {}).items()}
    assert apply(decision.hint, changed, policy, {}) == "hazard"
    assert judge(text, policy_of(tmp_path, json.dumps(changed)), HERE).verdict is Verdict.ASK


def test_a_fence_that_is_lacking_is_named_with_all_three_ways_out(tmp_path):
    sheet = "version: 1\nname: t\nrules: [{id: held, effects: trusted, allow: [make], require: {fence: namespaces}, otherwise: deny}]\n"
    decision = judge("make", policy_of(tmp_path, sheet), HERE)
    assert decision.verdict is Verdict.DENY
    assert decision.message == "Rule held requires fence namespaces (here: none)."
    assert decision.hint == "Open the session where that fence holds, or change `require` or `otherwise` of the rule."
    fenced = Context(
        cwd=HERE.cwd, home=HERE.home, workspace=HERE.workspace, fence=Fence(level="container", network="none")
    )
    assert judge("make", policy_of(tmp_path, sheet), fenced).verdict is Verdict.ALLOW
    assert (
        judge("make", policy_of(tmp_path, sheet.replace("otherwise: deny", "otherwise: ask")), HERE).verdict
        is Verdict.ASK
    )
    assert (
        judge("make", policy_of(tmp_path, sheet.replace("fence: namespaces", "fence: none")), HERE).verdict
        is Verdict.ALLOW
    )


# A text with a construct that is not read, and the same without it.
UNREAD = [
    ("coproc cat", "cat"),
    ("f() { ls; }", "ls"),
    ("select x in a b; do echo; done", "for x in a b; do echo; done"),
    ("echo $(($(ls) + 1))", "n=$(ls); echo $((n + 1))"),
    ("a=([0]=1); ls", "a=1; ls"),
    ("echo ${!x}", 'echo "$x"'),
    ("((a[0])) && ls", "((a)) && ls"),
]


@pytest.mark.parametrize(("text", "plainer"), UNREAD)
def test_a_text_that_is_not_read_is_read_without_the_construct_that_the_message_names(text, plainer):
    policy = load_policy("read-only", workspace=HERE.workspace)
    decision = judge(text, policy, HERE)
    assert decision.reason_code is ReasonCode.UNPARSED
    assert re.search(r"at line 1, column \d+", decision.message)
    assert decision.hint == "Write it with plain commands, pipes, loops and redirects, and without that construct."
    assert judge(plainer, policy, HERE).verdict is Verdict.ALLOW


def test_a_text_that_is_too_long_is_read_in_parts():
    policy = load_policy("read-only", workspace=HERE.workspace)
    text = "echo " + "x" * 40_000
    decision = judge(f"{text}; {text}", policy, HERE)
    assert (decision.reason_code, decision.hint) == (ReasonCode.LIMIT, "Shorten or split the text.")
    assert judge(text, policy, HERE).verdict is Verdict.ALLOW


def test_a_text_inside_that_is_not_read_is_run_by_itself():
    policy = load_policy("workstation", workspace=HERE.workspace)
    sheet = judge("timeout 5 sh -c 'coproc ls'", policy, HERE)
    assert sheet.verdict is Verdict.ASK
    assert judge("timeout 5 ls", policy, HERE).verdict is Verdict.ALLOW
