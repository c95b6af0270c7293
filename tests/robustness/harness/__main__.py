"""Run all cases, or those whose names hold all given words, and print what does not end well."""

import json
import sys
from collections import Counter
from pathlib import Path

from harness.cases import all_cases, selected
from harness.pool import run_cases


def record() -> None:
    """Run the cases of CI and write those that do not end well as `open.json`."""
    outcomes = run_cases(selected(all_cases().values()))
    found = {key: "; ".join(one["faults"]) for key, one in outcomes.items() if one["faults"]}
    text = json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True)
    Path(__file__).parent.parent.joinpath("open.json").write_text(f"{text}\n")


def main(words: list[str]) -> int:
    """Print each case that fails, and counts by family; with `--record`, write `open.json`."""
    if words == ["--record"]:
        record()
        return 0
    wanted = [case for case in all_cases().values() if all(word in case.id for word in words)]
    outcomes = run_cases(wanted)
    failed = [case for case in wanted if outcomes[case.id]["faults"]]
    for case in failed:
        found = outcomes[case.id]
        sys.stdout.write(f"{case.id}: {'; '.join(found['faults'])} | {found['outcome']}\n")
    ran, bad = Counter(c.family for c in wanted), Counter(c.family for c in failed)
    for family, count in ran.items():
        sys.stdout.write(f"{family:<32}{count:6}{bad[family]:6} failed\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
