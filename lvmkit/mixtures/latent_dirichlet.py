"""Latent Dirichlet allocation: every document is a mixture of topics."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from lvmkit.core import features
from lvmkit.core.distinct import distinct_rows
from lvmkit.core.options import number
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import callback_of
from lvmkit.core.typing import Array, Progress, RandomState
from lvmkit.core.validation import sample_weights
from lvmkit.mixtures._base import MomentModel
from lvmkit.mixtures._counts import (
    MOMENT_OPTIONS,
    accepted_counts,
    given_topics,
    method_of,
    require_counted,
    smoothed_centers,
    tell_empty,
)
from lvmkit.mixtures._moments import CountMoments
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.families import MULTINOMIAL
from lvmkit.mixtures.gibbs import topic_mixtures
from lvmkit.moments.weightings import POOLED


class LatentDirichlet(MomentModel):
    """Learn the topics of documents that each mix several, by the method of moments.

    `fit` makes two passes over the counts, without a random start; `transform` finds the mixture of each
    document by Gibbs sampling with the topics held fixed.

    Parameters
    ----------
    n_components : int, default=8
        Number of topics k, at most the number of words.
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters: near 0 a document has one topic, beyond k it has all of them.
    decomposition : {"joint_diagonalization", "svtd", "svd", "power", "als", "random_projections"}
        How the moments are decomposed; "joint_diagonalization" if not given. "svtd" needs k²/2 numbers per word.
    n_sweeps : int, default=50
        Gibbs sweeps over the words of a document in `transform`.
    n_burn : int, default=10
        Of these, first ones that do not enter the mean.
    smoothing : float, default=0.01
        Share of the overall word frequencies mixed into the topics when documents are judged, so that no word
        excludes a topic. `centers_` are not smoothed.
    round_counts : bool, default=False
        Round entries to whole counts; without it, fractions are refused.
    random_state : int, Generator or None, default=0
        Seed of `transform` and of the randomized decompositions. With an int, the mixture of a document depends
        on its words alone, not on the documents beside it.

    Attributes
    ----------
    weights_ : array (k,)
        Share of each topic in all documents, alpha_ / alpha0, largest first; `partial_fit` keeps the order of its
        first call.
    alpha_ : array (k,)
        Dirichlet parameters.
    centers_ : array (k, d)
        Probability of each word in each topic; rows sum to 1.
    clipped_ : float
        Share of the topics' mass that was negative and was clipped, in [0, 1].
    moments_ : SubspaceMoments
        The sums that the topics were read off.
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
    Ruffini thesis, section 3.3: moments of Theorem 3.3.1, inference of Remark 3.3.2. Documents of fewer than
    three words enter the lower moments only. EM after these moments makes the topics worse, so there is none.

    Examples
    --------
    >>> from lvmkit.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, random_state=0)
    >>> model = LatentDirichlet(n_components=4).fit(data.X)
    >>> model.transform(data.X[:2]).sum(axis=1).round(6)
    array([1., 1.])
    """

    _counts = True
    _options = MOMENT_OPTIONS | {
        "alpha0": number(0, above=True),
        "n_burn": number(0, whole=True),
        "n_sweeps": number(1, whole=True),
    }

    alpha_: Array
    data_fingerprint_: str

    def __init__(
        self,
        n_components: int = 8,
        *,
        alpha0: float = 1.0,
        decomposition: str = "joint_diagonalization",
        n_sweeps: int = 50,
        n_burn: int = 10,
        smoothing: float = 0.01,
        round_counts: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha0 = alpha0
        self.decomposition = decomposition
        self.n_sweeps = n_sweeps
        self.n_burn = n_burn
        self.smoothing = smoothing
        self.round_counts = round_counts
        self.random_state = random_state

    @classmethod
    def from_parameters(
        cls, alpha: Any, centers: Any, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Return a fitted model with the given parameters, in the given order.

        Parameters
        ----------
        alpha : array (k,)
            Dirichlet parameters.
        centers : array (k, d)
            Probability of each word in each topic; rows are normalized to sum 1.
        feature_names : sequence of str, optional
            The d words.

        Returns
        -------
        LatentDirichlet
            Ready to transform.

        Raises
        ------
        ValueError
            If shapes disagree, numbers lie outside their range, or a topic has no word.

        Examples
        --------
        >>> m = LatentDirichlet.from_parameters([0.1, 0.1], [[0.9, 0.1], [0.1, 0.9]])
        >>> m.transform([[30, 0]]).round(1)
        array([[1., 0.]])
        """
        params = given_topics(alpha, centers)
        total = float(np.sum(alpha))
        model = cls(n_components=len(params.weights), alpha0=total)
        model._with_params(params, feature_names)
        model.alpha_ = total * model.weights_
        return model

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find the topics of the documents.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts: whole numbers of at least 0.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.
        progress : callable (str, float), optional
            Told the stage and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        LatentDirichlet
            Itself, fitted.

        Raises
        ------
        ValueError
            If entries are no counts or all 0, no row has three words, there are fewer words than topics, or an
            option is out of range.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        DataWarning
            If words occur in no document, documents are too short for the third moment, the moments show fewer
            topics than n_components (the others get weight 0 and the overall mean), or much had to be clipped.
        """
        del y
        rows = self._validated(X, reset=True)
        self._check_options()
        weight = sample_weights(sample_weight, rows.shape[0], X)
        reader = self._reader()
        reader.require_features(rows.shape[1])
        self._require_block(rows if weight is None else rows[weight > 0])
        data = distinct_rows(rows, weight)
        with single_threaded_blas():
            sums, states = reader.fit(data, callback_of(progress))
        weights, centers = states.params
        params = MixtureParams(weights, data.unsorted(centers))
        self._take(states._replace(params=params), sums)
        self.data_fingerprint_ = features.fingerprint(rows)
        callback_of(progress)("done", 1.0)
        return self

    def transform(self, X: Any, *, progress: Progress | None = None) -> Array:
        """Return the mixture of topics of each document.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; labeled ones may have their words in any order, unknown words are ignored.
        progress : callable (str, float), optional
            Told the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        array (n, k)
            Rows sum to 1; a document without a known word gets `weights_`.

        Warns
        -----
        DataWarning
            If documents hold no known word, or words are unknown or missing.
        """
        self._require_fitted()
        self._options["n_sweeps"](self.n_sweeps, "n_sweeps")
        rows = self._validated(X, reset=False)
        tell_empty(rows)
        # The moments may give a topic no weight; a Dirichlet parameter of 0 would exclude it for good.
        alpha = np.maximum(self.alpha_, 1e-3 * self.alpha0 / len(self.alpha_))
        with single_threaded_blas():
            mixtures: Array = topic_mixtures(
                rows,
                smoothed_centers(self),
                alpha,
                n_sweeps=self.n_sweeps,
                n_burn=self.n_burn,
                random_state=self.random_state,
                progress=progress,
            )
        return mixtures

    def _derive(self) -> None:
        """Set the Dirichlet parameters."""
        self.alpha_ = self.alpha0 * self.weights_

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return counts as float32 rows, or refuse what is not a count."""
        return accepted_counts(rows, names, model=type(self).__name__, rounded=self.round_counts)

    def _require_block(self, rows: Any) -> None:
        """Refuse rows that are all 0."""
        require_counted(rows, getattr(self, "feature_names_in_", None))

    def _reader(self) -> CountMoments:
        """Let long documents count for more."""
        return CountMoments(
            self.n_components, POOLED, MULTINOMIAL, method_of(self), alpha0=self.alpha0
        )

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """Return a fitted model of Dirichlet parameters and topics."""
        return cls._of_parameters(header, arrays, "alpha_" if "alpha_" in arrays else "weights_")
