"""State of the covariate path dashboard: the solution shown, what is picked, and the history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from lvmkit.charts._merges import speaks_for, weights_alone
from lvmkit.charts.path_curves import nu_text
from lvmkit.core import moved
from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure.text import coarse
from lvmkit_widgets.ui.history import started
from lvmkit_widgets.ui.state import StepState, remembered
from lvmkit_widgets.ui.words import counted, refuse, require_numbered


class HeldSolutions(NamedTuple):
    """What a saved page has room for."""

    steps: tuple[int, ...]  # Solutions
    trees: frozenset[tuple[int, int | None]]  # Solutions and clusters whose trees it has


@dataclass(frozen=True, eq=False, kw_only=True)
class PathState(StepState[int]):
    """A path, the solution that is looked at, what is picked of it, and the steps that led there."""

    start: ClassVar[str] = started("CovariatePath(path)", "path: the path that was opened")

    path: Any
    names: tuple[str, ...]  # Of the covariates
    held_out: Array | None = None  # Accuracy of each solution on other data
    n_held_out: int = 0  # Samples of these data
    cluster: int | None = None  # Cluster that is picked
    covariate: int | None = None  # Covariate that was found
    least_odds: float = 1.0  # Covariates with smaller odds ratios are not in the tree
    most: int = 40  # Covariates in the tree at most
    every: bool = False  # Whether the tree shows all clusters
    held: HeldSolutions | None = None  # What the page holds; None while Python answers

    @classmethod
    def of(cls, path: Any, names: tuple[str, ...], **fields: Any) -> Self:
        """Return the state of a path at its best solution."""
        state = cls.opened(int(path.best), path=path, names=names, **fields)
        return state.replace(cluster=state.first_of(state.step))

    @property
    def step(self) -> int:
        """Place of the solution that is looked at."""
        return self.value

    @property
    def offered(self) -> tuple[int, ...]:
        """Places of the solutions that can be looked at."""
        return tuple(range(len(self.path))) if self.held is None else self.held.steps

    @property
    def solution(self) -> Any:
        """The solution that is looked at."""
        return self.path[self.step]

    @property
    def labels(self) -> Labels:
        """Cluster of each covariate."""
        return np.asarray(self.solution.labels)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(str(name) for name in np.asarray(self.path.classes).tolist())

    @property
    @remembered
    def alone(self) -> Array:
        """Weights of the covariates (classes, covariates) at the smallest ν that does not leave them out."""
        return weights_alone(self.path)

    @property
    def weights(self) -> Array:
        """Weights of the clusters (classes, clusters)."""
        return np.asarray(self.solution.cluster_coef, dtype=float)

    @property
    def chosen(self) -> int | None:
        """Place that cross-validation chooses."""
        tried = self.path.cross_validation
        return None if tried is None else int(tried.chosen)

    def members(self, cluster: int) -> Labels:
        """List the covariates of a cluster."""
        return np.flatnonzero(self.labels == cluster)

    def describe(self, step: int) -> str:
        """Name a solution."""
        solution = self.path[step]
        return f"ν = {nu_text(float(solution.nu))} · {counted(int(solution.n_clusters), 'cluster')}"

    told = moved.OldName("describe")

    def first_of(self, step: int) -> int | None:
        """Choose a cluster of a solution to look at first."""
        solution = self.path[step]
        if not int(solution.n_clusters):
            return None
        odds = np.log(speaks_for(solution.cluster_coef)[1])
        labels = np.asarray(solution.labels)
        several = np.bincount(labels[labels >= 0], minlength=odds.size) > 1
        return int(np.argmax(np.where(several | ~several.any(), odds, -1.0)))

    # -- steps -----------------------------------------------------------------------------------

    def choose(self, step: int) -> Self:
        """Look at another solution."""
        if not 0 <= step < len(self.path):
            refuse(f"There is no solution {step}; the path has 0 to {len(self.path) - 1}.")
        return self.step_to(int(step), f"Showed {self.describe(step)}", f"choose({int(step)})")

    def choose_best(self) -> Self:
        """Look at the solution with the highest marginal likelihood."""
        step = int(self.path.best)
        return self._show(step, "Best by marginal likelihood", "choose_best()")

    def choose_cross_validated(self) -> Self:
        """Look at the solution that cross-validation chooses."""
        if self.chosen is None:
            refuse("The path was made without cross-validation.")
        return self._show(self.chosen, "Chosen by cross-validation", "choose_cross_validated()")

    def choose_n_clusters(self, n_clusters: int) -> Self:
        """Look at the solution whose number of clusters is nearest."""
        if n_clusters < 1:
            refuse(f"n_clusters is {n_clusters}; ask for at least one cluster.")
        step = int(self.path.with_n_clusters(n_clusters))
        near = f"Nearest to {counted(n_clusters, 'cluster')}"
        return self._show(step, near, f"choose_n_clusters({n_clusters})")

    def _show(self, step: int, why: str, code: str) -> Self:
        """Look at a solution that was chosen in some way."""
        return self.step_to(step, f"{why}: {self.describe(step)}", code)

    def follow(self, value: int) -> dict[str, Any]:
        """Keep the covariates in sight that were picked."""
        labels = np.asarray(self.path[value].labels)
        kept = self.covariate
        if kept is not None:
            return {"cluster": None if labels[kept] < 0 else int(labels[kept])}
        near = labels[self.labels == self.cluster] if self.cluster is not None else labels[:0]
        near = near[near >= 0]
        several = near.size > 1
        return {"cluster": int(np.bincount(near).argmax()) if several else self.first_of(value)}

    def at(self, step: int, cluster: int | None) -> Self:
        """Return the state at a solution and cluster, without a step."""
        there = self._stand(self.history.push("", "", step), "")
        return there.replace(cluster=cluster, covariate=None)

    # -- picks -----------------------------------------------------------------------------------

    def pick(self, cluster: int | None) -> Self:
        """Look at a cluster."""
        if cluster is not None:
            require_numbered(cluster, int(self.solution.n_clusters), "cluster")
        kept = self.covariate
        if kept is not None and (cluster is None or self.labels[kept] != cluster):
            kept = None
        return self.replace(cluster=cluster, covariate=kept)

    def find(self, covariate: int | str | None) -> Self:
        """Look at the cluster of a covariate."""
        if covariate is None:
            return self.replace(covariate=None)
        if isinstance(covariate, str) and covariate not in self.names:
            refuse(f"No covariate is called “{covariate}”.")
        place = self.names.index(covariate) if isinstance(covariate, str) else int(covariate)
        require_numbered(place, len(self.names), "covariate")
        cluster = int(self.labels[place])
        return self.replace(cluster=None if cluster < 0 else cluster, covariate=place)


def likelihoods(state: PathState) -> Array:
    """Return the log marginal likelihood of every solution, of people no finer than a pixel of its curve."""
    values = np.asarray(state.path.log_marginal_likelihoods, dtype=float)
    return coarse(values) if state.private else values


def accuracies_told(state: PathState) -> bool:
    """Tell whether accuracies give no small count away: not 1 to 10 people are classified wrongly, or rightly."""
    if not state.private:
        return True
    path, n = state.path, int(state.path.n_samples)
    known = [(path.accuracies, n)]
    if state.held_out is not None:
        known.append((state.held_out, state.n_held_out))
    if path.cross_validation is not None:
        known.append((path.cross_validation.mean, n))
    shares = [(np.asarray(values, dtype=float), size) for values, size in known]
    counts = np.concatenate([size * part for one, size in shares for part in (one, 1 - one)])
    return not bool(((counts >= 0.5) & (counts < state.disclosure.threshold - 0.5)).any())
