"""The walk through a tree in execution order: every part is judged, none is passed over.

Each command is walked from a scope and ends in two: how the shell is if it succeeded, and if it failed. ``a
&& b`` walks ``b`` from ``a``'s success, ``a || b`` from its failure, ``a; b`` from either. What a subshell
changes stays in it.

Longer than most, because the kinds of node of one grammar are read best side by side.
"""

from collections.abc import Sequence as Many
from itertools import product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import ALLOW, ASK, DENY, NET, READ, WRITE, Effect, EffectKind, ReasonCode
from execkit_mcp.policy import network
from execkit_mcp.policy.effects import Placed, path_uncovered, place_word, refused_place
from execkit_mcp.policy.environment import is_identifier
from execkit_mcp.policy.fed import loop_over_names, starts_before
from execkit_mcp.policy.findings import ALLOWED, Case, Finding, Site, strictest
from execkit_mcp.policy.knowledge.assigning import ASSIGNING, assigned_names
from execkit_mcp.policy.knowledge.invocation import GLOB, STATIC, Arg, ArgEffect
from execkit_mcp.policy.programs import Judged, judge_argv
from execkit_mcp.policy.scope import MAX_VALUES, Scope, fill, settled, shape_of, touched, unfolded
from execkit_mcp.policy.session_state import after_builtin, judge_variable, state_builtin
from execkit_mcp.policy.shell import tree
from execkit_mcp.policy.shell.builtins import STATE_BUILTINS
from execkit_mcp.policy.shell.conditions import is_number
from execkit_mcp.policy.shell.tree import Literal
from execkit_mcp.policy.shell.words import source_of, to_arg, to_one_arg

_READS = frozenset({"<", "<>"})
_WRITES = frozenset({">", ">>", ">|", "<>"})
_FILE_TESTS = frozenset(
    [
        "-a",
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-h",
        "-k",
        "-p",
        "-r",
        "-s",
        "-u",
        "-w",
        "-x",
        "-G",
        "-L",
        "-N",
        "-O",
        "-S",
    ]
)
_FILE_COMPARISONS = frozenset({"-nt", "-ot", "-ef"})
_ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_SPLITTERS = frozenset({"read", "mapfile", "readarray"})
_MAX_ALTERNATIVES = 32
_OUTPUTS = frozenset({1, 2})
_LAST_STREAM = 2
# Every other command leaves the shell as it was.
_CHANGING = STATE_BUILTINS | ASSIGNING | {"command", "builtin", "jobs"}


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """The scope after success, and after failure."""

    ok: Scope
    bad: Scope

    @property
    def either(self) -> Scope:
        """The scope when nobody looked at the status."""
        return self.ok.join(self.bad)


def _same(scope: Scope) -> Outcome:
    return Outcome(ok=scope, bad=scope)


def _is_plain(word: tree.Word) -> bool:
    """Whether the word is nothing but characters, so that no expansion can do anything in it."""
    parts = word.parts
    return len(parts) == 1 and type(parts[0]) is tree.Literal


