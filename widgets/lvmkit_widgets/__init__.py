"""Dashboards for lvmkit: in JupyterLab, served on this machine, and as files without a server."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_HOMES = {
    "ClusterExplorer": "lvmkit_widgets.cluster_explorer",
    "CovariatePath": "lvmkit_widgets.covariate_path",
    "Dashboard": "lvmkit_widgets.dashboard",
    "ScoreCards": "lvmkit_widgets.score_cards",
    "StabilityPanel": "lvmkit_widgets.stability_panel",
    "TensorExplorer": "lvmkit_widgets.tensor_explorer",
    "TopicRelevance": "lvmkit_widgets.topic_relevance",
    "TreeNavigator": "lvmkit_widgets.tree_navigator",
    "Workbench": "lvmkit_widgets.workbench",
}
_NEEDED = ("panel", "anywidget")

__all__ = [
    "ClusterExplorer",
    "CovariatePath",
    "Dashboard",
    "ScoreCards",
    "StabilityPanel",
    "TensorExplorer",
    "TopicRelevance",
    "TreeNavigator",
    "Workbench",
]


def __getattr__(name: str) -> Any:
    """Load a dashboard at its first use."""
    if name not in _HOMES:
        msg = f"module 'lvmkit_widgets' has no attribute {name!r}"
        raise AttributeError(msg)
    missing = [package for package in _NEEDED if find_spec(package) is None]
    if missing:
        msg = f"lvmkit_widgets needs {' and '.join(missing)}: pip install 'lvmkit[widgets]'"
        raise ImportError(msg)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
