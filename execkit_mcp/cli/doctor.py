"""``execkit-mcp doctor``: whether everything is in order here, and what to do where it is not."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execkit_mcp.config.settings import Settings

_EPILOG = """\
examples:
  execkit-mcp doctor
  execkit-mcp doctor --target prod-1     reachable, host key, login, shell, latency, fence
  execkit-mcp doctor --json | jq '.checks[] | select(.level == "failed")'
  execkit-mcp doctor --attack

It looks and changes nothing; --attack tries some 70 ways out of a local session's fence, in a folder of its own in the
workspace, and says which are open (--json: {"level",
"open", "attacks": [{"id", "kind", "title", "outcome", "detail"}]}). Else --json prints
{"ok", "version", "checks": [{"check", "level", "message", "remedy"}], "settings": {NAME: {"value", "origin"}}};
level is ok, note, warning or failed.

exit codes: 0 nothing failed, 1 something did.
"""
_SIGNS = {"ok": "✓", "note": "·", "warning": "!", "failed": "✗"}
_STYLES = {"ok": "allow", "note": "", "warning": "ask", "failed": "deny"}
# settings whose attribute has another name than the last part of theirs
_ATTRIBUTES = {"target": "default_target", "limits.sessions": "max_sessions", "approvals.channels": "approval_channels"}


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    from execkit_mcp.cli.options import add_settings  # noqa: PLC0415 - keeps --help of other commands quick

    parser = subparsers.add_parser(
        "doctor",
        help="check this installation",
        description="Check this installation: each finding with what to do about it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser)
    parser.add_argument("--target", metavar="NAME", help="go through opening a session on this ssh target as well")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--attack", action="store_true", help="run the attack matrix behind the fence that a session would get"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine and print."""
    import json  # noqa: PLC0415 - only when running

    if arguments.attack:
        return _attack(arguments)

    from msgspec import to_builtins  # noqa: PLC0415
    from msgspec.structs import replace  # noqa: PLC0415

    from execkit_mcp.cli.checks import Subject, examine, examine_target  # noqa: PLC0415
    from execkit_mcp.cli.colour import painter  # noqa: PLC0415
    from execkit_mcp.model.version import VERSION  # noqa: PLC0415
    from execkit_mcp.redaction.tree import redact_tree  # noqa: PLC0415

    subject = Subject(
        config=arguments.config,
        policy=arguments.policy,
        workspace=arguments.workspace,
        state_dir=arguments.state_dir,
    )
    findings = examine(subject)
    if arguments.target is not None:
        findings += examine_target(arguments.target, arguments.config)
    from execkit_mcp.cli.shown import without_secrets  # noqa: PLC0415

    shown = without_secrets()
    findings = [replace(one, message=shown(one.message), remedy=shown(one.remedy)) for one in findings]
    settings = redact_tree(_values(subject.settings), shown) if subject.settings is not None else {}
    is_well = all(finding.level != "failed" for finding in findings)
    if arguments.json:
        body = {"ok": is_well, "version": VERSION, "checks": to_builtins(findings), "settings": settings}
        print(json.dumps(body, indent=2, ensure_ascii=False))
        return 0 if is_well else 1
    paint = painter(sys.stdout)
    print(f"execkit-mcp {VERSION}")
    last = ""
    for finding in findings:
        heading = finding.check if finding.check != last else ""
        last = finding.check
        print(f"{heading:14} {paint(_STYLES[finding.level], _SIGNS[finding.level])} {finding.message}")
        if finding.remedy:
            print(f"{'':16} → {finding.remedy}")
    if settings:
        print("\nsettings")
        width = max(map(len, settings))
        for name, row in settings.items():
            print(f"  {name:{width}} {_told(row['value']):40} {row['origin']}")
    failed = sum(finding.level == "failed" for finding in findings)
    print(f"\n{failed} failed." if failed else "\nNothing failed.")
    return 0 if is_well else 1


def _attack(arguments: argparse.Namespace) -> int:
    """Run the matrix; 1 if a class of attack is open."""
    import json  # noqa: PLC0415 - only when running

    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
    from execkit_mcp.runtime.attack_matrix import attack  # noqa: PLC0415
    from execkit_mcp.runtime.fencing import described  # noqa: PLC0415
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415

    settings = load_settings(
        config=arguments.config,
        policy=arguments.policy,
        workspace=arguments.workspace,
        state_dir=arguments.state_dir,
    )
    policy = load_policy(settings.policy)
    fence = described(settings, policy, transport="local")
    rows = attack(settings, policy)
    opened = [row for row in rows if row.outcome == "open"]
    if arguments.json:
        body = {"level": fence.level, "open": len(opened), "attacks": [row.to_json() for row in rows]}
        print(json.dumps(body, indent=2, ensure_ascii=False))
        return 1 if opened else 0
    gate = "on" if fence.exec_gate else "off"
    print(f"fence {fence.level}, exec gate {gate}, network {fence.network}, policy {policy.ref.name}")
    for row in rows:
        sign = {"closed": "✓", "open": "✗"}.get(row.outcome, "·")
        note = f" ({row.detail})" if row.outcome == "untried" else ""
        print(f"  {sign} {row.kind:10} {row.id:22} {row.title}{note}")
    print(f"\n{len(opened)} of {len(rows)} are open here.")
    for hole in fence.holes:
        print(f"  open by design: {hole}")
    return 1 if opened else 0


def _values(settings: "Settings") -> dict[str, dict[str, object]]:
    """Every setting with its value and where it came from; names of secrets, never their values."""
    rows: dict[str, dict[str, object]] = {
        name: {"value": _value(settings, name), "origin": origin} for name, origin in settings.origins.items()
    }
    for name, target in settings.targets.items():
        rows[f"targets.{name}"] = {"value": target.transport, "origin": target.origin}
    return rows


def _told(value: object) -> str:
    """A value as it would stand in the file, as nearly as a line can say it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "none" if value is None else str(value)


def _value(settings: "Settings", name: str) -> object:
    """The value of a setting by the name that it has in the file."""
    if name == "secrets.typed":
        return sorted(settings.typed_secrets)
    group, _, last = name.rpartition(".")
    singular = f"{group.removesuffix('s')}_{last}"
    spellings = (_ATTRIBUTES.get(name, ""), name.replace(".", "_"), singular, last)
    found = next((getattr(settings, each) for each in spellings if each and hasattr(settings, each)), None)
    return list(found) if isinstance(found, tuple) else found
