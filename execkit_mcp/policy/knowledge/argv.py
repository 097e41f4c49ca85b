"""The generic reader: getopt and getopt_long over a program's table, subcommands included.

Theory of operation. Words are read left to right. A word that starts with a dash is a flag (cluster,
attached value, unique long prefix) until ``--``, or until the first operand where the program does not
permute. A word whose text is not known may be an option if its literal prefix does not rule that out, or if
it may become several words; then the argv has a problem. A glob cannot be one unless its literal prefix
starts with a dash: the renderer writes ``./*``.

Invariants: never raises; whatever the table does not settle becomes a problem or an UNKNOWN effect; a flag
that the table does not have is taken to have no value, and what follows is read on, so that deny rules see
it all.
"""

from typing import TYPE_CHECKING

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.invocation import DYNAMIC, GLOB, STATIC, Arg, FlagUse
from execkit_mcp.policy.knowledge.reading import UNSEEN, Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Flag, Grammar, Node, flags_of, roles_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALWAYS = flags_of("--help --version")


def read_argv(reading: Reading, root: Node) -> None:
    """Read ``reading.args`` by the program's table and put everything found into ``reading``."""
    _Reader(reading, root).run()


def is_several(arg: Arg) -> bool:
    """Whether the word may become none or several words."""
    return not arg.is_single


