"""All workloads, one after the other, or those that are named.

Run as ``python benchmarks/run.py [--quick] [--threads N] [workload ...]``.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
WORKLOADS = {
    "imports": "what importing costs",
    "appendix_e": "the synthetic comparison of Ruffini 2017",
    "planted": "20,000 and 200,000 rows, against StepMix, random starts, the dense algorithm",
    "million": "up to a million rows, against k-means",
    "stability": "planted and real data, against k-means",
    "nhds": "a year of hospital discharges",
    "likelihoods": "the default start on eight real data sets, against random starts, StepMix, SOLA",
    "decompositions": "error and time of the six decompositions (thesis, Figure 2.1)",
    "estimators": "moments of Theorem 3.2.1 against Zou 2013 (thesis, Figure 3.1)",
    "topics": "topic models, against Gibbs sampling, variational inference, NMF",
    "inference": "topic mixtures of 100,000 documents, against tomotopy",
    "hierarchies": "trees of clusters: nested topics, speed, stability, predictive power",
    "factorizations": "integer factorization: seconds per iteration, against NMF, pyttb, pygenten",
    "factorization_fits": "integer factorization: how much it explains, against rounding and exact least squares",
    "covariate_clusters": "convex covariate clustering: seconds and exactness, against Clarabel, SCS, ADMM",
    "covariate_accuracy": "convex covariate clustering: clusters found, and accuracy, against k-means",
    "tensor_mixtures": "mixtures of tensor normals: seconds of EM and DEEM, against k-means, Clarabel",
    "tensor_accuracy": "mixtures of tensor normals: error rates in the settings of Mutoh 2023",
    "cohort_events": "ten million events to a matrix",
}
QUICK_EVENTS = 1_000_000


def main() -> int:
    """Run every workload in a process of its own; return how many failed."""
    listed = "\n".join(f"  {name:<14} {text}" for name, text in WORKLOADS.items())
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nworkloads:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("workloads", nargs="*", metavar="workload", help="default: all")
    parser.add_argument("--quick", action="store_true", help="small data: does everything work")
    parser.add_argument("--threads", type=int, help="threads of every method (default: its own)")
    asked = parser.parse_args()
    unknown = sorted(set(asked.workloads) - set(WORKLOADS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(WORKLOADS)}")
    failed = 0
    for name in asked.workloads or WORKLOADS:
        print(f"\n=== {name}: {WORKLOADS[name]} ===", flush=True)
        command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments(name, asked)]
        failed += subprocess.run(command, check=False).returncode != 0
    return failed


def arguments(name: str, asked: argparse.Namespace) -> list[str]:
    """Return the command line of one workload."""
    if name == "cohort_events":
        return [str(QUICK_EVENTS)] if asked.quick else []
    quick = ["--quick"] if asked.quick else []
    return quick if asked.threads is None else [*quick, "--threads", str(asked.threads)]


if __name__ == "__main__":
    sys.exit(main())
