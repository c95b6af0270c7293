"""Ten million events to a patient × code matrix: lvmkit against the pandas pipelines one would write.

Run as ``python benchmarks/cohort_events.py [number of events]``; prints seconds (wall and, for a busy machine, CPU of
all threads), and wall seconds relative to lvmkit reading the same source.
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
from scipy import sparse

from lvmkit.cohorts import codes, from_events


def simulate(n_events: int) -> pd.DataFrame:
    """Make events of n/8 patients with codes of ICD-9 at frequencies that fall as 1/rank."""
    rng = np.random.default_rng(0)
    table = codes.categories("icd9").index.to_numpy(dtype=str)
    names = np.array([c for c in table if c[0] not in "VE"])[:700]
    full = np.char.add(names[:, None], np.array(["", "0", "1", "9"])).ravel()
    share = 1 / (np.arange(len(full)) + 10)
    dx = full[rng.choice(len(full), n_events, p=share / share.sum())]
    patient = rng.integers(0, n_events // 8, n_events)
    return pd.DataFrame(
        {"patient": np.char.mod("P%08d", patient).astype(object), "dx": dx.astype(object)}
    )


def pandas_groupby(events: pd.DataFrame) -> sparse.csr_array:
    """Build the matrix as a careful pandas user would: group, factorize, sparse."""
    pairs = events.assign(category=events["dx"].str[:3]).groupby(["patient", "category"]).size()
    rows, patients = pd.factorize(pairs.index.get_level_values(0), sort=True)
    columns, names = pd.factorize(pairs.index.get_level_values(1), sort=True)
    shape = (len(patients), len(names))
    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def pandas_crosstab(events: pd.DataFrame) -> pd.DataFrame:
    """Build the matrix as most would: a dense cross table."""
    return pd.crosstab(events["patient"], events["dx"].str[:3]).clip(upper=1)


class Spent(NamedTuple):
    """Time of one call."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        """Write both, in seconds."""
        return f"{self.wall:7.2f} s  {self.cpu:7.2f} s CPU"


def spent(work: Callable[[], object]) -> Spent:
    """Time one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def main(n_events: int) -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    events = simulate(n_events)
    names = {"patient": "patient", "code": "dx", "system": "icd9"}
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder) / "events.parquet", Path(folder) / "events.csv"
        for path in (parquet, csv):
            duckdb.sql(f"COPY events TO '{path}'")
        ours = {
            "Parquet": spent(lambda: from_events(parquet, **names)),
            "CSV": spent(lambda: from_events(csv, **names)),
            "DataFrame": spent(lambda: from_events(events, **names)),
        }
        read = spent(lambda: pd.read_csv(csv, dtype=str, keep_default_na=False))
    grouped = spent(lambda: pandas_groupby(events))
    few = events[events["patient"] < f"P{n_events // 80:08d}"]
    crossed = spent(lambda: pandas_crosstab(few))
    ours_few = spent(lambda: from_events(few, **names))
    both = Spent(read.wall + grouped.wall, read.cpu + grouped.cpu)
    print(f"{n_events:,} events")
    for source, time_of in ours.items():
        print(f"lvmkit, {source:<26} {time_of}")
    for name, time_of, base in (
        ("pandas groupby, DataFrame", grouped, ours["DataFrame"]),
        ("pandas read_csv + groupby", both, ours["CSV"]),
        (f"pandas crosstab of {len(few):,}", crossed, ours_few),
    ):
        print(f"{name:<34} {time_of}  {time_of.wall / base.wall:5.1f} x lvmkit")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
