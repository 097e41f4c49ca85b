"""What an element matches, what its effects cover, and what is absolute."""

import pytest

from execkit_mcp.model import Fence, ReasonCode, Verdict
from execkit_mcp.policy import Context
from execkit_mcp.policy.document import (
    Approval,
    Defaults,
    EffectGrants,
    Element,
    FlagRules,
    NetworkRules,
    Require,
    Rule,
    Then,
)

TRUSTED = EffectGrants(is_trusted=True)


def rule(verdict: str, *elements: Element, **fields: object) -> Rule:
    return Rule(id=str(fields.pop("id", "r")), verdict=Verdict.from_word(verdict), elements=elements, **fields)


def test_a_plain_allow_covers_reading_and_nothing_else(decide):
    assert decide("sort a", allow=["sort"]).verdict is Verdict.ALLOW
    assert decide("sort -o a b", allow=["sort"]).reason_code is ReasonCode.PATH_WRITE
    assert decide("find . -delete", allow=["find"]).reason_code is ReasonCode.PATH_WRITE
    assert decide("sed -i s/a/b/ f", allow=["sed"]).verdict is Verdict.DENY


def test_granted_writing_stays_below_the_granted_folders(decide):
    rules = [rule("allow", Element(program="touch"), effects=EffectGrants(write="paths"))]
    assert decide("touch /tmp/x", rules=rules, write=("/tmp/**",)).verdict is Verdict.ALLOW
    assert decide("touch /tmp/../etc/x", rules=rules, write=("/tmp/**",)).reason_code is ReasonCode.PATH_WRITE
    assert decide("touch x", rules=rules, write=("/tmp/**",)).reason_code is ReasonCode.PATH_WRITE
    assert decide("cd /tmp && touch x", rules=rules, write=("/tmp/**",)).verdict is Verdict.ALLOW
    assert decide("cd /tmp; touch x", rules=rules, write=("/tmp/**",)).reason_code is ReasonCode.PATH_WRITE


def test_granted_reading_stays_below_the_granted_folders(decide):
    assert decide("cat /var/log/x", allow=["cat"], read=("/var/log/**",)).verdict is Verdict.ALLOW
    assert decide("cat /var/log/../../etc/x", allow=["cat"], read=("/var/log/**",)).reason_code is ReasonCode.PATH_READ
    assert decide("cat /var/log/*", allow=["cat"], read=("/var/log/**",)).verdict is Verdict.ALLOW
    assert decide("cat /var/*/x", allow=["cat"], read=("/var/log/**",)).reason_code is ReasonCode.PATH_READ


def test_never_beats_allow_ask_and_trusted(decide):
    for verdict in ("allow", "ask"):
        rules = [rule(verdict, Element(program="cat"), effects=TRUSTED if verdict == "allow" else None)]
        decision = decide("cat /etc/shadow", rules=rules)
        assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.PATH_NEVER)


def test_an_unlisted_program_is_unknown_or_without_rule(decide):
    assert decide("no-such-thing", allow=["ls"]).reason_code is ReasonCode.UNKNOWN_PROGRAM
    assert decide("rm x", allow=["ls"]).reason_code is ReasonCode.NO_RULE


def test_only_trust_or_a_person_covers_an_unknown_program(decide):
    assert decide("frob x", allow=["frob"]).verdict is Verdict.DENY
    assert decide("frob x", ask=["frob"]).verdict is Verdict.ASK
    assert (
        decide("frob --any $x", rules=[rule("allow", Element(program="frob"), effects=TRUSTED)]).verdict
        is Verdict.ALLOW
    )


def test_a_trusted_element_with_conditions_needs_words_that_are_known(decide):
    rules = [rule("allow", Element(program="frob", flags=FlagRules(deny=("--force",))), effects=TRUSTED)]
    assert decide("frob --force=1", rules=rules).verdict is Verdict.DENY
    assert decide("frob --soft", rules=rules).verdict is Verdict.ALLOW
    assert decide("frob $x", rules=rules).verdict is Verdict.ASK


