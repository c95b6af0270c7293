"""Stability of several methods over numbers of clusters or depths, and the value to choose."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed
from lvmkit.core.progress import Interruptible, progress_callback
from lvmkit.core.typing import Labels, Progress, RandomState
from lvmkit.core.validation import DataWarning, require_number
from lvmkit.scores.stability.refits import (
    PlannedFit,
    Protocol,
    Repeat,
    Report,
    draw_repeats,
    found_by,
    in_order,
    n_workers,
    rows_of,
    seed_names,
    whole,
)
from lvmkit.scores.stability.score import agreement
from lvmkit.scores.stability.study import warn_if_ended

PARAMETERS = ("n_components", "n_clusters", "max_leaf_nodes", "max_depth")
"""Options that set how many clusters there are, in the order they are looked for."""
Method = Any
"""An estimator, or a callable that takes a value and returns one."""
_COLUMNS = ["method", "value", "n_clusters", "repeat", "ari"]


class _Cell(NamedTuple):
    """One method with one value: what to fit, and the draws of all repeats."""

    method: str
    value: Any
    estimator: Any
    base: list[PlannedFit]
    made: list[Repeat]


class Recommendation(NamedTuple):
    """A recommended value and the reason."""

    value: Any  # None where no value could be judged
    why: str  # In words


@checked(goal=0)
def compare_stability(
    methods: Mapping[str, Method] | Method,
    X: Any,
    values: Iterable[Any],
    *,
    parameter: str | None = None,
    protocol: Protocol = "overlapping",
    shared: float = 0.8,
    n_repeats: int = 5,
    goal: float = 0.9,
    random_state: RandomState = 0,
    progress: Progress | bool | None = None,
) -> pd.DataFrame:
    """Measure the stability of several methods, each with several numbers of clusters or depths.

    Parameters
    ----------
    methods : mapping of str to estimator or callable, or one estimator
        What to compare, by name. A callable takes a value and returns an estimator; an estimator gets the
        value as `parameter`.
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        The rows.
    values : iterable of int
        Numbers of clusters, or depths, to try.
    parameter : str, optional
        The option of estimators that takes the value; by default the first of "n_components",
        "n_clusters", "max_leaf_nodes" and "max_depth" that each has, and that is not None in it.
    protocol : {"overlapping", "bootstrap", "halves"}, default="overlapping"
        What is compared in a repeat, as for `stability`.
    shared : float, default=0.8
        Share of the rows in both parts, as for `stability`.
    n_repeats : int, default=5
        How often to draw.
    goal : float, default=0.9
        Mean index from which on a method counts as stable.
    random_state : int, RandomState, Generator or None, default=0
        Seed of rows and fits; the numbers are those that `stability` returns for each estimator. None draws a
        fresh one.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done. Raising from it, or
        interrupting the kernel, ends the work; what is known by then is returned.

    Returns
    -------
    DataFrame
        One row per method, value and repeat: method, value, n_clusters (that the first fit of the
        repeat found), repeat, ari (NaN where a fit failed), recommended (True for one value of each
        method). ``attrs["recommended"]`` has that value by method, ``attrs["why"]`` the reason in
        words, ``attrs["remarks"]`` what failed, by (method, value).

    Raises
    ------
    ValueError
        As `stability`; if there are no methods or values, an estimator has none of the parameters, or
        every fit fails.

    Warns
    -----
    DataWarning
        If the work was ended before the last repeat.

    Notes
    -----
    *Recommended* is the largest value whose mean index reaches `goal`: the finest clustering that the
    same method finds again. (Ruffini 2017, section 5.2, call an index above 0.9 stable.) Where none reaches
    it, the largest value whose mean is within one standard error of the best one's, the rule of Breiman 1984
    (section 3.4.3) for choosing the size of a tree. Values that give fewer than two clusters are
    not recommended: they always agree.

    Repeats run in turn over all methods and values, so that work that is ended early has judged them
    all about equally often.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> corners = np.repeat(np.eye(3) * 9, 40, axis=0)
    >>> X = corners + np.random.default_rng(0).random(corners.shape)
    >>> found = compare_stability({"k-means": KMeans(n_init=5)}, X, [2, 3, 5], n_repeats=3)
    >>> found.attrs["recommended"]
    {'k-means': 3}
    """
    matrix, random_state = rows_of(X), known_seed(random_state)
    require_number(n_repeats, "n_repeats", least=1, whole=True)
    n_rows, every = matrix.shape[0], protocol == "halves"
    cells, drawn = [], dict[int, list[Repeat]]()
    for name, value, estimator in _combined(methods, values, parameter):
        base = [whole(estimator, n_rows, random_state)] if protocol == "bootstrap" else []
        n_seeds = len(seed_names(estimator))
        if n_seeds not in drawn:  # rows are the same for all that take as many seeds: kept once
            drawn[n_seeds] = draw_repeats(
                estimator,
                n_rows,
                protocol=protocol,
                shared=shared,
                n_repeats=n_repeats,
                random_state=random_state,
            )
        cells.append(_Cell(name, value, estimator, base, drawn[n_seeds]))
    rows: list[tuple[Any, ...]] = []
    remarks: dict[tuple[str, Any], str] = {}
    with progress_callback(progress) as tell, warnings.catch_warnings():
        for expected in (DataWarning, ConvergenceWarning):  # with many values some always do
            warnings.simplefilter("ignore", expected)
        watched = Interruptible(tell)
        judged = _judged(cells, matrix, watched, everyone=every)
        for row, remark in watched.until_stopped(judged):
            rows.append(row)
            remarks |= remark
    warn_if_ended(len(rows) // len(cells), n_repeats)
    return tabulated(rows, remarks, order=[(c.method, c.value) for c in cells], goal=goal)


def tabulated(
    rows: list[tuple[Any, ...]],
    remarks: dict[tuple[str, Any], str],
    *,
    order: list[tuple[str, Any]],
    goal: float,
) -> pd.DataFrame:
    """Return the table of `compare_stability` from rows in any order."""
    place = {key: i for i, key in enumerate(order)}
    rows = sorted(rows, key=lambda row: (place[row[0], row[1]], row[3]))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    if table["ari"].isna().all():
        (method, value), remark = next(iter(remarks.items()))
        msg = f"no method could be judged. {method}, {value}: {remark}"
        raise ValueError(msg)
    names = list(dict.fromkeys(name for name, _ in order))
    found = {name: recommendation(table[table["method"] == name], goal=goal) for name in names}
    best = [found[name].value for name in table["method"]]
    table["recommended"] = [
        value == wanted for value, wanted in zip(table["value"], best, strict=True)
    ]
    table.attrs = {
        "recommended": {name: one.value for name, one in found.items()},
        "why": " ".join(f"{name}: {one.why}" for name, one in found.items()),
        "remarks": remarks,
    }
    return table


def recommendation(table: pd.DataFrame, *, goal: float = 0.9) -> Recommendation:
    """Choose a value of one method, by the rule that `compare_stability` states."""
    known = table.dropna(subset=["ari"])
    groups = known.groupby("value", sort=True)
    sums = groups["ari"].agg(["mean", "sem", "count"])
    sums = sums[groups["n_clusters"].median() >= 2]
    if sums.empty:
        return Recommendation(None, "no value gives two clusters or more.")
    best: Any = sums["mean"].idxmax()
    stable = sums.index[sums["mean"] >= goal]
    if len(stable):
        chosen = stable.max()
        why = f"the largest with a mean index of {goal:g} or more ({_mean(sums, chosen)})"
        after = sums.index[sums.index > chosen]
        more = (
            f"; {after[0]} has {_mean(sums, after[0])}."
            if len(after)
            else ", and the largest tried."
        )
    else:
        error = sums.loc[best, "sem"]
        limit = sums.loc[best, "mean"] - (0.0 if np.isnan(error) else error)
        chosen = sums.index[sums["mean"] >= limit].max()
        why = f"no value reaches {goal:g}, so read it with care; "
        if chosen == best:
            why += f"{chosen} is the best ({_mean(sums, chosen)})"
        else:
            why += (
                f"{chosen} ({_mean(sums, chosen)}) is the largest within one standard error of the "
            )
            why += f"best, {best} ({_mean(sums, best)})"
        more = "."
    return Recommendation(_plain(chosen), f"{chosen}: {why}{more}")


def _mean(sums: pd.DataFrame, value: Any) -> str:
    """Write a mean with its standard error, where there is one."""
    mean, error = sums.loc[value, "mean"], sums.loc[value, "sem"]
    return f"{mean:.2f}" if np.isnan(error) else f"{mean:.2f} ± {error:.2f}"


def _plain(value: Any) -> Any:
    """Convert a numpy scalar to Python."""
    return value.item() if isinstance(value, np.generic) else value


def with_value(method: Method, value: Any, parameter: str | None = None) -> Any:
    """Return an estimator of a method with a value; see `compare_stability`."""
    if not hasattr(method, "get_params"):
        return method(value)
    return clone(method).set_params(**{parameter_of(method, parameter): value})


def parameter_of(estimator: Any, parameter: str | None = None) -> str:
    """Return the option that sets how many clusters there are, also of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    prefix = f"{steps[-1][0]}__" if steps else ""
    wanted = PARAMETERS if parameter is None else (parameter,)
    known = estimator.get_params()
    there = [f"{start}{option}" for option in wanted for start in (prefix, "")]
    there = [name for name in there if name in known]
    if there:
        return next((name for name in there if known[name] is not None), there[0])
    msg = (
        f"{type(estimator).__name__} has no option {' or '.join(wanted)}; name the one that takes the "
        "value by parameter=, or pass a callable that takes a value and returns an estimator"
    )
    raise ValueError(msg)


