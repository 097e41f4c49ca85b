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
    "zgrep zegrep zfgrep bzgrep xzgrep zstdgrep zcat zless bzcat xzcat zstdcat diff cmp diff3 sdiff sed awk gawk mawk jq yq xmllint strings od xxd hexdump "
    "base64 base32 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum rg ag ack less more tsort "
    "numfmt seq shuf factor expr bc look iconv"
)
_FILES = (
    "ls dir vdir stat file find fd tree du df pwd realpath readlink basename dirname test [ true false : echo printf "
    "which whereis type hash ulimit umask export declare alias shopt trap history dirs times help locate namei lsattr getfacl getcap sleep pathchk exa eza bat cksum"
)
_SYSTEM = (
    "uptime free nproc lscpu lsmem lspci lsusb lsmod lsblk lsns lslocks lsipc lsof blkid findmnt whoami logname tty arch "
    "lvs vgs pvs getenforce sestatus systemd-cgtop lastb "
    "systemd-cgls pmap pwdx fuser id groups users who w last lastlog uname hostname hostnamectl date cal ncal timedatectl localectl loginctl ps pgrep "
    "pidof pstree top htop vmstat iostat mpstat sar pidstat ss netstat ip ifconfig route arp getent dmesg printenv env "
    "mount swapon sysctl journalctl crontab dpkg dpkg-query apt-cache rpm locale getconf "
    "man whatis apropos info tput wait jobs ipcs prlimit chrt taskset numactl ethtool iw nmcli resolvectl "
    "systemd-analyze systemd-delta slabtop iotop numastat conntrack tc bridge dmidecode ipvsadm postqueue mailq jps jstat javap crc32 "
    "nm objdump readelf size getopt cloc tokei command lsb_release"
)
_ARCHIVES = "tar unzip zipinfo 7z gzip bzip2 xz zstd"
# Programs that say their version or their flags. Not those that first look for a tool of the project's own and run it
# (cargo, go, yarn, pnpm, npx).
_VERSIONS = (
    "python python3 node npm pip pip3 uv ruff mypy gcc g++ cc clang clang++ make cmake ninja java javac ruby perl php docker "
    "docker-compose podman kubectl helm curl wget ssh scp rsync psql mysql sqlite3 redis-cli systemctl openssl vim tmux "
    "rm cp mv mkdir rmdir touch ln chmod chown tee dd zip patch split csplit shred truncate install mktemp sed gradle "
    "gdb dstat hyperfine logger gem clang-format ctr"
)
_VERSION_WORDS = ("--version", "-version", "-V", "-v", "--help", "-h", "version", "help")
_WRAPPERS = "timeout nice ionice nohup stdbuf time xargs watch"

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
        _sub("openssl", ("version", "x509", "crl", "verify", "dgst", "sha256", "sha512", "rand")),
        _sub("coredumpctl", ("list", "info")),
        _sub("crictl", ("ps", "images", "pods", "stats", "info", "version", "logs", "inspect", "inspectp", "inspecti")),
        _sub("snap", ("list", "info", "services", "changes", "version", "connections", "warnings")),
        _sub("fail2ban-client", ("status", "ping", "version", "banned")),
        _sub("supervisorctl", ("status", "pid", "avail", "version")),
        _sub(
            "rabbitmqctl",
            (
                "list_queues",
                "list_exchanges",
                "list_connections",
                "list_channels",
                "list_consumers",
                "status",
                "cluster_status",
                "ping",
                "version",
            ),
        ),
        _sub("zpool", ("status", "list", "iostat", "get", "history", "version")),
        _sub("zfs", ("list", "get", "holds", "version")),
        *(_sub(name, ("list", "info", "history", "repolist")) for name in ("dnf", "yum")),
        Element(
            program="apt-get",
            flags=FlagRules(any=("-s", "--simulate", "--just-print", "--dry-run")),
            source=f"{PREFIX}readonly",
        ),
        Element(program="logrotate", flags=FlagRules(any=("-d", "--debug")), source=f"{PREFIX}readonly"),
        _sub("chronyc", ("tracking", "sources", "sourcestats", "activity", "ntpdata")),
        *(
            Element(program=name, flags=FlagRules(any=_VERSION_WORDS), source=f"{PREFIX}readonly")
            for name in _VERSIONS.split()
        ),
    )


