"""Support of a split: agreement with splits of resampled rows."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.typing import Labels
from lvmkit.scores.matching import adjusted_rand
from lvmkit.trees.splits import NoSplit, Rows, Split


def canonical_ranks(rows: Rows) -> Labels:
    """Return an order of the rows by their contents, independent of their order, (n,). rows (n, d)."""
    entries = rows if sparse.issparse(rows) else sparse.csr_array(rows)
    n, d = entries.shape
    salt = np.random.default_rng(0).integers(1, 2**63, d, dtype=np.uint64)
    # Whole numbers differ in the leading bits only: mixed twice, before and after the column has its say.
    bits = _mixed(_mixed(entries.data.astype(np.float64).view(np.uint64)) ^ salt[entries.indices])
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(bits, dtype=np.uint64)])
    hashes = ends[entries.indptr[1:]] - ends[entries.indptr[:-1]]
    ranks = np.empty(n, dtype=np.intp)
    ranks[np.argsort(hashes, kind="stable")] = np.arange(n)
    return ranks


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every bit over all (the finalizer of MurmurHash3)."""
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return np.asarray(bits ^ (bits >> np.uint64(33)))


def reappearance(
    rows: Rows,
    split: Split,
    resplit: Callable[[Labels], Split | NoSplit],
    *,
    order: Labels,
    n_resamples: int,
    seed: Sequence[int],
) -> float:
    """Split halves of the rows anew, and see how alike all rows are split. rows (n, d), order (n,)."""
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    n, found = len(order), []
    for _ in range(n_resamples):
        half = np.sort(order[generator.permutation(n)[: max(n // 2, 1)]])
        other = resplit(half)
        found.append(
            0.0 if isinstance(other, NoSplit) else adjusted_rand(split.side, other.of(rows))
        )
    return float(np.mean(found))
