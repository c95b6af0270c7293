"""Run the steps of `make test` side by side, and sum up.

A step shows what it printed when it ends. After the first that fails no other begins. The last lines give the ten
slowest tests of all steps, the time of each step, and how many tests passed and failed; a step without tests of its
own counts as one.
"""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

CLOSING_LINE = re.compile(r"^=+ (.*?) in [\d.]+s", re.MULTILINE)
COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
DURATION = re.compile(r"^([\d.]+)s (call|setup|teardown) +(\S.*)$", re.MULTILINE)
# One more than cores, two at least and three at most: a step often waits, for a browser, a server or a disk.
AT_ONCE = max(2, min(3, (os.cpu_count() or 1) + 1))
# Steps share the cores: each has one process for its tests, the longest two; linear algebra has one thread.
PROCESSES = {"unit": "2"}


class Ended(NamedTuple):
    """A step that ran to its end."""

    step: str
    status: int
    seconds: float
    counts: Counter[str]
    durations: list[tuple[float, str]]


def run(step: str) -> Ended:
    """Run one step, show its output when it ends, and count what its tests did."""
    start = time.perf_counter()
    jobs = PROCESSES.get(step, "0")
    done = subprocess.run(
        ["make", "--no-print-directory", step, f"JOBS={jobs}"],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    closing = CLOSING_LINE.findall(done.stdout)
    counts = Counter({kind: int(n) for n, kind in COUNT.findall(closing[-1] if closing else "")})
    counts["failed"] += counts.pop("error", 0)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1
    if not done.returncode and not counts.total():
        counts["passed"] = 1
    slow = [(float(n), f"{test} ({what})") for n, what, test in DURATION.findall(done.stdout)]
    print(f"\n== {step}: {seconds:.0f} s\n{done.stdout}", flush=True)
    return Ended(step, done.returncode, seconds, counts, slow)


def run_all(steps: list[str]) -> list[Ended]:
    """Run steps in the order given until one fails; those that had begun end."""
    waiting, ended = list(steps), list[Ended]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running: set[Future[Ended]] = set()
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                print(f"begins: {waiting[0]}", flush=True)
                running.add(pool.submit(run, waiting.pop(0)))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            ended += [future.result() for future in done]
            if any(one.status for one in ended):
                waiting = []
    return ended


def main(steps: list[str]) -> int:
    """Run the steps; the table of what ran comes last."""
    start = time.perf_counter()
    ended = run_all(steps)
    print("\nThe ten slowest tests")
    for seconds, test in sorted((pair for one in ended for pair in one.durations), reverse=True)[
        :10
    ]:
        print(f"{seconds:6.1f} s  {test}")
    print()
    for one in ended:
        print(f"{one.step:<12}{'FAILED' if one.status else 'ok':<8}{one.seconds:6.0f} s")
    for step in steps:
        if step not in {one.step for one in ended}:
            print(f"{step:<12}not run")
    total = sum((one.counts for one in ended), Counter[str]())
    print(f"\n{time.perf_counter() - start:.0f} s in all")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return int(any(one.status for one in ended))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
