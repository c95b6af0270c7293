"""Models as files of data: arrays and JSON, never code."""

import json
import os
import sys
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.npz import (
    MAX_BYTES,
    UNREADABLE,
    complete,
    fault_of,
    is_npz_of,
    json_of,
    read_npz,
)
from lvmkit.core.stored import require_names, require_shape
from lvmkit.core.validation import listed
from lvmkit.core.versions import __version__
from lvmkit.core.writing import replacing
from lvmkit.models import Model

FORMAT = "lvmkit-model-1"
KIND = "lvmkit model file"
INFINITY = "infinity"
"""In the place of a parameter that is infinite."""
WHOLE = 2**53
"""What is counted stays below it."""
MODELS: dict[str, Any] = {model.__name__: model for model in get_args(Model)}
_ARRAYS = ("weights_", "centers_", "alpha_")
"""What most models have."""
_TRACES = ("log_likelihoods_", "fit_trace_")
"""Under which files keep `objective_trace_`, so that earlier versions read them."""
_PLAIN: dict[str, type] = {
    **dict.fromkeys(("stopped_by_", "data_fingerprint_", "init_"), str),
    **dict.fromkeys(("clipped_", "fit_", "penalty_", "gap_", "log_likelihood_", "bic_"), float),
    **{"objective_": float, "n_iter_": int, "converged_": bool},
}
# Integer factorizations have whole numbers as weights.
_KINDS: dict[str, str] = dict.fromkeys((*_ARRAYS, *_TRACES), "f") | {"weights_": "fi"}
for _model in MODELS.values():
    _KINDS |= _model._array_kinds


