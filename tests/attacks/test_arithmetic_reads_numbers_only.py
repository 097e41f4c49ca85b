"""P1: arithmetic evaluates the values of its variables, and a value can be a command. Here it is read as a number."""

import subprocess

import pytest

from execkit_mcp.policy.shell import parse, render

pytestmark = pytest.mark.promise("P1")

VALUES = [
    "a[$(touch pwned)]",
    "$(touch pwned)",
    "`touch pwned`",
    "x=y[$(touch pwned)]",
    "b",
    "PATH",
    "a[b[$(touch pwned)]]",
]
FORMS = [
    "echo $((v + 1))",
    'echo "$((2 * $v))"',
    "echo $((${v}))",
    "((v++))",
    "((w = v))",
    "((v > 1)) || echo no",
    "[[ $v -eq 1 ]]",
    "[[ v -lt 3 ]]",
    '[[ 1 -gt "$v" ]]',
    "for ((i = v; i < 1; i += v + 1)); do echo; done",
    "echo $(($1))",
]


def run(text, folder, **variables):
    """The text in a real bash in which the variables have these values."""
    return subprocess.run(
        ["/bin/bash", "-c", text, "bash", variables.get("v", "")],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "b": "a[$(touch pwned)]", **variables},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_no_value_of_a_variable_is_evaluated(form, value, tmp_path):
    run(render(parse(form)), tmp_path, v=value)
    assert not (tmp_path / "pwned").exists()


def test_the_same_forms_as_they_were_written_do_evaluate_it(tmp_path):
    for number, form in enumerate(FORMS):
        folder = tmp_path / str(number)
        folder.mkdir()
        run(form, folder, v=VALUES[0])
        assert (folder / "pwned").exists(), form


@pytest.mark.parametrize("value", ["", "0", "5", "-3", "08x", " 12 "])
@pytest.mark.parametrize(
    "form",
    [
        "echo $((v + 1)) $((2 * (v - 1))) $((v ? 1 : 2))",
        "((v++)); echo $v",
        "((v -= 2)); echo $v",
        "w=7; ((w = v * w)); echo $w",
        "if ((v > 1)); then echo more; else echo less; fi",
        "[[ $v -ge 0 ]]; echo $?",
        "for ((i = 0; i < v; i++)); do echo $i; done; echo $i",
        "for ((i = 3; i; i--)) do echo $i; if ((i == v)); then break; fi; done",
    ],
)
def test_numbers_mean_what_they_mean_in_bash(form, value, tmp_path):
    if value.strip().isdecimal() or value in ("", "-3"):
        assert run(render(parse(form)), tmp_path, v=value).stdout == run(form, tmp_path, v=value).stdout
    else:  # bash: an error; here: its digits
        assert "pwned" not in run(render(parse(form)), tmp_path, v=value).stdout
