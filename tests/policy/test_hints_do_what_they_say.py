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
from execkit_mcp.model import Verdict
from execkit_mcp.model.source import plain
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.explain import explain_json
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
        "umask 077", "trap ls EXIT", "ulimit -c 0", "set -x", "shopt -s nullglob", "echo hello > /etc/motd", "LEVEL=1 ls",
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


def extend(sheet, policy, section, key, entry):
    stated = {
        "paths.read": policy.document.paths.read, "paths.write": policy.document.paths.write,
        "shell.state": policy.document.shell.state, "shell.env.set": policy.document.shell.env_set,
        "network.allow": policy.document.network.allow,
    }[f"{section}.{key}"]  # fmt: skip
    place = sheet
    for step in (*section.split("."),):
        place = place.setdefault(step, {})
    place[key] = [*(stated or ()), entry]


def apply(hint, sheet, policy, command):  # noqa: C901, PLR0911, PLR0912 - one kind of hint after another
    """Change the sheet as the hint says; the kind of hint, or None where it speaks about the command itself."""
    if found := re.match(r'Add to allow in `then` of rule (\S+): "([^"]+)"', hint):
        _wrapper(sheet, found[1])["allow"].append(found[2])
        return "then"
    if found := re.match(r"Add `([^`]+)` to `then\.paths\.(\w+)`", hint):
        _wrapper(sheet, "look-as-root").setdefault("paths", {}).setdefault(found[2], []).append(found[1])
        return "then"
    if found := re.match(r'Add to allow: "([^"]+)"(?: with `effects: (.+?)`)?\.', hint):
        add_rule(sheet, "allow", found[1], effects_of(found[2]) if found[2] else None)
        return "rule"
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
    kind = None
    for what in re.findall(r"`(effects: \{.+?\})`", hint):
        give(sheet, re.search(r"\brule (\S+?)[ .,]", f"{hint} ")[1], what.removeprefix("effects: "))
        kind = "effects"
    if "limits.background: allow" in hint:
        sheet.setdefault("limits", {})["background"] = "allow"
        return "background"
    if found := re.match(r"`hazards.ask` has it through `builtin:dangerous`", hint):
        sheet["include"] = [each for each in sheet["include"] if each != "builtin:base"]
        sheet["hazards"] = {"ask": ["disk-overwrite"], "deny": ["fork-bomb"]}
        return "hazard"
    for section, key in re.findall(r"to `(paths|network|shell\.env|shell)\.(\w+)`", hint):
        before = re.sub(r"`effects: .+?`", "", hint).partition(f" to `{section}.{key}`")[0]
        for entry in re.findall(r"`([^`]+)`", before):
            extend(sheet, policy, section, key, entry)
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
