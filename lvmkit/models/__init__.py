"""Estimators with scikit-learn's interface."""

from lvmkit.models.bernoulli_mixture import BernoulliMixture
from lvmkit.models.latent_dirichlet import LatentDirichlet
from lvmkit.models.poisson_mixture import PoissonMixture
from lvmkit.models.single_topic import SingleTopic

__all__ = ["BernoulliMixture", "LatentDirichlet", "PoissonMixture", "SingleTopic"]
