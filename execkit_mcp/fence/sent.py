"""The fence as one line of Python for another machine, which has nothing of ours: this module packs it.

Sent are the very modules that fence a local shell, as far as they need no privilege and no supervisor: limits,
capabilities, no_new_privs, Landlock, seccomp. They need Python 3.10 or later there and its standard library.
"""

import base64
import inspect
import json
import zlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Final

from execkit_mcp.fence import host, kernel, landlock, privileges, rlimits, seccomp
from execkit_mcp.fence.plan import FencePlan

__all__ = ["answers", "shell_words"]

_MODULES: Final[tuple[ModuleType, ...]] = (kernel, landlock, privileges, rlimits, seccomp, host)
_MOST_CHARS: Final = 100_000
_LOAD: Final = """
import base64, json, os, sys, types, zlib
package = types.ModuleType("execkit_mcp"); fence = types.ModuleType("execkit_mcp.fence")
package.fence = fence
sys.modules.update({"execkit_mcp": package, "execkit_mcp.fence": fence})
for name, text in SOURCES.items():
    made = types.ModuleType("execkit_mcp.fence." + name)
    sys.modules[made.__name__] = made
    exec(compile(text, name, "exec"), made.__dict__)
    setattr(fence, name, made)
def told(words):
    rest = 1 + int(words[0])
    return json.loads(zlib.decompress(base64.b64decode("".join(words[1:rest])))), words[rest:]
def restrict(plan):
    fence.rlimits.limit(plan["rlimits"])
    if plan["drops_capabilities"]:
        fence.privileges.drop_capabilities()
    fence.privileges.forbid_new_privileges()
    rules, calls = plan["landlock"], plan["seccomp"]
    tcp = rules["tcp"]
    fence.landlock.restrict(rules["paths"], tcp=tcp and (tcp[0], tcp[1]), scopes=rules["scopes"])
    code = fence.seccomp.program(groups=calls["groups"], families=calls["families"], notify=())
    fence.seccomp.install(code, has_listener=False)
"""
_ENTER: Final = """
plan, words = told(sys.argv[1:])
restrict(plan)
os.execv(words[0], words)
"""
_ANSWER: Final = """
asked, _ = told(sys.argv[1:])
here = fence.host.LocalHost()
if asked["tries"] is None:
    said = [getattr(here, method)(path) for method, path in asked["questions"]]
else:
    pid = os.fork()
    if pid == 0:
        try:
            restrict(asked["tries"]); os.execv(asked["argv"][0], asked["argv"])
        finally:
            os._exit(70)
    said = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]
print(json.dumps({"abi": fence.landlock.abi(), "arch": fence.kernel.audit_arch(), "said": said}))
"""


@cache
def _packed(main: str) -> str:
    sources = {module.__name__.rpartition(".")[2]: inspect.getsource(module) for module in _MODULES}
    text = f"SOURCES = {sources!r}\n{_LOAD}{main}"
    data = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return f'import base64,zlib;exec(zlib.decompress(base64.b64decode("{data}")))'


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _value(value: object) -> str:
    """A value as words, the first of which says how many follow: Linux takes no word of more than 128 KiB."""
    data = base64.b64encode(zlib.compress(json.dumps(value).encode(), 6)).decode()
    pieces = [data[at : at + _MOST_CHARS] for at in range(0, len(data), _MOST_CHARS)]
    return " ".join([str(len(pieces)), *pieces])


def answers(
    python: str,
    questions: Sequence[tuple[str, str]],
    *,
    tries: FencePlan | None = None,
    argv: Sequence[str] = (),
) -> str:
    """The line that answers ``questions`` (a method of ``Host`` and a path each), as JSON; or tries a plan on ``argv``."""
    asked = {"questions": questions, "tries": None if tries is None else tries.to_spec(), "argv": list(argv)}
    return f"{python} -I -S -c {_quote(_packed(_ANSWER))} {_value(asked)}"


def shell_words(python: str, plan: FencePlan, shell: str) -> str:
    """The words that become ``shell`` behind ``plan``; when that fails, they end and nothing runs."""
    return f"{python} -I -S -c {_quote(_packed(_ENTER))} {_value(plan.to_spec())} {shell}"
