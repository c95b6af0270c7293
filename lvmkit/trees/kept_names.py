"""Names of clusters, topics and leaves that are kept with a model, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lvmkit.mixtures.topics import KEY
from lvmkit.trees.layout import TreeLayout
from lvmkit.trees.named_cut import NAMES
from lvmkit.trees.tree import Tree


def kept_names(model: Any) -> dict[int, str]:
    """Return the names kept with a model, by number of the cluster or leaf; those who have none are left out."""
    notes = getattr(model, "annotations_", None) or {}
    given = notes.get(KEY)
    named: dict[int, str] = {}
    if isinstance(given, Mapping):
        named = {int(key): str(name) for key, name in given.items() if str(key).isdigit()}
    tree = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        nodes, places = notes.get(NAMES) or {}, TreeLayout(tree).labels
        for number, leaf in enumerate(tree.leaves):
            name = nodes.get(str(leaf), "")
            named[number] = f"{places[leaf]} · {name}" if name else places[leaf]
    for cluster in notes.get("clusters") or []:
        name, parts = str(cluster.get("name") or ""), list(cluster.get("components") or [])
        for place, part in enumerate(parts if name else []):
            of = f" ({place + 1} of {len(parts)})" if len(parts) > 1 else ""
            named[int(part)] = f"{name}{of}"
    return named
