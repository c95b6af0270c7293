"""Newton's method on the smoothed problem: norms ||b_i - b_j|| become sqrt(||b_i - b_j||² + mu²).

The smoothed gradient is that of a point which is nearly optimal for the problem itself: the forces along the edges,
nu S_ij (b_i - b_j) / sqrt(||b_i - b_j||² + mu²), are admissible in the dual problem whatever the point, so that the
duality gap is at hand at every step (`Point.gap`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from lvmkit._typing import Array
from lvmkit.fusion.graph import Graph
from lvmkit.fusion.logistic import Design

DIRECT = 240
"""Up to so many weights the whole Hessian is factored; beyond, conjugate gradients."""
LOOSE = 0.5
"""Conjugate gradients stop when their residual is this share of the gradient."""
MAX_PRODUCTS = 50
"""Products of conjugate gradients in one step."""
SMALLEST_STEP = 1e-8
"""A step shorter than this is not taken: rounding has the word."""
MAX_SETTLING = 5
SETTLED = 1e-12
"""Steps for the intercepts alone, and what may be left of their gradient for each sample."""


@dataclass(frozen=True)
class Problem:
    """The problem between groups of covariates.

    Parameters
    ----------
    design : Design
        The samples, a column per group.
    sizes : array of shape (n_groups,)
        Covariates in each group.
    graph : Graph
        Similarities between groups; with one node more than there are groups, the last node is held at zero.
    ridge : float
        λ of the document.
    nu : float
        ν of the document.
    """

    design: Design
    sizes: Array
    graph: Graph
    ridge: float
    nu: float

    @property
    def n_groups(self) -> int:
        """Groups whose weights are free."""
        return len(self.sizes)

    def nodes(self, theta: Array) -> Array:
        """Return the weights of the nodes of the graph: of the groups, and zero for a held node."""
        held = self.graph.n_nodes - self.n_groups
        return (
            np.vstack([theta[: self.n_groups], np.zeros((held, theta.shape[1]))])
            if held
            else theta[: self.n_groups]
        )

    def at(self, theta: Array, mu: float) -> Point:
        """Evaluate the smoothed objective at `theta` (n_groups + 1, n_classes), the intercepts in the last row."""
        probabilities, loss = self.design.probabilities(theta)
        smooth = loss + self.ridge * float((self.sizes[:, None] * theta[:-1] ** 2).sum())
        apart = self.graph.differences(self.nodes(theta))
        squares = np.einsum("ek,ek->e", apart, apart)
        rounded = np.sqrt(squares + mu * mu)
        forces = self.graph.strengths(self.nu)
        return Point(self, theta, mu, probabilities, smooth, apart, squares, rounded, forces)


@dataclass
class Point:
    """Where Newton's method is: weights, and what follows from them."""

    problem: Problem
    theta: Array
    mu: float
    probabilities: Array
    smooth: float
    apart: Array
    squares: Array
    rounded: Array
    forces: Array

    @property
    def smoothed(self) -> float:
        """The objective with smoothed norms."""
        return self.smooth + float(self.forces @ self.rounded)

    @property
    def objective(self) -> float:
        """The objective of the problem, equation (1)."""
        return self.smooth + float(self.forces @ np.sqrt(self.squares))

    @property
    def slack(self) -> float:
        """What the smoothing of the norms can cost: sum of nu S (D - D²/sqrt(D² + mu²))."""
        distances = np.sqrt(self.squares)
        return float(self.forces @ (distances * (1 - distances / self.rounded)))

    def gradient(self) -> Array:
        """Gradient of the smoothed objective, of the shape of theta."""
        problem = self.problem
        found = problem.design.gradient(self.probabilities)
        found[:-1] += 2 * problem.ridge * problem.sizes[:, None] * self.theta[:-1]
        pulls = problem.graph.gathered((self.forces / self.rounded)[:, None] * self.apart)
        found[:-1] += pulls[: problem.n_groups]
        return found

    def excess(self, gradient: Array) -> float:
        """Tell what the gradient that is left can cost: the sum of ||g||² / (4 ridge size).

        That of the intercepts counts by their curvature.
        """
        problem = self.problem
        weights = float((gradient[:-1] ** 2 / (4 * problem.ridge * problem.sizes[:, None])).sum())
        return weights + float((gradient[-1] ** 2).sum()) / len(self.probabilities)


def minimize(
    problem: Problem, theta: Array, mu: float, *, tolerance: float, max_steps: int
) -> tuple[Point, int]:
    """Minimize the smoothed objective until what is left costs less than `tolerance`; the point, and steps taken."""
    point = problem.at(theta, mu)
    for steps in range(max_steps):
        gradient = point.gradient()
        if point.excess(gradient) <= tolerance:
            return settled(point), steps
        direction = _direction(point, gradient)
        moved = _line_search(point, direction, float(np.vdot(direction, gradient)), mu)
        if moved is None:
            return settled(point), steps
        point = moved
    return settled(point), max_steps


