"""What `import lvmkit` costs in a fresh process, beside numpy and scikit-learn.

Run as ``python benchmarks/imports.py [--quick]``.
"""

import statistics
import subprocess
import sys
import time

from benchmarks.measure import Options, machine, options
from benchmarks.tables import Goal, print_goals, print_table

STATEMENTS = {
    "nothing": "pass",
    "numpy": "import numpy",
    "scikit-learn": "import sklearn.cluster",
    "lvmkit": "import lvmkit",
    "lvmkit, first model": "import lvmkit; lvmkit.BernoulliMixture",
}


def main(chosen: Options) -> None:
    """Measure and print."""
    print(machine(chosen))
    runs = 1 if chosen.quick else 5
    spent = {name: seconds(statement, runs) for name, statement in STATEMENTS.items()}
    empty = spent["nothing"]
    rows = [(name, each, each - empty) for name, each in spent.items()]
    columns = ("import", "s", "s above the bare interpreter")
    print_table(f"Imports, median of {runs} fresh processes", columns, rows)
    print_goals(Goal("seconds of import lvmkit", spent["lvmkit"], most=1.0))


def seconds(statement: str, runs: int) -> float:
    """Return the median wall time of a fresh interpreter that runs the statement."""
    spent = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        spent.append(time.perf_counter() - start)
    return statistics.median(spent[1:])  # the first one also fills the disk cache


if __name__ == "__main__":
    main(options(__doc__))
