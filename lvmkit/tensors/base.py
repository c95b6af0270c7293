"""What a tensor normal mixture does once it is fitted."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import (
    as_finite,
    as_numbers,
    check_matrix,
    listed,
    parts_of,
    require_number,
    require_range,
)
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.density import selected_means
from lvmkit.tensors.discriminant import Rule, drawn, log_densities, posteriors
from lvmkit.tensors.modes import multiply
from lvmkit.tensors.penalty_path import n_parameters
from lvmkit.tensors.validation import require_covariance

LARGEST = 1e100
"""Numbers above it, or all below its inverse, are refused."""


class TensorModel(ClusterMixin, BaseEstimator):
    """Prediction, scoring and sampling, given weights, means, covariances and discriminants."""

    weights_: Array  # (K,): Share of each cluster
    means_: Array  # (K, p_1, ..., p_M): Means
    covariances_: list[Array]  # (p_m, p_m): Covariance of each mode
    discriminants_: (
        Array  # (K - 1, p_1, ..., p_M): What tells clusters 1, ..., K - 1 from cluster 0
    )
    density_means_: Array
    density_covariances_: list[Array]
    reference: int | None
    selected_: Any
    n_features_in_: int
    feature_names_in_: Any
    annotations_: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that samples may be matrices or tensors."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    @classmethod
    def from_parameters(
        cls,
        weights: Any,
        means: Any,
        covariances: Iterable[Any],
        *,
        discriminants: Any = None,
    ) -> Self:
        """Return a fitted model with given parameters, in the given order of clusters.

        Parameters
        ----------
        weights : array (K,)
            Shares of the clusters; they sum to 1.
        means : array (K, p_1, ..., p_M)
            Means.
        covariances : iterable of array (p_m, p_m)
            Covariance of each mode, positive definite.
        discriminants : array (K - 1, p_1, ..., p_M), optional
            What tells clusters from cluster 0; without them those that follow from means and covariances.

        Returns
        -------
        TensorNormalMixture
            Ready to predict and to draw from.

        Raises
        ------
        ValueError
            If shapes disagree, weights do not sum to 1, or a covariance is not positive definite.
        """
        covariances = parts_of(covariances, "covariances", "arrays")
        model = cls()
        model.weights_, model.means_ = as_finite(weights, "weights", 1), as_finite(means, "means")
        model.set_params(n_components=len(model.weights_))
        model.covariances_ = [
            as_numbers(part, f"covariances[{mode}]") for mode, part in enumerate(covariances)
        ]
        K, sizes = len(model.weights_), model.means_.shape[1:]
        if model.means_.shape[:1] != (K,) or len(model.covariances_) != len(sizes):
            msg = (
                f"{K} weights, means {model.means_.shape} and {len(model.covariances_)} covariances "
                "do not belong together"
            )
            raise ValueError(msg)
        if not K or model.weights_.min() < 0 or not np.isclose(model.weights_.sum(), 1):
            msg = f"weights must be at least 0 and sum to 1; found {listed(model.weights_)}"
            raise ValueError(msg)
        for mode, (part, size) in enumerate(zip(model.covariances_, sizes, strict=True)):
            require_covariance(part, f"covariances[{mode}]", size)
        if discriminants is None:
            inverse = [np.linalg.inv(part) for part in model.covariances_]
            discriminants = multiply(model.means_[1:] - model.means_[0], inverse)
        model.discriminants_ = as_finite(discriminants, "discriminants")
        if model.discriminants_.shape != (K - 1, *sizes):
            msg = (
                f"discriminants have shape {model.discriminants_.shape}; expected {(K - 1, *sizes)}"
            )
            raise ValueError(msg)
        model.selected_ = model.discriminants_.any(axis=0)
        means = selected_means(model._rule(), model.covariances_, sizes, contrasts(K))
        model.density_means_ = means.reshape(K, *sizes)
        model.density_covariances_ = model.covariances_
        model.n_features_in_ = sizes[0]
        model.annotations_ = {}
        return model

    def predict(self, X: Any) -> Labels:
        """Return the most probable cluster of each sample.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples, as large as those fitted.

        Returns
        -------
        array of int (n,)
            Clusters, 0 to K - 1.
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each cluster for each sample.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples, as large as those fitted.

        Returns
        -------
        array (n, K)
            Rows sum to 1.
        """
        check_is_fitted(self, "weights_")
        rows = self.checked(X, reset=False)
        return posteriors(rows.reshape(len(rows), -1), self._rule())

    def score_samples(self, X: Any) -> Array:
        """Return the log-density of each sample.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples, as large as those fitted.

        Returns
        -------
        array (n,)
            Nats, under the mixture with `density_means_` and `density_covariances_`.
        """
        check_is_fitted(self, "weights_")
        rows = self.checked(X, reset=False)
        means = self.density_means_.reshape(len(self.weights_), -1)
        return log_densities(rows, self.weights_, means, self.density_covariances_)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the samples.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        float
            Nats per sample; larger is better.
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the samples.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples.

        Returns
        -------
        float
            -2 log-likelihood + log n times the number of free parameters; smaller is better.
        """
        logs = self.score_samples(X)
        sizes = [len(part) for part in self.covariances_]
        flat = self.discriminants_.reshape(len(self.weights_) - 1, self.means_[0].size)
        free = n_parameters(len(self.weights_), flat, sizes)
        return float(-2 * logs.sum() + np.log(len(logs)) * free)

    @checked()
    def sample(self, n_samples: int = 1, *, random_state: RandomState = 0) -> tuple[Array, Labels]:
        """Draw samples from the mixture with these means and covariances.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, Generator or None, default=0
            Seed.

        Returns
        -------
        X : array (n_samples, p_1, ..., p_M)
            The samples.
        labels : array of int (n_samples,)
            The cluster each was drawn from.
        """
        check_is_fitted(self, "weights_")
        require_number(n_samples, "n_samples", least=1, whole=True)
        return drawn(
            n_samples,
            self.weights_,
            self.means_,
            self.covariances_,
            generator=generator_of(random_state),
        )

    def _rule(self) -> Rule:
        """Return the rule that the attributes stand for."""
        K = len(self.weights_)
        means = self.means_.reshape(K, -1)
        compared = contrasts(K, self.reference)
        B = np.vstack(
            [np.zeros((1, means.shape[1])), self.discriminants_.reshape(K - 1, means.shape[1])]
        )
        B -= compared.middle @ B
        return Rule(self.weights_, means, B, compared.middle @ means)

    def checked(self, X: Any, *, reset: bool) -> Array:
        """Return samples as numbers, or say what is wrong with them.

        Parameters
        ----------
        X : array-like (n, p_1, ..., p_M)
            Samples.
        reset : bool
            Whether the model is about to be fitted to them; otherwise they must be as large as those fitted.

        Returns
        -------
        array (n, p_1, ..., p_M)
            Finite numbers.

        Raises
        ------
        ValueError
            If X is complex, holds NaN, or has another shape.
        """
        matrix, names = features.unwrapped(X)
        rows: Array = check_matrix(
            matrix,
            rows=features.row_names(X),
            columns=names,
            model=self,
            reset=reset,
            accept_sparse=False,
            dtype=np.float64,
            allow_nd=True,
            least_rows=2 if reset else 1,
        )
        why = "squares of others leave the range of double precision. Give them in another unit"
        require_range(rows, LARGEST, why, least=1 / LARGEST)
        if not reset and rows.shape[1:] != self.means_.shape[1:]:
            msg = f"samples of X have shape {rows.shape[1:]}; the model was fitted to {self.means_.shape[1:]}"
            raise ValueError(msg)
        return rows
