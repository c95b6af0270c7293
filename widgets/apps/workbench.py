"""The workbench on the bundled cohort: ``panel serve widgets/apps/workbench.py``."""

from lvmkit.datasets import load_discharges
from lvmkit_widgets import Workbench

Workbench(load_discharges()).servable(title="lvmkit workbench")
