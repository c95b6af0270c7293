"""Estimators with scikit-learn's interface."""

from lvmkit.models.bernoulli_mixture import BernoulliMixture

__all__ = ["BernoulliMixture"]
