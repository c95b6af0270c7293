"""Tables and verdicts on plain paper: what every workload prints."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.measure import Measured
from lvmkit.scores import adjusted_rand

COSTS = ("method", "s", "cpu s", "runs", "MB")


class Goal(NamedTuple):
    """A number that should not exceed, or not fall below, a limit."""

    text: str
    value: float
    most: float | None = None
    least: float | None = None

    def line(self) -> str:
        """Return value, limit and verdict."""
        high = self.most is not None and self.value > self.most
        low = self.least is not None and self.value < self.least
        limit = f"at least {self.least}" if self.most is None else f"at most {self.most:.4g}"
        return f"  {'MISSED' if high or low else 'met':<7}{self.text}: {self.value:.4g} ({limit})"


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a title and aligned columns, names at the left and numbers at the right."""
    texts = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in texts) for i in range(len(columns))]
    print(f"\n{title}\n")
    for line in texts:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *others]))
        if line is texts[0]:
            print("  ".join("-" * width for width in widths))


def print_goals(*goals: Goal) -> None:
    """Print the ratios that were asked for, and whether they are met."""
    print()
    for goal in goals:
        print(goal.line(), flush=True)


def costs(spent: Any) -> tuple[Any, ...]:
    """Return the cells of the columns COSTS: what was measured of one method."""
    return spent.name, spent.seconds, spent.cpu, spent.runs, round(spent.megabytes)


def print_fits(title: str, measured: Sequence[Measured], X: Any, truth: Any) -> None:
    """Print the costs, the agreement with the truth and the log-likelihood of every method."""
    columns = (*COSTS, "iterations", "ARI", "log-likelihood")
    rows = [
        (
            *costs(m),
            m.found.iterations,
            adjusted_rand(truth, m.found.labels),
            f"{m.found.mixture.score(X):.4f}",
        )
        for m in measured
    ]
    print_table(title, columns, rows)


def _text(cell: Any) -> str:
    """Write a cell: floats with three digits, "-" for what does not apply."""
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.3g}" if 1 <= abs(cell) < 1000 else f"{cell:.0f}" if cell > 1 else f"{cell:.3f}"
