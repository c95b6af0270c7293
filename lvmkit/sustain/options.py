"""Check SUSTain's parameters: score bounds, n_components, init."""

from collections.abc import Sequence
from math import prod
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit.core.validation import as_numbers, listed, require_number
from lvmkit.sustain.initialization import Start
from lvmkit.sustain.multi_start import BEST, KINDS
from lvmkit.sustain.updates import Box

MAX_SCORE = 1_000
"""No score is larger in size: time grows with the largest, and nobody adds up larger ones."""


def require_possible(shape: Sequence[int], n_components: int, names: Sequence[str]) -> None:
    """Refuse modes of size 1, and more components than counts of a shape can have."""
    for mode, size in enumerate(shape):
        if size == 1:
            hint = ("n_samples=1", "n_features=1")[mode] if mode < 2 else "one index"
            msg = (
                f"mode {mode} ({names[mode]}) has size 1 ({hint}): nothing can be told apart along it. "
                "Take it out of X, or add what it is to be compared with"
            )
            raise ValueError(msg)
    most = min(prod(shape) // size for size in shape)
    if n_components > most:
        msg = (
            f"n_components={n_components} is more than {most}, with which counts of shape {tuple(shape)} can be met "
            "exactly; ask for fewer"
        )
        raise ValueError(msg)


def boxes_of(min_score: Any, max_score: Any, order: int) -> list[Box]:
    """Return what the scores of each mode may be."""
    least, most = (
        _per_mode(value, name, order)
        for value, name in ((min_score, "min_score"), (max_score, "max_score"))
    )
    for mode, (low, high) in enumerate(zip(least, most, strict=True)):
        require_number(high, f"max_score of mode {mode}", least=1, whole=True)
        require_number(low, f"min_score of mode {mode}", least=-np.inf, whole=True)
        for name, value in (("max_score", high), ("min_score", -low)):
            if value > MAX_SCORE:
                msg = (
                    f"{name} of mode {mode} must be at most {MAX_SCORE:,} in size; found {value:,}"
                )
                raise ValueError(msg)
        if low > 0:
            msg = f"min_score of mode {mode} must be at most 0, so that a feature can be left out; found {low}"
            raise ValueError(msg)
    return [Box(int(low), int(high)) for low, high in zip(least, most, strict=True)]


def allows_negative(min_score: Any) -> bool:
    """Tell whether negative scores are asked for, and with them negative counts."""
    values = min_score if np.ndim(min_score) else [min_score]
    return any(isinstance(value, Real) and value < 0 for value in values)


def _per_mode(value: Any, name: str, order: int) -> list[Any]:
    """Return an option of every mode."""
    values = list(value) if np.ndim(value) else [value] * order
    if len(values) != order:
        msg = f"{name} has {len(values)} numbers, and X has {order} modes; pass one number, or one per mode"
        raise ValueError(msg)
    return values


def starts_of(
    init: Any, shape: Sequence[int], boxes: Sequence[Box], *, n_components: int
) -> tuple[str, ...] | Start:
    """Return the kinds of starts asked for, or the one given."""
    if isinstance(init, str):
        if init not in ("best", *KINDS):
            msg = f"init must be one of {', '.join(('best', *KINDS))}, or one array per mode; found {init!r}"
            raise ValueError(msg)
        return BEST if init == "best" else (init,)
    if not isinstance(init, Sequence | np.ndarray):
        msg = f"init must be one of {', '.join(('best', *KINDS))}, or one array per mode; found {init!r}"
        raise ValueError(msg)
    parts = list(init)
    if len(parts) not in (len(shape), len(shape) + 1):
        msg = (
            f"init has {len(parts)} arrays; X has {len(shape)} modes, each of which needs one; weights, if wanted, "
            "come last"
        )
        raise ValueError(msg)
    weights = np.ones(n_components, dtype=np.int64)
    if len(parts) > len(shape):
        weights = as_integers(parts.pop(), "the weights in init", least=1)
        if weights.shape != (n_components,):
            msg = f"the weights in init have shape {weights.shape}; needed is ({n_components},)"
            raise ValueError(msg)
    for mode, (factor, size, box) in enumerate(zip(parts, shape, boxes, strict=True)):
        if np.shape(factor) != (size, n_components):
            msg = f"init[{mode}] has shape {np.shape(factor)}; needed is ({size}, {n_components})"
            raise ValueError(msg)
        as_integers(factor, f"init[{mode}]", least=box.least, most=box.most)
    return [np.asarray(factor, dtype=np.float64).T for factor in parts], weights


def as_integers(
    values: Any, name: str, *, least: int | None = None, most: int | None = None
) -> npt.NDArray[np.int64]:
    """Return whole numbers as integers; refuse others."""
    numbers = as_numbers(values, name)
    wrong = ~np.isfinite(numbers) | (numbers != np.rint(numbers))
    if least is not None:
        wrong |= numbers < least
    if most is not None:
        wrong |= numbers > most
    if wrong.any():
        allowed = (f" from {least}" if least is not None else "") + (
            f" to {most}" if most is not None else ""
        )
        msg = f"{name} must hold whole numbers{allowed}; found {listed(np.unique(numbers[wrong]))}"
        raise ValueError(msg)
    return numbers.astype(np.int64)