def test_a_path_outside_the_trusted_folders_never_matches_a_bare_name(decide):
    assert decide("/usr/bin/ls", allow=["ls"]).verdict is Verdict.ALLOW
    for text in ["/tmp/ls", "./ls", "bin/ls", "../ls", "~/ls"]:
        assert decide(text, allow=["ls"]).verdict is not Verdict.ALLOW, text


def test_a_bare_name_means_its_declared_path(decide):
    rules = [rule("allow", Element(program="deploy"), effects=TRUSTED)]
    programs = {"deploy": "/opt/tools/deploy"}
    decision = decide("deploy now", rules=rules, programs=programs)
    assert decision.verdict is Verdict.ALLOW
    assert decision.canonical == "/opt/tools/deploy now"
    assert decide("/opt/tools/deploy now", rules=rules, programs=programs).verdict is Verdict.ALLOW
    assert decide("/usr/bin/deploy now", rules=rules, programs=programs).verdict is not Verdict.ALLOW


def test_subcommands_operands_and_folders_are_conditions(decide):
    element = Element(program="systemctl", sub=(("restart",),), args=("nginx.service", "app-*.service"))
    rules = [rule("ask", element)]
    assert decide("systemctl restart nginx.service", rules=rules).verdict is Verdict.ASK
    assert decide("systemctl restart app-1.service", rules=rules).verdict is Verdict.ASK
    assert decide("systemctl restart app-1.service sshd.service", rules=rules).verdict is Verdict.DENY
    assert decide("systemctl restart", rules=rules).verdict is Verdict.DENY
    assert decide("systemctl stop nginx.service", rules=rules).verdict is Verdict.DENY
    here = [rule("allow", Element(program="ls", cwd=("/srv/**",)))]
    assert decide("ls", rules=here).verdict is Verdict.ALLOW
    assert decide("cd /tmp && ls", rules=here).verdict is Verdict.DENY
    assert decide('cd "$x" && ls', rules=here).verdict is not Verdict.ALLOW


def test_in_a_denial_one_operand_suffices(decide):
    deny = Element(program="cat", args=("secret*",))
    assert decide("cat a secret.txt", allow=["cat"], deny=[deny]).rule == "deny"
    assert decide("cat a ./x/../secret.txt", allow=["cat"], deny=[deny]).rule == "deny"
    assert decide("cat a s*t.txt", allow=["cat"], deny=[deny]).rule == "deny"
    assert decide("cat a", allow=["cat"], deny=[deny]).verdict is Verdict.ALLOW
    assert decide('cat -- "$x"', ask=["cat"], deny=[deny]).rule == "deny"
    assert decide('cat -- "other$x"', ask=["cat"], deny=[deny]).verdict is Verdict.ASK


def test_what_a_wrapper_runs_is_judged_again(decide):
    assert decide("timeout 5 ls", allow=["timeout", "ls"]).verdict is Verdict.ALLOW
    assert decide("timeout 5 rm x", allow=["timeout", "ls"]).verdict is Verdict.DENY
    assert decide("timeout 5 ls", allow=["ls"]).verdict is Verdict.DENY
    assert decide("sh -c 'ls; rm x'", allow=["sh", "ls"]).verdict is Verdict.DENY
    no_exec = [rule("allow", Element(program="timeout"), effects=EffectGrants(exec="none"))]
    assert decide("timeout 5 ls", allow=["ls"], rules=no_exec).verdict is Verdict.DENY


@pytest.mark.parametrize("outer", ["timeout 5 ", "nice ", "sudo ", "env ", "nohup timeout 5 nice "])
def test_a_denial_reaches_into_every_wrapper_whatever_covers_it(decide, outer):
    programs = ["timeout", "nice", "sudo", "env", "nohup"]
    assert decide(f"{outer}rm x", ask=[*programs, "rm"], deny=["rm"]).rule == "deny"
    trusted = [rule("allow", *(Element(program=each) for each in programs), effects=TRUSTED)]
    assert decide(f"{outer}rm x", rules=trusted, deny=["rm"]).rule == "deny"
    assert decide(f"{outer}cat /etc/shadow", rules=trusted).reason_code is ReasonCode.PATH_NEVER


