"""Box-constrained integer least squares, one problem after the other, as in AILS (Perros 2018).

Columns are reordered for each right-hand side (Breen 2011), then the box is searched as by Schnorr and
Euchner (Chang 2008).

For benchmarks: `lvmkit.sustain.ails.ails(..., solve=one_by_one)`.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def one_by_one(
    inner: Array,
    along: Array,
    start: Array,
    *,
    least: int,
    most: int,
    look: Callable[[], None] = lambda: None,
) -> Array:
    """Minimize x'Cx - 2b'x over whole numbers of a box, for one b after the other."""
    solution = np.array(start, dtype=np.float64)
    used = np.flatnonzero(np.diag(inner) > 0)
    jitter = 1e-12 * np.trace(inner)
    triangle = np.linalg.cholesky(inner[np.ix_(used, used)] + jitter * np.eye(len(used))).T
    inverse = np.linalg.inv(triangle).T
    targets = inverse @ along[used]  # solves R't = b
    for i in range(along.shape[1]):
        look()
        order = reordered(triangle, inverse, targets[:, i], least, most)
        q, r = np.linalg.qr(triangle[:, order])
        sign = np.where(np.diag(r) < 0, -1.0, 1.0)
        solution[used[order], i] = searched(
            r * sign[:, None], (targets[:, i] @ q) * sign, least, most
        )
    return solution


def reordered(triangle: Array, inverse: Array, target: Array, least: int, most: int) -> list[int]:
    """Return the order of columns: from the last on, the one whose best value is most surely at its place."""
    r, g, y = triangle.copy(), inverse.copy(), target.copy()
    order = list(range(len(y)))
    for k in range(len(y) - 1, 0, -1):
        alpha = y[: k + 1] @ np.tril(g[: k + 1, : k + 1])
        near = np.clip(np.floor(alpha + 0.5), least, most)
        off = np.abs(alpha - near)
        surely = np.where((alpha < least) | (alpha > most) | (off == 0), 1 + off, 1 - off)
        length = np.sqrt((np.tril(g[: k + 1, : k + 1]) ** 2).sum(axis=0))
        j = int(np.argmax(surely / length))
        order[j : k + 1] = [*order[j + 1 : k + 1], order[j]]
        y[:k] -= r[:k, j] * near[j]
        r, g = np.delete(r, j, axis=1), np.delete(g, j, axis=1)
        for t in range(j, k):  # back to a triangle, by Givens rotations
            a, b = r[t, t], r[t + 1, t]
            length_t = np.hypot(a, b)
            turn = np.array([[a, b], [-b, a]]) / length_t
            r[t : t + 2, t:k] = turn @ r[t : t + 2, t:k]
            g[t : t + 2, : t + 1] = turn @ g[t : t + 2, : t + 1]
            y[t : t + 2] = turn @ y[t : t + 2]
    return order


def searched(r: Array, y: Array, least: int, most: int) -> Array:
    """Search depth first, nearest values first (Schnorr and Euchner), inside the box."""
    size = len(y)
    rows, target = r.tolist(), y.tolist()
    best, bound = np.zeros(size), np.inf
    x = [0] * size
    missed = [0.0] * (size + 1)

    def candidates(k: int) -> list[tuple[float, int]]:
        left = target[k] - sum(rows[k][j] * x[j] for j in range(k + 1, size))
        return sorted(((left - rows[k][k] * v) ** 2, v) for v in range(least, most + 1))[::-1]

    waiting = [candidates(size - 1)]
    while waiting:
        k = size - len(waiting)
        if not waiting[-1]:
            waiting.pop()
            continue
        cost, value = waiting[-1].pop()
        total = missed[k + 1] + cost
        if total >= bound:
            waiting.pop()
            continue
        x[k], missed[k] = value, total
        if k == 0:
            best, bound = np.array(x, dtype=float), total
        else:
            waiting.append(candidates(k - 1))
    return best
