"""Scores: what sets clusters apart, how two clusterings agree, and how stable a method is."""

from lvmkit.scores.association import association, association_of_counts
from lvmkit.scores.counts import CodeCounts, count_codes
from lvmkit.scores.matching import Matching, adjusted_rand, error_rate, match
from lvmkit.scores.relevance import lift, relevance
from lvmkit.scores.stability import stability

__all__ = [
    "CodeCounts",
    "Matching",
    "adjusted_rand",
    "association",
    "association_of_counts",
    "count_codes",
    "error_rate",
    "lift",
    "match",
    "relevance",
    "stability",
]
