"""Tree growth: order of the splits, stopping rules and reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from lvmkit.core.parallel import cut_along
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.moments.cooccurrence import products, rows_at_once
from lvmkit.trees.nodes import Node
from lvmkit.trees.split_support import canonical_ranks, reappearance
from lvmkit.trees.splits import WIDE, NoSplit, Rows, Split, Splitter, Sums, between, column_sums
from lvmkit.trees.tree import Tree

LOST = 1e-4
"""A part with less of the squares than this, of those last summed from rows, is summed anew: of what remains after
subtractions its second direction, far below the squares, would be rounding."""


class Growth(NamedTuple):
    """How far a tree grows."""

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_support: float | None = None
    n_resamples: int = 10
    seed: int = 0
    second_moments: bool = True
    """Whether the splitter makes use of Σ xxᵀ."""


@dataclass(eq=False)
class _Branch:
    """A node while the tree grows."""

    rows: Rows
    index: Labels
    sums: Sums
    mass: float
    """Rows, each counted as often as its weight says."""
    squares: float
    """Trace of the products that were last summed from rows, here or above."""
    turns: tuple[int, ...] = ()
    split: Split | None = None
    reason: str = ""
    support: float = np.nan
    gain: float = 0.0
    children: "tuple[_Branch, ...]" = field(default_factory=tuple)
    number: int = 0

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.index)


def grow(
    rows: Rows,
    splitter: Splitter,
    limits: Growth,
    *,
    weight: Array | None = None,
    feature_names: Any = None,
    progress: Progress | None = None,
) -> tuple[Tree, Labels]:
    """Split rows, and their parts, until the limits or the rows allow no more. rows (n, d), weight (n,)."""
    grower = _Grower(rows, weight, splitter, limits, progress)
    root = grower.grown()
    tree = _as_tree(root, feature_names, weighted=weight is not None)
    return tree, _labels(root, rows.shape[0])


class _Grower:
    """Options, counters and caches that all branches share."""

    def __init__(
        self,
        rows: Rows,
        weight: Array | None,
        splitter: Splitter,
        limits: Growth,
        progress: Progress | None,
    ) -> None:
        """Begin with all rows in one branch."""
        self.splitter, self.limits, self.progress = splitter, limits, progress
        self.ranks = canonical_ranks(rows) if limits.min_support is not None else None
        index = np.arange(rows.shape[0])
        sums = self.sums_of(rows, weight)
        self.root = _Branch(rows, index, sums, sums.total(rows), _squares(sums.second))

    def grown(self) -> _Branch:
        """Grow level by level, or where it gains most first if the number of leaves is limited."""
        most = self.limits.max_leaf_nodes
        wave, leaves, waiting = [self.root], 1, list[tuple[float, int, _Branch]]()
        order = count()  # of equal gains the one found first
        while wave:
            for branch in wave:
                self.attempt(branch)
            chosen = [branch for branch in wave if branch.split]
            if most is not None:
                for branch in chosen:
                    heappush(waiting, (-branch.gain, next(order), branch))
                chosen = [heappop(waiting)[-1]] if waiting and leaves < most else []
            for branch in chosen:
                self.divide(branch)
            leaves += len(chosen)
            wave = [child for branch in chosen for child in branch.children]
            self.tell(leaves, wave)
        if self.progress is not None:
            self.progress(f"{leaves:,} leaves", 1.0)
        for _, _, branch in waiting:
            branch.split, branch.reason = (
                None,
                f"the tree may not have more leaves (max_leaf_nodes={most})",
            )
        return self.root

    def tell(self, leaves: int, wave: list[_Branch]) -> None:
        """Report progress."""
        if self.progress is None:
            return
        if self.limits.max_leaf_nodes:
            done = leaves / self.limits.max_leaf_nodes
        else:
            depth = len(wave[0].turns) if wave else 0
            done = depth / (self.limits.max_depth or depth + 1) if wave else 1.0
        self.progress(f"{leaves:,} leaves", min(done, 1.0))

    def attempt(self, branch: _Branch) -> None:
        """Split a branch, or note why it stays a leaf."""
        reason = self.before(branch)
        if reason:
            branch.reason = reason
            return
        found = self.splitter(branch.rows, branch.sums)
        if isinstance(found, NoSplit):
            branch.reason = found.reason
            return
        other = int(found.side.sum())
        smaller = min(other, branch.size - other)
        weight = branch.sums.weight
        mass = other if weight is None else float(weight @ found.side)
        if mass > branch.mass - mass:
            found = found.swapped(branch.rows)
            other = int(found.side.sum())
            smaller = min(other, branch.size - other)
        if smaller == 0:
            branch.reason = "the split sends all rows one way"
        elif smaller < self.limits.min_samples_leaf:
            branch.reason = "a part would have fewer rows than min_samples_leaf"
        else:
            branch.split = found
            if self.limits.max_leaf_nodes is not None:
                branch.gain = between(
                    branch.rows, branch.sums.first, branch.split.side, branch.sums.weight
                )
            self.judge(branch)

    def before(self, branch: _Branch) -> str:
        """Return why a branch cannot be split, or ""."""
        limits = self.limits
        if branch.size < 2:
            return "it has fewer than two rows"
        if _all_equal(branch.rows):
            return "all its rows are equal"
        if limits.max_depth is not None and len(branch.turns) >= limits.max_depth:
            return f"the tree may not be deeper (max_depth={limits.max_depth})"
        if branch.size < 2 * limits.min_samples_leaf:
            least = limits.min_samples_leaf
            return f"it has too few rows for two parts of min_samples_leaf={least:,}"
        return ""

    def judge(self, branch: _Branch) -> None:
        """Drop a split that does not reappear on resampled rows, if that is asked for."""
        least = self.limits.min_support
        if least is None or self.ranks is None or branch.split is None:
            return
        branch.support = reappearance(
            branch.rows,
            branch.split,
            lambda half: self.resplit(branch, half),
            order=np.argsort(self.ranks[branch.index]),
            n_resamples=self.limits.n_resamples,
            seed=(self.limits.seed, *branch.turns),
        )
        if branch.support < least:
            branch.reason = (
                f"the split does not reappear on resampled rows: support {branch.support:.2f} is below "
                f"min_support={least:g}"
            )
            branch.split = None

    def resplit(self, branch: _Branch, some: Labels) -> Split | NoSplit:
        """Split some of the rows of a branch by the same method."""
        rows, weight = branch.rows[some], branch.sums.weight
        if rows.shape[0] < 2 or _all_equal(rows):
            return NoSplit("all its rows are equal")
        return self.splitter(rows, self.sums_of(rows, None if weight is None else weight[some]))

    def divide(self, branch: _Branch) -> None:
        """Make the two parts of a branch; its own rows are not needed any more."""
        split = branch.split
        if split is None:
            return
        parts = [np.flatnonzero(split.side == j) for j in (0, 1)]
        rows = [branch.rows[part] for part in parts]
        weight = branch.sums.weight
        weights = [None if weight is None else weight[part] for part in parts]
        squares = [branch.squares, 0.0]
        if len(branch.turns) + 1 == self.limits.max_depth:  # nobody will ask for their products
            larger, smaller = (
                Sums(column_sums(part, often), None, often)
                for part, often in zip(rows, weights, strict=True)
            )
        else:
            smaller = self.sums_of(rows[1], weights[1])
            second = self.remaining(branch, rows, smaller)
            if second is None and self.keeps_second(rows[0]):
                second = _products(rows[0], weights[0])
                squares[0] = _squares(second)
            larger = Sums(column_sums(rows[0], weights[0]), second, weights[0])
            squares[1] = _squares(smaller.second)
        branch.children = tuple(
            _Branch(
                rows[j],
                branch.index[parts[j]],
                sums,
                sums.total(rows[j]),
                squares[j],
                (*branch.turns, j),
            )
            for j, sums in enumerate((larger, smaller))
        )
        masses = [[child.mass] for child in branch.children]
        branch.rows, branch.sums = None, Sums(branch.sums.first, None)
        branch.split = split._replace(
            side=split.side[:0],
            centers=np.stack([larger.first, smaller.first]) / masses
            if split.centers is None
            else split.centers,
        )

    def remaining(self, branch: _Branch, rows: list[Rows], smaller: Sums) -> Array | None:
        """Return the sum of products of the larger part by subtraction; None where that would be rounding."""
        if branch.sums.second is None or not self.keeps_second(rows[0]):
            return None
        known = smaller.second
        rest = branch.sums.second - (_products(rows[1], smaller.weight) if known is None else known)
        return rest if np.trace(rest) > LOST * branch.squares else None

    def sums_of(self, rows: Rows, weight: Array | None) -> Sums:
        """Sum rows, and their products where those are worth it. rows (n, d), weight (n,)."""
        second = _products(rows, weight) if self.keeps_second(rows) else None
        return Sums(column_sums(rows, weight), second, weight)

    def keeps_second(self, rows: Rows) -> bool:
        """Tell whether d×d sums pay: iterations with them cost d², with the rows four times their entries."""
        n, d = rows.shape
        entries = rows.nnz if sparse.issparse(rows) else n * d
        return self.limits.second_moments and d <= WIDE and 4 * entries >= d * d


def _products(rows: Rows, weight: Array | None) -> Array:
    """Sum xxᵀ. On one thread: the blocks are too short for a second one to pay. rows (n, d), weight (n,)."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    often = np.ones(rows.shape[0]) if weight is None else weight
    for block, part in cut_along(rows, often, rows_at_once(rows)):
        total += products(block, part)
    return total


