"""A pool of processes that run cases; one that crashes or hangs is replaced, and its case is marked."""

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from typing import Any

PATIENCE = 60
"""Seconds after which a process that does not answer is ended."""
BEGIN = 600


class Worker:
    """A process that runs cases one by one."""

    def __init__(self, folder: str) -> None:
        here = Path(__file__).parent.parent
        quiet = {"PYTHONWARNINGS": "ignore", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        # No data, no cache and no network: what fetches data has to refuse nonsense before it looks for them.
        nowhere = {"TMPDIR": folder, "XDG_CACHE_HOME": folder, "LVMKIT_DATA": folder}
        nowhere |= dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
        paths = os.pathsep.join([str(here), *filter(None, sys.path)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,  # for names of files that are accepted
            env={**os.environ, **quiet, **nowhere, "PYTHONPATH": paths},
        )
        if self._line(BEGIN) != "ready\n":
            self.stop()
            msg = "the worker did not begin"
            raise RuntimeError(msg)

    def _line(self, seconds: float) -> str:
        """Return the next line, or nothing when time is over or the process has ended."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else ""

    def ask(self, case: Any) -> dict[str, Any] | None:
        """Run a case; None if the process did not survive it."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asdict(case)) + "\n")
        self.process.stdin.flush()
        line = self._line(PATIENCE * (5 if case.family == "message" else 1))
        return json.loads(line) if line else None

    def stop(self) -> int:
        """End the process and return its code."""
        ended = self.process.poll()
        if ended is None:
            try:
                self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return code


def run_cases(
    cases: Iterable[Any], processes: int = 2, outcomes: dict[str, dict[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    """Run cases and return their outcomes by id, put into `outcomes` as they come."""
    queue: Queue[Any] = Queue()
    for case in cases:
        queue.put(case)
    outcomes = {} if outcomes is None else outcomes

    def work() -> None:
        worker: Worker | None = None
        while True:
            try:
                case = queue.get_nowait()
            except Empty:
                break
            worker = worker or Worker(folder)
            start = time.perf_counter()
            try:
                answer = worker.ask(case)
            except BrokenPipeError:
                answer = None
            if answer is None:
                code = worker.stop()
                kind = (
                    "no answer, also not to an alarm"
                    if code == -9
                    else f"the process crashed ({code})"
                )
                answer = {"faults": [kind], "outcome": ""}
                worker = None
            outcomes[case.id] = answer | {"seconds": time.perf_counter() - start}
        if worker is not None:
            worker.process.stdin.close()
            worker.stop()

    with TemporaryDirectory(prefix="robustness-") as folder:
        threads = [threading.Thread(target=work) for _ in range(processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcomes
