"""Counts, codes and words of every node of a tree, with small counts of people suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.core.typing import Array
from lvmkit.disclosure.text import shown_count
from lvmkit.disclosure.trees import shown_counts
from lvmkit.mixtures.analysis import short
from lvmkit.scores.relevance import known_relevance
from lvmkit.trees.layout import TreeLayout
from lvmkit.trees.tree import Tree

# Numbers, nodes times columns, that are counted; the rarest columns give way.
MOST_CELLS = 16_000_000
USUAL = 0.6  # λ of the terms that stand for a node
HINTED = 3
AT_ONCE = 4_000_000  # numbers ranked together


@dataclass(frozen=True, eq=False)
class NodeCounts:
    """Rows of a cohort by node, and how often each node has each code or word."""

    layout: TreeLayout  # The tree
    columns: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.int64]  # (n_nodes,): Rows of each node
    counts: npt.NDArray[np.int64]  # (n_nodes, c): Rows with a code, or occurrences of a word
    wholes: npt.NDArray[np.int64]  # (n_nodes,): What a count is a part of: rows, or all words


def count_rows(layout: TreeLayout, X: Any, labels: Any, *, of_words: bool) -> NodeCounts:
    """Count the rows of a cohort by node."""
    rows = sparse.csr_array(X)
    if not of_words:
        rows = sparse.csr_array((np.ones_like(rows.data), rows.indices, rows.indptr), rows.shape)
    k = len(layout.leaves)
    totals = np.asarray(rows.sum(axis=0)).ravel()
    kept = kept_columns(totals, len(layout))
    by_leaf = (indicator(labels, k) @ rows).tocsc()[:, kept].toarray().round().astype(np.int64)
    sizes = layout.sums(np.bincount(labels, minlength=k).astype(np.int64))
    lengths = np.asarray(rows.sum(axis=1)).ravel()
    words = np.bincount(labels, weights=lengths, minlength=k).round().astype(np.int64)
    wholes = layout.sums(words) if of_words else sizes
    return NodeCounts(layout, kept, sizes, layout.sums(by_leaf), wholes)


def indicator(labels: Any, k: int) -> Any:
    """Return which row is in which group, (k, n)."""
    n = len(labels)
    entries: Any = (np.ones(n), (labels, np.arange(n)))
    return sparse.coo_array(entries, shape=(k, n)).tocsr()


def count_nodes(layout: TreeLayout) -> NodeCounts:
    """Take the numbers from the tree itself, where there is no cohort."""
    nodes = layout.tree.nodes
    sizes = np.array([node.size for node in nodes], dtype=np.int64)
    kept = kept_columns(np.abs(nodes[0].mean), len(layout))
    means = np.stack([node.mean[kept] for node in nodes]).clip(min=0)
    counts = (means * sizes[:, None]).round().astype(np.int64)
    return NodeCounts(layout, kept, sizes, counts, np.maximum(sizes, counts.max(axis=1, initial=0)))


def kept_columns(totals: Array, n_nodes: int) -> npt.NDArray[np.intp]:
    """Choose the columns that are counted, in their order."""
    room = max(MOST_CELLS // max(n_nodes, 1), 1)
    if len(totals) <= room:
        return np.arange(len(totals))
    return np.sort(np.argsort(-totals, kind="stable")[:room])


@dataclass(frozen=True, eq=False)
class TreeFigures:
    """Figures of a tree, small counts of people suppressed."""

    counted: NodeCounts  # All numbers
    words: tuple[str, ...]  # (c,): Codes or words that are counted, and what they mean
    titles: tuple[str, ...]  # (c,): Codes or words that are counted, and what they mean
    threshold: int  # Smaller counts are hidden; 0 hides nothing

    @cached_property
    def _cells(self) -> Array:
        """Counts that may be shown, or estimates of them; NaN where there is neither."""
        c = self.counted
        if not self.threshold:
            return c.counts.astype(np.float64)
        splits, limit = c.layout.splits, self.threshold
        return shown_counts(c.counts, splits, sizes=c.sizes, threshold=limit)[0]

    @cached_property
    def _rows(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Sizes that may be shown, or estimates of them, and which are hidden."""
        c = self.counted
        if not self.threshold:
            return c.sizes.astype(np.float64), np.zeros(len(c.sizes), dtype=bool)
        shown, hidden = shown_counts(c.sizes[:, None], c.layout.splits, threshold=self.threshold)
        return shown[:, 0], hidden[:, 0]

    @property
    def total(self) -> int:
        """Rows in all; 0 where that is hidden."""
        return int(np.nan_to_num(self._rows[0][0]))

    def sizes(self) -> list[int | str]:
        """Return the number of rows of each node; "≈" before an estimate, or why there is none."""
        (shown, hidden), whole = self._rows, self.counted.sizes
        if not hidden.any():
            return [int(n) for n in whole]
        return [
            f"≈{round(n, -1):,.0f}"
            if gone and n == n
            else shown_count(n if not gone else np.nan, all_of_it, self.threshold)
            for n, gone, all_of_it in zip(shown, hidden, whole, strict=True)
        ]

    @cached_property
    def reasons(self) -> list[str]:
        """Reason of each leaf; "" for other nodes, and where it would tell of few people."""
        nodes, hidden = self.counted.layout.tree.nodes, self._rows[1]
        few = [gone or node.size < self.threshold for node, gone in zip(nodes, hidden, strict=True)]
        return ["" if gone else node.reason for node, gone in zip(nodes, few, strict=True)]

    def weights(self) -> Array:
        """Return the share of each node of all rows; NaN where hidden."""
        return self._rows[0] / max(self.total, 1)

    def counts(self, nodes: Any) -> npt.NDArray[np.int64]:
        """Return the counts of some nodes; -1 where hidden, (m, c)."""
        shown = self._cells[nodes]
        return np.where(np.isnan(shown), -1, np.nan_to_num(shown).round()).astype(np.int64)

    def shares(self, nodes: Any) -> Array:
        """Return the share of each code in some nodes; NaN where hidden, (m, c)."""
        whole = self.counted.wholes[nodes] if not self.threshold else self._rows[0][nodes]
        shown = self._cells[nodes]
        return np.asarray(np.minimum(shown / np.maximum(whole, 1)[:, None], 1.0))

    @cached_property
    def overall(self) -> Array:
        """Share of each code over all rows (c,); NaN where hidden."""
        return self.shares([0])[0]

    def n_with_code(self, word: str) -> list[int | None]:
        """Return how often each node has a code."""
        if word not in self.words:
            return []
        shown = self._cells[:, self.words.index(word)]
        return [None if np.isnan(n) else round(n) for n in shown.tolist()]

    def scores(self, nodes: Any, balance: float) -> Array:
        """Return the relevance of codes, -inf where suppressed, (m, c)."""
        return known_relevance(self.shares(nodes), self.overall, balance=balance)

    def best(self, node: int, *, max_items: int, balance: float = USUAL) -> list[int]:
        """Return the most relevant codes of a node."""
        score = self.scores([node], balance)[0]
        return [int(j) for j in np.argsort(-score, kind="stable")[:max_items] if score[j] > -np.inf]

    def leading(self, nodes: Sequence[int], *, top: int, room: int) -> list[int]:
        """Choose columns that a page holds: the most relevant ones of some nodes, then the most frequent."""
        needed = np.zeros(len(self.words), dtype=bool)
        for balance in (0.0, 0.3, 0.6, 1.0):
            score = self.scores(np.array(nodes), balance)
            best = np.argpartition(-score, min(top, len(needed)) - 1, axis=1)[:, :top]
            needed[np.unique(best)] = True
        order = np.lexsort((-np.nan_to_num(self.overall), ~needed))
        return sorted(int(j) for j in order[: max(room, min(int(needed.sum()), 2 * room))])

    def table(self, node: int, *, max_items: int, balance: float) -> pd.DataFrame:
        """Tabulate the most relevant columns of a node."""
        best = self.best(node, max_items=max_items, balance=balance)
        share, overall = self.shares([node])[0, best], self.overall[best]
        return pd.DataFrame(
            {
                "rank": range(1, len(best) + 1),
                "code": [self.words[j] for j in best],
                "title": [self.titles[j] for j in best],
                "n": self.counts([node])[0, best],
                "share": share,
                "overall": overall,
                "lift": share / overall,
                "relevance": self.scores([node], balance)[0, best],
            }
        )

    def join_titles(self, columns: Sequence[int]) -> str:
        """Write codes by their meaning, words as they are."""
        apart = "; " if any(self.titles) else ", "
        return apart.join(short(self.titles[j] or self.words[j]) for j in columns)

    @cached_property
    def hints(self) -> list[str]:
        """Titles of the codes more frequent in each node than in its parent."""
        layout = self.counted.layout
        found = [""] * len(layout)  # all rows are told by nothing
        few, step = min(HINTED, len(self.words)), max(AT_ONCE // max(len(self.words), 1), 1)
        for first in range(1, len(layout) if few else 0, step):
            nodes = np.arange(first, min(first + step, len(layout)))
            score = self._more(nodes, layout.parents[nodes])
            top = np.argpartition(-score, few - 1, axis=1)[:, :few]
            best = np.take_along_axis(score, top, axis=1)
            order = np.argsort(-best, axis=1, kind="stable")
            for i, node in enumerate(nodes):
                found[node] = self.join_titles([int(top[i, j]) for j in order[i] if best[i, j] > 0])
        return found

    def _more(self, nodes: Any, parents: Any) -> Array:
        """Contribution of each code to the divergence of nodes from their parents."""
        own, whole = self.shares(nodes), self.shares(parents)
        with np.errstate(divide="ignore", invalid="ignore"):
            added = own * np.log(own / whole)
        return np.where(np.isfinite(added), added, 0.0)


def figures_of(
    counted: NodeCounts, words: Sequence[str], titles: Sequence[str], *, threshold: int
) -> TreeFigures:
    """Name the columns that are counted."""
    named = tuple(str(words[j]) for j in counted.columns)
    meanings = tuple(str(titles[j]) for j in counted.columns)
    told = tuple("" if t == w else t for t, w in zip(meanings, named, strict=True))
    return TreeFigures(counted, named, told, threshold)


def known_words(tree: Tree, model: Any, codes: Sequence[str] | None) -> tuple[str, ...]:
    """Name the columns of a tree."""
    named = getattr(model, "feature_names_in_", tree.feature_names)
    if named is not None:
        return tuple(map(str, named))
    if codes is None:
        return tuple(f"feature {j}" for j in range(tree.n_features))
    if tree.nodes and len(codes) != tree.n_features:
        message = (
            f"The tree has {tree.n_features} columns without names, the cohort {len(codes)}. "
            "Fit the tree to the cohort, which has names, or to a DataFrame."
        )
        raise ValueError(message)
    return tuple(codes)
