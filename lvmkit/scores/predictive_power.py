"""Predictive power: accuracy of clusters for an outcome that the clustering has not seen."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import random_state_of
from lvmkit.core.typing import Labels, RandomState
from lvmkit.core.validation import listed, require_number, unmasked
from lvmkit.scores.stability.refits import numbered

_COLUMNS = ("accuracy", "balanced_accuracy", "auc", "majority")


@checked()
def predictive_power(
    labels: npt.ArrayLike,
    outcome: Any,
    *,
    test_size: float = 0.3,
    n_repeats: int = 5,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Predict an outcome of each row from nothing but its cluster.

    Parameters
    ----------
    labels : array (n,) of int
        Cluster of each row; rows with a negative label (noise) are one cluster more.
    outcome : array or Series (n,)
        Two different values, for example whether a stay was longer than 7 days. Of a column with NaN
        pass the rows that are known, with their labels.
    test_size : float, default=0.3
        Share of the rows that the prediction is tested on; the others are what it is learned from.
    n_repeats : int, default=5
        How often to split.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the splits; None draws a fresh one.

    Returns
    -------
    DataFrame (n_repeats rows)
        accuracy, balanced_accuracy and auc on the test rows, and majority: the accuracy of always
        saying the more frequent value, which is what a clustering without any power has.

    Raises
    ------
    ValueError
        If lengths differ, values are missing, there are not two values with 2 rows or more each, one of
        them has no row on one side of a split, or an option is out of range.

    Notes
    -----
    Ruffini thesis, section 6.4.1 ("MIMIC Dataset"): one column per cluster, logistic regression, accuracy on
    the test set. It does not say how large that was; ours is 30 %, with the same part of each value.
    Since accuracy hardly tells anything where one value is rare, balanced accuracy and the area
    under the ROC curve stand beside it.

    Examples
    --------
    >>> labels = [0, 1] * 50
    >>> predictive_power(labels, [label == 1 for label in labels], n_repeats=2)
       accuracy  balanced_accuracy  auc  majority
    0       1.0                1.0  1.0       0.5
    1       1.0                1.0  1.0       0.5
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    clusters, positive = _checked(labels, outcome)
    require_number(test_size, "test_size", least=0, above=True)
    require_number(n_repeats, "n_repeats", least=1, whole=True)
    if test_size >= 1:
        msg = f"test_size is a share of the rows, below 1; found {test_size!r}"
        raise ValueError(msg)
    n_test = int(np.ceil(test_size * len(positive)))
    if min(n_test, len(positive) - n_test) < 2:
        msg = f"test_size={test_size!r} of {len(positive)} rows leaves no 2 rows on both sides; pass more"
        raise ValueError(msg)
    splits = StratifiedShuffleSplit(
        n_repeats, test_size=n_test, random_state=random_state_of(random_state)
    )
    rows = []
    for train, test in splits.split(clusters[:, None], positive):
        if any(len(np.unique(positive[side])) < 2 for side in (train, test)):
            msg = (
                f"test_size={test_size!r} of {len(positive):,} rows puts all {min(positive.sum(), (~positive).sum())} "
                "rows of the rarer value of outcome on one side; choose a test_size nearer to a half"
            )
            raise ValueError(msg)
        rows.append(_tested(clusters[train], positive[train], clusters[test], positive[test]))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _checked(labels: npt.ArrayLike, outcome: Any) -> tuple[Labels, npt.NDArray[np.bool_]]:
    """Return clusters and whether each row has the second value of the outcome."""
    clusters, given = numbered(labels), np.asarray(unmasked(outcome, "outcome"))
    if given.ndim != 1 and given.shape[1:] != (1,):
        msg = f"outcome must be one value for each row; found shape {given.shape}"
        raise ValueError(msg)
    values = pd.Series(given.ravel())
    if len(clusters) != len(values):
        msg = f"labels and outcome are of the same rows; found {len(clusters)} and {len(values)}"
        raise ValueError(msg)
    missing = values.isna().to_numpy()
    if missing.any():
        msg = (
            f"outcome is missing in {missing.sum():,} of {len(values):,} rows (first in row "
            f"{int(np.argmax(missing))}); pass labels and outcome of the rows that have one"
        )
        raise ValueError(msg)
    try:
        found, place = np.unique(values.to_numpy(), return_inverse=True)
    except TypeError as error:
        kinds = listed(sorted({type(value).__name__ for value in values}))
        msg = f"outcome must have two values of one kind, such as True and False; found {kinds}"
        raise ValueError(msg) from error
    if len(found) != 2:
        msg = (
            f"outcome has two different values, such as True and False; found {len(found)}: "
            f"{listed(found)}. Compare numbers with a limit first, for example stay > 7."
        )
        raise ValueError(msg)
    counts = np.bincount(place)
    if counts.min() < 2:
        msg = (
            f"each value of outcome needs 2 rows or more; {listed([found[counts.argmin()]])} has 1"
        )
        raise ValueError(msg)
    return clusters, place == 1


def _tested(train: Labels, known: Any, test: Labels, truth: Any) -> tuple[float, ...]:
    """Learn from some rows and return the scores on others."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
    from sklearn.preprocessing import OneHotEncoder

    columns = OneHotEncoder(handle_unknown="ignore").fit(train[:, None])
    model = LogisticRegression(max_iter=1_000).fit(columns.transform(train[:, None]), known)
    X = columns.transform(test[:, None])
    said = model.predict(X)
    likely = np.mean(truth) if np.mean(known) > 0.5 else 1 - np.mean(truth)
    return (
        float(accuracy_score(truth, said)),
        float(balanced_accuracy_score(truth, said)),
        float(roc_auc_score(truth, model.predict_proba(X)[:, 1])),
        float(likely),
    )
