"""Contrasts between cluster means: with the mean of all means, or with one cluster as in Mai 2022."""

from typing import NamedTuple

import numpy as np

from lvmkit.core.typing import Array


class Contrasts(NamedTuple):
    """Maps from K means to K - 1 differences, and from discriminants to a rule per cluster."""

    differences: Array  # (K - 1, K): Takes the means to their differences
    spread: Array  # (K, K - 1): Takes discriminants of the differences to one of each cluster
    middle: Array  # (K,): Weights of the means in what the clusters are compared with
    # What the penalty is multiplied by, so that it means the same for two clusters either way
    factor: float

    def cost(self, discriminants: Array) -> float:
        """Return by how much the penalty lowers the mean log-likelihood, for each unit of it. discriminants (K, p)."""
        n_components = len(discriminants)
        away = discriminants - discriminants.mean(axis=0)
        return float(np.sqrt((away**2).sum(axis=0) / 2).sum() / n_components)


def contrasts(n_components: int, reference: int | None = None) -> Contrasts:
    """Compare clusters with the mean of their means, or with one of them."""
    # With a cluster as the reference, another numbering of the clusters gives another answer as soon as there are
    # three. Against the mean of the means it does not: K - 1 orthonormal contrasts are used, and which ones does not
    # matter, since the group lasso does not change when they are rotated. Its squared lengths |c_J|², doubled, are
    # those of Mai 2022 averaged over the choice of the reference.
    if reference is None:
        rows = np.tril(np.ones((n_components, n_components)))[1:]
        rows -= np.diag(np.arange(n_components) + 1.0)[1:]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        equal = np.full(n_components, 1 / n_components)
        return Contrasts(rows, np.ascontiguousarray(rows.T), equal, np.sqrt(0.5))
    spread = np.delete(np.eye(n_components), reference, axis=1)
    differences = spread.T.copy()
    differences[:, reference] = -1
    return Contrasts(differences, spread, np.eye(n_components)[reference], 1.0)
