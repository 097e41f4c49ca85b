"""Where long flags may be abbreviated the table must have them all; installed programs say which exist."""

import re
import shutil
import subprocess

import pytest

from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.spec import flags_of

NAMES = sorted(name for name, program in PROGRAMS.items() if program.is_abbreviating and shutil.which(name))
LONG = re.compile(r"(?<![\w-])--[a-z0-9][a-zA-Z0-9-]+")
PROSE = {
    "chroot": set(),
    "diff": {"--to-file", "--from-file", "--GTYPE-group-format", "--LTYPE-line-format"},
}


@pytest.mark.parametrize("name", NAMES)
def test_every_long_flag_that_help_shows_is_in_the_table(name):
    run = subprocess.run([shutil.which(name), "--help"], capture_output=True, text=True, timeout=10, check=False)
    shown = set(LONG.findall(run.stdout)) - {"--help", "--version"} - PROSE.get(name, set())
    table = flags_of(PROGRAMS[name].flags)
    missing = {flag for flag in shown if flag not in table}
    assert not missing


def test_programs_are_installed_to_compare_with():
    assert len(NAMES) > 40
