"""Baselines of SUSTain: real factorizations, rounded ones, and AILS."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of, random_state_of
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import progress_callback
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.core.validation import as_numbers, listed, require_number, require_seed
from lvmkit.sustain import validation
from lvmkit.sustain.ails import ails
from lvmkit.sustain.coordinate_descent import fit_to
from lvmkit.sustain.initialization import Start, round_factors, scale_and_round
from lvmkit.sustain.multi_start import FROM_REAL
from lvmkit.sustain.nonnegative import balance_columns, nonnegative
from lvmkit.sustain.options import boxes_of, require_possible, starts_of
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

METHODS = ("real", "rounded", "scaled and rounded", "AILS")
"""In the order of the result; the first is called NMF or CP there, the next two after it."""
_NMF_ITERATIONS = 400

MOST_FOR_AILS = 10**6
"""Larger counts let AILS's search grow without end."""


@dataclass(frozen=True, eq=False)
class Factorization:
    """Factors that one method found, and how long that took.

    Parameters
    ----------
    factors : list of array (I_n, R)
        One per mode, the samples first; whole numbers unless the method is real.
    weights : array (R,)
        λ; ones if the method is real.
    fit : float
        1 − ‖X − X̂‖ / ‖X‖.
    seconds : float
        Time, with that of the real factorization that the method starts from.
    """

    factors: list[Any]
    weights: Labels
    fit: float
    seconds: float


@checked()
def factor_baselines(
    X: Any,
    n_components: int,
    *,
    methods: Sequence[str] = METHODS,
    max_score: int | Sequence[int] = 5,
    init: str | Sequence[Any] = "round",
    tol: float = 1e-4,
    random_state: int = 0,
    progress: Progress | bool | None = None,
) -> dict[str, Factorization]:
    """Factorize counts by the methods that SUSTain is compared with.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame, AnnData (n, d); array or coo_array (n, I_2, ..., I_d); CountTensor
        Counts.
    n_components : int
        Number of components R.
    methods : sequence of str
        Of "real", "rounded", "scaled and rounded" and "AILS"; all by default. With many components AILS
        may not end in any reasonable time.
    max_score : int or sequence of int, default=5
        Largest score τ; one number, or one per mode.
    init : str or sequence of arrays, default="round"
        Where AILS starts: the real solution made whole numbers as by `SUSTain` ("round", "scale_and_round",
        "balanced"), or one array (I_n, R) per mode, and perhaps the weights.
    tol : float, default=1e-4
        Iterations end when the fit changes by less (NMF: as scikit-learn's option of that name).
    random_state : int, default=0
        Seed.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it cancels.

    Returns
    -------
    dict of str to Factorization
        "NMF", "NMF rounded", "NMF scaled and rounded" and "AILS" of a matrix; of a tensor "CP" stands for "NMF".
        The first is real, a ceiling of what whole numbers can reach.

    Raises
    ------
    ValueError
        If an option or entry is out of range, or a method unknown.

    Notes
    -----
    Perros 2018, section 4.1.2. NMF is scikit-learn's, CP is non-negative (HALS). Weights are
    absorbed evenly, for three modes by their cube root: all columns of a component have one length. What is rounded
    does not depend, then, on the scale at which iterations happened to end. Halves are rounded away from zero; a
    weight of scale-and-round that would be 0 is 1. Perros 2018 has no AILS for tensors.

    Examples
    --------
    >>> X = np.kron(np.eye(2, dtype=int), np.full((4, 3), 4))
    >>> for name, found in factor_baselines(X, 2).items():
    ...     print(f"{name}: {found.fit:.2f}")
    NMF: 1.00
    NMF rounded: 1.00
    NMF scaled and rounded: -4.25
    AILS: 1.00
    """
    wanted = _checked_methods(methods)
    require_number(n_components, "n_components", least=1, whole=True)
    require_number(tol, "tol", least=0)
    require_seed(random_state)
    data = _unfolded(X)
    if "AILS" in wanted and data.rows.nnz and data.rows.data.max() > MOST_FOR_AILS:
        msg = (
            f"X holds counts up to {data.rows.data.max():g}, and AILS, which tries the whole numbers within reach one "
            f"by one, takes at most {MOST_FOR_AILS:,}. Count in larger units, or leave AILS out of methods"
        )
        raise ValueError(msg)
    order = len(data.shape)
    require_possible(data.shape, n_components, [f"mode {n}" for n in range(order)])
    boxes = boxes_of(0, max_score, order)
    start = _checked_start(init, data.shape, boxes, n_components)
    name = "NMF" if order == 2 else "CP"
    found: dict[str, Factorization] = {}
    with progress_callback(progress) as tell, single_threaded_blas():
        tell(name, 0.0)
        begun, real = perf_counter(), list[Array]()
        if start is None or wanted != ["AILS"]:
            real = _real(data, n_components, tol, random_state)
        spent = perf_counter() - begun
        make: dict[str, Callable[[], Start]] = {
            "real": lambda: (real, np.ones(n_components, dtype=np.int64)),
            "rounded": lambda: round_factors(real, boxes),
            "scaled and rounded": lambda: scale_and_round(real, boxes),
            "AILS": lambda: _ails(
                data, start or FROM_REAL[str(init)](real, boxes), boxes, tol, random_state, tell
            ),
        }
        for method in wanted:
            tell(method, 0.5)
            begun = perf_counter()
            factors, weights = make[method]()
            seconds = perf_counter() - begun + spent * (method != "AILS" or start is None)
            kind = np.float64 if method == "real" else np.int32
            found[_label(method, name)] = Factorization(
                [np.ascontiguousarray(factor.T, dtype=kind) for factor in factors],
                weights,
                fit_to(data, [np.asarray(f, float) for f in factors], weights.astype(float)),
                seconds,
            )
        tell("done", 1.0)
    return found


