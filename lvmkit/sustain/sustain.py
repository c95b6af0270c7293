"""SUSTain: phenotypes as integer scores, from a matrix or a tensor of counts."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features, moved
from lvmkit.core.options import Option, check_options, flag, n_jobs, number, seed
from lvmkit.core.parallel import single_threaded_blas, workers_of
from lvmkit.core.progress import progress_callback
from lvmkit.core.stored import StoredModel, require_names
from lvmkit.core.typing import Progress, RandomState
from lvmkit.core.validation import (
    check_matrix,
    parts_of,
    require_text,
)
from lvmkit.sustain import validation
from lvmkit.sustain.coordinate_descent import IntegerFactors, fit_to
from lvmkit.sustain.multi_start import FitRules, best_start, threads
from lvmkit.sustain.options import (
    MAX_SCORE,
    allows_negative,
    as_integers,
    boxes_of,
    require_possible,
    starts_of,
)
from lvmkit.sustain.transform import score_rows
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box


class SUSTain(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StoredModel, BaseEstimator):
    """Phenotypes of integer scores: X is approximated by a weighted sum of products of score columns.

    For patients by diagnoses, X[i, j] is near the sum over r of weights_[r] * factors_[0][i, r] * factors_[1][j, r];
    for patients by diagnoses by medications there is a third factor, and so on. A score of 0 says that a feature does
    not take part; higher ones are levels of importance.

    Parameters
    ----------
    n_components : int, default=10
        Number of phenotypes R.
    max_score : int or sequence of int, default=5
        Largest score tau, at least 1; one number, or one per mode.
    min_score : int or sequence of int, default=0
        Smallest score, at most 0; negative ones, and negative entries of X, are allowed when asked for.
    init : str or sequence of arrays, default="best"
        Where to start: a real non-negative factorization, scaled so that rounding loses least ("balanced"), rounded as
        it is ("round"), or stretched and rounded ("scale_and_round"); "random"; random patients' scores with features
        sampled from patients ("sampling"); the best of all but "random" ("best"); or one array (I_n, R) of whole
        numbers per mode, with weights 1 unless a further array (R,) gives them.
    n_init : int, default=1
        Starts of each kind, from different draws; the best fit is kept.
    tol : float, default=1e-4
        The iterations end when the fit changes by less from one to the next.
    max_iter : int, default=200
        At most so many iterations.
    n_passes : int, default=1
        How often the columns of one mode are updated before the next mode's.
    round_counts : bool, default=False
        Round entries to whole counts; without it, fractions are refused.
    n_jobs : int, optional
        Threads; as many as there are cores if not validation. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Seed of the draws.

    Attributes
    ----------
    factors_ : list of int array (I_n, R)
        Scores, one array per mode; the first are the samples (patients).
    weights_ : int array (R,)
        Lambda, at least 1: how strongly the product of scores counts.
    fit_ : float
        1 - |X - X_hat| / |X|: 1 if X is met exactly, 0 if nothing is explained.
    converged_ : bool
        Whether the iterations ended by `tol`, or the start was best.
    objective_trace_ : array (n_iter_,)
        Fit after each iteration of the start that was kept; that of the start if `n_iter_` is 0.
    n_iter_ : int
        Iterations of that start.
    stopped_by_ : {"tol", "max_iter", "start"}
        Which rule ended it; "start" if the start itself was best, which happens where components are left over.
    init_ : str
        Which start was kept.
    mode_names_ : list of str
        Names of the modes; "rows" and "features" for a matrix.
    mode_labels_ : list
        For each mode the names of its indexes, an array of str, or None; always None for the samples.
    annotations_ : dict
        Names and notes given to the phenotypes, kept by `lvmkit.save`.
    data_fingerprint_ : str
        Hash of the counts fitted.
    n_features_in_ : int
        Number of features of a matrix; of a tensor, the size of its second mode.
    feature_names_in_ : array of str (d,)
        Names of the features of a matrix, if it had any.

    Notes
    -----
    Perros 2018, Algorithms 1 to 3: of each mode in turn, for each phenotype, first its weight and then its
    column are set to the best whole numbers given all else. Halves are rounded away from zero. A column that would be
    zero gets a score of 1 at a coordinate drawn at random (section 4.1.5); but for that the fit never falls. Neither
    the approximation nor a dense form of X is ever made. "balanced" is our own: rounding a real solution as the
    document does loses most of it when counts are small.

    Examples
    --------
    >>> X = np.kron(np.eye(2, dtype=int), np.full((4, 3), 2))    # two groups of patients, two groups of codes
    >>> model = SUSTain(n_components=2).fit(X)
    >>> model.fit_
    1.0
    >>> model.weights_ * model.factors_[0].max(axis=0) * model.factors_[1].max(axis=0)
    array([2, 2])
    >>> model.transform([[0, 0, 0, 2, 2, 2]]).astype(bool).tolist() == model.factors_[0][-1:].astype(bool).tolist()
    True
    """

    factors_: list[Any]
    weights_: Any
    annotations_: dict[str, Any]

    fit_trace_ = moved.OldName("objective_trace_")

    _trace_key = "fit_trace_"
    _array_kinds: ClassVar[dict[str, str]] = {"factor_*": "i"}
    _list_params: ClassVar[tuple[str, ...]] = ("max_score", "min_score")
    _options: ClassVar[dict[str, Option]] = {
        "n_components": number(1, whole=True),
        "n_init": number(1, whole=True),
        "max_iter": number(1, whole=True),
        "n_passes": number(1, whole=True),
        "tol": number(0),
        "round_counts": flag,
        "random_state": seed,
        "n_jobs": n_jobs,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_score: int | Sequence[int] = 5,
        min_score: int | Sequence[int] = 0,
        init: str | Sequence[Any] = "best",
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = 200,
        n_passes: int = 1,
        round_counts: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.max_score = max_score
        self.min_score = min_score
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.n_passes = n_passes
        self.round_counts = round_counts
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome, and that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # scores are whole numbers
        tags.input_tags.positive_only = not allows_negative(self.min_score)
        return tags

    @property
    def _n_features_out(self) -> int:
        """Return the number of columns of `transform`."""
        return len(self.weights_)

    def fit(self, X: Any, y: Any = None, *, progress: Progress | bool | None = None) -> Self:
        """Find the phenotypes of counts.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, AnnData (n, d); array or coo_array (n, I_2, ..., I_d); CountTensor
            Counts; the first mode are the samples. Duplicate coordinates are added up, which a DataWarning says.
        y : None
            Ignored.
        progress : callable or bool, optional
            True shows a bar. A callable is called, perhaps from another thread, with a text and the fraction done;
            raising from it cancels the fit.

        Returns
        -------
        SUSTain
            This estimator.

        Raises
        ------
        ValueError
            If an option or entry is out of range, a mode has size 1, all counts are 0, or R exceeds what the modes
            allow.
        """
        check_options(self, self._options)
        workers = workers_of(self.n_jobs)
        data = self._unfolded(X, reset=True)
        require_possible(data.shape, self.n_components, self.mode_names_)
        boxes = self._check_options(len(data.shape))
        rules = FitRules(boxes, tol=self.tol, max_iter=self.max_iter, n_passes=self.n_passes)
        with single_threaded_blas(), progress_callback(progress) as tell:
            kept, kind = best_start(
                data,
                self.n_components,
                rules=rules,
                starts=starts_of(self.init, data.shape, boxes, n_components=self.n_components),
                n_init=self.n_init,
                seed=self.random_state,
                workers=workers,
                tell=tell,
            )
        self._keep(kept, kind)
        validation.warn_of_empty(data, self.mode_names_, self.mode_labels_)
        self.data_fingerprint_ = features.fingerprint(data.rows)
        return self

    def transform(self, X: Any) -> Any:
        """Score samples against the phenotypes found, whose features' scores and weights stay.

        Parameters
        ----------
        X : as for `fit`, of any number of samples
            Counts. Labelled data are put into the order of the fit.

        Returns
        -------
        int array (n, R)
            Scores. Those of the samples fitted can differ from `factors_[0]`, which were found before the last change
            of the features' scores.

        Raises
        ------
        ValueError
            If the modes differ from those fitted.
        """
        check_is_fitted(self, "weights_")
        data = self._unfolded(X, reset=False, empty=True)
        box = boxes_of(self.min_score, self.max_score, len(data.shape))[0]
        factors = [np.ascontiguousarray(f.T, dtype=np.float32) for f in self.factors_[1:]]
        if not data.rows.nnz:
            return np.zeros((data.shape[0], len(self.weights_)), dtype=np.int32)
        with single_threaded_blas(), threads(workers_of(self.n_jobs)) as pool:
            scores = score_rows(data, factors, self.weights_, box=box, pool=pool)
        return np.ascontiguousarray(scores.T.astype(np.int32))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the phenotypes, then score the same samples against them.

        Parameters
        ----------
        X : as for `fit`
            Counts.
        y : None
            Ignored.

        Returns
        -------
        int array (n, R)
            What `transform` returns.
        """
        return self.fit(X, y).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return how much of counts the phenotypes explain, once their samples are scored.

        Parameters
        ----------
        X : as for `transform`
            Counts, of samples that may be new.
        y : None
            Ignored.

        Returns
        -------
        float
            The fit: 1 if X is met exactly, 0 if nothing is explained.
        """
        scores = np.asarray(self.transform(X))
        data = self._unfolded(X, reset=False)
        factors = [np.asarray(f, dtype=np.float32).T for f in (scores, *self.factors_[1:])]
        return fit_to(data, factors, self.weights_)

    @classmethod
    def from_parameters(
        cls,
        weights: Any,
        factors: Iterable[Any],
        *,
        mode_names: Iterable[str] | None = None,
        mode_labels: Iterable[Any] | None = None,
    ) -> Self:
        """Return a fitted model with the given scores, in the given order.

        Parameters
        ----------
        weights : int array (R,)
            Lambda, at least 1.
        factors : iterable of int array (I_n, R)
            Scores, one array per mode. The first, of samples, may have no rows.
        mode_names : iterable of str, optional
            Names of the modes.
        mode_labels : iterable, optional
            For each mode names of its indexes, or None.

        Returns
        -------
        SUSTain
            Ready to `transform`.

        Raises
        ------
        ValueError
            If shapes disagree, or numbers are not whole.

        Examples
        --------
        >>> model = SUSTain.from_parameters([2], [np.zeros((0, 1), int), [[1], [0], [2]]])
        >>> model.transform([[2, 0, 4], [4, 0, 8], [0, 1, 0]])
        array([[1],
               [2],
               [0]], dtype=int32)
        """
        parts = [np.asarray(factor) for factor in parts_of(factors, "factors", "arrays")]
        if mode_names is not None:
            mode_names = parts_of(mode_names, "mode_names", "names")
            for name in mode_names:
                require_text(name, "each of mode_names")
        if mode_labels is not None:
            mode_labels = parts_of(mode_labels, "mode_labels", "names or None")
        for name, values in (("mode_names", mode_names), ("mode_labels", mode_labels)):
            if values is not None and len(values) != len(parts):
                msg = f"{name} must be one for each of the {len(parts)} modes; found {len(values)}"
                raise ValueError(msg)
        lambdas = as_integers(weights, "weights", least=1)
        if lambdas.ndim != 1 or not len(lambdas):
            msg = f"weights has shape {lambdas.shape}; it needs one number for every component"
            raise ValueError(msg)
        for mode, part in enumerate(parts):
            if part.ndim != 2 or part.shape[1] != len(lambdas):
                needed = f"with {len(lambdas)} weights it needs (n, {len(lambdas)})"
                msg = f"factors[{mode}] has shape {part.shape}; {needed}"
                raise ValueError(msg)
        parts = [as_integers(part, f"factors[{mode}]") for mode, part in enumerate(parts)]
        for mode, part in enumerate(parts):
            if np.abs(part).max(initial=0) > MAX_SCORE:
                msg = f"factors[{mode}] holds scores above {MAX_SCORE:,} in size; found {np.abs(part).max():,}"
                raise ValueError(msg)
        model = cls(
            n_components=len(lambdas),
            max_score=max(1, *(int(part.max()) for part in parts if part.size)),
            min_score=min(0, *(int(part.min()) for part in parts if part.size), 0),
        )
        model.factors_, model.weights_, model.annotations_ = parts, lambdas, {}
        model.mode_names_ = list(mode_names or validation.mode_names(len(parts)))
        model.mode_labels_ = list(mode_labels or [None] * len(parts))
        model.n_features_in_ = len(parts[1])
        if len(parts) == 2 and model.mode_labels_[1] is not None:
            model.feature_names_in_ = np.asarray(model.mode_labels_[1], dtype=object)
        return model

    def _check_options(self, order: int) -> list[Box]:
        """Refuse options out of range; return what the scores of each of `order` modes may be."""
        check_options(self, self._options)
        return boxes_of(self.min_score, self.max_score, order)

    def _to_arrays(self) -> dict[str, Any]:
        """Return the scores of all modes but the samples'."""
        return {f"factor_{n}": factor for n, factor in enumerate(self.factors_) if n}

    def _header_parts(self) -> dict[str, Any]:
        """Return the names of the modes and of what stands along them."""
        modes = [
            {"name": name, "labels": None if labels is None else [str(label) for label in labels]}
            for name, labels in zip(self.mode_names_, self.mode_labels_, strict=True)
        ]
        return {"modes": modes}

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a fitted model of the scores; the samples' are empty."""
        modes = header["modes"]
        if not isinstance(modes, list) or len(modes) < 2:
            msg = "its modes are no list of two or more"
            raise ValueError(msg)
        require_names("modes", [mode["name"] for mode in modes])
        for mode in modes:
            if mode["labels"] is not None:
                require_names(f"labels of {mode['name']!r}", mode["labels"])
        weights = arrays["weights_"]
        factors = [arrays[f"factor_{n}"] for n in range(1, len(modes))]
        for mode, factor in zip(modes[1:], factors, strict=True):
            if mode["labels"] is not None and len(mode["labels"]) != len(factor):
                msg = f"{mode['name']!r} has {len(mode['labels'])} labels and {len(factor)} rows of scores"
                raise ValueError(msg)
        return cls.from_parameters(
            weights,
            [np.zeros((0, len(weights)), dtype=np.int64), *factors],
            mode_names=[mode["name"] for mode in modes],
            mode_labels=[
                None if mode["labels"] is None else np.asarray(mode["labels"], dtype=object)
                for mode in modes
            ],
        )

    def _check_stored(self) -> None:
        """Refuse options out of range, and scores beyond them."""
        boxes = self._check_options(len(self.factors_))
        for box, factor in zip(boxes, self.factors_, strict=True):
            if factor.size and not (box.least <= factor.min() and factor.max() <= box.most):
                found = f"scores from {factor.min()} to {factor.max()}"
                msg = f"it holds {found}, outside {box.least} to {box.most}"
                raise ValueError(msg)

    @property
    def converged_(self) -> bool:
        """Whether the iterations ended by `tol`, or the start was best."""
        check_is_fitted(self, "weights_")
        return self.stopped_by_ != "max_iter"

    def _keep(self, kept: IntegerFactors, kind: str) -> None:
        """Set the fitted attributes."""
        self.init_ = kind
        self.factors_ = [np.ascontiguousarray(f.T.astype(np.int32)) for f in kept.factors]
        self.weights_ = kept.weights
        self.fit_, self.objective_trace_ = kept.fit, np.array(kept.trace)
        self.stopped_by_ = kept.stopped_by
        self.n_iter_ = 0 if kept.stopped_by == "start" else len(kept.trace)
        self.annotations_ = {}

    def _unfolded(self, X: Any, *, reset: bool, empty: bool = False) -> Unfolded:
        """Check counts of any order, put them into the order of the fit, and unfold them."""
        tensor = validation.split_names(X)
        if tensor is None:
            self._require_matrix(reset=reset)
            counts = self._checked_matrix(X, reset=reset)
            if reset:
                self.mode_names_ = validation.mode_names(2)
                self.mode_labels_ = [None, getattr(self, "feature_names_in_", None)]
        elif reset:
            counts, self.mode_names_, self.mode_labels_ = tensor.counts, tensor.modes, tensor.labels
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = counts.shape[1]
        else:
            shape = [len(factor) for factor in self.factors_]
            counts = validation.align_labels(tensor, self.mode_names_, self.mode_labels_, shape)
        if self.round_counts:
            counts = validation.round_counts(counts)
        validation.require_counts(counts, signed=allows_negative(self.min_score))
        return validation.unfold(counts, empty=empty)

    def _require_matrix(self, *, reset: bool) -> None:
        """Refuse a matrix where a tensor was fitted."""
        if not reset and len(self.factors_) != 2:
            order, names = len(self.factors_), ", ".join(self.mode_names_)
            msg = f"X has 2 modes; the model was fitted with {order} ({names})"
            raise ValueError(msg)

    def _checked_matrix(self, X: Any, *, reset: bool) -> Any:
        """Let scikit-learn check a matrix, whose features may have names."""
        names = getattr(self, "feature_names_in_", None)
        if reset:
            matrix, names = features.unwrapped(X)
        else:
            matrix = features.aligned(X, names)
        with warnings.catch_warnings():
            if matrix is not X and features.is_labelled(X):  # matched by name above
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            counts = check_matrix(
                matrix,
                model=self,
                reset=reset,
                rows=features.row_names(X),
                columns=names,
                accept_sparse=["csr", "csc", "coo"],
                sound=True,
            )
        if reset and names is not None:
            self.feature_names_in_ = names
        return counts
