"""What an estimator gives to a model file and takes from one; `lvmkit.storage` writes and reads the file."""

from collections import Counter
from typing import Any, ClassVar, Self

import numpy as np

from lvmkit.core.validation import listed


class StoredModel:
    """An estimator that `lvmkit.save` can write: it names its arrays, gives them and is made of them."""

    # Kinds of arrays are numpy's: f (finite), i, U; n is f that may be NaN. A name that ends in * is a beginning.
    # `save` and `load` take care of the parameters, and of what most models have: weights_, centers_, annotations_ …
    _array_kinds: ClassVar[dict[str, str]] = {}
    _trace_key: ClassVar[str] = (
        ""  # under which files keep objective_trace_, as they did before it had this name
    )
    _list_params: ClassVar[
        tuple[str, ...]
    ] = ()  # parameters that are stored as lists of whole numbers

    _annotated: ClassVar[bool] = True  # whether names and notes can be kept with it

    def _is_fitted(self) -> bool:
        """Return whether there is something to store."""
        return hasattr(self, "weights_")

    def _stored_names(self) -> Any:
        """Return the names of the features, or None."""
        return getattr(self, "feature_names_in_", None)

    def _stored_params(self) -> dict[str, Any]:
        """Return the parameters of the constructor."""
        model: Any = self
        return dict(model.get_params(deep=False)) if hasattr(model, "get_params") else {}

    def _to_arrays(self) -> dict[str, Any]:
        """Return the arrays that only models of this kind have."""
        return {}

    def _header_parts(self) -> dict[str, Any]:
        """Return what stands about them in the header, in JSON's types."""
        return {}

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a fitted model; refuse arrays that do not fit together, for a file may come from anybody."""
        raise NotImplementedError

    def _take_more(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take what is not among the fitted parameters, once these and the options are set."""

    def _check_stored(self) -> None:
        """Refuse options out of range, as `fit` does."""
        raise NotImplementedError


def require_shape(arrays: dict[str, Any], key: str, shape: tuple[int, ...]) -> None:
    """Refuse an array whose shape does not fit the others."""
    if arrays[key].shape != shape:
        msg = f"{key!r} has the shape {arrays[key].shape}; expected {shape}"
        raise ValueError(msg)


def require_same(made: Any, stored: Any, key: str) -> None:
    """Refuse numbers that the model would not have made of what is stored, but for rounding."""
    if made is stored:  # nothing was normalized
        return
    if made.shape != stored.shape or not np.allclose(made, stored, rtol=1e-9, atol=1e-9):
        msg = (
            f"{key!r} is not what such a model has: it is not normalized, or does not fit the rest"
        )
        raise ValueError(msg)


def require_names(name: str, values: Any) -> None:
    """Refuse what is no list of different texts."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        msg = f"{name} of its header is no list of texts"
        raise ValueError(msg)
    if len(set(values)) < len(values):
        repeated = [value for value, count in Counter(values).items() if count > 1]
        msg = f"{name} must be distinct; {listed(repeated)} stand more than once"
        raise ValueError(msg)
