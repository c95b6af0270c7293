"""Clusters of 0/1 rows that arrive in blocks: their moments add, and no row is kept."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from lvmkit.core.linalg import impute_diagonal, significant, top_eigenpairs, whitener_of
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Counts
from lvmkit.core.validation import DataWarning
from lvmkit.decompose import Components, completion, svtd
from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.em import StoppedBy
from lvmkit.mixtures.families import BERNOULLI, Prior
from lvmkit.mixtures.initialization import DENSE_MOMENTS, Method, clipped_components, padded
from lvmkit.mixtures.mixture_model import MixtureModel
from lvmkit.mixtures.row_model import SPARE_DIRECTIONS, state_order
from lvmkit.moments import POISSON, RAW, Moments, Weighting, WhitenedMoments
from lvmkit.moments.whitened import Whitened


@dataclass(frozen=True, eq=False)
class StreamedMoments:
    """Moments of 0/1 rows: the second as a matrix, the third along a basis that all blocks share."""

    second: Moments  # Of d features
    third: WhitenedMoments  # Along an orthonormal basis (d, q), its `whitener`

    @classmethod
    def of(cls, X: Counts, weighting: Weighting, k: int, basis: Array | None = None) -> Self:
        """Sum the rows of `X`. X (n, d), basis (d, q)."""
        second = Moments.of(X, weighting)
        if basis is None:
            m2 = second.m2
            if weighting.factorial:
                m2 = m2 + np.diag(impute_diagonal(m2, min(k, len(m2)), tol=1e-3).diagonal)
            basis = top_eigenpairs(m2, min(k + SPARE_DIRECTIONS, len(m2)))[1]
        third = WhitenedMoments.of(X, basis, weighting, second=second.second, dtype=np.float32)
        return cls(second, third)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together; both must share the basis."""
        return type(self)(self.second + other.second, self.third + other.third)

    def whitened(self, k: int) -> Whitened:
        """Return what a decomposition sees: the k leading directions of the second moment, within the basis."""
        m2, basis = self.second.m2, self.third.whitener
        if self.second.weighting.factorial:
            imputed = impute_diagonal(m2, k, tol=1e-3)
            leading, vectors = imputed.values, imputed.vectors
        else:
            leading, vectors = top_eigenpairs(m2, k)
        inside = basis.T @ vectors
        values, turn = top_eigenpairs((inside * leading) @ inside.T, k)
        kept = significant(values)
        if not kept.any():
            msg = (
                f"no features occur together in the {self.second.n_samples} rows so far, and init='corrected' reads "
                "clusters off such pairs; pass rows with two features or more first, or choose init='asvtd'"
            )
            raise ValueError(msg)
        values, turn = values[kept], turn[:, kept]
        A = whitener_of(values, turn)
        slices = np.matmul(np.matmul(A.T, self.third.slices), A)
        W = basis @ A
        # The basis is that of the first block; what all rows show of the pairs may reach beyond it.
        image = (vectors * leading) @ (vectors.T @ W)
        return Whitened.from_slices(self.second.m1, W, image, slices)


def _adds(model: Any) -> bool:
    """Tell whether the start that the model asks for is read off moments that add."""
    if isinstance(model.init, str) and model.init in ("corrected", "asvtd"):
        return True
    msg = (
        f"partial_fit adds moments and needs init='corrected' or 'asvtd'; found init={model.init!r}"
    )
    raise AttributeError(msg)


