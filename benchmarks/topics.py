"""Topic models against Gibbs sampling, variational inference and NMF: time, coherence, error, perplexity.

Run as ``python benchmarks/topics.py [--quick] [--threads N] [reuters | synthetic]``.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from benchmarks import topic_peers as peers
from benchmarks.measure import Options, PeakMemory, in_new_process, machine, options
from benchmarks.tables import COSTS, Goal, costs, print_goals, print_table
from benchmarks.topic_peers import TopicMethod
from lvmkit.datasets import SimulatedTopics, make_topics
from lvmkit.scores import coherence, perplexity

N_TOP = 20
HELD_OUT = 1_000


class Fitted(NamedTuple):
    """What a topic model cost, and its topics."""

    name: str
    seconds: float
    cpu: float
    megabytes: float
    runs: int
    topics: Any


def main(chosen: Options) -> None:
    """Measure both workloads and print."""
    print(machine(chosen))
    reuters(chosen.quick)
    for n in (2_000,) if chosen.quick else (20_000, 100_000):
        synthetic(n, chosen.quick)


def reuters(quick: bool) -> None:
    """Compare on the corpus that the package lda brings."""
    train = load_reuters()
    sweeps = 50 if quick else 2_000
    made: list[tuple[Callable[..., TopicMethod], Any]] = [
        (peers.single_topic, (20,)),
        (peers.latent_dirichlet, (20, 0.2)),
        (peers.latent_dirichlet, (20, 1.0)),
        (peers.nmf, (20,)),
        (peers.lda_gibbs, (20, sweeps)),
        (peers.tomotopy_gibbs, (20, sweeps)),
        (peers.sklearn_lda, (20, 10, "batch")),
        (peers.sklearn_lda, (20, 10, "online")),
        (peers.gensim_online, (20, 10)),
    ]
    fits = [fitted(make, arguments, train) for make, arguments in made]
    rows_of = [(f.name, f.seconds, f.cpu, f.runs, cohere(f, train)) for f in fits]
    columns = ("method", "s", "cpu s", "runs", f"coherence, {N_TOP} words")
    print_table("Reuters, 395 documents x 4,258 words, k = 20", columns, rows_of)
    ours, factors, gibbs, tomo = fits[0], fits[3], fits[4], fits[5]
    print_goals(
        Goal("time of SingleTopic / lda", ours.seconds / gibbs.seconds, most=1 / 300),
        Goal("time of SingleTopic / tomotopy", ours.seconds / tomo.seconds, most=1 / 50),
        Goal("time of SingleTopic / NMF", ours.seconds / factors.seconds, most=1 / 3),
        Goal(
            "coherence above the best other",
            cohere(ours, train) - max(cohere(f, train) for f in fits[3:]),
            least=0.0,
        ),
    )


def synthetic(n: int, quick: bool) -> None:
    """Compare on documents drawn from a Dirichlet allocation."""
    k, d = (10, 1_000) if quick else (50, 10_000)
    data = make_topics(n + HELD_OUT, d, k, random_state=3)
    train, test = data.X[:n], data.X[n:]
    small = n <= 20_000
    sweeps = 10 if quick else 100 if small else 30
    made: list[tuple[Callable[..., TopicMethod], Any]] = [
        (peers.latent_dirichlet, (k,)),
        (peers.tomotopy_gibbs, (k, sweeps)),
        (peers.nmf, (k, 200 if small else 30)),
        (peers.gensim_online, (k, 2 if small else 1)),
        (peers.lda_gibbs, (k, sweeps if small else 20)),
    ]
    if small:
        made.append((peers.sklearn_lda, (k, 10, "batch")))
    fits = [fitted(make, arguments, train) for make, arguments in made]
    columns = (*COSTS, "topic error", "perplexity", "coherence")
    table = [
        (
            *costs(f),
            topic_error(data, f.topics),
            perplexity(f.topics, test),
            cohere(f, train),
        )
        for f in fits
    ]
    planted = perplexity(data.centers, test)
    table.append(("planted model", None, None, None, None, 0.0, planted, None))
    print_table(f"Dirichlet allocation, {n:,} x {d:,}, k = {k}", columns, table)
    ours, tomo = fits[0], fits[1]
    error = topic_error(data, ours.topics)
    ratio = ours.seconds / tomo.seconds
    if small:
        print_goals(
            Goal("time / tomotopy", ratio, most=1 / 15),
            Goal("topic error / tomotopy", error / topic_error(data, tomo.topics), most=0.65),
        )
    else:
        print_goals(
            Goal("time / tomotopy", ratio, most=1 / 10),
            Goal("topic error", error, most=0.2),
            Goal("perplexity / planted", perplexity(ours.topics, test) / planted, most=1.04),
        )


def load_reuters() -> sparse.csr_array:
    """Return the corpus of the package lda as sparse counts."""
    import lda.datasets

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        return sparse.csr_array(lda.datasets.load_reuters().astype(np.float32))


def fitted(make: Callable[..., TopicMethod], arguments: Any, X: Any) -> Fitted:
    """Fit in a new process; a small fit first loads what the method loads lazily."""
    return in_new_process(repeated, make, arguments, X)


def repeated(make: Callable[..., TopicMethod], arguments: Any, X: Any) -> Fitted:
    """Fit again and again while the budget lasts; for new processes."""
    warnings.simplefilter("ignore")
    method = make(*arguments)
    if "iterations" not in method.name:
        method.train(method.prepare(X[:200]))
    spent: list[tuple[float, float]] = []
    megabytes, model = 0.0, None
    while not spent or (len(spent) < 7 and sum(wall for wall, _ in spent) < 8):
        prepared = method.prepare(X)
        with PeakMemory() as memory:
            wall, cpu = time.perf_counter(), time.process_time()
            model = method.train(prepared)
            spent.append((time.perf_counter() - wall, time.process_time() - cpu))
        megabytes = megabytes or memory.megabytes
    return Fitted(
        method.name,
        statistics.median(wall for wall, _ in spent),
        statistics.median(cpu for _, cpu in spent),
        megabytes,
        len(spent),
        method.topics(model),
    )


def cohere(found: Fitted, X: Any) -> float:
    """Return the mean coherence of the topics."""
    return float(coherence(found.topics, X, n_top=N_TOP).mean())


def topic_error(data: SimulatedTopics, topics: Any) -> float:
    """Return the mean L1 distance to the planted topics, matched by assignment."""
    distance = np.array([np.abs(topic - topics).sum(axis=1) for topic in data.centers])
    rows, columns = linear_sum_assignment(distance)
    return float(distance[rows, columns].mean())


if __name__ == "__main__":
    only = {"reuters", "synthetic"} & set(sys.argv)
    sys.argv = [argument for argument in sys.argv if argument not in only]
    if only == {"reuters"}:
        reuters(options(__doc__).quick)
    elif only == {"synthetic"}:
        synthetic(20_000, options(__doc__).quick)
    else:
        main(options(__doc__))
