# ruff: noqa: E501 - a table reads one row a line
"""What ships under ``builtin:``: groups of harmless programs and fragments of policy that a document may include.

Two kinds, told apart by where they stand:
    * as a rule element (``allow: ["builtin:readonly"]``) a group is a set of elements: see ``GROUPS``;
    * in ``include: [builtin:secrets]`` it is a fragment of YAML that the loader reads like a file: see
      ``INCLUDES``.

``builtin:dangerous`` stands in ``hazards`` and means every row of the hazard table.
"""

from collections.abc import Mapping

from execkit_mcp.policy.document import Element, FlagRules

DANGEROUS = "builtin:dangerous"
PREFIX = "builtin:"

# Programs whose every use without an effect beyond reading is harmless. A use that writes, runs something unjudged or
# talks to the network is not covered by a plain ``allow``, so listing ``find`` here does not grant ``find -delete``.
_TEXT = (
    "cat head tail tac nl wc sort uniq cut tr rev fold expand unexpand comm join paste column fmt pr grep egrep fgrep "
    "zgrep zcat zless bzcat xzcat zstdcat diff cmp diff3 sdiff sed awk gawk mawk jq yq xmllint strings od xxd hexdump "
    "base64 base32 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum rg ag ack less more tsort "
    "numfmt seq shuf factor expr bc look iconv"
)
_FILES = (
    "ls dir vdir stat file find fd tree du df pwd realpath readlink basename dirname test [ true false : echo printf "
    "which whereis type hash locate namei lsattr getfacl getcap sleep pathchk exa eza bat cksum"
)
_SYSTEM = (
    "uptime free nproc lscpu lsmem lspci lsusb lsmod lsblk lsns lslocks lsipc lsof blkid findmnt whoami logname tty arch "
    "id groups users who w last lastlog uname hostname hostnamectl date cal ncal timedatectl localectl loginctl ps pgrep "
    "pidof pstree top htop vmstat iostat mpstat sar pidstat ss netstat ip ifconfig route arp getent dmesg printenv env "
    "mount swapon sysctl journalctl crontab dpkg dpkg-query apt-cache rpm locale getconf "
    "man whatis apropos info tput wait jobs ipcs prlimit chrt taskset numactl ethtool iw nmcli resolvectl "
    "systemd-analyze nm objdump readelf size getopt cloc tokei command lsb_release"
)
_ARCHIVES = "tar unzip zipinfo 7z gzip bzip2 xz zstd"
# Programs that say their version or their flags. Not those that first look for a tool of the project's own and run it
# (cargo, go, yarn, pnpm, npx).
_VERSIONS = (
    "python python3 node npm pip pip3 uv ruff mypy gcc g++ cc clang clang++ make cmake ninja java javac ruby perl php docker "
    "docker-compose podman kubectl helm curl wget ssh scp rsync psql mysql sqlite3 redis-cli systemctl openssl vim tmux "
    "rm cp mv mkdir rmdir touch ln chmod chown tee dd zip patch"
)
_VERSION_WORDS = ("--version", "-version", "-V", "-v", "--help", "-h", "version", "help")
_WRAPPERS = "timeout nice ionice nohup stdbuf time xargs"

_GIT_READS = (
    "status", "log", "diff", "show", "branch", "tag", "blame", "annotate", "describe", "rev-parse", "rev-list", "ls-files",
    "ls-tree", "shortlog", "reflog", "grep", "cat-file", "show-ref", "for-each-ref", "name-rev", "merge-base", "whatchanged",
    "count-objects", "check-ignore", "check-attr", "diff-tree", "diff-index", "diff-files", "symbolic-ref", "var", "version",
    "help", "cherry", "range-diff", "show-branch", "verify-commit", "verify-tag", "stash list", "stash show", "remote",
    "config", "worktree list", "submodule status", "bisect log", "notes show",
    "notes list", "fsck",
)  # fmt: skip
_SYSTEMCTL_READS = (
    "status", "is-active", "is-enabled", "is-failed", "is-system-running", "list-units", "list-unit-files", "list-timers",
    "list-sockets", "list-dependencies", "list-jobs", "list-machines", "show", "cat", "get-default", "show-environment",
)  # fmt: skip
_DOCKER_READS = (
    "ps", "logs", "images", "stats", "top", "port", "diff", "version", "info", "history", "inspect", "events",
    "container ls", "container list", "container ps", "container logs", "container inspect", "container top",
    "container stats", "container port", "image ls", "image list", "image history", "image inspect", "volume ls",
    "volume list", "volume inspect", "network ls", "network list", "network inspect", "system df", "system info",
    "context ls", "context show", "compose ps", "compose logs", "compose config", "compose images", "compose top",
    "compose ls", "compose version", "node ls", "service ls", "service ps", "service logs", "stack ls", "stack ps",
)  # fmt: skip


def _sub(program: str, subcommands: tuple[str, ...], *, deny_flags: tuple[str, ...] = ()) -> Element:
    """An element that names its subcommands."""
    words = tuple(tuple(each.split()) for each in subcommands)
    return Element(program=program, sub=words, flags=FlagRules(deny=deny_flags), source=f"{PREFIX}readonly")


