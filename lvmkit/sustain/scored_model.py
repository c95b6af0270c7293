"""A fitted model with the scores of a cohort under it."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lvmkit.core.typing import Labels, Progress
from lvmkit.core.validation import DataWarning
from lvmkit.sustain.count_cohort import CountCohort, is_fitted_to
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.score_counts import ScoreCounts


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """A fitted model, and the scores of the patients under it."""

    phenotypes: Phenotypes  # Of the model
    scores: Labels  # (n, r): One row for each patient; none where they are not known
    counted: ScoreCounts  # Patients by score

    @classmethod
    def of(cls, model: Any, people: CountCohort | None) -> ScoredModel:
        """Read a model, and score the patients if it was fitted to others."""
        if people is None:
            phenotypes = Phenotypes.of(model)
        else:
            kinds = dict(zip(people.words[0], people.kinds, strict=True)) if people.kinds else None
            phenotypes = Phenotypes.of(model, people.titles, kinds)
        if people is None or is_fitted_to(model, people):
            scores = phenotypes.fitted_scores
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                scores = np.asarray(model.transform(people.cohort))
        low = min(phenotypes.low, int(scores.min(initial=0)))
        high = max(phenotypes.high, int(scores.max(initial=0)))
        seen = replace(phenotypes, low=low, high=high)
        return cls(seen, scores, ScoreCounts.of(scores, seen.levels))


def fit_with_progress(model: Any, data: Any, progress: Progress | None = None) -> Any:
    """Fit a model without data warnings, reporting progress if its `fit` can."""
    tell = progress or (lambda *told: None)
    options = {"progress": tell} if "progress" in inspect.signature(model.fit).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model.fit(data, **options)
    tell("Fitted", 1.0)  # a fit that could not be stopped on its way is dropped here
    return model
