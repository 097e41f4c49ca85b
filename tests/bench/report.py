"""The figures of one run: printed as they come, and written to ``execkit_mcp/docs`` as a table and a plot."""

import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

DOCS = Path(__file__).resolve().parents[2] / "execkit_mcp" / "docs"


class Row(Struct, frozen=True, kw_only=True):
    """One line of a table: what was measured, the figure as text, how it stands to the others."""

    what: str
    figure: str
    note: str = ""


def against(value: float, limit: float, unit: str = "", *, is_least: bool = False) -> str:
    """The bar that a figure is measured against, and on which side of it the figure is.

    Args:
        value: the figure.
        limit: the bar.
        unit: of both.
        is_least: whether the figure is meant to be at least the bar, not at most.
    """
    is_met = value >= limit if is_least else value <= limit
    sign = "\u2265" if is_least else "\u2264"
    return f"bar {sign} {limit:g}{' ' * bool(unit)}{unit}: {'met' if is_met else 'MISSED'}"


class Report:
    """Sections of rows, in the order in which they were measured."""

    def __init__(self) -> None:
        self.sections: dict[str, list[Row]] = {}
        self.bars: list[tuple[str, float]] = []

    def add(self, section: str, what: str, figure: str, note: str = "") -> None:
        """Note and print one figure."""
        if section not in self.sections:
            print(f"\n{section}")
        self.sections.setdefault(section, []).append(Row(what=what, figure=figure, note=note))
        print(f"  {what:56} {figure:>22}  {note}", flush=True)

    def times(
        self,
        section: str,
        what: str,
        samples_ms: Sequence[float],
        note: str = "",
        *,
        bar: bool = False,
        limit: float | None = None,
    ) -> None:
        """Note a median and a 95th percentile.

        Args:
            section: under which heading.
            what: what was measured.
            samples_ms: the samples in milliseconds.
            note: how it stands to the others.
            bar: whether the median stands in the plot.
            limit: what the median is meant to stay below, in milliseconds.
        """
        ordered = sorted(samples_ms)
        median = statistics.median(ordered)
        if limit is not None:
            note = f"{note}; " * bool(note) + against(median, limit, "ms")
        self.add(section, what, f"{median:.3f} / {ordered[int(len(ordered) * 0.95)]:.3f} ms", note)
        if bar:
            self.bars.append((what, median))

    def write(self) -> None:
        """Write ``benchmarks.md`` and ``benchmarks.svg``."""
        DOCS.mkdir(exist_ok=True)
        lines = [
            "# Benchmarks",
            "",
            "Written by `make bench`: everything in one run, contenders in turn, on a machine that is never quiet.",
            "Trust the ratios. Two figures are median and 95th percentile.",
            "",
            f"{_machine()}.",
            "",
            "![One command in an open session](benchmarks.svg)",
        ]
        for section, rows in self.sections.items():
            lines += ["", f"## {section}", "", "| | | |", "|---|---:|---|"]
            lines += [f"| {row.what} | {row.figure} | {row.note} |" for row in rows]
        (DOCS / "benchmarks.md").write_text("\n".join(lines) + "\n")
        self._plot()

    def _plot(self) -> None:
        import matplotlib as mpl

        mpl.use("svg")
        from matplotlib import pyplot as plt

        mpl.rcParams["svg.hashsalt"] = "execkit"
        names = [name for name, _ in reversed(self.bars)]
        values = [value for _, value in reversed(self.bars)]
        figure, axes = plt.subplots(figsize=(9, 0.5 * len(names) + 1.2))
        axes.barh(names, values, color=["#1f6f50" if "execkit" in name else "#9aa5b1" for name in names])
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds a command, median (log scale)")
        for index, value in enumerate(values):
            axes.text(value * 1.05, index, f"{value:.2f}", va="center", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        figure.tight_layout()
        figure.savefig(DOCS / "benchmarks.svg", metadata={"Date": None})


def _machine() -> str:
    bash = subprocess.run(["bash", "--version"], capture_output=True, text=True, check=True).stdout.split()[3]
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, bash {bash.partition('(')[0]}"
