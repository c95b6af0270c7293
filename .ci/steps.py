"""Run the steps of `make test` one after the other, stop at the first that fails, and sum up.

The last line says how many tests passed and failed; a step without tests of its own counts as one.
"""

import re
import subprocess
import sys
import time
from collections import Counter

CLOSING_LINE = re.compile(r"=+ (.*?) in [\d.]+s")
COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")


def run(step: str) -> tuple[int, Counter[str]]:
    """Run one step, show its output as it comes, and count what its tests did."""
    closing = ""
    command = ["make", "--no-print-directory", step]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            if match := CLOSING_LINE.match(line.strip()):
                closing = match[1]
    counts = Counter({kind: int(number) for number, kind in COUNT.findall(closing)})
    counts["failed"] += counts.pop("error", 0)
    if process.returncode and not counts["failed"]:
        counts["failed"] = 1
    if not process.returncode and not counts.total():
        counts["passed"] = 1
    return process.returncode, counts


def main(steps: list[str]) -> int:
    """Run the steps until one fails; the table of what ran comes last."""
    total: Counter[str] = Counter()
    table, status = [], 0
    for step in steps:
        print(f"\n== {step}", flush=True)
        start = time.perf_counter()
        status, counts = run(step)
        total += counts
        table.append(
            f"{step:<12}{'FAILED' if status else 'ok':<8}{time.perf_counter() - start:6.0f} s"
        )
        if status:
            table += [f"{later:<12}not run" for later in steps[len(table) :]]
            break
    print("", *table, "", sep="\n")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
