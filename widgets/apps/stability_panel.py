"""Stability on the bundled cohort: ``panel serve widgets/apps/stability_panel.py``."""

from lvmkit import BernoulliMixture
from lvmkit.datasets import load_discharges
from lvmkit_widgets import StabilityPanel

cohort = load_discharges()
panel = StabilityPanel(BernoulliMixture(n_components=12).fit(cohort), cohort)
panel.servable(title="Stability")
