"""Policy documents are read strictly: each mistake is named with its place and what was meant."""

import json
import os
from pathlib import Path

import jsonschema
import pytest

from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.config.strict_yaml import parse
from execkit_mcp.errors import (
    ConfigError,
    ConfigNotFound,
    ConfigPermissions,
    PolicyExampleFailed,
    PolicyInvalid,
)
from execkit_mcp.model import Verdict
from execkit_mcp.model.source import plain
from execkit_mcp.policy.schema import json_schema
from execkit_mcp.runtime.policies import load_document, load_policy, shipped_names

HEAD = "version: 1\nname: p\n"

# What stands below HEAD (so it begins on line 3), where the problem is, and a part of its message.
BAD = [
    ("rulse: []", "3:1", 'unknown key "rulse"; did you mean "rules"?'),
    (
        "defaults: {decision: allow}",
        "3:22",
        "what no rule allows may be asked for, never allowed: write deny or ask",
    ),
    ("defaults: {decision: dney}", "3:22", 'did you mean "deny"?'),
    ("defaults: {unparsd: deny}", "3:12", 'did you mean "unparsed"?'),
    ("defaults: deny", "3:11", "defaults: expected a mapping (decision, unparsed, unresolved)"),
    ("limits: {time_s: 0}", "3:18", "expected a number of seconds, above 0"),
    ("limits: {time_s: -1}", "3:18", "above 0"),
    ("limits: {time_s: 30s}", "3:18", 'found the text "30s"; write 30'),
    ('limits: {commands: "5"}', "3:20", "write 5"),
    ("limits: {commands: 1.5}", "3:20", "found the number 1.5"),
    ("limits: {commands: true}", "3:20", "found the truth value true"),
    ("limits: {time_s: 7200}", "3:10", "is over time_max_s; set time_max_s (3600 unless set) as well"),
    ("limits: {time_s: 9, time_max_s: 5}", "3:10", "is over time_max_s; raise time_max_s"),
    ("shell: {state: [cdd]}", "3:17", '"cdd" is no builtin that changes the session; did you mean "cd"?'),
    ("shell: {env: {set: [A-B]}}", "3:21", '"A-B" is not a variable name'),
    ("shell: {env: {force: {LESSSECURE: 1}}}", "3:35", 'found the number 1; quote it: "1"'),
    ("paths: {read: [var/log]}", "3:16", '"var/log" is relative'),
    ("paths: {read: [/a/../b]}", "3:16", "holds . or .. as a folder"),
    ("paths: {read: [/var/log/]}", "3:16", "write /var/log/** for the folder"),
    ("paths: {write: ['${home}/x']}", "3:17", 'holds the variable "home"; the only one is ${workspace}'),
    ("paths: {write: [$HOME/x]}", "3:17", 'holds the variable "HOME"'),
    ("paths: {write: ['${workspace}x']}", "3:17", "write ${workspace}/x"),
    ("paths: {never: [~root/x]}", "3:17", "names another user's home"),
    ("paths: {never: ['/a/{b,c}']}", "3:17", "holds braces"),
    ("paths: {read: /tmp}", "3:15", 'expected a list of path patterns, found the text "/tmp"; write [/tmp]'),
    (
        "network: {allow: ['https://example.com/x']}",
        "3:19",
        "is a URL; write host:port, for example example.com:443",
    ),
    ("network: {allow: ['10.0.0.1/8:443']}", "3:19", "has bits set behind its prefix; write 10.0.0.0/8"),
    ("network: {allow: ['localhost:99999']}", "3:19", "write a number from 1 to 65535, or *"),
    ("network: {deny: ['300.1.1.1']}", "3:18", "is not an address or CIDR block"),
    ("programs: {default: [bin]}", "3:22", "is not absolute"),
    ("programs: {deploy: ./deploy}", "3:20", "is not absolute"),
    ("programs: {default: []}", "3:21", "the list is empty"),
    ("rules: [{id: a}]", "3:9", "a rule has exactly one of allow, ask and deny, found none of them"),
    ("rules: [{allow: [ls], deny: [rm]}]", "3:9", "found allow and deny"),
    ("rules: [{allow: []}]", "3:17", "the list is empty"),
    ("rules: [{allow: ls}]", "3:17", 'expected a list of elements, found the text "ls"; write [ls]'),
    ("rules: [{id: a b, allow: [ls]}]", "3:14", '"a b" is not a rule id'),
    (
        "rules: [{id: a, allow: [ls]}, {id: a, ask: [rm]}]",
        "3:31",
        'the rule id "a" stands twice; the first is at',
    ),
    ("rules: [{allow: [ls -l]}]", "3:18", 'write {ls: {flags: {allow: ["-l"]}}}'),
    ("rules: [{deny: [rm -rf /]}]", "3:17", "holds flags"),
    ("rules: [{allow: ['ls | wc']}]", "3:18", "looks like shell text"),
    ("rules: [{allow: [bin/ls]}]", "3:18", "is a relative path"),
    ("rules: [{allow: ['builtin:readnoly']}]", "3:18", 'did you mean "builtin:readonly"?'),
    ("rules: [{allow: [true]}]", "3:18", 'found the truth value true; quote it: "true"'),
    ("rules: [{allow: [{ls: {}, cat: {}}]}]", "3:18", "exactly one key, its program, found ls, cat"),
    ("rules: [{allow: [{git status: {}}]}]", "3:19", 'write {git: {sub: ["status"]}}'),
    ("rules: [{allow: [{git: {subs: [x]}}]}]", "3:25", 'unknown key "subs"; did you mean "sub"?'),
    ("rules: [{allow: [{git: {sub: []}}]}]", "3:30", "the list is empty"),
    ("rules: [{allow: [{git: {sub: [-C]}}]}]", "3:31", "holds the flag -C; write it under flags"),
    ("rules: [{allow: [{git: {flags: {deny: [force]}}}]}]", "3:40", '"force" is not a flag; write --force'),
    ("rules: [{allow: [{a: {flags: {allow: [--x=1]}}}]}]", "3:39", "holds a value"),
    ("rules: [{allow: [{'builtin:readonly': {sub: [x]}}]}]", "3:40", "cannot have sub"),
    ("rules: [{allow: [ls], effects: trust}]", "3:32", "expected trusted or {read:"),
    ("rules: [{allow: [ls], effects: {write: any}}]", "3:40", "expected paths or none"),
    ("rules: [{allow: [ls], effects: {write: null}}]", "3:40", "write none"),
    ("rules: [{deny: [rm], effects: trusted}]", "3:22", "a deny rule runs nothing, so remove effects"),
    ("rules: [{allow: [ls], otherwise: ask}]", "3:23", "needs a require beside it"),
    ("rules: [{allow: [ls], require: {fence: vm}, otherwise: allow}]", "3:56", "write deny or ask"),
    ("rules: [{ask: [ls], approval: {channel: mail}}]", "3:41", "expected elicit, out_of_band or both"),
    ("rules: [{ask: [ls], approval: {ttl_s: 0}}]", "3:39", "above 0"),
    ("rules: [{ask: [ls], limits: {commands: 2}}]", "3:30", 'unknown key "commands"'),
    ("hazards: {deny: [fork-bom]}", "3:18", 'did you mean "fork-bomb"?'),
    ("hazards: {deny: ['builtin:all']}", "3:18", "write builtin:dangerous"),
    ("tests: [{run: ls}]", "3:9", "the key expect is missing"),
    ("tests: [{run: ls, expect: maybe}]", "3:27", "expected allow, ask or deny"),
    ("tests: [{run: ls, expect: deny, because: policy.norule}]", "3:42", 'did you mean "policy.no_rule"?'),
    ("tests: [{run: ls, expect: deny, rule: nope}]", "3:9", 'there is no rule with the id "nope"'),
    ("include: [builtin:bsae]", "3:11", 'did you mean "builtin:base"?'),
    ("include: [./absent.yaml]", "3:11", "There is no policy file"),
    ("include: [read-only]", "3:11", "neither builtin:NAME nor a file"),
]


