"""Write the demo's transcript into the README, or with --check say whether it is current."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- transcript:begin [^\n]*-->\n).*?(<!-- transcript:end -->)", re.DOTALL)


def transcript() -> str:
    """What `make demo` prints, without the lines that name this checkout."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "poc" / "run_gates.py"), "--no-configuration"],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return done.stdout.strip()


def main() -> int:
    """0 if the README is current (or now is), 1 if --check found a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    before = README.read_text()
    block = (
        "\n<details><summary>What <code>make demo</code> prints</summary>\n\n```\n"
        + transcript()
        + "\n```\n</details>\n\n"
    )
    after = BLOCK.sub(lambda match: match[1] + block + match[2], before)
    if arguments.check:
        return int(after != before)
    README.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
