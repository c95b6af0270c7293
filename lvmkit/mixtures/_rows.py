"""Base class of models of rows: options, validation, features by name."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features
from lvmkit.core.options import Option, check_options
from lvmkit.core.stored import StoredModel
from lvmkit.core.typing import Array
from lvmkit.core.validation import check_matrix


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


class RowModel(StoredModel, BaseEstimator, ABC):
    """Base of models of rows: validation, and features by name."""

    weights_: Array  # (k,): Probability of each state
    centers_: Array  # (k, d): Mean of each feature in each state
    n_features_in_: int  # Number of features d
    feature_names_in_: Any  # (d,): Names of the features, if the data had any
    annotations_: dict[str, Any]  # Names and notes given to the states, kept by `lvmkit.save`

    _options: ClassVar[Mapping[str, Option]]  # What each parameter of the constructor may be
    _counts: ClassVar[bool] = False  # Whether negative entries are refused
    _fewest_rows: ClassVar[int] = 2

    @abstractmethod
    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return float32 rows that the model allows, or refuse them; rows and columns may have names."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome, and whether negative entries are."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._counts
        return tags

    def _check_options(self) -> None:
        """Refuse options out of range."""
        check_options(self, self._options)

    def _check_stored(self) -> None:
        """Refuse options out of range."""
        self._check_options()

    def _require_fitted(self) -> None:
        """Refuse a model that is not fitted."""
        check_is_fitted(self, "weights_")

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
