"""The MCP SDK, loaded as far as a server on stdio needs it: a quarter of the time to the first call was the rest.

Two things are put off until somebody asks for them. The packages ``mcp`` and ``mcp.server`` import the SDK's client,
its web server and its decorators only to offer them under short names. The wire models of the protocol's revisions,
some three hundred classes, build a validator each, and a session uses a few. Nothing is left out: a name that is asked
for is there, a model that is used is built. An SDK that is arranged otherwise is loaded as it comes.
"""

import contextlib
import importlib
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = ("mcp", "mcp.server")


class _Later(ModuleType):
    """A package that runs its own code when one of its names is first asked for; its modules need not wait for that."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]  # from now on it is an ordinary one
        assert self.__spec__ is not None
        assert self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def prepare() -> None:
    """Before the SDK is first imported; afterwards it does nothing."""
    if any(name in sys.modules for name in (*_PACKAGES, "mcp_types")):
        return
    _put_off_packages()
    _put_off_validators()


def _put_off_packages() -> None:
    path = None
    for name in _PACKAGES:
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.submodule_search_locations is None:
            return
        package = module_from_spec(spec)
        package.__class__ = _Later
        sys.modules[name] = package
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)
        path = spec.submodule_search_locations


def _put_off_validators() -> None:
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        importlib.import_module("mcp_types._wire_base").WireModel.model_config["defer_build"] = True
