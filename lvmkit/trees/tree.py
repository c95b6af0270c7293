"""A tree of clusters: walks, cuts, assignment of rows, relevant features, and export to tables, JSON and graphs."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_matrix, listed, require_number, whole_numbers
from lvmkit.scores.relevance import relevance_to, require_balance
from lvmkit.trees.nodes import Node, chosen_side


@dataclass(frozen=True, eq=False)
class Tree:
    """Nested clusters: a root that holds all rows, nodes split in two, and leaves.

    A *frontier* is a list of nodes of which every row belongs to one: the leaves are one, the root alone is
    another. It is what a cut of the tree gives.

    Attributes
    ----------
    nodes : tuple of Node
        Breadth first; `nodes[i].id` is i.
    feature_names : array of str (d,) or None
        Names of the features.

    Examples
    --------
    >>> from lvmkit import SpectralTree
    >>> X = np.repeat(np.eye(4), 5, axis=0)
    >>> tree = SpectralTree(max_depth=1).fit(X).tree_
    >>> [(node.id, node.size) for node in tree.nodes][0]
    (0, 20)
    """

    nodes: tuple[Node, ...]
    feature_names: npt.NDArray[np.object_] | None = None

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.nodes[0].mean) if self.nodes else 0

    @property
    def depth(self) -> int:
        """Splits above the deepest leaf."""
        return max((node.depth for node in self.nodes), default=0)

    @property
    def leaves(self) -> list[int]:
        """The nodes without parts, from left to right; label j of a model is leaf j."""
        return [i for i in self.walk() if self.nodes[i].is_leaf]

    def walk(self, start: int = 0) -> Iterator[int]:
        """Visit a node and all below it, depth first, from left to right.

        Parameters
        ----------
        start : int, default=0
            Where to begin.

        Yields
        ------
        int
            The next node.
        """
        begin = self._known([start], "start") if self.nodes or start else []
        return self._walk(begin)

    def _walk(self, stack: list[int]) -> Iterator[int]:
        """Visit what is on the stack and all below it."""
        while stack:
            node = self.nodes[stack.pop()]
            yield node.id
            stack.extend(reversed(node.children))

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root down to `node`.

        Parameters
        ----------
        node : int
            Where to go.

        Returns
        -------
        list of int
            The first is the root, the last is `node`.
        """
        found = self._known([node])
        while (parent := self.nodes[found[-1]].parent) is not None:
            found.append(parent)
        return found[::-1]

    def label(self, node: int) -> str:
        """Name a node by its place: "All", "1", "1.2", ….

        Parameters
        ----------
        node : int
            The node.

        Returns
        -------
        str
            Which part of which part it is.
        """
        path = self.path(node)
        turns = [
            str(self.nodes[above].children.index(below) + 1) for above, below in pairwise(path)
        ]
        return ".".join(turns) or "All"

    @checked()
    def frontier(
        self, *, depth: int | None = None, closed: Iterable[int] = (), n_leaves: int | None = None
    ) -> list[int]:
        """Cut the tree: the nodes at which one stops on the way down.

        Parameters
        ----------
        depth : int, optional
            Stop after so many splits.
        closed : iterable of int
            Stop at these nodes: what lies below them is pruned.
        n_leaves : int, optional
            Open the largest nodes first, until there are so many parts, or no node can be opened that `depth` and
            `closed` leave to be opened.

        Returns
        -------
        list of int
            Nodes, from left to right.

        Raises
        ------
        ValueError
            If a number is out of range, or a node is unknown.
        """
        shut = set(self._known(closed, "closed"))
        if depth is not None:
            require_number(depth, "depth", least=0, whole=True)
            shut |= {node.id for node in self.nodes if node.depth >= depth}
        found = self._opened(lambda node: not node.is_leaf and node.id not in shut, n_leaves)
        return [i for i in self.walk() if i in found]

    def _opened(self, opens: Callable[[Node], bool], n_leaves: int | None) -> set[int]:
        """Open nodes, the largest first, as long as that is allowed."""
        if n_leaves is not None:
            require_number(n_leaves, "n_leaves", least=1, whole=True)
        most = len(self.nodes) if n_leaves is None else n_leaves
        found = {0} if self.nodes else set()
        waiting = [(-self.nodes[i].size, i) for i in found if opens(self.nodes[i])]
        while waiting and len(found) < most:
            node = heappop(waiting)[1]
            found.remove(node)
            for child in self.nodes[node].children:
                found.add(child)
                if opens(self.nodes[child]):
                    heappush(waiting, (-self.nodes[child].size, child))
        return found

    def _known(self, nodes: Iterable[int], name: str = "node") -> list[int]:
        """Refuse nodes that the tree does not have."""
        given = list(nodes)
        whole = [
            isinstance(i, int | np.integer) and not isinstance(i, bool) and 0 <= i < len(self.nodes)
            for i in given
        ]
        if not all(whole):
            unknown = [i for i, known in zip(given, whole, strict=True) if not known]
            held = f"has nodes 0 to {len(self.nodes) - 1}" if self.nodes else "is empty"
            msg = f"{name} must be known: the tree {held}; found {listed(unknown)}"
            raise ValueError(msg)
        return given

    @checked()
    def regrouped(self, labels: npt.ArrayLike, frontier: Iterable[int]) -> Labels:
        """Turn leaf numbers into numbers of the parts of a cut.

        Parameters
        ----------
        labels : array of int (n,)
            Leaf of each row, as `SpectralTree.labels_` and `apply` give them.
        frontier : iterable of int
            The nodes of a cut; each becomes the label of its place in this list.

        Returns
        -------
        array of int (n,)
            Labels, 0 to the number of parts − 1.

        Raises
        ------
        ValueError
            If the nodes overlap, or leave out some rows, or labels are not those of leaves.
        """
        leaves = {leaf: number for number, leaf in enumerate(self.leaves)}
        part = np.full(len(leaves), -1)
        for place, node in enumerate(self._known(frontier, "frontier")):
            below = [leaves[i] for i in self.walk(node) if i in leaves]
            if (part[below] >= 0).any():
                msg = f"node {node} overlaps with another one of the cut"
                raise ValueError(msg)
            part[below] = place
        if (part < 0).any():
            msg = f"frontier must be a cut of the tree; it leaves out leaves {listed(np.flatnonzero(part < 0))}"
            raise ValueError(msg)
        given = whole_numbers(labels, "labels")
        if given.size and not 0 <= given.min() <= given.max() < len(part):
            msg = f"labels are numbers of leaves, 0 to {len(part) - 1}; found {given.min()} to {given.max()}"
            raise ValueError(msg)
        return np.asarray(part[given])

    def apply(self, X: Any) -> Labels:
        """Send rows down the tree.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            Rows, features in the order of the fit.

        Returns
        -------
        array of int (n,)
            Number of the leaf of each row, 0 to n_leaves − 1, from left to right.

        Raises
        ------
        ValueError
            If the tree is empty, or rows have another number of features.
        """
        X = check_matrix(X, least_rows=0)
        if not self.nodes or np.shape(X)[1:] != (self.n_features,):
            held = f"has {self.n_features} features" if self.nodes else "is empty"
            msg = f"the tree {held}; found rows of shape {np.shape(X)}"
            raise ValueError(msg)
        rows = sparse.csr_array(X) if sparse.issparse(X) else X
        leaves = {leaf: number for number, leaf in enumerate(self.leaves)}
        labels = np.zeros(rows.shape[0], dtype=np.intp)
        waiting = [(0, rows, np.arange(rows.shape[0]))]
        while waiting:
            place, here, index = waiting.pop()
            node = self.nodes[place]
            if node.is_leaf:
                labels[index] = leaves[place]
                continue
            side = chosen_side(here @ node.discriminators.T + node.offsets, node.rule)
            for j, child in enumerate(node.children):
                mine = np.flatnonzero(side == j)
                if len(mine):
                    waiting.append((child, here[mine], index[mine]))
        return labels

    def relevance(self, *, balance: float = 0.6) -> Array:
        """Return how relevant each feature is to each node, against all rows.

        Parameters
        ----------
        balance : float, default=0.6
            λ: 1 ranks by frequency in the node, 0 by lift over all rows.

        Returns
        -------
        array (n_nodes, d)
            Relevance, in nats; -inf where no row of the node has the feature. For data of at least 0: NaN where the
            mean is negative.

        Raises
        ------
        ValueError
            If `balance` is outside [0, 1].

        Notes
        -----
        Ruffini thesis, equations 3.8 and 4.12.
        """
        require_balance(balance)
        if not self.nodes:
            return np.zeros((0, 0))
        means = np.stack([node.mean for node in self.nodes])
        return relevance_to(means, means[0], balance=balance)

    def terms(self, node: int, *, n_terms: int = 5, balance: float = 0.6) -> list[str]:
        """Name the features that are most relevant to a node.

        Parameters
        ----------
        node : int
            The node.
        n_terms : int, default=5
            How many.
        balance : float, default=0.6
            λ, as for `relevance`.

        Returns
        -------
        list of str
            Names, or numbers of features that have none; only such as occur in the node.

        Raises
        ------
        ValueError
            If the node is unknown, or `n_terms` or `balance` are out of range.
        """
        require_balance(balance)
        require_number(n_terms, "n_terms", least=0, whole=True)
        mean = self.nodes[self._known([node])[0]].mean
        order = np.argsort(
            -relevance_to(mean[None], self.nodes[0].mean, balance=balance)[0], kind="stable"
        )
        names = np.arange(len(mean)) if self.feature_names is None else self.feature_names
        return [str(names[i]) for i in order[:n_terms] if mean[i] > 0]

    def to_frame(self, *, n_terms: int = 5, balance: float = 0.6) -> pd.DataFrame:
        """Return a table with one row for every node.

        Parameters
        ----------
        n_terms : int, default=5
            Relevant features to name.
        balance : float, default=0.6
            λ, as for `relevance`.

        Returns
        -------
        DataFrame
            node, label, parent (missing for the root), depth, size, share (of all rows), leaf (its number, missing
            for other nodes), strength, support, reason, terms.
        """
        leaves = {leaf: number for number, leaf in enumerate(self.leaves)}
        total = self.nodes[0].size if self.nodes else 0
        columns: dict[str, list[Any]] = {
            "node": [node.id for node in self.nodes],
            "label": self._labels(),
            "parent": [node.parent for node in self.nodes],
            "depth": [node.depth for node in self.nodes],
            "size": [node.size for node in self.nodes],
            "share": [node.size / total if total else np.nan for node in self.nodes],
            "leaf": [leaves.get(node.id) for node in self.nodes],
            "strength": [node.strength for node in self.nodes],
            "support": [node.support for node in self.nodes],
            "reason": [node.reason for node in self.nodes],
            "terms": [
                ", ".join(self.terms(node.id, n_terms=n_terms, balance=balance))
                for node in self.nodes
            ],
        }
        return pd.DataFrame(columns).astype({"parent": "Int64", "leaf": "Int64"})

    def to_json(self, *, n_terms: int = 10, balance: float = 0.6) -> str:
        """Write the structure, without the vectors, as JSON.

        Parameters
        ----------
        n_terms : int, default=10
            Relevant features to name.
        balance : float, default=0.6
            λ, as for `relevance`.

        Returns
        -------
        str
            An object with `nodes`, a list of objects with the columns of `to_frame`; `children` is a list of
            nodes and `terms` one of names. What is missing is null.
        """
        records: list[dict[str, Any]] = self.to_frame(n_terms=0, balance=balance).to_dict("records")  # type: ignore[assignment]
        for record, node in zip(records, self.nodes, strict=True):
            record["children"] = list(node.children)
            record["terms"] = self.terms(node.id, n_terms=n_terms, balance=balance)
            for key, value in record.items():
                if not isinstance(value, list | str) and pd.isna(value):
                    record[key] = None
        return json.dumps({"nodes": records}, allow_nan=False)

    def to_networkx(self) -> Any:
        """Return a directed graph, from every node to its parts.

        Returns
        -------
        networkx.DiGraph
            Nodes have label, size, depth, strength, support, reason and terms.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        try:
            import networkx as nx  # type: ignore[import-untyped]
        except ImportError as error:
            msg = "to_networkx needs the package networkx: pip install networkx"
            raise ImportError(msg) from error
        found = nx.DiGraph()
        table = self.to_frame().drop(columns=["parent", "leaf", "share"])
        for record in table.to_dict("records"):
            found.add_node(
                record["node"],
                **{str(key): value for key, value in record.items() if key != "node"},
            )
        found.add_edges_from((node.id, child) for node in self.nodes for child in node.children)
        return found

    def to_linkage(self) -> Array:
        """Return the tree as scipy's hierarchical clustering holds one, the leaves as its observations.

        Returns
        -------
        array (n_leaves − 1, 4)
            For `scipy.cluster.hierarchy.dendrogram`: the two parts, the height (splits down to the deepest leaf)
            and the number of leaves. Observation j is leaf j.

        Raises
        ------
        ValueError
            If the tree has fewer than two leaves: nothing is linked.
        """
        leaves = {leaf: number for number, leaf in enumerate(self.leaves)}
        if len(leaves) < 2:
            msg = f"a linkage joins two leaves or more; this tree has {len(leaves)}"
            raise ValueError(msg)
        height, count = self._heights_and_counts()
        joined = [node for node in reversed(self.nodes) if not node.is_leaf]
        joined.sort(key=lambda node: height[node.id])
        number = dict(leaves)
        rows: list[tuple[int, ...]] = []
        for node in joined:
            number[node.id] = len(leaves) + len(rows)
            left, right = node.children
            rows.append((number[left], number[right], height[node.id], count[node.id]))
        return np.array(rows, dtype=np.float64)

    def __str__(self) -> str:
        """Draw the tree as indented text."""
        if not self.nodes:
            return "empty tree"
        total = max(self.nodes[0].size, 1)
        lines, labels = [], self._labels()
        for i in self.walk():
            node = self.nodes[i]
            place, terms = "  " * node.depth + labels[i], ", ".join(self.terms(i))
            lines.append(f"{place}  {node.size:,} ({node.size / total:.0%})  {terms}".rstrip())
        return "\n".join(lines)

    def _labels(self) -> list[str]:
        """Return what `label` says of every node, each made of its parent's."""
        found = ["All"] * len(self.nodes)
        for node in self.nodes:  # breadth first, so that a whole is seen before its parts
            above = "" if node.parent is None else f"{found[node.id]}."
            for turn, child in enumerate(node.children, 1):
                found[child] = f"{above}{turn}"
        return found

    def _heights_and_counts(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return the splits down to the deepest leaf, and the leaves, below every node."""
        height, count = dict[int, int](), dict[int, int]()
        for node in reversed(self.nodes):  # breadth first: parts are seen before their whole
            height[node.id] = 1 + max((height[i] for i in node.children), default=-1)
            count[node.id] = sum(count[i] for i in node.children) or 1
        return height, count
