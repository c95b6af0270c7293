"""The cluster explorer on the bundled cohort: ``panel serve widgets/apps/cluster_explorer.py``."""

from lvmkit import BernoulliMixture
from lvmkit.datasets import load_discharges
from lvmkit_widgets import ClusterExplorer

cohort = load_discharges()
explorer = ClusterExplorer(BernoulliMixture(n_components=12).fit(cohort), cohort)
explorer.servable(title="Cluster explorer")
