"""``execkit-mcp policy diff|replay|suggest|mutate``: what a change of policy would change, and how well one holds."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from execkit_mcp.cli.recorded import Recorded
    from execkit_mcp.policy import CompiledPolicy
    from execkit_mcp.policy.compare import Comparison

EXIT_FAILED: Final = 1
_SHOWN: Final = 20

_DIFF_EPILOG = """\
example:
  execkit-mcp policy diff read-only ./team.yaml --corpus commands.txt

The corpus holds a command on each line, or JSON Lines with "command" and, where known, "id", "category", "cwd" and
"home"; - is standard input. Listed first is what becomes looser.

exit codes: 0 no decision differs, 1 some do, 2 a policy or the corpus cannot be read.
"""
_REPLAY_EPILOG = """\
examples:
  execkit-mcp policy replay --policy ./team.yaml
  execkit-mcp policy replay --policy ./team.yaml --audit ~/.local/state/execkit-mcp

Judges again what is on the record: what ran (an approved command counts as ask) and what was refused. FILE is an
audit folder, one of its files, or what `audit show --json` printed; unless given, the record of this machine.

exit codes: 0 everything that ran would still be decided alike or looser, 1 some of it would be stopped or asked,
2 the policy or the record cannot be read. A record that is not whole is refused (1).
"""
_SUGGEST_EPILOG = """\
example:
  execkit-mcp policy suggest --policy workstation > team.yaml && execkit-mcp policy test ./team.yaml

Prints a policy that includes the one you name and allows what a person approved: the same program, subcommand, flags
and operands in the same folder, with the fewest effects that do; each command is a test. What no rule can say exactly
is listed as a comment with the reason. Read it before you use it.
"""
_MUTATE_EPILOG = """\
example:
  execkit-mcp policy mutate ./team.yaml

Spells each command that a test of the policy denies in many other ways (quotes, variables, wrappers, shells in
shells, paths, flags) and judges them. A variant that is allowed while its origin is denied is a hole, in the policy
or in this program.

exit codes: 0 every variant is stopped, 1 one got past, 2 the document does not load.
"""


def add_to(
    part: Callable[[str, str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser],
    add_context: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Register the four parts; ``part`` makes a parser, ``add_context`` its ``--workspace --cwd --home``."""
    diff = part("diff", "which commands get another decision", _DIFF_EPILOG, run_diff)
    diff.add_argument("before", metavar="A", help="the policy as it is: a shipped name or a file")
    diff.add_argument("after", metavar="B", help="the policy as it would be")
    diff.add_argument("--corpus", metavar="FILE", required=True, help="the commands, one a line or JSON Lines")
    replay = part("replay", "back-test a policy on what really ran", _REPLAY_EPILOG, run_replay)
    suggest = part("suggest", "the smallest rules for what a person approved", _SUGGEST_EPILOG, run_suggest)
    for reading in (replay, suggest):
        reading.add_argument("--policy", metavar="NAME|FILE", help="a shipped policy or a policy file")
        reading.add_argument("--audit", metavar="FILE", help="the record: a folder or a file (default: this machine's)")
        reading.add_argument("--audit-key", metavar="FILE", help="the key of the record, if it has one")
        reading.add_argument("--state-dir", metavar="DIR", help="where the record is kept")
        reading.add_argument("--config", metavar="FILE", help="the configuration file")
    mutate = part("mutate", "attack a policy with variants of its own denied tests", _MUTATE_EPILOG, run_mutate)
    mutate.add_argument("files", metavar="NAME|FILE", nargs="*", help="policies (default: every shipped one)")
    mutate.add_argument("--policy", metavar="NAME|FILE", action="append", default=[], help="a policy; may be repeated")
    for judging in (diff, replay, suggest):
        add_context(judging)
    for each in (diff, replay, suggest, mutate):
        each.add_argument("--json", action="store_true", help="print one JSON object")
    for listing in (diff, replay):
        listing.add_argument(
            "--show", type=_count, default=_SHOWN, metavar="N", help=f"commands shown a group (default {_SHOWN})"
        )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of commands; write 0 or more")
    return int(text)


# ── diff and replay
# ──────────────────────────────────────────────────────────────────────────────────────────


def run_diff(arguments: argparse.Namespace) -> int:
    """Compare two policies over a corpus."""
    from execkit_mcp.cli.corpus import read_corpus  # noqa: PLC0415 - only when running
    from execkit_mcp.cli.policy import context_for  # noqa: PLC0415
    from execkit_mcp.policy.compare import compare, decided_by  # noqa: PLC0415
    from execkit_mcp.runtime.policies import load_policy  # noqa: PLC0415

    before, after = load_policy(arguments.before), load_policy(arguments.after)
    questions = read_corpus(arguments.corpus)
    found = compare(questions, decided_by(before, context_for(arguments, before)), after, context_for(arguments, after))
    if arguments.json:
        _print_json({"before": _reference(before), "after": _reference(after), **found.to_json()})
    else:
        _print_comparison(found, arguments.show)
    return EXIT_FAILED if found.changes else 0


