# ruff: noqa: E501 - a table reads one row a line
"""Which variables are dangerous to set, and the environment that every session starts with.

A variable that makes some program run, load or trust something else is refused however it is reached: in
front of a command, on its own, through ``export``, ``read``, ``for``, ``printf -v``, ``mapfile`` or ``env``.
"""

import re
from collections.abc import Mapping
from functools import cache

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.document import PolicyDocument

# One row a family: what it catches, an example, a name that looks alike and is harmless.
FAMILIES: tuple[tuple[str, str, str], ...] = (
    (r"PATH|CDPATH|MANPATH|INFOPATH|FPATH|.*_PATH|.*PATH_.*|CLASSPATH|LIBPATH|GOPATH|NODE_PATH", "NODE_PATH", "PATHOS"),
    (r"histchars|auto_resume|MAILPATH|MAIL|MAILCHECK", "MAILPATH", "mailpath"),
    (r"IFS|ENV|HOME|SHELL|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|PWD|OLDPWD", "IFS", "ENVNAME"),
    (r"LD_.*|DYLD_.*|GCONV_PATH|NLSPATH|LOCPATH|LOCALDOMAIN|RES_OPTIONS|HOSTALIASES|MALLOC_.*|GLIBC_.*", "LD_PRELOAD", "LDAP"),
    (r"BASH.*|PS[0-4]|PROMPT_COMMAND|PROMPT_DIRTRIM|GLOBIGNORE|EXECIGNORE|FIGNORE|HIST.*|INPUTRC|READLINE_.*", "PS4", "PSQL"),
    (r"COMP_.*|COMPREPLY|DIRSTACK|FUNCNAME|FUNCNEST|GROUPS|OPTIND|OPTARG|OPTERR|MAPFILE|REPLY_.*|TIMEFORMAT", "TIMEFORMAT", "TIME"),
    (r"__ek_.*", "__ek_p", "ek_p"),  # what the words around a command keep for themselves
    (r"UID|EUID|PPID|PIPESTATUS|COPROC|TMOUT|IGNOREEOF", "TMOUT", "TIMEOUT"),
    (r".*PAGER|.*EDITOR|VISUAL|.*BROWSER|LESS.*|MORE|MOST_.*|MANOPT|MANROFFOPT|GROFF_.*|.*_OPENER|FCEDIT", "LESSOPEN", "UNLESS"),
    (r"GIT_.*|HG.*|SVN_.*|CVS_.*|GH_(?:HOST|PAGER|EDITOR|BROWSER|CONFIG_DIR|PATH)", "GIT_SSH_COMMAND", "GITTER"),
    (r"PYTHON.*|PIP_.*|UV_.*|POETRY_.*|VIRTUAL_ENV|CONDA_.*|PYTEST_.*|TOX_.*", "PYTHONSTARTUP", "PYTH"),
    (r"PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|RAILS_.*|RAKE.*|LUA_.*|TCL.*|PHP_INI_SCAN_DIR|PHPRC|R_.*|JULIA_.*", "PERL5OPT", "PEARL"),
    (r"NODE_OPTIONS|NODE_EXTRA_CA_CERTS|NODE_REPL.*|(?i:NPM_.*)|YARN_.*|DENO_.*|BUN_.*|ELECTRON_.*", "NODE_OPTIONS", "NODE_ENV"),
    (r"JAVA.*|_JAVA_OPTIONS|JDK_.*|MAVEN_.*|GRADLE_.*|ANT_.*|SBT_.*|KOTLIN_.*|DOTNET_.*|CORECLR_.*|COMPLUS_.*", "JAVA_TOOL_OPTIONS", "JAV"),
    (r"RUSTC.*|RUSTFLAGS|RUSTDOC.*|CARGO_(?!TERM_).*|GOFLAGS|GOENV|GOROOT|GOPROXY|GOTOOL.*|CGO_(?!ENABLED).*", "RUSTC_WRAPPER", "RUST_LOG"),
    (r"MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|CMAKE_.*|CCACHE_.*", "MAKEFLAGS", "MAKER"),
    (r"KUBE.*|DOCKER_.*|CONTAINER.*|BUILDKIT_.*|COMPOSE_.*|HELM_.*|TF_CLI_.*|TF_PLUGIN.*|ANSIBLE_.*|VAULT_.*", "KUBECONFIG", "TF_VAR_size"),
    (r"AWS_(?:CONFIG|SHARED|ENDPOINT|CA|WEB).*|AZURE_CONFIG.*|GOOGLE_APPLICATION.*|CLOUDSDK_.*|BOTO_.*", "AWS_CONFIG_FILE", "AWS_REGION"),
    (r"SSH_.*|SSHPASS|SUDO_.*|GPG_.*|GNUPG.*|DISPLAY|XAUTHORITY|DBUS_.*|WAYLAND_.*", "SSH_ASKPASS", "SSHX"),
    (r"(?i:.*_proxy)|SSL_.*|CURL_.*|WGETRC|REQUESTS_CA_BUNDLE|OPENSSL_.*|NETRC", "https_proxy", "PROXYISH"),
    (r"PG.*|MYSQL_.*|REDISCLI_.*|SQLITE_.*|MONGO.*", "PGHOST", "PIG"),
    (r"XDG_.*|SYSTEMD_.*|JOURNAL_.*|TERMINFO.*|TERMCAP|ZDOTDIR|EXECKIT_.*|NOTIFY_SOCKET", "XDG_CONFIG_HOME", "XD"),
    (r"RIPGREP_CONFIG_PATH|ACKRC|GREP_OPTIONS|GREP_COLORS?|FZF_.*|BAT_.*|TAR_OPTIONS|RSYNC_.*|UNZIP.*|ZIP.*OPT|GZIP|BZIP2?|XZ_.*|TAPE|POSIX_.*|VIMINIT|EXINIT|MYVIMRC|VIM|VIMRUNTIME|EMACS.*|NVIM_.*|SCREENRC|TMUX.*|FORTUNE.*|AWKPATH|AWKLIBPATH|AWK_.*", "TAR_OPTIONS", "TAROT"),
)  # fmt: skip


