"""Base class of classifiers by clusters of covariates: validation, similarity graph, prediction."""

import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features
from lvmkit.core.options import Option, check_options, number
from lvmkit.core.stored import StoredModel, require_same, require_shape
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import (
    DataWarning,
    check_classes,
    check_matrix,
    listed,
    require_range,
    sample_weights,
)
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import sums
from lvmkit.covariates.similarities import check_similarity, class_covariance

LARGEST = 1e7
LARGEST_WHY = (
    "the weights of such covariates cannot be found to the gap asked for. Bring covariates to one scale first, "
    "for example with sklearn.preprocessing.MaxAbsScaler"
)


def as_graph(
    similarity: Any, rows: Any, codes: Labels, names: Any = None, weight: Array | None = None
) -> Graph:
    """Return the graph of similar covariates. similarity (d, d), rows (n, d), codes and weight (n,), names (d,)."""
    if isinstance(similarity, Graph):
        return similarity
    if isinstance(similarity, str):
        if similarity != "covariance":
            msg = (
                f"similarity={similarity!r} is not known; expected 'covariance', numbers (d, d), "
                "or a function of X and y; see lvmkit.similarities"
            )
            raise ValueError(msg)
        similarity = class_covariance(rows, codes, sample_weight=weight)
    elif callable(similarity):
        similarity = similarity(rows, codes)
    if isinstance(similarity, pd.DataFrame) and names is not None:
        similarity = _in_order(similarity, names)
    return Graph(*check_similarity(similarity, rows.shape[1]), rows.shape[1])


def _in_order(similarity: pd.DataFrame, names: Any) -> pd.DataFrame:
    """Put rows and columns in the order of the covariates; numbered ones are taken as they are."""
    if isinstance(similarity.index, pd.RangeIndex):
        return similarity
    for axis, found in (("rows", similarity.index), ("columns", similarity.columns)):
        missing = [name for name in names if name not in found]
        if missing or len(found) != len(names):
            msg = (
                f"similarity has {len(found)} {axis}, and none for {len(missing)} of {len(names)} covariates"
                f" ({listed(missing)}); name its rows and columns as the columns of X"
            )
            raise ValueError(msg)
    return similarity.loc[names, names]


def require_clusters(labels: Labels) -> int:
    """Return the number of clusters of a file; refuse labels with gaps. labels (d,), -1 where not selected."""
    found = np.unique(labels[labels >= 0])
    if labels.min(initial=0) < -1 or not np.array_equal(found, np.arange(len(found))):
        msg = f"clusters of covariates are numbered {listed(np.unique(labels))}, with gaps or below -1"
        raise ValueError(msg)
    return len(found)


def warn_of_constants(rows: Any) -> None:
    """Warn of covariates that are the same in all samples: nothing but similarity decides where they go."""
    high, low = rows.max(axis=0), rows.min(axis=0)
    spread = (
        (high - low).toarray().ravel() if sparse.issparse(high) else np.asarray(high - low).ravel()
    )
    constant = np.flatnonzero(spread == 0)
    if len(constant):
        msg = (
            f"{len(constant)} covariates are constant (columns {listed(constant)}): they tell nothing about the "
            "classes, and join the clusters of similar ones. Leave them out if that is not wanted"
        )
        warnings.warn(msg, DataWarning, stacklevel=3)


CLASSES = "classes"
"""Under which headers of files keep the classes."""


def classes_from(header: dict[str, Any]) -> Any:
    """Return the classes of a file's header: two or more of one type, ascending."""
    values = header[CLASSES]
    kinds = {type(value) for value in values} if isinstance(values, list) else set()
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        msg = f"its classes are {str(values)[:50]}: no list of numbers, or of texts"
        raise ValueError(msg)
    if len(values) < 2 or any(a >= b for a, b in pairwise(values)):
        msg = f"its classes are {str(values)[:50]}: not two or more, ascending"
        raise ValueError(msg)
    return np.array(values, dtype=object) if kinds == {str} else np.array(values)


class CovariateClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, StoredModel, BaseEstimator
):
    """A multinomial logistic regression whose covariates are in clusters."""

    _options: ClassVar[Mapping[str, Option]] = {}  # What parameters may be
    _annotated = False
    _array_kinds: ClassVar[dict[str, str]] = {
        "coef_": "f",
        "intercept_": "f",
        "covariate_labels_": "i",
        "nu_": "n",
    }

    classes_: Any
    covariate_labels_: Labels
    n_clusters_: int
    coef_: Array
    intercept_: Array
    n_features_in_: int
    feature_names_in_: Any
    ridge: float
    nu_: float

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse samples are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Any, Labels, Array | None]:
        """Check the data; return the samples that count, the numbers of their classes, and their weights if given."""
        self._check_options()
        matrix, names = features.unwrapped(X)
        rows = self._validated(matrix, (features.row_names(X), names), reset=True)
        y = check_classes(y, rows.shape[0], self)
        weight = sample_weights(sample_weight, rows.shape[0], X)
        if weight is not None:
            counted = weight > 0
            rows, y, weight = rows[counted], y[counted], weight[counted]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            msg = f"y holds 1 class, {listed(self.classes_)}; a classifier needs samples of at least 2"
            raise ValueError(msg)
        if matrix is not X and names is not None:
            self.feature_names_in_ = names
        return rows, codes, weight

    def _validated(self, X: Any, names: features.Labels, *, reset: bool) -> Any:
        """Return samples of float64; rows and columns may have names."""
        rows = check_matrix(
            X, model=self, reset=reset, rows=names[0], columns=names[1], dtype=np.float64
        )
        require_range(rows, LARGEST, LARGEST_WHY, names)
        return sparse.csr_array(rows) if sparse.issparse(rows) else rows

    def _samples(self, X: Any) -> Any:
        """Return new samples, their covariates in the order of the fit."""
        check_is_fitted(self, "classes_")
        names = getattr(self, "feature_names_in_", None)
        matrix = features.aligned(X, names)
        with warnings.catch_warnings():
            if matrix is not X and features.is_labelled(X):  # matched by name above
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            return self._validated(matrix, (features.row_names(X), names), reset=False)

    def _check_options(self) -> None:
        """Refuse options out of range."""
        check_options(self, self._options)

    _check_stored = _check_options

    def _is_fitted(self) -> bool:
        """Return whether there is something to store."""
        return hasattr(self, "coef_")

    def _header_parts(self) -> dict[str, Any]:
        """Return the classes."""
        return {CLASSES: self.classes_.tolist()}

    def _to_arrays(self) -> dict[str, Any]:
        """Return weights, intercepts, and clusters."""
        return {
            key: np.asarray(getattr(self, key)) for key in self._array_kinds if hasattr(self, key)
        }

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a fitted classifier; refuse weights that are not equal within clusters."""
        model, coef, labels = cls(), arrays["coef_"], arrays["covariate_labels_"]
        model.classes_ = classes_from(header)
        require_shape(arrays, "coef_", (len(model.classes_), coef.shape[-1]))
        require_shape(arrays, "intercept_", (len(model.classes_),))
        require_shape(arrays, "covariate_labels_", (coef.shape[1],))
        model.n_clusters_ = require_clusters(labels)
        first = np.array([np.flatnonzero(labels == j)[0] for j in range(model.n_clusters_)], int)
        expected = np.hstack([coef[:, first], np.zeros((len(coef), 1))])[:, labels]
        require_same(expected, coef, "coef_")
        model.coef_, model.intercept_, model.covariate_labels_ = coef, arrays["intercept_"], labels
        model.n_features_in_ = coef.shape[1]
        names = header["feature_names"]
        if names is not None:
            if len(names) != coef.shape[1]:
                msg = f"feature_names has {len(names)} names; coef_ has {coef.shape[1]} covariates"
                raise ValueError(msg)
            model.feature_names_in_ = np.asarray(names, dtype=object)
        if "nu_" in arrays:
            require_shape(arrays, "nu_", ())
            model.nu_ = float(arrays["nu_"])
            if not model.nu_ >= 0:
                msg = f"'nu_' is {model.nu_:g}"
                raise ValueError(msg)
        return model

    def transform(self, X: Any) -> Array:
        """Add up the covariates of each cluster.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples.

        Returns
        -------
        array (n, n_clusters_)
            Sums.
        """
        found = sums(self._samples(X), self.covariate_labels_, self.n_clusters_)
        return np.asarray(found.toarray() if sparse.issparse(found) else found)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return self.n_clusters_

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples.

        Returns
        -------
        array (n, c)
            Probabilities, in the order of `classes_`.
        """
        return np.asarray(softmax(self._samples(X) @ self.coef_.T + self.intercept_, axis=1))

    def predict(self, X: Any) -> Any:
        """Return the most probable class.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples.

        Returns
        -------
        array (n,)
            Classes.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


class SampleReader(CovariateClassifier):
    """Reads samples as the classifiers do, for functions that are none."""

    _options: ClassVar[Mapping[str, Option]] = {"ridge": number(0, above=True)}

    rows_: Any
    codes_: Labels
    weight_: Array | None

    def __init__(self, ridge: float = 1.0) -> None:
        self.ridge = ridge

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Check samples, and keep them, the numbers of their classes, and their weights."""
        self.rows_, self.codes_, self.weight_ = self._checked(X, y, sample_weight)
        return self

    def read(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Return other samples, and the numbers of their classes; -1 for classes that are not known."""
        rows = self._samples(X)
        y = check_classes(y, rows.shape[0])
        if y.shape != (rows.shape[0],):
            msg = f"y has the shape {y.shape}; expected ({rows.shape[0]},), a class for each sample"
            raise ValueError(msg)
        places = np.clip(np.searchsorted(self.classes_, y), 0, len(self.classes_) - 1)
        return rows, np.where(self.classes_[places] == y, places, -1)