@pytest.fixture
def write(tmp_path):
    def write_file(text: str, name: str = "p.yaml") -> str:
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    return write_file


@pytest.mark.parametrize(("text", "place", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_a_mistake_is_named_with_its_place_and_what_was_meant(write, text, place, message):
    path = write(HEAD + text)
    with pytest.raises(PolicyInvalid) as caught:
        load_document(path)
    lines = [line for line in caught.value.message.split("\n") if line.startswith(f"{path}:{place}: ")]
    assert any(message in line for line in lines), caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: p", "the key version is missing"),
        ("version: 1", "the key name is missing"),
        ("version: 2\nname: p", "1:10: version: found the number 2, but this release knows format version 1"),
        ('version: "1"\nname: p', "write version: 1"),
        ("version: true\nname: p", "write version: 1"),
        ("version: 1\nname: Bad Name", '"Bad Name" is not a name'),
        ("- a", "expected a mapping"),
        ("just text", "expected a mapping"),
    ],
)
def test_a_document_says_its_version_and_name(write, text, message):
    with pytest.raises(PolicyInvalid) as caught:
        load_document(write(text))
    assert message in caught.value.message


def test_all_mistakes_of_a_document_are_reported_together(write):
    text = HEAD + "limits: {time_s: 0}\npaths: {read: [x]}\nrules: [{allow: [ls -l]}]\nnope: 1\n"
    with pytest.raises(PolicyInvalid) as caught:
        load_document(write(text))
    assert len(caught.value.message.split("\n")) == 4


