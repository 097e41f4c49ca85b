"""A server that is configured elsewhere is granted with the subcommand; one that a flag picks must be named."""

import pytest

from execkit_mcp.model import Effect, EffectKind, ReasonCode, Verdict
from execkit_mcp.policy.document import Element, FlagRules, NetworkRules

GET = Element(program="kubectl", sub=(("get",),))
STAGING = Element(program="kubectl", sub=(("get",),), flags=FlagRules(values={"--context": ("staging", "dev-*")}))


def test_a_subcommand_grants_the_configured_server_and_no_other(decide):
    assert decide("kubectl get pods", allow=[GET]).verdict is Verdict.ALLOW
    for text in [
        "kubectl --context prod get pods", "kubectl --context=prod get pods", "kubectl get pods --context prod",
        "kubectl --cluster=prod get pods", "kubectl get pods --user admin", "kubectl get pods --context=",
        "kubectl get pods '--context=prod'", "timeout 5 kubectl --context prod get pods",
    ]:  # fmt: skip
        decision = decide(text, allow=[GET, "timeout"])
        assert decision.verdict is Verdict.DENY, text
        assert decision.reason_code is ReasonCode.NETWORK, text


def test_a_rule_that_names_the_context_grants_it(decide):
    for text in ["kubectl --context staging get pods", "kubectl get pods --context=dev-1", "kubectl get pods"]:
        assert decide(text, allow=[STAGING]).verdict is Verdict.ALLOW, text
    for text in [
        "kubectl --context prod get pods", "kubectl --context=staging get pods --context=prod",
        "kubectl --context=staging --cluster=prod get pods", "kubectl --context=staging --user=staging get pods",
        'kubectl --context="$c" get pods', "kubectl --context $c get pods", "kubectl --context stag* get pods",
        "kubectl --context=staging delete pod web", "kubectl --context=staging -s https://example.com get pods",
    ]:  # fmt: skip
        assert decide(text, allow=[STAGING]).verdict is not Verdict.ALLOW, text


def test_the_refusal_names_the_flag_and_the_line_that_grants_it(decide):
    decision = decide("helm list --kube-context prod", allow=["helm list"])
    assert decision.message == "--kube-context prod picks the server or the identity, and the rule does not name it."
    assert decision.hint == "Name it in rule allow: `flags: {values: {--kube-context: [prod]}}`."
    assert Effect(EffectKind.NET, "configured:prod") in decision.commands[0].effects


def test_a_rule_that_denies_a_context_finds_it_wherever_it_stands(decide):
    hard = Element(program="kubectl", flags=FlagRules(values={"--context": ("prod",)}, require=("--context",)))
    for text in [
        "kubectl --context prod get pods",
        "kubectl get pods --context=prod",
        "sh -c 'kubectl get pods --context prod'",
    ]:
        decision = decide(text, ask=["kubectl", "sh"], deny=[hard])
        assert (decision.verdict, decision.rule) == (Verdict.DENY, "deny"), text


@pytest.mark.parametrize("text", ["kubectl --context prod get pods", "docker --context prod ps"])
def test_an_ask_without_effects_covers_any_server_because_a_person_looks(decide, text):
    assert decide(text, ask=["kubectl get", "docker ps"]).verdict is Verdict.ASK


def test_a_host_that_a_flag_names_is_an_address_and_meets_the_refused_ones(decide):
    inside = NetworkRules(deny=("10.0.0.9",))
    decision = decide("psql -h 10.0.0.9 -c 'select 1'", ask=["psql"], network=inside)
    assert (decision.verdict, decision.reason_code) == (Verdict.DENY, ReasonCode.NETWORK)
