"""Dashboards for lvmkit: in JupyterLab, served on this machine, and as files without a server."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lvmkit.core import moved

moved.install()  # lvmkit does it, too; whoever begins with an old module of ours need not have imported it

_HOMES = {
    "ClusterExplorer": "lvmkit_widgets.clusters.dashboard",
    "CovariatePath": "lvmkit_widgets.covariates.dashboard",
    "Dashboard": "lvmkit_widgets.ui.dashboard",
    "ScoreCards": "lvmkit_widgets.phenotypes.dashboard",
    "StabilityPanel": "lvmkit_widgets.stability.dashboard",
    "TensorExplorer": "lvmkit_widgets.tensors.dashboard",
    "TopicRelevance": "lvmkit_widgets.topics.dashboard",
    "TreeNavigator": "lvmkit_widgets.trees.dashboard",
    "Workbench": "lvmkit_widgets.workbench.dashboard",
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
