"""The phenotypes of a fitted model: weights, and feature scores by mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lvmkit.core.typing import Array, Labels

GENERIC_MODE_NAMES = ("features", "columns")  # names of modes that carry no information


@dataclass(frozen=True, eq=False)
class FeatureMode:
    """One mode of features: codes, titles, scores."""

    name: str  # Such as "diagnosis"
    codes: tuple[str, ...]  # Features, and what they mean; "" where that is not known
    titles: tuple[str, ...]  # Features, and what they mean; "" where that is not known
    scores: Labels  # (d, r): Score of each feature in each phenotype
    low: int  # Smallest and largest score that a fit could give
    high: int  # Smallest and largest score that a fit could give
    kinds: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> list[tuple[str, Labels]]:
        """Kinds of features and the places of theirs; one kind, called like the mode, if they are all alike."""
        kinds = np.array(self.kinds or [self.name] * len(self.codes), dtype=object)
        return [(str(kind), np.flatnonzero(kinds == kind)) for kind in dict.fromkeys(kinds)]

    @cached_property
    def place(self) -> dict[str, int]:
        """Place of each code."""
        return {code: j for j, code in enumerate(self.codes)}

    @cached_property
    def undotted(self) -> dict[str, int]:
        """Place of each code, without dots and in capitals."""
        return {undotted(code): j for code, j in self.place.items()}

    def describe(self, feature: int) -> str:
        """Return the title of a feature, or its code."""
        return self.titles[feature] or self.codes[feature]

    def best(self, phenotype: int) -> Labels:
        """Features with a score in a phenotype, highest first."""
        column = self.scores[:, phenotype]
        found = np.flatnonzero(column)
        return found[np.argsort(-column[found], kind="stable")]


@dataclass(frozen=True, eq=False)
class Phenotypes:
    """Phenotypes of one fitted model; their numbers are the columns of its factors."""

    model: Any  # Fitted
    weights: Labels  # (r,): λ of each
    modes: tuple[FeatureMode, ...]  # Those of features, in the order of the data
    low: int  # Smallest and largest score that a patient can have
    high: int  # Smallest and largest score that a patient can have

    @classmethod
    def of(
        cls,
        model: Any,
        titles: Sequence[Mapping[str, str]] = (),
        kinds: Mapping[str, str] | None = None,
    ) -> Phenotypes:
        """Read the phenotypes of a model."""
        if not hasattr(model, "factors_") or not hasattr(model, "weights_"):
            message = (
                f"ScoreCards needs integer scores; found {type(model).__name__}. "
                "Fit them: lvmkit.SUSTain(n_components=5).fit(cohort)."
            )
            raise TypeError(message)
        factors = [np.asarray(factor) for factor in model.factors_]
        order = len(factors)
        known = [*titles, *({} for _ in factors)]
        modes = []
        for m in range(1, order):
            codes = codes_of(model, m, len(factors[m]))
            meant = [known[m - 1].get(code, "") for code in codes]
            told = tuple("" if t == c else t for t, c in zip(meant, codes, strict=True))
            low, high = bounds_of(model, m, factors[m])
            name = mode_name(model, m)
            of_kind = tuple((kinds or {}).get(code, name) for code in codes) if kinds else ()
            modes.append(FeatureMode(name, codes, told, factors[m], low, high, of_kind))
        low, high = bounds_of(model, 0, factors[0])
        return cls(model, np.asarray(model.weights_), tuple(modes), low, high)

    def __len__(self) -> int:
        """Return the number of phenotypes."""
        return len(self.weights)

    @property
    def fitted_scores(self) -> Labels:
        """Scores of the patients that the model was fitted to (n, r); none after loading it from a file."""
        return np.asarray(self.model.factors_[0])

    @cached_property
    def sizes(self) -> Labels:
        """Number of features with a score in each phenotype (r,)."""
        counts = [np.count_nonzero(mode.scores, axis=0) for mode in self.modes]
        return np.asarray(np.sum(counts, axis=0))

    @cached_property
    def levels(self) -> range:
        """Scores that a patient can have."""
        return range(self.low, self.high + 1)

    def hint(self, phenotype: int, most: int = 2) -> str:
        """Name features that stand for a phenotype without a name."""
        ranked = []
        for mode in self.modes:
            column, shared = mode.scores[:, phenotype], np.count_nonzero(mode.scores, axis=1)
            own = [(-abs(int(column[j])), int(shared[j]), int(j)) for j in np.flatnonzero(column)]
            ranked += [
                (k, *key, mode.describe(key[-1])) for k, key in enumerate(sorted(own)[:most])
            ]
        ranked.sort(key=lambda entry: entry[:3])
        return " · ".join(entry[-1] for entry in ranked[:most])

    def expected(self, scores: Any, features: Sequence[Labels]) -> Array:
        """Multiply scores out to counts, phenotype by phenotype, (c, r)."""
        parts = np.asarray(self.weights * np.asarray(scores), dtype=np.int64)[None, :]
        for mode, places in zip(self.modes, features, strict=True):
            parts = parts * mode.scores[places].astype(np.int64)
        return np.asarray(parts)


def undotted(code: str) -> str:
    """Return a code in capitals without dots."""
    return code.replace(".", "").upper()


def mode_name(model: Any, m: int) -> str:
    """Return what a mode of a model is called."""
    names = getattr(model, "mode_names_", None)
    return str(names[m]) if names is not None else ("rows" if m == 0 else "features")


def codes_of(model: Any, m: int, size: int) -> tuple[str, ...]:
    """Return the features of a mode."""
    labels = getattr(model, "mode_labels_", None)
    known = None if labels is None else labels[m]
    if known is None and m == 1 and len(model.factors_) == 2:
        known = getattr(model, "feature_names_in_", None)
    if known is not None:
        return tuple(map(str, known))
    name = mode_name(model, m)
    return tuple(f"{'feature' if name in GENERIC_MODE_NAMES else name} {j}" for j in range(size))


def bounds_of(model: Any, m: int, scores: Labels) -> tuple[int, int]:
    """Return the smallest and the largest score of a mode that a fit could give."""
    low, high = (_at(getattr(model, name, 0), m) for name in ("min_score", "max_score"))
    return min(low, 0, int(scores.min(initial=0))), max(high, 1, int(scores.max(initial=0)))


def _at(value: Any, m: int) -> int:
    """Return a bound that is given for all modes, or for each."""
    return int(value) if np.ndim(value) == 0 else int(value[m])
