"""A tree of the bundled cohort: ``panel serve widgets/apps/tree_navigator.py``."""

from lvmkit import SpectralTree
from lvmkit.datasets import load_discharges
from lvmkit_widgets import TreeNavigator

cohort = load_discharges()
navigator = TreeNavigator(SpectralTree(max_depth=4).fit(cohort), cohort)
navigator.servable(title="Tree navigator")
