"""Every program that there is knowledge about, by name, gathered from the families."""

from execkit_mcp.policy.knowledge import (
    accounts,
    archives,
    builtins,
    clouds,
    containers,
    coreutils,
    databases,
    findutils,
    firewalls,
    git,
    grep,
    languages,
    links,
    managers,
    network,
    observers,
    operations,
    packages,
    pagers,
    processes,
    scripts,
    small_tools,
    stores,
    systemd,
    wrappers,
)
from execkit_mcp.policy.knowledge.spec import Program

_FAMILIES = (
    accounts,
    archives,
    builtins,
    clouds,
    containers,
    coreutils,
    databases,
    findutils,
    firewalls,
    git,
    grep,
    languages,
    links,
    managers,
    small_tools,
    network,
    observers,
    operations,
    packages,
    pagers,
    processes,
    scripts,
    stores,
    systemd,
    wrappers,
)

PROGRAMS: dict[str, Program] = {
    name: program for family in _FAMILIES for program in family.PROGRAMS for name in program.names.split()
}
