"""Names of a tensor's modes and of the entries along them."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from lvmkit.core.typing import Array

Labels = Sequence[Any]


class Modes(NamedTuple):
    """Names of modes, and of the places along each."""

    names: tuple[str, ...]  # One for each mode
    labels: tuple[tuple[str, ...], ...]  # For each mode, one for each place

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each mode."""
        return tuple(len(labels) for labels in self.labels)

    def place(self, entry: int) -> tuple[int, ...]:
        """Find an entry by its number, the last mode counted fastest."""
        return tuple(int(j) for j in np.unravel_index(entry, self.shape))

    def entry(self, entry: int) -> str:
        """Name an entry, such as "IgG1 · Spike"."""
        pairs = zip(self.labels, self.place(entry), strict=True)
        return " · ".join(labels[j] for labels, j in pairs)


def named_modes(
    shape: Sequence[int],
    mode_names: Sequence[str] | None = None,
    labels: Sequence[Labels | None] | None = None,
) -> Modes:
    """Check the names of modes and of their places, and make up those that are missing."""
    order = len(shape)
    if mode_names is not None and (isinstance(mode_names, str) or len(mode_names) != order):
        msg = f"mode_names needs one text for each of the {order} modes; found {mode_names!r}"
        raise ValueError(msg)
    if labels is not None and len(labels) != order:
        msg = f"labels needs one list for each of the {order} modes; found {len(labels)}"
        raise ValueError(msg)
    made = [f"mode {m}" for m in range(order)]
    names = tuple(map(str, made if mode_names is None else mode_names))
    given = [None] * order if labels is None else list(labels)
    found = []
    for name, size, texts in zip(names, shape, given, strict=True):
        if texts is not None and (isinstance(texts, str) or not isinstance(texts, Collection)):
            msg = f"labels of {name} must be a list of {size} texts; found {type(texts).__name__}"
            raise ValueError(msg)
        if texts is not None and len(texts) != size:
            msg = f"labels of {name} needs {size} texts; found {len(texts)}"
            raise ValueError(msg)
        found.append(tuple(map(str, range(size) if texts is None else texts)))
    return Modes(names, tuple(found))


def strongest(values: Array) -> float:
    """Return the largest size of known values; 1 where all are 0, so that colors can be divided by it."""
    known = np.abs(values[np.isfinite(values)])
    return float(known.max(initial=0.0)) or 1.0
