"""Scores of models and clusterings: association, fit, stability, agreement, and the number of components."""

from lvmkit.core import moved
from lvmkit.scores.association import association, association_of_counts
from lvmkit.scores.coherence import coherence
from lvmkit.scores.counts import CodeCounts, count_codes
from lvmkit.scores.description_length import description_length
from lvmkit.scores.fit import fit
from lvmkit.scores.matching import Matching, adjusted_rand, error_rate, match
from lvmkit.scores.perplexity import perplexity
from lvmkit.scores.predictive_power import predictive_power
from lvmkit.scores.rank.dissimilarity import dissimilarity
from lvmkit.scores.rank.study import RankStudy, iter_rank_study, rank_study
from lvmkit.scores.relevance import lift, relevance
from lvmkit.scores.sample_accuracy import sample_accuracy
from lvmkit.scores.selection import select_n_components
from lvmkit.scores.stability.compare import compare_stability
from lvmkit.scores.stability.score import stability
from lvmkit.scores.stability.study import StabilityStudy, iter_stability, stability_study

__all__ = [
    "CodeCounts",
    "Matching",
    "RankStudy",
    "StabilityStudy",
    "adjusted_rand",
    "association",
    "association_of_counts",
    "coherence",
    "compare_stability",
    "count_codes",
    "description_length",
    "dissimilarity",
    "error_rate",
    "fit",
    "iter_rank_study",
    "iter_stability",
    "lift",
    "match",
    "perplexity",
    "predictive_power",
    "rank_study",
    "relevance",
    "sample_accuracy",
    "select_n_components",
    "stability",
    "stability_study",
]

__getattr__ = moved.attributes(__name__, {"stability_over": "compare_stability"})
