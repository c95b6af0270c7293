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
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import splu

from lvmkit.core.typing import Array
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import Design

MAX_DIRECT = 240
"""Up to so many weights the whole Hessian is factored; beyond, conjugate gradients."""
CG_TOLERANCE = 0.5
"""Conjugate gradients stop when their residual is this share of the gradient."""
STALE_PRODUCTS = 8
"""After more products than this the preconditioner is made anew."""
MAX_PRODUCTS = 50
"""Products of conjugate gradients in one step."""
SMALLEST_STEP = 1e-8
"""A step shorter than this is not taken: rounding has the word."""
MIN_CURVATURE = 1e-6
"""Curvature of the intercepts for each sample, and of any weight relative to the largest, at least so much."""
MIN_DAMPING, MAX_DAMPING, DAMPING_FACTOR = 1e-6, 1e6, 10.0
"""Where a step cannot be taken, the diagonal of the Hessian is raised by ever larger shares (Marquardt)."""
MAX_SETTLING = 5
SETTLING_TOLERANCE = 1e-12
"""Steps for the intercepts alone, and what may be left of their gradient for each sample."""


@dataclass(frozen=True)
class Problem:
    """The problem between groups of covariates. sizes (n_groups,)."""

    design: Design  # The samples, a column per group
    sizes: Array  # (n_groups,): Covariates in each group
    # Similarities between groups; with one node more than there are groups, the last is held at zero
    graph: Graph
    ridge: float  # λ of the document
    nu: float  # ν of the document

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
        """Tell what the gradient that is left can cost: the sum of ||g||² / (4 ridge size)."""
        # That of the intercepts counts by their curvature.
        problem = self.problem
        weights = float((gradient[:-1] ** 2 / (4 * problem.ridge * problem.sizes[:, None])).sum())
        return weights + float((gradient[-1] ** 2).sum()) / self.problem.design.total


def minimize(
    problem: Problem, theta: Array, mu: float, *, tolerance: float, max_steps: int
) -> tuple[Point, int]:
    """Minimize the smoothed objective until what is left costs less than a share of it; the point, and steps."""
    point = problem.at(theta, mu)
    tolerance *= point.smoothed
    damping = 0.0
    for steps in range(max_steps):
        gradient = point.gradient()
        if point.excess(gradient) <= tolerance:
            return settled(point), steps
        moved, damping = _step(point, gradient, damping)
        if moved is None:
            return settled(point), steps
        point = moved
    return settled(point), max_steps


def _step(point: Point, gradient: Array, damping: float) -> tuple[Point | None, float]:
    """Take a step, damped more where it cannot be taken; None where even the smallest ones lead nowhere."""
    while damping <= MAX_DAMPING:
        try:
            direction = _direction(point, gradient, damping)
        except (
            LinAlgError,
            RuntimeError,
        ):  # dense, sparse: all samples are sure of their class: nothing curves
            moved = None
        else:
            moved = _line_search(point, direction, float(np.vdot(direction, gradient)))
        if moved is not None:
            return moved, damping / DAMPING_FACTOR if damping > MIN_DAMPING else 0.0
        damping = max(damping * DAMPING_FACTOR, MIN_DAMPING)
    return None, damping


def settled(point: Point) -> Point:
    """Return the point with optimal intercepts: a dual point needs their gradient to be zero."""
    classes = point.theta.shape[1]
    for _ in range(MAX_SETTLING):
        design = point.problem.design
        expected = design.counted(point.probabilities)
        totals = expected.sum(0)
        pull = totals - design.targets.sum(0)
        if np.abs(pull).max() <= SETTLING_TOLERANCE * design.total:
            break
        hessian = np.diag(totals) - expected.T @ point.probabilities
        hessian += totals.sum() / classes**2 + np.diag(
            np.full(classes, SETTLING_TOLERANCE * totals.sum())
        )
        theta = point.theta.copy()
        theta[-1] -= np.linalg.solve(hessian, pull)
        moved = point.problem.at(theta, point.mu)
        if moved.smooth > point.smooth:
            break
        point = moved
    return point


