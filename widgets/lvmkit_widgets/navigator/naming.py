"""What the columns of a tree are called, and numbers of things in words."""

from __future__ import annotations

from typing import Any

from lvmkit.trees import Tree
from lvmkit_widgets.topics.corpus import Corpus


def known_words(tree: Tree, model: Any, corpus: Corpus | None) -> tuple[str, ...]:
    """Name the columns of a tree."""
    named = getattr(model, "feature_names_in_", tree.feature_names)
    if named is not None:
        return tuple(map(str, named))
    if corpus is None:
        return tuple(f"feature {j}" for j in range(tree.n_features))
    if tree.nodes and len(corpus.view.codes) != tree.n_features:
        message = (
            f"The tree has {tree.n_features} columns without names, the cohort {len(corpus.view.codes)}. "
            "Fit the tree to the cohort, which has names, or to a DataFrame."
        )
        raise ValueError(message)
    return tuple(corpus.view.codes)


def counted(n: int, noun: str) -> str:
    """Write a number of things."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
