"""What all mixtures of independent features can do once they are fitted."""

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lvmkit import _rows, mixtures
from lvmkit._checks import require_number
from lvmkit._typing import Array, Labels, RandomState
from lvmkit.families import Family
from lvmkit.mixtures import MixtureParams


class MixtureModel(ClusterMixin, BaseEstimator):
    """Prediction, scoring and sampling, given `weights_` and `centers_`.

    A model adds `fit`, its family, and which rows it accepts (`_accepted`).

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each cluster.
    centers_ : array (k, d)
        Mean of each feature in each cluster.
    n_features_in_ : int
        Number of features d.
    annotations_ : dict
        Names and notes given to the clusters, kept by `lvmkit.save`.
    """

    _family: ClassVar[Family]

    weights_: Array
    centers_: Array
    n_features_in_: int
    annotations_: dict[str, Any]

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
        check_is_fitted(self, "weights_")
        return mixtures.most_likely(self._validated(X, reset=False), self._params(), self._family)

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
        check_is_fitted(self, "weights_")
        rows = self._validated(X, reset=False)
        return mixtures.posteriors(mixtures.log_joint(rows, self._params(), self._family))

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
        check_is_fitted(self, "weights_")
        return mixtures.log_densities(self._validated(X, reset=False), self._params(), self._family)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        float
            Nats per row; larger is better.
        """
        del y
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        float
            −2 log-likelihood + (k − 1 + k·d) log n; smaller is better.
        """
        log_densities = self.score_samples(X)
        k, d = self.centers_.shape
        return float(-2 * log_densities.sum() + (k - 1 + k * d) * np.log(len(log_densities)))

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
            0/1 rows.
        labels : array of int (n_samples,)
            The cluster each was drawn from.
        """
        check_is_fitted(self, "weights_")
        require_number(n_samples, "n_samples", least=1, whole=True)
        generator = generator_of(random_state)
        labels = generator.choice(len(self.weights_), size=n_samples, p=self.weights_)
        blocks = [
            self._family.sample(self.centers_[labels[start : start + 20_000]], generator)
            for start in range(0, n_samples, 20_000)
        ]
        return sparse.csr_array(sparse.vstack(blocks, format="csr")), labels

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _params(self) -> MixtureParams:
        """Return the fitted parameters."""
        return MixtureParams(self.weights_, self.centers_)

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


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return a generator from any accepted seed.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        Seed; None draws a fresh one.

    Returns
    -------
    numpy Generator
        Source of randomness.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
