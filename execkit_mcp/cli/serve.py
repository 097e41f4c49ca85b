"""``execkit-mcp serve``: the MCP server."""

import argparse
import contextlib
import sys
from typing import Final

_MAX_PORT: Final = 65_535
_HTTP: Final = ("host", "port", "public_url", "tls_cert", "tls_key", "behind_proxy")
_EPILOG = """\
examples:
  execkit-mcp serve --policy workstation --workspace ~/src/app
  execkit-mcp serve --transport http --port 8765      then: execkit-mcp tokens create NAME

On stdio a client starts this itself; put it into the client's configuration (see the README). Standard output carries
protocol lines only; everything for people goes to standard error.
"""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "serve",
        help="run the MCP server",
        description="Run the MCP server on standard input and output, or over HTTP.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from execkit_mcp.cli.options import add_settings  # noqa: PLC0415 - keeps --help of other commands quick

    add_settings(parser)
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio", help="stdio (default) or http")
    parser.add_argument(
        "--read-only", action="store_true", help="the same as --policy read-only; refuses any other --policy"
    )
    http = parser.add_argument_group("with --transport http")
    http.add_argument("--host", metavar="H", help="the address to listen on (default: 127.0.0.1)")
    http.add_argument("--port", metavar="P", type=_port, help="the port (default: 8765; 0: any free one)")
    http.add_argument("--public-url", metavar="URL", help="how clients reach it, e.g. https://shell.example.com")
    http.add_argument("--tls-cert", metavar="FILE", help="certificate chain, PEM")
    http.add_argument("--tls-key", metavar="FILE", help="its private key, PEM")
    http.add_argument("--behind-proxy", action="store_true", default=None, help="a proxy in front of it does TLS")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the input ends or SIGTERM comes; what ends it otherwise is told without the secrets it quotes."""
    from execkit_mcp.errors import ExecKitError  # noqa: PLC0415 - only when serving

    try:
        return _serve(arguments)
    except BrokenPipeError:
        raise
    except ExecKitError as error:
        from execkit_mcp.cli.main import exit_code  # noqa: PLC0415 - it imports this module

        told, code = f"execkit-mcp: {error}\n", exit_code(error)
    except Exception:  # noqa: BLE001 - the top handler: clients keep what a server says in their logs
        import traceback  # noqa: PLC0415 - only then

        told, code = traceback.format_exc(), 1
    from execkit_mcp.cli.shown import without_secrets  # noqa: PLC0415 - only then

    sys.stderr.write(without_secrets()(told))
    return code


def _serve(arguments: argparse.Namespace) -> int:
    import gc  # noqa: PLC0415 - only when serving

    _allow_many_sessions()
    gc.disable()  # a sixth of the start is walks over classes that stay; the server turns it on again
    from execkit_mcp.errors import ConfigError  # noqa: PLC0415 - only when serving

    policy = arguments.policy
    if arguments.read_only:
        if policy not in (None, "read-only"):
            raise ConfigError(
                f"--read-only and --policy {policy} contradict each other.", hint="Leave out one of them."
            )
        policy = "read-only"
    places = {
        "policy": policy,
        "config": arguments.config,
        "workspace": arguments.workspace,
        "state_dir": arguments.state_dir,
        "read_only": arguments.read_only,
    }
    given = {name: getattr(arguments, name) for name in _HTTP if getattr(arguments, name) is not None}
    if arguments.transport == "http":
        from execkit_mcp.server.http.serve import serve_http  # noqa: PLC0415 - imports the MCP SDK

        return serve_http(given, **places)
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise ConfigError(f"Without --transport http nothing listens: {flags}.", hint="Add --transport http.")
    from execkit_mcp.server.serve import serve_stdio  # noqa: PLC0415 - imports the MCP SDK

    return serve_stdio(**places)


def _allow_many_sessions() -> None:
    """Each session takes some seven descriptors: ask for as many as we may have (setrlimit(2))."""
    import resource  # noqa: PLC0415 - only when serving

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; write a number from 0 to {_MAX_PORT}")
    return int(text)