# Tools that check or format the files of the workspace with the settings that lie there: those settings are code, so a
# rule that lists the group has to vouch for them. Not those that fetch what they run (npx), nor those that publish.
_CHECKERS = (
    "golangci-lint staticcheck revive gosec goimports gofumpt detekt checkstyle scalafmt swiftlint swiftformat clang-tidy "
    "clang-format cppcheck cpplint astyle stylelint biome oxlint markdownlint markdownlint-cli2 standard xo rubocop standardrb "
    "reek brakeman phpcs phpstan psalm php-cs-fixer pyright basedpyright ty bandit autopep8 yapf pydocstyle pycodestyle vulture "
    "codespell typos sqlfluff taplo cspell commitlint tflint tfsec kubeconform kubeval kube-linter djlint pyupgrade autoflake "
    "interrogate deptry nixfmt statix stylua luacheck selene ormolu hlint fourmolu proselint alex editorconfig-checker rustfmt "
    "shfmt"
)
# Settings, plug-ins, interpreters and reports that lie elsewhere; letters with a path attached.
_CHECKERS_REACH = (
    "--conf*", "-conf*", "--plugin*", "--load*", "-load*", "--output*", "--out", "--out-*ir*", "--outfile", "-out*",
    "--log-file*", "--report-file*", "--cache*", "--require*", "--rules*", "--ext*", "--custom*", "--src-path", "--chdir*",
    "--modules-download-mode", "--path-prefix", "--init*", "--addon*", "--project*", "--python*", "--install-types", "--serve*",
    "--lsp*", "--stdio", "--export*", "-export*", "--vfs*", "-vfs*", "--clang-*", "--bootstrap*", "--autoload*", "--standard",
    "--installed_paths", "--schema-*", "--create*", "-[a-zA-Z][./~]*", "-[./~]", "-c",
)  # fmt: skip


def _checkers() -> tuple[Element, ...]:
    """Every element of ``builtin:checkers``: over the whole folder, or over words that stay in it."""
    flags = FlagRules(deny=_CHECKERS_REACH)
    return tuple(
        Element(program=name, args=args, flags=flags, source=f"{PREFIX}checkers")
        for name in _CHECKERS.split()
        for args in ((), ("[!/~@]**",))
    )


GROUPS: Mapping[str, tuple[Element, ...]] = {f"{PREFIX}readonly": _readonly(), f"{PREFIX}checkers": _checkers()}


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
    ".codex/auth.json", ".gemini/oauth_creds.json", ".claude.json", ".openai/**", ".config/openai/**", ".config/github-copilot/**",
    ".codeium/**", ".huggingface/**", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".kaggle/**",
    # registries, forges and package indices
    ".dockercfg", ".config/containers/auth.json", ".config/helm/registry/config.json", ".config/glab-cli/**", ".config/tea/**",
    ".config/pip/pip.conf", ".pip/pip.conf", ".config/pypoetry/auth.toml", ".yarnrc.yml", ".bunfig.toml", ".subversion/auth/**",
    ".config/nix/nix.conf", ".config/configstore/**", ".config/NuGet/**", ".nuget/NuGet/**", ".sbt/.credentials", ".ivy2/.credentials",
    # clouds and hosts
    ".oci/**", ".s3cfg", ".boto", ".mc/config.json", ".config/doctl/**", ".config/hcloud/**", ".config/linode-cli", ".config/flyctl/**",
    ".fly/**", ".config/openstack/**", ".config/argocd/**", ".terraformrc", ".config/ngrok/**", ".ngrok2/**", ".cloudflared/**",
    ".config/netlify/**", ".netlify/**", ".local/share/com.vercel.cli/**", ".config/stripe/**", ".wrangler/**", ".config/.wrangler/**",
    ".railway/**", ".supabase/**", ".databrickscfg", ".snowsql/**", ".snowflake/**", ".dbt/profiles.yml", ".chef/**", ".pulumi/credentials.json",
    ".vault_pass*", ".vault-pass*", ".ansible_vault_pass*", ".config/coderv2/session", ".erlang.cookie",
    # browsers, mail, messages, wallets, password stores
    ".thunderbird/**", ".config/BraveSoftware/**", ".config/microsoft-edge/**", ".config/vivaldi/**", ".config/opera/**", "snap/firefox/**",
    "snap/chromium/**", ".var/app/org.mozilla.*/**", ".config/Signal/**", ".config/Slack/**", ".config/discord/**", ".purple/**", ".weechat/**",
    ".irssi/**", ".fetchmailrc", ".msmtprc", ".config/msmtp/**", ".mbsyncrc", ".esmtprc", ".smbcredentials", ".electrum/**", ".bitcoin/**",
    ".ethereum/**", ".config/solana/**", ".pki/**", ".local/share/kwalletd/**", ".config/Bitwarden/**", ".config/1Password/**", ".config/keybase/**",
    ".config/filezilla/**", ".config/remmina/**", ".local/share/remmina/**", ".remmina/**", ".vnc/passwd", ".config/tigervnc/passwd",
    ".Xauthority", ".ICEauthority",
    # what was typed or copied
    ".local/share/fish/fish_history", ".lesshst", ".viminfo", ".local/state/nvim/shada/**", ".irb_history", ".pry_history", ".local/share/recently-used.xbel",
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
    "/run/containerd/**", "/run/podman/**", "/run/crio/**", "/run/user/*/docker.sock", "/run/user/*/podman/**", "/run/user/*/containers/**",
    "/run/user/*/keyring/**", "/run/user/*/gnupg/**", "/etc/samba/smbpasswd", "/var/lib/samba/private/**", "/etc/mysql/debian.cnf",
    "/etc/postfix/sasl_passwd*", "/etc/exim4/passwd.client", "/etc/msmtprc", "/etc/ppp/*-secrets", "/etc/ipsec.secrets", "/etc/ipsec.d/private/**",
    "/etc/swanctl/private/**", "/etc/openvpn/**", "/etc/wireguard/**", "/etc/letsencrypt/accounts/**", "/etc/pki/tls/private/**", "/etc/sssd/**",
    "/etc/ldap.secret", "/etc/libnss-ldap.secret", "/etc/pam_ldap.secret", "/etc/docker/key.json", "/etc/gitlab/gitlab-secrets.json",
    "/etc/gitlab-runner/config.toml", "/etc/ceph/*.keyring", "/etc/chrony.keys", "/etc/chrony/chrony.keys", "/etc/ntp.keys", "/etc/iscsi/iscsid.conf",
    "/etc/apt/auth.conf*/**", "/etc/apt/auth.conf", "/etc/vault.d/**", "/etc/consul.d/**", "/etc/nomad.d/**", "/etc/salt/pki/**",
    "/etc/puppetlabs/puppet/ssl/private_keys/**", "/etc/cryptsetup-keys.d/**", "/etc/luks/**", "/etc/restic/**", "/etc/rclone.conf",
    "/var/lib/cloud/**", "/var/lib/NetworkManager/secret_key", "/var/lib/systemd/credential.secret", "/var/lib/bluetooth/**",
    "/var/lib/jenkins/secrets/**", "/var/lib/rancher/**", "/var/lib/etcd/**", "/var/lib/tor/**", "/dev/input/**", "/dev/uinput",
    "/dev/hidraw*", "/dev/usbmon*", "/dev/vcs*", "/dev/fb*", "/dev/sg*", "/dev/nbd*", "/dev/zram*", "/dev/pmem*", "/dev/bcache*", "/dev/rbd*",
    "/dev/drbd*", "/dev/mtd*",
)  # fmt: skip
_EXAMPLES = ("defau", "dist", "examp", "sampl", "schem", "templ")
"""How ``.env.default(s)``, ``.dist``, ``.example``, ``.sample``, ``.schema`` and ``.template`` begin; ``.env.temp`` is none."""


