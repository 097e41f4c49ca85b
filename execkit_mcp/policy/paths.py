"""Where a word points to, and whether a list of path patterns covers it.

Theory of operation. A word becomes a ``Place``: the absolute path it spells (``lexical``), and the paths that
the kernel may reach through it (``others``: doors such as ``/proc/self/root`` opened, symbolic links followed
on the target). A grant must cover every spelling; ``never`` needs to cover one.

Three shapes of operand are judged without looking at a disk:
    * a plain path;
    * a glob: granted if a pattern contains all it can match, touched if a ``never`` pattern meets it;
    * a recursive operand: like the glob ``PATH/**``.
Patterns that begin with ``**/`` cannot be told for globs without a hint in the name, nor for recursive
operands: then ``touches`` says ``undecided`` and the decision carries a warning, because only the fence can
hold that.

Longer than most, because places, patterns and their intersection are one idea.
"""

import operator
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct, field

from execkit_mcp.policy import globs
from execkit_mcp.policy.path_tree import PathTree

UNKNOWN_HOME = "/~"
_MAX_ANSWERS = 1024
_LINK_DEPTH, _DOOR_DEPTH, _TASK_DEPTH = 2, 3, 4  # /var/run, /proc/self/root, /proc/self/task/9
# Somebody else's whole home: refused unless it turns out to be the session's own.
_ALL_OF_A_HOME = frozenset({"/root/**"})
_DOUBLE = "**"
_PROCESS = re.compile(r"self|thread-self|\d+")
_STREAMS = {"/dev/stdin": "0", "/dev/stdout": "1", "/dev/stderr": "2"}
_LINKS = {"/var/run": "/run", "/var/lock": "/run/lock", "/etc/mtab": "/proc/self/mounts"}
_SPECIAL_SPELLING = re.compile(r"//|/\.|/proc|/dev|/var/run|/var/lock|/etc/mtab|/\Z")


