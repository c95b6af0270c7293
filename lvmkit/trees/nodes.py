"""A node of a tree of clusters, and what decides which part of it a row belongs to."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_matrix

Rule = Literal["", "absolute", "linear"]


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
