"""Limits of the kernel on each process of a session; this module is that mechanism."""

import resource
from collections.abc import Mapping

__all__ = ["NAMES", "limit"]

NAMES = {
    "core": resource.RLIMIT_CORE,
    "processes": resource.RLIMIT_NPROC,
    "file_bytes": resource.RLIMIT_FSIZE,
    "memory_bytes": resource.RLIMIT_DATA,
    "files": resource.RLIMIT_NOFILE,
    "cpu_s": resource.RLIMIT_CPU,
}
"""The words of a plan, and what each stands for."""


def limit(limits: Mapping[str, int]) -> None:
    """Lower the limits named; never raises one."""
    for name, value in limits.items():
        number = NAMES[name]
        soft, hard = resource.getrlimit(number)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        lower = bound if soft == resource.RLIM_INFINITY else min(soft, bound)
        resource.setrlimit(number, (lower, bound))
