"""Editing somebody else's file: comments, order and every other key stay, byte for byte where nothing changes."""

import json
import re
import tomllib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.config.edit import add_item, drop, drop_items, merge, read
from execkit_mcp.config.edit.jsonc import append, put, remove
from execkit_mcp.config.edit.jsonc import read as read_json
from execkit_mcp.errors import ConfigError

ENTRY = {"command": "/opt/ex ec/bin", "args": ["serve", "--policy", "ci"], "env": {"A": "1"}}
PATH = ("servers", "execkit")

# file, what a person would look for afterwards
JSON = {
    "empty": "",
    "braces": "{}",
    "one line": '{"a": 1, "b": [1, 2]}',
    "others": '{\n  "servers": {\n    "x": {"command": "y"}\n  },\n  "z": 1\n}\n',
    "no newline at the end": '{\n  "a": 1\n}',
    "tabs": '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
    "four spaces": '{\n    "servers": {\n        "x": {\n            "command": "y"\n        }\n    }\n}\n',
    "windows": '{\r\n  "a": 1,\r\n  "servers": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    "comments": (
        '// top\n{\n  // above a\n  "a": 1, // beside a\n  /* block\n  over lines */\n  "servers": {\n'
        '    // above x\n    "x": {"command": "y"} // beside x\n    // below x\n  }\n  // end\n}\n// after\n'
    ),
    "trailing commas": '{\n  "a": [1, 2,],\n  "servers": {\n    "x": {}, // beside x\n  },\n}\n',
    "only a comment": "{\n  // nothing yet\n}\n",
    "braces in text": '{\n  "a": "}] // no comment /* none */",\n  "servers": {"x": "\\"{"}\n}\n',
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "a mark and no more": "\ufeff",
    "remarks and no object": "// top\n/* nothing yet */",
    "null": '{\n  "servers": null, // why\n  "a": 1\n}\n',
    "a list that says something": '{\n  "servers": {\n    // "old": {}\n  }\n}\n',
}
TOML = {
    "empty": "",
    "comments": '# top\nmodel = "x" # beside\n\n[servers.x] # why\ncommand = "y"\n# end\n',
    "ours in the middle": '[servers.a]\ncommand = "a"\n\n# about b\n[servers.b]\ncommand = "b"\n\n[other]\nc = 1\n',
    "inline": 'servers = { x = { command = "y" } }\n',
    "no newline at the end": "a = 1",
    "windows": '# top\r\na = 1\r\n\r\n[servers.x]\r\ncommand = "y"\r\n',
    "byte order mark": '\ufeffa = 1\n\n[servers.x]\ncommand = "y"\n',
    "arrays of tables": "[[rule]]\na = 1\n\n[[rule]]\na = 2\n",
}
YAML = {
    "empty": "",
    "comments": (
        "# top\nother: 1 # beside\nservers: # why\n  # above x\n  x:\n    command: y # beside\n  # end\nlast: [1, 2]\n"
    ),
    "null": "servers:\nother: 1\n",
    "flow": "servers: {}\nother: {a: 1}\n",
    "flow with one": "servers: {x: {command: y}}\n",
    "windows": "# top\r\na: 1\r\nservers:\r\n  x:\r\n    command: y\r\n",
    "windows, nothing there": "# top\r\na: 1\r\n",
    "four spaces": "servers:\n    x:\n        command: y\n",
    "missing": "other: 1\n",
    "no newline at the end": "other: 1",
}
CASES = [
    pytest.param(form, text, id=f"{form}-{name}")
    for form, texts in (("json", JSON), ("toml", TOML), ("yaml", YAML))
    for name, text in texts.items()
]


def remarks(text):
    return [found.strip() for found in re.findall(r"//.*|/\*.*|^#.*| #.*", text, re.MULTILINE)]


@pytest.mark.parametrize(("form", "text"), CASES)
def test_an_entry_is_put_in_and_everything_else_stays(form, text):
    after = merge(text, form, PATH, ENTRY, name="f")
    values = read(after, form, "f")
    assert values["servers"]["execkit"] == ENTRY
    before = read(text, form, "f")
    values["servers"].pop("execkit")
    assert {k: v for k, v in values.items() if v or k in before} == {k: v or {} for k, v in before.items()}
    for remark in remarks(text):
        assert remark in after
    assert text.startswith("\ufeff") == after.startswith("\ufeff")
    assert ("\r\n" in text) == ("\r\n" in after)
    if "\r\n" in text:
        assert after.replace("\r\n", "").count("\n") == 0


