"""Trees in the forms of others: tables, JSON, text, graphs, linkages, and arrays for files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lvmkit.core.typing import Array
from lvmkit.trees.nodes import Node

if TYPE_CHECKING:
    from lvmkit.trees.tree import Tree

PREFIX = "tree_"
"""Of the names of a tree's arrays in a file."""

MAX_NODES = 500_000
"""Of a tree that is read from a file."""
MAX_DEPTH = 1_000
"""Splits one below another in a tree that is read from a file: the labels of a chain grow with its square."""


def frame(tree: Tree, *, n_terms: int, balance: float) -> pd.DataFrame:
    """Return a table with one row for every node; see `Tree.to_frame`."""
    leaves = {leaf: number for number, leaf in enumerate(tree.leaves)}
    total = tree.nodes[0].size if tree.nodes else 0
    columns: dict[str, list[Any]] = {
        "node": [node.id for node in tree.nodes],
        "label": _labels(tree),
        "parent": [node.parent for node in tree.nodes],
        "depth": [node.depth for node in tree.nodes],
        "size": [node.size for node in tree.nodes],
        "share": [node.size / total if total else np.nan for node in tree.nodes],
        "leaf": [leaves.get(node.id) for node in tree.nodes],
        "strength": [node.strength for node in tree.nodes],
        "support": [node.support for node in tree.nodes],
        "reason": [node.reason for node in tree.nodes],
        "terms": [
            ", ".join(tree.terms(node.id, n_terms=n_terms, balance=balance)) for node in tree.nodes
        ],
    }
    return pd.DataFrame(columns).astype({"parent": "Int64", "leaf": "Int64"})


def _labels(tree: Tree) -> list[str]:
    """Return what `Tree.label` says of every node, each made of its parent's."""
    found = ["All"] * len(tree.nodes)
    for node in tree.nodes:  # breadth first, so that a whole is seen before its parts
        above = "" if node.parent is None else f"{found[node.id]}."
        for turn, child in enumerate(node.children, 1):
            found[child] = f"{above}{turn}"
    return found


def json_text(tree: Tree, *, n_terms: int, balance: float) -> str:
    """Write the structure as JSON; see `Tree.to_json`."""
    records: list[dict[str, Any]] = frame(tree, n_terms=0, balance=balance).to_dict("records")  # type: ignore[assignment]
    for record, node in zip(records, tree.nodes, strict=True):
        record["children"] = list(node.children)
        record["terms"] = tree.terms(node.id, n_terms=n_terms, balance=balance)
        for key, value in record.items():
            if not isinstance(value, list | str) and pd.isna(value):
                record[key] = None
    return json.dumps({"nodes": records}, allow_nan=False)


def text(tree: Tree) -> str:
    """Draw the tree as indented lines."""
    if not tree.nodes:
        return "empty tree"
    total = max(tree.nodes[0].size, 1)
    lines, labels = [], _labels(tree)
    for i in tree.walk():
        node = tree.nodes[i]
        place, terms = "  " * node.depth + labels[i], ", ".join(tree.terms(i))
        lines.append(f"{place}  {node.size:,} ({node.size / total:.0%})  {terms}".rstrip())
    return "\n".join(lines)


def graph(tree: Tree) -> Any:
    """Return a directed graph of networkx; see `Tree.to_networkx`."""
    try:
        import networkx as nx  # type: ignore[import-untyped]
    except ImportError as error:
        msg = "to_networkx needs the package networkx: pip install networkx"
        raise ImportError(msg) from error
    found = nx.DiGraph()
    table = frame(tree, n_terms=5, balance=0.6).drop(columns=["parent", "leaf", "share"])
    for record in table.to_dict("records"):
        found.add_node(
            record["node"], **{str(key): value for key, value in record.items() if key != "node"}
        )
    found.add_edges_from((node.id, child) for node in tree.nodes for child in node.children)
    return found


def linkage(tree: Tree) -> Array:
    """Return the linkage matrix of scipy; see `Tree.to_linkage`."""
    leaves = {leaf: number for number, leaf in enumerate(tree.leaves)}
    if len(leaves) < 2:
        msg = f"a linkage joins two leaves or more; this tree has {len(leaves)}"
        raise ValueError(msg)
    height, count = _heights_and_counts(tree)
    joined = [node for node in reversed(tree.nodes) if not node.is_leaf]
    joined.sort(key=lambda node: height[node.id])
    number = dict(leaves)
    rows: list[tuple[int, ...]] = []
    for node in joined:
        number[node.id] = len(leaves) + len(rows)
        left, right = node.children
        rows.append((number[left], number[right], height[node.id], count[node.id]))
    return np.array(rows, dtype=np.float64)


def _heights_and_counts(tree: Tree) -> tuple[dict[int, int], dict[int, int]]:
    """Return the splits down to the deepest leaf, and the leaves, below every node."""
    height, count = dict[int, int](), dict[int, int]()
    for node in reversed(tree.nodes):  # breadth first, so that parts are seen before their whole
        height[node.id] = 1 + max((height[i] for i in node.children), default=-1)
        count[node.id] = sum(count[i] for i in node.children) or 1
    return height, count


def as_arrays(tree: Tree) -> dict[str, Any]:
    """Return the nodes as arrays, for a file."""
    split = [node for node in tree.nodes if not node.is_leaf]
    columns: dict[str, Any] = {
        "parent": [-1 if node.parent is None else node.parent for node in tree.nodes],
        **{
            name: [getattr(node, name) for node in tree.nodes]
            for name in ("size", "mean", "rule", "strength", "support", "reason")
        },
        **{
            name: [getattr(node, name) for node in split]
            for name in ("centers", "discriminators", "offsets")
        },
    }
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
