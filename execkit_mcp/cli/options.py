"""Options that several commands share."""

import argparse


def add_settings(parser: argparse.ArgumentParser) -> None:
    """``--policy --config --workspace``: what decides, and where ``${workspace}`` is."""
    parser.add_argument("--policy", metavar="NAME|FILE", help="a shipped policy or a policy file")
    parser.add_argument("--config", metavar="FILE", help="the configuration file")
    parser.add_argument("--workspace", metavar="DIR", help="what ${workspace} means (default: the current folder)")
    parser.add_argument("--state-dir", metavar="DIR", help="where approvals and the audit log are kept")
