"""The command ``approver``: enrol the device whose code a critical yes needs."""

import argparse

from execkit_mcp.cli.person import open_desk, refuse_inside_a_session, user
from execkit_mcp.cli.state import add_state_options, state_folder

__all__ = ["add_to"]

_EXAMPLE = """\
examples:
  execkit-mcp approver enrol               critical commands need the code of your authenticator from now on
  execkit-mcp approver enrol --for all     every yes does
  execkit-mcp approver status
  execkit-mcp approver remove --code 123456
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register ``approver enrol|status|remove``."""
    parser = subparsers.add_parser(
        "approver",
        help="enrol the device whose code a critical yes needs (TOTP, RFC 6238)",
        description="With an approver enrolled, a yes to a critical command needs six digits of a device.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(dest="part", metavar="enrol|status|remove", required=True)
    enrolling = parts.add_parser(
        "enrol", aliases=["enroll"], help="make a secret and show it once", epilog=_EXAMPLE,
        formatter_class=parser.formatter_class,
    )  # fmt: skip
    enrolling.add_argument(
        "--for", dest="wanted", choices=("critical", "all"), default="critical", help="which yes needs a code"
    )
    enrolling.set_defaults(run=run_enrol)
    status = parts.add_parser(
        "status", help="whether one is enrolled", epilog=_EXAMPLE, formatter_class=parser.formatter_class
    )
    status.set_defaults(run=run_status)
    removing = parts.add_parser(
        "remove", help="forget the secret", epilog=_EXAMPLE, formatter_class=parser.formatter_class
    )
    removing.add_argument("--code", required=True, metavar="DIGITS", help="what the authenticator shows")
    removing.set_defaults(run=run_remove)
    for part in (enrolling, status, removing):
        add_state_options(part)


def run_enrol(args: argparse.Namespace) -> int:
    """Make the secret, put that on the record, and show it this once."""
    from execkit_mcp.approvals.approver import enrol, remove  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.approvals.totp import provisioning_uri, secret_text  # noqa: PLC0415
    from execkit_mcp.runtime.system import SystemEntropy  # noqa: PLC0415

    refuse_inside_a_session()
    desk = open_desk(args)
    folder = state_folder(args)
    secret = enrol(folder, wanted=args.wanted, entropy=SystemEntropy())
    try:
        desk.record("approver.enrolled", {"who": user(), "for": args.wanted})
    except BaseException:
        remove(folder)
        raise
    which = "Every yes" if args.wanted == "all" else "A yes to a critical command"
    print(f"{which} needs the code of this secret from now on. It is shown this once; keep no copy on this machine.\n")
    print(f"secret : {secret_text(secret)}")
    print(f"uri    : {provisioning_uri(secret, account=user().split()[0])}\n")
    print("Enter it into an authenticator app (time-based, 6 digits, 30 s), or make a QR code of the uri.")
    return 0


def run_status(args: argparse.Namespace) -> int:
    """Say whether an approver is enrolled."""
    from execkit_mcp.approvals.approver import Approver  # noqa: PLC0415 # heavy imports belong to the run

    wanted = Approver.of(state_folder(args)).wanted_for
    words = {
        "": "No approver is enrolled: whoever can run execkit-mcp as this user can approve.",
        "critical": "An approver is enrolled: a yes to a critical command needs a code.",
        "all": "An approver is enrolled: every yes needs a code.",
    }
    print(words[wanted])
    return 0


def run_remove(args: argparse.Namespace) -> int:
    """Forget the secret, once a code of it is given."""
    from execkit_mcp.approvals.approver import remove  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.errors import ApprovalExpired  # noqa: PLC0415

    refuse_inside_a_session()
    desk = open_desk(args)
    if not desk.approver.is_enrolled:
        raise ApprovalExpired("No approver is enrolled.", hint="execkit-mcp approver enrol")
    desk.queue.require_code(args.code)
    desk.record("approver.removed", {"who": user()})
    remove(state_folder(args))
    print("Removed. Servers that run have seen it and go on asking for its codes; start them again.")
    return 0
