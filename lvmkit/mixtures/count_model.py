"""What all models of counts take, refuse and say of what users pass."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.validation import DataWarning, listed
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.families import MULTINOMIAL
from lvmkit.mixtures.initialization import given_params
from lvmkit.mixtures.row_model import RowModel
from lvmkit.moments.subspaces import SubspaceMoments
from lvmkit.moments.weightings import row_totals


class CountModel(RowModel):
    """Validation of counts, and of the sums made of them."""

    round_counts: bool

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return counts as float32 rows, or refuse what is not a count."""
        # Before single precision, which has no room for 16,777,217.
        rows = features.canonical(rows)
        if self.round_counts and rows.dtype.kind == "f":
            rows = rows.copy()
            values = rows.data if sparse.issparse(rows) else rows
            np.rint(values, out=values)
            rows = features.canonical(rows)
        features.require_counts(rows, names, type(self).__name__)
        return features.in_float32(rows)

    def _tell_empty(self, rows: Any) -> None:
        """Say how many rows to judge hold no known feature."""
        empty = int(np.count_nonzero(row_totals(rows) == 0))
        if empty:
            msg = f"{empty:,} of {rows.shape[0]:,} rows hold none of the model's features and get its weights"
            warnings.warn(msg, DataWarning, stacklevel=3)

    def _require_counted(self, rows: Any) -> None:
        """Refuse rows that hold nothing; say which features no row has."""
        if not rows.sum():
            msg = "X holds nothing: all its entries are 0"
            raise ValueError(msg)
        absent = np.flatnonzero(np.asarray(rows.sum(axis=0)).ravel() == 0)
        if len(absent):
            names = getattr(self, "feature_names_in_", np.arange(rows.shape[1]))[absent]
            msg = (
                f"{len(absent)} of {rows.shape[1]} features occur in no row ({listed(names)}): "
                "they are 0 in every state"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _require_long(self, moments: SubspaceMoments) -> None:
        """Refuse sums without third-order information."""
        if moments.divisors[2] <= 0:
            msg = (
                f"all {moments.n_samples} rows, with {len(moments.basis)} feature(s), have fewer than 3 words, "
                "and the third moment needs 3 of one row; join short texts, or use PoissonMixture"
            )
            raise ValueError(msg)

    def _tell_short(self, moments: SubspaceMoments) -> None:
        """Say how many rows carry no third-order information."""
        if moments.n_short:
            msg = (
                f"{moments.n_short:,} of {moments.n_samples:,} rows have fewer than 3 words and carry no "
                "third-order information; they enter the lower moments only"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)


def given_topics(weights: Any, centers: Any) -> MixtureParams:
    """Check topics that the user gave, and normalize them. weights (k,), centers (k, d)."""
    params = given_params(weights, centers, None, None, upper=None)
    empty = np.flatnonzero(params.centers.sum(axis=1) == 0)
    if len(empty):
        msg = f"topic(s) {listed(empty)} have no word: every row of centers needs an entry above 0"
        raise ValueError(msg)
    return MixtureParams(params.weights, MULTINOMIAL.project(params.centers))