def _readonly() -> tuple[Element, ...]:
    """Every element of ``builtin:readonly``."""
    plain = f"{_TEXT} {_FILES} {_SYSTEM} {_ARCHIVES} {_WRAPPERS}".split()
    bare = tuple(Element(program=name, source=f"{PREFIX}readonly") for name in dict.fromkeys(plain))
    return (
        *bare,
        _sub("git", _GIT_READS),
        Element(
            program="git",
            flags=FlagRules(any=("--version", "-v", "--help", "-h")),
            source=f"{PREFIX}readonly",
        ),
        _sub("systemctl", _SYSTEMCTL_READS),
        _sub("docker", _DOCKER_READS),
        _sub("podman", _DOCKER_READS),
        *(_sub(name, ("list", "show", "search", "policy", "depends", "rdepends")) for name in ("apt", "apt-cache")),
        _sub("openssl", ("version", "x509", "crl")),
        *(
            Element(program=name, flags=FlagRules(any=_VERSION_WORDS), source=f"{PREFIX}readonly")
            for name in _VERSIONS.split()
        ),
    )


GROUPS: Mapping[str, tuple[Element, ...]] = {f"{PREFIX}readonly": _readonly()}


# Credentials below a home folder, whoever's home it is.
_HOME_SECRETS = (
    ".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".azure/**", ".docker/config.json", ".netrc", ".pgpass", ".my.cnf",
    ".git-credentials", ".config/gh/**", ".config/hub", ".config/gcloud/**", ".config/git/credentials", ".config/op/**",
    ".config/rclone/**", ".config/age/**", ".config/sops/**", ".password-store/**", ".local/share/keyrings/**",
    ".vault-token", ".terraform.d/credentials.tfrc.json", ".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml",
    ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".mozilla/**",
    ".config/google-chrome/**", ".config/chromium/**", ".local/share/TelegramDesktop/**", ".bash_history", ".zsh_history",
    ".python_history", ".psql_history", ".mysql_history", ".rediscli_history", ".node_repl_history", ".sqlite_history",
    ".local/state/execkit-mcp/**", ".config/execkit-mcp/**", ".cache/execkit-mcp/**", ".anthropic/**", ".claude/.credentials.json",
    ".codex/auth.json", ".gemini/oauth_creds.json",
)  # fmt: skip
_SYSTEM_SECRETS = (
    "/etc/shadow*", "/etc/gshadow*", "/etc/sudoers", "/etc/sudoers.d/**", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**",
    "/etc/security/opasswd", "/etc/krb5.keytab", "/etc/NetworkManager/system-connections/**", "/etc/wpa_supplicant/**",
    "/etc/kubernetes/**", "/etc/rancher/**", "/var/lib/kubelet/**", "/var/run/secrets/**", "/run/secrets/**",
    "/run/credentials/**", "/proc/*/environ", "/proc/*/mem", "/proc/*/task/*/environ", "/proc/*/task/*/mem", "/proc/kcore",
    "/proc/kmsg", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/sd*", "/dev/nvme*", "/dev/vd*", "/dev/xvd*", "/dev/hd*",
    "/dev/dm-*", "/dev/md*", "/dev/mapper/**", "/dev/loop*", "/dev/mmcblk*", "/dev/disk/**", "/dev/block/**",
    "/var/lib/docker/**", "/var/lib/containerd/**", "/var/backups/*shadow*", "/var/run/docker.sock", "/run/docker.sock",
    "/etc/execkit-mcp/**", "/root/**",
)  # fmt: skip
_ANYWHERE_SECRETS = (
    "**/.env*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore", "**/*.kdbx", "**/id_rsa*",
    "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*", "**/.htpasswd", "**/.git-credentials", "**/.netrc", "**/kubeconfig*",
    "**/service-account*.json", "**/*.tfstate*",
)  # fmt: skip


def _yaml_list(entries: tuple[str, ...]) -> str:
    return "".join(f'    - "{entry}"\n' for entry in entries)


def _secrets() -> str:
    """YAML of ``builtin:secrets``: where credentials lie, by home folder, on the system, and by file name."""
    homes = tuple(f"{base}/{entry}" for base in ("~", "/root", "/home/*") for entry in _HOME_SECRETS)
    return "version: 1\nname: builtin-secrets\npaths:\n  never:\n" + _yaml_list(
        homes + _SYSTEM_SECRETS + _ANYWHERE_SECRETS
    )


_BASE = """\
version: 1
name: builtin-base
shell:
  state: [cd, pushd, popd, read, "set -e", "set -u", "set -o pipefail"]
  env:
    set: [LC_ALL, LANG, LANGUAGE, TZ, COLUMNS, LINES, NO_COLOR, FORCE_COLOR, CLICOLOR, TERM]
    force: {PAGER: cat, GIT_PAGER: cat, MANPAGER: cat, SYSTEMD_PAGER: "", LESSSECURE: "1"}
hazards: {ask: ["builtin:dangerous"], deny: [fork-bomb, disk-overwrite]}
"""

INCLUDES: Mapping[str, str] = {f"{PREFIX}base": _BASE, f"{PREFIX}secrets": _secrets()}
