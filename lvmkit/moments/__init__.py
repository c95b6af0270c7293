"""Moments of rows of counts: sums over rows, so that those of two parts add to those of the whole."""

from lvmkit.core.linalg import significant, whiten, whitener_of
from lvmkit.moments.moments import Moments, WhitenedMoments, second_moment_operator
from lvmkit.moments.subspaces import SubspaceMoments, leading_basis
from lvmkit.moments.weightings import EQUAL_ROWS, POISSON, POOLED, RAW, Weighting
from lvmkit.moments.whitened import Whitened, population

__all__ = [
    "EQUAL_ROWS",
    "POISSON",
    "POOLED",
    "RAW",
    "Moments",
    "SubspaceMoments",
    "Weighting",
    "Whitened",
    "WhitenedMoments",
    "leading_basis",
    "population",
    "second_moment_operator",
    "significant",
    "whiten",
    "whitener_of",
]
