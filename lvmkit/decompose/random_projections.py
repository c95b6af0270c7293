"""Random projections: joint diagonalization of random combinations of the slices."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of, joint_rotation
from lvmkit.core.typing import RandomState
from lvmkit.core.validation import require_number
from lvmkit.decompose.components import AnyMoments, Components, projected_components, seen
from lvmkit.decompose.svtd import separating_rotation


@checked()
def random_projections(
    moments: AnyMoments,
    n_components: int | None = None,
    *,
    n_projections: int | None = None,
    random_state: RandomState = 0,
) -> Components:
    """Decompose by joint diagonalization of random, then of fitted, combinations of the slices.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int, optional
        Number of states, at most k; all k if not given.
    n_projections : int, optional
        Random combinations in the first stage; 2 log₂ k + 2, rounded up, if not given.
    random_state : int, Generator or None, default=0
        Seed of the combinations.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments.

    Notes
    -----
    Kuleshov 2015, Algorithm 1: the directions found first are the combinations of the
    second stage. Here on the whitened tensor, where the factors are orthogonal: thousandths of a second
    instead of tens of seconds in the space of the features.

    Examples
    --------
    >>> from lvmkit.moments import population
    >>> random_projections(population(np.eye(2), [0.25, 0.75])).weights.sum().round(6)
    np.float64(1.0)
    """
    whitened = seen(moments, n_components)
    k = len(whitened.core)
    if n_projections is None:
        n_projections = 2 + int(np.ceil(2 * np.log2(k)))
    require_number(n_projections, "n_projections", least=1, whole=True)
    combinations = generator_of(random_state).normal(size=(n_projections, k))
    first = np.tensordot(combinations, whitened.core, 1)
    start = separating_rotation(first)
    rotation = start @ joint_rotation(start.T @ first @ start, noise_tol=0.03)
    second = np.tensordot(rotation.T, whitened.core, 1)
    rotation = rotation @ joint_rotation(rotation.T @ second @ rotation, noise_tol=0.03)
    return projected_components(whitened, rotation)
