"""State of the tree navigator: what is picked, the cut, names, and the history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import param

from lvmkit.cohorts.corpus import Corpus
from lvmkit.core import moved
from lvmkit.core.typing import Labels
from lvmkit.trees import Tree
from lvmkit.trees.cut import TreeCut
from lvmkit.trees.figures import (
    TreeFigures,
    count_nodes,
    count_rows,
    figures_of,
    indicator,
    known_words,
)
from lvmkit.trees.layout import TreeLayout
from lvmkit_widgets.trees.annotations import LONGEST, NamedCut
from lvmkit_widgets.ui.history import History, Step, UndoRedo
from lvmkit_widgets.ui.words import counted

START = (
    "from lvmkit_widgets import TreeNavigator\n"
    "# model and cohort: the tree and the cohort that were opened\n"
    "state = TreeNavigator(model, cohort).state"
)


class NavigatorState(UndoRedo, param.Parameterized):
    """A tree, what is picked of it, its cut and names, and the steps that led there."""

    node = param.Integer(default=0, bounds=(0, None), doc="Number of the node that is picked.")
    code = param.String(default="", doc="The code or word whose branches are shown.")
    balance = param.Number(default=0.6, bounds=(0, 1), doc="λ: 1 is share, 0 is lift.")
    row = param.Integer(default=None, allow_None=True, doc="Row of the cohort that is picked.")
    history = param.Parameter(constant=True, doc="Steps taken so far.")
    hide_small = param.Boolean(default=True, doc="Whether small counts of people are hidden.")
    threshold = param.Integer(default=11, bounds=(2, None), doc="Smaller counts are hidden.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(self, model: Any, corpus: Corpus | None, *, private: bool = True) -> None:
        self.model, self.corpus = model, corpus
        self.tree: Tree = model if isinstance(model, Tree) else model.tree_
        self.layout = TreeLayout(self.tree)
        self.private = private if corpus is None else corpus.private
        self.words = known_words(self.tree, model, corpus.view.codes if corpus else None)
        self._figures: dict[int, TreeFigures] = {}
        kept = NamedCut.kept_with(self.layout, getattr(model, "annotations_", None))
        super().__init__(history=History((Step("Opened", START, kept),)))

    @property
    def named_cut(self) -> NamedCut:
        """The cut and the names now."""
        return self.history.value

    @property
    def frontier(self) -> tuple[int, ...]:
        """The nodes of the cut, from left to right."""
        return self.named_cut.frontier

    @property
    def names(self) -> dict[int, str]:
        """Nodes that have a name."""
        return dict(self.named_cut.names)

    @property
    def empty(self) -> bool:
        """Whether the tree has no node."""
        return not len(self.layout)

    @property
    def row_name(self) -> str:
        """What rows are called, in the plural."""
        return (
            ("patients" if self.private else "rows")
            if self.corpus is None
            else self.corpus.row_name
        )

    @property
    def column_name(self) -> str:
        """What columns are called."""
        return "code" if self.corpus is None else self.corpus.column_name

    marked = moved.OldName("named_cut")
    noun, thing = moved.OldName("row_name"), moved.OldName("column_name")

    @cached_property
    def of_words(self) -> bool:
        """Whether occurrences of words count, not rows that have them."""
        if self.corpus is None or self.private or not self.corpus.of_words:
            return False
        return bool(self.corpus.matrix(self.words).max() > 1)

    @cached_property
    def labels(self) -> Labels:
        """Number of the leaf of each row of the cohort."""
        return np.zeros(0, np.intp) if self.corpus is None else self.leaf_of(self._rows())

    @property
    def figures(self) -> TreeFigures:
        """Numbers of the nodes; the same object while nothing changes."""
        return self.figures_of(self.threshold if self.private and self.hide_small else 0)

    def figures_of(self, threshold: int) -> TreeFigures:
        """Return the numbers of the nodes."""
        if threshold not in self._figures:
            titles = [""] * len(self.words)
            if self.corpus is not None:
                titles = [self.corpus.view.titles.get(word, "") for word in self.words]
            self._figures[threshold] = figures_of(
                self._counted, self.words, titles, threshold=threshold
            )
        return self._figures[threshold]

    def leaf_of(self, X: Any) -> Labels:
        """Send rows down the tree, (n,)."""
        return np.asarray(self.tree.apply(X))

    def rows_of(self, node: int) -> Labels:
        """List the rows of the cohort in a node."""
        low, high = self.layout.start[node], self.layout.stop[node]
        return np.flatnonzero((self.labels >= low) & (self.labels < high))

    def label(self, node: int) -> str:
        """Return the place of a node, and its name."""
        place, name = self.layout.labels[node], self.names.get(node, "")
        return f"{place} · {name}" if name else place

    # -- steps -----------------------------------------------------------------------------------

    def rename(self, node: int, name: str) -> None:
        """Name a node."""
        if not isinstance(name, str):
            message = f'name is {name!r}; pass a text, or "" to take the name of the node away.'
            raise TypeError(message)
        self._require(node)
        text = " ".join(name.split())[:LONGEST]
        place = self.layout.labels[node]
        told = f"Named {place} “{text}”" if text else f"Took the name of {place} away"
        self._mark(self.named_cut.renamed(node, text), told, f"state.rename({node}, {text!r})")

    def cut(self, *, depth: int | None = None, n_leaves: int | None = None) -> None:
        """Cut the tree at a level, or into so many clusters."""
        nodes = self.tree.frontier(depth=depth, n_leaves=n_leaves)
        where = "into its leaves" if depth is None else f"at level {depth}"
        where = where if n_leaves is None else "with the largest branches opened first"
        given = {"depth": depth, "n_leaves": n_leaves}
        code = ", ".join(f"{key}={value}" for key, value in given.items() if value is not None)
        self._cut(nodes, f"Cut {where}: {counted(len(nodes), 'cluster')}", f"state.cut({code})")

    def prune(self, node: int) -> None:
        """Make one cluster of a node and all below it."""
        self._require(node)
        named_cut = self.named_cut.pruned(self.layout, node)
        self._mark(named_cut, f"Made one cluster of {self.label(node)}", f"state.prune({node})")

    def split(self, node: int) -> None:
        """Make clusters of the two parts of a node."""
        self._require(node)
        parts = self.tree.nodes[node].children
        if not parts:
            reason = self.figures.reasons[node] or "it has no parts"
            message = f"{self.label(node)} is a leaf: {reason}."
            raise ValueError(message)
        named_cut = self.named_cut.split(self.layout, node)
        self._mark(named_cut, f"Opened {self.label(node)}", f"state.split({node})")

    def take_cut(self, frontier: Sequence[int]) -> None:
        """Cut the tree at given nodes."""
        nodes = [int(i) for i in frontier]
        self.tree.regrouped(np.zeros(0, dtype=np.intp), nodes)
        told = f"Cut by hand: {counted(len(nodes), 'cluster')}"
        self._cut(nodes, told, f"state.take_cut({nodes!r})")

    # -- results ---------------------------------------------------------------------------------

    def cluster_labels(self) -> Labels:
        """Return the cluster of each row of the cohort, (n,)."""
        return self.layout.part_of(self.labels, self.frontier)

    def clustering(self) -> TreeCut:
        """Return the cut as a fitted clustering, for instance for `ClusterExplorer`."""
        if self.empty:
            message = "The tree is empty: there is nothing to cluster."
            raise ValueError(message)
        nodes = list(self.frontier)
        if self.corpus is None:
            centers = np.stack([self.tree.nodes[i].mean for i in nodes])
            sizes = np.array([self.tree.nodes[i].size for i in nodes], dtype=float)
        else:
            X, labels = self._rows(), self.cluster_labels()
            sizes = np.bincount(labels, minlength=len(nodes)).astype(float)
            member = indicator(labels, len(nodes))
            centers = (member @ X).toarray() / np.maximum(sizes, 1)[:, None]
        cut = TreeCut(
            self.tree,
            nodes,
            centers,
            sizes / max(sizes.sum(), 1.0),
            self.words,
            names=[self.names.get(i) or f"Branch {self.layout.labels[i]}" for i in nodes],
        )
        cut.labels_ = self.cluster_labels()
        return cut

    # -- inside ----------------------------------------------------------------------------------

    @cached_property
    def _counted(self) -> Any:
        """Numbers of the nodes, nothing hidden."""
        if self.corpus is None:
            return count_nodes(self.layout)
        X = self.corpus.matrix(self.words, binary=not self.of_words)
        return count_rows(self.layout, X, self.labels, of_words=self.of_words)

    def _rows(self) -> Any:
        """Rows of the cohort in the order of the tree's columns."""
        if self.corpus is None:
            return np.zeros((0, len(self.words)))
        return self.corpus.matrix(self.words)

    def _require(self, node: int) -> None:
        """Refuse a node that the tree does not have."""
        if not 0 <= node < len(self.layout):
            message = f"There is no node {node}; the tree has {counted(len(self.layout), 'node')}."
            raise ValueError(message)

    def _cut(self, nodes: Sequence[int], text: str, code: str) -> None:
        """Take a step that cuts the tree at nodes."""
        self._mark(self.named_cut.cut_at(self.layout, [int(i) for i in nodes]), text, code)

    def _mark(self, named_cut: NamedCut, text: str, code: str) -> None:
        """Take a step, unless nothing changes."""
        if named_cut == self.named_cut:
            self.message = f"It was so already: {text}."
        else:
            self._step(named_cut, text, code)

    def _go(self, history: History[NamedCut], message: str) -> None:
        """Stand somewhere in the history; the model keeps names and cut."""
        with param.edit_constant(self):
            self.param.update(history=history, message=message)
        if hasattr(self.model, "annotations_"):
            notes = dict(self.model.annotations_ or {})
            self.model.annotations_ = notes | self.named_cut.to_annotations()
