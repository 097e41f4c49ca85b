"""Functions that a text defines and calls itself: this module writes their bodies out where they are called.

``f() { grep -c "$1" log; }; f a`` becomes ``grep -c a log``: no function is ever defined in the session, and what is
judged and run is a tree without definitions. What cannot be written out with the same meaning is refused: a definition
that does not stand by itself, recursion, a ``shift`` in a branch, an early ``return``, arguments that may be several
words, a local variable that is seen outside, a ``break`` of the caller's loop.

Over 400 lines: what a call stands for is one reading of one tree.
"""

import re
from collections.abc import Iterable
from typing import NoReturn, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.builtins import BUILTINS, KEYWORDS
from execkit_mcp.policy.shell.quoting import is_plain, literal
from execkit_mcp.policy.shell.tree import (
    Arithmetic,
    Assignment,
    Binary,
    Command,
    For,
    Group,
    Item,
    Literal,
    Loop,
    Parameter,
    Part,
    Sequence,
    Simple,
    Substitution,
    Tilde,
    Word,
    sequence_of,
)
from execkit_mcp.policy.shell.unparsed import Unparsed

__all__ = ["Function", "is_function_name", "written_out"]

_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_LOCAL = lazy_regex(r"([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?", re.DOTALL)
_IN_ARITHMETIC = lazy_regex(r"\$\{([0-9]+)//")
_COUNT_IN_ARITHMETIC = lazy_regex(r"\$#(?![A-Za-z_])")
_OTHER_COUNT = lazy_regex(r"\$\{#(?:[0-9]|[@*])")
_WORDS = lazy_regex(r"[A-Za-z0-9_-]+")
_OWN = lazy_regex(r"arg_[0-9]+_[0-9]+")
_IDENTIFIER = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*")
_ALL = frozenset({"@", "*"})
_NAMING = frozenset({"read", "mapfile", "readarray", "printf", "export", "declare", "local", "wait", "let"})
_EVERY = (Parameter("@", quoted=True),)
# What a function may not run, whichever way its name comes about.
_REFUSED = frozenset(
    {"shift", "return", "getopts", "set", "unset", "eval", "source", ".", "trap", "caller", "declare", "typeset"}
)
# Those that look for a function by its name.
_LOOKING = frozenset(
    {"type", "command", "declare", "typeset", "export", "hash", "readonly", "trap", "eval", "unset", "compgen"}
)
_SETTING = frozenset({"=", ":="})
_IF_ABSENT = frozenset({"-", "+", "=", "?"})
# Variables that change by themselves, and those that tell of functions.
_MOVING = frozenset(
    {
        "PWD", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_SUBSHELL",
        "PIPESTATUS", "REPLY", "MAPFILE", "_", "BASH_COMMAND", "LINENO", "OPTIND", "OPTARG",
    }
)  # fmt: skip
_TELLING = frozenset({"FUNCNAME", "BASH_SOURCE", "BASH_LINENO", "BASH_ARGV", "BASH_ARGC", "LINENO"})
_MAX_CALLS = 64
_MAX_DEPTH = 4
_MAX_LOCALS = 32
_MAX_PARTS = 4000
_Node = TypeVar("_Node")


class Function(Struct, frozen=True, gc=False):
    """A definition, as read; no judged tree holds one."""

    name: str
    body: Command
    redirects: tuple[object, ...] = ()


def is_function_name(text: str | None) -> bool:
    """Whether a function may have this name here: nothing that bash itself gives a meaning."""
    return text is not None and _NAME.fullmatch(text) is not None and text not in BUILTINS and text not in KEYWORDS


def written_out(body: Sequence, max_commands: int) -> tuple[Sequence, int]:
    """The commands without definitions, and how many simple commands they hold now.

    Raises:
        Unparsed: if a definition or a call cannot be written out.
    """
    writer = _Writer(body, max_commands)
    writer.check(body)
    after = writer.script(body)
    return after, writer.count(after)


def _refuse(what: str) -> NoReturn:
    raise Unparsed(what)


