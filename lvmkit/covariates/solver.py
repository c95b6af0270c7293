"""Solver for a sequence of ν: merge groups that have met, certify them, split those that fail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.covariates.certificates import MAX_START, Balance, balance, parts
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import Design, Grams, sums
from lvmkit.covariates.newton import Point, Problem, minimize

MERGE_DISTANCE = 2.0
"""Groups closer than this many times the smoothing are merged, to be split again if they do not hold."""
MIN_SCALE = 1e-6
"""Smallest scale of weights, for covariates of a mean square of one."""
LAST_MERGE_DISTANCE = 12.0
"""Groups closer than this many times the smoothing are joined in the end, if what they make holds."""
WARM_STEPS = 25
"""A solution that is not found in so many steps from the last one is approached anew."""
COARSE_SMOOTHINGS = (1e-1, 1e-2, 1e-3)
"""Smoothings of a start from nothing, relative to the largest weight; what is surely equal is merged at each."""
COARSE_MERGE_DISTANCE = 0.3
COARSE_TOLERANCE = 1e-2
"""The same as `MERGE_DISTANCE` and the tolerance, at these coarse smoothings."""
SMOOTHING = 1e-4
"""Smoothing of the norms, relative to the largest weight."""
REFINEMENT = 0.1
"""Smoothing is refined by this factor while the gap is too large."""
MAX_REFINEMENTS = 3
MAX_ROUNDS = 30
"""Rounds of merging, certifying and splitting for one ν."""


@dataclass(frozen=True)
class Fused:
    """The solution for one ν. coef (n_classes, n_features), intercept (n_classes,), labels (n_features,)."""

    nu: float  # ν of the document
    # (n_classes, n_features): Equal within a cluster; exactly zero for covariates that are not selected
    coef: Array
    intercept: Array  # (n_classes,): Sums to zero
    # (n_features,): Cluster of each covariate, by their first covariates; -1 for those not selected
    labels: Labels
    objective: float  # Equation (1)
    # How far the objective can be above the optimum, relative to it: bounded by a dual point
    gap: float
    n_iter: int  # Newton steps
    converged: bool  # Whether the gap is within the tolerance

    @property
    def n_clusters(self) -> int:
        """Clusters of selected covariates."""
        return int(self.labels.max(initial=-1)) + 1


class _Group(NamedTuple):
    """A group of several nodes: its members, the graph inside, and whether it holds together."""

    members: Labels
    graph: Graph
    balance: Balance


class Solver:
    """The problem of one data set, and where its solution stands."""

    def __init__(
        self,
        X: Counts,
        targets: Array,
        graph: Graph,
        *,
        ridge: float,
        tol: float = 1e-5,
        max_iter: int = 500,
    ) -> None:
        self._X, self._targets, self._graph = X, targets, graph
        self._ridge, self._tol, self._max_iter = ridge, tol, max_iter
        self._grams = Grams(X)
        self._held = graph.n_nodes > X.shape[1]
        self._intercept = np.zeros(targets.shape[1])
        self._potentials = np.zeros((graph.n_nodes, targets.shape[1]))
        self._regroup(np.arange(graph.n_nodes), np.zeros((graph.n_nodes, targets.shape[1])))
        self._last: Fused | None = None
        # A weight of this size moves the odds of no sample by more than a millionth; smaller ones are rounding.
        counts = targets.sum(1)
        squares = (X.multiply(X) if sp.issparse(X) else X**2).T @ counts / counts.sum()
        self._least = MIN_SCALE / (float(np.sqrt(np.max(squares, initial=0.0))) or 1.0)

    def solve(self, nu: float) -> Fused:
        """Solve for `nu` from where the last solution is; infinity fuses all that is connected."""
        if nu == np.inf:
            found, labels = self._graph.components()
            self._regroup(_held_last(labels, self._held), np.zeros((found, len(self._intercept))))
            self._last = replace(self._solve(0.0, fixed=True), nu=nu)
        elif (
            self._last is not None
            and self._last.converged
            and nu >= self._last.nu
            and not self._merged.weights.any()
        ):
            # All that is connected has met: a larger ν changes nothing.
            self._last = replace(self._last, nu=nu, n_iter=0)
        else:
            self._last = self._solve(nu)
        return self._last

    def _solve(self, nu: float, *, fixed: bool = False) -> Fused:
        found, steps = self._approach(nu)
        mu = SMOOTHING * self._scale if found is None else found.mu
        finer, merging = 0, not fixed
        for last in range(MAX_ROUNDS, -1, -1):
            if found is None:
                found, more = self._descend(nu, mu, self._max_iter - steps, 0.1 * self._tol)
                steps += more
            point, found = found, None
            if merging and last and self._merge(point):
                continue
            balances = [] if fixed else self._balances(point)
            gap, hold = self._gap(point, balances), all(each.balance.holds for each in balances)
            if (hold and gap <= self._tol) or steps >= self._max_iter or not last:
                break
            if hold:
                point, gap, more = self._join(point, gap, self._max_iter - steps)
                steps += more
                if gap <= self._tol or finer == MAX_REFINEMENTS:
                    break
                mu, finer = mu * REFINEMENT, finer + 1
            self._split(balances, mu)
            merging = False
        if not fixed and gap <= self._tol:
            point, gap, more = self._join(point, gap, self._max_iter - steps)
            steps += more
        return self._solution(point, gap, steps)

    def _gap(self, point: Point, balances: list[_Group]) -> float:
        """Return how far the objective can be above the optimum, relative to it."""
        missing = sum(each.balance.unbalanced for each in balances) / (4 * self._ridge)
        return (point.slack + point.excess(point.gradient()) + missing) / point.objective

    def _join(self, point: Point, gap: float, max_steps: int) -> tuple[Point, float, int]:
        """Join groups that are near without having met, where what they make holds."""
        # Forces near their bounds keep covariates of one cluster several smoothings apart, which costs nothing that the
        # gap would show.
        before = self._labels, self._values.copy(), self._intercept, self._potentials.copy()
        if not self._merge(point, LAST_MERGE_DISTANCE):
            return point, gap, 0
        joined, steps = self._descend(point.problem.nu, point.mu, max_steps, 0.1 * self._tol)
        balances = self._balances(joined)
        loose = [each.members for each in balances if not each.balance.holds]
        if loose:
            self._part(np.concatenate(loose), before[0], before[1])
            joined, more = self._descend(
                point.problem.nu, point.mu, max_steps - steps, 0.1 * self._tol
            )
            steps += more
            balances = self._balances(joined)
        found = self._gap(joined, balances)
        if found <= self._tol and all(each.balance.holds for each in balances):
            return joined, found, steps
        self._regroup(before[0], before[1])
        self._intercept, self._potentials = before[2:]
        return point, gap, steps

    def _part(self, members: Labels, labels: Labels, values: Array) -> None:
        """Put members back into the groups that they were in."""
        together = self._labels.copy()
        together[members] = labels[members] + len(self._values)
        _, first, places = np.unique(together, return_index=True, return_inverse=True)
        apart = np.isin(first, members)
        rows = np.where(apart[:, None], values[labels[first]], self._values[self._labels[first]])
        numbers = _held_last(places.astype(np.intp), self._held)
        ordered = np.empty_like(rows)
        ordered[numbers[first]] = rows
        self._regroup(numbers, ordered)

    @property
    def _scale(self) -> float:
        return max(float(np.abs(self._values).max(initial=0.0)), self._least)

    def _approach(self, nu: float) -> tuple[Point | None, int]:
        """Come to the solution in a few steps from the last one, or near it with norms that are ever less smoothed."""
        if self._last is None:
            _, steps = self._descend(0.0, 1.0, self._max_iter, COARSE_TOLERANCE)
            # Weights that vanish take no smoothing with them: they could never meet.
            self._least = max(self._least, COARSE_SMOOTHINGS[-1] * self._scale)
        else:
            most = min(WARM_STEPS, self._max_iter)
            point, steps = self._descend(nu, SMOOTHING * self._scale, most, 0.1 * self._tol)
            if steps < most:
                return point, steps
        for smoothing in COARSE_SMOOTHINGS:
            point, more = self._descend(
                nu, smoothing * self._scale, self._max_iter - steps, COARSE_TOLERANCE
            )
            self._merge(point, COARSE_MERGE_DISTANCE)
            steps += more
        return None, steps

    def _regroup(self, labels: Labels, values: Array) -> None:
        """Take other groups: one of `values` for each, and the label of each node; a held node is in the last one."""
        self._labels, self._values = labels, values
        free = len(values) - self._held
        n_features = self._X.shape[1]
        self._merged = self._graph.merged(labels, len(values))
        self._sizes = np.bincount(labels[:n_features], minlength=len(values))[:free].astype(float)
        self._grams.group(labels[:n_features], free)
        self._design = Design(sums(self._X, labels[:n_features], free), self._targets, self._grams)

    def _descend(self, nu: float, mu: float, max_steps: int, gap: float) -> tuple[Point, int]:
        problem = Problem(self._design, self._sizes, self._merged, self._ridge, nu)
        free = problem.n_groups
        theta = np.vstack([self._values[:free], self._intercept])
        point, steps = minimize(problem, theta, mu, tolerance=gap, max_steps=max_steps)
        self._values[:free], self._intercept = point.theta[:-1], point.theta[-1]
        return point, steps

    def _merge(self, point: Point, near: float = MERGE_DISTANCE) -> bool:
        """Merge groups that have met; whether any has."""
        met = (point.squares <= (near * point.mu) ** 2) & (point.forces > 0)
        if not met.any():
            return False
        found, places = self._merged.components(met)
        places = _held_last(places, self._held)
        sizes = np.append(self._sizes, 1.0)[: len(self._values)]
        values = np.zeros((found, self._values.shape[1]))
        np.add.at(values, places, self._values * sizes[:, None])
        values /= np.bincount(places, sizes, found)[:, None]
        if self._held:
            values[-1] = 0
        # Where the parts stood, in units of the smoothing, is a good start for the forces that hold them together.
        self._potentials += ((self._values - values[places]) / point.mu)[self._labels]
        self._regroup(places[self._labels], values)
        return True

    def _balances(self, point: Point) -> list[_Group]:
        """For each group of several nodes: its members, the graph inside, and whether it holds together."""
        graph, labels = self._graph, self._labels
        residual, strengths = self._residual(point), graph.strengths(point.problem.nu)
        inside = np.flatnonzero((labels[graph.tails] == labels[graph.heads]) & (strengths > 0))
        inside = inside[np.argsort(labels[graph.tails[inside]], kind="stable")]
        order = np.argsort(labels, kind="stable")
        counts = np.bincount(labels)
        edge_ends = np.cumsum(np.bincount(labels[graph.tails[inside]], minlength=len(counts)))
        node_ends = np.cumsum(counts)
        share = self._tol * point.objective * self._ridge / max(len(labels), 1)
        found = []
        for group in np.flatnonzero(counts > 1):
            members = order[node_ends[group] - counts[group] : node_ends[group]]
            edges = inside[edge_ends[group - 1] if group else 0 : edge_ends[group]]
            pulls = residual[members]
            if self._held and group == len(counts) - 1:
                pulls[-1] = -pulls[:-1].sum(0)
            else:
                pulls -= pulls.mean(0)
            part = graph.within(members, edges, strengths)
            balanced = balance(part, pulls, self._potentials[members], share * len(members))
            self._potentials[members] = balanced.potentials - balanced.potentials.mean(0)
            found.append(_Group(members, part, balanced))
        return found

    def _residual(self, point: Point) -> Array:
        """Return what pulls at each node: the gradient of everything but the norms inside its group."""
        graph, labels = self._graph, self._labels
        values = self._values[labels]
        found = np.zeros_like(values)
        n_features = self._X.shape[1]
        found[:n_features] = (
            self._X.T @ (self._design.counted(point.probabilities) - self._targets)
            + 2 * self._ridge * values[:n_features]
        )
        across = np.flatnonzero(labels[graph.tails] != labels[graph.heads])
        apart = values[graph.tails[across]] - values[graph.heads[across]]
        rounded = np.sqrt(np.einsum("ek,ek->e", apart, apart) + point.mu**2)
        pulls = np.zeros((len(graph.weights), values.shape[1]))
        pulls[across] = (graph.strengths(point.problem.nu)[across] / rounded)[:, None] * apart
        return found + graph.gathered(pulls)

    def _split(self, balances: list[_Group], mu: float) -> None:
        """Take apart the groups that do not hold, a little way along their potentials."""
        labels, values = self._labels.copy(), [*self._values]
        for members, part, balanced in balances:
            if balanced.holds:
                continue
            found, places = parts(part, balanced.potentials)
            means = np.zeros((found, len(self._intercept)))
            np.add.at(means, places, balanced.potentials)
            means /= np.bincount(places)[:, None]
            self._potentials[members] = balanced.potentials - means[places]
            stays = places[
                -1
            ]  # the last member's part keeps the number of the group: it may be a held node's
            group = labels[members[0]]
            numbers = np.where(
                np.arange(found) < stays, np.arange(found), np.arange(found) - 1
            ) + len(values)
            numbers[stays] = group
            held = self._held and group == len(self._values) - 1
            origin = means[stays] if held else balanced.potentials.mean(0)
            away = means - origin
            away *= min(1.0, MAX_START / max(float(np.abs(away).max()), 1.0))
            moved = values[group] + MERGE_DISTANCE * mu * away
            labels[members] = numbers[places]
            values[group] = moved[stays]
            values.extend(np.delete(moved, stays, axis=0))
        if len(values) > len(self._values):
            found = len(values)
            if self._held:  # the held group goes last again
                order = np.r_[
                    : len(self._values) - 1, len(self._values) : found, len(self._values) - 1
                ]
                labels = np.argsort(order)[labels]
                values = [values[k] for k in order]
            self._regroup(labels, np.array(values))

    def _solution(self, point: Point, gap: float, steps: int) -> Fused:
        n_features = self._X.shape[1]
        labels = self._labels[:n_features]
        chosen = labels < len(self._sizes)
        _, first, numbers = np.unique(labels[chosen], return_index=True, return_inverse=True)
        clusters = np.full(n_features, -1, np.intp)
        clusters[chosen] = np.argsort(np.argsort(first))[numbers]
        coef = self._values[labels].T.copy()
        intercept = self._intercept - self._intercept.mean()
        return Fused(
            point.problem.nu,
            coef,
            intercept,
            clusters,
            point.objective,
            float(gap),
            steps,
            bool(gap <= self._tol),
        )


def _held_last(labels: Labels, held: bool) -> Labels:
    """Renumber labels such that the one of the last node is the largest."""
    if not held:
        return labels
    last = labels[-1]
    return np.where(labels > last, labels - 1, np.where(labels == last, labels.max(), labels))
