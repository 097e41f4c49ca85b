"""``execkit-mcp web``: the page where a person answers, watches and looks things up."""

import argparse

from execkit_mcp.cli.state import add_state_options, audit_key

__all__ = ["add_to", "run"]

_EPILOG = """\
examples:
  execkit-mcp web                           serve on 127.0.0.1 and print a link that works once
  execkit-mcp web --link                    another link to the page that runs already, for another browser
  execkit-mcp web --token-file ~/.config/execkit-mcp/web.token

From another machine: ssh -L 8730:127.0.0.1:8730 HOST, then open the link there. To serve a network, --host, --tls-cert,
--tls-key and --public-url are needed together.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "web",
        help="serve the page: approvals, live sessions, search, replay",
        description="Serve the page where a person answers approvals, watches sessions and looks things up.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_state_options(parser)
    parser.add_argument("--policy", metavar="NAME|FILE", help="the policy that the page shows first")
    parser.add_argument("--workspace", metavar="DIR", help="what ${workspace} means (default: the current folder)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=_port, metavar="PORT", help="the port (8730); 0 for any free one")
    parser.add_argument("--link", action="store_true", help="print another link to the page that runs already, and end")
    parser.add_argument("--token-file", metavar="FILE", help="a file with a fixed token to log in with")
    parser.add_argument("--public-url", metavar="URL", help="how browsers reach it: https://NAME[:PORT]")
    parser.add_argument("--tls-cert", metavar="FILE", help="the certificate chain, PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its key, PEM")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM; with ``--link`` print a link and end."""
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415
    from execkit_mcp.errors import ApprovalDenied  # noqa: PLC0415

    if is_inside_a_session():
        raise ApprovalDenied(
            "Nobody can open the page from inside an execkit session.", hint="Run this in a terminal of your own."
        )
    settings = load_settings(config=args.config, policy=args.policy, workspace=args.workspace, state_dir=args.state_dir)
    from execkit_mcp.web.serve import DEFAULT_PORT, WebOptions, print_link, serve  # noqa: PLC0415

    if args.link:
        return print_link(settings)
    options = WebOptions(
        host=args.host,
        port=DEFAULT_PORT if args.port is None else args.port,
        public_url=args.public_url,
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        token_file=args.token_file,
        audit_key=audit_key(args),
    )
    return serve(options, settings)


def _port(text: str) -> int:
    if not 0 <= (number := int(text)) <= 65535:  # noqa: PLR2004 # the largest port
        raise argparse.ArgumentTypeError("a port is 0 to 65535")
    return number
