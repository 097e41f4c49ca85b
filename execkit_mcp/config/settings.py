"""What the operator set, and where each value came from: flag, ``EXECKIT_*``, file or default.

``load_settings`` starts nothing and changes nothing. Relative paths of flags and variables are relative to
the current folder; a policy file named in the configuration file is relative to that file.
Over 400 lines, because each setting is read in its own words.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.config.http_settings import HttpSettings
from execkit_mcp.config.locations import config_dir, home_dir, state_dir
from execkit_mcp.config.settings_file import (
    CHANNELS,
    FENCES,
    MAX_SESSIONS,
    SettingsPart,
    TypedSecret,
    complain_of_text,
    is_policy_file,
    read_settings,
)
from execkit_mcp.config.strict_yaml import parse, refuse
from execkit_mcp.config.trusted_file import read_trusted
from execkit_mcp.config.webhook_fields import Webhook
from execkit_mcp.errors import ConfigError, ConfigNotFound
from execkit_mcp.model.shape import closest
from execkit_mcp.model.source import Problems

DEFAULT_POLICY = "workstation"
DEFAULT_TARGET = "local"
SANDBOX_TARGET = "sandbox"
DEFAULT_SESSIONS = 16
DEFAULT_OUTPUT_MB = 256
DEFAULT_APPROVAL_TTL_S = 300.0
DEFAULT_RECORDINGS_DAYS = 30.0
DEFAULT_RECORDINGS_MB = 2048
DEFAULT_SEGMENT_MB = 64
DEFAULT_APPROVAL_WAIT_S = 3.0
DEFAULT_FENCE = "auto"

_FROM_DEFAULT = "default"
# Every variable that is read, and the setting that it is.
VARIABLES: Mapping[str, str] = {
    "EXECKIT_CONFIG": "config",
    "EXECKIT_POLICY": "policy",
    "EXECKIT_TARGET": "target",
    "EXECKIT_WORKSPACE": "workspace",
    "EXECKIT_STATE_DIR": "state_dir",
    "EXECKIT_AUDIT_DIR": "audit_dir",
    "EXECKIT_FENCE": "fence",
    "EXECKIT_MAX_SESSIONS": "limits.sessions",
}
_PREFIX = "EXECKIT_"
_SET_IN_SESSIONS = frozenset({"EXECKIT_SESSION"})
_VARIABLE_OF = {setting: name for name, setting in VARIABLES.items()}
_PATHS = frozenset({"workspace", "state_dir", "audit_dir"})


class TargetSettings(Struct, frozen=True, kw_only=True):
    """A declared target.

    Attributes:
        name: what callers say.
        transport: local, ssh, docker, kubernetes or sandbox.
        policy: a shipped policy or an absolute file; None: the default policy.
        cwd: absolute folder in which sessions start; None: the workspace, or the home on another machine.
        options: what only its transport knows (``host``, ``port``, …), defaults filled in.
        stated: which of them the operator has written.
        origin: where it was declared.
    """

    name: str
    transport: str
    policy: str | None = None
    cwd: str | None = None
    options: Mapping[str, str | int | float] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()
    origin: str = _FROM_DEFAULT


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting; ``origins`` says which flag, variable or ``file:line:col`` each came from.

    Attributes:
        policy: the default policy: a shipped name or a file.
        default_target: the name of the target that is opened when none is named.
        targets: every declared target by name; ``local`` is always among them.
        workspace: absolute folder that ``${workspace}`` means.
        state_dir: absolute folder of approvals and ledger.
        audit_dir: absolute folder of the audit log.
        approval_channels: how a human may be asked.
        approval_ttl_s: seconds after which an unanswered request is a denial, unless its rule says another time.
        approval_wait_s: seconds that a call waits for a person unless it says itself.
        webhook: where questions are sent; None: nowhere.
        secret_env: names of variables whose values are secret.
        secret_files: absolute paths of files that hold a secret a line.
        typed_secrets: secrets that may be typed at hidden prompts, by the name that a caller says.
        fence: what holds beneath the shell of local sessions: auto, off, process or namespaces.
        max_sessions: how many sessions may be open at a time.
        idle_s: seconds without use after which a session is closed; None: never.
        memory_mb: megabytes that one session's processes may hold; None: no limit.
        total_memory_mb: the same for all sessions together.
        cpu_percent: share of one processor that a session gets; None: no limit.
        file_mb: megabytes that one file may grow to in a fenced session; None: no limit.
        disk_mb: megabytes on the disk that a sandbox's changes may take; None: no limit.
        output_mb: megabytes of one session's output that are kept.
        recordings: whether sessions are recorded.
        recordings_days: days after which a recording is removed; None: never.
        recordings_mb: megabytes of recordings that are kept; None: all.
        http: what `serve --transport http` listens on, and whom it believes.
        audit_keep_days: days after which a full segment of the audit log is removed; None: never.
        audit_keep_mb: megabytes of the audit log that are kept; None: all.
        audit_segment_mb: megabytes after which a new segment begins.
        otlp_endpoint: base URL of the OpenTelemetry collector that gets spans; None: as the variables say.
        toolsets: tools that are offered beside the core ones.
        config_file: the file that was read; None when there is none.
        origins: setting → where its value came from.
    """

    policy: str
    default_target: str
    targets: Mapping[str, TargetSettings]
    workspace: str
    state_dir: str
    audit_dir: str
    approval_channels: tuple[str, ...]
    approval_ttl_s: float
    approval_wait_s: float
    webhook: Webhook | None
    secret_env: tuple[str, ...]
    secret_files: tuple[str, ...]
    typed_secrets: Mapping[str, TypedSecret]
    max_sessions: int
    idle_s: float | None
    memory_mb: int | None
    total_memory_mb: int | None
    cpu_percent: int | None
    file_mb: int | None
    disk_mb: int | None
    output_mb: int
    recordings: bool
    recordings_days: float | None
    recordings_mb: int | None
    audit_keep_days: float | None
    audit_keep_mb: int | None
    audit_segment_mb: int
    otlp_endpoint: str | None
    config_file: str | None
    origins: Mapping[str, str]
    http: HttpSettings = HttpSettings()
    fence: str = DEFAULT_FENCE
    toolsets: tuple[str, ...] = ()

    def target(self, name: str) -> TargetSettings | None:
        """The declared target of that name, or None."""
        return self.targets.get(name)


