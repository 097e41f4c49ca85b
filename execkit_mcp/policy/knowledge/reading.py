"""The state of reading one argv: what has been found so far, and how marks become effects."""

from collections.abc import Iterable

from execkit_mcp.model import EffectKind, ReasonCode
from execkit_mcp.policy.knowledge.invocation import (
    PICKED_BY,
    Arg,
    ArgEffect,
    ArgKind,
    FlagUse,
    Inner,
    Invocation,
    Problem,
    static,
)
from execkit_mcp.policy.knowledge.spec import Program

HERE = static(".")
UNSEEN = Arg(ArgKind.DYNAMIC, "<input>", "", is_single=False)
"""Words that nobody has seen: what xargs appends. May be none, one or many, options or not."""

_PATHS = {
    "r": (EffectKind.READ, False),
    "f": (EffectKind.READ, False),
    "R": (EffectKind.READ, True),
    "w": (EffectKind.WRITE, False),
    "o": (EffectKind.WRITE, False),
    "d": (EffectKind.WRITE, True),
}
_STREAMS = frozenset("ro")
_BASH = frozenset({"bash", "rbash"})
_PLAIN = {
    "N": (EffectKind.NET, "configured"),
    "C": (EffectKind.NET, PICKED_BY),
    "U": (EffectKind.NET, "unknown"),
    "x": (EffectKind.EXEC, "unknown"),
}
_NAMED = {"n": EffectKind.NET, "s": EffectKind.STATE, "p": EffectKind.PROCESS, "?": EffectKind.UNKNOWN}