@pytest.mark.parametrize(("form", "text"), CASES)
def test_doing_it_twice_changes_nothing(form, text):
    once = merge(text, form, PATH, ENTRY, name="f")
    assert merge(once, form, PATH, ENTRY, name="f") == once


@pytest.mark.parametrize(("form", "text"), CASES)
def test_taking_it_out_again_leaves_what_was_there(form, text):
    after = drop(merge(text, form, PATH, ENTRY, name="f"), form, PATH, name="f")
    for remark in remarks(text):
        assert remark in after
    if not read(text, form, "f"):
        assert not read(after, form, "f")
    elif "servers" in read(text, form, "f") and not read(text, form, "f")["servers"]:
        left = read(after, form, "f")
        assert not left.pop("servers", None)  # an empty object goes, unless something is written in it
        assert set(left) == set(read(text, form, "f")) - {"servers"}
    else:
        assert after.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(("form", "text"), CASES)
def test_a_changed_entry_keeps_the_keys_that_its_owner_added(form, text):
    once = merge(text, form, (*PATH,), {**ENTRY, "mine": True}, name="f")
    after = merge(once, form, PATH, {"command": "/other", "args": [], "env": {}}, name="f")
    assert read(after, form, "f")["servers"]["execkit"] == {"command": "/other", "args": [], "env": {}, "mine": True}
    for remark in remarks(text):
        assert remark in after


@pytest.mark.parametrize(
    ("form", "text", "place"),
    [
        ("json", '{"a": 1', "f:1:8"),
        ("json", '{\n  "a": 1\n  "b": 2\n}', "f:3:3"),
        ("json", "{'a': 1}", "f:1:2"),
        ("json", "[1]", "f:1:1"),
        ("json", '{"a": 1} x', "f:1:10"),
        ("json", "[" * 5000, "f:1:"),
        ("json", '{"a": "\\ud8"}', "f:1:"),
        ("toml", "a = \n", "f:1:"),
        ("toml", "a = 1\na = 2\n", "f:"),
        ("yaml", "a: [1\n", "f:"),
        ("yaml", "- 1\n", "f:1:1"),
        ("yaml", "a: 1\n\tb: 2\n", "f:2:"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_place(form, text, place):
    with pytest.raises(ConfigError) as caught:
        merge(text, form, PATH, ENTRY, name="f")
    assert place in caught.value.message


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"servers": [1]}'),
        ("toml", "servers = 3\n"),
        ("yaml", "servers: text\n"),
        ("json", '{"servers": "x"}'),
    ],
)
def test_something_else_in_the_place_of_the_list_is_refused(form, text):
    with pytest.raises(ConfigError):
        merge(text, form, PATH, ENTRY, name="f")


def test_items_of_an_array_come_and_go():
    text = '{\n  "hooks": {\n    "Pre": [\n      {"command": "mine"} // mine\n    ]\n  }\n}\n'
    after = add_item(text, ("hooks", "Pre"), {"command": "ours"}, name="f")
    assert [item["command"] for item in json.loads(after.replace("// mine", ""))["hooks"]["Pre"]] == ["mine", "ours"]
    back = drop_items(after, ("hooks", "Pre"), lambda item: item["command"] == "ours", name="f")
    assert back == text
    first = '{"hooks": {"Pre": [{"command": "ours"}, {"command": "mine"}]}}'
    assert json.loads(drop_items(first, ("hooks", "Pre"), lambda item: item["command"] == "ours", name="f")) == {
        "hooks": {"Pre": [{"command": "mine"}]}
    }


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), st.sampled_from([None, 2, "\t"]), st.text(max_size=4))
def test_any_document_takes_a_value_and_gives_it_back(document, indent, key):
    text = json.dumps(document, indent=indent)
    after = put(text, (key,), {"new": [1, {}]})
    assert json.loads(after) == {**document, key: {"new": [1, {}]}}
    assert read_json(after).value == json.loads(after)
    assert json.loads(remove(after, (key,))) == {k: v for k, v in document.items() if k != key}
    assert json.loads(append(text, ("fresh key", "list"), 3))["fresh key"]["list"] == [3]


def test_the_readers_agree_with_the_standard_ones():
    for text in TOML.values():
        assert read(text, "toml", "f") == tomllib.loads(text.removeprefix("\ufeff"))
    for text in YAML.values():
        assert read(text, "yaml", "f") == (yaml.safe_load(text) or {})
