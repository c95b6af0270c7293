"""The estimator that is judged, its rows, the methods it is compared with, and one repeat of one of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import lvmkit
from lvmkit.cohorts.corpus import Corpus
from lvmkit.core import features
from lvmkit.core.typing import Labels
from lvmkit.mixtures.refit import quiet
from lvmkit.scores import StabilityStudy, iter_stability
from lvmkit.scores.stability.compare import parameter_of, with_value
from lvmkit.scores.stability.refits import numbered, take_rows
from lvmkit.trees.kept_names import kept_names
from lvmkit_widgets.ui.jobs import Cancelled
from lvmkit_widgets.ui.words import refuse

log = logging.getLogger(__name__)
SAMPLE_ROWS = 4_000  # what is measured first of large data
LARGE = 6_000  # rows from which on a sample is measured first
NUMBERS = 9  # values that are compared, unless the reader says which


class Cell(NamedTuple):
    """A method with a number of clusters, or a depth."""

    method: str
    value: int


class Piece(NamedTuple):
    """Work that adds one repeat to a cell."""

    cell: Cell  # Which
    sampled: bool  # Whether only a sample of the rows is used
    protocol: Any  # As `lvmkit.scores.stability` takes it


class Outcome(NamedTuple):
    """What became of a piece."""

    piece: Piece  # Which
    study: StabilityStudy | None  # None if it failed or was stopped
    failed: str = ""  # Why, in words


class Subject:
    """An estimator and its rows, and the methods it is compared with."""

    def __init__(self, estimator: Any, cohort: Any, methods: Mapping[str, Any] | None) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
            refuse(
                f"StabilityPanel needs a clusterer as estimator, for example lvmkit.BernoulliMixture(n_components=8); "
                f"found {type(estimator).__name__}.",
                TypeError,
            )
        self.estimator, self.cohort = estimator, cohort
        self.matrix = _table(cohort)
        self.name = type(estimator).__name__
        self.parameter: str | None = None  # The option that sets how many clusters there are
        with suppress(ValueError):
            self.parameter = parameter_of(estimator)
        self.labels = self._labels()
        self.own = self._own()
        self.names = {} if self.labels is None else kept_names(estimator)
        offered = self._rivals() if methods is None else dict(methods)
        self.methods: dict[str, Any] = {self.name: estimator, **offered}
        self.sample: Labels | None = None  # The rows that are measured first, where there are many
        if self.n_rows >= LARGE:
            drawn = np.random.RandomState(0).permutation(self.n_rows)[:SAMPLE_ROWS]
            self.sample = np.sort(drawn)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @cached_property
    def row_name(self) -> str:
        """What rows are, in the plural; of a cohort as in the other dashboards."""
        return Corpus(self.cohort[:1]).row_name if hasattr(self.cohort, "obs") else "rows"

    @property
    def deep(self) -> bool:
        """Whether values are depths, not numbers of clusters."""
        return str(self.parameter).split("__")[-1] == "max_depth"

    @property
    def value_name(self) -> str:
        """What a value is."""
        return "depth" if self.deep else "number of clusters"

    @property
    def what(self) -> str:
        """What values are, in the plural."""
        return "depths" if self.deep else "numbers of clusters"

    def values(self) -> list[int]:
        """Propose values to compare: the estimator's own, smaller and larger ones."""
        if self.deep:
            return list(range(1, max(self.own + 1, 4) + 1))
        most = max(self.own + 3, 8)
        spread = np.linspace(2, most, min(NUMBERS, most - 1)).round().astype(int)
        return sorted({*spread.tolist(), max(self.own, 2)})

    def is_given(self, method: str, value: int) -> bool:
        """Tell whether a method with a value is the estimator as it was given."""
        return method == self.name and (self.parameter is None or value == self.own)

    def estimator_at(self, method: str, value: int) -> Any:
        """Return an unfitted estimator of a method with a value."""
        if self.is_given(method, value):
            return clone(self.estimator)
        return with_value(self.methods[method], value)

    def fitted(self, method: str, value: int) -> Any:
        """Return an estimator of a method with a value, fitted to all rows."""
        if self.is_given(method, value) and self.labels is not None:
            return self.estimator
        made = self.estimator_at(method, value)
        return made.fit(self.rows_for(made))

    def rows_for(self, estimator: Any) -> Any:
        """Return the rows as an estimator takes them; of a cohort, ours take the names too."""
        return self.cohort if type(estimator).__module__.startswith("lvmkit") else self.matrix

    def measured(
        self, piece: Piece, *, resume: StabilityStudy | None = None, progress: Any = None
    ) -> Outcome:
        """Measure one repeat."""
        cell, sample = piece.cell, self.sample if piece.sampled else None
        mine = self.is_given(*cell) and self.labels is not None
        rows, labels = self.matrix, self.labels if mine else None
        if sample is not None:
            rows, labels = take_rows(rows, sample), None if labels is None else labels[sample]
        try:
            with quiet():
                steps = iter_stability(
                    self.estimator_at(*cell),
                    rows,
                    reference=labels,
                    names=self.names if mine else None,
                    protocol=piece.protocol,
                    n_repeats=1 if resume is None else resume.n_repeats + 1,
                    resume=resume,
                    progress=progress,
                )
                return Outcome(piece, next(steps))
        except Cancelled:
            return Outcome(piece, None)
        except Exception as error:  # whatever one method raises, the others go on
            if not isinstance(error, (ValueError, ArithmeticError)):
                log.exception("%s cannot be measured", cell)
            return Outcome(piece, None, str(error) or type(error).__name__)

    def _labels(self) -> Labels | None:
        """Return the clusters of the estimator, if it is fitted."""
        try:
            check_is_fitted(self.estimator)
        except (NotFittedError, TypeError):
            return None
        labels = getattr(self.estimator, "labels_", None)
        if labels is None or len(labels) != self.n_rows:
            if not hasattr(self.estimator, "predict"):
                return None
            labels = self.estimator.predict(self.rows_for(self.estimator))
        return numbered(labels)

    def _own(self) -> int:
        """Return the estimator's own number of clusters, or depth."""
        if self.parameter is not None:
            given = self.estimator.get_params()[self.parameter]
            if isinstance(given, int | np.integer):
                return int(given)
        return 0 if self.labels is None else len(np.unique(self.labels[self.labels >= 0]))

    def _rivals(self) -> dict[str, Any]:
        """Return methods to compare with, which are asked for the same number of clusters."""

        def clusters(value: int) -> int:
            return int(2**value) if self.deep else int(value)

        rivals: dict[Any, Any] = {
            "k-means": lambda value: KMeans(clusters(value), n_init=1),
            "bisecting k-means": lambda value: BisectingKMeans(clusters(value)),
        }
        tree = lvmkit.SpectralTree
        if not isinstance(self.estimator, tree):
            rivals["spectral tree"] = lambda value: tree(max_depth=None, max_leaf_nodes=value)
        rivals.pop(
            {"KMeans": "k-means", "BisectingKMeans": "bisecting k-means"}.get(self.name), None
        )
        return rivals


def _table(cohort: Any) -> Any:
    """Return the rows in a form that every clusterer takes."""
    rows_by_columns = hasattr(cohort, "shape") or isinstance(cohort, list | tuple)
    matrix, _ = features.unwrapped(cohort) if rows_by_columns else (np.asarray(""), None)
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        refuse(
            f"StabilityPanel needs a cohort (an AnnData table) or another table of numbers; found "
            f"{type(cohort).__name__}. Make one with lvmkit.cohorts.from_wide or from_events.",
            TypeError,
        )
    if matrix.shape[0] < 20 or not matrix.shape[1]:
        refuse(
            f"The cohort has {matrix.shape[0]} rows and {matrix.shape[1]} columns; stability is measured "
            "on parts of the rows and needs 20 of them or more."
        )
    return features.as_float32_rows(matrix) if sparse.issparse(matrix) else matrix
