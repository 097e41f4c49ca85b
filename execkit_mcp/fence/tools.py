"""What tools run and use as part of their own work: tables for the plan; this module is only data."""

from collections.abc import Mapping

__all__ = [
    "BUILDS",
    "CACHES",
    "CREDENTIALS",
    "NETWORKED",
    "NETWORK_OBSERVERS",
    "OBSERVERS",
    "RAW_NETWORK",
    "RUNS",
    "TELLS",
]

# Programs whose use is to run what the workspace holds.
BUILDS = frozenset(
    [
        "make",
        "gmake",
        "cmake",
        "ctest",
        "ninja",
        "meson",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "pytest",
        "py.test",
        "tox",
        "nox",
        "cargo",
        "go",
        "tsc",
        "eslint",
        "prettier",
        "ruff",
        "mypy",
        "gradle",
        "mvn",
        "ant",
        "sbt",
        "bazel",
        "just",
        "rake",
        "bundle",
        "mix",
        "dotnet",
        "jest",
        "vitest",
        "mocha",
        "phpunit",
        "composer",
        "swift",
        "zig",
        "pre-commit",
        "hatch",
        "poetry",
        "uv",
        "pdm",
    ]
)

# Subcommands of those that, without flags, print settings and run nothing of the workspace.
TELLS = {"go": frozenset({"version", "env"})}

# What those run beside the workspace's own files.
RUNS = frozenset(
    ["sh", "bash", "dash", "env", "true", "false", "test", "[", "echo", "printf", "cat", "head", "tail", "tee", "cp", "mv", "rm", "ln", "mkdir", "rmdir", "touch", "chmod", "install", "ls", "find", "xargs", "sort", "uniq", "wc", "cut", "tr", "sed", "grep", "egrep", "fgrep", "awk", "gawk", "mawk", "expr", "seq", "date", "sleep", "pwd", "basename", "dirname", "realpath", "readlink", "mktemp", "uname", "arch", "nproc", "id", "whoami", "hostname", "stat", "cmp", "diff", "patch", "od", "xxd", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "tar", "gzip", "gunzip", "bzip2", "xz", "zstd", "unzip", "zip", "file", "which", "tput", "stty", "nice", "nohup", "timeout", "time", "ps", "getconf", "cc", "c89", "c99", "gcc", "g++", "c++", "cpp", "clang", "clang++", "as", "ld", "ld.bfd", "ld.gold", "ld.lld", "mold", "gold", "ar", "ranlib", "strip", "nm", "objcopy", "objdump", "readelf", "size", "pkg-config", "pkgconf", "m4", "bison", "flex", "yacc", "autoconf", "automake", "libtool", "collect2", "cc1", "cc1plus", "lto1", "lto-wrapper", "ccache", "make", "gmake", "cmake", "ctest", "ninja", "meson", "python", "python3", "pip", "pip3", "pytest", "tox", "nox", "node", "nodejs", "npm", "npx", "pnpm", "yarn", "corepack", "perl", "ruby", "java", "javac", "jar", "go", "gofmt", "cargo", "rustc", "rustdoc", "rustup", "rustfmt", "clippy-driver", "cargo-clippy", "cargo-fmt", "git", "tclsh", "lua", "php", "dotnet", "mvn", "gradle", "esbuild", "tsc", "eslint", "prettier", "ruff", "mypy", "link", "compile", "asm", "cgo", "vet", "cover"]
) | {f"{name}-{version}" for name in ("gcc", "g++", "cpp", "clang") for version in range(9, 20)} | {
    f"x86_64-linux-gnu-{name}" for name in ("gcc", "g++", "cpp", "as", "ld", "ar", "ranlib", "strip", "nm", "objdump",
                                            "ld.bfd", "gcc-12", "g++-12", "cpp-12", "gcc-13", "gcc-14", "pkg-config")
} | {f"python3.{minor}" for minor in range(9, 16)}  # fmt: skip