class Place(Struct, frozen=True, kw_only=True):
    """Where a word points to.

    Attributes:
        lexical: the absolute path as spelled; for a glob, the pattern.
        others: further paths that it reaches (doors and links followed).
        is_glob: whether ``lexical`` is a pattern.
        is_recursive: whether everything below counts.
        is_stream: whether it is one of the command's own standard streams or ``/dev/null``.
    """

    lexical: str
    others: tuple[str, ...] = ()
    is_glob: bool = False
    is_recursive: bool = False
    is_stream: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every path that counts."""
        return (self.lexical, *self.others)


class PathPattern(Struct, frozen=True):
    """One pattern, home and workspace filled in; ``head`` is what stands before any wildcard."""

    source: str
    text: str
    segments: tuple[str, ...]
    is_floating: bool
    head: tuple[str, ...]


class PathSet(Struct, frozen=True, eq=False):
    """A list of patterns, ready to match."""

    patterns: tuple[PathPattern, ...]
    tree: PathTree
    answers: dict[Place, tuple[PathPattern | None, bool]] = field(default_factory=dict)
    by_head: dict[str, list[int]] = field(default_factory=dict)

    def matches(self, path: str) -> bool:
        """Whether some pattern matches the plain ``path``."""
        return self.tree.first(path) is not None

    def covers(self, place: Place) -> bool:
        """Whether every spelling of the place, and all that it can match, lies inside the patterns."""
        if not place.is_glob and not place.is_recursive:
            return all(map(self.matches, place.spellings))
        return all(
            any(_contains(pattern, spelling, place) for pattern in self.patterns) for spelling in place.spellings
        )

    def touched_by(self, place: Place) -> tuple[PathPattern | None, bool]:
        """The first pattern that the place touches, and whether it could not be told for some pattern."""
        if not place.is_glob and not place.is_recursive:
            first = min(
                (number for path in place.spellings if (number := self.tree.first(path)) is not None), default=None
            )
            return (None if first is None else self.patterns[first]), False
        answer = self.answers.get(place)
        if answer is None:
            if len(self.answers) >= _MAX_ANSWERS:
                self.answers.clear()
            answer = self.answers[place] = self._search(place)
        return answer

    def _search(self, place: Place) -> tuple[PathPattern | None, bool]:
        undecided = False
        for spelling in place.spellings:
            is_recursive = place.is_recursive
            wanted = _split(spelling) if place.is_glob else tuple(globs.escape(part) for part in _split(spelling))
            if place.is_glob and wanted[-1:] == (_DOUBLE,):
                wanted, is_recursive = wanted[:-1], True
            head = _head(wanted)
            for pattern in self._near(head):
                if not pattern.is_floating and any(map(operator.ne, head, pattern.head)):
                    continue
                met = _meets(pattern, wanted, is_recursive=is_recursive)
                if met:
                    return pattern, False
                undecided = undecided or met is None
        return None, undecided

    def _near(self, head: tuple[str, ...]) -> Iterable[PathPattern]:
        """The patterns, in order, whose first segment does not rule out a path with this literal beginning."""
        if not head:
            return self.patterns
        if not self.by_head:
            for number, pattern in enumerate(self.patterns):
                self.by_head.setdefault(pattern.head[0] if pattern.head else "", []).append(number)
        numbers = sorted((*self.by_head.get("", ()), *self.by_head.get(head[0], ())))
        return map(self.patterns.__getitem__, numbers)


@lru_cache(maxsize=4096)
def _expression(pattern: PathPattern, *, deep: bool) -> re.Pattern[str]:
    return re.compile(_regex(pattern, deep=deep), re.DOTALL)


def _regex(pattern: PathPattern, *, deep: bool) -> str:
    """The pattern as a regular expression; ``deep`` also matches everything below what it names."""
    out = ""
    for segment in pattern.segments:
        out += "(?:/[^/]+)*" if segment == _DOUBLE else "/" + globs.regex(segment)
    if not pattern.segments or out == "(?:/[^/]+)*":
        out += "/?"
    return out + ("(?:/.*)?" if deep else "")


def _split(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _fill(source: str, home: str, workspace: str, *, is_refusal: bool) -> str | None:
    """The pattern with ``~`` and ``${workspace}`` filled in; None if one of them has no value here."""
    if source == "~" or source.startswith("~/"):
        return globs.escape(home) + source[1:]
    if "${workspace}" in source:
        return source.replace("${workspace}", globs.escape(workspace)) if workspace else None
    if source.startswith(("/", "**")):
        return source
    if is_refusal:
        return "**/" + source.removeprefix("./")
    return f"{globs.escape(workspace)}/{source.removeprefix('./')}" if workspace else None


def _is_own(folder: str, home: str, workspace: str) -> bool:
    """Whether the session lives in that folder: refusing all of it would refuse the session its own files."""
    return any(own == folder or own.startswith(folder + "/") for own in (home, workspace))


@lru_cache(maxsize=256)
def compile_paths(sources: tuple[str, ...], home: str, workspace: str, *, is_refusal: bool = False) -> PathSet:
    """The patterns as a set; ``is_refusal``: what they name includes everything below it."""
    patterns: list[PathPattern] = []
    for source in sources:
        text = _fill(source, home or UNKNOWN_HOME, workspace, is_refusal=is_refusal)
        if text is None:
            continue
        if source in _ALL_OF_A_HOME and is_refusal and _is_own(source.removesuffix("/**"), home, workspace):
            continue
        segments = tuple(part for part in _split(text) if part != ".")
        patterns.append(PathPattern(source, text, segments, bool(segments) and segments[0] == _DOUBLE, _head(segments)))

    def expression_of(number: int) -> re.Pattern[str]:
        return _expression(patterns[number], deep=is_refusal)

    return PathSet(
        tuple(patterns),
        PathTree([pattern.segments for pattern in patterns], expression_of, is_deep=is_refusal),
    )


# ── containment and intersection ────────────────────────────────────────────────────────────────────────


def _contains(pattern: PathPattern, spelling: str, place: Place) -> bool:
    """Whether the pattern surely covers all that a glob or a recursive operand can match."""
    wanted = _split(spelling) if place.is_glob else tuple(globs.escape(part) for part in _split(spelling))
    if place.is_recursive:
        wanted = (*wanted, _DOUBLE)
    return _segments_contain(pattern.segments, wanted)


def _segments_contain(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    if outer == (_DOUBLE,):
        return True
    if not outer or not inner:
        return not outer and not inner
    if outer[0] == _DOUBLE:
        return _segments_contain(outer[1:], inner) or _segments_contain(outer, inner[1:])
    if inner[0] == _DOUBLE:
        return False
    only = globs.literal(inner[0])
    is_inside = globs.matches(only, outer[0]) if only is not None else outer[0] in ("*", inner[0])
    return is_inside and _segments_contain(outer[1:], inner[1:])


def _head(segments: tuple[str, ...]) -> tuple[str, ...]:
    """The leading segments that are literal, unescaped."""
    out: list[str] = []
    for segment in segments:
        only = None if segment == _DOUBLE else globs.literal(segment)
        if only is None:
            break
        out.append(only)
    return tuple(out)


def _meets(pattern: PathPattern, wanted: tuple[str, ...], *, is_recursive: bool) -> bool | None:
    """Whether a ``never`` pattern meets a glob or recursive operand; None if that cannot be told."""
    if pattern.is_floating:
        return _floating_meets(pattern, wanted, is_recursive=is_recursive)
    if _segments_meet(wanted, (*pattern.segments, _DOUBLE)):
        return True
    if not is_recursive:
        return False
    if _DOUBLE in pattern.segments[:-1]:
        head = pattern.segments[: pattern.segments.index(_DOUBLE)]
        if len(wanted) > len(head):
            return None if _segments_meet(wanted, (*head, _DOUBLE)) else False
    return _segments_meet((*wanted, _DOUBLE), pattern.segments)


def _floating_meets(pattern: PathPattern, wanted: tuple[str, ...], *, is_recursive: bool) -> bool | None:
    """The same for ``**/NAME``: a plain segment decides; a wildcard must hint at the name to count."""
    rest = pattern.segments[1:]
    while rest[-1:] == (_DOUBLE,):
        rest = rest[:-1]
    undecided = is_recursive
    for start in range(len(wanted)):
        pairs = list(zip(wanted[start:], rest, strict=False))
        if len(pairs) < len(rest) or not all(_segment_meets(a, b) for a, b in pairs):
            continue
        if all(_is_hinted(a, b) for a, b in pairs if b != _DOUBLE):
            return True
        undecided = True
    return None if undecided else False


def _segment_meets(wanted: str, refused: str) -> bool:
    return refused == _DOUBLE or globs.meet(wanted, refused)


def _segments_meet(  # noqa: C901 - the aligned beginning, then every way to go on
    left: tuple[str, ...], right: tuple[str, ...]
) -> bool:
    """Whether some path matches both patterns."""
    for one, other in zip(left, right, strict=False):
        if _DOUBLE in (one, other):
            break
        if one != other and not globs.meet(one, other):
            return False
    reached = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        i, j = pending.pop()
        if i == len(left) and j == len(right):
            return True
        a = left[i] if i < len(left) else None
        b = right[j] if j < len(right) else None
        steps: list[tuple[int, int]] = []
        if a == _DOUBLE:
            steps.append((i + 1, j))
            if b is not None:
                steps.append((i, j + 1))
        if b == _DOUBLE:
            steps.append((i, j + 1))
            if a is not None:
                steps.append((i + 1, j))
        both_plain = a is not None and b is not None and _DOUBLE not in (a, b)
        if both_plain and globs.meet(a or "", b or ""):
            steps.append((i + 1, j + 1))
        for step in steps:
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return False


@lru_cache(maxsize=4096)
def _is_hinted(wild: str, refused: str) -> bool:
    """Whether a glob that meets a floating pattern also hints at it: ``.e*`` for ``.env*``, but not ``*``."""
    if globs.literal(wild) is not None:
        return True
    wild_head, wild_tail = globs.edges(wild)
    head, tail = globs.edges(refused)
    return bool((wild_head and head) or (wild_tail and tail))


# ── from words to places ────────────────────────────────────────────────────────────────────────────────


def _open_doors(path: str, cwd: str | None) -> str | None:  # noqa: C901, PLR0912 - one door after another
    """The path with ``.``, ``..``, ``/proc/self/root`` and their like carried out, or None."""
    stack: list[str] = []
    pending = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    budget = 256
    while pending:
        budget -= 1
        if budget < 0:
            return None
        part = pending.pop()
        if part == "..":
            if stack:
                if globs.is_pattern(stack[-1]):
                    return None
                stack.pop()
            continue
        if part.startswith(".") and globs.is_pattern(part) and globs.meet(part, "..") and pending:
            return None
        stack.append(part)
        if (
            len(stack) >= _TASK_DEPTH
            and stack[0] == "proc"
            and stack[2] == "task"
            and globs.literal(stack[3]) is not None
        ):
            stack[2:4] = []
        if len(stack) == _DOOR_DEPTH and stack[0] == "proc" and _PROCESS.fullmatch(stack[1]):
            if stack[2] == "root":
                stack = []
            elif stack[2] == "cwd":
                if cwd is None or stack[1].isdigit():
                    return None
                stack = list(_split(cwd))
        elif len(stack) == _DOOR_DEPTH and stack[0] == "proc" and globs.is_pattern(stack[1]) and pending:
            if globs.meet(stack[2], "root") or globs.meet(stack[2], "cwd"):
                return None
        elif len(stack) == _LINK_DEPTH and (link := _LINKS.get("/" + "/".join(stack))) is not None:
            stack = list(_split(link))
    return "/" + "/".join(stack)


def _lexical(path: str) -> str:
    stack: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del stack[-1:]
        elif part not in ("", "."):
            stack.append(part)
    return "/" + "/".join(stack)


def _stream(path: str) -> bool | None:
    """Whether a path is a standard stream or ``/dev/null``; None for a descriptor of unknown meaning."""
    if path == "/dev/null" or path in _STREAMS:
        return True
    found = re.fullmatch(r"(?:/dev/fd|/proc/(?:self|thread-self)/fd)/(\d+)", path)
    if found is not None:
        return True if found[1] in ("0", "1", "2") else None
    if re.fullmatch(r"/proc/\d+(?:/task/\d+)?/fd(?:/.*)?", path):
        return None
    return False


def expand_home(text: str, home: str) -> str | None:
    """A word that starts with an unquoted tilde, home filled in; None for ``~user``, ``~+``, ``~-``."""
    if text == "~" or text.startswith("~/"):
        return (home or UNKNOWN_HOME) + text[1:]
    return None


def locate(  # noqa: C901, PLR0911 - each way that a word cannot be told ends it
    text: str,
    *,
    cwd: str | None,
    home: str,
    is_home: bool = False,
    is_glob: bool = False,
    is_recursive: bool = False,
    follow: Callable[[str], str] | None = None,
) -> Place | None:
    """The place that a word points to; None if it cannot be told (``~user``, an unknown folder).

    Args:
        text: the word, or the pattern if ``is_glob``.
        cwd: the folder that relative paths start from; None if unknown.
        home: the session's home; ``""`` if unknown.
        is_home: whether the word starts with an unquoted tilde.
        is_glob: whether ``text`` is a pattern.
        is_recursive: whether everything below counts.
        follow: resolves the symbolic links of an absolute path on the target.
    """
    path: str | None = text
    if is_home:
        path = expand_home(text, home)
        if path is None:
            return None
    elif not text.startswith("/"):
        if cwd is None:
            return None
        base = globs.escape(cwd) if is_glob else cwd
        path = f"{base}/{text}" if text else base
    assert path is not None
    if is_glob:
        opened = _open_doors(path, cwd)
        if opened is None:
            return None
        folder, _, last = opened.rpartition("/")
        reached_too = (folder.rpartition("/")[0] or "/",) if globs.meet(last, "..") else ()
        return Place(lexical=opened, others=reached_too, is_glob=True, is_recursive=is_recursive)
    if not is_recursive and follow is None and not _SPECIAL_SPELLING.search(path):
        return Place(lexical=path)
    lexical = _lexical(path)
    stream = _stream(lexical)
    if stream is None:
        return None
    if stream:
        return Place(lexical=lexical, is_stream=True)
    opened = _open_doors(globs.escape(path), cwd)
    if opened is None:
        return None
    physical = _unescape(opened)
    if _stream(physical) is not False:
        return Place(lexical=physical, is_stream=True) if _stream(physical) else None
    reached = {physical}
    if follow is not None:
        reached.add(follow(path))
    reached.discard(lexical)
    return Place(lexical=lexical, others=tuple(sorted(reached)), is_recursive=is_recursive)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
