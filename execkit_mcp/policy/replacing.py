"""Which invocations put a file in the place of another, or change it by its name, and do not write into what is there.

``/dev/null`` and the standard streams may always be written into; ``rm /dev/null`` is another matter.
"""

from execkit_mcp.policy.knowledge.invocation import Invocation
from execkit_mcp.policy.knowledge.spec import words_of

_ALWAYS = words_of(
    "mv rm rmdir ln link unlink install mkdir mkfifo mknod chmod chown chgrp chcon setfacl chattr shred truncate rename"
)
_WITH = {
    "cp": words_of(
        "-a --archive -b --backup -d -l --link -P --no-dereference -R -r --recursive -s --remove-destination"
    ),
    "sed": words_of("-i --in-place"),
    "yq": words_of("-i --inplace --in-place"),
}


def replaces_names(invocation: Invocation) -> bool:
    """Whether the names that it writes are not opened but made anew, removed or given other rights."""
    program = invocation.program
    flags = _WITH.get(program)
    return program in _ALWAYS or bool(flags and any(flags.intersection(use.names) for use in invocation.flags))
