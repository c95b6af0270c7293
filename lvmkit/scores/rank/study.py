"""Choose the number of phenotypes: reproducibility over starts (Υ), fit and non-zeros."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.linalg import random_state_of
from lvmkit.core.parallel import n_threads
from lvmkit.core.progress import Interruptible, progress_callback
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import DataWarning, listed, refuse_shape, require_number
from lvmkit.scores.rank.dissimilarity import instability, pairwise_dissimilarity
from lvmkit.scores.stability.refits import SMALL, Report, in_order, options_of, refit, seed_names
from lvmkit.sustain import validation

STABLE = 0.2
"""Up to this mean dissimilarity a number counts as stable: best matches are correlated by 0.8 on average."""
ALIKE = 0.01
"""Mean dissimilarities that differ by no more than this are taken for equal."""


@dataclass(frozen=True, eq=False)
class RankRuns:
    """Results of several starts for one number of components. unlike (B, B), fits (B,), nonzeros (B, modes)."""

    n_components: int  # Their number, R
    unlike: Array  # (B, B): Dissimilarity of each pair of starts
    fits: Array  # (B,): Fit that each start reached
    nonzeros: Labels  # (B, modes): Scores that are not 0, by mode
    model: Any  # The one that fits best, the first of several; None if this number failed
    remark: str = ""  # Why it, or one of its starts, failed

    @property
    def dissimilarity(self) -> float:
        """Mean dissimilarity of two starts, Υ; NaN if there are none."""
        return instability(self.unlike)[0]

    @property
    def standard_error(self) -> float:
        """Standard error of Υ; NaN for less than 3 starts."""
        return instability(self.unlike)[1]

    @property
    def fit(self) -> float:
        """Fit of the best start; NaN if there is none."""
        return float(self.fits.max(initial=-np.inf)) if len(self.fits) else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class RankStudy:
    """How reproducible, accurate and concise a factorization is for several numbers of components.

    Parameters
    ----------
    runs : tuple of RankRuns
        One for each number of components that is done, ascending.
    modes : tuple of str
        Names of the modes.
    mode : int
        The mode whose factors are compared.
    n_starts : int
        Starts for each number, B.
    planned : tuple of int
        Numbers of components that were asked for.
    size : int, default=0
        How many entries the mode compared has; 0 if that is not known.

    Notes
    -----
    Perros 2018, section 4.4. The recommended number has the smallest Υ; of those whose Υ exceeds it by no
    more than its standard error, or 0.01 if that is more, it is the one with the largest fit.
    """

    runs: tuple[RankRuns, ...]
    modes: tuple[str, ...]
    mode: int
    n_starts: int
    planned: tuple[int, ...] = field(default=())
    size: int = 0

    def __repr__(self) -> str:
        tried = ", ".join(str(run.n_components) for run in self.runs) or "no"
        return f"RankStudy of {tried} components, {self.n_starts} starts each; best: {self.best}"

    @property
    def complete(self) -> bool:
        """Whether all numbers that were asked for are done."""
        return len(self.runs) >= len(self.planned)

    @property
    def models(self) -> dict[int, Any]:
        """The model that fits best for each number of components."""
        return {run.n_components: run.model for run in self.runs if run.model is not None}

    @property
    def table(self) -> pd.DataFrame:
        """One row per number of components, ascending.

        n_components, dissimilarity (Υ), standard_error, fit (of the best start), mean_fit, nonzeros (of the best
        start), a column "nonzeros of …" for each mode, recommended (True once at most), remark.
        ``attrs["why"]`` is the reason.
        """
        rows = [self._row(run) for run in self.runs]
        table = pd.DataFrame(rows)
        whole = {name: "Int64" for name in table if str(name).startswith("nonzeros")}
        table = table.astype(whole)
        table.insert(len(table.columns) - 1, "recommended", table["n_components"] == self.best)
        table.attrs = {"why": self.reason}
        return table

    @property
    def best(self) -> int | None:
        """The recommended number of components; None if none could be compared."""
        chosen = self._chosen()
        return None if chosen is None else chosen.n_components

    @property
    def reason(self) -> str:
        """The recommendation in words."""
        chosen = self._chosen()
        if chosen is None:
            return "No number of components could be compared."
        least = self._least()
        told = [_why(chosen, least, self.n_starts)]
        tried = [run.n_components for run in self._known()]
        if least.dissimilarity > STABLE + 1e-9:
            told.append(
                f"None is stable: from {tried[0]} to {tried[-1]} other starts find other components "
                f"(Υ above {STABLE:g}). Read them with care."
            )
        elif chosen.n_components == tried[-1] > tried[0]:
            told.append("It is the largest that was tried; more may do as well.")
        if 0 < self.size <= chosen.n_components:
            told.append(
                f"Mode {self.mode} has {self.size} entries: as many components are alike from any start, "
                "whatever the data. Try smaller numbers."
            )
        failed = [run.n_components for run in self.runs if run.model is None]
        if failed:
            told.append(f"Failed: {', '.join(map(str, failed))}.")
        if not self.complete:
            told.append(f"Rests on {len(self.runs)} of the {len(self.planned)} numbers asked for.")
        return " ".join(told)

    def _row(self, run: RankRuns) -> dict[str, Any]:
        """Return the row of the table for one run."""
        counts: Any = [pd.NA] * (1 + len(self.modes))
        if run.model is not None:
            best = run.nonzeros[int(np.argmax(run.fits))]
            counts = [best.sum(), *best]
        return {
            "n_components": run.n_components,
            "dissimilarity": run.dissimilarity,
            "standard_error": run.standard_error,
            "fit": run.fit,
            "mean_fit": float(run.fits.mean()) if len(run.fits) else np.nan,
            "nonzeros": counts[0],
            **{f"nonzeros of {m}": n for m, n in zip(self.modes, counts[1:], strict=True)},
            "remark": run.remark,
        }

    def _known(self) -> list[RankRuns]:
        """Return the numbers whose starts could be compared."""
        return [run for run in self.runs if np.isfinite(run.dissimilarity)]

    def _least(self) -> RankRuns:
        """Return the most reproducible one, the smaller of several."""
        return min(self._known(), key=lambda run: run.dissimilarity)

    def _chosen(self) -> RankRuns | None:
        """Return the best fit among those that are as reproducible as the most reproducible one."""
        if not self._known():
            return None
        least = self._least()
        most = least.dissimilarity + max(ALIKE, float(np.nan_to_num(least.standard_error))) + 1e-9
        return max(
            (run for run in self._known() if run.dissimilarity <= most), key=lambda run: run.fit
        )


def _why(chosen: RankRuns, least: RankRuns, n_starts: int) -> str:
    """Say why a number was chosen."""
    found = f"{chosen.n_components}: Υ = {chosen.dissimilarity:.2g} over {n_starts} starts, "
    if chosen is least:
        return f"{found}the smallest of all."
    return (
        f"{found}as good as the smallest ({least.dissimilarity:.2g} at {least.n_components}), and of "
        f"those the best fit ({chosen.fit:.3f})."
    )


_Start = tuple[Any, str]  # a fitted model, or None and why there is none
_again = ContextVar("_again", default=False)  # in this thread the data are fitted again


class _Again(type):
    """Match data warnings, but only in a thread that fits the same data again."""

    def __subclasscheck__(cls, kind: type) -> bool:
        return _again.get() and DataWarning in kind.__mro__


class _SaidBefore(Warning, metaclass=_Again):
    """Filter category of data warnings that another fit to the same data has raised."""

    # Filters hold for all threads, and to set one for a while and take it back disturbs those of others. This one can
    # stay: it lets all else through.


@checked()
def iter_rank_study(
    estimator: Any,
    X: Any,
    n_components: Iterable[int] = range(2, 11),
    *,
    n_starts: int = 20,
    mode: int | str = 1,
    init: str | None = "round",
    random_state: RandomState = 0,
    progress: Progress | bool | None = None,
) -> Iterator[RankStudy]:
    """Factorize from several starts, and yield what is known after every number of components.

    Stop taking, or raise from `progress`, and the last study stays valid.

    Parameters
    ----------
    estimator : SUSTain
        Has `n_components`, `init` and `random_state` and, once fitted, `factors_` and `fit_`; it is
        cloned, never changed.
    X : matrix or tensor
        What the estimator is fitted to.
    n_components : iterable of int, default=range(2, 11)
        Numbers to try.
    n_starts : int, default=20
        Starts for each number, B, each from a real solution of its own; 2 or more.
    mode : int or str, default=1
        Mode whose factors are compared, by number or name; 1 is the first after the patients, for example diagnoses.
    init : str or None, default="round"
        What every fit starts from; None leaves what the estimator has.
    random_state : int, RandomState, Generator or None, default=0
        Seed from which those of the starts are drawn, the same for every number of components; None draws a
        fresh one.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it
        cancels the work.

    Yields
    ------
    RankStudy
        After each number, ascending.

    Raises
    ------
    TypeError
        If an option is of another kind, or the fitted estimator has no `factors_`.
    ValueError
        If an option is out of range, the estimator lacks one, or every number fails.

    Notes
    -----
    Perros 2018, section 4.4: Υ(R), the mean dissimilarity over all pairs of B starts. Fits to more than
    5,000 rows run side by side; seeds are drawn before the first, so that nothing depends on how many. A
    `DataWarning` is raised by the first fit only, as the others would say the same of the data.

    Examples
    --------
    >>> from lvmkit import SUSTain
    >>> X = np.kron(np.eye(3, dtype=int), np.ones((20, 4), dtype=int))
    >>> for study in iter_rank_study(SUSTain(), X, [2, 3], n_starts=3):
    ...     print(study.best)
    2
    3
    """
    numbers = _checked(estimator, n_components, n_starts)
    place = _place(X, mode)
    tasks, workers = _tasks(estimator, X, numbers, init=init, seeds=_seeds(n_starts, random_state))
    study = RankStudy((), (), place, n_starts, tuple(numbers), np.shape(X)[place])
    warnings.simplefilter("ignore", _SaidBefore)
    with progress_callback(progress) as tell:
        starts = in_order(tasks, _starts_told(tell, numbers, n_starts), workers=workers)
        for number in numbers:
            study = _after(study, number, islice(starts, n_starts))
            yield study
        _require_one(study)
        tell("Components: done", 1.0)


# The options stand twice, as a public signature takes no **kwargs.
@checked()
def rank_study(
    estimator: Any,
    X: Any,
    n_components: Iterable[int] = range(2, 11),
    *,
    n_starts: int = 20,
    mode: int | str = 1,
    init: str | None = "round",
    random_state: RandomState = 0,
    progress: Progress | bool | None = None,
) -> RankStudy:
    """Factorize with several numbers of components from several starts each, and recommend a number.

    Parameters
    ----------
    estimator : SUSTain
        Has `n_components`, `init` and `random_state` and, once fitted, `factors_` and `fit_`; it is
        cloned, never changed.
    X : matrix or tensor
        What the estimator is fitted to.
    n_components : iterable of int, default=range(2, 11)
        Numbers to try.
    n_starts : int, default=20
        Starts for each number, B, each from a real solution of its own; 2 or more.
    mode : int or str, default=1
        Mode whose factors are compared, by number or name; 1 is the first after the patients, for example diagnoses.
    init : str or None, default="round"
        What every fit starts from; None leaves what the estimator has.
    random_state : int, RandomState, Generator or None, default=0
        Seed from which those of the starts are drawn, the same for every number of components; None draws a
        fresh one.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done. Raising from it, or
        interrupting the kernel, ends the work; what is known by then is returned if it is one number or
        more, and otherwise what was raised is raised.

    Returns
    -------
    RankStudy
        Its `table` has Υ, fit and non-zeros for each number, `best` and `reason` the recommendation,
        `models` the best fit for each number.

    Raises
    ------
    TypeError, ValueError
        As `iter_rank_study`.

    Warns
    -----
    DataWarning
        If the work was ended before the last number.

    Notes
    -----
    Perros 2018, section 4.4.

    Examples
    --------
    >>> from lvmkit import SUSTain
    >>> X = np.kron(np.eye(3, dtype=int), np.ones((20, 4), dtype=int))
    >>> study = rank_study(SUSTain(), X, [2, 3], n_starts=3)
    >>> study.table[["n_components", "dissimilarity", "fit", "nonzeros"]].iloc[1].tolist()
    [3.0, 0.0, 1.0, 72.0]
    """
    study = None
    with progress_callback(progress) as tell:
        watched = Interruptible(tell)
        studies = iter_rank_study(
            estimator,
            X,
            n_components,
            n_starts=n_starts,
            mode=mode,
            init=init,
            random_state=random_state,
            progress=watched,
        )
        for study in watched.until_stopped(studies):  # noqa: B007 - the last one is what is wanted
            pass
    assert study is not None  # numbers are not empty
    if not study.complete:
        done, planned = len(study.runs), len(study.planned)
        msg = f"ended after {done} of {planned} numbers of components; the result rests on these"
        warnings.warn(msg, DataWarning, stacklevel=3)
    return study


def _checked(estimator: Any, n_components: Iterable[int], n_starts: int) -> list[int]:
    """Return the numbers to try in ascending order, or refuse the options."""
    require_number(n_starts, "n_starts", least=2, whole=True)
    missing = {"n_components", "init", "random_state"} - set(options_of(estimator))
    if missing:
        msg = f"{type(estimator).__name__} has no option {listed(sorted(missing))}; pass lvmkit.SUSTain()"
        raise ValueError(msg)
    given = list(n_components)
    for number in given:
        require_number(number, "each of n_components", least=1, whole=True)
    if not given:
        msg = "n_components is empty: pass the numbers to try, for example range(2, 11)"
        raise ValueError(msg)
    return sorted({int(number) for number in given})


def _place(X: Any, mode: int | str) -> int:
    """Return the number of the mode to compare; refuse one that there is not, or that is too short."""
    tensor = validation.split_names(X)
    if tensor is None:
        refuse_shape(features.unwrapped(X)[0], "X")
    shape = np.shape(X)
    if isinstance(mode, str):
        names = tensor.modes if tensor else validation.mode_names(len(shape))
        if mode not in names:
            msg = f"mode={mode!r}; the modes of X are {listed(names)}: give one of them"
            raise ValueError(msg)
        mode = names.index(mode)
    require_number(mode, "mode", least=0, whole=True)
    if mode >= len(shape):
        msg = f"mode counts the modes of X from 0 to {len(shape) - 1}; found {mode!r}"
        raise ValueError(msg)
    if shape[mode] < 3:
        msg = f"mode {mode} of X has {shape[mode]} entries; factors of 3 or more can be correlated. Take another mode."
        raise ValueError(msg)
    return int(mode)


def _seeds(n_starts: int, random_state: RandomState) -> list[int]:
    """Draw the seeds of the starts one after the other: more starts leave the first ones as they are."""
    random = random_state_of(random_state)
    return [int(random.randint(2**31 - 1)) for _ in range(n_starts)]


def _tasks(
    estimator: Any, X: Any, numbers: list[int], *, init: str | None, seeds: list[int]
) -> tuple[list[Callable[[Report], _Start]], int]:
    """Return one fit for each number and start, and how many to make side by side."""
    workers = n_threads() if np.shape(X)[0] > SMALL else 1
    options = clone(estimator).get_params()
    fixed: dict[str, Any] = {} if init is None else {"init": init}
    if workers > 1 and "n_jobs" in options:
        fixed["n_jobs"] = 1  # the threads are taken by whole fits
    return [
        partial(
            _started,
            clone(estimator).set_params(n_components=number, **fixed),
            X,
            seed,
            again=i > 0,
        )
        for i, (number, seed) in enumerate(product(numbers, seeds))
    ], workers


def _started(estimator: Any, X: Any, seed: int, report: Report, *, again: bool) -> _Start:
    """Fit from one start; a number of components that the data do not allow is not the end of the study."""
    before = _again.set(again)
    try:
        return refit(estimator, X, (seed,) * len(seed_names(estimator)), report), ""
    except ValueError as error:
        return None, str(error.__cause__ or error)
    finally:
        _again.reset(before)


def _after(study: RankStudy, number: int, starts: Iterable[_Start]) -> RankStudy:
    """Return the study with one number of components more, of whose models the best is kept."""
    best, remark, modes = None, "", study.modes
    factors: list[Labels] = []
    fits: list[float] = []
    nonzeros: list[list[int]] = []
    for model, why in starts:
        remark = remark or why
        if model is None:
            continue
        _require_factors(model)
        modes = modes or _names(model)
        fits.append(float(model.fit_))
        factors.append(model.factors_[study.mode])
        nonzeros.append([int(np.count_nonzero(factor)) for factor in model.factors_])
        best = model if fits[-1] == max(fits) and fits.count(fits[-1]) == 1 else best
    unlike = pairwise_dissimilarity(factors) if factors else np.zeros((0, 0))
    run = RankRuns(number, unlike, np.array(fits), np.array(nonzeros), best, remark)
    return replace(study, runs=(*study.runs, run), modes=modes)


def _names(model: Any) -> tuple[str, ...]:
    """Return the names of the modes, or their numbers."""
    names = getattr(model, "mode_names_", None)
    return tuple(map(str, names if names is not None else range(len(model.factors_))))


def _require_factors(model: Any) -> None:
    """Refuse a model without factors or fit."""
    missing = [name for name in ("factors_", "fit_") if not hasattr(model, name)]
    if missing:
        msg = f"{type(model).__name__} has no {' and no '.join(missing)} after fit; pass lvmkit.SUSTain()"
        raise TypeError(msg)


def _require_one(study: RankStudy) -> None:
    """Refuse a study in which every number failed."""
    if not study.models:
        first = study.runs[0]
        msg = f"no number of components could be fitted. {first.n_components}: {first.remark}"
        raise ValueError(msg)


def _starts_told(tell: Progress, numbers: list[int], n_starts: int) -> Callable[[int, float], None]:
    """Return the progress callback that names the start and number under way."""

    def told_so(task: int, done: float) -> None:
        number, start = numbers[task // n_starts], task % n_starts + 1
        text = f"{number} components: start {start} of {n_starts}"
        tell(text, (task + done) / (len(numbers) * n_starts))

    return told_so