def settled(point: Point) -> Point:
    """Return the point with optimal intercepts: a dual point needs their gradient to be zero."""
    classes = point.theta.shape[1]
    for _ in range(MAX_SETTLING):
        totals = point.probabilities.sum(0)
        pull = totals - point.problem.design.targets.sum(0)
        if np.abs(pull).max() <= SETTLED * len(point.probabilities):
            break
        hessian = np.diag(totals) - point.probabilities.T @ point.probabilities
        hessian += totals.sum() / classes**2 + np.diag(np.full(classes, SETTLED * totals.sum()))
        theta = point.theta.copy()
        theta[-1] -= np.linalg.solve(hessian, pull)
        moved = point.problem.at(theta, point.mu)
        if moved.smooth > point.smooth:
            break
        point = moved
    return point


def _line_search(point: Point, direction: Array, slope: float, mu: float) -> Point | None:
    length = 1.0
    while length > SMALLEST_STEP:
        moved = point.problem.at(point.theta + length * direction, mu)
        if moved.smoothed <= point.smoothed + 1e-4 * length * slope:
            return moved
        length /= 2
    return None


def _direction(point: Point, gradient: Array) -> Array:
    if gradient.size <= DIRECT:
        return _newton_direction(point, gradient)
    return _conjugate_direction(point, gradient)


def _newton_direction(point: Point, gradient: Array) -> Array:
    """Solve for Newton's direction by one Cholesky factor: a block for each class, less two squares."""
    problem = point.problem
    columns, classes = gradient.shape
    m = problem.n_groups
    blocks, root = problem.design.square_root(point.probabilities)
    laplacian = np.asarray(problem.graph.laplacian(point.forces / point.rounded))[:m, :m]
    norms = _along(point)
    ends = np.zeros((len(norms), classes, problem.graph.n_nodes))
    edges = np.arange(len(norms))
    ends[edges, :, problem.graph.tails] = norms
    ends[edges, :, problem.graph.heads] = -norms
    along = ends[:, :, :m].reshape(len(norms), classes * m)
    hessian = -(root.T @ root).reshape(classes, columns, classes, columns)
    hessian[:, :m, :, :m] -= (along.T @ along).reshape(classes, m, classes, m)
    # Adding to all intercepts changes nothing; the flat direction gets a curvature, which no gradient ever meets.
    hessian[:, m, :, m] += len(root) / classes**2
    for k, block in enumerate(blocks):
        block[:m, :m] += laplacian
        block[np.arange(m), np.arange(m)] += 2 * problem.ridge * problem.sizes
        hessian[k, :, k, :] += block
    flat = hessian.reshape(columns * classes, columns * classes)
    factor = cho_factor(flat, lower=True, overwrite_a=True, check_finite=False)
    return -cho_solve(factor, gradient.T.ravel(), check_finite=False).reshape(classes, columns).T


def _along(point: Point) -> Array:
    """Rows v of the edges such that the curvature of a smoothed norm is its weight times the identity, less v v'."""
    return point.apart * (np.sqrt(point.forces / point.rounded) / point.rounded)[:, None]


def _conjugate_direction(point: Point, gradient: Array) -> Array:
    """Solve for Newton's direction by conjugate gradients; the preconditioner leaves out what couples the classes."""
    problem, design = point.problem, point.problem.design
    m = problem.n_groups
    graph = problem.graph
    laplacian = graph.laplacian(point.forces / point.rounded)[:m, :m]
    norms = _along(point)
    precondition = _preconditioner(point, laplacian)

    def curved(direction: Array) -> Array:
        found = design.curvature(point.probabilities, direction)
        found[:-1] += (
            2 * problem.ridge * problem.sizes[:, None] * direction[:-1] + laplacian @ direction[:-1]
        )
        stretched = np.einsum("ek,ek->e", norms, graph.differences(problem.nodes(direction)))
        found[:-1] -= graph.gathered(norms * stretched[:, None])[:m]
        return found

    return _conjugate_gradients(curved, precondition, -gradient)


def _preconditioner(point: Point, laplacian: Any) -> Callable[[Array], Array]:
    problem, design = point.problem, point.problem.design
    n = len(point.probabilities)
    certainty = (point.probabilities * (1 - point.probabilities)).mean(1)
    diagonal = np.append(2 * problem.ridge * problem.sizes, n * 1e-6)
    if sp.issparse(laplacian):
        padded = sp.block_diag([laplacian, sp.csr_array((1, 1))]) + sp.diags_array(
            diagonal + design.squares(certainty)
        )
        solver = splu(sp.csc_array(padded))
        return lambda right: solver.solve(right)
    matrix = design.gram(certainty)
    matrix[:-1, :-1] += laplacian
    matrix[np.diag_indices(len(matrix))] += diagonal
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return lambda right: cho_solve(factor, right, check_finite=False)


def _conjugate_gradients(
    product: Callable[[Array], Array], precondition: Callable[[Array], Array], right: Array
) -> Array:
    found = np.zeros_like(right)
    left = right.copy()
    tried = precondition(left)
    toward = tried.copy()
    size = first = float(np.vdot(left, tried))
    for _ in range(MAX_PRODUCTS):
        curved = product(toward)
        curvature = float(np.vdot(toward, curved))
        if curvature <= 0:
            break
        found += size / curvature * toward
        left -= size / curvature * curved
        tried = precondition(left)
        before, size = size, float(np.vdot(left, tried))
        if size <= LOOSE**2 * first:
            break
        toward = tried + size / before * toward
    return found
