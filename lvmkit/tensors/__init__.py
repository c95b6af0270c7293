"""Mixtures of tensor normal distributions: what `models.TensorNormalMixture` computes with."""
