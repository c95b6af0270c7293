"""The search behind a tensor normal mixture: its options checked, its samples, starts and penalties."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import single_threaded_blas, workers_of
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import require_number, require_one_of, require_seed
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.covariances import SCALES
from lvmkit.tensors.em import Fit, Options, Samples
from lvmkit.tensors.initialization import KINDS, starts
from lvmkit.tensors.penalty_path import (
    LEAST,
    METHODS,
    N_PENALTIES,
    Found,
    Mapper,
    best_of,
    bic,
    from_smaller,
    largest_penalty,
    path_of,
)
from lvmkit.tensors.validation import first_guess, require_estimable, require_independent


class TensorSearch:
    """Samples, starts and penalties of a fit, once they are checked. rows (n, p_1, ..., p_M)."""

    def __init__(
        self, model: Any, rows: Array, *, penalties: Sequence[float] | None = None
    ) -> None:
        self.n_components = model.n_components
        self.method = model.method
        if isinstance(self.n_components, int) and self.n_components > len(rows):
            # Refused here: options hold matrices of that size.
            require_estimable(rows, self.n_components, model.shrinkage)
        self.options = checked_options(model)
        self.reference = model.reference
        self._bic_of_one: float | None = None
        require_estimable(rows, self.n_components, model.shrinkage)
        self.samples = Samples(rows)
        self.given = not isinstance(model.init, str)
        if self.given:
            guesses = [("given", first_guess(model.init, len(rows), self.n_components))]
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

    def numbering(self, fit: Fit) -> Labels:
        """Return the clusters in the order in which they are numbered, (K,)."""
        if self.given:
            return np.arange(self.n_components)
        by_weight = [int(k) for k in np.argsort(-fit.rule.weights, kind="stable")]
        if self.reference is not None:  # keeps its number
            by_weight.remove(self.reference)
            by_weight.insert(self.reference, self.reference)
        return np.array(by_weight)

    def bic_of_one(self) -> float:
        """Return the Bayesian information criterion of a single cluster."""
        if self._bic_of_one is None:
            one = replace(self.options, contrasts=contrasts(1), penalty=0.0)
            alone = best_of(self.samples, [np.ones((len(self.samples), 1))], one, self.method, map)
            self._bic_of_one = bic(alone, len(self.samples))
        return self._bic_of_one


def checked_options(model: Any) -> Options:
    """Refuse options of a model that are out of range."""
    require_number(model.n_components, "n_components", least=1, whole=True)
    require_number(model.n_init, "n_init", least=1, whole=True)
    require_number(model.max_iter, "max_iter", least=1, whole=True)
    require_number(model.tol, "tol", least=0)
    require_number(model.shrinkage, "shrinkage", least=0)
    if model.shrinkage >= 1:
        msg = f"shrinkage must be below 1; found {model.shrinkage!r}"
        raise ValueError(msg)
    require_seed(model.random_state)
    workers_of(model.n_jobs)
    require_one_of(model.method, "method", tuple(METHODS))
    require_one_of(model.scale, "scale", SCALES)
    if isinstance(model.init, str):
        require_one_of(model.init, "init", ("best", *KINDS))
    if isinstance(model.penalty, str):
        require_one_of(model.penalty, "penalty", ("bic",))
    else:
        require_number(model.penalty, "penalty", least=0)
    if model.reference is not None:
        require_number(model.reference, "reference", least=0, whole=True)
        if model.reference >= model.n_components:
            msg = f"reference={model.reference} is no cluster; they run from 0 to {model.n_components - 1}"
            raise ValueError(msg)
    return Options(
        contrasts(model.n_components, model.reference),
        penalty=0.0 if isinstance(model.penalty, str) else float(model.penalty),
        scale=model.scale,
        shrinkage=float(model.shrinkage),
        tol=model.tol,
        max_iter=model.max_iter,
    )