ALL_OF_IT = """\
version: 1
name: prod-readonly
include: [builtin:base, builtin:secrets, ./team.yaml]
defaults: {decision: deny, unparsed: deny, unresolved: ask}
limits: {time_s: 30, time_max_s: 600, output_bytes: 1048576, commands: 50, processes: 64, background: deny}
shell:
  functions: deny
  state: [cd, export]
  env:
    set: [LC_ALL, TZ, COLUMNS]
    force: {PAGER: cat, GIT_PAGER: cat, SYSTEMD_PAGER: "", LESSSECURE: "1", GIT_CONFIG_GLOBAL: /dev/null}
paths:
  read:  [/var/log/**, /etc/**, /srv/app/**]
  write: [/tmp/execkit/**]
  never: [~/.ssh/**, ~/.aws/**, /etc/shadow*, "**/.env*", "**/*.pem", /proc/*/environ]
network: {allow: ["localhost:*", "10.0.0.0/8:443"], deny: ["169.254.169.254"]}
programs: {default: [/usr/bin, /bin, /usr/sbin, /sbin], deploy: /opt/tools/deploy}
rules:
  - id: ro.text
    allow: [head, tail, grep, wc, sort, find, jq, "builtin:readonly"]
  - id: ro.services
    allow:
      - systemctl: {sub: [status, is-active, list-units, show, cat]}
      - journalctl: {flags: {deny: [--rotate, "--vacuum-*", --file]}}
      - git: {sub: [status, log, diff, show], cwd: [/srv/app/**]}
  - id: restart
    ask: [{systemctl: {sub: [restart, reload], args: [nginx.service, "app-*.service"]}}]
    reason: Restarts belong in a change window.
    approval: {channel: out_of_band, ttl_s: 300}
    limits: {time_s: 60}
  - id: deploy-tool
    allow: [deploy]
    effects: trusted
    require: {fence: namespaces, network: none}
    otherwise: ask
  - id: hard
    deny: [{rm: {flags: {any: [-r, -R, --recursive]}}}, shutdown, reboot, "mkfs*", dd]
    reason: Not from here; open a ticket.
  - allow:
      - kubectl: {sub: [exec], then: {allow: [ls, {env: {then: {ask: [cat]}}}], paths: {read: [/srv/**]}}}
hazards: {ask: ["builtin:dangerous"], deny: [fork-bomb, disk-overwrite]}
tests:
  - {run: "cat x", expect: deny, because: policy.path_read, rule: hard, cwd: /srv}
"""


