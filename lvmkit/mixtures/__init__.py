"""Mixture models: distributions, E step, EM, Gibbs sampling, and the estimators."""