# Where those keep what they fetched and built, below the home folder.
CACHES = (
    ".cache", ".npm", ".pnpm-store", ".local/share/pnpm", ".yarn", ".cargo/registry", ".cargo/git", ".rustup/tmp", "go/pkg",
    ".gradle/caches", ".gradle/daemon", ".gradle/wrapper", ".m2/repository", ".ivy2/cache", ".sbt/boot", ".dotnet",
    ".nuget/packages", ".hex", ".mix", ".bun",
)  # fmt: skip

# Credentials that a program uses by itself: the policy hides them from every path, but not from it.
CREDENTIALS: Mapping[str, tuple[str, ...]] = {
    "kubectl": ("~/.kube", "~/.aws", "~/.config/gcloud", "~/.azure", "**/kubeconfig*"),
    "helm": ("~/.kube", "~/.config/helm", "**/kubeconfig*"),
    "docker": ("~/.docker", "/run/docker.sock", "/var/run/docker.sock"),
    "docker-compose": ("~/.docker", "/run/docker.sock", "/var/run/docker.sock"),
    "podman": ("/run/podman", "/run/user", "~/.config/containers"),
    "gh": ("~/.config/gh",),
    "glab": ("~/.config/glab-cli",),
    "ssh": ("~/.ssh",),
    "scp": ("~/.ssh",),
    "sftp": ("~/.ssh",),
    "rsync": ("~/.ssh",),
    "npm": ("~/.npmrc",),
    "pnpm": ("~/.npmrc",),
    "yarn": ("~/.npmrc", "~/.yarnrc.yml"),
    "pip": ("~/.config/pip", "~/.pip"),
    "cargo": ("~/.cargo/credentials", "~/.cargo/credentials.toml"),
    "mvn": ("~/.m2/settings.xml",),
    "gradle": ("~/.gradle/gradle.properties",),
    "aws": ("~/.aws",),
    "gcloud": ("~/.config/gcloud",),
    "az": ("~/.azure",),
    "psql": ("~/.pgpass",),
    "mysql": ("~/.my.cnf",),
    "terraform": ("~/.terraform.d", "~/.terraformrc", "~/.aws", "**/*.tfstate*"),
    "tofu": ("~/.terraform.d", "~/.tofurc", "~/.aws", "**/*.tfstate*"),
    "gpg": ("~/.gnupg",),
}

NETWORKED = frozenset(
    [
        "curl",
        "wget",
        "ssh",
        "scp",
        "sftp",
        "rsync",
        "kubectl",
        "helm",
        "gh",
        "glab",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "uv",
        "poetry",
        "cargo",
        "go",
        "apt",
        "apt-get",
        "psql",
        "mysql",
        "redis-cli",
        "mongosh",
        "dig",
        "host",
        "nslookup",
        "ping",
        "traceroute",
        "tracepath",
        "mtr",
        "nc",
        "ncat",
        "socat",
        "telnet",
        "openssl",
        "aws",
        "gcloud",
        "az",
        "terraform",
        "mvn",
        "gradle",
        "http",
        "https",
        "ftp",
        "lftp",
        "whois",
    ]
)
# Programs that show the machine's own network: in a network namespace they would show an empty one.
NETWORK_OBSERVERS = frozenset({"ss", "netstat", "ip", "ifconfig", "route", "arp", "lsof", "nstat", "ethtool"})
# Those of them that speak to hosts in ways of their own, which no proxy passes on.
RAW_NETWORK = frozenset(
    [
        "ssh", "scp", "sftp", "rsync", "psql", "mysql", "redis-cli", "mongosh", "dig", "host", "nslookup", "ping",
        "traceroute", "tracepath", "mtr", "nc", "ncat", "socat", "telnet", "ftp", "lftp", "whois",
    ]
)  # fmt: skip
GIT_NETWORK = frozenset({"fetch", "pull", "push", "clone", "ls-remote", "remote", "submodule"})

# Programs that look at the machine's own processes and network: in namespaces they would see nothing of them.
OBSERVERS = frozenset(
    [
        "ps",
        "top",
        "htop",
        "pgrep",
        "pidof",
        "pstree",
        "ss",
        "netstat",
        "lsof",
        "systemctl",
        "journalctl",
        "ip",
        "ipcs",
        "lsns",
    ]
)
