"""Which rows and seeds repeated fits get: drawn before the first fit, so that nothing depends on their order."""

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from lvmkit.core.linalg import random_state_of
from lvmkit.core.typing import Labels, RandomState
from lvmkit.core.validation import listed, require_number

Protocol = Literal["overlapping", "bootstrap", "halves"]
PROTOCOLS = ("overlapping", "bootstrap", "halves")


class Refit(NamedTuple):
    """One fit on a part of the rows."""

    rows: Labels  # Rows to fit, in this order
    seeds: tuple[int, ...]


class Draw(NamedTuple):
    """One repeat."""

    fits: tuple[Refit, ...]
    compared: Labels  # Rows whose clusters are compared


def draws(
    estimator: Any,
    n_rows: int,
    *,
    protocol: str,
    shared: float,
    n_repeats: int,
    random_state: Any,
) -> list[Draw]:
    """Draw rows and seeds of every repeat; more repeats leave the first ones as they are."""
    if protocol not in PROTOCOLS:
        msg = f"protocol is one of {listed(PROTOCOLS)}; found {protocol!r}"
        raise ValueError(msg)
    if protocol == "overlapping":
        sizes = _part_sizes(n_rows, shared)
    elif n_rows < 2:
        msg = f"protocol={protocol!r} draws from 2 rows or more; X has {n_rows}"
        raise ValueError(msg)
    if n_repeats < 1:
        msg = f"n_repeats must be 1 or more; found {n_repeats!r}"
        raise ValueError(msg)
    require_number(n_repeats, "n_repeats", least=1, whole=True)
    random = random_state_of(random_state)
    n_seeds = len(seed_names(estimator))
    made = []
    for _ in range(n_repeats):
        if protocol == "overlapping":
            parts, compared = _overlapping(n_rows, *sizes, random)
        elif protocol == "bootstrap":
            parts = [random.randint(n_rows, size=n_rows)]
            compared = np.unique(parts[0])
        else:
            order = random.permutation(n_rows)
            parts, compared = [order[: n_rows // 2], order[n_rows // 2 :]], np.arange(n_rows)
        fits = tuple(Refit(rows, _seeds(random, n_seeds)) for rows in parts)
        made.append(Draw(fits, compared))
    return made


def _overlapping(
    n_rows: int, n_shared: int, n_own: int, random: np.random.RandomState
) -> tuple[list[Labels], Labels]:
    """Return the rows of two parts, those of both first; and those of both."""
    order = random.permutation(n_rows)
    both = order[:n_shared]
    starts = (n_shared, n_shared + n_own)
    return [np.concatenate([both, order[start : start + n_own]]) for start in starts], both


def _part_sizes(n_rows: int, shared: float) -> tuple[int, int]:
    """Return the number of shared rows and of each part's own."""
    n_own = int(n_rows * (1 - shared) / 2 + 1e-9) if 0 < shared < 1 else 0
    n_shared = round(n_rows * shared) if n_own else 0
    if n_own < 1 or n_shared < 1:
        msg = (
            "shared is the share of rows in both parts, between 0 and 1, and must leave each part "
            "rows of its own; "
            f"found {shared!r} for {n_rows} rows"
        )
        raise ValueError(msg)
    return n_shared, n_own


def options_of(estimator: Any) -> dict[str, Any]:
    """Return the options of an estimator; refuse what is none."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        found = "a class; call it" if isinstance(estimator, type) else repr(estimator)[:60]
        msg = f"estimator must be an estimator with fit and get_params; found {found}"
        raise TypeError(msg)
    options: dict[str, Any] = clone(estimator).get_params()
    return options


def seed_names(estimator: Any) -> list[str]:
    """Return the options of an estimator that are seeds, also inside a pipeline."""
    return [
        name for name in sorted(options_of(estimator)) if name.split("__")[-1] == "random_state"
    ]


def _seeds(random: np.random.RandomState, n: int) -> tuple[int, ...]:
    """Draw seeds one after the other."""
    return tuple(int(random.randint(2**31 - 1)) for _ in range(n))


def whole(estimator: Any, n_rows: int, random_state: RandomState) -> Refit:
    """Return the fit on all rows, which draws nothing from what the repeats draw."""
    random = random_state_of(random_state)
    return Refit(np.arange(n_rows), _seeds(random, len(seed_names(estimator))))
