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

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct, field

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy import globs
from execkit_mcp.policy.path_meeting import DOUBLE, Meeting, PathPattern, head_of, split
from execkit_mcp.policy.path_tree import PathTree

UNKNOWN_HOME = "/~"
_MAX_ANSWERS = 1024
_LINK_DEPTH, _DOOR_DEPTH, _TASK_DEPTH, _FD_DEPTH = 2, 3, 4, 4  # /var/run, /proc/self/root, …/task/9, …/fd/3
_THREAD_DEPTH = 5  # /proc/self/task/9/root
# Somebody else's whole home: refused unless it turns out to be the session's own.
_ALL_OF_A_HOME = frozenset({"/root/**"})
_PROCESS = lazy_regex(r"self|thread-self|\d+")
_STREAMS = {"/dev/stdin": "0", "/dev/stdout": "1", "/dev/stderr": "2"}
_LINKS = {
    "/var/run": "/run",
    "/var/lock": "/run/lock",
    "/etc/mtab": "/proc/self/mounts",
    "/dev/core": "/proc/kcore",
    "/dev/fd": "/proc/self/fd",
    **{name: f"/proc/self/fd/{number}" for name, number in _STREAMS.items()},
}
_DOORS = ("root", "cwd", "fd", "map_files")
_OPENED = frozenset({"fd", "map_files"})
# Without a climb every folder on the way is a beginning of the plain spelling, so that it shows each door.
_CLIMBS = lazy_regex(r"/\.\.(?:/|\Z)")
_DOOR = lazy_regex(r"\A(?:/proc|/dev|/var/run|/var/lock|/etc/mtab)(?:/|\Z)")
_SPECIAL_SPELLING = lazy_regex(r"//|/\.|/proc|/dev|/var/run|/var/lock|/etc/mtab|/\Z")


