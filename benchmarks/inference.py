"""Topic mixtures of many documents when the topics are known: Gibbs sampling of lvmkit and of tomotopy.

Run as ``python benchmarks/inference.py [--quick] [--threads N]``.
"""

import os
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.measure import Options, in_new_process, machine, options
from benchmarks.tables import Goal, print_goals, print_table
from benchmarks.topic_peers import as_words
from lvmkit.datasets import make_topics
from lvmkit.mixtures.gibbs import topic_mixtures

SWEEPS = 20


def main(chosen: Options) -> None:
    """Measure with one and with two threads and print."""
    print(machine(chosen))
    n = 2_000 if chosen.quick else 100_000
    rows, ratios = [], []
    for threads in (1, 2):
        ours = in_new_process(measured, "lvmkit", n, threads)
        theirs = in_new_process(measured, "tomotopy", n, threads)
        for name, (seconds, cpu, error) in (("lvmkit", ours), ("tomotopy", theirs)):
            rows.append((f"{name}, {threads} thread(s)", seconds, cpu, n / seconds, error))
        ratios.append(ours[0] / theirs[0])
    title = f"{n:,} documents of 80 words, 10,000 words, k = 50, {SWEEPS} sweeps"
    columns = ("method", "s", "cpu s", "documents/s", "L1 distance to the planted mixtures")
    print_table(title, columns, rows)
    print_goals(
        *(
            Goal(f"time / tomotopy, {threads} thread(s)", ratio, most=1.0)
            for threads, ratio in zip((1, 2), ratios, strict=True)
        )
    )


def measured(name: str, n: int, threads: int) -> tuple[float, float, float | None]:
    """Return wall and processor seconds and the error; for new processes."""
    warnings.simplefilter("ignore")
    os.environ["LVMKIT_THREADS"] = str(threads)
    data = make_topics(n, random_state=3)
    work = ours if name == "lvmkit" else theirs
    return work(data, threads)


def ours(data: Any, _: int) -> tuple[float, float, float]:
    """Sample with the planted topics."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = topic_mixtures(data.X, data.centers, data.alpha, n_sweeps=SWEEPS, n_burn=SWEEPS // 2)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    return (*spent, float(np.abs(found - data.mixtures).sum(axis=1).mean()))


def theirs(data: Any, workers: int) -> tuple[float, float, None]:
    """Sample with topics trained on some of the documents; tomotopy takes no given topics.

    Making its documents is outside the clock.
    """
    import tomotopy

    model = tomotopy.LDAModel(k=len(data.alpha), seed=1)
    words = list(as_words(data.X))
    for document in words[:5_000]:
        model.add_doc(document)
    model.train(10, workers=workers)
    documents = [model.make_doc(document) for document in words]
    wall, cpu = time.perf_counter(), time.process_time()
    model.infer(documents, iterations=SWEEPS, workers=workers)
    return time.perf_counter() - wall, time.process_time() - cpu, None


if __name__ == "__main__":
    main(options(__doc__))