@checked()
def truncated(factors: Sequence[npt.ArrayLike], nonzeros: Sequence[int]) -> list[Array]:
    """Keep the largest entries of real factors, about as many as another factorization has.

    Parameters
    ----------
    factors : sequence of array (I_n, R)
        Real, non-negative factors whose weights are 1, the samples first: those of `factor_baselines`.
    nonzeros : sequence of int
        For each mode the number of entries to keep.

    Returns
    -------
    list of array (I_n, R)
        Copies. Of the samples' factor the same number of entries is kept in each row, of the others in each
        column: the number, 1 or more, that comes nearest.

    Raises
    ------
    ValueError
        If there is not one number for each mode.

    Notes
    -----
    Perros 2018, section 4.4, table 6: what a practitioner does to make real factors concise. The entries of
    a row are compared by what they contribute: times the lengths of the other modes' columns.

    Examples
    --------
    >>> truncated([[[3.0, 1.0], [0.5, 2.0]], [[1.0, 0.2], [0.1, 1.0]]], [2, 2])
    [array([[3., 0.],
           [0., 2.]]), array([[1., 0.],
           [0., 1.]])]
    """
    parts = [as_numbers(factor, f"factors[{n}]") for n, factor in enumerate(factors)]
    if len(nonzeros) != len(parts):
        msg = f"nonzeros has {len(nonzeros)} numbers for {len(parts)} factors; pass one for each"
        raise ValueError(msg)
    lengths = np.prod([np.linalg.norm(part, axis=0) for part in parts[1:]], axis=0)
    kept = [_largest(parts[0] * lengths, nonzeros[0])]
    kept += [_largest(part.T, n).T for part, n in zip(parts[1:], nonzeros[1:], strict=True)]
    return [np.where(keep, part, 0.0) for keep, part in zip(kept, parts, strict=True)]


def _largest(rows: Array, nonzeros: int) -> npt.NDArray[np.bool_]:
    """Mark the largest entries of each row, of positive ones, so that about so many are marked in all."""
    most = min(max(round(nonzeros / len(rows)), 1), rows.shape[1])
    order = np.argsort(-rows, axis=1, kind="stable")[:, :most]
    keep = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(keep, order, values=True, axis=1)
    return keep & (rows > 0)


def _checked_methods(methods: Sequence[str]) -> list[str]:
    """Return the methods in their order."""
    given_one = [methods] if isinstance(methods, str) else []
    unknown = given_one or [method for method in methods if method not in METHODS]
    if unknown or not methods:
        msg = f"methods are a list of {listed(METHODS)}; found {listed(unknown or [methods])}"
        raise ValueError(msg)
    return [method for method in METHODS if method in methods]


def _label(method: str, name: str) -> str:
    """Return the label of a method in the result."""
    return {"real": name, "AILS": "AILS"}.get(method, f"{name} {method}")


def _unfolded(X: Any) -> Unfolded:
    """Check counts of any order, and unfold them."""
    tensor = validation.split_names(X)
    counts = tensor.counts if tensor else validation.matrix_of(X)
    validation.require_counts(counts, signed=False)
    return validation.unfold(counts)


def _checked_start(
    init: Any, shape: Sequence[int], boxes: Sequence[Box], n_components: int
) -> Start | None:
    """Return the factors where AILS starts, or None if it starts from the real solution."""
    if not isinstance(init, str):
        factors, weights = starts_of(init, shape, boxes, n_components=n_components)
        return factors, weights  # type: ignore[return-value]  # weights are given, or 1
    if init not in FROM_REAL:
        msg = f"init is one of {listed(FROM_REAL)}, or one array per mode; found {init!r}"
        raise ValueError(msg)
    return None


def _real(data: Unfolded, n_components: int, tol: float, random_state: int) -> list[Array]:
    """Return real non-negative factors (R, I_n)."""
    if len(data.shape) > 2:
        rng = generator_of(random_state)
        return nonnegative(data, n_components, rng=rng, tol=tol).factors
    rows = sparse.csr_array(data.rows.T if data.mode else data.rows, dtype=np.float64)
    model = NMF(
        n_components, tol=tol, max_iter=_NMF_ITERATIONS, random_state=random_state_of(random_state)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start, good enough
        # The squared error of an exact fit can be -1e-15.
        warnings.filterwarnings("ignore", "invalid value encountered in sqrt", RuntimeWarning)
        left = model.fit_transform(rows)
    return balance_columns([left.T, model.components_], np.ones(n_components))


def _ails(
    data: Unfolded,
    start: Start,
    boxes: Sequence[Box],
    tol: float,
    random_state: int,
    tell: Progress,
) -> Start:
    """Improve a start by AILS."""

    def told_so(step: int, _: float) -> None:
        tell(f"AILS: iteration {step + 1}", 1 - 0.5 / (1 + step))

    rng = generator_of(random_state)
    end = ails(data, *start, boxes=boxes, rng=rng, tol=tol, tell=told_so)
    return end.factors, end.weights
