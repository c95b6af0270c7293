"""Mixtures of tensor normal distributions."""
