"""Where a policy's text, its meaning and its own tests meet: ``load_policy`` gives one fit to judge.

Joins ``config/`` (files and YAML) with ``policy/`` (which does no input or output). Free of asyncio, so that
``execkit-mcp policy check`` starts fast.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.config.settings_file import is_policy_file
from execkit_mcp.config.strict_yaml import parse
from execkit_mcp.config.trusted_file import read_trusted
from execkit_mcp.errors import ConfigNotFound, PolicyExampleFailed, PolicyInvalid
from execkit_mcp.model.shape import closest
from execkit_mcp.policy import CompiledPolicy, Context, ExampleFailure, compile_policy, run_examples
from execkit_mcp.policy.document import PolicyDocument
from execkit_mcp.policy.groups import INCLUDES
from execkit_mcp.policy.groups import PREFIX as BUILTIN
from execkit_mcp.policy.load import Read, SourceFile, load

_EXAMPLE_HOME = "/home/user"
_EXAMPLE_WORKSPACE = "/home/user/work"


def shipped_names() -> tuple[str, ...]:
    """The names of the shipped policies."""
    return tuple(sorted(path.stem for path in shipped_policies_dir().glob("*.yaml")))


def load_document(name_or_path: str) -> PolicyDocument:
    """The document behind a shipped name or a file, includes merged; its tests are not run.

    Raises:
        ConfigNotFound: no shipped policy has that name, or there is no such file.
        ConfigPermissions: the file, or one that it includes, can be written by others.
        PolicyInvalid: a line with ``file:line:col`` for each problem.
    """
    return load(name_or_path, read_source)


def load_policy(
    name_or_path: str, *, workspace: str | None = None, on_file: Callable[[str], object] | None = None
) -> CompiledPolicy:
    """A policy that is fit to judge: loaded, compiled, and its own tests hold.

    Args:
        name_or_path: a shipped name, or a file (holds a slash or ends in ``.yaml``).
        workspace: absolute folder in which the tests run; unless given one that no machine has, so that
            whether a policy loads does not depend on where the server was started.
        on_file: told the path of each file that is read, so that a caller can see when one changes.

    Raises:
        ConfigNotFound, ConfigPermissions, PolicyInvalid: as ``load_document``.
        PolicyExampleFailed: a line for each test that does not hold.
    """
    policy = compile_policy(load_document(name_or_path) if on_file is None else load(name_or_path, _telling(on_file)))
    failures = run_tests(policy, workspace=workspace)
    if failures:
        raise PolicyExampleFailed(
            "\n".join(each.message for each in failures),
            hint="Correct the rules or the tests; a policy whose own tests fail is refused.",
            details={"failures": [each.message for each in failures]},
        )
    if policy.document.redact.detectors:
        from execkit_mcp.detectors import create_detectors  # noqa: PLC0415 - only where a policy names some

        create_detectors(policy.document.redact.detectors)  # an unknown one refuses here, not at the first session
    return policy


def _telling(on_file: Callable[[str], object]) -> Read:
    def read(name: str, *, included_from: str | None) -> SourceFile:
        source = read_source(name, included_from=included_from)
        if source.identity.startswith("/"):
            on_file(source.identity)
        return source

    return read


def run_tests(policy: CompiledPolicy, *, workspace: str | None = None) -> tuple[ExampleFailure, ...]:
    """The tests of the document that do not hold, judged without a machine behind them."""
    return run_examples(policy, example_context(workspace))


def example_context(workspace: str | None = None) -> Context:
    """Where the tests of a document are judged: unless a workspace is given, in one that no machine has."""
    folder = workspace or _EXAMPLE_WORKSPACE
    return Context(cwd=folder, home=_EXAMPLE_HOME, workspace=folder)


def read_source(name: str, *, included_from: str | None) -> SourceFile:
    """The nodes of a shipped policy, a file or a ``builtin:`` fragment."""
    if included_from is not None:
        return _read_include(name, included_from)
    if is_policy_file(name):
        return _read_file(Path(name).expanduser().absolute(), may_be_shared=False)
    path = shipped_policies_dir() / f"{name}.yaml"
    known = shipped_names()
    if name not in known:
        raise ConfigNotFound(
            f'There is no shipped policy "{name}"{closest(name, known) or "."}',
            hint=f"Shipped: {', '.join(known)}. A file is named with a slash or its ending: ./{name}.yaml.",
        )
    return _read_file(path, may_be_shared=True)


def _read_include(name: str, included_from: str) -> SourceFile:
    if name.startswith(BUILTIN):
        return _read_builtin(name)
    if not is_policy_file(name):
        raise ConfigNotFound(f'"{name}" is neither builtin:NAME nor a file; a file holds a slash or ends in .yaml')
    path = Path(name).expanduser()
    if not path.is_absolute():
        if included_from.startswith(BUILTIN):
            raise ConfigNotFound(f'"{name}" is relative, and a builtin has no folder')
        path = Path(included_from).parent / path
    return _read_file(path, may_be_shared=path.resolve().parent == shipped_policies_dir().resolve())


def _read_builtin(name: str) -> SourceFile:
    text = INCLUDES.get(name)
    if text is None:
        raise ConfigNotFound(f'there is no "{name}"{closest(name, INCLUDES)} (shipped: {_listed(INCLUDES)})')
    return SourceFile(identity=name, node=parse(text.encode(), name, error=PolicyInvalid))


def _read_file(path: Path, *, may_be_shared: bool) -> SourceFile:
    data = read_trusted(path, what="policy file", may_be_shared=may_be_shared)
    return SourceFile(identity=str(path.resolve()), node=parse(data, _shown(path), error=PolicyInvalid))


def _shown(path: Path) -> str:
    """The file's name as a person would write it: relative when it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
