"""What the server counts, in the text format of Prometheus (exposition format 0.0.4)."""

from collections.abc import Iterable, Mapping
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_HELP: Final[Mapping[str, tuple[str, str]]] = {
    "execkit_http_requests_total": ("counter", "Requests answered, by path, method and status."),
    "execkit_http_refused_total": ("counter", "Requests turned away before they reached a tool, by reason."),
    "execkit_tool_calls_total": ("counter", "Tool calls, by tool and outcome (ok, error)."),
    "execkit_http_request_seconds": ("histogram", "Seconds from a request's headers to the end of its answer."),
    "execkit_http_requests_in_progress": ("gauge", "Requests that are being answered."),
    "execkit_http_connections": ("gauge", "Open connections."),
    "execkit_sessions_open": ("gauge", "Open shell sessions."),
    "execkit_execs_running": ("gauge", "Sessions in which a command runs."),
    "execkit_draining": ("gauge", "1 while the server finishes its last calls."),
    "execkit_start_time_seconds": ("gauge", "When the server started, in seconds since 1970."),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and one histogram; the number of label values is bounded by whoever counts."""

    def __init__(self) -> None:
        self._counters: dict[tuple[str, Labels], float] = {}
        self._buckets = [0] * len(_BUCKETS_S)
        self._sum_s = 0.0
        self._count = 0

    def count(self, name: str, **labels: str) -> None:
        """One more of ``name``."""
        key = (name, tuple(labels.items()))
        self._counters[key] = self._counters.get(key, 0) + 1

    def took(self, seconds: float) -> None:
        """A request took ``seconds``."""
        self._sum_s += seconds
        self._count += 1
        for place, bound in enumerate(_BUCKETS_S):
            if seconds <= bound:
                self._buckets[place] += 1

    def value(self, name: str, **labels: str) -> float:
        """What a counter stands at."""
        return self._counters.get((name, tuple(labels.items())), 0)

    def render(self, gauges: Mapping[str, float]) -> str:
        """Everything, with what can only be told now."""
        lines: list[str] = []
        for name, (kind, text) in _HELP.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            if kind == "histogram":
                lines += self._histogram(name)
            elif kind == "gauge":
                lines.append(f"{name} {gauges.get(name, 0)!r}")
            else:
                lines += [
                    f"{name}{_labels(labels)} {value!r}"
                    for (counter, labels), value in sorted(self._counters.items())
                    if counter == name
                ]
        return "\n".join(lines) + "\n"

    def _histogram(self, name: str) -> Iterable[str]:
        for bound, count in zip(_BUCKETS_S, self._buckets, strict=True):
            yield f'{name}_bucket{{le="{bound:g}"}} {count}'
        yield f'{name}_bucket{{le="+Inf"}} {self._count}'
        yield f"{name}_sum {self._sum_s:.6f}"
        yield f"{name}_count {self._count}"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    inner = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
    return f"{{{inner}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
