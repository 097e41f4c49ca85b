"""``python -m execkit_mcp`` and the ``execkit-mcp`` command."""

import sys


def main() -> int:
    """Run the command line; the exit code is returned."""
    from execkit_mcp.cli.main import run  # noqa: PLC0415 - `import execkit_mcp` must not import the command line

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
