"""Selection of the number of components by several scores side by side."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed, random_state_of
from lvmkit.core.progress import progress_callback
from lvmkit.core.typing import Array, Progress, RandomState
from lvmkit.core.validation import DataWarning, listed, require_number, widened
from lvmkit.scores.coherence import coherence
from lvmkit.scores.description_length import description_length, of_words
from lvmkit.scores.perplexity import perplexity
from lvmkit.scores.stability.refits import options_of
from lvmkit.scores.stability.score import overlapping_fits, stability

HIGHER_IS_BETTER = {
    "coherence": True,
    "perplexity": False,
    "stability": True,
    "description_length": False,
}
"""The scores, in the order of the table."""


class _Task(NamedTuple):
    """Scores to compute, and the data for them."""

    estimator: Any
    rows: Any
    fitted_rows: Any
    held_out: Any
    n_repeats: int
    random_state: RandomState


@checked()
def select_n_components(
    estimator: Any,
    X: Any,
    candidates: Iterable[int],
    *,
    scores: Sequence[str] = ("coherence", "perplexity", "stability", "description_length"),
    held_out: float = 0.1,
    n_repeats: int = 3,
    random_state: RandomState = 0,
    progress: Progress | bool | None = None,
) -> pd.DataFrame:
    """Fit a model with several numbers of components and score each.

    Parameters
    ----------
    estimator : mixture or topic model
        Has `n_components` and, once fitted, `centers_`; it is cloned, never changed.
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        The rows.
    candidates : iterable of int
        Numbers of components to try.
    scores : sequence of str
        Of "coherence", "perplexity", "stability" and "description_length"; all by default.
    held_out : float, default=0.1
        Share of the rows that only perplexity sees; the others are what models are fitted to. Without
        perplexity among the scores all rows are.
    n_repeats : int, default=3
        Pairs of fits per candidate that stability compares.
    random_state : int, RandomState, Generator or None, default=0
        Seed of what is held out, halved and drawn, the same for all candidates; None draws a fresh one.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it cancels.

    Returns
    -------
    DataFrame
        One row per candidate, ascending: n_components, a column per score, remark (why a score is missing, and what
        the fit warned of; often ""), recommended (True once). ``attrs["best"]`` has each score's best candidate,
        ``attrs["why"]`` the recommendation in words.

    Raises
    ------
    TypeError
        If `X` holds no numbers, an option is of another kind, or the fitted estimator has no `centers_`.
    ValueError
        If an option is out of range, the estimator has no `n_components`, or every candidate fails.

    Notes
    -----
    - *coherence*: mean over the components (`lvmkit.scores.coherence`, 20 words).
    - *perplexity*: of the rows held out. Topic models predict half of each document from the other half
      (`lvmkit.scores.perplexity`); for other mixtures it is exp(−log-likelihood / sum of all entries).
    - *stability*: mean adjusted Rand index (`lvmkit.scores.stability`). A model without labels is judged by its
      topics: those of two overlapping parts are paired at best, and the score is the mean of 1 − total variation
      distance.
    - *description_length*: of the rows fitted (`lvmkit.scores.description_length`).

    The scores answer different questions and seldom agree. Recommended is the best mean rank over the scores, the
    smaller number where two are equal: a place to begin looking, not a test. A candidate that fails (for instance
    because the data support fewer components) has NaN and a remark that says so, and ranks last.

    Examples
    --------
    >>> from lvmkit import BernoulliMixture
    >>> from lvmkit.datasets import make_bernoulli_mixture
    >>> X = make_bernoulli_mixture(600, 30, 3, codes_per_row=6, random_state=0).X
    >>> found = select_n_components(BernoulliMixture(), X, [1, 3], scores=["perplexity"])
    >>> found["recommended"].tolist()
    [False, True]
    """
    numbers = _checked(estimator, candidates, scores, held_out)
    require_number(n_repeats, "n_repeats", least=1, whole=True)
    wanted = [name for name in HIGHER_IS_BETTER if name in scores]
    rows, random_state = _rows_of_numbers(X), known_seed(random_state)
    order = random_state_of(random_state).permutation(rows.shape[0])
    n_held = _n_held_out(len(order), held_out) if "perplexity" in wanted else 0
    fitted, held = (_rows_at(rows, np.sort(part)) for part in (order[n_held:], order[:n_held]))
    task = _Task(estimator, rows, fitted, held, n_repeats, random_state)
    table = []
    with progress_callback(progress) as tell:
        for i, number in enumerate(numbers):
            part = _part(tell, i / len(numbers), (i + 1) / len(numbers), f"{number} components")
            table.append({"n_components": number} | _scored(task, number, wanted, part))
        tell("done", 1.0)
    return _recommended(pd.DataFrame(table)[["n_components", *wanted, "remark"]], wanted)


def _checked(
    estimator: Any, candidates: Iterable[int], scores: Sequence[str], held_out: float
) -> list[int]:
    """Return the candidates in ascending order, or refuse the options."""
    unknown = [name for name in scores if name not in HIGHER_IS_BETTER]
    if unknown or not len(scores):
        msg = (
            f"scores must be among {listed(HIGHER_IS_BETTER)}; found {listed(unknown or [scores])}"
        )
        raise ValueError(msg)
    require_number(held_out, "held_out", least=0, above=True)
    if held_out >= 1:
        msg = f"held_out is a share of the rows, below 1; found {held_out!r}"
        raise ValueError(msg)
    if "n_components" not in options_of(estimator):
        msg = f"the estimator needs n_components; {type(estimator).__name__} has none"
        raise ValueError(msg)
    given = list(candidates)
    for number in given:
        require_number(number, "each of candidates", least=1, whole=True)
    if not given:
        msg = "candidates is empty: pass the numbers of components to try, for example range(2, 11)"
        raise ValueError(msg)
    return sorted({int(number) for number in given})


def _rows_of_numbers(X: Any) -> Any:
    """Return sparse rows, a DataFrame or an array; refuse texts and data without columns."""
    is_text = getattr(getattr(X, "dtype", None), "kind", "f") in "US" or (
        isinstance(X, (list, tuple)) and any(isinstance(v, str) for v in np.ravel(X[:1]))
    )
    matrix = np.asarray(X) if is_text else features.unwrapped(X)[0]
    if is_text or len(matrix.shape) != 2:
        msg = (
            f"X must be rows of numbers (n, d); found {type(X).__name__} of shape {matrix.shape}. "
            "Texts become counts of words by lvmkit.cohorts.from_texts."
        )
        raise TypeError(msg)
    if sparse.issparse(matrix):
        return sparse.csr_array(widened(matrix))
    return matrix if hasattr(matrix, "iloc") else widened(np.asarray(matrix))


def _n_held_out(n: int, share: float) -> int:
    """Return how many rows are held out: one at least, and not all."""
    if n < 2:
        msg = f"some rows are held out, others fitted: 2 at least are needed; found {n}"
        raise ValueError(msg)
    return min(max(round(n * share), 1), n - 1)


def _rows_at(rows: Any, places: Any) -> Any:
    """Return rows of an array, sparse matrix or DataFrame."""
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def _scored(task: _Task, number: int, wanted: list[str], tell: Progress) -> dict[str, Any]:
    """Fit one candidate and return its scores, NaN where one could not be had, and remarks."""
    found: dict[str, Any] = dict.fromkeys(wanted, np.nan)
    tell("fit", 0.0)
    remarks: list[str] = []
    try:
        with _noted(remarks):
            model = clone(task.estimator).set_params(n_components=number).fit(task.fitted_rows)
    except (ValueError, ArithmeticError) as error:
        return found | {"remark": str(error)}
    if not hasattr(model, "centers_"):
        msg = (
            f"{type(model).__name__} has no centers_ after fit, which the scores are made of; "
            "pass a model of lvmkit, or one with centers_ (k, d)"
        )
        raise TypeError(msg)
    for i, name in enumerate(wanted):
        low, high = (i + 1) / (len(wanted) + 1), (i + 2) / (len(wanted) + 1)
        part = _part(tell, low, high, name.replace("_", " "))
        part("", 0.0)
        try:
            with _noted([]):
                value = float(_SCORES[name](task, model, part))
        except (ValueError, ArithmeticError) as error:
            remarks.append(f"{name}: {error}")
            continue
        if np.isfinite(value):
            found[name] = value
        else:
            remarks.append(f"{name}: a row is impossible under the model.")
    return found | {"remark": " ".join(remarks)}


@contextmanager
def _noted(remarks: list[str]) -> Iterator[None]:
    """Collect the warnings of models as remarks; with many candidates some always warn."""
    with warnings.catch_warnings(record=True) as caught:
        for expected in (DataWarning, ConvergenceWarning):
            warnings.simplefilter("always", expected)
        yield
    for one in caught:
        if issubclass(one.category, (DataWarning, ConvergenceWarning)):
            remarks.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _coherence(task: _Task, model: Any, _: Progress) -> float:
    """Return the mean coherence of the components."""
    return float(coherence(model.centers_, task.fitted_rows).mean())


def _perplexity(task: _Task, model: Any, _: Progress) -> float:
    """Return the perplexity of the rows held out."""
    if hasattr(model, "transform") and of_words(np.asarray(model.centers_)):
        return perplexity(
            model.centers_, task.held_out, infer=model.transform, random_state=task.random_state
        )
    total = float(np.asarray(task.held_out.sum(), dtype=np.float64).sum())
    if not total > 0:
        msg = "the rows held out are empty"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        return float(np.exp(-np.asarray(model.score_samples(task.held_out)).sum() / total))


def _stability(task: _Task, model: Any, tell: Progress) -> float:
    """Return the agreement of labels, or of topics, in overlapping parts of the rows."""
    estimator = clone(task.estimator).set_params(n_components=len(model.centers_))
    if hasattr(model, "labels_") or hasattr(model, "predict"):
        found = stability(
            estimator,
            task.rows,
            n_repeats=task.n_repeats,
            random_state=task.random_state,
            progress=tell,
        )
        return float(found.mean())
    pairs = overlapping_fits(
        estimator,
        task.rows,
        shared=0.8,
        n_repeats=task.n_repeats,
        random_state=task.random_state,
        progress=tell,
    )
    return float(np.mean([_similarity(*(model.centers_ for model in fits)) for fits in pairs]))


def _similarity(one: Array, other: Array) -> float:
    """Return the mean of 1 − total variation distance of topics, paired at best."""
    shared = np.array([np.minimum(topic, other).sum(axis=1) for topic in one])
    pairs = linear_sum_assignment(shared, maximize=True)
    return float(shared[pairs].mean())


def _description_length(task: _Task, model: Any, _: Progress) -> float:
    """Return the description length of the rows fitted."""
    return description_length(model, task.fitted_rows, random_state=task.random_state)


_SCORES: dict[str, Callable[[_Task, Any, Progress], float]] = {
    "coherence": _coherence,
    "perplexity": _perplexity,
    "stability": _stability,
    "description_length": _description_length,
}


def _recommended(table: pd.DataFrame, wanted: list[str]) -> pd.DataFrame:
    """Mark the candidate with the best mean rank, and say why."""
    if table[wanted].isna().all(axis=None):
        msg = f"no candidate could be scored. {table['n_components'].iloc[0]}: {table['remark'].iloc[0]}"
        raise ValueError(msg)
    signs = pd.Series({name: -1.0 if HIGHER_IS_BETTER[name] else 1.0 for name in wanted})
    scored = [name for name in wanted if table[name].notna().any()]
    costs = table[scored] * signs[scored]
    ranks = costs.rank(method="min", na_option="bottom").mean(axis=1)
    numbers = table["n_components"].to_numpy()
    chosen = int(numbers[np.argmin(ranks)])
    best = {name: int(numbers[np.nanargmin(costs[name])]) for name in scored}
    table["recommended"] = numbers == chosen
    table.attrs = {"best": best, "why": _why(chosen, best)}
    return table


def _why(chosen: int, best: dict[str, int]) -> str:
    """Say which scores prefer the chosen number, and what the others prefer."""
    named = {name: name.replace("_", " ") for name in best}
    agree = [named[name] for name, number in best.items() if number == chosen]
    others = [
        f"{named[name]} is best at {number}" for name, number in best.items() if number != chosen
    ]
    if not others:
        return f"{chosen}: best by {_joined(agree)}."
    first = f"best by {_joined(agree)}; " if agree else ""
    return f"{chosen}: {first}best mean rank of all scores. {_joined(others).capitalize()}."


def _joined(texts: list[str]) -> str:
    """Join texts as in a sentence."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if texts[:-1] else texts)


def _part(tell: Progress, low: float, high: float, name: str) -> Progress:
    """Return a progress whose 0 to 1 is a part of another's."""

    def tell_part(text: str, done: float) -> None:
        tell(f"{name}: {text}" if text else name, low + (high - low) * done)

    return tell_part
