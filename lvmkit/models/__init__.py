"""Estimators with scikit-learn's interface."""

from lvmkit.models.baselines import baselines
from lvmkit.models.bernoulli_mixture import BernoulliMixture
from lvmkit.models.factor_baselines import Factorization, factor_baselines, truncated
from lvmkit.models.latent_dirichlet import LatentDirichlet
from lvmkit.models.poisson_mixture import PoissonMixture
from lvmkit.models.single_topic import SingleTopic
from lvmkit.models.spectral_tree import SpectralTree
from lvmkit.models.sustain import SUSTain

__all__ = [
    "BernoulliMixture",
    "Factorization",
    "LatentDirichlet",
    "PoissonMixture",
    "SUSTain",
    "SingleTopic",
    "SpectralTree",
    "baselines",
    "factor_baselines",
    "truncated",
]