@cache
def _dangerous() -> re.Pattern[str]:
    """All families as one expression, compiled when a name is first asked about."""
    return re.compile("|".join(f"(?:{pattern})" for pattern, _, _ in FAMILIES))


_LOCALE_NAME = lazy_regex(r"LANG|LC_[A-Z]+")
# In Shift JIS, Big5, GBK and their kin a backslash or backquote may be the second half of a character, so that the
# shell itself would read a text otherwise than it was judged.
_LOCALE = lazy_regex(
    r"|C|POSIX|(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.(?i:utf-?8|iso-?8859-?[0-9]{1,2})(?:@[a-z]+)?|(?!zh)[a-z]{2,3}(?:_[A-Z]{2})?"
)

# A zone by its name or its rule: every program that tells the time opens what else TZ names, be it a device.
_ZONE = lazy_regex(r"(?!.*[.][.])(?::?/usr/share/zoneinfo/|:?/etc/localtime\Z)?(?!:?/)[\w+,./:<> -]*")

_IDENTIFIER = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*")

# What every session starts with, whatever its policy says: no pagers, no git configuration that runs something.
BASE_FORCE: Mapping[str, str] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "SYSTEMD_LESS": "FRXMK",
    "LESSSECURE": "1",
    "LESSOPEN": "",
    "LESSCLOSE": "",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}

# Repository configuration that makes git run a program, overridden with higher precedence than any file.
GIT_HARDENING: tuple[tuple[str, str], ...] = (
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.hooksPath", "/dev/null"),
    ("core.editor", "false"),
    ("core.askPass", "false"),
    ("core.sshCommand", "ssh"),
    ("credential.helper", ""),
    ("protocol.ext.allow", "never"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("sequence.editor", "false"),
    ("interactive.diffFilter", "cat"),
    ("core.alternateRefsCommand", "true"),
    ("diff.submodule", "short"),
    ("log.diffMerges", "separate"),
    ("help.format", "man"),
)


def is_identifier(name: str) -> bool:
    """Whether ``name`` is a plain variable name: no subscript, nothing that the shell would evaluate."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_dangerous(name: str) -> bool:
    """Whether setting ``name`` makes some program run, load or trust something else."""
    return _dangerous().fullmatch(name) is not None


def is_locale(name: str) -> bool:
    """Whether the variable picks the characters that the shell itself reads texts in, or the catalogues it loads."""
    return name == "LANGUAGE" or _LOCALE_NAME.fullmatch(name) is not None


def is_plain_locale(name: str, value: str) -> bool:
    """Whether the value is one with which a text means what it meant when it was judged."""
    if name == "LANGUAGE":
        return "/" not in value
    return _LOCALE.fullmatch(value) is not None


def is_plain_zone(value: str) -> bool:
    """Whether the value of TZ names a time zone, and no file elsewhere."""
    return _ZONE.fullmatch(value) is not None


def session_environment(document: PolicyDocument) -> dict[str, str]:
    """The variables that are forced into a session under this policy; the policy's own ``force`` wins."""
    forced = dict(BASE_FORCE)
    forced["GIT_CONFIG_COUNT"] = str(len(GIT_HARDENING))
    for index, (key, value) in enumerate(GIT_HARDENING):
        forced[f"GIT_CONFIG_KEY_{index}"] = key
        forced[f"GIT_CONFIG_VALUE_{index}"] = value
    forced.update(document.shell.env_force)
    return forced
