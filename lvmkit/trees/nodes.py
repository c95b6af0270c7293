"""Nodes of a tree of clusters: the rule that splits their rows, and their arrays in a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_matrix

Rule = Literal["", "absolute", "linear"]

PREFIX = "tree_"
"""Of the names of a tree's arrays in a file."""
NODE_KINDS = {
    **{f"{PREFIX}{name}": "i" for name in ("parent", "size")},
    **{f"{PREFIX}{name}": "U" for name in ("rule", "reason")},
    **{f"{PREFIX}{name}": "n" for name in ("strength", "support")},
    f"{PREFIX}*": "f",
}
"""Kinds of the arrays of a file (`lvmkit.core.stored`)."""

MAX_NODES = 500_000
"""Of a tree that is read from a file."""
MAX_DEPTH = 1_000
"""Splits one below another in a tree that is read from a file: the labels of a chain grow with its square."""


@dataclass(frozen=True, eq=False)
class Node:
    """A cluster of rows, and how it is split in two.

    Attributes
    ----------
    id : int
        Its place in `Tree.nodes`, breadth first; the root is 0.
    parent : int or None
        The node that it is a part of; None for the root.
    children : tuple of int
        The two parts, the larger one first; empty for a leaf.
    depth : int
        Splits above it.
    size : int
        Rows fitted that it holds.
    mean : array (d,)
        Mean of its rows.
    centers : array (2, d)
        What the split takes for the centers of its two sides; (0, d) for a leaf.
    discriminators : array (2, d)
        The vectors whose products with a row decide; (0, d) for a leaf.
    offsets : array (2,)
        Added to the products; (0,) for a leaf.
    rule : {"absolute", "linear", ""}
        A row goes where the score is larger in absolute value, or larger; "" for a leaf.
    strength : float
        How clearly the split sets its sides apart, in [0, 1]; NaN for a leaf.
    support : float
        How well the split reappears on resampled rows: mean adjusted Rand index; NaN if it was not tried.
    reason : str
        Why a leaf was not split; "" for other nodes.
    weight : float or None
        Sum of the weights of its rows; None where all count once.
    """

    id: int
    parent: int | None
    children: tuple[int, ...]
    depth: int
    size: int
    mean: Array = field(repr=False)
    centers: Array = field(repr=False)
    discriminators: Array = field(repr=False)
    offsets: Array = field(repr=False)
    rule: Rule
    strength: float
    support: float
    reason: str
    weight: float | None = None

    @property
    def mass(self) -> float:
        """What its rows count together: their number, or the sum of their weights."""
        return self.size if self.weight is None else self.weight

    @property
    def is_leaf(self) -> bool:
        """Whether it has no parts."""
        return not self.children

    def side(self, X: Any) -> Labels:
        """Tell which part each row belongs to.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            The rows.

        Returns
        -------
        array of int (n,)
            0 or 1; 0 where both scores are equal.
        """
        X = check_matrix(X, least_rows=0)
        if X.shape[1] != self.discriminators.shape[1]:
            msg = f"X must have {self.discriminators.shape[1]} columns, as the node has features; found {X.shape[1]}"
            raise ValueError(msg)
        return chosen_side(X @ self.discriminators.T + self.offsets, self.rule)


def chosen_side(scores: Array, rule: Rule) -> Labels:
    """Return the side of each row by its two scores (n, 2); the first where they are equal."""
    seen = np.abs(scores) if rule == "absolute" else scores
    return np.asarray(seen[:, 1] > seen[:, 0], dtype=np.intp)


def as_arrays(nodes: Sequence[Node]) -> dict[str, Any]:
    """Return the nodes as arrays, for a file."""
    split = [node for node in nodes if not node.is_leaf]
    columns: dict[str, Any] = {
        "parent": [-1 if node.parent is None else node.parent for node in nodes],
        **{
            name: [getattr(node, name) for node in nodes]
            for name in ("size", "mean", "rule", "strength", "support", "reason")
        },
        **{
            name: [getattr(node, name) for node in split]
            for name in ("centers", "discriminators", "offsets")
        },
    }
    if any(node.weight is not None for node in nodes):
        columns["weight"] = [node.mass for node in nodes]
    return {PREFIX + name: np.array(values) for name, values in columns.items()}