class Reading:
    """One argv being read. Only ``knowledge/`` sees it; callers get the ``Invocation``."""

    __slots__ = (
        "args",
        "effects",
        "flags",
        "inner",
        "is_deep",
        "modes",
        "name",
        "operands",
        "problems",
        "program",
        "subcommand",
        "switched_off",
        "terminated_at",
    )

    def __init__(self, program: Program, name: str, args: tuple[Arg, ...]) -> None:
        self.program = program
        self.name = name
        self.args = args
        self.subcommand: tuple[str, ...] = ()
        self.flags: list[FlagUse] = []
        self.operands: list[Arg] = []
        self.effects: list[ArgEffect] = []
        self.inner: list[Inner] = []
        self.problems: list[Problem] = []
        self.modes: set[str] = set()
        self.switched_off: set[tuple[str, ...]] = set()
        self.is_deep = False
        self.terminated_at: int | None = None

    # ── findings ──────────────────────────────────────────────────────────────────────────────────────────

    def effect(self, kind: EffectKind, arg: Arg | None = None, note: str = "", *, is_deep: bool = False) -> None:
        """Add an effect."""
        self.effects.append(ArgEffect(kind=kind, arg=arg, note=note, is_recursive=is_deep))

    def unknown_flag(self, word: str) -> None:
        """Note a flag that the table does not have."""
        self.problems.append(
            Problem(code=ReasonCode.UNKNOWN_FLAG, message=f"{self.name}: the flag {word} is not known")
        )

    def dynamic(self, word: Arg, why: str) -> None:
        """Note a word that is not known before the shell runs it."""
        self.problems.append(Problem(code=ReasonCode.DYNAMIC_WORD, message=f"{self.name}: {word.text} {why}"))

    def wrapper(self, why: str) -> None:
        """Note a wrapped command that cannot be told, which is also an inner command that is unknown."""
        self.problems.append(Problem(code=ReasonCode.WRAPPER, message=f"{self.name}: {why}"))
        self.inner.append(Inner(is_unknown=True, via=self.name))

    def runs(
        self,
        argv: Iterable[Arg],
        *,
        via: str = "",
        env: tuple[tuple[str, Arg], ...] = (),
        has_appended_input: bool = False,
    ) -> None:
        """Add an inner command."""
        self.inner.append(
            Inner(
                argv=tuple(argv),
                via=via or self.name,
                sets_env=env,
                is_remote=self.program.is_remote,
                has_appended_input=has_appended_input,
            )
        )

    def runs_script(self, script: Arg, *, via: str = "") -> None:
        """Add an inner shell text; one that is not static is unknown."""
        is_static = script.is_static
        self.inner.append(
            Inner(
                script=script if is_static else None,
                is_bash=self.name in _BASH,
                is_unknown=not is_static,
                via=via or self.name,
                is_remote=self.program.is_remote,
            )
        )
        if not is_static:
            self.dynamic(script, "would run as shell text")

    # ── marks ─────────────────────────────────────────────────────────────────────────────────────────────

    def mark(self, marks: str, arg: Arg | None, via: str = "") -> None:
        """Turn marks on a word (or on no word) into effects and inner commands."""
        for mark in marks:
            path = _PATHS.get(mark)
            if path is not None:
                if arg is None:
                    self.effect(path[0], HERE, via, is_deep=mark != "f" or self.is_deep)
                elif not (mark in _STREAMS and arg.text == "-" and arg.is_static):
                    self.effect(path[0], arg, via, is_deep=path[1] or self.is_deep)
            elif mark in _PLAIN:
                kind, note = _PLAIN[mark]
                self.effect(kind, None if mark != "C" else arg, note if mark != "C" else f"{note}{via}")
            elif mark in _NAMED:
                self.effect(_NAMED[mark], arg, via)
            elif mark in "u@F":
                {"u": self.url, "@": self.at_file, "F": self.file_or_url}[mark](arg)
            elif mark == "c" and arg is not None:
                self.runs_script(arg, via=f"{self.name} {via}".rstrip())

    def url(self, arg: Arg | None) -> None:
        """A URL: a connection to its host, or for ``file:`` a read."""
        if arg is None:
            self.effect(EffectKind.NET, None, "unknown")
            return
        lowered = arg.prefix.lower()
        if lowered.startswith("file:"):
            path = arg.text[5:]
            if path.startswith("//"):
                path = "/" + path[2:].partition("/")[2]
            is_plain = arg.is_static and "%" not in path and not set(path) & set("{}[]?#")
            self.effect(EffectKind.READ, static(path) if is_plain else Arg(ArgKind.DYNAMIC, arg.text))
            return
        host = host_of(arg)
        if host is None:
            self.effect(EffectKind.NET, arg, "unknown")
            # A pattern that matches no file stays as it is: the brackets of an address look like one.
            literal = host_of(static(arg.text.replace("\\", ""))) if arg.kind is ArgKind.GLOB else None
            if literal is not None:
                self.effect(EffectKind.NET, static(literal))
        else:
            self.effect(EffectKind.NET, static(host))

    def file_or_url(self, arg: Arg | None) -> None:
        """A word that is an address where it has a scheme, and a path else."""
        is_url = arg is not None and (":/" in arg.text or not (arg.is_static or arg.prefix))
        self.mark("u" if is_url else "r", arg)

    def at_file(self, arg: Arg | None) -> None:
        """A value whose leading ``@`` makes it a file to read (``curl -d @file``)."""
        if arg is None:
            return
        if arg.prefix.startswith("@"):
            rest = Arg(arg.kind, arg.text[1:], arg.prefix[1:], is_single=arg.is_single)
            self.mark("r", rest)
        elif not arg.is_static and not arg.prefix:
            self.effect(EffectKind.READ, arg)

    def bare_suffix(self) -> None:
        """A suffix with a slash makes ``name/../../other`` of the name that a file is kept under."""
        for suffix in self.flag_values("-S", "--suffix"):
            if not suffix.is_static or "/" in suffix.text:
                self.dynamic(suffix, "is a suffix that may lead to another folder")

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────

    def flag_values(self, *names: str) -> list[Arg]:
        """Values of the flags that have one of these spellings, in order."""
        return [use.value for use in self.flags if use.value is not None and any(n in use.names for n in names)]

    def has(self, *names: str) -> bool:
        """Whether a flag with one of these spellings was given, and not switched off (``--quiet=false``)."""
        return any(name in use.names and use.names not in self.switched_off for use in self.flags for name in names)

    def finish(self) -> Invocation:
        """What was found, frozen."""
        return Invocation(
            program=self.name,
            subcommand=self.subcommand,
            flags=tuple(self.flags),
            operands=tuple(self.operands),
            effects=tuple(self.effects),
            inner=tuple(self.inner),
            problems=tuple(self.problems),
            is_wrapper=self.program.is_wrapper,
        )


def rest_of(arg: Arg, length: int) -> Arg:
    """The word without its first ``length`` characters, which are known: an attached value."""
    if arg.is_static:
        return static(arg.text[length:])
    text = arg.text[length:] if arg.kind is ArgKind.GLOB else arg.text
    return Arg(arg.kind, text, arg.prefix[length:], is_single=arg.is_single)


def host_of(arg: Arg) -> str | None:
    """``host`` or ``host:port`` of a URL (scheme optional), or None where that is not settled."""
    text = arg.prefix if not arg.is_static else arg.text
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    authority = rest
    for end in "/?#":
        authority = authority.partition(end)[0]
    is_settled = arg.is_static or len(authority) < len(rest)
    host = authority.rpartition("@")[2]
    if not is_settled or not host or set(host) & set("{}[]\\ %*") - set("[]" if host.startswith("[") else ""):
        return None
    port = {"http": "80", "https": "443", "ftp": "21"}.get(scheme.lower(), "")
    has_port = ":" in host.rpartition("]")[2]
    return host if has_port or not port or not separator else f"{host}:{port}"
