"""State of the tree navigator: what is picked, the cut and the names of nodes, and the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lvmkit.cohorts.corpus import Corpus
from lvmkit.core import moved
from lvmkit.core.typing import Labels
from lvmkit.disclosure import Disclosure
from lvmkit.trees import Tree
from lvmkit.trees.cut import TreeCut
from lvmkit.trees.figures import (
    NodeCounts,
    TreeFigures,
    count_nodes,
    count_rows,
    figures_of,
    known_words,
)
from lvmkit.trees.layout import TreeLayout
from lvmkit.trees.named_cut import NamedCut
from lvmkit_widgets.ui.history import started
from lvmkit_widgets.ui.paging import FIRST_PAGE, Paging
from lvmkit_widgets.ui.state import StepState, remembered
from lvmkit_widgets.ui.words import counted, refuse

LONGEST = 200  # letters of a name


@dataclass(frozen=True, eq=False, kw_only=True)
class NavigatorState(StepState[NamedCut]):
    """A tree, what is picked of it, its cut and names, and the steps that led there."""

    is_work: ClassVar[bool] = True
    start: ClassVar[str] = started(
        "TreeNavigator(model, cohort)", "model and cohort: the tree and the cohort that were opened"
    )

    model: Any
    tree: Tree
    layout: TreeLayout
    corpus: Corpus | None
    words: tuple[str, ...]  # Codes or words of the tree
    node: int = 0  # Number of the node that is picked
    code: str = ""  # The code or word whose branches are shown
    balance: float = 0.6  # λ: 1 is share, 0 is lift
    row: int | None = None  # Row of the cohort that is picked
    paging: Paging = FIRST_PAGE  # Of the rows of the node
    typed: str | None = None  # Name of the node, typed and not yet kept

    @classmethod
    def of(cls, model: Any, corpus: Corpus | None, *, private: bool = True) -> Self:
        """Return the state of a tree and its rows."""
        tree: Tree = model if isinstance(model, Tree) else model.tree_
        layout = TreeLayout(tree)
        return cls.opened(
            NamedCut.kept_with(layout, getattr(model, "annotations_", None)),
            model=model,
            tree=tree,
            layout=layout,
            corpus=corpus,
            words=known_words(tree, model, corpus.view.codes if corpus else None),
            disclosure=Disclosure(private=private if corpus is None else corpus.private),
        )

    @property
    def named_cut(self) -> NamedCut:
        """The cut and the names now."""
        return self.value

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
        unknown = "patients" if self.private else "rows"
        return unknown if self.corpus is None else self.corpus.row_name

    @property
    def column_name(self) -> str:
        """What columns are called."""
        return "code" if self.corpus is None else self.corpus.column_name

    marked = moved.OldName("named_cut")
    noun, thing = moved.OldName("row_name"), moved.OldName("column_name")

    @property
    @remembered
    def of_words(self) -> bool:
        """Whether occurrences of words count, not rows that have them."""
        if self.corpus is None or self.private or not self.corpus.of_words:
            return False
        return bool(self.corpus.matrix(self.words).max() > 1)

    @property
    @remembered
    def labels(self) -> Labels:
        """Number of the leaf of each row of the cohort."""
        if self.corpus is None:
            return np.zeros(0, np.intp)
        return np.asarray(self.tree.apply(self.corpus.matrix(self.words)))

    @property
    @remembered
    def node_counts(self) -> NodeCounts:
        """Counts of the rows of the nodes, nothing hidden."""
        if self.corpus is None:
            return count_nodes(self.layout)
        X = self.corpus.matrix(self.words, binary=not self.of_words)
        return count_rows(self.layout, X, self.labels, of_words=self.of_words)

    @property
    def figures(self) -> TreeFigures:
        """Numbers of the nodes; the same object while nothing changes."""
        return self.figures_of(self.disclosure.level)

    @remembered
    def figures_of(self, threshold: int) -> TreeFigures:
        """Return the numbers of the nodes, those below a threshold hidden."""
        known = {} if self.corpus is None else self.corpus.view.titles
        titles = [known.get(word, "") for word in self.words]
        return figures_of(self.node_counts, self.words, titles, threshold=threshold)

    def rows_of(self, node: int) -> Labels:
        """List the rows of the cohort in a node."""
        low, high = self.layout.start[node], self.layout.stop[node]
        return np.flatnonzero((self.labels >= low) & (self.labels < high))

    def label(self, node: int) -> str:
        """Return the place of a node, and its name."""
        place, name = self.layout.labels[node], self.names.get(node, "")
        return f"{place} · {name}" if name else place

    # -- picks -----------------------------------------------------------------------------------

    def pick(self, node: Any) -> Self:
        """Look at a node; a name that was typed for the one before is kept."""
        if node is None or int(node) >= len(self.layout) or int(node) == self.node:
            return self
        return self.keep_typed().replace(node=int(node), typed=None, paging=FIRST_PAGE)

    def keep_typed(self) -> Self:
        """Keep the name that was typed for the node that is picked."""
        typed = None if self.typed is None else self.typed.strip()
        if typed is None or typed == self.names.get(self.node, ""):
            return self
        return self.rename(self.node, typed)

    def search(self, code: Any) -> Self:
        """Show the branches of a code."""
        return self.replace(code=str(code or ""))

    # -- steps -----------------------------------------------------------------------------------

    def rename(self, node: int, name: str) -> Self:
        """Name a node."""
        if not isinstance(name, str):
            refuse(
                f'name is {name!r}; pass a text, or "" to take the name of the node away.',
                TypeError,
            )
        self._require(node)
        text = " ".join(name.split())[:LONGEST]
        place = self.layout.labels[node]
        told = f"Named {place} “{text}”" if text else f"Took the name of {place} away"
        return self._mark(self.named_cut.renamed(node, text), told, f"rename({node}, {text!r})")

    def cut(self, *, depth: int | None = None, n_leaves: int | None = None) -> Self:
        """Cut the tree at a level, or into so many clusters."""
        nodes = self.tree.frontier(depth=depth, n_leaves=n_leaves)
        where = "into its leaves" if depth is None else f"at level {depth}"
        where = where if n_leaves is None else "with the largest branches opened first"
        given = {"depth": depth, "n_leaves": n_leaves}
        code = ", ".join(f"{key}={value}" for key, value in given.items() if value is not None)
        return self._cut(nodes, f"Cut {where}: {counted(len(nodes), 'cluster')}", f"cut({code})")

    def prune(self, node: int) -> Self:
        """Make one cluster of a node and all below it."""
        self._require(node)
        named_cut = self.named_cut.pruned(self.layout, node)
        return self._mark(named_cut, f"Made one cluster of {self.label(node)}", f"prune({node})")

    def split(self, node: int) -> Self:
        """Make clusters of the two parts of a node."""
        self._require(node)
        parts = self.tree.nodes[node].children
        if not parts:
            reason = self.figures.reasons[node] or "it has no parts"
            refuse(f"{self.label(node)} is a leaf: {reason}.")
        named_cut = self.named_cut.split(self.layout, node)
        return self._mark(named_cut, f"Opened {self.label(node)}", f"split({node})")

    def take_cut(self, frontier: Sequence[int]) -> Self:
        """Cut the tree at given nodes."""
        nodes = [int(i) for i in frontier]
        self.tree.regrouped(np.zeros(0, dtype=np.intp), nodes)
        told = f"Cut by hand: {counted(len(nodes), 'cluster')}"
        return self._cut(nodes, told, f"take_cut({nodes!r})")

    # -- results ---------------------------------------------------------------------------------

    def cluster_labels(self) -> Labels:
        """Return the cluster of each row of the cohort, (n,)."""
        return self.layout.part_of(self.labels, self.frontier)

    def clustering(self) -> TreeCut:
        """Return the cut as a fitted clustering, for instance for `ClusterExplorer`."""
        if self.empty:
            refuse("The tree is empty: there is nothing to cluster.")
        X = None if self.corpus is None else self.corpus.matrix(self.words)
        return TreeCut.of(
            self.tree,
            list(self.frontier),
            self.words,
            names=[self.names.get(i) or f"Branch {self.layout.labels[i]}" for i in self.frontier],
            X=X,
            labels=self.cluster_labels(),
        )

    # -- inside ----------------------------------------------------------------------------------

    def follow(self, value: NamedCut) -> dict[str, Any]:
        """Forget what was typed."""
        return {"typed": None}

    def _require(self, node: int) -> None:
        """Refuse a node that the tree does not have."""
        if not 0 <= node < len(self.layout):
            refuse(f"There is no node {node}; the tree has {counted(len(self.layout), 'node')}.")

    def _cut(self, nodes: Sequence[int], text: str, code: str) -> Self:
        """Take a step that cuts the tree at nodes."""
        return self._mark(self.named_cut.cut_at(self.layout, [int(i) for i in nodes]), text, code)

    def _mark(self, named_cut: NamedCut, text: str, code: str) -> Self:
        """Take a step, unless nothing changes."""
        if named_cut == self.named_cut:
            return self.tell(f"It was so already: {text}.", tone="done")
        return self.step_to(named_cut, text, code)
