"""What all models of rows of features do with what users pass."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from lvmkit import _rows
from lvmkit._typing import Array


class RowModel(BaseEstimator):
    """Validation of rows, and of features by name.

    A model adds which rows it accepts (`_accepted`).

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each state.
    centers_ : array (k, d)
        Mean of each feature in each state.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : array of str (d,)
        Names of the features, if the data had any.
    annotations_ : dict
        Names and notes given to the states, kept by `lvmkit.save`.
    """

    weights_: Array
    centers_: Array
    n_features_in_: int
    feature_names_in_: Any
    annotations_: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _require_fitted(self) -> None:
        """Refuse what needs parameters before there are any."""
        check_is_fitted(self, "weights_")

    def _name_features(self, feature_names: Sequence[str] | None) -> None:
        """Take the names of the features of given parameters."""
        self.n_features_in_ = self.centers_.shape[1]
        self.annotations_ = {}
        if feature_names is None:
            return
        if len(feature_names) != self.n_features_in_:
            msg = f"feature_names has {len(feature_names)} names; centers have {self.n_features_in_} features"
            raise ValueError(msg)
        self.feature_names_in_ = np.asarray(feature_names, dtype=object)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """Return float32 rows of zeros and ones, in the order of the fit."""
        names = None
        if reset:
            matrix, names = _rows.unwrapped(X)
        else:
            matrix = _rows.aligned(X, getattr(self, "feature_names_in_", None))
        labelled = matrix is not X
        rows = self._checked_rows(matrix, reset=reset, labelled=labelled)
        if reset and labelled and names is not None:
            self.feature_names_in_ = names
        return rows

    def _checked_rows(self, matrix: Any, *, reset: bool, labelled: bool) -> Any:
        """Let scikit-learn check the matrix, then the model what it accepts."""
        with warnings.catch_warnings():
            if labelled:  # the names were matched above, the bare matrix has none to compare
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            rows = validate_data(
                self,
                matrix,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float32,
                ensure_min_samples=1 + reset,
            )
        return self._accepted(rows)

    def _accepted(self, rows: Any) -> Any:
        """Return float32 rows that the family allows, or refuse them."""
        raise TypeError(type(self).__name__)
