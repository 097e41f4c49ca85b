"""``python -m execkit_mcp`` and the ``execkit-mcp`` command."""

import sys

if not __package__:  # started as a file, from a checkout that is not installed
    sys.path[0] = __file__.rpartition("/execkit_mcp/")[0]


def main() -> int:
    """Run the command line; the exit code is returned."""
    if sys.argv[1:2] == ["hook"]:
        from execkit_mcp.cli.hook.call import answer  # noqa: PLC0415 - started for each command of a client

        code = answer(sys.argv[2:])
        if code is not None:
            return code
    from execkit_mcp.cli.main import run  # noqa: PLC0415 - `import execkit_mcp` must not import the command line

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