class Walk:
    """One walk; findings go to the case."""

    __slots__ = ("case", "depth", "site")

    def __init__(self, case: Case, site: Site, depth: int = 0) -> None:
        self.case = case
        self.site = site
        self.depth = depth

    # ── sequences ─────────────────────────────────────────────────────────────────────────────────────────

    def sequence(self, body: tree.Sequence, scope: Scope) -> Outcome:
        """Walk commands one after another."""
        if len(body.items) == 1 and not (only := body.items[0]).is_background:
            return (
                self._pipeline(only.command.first, scope)
                if not only.command.rest
                else self._and_or(only.command, scope)
            )
        outcome = _same(scope)
        for item in body.items:
            start = outcome.either
            if item.is_background:
                self._background()
                self._and_or(item.command, start)
                outcome = _same(start)
            else:
                outcome = self._and_or(item.command, start)
        return outcome

    def _background(self) -> None:
        verdict = self.case.policy.document.limits.background
        if verdict is ALLOW or self.site.is_absolute_only:
            return
        self.case.add(
            Finding(
                verdict=verdict,
                code=ReasonCode.LIMIT,
                message="A command that ends in & goes on after the call; the policy does not allow that.",
                hint="Leave out the &, or set `limits.background: allow`.",
            ),
            argv=("&",),
        )

    def _and_or(self, node: tree.AndOr, scope: Scope) -> Outcome:
        outcome = self._pipeline(node.first, scope)
        for operator, pipeline in node.rest:
            if operator == "&&":
                after = self._pipeline(pipeline, outcome.ok)
                outcome = Outcome(ok=after.ok, bad=outcome.bad.join(after.bad))
            else:
                after = self._pipeline(pipeline, outcome.bad)
                outcome = Outcome(ok=outcome.ok.join(after.ok), bad=after.bad)
        return outcome

    def _pipeline(self, node: tree.Pipeline, scope: Scope) -> Outcome:
        if len(node.commands) == 1:
            only = node.commands[0]
            outcome = self._simple(only, scope) if type(only) is tree.Simple else self._command(only, scope)
            return Outcome(ok=outcome.bad, bad=outcome.ok) if node.negated else outcome
        outside = list(self.case.streams_to)
        after = scope
        for index, command in enumerate(node.commands):
            before = len(self.case.acts)
            self.case.fed = starts_before(node.commands, index)
            after = scope.join(self._command(command, scope).either)
            self.case.streams_to.extend(act.program for act in self.case.acts[before:])
        self.case.streams_to[:] = outside
        return _same(after)

    def lone(self, words: tuple[str, ...], scope: Scope) -> None:
        """Judge a text that is one command of these words: nothing stands behind it that could be another then."""
        argv = tuple([Arg(STATIC, text, text) for text in words])
        judged = judge_argv(argv, scope, self.case, self.site, depth=self.depth, words=words)
        self.case.add(judged.finding, argv=words, program=words[0], effects=judged.effects)

    # ── commands ──────────────────────────────────────────────────────────────────────────────────────────

    def _command(self, node: tree.Command, scope: Scope) -> Outcome:
        if isinstance(node, tree.Simple):
            return self._simple(node, scope)
        for redirect in node.redirects:
            self._redirect(redirect, scope)
        outcome = self._compound(node, scope)
        # A redirect that fails (`{ x=b; } 5>&9`) leaves the whole command undone.
        return Outcome(ok=outcome.ok, bad=outcome.bad.join(scope)) if node.redirects else outcome

    def _compound(self, node: tree.Compound, scope: Scope) -> Outcome:  # noqa: PLR0911 - one way a kind
        match node:
            case tree.Subshell():
                self.sequence(node.body, scope)
                return _same(scope)
            case tree.Group():
                return self.sequence(node.body, scope)
            case tree.If():
                return self._if(node, scope)
            case tree.Loop():
                starts, self.case.fed = self.case.fed, ()
                start = self._looped(scope, (node.condition, node.body))
                tested = self.sequence(node.condition, start)
                inside = tested.ok if node.keyword == "while" else tested.bad
                named = loop_over_names(node, starts) if self.case.tracks_variables else None
                if named is not None and self._keeps(named[0], node.body):
                    name, pattern, itself = named
                    inside = inside.assign(name, None, pattern)
                    if itself:  # the folder that the names lie below is a name as well
                        self.sequence(node.body, inside.assign(name, (itself,)))
                after = self.sequence(node.body, inside).either
                return _same(start.join(tested.either).join(after))
            case tree.For():
                return self._for(node, scope)
            case tree.Case():
                return self._case(node, scope)
            case tree.Test():
                self._condition(node.condition, scope)
                return _same(scope)

    def _keeps(self, name: str, body: tree.Sequence) -> bool:
        """Whether the commands leave a variable, and the folder that its value is seen from, as they are."""
        changes = touched(body)
        return name not in changes.names and not changes.is_total and not changes.moves

    def _looped(self, scope: Scope, parts: tuple[tree.Sequence, ...]) -> Scope:
        """The scope in which nothing is known of what a loop changes."""
        changes = touched(parts)
        if changes.is_total:
            return Scope(cwds=None if changes.moves else scope.cwds)
        start = scope.loop(changes)
        return start.enter(None) if changes.moves else start

    def _if(self, node: tree.If, scope: Scope) -> Outcome:
        ends: list[Scope] = []
        current = scope
        for condition, then in node.branches:
            tested = self.sequence(condition, current)
            ends.append(self.sequence(then, tested.ok).either)
            current = tested.bad
        if node.otherwise is not None:
            current = self.sequence(node.otherwise, current).either
        for end in ends:
            current = current.join(end)
        return _same(current)

    def _for(self, node: tree.For, scope: Scope) -> Outcome:
        values: list[str] | None = []
        pattern: tree.Word | None = None
        words = unfolded(node.words, scope) if self.case.tracks_variables else node.words
        for word in words:
            self._inside(word, scope)
            for arg in self._args(word, scope):
                self._glob_read(arg, scope)
                if values is not None and arg.is_static and not arg.is_home:
                    values.append(arg.text)
                else:
                    values = None
                    if len(words) == 1 and self.case.tracks_variables:
                        is_glob = arg.kind is GLOB
                        pattern = settled(fill(word, scope), scope) if is_glob else shape_of(word, is_list=True)
        known = tuple(dict.fromkeys(values)) if values is not None and self.case.tracks_variables else None
        if known is not None and len(known) > MAX_VALUES:
            known = None
        self._assigned(node.name, known, f"for {node.name}", is_exported=False)
        start = self._looped(scope, (node.body,))
        changes = touched(node.body)
        is_fixed = node.name not in changes.names and not changes.is_total
        inside = start.assign(node.name, known, pattern) if is_fixed else start.forget((node.name,))
        after = self.sequence(node.body, inside).either
        return _same(start.join(after).forget((node.name,)))

    def _glob_read(self, arg: Arg, scope: Scope) -> None:
        """Expanding a glob lists folders: ``never`` covers that."""
        if arg.kind is not GLOB:
            return
        places = place_word(arg, scope, self.case, self.site)
        refusal = refused_place(places, self.site, self.case, "Listing") if places else None
        if refusal is not None:
            self.case.add(refusal, argv=(arg.text,))

    def _listed(self, alternatives: list[tuple[Arg, ...]], scope: Scope) -> None:
        """``echo ~/.ssh/*`` lists the folder, whatever takes the names; the current one may be listed."""
        for words in alternatives:
            for arg in words:
                if arg.kind is GLOB and "/" in arg.text.removeprefix("./"):
                    self._glob_read(arg, scope)

    def _case(self, node: tree.Case, scope: Scope) -> Outcome:
        self._inside(node.subject, scope)
        after = scope
        for clause in node.clauses:
            for pattern in clause.patterns:
                self._inside(pattern, scope)
            after = after.join(self.sequence(clause.body, scope).either)
        return _same(after)

    def _condition(self, node: tree.Condition, scope: Scope) -> None:  # noqa: C901 - one way a kind
        match node:
            case tree.Not():
                self._condition(node.operand, scope)
            case tree.Both():
                self._condition(node.left, scope)
                self._condition(node.right, scope)
            case tree.Unary():
                self._inside(node.operand, scope)
                if node.operator in _FILE_TESTS:
                    self._test_file(node.operand, scope)
                elif node.operator in ("-v", "-R"):
                    args = self._args(node.operand, scope)
                    if not all(arg.is_static and is_identifier(arg.text) for arg in args):
                        self._evaluates(f"[[ {node.operator} ]]", node.operand)
            case tree.Binary():
                self._inside(node.left, scope)
                self._inside(node.right, scope)
                if node.operator in _FILE_COMPARISONS:
                    self._test_file(node.left, scope)
                    self._test_file(node.right, scope)
                elif node.operator in _ARITHMETIC:
                    for word in (each for each in (node.left, node.right) if not is_number(each)):
                        for arg in self._args(word, scope):
                            if not (arg.is_static and arg.text.lstrip("+-").isdigit()):
                                self._evaluates(f"[[ {node.operator} ]]", word)

    def _test_file(self, word: tree.Word, scope: Scope) -> None:
        for arg in self._args(word, scope):
            self._path(arg, READ, scope, argv=("[[", arg.text, "]]"))

    def _evaluates(self, what: str, word: tree.Word) -> None:
        self.case.add(
            Finding(
                verdict=DENY,
                code=ReasonCode.ENV,
                message=f"{what} would evaluate {source_of(word)} as arithmetic or a subscript.",
                hint="Use a number or a plain variable name.",
                is_absolute=True,
            ),
            argv=(source_of(word),),
        )

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────────

    def _args(self, word: tree.Word, scope: Scope) -> tuple[Arg, ...]:
        if _is_plain(word):
            return to_arg(word)
        return to_arg(fill(word, scope), scope.known() if self.case.tracks_variables else {})

    def _inside(self, word: tree.Word, scope: Scope) -> Scope:
        """Judge what expanding a word runs or assigns; the scope afterwards."""
        for part in word.parts:
            if isinstance(part, tree.Substitution | tree.ProcessSubstitution):
                outside = list(self.case.streams_to)
                self.case.streams_to.clear()
                self.sequence(part.body, scope)
                self.case.streams_to[:] = outside
            elif isinstance(part, tree.Parameter):
                for inside in (part.argument, part.replacement):
                    if inside is not None:
                        scope = self._inside(inside, scope)
                if "=" in part.operator:
                    self._assigned(part.name, None, f"${{{part.name}{part.operator}…}}", is_exported=False)
                    scope = scope.forget((part.name,))
        return scope

    # ── redirects and paths that no rule covers ───────────────────────────────────────────────────────────

    def _redirect(self, redirect: tree.Redirect, scope: Scope) -> None:
        self._inside(redirect.target, scope)
        operator, descriptor = redirect.operator, redirect.descriptor
        self._duplicated(redirect)
        if operator not in _READS and operator not in _WRITES:
            return
        if operator in _READS and descriptor is not None and descriptor > _LAST_STREAM:
            self.case.read_by.add(descriptor)
        for arg in self._args(redirect.target, scope):
            row = (operator, arg.text)
            if arg.is_pipe:
                continue
            if arg.kind is not STATIC and arg.kind is not GLOB:
                if not self.site.is_absolute_only:
                    self.case.add(
                        Finding(
                            verdict=max(self.case.policy.document.defaults.unresolved, ASK),
                            code=ReasonCode.DYNAMIC_WORD,
                            message=f"The redirect {operator} {arg.text} goes to a place that is not known.",
                            hint="Write the file name out.",
                        ),
                        argv=row,
                    )
                continue
            if arg.text.startswith(("/dev/tcp/", "/dev/udp/")) or self._is_socket(arg, scope):
                self._socket(arg.text, row)
                continue
            if operator in _READS:
                self._path(arg, READ, scope, argv=row)
            if operator in _WRITES or descriptor in _OUTPUTS:  # a program may open its output anew, to write
                self._path(arg, WRITE, scope, argv=row)

    def _duplicated(self, redirect: tree.Redirect) -> None:
        """What was opened to be read becomes an output: a program that opens ``/dev/stdout`` would write to it."""
        if redirect.operator not in ("<&", ">&"):
            return
        source = source_of(redirect.target)
        default = 0 if redirect.operator == "<&" else 1
        descriptor = default if redirect.descriptor is None else redirect.descriptor
        is_known = source.isdecimal() and int(source) > 0 and int(source) not in self.case.read_by
        if source in ("-", "1", "2") or (is_known and "exec" not in self.case.policy.document.shell.state):
            return
        if descriptor not in _OUTPUTS:
            self.case.read_by.add(descriptor)
        elif not self.site.is_absolute_only:
            self.case.add(
                Finding(
                    verdict=max(self.case.policy.document.defaults.unresolved, ASK),
                    code=ReasonCode.REDIRECT,
                    message=f"The output would be descriptor {source}, which may have been opened to be read.",
                    hint="Send the output to a file or to descriptor 1 or 2.",
                ),
                argv=(f"{descriptor}{redirect.operator}{source}",),
            )

    def _is_socket(self, arg: Arg, scope: Scope) -> bool:
        if arg.text == "/dev/null":
            return False
        places = place_word(arg, scope, self.case, self.site)
        return bool(places) and any(
            spelling.startswith(("/dev/tcp", "/dev/udp")) for place in places or () for spelling in place.spellings
        )

    def _socket(self, text: str, row: tuple[str, ...]) -> None:
        parts = text.split("/")
        endpoint = network.endpoint_of(":".join(parts[3:5])) if len(parts) == 5 else None  # noqa: PLR2004 — /dev/tcp/H/P
        rules = self.case.policy.document.network
        effect = Effect(NET, str(endpoint) if endpoint is not None else text)
        is_refused = endpoint is None or network.matching(endpoint, rules.deny, is_refusal=True) is not None
        if endpoint is not None and not is_refused and network.matching(endpoint, rules.allow or ()) is not None:
            self.case.add(ALLOWED, argv=row, effects=(effect,))
            return
        self.case.add(
            Finding(
                verdict=DENY,
                code=ReasonCode.NETWORK,
                message=f"{text} is a network connection, not a file, and `network.allow` does not cover it.",
                hint=f"Add `{endpoint}` to `network.allow`." if endpoint is not None else "Name host and port.",
                is_absolute=True,
            ),
            argv=row,
            effects=(effect,),
        )

    def _path(self, arg: Arg, kind: EffectKind, scope: Scope, *, argv: tuple[str, ...]) -> None:
        """Judge a path that the shell itself opens or tests: against ``paths`` alone."""
        case, site = self.case, self.site
        placed = Placed(effect=ArgEffect(kind=kind, arg=arg), places=place_word(arg, scope, case, site))
        shown = placed.shown()
        if kind is WRITE:
            case.writes.extend((shown.value, *(other for place in placed.places or () for other in place.others)))
        found: list[Finding] = []
        if placed.places:
            refusal = refused_place(placed.places, site, case, "Reading" if kind is READ else "Writing")
            if refusal is not None:
                found.append(refusal)
            is_stream = all(place.is_stream for place in placed.places)
            if (
                not is_stream and kind is WRITE and any(p.lexical.startswith("/dev/") for p in placed.places)
            ) and not all(site.write.covers(place) for place in placed.places):
                found.append(
                    Finding(
                        verdict=max(case.policy.document.defaults.decision, ASK),
                        code=ReasonCode.REDIRECT,
                        message=f"Writing to the device {shown.value} is not granted.",
                        hint=f"Add `{shown.value}` to `paths.write`.",
                    )
                )
        if not site.is_absolute_only and (missing := path_uncovered(placed, "paths", site, case)) is not None:
            found.append(missing)
        if found or not site.is_absolute_only:
            case.add(strictest(found or [ALLOWED]), argv=argv, effects=(shown,))

    # ── simple commands ───────────────────────────────────────────────────────────────────────────────────

    def _assigned(
        self, name: str, values: tuple[str, ...] | None, what: str, *, is_exported: bool, free: Many[str] = ()
    ) -> None:
        finding = judge_variable(
            name,
            values,
            self.case,
            is_exported=is_exported,
            free=free,
            is_absolute_only=self.site.is_absolute_only,
        )
        if finding.verdict is not ALLOW:
            self.case.add(finding, argv=(what,))

    def _simple(self, node: tree.Simple, scope: Scope) -> Outcome:
        texts = [parts[0].text for word in node.words if len(parts := word.parts) == 1 and type(parts[0]) is Literal]
        is_plain = len(texts) == len(node.words)
        if not is_plain:
            for word in node.words:
                scope = self._inside(word, scope)
        for redirect in node.redirects:
            self._redirect(redirect, scope)
        if not node.words:
            after = self._assign_all(node, scope)
            # With a redirect, bash may assign in a process of its own, or not at all.
            return _same(after.join(scope) if node.redirects else after)
        if is_plain:
            argv = tuple([Arg(STATIC, text, text) for text in texts])
            alternatives = [argv]
            judged = judge_argv(argv, scope, self.case, self.site, depth=self.depth, words=tuple(texts))
        else:
            alternatives = self._alternatives(node.words, scope)
            argv, judged = self._judged(alternatives, scope)
            self._listed(alternatives, scope)
        finding = judged.finding
        self.case.add(
            finding,
            argv=judged.words or tuple([arg.text for arg in argv]),
            program=argv[0].text if argv else "",
            effects=judged.effects,
        )
        if not node.assignments:
            return self._after(alternatives, scope)
        free: tuple[str, ...] = ()
        if finding.by is not None and finding.by.element.env is not None:
            free = finding.by.element.env
        splits = bool(node.assignments) and all(
            each and each[0].is_static and each[0].text in _SPLITTERS for each in alternatives
        )
        for assignment in node.assignments:
            scope = self._inside(assignment.value, scope)
            if assignment.name == "IFS" and splits:
                continue  # it ends with the builtin, and all that it does is split the line that is read
            values = self._values(assignment, scope)
            self._assigned(assignment.name, values, f"{assignment.name}=", is_exported=True, free=free)
        scope = scope.forget(assignment.name for assignment in node.assignments)
        return self._after(alternatives, scope)

    def _judged(self, alternatives: list[tuple[Arg, ...]], scope: Scope) -> tuple[tuple[Arg, ...], Judged]:
        """The strictest answer of all that the command may be, and the words that it is for."""
        argv = alternatives[0]
        judged = judge_argv(argv, scope, self.case, self.site, depth=self.depth)
        if len(alternatives) == 1:
            return argv, judged
        for other in alternatives[1:]:
            also = judge_argv(other, scope, self.case, self.site, depth=self.depth)
            if strictest([judged.finding, also.finding]) is not judged.finding:
                argv, judged = other, also
        return argv, judged

    def _alternatives(self, words: tuple[tree.Word, ...], scope: Scope) -> list[tuple[Arg, ...]]:
        """Every argv that the words may become."""
        if self.case.tracks_variables:
            words = unfolded(words, scope)
        choices = [self._args(word, scope) for word in words]
        count = prod(map(len, choices))
        if count == 1:
            return [tuple([choice[0] for choice in choices])]
        if count > _MAX_ALTERNATIVES:
            return [tuple(to_one_arg(word) for word in words)]
        return [tuple(argv) for argv in product(*choices)]

    def _values(self, assignment: tree.Assignment, scope: Scope) -> tuple[str, ...] | None:
        # An assigned value is neither split nor globbed: judge the word as if it were quoted.
        parts = tuple(
            replace(part, quoted=True)
            if isinstance(part, tree.Parameter | tree.Literal)
            else tree.Literal(part.text, quoted=True)
            if isinstance(part, tree.Glob)
            else part
            for part in assignment.value.parts
        )
        if not parts:
            values: tuple[str, ...] | None = ("",)
        else:
            args = to_arg(tree.Word(parts), scope.known())
            is_known = all(arg.is_static and not arg.is_home for arg in args)
            values = tuple(dict.fromkeys(arg.text for arg in args)) if is_known else None
        if assignment.operator == "+=" and values is not None:
            before = scope.variables.get(assignment.name)
            if before is None or len(before) * len(values) > MAX_VALUES:
                return None
            values = tuple(head + tail for head in before for tail in values)
        return values

    def _assign_all(self, node: tree.Simple, scope: Scope) -> Scope:
        for assignment in node.assignments:
            if assignment.items is not None:
                scope = self._assign_array(assignment, assignment.items, scope)
                continue
            scope = self._inside(assignment.value, scope)
            values = self._values(assignment, scope)
            self._assigned(assignment.name, values, f"{assignment.name}{assignment.operator}", is_exported=False)
            shape = shape_of(assignment.value) if assignment.operator == "=" and values is None else None
            if not self.case.tracks_variables:
                values = shape = None
            scope = scope.assign(assignment.name, values, shape)
        return scope

    def _assign_array(self, assignment: tree.Assignment, words: tuple[tree.Word, ...], scope: Scope) -> Scope:
        is_known = self.case.tracks_variables and (assignment.operator == "=" or assignment.name in scope.arrays)
        items = list(scope.arrays.get(assignment.name, ())) if assignment.operator == "+=" else []
        for word in words:
            if not _is_plain(word):
                scope = self._inside(word, scope)
        for word in unfolded(words, scope) if is_known else words:
            if len(word.parts) == 1 and isinstance(only := word.parts[0], Literal):
                items.append(only.text)
                continue
            args = self._args(word, scope)
            for arg in args:
                self._glob_read(arg, scope)
            is_known = is_known and len(args) == 1 and args[0].is_static and not args[0].is_home
            items.append(args[0].text)
        self._assigned(assignment.name, None, f"{assignment.name}{assignment.operator}(", is_exported=False)
        return scope.fill_array(assignment.name, tuple(items) if is_known else None)

    def _after(self, alternatives: list[tuple[Arg, ...]], scope: Scope) -> Outcome:
        """What the command did to the shell itself."""
        if len(alternatives) == 1:
            first = alternatives[0]
            if first and first[0].kind is STATIC and first[0].text not in _CHANGING:
                return Outcome(ok=scope, bad=scope)
        outcome: Outcome | None = None
        for argv in alternatives:
            ok, bad = self._after_one(argv, scope)
            outcome = (
                Outcome(ok=ok, bad=bad)
                if outcome is None
                else Outcome(ok=outcome.ok.join(ok), bad=outcome.bad.join(bad))
            )
        return outcome if outcome is not None else _same(scope)

    def _after_one(  # noqa: PLR0911 - one way a kind
        self, argv: tuple[Arg, ...], scope: Scope
    ) -> tuple[Scope, Scope]:
        rest = argv
        while rest and rest[0].is_static and rest[0].text in ("command", "builtin"):
            rest = rest[1:]
            while rest and rest[0].is_static and rest[0].text.startswith("-"):
                flag, rest = rest[0].text, rest[1:]
                if flag == "--":
                    break
                if set(flag) & set("vV"):
                    return scope, scope
        if not rest:
            return scope, scope
        blank = Scope(cwds=None)
        if not rest[0].is_static:
            return blank, blank
        word = rest[0].text
        if state_builtin(word, rest[1:]) is not None:
            return after_builtin(word, rest[1:], scope, self.case, self.site)
        if word == "jobs" and any("x" in arg.prefix or not arg.is_static for arg in rest[1:]):
            return blank, blank
        if word in ASSIGNING:
            names = assigned_names(word, rest[1:])
            after = Scope(cwds=scope.cwds) if names is None else scope.forget(names)
            return after, after
        return scope, scope
