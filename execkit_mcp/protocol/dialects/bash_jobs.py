r"""What is said to bash of background jobs, word for word; this module is that part of the bash dialect.

``job`` stands for one ``&`` of a text. The braces are carried out by the shell itself, so that the job is the shell's
own (``$!``, ``%1``, a process group of its own) and its text in ``jobs`` is the agent's; the descriptors it inherits
are its own from before its words are expanded. What bash says of a new job (``[1] 4711``) goes there too and is taken
out (``job_notices``). The number of the process goes to the status descriptor, by the copy that bash keeps while it is
inside the ``eval`` (see ``bash``).

The outputs are FIFOs with names, which somebody may have replaced: they are opened so that nothing is truncated, and
the job is started only if pipes were opened.

A bare ``wait`` makes bash forget how its jobs ended, so each is waited for by name first.

All of it changes no state that a command can see but ``$_``, though a DEBUG trap sees it; it survives ``set -e``,
``set -u`` and ``set -f``, and is never traced.
"""

from collections.abc import Iterable

from execkit_mcp.protocol.dialects.bash import quote

__all__ = ["ENDED", "STARTED", "job", "query_ends", "told_before", "wait_for_all"]

STARTED, ENDED = "B", "W"
"""The kinds of their records."""

_B = "\\builtin "
_SAVED_FD = 10
_STATUS_FD = 250


def _record(nonce: str, kind: str, fields: str) -> str:
    formats = r"\0".join("%s" for _ in fields.split())
    return rf"{_B}printf '\036{nonce}{kind}\0{formats}\0\035{nonce}\n' {fields}"


def job(text: str, number: int, *, nonce: str, outputs: tuple[str, str] | None) -> str:
    """Start ``text`` in the background, with outputs of its own, and report it as ``number``."""
    told = _record(nonce, STARTED, f'{number} "$!"')
    start = f'{{ {text} & {{ __ek_j="${{__ek_j-}} $!"; {told} >&{_SAVED_FD} || {_B}:; }} 2>&-; }}'
    if outputs is None:
        return start
    are_pipes = f"{{ {_B}[ -p /dev/fd/1 ] && {_B}[ -p /dev/fd/0 ]; }} <&2 2>&-"
    return f"{{ {are_pipes} && {start}; }} >> {quote(outputs[0])} 2>> {quote(outputs[1])}"


def wait_for_all(nonce: str) -> str:
    """Wait for every job that was told of, report how each ended, then ``wait`` as it was asked for."""
    loop = f"for __ek_w in ${{__ek_j-}}; do {_ask(nonce)} done"
    return f"{{ {{ {loop}; __ek_j=; }} >&{_SAVED_FD} 2>&-; wait; }}"


def told_before(pids: Iterable[int]) -> bytes:
    """Before a text with such words: the jobs of earlier texts that have not ended."""
    return f'__ek_j="{" ".join(map(str, pids))}"\n'.encode()


def query_ends(pids: Iterable[int], nonce: str) -> bytes:
    """Report how jobs ended that have ended."""
    loop = f"for __ek_w in {' '.join(map(str, pids))}; do {_ask(nonce)} done"
    return f"{_B}eval {quote(loop)} >&{_STATUS_FD} 2>/dev/null </dev/null\n".encode()


def _ask(nonce: str) -> str:
    """Wait for ``__ek_w``; report it, its code, and again the number if bash knows it (from 5.1 on, ``wait -p``)."""
    told = _record(nonce, ENDED, '"$__ek_w" "$__ek_s" "${__ek_k-}"')
    wait = '"$__ek_w" && __ek_s=0 || __ek_s="$?"'
    return (
        f"{_B}unset -v __ek_k; {_B}wait -p __ek_k {wait}; "
        f'{_B}[ "${{__ek_k-}}" ] || {{ {_B}wait {wait}; }}; {told} || {_B}:;'
    )