def _line_search(point: Point, direction: Array, slope: float) -> Point | None:
    if not np.isfinite(slope) or slope >= 0:
        return None
    length = 1.0
    while length > SMALLEST_STEP:
        moved = point.problem.at(point.theta + length * direction, point.mu)
        if moved.smoothed <= point.smoothed + 1e-4 * length * slope:
            return moved
        length /= 2
    return None


def _direction(point: Point, gradient: Array, damping: float) -> Array:
    if gradient.size <= MAX_DIRECT:
        return _newton_direction(point, gradient, damping)
    return _conjugate_direction(point, gradient, damping)


def _newton_direction(point: Point, gradient: Array, damping: float) -> Array:
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
    flat[np.diag_indices(len(flat))] += damping * _raised(np.diag(flat))
    factor = cho_factor(flat, lower=True, overwrite_a=True, check_finite=False)
    return -cho_solve(factor, gradient.T.ravel(), check_finite=False).reshape(classes, columns).T


def _along(point: Point) -> Array:
    """Rows v of the edges such that the curvature of a smoothed norm is its weight times the identity, less v v'."""
    return point.apart * (np.sqrt(point.forces / point.rounded) / point.rounded)[:, None]


def _conjugate_direction(point: Point, gradient: Array, damping: float) -> Array:
    """Solve for Newton's direction by conjugate gradients; the preconditioner leaves out what couples the classes."""
    problem, design = point.problem, point.problem.design
    m = problem.n_groups
    graph = problem.graph
    laplacian = graph.laplacian(point.forces / point.rounded)[:m, :m]
    norms = _along(point)
    precondition, diagonal = _preconditioner(point, laplacian, damping)
    damped = (damping * diagonal)[:, None]

    def curved(direction: Array) -> Array:
        found = design.curvature(point.probabilities, direction) + damped * direction
        found[:-1] += (
            2 * problem.ridge * problem.sizes[:, None] * direction[:-1] + laplacian @ direction[:-1]
        )
        stretched = np.einsum("ek,ek->e", norms, graph.differences(problem.nodes(direction)))
        found[:-1] -= graph.gathered(norms * stretched[:, None])[:m]
        return found

    direction, products = _conjugate_gradients(curved, precondition, -gradient)
    if products > STALE_PRODUCTS:
        design.slow()
    return direction


def _preconditioner(
    point: Point, laplacian: Any, damping: float
) -> tuple[Callable[[Array], Array], Array]:
    """Return how to divide by the Hessian without what couples the classes, and the diagonal that damping scales."""
    problem, design = point.problem, point.problem.design
    certainty = (point.probabilities * (1 - point.probabilities)).mean(1)
    ridge = np.append(2 * problem.ridge * problem.sizes, len(certainty) * MIN_CURVATURE)
    if sp.issparse(laplacian):
        ridge += design.squares(certainty)
        padded = sp.block_diag([laplacian, sp.csr_array((1, 1))])
        diagonal = _raised(ridge + padded.diagonal())
        solver = splu(sp.csc_array(padded + sp.diags_array(ridge + damping * diagonal)))
        return lambda right: solver.solve(right), diagonal
    matrix = design.gram(certainty)
    matrix[:-1, :-1] += laplacian
    matrix[np.diag_indices(len(matrix))] += ridge
    diagonal = _raised(np.diag(matrix))
    matrix[np.diag_indices(len(matrix))] += damping * diagonal
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return lambda right: cho_solve(factor, right, check_finite=False), diagonal


def _raised(diagonal: Array) -> Array:
    """Raise what is nearly nothing: damping must reach it too."""
    return np.maximum(diagonal, MIN_CURVATURE * diagonal.max())


def _conjugate_gradients(
    product: Callable[[Array], Array], precondition: Callable[[Array], Array], right: Array
) -> tuple[Array, int]:
    found = np.zeros_like(right)
    left = right.copy()
    tried = precondition(left)
    toward = tried.copy()
    size = first = float(np.vdot(left, tried))
    products = 0
    while products < MAX_PRODUCTS:
        products += 1
        curved = product(toward)
        curvature = float(np.vdot(toward, curved))
        if curvature <= 0:
            break
        found += size / curvature * toward
        left -= size / curvature * curved
        tried = precondition(left)
        before, size = size, float(np.vdot(left, tried))
        if size <= CG_TOLERANCE**2 * first:
            break
        toward = tried + size / before * toward
    return found, products