def _definition(item: Item) -> Function | None:
    pipeline = item.command.first
    only: object = pipeline.commands[0]
    if not isinstance(only, Function):
        return None
    is_alone = not item.command.rest and len(pipeline.commands) == 1 and not pipeline.negated and not pipeline.timed
    if not is_alone or item.is_background or only.redirects:
        _refuse("function definition that does not stand by itself")
    return only


def _nodes(node: object) -> Iterable[Struct]:
    """Every node of a tree."""
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending.extend(each)
        elif isinstance(each, Struct):
            yield each
            pending.extend(getattr(each, name) for name in each.__struct_fields__)


def _names(node: object) -> set[str]:
    """Every variable that a tree names, and perhaps more: any word that could name one counts."""
    found: set[str] = set()
    for each in _nodes(node):
        if isinstance(each, Parameter):
            found.add(each.name.partition("[")[0])
        elif isinstance(each, Assignment | For):
            found.add(each.name)
        elif isinstance(each, Arithmetic | Literal):
            found.update(_IDENTIFIER.findall(each.text))
    return found


def _text(word: Word) -> str | None:
    part = word.parts[0] if len(word.parts) == 1 else None
    return part.text if isinstance(part, Literal) else None


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with adjacent literals made one."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and found and isinstance(found[-1], Literal):
            found[-1] = literal(found[-1].text + part.text)
        else:
            found.append(part)
    return tuple(found)


def _is_one_word(word: Word) -> bool:
    """Whether a word stays one, whatever its variables hold."""
    for index, part in enumerate(word.parts):
        if isinstance(part, Literal | Arithmetic) or (isinstance(part, Tilde) and index == 0):
            continue
        if isinstance(part, Substitution) and part.quoted:
            continue
        if not (isinstance(part, Parameter) and part.quoted) or part.name in _ALL or part.name.endswith(("[@]", "[*]")):
            return False
    return True


