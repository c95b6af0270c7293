"""Mixtures of counts: moments give the states, EM may refine them, every row has one state."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lvmkit.core import features
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.core.validation import require_flag, require_number, teller
from lvmkit.mixtures import e_step
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import StoppedBy, run_em
from lvmkit.mixtures.families import Prior
from lvmkit.mixtures.initialization import part
from lvmkit.mixtures.mixture_model import MixtureModel
from lvmkit.mixtures.moment_model import MomentModel
from lvmkit.mixtures.row_model import of_rows


class MomentMixture(MomentModel, MixtureModel):
    """A mixture of counts: moments alone, or moments and EM."""

    # A model adds its family, its weighting and the mean of its prior.

    em: bool
    tol: float
    max_iter: int
    prior: float
    smoothing: float

    labels_: Labels = of_rows("predict")  # (n,): State of each row of the data fitted
    n_iter_: int  # EM steps made; 0 without EM
    stopped_by_: StoppedBy | str  # "moments" without EM, else the rule that ended it
    log_likelihoods_: Array
    data_fingerprint_: str  # Hash of the rows fitted

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None) -> Self:
        """Find the states of the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts: whole numbers of at least 0.
        y : None
            Ignored.
        progress : callable (str, float), optional
            Told the stage and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        MomentMixture
            Itself, fitted.

        Raises
        ------
        ValueError
            If entries are no counts or all 0, no row has three words, there are fewer features than states, or an
            option is out of range.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        DataWarning
            If features occur in no row, rows are too short for the third moment, the moments show fewer states
            than n_components (they give the others weight 0 and the overall mean), or much had to be clipped.
        ConvergenceWarning
            If EM ran out of steps.
        """
        del y
        tell = teller(progress)
        rows = self._fit_rows(
            self._validated(X, reset=True), part(tell, 0.0, 0.5 if self.em else 0.9)
        )
        if self.em:
            with single_threaded_blas():
                self._refine(rows, part(tell, 0.5, 0.9))
        self.labels_ = e_step.most_likely(rows, self._params(), self._family)
        self.data_fingerprint_ = features.fingerprint(rows)
        tell("done", 1.0)
        if self.stopped_by_ == "max_iter":
            msg = (
                f"EM made max_iter={self.max_iter} steps and the objective still rises by more than "
                f"tol={self.tol:g} nats per row; raise max_iter or tol."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Labels:
        """Return the most probable state of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array of int (n,)
            States, 0 to k-1.

        Warns
        -----
        DataWarning
            If rows hold none of the model's features, or features are unknown or missing.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        self._tell_empty(rows)
        return e_step.most_likely(rows, self._params(), self._family)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of every state for each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array (n, k)
            Rows sum to 1.

        Warns
        -----
        DataWarning
            If rows hold none of the model's features, or features are unknown or missing.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        self._tell_empty(rows)
        return e_step.posteriors(e_step.log_joint(rows, self._params(), self._family))

    def _derive(self) -> None:
        """Begin without EM steps: those made before led to other parameters."""
        self.n_iter_, self.stopped_by_, self.log_likelihoods_ = 0, "moments", np.zeros(0)

    def _refine(self, rows: Any, tell: Progress) -> None:
        """Raise the likelihood from the moments by EM; states ordered by weight again."""
        prior = self._prior(rows)
        start = MixtureParams(self.weights_, self._smoothed_centers(self.smoothing))
        result = run_em(
            e_step.smoothed(start, rows.shape[0], prior, self._family),
            e_step.em_step(rows, self._family, prior),
            tol=self.tol,
            max_iter=self.max_iter,
            progress=tell,
        )
        order = np.argsort(-result.params.weights, kind="stable")
        self.weights_, self.centers_ = result.params.weights[order], result.params.centers[order]
        self.n_iter_ = len(result.log_likelihoods)
        self.stopped_by_, self.log_likelihoods_ = result.stopped_by, result.log_likelihoods

    def _prior(self, rows: Any) -> Prior:
        """Return the imaginary rows that EM adds to every state."""
        raise TypeError(type(self).__name__)

    def _params(self) -> MixtureParams:
        """Return the parameters that rows are judged by: those of moments hold zeros, which noise put there."""
        refined = getattr(self, "n_iter_", 0) > 0
        centers = self.centers_ if refined else self._smoothed_centers(self.smoothing)
        return MixtureParams(self.weights_, centers)

    def _check_options(self) -> None:
        """Refuse options out of range."""
        super()._check_options()
        require_flag(self.em, "em")
        require_number(self.max_iter, "max_iter", least=1, whole=True)
        require_number(self.tol, "tol", least=0)
        require_number(self.prior, "prior", least=0, above=True)
        require_number(self.smoothing, "smoothing", least=0)
        if self.smoothing >= 1:
            msg = f"smoothing is a share, at least 0 and below 1; found {self.smoothing!r}"
            raise ValueError(msg)
