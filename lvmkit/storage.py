"""Models as files of data: arrays and JSON, never code."""

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import lvmkit
from lvmkit.models import BernoulliMixture

FORMAT = "lvmkit-model-1"
_MODELS = {"BernoulliMixture": BernoulliMixture}
_ARRAYS = ("weights_", "centers_", "log_likelihoods_")
_PLAIN = ("n_iter_", "stopped_by_", "clipped_", "data_fingerprint_")


def save(
    model: BernoulliMixture,
    path: str | os.PathLike[str],
    *,
    annotations: dict[str, Any] | None = None,
) -> Path:
    """Write a fitted model to a file that holds numbers and text only.

    The file is a zip (npz) of the arrays `weights_`, `centers_`, `log_likelihoods_` and, as the text
    `header`, a JSON object: format, version of lvmkit, class, parameters, feature names, the fingerprint of
    the data and the annotations. No row of the data is stored. It is written beside the target and
    moved there, so that a failure leaves the old file.

    Parameters
    ----------
    model : BernoulliMixture
        Fitted.
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
        If the model is not fitted, or the annotations cannot be written as JSON.

    Examples
    --------
    >>> m = BernoulliMixture.from_parameters([1.0], [[0.5, 0.5]], feature_names=["428", "401"])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(m, Path(folder) / "model.npz")).feature_names_in_
    array(['428', '401'], dtype=object)
    """
    if not hasattr(model, "weights_"):
        msg = f"this {type(model).__name__} is not fitted yet; call fit before save"
        raise ValueError(msg)
    arrays = {name: getattr(model, name) for name in _ARRAYS if hasattr(model, name)}
    notes = model.annotations_ if annotations is None else annotations
    try:
        header = json.dumps(_header(model, notes), allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"annotations or parameters cannot be written as JSON: {error}"
        raise ValueError(msg) from error
    target = Path(path)
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, header=np.array(header), **arrays)
        Path(partial).replace(target)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return target


def load(path: str | os.PathLike[str]) -> BernoulliMixture:
    """Read a model that `save` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    BernoulliMixture
        Fitted, without `labels_`: predict the rows again.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is truncated, is not a model of lvmkit, or was written by a later format.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            header = json.loads(str(stored["header"][()]))
            arrays = {name: stored[name] for name in stored.files if name in _ARRAYS}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, OSError, EOFError, KeyError, ValueError, AttributeError) as error:
        msg = (
            f"{Path(path).name} is not a complete lvmkit model file ({error}); save the model again"
        )
        raise ValueError(msg) from error
    return _rebuilt(header, arrays, Path(path).name)


def _header(model: BernoulliMixture, annotations: dict[str, Any]) -> dict[str, Any]:
    """Collect what is not an array."""
    names = getattr(model, "feature_names_in_", None)
    params = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in model.get_params(deep=False).items()
        if value is None or isinstance(value, (bool, int, float, str))
    }
    return {
        "format": FORMAT,
        "lvmkit": lvmkit.__version__,
        "model": type(model).__name__,
        "params": params,
        "feature_names": None if names is None else [str(name) for name in names],
        "fitted": {name: getattr(model, name) for name in _PLAIN if hasattr(model, name)},
        "annotations": annotations,
    }


def _rebuilt(header: Any, arrays: dict[str, Any], name: str) -> BernoulliMixture:
    """Make a model from the content of a file."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else type(header).__name__
        msg = f"{name} has format {found!r}; this lvmkit ({lvmkit.__version__}) reads {FORMAT!r}"
        raise ValueError(msg)
    kind = _MODELS.get(header["model"])
    if kind is None:
        msg = f"{name} holds a {header['model']!r}; known are {sorted(_MODELS)}"
        raise ValueError(msg)
    model = kind.from_parameters(
        arrays["weights_"], arrays["centers_"], feature_names=header["feature_names"]
    )
    model.set_params(**header["params"])
    # Normalizing again would change the last digit, and with it, perhaps, a label.
    model.weights_ = arrays["weights_"]
    for key, value in (arrays | header["fitted"]).items():
        setattr(model, key, value)
    model.annotations_ = header["annotations"]
    return model
