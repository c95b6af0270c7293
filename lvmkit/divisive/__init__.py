"""Divisive clustering: ways to split rows in two, and the growing of a tree of splits."""

from lvmkit.divisive.growth import Growth, grow
from lvmkit.divisive.splits import Refusal, Split

__all__ = ["Growth", "Refusal", "Split", "grow"]
