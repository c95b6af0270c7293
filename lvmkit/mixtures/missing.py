"""Masks of observed features: validation of what users pass."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.core.validation import listed, unmasked


def observed_mask(
    observed: Any, place: Any, shape: tuple[int, ...], names: Sequence[str] | None
) -> Array:
    """Return the mask of observed features in the model's order, 0 and 1, (d,) or (n, d)."""
    known = place >= 0
    if hasattr(observed, "columns") and names is not None:
        if observed.isna().any(axis=None):
            msg = (
                "observed is True or False everywhere; found NaN. Write False for what is not known"
            )
            raise ValueError(msg)
        table = observed.rename(columns=str).reindex(columns=list(names), fill_value=False)
        return np.asarray(table.to_numpy(dtype=bool) & known, dtype=np.float64)
    if isinstance(observed, Set):
        observed = list(observed)
    given = np.asarray(unmasked(observed, "observed"))
    if given.dtype == bool:
        if given.shape not in (shape[1:], shape):
            msg = f"observed has shape {given.shape}; expected {shape[1:]} or {shape}, as X has"
            raise ValueError(msg)
        return np.asarray(given[..., np.maximum(place, 0)] & known, dtype=np.float64)
    if given.ndim != 1 or isinstance(observed, Mapping):
        found = f"an array of shape {given.shape}" if given.ndim > 1 else f"{observed!r:.60}"
        msg = (
            "observed must be a mask of True and False, or a list of the model's indexes or names of features, "
            "or 'given'; "
            f"found {found} ({type(observed).__name__}, of {given.dtype})"
        )
        raise ValueError(msg)
    places = [_position(feature, len(place), names) for feature in given.tolist()]
    if len(set(places)) < len(places):
        advice = "; a mask is of True and False, not 0 and 1" if given.dtype.kind in "iu" else ""
        msg = f"observed must name each feature once{advice}; found {listed(given)}"
        raise ValueError(msg)
    mask = np.zeros(len(place))
    mask[places] = 1.0
    return mask * known


def _position(feature: Any, d: int, names: Sequence[str] | None) -> int:
    """Return the index of a feature given by index or name."""
    if isinstance(feature, int) and 0 <= feature < d:
        return feature
    if names is not None and feature in list(names):
        return list(names).index(feature)
    msg = f"observed names the feature {feature!r}, which the model does not have; it has {d} features"
    raise ValueError(msg)
