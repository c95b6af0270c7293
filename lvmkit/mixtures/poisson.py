"""Poisson mixture: clusters of rows of counts, whose totals tell something too."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from lvmkit.core import features
from lvmkit.core.distinct import Distinct
from lvmkit.core.typing import Array, Progress, RandomState
from lvmkit.mixtures._base import BaseMixture
from lvmkit.mixtures._counts import (
    EM_OPTIONS,
    MOMENT_OPTIONS,
    accepted_counts,
    judging_params,
    method_of,
    require_counted,
    run_counts,
)
from lvmkit.mixtures._moments import CountMoments
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import EMResult
from lvmkit.mixtures.families import POISSON, Prior
from lvmkit.mixtures.initialization import given_params
from lvmkit.moments.weightings import POISSON as FACTORIAL


class PoissonMixture(BaseMixture):
    """Cluster rows of counts by a mixture of independent Poisson features.

    Parameters
    ----------
    n_components : int, default=8
        Number of clusters k, at most the number of features.
    decomposition : {"joint_diagonalization", "svtd", "svd", "power", "als", "random_projections"}
        How the moments are decomposed; "joint_diagonalization" if not given.
    em : bool, default=True
        Raise the likelihood by EM afterwards; without it, moments alone.
    tol : float, default=1e-5
        EM stops when the objective rises by less, in nats per row.
    max_iter : int, default=500
        At most so many EM steps.
    prior : float, default=1.0
        Prior pseudo-counts per component, centered on the overall mean, in EM.
    smoothing : float, default=0.01
        Share of the overall mean mixed into rates of moments alone when rows are judged, so that no count
        excludes a cluster. `centers_` are not smoothed.
    round_counts : bool, default=False
        Round entries to whole counts; without it, fractions are refused.
    random_state : int, Generator or None, default=0
        Seed of the randomized decompositions; the others use none.

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each cluster, largest first; `partial_fit` keeps the order of its first call.
    centers_ : array (k, d)
        Mean count of each feature in each cluster.
    labels_ : array of int (n,)
        Cluster of each row fitted.
    clipped_ : float
        Share of the rates' mass that was negative and was clipped, in [0, 1].
    moments_ : SubspaceMoments
        The sums that the start was read off.
    n_iter_ : int
        EM steps made; 0 without EM.
    stopped_by_ : {"moments", "tol", "max_iter"}
        "moments" without EM, else the rule that ended it.
    converged_ : bool
        Whether EM ended by one of its rules, or there was none to end; False if it ran out of steps.
    objective_trace_ : array (n_iter_,)
        Mean log-likelihood plus log prior, nats per row, before each step.
    tried_ : list of Tried
        What the search for the start of EM tried: the move, the objective where it ended, whether it was kept. Empty
        without EM.
    caution_ : str
        Why the clusters may be more than the rows show, in numbers; "" if nothing speaks against them.
    data_fingerprint_ : str
        Hash of the rows fitted.
    annotations_ : dict
        Names and notes given to the clusters, kept by `lvmkit.save`.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : array of str (d,)
        Names of the features, if the data had any.

    Notes
    -----
    Ruffini thesis, sections 1.1.3 and 1.2, Proposition 1.2.1.

    Examples
    --------
    >>> from lvmkit.datasets import make_poisson_mixture
    >>> data = make_poisson_mixture(3000, 40, 3, total=30.0, random_state=0)
    >>> model = PoissonMixture(n_components=3).fit(data.X)
    >>> from lvmkit.scores import adjusted_rand
    >>> adjusted_rand(model.labels_, data.labels) > 0.9
    True
    """

    _family = POISSON
    _counts = True
    _options = MOMENT_OPTIONS | EM_OPTIONS

    def __init__(
        self,
        n_components: int = 8,
        *,
        decomposition: str = "joint_diagonalization",
        em: bool = True,
        tol: float = 1e-5,
        max_iter: int = 500,
        prior: float = 1.0,
        smoothing: float = 0.01,
        round_counts: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.decomposition = decomposition
        self.em = em
        self.tol = tol
        self.max_iter = max_iter
        self.prior = prior
        self.smoothing = smoothing
        self.round_counts = round_counts
        self.random_state = random_state

    @classmethod
    def from_parameters(
        cls, weights: Any, centers: Any, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Return a fitted model with the given parameters, in the given order.

        Parameters
        ----------
        weights : array (k,)
            Probability of each cluster; normalized to sum 1.
        centers : array (k, d)
            Mean count of each feature in each cluster, at least 0.
        feature_names : sequence of str, optional
            Names of the d features.

        Returns
        -------
        PoissonMixture
            Ready to predict; it has no `labels_`.

        Raises
        ------
        ValueError
            If shapes disagree or numbers lie outside their range.

        Examples
        --------
        >>> m = PoissonMixture.from_parameters([0.5, 0.5], [[9.0, 1.0], [1.0, 9.0]])
        >>> m.predict([[8, 0], [1, 7]])
        array([0, 1])
        """
        params = given_params(weights, centers, None, None, upper=None)
        return cls(n_components=len(params.weights))._with_params(params, feature_names)

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return counts as float32 rows, or refuse what is not a count."""
        return accepted_counts(rows, names, model=type(self).__name__, rounded=self.round_counts)

    def _require_data(self, rows: Any) -> None:
        """Refuse more states than features, and rows that are all 0."""
        self._reader().require_features(rows.shape[1])
        require_counted(rows, getattr(self, "feature_names_in_", None))

    def _require_block(self, rows: Any) -> None:
        """Refuse rows that are all 0."""
        require_counted(rows, getattr(self, "feature_names_in_", None))

    def _run(self, data: Distinct, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
        """Fit by moments and EM."""
        return run_counts(self, data, prior, tell)

    def _params(self) -> MixtureParams:
        """Return the parameters of prediction."""
        return judging_params(self)

    def _reader(self) -> CountMoments:
        """Sum the rows as they are, without coinciding indexes."""
        return CountMoments(self.n_components, FACTORIAL, POISSON, method_of(self))

    def _prior(self, sums: Array, n: float) -> Prior:
        """Return pseudo-counts at the overall mean, above 0 where nothing was counted."""
        # Doubled rows leave it as it is, which half a count added to the sums would not.
        return Prior(self.prior, np.maximum(sums, 0.5) / n)