def _all_equal(rows: Rows) -> bool:
    """Tell whether there is one distinct row only."""
    if not sparse.issparse(rows):
        return bool((rows == rows[:1]).all())
    lengths = np.diff(rows.indptr)
    if lengths.min() != lengths.max():
        return False
    shape = (len(lengths), lengths[0])
    return all(
        bool((part.reshape(shape) == part.reshape(shape)[:1]).all())
        for part in (rows.indices, rows.data)
    )


def _breadth_first(root: _Branch) -> Iterator[_Branch]:
    """Visit the branches level by level."""
    level = [root]
    while level:
        yield from level
        level = [child for branch in level for child in branch.children]


def _as_tree(root: _Branch, feature_names: Any, *, weighted: bool) -> Tree:
    """Turn branches into nodes."""
    order = list(_breadth_first(root))
    for number, branch in enumerate(order):
        branch.number = number
    parents = {id(child): branch.number for branch in order for child in branch.children}
    nodes = (_as_node(branch, parents.get(id(branch)), weighted=weighted) for branch in order)
    return Tree(tuple(nodes), feature_names)


def _as_node(branch: _Branch, parent: int | None, *, weighted: bool) -> Node:
    """Turn a branch into a node."""
    mean: Array = branch.sums.first / (branch.mass or 1.0)
    nothing = np.zeros((0, len(mean)))
    split = branch.split
    return Node(
        id=branch.number,
        parent=parent,
        children=tuple(child.number for child in branch.children),
        depth=len(branch.turns),
        size=branch.size,
        mean=mean,
        centers=nothing if split is None or split.centers is None else split.centers,
        discriminators=split.discriminators if split else nothing,
        offsets=split.offsets if split else np.zeros(0),
        rule=split.rule if split else "",
        strength=split.strength if split else np.nan,
        support=branch.support,
        reason=branch.reason,
        weight=branch.mass if weighted else None,
    )


def _labels(root: _Branch, n: int) -> Labels:
    """Return the leaf of each row, leaves numbered from left to right."""
    labels, number, stack = np.zeros(n, dtype=np.intp), 0, [root]
    while stack:
        branch = stack.pop()
        if branch.children:
            stack.extend(reversed(branch.children))
        else:
            labels[branch.index] = number
            number += 1
    return labels


def _squares(second: Array | None) -> float:
    """Return the sum of the squares of rows."""
    return 0.0 if second is None else float(np.trace(second))
