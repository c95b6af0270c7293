"""Single-topic model: every document deals with one topic, which decides its words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.distinct import Distinct
from lvmkit.core.linalg import generator_of
from lvmkit.core.options import one_of
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import require_number
from lvmkit.mixtures._base import BaseMixture
from lvmkit.mixtures._counts import (
    EM_OPTIONS,
    MOMENT_OPTIONS,
    accepted_counts,
    given_topics,
    judging_params,
    method_of,
    require_counted,
    run_counts,
    tell_empty,
)
from lvmkit.mixtures._moments import CountMoments
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import EMResult
from lvmkit.mixtures.families import MULTINOMIAL, Prior
from lvmkit.moments.weightings import EQUAL_ROWS, POOLED

WEIGHTINGS = {"pooled": POOLED, "equal_rows": EQUAL_ROWS, "three_words": POOLED}


class SingleTopic(BaseMixture):
    """Learn topics from word counts by the method of moments.

    Two passes over the counts, no random start: the same topics on every run.

    Parameters
    ----------
    n_components : int, default=8
        Number of topics k, at most the number of words.
    moments : {"pooled", "equal_rows", "three_words"}, default="pooled"
        Estimator of the moments: "pooled" lets long documents count for more (Theorem 3.2.1), "equal_rows"
        counts all alike (Zou 2013), "three_words" draws three words of each document (Anandkumar
        2012b). The last two are for comparison.
    decomposition : {"joint_diagonalization", "svtd", "svd", "power", "als", "random_projections"}
        How the moments are decomposed; "joint_diagonalization" if not given. "svtd" needs k²/2 numbers per word.
    em : bool, default=False
        Raise the likelihood by EM afterwards. It makes documents fit better; topics of moments alone are
        usually more coherent.
    tol : float, default=1e-4
        EM stops when the objective rises by less, in nats per document.
    max_iter : int, default=200
        At most so many EM steps.
    prior : float, default=1.0
        Prior pseudo-counts of words per topic, at the overall frequencies, in EM.
    smoothing : float, default=0.01
        Share of the overall word frequencies mixed into topics of moments alone when documents are judged, so
        that no word excludes a topic. `centers_` are not smoothed.
    round_counts : bool, default=False
        Round entries to whole counts; without it, fractions are refused.
    random_state : int, Generator or None, default=0
        Seed of "three_words" and of the randomized decompositions; the others use none.

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each topic, largest first; `partial_fit` keeps the order of its first call.
    centers_ : array (k, d)
        Probability of each word in each topic; rows sum to 1.
    labels_ : array of int (n,)
        Topic of each document fitted.
    clipped_ : float
        Share of the topics' mass that was negative and was clipped, in [0, 1].
    moments_ : SubspaceMoments
        The sums that the topics were read off.
    n_iter_ : int
        EM steps made; 0 without EM.
    stopped_by_ : {"moments", "tol", "max_iter"}
        "moments" without EM, else the rule that ended it.
    converged_ : bool
        Whether EM ended by one of its rules, or there was none to end; False if it ran out of steps.
    objective_trace_ : array (n_iter_,)
        Mean log-likelihood plus log prior, nats per document, before each step.
    tried_ : list of Tried
        What the search for the start of EM tried: the move, the objective where it ended, whether it was kept. Empty
        without EM.
    caution_ : str
        Why the topics may be more than the rows show, in numbers; "" if nothing speaks against them.
    data_fingerprint_ : str
        Hash of the documents fitted.
    annotations_ : dict
        Names and notes given to the topics, kept by `lvmkit.save`.
    n_features_in_ : int
        Number of words d.
    feature_names_in_ : array of str (d,)
        The words, if the data had any.

    Notes
    -----
    Ruffini thesis, sections 3.1-3.2. Documents of fewer than three words enter the lower moments only. Costs
    about ten products of the counts with k vectors and n·k³/6 multiply-adds; memory for some d·k numbers.

    Examples
    --------
    >>> from lvmkit.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, single=True, random_state=0)
    >>> model = SingleTopic(n_components=4).fit(data.X)
    >>> from lvmkit.scores import adjusted_rand
    >>> adjusted_rand(model.labels_, data.labels) > 0.9
    True
    """

    _family = MULTINOMIAL
    _counts = True
    _options = MOMENT_OPTIONS | EM_OPTIONS | {"moments": one_of(WEIGHTINGS)}

    def __init__(
        self,
        n_components: int = 8,
        *,
        moments: str = "pooled",
        decomposition: str = "joint_diagonalization",
        em: bool = False,
        tol: float = 1e-4,
        max_iter: int = 200,
        prior: float = 1.0,
        smoothing: float = 0.01,
        round_counts: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.moments = moments
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
            Probability of each topic; normalized to sum 1.
        centers : array (k, d)
            Probability of each word in each topic; rows are normalized to sum 1.
        feature_names : sequence of str, optional
            The d words.

        Returns
        -------
        SingleTopic
            Ready to predict; it has no `labels_`.

        Raises
        ------
        ValueError
            If shapes disagree, numbers lie outside their range, or a topic has no word.

        Examples
        --------
        >>> m = SingleTopic.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> m.predict(np.array([[3, 0], [0, 2]]))
        array([0, 1])
        """
        params = given_topics(weights, centers)
        return cls(n_components=len(params.weights))._with_params(params, feature_names)

    @checked()
    def sample(
        self, n_samples: int = 1, *, length: int = 100, random_state: RandomState = 0
    ) -> tuple[Any, Labels]:
        """Draw documents.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        length : int, default=100
            Words of each.
        random_state : int, Generator or None, default=0
            Seed.

        Returns
        -------
        X : sparse rows (n_samples, d), float32
            Counts.
        labels : array of int (n_samples,)
            The topic each was drawn from.
        """
        self._require_fitted()
        require_number(n_samples, "n_samples", least=1, whole=True)
        require_number(length, "length", least=1, whole=True)
        return self._drawn(n_samples, length, generator_of(random_state))

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

    def _tell_empty(self, rows: Any) -> None:
        """Warn of rows without any known word."""
        tell_empty(rows)

    def _reader(self) -> CountMoments:
        """Sum all words, or three of each document."""
        sums = CountMoments(
            self.n_components, WEIGHTINGS[self.moments], MULTINOMIAL, method_of(self)
        )
        if self.moments != "three_words":
            return sums
        return replace(sums, summed=lambda rows: three_words(rows, generator_of(self.random_state)))

    def _prior(self, sums: Array, n: float) -> Prior:
        """Return pseudo-counts at the overall frequencies, above 0 where nothing was counted."""
        del n
        counts = np.maximum(sums, 0.5)
        return Prior(self.prior, counts / counts.sum())

    def _n_constraints(self) -> int:
        """Return k: every topic sums to 1."""
        return len(self.centers_)


def three_words(rows: Any, generator: np.random.Generator) -> sparse.csr_array:
    """Draw three words of every document, without replacement; shorter ones are left empty, (n, d)."""
    # Anandkumar 2012b; Ruffini thesis, Remark 3.2.3. Averaged over the orders of the three words, which the
    # estimator does not depend on in the mean.
    counts = sparse.csr_array(rows)
    ends = np.cumsum(counts.data, dtype=np.float64)
    starts = np.concatenate([[0.0], ends])[counts.indptr]
    totals = np.diff(starts)
    long = np.flatnonzero(totals >= 3)
    # Distinct places among t: the second and third skip the ones taken, smaller ones first.
    first = np.floor(generator.random(len(long)) * totals[long])
    second = np.floor(generator.random(len(long)) * (totals[long] - 1))
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third = np.floor(generator.random(len(long)) * (totals[long] - 2))
    third += third >= low
    third += third >= high
    places = np.concatenate([starts[long] + place for place in (first, second, third)])
    words = counts.indices[np.searchsorted(ends, places, side="right")]
    ones = np.ones(len(words), dtype=np.float32)
    return sparse.csr_array((ones, (np.tile(long, 3), words)), shape=counts.shape)
