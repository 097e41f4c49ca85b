# ruff: noqa: E501 - an expression reads one line
"""Hazards of the file system: trees removed, moved away, opened to everyone."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.names import BROAD
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="rm-recursive",
        severity=Severity.HIGH,
        message="removes a whole tree or all of a folder",
        shapes=(
            Shape(programs="rm", flags="-r -R --recursive"),
            Shape(programs="rm", operand=r"(?:\./)?\*"),
            Shape(programs="git", sub="rm", operand=r"\.|(?:\./)?\*|:/"),
        ),
        example="rm -rf build",
        harmless="rm -f build.log",
    ),
    Hazard(
        id="rm-broad",
        severity=Severity.CRITICAL,
        message="removes the root, a home or a system folder",
        shapes=(
            Shape(programs="rm", flags="-r -R --recursive", operand=BROAD),
            Shape(programs="rm", flags="--no-preserve-root"),
        ),
        example="rm -rf /",
        harmless="rm -rf /tmp/build",
    ),
    Hazard(
        id="find-delete",
        severity=Severity.HIGH,
        message="removes whatever it finds",
        shapes=(
            Shape(programs="find fd", flags="-delete"),
            Shape(programs="find", anywhere=r"(^|\s)-delete(\s|$)"),
            Shape(programs="find", anywhere=r"-(?:exec|execdir|ok|okdir)\s+(?:\S*/)?(?:rm|shred|unlink)\b"),
            Shape(programs="rsync", flags="--delete --delete-after --delete-before --delete-excluded"),
        ),
        example="find . -name '*.log' -delete",
        harmless="find . -name '*.log'",
    ),
    Hazard(
        id="xargs-rm",
        severity=Severity.HIGH,
        message="removes whatever is piped in",
        shapes=(Shape(programs="xargs parallel", anywhere=r"(?:^|\s)(?:\S*/)?(?:rm|shred|unlink|kill|dd)\b"),),
        example="git ls-files | xargs rm",
        harmless="git ls-files | xargs wc -l",
    ),
    Hazard(
        id="mv-to-null",
        severity=Severity.HIGH,
        message="moves files into nothing",
        shapes=(Shape(programs="mv", operand=r"/dev/null"),),
        example="mv notes.txt /dev/null",
        harmless="mv notes.txt old/",
    ),
    Hazard(
        id="mv-system",
        severity=Severity.CRITICAL,
        message="moves the root, a home or a system folder",
        shapes=(Shape(programs="mv", operand=r"/|~|/(?:bin|boot|etc|home|lib|lib64|root|sbin|usr|var)/?\*?"),),
        example="mv /etc /tmp/x",
        harmless="mv a b",
    ),
    Hazard(
        id="chmod-broad",
        severity=Severity.HIGH,
        message="opens files to everyone or changes a whole system tree",
        shapes=(
            Shape(
                programs="chmod",
                flags="-R --recursive",
                operand=r"0?[0-7]?777|a[+=]\S*w\S*|o[+=]\S*w\S*|ugo[+=]\S*|000|0",
            ),
            Shape(programs="chmod", operand=r"/|~|/(?:bin|boot|dev|etc|home|lib|usr|var|root)(?:/\*?)?"),
            Shape(programs="chmod", operand=r"[0-7]?[4-7]777|[ugo]*\+[rwx]*s[rwxt]*|[2467][0-7]{3}"),
        ),
        example="chmod -R 777 .",
        harmless="chmod +x run.sh",
    ),
    Hazard(
        id="chown-broad",
        severity=Severity.HIGH,
        message="gives away a whole tree",
        shapes=(Shape(programs="chown chgrp", flags="-R --recursive"),),
        example="chown -R nobody /",
        harmless="chown nobody file",
    ),
    Hazard(
        id="shred",
        severity=Severity.HIGH,
        message="destroys files beyond recovery",
        shapes=(Shape(programs="shred wipe srm"),),
        example="shred -u notes.txt",
        harmless="rm notes.txt",
    ),
    Hazard(
        id="system-write",
        severity=Severity.HIGH,
        message="changes the system's configuration",
        writes=r"/etc/(?:passwd|group|shadow|gshadow|fstab|hosts|resolv\.conf|ld\.so\..*|profile.*|bash\.bashrc|environment|pam\.d/.*|ssh/.*|systemd/.*|init\.d/.*)|/boot/.*|/(?:usr/)?s?bin/.*|/(?:usr/)?lib(?:64)?/.*|/proc/sys.*|/sys/.*|/root/\.bash.*",
        example="tee /etc/passwd",
        harmless="cat /etc/passwd",
    ),
    Hazard(
        id="truncate-file",
        severity=Severity.MEDIUM,
        message="empties or cuts a file",
        shapes=(Shape(programs="truncate", anywhere=r"(?:-s|--size)[ =]*[0-9<%/-]"),),
        example="truncate -s 0 data.db",
        harmless="stat data.db",
    ),
    Hazard(
        id="sync-delete",
        severity=Severity.HIGH,
        message="removes at the target what the source lacks",
        shapes=(
            Shape(
                programs="rsync",
                flags="--delete --del --delete-after --delete-before --delete-during --delete-delay --delete-excluded --remove-source-files",
            ),
            Shape(programs="rclone", sub="sync|purge|delete|deletefile|move|rmdirs|cleanup"),
            Shape(programs="aws", anywhere=r"\bs3 sync\b.*--delete"),
            Shape(programs="gsutil", anywhere=r"\brsync\b.* -\w*d"),
        ),
        example="rsync -a --delete src/ dst/",
        harmless="rsync -a src/ dst/",
    ),
    Hazard(
        id="archive-remove",
        severity=Severity.MEDIUM,
        message="removes the files that it packs",
        shapes=(Shape(programs="tar", flags="--remove-files"), Shape(programs="zip", flags="-m --move")),
        example="tar -cf a.tar --remove-files src",
        harmless="tar -cf a.tar src",
    ),
    Hazard(
        id="archive-absolute",
        severity=Severity.MEDIUM,
        message="unpacks to wherever the archive says",
        shapes=(
            Shape(programs="tar", flags="-P --absolute-names", also="-x --extract --get"),
            Shape(programs="cpio", flags="--absolute-filenames"),
            Shape(programs="unzip", flags="-:"),
        ),
        example="tar -xPf a.tar",
        harmless="tar -xf a.tar",
    ),
    Hazard(
        id="trash-empty",
        severity=Severity.MEDIUM,
        message="empties the bin",
        shapes=(Shape(programs="trash-empty"), Shape(programs="gio", sub="trash", anywhere="--empty")),
        example="trash-empty",
        harmless="gio trash notes.txt",
    ),
)