def load_settings(
    *,
    config: str | None = None,
    policy: str | None = None,
    target: str | None = None,
    workspace: str | None = None,
    state_dir: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings that flags (the arguments), variables, file and defaults make together.

    Raises:
        ConfigNotFound: the configuration file that was named does not exist.
        ConfigPermissions: it can be written by others.
        ConfigError: something in it, in a variable or in a flag is wrong; a line for each problem.
    """
    environ = os.environ if environ is None else environ
    _refuse_misspelt(environ)
    flags = {
        "config": config,
        "policy": policy,
        "target": target,
        "workspace": workspace,
        "state_dir": state_dir,
    }
    given = _Given(flags=flags, environ=environ)
    file, part = _read_file(given, environ)
    given.file, given.part = file, part
    return _settings(given, environ)


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """A misspelt variable would silently leave a weaker setting in force."""
    for name in environ:
        if name.startswith(_PREFIX) and name not in VARIABLES and name not in _SET_IN_SESSIONS:
            near = closest(name.removeprefix(_PREFIX), [known.removeprefix(_PREFIX) for known in VARIABLES])
            if near:
                raise ConfigError(f"${name}: unknown variable{near}", hint=f"After {_PREFIX}; or unset it.")


def _read_file(given: "_Given", environ: Mapping[str, str]) -> tuple[str | None, SettingsPart | None]:
    named, origin = given.outside("config")
    path = Path(named).expanduser().absolute() if named is not None else config_dir(environ) / "config.yaml"
    try:
        data = read_trusted(path)
    except ConfigNotFound as error:
        if named is None:
            return None, None
        raise ConfigNotFound(f"{origin}: {error.message}", hint="Check the spelling.") from None
    problems = Problems()
    part = read_settings(parse(data, str(path)), problems)
    refuse(problems, ConfigError)
    return str(path), part


class _Given(Struct):
    """Where values may come from, and where the ones that were taken came from."""

    flags: Mapping[str, str | None]
    environ: Mapping[str, str]
    file: str | None = None
    part: SettingsPart | None = None
    origins: dict[str, str] = field(default_factory=dict)

    def outside(self, setting: str) -> tuple[str | None, str]:
        """A value from flag or variable with its origin; None when neither sets it."""
        flag = self.flags.get(setting)
        if flag is not None:
            return flag, f"--{setting.replace('_', '-')}"
        variable = _VARIABLE_OF.get(setting, "")
        value = self.environ.get(variable, "")
        return (value, f"${variable}") if value else (None, "")

    def inside(self, setting: str) -> object:
        """A value from the file; None when it does not set it."""
        return self.part.values.get(setting) if self.part else None

    def place(self, setting: str) -> str:
        """``file:line:col`` of a setting of the file."""
        return str(self.part.places[setting]) if self.part and setting in self.part.places else _FROM_DEFAULT

    def text(self, setting: str, default: str) -> str:
        """A text setting, paths made absolute; the origin is noted."""
        value, origin = self.outside(setting)
        if value is not None:
            value = os.path.abspath(_expanded(value, self.environ)) if setting in _PATHS else value  # noqa: PTH100 - drops ..
            complaint = complain_of_text(setting, value)
            if complaint:
                raise ConfigError(f"{origin}: {complaint}", hint="Correct it or leave it out.")
        else:
            stated = self.inside(setting)
            value, origin = (stated, self.place(setting)) if isinstance(stated, str) else (default, _FROM_DEFAULT)
            value = _expanded(value, self.environ) if setting in _PATHS else value
        self.origins[setting] = origin
        return value

    def sessions(self) -> int:
        """``limits.sessions``; the origin is noted."""
        value, origin = self.outside("limits.sessions")
        stated = self.inside("limits.sessions")
        if value is not None:
            if not (value.isascii() and value.isdecimal() and 1 <= int(value[:9]) <= MAX_SESSIONS):
                raise ConfigError(f'{origin}: "{value}" is not a number from 1 to {MAX_SESSIONS}.')
            self.origins["limits.sessions"] = origin
            return int(value)
        self.origins["limits.sessions"] = self.place("limits.sessions")
        return stated if isinstance(stated, int) else DEFAULT_SESSIONS

    def number(self, setting: str, default: float | None) -> float | None:
        """A number of the file; the origin is noted."""
        stated = self.inside(setting)
        self.origins[setting] = self.place(setting)
        return float(stated) if isinstance(stated, int | float) else default

    def word(self, setting: str, default: str) -> str:
        """A word of the file; the origin is noted."""
        stated = self.inside(setting)
        self.origins[setting] = self.place(setting)
        return stated if isinstance(stated, str) else default

    def listed(self, setting: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of the file; the origin is noted."""
        stated = self.inside(setting)
        self.origins[setting] = self.place(setting)
        return tuple(map(str, stated)) if isinstance(stated, tuple) else default


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _expanded(path: str, environ: Mapping[str, str]) -> str:
    return str(home_dir(environ)) + path[1:] if path == "~" or path.startswith("~/") else path


def _settings(given: _Given, environ: Mapping[str, str]) -> Settings:
    state = given.text("state_dir", str(state_dir(environ)))
    policy = _policy(given.text("policy", DEFAULT_POLICY), given, environ, is_from_file=":" in given.origins["policy"])
    targets = _targets(given, environ)
    chosen = given.text("target", DEFAULT_TARGET)
    if chosen not in targets:
        where = given.origins["target"]
        raise ConfigError(
            f'{where}: target: there is no target "{chosen}"{closest(chosen, targets) or "."}',
            hint=f"Declared: {', '.join(targets)}.",
        )
    ttl = given.inside("approvals.ttl_s")
    given.origins["approvals.ttl_s"] = given.place("approvals.ttl_s")
    wait = given.number("approvals.wait_s", DEFAULT_APPROVAL_WAIT_S)
    return Settings(
        policy=policy,
        default_target=chosen,
        targets=targets,
        workspace=given.text("workspace", str(Path.cwd())),
        state_dir=state,
        audit_dir=given.text("audit_dir", state),
        approval_channels=given.listed("approvals.channels", CHANNELS),
        approval_ttl_s=ttl if isinstance(ttl, float) else DEFAULT_APPROVAL_TTL_S,
        approval_wait_s=DEFAULT_APPROVAL_WAIT_S if wait is None else wait,
        webhook=_webhook(given, environ),
        secret_env=given.listed("secrets.env", ()),
        secret_files=tuple(_expanded(each, environ) for each in given.listed("secrets.files", ())),
        typed_secrets=_typed_secrets(given, environ),
        max_sessions=given.sessions(),
        idle_s=given.number("limits.idle_s", None),
        memory_mb=_whole(given.number("limits.memory_mb", None)),
        total_memory_mb=_whole(given.number("limits.total_memory_mb", None)),
        cpu_percent=_whole(given.number("limits.cpu_percent", None)),
        file_mb=_whole(given.number("limits.file_mb", None)),
        disk_mb=_whole(given.number("limits.disk_mb", None)),
        output_mb=_whole(given.number("limits.output_mb", DEFAULT_OUTPUT_MB)) or DEFAULT_OUTPUT_MB,
        recordings=given.word("audit.recordings", "on") == "on",
        recordings_days=given.number("audit.recordings_days", DEFAULT_RECORDINGS_DAYS),
        recordings_mb=_whole(given.number("audit.recordings_mb", DEFAULT_RECORDINGS_MB)),
        audit_keep_days=given.number("audit.keep_days", None),
        audit_keep_mb=_whole(given.number("audit.keep_mb", None)),
        audit_segment_mb=_whole(given.number("audit.segment_mb", DEFAULT_SEGMENT_MB)) or DEFAULT_SEGMENT_MB,
        otlp_endpoint=given.word("audit.otlp_endpoint", "") or None,
        fence=_fence(given),
        toolsets=given.listed("toolsets", ()),
        config_file=given.file,
        origins=given.origins,
        http=_http(given, environ),
    )


def _http(given: _Given, environ: Mapping[str, str]) -> HttpSettings:
    prefix = "http."
    stated = {} if given.part is None else given.part.values
    values = {key.removeprefix(prefix): value for key, value in stated.items() if key.startswith(prefix)}
    for name in HttpSettings.__struct_fields__:
        given.origins[prefix + name] = given.place(prefix + name)
    for name in ("tls_cert", "tls_key"):
        path = values.get(name)
        if isinstance(path, str):
            values[name] = _expanded(path, environ)
    return replace(HttpSettings(), **values)


def _webhook(given: _Given, environ: Mapping[str, str]) -> Webhook | None:
    stated = given.inside("approvals.webhook")
    given.origins["approvals.webhook"] = given.place("approvals.webhook")
    if not isinstance(stated, Webhook):
        return None
    file = stated.secret_file
    return replace(stated, secret_file=_expanded(file, environ) if file is not None else None)


def _fence(given: _Given) -> str:
    word = given.text("fence", DEFAULT_FENCE)
    if word not in FENCES:
        raise ConfigError(
            f'{given.origins["fence"]}: "{word}" is no fence{closest(word, FENCES) or "."}',
            hint=f"Write one of {', '.join(FENCES)}.",
        )
    return word


def _typed_secrets(given: _Given, environ: Mapping[str, str]) -> dict[str, TypedSecret]:
    stated = given.inside("secrets.typed")
    given.origins["secrets.typed"] = given.place("secrets.typed")
    if not isinstance(stated, dict):
        return {}
    return {
        name: replace(each, file=_expanded(each.file, environ) if each.file is not None else None)
        for name, each in stated.items()
    }


def _policy(name: str, given: _Given, environ: Mapping[str, str], *, is_from_file: bool) -> str:
    """A policy's name as it is, a file relative to what named it."""
    if not is_policy_file(name):
        return name
    base = Path(given.file).parent if is_from_file and given.file else Path.cwd()
    return str(base / _expanded(name, environ))


_OPTION_DEFAULTS: Mapping[str, Mapping[str, str | int]] = {
    "ssh": {"host": "{name}", "port": 22},
    "docker": {"container": "{name}"},
    "kubernetes": {"pod": "{name}"},
}


def _targets(given: _Given, environ: Mapping[str, str]) -> dict[str, TargetSettings]:
    targets = {name: TargetSettings(name=name, transport=name) for name in (DEFAULT_TARGET, SANDBOX_TARGET)}
    for name, part in (given.part.targets if given.part else {}).items():
        defaults = {
            key: value.format(name=name) if isinstance(value, str) else value
            for key, value in _OPTION_DEFAULTS.get(part.transport, {}).items()
        }
        stated = {
            key: _expanded(value, environ) if isinstance(value, str) else value for key, value in part.options.items()
        }
        targets[name] = TargetSettings(
            name=name,
            transport=part.transport,
            policy=_policy(part.policy, given, environ, is_from_file=True) if part.policy is not None else None,
            cwd=_expanded(part.cwd, environ) if part.cwd is not None and part.transport == "local" else part.cwd,
            options={**defaults, **stated},
            stated=frozenset(stated),
            origin=str(part.place),
        )
    return targets
