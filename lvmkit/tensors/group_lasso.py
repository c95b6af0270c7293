"""The group lasso of DEEM: sparse discriminants by proximal and Newton steps, with a duality gap."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg

from lvmkit.core.typing import Array, Labels
from lvmkit.tensors.modes import Product

DIRECT = 2_000
"""Up to this many entries, Newton steps factor the covariances between them; beyond, they multiply in the modes."""
STEPS = 8
"""Proximal gradient steps at least, when the entries that are not 0 change."""
SHARE, MOST = 16, 100
"""One more for so many unknowns of the Newton step that follows, which costs far more; but no more than this."""
RTOL = 1e-3
"""To which conjugate gradients solve for a Newton step."""
TURNS, FEW = 30, 200
"""Shortened Newton steps in a row at most, and the number of entries up to which they are taken."""
ROUNDING, IDLE = 1e-15, 10
"""Relative decrease, so many times in a row, that counts as none."""
HALVINGS = 30


class GroupLasso(NamedTuple):
    """A solution."""

    coef: Array  # (r, p_1, ..., p_M): C
    objective: float  # At C
    gap: (
        float  # Relative duality gap: the objective is at most gap times its size above the optimum
    )
    n_iter: int  # Newton steps


def group_lasso(
    differences: Array,
    covariances: Sequence[Array],
    penalty: float,
    *,
    start: Array | None = None,
    tol: float = 1e-7,
    max_iter: int = 500,
    most_entering: int | None = None,
) -> GroupLasso:
    """Minimize ½ <C, [[C; S_1, ..., S_M]]> - <C, D> + penalty sum_J |c_J|."""
    # Mutoh 2023, section 2.2, of which this is half: its λ is twice `penalty`. A proximal gradient step finds which
    # entries are not 0, a Newton step solves for these. For any C, with R = D - [[C; S]], R shortened to length
    # `penalty` at each J is dual feasible, which gives the gap: sum_J (penalty |c_J| - <c_J, short R_J>), and half the
    # square of what was cut off, in the inverse of S. Where rounding allows no less, R_J replaced by `penalty` in the
    # direction of c_J, where that is not 0, gives another gap, which is reported if it is smaller.
    problem = _Problem(differences, covariances, penalty, most_entering)
    return problem.solve(start, tol, max_iter)


def on_entries(
    differences: Array, covariances: Sequence[Array], selected: npt.NDArray[np.bool_]
) -> Array:
    """Minimize the same without penalty, with all but some entries of C kept at 0, (r, p_1, ..., p_M)."""
    if selected.all() or not len(differences):
        return Product([np.linalg.inv(matrix) for matrix in covariances])(differences)
    problem = _Problem(differences, covariances, 0.0, None)
    kept = np.flatnonzero(selected)
    C = np.zeros_like(problem.delta)
    if len(kept):
        ones = np.ones((len(C), len(kept)))
        C[:, kept] = problem.direction(kept, ones, -problem.delta[:, kept], rtol=1e-10)
    return C.reshape(differences.shape)


class _Problem:
    """A problem with its covariances at hand."""

    def __init__(
        self, differences: Array, covariances: Sequence[Array], penalty: float, entering: int | None
    ) -> None:
        self.entering = entering
        self.cap = int(np.prod(differences.shape[1:]))  # how many may enter in a step
        self.shape = differences.shape
        self.sizes = self.shape[1:]
        self.delta = differences.reshape(len(differences), -1)
        self.covariances = covariances
        self.product = Product(covariances)
        self.penalty = penalty
        self.most = float(np.prod([linalg.eigvalsh(matrix)[-1] for matrix in covariances]))
        self.inverse: Product | None = None  # made when first needed

    def solve(self, start: Array | None, tol: float, max_iter: int) -> GroupLasso:
        C = np.zeros_like(self.delta) if start is None else start.reshape(self.delta.shape).copy()
        image = self.image(C)
        if self.value(C, image) > 0:  # worse than nothing
            C, image = np.zeros_like(C), np.zeros_like(C)
        lowest, idle = np.inf, 0
        for step in range(max_iter + 1):
            objective = self.value(C, image)
            idle = 0 if objective < lowest - ROUNDING * abs(objective) else idle + 1
            lowest = min(lowest, objective)
            gap = self.gap(C, self.delta - image)
            relative = gap / -objective if gap > 0 > objective else float(gap > 0)
            near = relative <= tol and (step or start is None)  # what is near moves, too
            if near or step == max_iter or idle == IDLE:
                break
            C, image = self.entered(C, image)
            C, image = self.newton(C, image)
        if relative > tol and objective < 0:
            relative = min(relative, self.tight_gap(C, self.delta - image) / -objective)
        return GroupLasso(C.reshape(self.shape), objective, relative, step)

    def image(self, C: Array) -> Array:
        """Return [[C; S]]."""
        return self.product(C.reshape(self.shape)).reshape(C.shape)

    def value(self, C: Array, image: Array) -> float:
        """Return the objective."""
        smooth = np.vdot(C, image) / 2 - np.vdot(C, self.delta)
        return float(smooth + self.penalty * _lengths(C).sum())

    def gap(self, C: Array, rest: Array) -> float:
        """Return the duality gap: a bound of the remaining decrease."""
        lengths = _lengths(rest)
        over = lengths > self.penalty
        short = rest.copy()
        short[:, over] *= self.penalty / lengths[over]
        used = float((_lengths(C) * self.penalty - np.einsum("rj,rj->j", C, short)).sum())
        cut = rest - short
        return used + self.cost(cut) if cut.any() else used

    def tight_gap(self, C: Array, rest: Array) -> float:
        """Return a bound that stays sharp where covariances are nearly singular."""
        # There, C is so large that what rounding leaves of R at its entries, times C, hides how near it is. The dual
        # point that is exact at the entries of C has no such term.
        lengths, on = _lengths(rest), C.any(axis=0)
        dual = rest * np.minimum(1, self.penalty / np.maximum(lengths, self.penalty))
        dual[:, on] = self.penalty * C[:, on] / _lengths(C[:, on])
        return self.cost(rest - dual)

    def cost(self, cut: Array) -> float:
        """Return half the square of something in the inverse of S."""
        if self.inverse is None:
            self.inverse = Product([np.linalg.inv(matrix) for matrix in self.covariances])
        return float(np.vdot(cut, self.inverse(cut.reshape(self.shape)))) / 2

    def entered(self, C: Array, image: Array) -> tuple[Array, Array]:
        """Take proximal gradient steps among the entries that are not 0, and those that most want to be."""
        slope = image - self.delta
        was = np.asarray(C.any(axis=0))
        wants: Array = np.where(was, 0, _lengths(slope) - self.penalty)
        most = self.cap
        if self.entering is not None:
            most = min(most, max(self.entering, int(was.sum())))
        if int((wants > 0).sum()) > most:
            wants[wants < np.partition(wants, -most)[-most]] = 0
        among = was | (wants > 0)
        steps = STEPS + min(MOST, int(among.sum()) * len(C) // SHARE) if wants.any() else 1
        at, momentum = C, 1.0
        for _ in range(steps):  # accelerated: Nesterov's extrapolation
            moved = self.shortened(np.where(among, at - slope / self.most, 0))
            after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            at = moved + (momentum - 1) / after * (moved - C) if steps > 1 else moved
            C, momentum = moved, after
            slope = self.image(at) - self.delta
        return C, slope + self.delta if at is C else self.image(C)

    def shortened(self, C: Array) -> Array:
        """Apply the proximal operator of the penalty to each c_J."""
        lengths, taken = _lengths(C), self.penalty / self.most
        left = lengths > taken
        share = np.zeros(len(lengths))
        share[left] = 1 - taken / lengths[left]
        return np.asarray(C * share)

    def newton(self, C: Array, image: Array) -> tuple[Array, Array]:
        """Take Newton steps among the entries that are not 0, until one need not be shortened."""
        for _ in range(TURNS):
            C, image, length = self.stepped(C, image)
            count = int(np.count_nonzero(C.any(axis=0)))
            if count > FEW:
                break
            # Where a step has to be shortened, too many entries have come at once.
            self.cap = 2 * self.cap if length == 1 else max(1, min(self.cap, count) // 4)
            if length in (0, 1):
                break
        return C, image

    def stepped(self, C: Array, image: Array) -> tuple[Array, Array, float]:
        """Take a Newton step and return its length; entries that it would reverse become 0."""
        kept = np.flatnonzero(C.any(axis=0))
        if not len(kept):
            return C, image, 0.0
        here = C[:, kept]
        towards = self.direction(kept, here, (image - self.delta)[:, kept])
        before = self.value(C, image)
        against = -np.einsum("rj,rj->j", towards, here)
        turns = np.full(len(kept), np.inf)
        turning = against > 0
        turns[turning] = np.einsum("rj,rj->j", here, here)[turning] / against[turning]
        first = min(1.0, float(turns.min()))
        for length in (1.0, first, *(first / 2.0**n for n in range(1, HALVINGS))):
            there = here + length * towards
            there[:, turns <= length] = 0
            moved = np.zeros_like(C)
            moved[:, kept] = there
            reached = self.image(moved)
            if self.value(moved, reached) < before:
                return moved, reached, length
        return C, image, 0.0

    def direction(self, kept: Labels, here: Array, slope: Array, rtol: float = RTOL) -> Array:
        """Solve for the Newton step."""
        lengths = _lengths(here)
        units, bend = here / lengths, self.penalty / lengths
        slope = slope + self.penalty * units
        rank = len(here)
        if len(kept) > DIRECT:
            full = np.zeros_like(self.delta)

            def spread(step: Array) -> Array:
                full[:, kept] = step
                return self.image(full)[:, kept]

            return _conjugate_gradients(
                spread, lambda rest: rest / (1 + bend), units, bend, slope, rtol
            )
        among = self.among(kept)
        if rank == 1:
            return -_solver(among)(slope)
        if here.size <= DIRECT:
            return -_solver(_bent(among, units, bend))(slope.ravel()).reshape(here.shape)
        near = _solver(among + np.diag(bend * (1 - 1 / rank)))
        return _conjugate_gradients(lambda step: step @ among, near, units, bend, slope, rtol)

    def among(self, kept: Labels) -> Array:
        """Return the covariances between some entries."""
        parts = [
            matrix.take(at, axis=0).take(at, axis=1)
            for matrix, at in zip(self.covariances, np.unravel_index(kept, self.sizes), strict=True)
        ]
        return reduce(np.multiply, parts)


def _bent(among: Array, units: Array, bend: Array) -> Array:
    """Return the second derivatives: the covariances for each row, and the penalty across the directions."""
    rank, count = units.shape
    at = np.arange(count)
    hessian = np.zeros((rank, count, rank, count))
    for r in range(rank):
        hessian[r, :, r, :] = among
        hessian[r, at, r, at] += bend
        for q in range(rank):
            hessian[r, at, q, at] -= bend * units[r] * units[q]
    return hessian.reshape(rank * count, rank * count)


def _solver(matrix: Array) -> Callable[[Array], Array]:
    """Factor a positive definite matrix to solve for rows."""
    factor = linalg.cho_factor(matrix, check_finite=False)
    return lambda rows: np.asarray(linalg.cho_solve(factor, rows.T, check_finite=False).T)


def _conjugate_gradients(
    spread: Callable[[Array], Array],
    condition: Callable[[Array], Array],
    units: Array,
    bend: Array,
    slope: Array,
    rtol: float,
) -> Array:
    """Solve for the Newton step: the covariances, plus the curvature of the norms of the c_J."""

    def times(flat: Array) -> Array:
        step = flat.reshape(slope.shape)
        across = step - units * np.einsum("rj,rj->j", units, step)
        return np.asarray(spread(step) + bend * across).ravel()

    shape = (slope.size, slope.size)
    system = LinearOperator(shape, matvec=times, dtype=slope.dtype)
    near = LinearOperator(
        shape, matvec=lambda flat: condition(flat.reshape(slope.shape)).ravel(), dtype=slope.dtype
    )
    step, _ = cg(system, -slope.ravel(), rtol=rtol, maxiter=500, M=near)
    return np.asarray(step).reshape(slope.shape)


def _lengths(C: Array) -> Array:
    """Return |c_J| for each entry."""
    if len(C) == 1:
        return np.abs(C[0])
    return np.asarray(np.sqrt(np.einsum("rj,rj->j", C, C)))