def test_then_gives_the_inner_command_rules_of_its_own(decide):
    element = Element(program="timeout", then=Then(allow=(Element(program="cat"),)))
    assert decide("timeout 5 cat a", rules=[rule("allow", element)]).verdict is Verdict.ALLOW
    assert decide("timeout 5 ls", allow=["ls"], rules=[rule("allow", element)]).verdict is Verdict.DENY
    assert decide("cat a", rules=[rule("allow", element)]).verdict is Verdict.DENY
    assert decide("timeout 5 cat /etc/shadow", rules=[rule("allow", element)]).reason_code is ReasonCode.PATH_NEVER
    assert decide("timeout 5 cat a", rules=[rule("allow", element)], deny=["cat"]).rule == "deny"


def test_an_unmet_fence_falls_to_otherwise(decide):
    rules = [rule("allow", Element(program="ls"), require=Require(fence="namespaces"), otherwise=Verdict.ASK)]
    assert decide("ls", rules=rules).reason_code is ReasonCode.FENCE
    assert decide("ls", rules=rules).verdict is Verdict.ASK
    fenced = Context(cwd="/srv/app", home="/home/op", fence=Fence(level="container"))
    assert decide("ls", rules=rules, context=fenced).verdict is Verdict.ALLOW


def test_the_strictest_approval_and_the_shortest_limit_are_told(decide):
    rules = [
        rule("ask", Element(program="ls"), id="a", approval=Approval(channel="out_of_band", ttl_s=60), time_s=9),
        rule("ask", Element(program="cat"), id="b", approval=Approval(channel="elicit", ttl_s=30), time_s=5),
    ]
    decision = decide("ls; cat a", rules=rules)
    assert (decision.approval.channel, decision.approval.ttl_s, decision.limits.time_s) == (
        "out_of_band",
        30,
        5,
    )


def test_network_is_granted_by_rule_and_by_address(decide):
    rules = [rule("allow", Element(program="ping"), effects=EffectGrants(net="policy"))]
    inside = NetworkRules(allow=("10.0.0.0/8", "*.example.com"), deny=("169.254.169.254",))
    assert decide("ping -c 1 10.1.2.3", rules=rules, network=inside).verdict is Verdict.ALLOW
    assert decide("ping -c 1 web.example.com", rules=rules, network=inside).verdict is Verdict.ALLOW
    assert decide("ping -c 1 192.0.2.1", rules=rules, network=inside).reason_code is ReasonCode.NETWORK
    assert decide("ping -c 1 10.1.2.3", allow=["ping"], network=inside).reason_code is ReasonCode.NETWORK
    for spelled in ["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"]:
        decision = decide(f"ping -c 1 {spelled}", ask=["ping"], network=inside)
        assert decision.verdict is Verdict.DENY, spelled


def test_a_redirect_needs_no_rule_but_a_granted_path(decide):
    assert decide("ls > /tmp/x", allow=["ls"], write=("/tmp/**",)).verdict is Verdict.ALLOW
    assert decide("ls > /etc/x", allow=["ls"], write=("/tmp/**",)).reason_code is ReasonCode.PATH_WRITE
    assert decide("ls > /dev/null 2>&1 < /dev/null", allow=["ls"]).verdict is Verdict.ALLOW
    assert decide("ls > /dev/sda", allow=["ls"], never=()).verdict is Verdict.DENY
    assert decide("ls > $x", allow=["ls"]).reason_code is ReasonCode.DYNAMIC_WORD
    assert decide("cat < /etc/shadow", allow=["cat"]).reason_code is ReasonCode.PATH_NEVER
    for text in ["ls > /dev/tcp/192.0.2.1/80", "ls > /dev/./tcp/192.0.2.1/80", "cat < /dev/udp/192.0.2.1/80"]:
        assert decide(text, allow=["ls", "cat"], write=("/**",)).reason_code is ReasonCode.NETWORK, text


