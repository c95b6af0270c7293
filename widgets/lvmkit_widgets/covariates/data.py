"""Input validation of the covariate path dashboard, and names of covariates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lvmkit.core.typing import Array

_NEEDED = ("classes", "nus", "n_clusters", "log_marginal_likelihoods", "accuracies", "best")


def checked(path: Any) -> Any:
    """Refuse what is no path."""
    if not all(hasattr(path, name) for name in _NEEDED) or not hasattr(path, "__getitem__"):
        message = (
            f"CovariatePath needs a path of clusterings; found {type(path).__name__}. "
            "Make one: lvmkit.models.covariate_path(X, y)."
        )
        raise TypeError(message)
    if not len(path):
        message = "The path has no solution: pass at least one ν to covariate_path."
        raise ValueError(message)
    return path.ascending() if hasattr(path, "ascending") else path


def called(path: Any, names: Mapping[str, str] | Sequence[str] | None) -> tuple[str, ...]:
    """Name the covariates."""
    d = len(path[0].labels)
    known = path.feature_names
    own = [f"x{j}" for j in range(d)] if known is None else [str(name) for name in known]
    if names is None:
        return tuple(own)
    if isinstance(names, Mapping):
        if not set(own) & {str(key) for key in names}:
            message = f"names has none of the path's covariates as a key; expected some of {', '.join(own[:5])}, …"
            raise ValueError(message)
        told = {str(key): " ".join(str(text).split()) for key, text in names.items()}
        return tuple(f"{name} {told[name]}" if told.get(name) else name for name in own)
    if isinstance(names, str) or len(names) != d:
        message = f"names needs one text for each of the {d} covariates; found {len(names)}"
        raise ValueError(message)
    return tuple(str(name) for name in names)


def accuracies(path: Any, held_out: Any) -> Array | None:
    """Return the accuracy of every solution on other data."""
    if held_out is None:
        return None
    if not isinstance(held_out, tuple | list) or len(held_out) != 2:
        message = "held_out is the pair (X, y) of samples that the path was not fitted to, and their classes."
        raise ValueError(message)
    return np.asarray(path.score(*held_out), dtype=float)
