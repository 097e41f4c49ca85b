"""Hazards of packages: removed, forced, taken from elsewhere, handed to others."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="package-removal",
        severity=Severity.HIGH,
        message="removes packages",
        shapes=(
            Shape(
                programs="apt apt-get aptitude yum dnf zypper apk pacman brew snap flatpak",
                sub="remove|purge|autoremove|erase|del|uninstall|rm",
            ),
            Shape(programs="dpkg", flags="-r -P --remove --purge --force-all"),
            Shape(programs="rpm", flags="-e --erase"),
            Shape(programs="pacman", anywhere=r"^-R"),
            Shape(programs="pip pip3 npm", sub="uninstall"),
        ),
        example="apt-get purge nginx",
        harmless="apt-cache show nginx",
    ),
    Hazard(
        id="publish",
        severity=Severity.HIGH,
        message="changes what others install",
        shapes=(
            Shape(programs="npm yarn pnpm", sub="publish|unpublish|deprecate|owner|access|dist-tag|token"),
            Shape(programs="cargo", sub="publish|yank|owner"),
            Shape(programs="twine", sub="upload"),
            Shape(programs="gem", sub="push|yank"),
            Shape(programs="poetry", sub="publish"),
            Shape(programs="docker podman", sub="push"),
        ),
        example="npm publish",
        harmless="npm pack",
    ),
    Hazard(
        id="package-force",
        severity=Severity.HIGH,
        message="installs without the checks",
        shapes=(
            Shape(
                programs="apt apt-get aptitude",
                anywhere=r"--(?:allow-unauthenticated|force-yes|allow-downgrades|allow-remove-essential|allow-change-held-packages|no-gpg-check)",
            ),
            Shape(programs="dpkg", anywhere=r"--(?:force-\S+|ignore-depends\S*|no-debsig)"),
            Shape(
                programs="rpm",
                flags="--nodeps --force --nosignature --nodigest --noscripts",
                anywhere=r"--(?:nodeps|force|nosignature|nodigest)",
            ),
            Shape(programs="rpm", anywhere=r"--(?:nodeps|force|nosignature|nodigest)"),
            Shape(programs="dnf yum zypper", anywhere=r"--(?:nogpgcheck|no-gpg-checks|skip-broken|allowerasing)"),
            Shape(programs="pip pip3", anywhere=r"--break-system-packages"),
            Shape(programs="apk", anywhere=r"--(?:allow-untrusted|force-\S+)"),
            Shape(programs="pacman", anywhere=r"--overwrite|-\w*dd\b"),
        ),
        example="apt-get install --allow-unauthenticated x",
        harmless="apt-get install x",
    ),
    Hazard(
        id="package-source",
        severity=Severity.HIGH,
        message="changes where packages come from",
        shapes=(
            Shape(programs="add-apt-repository apt-add-repository apt-key"),
            Shape(programs="npm yarn pnpm", anywhere=r"\bconfig set (?:\S+:)?registry|--registry\b"),
            Shape(
                programs="pip pip3 uv",
                anywhere=r"--(?:extra-)?index(?:-url)?\b|--default-index\b|\bconfig set\b|(?:^|\s)-i\s?https?:",
            ),
            Shape(programs="gem", sub="sources", flags="-a --add -r --remove"),
            Shape(programs="dnf yum", anywhere=r"\bconfig-manager\b.*(?:--add-repo|addrepo)|--repofrompath"),
            Shape(programs="zypper", sub="addrepo|ar|removerepo|rr"),
            Shape(programs="brew", sub="tap|untap"),
            Shape(programs="helm", sub="repo add"),
            Shape(programs="flatpak", sub="remote-add|remote-modify|remote-delete"),
        ),
        writes=r"/etc/(?:apt|yum\.repos\.d|zypp|pacman\.d|apk)/.*|/etc/(?:yum|dnf|pacman|pip)\.conf|.*/\.(?:npmrc|yarnrc(?:\.yml)?|pypirc)|.*/\.(?:config/)?pip/pip\.conf|.*/\.cargo/config(?:\.toml)?",
        example="npm config set registry https://example.com",
        harmless="npm config get registry",
    ),
    Hazard(
        id="distribution-upgrade",
        severity=Severity.HIGH,
        message="replaces the whole system",
        shapes=(
            Shape(programs="do-release-upgrade"),
            Shape(programs="apt apt-get aptitude", sub="dist-upgrade|full-upgrade"),
            Shape(programs="dnf", anywhere=r"\b(?:system-upgrade|distro-sync|offline-upgrade)\b"),
            Shape(programs="zypper", sub="dup|dist-upgrade"),
            Shape(programs="pacman", anywhere=r"^-Syy?u"),
            Shape(programs="freebsd-update rpm-ostree transactional-update", anywhere=r"."),
        ),
        example="apt-get dist-upgrade",
        harmless="apt list --upgradable",
    ),
)