class Place(Struct, frozen=True, kw_only=True, gc=False):
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

    def is_free(self, *, is_read: bool) -> bool:
        """Whether it is a stream to read or write as it is; to write to the input writes the file that is read."""
        is_input = self.lexical == "/dev/stdin" or self.lexical.endswith("fd/0")
        return self.is_stream and (is_read or not is_input)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every path that counts."""
        return (self.lexical, *self.others)


class PathSet(Struct, frozen=True, eq=False):
    """A list of patterns, ready to match."""

    patterns: tuple[PathPattern, ...]
    tree: PathTree
    meeting: Meeting
    answers: dict[Place, tuple[PathPattern | None, bool]] = field(default_factory=dict)

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
            first = self.tree.first(place.lexical)
            for path in place.others:
                number = self.tree.first(path)
                if number is not None and (first is None or number < first):
                    first = number
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
            wanted = split(spelling) if place.is_glob else tuple(globs.escape(part) for part in split(spelling))
            if place.is_glob and wanted[-1:] == (DOUBLE,):
                wanted, is_recursive = wanted[:-1], True
            number, is_undecided = self.meeting.first(wanted, is_recursive=is_recursive)
            if number is not None:
                return self.patterns[number], False
            undecided = undecided or is_undecided
        return None, undecided


def anywhere(sources: tuple[str, ...], home: str, workspace: str) -> tuple[str, str] | None:
    """The refused patterns that name no one place (``**/.env*``), as expressions of the last segment and of the path.

    None if there is none. What lies below a path that matches is refused as well.
    """
    names: list[str] = []
    paths: list[str] = []
    for pattern in compile_paths(sources, home, workspace, is_refusal=True).patterns:
        segments = pattern.segments[:-1] if pattern.segments[-1:] == (DOUBLE,) else pattern.segments
        if DOUBLE in segments and segments[-1] != DOUBLE:
            names.append(globs.regex(segments[-1]))
            paths.append(_regex(segments, deep=False))
    return ("|".join(dict.fromkeys(names)), "|".join(dict.fromkeys(paths))) if names else None


@lru_cache(maxsize=4096)
def _expression(pattern: PathPattern, *, deep: bool) -> re.Pattern[str]:
    return re.compile(_regex(pattern.segments, deep=deep), re.DOTALL)


def _regex(segments: tuple[str, ...], *, deep: bool) -> str:
    """The pattern as a regular expression; ``deep`` also matches everything below what it names."""
    out = ""
    for segment in segments:
        out += "(?:/[^/]+)*" if segment == DOUBLE else "/" + globs.regex(segment)
    if not segments or out == "(?:/[^/]+)*":
        out += "/?"
    return out + ("(?:/.*)?" if deep else "")


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
        segments = tuple(part for part in split(text) if part != ".")
        patterns.append(
            PathPattern(source, text, segments, bool(segments) and segments[0] == DOUBLE, head_of(segments))
        )

    def expression_of(number: int) -> re.Pattern[str]:
        return _expression(patterns[number], deep=is_refusal)

    return PathSet(
        tuple(patterns),
        PathTree([pattern.segments for pattern in patterns], expression_of, is_deep=is_refusal),
        Meeting(patterns),
    )


# ── containment and intersection ────────────────────────────────────────────────────────────────────────


def _contains(pattern: PathPattern, spelling: str, place: Place) -> bool:
    """Whether the pattern surely covers all that a glob or a recursive operand can match."""
    wanted = split(spelling) if place.is_glob else tuple(globs.escape(part) for part in split(spelling))
    if place.is_recursive:
        wanted = (*wanted, DOUBLE)
    return _segments_contain(pattern.segments, wanted)


def _segments_contain(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    if outer == (DOUBLE,):
        return True
    if not outer or not inner:
        return not outer and not inner
    if outer[0] == DOUBLE:
        return _segments_contain(outer[1:], inner) or _segments_contain(outer, inner[1:])
    if inner[0] == DOUBLE:
        return False
    only = globs.literal(inner[0])
    is_inside = globs.matches(only, outer[0]) if only is not None else outer[0] in ("*", inner[0])
    return is_inside and _segments_contain(outer[1:], inner[1:])


# ── from words to places ────────────────────────────────────────────────────────────────────────────────


def _may_be_door(stack: list[str]) -> bool:
    """Whether wildcards in the first folders could match a door: ``/pro?/self/root``, ``/dev/f*``."""
    if len(stack) not in (_LINK_DEPTH, _DOOR_DEPTH, _THREAD_DEPTH) or not any(map(globs.is_pattern, stack)):
        return False
    if len(stack) == _LINK_DEPTH:
        return globs.meet(stack[0], "dev") and any(
            globs.meet(stack[1], link.rpartition("/")[2]) for link in _LINKS if link.startswith("/dev/")
        )
    one, process, door = *stack[:2], stack[-1]
    if len(stack) == _THREAD_DEPTH and not globs.meet(stack[2], "task"):
        return False
    is_process = globs.is_pattern(process) or _PROCESS.fullmatch(process) is not None
    return is_process and globs.meet(one, "proc") and any(globs.meet(door, name) for name in _DOORS)


def _open_doors(path: str, cwd: str | None, *, is_glob: bool, is_recursive: bool) -> str | None:  # noqa: C901, PLR0911, PLR0912 - one door after another
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
        if is_glob and (pending or is_recursive) and _may_be_door(stack):
            return None
        if len(stack) == _DOOR_DEPTH and stack[0] == "proc" and _PROCESS.fullmatch(stack[1]):
            if stack[2] == "root":
                stack = []
            elif stack[2] == "cwd":
                if cwd is None or stack[1].isdigit():
                    return None
                stack = list(split(cwd))
        elif len(stack) == _LINK_DEPTH and (link := _LINKS.get("/" + "/".join(stack))) is not None:
            stack = list(split(link))
        is_inside = is_recursive or ((pending or is_glob) and len(stack) == _FD_DEPTH)
        if is_inside and len(stack) >= _DOOR_DEPTH and stack[0] == "proc" and stack[2] in _OPENED:
            return None  # what a descriptor was opened on, or lies below that folder, and what a process has mapped
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
    if re.fullmatch(r"/proc/\d+(?:/task/\d+)?/fd/.*|/proc/(?:\d+|self|thread-self)(?:/task/\d+)?/map_files/.*", path):
        return None
    return False


def expand_home(text: str, home: str) -> str | None:
    """A word that starts with an unquoted tilde, home filled in; None for ``~user``, ``~+``, ``~-``."""
    if text == "~" or text.startswith("~/"):
        return (home or UNKNOWN_HOME) + text[1:]
    return None


def locate(  # noqa: C901, PLR0911, PLR0912 - each way that a word cannot be told ends it
    text: str,
    cwd: str | None,
    home: str,
    *,
    is_home: bool = False,
    is_glob: bool = False,
    is_recursive: bool = False,
    follow: Callable[[str], str] | None = None,
    find: Callable[[str], tuple[str, ...] | None] | None = None,
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
        find: tells where the names that an absolute pattern finds on the target lead to through links.
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
        path = f"{base}/{text}" if text and text != "." else base
    assert path is not None
    if is_glob:
        opened = _open_doors(path, cwd, is_glob=True, is_recursive=is_recursive)
        if opened is None:
            return None
        folder, _, last = opened.rpartition("/")
        reached_too: tuple[str, ...] = (folder.rpartition("/")[0] or "/",) if globs.meet(last, "..") else ()
        linked = find(opened) if find is not None else ()
        if linked is None:
            return None
        reached_too += tuple(map(globs.escape, linked))
        return Place(lexical=opened, others=reached_too, is_glob=True, is_recursive=is_recursive)
    if follow is None and not _SPECIAL_SPELLING.search(path):
        return Place(lexical=path, is_recursive=is_recursive)
    lexical = _lexical(path)
    if follow is None and not _CLIMBS.search(path) and not _DOOR.search(lexical):
        return Place(lexical=lexical, is_recursive=is_recursive)
    stream = _stream(lexical)
    if stream is None:
        return None
    if stream and ".." not in path.split("/"):
        return Place(lexical=lexical, is_stream=True)
    opened = _open_doors(globs.escape(path), cwd, is_glob=False, is_recursive=is_recursive)
    if opened is None:
        return None
    physical = _unescape(opened)
    if (is_stream := _stream(physical)) is not False:
        return Place(lexical=physical, is_stream=True) if is_stream else None
    reached = {physical}
    if follow is not None:
        reached.add(follow(path))
    reached.discard(lexical)
    return Place(lexical=lexical, others=tuple(sorted(reached)), is_recursive=is_recursive)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