class _Reader:
    """One pass over the words. ``node`` is the subcommand reached so far."""

    __slots__ = (
        "args",
        "grammar",
        "index",
        "is_settled",
        "node",
        "reading",
        "root",
        "table",
        "unseen",
    )

    def __init__(self, reading: Reading, root: Node) -> None:
        self.reading = reading
        self.root = root
        self.args = reading.args
        self.index = 0
        self.unseen = False
        self.is_settled = not root.children
        self.node: Node
        self.grammar: Grammar
        self.table: Mapping[str, Flag]
        if root.table is None or root.grammar is None:
            self.enter(root)
        else:
            self.node, self.grammar, self.table = root, root.grammar, root.table

    def enter(self, node: Node) -> None:
        """Go on with this subcommand's flags."""
        self.node = node
        program = self.reading.program
        self.grammar = node.grammar or Grammar(operands="?*")
        if node.table is None:
            table = {**_ALWAYS, **flags_of(self.grammar.flags, is_long_only=program.is_long_only)}
            if not program.has_local_flags and node is not self.root:
                table = {**flags_of(program.flags, is_long_only=program.is_long_only), **table}
            node.table = table
        self.table = node.table

    def run(self) -> None:
        """Read all words, then give the operands their roles."""
        reading = self.reading
        args = self.args
        is_permuting = reading.program.is_permuting
        count = len(args)
        while self.index < count:
            arg = args[self.index]
            self.index += 1
            if arg is UNSEEN and self.grammar.unseen:
                self.unseen = True
                continue
            if arg.kind is STATIC:
                text = arg.text
                if text[:1] == "-" and text != "-":
                    if text == "--":
                        self.rest(self.index)
                        break
                    self.flag(arg, text)
                    continue
            elif arg.prefix[:1] == "-":
                self.flag(arg, arg.prefix)
                continue
            elif arg.kind is DYNAMIC and (arg.could_be_option or not arg.is_single):
                reading.dynamic(arg, "could turn out to be an option")
            if not self.is_settled and self.descend(arg):
                continue
            reading.operands.append(arg)
            if not is_permuting or self.grammar.is_leading:
                self.rest(self.index)
                break
        self.operands()

    def rest(self, start: int) -> None:
        """Everything from ``start`` on is an operand (after a subcommand, if one is still to come)."""
        for arg in self.args[start:]:
            if not self.is_settled and self.descend(arg):
                continue
            self.reading.operands.append(arg)
        self.reading.terminated_at = start
        self.index = len(self.args)

    def descend(self, arg: Arg) -> bool:
        """Take a subcommand word; False if the word is an operand."""
        reading = self.reading
        at_root = self.node is self.root
        if not arg.is_static:
            if at_root and not reading.program.is_open:
                reading.dynamic(arg, "stands where the subcommand does")
            elif self.node.children:
                reading.dynamic(arg, "could turn out to be a subcommand")
            self.is_settled = True
            return False
        child = self.node.children.get(arg.text)
        if child is not None:
            if at_root:
                reading.flags[:] = [
                    FlagUse(names=f.names, value=f.value, is_global=True, is_known=f.is_known) for f in reading.flags
                ]
            reading.subcommand = (*reading.subcommand, arg.text)
            self.enter(child)
            self.is_settled = not child.children
            return True
        self.is_settled = True
        if (at_root and not reading.program.is_open) or self.node.grammar is None:
            reading.subcommand = (*reading.subcommand, arg.text)
            self.enter(Node())
            return True
        return False

    # ── flags ─────────────────────────────────────────────────────────────────────────────────────────────

    def flag(self, arg: Arg, text: str) -> None:
        """Read one word that starts with a dash; ``text`` is its known part."""
        program = self.reading.program
        if program.is_numeric and text[1:].isdigit() and arg.is_static:
            self.reading.flags.append(FlagUse(names=(text,)))
        elif text.startswith("--") or program.is_long_only:
            self.long(arg, text)
        else:
            self.cluster(arg, text)

    def long(self, arg: Arg, text: str) -> None:
        """``--name``, ``--name=value``, ``--name value``, a unique prefix of it."""
        name, separator, _ = text.partition("=")
        if not arg.is_static and not separator:
            self.reading.dynamic(arg, "could turn out to be any option")
            return
        flag = self.table.get(name)
        if flag is None:
            flag = self.find_long(name)
        if flag is None:
            if self.reading.program.is_long_only and self.fallback(arg, text):
                return
            self.unknown(name, rest_of(arg, len(name) + 1) if separator else None)
        elif separator:
            value = rest_of(arg, len(name) + 1)
            if flag.value:
                self.use(flag, value, is_attached=True)
            else:
                self.use(flag, None)
                if value.text == "false":
                    self.reading.switched_off.add(flag.names)
                is_switch = self.reading.program.is_long_only and value.text in {"true", "false"}
                if not is_switch and not self.is_boolean(value):
                    self.reading.unknown_flag(text)
        elif flag.value == "=":
            self.use(flag, self.next(name))
        else:
            self.use(flag, None)

    def is_boolean(self, value: Arg) -> bool:
        """Whether ``--flag=value`` merely switches (``--flag=true``): programs with subcommands only."""
        return bool(self.root.children) and value.is_static and value.text in {"true", "false"}

    def find_long(self, name: str) -> Flag | None:
        """The flag that ``name`` abbreviates, or whose other dash form it is."""
        program = self.reading.program
        if program.is_long_only:
            return self.table.get(name[1:]) if name.startswith("--") else None
        if not program.is_abbreviating:
            return None
        found = {flag.names: flag for spelling, flag in self.table.items() if spelling.startswith(name)}
        return next(iter(found.values())) if len(found) == 1 else None

    def fallback(self, arg: Arg, text: str) -> bool:
        """Where ``-name`` is one flag, a cluster after all, if each letter is a flag without value."""
        if text.startswith("--") or not arg.is_static:
            return False
        flags = [self.table.get(f"-{letter}") for letter in text[1:]]
        if not all(flag is not None and not flag.value for flag in flags):
            return False
        for flag in flags:
            if flag is not None:
                self.use(flag, None)
        return True

    def cluster(self, arg: Arg, text: str) -> None:
        """``-abc``, where the first flag that takes a value takes the rest of the word, or the next word."""
        position = 1
        while position < len(text):
            name = f"-{text[position]}"
            position += 1
            flag = self.table.get(name)
            if flag is None:
                self.unknown(name, None)
            elif flag.value:
                if position < len(text) or not arg.is_static:
                    position += text[position : position + 1] == "=" and self.reading.program.drops_equals
                    self.use(flag, rest_of(arg, position), is_attached=True)
                    return
                self.use(flag, self.next(name) if flag.value == "=" else None)
                return
            else:
                self.use(flag, None)
        if not arg.is_static:
            self.reading.dynamic(arg, "could turn out to be any option")

    def next(self, name: str) -> Arg | None:
        """The next word, as the value of ``name``."""
        if self.index >= len(self.args):
            return None
        value = self.args[self.index]
        self.index += 1
        if value.kind is not STATIC and is_several(value):
            self.reading.dynamic(value, f"is the value of {name} and could become several words")
        return value

    def use(self, flag: Flag, value: Arg | None, *, is_attached: bool = False) -> None:
        """Record a known flag and what it does."""
        reading = self.reading
        reading.flags.append(FlagUse(names=flag.names, value=value))
        reading.switched_off.discard(flag.names)
        if flag.is_deep:
            reading.is_deep = True
        if flag.mode:
            reading.modes.add(flag.mode)
        if is_attached and value is not None and value.kind is not STATIC and is_several(value):
            # every word that a pattern becomes begins like the pattern: with this flag
            is_plain_pattern = flag.is_inert and value.kind is GLOB
            if not is_plain_pattern:
                reading.dynamic(value, f"is the value of {flag.names[-1]} and could become several words")
        if flag.marks:
            reading.mark(flag.marks, value, flag.names[-1])

    def unknown(self, name: str, value: Arg | None) -> None:
        """Record a flag that the table does not have; with the spellings that it might abbreviate."""
        reading = self.reading
        near = [s for s in self.table if len(name) > len("--") and name.startswith("--") and s.startswith(name)]
        reading.flags.append(FlagUse(names=(name, *near), value=value, is_known=False))
        # Who vouches for words that nobody knows does not lift what is refused: the paths count as the flag's own.
        for marks in dict.fromkeys(self.table[each].marks for each in near):
            word = value if value is not None else self.args[self.index] if self.index < len(self.args) else None
            if word is not None:
                reading.mark("".join(mark for mark in marks if mark in "rfRwod@"), word, name)
        if self.node.grammar is not None and "x" not in roles_of(self.grammar.operands).always:
            reading.unknown_flag(name)

    # ── operands ──────────────────────────────────────────────────────────────────────────────────────────

    def operands(self) -> None:
        """Give every operand its role, then what holds without operands, then what only code can tell."""
        reading = self.reading
        grammar = self.grammar
        text = grammar.operands
        if grammar.modes and reading.modes:
            for mode, roles in grammar.modes.items():
                if mode in reading.modes:
                    text = roles
                    break
        assign(reading, text)
        if grammar.empty and all(arg.kind is DYNAMIC and not arg.is_single for arg in reading.operands):
            reading.mark(grammar.empty, None)
        if self.unseen:
            reading.is_deep = True
            reading.mark(grammar.unseen, UNSEEN)
        if self.node.grammar is None:
            reading.effect(EffectKind.UNKNOWN, None, "no knowledge about this subcommand")
        if grammar.after is not None:
            grammar.after(reading)