def run_replay(arguments: argparse.Namespace) -> int:
    """Judge again what is on the record."""
    from execkit_mcp.cli.policy import judge_with  # noqa: PLC0415 - only when running
    from execkit_mcp.model import Verdict  # noqa: PLC0415
    from execkit_mcp.policy.compare import compare  # noqa: PLC0415

    policy, context = judge_with(arguments)
    record = _record(arguments)
    found = compare(record.questions, lambda question: question.before or Verdict.ALLOW, policy, context)
    stopped = [change for change in found.changes if change.is_stricter and change.question.was_run]
    if arguments.json:
        _print_json(
            {"policy": _reference(policy), "stopped": len(stopped), "unknown": record.unknown, **found.to_json()}
        )
    else:
        _print_comparison(found, arguments.show)
        print(f"{len(stopped)} commands that ran would be stopped or asked about")
        if record.unknown:
            print(f"{record.unknown} commands were not judged: a secret in them is redacted on the record")
    return EXIT_FAILED if stopped else 0


def _print_comparison(found: "Comparison", most: int) -> None:
    from execkit_mcp.cli.colour import painter  # noqa: PLC0415 - only when running
    from execkit_mcp.policy.explain import shown  # noqa: PLC0415

    paint = painter(sys.stdout)
    looser = len(found.changes) - found.stricter
    print(f"{found.judged} judged, {len(found.changes)} differ: {looser} looser, {found.stricter} stricter")
    for before, after, changes in found.groups():
        title = f"{paint(before.word, before.word)} → {paint(after.word, after.word)}"
        print(f"\n{title}: {len(changes)}")
        for change in changes[:most]:
            question, told = change.question, change.after
            about = " ".join(each for each in (question.label, question.category) if each)
            print(f"  {shown(json.dumps(question.command, ensure_ascii=False)[1:-1])}")
            why = told.rule if told.rule is not None else told.reason_code.value
            print(shown(f"      {f'[{about}] ' if about else ''}{why}: {told.message}").replace("\n", "\\n"))
        if len(changes) > most:
            print(f"  … and {len(changes) - most} more (--show {len(changes)}, or --json)")


def _reference(policy: "CompiledPolicy") -> dict[str, str]:
    return {"name": policy.ref.name, "digest": policy.ref.digest}


def _print_json(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def _record(arguments: argparse.Namespace) -> "Recorded":
    from pathlib import Path  # noqa: PLC0415 - only when running

    from execkit_mcp.cli.recorded import read_record, recorded  # noqa: PLC0415
    from execkit_mcp.cli.state import audit_folder, audit_key  # noqa: PLC0415

    path = Path(arguments.audit).expanduser() if arguments.audit else audit_folder(arguments)
    return recorded(read_record(path, audit_key(arguments)))


# ── suggest
# ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def run_suggest(arguments: argparse.Namespace) -> int:
    """Print rules for what was approved."""
    from execkit_mcp.cli.policy import judge_with  # noqa: PLC0415 - only when running
    from execkit_mcp.config.locations import shipped_policies_dir  # noqa: PLC0415
    from execkit_mcp.policy.suggest import suggest, to_yaml  # noqa: PLC0415
    from execkit_mcp.runtime.policies import example_context, shipped_names  # noqa: PLC0415

    policy, context = judge_with(arguments)
    found = suggest(_record(arguments).approved, policy, context, example_context())
    name = policy.document.name
    source = policy.document.source
    is_shipped = name in shipped_names() and (arguments.policy is None or arguments.policy == name)
    include = str(shipped_policies_dir() / f"{name}.yaml") if is_shipped else _absolute(source)
    text = to_yaml(found, name=f"{name}-approved", include=include)
    if arguments.json:
        _print_json(
            {
                "yaml": text,
                "rules": len(found.rules),
                "covered": [each.command for each in found.covered],
                "left": [{"command": each.command, "reason": each.reason} for each in found.left],
                "already": found.already,
            }
        )
        return 0
    print(text, end="")
    print(
        f"{len(found.covered)} commands covered, {found.already} allowed as it is, {len(found.left)} left to you",
        file=sys.stderr,
    )
    return 0


def _absolute(source: str) -> str:
    from pathlib import Path  # noqa: PLC0415 - only when running

    return str(Path(source).absolute())


# ── mutate
# ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def run_mutate(arguments: argparse.Namespace) -> int:
    """Attack policies with variants of what they deny."""
    from execkit_mcp.policy import compile_policy  # noqa: PLC0415 - only when running
    from execkit_mcp.policy.explain import shown  # noqa: PLC0415
    from execkit_mcp.policy.mutate import mutate  # noqa: PLC0415
    from execkit_mcp.runtime.policies import example_context, load_document, shipped_names  # noqa: PLC0415

    answers: dict[str, object] = {}
    has_escape = False
    for name in [*arguments.policy, *arguments.files] or shipped_names():
        policy = compile_policy(load_document(name))
        score = mutate(policy, example_context())
        has_escape = has_escape or bool(score.escapes)
        answers[policy.document.name] = score.to_json()
        if arguments.json:
            continue
        for escape in score.escapes:
            origin = escape.example
            print(
                shown(
                    f"{origin.source}: {json.dumps(origin.run, ensure_ascii=False)} is denied, but by "
                    f"{escape.variant.kind} rule {escape.rule or '-'} allows: "
                    f"{json.dumps(escape.variant.text, ensure_ascii=False)}"
                )
            )
        hint = "" if score.origins else " (the policy has no test that expects deny: write some)"
        print(
            f"{policy.document.name}: {score.stopped} of {score.total} variants of "
            f"{score.origins} denied tests stopped{hint}"
        )
    if arguments.json:
        _print_json({"policies": answers})
    return EXIT_FAILED if has_escape else 0
