"""Where a text starts background jobs: this module puts the runtime's own words around each ``&``, and nothing else.

What was judged is what runs: the text is rendered from the same tree, and every command in it is the one that was
judged. Only an ``&`` that the session's own shell carries out is touched; one inside a subshell, a substitution or a
pipeline is not the shell's job. Behind a redirection of output, and in a text that may redirect the shell (``exec
>file``), a job's outputs stay what they are: they are not the call's there.
"""

from collections.abc import Callable

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.render import Renderer
from execkit_mcp.policy.shell.tree import Command, Literal, Pipeline, Redirect, Sequence, Simple, Subshell, Word

__all__ = ["MAX_SITES", "has_background", "has_wait", "instrument"]

Job = Callable[[str, int, bool], str]
MAX_SITES = 64
_AMPERSAND = lazy_regex(r"(?<![&>|<])&(?![&>])")
_WAIT = (Word((Literal("wait"),)),)
_REDIRECT_SHELL = frozenset(Word((Literal(name),)) for name in ("exec", "eval", "command", "builtin", "source", "."))
_INPUT = frozenset({"<", "<<<", "<&"})


def has_background(canonical: str) -> bool:
    """Whether a canonical text may hold an ``&``; never wrong about one that does."""
    return "&" in canonical and _AMPERSAND.search(canonical) is not None


def has_wait(canonical: str) -> bool:
    """Whether a canonical text may hold a bare ``wait``; never wrong about one that does."""
    return "wait" in canonical


def instrument(canonical: str, *, job: Job, wait: str) -> str:
    """``canonical`` with each background command put into words of the caller's.

    Args:
        canonical: what ``render`` wrote.
        job: gets the text of a background command without its ``&``, its number from 0 on, and whether its outputs
            are those of the call; returns a command that starts it in the background.
        wait: stands for each ``wait`` without operands; a command.
    """
    script = parse(canonical)
    reader = _Renderer(lambda text, _number, _has_outputs: text, wait)
    reader.sequence(script.body)
    writer = _Renderer(job, wait)
    writer.has_outputs = not reader.may_redirect_shell
    return writer.sequence(script.body)


class _Renderer(Renderer):
    """Writes trees as text.

    ``is_own`` while what is written is carried out by the session's shell itself, ``has_outputs`` while that is with
    the outputs of the call.
    """

    __slots__ = ("count", "has_outputs", "is_own", "job", "may_redirect_shell", "wait")

    def __init__(self, job: Job, wait: str) -> None:
        super().__init__(None)
        self.job = job
        self.wait = wait
        self.count = 0
        self.is_own = self.has_outputs = True
        self.may_redirect_shell = False

    def _foreign(self, write: Callable[[], str]) -> str:
        was_own, self.is_own = self.is_own, False
        try:
            return write()
        finally:
            self.is_own = was_own

    def sequence(self, sequence: Sequence) -> str:
        """As ``render`` writes it, background commands apart."""
        if not self.is_own:
            return super().sequence(sequence)
        pieces: list[str] = []
        for item in sequence.items:
            is_job = item.is_background and self.count < MAX_SITES
            if not is_job:
                pieces += [self.and_or(item.command), " & " if item.is_background else "; "]
                continue
            text = self._foreign(lambda command=item.command: self.and_or(command))  # type: ignore[misc]
            pieces += [self.job(text, self.count, self.has_outputs), "; "]
            self.count += 1
        if pieces:
            pieces[-1] = " &" if pieces[-1] == " & " else ""
        return "".join(pieces)

    def closed(self, sequence: Sequence) -> str:
        """The same, with the ``;`` or ``&`` that a reserved word behind it needs."""
        text = self.sequence(sequence)
        return text if text.endswith(" &") else text + ";"

    def pipeline(self, pipeline: Pipeline) -> str:
        """A pipeline's parts are processes of their own."""
        if len(pipeline.commands) == 1:
            return super().pipeline(pipeline)
        return self._foreign(lambda: super(_Renderer, self).pipeline(pipeline))

    def command(self, command: Command) -> str:
        """A redirection of output holds for what is inside it."""
        if isinstance(command, Simple) or not any(map(_is_output, command.redirects)):
            return super().command(command)
        had_outputs, self.has_outputs = self.has_outputs, False
        try:
            return super().command(command)
        finally:
            self.has_outputs = had_outputs

    def compound(self, command: Command) -> str:
        """A subshell's jobs are not the shell's."""
        if isinstance(command, Subshell):
            return self._foreign(lambda: super(_Renderer, self).compound(command))
        return super().compound(command)

    def substitution(self, opening: str, body: Sequence) -> str:
        """Nor are those of a substitution."""
        return self._foreign(lambda: super(_Renderer, self).substitution(opening, body))

    def simple(self, command: Simple) -> str:
        """A bare ``wait`` is told apart."""
        if self.is_own and command.words == _WAIT and not command.assignments and not command.redirects:
            return self.wait
        if self.is_own and command.words and command.words[0] in _REDIRECT_SHELL:
            self.may_redirect_shell = True
        return super().simple(command)


def _is_output(redirect: Redirect) -> bool:
    return redirect.operator not in _INPUT