def test_the_whole_format_is_read(write):
    write("version: 1\nname: team\nrules: [{id: team.no-dd, deny: [dd]}]\n", "team.yaml")
    document = load_document(write(ALL_OF_IT))
    rules = {rule.id: rule for rule in document.rules}
    assert list(rules) == [
        "team.no-dd",
        "ro.text",
        "ro.services",
        "restart",
        "deploy-tool",
        "hard",
        "prod-readonly#6",
    ]
    assert rules["deploy-tool"].otherwise is Verdict.ASK
    assert rules["deploy-tool"].effects is not None
    assert rules["deploy-tool"].effects.is_trusted
    assert rules["restart"].elements[0].sub == (("restart",), ("reload",))
    assert rules["restart"].time_s == 60
    assert rules["hard"].elements[0].flags.any == ("-r", "-R", "--recursive")
    assert rules["hard"].elements[0].source.endswith("p.yaml:37")
    then = rules["prod-readonly#6"].elements[0].then
    assert then is not None
    assert then.allow[1].then is not None
    assert then.paths is not None
    assert then.paths.read == ("/srv/**",)
    assert document.limits.processes == 64
    assert document.programs == {"deploy": "/opt/tools/deploy"}
    assert "~/.ssh/**" in document.paths.never
    jsonschema.validate(plain(parse(ALL_OF_IT.encode(), "p")), json_schema())


def test_an_included_denial_and_the_stricter_scalar_hold(write):
    write(
        "version: 1\nname: base\ndefaults: {decision: deny, unresolved: deny}\n"
        "limits: {time_s: 10, background: ask}\n"
        "paths: {never: [/secret/**], write: [/a/**]}\nnetwork: {deny: ['10.0.0.1']}\n"
        "hazards: {deny: [fork-bomb]}\n"
        "rules: [{id: no-rm, deny: [rm]}]\n",
        "base.yaml",
    )
    document = load_document(
        write(
            HEAD + "include: [./base.yaml]\ndefaults: {decision: ask, unresolved: ask}\nlimits: {time_s: 60}\n"
            "paths: {never: [/mine/**], write: [/b/**]}\nrules: [{id: rm, allow: [rm]}]\n"
        )
    )
    assert document.defaults.decision is Verdict.DENY
    assert document.defaults.unresolved is Verdict.DENY
    assert document.limits.time_s == 10
    assert document.limits.background is Verdict.ASK
    assert document.paths.never == ("/secret/**", "/mine/**")
    assert document.paths.write == ("/b/**",)
    assert document.network.deny == ("10.0.0.1",)
    assert document.hazards.deny == ("fork-bomb",)
    assert document.hazards.ask == ("builtin:dangerous",)
    assert [rule.id for rule in document.rules] == ["no-rm", "rm"]


def test_an_id_that_stands_in_two_files_is_refused_with_both_places(write):
    other = write("version: 1\nname: other\nrules: [{id: same, deny: [rm]}]\n", "other.yaml")
    with pytest.raises(PolicyInvalid, match='rule id "same" stands twice; the first is at ') as caught:
        load_document(write(HEAD + "include: [./other.yaml]\nrules: [{id: same, allow: [rm]}]\n"))
    assert f"{other}:3:9" in caught.value.message


def test_mistakes_of_an_included_file_are_reported_at_their_own_place(write):
    other = write("version: 1\nname: other\nrulse: []\n", "other.yaml")
    with pytest.raises(PolicyInvalid) as caught:
        load_document(write(HEAD + "include: [./other.yaml]\nnope: 1\n"))
    assert f"{other}:3:1" not in caught.value.message  # the first file is broken, so its includes are not followed
    with pytest.raises(PolicyInvalid) as caught:
        load_document(write(HEAD + "include: [./other.yaml]\n"))
    assert f'{other}:3:1: unknown key "rulse"' in caught.value.message


def test_files_that_include_each_other_are_refused(write):
    write("version: 1\nname: b\ninclude: [./p.yaml]\n", "b.yaml")
    with pytest.raises(PolicyInvalid, match="include each other in a circle"):
        load_document(write(HEAD + "include: [./b.yaml]\n"))


def test_includes_are_bounded_in_depth(write):
    for number in range(12):
        write(f"version: 1\nname: n{number}\ninclude: [./n{number + 1}.yaml]\n", f"n{number}.yaml")
    with pytest.raises(PolicyInvalid, match="8 levels"):
        load_document(write(HEAD + "include: [./n0.yaml]\n"))