def _combined(
    methods: Mapping[str, Method] | Method, values: Iterable[Any], parameter: str | None
) -> Iterator[tuple[str, Any, Any]]:
    """Yield every method with every value."""
    named = methods if isinstance(methods, Mapping) else {type(methods).__name__: methods}
    if methods is None:
        msg = "methods must be a mapping of names to estimators, or one estimator; found None"
        raise ValueError(msg)
    if not named:
        msg = "methods is empty: pass a mapping of names to estimators"
        raise ValueError(msg)
    given = sorted({_plain(value) for value in values})
    if not given:
        msg = "values is empty: pass the numbers of clusters to try, for example range(2, 11)"
        raise ValueError(msg)
    for name, method in named.items():
        if not hasattr(method, "get_params") and not callable(method):
            msg = f"methods[{name!r}] is an estimator, or a callable that returns one; found {method!r}"
            raise ValueError(msg)
        for value in given:
            require_number(value, "each of values", least=0)
            yield str(name), value, with_value(method, value, parameter)


def _judged(
    cells: list[_Cell], matrix: Any, tell: Progress, *, everyone: bool
) -> Iterator[tuple[tuple[Any, ...], dict[tuple[str, Any], str]]]:
    """Yield a row of the table for each repeat of each cell, repeat by repeat, and what failed."""
    n_repeats = len(cells[0].made)
    jobs = [
        (cell, part)
        for repeat in range(n_repeats)
        for cell in cells
        for part in [*(cell.base if repeat == 0 else []), *cell.made[repeat].fits]
    ]

    def told_so(number: int, done: float) -> None:
        cell = jobs[number][0]
        text = f"Stability: {cell.method}, {cell.value}, fit {number + 1} of {len(jobs)}"
        tell(text, (number + done) / len(jobs))

    tasks = [partial(_tried, cell.estimator, matrix, part, everyone) for cell, part in jobs]
    fits = in_order(tasks, told_so, workers=n_workers(matrix))
    bases: dict[int, list[Labels | str]] = {}
    for repeat in range(n_repeats):
        for number, cell in enumerate(cells):
            if repeat == 0:
                bases[number] = [next(fits) for _ in cell.base]
            draw = cell.made[repeat]
            yield _row(cell, repeat, [*bases[number], *(next(fits) for _ in draw.fits)])
    tell("Stability: done", 1.0)


def _tried(
    estimator: Any, matrix: Any, part: PlannedFit, everyone: Any, report: Report
) -> Labels | str:
    """Return the clusters that a fit finds, or why there are none."""
    try:
        return found_by(estimator, matrix, part, report, everyone=bool(everyone))
    except (ValueError, ArithmeticError) as error:
        return str(error)


def _row(
    cell: _Cell, repeat: int, fits: list[Labels | str]
) -> tuple[tuple[Any, ...], dict[tuple[str, Any], str]]:
    """Return a row of the table; without an index where a fit failed."""
    key = (cell.method, cell.value)
    failed = [found for found in fits if isinstance(found, str)]
    if failed:
        return (*key, 0, repeat, np.nan), {key: failed[0]}
    found = [each for each in fits if not isinstance(each, str)]
    first = found[0]
    n_clusters = len(np.unique(first[first >= 0]))
    return (*key, n_clusters, repeat, agreement(found, cell.made[repeat].compared)), {}
