"""Base classes of mixture models: learning from moments that add, EM, prediction, scoring, sampling."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from lvmkit.core import features, moved
from lvmkit.core.arguments import checked
from lvmkit.core.distinct import Distinct, column_sums, distinct_rows
from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import callback_of
from lvmkit.core.stored import require_same
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import listed, require_number, sample_weights, warn
from lvmkit.mixtures import e_step
from lvmkit.mixtures._moments import (
    SUM_KINDS,
    MomentReader,
    States,
    sums_from_arrays,
    sums_to_arrays,
    sums_to_header,
)
from lvmkit.mixtures._rows import RowModel, of_rows
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import EMResult, StoppedBy
from lvmkit.mixtures.families import Family, Prior
from lvmkit.mixtures.search import Tried, caution_of, nearest_clusters
from lvmkit.moments import SubspaceMoments

LARGE_CHANGE = 0.5
"""Share of a state's mass that moved above which its name may not fit any more."""


def _streams(model: Any) -> bool:
    """Return whether the model's options let it learn from moments that add; raise if not."""
    return bool(model._streams())


class MomentModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowModel):
    """Base of models learned from moments: sums of sites or blocks, given parameters, files."""

    n_components: int

    moments_: Any  # Sums that the parameters were read off; those of other rows may be added
    clipped_: float  # How much of the centers was no valid parameter and was clipped

    _sums: ClassVar[type] = SubspaceMoments  # What `moments_` are
    _array_kinds: ClassVar[dict[str, str]] = SUM_KINDS

    @classmethod
    @abstractmethod
    def from_parameters(
        cls, weights: Any, centers: Any, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Return a fitted model with the given parameters, in the given order."""

    @abstractmethod
    def _reader(self) -> MomentReader[Any]:
        """Return how moments are summed and read."""

    def fit_moments(self, moments: Any) -> Self:
        """Read the parameters off sums of moments, for instance of several sites.

        As by `fit`, states are ordered by weight and `annotations_` begin empty.

        Parameters
        ----------
        moments : SubspaceMoments or WhitenedMoments
            Sums over all rows: `a.moments_ + b.moments_`, where b was summed along the directions of a.

        Returns
        -------
        MomentModel
            Itself, fitted; without `labels_`, and without EM.

        Raises
        ------
        TypeError
            If it is given something else.
        ValueError
            If the sums are weighted as another model needs them, have fewer features than there are states or
            no third-order information, or the decomposition needs the rows ("svtd" of counts).

        Warns
        -----
        DataWarning
            If the moments show fewer states than n_components, or much had to be clipped.
        """
        self._check_options()
        reader = self._reader()
        reader.require(moments, type(self).__name__)
        self.n_features_in_ = len(moments.first)
        if len(getattr(self, "feature_names_in_", ())) != self.n_features_in_:
            self.__dict__.pop("feature_names_in_", None)
        with single_threaded_blas():
            self._take(reader.states(moments).ordered(None), moments)
        return self

    @available_if(_streams)
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Add the moments of more rows, and read the parameters off all of them.

        The first call looks for the leading directions of its rows, 10 more than there are states, and later
        ones sum along the same: the first block should be large and typical, thousands of rows. Rows are not
        kept; EM, which would have to see all of them again, is not run. It orders the states by weight; in
        later calls each keeps its number, found by its center, and so its name in `annotations_`. It goes on with
        the sums of a model from a file.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows as `fit` takes them; every call with the same features. Later blocks may be as small, or as empty,
            as they come.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.

        Returns
        -------
        MomentModel
            Itself, fitted to all rows so far; without `labels_`.

        Raises
        ------
        ValueError
            As for `fit`; if the decomposition needs all rows at once ("svtd" of counts); or if the model has
            parameters but no `moments_` to add to.

        Warns
        -----
        DataWarning
            As for `fit`; if a later block of counts is empty; if a fit is forgotten that kept no moments; or if names
            in `annotations_` may not fit any more.
        """
        del y
        first = self._begins(X)
        rows = self._validated(X, reset=first)
        self._check_options()
        weight, reader = sample_weights(sample_weight, rows.shape[0], X), self._reader()
        with single_threaded_blas():
            if first:
                self._require_block(rows)
                sums = reader.begin(rows, weight)
            else:
                sums = reader.update(self.moments_, rows, weight)
            reader.require(sums, type(self).__name__)
            if first:
                self._take(reader.states(sums).ordered(None), sums)
            else:
                self._take_again(reader.states(sums), sums)
        return self

    def _streams(self) -> bool:
        """Return whether the options let it learn from moments that add; raise if not."""
        return True

    def _require_block(self, rows: Any) -> None:
        """Refuse rows that cannot begin a stream. rows (n, d)."""

    def _begins(self, X: Any) -> bool:
        """Return whether a block begins a stream; refuse one that cannot begin or continue it."""
        if hasattr(self, "moments_"):
            return False
        if np.shape(X)[:-1] == (1,):
            msg = (
                "the first block fixes the directions along which all later ones are summed, and needs many rows; "
                "found 1 row (1 sample). Collect rows, thousands if possible, before the first partial_fit"
            )
            raise ValueError(msg)
        if hasattr(self, "weights_") and not hasattr(self, "labels_"):
            msg = (
                f"this {type(self).__name__} has parameters but no moments_ to add rows to: they were given, or "
                "come from a file without sums. Start anew with fit, or with partial_fit of a new model"
            )
            raise ValueError(msg)
        if hasattr(self, "weights_"):
            warn(
                "fit keeps no moments that rows could be added to: its parameters are forgotten, and a stream begins "
                "with these rows; call partial_fit from the first block on"
            )
        return True

    def _take(self, states: States, sums: Any) -> None:
        """Set the parameters read off sums; nothing stays of an earlier fit."""
        self.weights_, self.centers_ = states.params
        self.clipped_, self.moments_ = states.clipped, sums
        self.annotations_ = {}
        for of_other_rows in ("labels_", "data_fingerprint_"):
            self.__dict__.pop(of_other_rows, None)
        self._derive()

    def _take_again(self, states: States, sums: Any) -> None:
        """Set the parameters read off more rows; states, and what is noted about them, keep their numbers."""
        old, notes = self.centers_, self.annotations_
        self._take(states.ordered(old if len(old) == self.n_components else None), sums)
        if not notes:
            return
        if len(old) != len(self.centers_):
            warn(
                f"annotations_ spoke of {len(old)} states and were dropped: with "
                f"n_components={len(self.centers_)} nobody knows which is which; name the states again"
            )
            return
        self.annotations_ = notes
        size = np.maximum((old + self.centers_).sum(axis=1), 1e-300)
        changed = np.flatnonzero(np.abs(old - self.centers_).sum(axis=1) > LARGE_CHANGE * size)
        if len(changed):
            warn(
                f"{len(changed)} of {len(old)} states changed by more than {LARGE_CHANGE:.0%} of their mass "
                f"({listed(changed)}); see whether their names still fit"
            )

    def _derive(self) -> None:
        """Set the attributes that follow from parameters read off moments."""

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return len(self.weights_)

    def _with_params(self, params: MixtureParams, feature_names: Sequence[str] | None) -> Self:
        """Take given parameters, and the names of their features."""
        self.weights_, self.centers_ = params
        self.n_features_in_ = self.centers_.shape[1]
        self.annotations_ = {}
        if feature_names is None:
            return self
        if not isinstance(feature_names, Collection):
            msg = f"feature_names must be a list of names; found {type(feature_names).__name__}"
            raise TypeError(msg)
        if isinstance(feature_names, str) or len(feature_names) != self.n_features_in_:
            if isinstance(feature_names, str):
                feature_names = [feature_names]
            msg = f"feature_names has {len(feature_names)} names; centers have {self.n_features_in_} features"
            raise ValueError(msg)
        self.feature_names_in_ = features.distinct(np.asarray(feature_names, dtype=object))
        return self

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """Return a fitted model of weights and centers."""
        return cls._of_parameters(header, arrays, "weights_")

    @classmethod
    def _of_parameters(cls, header: dict[str, Any], arrays: dict[str, Any], weights: str) -> Any:
        """Return a fitted model of centers and of the array that gives the weights."""
        model = cls.from_parameters(
            arrays[weights], arrays["centers_"], feature_names=header["feature_names"]
        )
        # Normalizing again would change the last digit, and with it, perhaps, a label: all arrays are set as stored.
        for key in ("weights_", "centers_", weights):
            require_same(getattr(model, key), arrays[key], key)
            setattr(model, key, arrays[key])
        return model

    def _stored_sums(self) -> Any:
        """Return the sums that files hold, or None."""
        sums = getattr(self, "moments_", None)
        return sums if isinstance(sums, self._sums) else None

    def _to_arrays(self) -> dict[str, Any]:
        """Return the sums that the parameters were read off, if there are any."""
        sums = self._stored_sums()
        return {} if sums is None else sums_to_arrays(sums)

    def _header_parts(self) -> dict[str, Any]:
        """Return how the sums are weighted, and of how many rows they are."""
        sums = self._stored_sums()
        return {} if sums is None else {"moments": sums_to_header(sums)}

    def _take_more(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take the sums that the parameters were read off."""
        about = header.get("moments")
        if about is not None:
            self.moments_ = sums_from_arrays(self._sums, about, arrays, self.n_features_in_)


def labels_of(rows: Any, data: Distinct, params: MixtureParams, family: Family) -> Labels:
    """Return the most probable state of every row, (n,). rows (n, d), data: what distinct_rows made of them."""
    inside = params._replace(centers=params.centers[:, data.features])
    labels = e_step.most_likely(data.rows, inside, family)[data.place]
    left_out = np.flatnonzero(data.place < 0)
    if len(left_out):
        labels[left_out] = e_step.most_likely(rows[left_out], params, family)
    return labels


class BaseMixture(ClusterMixin, MomentModel):
    """Base of mixtures: fit, prediction, scoring and sampling from `weights_` and `centers_`."""

    _family: ClassVar[Family]

    em: bool
    tol: float
    max_iter: int
    prior: float

    labels_: Labels = of_rows("predict")  # (n,): State of each row of the data fitted
    n_iter_: int  # EM steps made; 0 without EM
    stopped_by_: StoppedBy | str  # "moments" without EM, else the rule that ended it
    # (n_iter_,): Mean log-likelihood plus log prior, nats per row, before each step
    objective_trace_: Array
    tried_: list[Tried]  # What the search for the start of EM tried; empty without EM
    caution_: str  # Why the states may be more than the rows show, in numbers; "" if nothing speaks against them
    data_fingerprint_: str  # Hash of the rows fitted

    _trace_key = "log_likelihoods_"
    log_likelihoods_ = moved.OldName("objective_trace_")

    @abstractmethod
    def _require_data(self, rows: Any) -> None:
        """Refuse rows that nothing can be fitted to. rows (n, d), those of weight above 0."""

    @abstractmethod
    def _prior(self, sums: Array, n: float) -> Prior:
        """Return the prior of EM. sums (d,): of n rows."""

    @abstractmethod
    def _run(self, data: Distinct, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
        """Fit to rows; return parameters with features as they stand in the data. tell (str, float)."""

    @property
    def converged_(self) -> bool:
        """Whether EM ended by one of its rules, or there was none to end."""
        self._require_fitted()
        return getattr(self, "stopped_by_", "moments") != "max_iter"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find the states of the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts, or 0/1 rows of a BernoulliMixture (anything with its `binarize`).
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.
        progress : callable (str, float), optional
            Told the stage and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        BaseMixture
            Itself, fitted.

        Raises
        ------
        ValueError
            If entries are not what the family allows or all 0; of counts, if there are fewer features than states or
            no row has three words; of 0/1 rows, if there are fewer rows than clusters; or if an option is out of range.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        DataWarning
            If features occur in no row, or rows are too short for the third moment (counts); if the moments that a
            model begins with show fewer states than n_components, or much of them had to be clipped; or if two states
            could be one.
        ConvergenceWarning
            If EM ran out of steps.
        """
        del y
        rows = self._validated(X, reset=True)
        self._check_options()
        weight = sample_weights(sample_weight, rows.shape[0], X)
        self._require_data(rows if weight is None else rows[weight > 0])
        data = distinct_rows(rows, weight)
        tell = callback_of(progress)
        self.tried_, self.caution_, self.clipped_ = [], "", 0.0
        with single_threaded_blas():
            prior = self._prior(column_sums(data.rows, data.weight), data.total)
            self._keep(rows, data, self._run(data, prior, tell), prior)
        tell("done", 1.0)
        self._tell_doubts()
        return self

    def _keep(
        self, rows: Any, data: Distinct, result: EMResult[MixtureParams], prior: Prior
    ) -> None:
        """Set the fitted attributes, states ordered by weight."""
        order = np.argsort(-result.params.weights, kind="stable")
        params = MixtureParams(*(part[order] for part in result.params))
        self.weights_, self.centers_ = params.weights, data.unsorted(params.centers)
        self.n_iter_, self.stopped_by_ = len(result.log_likelihoods), result.stopped_by
        self.objective_trace_ = result.log_likelihoods
        self.labels_ = labels_of(rows, data, self._params(), self._family)
        self.data_fingerprint_ = features.fingerprint(rows)
        self.annotations_ = {}
        if self.em and self.n_components > 1:
            nearest = nearest_clusters(data, params, self._family, prior)
            self.caution_ = caution_of(nearest, self.n_components, data.total)

    def _tell_doubts(self) -> None:
        """Warn if states could be one, or EM ran out of steps."""
        if self.caution_:
            warn(self.caution_)
        if self.stopped_by_ == "max_iter":
            warn(
                f"EM made max_iter={self.max_iter} steps and the objective still rises by more than "
                f"tol={self.tol:g} nats per row; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _derive(self) -> None:
        """Reset the attributes of EM."""
        self.n_iter_, self.stopped_by_, self.objective_trace_ = 0, "moments", np.zeros(0)

    def _tell_empty(self, rows: Any) -> None:
        """Warn of rows that tell nothing, where there can be such. rows (n, d)."""

    def predict(self, X: Any) -> Labels:
        """Return the most probable state of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labeled ones may have their features in any order.

        Returns
        -------
        array of int (n,)
            States, 0 to k-1.

        Warns
        -----
        DataWarning
            If features are unknown or missing, or rows of counts hold none of the model's features.
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
            Rows; labeled ones may have their features in any order.

        Returns
        -------
        array (n, k)
            Rows sum to 1.

        Warns
        -----
        DataWarning
            If features are unknown or missing, or rows of counts hold none of the model's features.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        self._tell_empty(rows)
        return e_step.posteriors(e_step.log_joint(rows, self._params(), self._family))

    def transform(self, X: Any) -> Array:
        """Return the posterior probability of every state for each row, as `predict_proba`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        return self.predict_proba(X)

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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.

        Returns
        -------
        float
            Nats per row; larger is better.
        """
        del y
        logs = self.score_samples(X)
        return float(np.average(logs, weights=sample_weights(sample_weight, len(logs), X)))

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
        """Return the number of entries of the centers that the others determine."""
        return 0

    def _params(self) -> MixtureParams:
        """Return the fitted parameters."""
        return MixtureParams(self.weights_, self.centers_)
