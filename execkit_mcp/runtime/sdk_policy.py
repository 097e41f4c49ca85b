"""``Policy``: what a user of the SDK hands over instead of a file name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from execkit_mcp.config.strict_yaml import parse
from execkit_mcp.errors import PolicyInvalid
from execkit_mcp.policy import CompiledPolicy, compile_policy
from execkit_mcp.policy.load import SourceFile, load
from execkit_mcp.runtime.policies import load_policy, read_source

Element = str | Mapping[str, object]

_INLINE = "Policy.default_deny"


class Policy:
    """A policy: a shipped one or a file (``load``), or lists of what is allowed, asked, denied (``default_deny``)."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self._compiled = compiled

    @property
    def name(self) -> str:
        """The policy's name."""
        return self._compiled.ref.name

    @property
    def compiled(self) -> CompiledPolicy:
        """The policy as the engine runs it."""
        return self._compiled

    @classmethod
    def load(cls, name_or_path: str | Path) -> Self:
        """A shipped policy by name, or a policy file; its own tests are run.

        Raises:
            ConfigNotFound: there is no such policy or file.
            PolicyInvalid: the document is wrong; a line with ``file:line:col`` for each problem.
            PolicyExampleFailed: one of its tests does not hold.
        """
        return cls(load_policy(str(name_or_path)))

    @classmethod
    def default_deny(
        cls,
        *,
        allow: Sequence[Element] = (),
        ask: Sequence[Element] = (),
        deny: Sequence[Element] = (),
        paths: Mapping[str, Sequence[str]] | None = None,
        include: Sequence[str] = ("builtin:base", "builtin:secrets"),
    ) -> Self:
        """Everything is denied but what the lists say; deny beats ask beats allow.

        Args:
            allow: elements of the policy format: ``"ls"``, ``"systemctl status"``, ``{"git": {"sub": ["log"]}}``.
            ask: the same; a person decides.
            deny: the same; never.
            paths: ``{"read": […], "write": […], "never": […]}``; writing needs ``write``.
            include: what is included first; by default the usual secret places can never be touched.

        Raises:
            PolicyInvalid: an element is not one of the format.
        """
        lists = {"allow": allow, "ask": ask, "deny": deny, "include": include}
        for name, value in {**lists, **{f"paths.{key}": value for key, value in (paths or {}).items()}}.items():
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise PolicyInvalid(
                    f"Policy.default_deny: {name} is {value!r}; it must be a list.", hint=f"Write [{value!r}]."
                )
        rules = [
            {"id": verdict, verdict: list(elements)}
            for verdict, elements in (("allow", allow), ("ask", ask), ("deny", deny))
            if elements
        ]
        document: dict[str, object] = {"version": 1, "name": "inline", "include": list(include), "rules": rules}
        if paths is not None:
            document["paths"] = {key: list(value) for key, value in paths.items()}
        text = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")

        def read(name: str, *, included_from: str | None) -> SourceFile:
            if name == _INLINE:
                return SourceFile(identity=_INLINE, node=parse(text, _INLINE, error=PolicyInvalid))
            return read_source(name, included_from=included_from)

        return cls(compile_policy(load(_INLINE, read)))
