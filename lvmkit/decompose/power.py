"""The tensor power method: robust eigenvectors of the whitened tensor, one after the other."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import require_number
from lvmkit.decompose.components import AnyMoments, Components, applied, reduced_weights, seen


@checked()
def power(
    moments: AnyMoments,
    n_components: int | None = None,
    *,
    n_restarts: int = 25,
    max_iter: int = 20,
    random_state: RandomState = 0,
) -> Components:
    """Decompose by power iterations with deflation (TPM).

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int, optional
        Number of states, at most k; all k if not given.
    n_restarts : int, default=25
        Random starts for each state, of which the one with the largest eigenvalue is kept.
    max_iter : int, default=20
        Iterations from each start; the best one is iterated until it rests, at most so often again.
    random_state : int, Generator or None, default=0
        Seed of the starts.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments.

    Notes
    -----
    Anandkumar 2014, Algorithm 1; Ruffini thesis, section 1.2.1, whose experiments use 25 restarts of
    20 iterations. μ = λEv. Costs k·n_restarts·max_iter·k³ multiply-adds.

    Examples
    --------
    >>> from lvmkit.moments import population
    >>> power(population(np.eye(2), [0.25, 0.75])).weights.round(6)
    array([0.25, 0.75])
    """
    require_number(n_restarts, "n_restarts", least=1, whole=True)
    require_number(max_iter, "max_iter", least=1, whole=True)
    whitened = seen(moments, n_components)
    generator = generator_of(random_state)
    left, k = whitened.core.copy(), len(whitened.core)
    along = np.empty((k, k))
    for state in range(k):
        starts = generator.normal(size=(k, n_restarts))
        vectors = _iterated(left, starts / np.linalg.norm(starts, axis=0), max_iter)
        best = vectors[:, [int(_values(left, vectors).argmax())]]
        best = _iterated(left, best, max_iter)
        value = float(_values(left, best)[0])
        vector = best[:, 0]
        along[:, state] = value * vector
        left -= value * vector[:, None, None] * vector[:, None] * vector
    return Components((whitened.image @ along).T, reduced_weights(whitened, along))


def _iterated(tensor: Array, vectors: Array, max_iter: int) -> Array:
    """Apply v ← T(·, v, v)/‖…‖ to every column."""
    for _ in range(max_iter):
        image = applied(tensor, vectors)
        # A tensor that deflation has emptied maps everything to 0: keep the vector then.
        length = np.linalg.norm(image, axis=0)
        vectors = np.where(length > 0, image / np.where(length > 0, length, 1.0), vectors)
    return vectors


def _values(tensor: Array, vectors: Array) -> Array:
    """Return T(v, v, v) for every column."""
    values: Array = (vectors * applied(tensor, vectors)).sum(axis=0)
    return values
