"""Cluster explorer: the clusters of a fitted mixture, their codes and patients, and ways to change them."""
