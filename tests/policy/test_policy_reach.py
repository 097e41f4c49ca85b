"""A rule that can never match, or never decide, is warned of with its line and what was meant."""

import pytest

from execkit_mcp.policy import compile_policy
from execkit_mcp.policy.reach import idle_rules
from execkit_mcp.runtime.policies import load_document, shipped_names


@pytest.fixture
def warned(tmp_path):
    def of(text):
        path = tmp_path / "p.yaml"
        path.write_text(f"version: 1\nname: p\n{text}\n")
        path.chmod(0o600)
        return [str(each).removeprefix(str(path)) for each in idle_rules(compile_policy(load_document(str(path))))]

    return of


IDLE = [
    ("rules: [{id: r, allow: [systemtcl]}]", ":3:25: rule r: systemtcl: ", 'did you mean "systemctl"?'),
    ("rules: [{id: r, allow: [deploy]}]", ":3:25: rule r: deploy: ", "effects: trusted"),
    ('rules: [{id: r, allow: ["systemctl statsu"]}]', ":3:25: rule r: ", 'did you mean "status"?'),
    ('rules: [{id: r, allow: ["docker ps"]}, {id: q, ask: [docker]}]', ":3:25: rule r: docker: ", "rule q ("),
    ("rules: [{id: r, ask: [shutdown]}, {id: q, deny: [shutdown]}]", ":3:23: rule r: ", "denies everything"),
    ("rules: [{id: r, allow: [ls]}, {id: q, deny: ['l*']}]", ":3:25: rule r: ", "denies everything"),
    ("rules: [{id: r, allow: [{rm: {flags: {require: [-r], deny: ['-*']}}}]}]", "", "requires and denies -r"),
    ("rules: [{id: r, allow: [{ls: {flags: {allow: [-l], require: [-a]}}}]}]", "", "flags.allow does not list"),
    ("rules: [{id: r, allow: [{ls: {flags: {allow: [-l], any: [-a]}}}]}]", "", "lists none of them"),
    ("rules: [{id: r, allow: [{ls: {flags: {any: [-a], deny: [-a]}}}]}]", "", "denies each of them"),
    ("rules: [{id: r, deny: [{cat: {args: []}}]}]", ":3:25: rule r: cat: ", "matches nothing"),
    ("rules: [{id: r, allow: [/opt/cd]}]", "", "builtin of the shell"),
    ("paths: {read: [/etc/ssh/**], never: [/etc/**]}", "", "lies within /etc/** of paths.never"),
]


@pytest.mark.parametrize(("text", "start", "said"), IDLE)
def test_an_idle_rule_is_warned_of(warned, text, start, said):
    (warning,) = warned(text)
    assert warning.startswith(start)
    assert said in warning


BUSY = [
    "rules: [{id: r, allow: [deploy], effects: trusted}]",
    "rules: [{id: r, ask: [deploy]}]",
    'rules: [{id: r, allow: ["docker ps"]}, {id: q, ask: ["docker exec"]}]',
    "rules: [{id: r, allow: [docker]}, {id: q, ask: [docker], effects: {write: none}}]",
    "rules: [{id: r, allow: [rm]}, {id: q, deny: [{rm: {flags: {any: [-r]}}}]}]",
    "rules: [{id: r, allow: [{ls: {flags: {allow: ['-*'], require: [-a]}}}]}]",
    'rules: [{id: r, allow: ["builtin:readonly"]}, {id: q, ask: [docker]}]',
    "rules: [{id: r, allow: [/opt/deploy], effects: trusted}]",
    "paths: {read: [/etc/**], never: [/etc/ssh/**]}",
]


@pytest.mark.parametrize("text", BUSY)
def test_a_rule_that_can_decide_something_is_not_warned_of(warned, text):
    assert warned(text) == []


@pytest.mark.parametrize("name", shipped_names())
def test_no_shipped_policy_has_an_idle_rule(name):
    assert idle_rules(compile_policy(load_document(name))) == ()
