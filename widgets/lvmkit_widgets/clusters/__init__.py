"""The parts of the cluster explorer: each a tab or a strip of components."""