class _Writer:
    """One text: its functions, and how often they were called."""

    def __init__(self, body: Sequence, max_commands: int) -> None:
        self.max_commands = max_commands
        self.functions: dict[str, Command] = {}
        self.called: set[str] = set()
        self.calls = 0
        self.changed: set[str] = set()
        self.is_set = False
        self.parts = 0
        self.outside = _names(tuple(item for item in body.items if _definition(item) is None))

    def script(self, body: Sequence) -> Sequence:
        """The whole text: definitions stand among its own commands and nowhere else."""
        items: list[Item] = []
        for item in body.items:
            found = _definition(item)
            if found is None:
                items.append(self.expand(item, ()))
            elif not is_function_name(found.name) or found.name in self.functions:
                _refuse("function definition")
            else:
                self.functions[found.name] = found.body
        if self.functions.keys() - self.called:
            _refuse("function definition that the same text does not call")
        return Sequence(tuple(items))

    def check(self, body: Sequence) -> None:
        """Refuse a text that could tell a function from its commands."""
        names = _names(body)
        if any(_OWN.fullmatch(name) for name in names) or names & _TELLING:
            _refuse("variable that tells of functions")
        if any(map(_splits_otherwise, _nodes(body))):
            _refuse("IFS in a text with functions")
        functions = {each.name for each in _nodes(body) if isinstance(each, Function)}
        for each in _nodes(body):
            self.is_set |= isinstance(each, Simple) and bool(each.words) and _text(each.words[0]) == "set"
            if isinstance(each, Simple) and each.words:
                _check_names(each, functions)
            if isinstance(each, Function):
                check_function(each.body)
                self.changed |= _changed(each.body)

    def charge(self, number: int) -> None:
        """Hold what calls multiply within bounds."""
        self.parts += number
        if self.parts > _MAX_PARTS:
            raise Unparsed(f"more than {_MAX_PARTS} words written out", is_limit=True)

    def count(self, body: Sequence) -> int:
        """How many simple commands there are."""
        number = sum(isinstance(each, Simple) for each in _nodes(body))
        if number > self.max_commands:
            raise Unparsed(f"more than {self.max_commands} commands", is_limit=True)
        return number

    def expand(self, node: _Node, active: tuple[str, ...]) -> _Node:
        """The tree with each call written out."""
        if isinstance(node, tuple):
            return cast("_Node", tuple([self.expand(each, active) for each in node]))
        if not isinstance(node, Struct) or isinstance(node, Literal):
            return node
        if isinstance(node, Function):
            _refuse("function definition that does not stand by itself")
        changes = {name: self.expand(getattr(node, name), active) for name in node.__struct_fields__}
        after = replace(node, **changes)
        if isinstance(after, Simple) and after.words and (name := _text(after.words[0])) in self.functions:
            return cast("_Node", self.call(name or "", after, active))
        return after

    def _call(self, name: str, node: Simple, active: tuple[str, ...]) -> "_Call":
        self.calls += 1
        self.called.add(name)
        if name in active or len(active) >= _MAX_DEPTH:
            _refuse("function that calls itself")
        if self.calls > _MAX_CALLS:
            raise Unparsed(f"more than {_MAX_CALLS} calls of functions", is_limit=True)
        if node.assignments:
            _refuse("assignment before the call of a function")
        # A text has no parameters of its own: `main "$@"` hands on nothing.
        words = tuple(word for word in node.words[1:] if word.parts != _EVERY)
        if not all(map(_is_one_word, words)):
            _refuse("argument of a function that may become several words")
        call = _Call(words, self.functions[name], self.calls, self)
        if call.locals & self.outside:
            _refuse("local variable of a function whose name is used outside")
        for other, body in self.functions.items():
            if other == name or not call.locals:
                continue
            shared = call.locals & _names(body)
            if shared and (other in active or not shared <= _local_names(body)):
                _refuse("local variable of a function whose name another one uses")
        return call

    def call(self, name: str, node: Simple, active: tuple[str, ...]) -> Command:
        """The body of a function in place of its call."""
        call = self._call(name, node, active)
        items = call.body().items
        if call.bound:
            if len(call.bound) > 1 and "?" in _names(tuple(call.bound)):
                _refuse("$? among the arguments of a function")
            if any(
                {"?", "PIPESTATUS"} & _names(each)
                for each in _nodes(items[0])
                if isinstance(each, Simple | Arithmetic | Parameter)
            ):
                _refuse("$? of what stood before a function")
            items = (*sequence_of(Simple(tuple(call.bound), (), ())).items, *items)
        body = self.expand(Sequence(items), (*active, name))
        only = body.items[0]
        is_one = len(body.items) == 1 and not only.is_background and not only.command.rest
        pipeline = only.command.first
        if is_one and len(pipeline.commands) == 1 and not pipeline.negated and not pipeline.timed:
            command = pipeline.commands[0]
            if not node.redirects:
                return command
        return Group(body, node.redirects)


