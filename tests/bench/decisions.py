"""One decision after another, in a process of its own that stands as `serve` does; prints microseconds as JSON."""

import gc
import json
import sys
import time
from pathlib import Path

from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy


def main(corpus: str) -> None:
    """Parse, judge and render every text of the corpus once."""
    texts = [json.loads(line)["command"] for line in Path(corpus).read_text().splitlines()]
    policy = load_policy("read-only")
    context = Context(cwd="/srv/app", home="/home/op", workspace="/srv/app")
    for text in texts[:200]:
        judge(text, policy, context)
    gc.freeze()
    gc.set_threshold(20_000)
    samples = []
    for text in texts:
        start = time.perf_counter_ns()
        judge(text, policy, context)
        samples.append((time.perf_counter_ns() - start) / 1e3)
    json.dump(samples, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