def test_builtins_that_change_the_session_need_shell_state_only(decide):
    assert decide("cd /tmp", allow=[]).verdict is Verdict.ALLOW
    for text in [
        "set -e",
        "shopt -s x",
        "trap ls EXIT",
        "exec ls",
        "source x",
        "alias a=b",
        "hash -r",
        "ulimit -c 0",
        "umask 0",
    ]:
        assert decide(text, allow=["ls", "set", "exec"]).reason_code is ReasonCode.SHELL_STATE, text


def test_unresolved_may_be_denied_as_well(decide):
    strict = Defaults(unresolved=Verdict.DENY)
    assert decide("ls $x", allow=["ls"], defaults=strict).verdict is Verdict.DENY


def test_variables_with_known_values_are_judged_value_by_value(decide):
    assert decide("d=/etc; cat $d/hosts", allow=["cat"]).verdict is Verdict.ALLOW
    assert decide("d=/etc; cat $d/shadow", allow=["cat"]).reason_code is ReasonCode.PATH_NEVER
    assert decide("for f in hosts shadow; do cat /etc/$f; done", allow=["cat"]).reason_code is ReasonCode.PATH_NEVER
    assert decide("if ls; then d=/tmp; else d=/etc; fi; cat $d/shadow", allow=["cat", "ls"]).verdict is Verdict.DENY
    assert decide("while ls; do cat $d; d=/etc/shadow; done", allow=["cat", "ls"]).verdict is not Verdict.ALLOW
    assert decide("(d=/tmp); cat $d", allow=["cat"]).verdict is not Verdict.ALLOW
    assert decide('for f in *.log; do wc -l "$f"; done', allow=["wc"]).verdict is Verdict.ALLOW
    assert decide("for f in *.log; do wc -l $f; done", allow=["wc"]).verdict is not Verdict.ALLOW
    assert decide("_=a; echo /etc/shadow; cat $_", allow=["cat", "echo"]).verdict is not Verdict.ALLOW
    assert decide("for _ in a; do echo /etc/shadow; cat $_; done", allow=["cat", "echo"]).verdict is not Verdict.ALLOW
    assert decide('cat "$HOME/.ssh/id"', allow=["cat"]).reason_code is ReasonCode.PATH_NEVER


@pytest.mark.parametrize(
    "text",
    [
        "PATH=/tmp ls", "PATH=/tmp", "export PATH=/tmp", "export PATH", "read PATH", "for PATH in /tmp; do ls; done",
        "printf -v PATH x", "mapfile PATH", "env PATH=/tmp ls", "LD_PRELOAD=x ls", "BASH_ENV=x", "unset PATH",
        "read -a PATH", "read x IFS", "printf -vPATH x", "wait -p PATH", "https_proxy=x ls", "GIT_SSH_COMMAND=x ls",
        "declare PATH=x", "readonly PATH=x", "PATH+=:/tmp", "command export PATH=/tmp", "PROMPT_COMMAND=x",
    ],
)  # fmt: skip
def test_dangerous_variables_are_denied_however_they_are_reached(decide, text):
    from execkit_mcp.policy.document import ShellRules

    shell = ShellRules(
        state=frozenset({"cd", "export", "read", "mapfile", "unset", "declare", "readonly"}),
        env_set=("PATH", "LD_PRELOAD", "BASH_ENV", "IFS", "https_proxy", "GIT_SSH_COMMAND", "PROMPT_COMMAND"),
    )
    allowed = ["ls", "printf", "env", "wait", "command"]
    decision = decide(text, allow=allowed, ask=["env"], shell=shell, defaults=Defaults(decision=Verdict.ASK))
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.ENV)


