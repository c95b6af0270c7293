"""Bad input everywhere: each case ends in a clear sentence or in a right answer, in time, without a crash.

`harness` finds the entry points and makes the cases. A fixed part of them is run here, in processes of their own;
all of them by ``python -m harness`` in this folder; ``python -m harness --record`` writes `open.json` anew.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from harness import commands, known, messages
from harness.cases import FILE_KINDS, Case, all_cases, kind_of, selected, tried
from harness.entries import entries
from harness.pool import run_cases

LEAST = 1_200
OPEN: dict[str, str] = json.loads((Path(__file__).parent / "open.json").read_text())
"""Cases that do not end well yet, and what comes of them: each must still fail, or be taken from the list."""


def group(name: str) -> str:
    """Return the class or module of an entry point."""
    return name.rsplit(".", 1)[0] if name in entries() and entries()[name].owner else name


DASHBOARDS = {f"lvmkit_widgets.{name}" for name in messages.DASHBOARDS}
GROUPS = sorted({group(name) for name in tried()} | DASHBOARDS | set(commands.names()))


@pytest.fixture(scope="module")
def every_case() -> dict[str, Case]:
    """Return the cases among which those that are run are chosen."""
    return all_cases()


@pytest.fixture(scope="module")
def cases(every_case: dict[str, Case]) -> dict[str, list[Case]]:
    """Return the cases that are run, by group."""
    found = defaultdict(list)
    for case in selected(every_case.values()):
        found[group(case.entry)].append(case)
    return found


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, cases: dict[str, list[Case]]
) -> dict[str, dict[str, Any]]:
    """Run the cases of all groups that are tested now, side by side."""
    params = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = {call.params["name"] for call in params if call is not None and "name" in call.params}
    return run_cases(case for name in GROUPS if name in wanted for case in cases[name])


def test_there_are_enough_cases_of_each_family(
    cases: dict[str, list[Case]], every_case: dict[str, Case]
) -> None:
    families = defaultdict(int)
    for found in cases.values():
        for case in found:
            families[kind_of(case)] += 1
    assert sum(families.values()) >= LEAST
    sys.stdout.write(f"{sum(families.values())} of {len(every_case)} cases: {dict(families)}\n")
    assert {"matrix", "option", "table", "array", "tensor", "spelling"} <= set(families)
    assert {"message", *FILE_KINDS} <= set(families)


def test_what_is_not_tried_or_open_exists(every_case: dict[str, Case]) -> None:
    assert [name for name in known.NOT_TRIED if name not in entries()] == []
    assert sorted(OPEN) == sorted(name for name in OPEN if name in every_case and OPEN[name])


@pytest.mark.robustness
@pytest.mark.parametrize("name", GROUPS)
def test_bad_input_gets_a_clear_answer(
    name: str, cases: dict[str, list[Case]], outcomes: dict[str, dict[str, Any]]
) -> None:
    mine = {case.id: outcomes[case.id] for case in cases[name]}
    failed = {
        key: (found["faults"], found["outcome"]) for key, found in mine.items() if found["faults"]
    }
    # "no valid arguments": the sentence beside it says what to add to harness/examples.py.
    assert {key: found for key, found in failed.items() if key not in OPEN} == {}
    assert [key for key in mine if key in OPEN and key not in failed] == [], "these end well now"
