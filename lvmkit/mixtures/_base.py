"""Base classes of models of rows: validation, features by name, prediction, scoring and sampling."""

import warnings
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features, moved
from lvmkit.core.arguments import checked
from lvmkit.core.distinct import Distinct
from lvmkit.core.linalg import generator_of
from lvmkit.core.stored import StoredModel, require_same
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import (
    DataWarning,
    check_matrix,
    listed,
    require_number,
    sample_weights,
)
from lvmkit.mixtures import e_step
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import StoppedBy
from lvmkit.mixtures.families import Family
from lvmkit.mixtures.initialization import given_params

SPARE_DIRECTIONS = 10
"""Directions more than states that the first block of a stream fixes for all later ones."""

LARGE_CHANGE = 0.5
"""Share of a state's mass that moved above which its name may not fit any more."""


class _OfRows:
    """Descriptor of an attribute of the fitted rows; missing, it raises an error that says why."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        reason = "it is not fitted yet: call fit"
        if hasattr(model, "weights_"):
            reason = "model files, given parameters and partial_fit keep nothing of single rows; "
            reason += f"{self.method}(X) gives them for the rows of X"
        msg = f"this {type(model).__name__} has no {self.name}: {reason}"
        raise AttributeError(msg)


def of_rows(method: str) -> Any:
    """Declare an attribute of the rows fitted, which a method gives for any rows."""
    return _OfRows(method)


class RowModel(StoredModel, BaseEstimator):
    """Base of models of rows: validation, and features by name."""

    # A model adds which rows it accepts (`_accepted`).

    weights_: Array  # (k,): Probability of each state
    centers_: Array  # (k, d): Mean of each feature in each state
    n_features_in_: int  # Number of features d
    feature_names_in_: Any  # (d,): Names of the features, if the data had any
    annotations_: dict[str, Any]  # Names and notes given to the states, kept by `lvmkit.save`

    _fewest_rows: ClassVar[int] = 2
    _array_kinds: ClassVar[dict[str, str]] = dict.fromkeys(("init_weights", "init_centers"), "f")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _require_fitted(self) -> None:
        """Refuse a model that is not fitted."""
        check_is_fitted(self, "weights_")

    def _with_params(self, params: MixtureParams, feature_names: Sequence[str] | None) -> Self:
        """Take given parameters, and the names of their features."""
        self.weights_, self.centers_ = params
        self.n_features_in_ = self.centers_.shape[1]
        self.annotations_ = {}
        if feature_names is None:
            return self
        if not isinstance(feature_names, Collection):
            msg = f"feature_names must be a list of names; found {type(feature_names).__name__}"
            raise TypeError(msg)
        if isinstance(feature_names, str) or len(feature_names) != self.n_features_in_:
            if isinstance(feature_names, str):
                feature_names = [feature_names]
            msg = f"feature_names has {len(feature_names)} names; centers have {self.n_features_in_} features"
            raise ValueError(msg)
        self.feature_names_in_ = features.distinct(np.asarray(feature_names, dtype=object))
        return self

    def _to_arrays(self) -> dict[str, Any]:
        """Return the start that was given as arrays."""
        init = getattr(self, "init", "")
        named = isinstance(init, str)
        return {} if named else dict(zip(RowModel._array_kinds, map(np.asarray, init), strict=True))

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """Return a fitted model of weights and centers."""
        return cls._of_parameters(header, arrays, "weights_")

    @classmethod
    def _of_parameters(cls, header: dict[str, Any], arrays: dict[str, Any], weights: str) -> Any:
        """Return a fitted model of centers and of the array that gives the weights."""
        model = cls.from_parameters(
            arrays[weights], arrays["centers_"], feature_names=header["feature_names"]
        )
        # Normalizing again would change the last digit, and with it, perhaps, a label: all arrays are set as stored.
        for key in ("weights_", "centers_", weights):
            require_same(getattr(model, key), arrays[key], key)
            setattr(model, key, arrays[key])
        return model

    def _take_more(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take the start that was given as arrays."""
        if all(key in arrays for key in RowModel._array_kinds):
            start = [arrays[key] for key in RowModel._array_kinds]
            given_params(start[0], start[1], None, self.n_features_in_)
            self.set_params(init=tuple(start))

    def _check_stored(self) -> None:
        """Refuse options out of range."""
        self._check_options()

    def _refuse_to_forget(self) -> None:
        """Refuse to stream into parameters that were given, or read without the sums they came from."""
        msg = (
            f"this {type(self).__name__} has parameters but no moments_ to add rows to: they were given, or "
            "come from a file without sums. Start anew with fit, or with partial_fit of a new model"
        )
        raise ValueError(msg)

    def _forget_rows(self) -> None:
        """Drop the attributes of the rows of an earlier fit."""
        for of_other_rows in ("labels_", "data_fingerprint_"):
            self.__dict__.pop(of_other_rows, None)

    def _keep_annotations(self, notes: dict[str, Any], old: Array) -> None:
        """Keep the annotations of the states whose centers were `old`, where they still match."""
        if not notes:
            return
        if len(old) != len(self.centers_):
            msg = (
                f"annotations_ spoke of {len(old)} states and were dropped: with "
                f"n_components={len(self.centers_)} nobody knows which is which; name the states again"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
            return
        self.annotations_ = notes
        size = np.maximum((old + self.centers_).sum(axis=1), 1e-300)
        changed = np.flatnonzero(np.abs(old - self.centers_).sum(axis=1) > LARGE_CHANGE * size)
        if len(changed):
            msg = (
                f"{len(changed)} of {len(old)} states changed by more than {LARGE_CHANGE:.0%} of their mass "
                f"({listed(changed)}); see whether their names still fit"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """Return validated rows, features in the order of the fit."""
        remedy, names = self._remedy(reset=reset), None
        if reset:
            matrix, names = features.unwrapped(X, remedy=remedy)
        else:
            matrix = features.aligned(X, getattr(self, "feature_names_in_", None), remedy=remedy)
        labelled = matrix is not X and features.is_labelled(X)
        columns = names if reset else getattr(self, "feature_names_in_", None)
        rows = self._checked_rows(
            matrix, (features.row_names(X), columns), reset=reset, labelled=labelled
        )
        if reset and labelled and names is not None:
            self.feature_names_in_ = names
        return rows

    def _checked_rows(
        self, matrix: Any, names: features.Labels, *, reset: bool, labelled: bool
    ) -> Any:
        """Validate the numbers, then the values by `_accepted`; names are for messages."""
        with warnings.catch_warnings():
            if labelled:  # the names were matched above, the bare matrix has none to compare
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            rows = check_matrix(
                matrix,
                model=self,
                reset=reset,
                rows=names[0],
                columns=names[1],
                remedy=self._remedy(reset=reset),
                least_rows=self._fewest_rows if reset else 1,
                sound=True,
            )
        return self._accepted(rows, names)

    def _remedy(self, *, reset: bool) -> str:
        """Return the end of a message about missing entries: another remedy."""
        del reset
        return ""

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return float32 rows that the family allows, or refuse them; rows and columns may have names."""
        raise NotImplementedError


def state_order(weights: Array, centers: Array, like: Array | None) -> Labels:
    """Return the order in which states are numbered, (k,). centers (k, d), like (k, d)."""
    if like is None:
        return np.argsort(-weights, kind="stable")
    return np.asarray(linear_sum_assignment(cdist(like, centers, "cityblock"))[1])


def labels_of(rows: Any, data: Distinct, params: MixtureParams, family: Family) -> Labels:
    """Return the most probable state of every row, (n,). rows (n, d), data: what distinct_rows made of them."""
    inside = params._replace(centers=params.centers[:, data.features])
    labels = e_step.most_likely(data.rows, inside, family)[data.place]
    left_out = np.flatnonzero(data.place < 0)
    if len(left_out):
        labels[left_out] = e_step.most_likely(rows[left_out], params, family)
    return labels


class MixtureModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, RowModel):
    """Base of mixtures: prediction, scoring and sampling from `weights_` and `centers_`."""

    # A model adds `fit`, its family, and which rows it accepts.

    _family: ClassVar[Family]

    tol: float
    max_iter: int
    stopped_by_: StoppedBy | str
    objective_trace_: (
        Array  # (n_iter_,): Log-likelihood plus log prior before each step, nats per row
    )

    _trace_key = "log_likelihoods_"
    log_likelihoods_ = moved.OldName("objective_trace_")

    @property
    def converged_(self) -> bool:
        """Whether EM ended by one of its rules, or there was none to end."""
        self._require_fitted()
        return getattr(self, "stopped_by_", "moments") != "max_iter"

    def predict(self, X: Any) -> Labels:
        """Return the most probable cluster of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labelled ones may have their features in any order.

        Returns
        -------
        array of int (n,)
            Clusters, 0 to k-1.
        """
        self._require_fitted()
        return e_step.most_likely(self._validated(X, reset=False), self._params(), self._family)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of every cluster for each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labelled ones may have their features in any order.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        return e_step.posteriors(e_step.log_joint(rows, self._params(), self._family))

    def transform(self, X: Any) -> Array:
        """Return the posterior probability of every state for each row, as `predict_proba`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        array (n,)
            Nats.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        carried: Array = self._family.carrier(rows)
        return e_step.log_densities(rows, self._params(), self._family) + carried

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.

        Returns
        -------
        float
            Nats per row; larger is better.
        """
        del y
        logs = self.score_samples(X)
        return float(np.average(logs, weights=sample_weights(sample_weight, len(logs), X)))

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        float
            −2 log-likelihood + p log n, p the number of free parameters; smaller is better.
        """
        log_densities = self.score_samples(X)
        free = len(self.weights_) - 1 + self.centers_.size - self._n_constraints()
        return float(-2 * log_densities.sum() + free * np.log(len(log_densities)))

    @checked()
    def sample(self, n_samples: int = 1, *, random_state: RandomState = 0) -> tuple[Any, Labels]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, Generator or None, default=0
            Seed.

        Returns
        -------
        X : sparse rows (n_samples, d), float32
            The rows.
        labels : array of int (n_samples,)
            The cluster each was drawn from.
        """
        self._require_fitted()
        require_number(n_samples, "n_samples", least=1, whole=True)
        return self._drawn(n_samples, None, generator_of(random_state))

    def _drawn(
        self, n_samples: int, length: int | None, generator: np.random.Generator
    ) -> tuple[Any, Labels]:
        """Draw states, then rows block by block, each with the given total where the family asks for one."""
        labels = generator.choice(len(self.weights_), size=n_samples, p=self.weights_)
        blocks = [
            self._family.sample(self.centers_[labels[start : start + 1_000]], length, generator)
            for start in range(0, n_samples, 1_000)
        ]
        return sparse.csr_array(sparse.vstack(blocks, format="csr")), labels

    def _warn_if_unfinished(self) -> None:
        """Warn the caller of `fit` if EM ran out of steps."""
        if self.stopped_by_ == "max_iter":
            msg = (
                f"EM made max_iter={self.max_iter} steps and the objective still rises by more than "
                f"tol={self.tol:g} nats per row; raise max_iter or tol."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return len(self.weights_)

    def _n_constraints(self) -> int:
        """Return the number of entries of the centers that the others determine."""
        return 0

    def _params(self) -> MixtureParams:
        """Return the fitted parameters."""
        return MixtureParams(self.weights_, self.centers_)