def assign(reading: Reading, text: str) -> None:  # noqa: C901, PLR0912 - one branch for each form in the manual
    """Give the operands of ``reading`` the roles of the notation ``text``."""
    roles = roles_of(text)
    operands = reading.operands
    if roles.always:
        reading.mark(roles.always, None)
    if not operands:
        return
    if roles.middle is not None and not roles.first and not roles.last and roles.middle != "A":
        if roles.middle != "-":
            for arg in operands:
                reading.mark(roles.middle, arg)
        return
    first, last = len(roles.first), len(roles.last)
    count = len(operands)
    if roles.middle is None or first or last:
        edge = count - last
        for index, arg in enumerate(operands):
            if (
                arg.kind is not STATIC
                and is_several(arg)
                and not (first <= index < edge)
                and "A" not in roles.first[:index]
            ):
                reading.dynamic(arg, "could become several words and so change what the others mean")
    for index, arg in enumerate(operands):
        if index < first:
            marks = roles.first[index]
        elif index >= max(first, count - last):
            marks = roles.last[index - (count - last)]
        elif roles.middle is not None:
            marks = roles.middle
        else:
            reading.effect(EffectKind.UNKNOWN, arg, "an operand that is not expected here")
            continue
        if marks == "A":
            reading.runs(operands[index:])
            return
        if marks != "-":
            reading.mark(marks, arg)