@checked()
def save(
    model: Model,
    path: str | os.PathLike[str],
    *,
    annotations: dict[str, Any] | None = None,
) -> Path:
    """Write a fitted model to a file that holds numbers and text only.

    The file is a zip (npz) of the arrays `weights_`, `centers_`, `alpha_`, `objective_trace_`, of means, discriminants
    and covariances of tensors, of the sums `moments_` of mixtures and topics, of the nodes of a tree, of weights and
    clusters of covariates, of the scores of features (not of samples, nor a start given as arrays) and, as the text
    `header`, a JSON object: format, version of lvmkit, class, parameters, names of
    features and modes, the fingerprint of the data and the annotations. No row of
    the data is stored; but the mean of a leaf that holds one row, or equal ones, is that row: grow trees of people
    with `min_samples_leaf` of 11 or more before passing them on. The file is written beside the target and moved
    there when it is on the disk, so that a failure leaves the old file; only its owner can read it. A link is
    followed. A `Generator` given as `random_state` is
    not stored.

    By `moments_`, sums over all rows, `partial_fit` goes on after `load`; of counts they are some three times as large
    as `centers_`, and larger after `partial_fit`; of 0/1 rows they are (k + 10)² numbers for each feature. Among them
    is the total of every feature, and two files saved before and after a block differ by the sums of its rows: where
    rows are people, rare features and small blocks can tell about one of them. `del model.moments_` before saving
    leaves the sums out.

    Parameters
    ----------
    model : any fitted model of lvmkit, a CovariateClusterPath, or the cut of a tree
        Of a classifier of clustered covariates neither its path nor a similarity given as numbers or as a function is
        stored.
    path : str or path
        Where; the name is used as it is.
    annotations : dict, optional
        Names, notes and whatever JSON can hold; replaces `model.annotations_`.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        If the model is not fitted or holds what `load` would refuse, or the annotations cannot be written as JSON or
        kept with such a model.
    OSError
        If the file cannot be written; the old one is as it was.

    Examples
    --------
    >>> from lvmkit import BernoulliMixture
    >>> m = BernoulliMixture.from_parameters([1.0], [[0.5, 0.5]], feature_names=["428", "401"])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(m, Path(folder) / "model.npz")).feature_names_in_
    array(['428', '401'], dtype=object)
    """
    if not model._is_fitted():
        msg = f"model must be fitted; this {type(model).__name__} is not fitted yet: call fit before save"
        raise ValueError(msg)
    arrays = {name: getattr(model, name) for name in _ARRAYS if hasattr(model, name)}
    if "objective_trace_" in vars(model):
        arrays[model._trace_key] = vars(model)["objective_trace_"]
    arrays |= model._to_arrays()
    notes = getattr(model, "annotations_", {}) if annotations is None else annotations
    if notes and not model._annotated:
        msg = f"annotations cannot be kept with a {type(model).__name__}; leave them out"
        raise ValueError(msg)
    _require_text_keys(notes)
    try:
        header = np.array(json.dumps(_header(model, notes), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"annotations or parameters cannot be written as JSON: {error}"
        raise ValueError(msg) from error
    try:
        _rebuilt(json_of(header), arrays)
    except UNREADABLE as error:
        msg = f"this {type(model).__name__} cannot be saved, since load would refuse it: {fault_of(error)}"
        raise ValueError(msg) from error
    target = Path(path)
    with replacing(target, private=True) as file:
        np.savez_compressed(file, header=header, **arrays)
    return target


@checked()
def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Model:
    """Read a model that `save` wrote; nothing in the file is executed.

    A file may come from anybody: its sizes are checked before anything is read, and its numbers as strictly as those
    of fresh data. At most `max_bytes` of arrays are read, 10,000 arrays, 8 million characters of names and notes,
    nested 100 deep, and 500,000 nodes of a tree, at most 1,000 splits deep; reading takes some
    six times the memory of the arrays.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int, default=2**30
        What the arrays may hold uncompressed.

    Returns
    -------
    the model that was saved
        Fitted, without `labels_`: predict the rows again. Of a SUSTain `factors_[0]` has no rows: transform them
        again. Without `moments_`, to which `partial_fit` adds, if the file was written before they were kept.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, OSError
        If there is no such file, or it may not or cannot be read.
    ValueError
        If the file is truncated, is not a model of lvmkit, was written by a later format, holds what no model does, or
        more than `max_bytes`.
    """
    arrays = read_npz(
        path, KIND, lambda key: key == "header" or bool(_kind_of(key)), max_bytes=max_bytes
    )
    with complete(path, KIND):
        return _rebuilt(json_of(arrays.pop("header")), arrays)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a model of lvmkit, of this format or a later one; only its header is read."""
    return is_npz_of(path, FORMAT.rstrip("0123456789"))


def _header(model: Model, annotations: dict[str, Any]) -> dict[str, Any]:
    """Collect what is not an array."""
    names = model._stored_names()
    params = {
        name: _plain(value)
        for name, value in model._stored_params().items()
        if value is None or isinstance(value, (bool, int, float, str, np.generic))
    }
    params |= {name: np.asarray(getattr(model, name)).tolist() for name in model._list_params}
    return {
        "format": FORMAT,
        "lvmkit": __version__,
        "model": type(model).__name__,
        "params": params,
        "feature_names": None if names is None else [str(name) for name in names],
        "fitted": {name: getattr(model, name) for name in _PLAIN if name in vars(model)},
        "annotations": annotations,
        **{"modes": None, "moments": None},
        **model._header_parts(),
    }


def _plain(value: Any) -> Any:
    """Return a parameter in JSON's types, which have no infinity."""
    value = value.item() if isinstance(value, np.generic) else value
    return INFINITY if isinstance(value, float) and value == np.inf else value


def _rebuilt(header: Any, arrays: dict[str, Any]) -> Model:
    """Make a model from the content of a file, as strictly as from fresh data."""
    _require_header(header)
    for key, values in arrays.items():
        _require_numbers(key, values)
    model = MODELS[header["model"]]._from_arrays(header, arrays)
    _take_params(model, header["params"])
    for key in _TRACES:
        if key in arrays:
            require_shape(arrays, key, (arrays[key].size,))
            model.objective_trace_ = arrays[key]
    for key, value in header["fitted"].items():
        if key in _PLAIN:
            _require_plain(key, value)
            setattr(model, key, value)
    model._take_more(header, arrays)
    model._check_stored()
    _require_components(model)
    if model._annotated:
        model.annotations_ = header["annotations"]
    return cast(Model, model)


def _require_header(header: Any) -> None:
    """Refuse a header that is of another format, lacks a part, or has one of another type."""
    if not isinstance(header, dict):
        msg = f"its header is a {type(header).__name__}, not a JSON object"
        raise ValueError(msg)
    if header["format"] != FORMAT:
        msg = f"its format is {header['format']!r}; lvmkit {__version__} reads {FORMAT!r}"
        raise ValueError(msg)
    if header["model"] not in list(MODELS):  # which compares anything, hashable or not
        msg = f"it holds a {header['model']!r}; known are {list(MODELS)}"
        raise ValueError(msg)
    for part in ("params", "fitted", "annotations"):
        if not isinstance(header[part], dict):
            msg = f"{part} of its header is a {type(header[part]).__name__}, not a JSON object"
            raise ValueError(msg)
    names = header["feature_names"]
    if names is not None:
        require_names("feature_names", names)


def _kind_of(key: str) -> str:
    """Return the kind of an array by its name, "" of one that no model has."""
    stems = (name for name in _KINDS if name.endswith("*") and key.startswith(name[:-1]))
    return _KINDS.get(key) or _KINDS.get(next(stems, ""), "")


def _require_numbers(key: str, values: Any) -> None:
    """Refuse an array of another type than `save` writes, and numbers that are not finite."""
    kind = _kind_of(key)
    if values.dtype.kind not in kind.replace("n", "f"):
        msg = f"{key!r} is an array of {values.dtype}"
        raise ValueError(msg)
    if values.dtype.kind != "f" or kind == "n":
        return
    if not np.isfinite(values).all():
        wrong = int(np.argmin(np.isfinite(values)))
        place = [int(n) for n in np.unravel_index(wrong, values.shape)]
        msg = f"{key!r} holds {values.flat[wrong]} at {place}"
        raise ValueError(msg)


def _require_plain(key: str, value: Any) -> None:
    """Refuse a result of a fit that is of another type, or out of range."""
    expected = _PLAIN[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        int: number and isinstance(value, int) and 0 <= value <= WHOLE,
        float: number and abs(value) <= sys.float_info.max,
        bool: isinstance(value, bool),
        str: isinstance(value, str),
    }[expected]
    if not fits:
        msg = f"{key} is {str(value)[:50]!r}"
        raise ValueError(msg)


def _require_components(model: Any) -> None:
    """Refuse a number of components other than that of the weights."""
    expected = getattr(model, "n_components", None)
    if expected is None:
        return
    found = len(model.weights_)
    if expected != found:
        msg = (
            f"the parameter n_components is {expected!r:.50}, and there are {found} weights: set it back, or fit the "
            "model again"
        )
        raise ValueError(msg)


def _take_params(model: Any, params: dict[str, Any]) -> None:
    """Set the parameters of the constructor; refuse unknown ones and other types."""
    hints = get_type_hints(type(model).__init__)
    for name, value in params.items():
        if name not in hints or name == "return":
            msg = f"a {type(model).__name__} has no parameter {name[:50]!r}"
            raise ValueError(msg)
        if not _fits(value, hints[name], as_list=name in model._list_params):
            msg = f"the parameter {name} is {str(value)[:50]!r} ({type(value).__name__})"
            raise ValueError(msg)
    infinite = {name: np.inf for name, value in params.items() if value == INFINITY}
    if params:
        model.set_params(**(params | infinite))


def _fits(value: Any, hint: Any, *, as_list: bool) -> bool:
    """Tell whether what JSON holds is of a parameter's type; of sequences only those of whole numbers are stored."""
    if hint is Any:  # starts and the like, which are stored if they are names
        return value is None or isinstance(value, str)
    if isinstance(value, list):
        return as_list and all(type(item) is int for item in value)
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return False
    types = set(get_args(hint) or (hint,))
    if value == INFINITY:
        return float in types
    types |= {int} if float in types else set()
    return type(value) in types


def _require_text_keys(value: Any) -> None:
    """Refuse keys that JSON would turn into text, so that what is loaded equals what was saved."""
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            msg = f"annotations need text as keys; found {listed(wrong)}"
            raise ValueError(msg)
        for inner in value.values():
            _require_text_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _require_text_keys(inner)
