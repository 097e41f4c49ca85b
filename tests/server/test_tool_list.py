"""The tool list as clients get it: what it costs, what it says, and that it changes only on purpose.

Tokens are counted as bytes / 4 of the compact JSON; the o200k vocabulary counts 5 % fewer for this list.
"""

import json
from pathlib import Path

import jsonschema
import pytest

from execkit_mcp.server.tools import TOOLS
from execkit_mcp.server.wire import input_schema

SNAPSHOT = Path(__file__).with_name("tool_list.json")
MAX_TOKENS = 1300
SPECS = {spec.name: spec for spec in TOOLS}
# tool → the hints that a client may rely on; what is left out has the protocol's default
HINTS = {
    "shell_run": {"destructiveHint": True, "openWorldHint": True},
    "shell_read": {"readOnlyHint": True},
    "shell_send": {"destructiveHint": True, "openWorldHint": True},
    "shell_open": {"destructiveHint": False},
    "shell_close": {"destructiveHint": True, "idempotentHint": True},
    "shell_info": {"readOnlyHint": True},
    "shell_explain": {"readOnlyHint": True},
}


def listed(spec):
    return spec.to_mcp().model_dump(by_alias=True, exclude_none=True, mode="json")


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_the_core_tools_cost_at_most_1300_tokens():
    tokens = len(compact([listed(SPECS[name]) for name in HINTS]).encode()) / 4
    assert tokens <= MAX_TOKENS, {name: len(compact(listed(SPECS[name]))) / 4 for name in HINTS}


@pytest.mark.parametrize("name", list(HINTS))
def test_a_tool_is_listed_as_the_snapshot_says(name):
    """Changed on purpose? The test prints what to put into the file."""
    assert listed(SPECS[name]) == json.loads(SNAPSHOT.read_text())[name]


@pytest.mark.parametrize("name", list(HINTS))
def test_the_hints_are_those_of_the_contract(name):
    assert listed(SPECS[name])["annotations"] == HINTS[name]


@pytest.mark.parametrize("name", list(SPECS))
def test_schemas_are_valid_and_plain(name):
    tool = listed(SPECS[name])
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        text = compact(schema)
        for word in ("$ref", "$defs", "anyOf", '"title"', '"default":null'):
            assert word not in text
    assert 0 < len(tool["description"]) < 2000


@pytest.mark.parametrize("name", list(SPECS))
def test_every_argument_and_every_listed_fact_is_one_of_the_model(name):
    spec = SPECS[name]
    assert set(input_schema(spec.arguments)["properties"]) == set(spec.arguments.model_fields)
    listed_facts = set(listed(spec)["outputSchema"]["properties"])
    assert listed_facts <= {field for field, info in spec.result.model_fields.items() if info.is_required()}


@pytest.mark.parametrize("name", list(SPECS))
def test_a_default_in_the_list_is_the_default_that_holds(name):
    spec = SPECS[name]
    for argument, schema in input_schema(spec.arguments)["properties"].items():
        field = spec.arguments.model_fields[argument]
        if "default" in schema:
            assert schema["default"] == field.default
        elif not field.is_required():
            assert field.default in (None, "", False), argument


def scalars(value):
    """Every text and number of a structured result that a person could miss."""
    if isinstance(value, dict):
        return [found for each in value.values() for found in scalars(each)]
    if isinstance(value, list):
        return [found for each in value for found in scalars(each)]
    return [] if value in ("", None, True, False, 0) or isinstance(value, float) else [str(value)]


# what only machines need: counts that text shows in words, ids that the call itself named
QUIET = {
    "duration_ms",
    "audit",
    "offset",
    "next_offset",
    "total_bytes",
    "total_lines",
    "canonical",
    "fence",
    "policy",
    "commands",
}
# in text the exit code or "denied" says it, and a refusal by a rule names the rule
SAID_OTHERWISE = {"completed", "deny", "ask", "main"}


async def test_text_and_structured_content_of_every_tool_tell_the_same(serve, world):
    """Some clients show their model only one of them."""
    async with serve() as served:
        calls = [
            ("shell_run", {"command": "echo out; echo err >&2; false"}),
            ("shell_run", {"command": "rm -rf x"}),
            ("shell_run", {"command": "touch x"}),
            ("shell_run", {"command": "echo first; sleep 30", "wait_s": 0.2}),
            ("shell_explain", {"command": "rm -rf x"}),
            ("shell_open", {"name": "second"}),
            ("shell_info", {}),
            ("shell_close", {"session": "second"}),
        ]
        results = [(name, await served.call(name, **arguments)) for name, arguments in calls]
        exec_id = results[3][1].structured_content["exec_id"]
        for name, arguments in (("shell_read", {}), ("shell_send", {"key": "ctrl-c", "wait_s": 10})):
            results.append((name, await served.call(name, exec_id=exec_id, **arguments)))
        failed = await served.call("shell_read", exec_id="ex_nosuch")
    assert {name for name, _ in results} == set(HINTS)
    named = f" {exec_id} {world.workspace}"  # what the caller said himself, or has from the results before
    missing: list[tuple[str, str]] = []
    for name, result in results:
        body, text = result.structured_content, result.content[0].text
        facts = scalars({key: value for key, value in body.items() if key not in QUIET})
        facts = [fact for fact in facts if fact not in SAID_OTHERWISE and not fact.startswith("policy.")]
        missing += [(name, fact) for fact in facts if fact.strip() not in text + named]
        jsonschema.validate(body, listed(SPECS[name])["outputSchema"])
    assert not missing, "\n".join(map(str, missing))
    error = failed.structured_content["error"]
    assert failed.is_error
    assert f"{error['code']}: {error['message']}" in failed.content[0].text
    assert error["hint"] in failed.content[0].text
