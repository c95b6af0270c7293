"""Initial posteriors: k-means, k-means after whitening, random centers."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from lvmkit.core.typing import Array, Labels
from lvmkit.tensors.covariances import moment_covariances, shrunken
from lvmkit.tensors.em import CenteredSamples
from lvmkit.tensors.whitening import WhitenedSamples

KINDS = ("kmeans", "whitened_kmeans", "random")
"""k-means on the numbers as they are, and in coordinates that take the covariances out; samples drawn as centers."""
SWEEPS, NEAR = 20, 0.01
"""Sweeps to take covariances out at most, until they change by less."""
KMEANS_STARTS = 10


def starts(
    samples: CenteredSamples,
    n_components: int,
    *,
    kinds: Sequence[str] = KINDS,
    n_random: int = 2,
    shrinkage: float = 0.0,
    generator: np.random.Generator,
) -> list[tuple[str, Array]]:
    """Guess clusters in several ways, (n, K)."""
    from sklearn.cluster import KMeans  # takes a second

    seed = int(generator.integers(2**31))
    found: list[tuple[str, Array]] = []
    white: Array = samples.flat
    if {"whitened_kmeans", "random"} & set(kinds):
        try:
            white = whitened(samples, shrinkage)
        except (
            np.linalg.LinAlgError
        ):  # far apart: all but the clusters is rounding, and k-means will do
            white = samples.flat
    for kind, rows in (("kmeans", samples.flat), ("whitened_kmeans", white)):
        if kind in kinds:
            kmeans = KMeans(n_components, n_init=KMEANS_STARTS, random_state=seed)
            kmeans.fit(rows, sample_weight=samples.weight)
            found.append((kind, one_hot(kmeans.labels_, n_components)))
    if "random" in kinds:
        for draw in range(n_random):
            centers = white[_drawn(samples, n_components, generator)]
            nearest = cdist(white, centers).argmin(axis=1)
            found.append((f"random {draw}", one_hot(nearest, n_components)))
    return [(name, guess) for name, guess in found if guess.any(axis=0).all()]


def whitened(samples: CenteredSamples, shrinkage: float = 0.0) -> Array:
    """Take the covariances of all samples together out of them, (n, p)."""
    white = WhitenedSamples(samples.values, samples.weight)
    whole, none = np.array([float(samples.total)]), np.zeros((1, *samples.sizes))
    white.whiten(shrunken(moment_covariances(samples.scatter, whole, none), shrinkage))
    for _ in range(SWEEPS):
        _, changed = white.sweep(whole, none, shrinkage=shrinkage)
        if changed <= NEAR:
            break
    return white.values.reshape(len(samples), -1)


def _drawn(samples: CenteredSamples, size: int, generator: np.random.Generator) -> Labels:
    """Draw different samples, each as likely as it counts, (size,)."""
    chance = None if samples.weight is None else samples.weight / samples.total
    return generator.choice(len(samples), size=size, replace=False, p=chance)


def one_hot(labels: Labels, n_components: int) -> Array:
    """Turn labels into posteriors of 0 and 1, (n, K). labels (n,)."""
    return np.asarray(np.eye(n_components)[labels])
