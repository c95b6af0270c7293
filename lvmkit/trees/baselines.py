"""Baseline hierarchical clusterings with the interface of `SpectralTree`."""

from typing import Any

from sklearn.cluster import BisectingKMeans

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed
from lvmkit.core.validation import require_number
from lvmkit.mixtures.bernoulli import BernoulliMixture
from lvmkit.trees.spectral_tree import SpectralTree


@checked()
def baselines(n_clusters: int, *, random_state: int | None = 0) -> dict[str, Any]:
    """Return clusterers of 0/1 rows to compare a tree with, ready to fit.

    Parameters
    ----------
    n_clusters : int
        Clusters, or leaves, of each.
    random_state : int or None, default=0
        Seed of those that draw; None draws one for all of them.

    Returns
    -------
    dict of str to estimator
        Bisecting k-means (scikit-learn's), PDDP, and the flat methods of moments ASVTD, 3V-MoM and 3V-TPM, each
        followed by EM. All have `fit`, `predict` and `labels_`.

    Raises
    ------
    ValueError
        If `n_clusters` is below 1.
    TypeError
        If it is no whole number.

    Notes
    -----
    The methods of Ruffini thesis, section 6.4 (table 6.1, figures 6.1 and 6.3). EM converges, as there.

    Examples
    --------
    >>> list(baselines(8))
    ['bisecting k-means', 'PDDP', 'ASVTD + EM', '3V-MoM + EM', '3V-TPM + EM']
    """
    require_number(n_clusters, "n_clusters", least=1, whole=True)
    seed = known_seed(random_state)
    require_number(seed, "random_state", least=0, whole=True)
    flat = {
        f"{name} + EM": BernoulliMixture(n_clusters, init=init, random_state=seed)
        for name, init in (("ASVTD", "asvtd"), ("3V-MoM", "3v-mom"), ("3V-TPM", "3v-tpm"))
    }
    return {
        "bisecting k-means": BisectingKMeans(n_clusters, random_state=seed),
        "PDDP": SpectralTree(None, split="pddp", max_leaf_nodes=n_clusters),
        **flat,
    }
