"""Where the commands that look after state find it: as the server does: flag, variable, file or default."""

import argparse
from pathlib import Path

__all__ = ["add_state_options", "audit_folder", "audit_key", "state_folder"]


def add_state_options(parser: argparse.ArgumentParser, *, is_again: bool = False) -> None:
    """``--config --state-dir --audit-key``; ``is_again``: the command before a subcommand takes them as well."""
    default = argparse.SUPPRESS if is_again else None
    parser.add_argument("--config", metavar="FILE", default=default, help="the configuration file")
    parser.add_argument(
        "--state-dir", metavar="DIR", default=default, help="where approvals and the audit log are kept"
    )
    parser.add_argument("--audit-key", metavar="FILE", default=default, help="the key of the audit log, if it has one")


def state_folder(args: argparse.Namespace) -> Path:
    """The folder of the approvals."""
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 # heavy imports belong to the run

    return Path(load_settings(config=args.config, state_dir=args.state_dir).state_dir)


def audit_folder(args: argparse.Namespace) -> Path:
    """The folder of the record; the same one unless the configuration says otherwise."""
    from execkit_mcp.config.settings import load_settings  # noqa: PLC0415 # heavy imports belong to the run

    return Path(load_settings(config=args.config, state_dir=args.state_dir).audit_dir)


def audit_key(args: argparse.Namespace) -> bytes | None:
    """The key in the file that ``--audit-key`` names, or None."""
    if not args.audit_key:
        return None
    from execkit_mcp.audit.folder import read_key  # noqa: PLC0415 # heavy imports belong to the run

    return read_key(Path(args.audit_key))
