"""What all mixtures of independent features can do once they are fitted."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import require_number
from lvmkit.mixtures import e_step
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.families import Family
from lvmkit.mixtures.row_model import RowModel


class MixtureModel(ClusterMixin, RowModel):
    """Prediction, scoring and sampling, given `weights_` and `centers_`."""

    # A model adds `fit`, its family, and which rows it accepts.

    _family: ClassVar[Family]

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

    def _n_constraints(self) -> int:
        """Return how many entries of the centers follow from the others."""
        return 0

    def _params(self) -> MixtureParams:
        """Return the fitted parameters."""
        return MixtureParams(self.weights_, self.centers_)