class BernoulliStream(MixtureModel):
    """Adds `partial_fit` to a mixture of Bernoulli features."""

    n_components: int
    init: Any
    prior: float

    moments_: StreamedMoments
    clipped_: float
    n_iter_: int
    stopped_by_: StoppedBy
    log_likelihoods_: Array

    @available_if(_adds)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add the moments of more rows, and read the parameters off all of them.

        The first call looks for the leading directions of its rows, 10 more than there are clusters, and later
        ones sum along the same: the first block should be large and typical, thousands of rows. Rows are not
        kept; EM, which would have to see all of them again, is not run. It orders the clusters by weight; in
        later calls each keeps its number, found by its center, and so its name in `annotations_`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            0/1 rows, or anything with `binarize`; every call with the same features, at most 4,000.
        y : None
            Ignored.

        Returns
        -------
        BernoulliMixture
            Itself, fitted to all rows so far; without `labels_`.

        Raises
        ------
        ValueError
            If entries are not 0/1, all rows so far are empty or have one feature, the features are too many, or
            the model has parameters, given or from a file, but no `moments_` to add to.

        Warns
        -----
        DataWarning
            If n_components is larger than what the moments show; if a fit is forgotten, because `fit` keeps no
            moments; or if names in `annotations_` may not fit any more.
        """
        del y
        before = getattr(self, "moments_", None)
        if before is None and hasattr(self, "weights_"):
            self._begin_anew()
        rows = self._validated(X, reset=before is None)
        self._check_options(rows.shape[0] + (before.second.n_samples if before else 0))
        if rows.shape[1] > DENSE_MOMENTS:
            msg = (
                f"partial_fit keeps a matrix of all pairs of features and takes at most {DENSE_MOMENTS:,}; "
                f"X has {rows.shape[1]:,}. Group the features, or use fit."
            )
            raise ValueError(msg)
        weighting = POISSON if self.init == "corrected" else RAW
        with single_threaded_blas():
            basis = before.third.whitener if before else None
            sums = StreamedMoments.of(rows, weighting, self.n_components, basis)
            total = before + sums if before else sums
            if before is None:
                self._read_off(total, None)
            else:
                old, notes = self.centers_, self.annotations_
                self._read_off(total, old if len(old) == self.n_components else None)
                self._keep_annotations(notes, old)
        self.moments_ = total
        return self

    def _begin_anew(self) -> None:
        """Say that the parameters of a fit are forgotten; refuse to forget those that cannot be fitted again."""
        if not hasattr(self, "labels_"):
            self._refuse_to_forget()
        msg = (
            "fit keeps no moments that rows could be added to: its parameters are forgotten, and a stream begins "
            "with these rows; call partial_fit from the first block on"
        )
        warnings.warn(msg, DataWarning, stacklevel=3)

    def _read_off(self, moments: StreamedMoments, like: Array | None) -> None:
        """Set the parameters that the moments give, clusters ordered as those before, or by weight."""
        n, k = moments.second.n_samples, self.n_components
        prior = Prior.around(moments.second.first, n, self.prior)
        if not moments.second.first.any():
            msg = f"none of the {n} rows so far has any feature: all entries are 0; pass other rows first"
            raise ValueError(msg)
        seen = moments.whitened(min(k, moments.third.whitener.shape[1]))
        rank = len(seen.core)
        if rank < k:
            msg = (
                f"the moments of the rows so far show {rank} directions, n_components={k} needs as many; "
                f"{k - rank} of the clusters are empty. Choose n_components <= {rank}, or begin a new stream."
            )
            warnings.warn(msg, DataWarning, stacklevel=3)
        start, self.clipped_ = clipped_components(padded(self._decomposed(seen), k, prior.mean))
        order = state_order(start.weights, start.centers, like)
        start = MixtureParams(start.weights[order], start.centers[order])
        self.weights_ = start.weights
        self.centers_ = smoothed(start, n, prior, BERNOULLI).centers
        self.n_iter_, self.stopped_by_, self.log_likelihoods_ = 0, "moments", np.zeros(0)
        self.annotations_ = {}
        self._forget_rows()

    def _decomposed(self, seen: Whitened) -> Components:
        """Return the states that the start's decomposition finds; a single one is the mean."""
        if len(seen.core) == 1:
            return Components(seen.m1[None, :], np.ones(1))
        method = self._method()
        if self.init == "corrected":
            return completion(seen, decompose=method.decompose, random_state=method.random_state)
        return (method.decompose or svtd)(seen, random_state=method.random_state)

    def _method(self) -> Method:
        """Return how to decompose."""
        raise TypeError(type(self).__name__)

    def _check_options(self, n: int) -> None:
        """Refuse options out of range, for n rows."""
        raise TypeError(type(self).__name__)