@pytest.mark.parametrize(
    "text",
    [
        "unset 'a[$(id)]'", "read 'a[$(id)]'", "printf -v 'a[$(id)]' x", "test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]",
        'test -v "$x"', "mapfile 'a[$(id)]'", "wait -p 'a[$(id)]'", "printf -v $x y",
    ],
)  # fmt: skip
def test_subscripts_that_would_be_evaluated_are_denied(decide, text):
    from execkit_mcp.policy.document import ShellRules

    shell = ShellRules(state=frozenset({"read", "mapfile", "unset"}))
    assert decide(text, allow=["printf", "test", "[", "wait"], shell=shell).verdict is Verdict.DENY


def test_a_link_reads_everything_below_its_target(decide):
    rules = [rule("allow", Element(program="ln"), effects=EffectGrants(write="paths"))]
    fields = {"rules": rules, "write": ("/srv/app/**",)}
    assert decide("ln -s src/a b", **fields).verdict is Verdict.ALLOW
    assert decide("ln -s /etc b", **fields).reason_code is ReasonCode.PATH_NEVER
    assert decide("ln -s / b; cat b/etc/shadow", allow=["cat"], **fields).reason_code is ReasonCode.PATH_NEVER
    assert decide("ln -s ../../etc b", **fields).verdict is Verdict.ASK
    assert decide("ln -s /tmp /etc/b", **fields).reason_code is ReasonCode.PATH_WRITE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git status", Verdict.ALLOW),
        ("git -C sub status", Verdict.ALLOW),
        ("git -C /srv/app/sub status", Verdict.ALLOW),
        ("git -C /tmp status", Verdict.DENY),
        ("git -C sub -C ../../other status", Verdict.DENY),
        ("git -C ~ status", Verdict.DENY),
        ("git -C/tmp status", Verdict.DENY),
        ("git --work-tree=/tmp status", Verdict.DENY),
        ("make -C sub all", Verdict.ALLOW),
        ("make -j4 all", Verdict.ALLOW),
        ("make -C /tmp all", Verdict.DENY),
        ("make -C/tmp all", Verdict.DENY),
        ("make --directory=/tmp all", Verdict.DENY),
        ("make all -C ..", Verdict.DENY),
        ('make -C "$x" all', Verdict.DENY),
    ],
)
def test_a_flag_that_goes_to_another_folder_is_where_the_command_runs(decide, text, expected):
    inside = {"cwd": ("/srv/app/**",), "source": "policy.yaml:7"}
    rules = [
        Rule(id="g", verdict=Verdict.ALLOW, elements=(Element(program="git", sub=(("status",),), **inside),)),
        Rule(id="m", verdict=Verdict.ALLOW, elements=(Element(program="make", **inside),), effects=TRUSTED),
    ]
    assert decide(text, rules=rules).verdict is expected


@pytest.mark.parametrize("flag", ["--unsafe-paths", "--unsafe-path", "--unsafe", "--un"])
def test_a_flag_cut_short_is_still_the_flag_that_a_rule_keeps_off(decide, flag):
    vouched = Rule(
        id="apply",
        verdict=Verdict.ALLOW,
        elements=(Element(program="frobnicate", sub=(("apply",),), flags=FlagRules(deny=("--unsafe-paths",))),),
        effects=TRUSTED,
    )
    assert decide("frobnicate apply x", rules=(vouched,)).verdict is Verdict.ALLOW
    assert decide(f"frobnicate apply {flag} x", rules=(vouched,)).verdict is Verdict.DENY
    hard = Element(program="frobnicate", flags=FlagRules(any=("--unsafe-paths",)))
    assert decide(f"frobnicate apply {flag} x", deny=[hard], ask=["frobnicate"]).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "words", ["--context=prod", "--context prod", '--context "$X"', "--context=dev --context=prod"]
)
def test_a_refused_value_is_refused_wherever_it_may_stand(decide, words):
    hard = Element(program="kubectl", flags=FlagRules(any=("--context",), values={"--context": ("prod",)}))
    assert decide(f"kubectl {words} get pods", deny=[hard], ask=["kubectl"]).verdict is Verdict.DENY
    assert decide("kubectl --context=dev get pods", deny=[hard], ask=["kubectl"]).verdict is Verdict.ASK