class _Call:
    """One call: the words that its parameters stand for."""

    def __init__(self, words: tuple[Word, ...], function: Command, number: int, writer: _Writer) -> None:
        self.words = words
        self.function = function
        self.number = number
        self.past = 0
        self.bound: list[Assignment] = []
        self.changed = writer.changed
        self.is_set = writer.is_set
        self.writer = writer
        self.locals = frozenset(_local_names(function))

    def body(self) -> Sequence:
        """The commands of the function, with its parameters filled in."""
        function = self.function
        body = function.body if isinstance(function, Group) and not function.redirects else sequence_of(function)
        for index, word in enumerate(self.words):
            if any(isinstance(each, Substitution) for each in _nodes(word)):
                self._name(str(index + 1))  # it runs once, whether it is used or not
        items = list(body.items)
        last = items[-1].command.first.commands[0]
        if isinstance(last, Simple) and last.words and _text(last.words[0]) == "return":
            items[-1:] = self._returned(items[-1], last)
        filled: list[Item] = []
        for item in items:
            count = _shifted(item)
            if count is None:
                filled.append(self.fill(item))
            else:
                if count > len(self.words):
                    _refuse("shift by more than there is")
                self.words, self.past = self.words[count:], self.past + count
        return Sequence(tuple(filled) or sequence_of(Simple((), (Word((Literal("true"),)),), ())).items)

    def _returned(self, item: Item, last: Simple) -> tuple[Item, ...]:
        texts = [_text(word) for word in last.words[1:]]
        is_alone = not item.command.rest and len(item.command.first.commands) == 1 and not last.redirects
        if not is_alone or item.is_background or item.command.first.negated or last.assignments or len(texts) > 1:
            _refuse("return")
        if texts and texts[0] in ("0", "1"):
            return sequence_of(Simple((), (Word((Literal("true" if texts[0] == "0" else "false"),)),), ())).items
        _refuse("return")

    def fill(self, node: _Node) -> _Node:  # noqa: PLR0911 - one way a kind
        """The tree with the words of the call in place of the parameters."""
        if isinstance(node, tuple):
            return cast("_Node", tuple([self.fill(each) for each in node]))
        if isinstance(node, Word):
            return cast("_Node", self._word(node))
        if isinstance(node, Simple):
            return cast("_Node", self._simple(node))
        if isinstance(node, For):
            return cast("_Node", replace(node, words=self._list(node.words), body=self.fill(node.body)))
        if isinstance(node, Binary) and node.operator == "=~" and any(map(_is_open, node.right.parts)):
            _refuse("parameter of a function as a regular expression")
        if isinstance(node, Assignment) and node.items is not None:
            return cast("_Node", replace(node, items=self._list(node.items)))
        if not isinstance(node, Struct):
            return node
        return replace(node, **{name: self.fill(getattr(node, name)) for name in node.__struct_fields__})

    def _simple(self, node: Simple) -> Simple:
        name = _text(node.words[0]) if node.words else None
        if name in _REFUSED:
            _refuse(f"{name} in a function")
        redirects = self.fill(node.redirects)
        if name == "local":
            return Simple(self.fill(_assignments(node)), (), redirects)
        words = self._list(node.words)
        run = [_text(word) or "" for word in words]
        while run[:1] in (["command"], ["builtin"]):
            run = run[1:]
        if run[:1] and (run[0] in _REFUSED or (run[0] in ("local", "break", "continue") and run[0] != name)):
            _refuse(f"{run[0]} in a function")
        if not (words or node.assignments or redirects):
            _refuse("function without a command")
        return Simple(self.fill(node.assignments), words, redirects)

    def _list(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        found: list[Word] = []
        for word in words:
            part = word.parts[0] if len(word.parts) == 1 else None
            is_all = isinstance(part, Parameter) and part.name in _ALL and not part.operator
            if is_all and isinstance(part, Parameter) and (not part.quoted or part.name == "@"):
                self.writer.charge(len(self.words))
                if not part.quoted and not all(is_plain(_text(each) or " ") for each in self.words):
                    _refuse("$* of words that may be split")
                found.extend(
                    each if part.quoted is False else Word(self._part(Parameter(str(index + 1), quoted=True)))
                    for index, each in enumerate(self.words)
                )
            else:
                found.append(self._word(word))
        return tuple(found)

    def _word(self, word: Word) -> Word:
        parts: list[Part] = []
        self.writer.charge(1 + len(word.parts))
        for part in word.parts:
            parts.extend(self._part(part))
        return Word(_merged(parts))

    def _part(self, part: Part) -> tuple[Part, ...]:  # noqa: PLR0911 - one way a kind
        if isinstance(part, Arithmetic):
            return (self._counted(part),)
        if not isinstance(part, Parameter):
            return (part if isinstance(part, Literal) else self._inside(part),)
        if part.name == "#" and not part.operator:
            return (Literal(str(len(self.words))),)
        if part.name in _ALL:
            return self._joined(part)
        if not part.name.isdecimal() or part.name == "0":
            return (self._inside(part),)
        if part.operator:
            self._check_given(part)
            return (replace(cast("Parameter", self._inside(part)), name=self._name(part.name)),)
        word = self._given(part.name)
        only = word.parts[0] if len(word.parts) == 1 else None
        if not word.parts and part.quoted:
            return ()
        if isinstance(only, Literal) and (part.quoted or is_plain(only.text)):
            return (only,)
        if isinstance(only, Parameter) and self._stays(only):
            return (replace(only, quoted=part.quoted),)
        return (Parameter(self._name(part.name), quoted=part.quoted),)

    def _inside(self, part: Part) -> Part:
        return replace(part, **{name: self.fill(getattr(part, name)) for name in part.__struct_fields__})

    def _joined(self, part: Parameter) -> tuple[Part, ...]:
        """``"$*"`` within a word: the words with a blank between them."""
        if part.operator or not part.quoted or part.name != "*":
            _refuse("$@ within a word" if part.name == "@" else "$* with an operator")
        found: list[Part] = []
        self.writer.charge(len(self.words))
        for index in range(len(self.words)):
            found.extend([literal(" ")] if index else [])
            found.extend(self._part(Parameter(str(index + 1), quoted=True)))
        return tuple(found)

    def _given(self, name: str) -> Word:
        index = int(name) - 1
        if index >= len(self.words) and self.is_set:
            _refuse("parameter that is not there, where set may refuse it")
        return self.words[index] if 0 <= index < len(self.words) else Word(())

    def _counted(self, part: Arithmetic) -> Arithmetic:
        if _OTHER_COUNT.search(part.text):
            _refuse("length of a parameter in arithmetic")
        text = _COUNT_IN_ARITHMETIC.sub(str(len(self.words)), part.text)
        return replace(part, text=_IN_ARITHMETIC.sub(lambda each: "${" + self._name(each[1]) + "//", text))

    def _check_given(self, part: Parameter) -> None:
        if int(part.name) > len(self.words) and part.operator in _IF_ABSENT:
            _refuse("parameter that is not there")

    def _stays(self, part: Parameter) -> bool:
        """Whether a variable still holds at each use what it holds at the call."""
        name = part.name.partition("[")[0]
        return not part.operator and name.isidentifier() and name not in self.changed and name not in _MOVING

    def _name(self, name: str) -> str:
        """The variable that holds a parameter's value: assigned once, ahead of the body."""
        variable = f"arg_{self.number}_{self.past + int(name)}"
        if all(each.name != variable for each in self.bound):
            parts = [
                replace(each, quoted=True) if isinstance(each, Arithmetic) else each for each in self._given(name).parts
            ]
            self.bound.append(Assignment(variable, Word(tuple(parts))))
        return variable


def _shifted(item: Item) -> int | None:
    """By how many words a ``shift`` that stands by itself among the commands of a function goes on; None for others."""
    pipeline = item.command.first
    only = pipeline.commands[0]
    is_alone = not item.is_background and not item.command.rest and len(pipeline.commands) == 1
    if not is_alone or pipeline.negated or pipeline.timed or not isinstance(only, Simple):
        return None
    texts = [_text(word) for word in only.words]
    if only.assignments or only.redirects or texts[:1] != ["shift"] or len(texts) > len(("shift", "n")):
        return None
    count = texts[1] if texts[1:] else "1"
    return int(count) if count is not None and count.isdecimal() and len(count) == 1 else None


def _check_names(node: Simple, functions: set[str]) -> None:
    """Refuse the name of a function where a builtin looks for one, or in a text that is run later."""
    program = _text(node.words[0])
    texts = [_text(word) or "" for word in node.words[1:]]
    named = set(_WORDS.findall(" ".join(texts))) if program in ("trap", "eval") else set(texts)
    if program in _LOOKING and functions & named:
        _refuse("name of a function as a word")


def _is_open(part: Part) -> bool:
    return isinstance(part, Parameter) and not part.quoted and (part.name.isdecimal() or part.name in _ALL)


def _assignments(node: Simple) -> tuple[Assignment, ...]:
    """``local a=x b`` as assignments."""
    found: list[Assignment] = []
    for word in node.words[1:]:
        head = word.parts[0] if word.parts else None
        named = _LOCAL.fullmatch(head.text) if isinstance(head, Literal) else None
        if named is None or (named[2] is None and len(word.parts) > 1):
            _refuse("local with an option, or a name that is worked out")
        rest = (literal(named[2]),) if named[2] else ()
        found.append(Assignment(named[1], Word((*rest, *word.parts[1:]))))
    if not found or node.assignments:
        _refuse("local without a name")
    return tuple(found)


def _changed(function: object) -> set[str]:
    """The variables that a function may assign."""
    found = {each.name for each in _nodes(function) if isinstance(each, Assignment | For)}
    for each in _nodes(function):
        if isinstance(each, Simple) and each.words and _text(each.words[0]) in _NAMING:
            found |= _names(each)
        elif isinstance(each, Parameter) and each.operator in _SETTING:
            found.add(each.name.partition("[")[0])
    return found


def _splits_otherwise(node: Struct) -> bool:
    """An IFS that outlives its command: words would be split, and joined, otherwise than is known."""
    if not isinstance(node, Simple):
        return False
    if not node.words:
        return any(each.name == "IFS" for each in node.assignments)
    return _text(node.words[0]) in _NAMING and "IFS" in _names(node.words)


def _local_names(function: object) -> set[str]:
    found: set[str] = set()
    for each in _nodes(function):
        if _is_local(each):
            found.update(assignment.name for assignment in _assignments(cast("Simple", each)))
    return found


def _is_local(node: object) -> bool:
    return isinstance(node, Simple) and bool(node.words) and _text(node.words[0]) == "local"


def check_function(function: Command) -> None:
    """Refuse what means something else where a call stands than inside of a function."""
    _check_loops(function, 0)
    statements = [cast("Simple", each) for each in _nodes(function) if _is_local(each)]
    for each in statements:
        given: set[str] = set()
        for assignment in _assignments(each):
            if given & _names(assignment.value):
                _refuse("local that names what it has just declared")
            given.add(assignment.name)
    body = function.body if isinstance(function, Group) and not function.redirects else sequence_of(function)
    names = _local_names(function)
    if len(names) > _MAX_LOCALS:
        raise Unparsed(f"more than {_MAX_LOCALS} local variables of a function", is_limit=True)
    for name in names:
        if not _declares_first(body, name):
            _refuse("local variable that is used before, or declared in a branch")
    works_out = [each for each in statements if any(isinstance(part, Substitution) for part in _nodes(each))]
    if works_out:
        plain = [item.command.first.commands[0] for item in body.items[:-1] if _is_plain(item)]
        if not all(any(each is other for other in plain) for each in works_out) or "?" in _names(function):
            _refuse("local whose commands may fail")


def _is_plain(item: Item) -> bool:
    pipeline = item.command.first
    is_one = not item.command.rest and not item.is_background and len(pipeline.commands) == 1
    return is_one and not pipeline.negated and not pipeline.timed


def _declares_first(body: Sequence, name: str) -> bool:
    """Whether the first command that names a variable is the ``local`` of it."""
    for item in body.items:
        if name not in _names(item):
            continue
        only = item.command.first.commands[0]
        if not _is_plain(item) or not _is_local(only):
            return False
        assignments = _assignments(cast("Simple", only))
        return not any(name in _names(each.value) for each in assignments)
    return True


def _check_loops(node: object, depth: int) -> None:
    """Refuse a ``break`` that would end a loop around the call."""
    if isinstance(node, tuple):
        for each in node:
            _check_loops(each, depth)
    elif isinstance(node, Struct):
        if isinstance(node, Simple) and node.words and _text(node.words[0]) in ("break", "continue"):
            texts = [_text(word) for word in node.words[1:]] or ["1"]
            if len(texts) > 1 or texts[0] is None or not texts[0].isdecimal() or int(texts[0]) > depth:
                _refuse("break of a loop around a function")
        for field in node.__struct_fields__:
            _check_loops(getattr(node, field), depth + isinstance(node, For | Loop))
