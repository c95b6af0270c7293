"""State of the covariate path dashboard: the solution shown, what is picked, and the history."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import param

from lvmkit.charts._merges import first_in, speaks_for
from lvmkit.charts.path_curves import nu_text
from lvmkit.core import moved
from lvmkit.core.typing import Array, Labels
from lvmkit_widgets.ui.history import History, Step, UndoRedo
from lvmkit_widgets.ui.words import counted

START = (
    "from lvmkit_widgets import CovariatePath\n"
    "# path: the path that was opened\n"
    "state = CovariatePath(path).state"
)


class PathState(UndoRedo, param.Parameterized):
    """A path, the solution that is looked at, what is picked of it, and the steps that led there."""

    cluster = param.Integer(default=None, allow_None=True, doc="Cluster that is picked.")
    covariate = param.Integer(default=None, allow_None=True, doc="Covariate that was found.")
    least_odds = param.Number(
        default=1.0, bounds=(1, None), doc="Smaller ones are not in the tree."
    )
    most = param.Integer(default=40, bounds=(1, 200), doc="Covariates in the tree at most.")
    every = param.Boolean(default=False, doc="Whether the tree shows all clusters.")
    history = param.Parameter(constant=True, doc="Steps taken so far.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(
        self,
        path: Any,
        names: tuple[str, ...],
        *,
        held_out: Array | None = None,
        n_held_out: int = 0,
        private: bool = True,
    ) -> None:
        self.path, self.names, self.private = path, names, private
        self.held_out, self.n_held_out = held_out, n_held_out
        start = int(path.best)
        super().__init__(history=History((Step("Opened", START, start),)))
        self.cluster = self.first_of(start)

    @property
    def step(self) -> int:
        """Place of the solution that is looked at."""
        return int(self.history.value)

    @property
    def solution(self) -> Any:
        """The solution that is looked at."""
        return self.path[self.step]

    @property
    def labels(self) -> Labels:
        """Cluster of each covariate."""
        return np.asarray(self.solution.labels)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(str(name) for name in np.asarray(self.path.classes).tolist())

    @cached_property
    def alone(self) -> Array:
        """Weights of the covariates (classes, covariates) at the smallest ν that does not leave them out."""
        first = first_in([solution.labels for solution in self.path])
        found = np.zeros((len(self.classes), len(self.names)))
        for step in np.unique(first):
            labels = np.asarray(self.path[int(step)].labels)
            there = np.flatnonzero((first == step) & (labels >= 0))
            found[:, there] = np.asarray(self.path[int(step)].cluster_coef)[:, labels[there]]
        return found

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

    # -- steps -----------------------------------------------------------------------------------

    def choose(self, step: int) -> None:
        """Look at another solution."""
        if not 0 <= step < len(self.path):
            message = f"There is no solution {step}; the path has 0 to {len(self.path) - 1}."
            raise ValueError(message)
        self._select(int(step), f"Showed {self.describe(step)}", f"state.choose({int(step)})")

    def choose_best(self) -> None:
        """Look at the solution with the highest marginal likelihood."""
        step = int(self.path.best)
        self._select(
            step, f"Best by marginal likelihood: {self.describe(step)}", "state.choose_best()"
        )

    def choose_cross_validated(self) -> None:
        """Look at the solution that cross-validation chooses."""
        if self.chosen is None:
            message = "The path was made without cross-validation."
            raise ValueError(message)
        told = f"Chosen by cross-validation: {self.describe(self.chosen)}"
        self._select(self.chosen, told, "state.choose_cross_validated()")

    def choose_n_clusters(self, n_clusters: int) -> None:
        """Look at the solution whose number of clusters is nearest."""
        if n_clusters < 1:
            message = f"n_clusters is {n_clusters}; ask for at least one cluster."
            raise ValueError(message)
        step = int(self.path.with_n_clusters(n_clusters))
        told = f"Nearest to {counted(n_clusters, 'cluster')}: {self.describe(step)}"
        self._select(step, told, f"state.choose_n_clusters({n_clusters})")

    def pick(self, cluster: int | None) -> None:
        """Look at a cluster."""
        if cluster is not None and not 0 <= cluster < int(self.solution.n_clusters):
            n = int(self.solution.n_clusters)
            message = f"There is no cluster {cluster}; they are numbered 0 to {n - 1}."
            raise ValueError(message)
        kept = self.covariate
        if kept is not None and (cluster is None or self.labels[kept] != cluster):
            kept = None
        self.param.update(cluster=cluster, covariate=kept)

    def find(self, covariate: int | str) -> None:
        """Look at the cluster of a covariate."""
        place = covariate
        if isinstance(covariate, str):
            if covariate not in self.names:
                message = f"No covariate is called “{covariate}”."
                raise ValueError(message)
            place = self.names.index(covariate)
        if not 0 <= int(place) < len(self.names):
            message = (
                f"There is no covariate {place}; they are numbered 0 to {len(self.names) - 1}."
            )
            raise ValueError(message)
        cluster = int(self.labels[int(place)])
        self.param.update(cluster=None if cluster < 0 else cluster, covariate=int(place))

    # -- inside ----------------------------------------------------------------------------------

    def first_of(self, step: int) -> int | None:
        """Choose a cluster of a solution to look at first."""
        solution = self.path[step]
        if not int(solution.n_clusters):
            return None
        odds = np.log(speaks_for(solution.cluster_coef)[1])
        labels = np.asarray(solution.labels)
        several = np.bincount(labels[labels >= 0], minlength=odds.size) > 1
        return int(np.argmax(np.where(several | ~several.any(), odds, -1.0)))

    def _go(self, history: History[int], message: str) -> None:
        """Stand somewhere in the history, with the covariates in sight that were picked."""
        old = self.labels
        labels = np.asarray(self.path[int(history.value)].labels)
        kept = self.covariate
        near = labels[old == self.cluster] if self.cluster is not None else labels[:0]
        near = near[near >= 0]
        cluster = self.first_of(int(history.value))
        if kept is not None:
            cluster = None if labels[kept] < 0 else int(labels[kept])
        elif near.size > 1:
            cluster = int(np.bincount(near).argmax())
        with param.edit_constant(self):
            self.param.update(
                history=history,
                message=message,
                cluster=cluster,
            )
