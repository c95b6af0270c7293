"""The workbench on the bundled cohort: ``panel serve widgets/apps/workbench.py``."""

from lvmkit_widgets import Workbench

Workbench("discharges").servable(title="lvmkit workbench")
