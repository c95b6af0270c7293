"""The ADMM of Andrade 2021: the reference of the solver's tests and benchmarks; notebook 06 derives it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import Design

RESIDUAL_RATIO = 10.0
RHO_FACTOR = 2.0
"""A residual this many times the other one changes ρ by a factor of two (Boyd and others 2011, section 3.4.1)."""


@dataclass
class AdmmState:
    """The iterates of ADMM."""

    theta: Array  # (n_features + 1, n_classes): B', and the intercepts in the last row
    # (2, n_edges, n_classes): z, for each edge the copy of its tail's weights, and of its head's
    copies: Array
    duals: Array  # (2, n_edges, n_classes): u, scaled by ρ
    rho: float  # Strength ρ of the pull between weights and copies


class ADMM:
    """Alternating direction method of multipliers for equation (1), Andrade 2021, section 2.1."""

    def __init__(
        self,
        X: Counts,
        targets: Array,
        graph: Graph,
        *,
        ridge: float,
        nu: float,
        adaptive: bool = True,
        inner: int = 100,
    ) -> None:
        self._design, self._graph = Design(X, targets), graph
        self._ridge, self._nu, self._adaptive, self._inner = ridge, nu, adaptive, inner
        self._degrees = np.bincount(graph.tails, minlength=graph.n_nodes) + np.bincount(
            graph.heads, minlength=graph.n_nodes
        )

    def start(self, rho: float = 1.0) -> AdmmState:
        """Zeros."""
        edges, (d, c) = (
            len(self._graph.weights),
            (self._graph.n_nodes, self._design.targets.shape[1]),
        )
        return AdmmState(
            np.zeros((d + 1, c)), np.zeros((2, edges, c)), np.zeros((2, edges, c)), rho
        )

    def update_weights(self, state: AdmmState) -> Array:
        """Update B and the intercepts: L-BFGS on the smooth part, whose pull toward the copies costs O(d)."""
        graph, shape = self._graph, state.theta.shape
        toward = state.copies + state.duals
        pulled = np.zeros((graph.n_nodes, shape[1]))
        np.add.at(pulled, graph.tails, toward[0])
        np.add.at(pulled, graph.heads, toward[1])
        degrees = self._degrees[:, None]

        def objective(flat: Array) -> tuple[float, Array]:
            theta = flat.reshape(shape)
            probabilities, loss = self._design.probabilities(theta)
            gradient = self._design.gradient(probabilities)
            weights = theta[:-1]
            loss += self._ridge * float((weights**2).sum())
            loss += state.rho / 2 * float((degrees * weights**2 - 2 * weights * pulled).sum())
            gradient[:-1] += 2 * self._ridge * weights + state.rho * (degrees * weights - pulled)
            return loss, gradient.ravel()

        options = {"maxiter": self._inner, "gtol": 1e-9, "ftol": 1e-15}
        found = minimize(
            objective, state.theta.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        return np.asarray(found.x).reshape(shape)

    def update_copies(self, state: AdmmState, theta: Array) -> Array:
        """Update z: the closed form of equation (2), for all edges at once."""
        graph = self._graph
        tails, heads = theta[graph.tails] - state.duals[0], theta[graph.heads] - state.duals[1]
        apart = np.linalg.norm(tails - heads, axis=1)
        # Where the points meet, h = 0, the share is a half; the printed formula would divide by zero.
        reach = np.divide(
            self._nu * graph.weights, state.rho * apart, out=np.ones_like(apart), where=apart > 0
        )
        share = np.maximum(1 - reach, 0.5)[:, None]
        return np.stack([share * tails + (1 - share) * heads, (1 - share) * tails + share * heads])

    def step(self, state: AdmmState) -> tuple[AdmmState, float, float]:
        """One iteration; the next state, and the norms of the primal and the dual residual."""
        theta = self.update_weights(state)
        copies = self.update_copies(state, theta)
        gaps = copies - np.stack([theta[self._graph.tails], theta[self._graph.heads]])
        duals = state.duals + gaps
        primal = float(np.sqrt((gaps**2).sum()))
        dual = float(state.rho * np.sqrt(((copies - state.copies) ** 2).sum()))
        rho = state.rho
        if self._adaptive and primal > RESIDUAL_RATIO * dual:
            rho *= RHO_FACTOR
        elif self._adaptive and dual > RESIDUAL_RATIO * primal:
            rho /= RHO_FACTOR
        return AdmmState(theta, copies, duals * (state.rho / rho), rho), primal, dual

    def run(
        self, *, tol: float = 1e-5, max_iter: int = 1000, state: AdmmState | None = None
    ) -> tuple[AdmmState, int, bool]:
        """Iterate until both residuals are small (section A.2): the state, iterations, and whether they were."""
        state = self.start() if state is None else state
        d, c = self._graph.n_nodes, state.theta.shape[1]
        enough = tol * np.sqrt(c * (d + 2 * len(self._graph.weights)))
        for iteration in range(1, max_iter + 1):
            state, primal, dual = self.step(state)
            if primal < enough and dual < enough:
                return state, iteration, True
        return state, max_iter, False

    def objective(self, state: AdmmState) -> float:
        """Equation (1) at the weights of a state."""
        _, loss = self._design.probabilities(state.theta)
        apart = np.linalg.norm(
            state.theta[self._graph.tails] - state.theta[self._graph.heads], axis=1
        )
        loss += self._ridge * float((state.theta[:-1] ** 2).sum())
        return loss + self._nu * float(self._graph.weights @ apart)

    def labels(self, state: AdmmState) -> Labels:
        """Clusters: connected by edges whose two copies are exactly equal (section 2.2)."""
        same = (state.copies[0] == state.copies[1]).all(1)
        return self._graph.components(same)[1]
