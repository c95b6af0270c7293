"""Stability of clusters under resampling."""

from lvmkit.core import moved

__getattr__ = moved.attributes(__name__, {"stability": "lvmkit.scores.stability.score.stability"})
