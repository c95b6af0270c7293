"""The SVD method: singular vectors of one random combination of the slices."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import RandomState
from lvmkit.decompose.components import AnyMoments, Components, reduced_weights, seen


@checked()
def svd(
    moments: AnyMoments, n_components: int | None = None, *, random_state: RandomState = 0
) -> Components:
    """Decompose by the eigenvectors of a random combination of the slices.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int, optional
        Number of states, at most k; all k if not given.
    random_state : int, Generator or None, default=0
        Seed of the combination.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments, unreliable on samples.

    Notes
    -----
    Anandkumar 2012a; Ruffini thesis, section 1.2.1: MΩ^(1/2) = EO and Mω = M₁. The combination
    Σ η_r H_r with η = Wγ, γ standard normal, is Σ γ_c T_c, so that the core is enough. Signed eigenvalues
    replace singular values.

    Examples
    --------
    >>> from lvmkit.moments import population
    >>> svd(population(np.eye(2), [0.25, 0.75]), random_state=1).weights.round(6)
    array([0.75, 0.25])
    """
    whitened = seen(moments, n_components)
    gamma = generator_of(random_state).normal(size=len(whitened.core))
    rotation = np.linalg.eigh(np.tensordot(gamma, whitened.core, 1))[1]
    roots = rotation.T @ (whitened.whitener.T @ whitened.m1)
    # A state that the mean does not show would be divided by 0.
    roots = np.where(np.abs(roots) < 1e-9, 1e-9, roots)
    along = rotation / roots
    return Components((whitened.image @ along).T, reduced_weights(whitened, along))
