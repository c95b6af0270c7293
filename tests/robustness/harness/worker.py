"""Run cases that arrive on standard input, one a line, and answer each with a line of JSON."""

import faulthandler
import json
import os
import resource
import signal
import sys
import warnings
from functools import cache
from typing import Any

import pandas as pd
from scipy import sparse

SECONDS = 8
"""Processor time that one case may take; a busy machine does not make it shorter."""
WAITING = 45
"""Seconds that a case may take with all its waiting; the parent ends workers that do not answer a little later."""
TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
    (signal.SIGALRM, signal.ITIMER_REAL, WAITING),
)
MEMORY = 3 * 2**30


class TookTooLongError(BaseException):
    """A case did not end."""


def _alarm(*_: Any) -> None:
    raise TookTooLongError


@cache
def plain(name: str, *, stored: str = "") -> Any:
    """Return the result of an entry point's valid arguments; of the same matrix stored sparsely, if named."""
    from harness import cases

    entry = cases.entries()[name]
    given = cases.arguments(entry)
    if stored:
        given[stored] = sparse.csr_array(given[stored])
    return cases.call(entry, given)


@cache
def plain_file(name: str, parameter: str, family: str) -> Any:
    """Return the result of an entry point for a file that is right."""
    from harness import cases

    entry = cases.entries()[name]
    whole = cases.file_faults(family).get("whole", (None, ""))[0]
    given = cases.arguments(entry)
    given[parameter] = cases.REFERENCES.get(family, whole)()
    return cases.call(entry, given)


def is_sparse(value: Any) -> bool:
    """Return whether a matrix is stored sparsely, whatever it is packed in."""
    value = getattr(value, "X", value)
    kinds = getattr(value, "dtypes", ())
    return sparse.issparse(value) or any(isinstance(kind, pd.SparseDtype) for kind in kinds)


def judge(case: Any) -> dict[str, Any]:
    """Run a case and return what is wrong with its outcome."""
    from harness import cases, commands, matrices, messages, verdict

    if case.entry in commands.names():
        return judge_command(case)
    if case.family == "message":
        found = messages.sent(case.entry.split(".")[-1], case.parameter, case.fault)
        return {"faults": found, "outcome": ""}
    entry = cases.entries()[case.entry]
    given = cases.arguments(entry)
    if case.expected != "refused" and not cases.is_file(case):
        plain(case.entry)
    given[case.parameter] = cases.faulty(case, entry, given)
    try:
        found = cases.call(entry, given)
    except Exception as error:  # noqa: BLE001 - that is what is judged
        text = str(error)
        names = (case.parameter, *cases.synonyms(entry, case))
        faults = verdict.refusal_faults(
            error, names, located=case.family == "matrix" and case.fault in matrices.LOCATED
        )
        if case.expected == "same" and case.fault not in matrices.MAY_REFUSE:
            faults.insert(0, "refused, though legitimate")
        return {"faults": faults, "outcome": f"{type(error).__name__}: {text}"[:600]}
    shown = repr(found)[:80]
    if case.expected == "refused":
        return {"faults": ["accepted"], "outcome": shown}
    if case.expected == "same" and cases.is_file(case):
        whole = plain_file(case.entry, case.parameter, case.family)
        different = verdict.differences(found, whole) or verdict.other_names(found, whole)
        return {"faults": [different] if different else [], "outcome": shown}
    if case.expected == "same":
        tolerance = 1e-4 if case.fault == "float32" else 1e-6
        # Sums run in another order over sparse rows: an iteration may end a step earlier, at the same place.
        stored = (
            case.parameter if case.family == "matrix" and is_sparse(given[case.parameter]) else ""
        )
        different = verdict.differences(found, plain(case.entry, stored=stored), tolerance)
        if stored and not different:
            different = verdict.far_apart(found, plain(case.entry))
        return {"faults": [different] if different else [], "outcome": shown}
    checked = case.family in {"matrix", "tensor"} or case.entry.endswith("load")
    checked = checked and not cases.acceptance(entry, case.parameter, case.fault)
    plainly = 0 if cases.is_file(case) or not checked else verdict.not_finite(plain(case.entry))
    if checked and verdict.not_finite(found) > plainly:
        return {"faults": ["the result has NaN or infinite numbers"], "outcome": shown}
    return {"faults": [], "outcome": shown}


def judge_command(case: Any) -> dict[str, Any]:
    """Run a command on a file and return what is wrong with its outcome."""
    from harness import cases, commands, verdict

    whole, rule = cases.file_faults(case.family)["whole"]
    plain_text = commands.plain(case.entry, whole) if rule == "same" else ""
    make = cases.file_faults(case.family)[case.fault][0]
    code, said, told = commands.run(case.entry, make())
    if code:
        names = cases.synonyms(None, case)
        faults = verdict.refusal_faults(ValueError(told), names, located=False)
        if case.expected == "same":
            faults.insert(0, "refused, though legitimate")
    elif case.expected == "refused":
        faults = ["accepted"]
    else:
        other = case.expected == "same" and said != plain_text
        faults = [f"prints something else than {plain_text!r}"] if other else []
    return {"faults": faults, "outcome": f"{told or said}"[:600]}


def run(case: Any) -> dict[str, Any]:
    """Run a case within its time."""
    longer = 6 if case.family == "message" else 1
    for name, timer, seconds in TIMERS:
        signal.signal(name, _alarm)
        signal.setitimer(timer, seconds * longer)
    try:
        return judge(case)
    except TookTooLongError:
        return {"faults": [f"no answer within {SECONDS} s"], "outcome": ""}
    except LookupError as error:
        return {"faults": [str(error)], "outcome": "no valid arguments"}
    except Exception as error:  # noqa: BLE001 - the harness itself failed
        return {"faults": [f"the harness failed: {type(error).__name__}: {error}"], "outcome": ""}
    finally:
        for _, timer, _ in TIMERS:
            signal.setitimer(timer, 0)


def main() -> None:
    """Answer until standard input ends."""
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    from harness.cases import Case, entries

    entries()  # imports everything, so that the first case does not pay for it

    print("ready", file=answers)
    for line in sys.stdin:
        print(json.dumps(run(Case(**json.loads(line)))), file=answers)


if __name__ == "__main__":
    main()