def test_a_file_included_twice_counts_once(write):
    write("version: 1\nname: c\nrules: [{id: c, deny: [rm]}]\n", "c.yaml")
    write("version: 1\nname: a\ninclude: [./c.yaml]\n", "a.yaml")
    write("version: 1\nname: b\ninclude: [./c.yaml]\n", "b.yaml")
    document = load_document(write(HEAD + "include: [./a.yaml, ./b.yaml]\n"))
    assert [rule.id for rule in document.rules] == ["c"]


def test_one_forced_variable_with_two_values_is_refused(write):
    with pytest.raises(PolicyInvalid, match=r'shell\.env\.force\.PAGER: "less" here, but "cat" in builtin:base'):
        load_document(write(HEAD + "include: [builtin:base]\nshell: {env: {force: {PAGER: less}}}\n"))


def test_the_digest_follows_content_and_includes_but_not_comments(write):
    write("version: 1\nname: c\nrules: [{id: c, deny: [rm]}]\n", "c.yaml")
    text = HEAD + "include: [./c.yaml]\n"
    first = load_document(write(text)).digest
    assert load_document(write("# a comment\n" + text)).digest == first
    write("version: 1\nname: c\nrules: [{id: c, deny: [dd]}]\n", "c.yaml")
    assert load_document(write(text)).digest != first
    assert len(first) == 64


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(write, mode):
    path = write(HEAD)
    Path(path).chmod(mode)
    with pytest.raises(ConfigPermissions) as caught:
        load_document(path)
    assert f"{mode:04o}" in caught.value.message
    assert caught.value.hint.endswith(f"chmod go-w {path}")


def test_an_included_file_that_others_can_write_is_refused(write):
    Path(write("version: 1\nname: c\n", "c.yaml")).chmod(0o666)
    with pytest.raises(PolicyInvalid, match=r"p\.yaml:3:11: include \./c\.yaml: .* can be written by others"):
        load_document(write(HEAD + "include: [./c.yaml]\n"))


def test_a_folder_that_anyone_can_write_is_refused(write, tmp_path):
    path = write(HEAD)
    tmp_path.chmod(0o777)
    with pytest.raises(ConfigPermissions, match="lies in a folder that others can write"):
        load_document(path)


def test_a_folder_and_a_pipe_are_no_policy(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("", "/pipe.yaml"):
        with pytest.raises(ConfigError, match="not a file"):
            load_document(f"{tmp_path}{name}")


def test_an_unknown_name_lists_the_shipped_ones():
    with pytest.raises(ConfigNotFound) as caught:
        load_document("read-onyl")
    assert 'did you mean "read-only"?' in caught.value.message
    assert "locked" in caught.value.hint


def test_a_policy_whose_own_test_fails_is_refused_with_line_expected_and_got(write):
    path = write(HEAD + 'tests:\n  - {run: "ls", expect: allow}\n')
    with pytest.raises(PolicyExampleFailed) as caught:
        load_policy(path)
    assert f"{path}:4" in caught.value.message
    assert "expected allow, got deny" in caught.value.message


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_policy_loads_and_fits_the_schema(name):
    document = load_document(name)
    assert document.name == name
    assert len(document.tests) >= 15
    text = (shipped_policies_dir() / f"{name}.yaml").read_bytes()
    jsonschema.validate(plain(parse(text, name)), json_schema())


def test_the_generated_schema_is_current():
    written = json.loads((shipped_policies_dir() / "policy.schema.json").read_text())
    assert written == json_schema(), "run: execkit-mcp policy schema > policies/policy.schema.json"
    jsonschema.Draft202012Validator.check_schema(written)


@pytest.mark.parametrize(
    "text",
    ["rulse: []", "defaults: {decision: allow}", "rules: [{allow: [ls], deny: [rm]}]", "limits: {time_s: 0}"],
)
def test_the_schema_refuses_what_the_loader_refuses(text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain(parse((HEAD + text).encode(), "p")), json_schema())
