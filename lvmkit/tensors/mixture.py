"""Tensor normal mixture: clusters of matrices and tensors, and the entries that discriminate."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.features import fingerprint
from lvmkit.core.linalg import generator_of
from lvmkit.core.options import (
    Option,
    anything,
    check_options,
    either,
    n_jobs,
    number,
    one_of,
    seed,
)
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import progress_callback
from lvmkit.core.stored import StoredModel, require_shape
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import (
    DataWarning,
    as_finite,
    as_numbers,
    check_matrix,
    listed,
    parts_of,
    require_number,
    require_range,
    sample_weights,
)
from lvmkit.mixtures._rows import of_rows
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.covariances import SCALES, scaled
from lvmkit.tensors.density import selected_means
from lvmkit.tensors.discriminant import Rule, drawn, log_densities, posteriors
from lvmkit.tensors.em import CenteredSamples, EMOptions, TensorFit
from lvmkit.tensors.initialization import KINDS, starts
from lvmkit.tensors.modes import multiply
from lvmkit.tensors.penalty_path import (
    LEAST,
    METHODS,
    N_PENALTIES,
    PATIENCE,
    PREVIOUS,
    SMALLER_PENALTY,
    Found,
    Mapper,
    best_of,
    bic,
    chosen,
    from_smaller,
    largest_penalty,
    n_parameters,
    path_of,
    threads,
)
from lvmkit.tensors.validation import (
    first_guess,
    require_covariance,
    require_estimable,
    require_independent,
)

OPTIONS: dict[str, Option] = {
    "n_components": number(1, whole=True),
    "n_init": number(1, whole=True),
    "max_iter": number(1, whole=True),
    "tol": number(0),
    "shrinkage": number(0, below=1),
    "random_state": seed,
    "n_jobs": n_jobs,
    "method": one_of(METHODS),
    "scale": one_of(SCALES),
    "init": either(one_of(("best", *KINDS)), anything),
    "penalty": either(one_of(("bic",)), number(0)),
    "reference": number(0, whole=True, optional=True),
}
"""What parameters may be."""
LARGEST = 1e100
"""Numbers above it, or all below its inverse, are refused."""


class TensorSearch:
    """Samples, starts and penalties of a fit, once they are checked. rows (n, p_1, ..., p_M)."""

    def __init__(
        self,
        model: Any,
        rows: Array,
        *,
        weight: Array | None = None,
        penalties: Sequence[float] | None = None,
    ) -> None:
        # Samples that do not count are left out; they are judged by the fit.
        self.rows, self.kept = rows, slice(None) if weight is None else weight > 0
        rows, weight = rows[self.kept], None if weight is None else weight[self.kept]
        self.n_components = model.n_components
        self.method = model.method
        if isinstance(self.n_components, int) and self.n_components > len(rows):
            # Refused here: options hold matrices of that size.
            require_estimable(rows, self.n_components, model.shrinkage)
        self.options = checked_options(model)
        self.reference = model.reference
        self._bic_of_one: float | None = None
        require_estimable(rows, self.n_components, model.shrinkage)
        self.samples = CenteredSamples(rows, weight)
        self.given = not isinstance(model.init, str)
        if self.given:
            given = first_guess(model.init, len(self.rows), self.n_components)
            guesses = [("given", given[self.kept])]
        else:
            with single_threaded_blas():
                guesses = starts(
                    self.samples,
                    self.n_components,
                    kinds=KINDS if model.init == "best" else (model.init,),
                    n_random=model.n_init,
                    shrinkage=model.shrinkage,
                    generator=generator_of(model.random_state),
                )
        if not guesses:
            msg = f"every start of init={model.init!r} leaves a cluster without samples; ask for fewer clusters"
            raise ValueError(msg)
        require_independent(self.samples.values, guesses[0][1], model.shrinkage)
        if not self.given and model.init == "best" and model.method == "deem":
            guesses.append(("em", self._likeliest([guess for _, guess in guesses])))
        self.names = [name for name, _ in guesses]
        self.posteriors = [guess for _, guess in guesses]
        self.penalties = self._penalties(model.penalty) if penalties is None else list(penalties)

    def _likeliest(self, guesses: Sequence[Array]) -> Array:
        """Return the posteriors that maximum likelihood ends with, from the best of several starts."""
        likelihood = replace(self.options, penalty=0.0)
        with single_threaded_blas():
            return best_of(self.samples, guesses, likelihood, "em", map).fit.posteriors

    def _penalties(self, penalty: float | str) -> list[float]:
        """Return which penalties to try, largest first."""
        if self.method == "em" or self.n_components == 1:
            return [0.0]
        if not isinstance(penalty, str):
            return [float(penalty)]
        largest = largest_penalty(self.samples, self.posteriors, self.options)
        return list(largest * np.geomspace(1, LEAST, N_PENALTIES + 1)[1:])

    def along(self, mapper: Mapper, *, patience: int | None) -> Iterator[Found]:
        """Fit for each penalty."""
        if len(self.penalties) == 1:
            options = replace(self.options, penalty=self.penalties[0])
            yield from_smaller(self.samples, self.posteriors, options, self.method, mapper)
        else:
            yield from path_of(
                self.samples,
                self.posteriors,
                self.options,
                self.penalties,
                mapper=mapper,
                patience=patience,
                bar=self.bic_of_one() if patience else np.inf,
            )

    def numbering(self, fit: TensorFit) -> Labels:
        """Return the clusters in the order in which they are numbered, (K,)."""
        if self.given:
            return np.arange(self.n_components)
        by_weight = [int(k) for k in np.argsort(-fit.rule.weights, kind="stable")]
        if self.reference is not None:  # keeps its number
            by_weight.remove(self.reference)
            by_weight.insert(self.reference, self.reference)
        return np.array(by_weight)

    def posteriors_of_all(self, fit: TensorFit) -> Array:
        """Return the posteriors of all samples, also of those that do not count, (n, K)."""
        if len(fit.posteriors) == len(self.rows):
            return fit.posteriors
        away = (self.rows - self.samples.center).reshape(len(self.rows), -1)
        found = posteriors(away, fit.rule)
        found[self.kept] = fit.posteriors
        return found

    def bic_of_one(self) -> float:
        """Return the Bayesian information criterion of a single cluster."""
        if self._bic_of_one is None:
            one = replace(self.options, contrasts=contrasts(1), penalty=0.0)
            alone = best_of(self.samples, [np.ones((len(self.samples), 1))], one, self.method, map)
            self._bic_of_one = bic(alone, self.samples.total)
        return self._bic_of_one


def checked_options(model: Any) -> EMOptions:
    """Refuse options of a model that are out of range."""
    check_options(model, OPTIONS)
    if model.reference is not None and model.reference >= model.n_components:
        msg = f"reference={model.reference} is no cluster; they run from 0 to {model.n_components - 1}"
        raise ValueError(msg)
    return EMOptions(
        contrasts(model.n_components, model.reference),
        penalty=0.0 if isinstance(model.penalty, str) else float(model.penalty),
        scale=model.scale,
        shrinkage=float(model.shrinkage),
        tol=model.tol,
        max_iter=model.max_iter,
    )


class TensorNormalMixture(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, StoredModel, BaseEstimator
):
    """Clusters of tensors that are normal around their cluster's mean, with a covariance for each mode.

    A sample X (p_1, ..., p_M) of cluster k is normal with mean means_[k]; the covariance of two entries is the product
    of those of their indices, mode by mode, and the same in all clusters. What tells cluster k from cluster 0 is
    <X, B_k>, with the discriminant B_k = [[means_[k] - means_[0]; inverse covariances]]. The doubly enhanced EM
    algorithm (DEEM) makes discriminants that are 0 at most entries, which finds clusters that differ in a few entries
    among thousands, and says in which.

    Parameters
    ----------
    n_components : int, default=2
        Number of clusters K.
    method : {"deem", "em"}, default="deem"
        The doubly enhanced EM algorithm, or maximum likelihood, whose discriminants are not sparse.
    penalty : float or "bic", default="bic"
        Weight of sum_J |b_J| beside ½ <B, [[B; S]]> - <B, differences of means>: half of λ as Mutoh 2023 prints it,
        the same as in its R package. By "bic" the one of lowest Bayesian information criterion (`select_penalty`);
        if that is not below the one of a single cluster, the smallest of the path, and a warning. Not used by "em".
    init : str, array of int (n,) or array (n, K), default="best"
        Where to start: "kmeans" on the numbers as they are, "whitened_kmeans" on what is left when the covariances of
        all samples are taken out, "random" samples as centers, the "best" of all of these; or labels from 0, or
        posteriors. Of several starts the one of highest penalized likelihood is kept. Clusters keep the numbers that
        given labels have, and are numbered by decreasing weight otherwise.
    n_init : int, default=2
        Random starts, if there are any.
    reference : int, optional
        The cluster that the others are compared with, as in Mai 2022. Without it they are compared with the mean of
        all means, which does not depend on how they are numbered; for two clusters it is the same.
    scale : {"trace", "first_entry"}, default="trace"
        How DEEM estimates the scale that the covariances have together: from all entries, or from the first alone as
        printed, which changes with the order of entries. It also tells how the scale is shared among `covariances_`:
        the same mean variance in every mode, or a variance of 1 of the first entry of all modes but the first.
    shrinkage : float, default=0.0
        Share of a multiple of the identity in each covariance, below 1; for few samples, or entries that do not vary.
    tol : float, default=1e-3
        Iterations end when the posteriors of a sample move by less, in the mean.
    max_iter : int, default=200
        At most so many iterations.
    n_jobs : int, optional
        Threads for the starts; as many as there are cores if not given. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Seed of k-means and of random starts.

    Attributes
    ----------
    weights_ : array (K,)
        Share of each cluster.
    means_ : array (K, p_1, ..., p_M)
        Means.
    covariances_ : list of array (p_m, p_m)
        Covariance of each mode; only their Kronecker product is determined by the data.
    discriminants_ : array (K - 1, p_1, ..., p_M)
        What tells clusters 1, ..., K - 1 from cluster 0.
    selected_ : array of bool (p_1, ..., p_M)
        Entries at which some discriminant is not 0.
    labels_ : array of int (n,)
        Most probable cluster of each sample.
    posteriors_ : array (n, K)
        Probability of each cluster.
    penalty_ : float
        The penalty used; 0 for "em".
    gap_ : float
        Relative duality gap of the group lasso: an upper bound of how far its objective is from the optimum.
    density_means_ : array (K, p_1, ..., p_M)
        Means of the density of `score_samples`: those of clusters that differ at the selected entries only, by as much
        as their samples do, which no penalty has drawn together.
    density_covariances_ : list of array (p_m, p_m)
        Covariances of that density, by maximum likelihood.
    log_likelihood_ : float
        Of all samples, in nats (`score_samples`).
    bic_ : float
        Bayesian information criterion; smaller is better.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether they ended by `tol`.
    stopped_by_ : {"tol", "max_iter", "empty", "penalty", "gap"}
        Why: "empty" if a cluster lost its samples, "penalty" if no entry was selected, "gap" if the group lasso
        did not reach its accuracy.
    init_ : str
        The start that was kept.
    starts_ : DataFrame
        For each start its name, its objective (penalized log-likelihood per sample), iterations and why they ended.
    path_ : DataFrame
        With penalty="bic", for each penalty tried the criterion, log-likelihood and number of selected entries.
    annotations_ : dict
        Names and notes given to the clusters, kept by `lvmkit.save`.
    data_fingerprint_ : str
        Hash of the samples.
    n_features_in_ : int
        Size of the first mode.
    feature_names_in_ : array of str (p_1,)
        Names of the features of a matrix, if it had any.

    See Also
    --------
    select_penalty : The fits of all penalties.
    select_tensor_components : Several numbers of clusters.

    Notes
    -----
    Mai 2022, as far as Mutoh 2023 reproduces it. The R package behind its tables puts
    the coefficients of its lasso solver at the wrong entries, always the first ones; results here do not depend on the
    order of entries, modes or clusters.

    Examples
    --------
    >>> from lvmkit.datasets import make_tensor_mixture
    >>> from lvmkit.scores import error_rate
    >>> X, y = make_tensor_mixture("M8", n_samples=200)
    >>> model = TensorNormalMixture(2, penalty=0.5).fit(X)
    >>> error_rate(y, model.labels_) < 0.02, int(model.selected_.sum()) < 30
    (True, True)
    """

    weights_: Array
    means_: Array
    covariances_: list[Array]
    discriminants_: Array
    density_means_: Array
    density_covariances_: list[Array]
    reference: int | None
    selected_: Any
    n_features_in_: int
    feature_names_in_: Any
    annotations_: dict[str, Any]
    labels_: Labels = of_rows("predict")
    posteriors_: Array = of_rows("predict_proba")

    _array_kinds: ClassVar[dict[str, str]] = dict.fromkeys(
        ("means_", "discriminants_", "density_means_", "covariance_*", "density_covariance_*"), "f"
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "deem",
        penalty: float | str = "bic",
        init: Any = "best",
        n_init: int = 2,
        reference: int | None = None,
        scale: str = "trace",
        shrinkage: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.reference = reference
        self.scale = scale
        self.shrinkage = shrinkage
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

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

    def _to_arrays(self) -> dict[str, Any]:
        """Return means, discriminants and covariances."""
        arrays = {
            name: getattr(self, name) for name in ("means_", "discriminants_", "density_means_")
        }
        for stem, parts in (
            ("covariance_", self.covariances_),
            ("density_covariance_", self.density_covariances_),
        ):
            arrays |= {f"{stem}{m}": part for m, part in enumerate(parts)}
        return arrays

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a fitted mixture of the arrays."""
        means, names = arrays["means_"], header["feature_names"]
        covariances, densities = (
            [arrays[f"{stem}{m}"] for m in range(means.ndim - 1)]
            for stem in ("covariance_", "density_covariance_")
        )
        model = cls.from_parameters(
            arrays["weights_"], means, covariances, discriminants=arrays["discriminants_"]
        )
        require_shape(arrays, "density_means_", means.shape)
        for m, part in enumerate(densities):
            require_covariance(part, f"density_covariance_{m}", means.shape[m + 1])
        model.density_means_, model.density_covariances_ = arrays["density_means_"], densities
        if names is not None:
            if len(names) != model.n_features_in_:
                msg = f"feature_names has {len(names)} names; the means have {model.n_features_in_} features"
                raise ValueError(msg)
            model.feature_names_in_ = np.asarray(names, dtype=object)
        return model

    def _check_stored(self) -> None:
        """Refuse options out of range."""
        checked_options(self)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Find clusters of tensors.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples: vectors, matrices or tensors of any order.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each sample counts, at least 0; a weight of 2 is the same as two such samples, but for what starts
            draw (none, if `init` is given). Samples must suffice for the covariances without being counted twice.
        progress : callable or bool, optional
            True shows a bar. A callable is called with a text and the fraction done; raising from it cancels the fit.

        Returns
        -------
        TensorNormalMixture
            This estimator.

        Raises
        ------
        ValueError
            If an option is out of range, X holds NaN or complex numbers, entries that are constant, or has too few
            samples for its clusters or modes; the message says which.

        Warns
        -----
        DataWarning
            If no entry is selected, one cluster explains the data better, or a cluster lost its samples.
        ConvergenceWarning
            If `max_iter` was reached.
        """
        rows = self.checked(X, reset=True)
        search = TensorSearch(self, rows, weight=sample_weights(sample_weight, len(rows), X))
        with (
            single_threaded_blas(),
            progress_callback(progress) as tell,
            threads(self.n_jobs) as mapper,
        ):
            founds = []
            for found in search.along(mapper, patience=PATIENCE):
                founds.append(found)
                tell("penalties", len(founds) / len(search.penalties))
            tell("penalties", 1.0)  # a path can end before its last
        self._keep(search, founds)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Find clusters of tensors and return those of the samples.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        array of int (n,)
            `labels_`.
        """
        return self.fit(X, y).labels_

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

    def transform(self, X: Any) -> Array:
        """Return the probability of each cluster for each sample, as `predict_proba`.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples, as large as those fitted.

        Returns
        -------
        array (n, K)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return len(self.weights_)

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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-density of the samples.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each sample counts, at least 0.

        Returns
        -------
        float
            Nats per sample; larger is better.
        """
        logs = self.score_samples(X)
        return float(np.average(logs, weights=sample_weights(sample_weight, len(logs), X)))

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

    def _keep(self, search: TensorSearch, founds: Sequence[Found]) -> None:
        """Set the attributes of the best fit of a path, and warn of its problems."""
        n = search.samples.total
        found = founds[0] if len(founds) == 1 else chosen(founds, n, search.bic_of_one())
        if len(search.penalties) > 1:
            self.path_ = pd.DataFrame(
                {
                    "penalty": [one.penalty for one in founds],
                    "bic": [bic(one, n) for one in founds],
                    "log_likelihood": [one.density.log_likelihood for one in founds],
                    "n_selected": [
                        int(one.fit.rule.discriminants.any(axis=0).sum()) for one in founds
                    ],
                }
            )
        else:
            self.__dict__.pop("path_", None)
        self.take(search, found)
        self._warn(search, found)

    def take(self, search: TensorSearch, found: Found) -> Self:
        """Become the best of what a search found for one penalty.

        Parameters
        ----------
        search : TensorSearch
            Samples and starts.
        found : Found
            Fits from these.

        Returns
        -------
        TensorNormalMixture
            This estimator, fitted.
        """
        fit, samples = found.fit, search.samples
        order = search.numbering(fit)
        rule, shape = fit.rule, (-1, *samples.sizes)
        self.weights_ = rule.weights[order]
        self.means_ = rule.means[order].reshape(shape) + samples.center
        self.covariances_ = fit.covariances
        B = rule.discriminants[order]
        self.discriminants_ = (B[1:] - B[0]).reshape(len(B) - 1, *samples.sizes)
        self.selected_ = self.discriminants_.any(axis=0)
        self.posteriors_ = search.posteriors_of_all(fit)[:, order]
        self.labels_ = self.posteriors_.argmax(axis=1)
        self.penalty_, self.gap_ = float(found.penalty), fit.gap
        self.log_likelihood_ = found.density.log_likelihood
        self.bic_ = float(bic(found, samples.total))
        self.density_means_ = found.density.means[order].reshape(shape) + samples.center
        self.density_covariances_ = scaled(found.density.covariances, search.options.scale)
        self.n_iter_, self.stopped_by_ = fit.n_iter, fit.stopped_by
        self.converged_ = fit.stopped_by == "tol"
        others = {PREVIOUS: "previous penalty", SMALLER_PENALTY: "smaller penalty"}
        names = [others[at] if at in others else search.names[at] for at in found.origins]
        self.init_ = names[found.kept]
        self.annotations_ = {}
        self.data_fingerprint_ = fingerprint(samples.flat)
        self.starts_ = pd.DataFrame(
            {
                "start": names,
                "objective": [one.objective for one in found.fits],
                "n_iter": [one.n_iter for one in found.fits],
                "stopped_by": [one.stopped_by for one in found.fits],
            }
        )
        return self

    def _warn(self, search: TensorSearch, found: Found) -> None:
        """Warn of the problems of a fit."""
        if self.stopped_by_ == "penalty" and len(self.weights_) > 1:
            largest = largest_penalty(search.samples, search.posteriors, search.options)
            msg = (
                f"penalty={self.penalty_:.3g} leaves no entry that tells clusters apart: all samples are in one "
                f"cluster. Give a smaller one, below {min(largest, self.penalty_):.3g}, or 'bic'"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        elif self.stopped_by_ == "empty":
            msg = (
                f"a cluster lost its samples after {self.n_iter_} iterations from every start: the weights are "
                f"{np.array2string(self.weights_, precision=3)}. Ask for fewer than {len(self.weights_)} clusters"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        elif self.stopped_by_ == "max_iter":
            msg = f"max_iter={self.max_iter} iterations did not settle the posteriors to tol={self.tol:g}; raise either"
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        elif self.stopped_by_ == "gap":
            msg = (
                f"discriminants are only known to a relative gap of {self.gap_:.1e}: covariances are nearly singular. "
                "Give a larger penalty, or shrinkage above 0 (0.1, for example)"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        elif len(search.penalties) > 1 and self.bic_ > search.bic_of_one():
            msg = (
                f"one cluster has a lower BIC ({search.bic_of_one():,.1f}) than {len(self.weights_)} "
                f"({self.bic_:,.1f}): the data do not speak for clusters"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
