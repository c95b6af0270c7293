"""All cases: every entry point, parameter and fault that fit each other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from harness import commands, examples, files, known, matrices, messages, options, tables
from harness.entries import Entry, Parameter, entries
from harness.matrices import EITHER, REFUSED, SAME_ANSWER

DOMAINS = {
    "BernoulliMixture": "0/1",
    "SingleTopic": "counts",
    "PoissonMixture": "counts",
    "LatentDirichlet": "counts",
    "SUSTain": "counts",
    "perplexity": "counts",
    "description_length": "counts",
    "topic_mixtures": "counts",
    "rank_study": "counts",
    "iter_rank_study": "counts",
    "factor_baselines": "counts",
    "from_counts": "counts",
}


@dataclass(frozen=True)
class Case:
    """One call with one fault, or one legitimate variant."""

    entry: str
    family: str
    parameter: str
    fault: str
    expected: str

    @property
    def id(self) -> str:
        """Return the name under which reports show it."""
        return f"{self.entry}({self.parameter}: {self.fault}) [{self.family}]"


def domain(entry: Entry) -> str:
    """Return what kind of numbers an entry point takes: real, counts or 0/1."""
    return next((found for word, found in DOMAINS.items() if word in entry.name.split(".")), "real")


def arguments(entry: Entry) -> dict[str, Any]:
    """Return valid arguments; raises LookupError that says what is missing."""
    given = dict(examples.BY_ENTRY.get(entry.name, dict)())
    if entry.name.startswith("lvmkit.charts.") and entry.name.endswith("_chart"):
        given = {**chart_data(entry), **given}
    for parameter in entry.parameters:
        if parameter.name in given or not parameter.required:
            continue
        if parameter.name == "X" and domain(entry) == "0/1":
            given["X"] = examples.rows_01()
        elif (
            parameter.name == "X"
            and "tensor" in parameter.kinds
            and "matrix" not in parameter.kinds
        ):
            given["X"] = examples.tensors()
        elif parameter.name in examples.BY_NAME:
            given[parameter.name] = examples.BY_NAME[parameter.name]()
        else:
            msg = (
                f"{entry.name} needs {parameter.name} ({parameter.documented or 'no documented type'}): "
                "add a valid example to tests/robustness/harness/examples.py, in BY_ENTRY or BY_NAME"
            )
            raise LookupError(msg)
    return given


def chart_data(entry: Entry) -> dict[str, Any]:
    """Return the table that a chart draws: what its companion makes."""
    for ending in ("_table", "_matrix"):
        companion = entries().get(entry.name.removesuffix("_chart") + ending)
        if companion is not None:
            first = entry.parameters[0].name
            return {first: companion.target(**arguments(companion))}
    return {}


def receiver(entry: Entry) -> Any:
    """Return the object whose method is called, by the name of its class."""
    name = entry.owner.split(".")[-1]
    if entry.owner.startswith("lvmkit_widgets"):
        return examples.board(name)
    if name not in examples.FITTED:
        msg = f"{entry.name} needs an object: add a {name} to FITTED in tests/robustness/harness/examples.py"
        raise LookupError(msg)
    return examples.fitted(name)


def call(entry: Entry, given: dict[str, Any]) -> Any:
    """Call an entry point; options of an estimator are tried by fitting."""
    if entry.is_estimator:
        model = entry.target(**given)
        fit = entries()[f"{entry.name}.fit"]
        return model.fit(**arguments(fit))
    if entry.bound:
        return getattr(receiver(entry), entry.name.split(".")[-1])(**given)
    found = entry.target(**given)
    return list(found) if hasattr(found, "__next__") else found


def tried() -> dict[str, Entry]:
    """Return the entry points that are tried."""
    found = {}
    seen = set()
    for name, entry in entries().items():
        last = name.split(".")[-1]
        if entry.owner.startswith("lvmkit_widgets"):
            if last in known.HOOKS or entry.target.__qualname__ in seen:
                continue
            seen.add(entry.target.__qualname__)
            if entry.target.__qualname__.startswith("Dashboard."):
                entry = entries()[f"lvmkit_widgets.Dashboard.{last}"]
        if name not in known.NOT_TRIED and last not in known.HOOKS:
            found[entry.name] = entry
    return found


def acceptance(entry: Entry, parameter: str, fault: str) -> str:
    """Return why a fault may be accepted; empty if it may not."""
    for key in (
        (entry.name, parameter, fault),
        (entry.name, parameter, "*"),
        ("*", parameter, fault),
        ("*", parameter, "*"),
    ):
        if key in known.ACCEPTED:
            return known.ACCEPTED[key]
    return ""


def cases_of(entry: Entry) -> Iterator[Case]:
    """Yield the cases of an entry point."""
    for parameter in entry.parameters:
        if parameter.name in {"y"} and parameter.optional:
            continue
        if "matrix" in parameter.kinds and parameter.name in {"X"}:
            yield from matrix_cases(entry, parameter)
        elif "tensor" in parameter.kinds:
            yield from fault_cases(entry, parameter, "tensor", tables.TENSORS)
        elif parameter.name in TABLE_NAMES and "table" in parameter.kinds:
            yield from fault_cases(entry, parameter, "table", tables.TABLES)
            yield from option_cases(entry, parameter)
        elif "array" in parameter.kinds and "matrix" not in parameter.kinds and parameter.required:
            yield from fault_cases(entry, parameter, "array", tables.ARRAYS)
            yield from option_cases(entry, parameter)
        else:
            yield from option_cases(entry, parameter)


def matrix_cases(entry: Entry, parameter: Parameter) -> Iterator[Case]:
    """Yield what is tried for a matrix."""
    if entry.name.startswith("lvmkit.datasets.fetch"):
        return
    for fault in matrices.SAME:
        yield Case(entry.name, "matrix", parameter.name, fault, SAME_ANSWER)
    for fault, (_, expected) in matrices.FAULTS.items():
        rule = (
            expected
            if isinstance(expected, str)
            else REFUSED
            if domain(entry) in expected
            else EITHER
        )
        if fault == "3-D" and "tensor" in parameter.kinds:
            rule = EITHER
        yield Case(
            entry.name,
            "matrix",
            parameter.name,
            fault,
            softened(entry, parameter.name, fault, rule),
        )


def fault_cases(entry: Entry, parameter: Parameter, family: str, faults: Any) -> Iterator[Case]:
    """Yield the faults of an array, tensor or table."""
    for fault, (_, rule) in faults.items():
        yield Case(
            entry.name, family, parameter.name, fault, softened(entry, parameter.name, fault, rule)
        )


def softened(entry: Entry, parameter: str, fault: str, rule: str) -> str:
    """Return the rule, or EITHER where acceptance has a reason."""
    return EITHER if rule == REFUSED and acceptance(entry, parameter, fault) else rule


def option_cases(entry: Entry, parameter: Parameter) -> Iterator[Case]:
    """Yield the nonsense that is tried for an option, and other spellings of its valid value."""
    names = dict.fromkeys(
        name for kind in sorted(parameter.kinds) for name in options.TRIED.get(kind, ())
    )
    takes = set(parameter.kinds) | ({"none"} if parameter.optional else set())
    fetches = entry.name.split(".")[-1].startswith("fetch")
    for name in names:
        _, fits = options.NONSENSE[name]
        number = bool(parameter.kinds & {"int", "float"})
        unclear = bool(fits & takes)
        if (
            name in {"-1", "-10**12"}
            and number
            and parameter.default is not None
            and not isinstance(parameter.default, bool | str | tuple)
            and parameter.default < 0
        ):
            unclear = True
        if name == "text" and parameter.kinds & {"text", "path"}:
            unclear = True
        rule = softened(entry, parameter.name, name, EITHER if unclear else REFUSED)
        if name == "None" and parameter.optional:
            continue
        if (fetches and rule == EITHER) or (name == "10**12" and parameter.name in known.EFFORT):
            continue
        yield Case(entry.name, "option", parameter.name, name, rule)
    if fetches or len(parameter.kinds) != 1:
        return
    for kind in parameter.kinds:
        for spelling in options.SPELLINGS.get(kind, ()):
            large = (
                isinstance(parameter.default, int) and parameter.default > np.iinfo(np.int16).max
            )
            if spelling == "numpy int of 16 bits" and large:
                continue
            if isinstance(parameter.default, bool if kind == "bool" else (int, float, str)):
                yield Case(entry.name, "spelling", parameter.name, spelling, SAME_ANSWER)


@cache
def file_faults(family: str) -> dict[str, tuple[Callable[[], Any], str]]:
    """Return what can be wrong with a kind of file."""
    kind, _, name = family.partition(" of ")
    if kind == "file":
        good = cache(
            files.tensor_bytes if name == "CountTensor" else lambda: files.model_bytes(name)
        )
        return files.of_npz(good)
    if kind == "writing":
        return files.of_writing(f"out.{name}")
    if kind == "command":
        found = file_faults("csv of any dashboard" if name == "csv" else name)
        # topics need more than the one document that a file of text is
        alone = name == "text"
        return {
            fault: (make, REFUSED if alone and rule == SAME_ANSWER else rule)
            for fault, (make, rule) in found.items()
        }
    return {
        "csv of events": lambda: files.of_source(examples.events),
        "csv of stays": lambda: files.of_source(examples.stays),
        "csv of attributes": lambda: {
            **files.of_csv(examples.attributes),
            "a file in a list": (lambda: [files.written("a.csv", b"id\np1\n")], REFUSED),
        },
        "csv of any dashboard": lambda: files.of_csv(examples.events, guessed=True),
        "text": files.of_text,
        "h5ad": files.of_h5ad,
    }[family]()


# What a file that is right has to give the same answer as; by default the file "whole".
REFERENCES: dict[str, Callable[[], Any]] = {
    "csv of events": examples.events,
    "csv of stays": examples.stays,
    "csv of attributes": examples.attributes,
    "h5ad": examples.anndata,
}
# Parameters that take files, and the kinds of file that are tried.
FILES: dict[tuple[str, str], tuple[str, ...]] = {
    ("lvmkit.load", "path"): tuple(f"file of {name}" for name in files.SAVED),
    ("lvmkit.cohorts.CountTensor.load", "path"): ("file of CountTensor",),
    ("lvmkit.cohorts.from_events", "source"): ("csv of events",),
    ("lvmkit.cohorts.from_events", "attributes"): ("csv of attributes",),
    ("lvmkit.cohorts.from_wide", "source"): ("csv of stays",),
    ("lvmkit.cohorts.tensor_from_events", "source"): ("csv of events",),
    ("lvmkit.cohorts.tensor_from_events", "attributes"): ("csv of attributes",),
    ("lvmkit.cohorts.tensor_from_wide", "source"): ("csv of stays",),
    ("lvmkit.cohorts.from_texts", "source"): ("text",),
    ("lvmkit_widgets.Workbench", "cohort_or_path"): ("h5ad", "csv of any dashboard"),
    ("lvmkit.save", "path"): ("writing of npz",),
    ("lvmkit.cohorts.CountTensor.save", "path"): ("writing of npz",),
    ("lvmkit_widgets.Dashboard.to_html", "path"): ("writing of html",),
    **{
        (name, "FILE"): (
            "command of h5ad",
            "command of text" if name.endswith("topics") else "command of csv",
        )
        for name in commands.names()
    },
}
FILE_KINDS = ("csv", "text", "h5ad", "file", "writing", "command")


def argument_cases() -> dict[str, Case]:
    """Return the cases of arguments by id, in a fixed order."""
    return {case.id: case for entry in tried().values() for case in cases_of(entry)}


def message_cases() -> dict[str, Case]:
    """Return the cases of messages by id: dashboards are made to find them."""
    found = [
        Case(f"lvmkit_widgets.{name}", "message", component, field, EITHER)
        for name in messages.DASHBOARDS
        for component, field in messages.targets(name)
    ]
    return {case.id: case for case in found}


def file_cases() -> dict[str, Case]:
    """Return the cases of files by id; their faults are found in files of fitted models."""
    found = [
        Case(
            name,
            family,
            parameter,
            fault,
            softened(entries()[name], parameter, fault, rule) if name in entries() else rule,
        )
        for (name, parameter), families in FILES.items()
        for family in families
        for fault, (_, rule) in file_faults(family).items()
    ]
    return {case.id: case for case in found}


def all_cases() -> dict[str, Case]:
    """Return all cases by id; those of files and messages take models and dashboards to be found."""
    return argument_cases() | file_cases() | message_cases()


def is_file(case: Case) -> bool:
    """Return whether a case tries a file."""
    return kind_of(case) in FILE_KINDS


def kind_of(case: Case) -> str:
    """Return the family of a case without what it is of."""
    return case.family.split(" of ")[0]


def faulty(case: Case, entry: Entry, given: dict[str, Any]) -> Any:
    """Return the value that a case gives to its parameter."""
    if is_file(case):
        return file_faults(case.family)[case.fault][0]()
    if case.family == "option":
        return options.NONSENSE[case.fault][0]()
    if case.family == "spelling":
        (kind,) = entry.parameter(case.parameter).kinds
        value = given.get(case.parameter, entry.parameter(case.parameter).default)
        if kind == "float":
            value = float(value)
        return options.SPELLINGS[kind][case.fault](value)
    value = given[case.parameter]
    if case.family == "table" and isinstance(value, list):
        value = pd.DataFrame({"id": range(len(value)), "text": value})
        given |= {"text": "text", "document": "id"}
    makers: dict[str, dict[str, tuple[Callable[[Any], Any], Any]]] = {
        "matrix": matrices.FAULTS,
        "tensor": tables.TENSORS,
        "array": tables.ARRAYS,
        "table": tables.TABLES,
    }
    if case.expected == SAME_ANSWER:
        return matrices.SAME[case.fault](np.asarray(value))
    return makers[case.family][case.fault][0](value)


def synonyms(entry: Entry | None, case: Case) -> tuple[str, ...]:
    """Return other words that name the argument."""
    found = []
    if case.family in {"matrix", "tensor"}:
        found += [
            "X",
            "matrix",
            "data",
            "row",
            "sample",
            "entries",
            "rows",
            "features",
            "feature names",
            "mode 0",
            "mode 1",
            "document",
        ]
    if case.parameter == "table" or case.family == "table":
        found += ["table", "column", "frame"]
    if is_file(case):
        found += [
            "file",
            "events.",
            "EVENTS.",
            "xxx",  # a very long name
            "out.",
            "model.",
            "cohort.",
            "notes.",
            "folder",
            "none.csv",
            "a.csv",
            "b.csv",
            "SQL",
            "query",
        ]
    if (
        entry is not None
        and case.fault == "text"
        and "path" in entry.parameter(case.parameter).kinds
    ):
        found.append("no such thing")  # a file is named by its own name
    found += {
        "k": ["clusters"],
        "model_or_models": ["needs fitted"],
        "moments": ["Whitened", "whitened"],
        "names": ["name"],
        "codes": ["code"],
        "S": ["similarity"],
        "alpha": ["weights"],
        "nus": ["ν"],
        "a": ["labels", "cluster"],
        "b": ["labels", "cluster"],
        "reference": ["labels"],
        "shares": ["counts"],
        "one": ["factor"],
        "other": ["factor"],
        "path": ["cannot read", "cannot write"],
        "model": ["needs a", "needs fitted", "needs integer"],
    }.get(case.parameter, [])
    return tuple(found)


TABLE_NAMES = ("table", "source", "runs")

# One case in so many is run in CI, by family; 0: only by hand, by `python -m harness`, like all others.
SHARES = {
    "option": 9,
    "matrix": 12,
    "array": 4,
    "table": 4,
    "spelling": 6,
    "tensor": 2,
    "message": 1,
    **{"file": 16, "csv": 8, "text": 1, "h5ad": 4, "writing": 1, "command": 48},
}


def chosen(case: Case) -> bool:
    """Return whether CI runs a case: a fixed part of each family, spread over all entry points."""
    share = SHARES.get(kind_of(case), 0)
    return share > 0 and crc32(case.id.encode()) % share == 0


def selected(cases: Iterable[Case]) -> list[Case]:
    """Return the cases that CI runs: the chosen ones, and the first of an entry point without any."""
    cases = list(cases)
    found = [case for case in cases if chosen(case)]
    missing = {case.entry for case in cases} - {case.entry for case in found}
    return found + [next(case for case in cases if case.entry == name) for name in sorted(missing)]
