"""The policy in force and what it says about any command: this module explains and runs nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from execkit_mcp.config.locations import home_dir
from execkit_mcp.errors import ExecKitError
from execkit_mcp.policy import CompiledPolicy, Context, judge
from execkit_mcp.policy.document import Element, PolicyDocument
from execkit_mcp.policy.explain import explain_json
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.programs import LocalPrograms
from execkit_mcp.web.site import Site

__all__ = ["MAX_COMMAND", "PolicyPage"]

MAX_COMMAND = 16 * 1024
_MAX_FOLDER = 4096


class PolicyPage:
    """``/policy``."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def show(self, request: Request) -> Response:
        """The rules, and the decision on ``?command=`` where one is given."""
        query = request.query_params
        choices = self._site.policies()
        chosen = query.get("policy", next(iter(choices)))
        command = query.get("command", "")
        folder = query.get("cwd", "")
        values: dict[str, object] = {
            "choices": tuple(choices),
            "chosen": chosen,
            "command": command,
            "cwd": folder or self._site.settings.workspace,
            "decision": None,
            "problem": "",
            "policy": None,
        }
        status = 200
        if chosen not in choices:
            values |= {"problem": "There is no such policy here.", "chosen": next(iter(choices))}
            return self._site.pages.show(request, "policy.html", values, status=404)
        try:
            policy = load_policy(choices[chosen])
        except ExecKitError as error:
            values["problem"] = f"{error.message}\n{error.hint}".strip()
            return self._site.pages.show(request, "policy.html", values)
        values["policy"] = _shown(policy.document)
        if len(command) > MAX_COMMAND or len(folder) > _MAX_FOLDER:
            values |= {"problem": f"A command of over {MAX_COMMAND} characters is not explained here.", "command": ""}
            status = 413
        elif folder and not folder.startswith("/"):
            values |= {"problem": "The folder must be an absolute path.", "cwd": folder}
            status = 400
        elif command.strip():
            values["decision"] = self._explain(command, policy, folder)
        return self._site.pages.show(request, "policy.html", values, status=status)

    def _explain(self, command: str, policy: CompiledPolicy, folder: str) -> Mapping[str, object]:
        workspace = self._site.settings.workspace
        context = Context(
            cwd=folder or workspace,
            home=str(home_dir()),
            workspace=workspace,
            locator=LocalPrograms(policy.document.program_folders, policy.document.programs),
        )
        return explain_json(judge(command, policy, context), policy, context)


def _shown(document: PolicyDocument) -> Mapping[str, object]:
    return {
        "name": document.name,
        "digest": document.digest,
        "source": Path(document.source).name if document.source else "",
        "default": document.defaults.decision.word,
        "rules": [
            {
                "id": rule.id,
                "verdict": rule.verdict.word,
                "what": list(dict.fromkeys(_elements(rule.elements))),
                "reason": rule.reason,
                "source": rule.source,
            }
            for rule in document.rules
        ],
        "never": list(document.paths.never),
        "read": document.paths.read,
        "write": document.paths.write or (),
        "network": document.network.allow or (),
        "hazards": {"ask": document.hazards.ask, "deny": document.hazards.deny},
        "tests": len(document.tests),
    }


def _elements(elements: tuple[Element, ...]) -> Iterator[str]:
    for element in elements:
        if not element.sub:
            yield element.program
        yield from (f"{element.program} {' '.join(words)}" for words in element.sub)