def nodes_of(arrays: dict[str, Any]) -> tuple[Node, ...]:
    """Return the nodes that `as_arrays` was given."""
    column = {name.removeprefix(PREFIX): values for name, values in arrays.items()}
    parents = column["parent"]
    _require_columns(column)
    children: dict[int, list[int]] = {i: [] for i in range(len(parents))}
    for node, parent in enumerate(parents):
        if parent >= node or (parent < 0) != (node == 0):
            msg = f"node {node} of the tree has the parent {parent}"
            raise ValueError(msg)
        if parent >= 0:
            children[int(parent)].append(node)
    _require_vectors(column, children)
    _require_depth(parents)
    nodes: list[Node] = []
    splits = 0
    nothing = np.zeros((0, column["mean"].shape[1]))
    for i, parent in enumerate(parents):
        vectors = [nothing, nothing, np.zeros(0)]
        if children[i]:
            vectors = [column[name][splits] for name in ("centers", "discriminators", "offsets")]
            splits += 1
        nodes.append(
            Node(
                id=i,
                parent=None if parent < 0 else int(parent),
                children=tuple(children[i]),
                depth=0 if parent < 0 else nodes[int(parent)].depth + 1,
                size=int(column["size"][i]),
                mean=column["mean"][i],
                centers=vectors[0],
                discriminators=vectors[1],
                offsets=vectors[2],
                rule=str(column["rule"][i]),  # type: ignore[arg-type]
                strength=float(column["strength"][i]),
                support=float(column["support"][i]),
                reason=str(column["reason"][i]),
                weight=float(column["weight"][i]) if "weight" in column else None,
            )
        )
    return tuple(nodes)


def _require_depth(parents: Any) -> None:
    """Refuse a tree (parents of its nodes, breadth first) that is deeper than labels can be made for."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if depths[-1] > MAX_DEPTH:
            msg = f"the tree is more than {MAX_DEPTH:,} splits deep"
            raise ValueError(msg)


def _require_columns(column: dict[str, Any]) -> None:
    """Refuse nodes that are too many, or that do not all have a size, a finite mean and the rest."""
    n = len(column["parent"])
    if n > MAX_NODES:
        msg = f"the tree has {n:,} nodes; at most {MAX_NODES:,} are read"
        raise ValueError(msg)
    for name in ("parent", "size", "rule", "strength", "support", "reason"):
        if column[name].shape != (n,):
            msg = f"the tree has {n} nodes and {name} has the shape {column[name].shape}"
            raise ValueError(msg)
    if (
        column["mean"].ndim != 2
        or len(column["mean"]) != n
        or not np.isfinite(column["mean"]).all()
    ):
        msg = "the means of the tree are incomplete"
        raise ValueError(msg)
    if n and column["size"].min() < 1:
        msg = f"a node of the tree holds {column['size'].min()} rows"
        raise ValueError(msg)
    if "weight" in column and (
        column["weight"].shape != (n,) or (n and column["weight"].min() < 0)
    ):
        msg = "weight of the tree is not a number of at least 0 for each node"
        raise ValueError(msg)
    for name in ("strength", "support"):
        if (np.abs(column[name]) > 1 + 1e-9).any():
            msg = f"{name} of the tree lies outside -1 to 1"
            raise ValueError(msg)


def _require_vectors(column: dict[str, Any], children: dict[int, list[int]]) -> None:
    """Refuse splits that do not have two parts, a rule and finite vectors of as many features as the means."""
    splits = [node for node, parts in children.items() if parts]
    n, d = column["mean"].shape
    shapes = {"centers": (2, d), "discriminators": (2, d), "offsets": (2,)}
    fits = n == len(children) and all(len(children[node]) == 2 for node in splits)
    size = column["size"]
    fits = fits and all(
        size[parts].sum() == size[node] for node, parts in children.items() if parts
    )
    fits = fits and all(str(column["rule"][node]) in ("absolute", "linear") for node in splits)
    for name, shape in shapes.items():
        fits = fits and (not splits or column[name].shape == (len(splits), *shape))
        fits = fits and bool(np.isfinite(column[name]).all())
    if not fits:
        msg = "the splits of the tree are incomplete"
        raise ValueError(msg)


def voices(node: Node, part: int, entries: Sequence[tuple[int, float]]) -> list[int]:
    """List the columns of a row's entries that speak for a part of a node, the loudest first."""
    side = node.children.index(part)
    own, other = node.discriminators[side], node.discriminators[1 - side]
    if node.rule == "absolute":
        total = [sum(x * d[j] for j, x in entries) for d in (own, other)]
        own, other = own * np.sign(total[0]), other * np.sign(total[1])
    force = sorted(((float(x * (own[j] - other[j])), j) for j, x in entries), reverse=True)
    return [j for value, j in force if value > 0]
