"""What the budget keeps of long logs: characters saved and facts kept, against plain head and tail.

The logs come from real tools where the machine has them (pytest, gcc, make, git, bash, Python, Node), and from
loops that write what services write. A fact is a string that a person would look for in the log.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from execkit_mcp.output import OutputChain, view
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.redaction import Redactor

BUDGETS = (4_000, 20_000)


class Log(Struct, frozen=True, kw_only=True):
    """Output of a command, and what matters in it."""

    name: str
    raw: bytes
    facts: tuple[str, ...]


def _run(folder: Path, *argv: str) -> bytes:
    plain = {**os.environ, "LC_ALL": "C", "TERM": "dumb"}
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False, timeout=120, env=plain)
    return done.stdout + done.stderr


def _pytest(folder: Path) -> Iterator[Log]:
    tests = "".join(f"def test_fine_{n}():\n    assert {n} == {n}\n\n" for n in range(900))
    tests += "def area(w, h):\n    return w + h\n\ndef test_area():\n    assert area(3, 4) == 12\n\n"
    tests += 'def test_lookup():\n    assert {"a": 1}["missing_key"]\n'
    (folder / "test_many.py").write_text(tests)
    raw = _run(folder, sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_many.py")
    facts = ("assert area(3, 4) == 12", "assert 7 == 12", "KeyError: 'missing_key'", "2 failed, 900 passed")
    yield Log(name="pytest -v, 2 of 902 fail", raw=raw, facts=facts)


def _gcc(folder: Path) -> Iterator[Log]:
    if shutil.which("gcc") is None:
        return
    for n in range(120):
        (folder / f"unit{n}.c").write_text(f"int f{n}(int a) {{ int unused{n} = a; return a * {n}; }}\n")
    (folder / "unit57.c").write_text("int f57(int a) {\n  return a * widht;\n}\n")
    (folder / "Makefile").write_text(
        "all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -Wall -Wextra -O2 -g -c $< -o $@\n"
    )
    if shutil.which("make"):
        raw = _run(folder, "make", "-k", "all")
        yield Log(
            name="make -k, 1 of 120 files wrong",
            raw=raw,
            facts=("'widht' undeclared", "return a * widht;", "unit57.o] Error 1", "Target 'all' not remade"),
        )


def _tracebacks(folder: Path) -> Iterator[Log]:
    (folder / "worker.py").write_text(
        "import logging, sys\n"
        "logging.basicConfig(format='%(asctime)s %(levelname)s %(message)s', stream=sys.stdout, level=20)\n"
        "def charge(order):\n    return order['total'] / order['parts']\n"
        "for n in range(4000):\n    logging.info('order %d charged in %d ms', n, n % 83)\n"
        "    if n == 2222:\n        logging.warning('pool is almost empty: %d of 50', 2)\n"
        "    if n == 2345:\n"
        "        try:\n            charge({'total': 5, 'parts': 0})\n"
        "        except ZeroDivisionError:\n            logging.exception('order %d lost', n)\n"
    )
    facts = ("order 2345 lost", "Traceback (most recent call last)", "return order['total'] / order['parts']",
             "ZeroDivisionError: division by zero", "pool is almost empty", "order 3999 charged")  # fmt: skip
    yield Log(name="Python service, one traceback", raw=_run(folder, sys.executable, "worker.py"), facts=facts)


def _node(folder: Path) -> Iterator[Log]:
    if shutil.which("node") is None:
        return
    (folder / "app.js").write_text(
        "for (let n = 0; n < 3000; n++) console.log(`GET /items/${n} 200 ${n % 40}ms`);\n"
        "function price(item) { return item.cost.amount; }\n"
        "try { price({}); } catch (error) { console.log(error.stack); }\n"
        "for (let n = 0; n < 3000; n++) console.log(`GET /items/${n} 200 ${n % 40}ms`);\n"
    )
    yield Log(
        name="Node service, one stack",
        raw=_run(folder, "node", "app.js"),
        facts=("TypeError: Cannot read properties of undefined (reading 'amount')", "at price (", "GET /items/2999"),
    )


def _progress(folder: Path) -> Iterator[Log]:
    script = (
        "for n in $(seq 0 2000); do printf '\\rReceiving objects: %3d%% (%d/2000)' $((n / 20)) $n; done\n"
        "echo ', done.'\n"
        'for n in $(seq 0 2000); do echo "Downloading numpy.whl [$n/2000 kB] $((n / 20))%"; done\n'
        "echo 'ERROR: Could not find a version that satisfies the requirement nosuch==9'\n"
        'for n in $(seq 0 2000); do echo "layer a1b2c3: Extracting $n kB"; done; echo Installed 3 packages\n'
    )
    facts = ("Receiving objects: 100% (2000/2000), done.", "[2000/2000 kB] 100%", "requirement nosuch==9",
             "Extracting 2000 kB", "Installed 3 packages")  # fmt: skip
    yield Log(name="progress of downloads", raw=_run(folder, "bash", "-c", script), facts=facts)


def _git(folder: Path) -> Iterator[Log]:
    if shutil.which("git") is None:
        return
    script = (
        "git init -q . && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
        'for n in $(seq 300); do git commit -q --allow-empty -m "chore: routine change number $n"; '
        '[ $n = 150 ] && git commit -q --allow-empty -m "fix: close the leak of sockets"; done\n'
        "git log --stat; git checkout nosuchbranch\n"
    )
    raw = _run(folder, "bash", "-c", script)
    yield Log(
        name="git log, then a wrong branch",
        raw=raw,
        facts=("fix: close the leak of sockets", "routine change number 300", "pathspec 'nosuchbranch' did not match"),
    )


def _ping(folder: Path) -> Iterator[Log]:
    script = (
        "for n in $(seq 1 3000); do\n"
        '  case $n in 1500|1501) echo "Request timeout for icmp_seq $n";; '
        '*) echo "64 bytes from 10.0.0.1: icmp_seq=$n ttl=64 time=0.$((n % 900)) ms";; esac\n'
        "done; echo '3000 packets transmitted, 2998 received, 0.0667% packet loss'\n"
    )
    facts = ("Request timeout for icmp_seq 1500", "2998 received")
    yield Log(name="ping with two losses", raw=_run(folder, "bash", "-c", script), facts=facts)


MAKERS = (_pytest, _gcc, _tracebacks, _node, _progress, _git, _ping)


def logs() -> Iterator[Log]:
    """All logs that this machine can make."""
    for make in MAKERS:
        with tempfile.TemporaryDirectory(prefix="execkit-log-") as name:
            yield from make(Path(name))


def head_and_tail(text: str, budget: int) -> str:
    """What one would have without choosing."""
    return text if len(text) <= budget else text[: budget // 2] + text[-(budget - budget // 2) :]


def main() -> None:
    """Print the table."""
    print(f"{'log, after terminal clean-up':32} {'budget':>7} {'chars':>8} {'kept':>7} {'saved':>6} {'gaps':>5}"
          f" {'facts':>7} {'head+tail':>10}")  # fmt: skip
    found = plain = wanted = 0
    for log in logs():
        chain = OutputChain(redactor=Redactor(key=b"k" * 32, known=()))
        chain.push(log.raw)
        chain.settle()
        text = chain.retained.read(0, 10_000_000).text
        missing = [fact for fact in log.facts if fact not in text]
        assert not missing, (log.name, missing)
        for budget in BUDGETS:
            shown, _ = view(chain.retained, budget, exec_id="x_0123456789ab")
            ours = sum(fact in shown for fact in log.facts)
            theirs = sum(fact in head_and_tail(text, budget) for fact in log.facts)
            found, plain, wanted = found + ours, plain + theirs, wanted + len(log.facts)
            of = len(log.facts)
            print(f"{log.name:32} {budget:7} {len(text):8} {len(shown):7} {1 - len(shown) / len(text):6.1%}"
                  f" {shown.count(MARKER_START):5} {ours:3} of {of} {theirs:5} of {of}")  # fmt: skip
    print(f"facts kept: {found} of {wanted}; plain head and tail: {plain} of {wanted}")


if __name__ == "__main__":
    main()