def _settings_but_examples() -> tuple[str, ...]:
    """``**/.env*`` but for the examples that repositories track: every name that leaves the way to one of them."""
    found = ["**/.env", "**/.env[!.]*", "**/.env.*[!a-z]*"]  # .env.example.local is no example
    shortest = min(map(len, _EXAMPLES))
    found += [f"**/.env.{'?' * size}" for size in range(shortest)]
    for known in dict.fromkeys(each[:size] for each in _EXAMPLES for size in range(len(each))):
        after = "".join(dict.fromkeys(each[len(known)] for each in _EXAMPLES if each.startswith(known)))
        found += [f"**/.env.{known}"] * (len(known) >= shortest) + [f"**/.env.{known}[!{after}]*"]
    return tuple(found)


_ANYWHERE_SECRETS = (
    *_settings_but_examples(), "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore", "**/*.kdbx", "**/id_rsa*",
    "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*", "**/.htpasswd", "**/.git-credentials", "**/.netrc", "**/kubeconfig*",
    "**/service-account*.json", "**/*.tfstate*", "**/*.ppk", "**/*.ovpn", "**/.dockercfg", "**/.dockerconfigjson", "**/.vault_pass*",
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
  state: [cd, pushd, popd, read, mapfile, exit, "set -e", "set -u", "set -o pipefail"]
  env:
    # The second row: what scripts call their own variables, and no program is known to heed.
    set: [LC_ALL, LANG, LANGUAGE, TZ, COLUMNS, LINES, NO_COLOR, FORCE_COLOR, CLICOLOR, TERM,
          NS, NAMESPACE, POD, DEPLOY, SVC, UNIT, APP, LOG, LOGFILE, FILE, FILES, DIR, SRC, DST, DEST, OUT, COUNT, TOTAL, N, PID,
          SINCE, UNTIL, NOW, TODAY, PATTERN, THRESHOLD, LIMIT, VERSION, COMMIT, BRANCH, TAG, NAME, LINE, RED, GREEN, YELLOW, NC,
          SHA, REV, HASH, DATE, STAMP, TIMESTAMP, RESULT, STATUS, CODE, START, END, SIZE, FOLDER, NUM, ID, IDS, PODS, JOB]
    force: {PAGER: cat, GIT_PAGER: cat, MANPAGER: cat, SYSTEMD_PAGER: "", LESSSECURE: "1"}
hazards: {ask: ["builtin:dangerous"], deny: [fork-bomb, disk-overwrite]}
"""

INCLUDES: Mapping[str, str] = {f"{PREFIX}base": _BASE, f"{PREFIX}secrets": _secrets()}
