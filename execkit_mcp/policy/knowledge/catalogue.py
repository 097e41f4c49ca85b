"""Every program that there is knowledge about, by name, gathered from the families."""

from execkit_mcp.policy.knowledge import (
    accounts,
    archives,
    builtins,
    containers,
    coreutils,
    databases,
    findutils,
    git,
    grep,
    languages,
    network,
    packages,
    pagers,
    processes,
    scripts,
    small_tools,
    systemd,
    wrappers,
)
from execkit_mcp.policy.knowledge.spec import Program

_FAMILIES = (
    accounts,
    archives,
    builtins,
    containers,
    coreutils,
    databases,
    findutils,
    git,
    grep,
    languages,
    small_tools,
    network,
    packages,
    pagers,
    processes,
    scripts,
    systemd,
    wrappers,
)

PROGRAMS: dict[str, Program] = {
    name: program for family in _FAMILIES for program in family.PROGRAMS for name in program.names.split()
}
