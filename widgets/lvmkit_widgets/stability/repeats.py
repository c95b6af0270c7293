"""One repeat of one method with one value: the unit of work of a stability panel."""

from __future__ import annotations

import logging
import warnings
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from lvmkit.core.validation import DataWarning
from lvmkit.scores import StabilityStudy, iter_stability
from lvmkit.scores.stability.refits import take_rows
from lvmkit_widgets.stability.data import Subject
from lvmkit_widgets.ui.jobs import Cancelled

log = logging.getLogger(__name__)


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


def measured(
    subject: Subject,
    piece: Piece,
    *,
    resume: StabilityStudy | None = None,
    progress: Any = None,
) -> Outcome:
    """Measure one repeat."""
    cell = piece.cell
    sample = subject.sample if piece.sampled else None
    rows = subject.matrix if sample is None else take_rows(subject.matrix, sample)
    mine = subject.is_given(*cell) and subject.labels is not None
    labels = subject.labels if mine else None
    if labels is not None and sample is not None:
        labels = labels[sample]
    try:
        with quiet():
            steps = iter_stability(
                subject.estimator_at(*cell),
                rows,
                reference=labels,
                names=subject.names if mine else None,
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


class quiet(warnings.catch_warnings):  # noqa: N801 - reads as a statement
    """Leave out what models warn of: with many values some always do."""

    def __enter__(self) -> Any:
        """Leave warnings of fits out."""
        entered = super().__enter__()
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        return entered
