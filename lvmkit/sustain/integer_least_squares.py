"""Box-constrained integer least squares by sphere decoding, for many right-hand sides at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.sustain.updates import round_half_away

BLOCK = 60_000
"""Extensions of partial solutions that are looked at together, at most; bounds the memory."""
_SWEEPS = 3  # rounds of coordinate descent before the search
_FLAT = 1e-13  # of the largest eigenvalue: directions in which the objective is flat
_DIGITS = 6  # that tell how certain components are; further ones depend on the order of sums
_HALF = 0.5  # whole numbers throughout: what is better is better by 1 at least


def box_least_squares(
    inner: Array,
    along: Array,
    start: Array,
    *,
    least: int,
    most: int,
    look: Callable[[], None] = lambda: None,
) -> Array:
    """Minimize x'Cx − 2b'x over whole numbers of a box, for many b, (R, n). inner (R, R)."""
    # Box-constrained integer least squares by sphere decoding (Chang 2008; Breen 2011): C is
    # factorized once as R'R with columns ordered so that the most certain is decided first, and what cannot become
    # better than the best solution known is left out. All problems are searched side by side.
    solution = np.array(start, dtype=np.float64)
    used = np.flatnonzero(np.diag(inner) > 0)
    inner, along = inner[np.ix_(used, used)].astype(float), along[used].astype(float)
    found = _descended(inner, along, solution[used], least, most)
    if len(used) and found.size:
        found = _Search(inner, along, found, least, most).run(look)
    solution[used] = found
    return solution


class _Nodes(NamedTuple):
    """Partial solutions: which problem, what is chosen so far, what is left to explain, and what is missed."""

    problem: npt.NDArray[np.intp]
    chosen: Array
    left: Array
    missed: Array

    def part(self, places: slice | npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> "_Nodes":
        """Return some of them."""
        return _Nodes(
            self.problem[places], self.chosen[places], self.left[places], self.missed[places]
        )


class _Search:
    """Depth first over components, in blocks, from the last of the triangle to the first."""

    def __init__(self, inner: Array, along: Array, found: Array, least: int, most: int) -> None:
        self.order = _order(inner)
        self.inner, self.along = inner[np.ix_(self.order, self.order)], along[self.order].T
        self.least, self.most = least, most
        self.triangle, self.targets = _triangular(self.inner, self.along)
        self.found = found[self.order].T.copy()
        self.offset = (self.targets**2).sum(axis=1)
        self.best = self.value(self.found, self.along) + self.offset - _HALF
        low, high = (
            np.where(self.triangle > 0, a, b) * self.triangle
            for a, b in ((least, most), (most, least))
        )
        # what the components before k can add to each row of the triangle
        self.low, self.high = (np.cumsum(np.triu(part), axis=1) for part in (low, high))

    def value(self, x: Array, along: Array) -> Array:
        """Return x'Cx − 2b'x of rows: exact for whole numbers."""
        value: Array = ((x @ self.inner - 2 * along) * x).sum(axis=1)
        return value

    def run(self, look: Callable[[], None]) -> Array:
        """Search all problems and return the solutions (R, n)."""
        n, size = self.targets.shape
        block = max(BLOCK // (self.most - self.least + 1), 1)
        for start in range(0, n, block):
            problem = np.arange(start, min(start + block, n))
            empty = np.zeros((len(problem), size))
            roots = _Nodes(problem, empty, self.targets[problem], np.zeros(len(problem)))
            waiting = [(size - 1, roots)]
            while waiting:
                look()
                k, nodes = waiting.pop()
                if len(nodes.problem) > block:
                    waiting.append((k, nodes.part(slice(None, -block))))
                    nodes = nodes.part(slice(-block, None))
                children = self.extended(nodes, k)
                if k == 0:
                    self.settle(children)
                elif len(children.problem):
                    waiting.append((k - 1, children))
        result = np.empty_like(self.found.T)
        result[self.order] = self.found.T
        return result

    def extended(self, nodes: _Nodes, k: int) -> _Nodes:
        """Choose every value of component k that can still lead to something better."""
        nodes = nodes.part(nodes.missed < self.best[nodes.problem])
        pivot, left = self.triangle[k, k], nodes.left[:, k]
        low, high = np.full(len(left), self.least), np.full(len(left), self.most)
        if pivot > 0:
            reach = np.sqrt(self.best[nodes.problem] - nodes.missed)
            least, most = np.ceil((left - reach) / pivot), np.floor((left + reach) / pivot)
            low = np.clip(least, self.least, self.most + 1).astype(np.intp)
            high = np.clip(most, self.least - 1, self.most).astype(np.intp)
        count = np.maximum(high - low + 1, 0)
        parent = np.repeat(np.arange(len(left)), count)
        first = np.cumsum(count) - count
        chosen = (low - first)[parent] + np.arange(len(parent))
        nodes = nodes.part(parent)
        rest = nodes.left[:, :k] - chosen[:, None] * self.triangle[:k, k]
        missed = nodes.missed + (nodes.left[:, k] - pivot * chosen) ** 2
        nodes.chosen[:, k] = chosen
        bound = missed
        if k:
            beyond = np.maximum(rest - self.high[:k, k - 1], self.low[:k, k - 1] - rest)
            bound = missed + (np.maximum(beyond, 0) ** 2).sum(axis=1)
        keep = bound < self.best[nodes.problem]
        return _Nodes(nodes.problem[keep], nodes.chosen[keep], rest[keep], missed[keep])

    def settle(self, nodes: _Nodes) -> None:
        """Keep the best of complete solutions where it is better than the one known."""
        if not len(nodes.problem):
            return
        value = self.value(nodes.chosen, self.along[nodes.problem]) + self.offset[nodes.problem]
        order = np.lexsort((value, nodes.problem))
        problem = nodes.problem[order]
        order = order[np.concatenate([[True], problem[1:] != problem[:-1]])]
        order = order[value[order] < self.best[nodes.problem[order]]]
        problem = nodes.problem[order]
        self.best[problem] = value[order] - _HALF
        self.found[problem] = nodes.chosen[order]


def _descended(inner: Array, along: Array, x: Array, least: int, most: int) -> Array:
    """Improve one component after the other: a good solution to compare with from the beginning."""
    x = x.copy()
    for _ in range(_SWEEPS):
        for k in range(len(x)):
            step = (along[k] - inner[k] @ x) / inner[k, k]
            x[k] = np.clip(round_half_away(x[k] + step), least, most)
    return x


def _order(inner: Array) -> npt.NDArray[np.intp]:
    """Order components so that the last, which is decided first, is the one the others explain least."""
    rest, order = list(range(len(inner))), []
    scale = np.trace(inner) * _FLAT
    while rest:
        part = inner[np.ix_(rest, rest)]
        clear = np.diag(np.linalg.inv(part + scale * np.eye(len(rest))))
        order.append(
            rest.pop(int(np.argmin(np.round(clear / clear.min(), _DIGITS))))
        )  # the first of several
    return np.array(order[::-1], dtype=np.intp)


def _triangular(inner: Array, along: Array) -> tuple[Array, Array]:
    """Return R with R'R = C, upper triangular with a diagonal of 0 or more, and the rows t with R't = b."""
    values, vectors = np.linalg.eigh(inner)
    root = np.sqrt(np.where(values > _FLAT * values[-1], values, 0))
    q, triangle = np.linalg.qr(root[:, None] * vectors.T)
    sign = np.where(np.diag(triangle) < 0, -1.0, 1.0)
    inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
    targets = along @ vectors * inverse @ q * sign
    return triangle * sign[:, None], targets
