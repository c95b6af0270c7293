"""Stability of clusters under resampling."""
