"""Models as files of data: arrays and JSON, never code."""

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import lvmkit
from lvmkit._checks import listed
from lvmkit._npz import is_npz_of
from lvmkit._writing import replacing
from lvmkit.models import (
    BernoulliMixture,
    LatentDirichlet,
    PoissonMixture,
    SingleTopic,
    SpectralTree,
    SUSTain,
    TensorNormalMixture,
)
from lvmkit.subspaces import SubspaceMoments
from lvmkit.trees import Tree
from lvmkit.trees.forms import PREFIX, as_arrays, nodes_of
from lvmkit.weightings import EQUAL_ROWS, POISSON, POOLED

Mixture = BernoulliMixture | LatentDirichlet | PoissonMixture | SingleTopic
Model = Mixture | SpectralTree | SUSTain | TensorNormalMixture

FORMAT = "lvmkit-model-1"
_MIXTURES: dict[str, type[Mixture]] = {
    model.__name__: model
    for model in (BernoulliMixture, LatentDirichlet, PoissonMixture, SingleTopic)
}
_ARRAYS = ("weights_", "centers_", "alpha_", "log_likelihoods_", "fit_trace_")
_INIT = ("init_weights", "init_centers")
_SUMS = {
    f"moments_{name}": name
    for name in ("basis", "divisors", "first", "second", "third", "singles", "cubes")
}
_WEIGHTINGS = {weighting.name: weighting for weighting in (EQUAL_ROWS, POISSON, POOLED)}
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    NotImplementedError,
)
_PLAIN = (
    *("n_iter_", "stopped_by_", "clipped_", "data_fingerprint_", "fit_", "init_"),
    *("penalty_", "gap_", "log_likelihood_", "bic_", "converged_"),
)
_FACTOR = "factor_"
_COVARIANCE = "covariance_"
_DENSITY = "density_covariance_"
_TENSORS = ("means_", "discriminants_", "density_means_")
_PER_MODE = ("max_score", "min_score")


def save(
    model: Model,
    path: str | os.PathLike[str],
    *,
    annotations: dict[str, Any] | None = None,
) -> Path:
    """Write a fitted model to a file that holds numbers and text only.

    The file is a zip (npz) of the arrays `weights_`, `centers_`, `alpha_`, `log_likelihoods_`, of means, discriminants
    and covariances of tensors, of the sums
    `moments_` of models of counts, of the nodes of a tree, of the scores of features (not of samples, nor a start given
    as arrays) and, as the text `header`, a JSON object: format, version of lvmkit, class, parameters, names of
    features and modes, the fingerprint of the data and the annotations. No row of
    the data is stored; but the mean of a leaf that holds one row, or equal ones, is that row: grow trees of people
    with `min_samples_leaf` of 11 or more before passing them on. The file is written beside the target and moved
    there, so that a failure leaves the old file; only its owner can read it. A `Generator` given as `random_state` is
    not stored.

    By `moments_`, sums over all rows, `partial_fit` goes on after `load`; they are some three times as large
    as `centers_`, and larger after `partial_fit`. Among them is the total of every feature, and two files saved
    before and after a block differ by the sums of its rows: where rows are people, rare features and small
    blocks can tell about one of them. `del model.moments_` before saving leaves the sums out.

    Parameters
    ----------
    model : BernoulliMixture, PoissonMixture, SingleTopic, LatentDirichlet, SpectralTree, SUSTain or TensorNormalMixture
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
    if isinstance(model, TensorNormalMixture):
        arrays |= {name: getattr(model, name) for name in _TENSORS}
        for stem, parts in (
            (_COVARIANCE, model.covariances_),
            (_DENSITY, model.density_covariances_),
        ):
            arrays |= {f"{stem}{m}": part for m, part in enumerate(parts)}
    elif isinstance(model, SUSTain):
        arrays |= {f"{_FACTOR}{n}": factor for n, factor in enumerate(model.factors_) if n}
    elif not isinstance(getattr(model, "init", ""), str):
        arrays |= dict(zip(_INIT, map(np.asarray, model.init), strict=True))
    if isinstance(model, SpectralTree):
        arrays |= as_arrays(model.tree_)
    sums = _sums(model)
    if sums is not None:
        arrays |= {key: getattr(sums, name) for key, name in _SUMS.items()}
    notes = model.annotations_ if annotations is None else annotations
    _require_text_keys(notes)
    try:
        header = json.dumps(_header(model, notes), allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"annotations or parameters cannot be written as JSON: {error}"
        raise ValueError(msg) from error
    target = Path(path)
    with replacing(target, private=True) as file:
        np.savez_compressed(file, header=np.array(header), **arrays)
    return target


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    BernoulliMixture, PoissonMixture, SingleTopic, LatentDirichlet, SpectralTree, SUSTain or TensorNormalMixture
        Fitted, without `labels_`: predict the rows again. Of a SUSTain `factors_[0]` has no rows: transform them
        again. Without `moments_`, to which `partial_fit` adds, if
        it is a BernoulliMixture or the file was written before they were kept.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is truncated, is not a model of lvmkit, or was written by a later format.
    """
    name, known = Path(path).name, {*_ARRAYS, *_INIT, *_SUMS, *_TENSORS}
    try:
        with Path(path).open("rb") as file:
            if not zipfile.is_zipfile(file):
                msg = "it is cut short or of another kind"
                raise ValueError(msg)
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                header = json.loads(str(stored["header"][()]))
                arrays = {
                    key: stored[key]
                    for key in stored.files
                    if key in known or key.startswith((PREFIX, _FACTOR, _COVARIANCE, _DENSITY))
                }
        return _rebuilt(header, arrays)
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        msg = f"{name} is not a complete lvmkit model file ({error}); save the model again"
        raise ValueError(msg) from error


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a model of lvmkit, of this format or a later one; only its header is read."""
    return is_npz_of(path, FORMAT.rstrip("0123456789"))


def _header(model: Model, annotations: dict[str, Any]) -> dict[str, Any]:
    """Collect what is not an array."""
    names, sums = getattr(model, "feature_names_in_", None), _sums(model)
    params = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in model.get_params(deep=False).items()
        if value is None or isinstance(value, (bool, int, float, str, np.generic))
    }
    if isinstance(model, SUSTain):
        params |= {name: np.asarray(getattr(model, name)).tolist() for name in _PER_MODE}
    return {
        "format": FORMAT,
        "lvmkit": lvmkit.__version__,
        "model": type(model).__name__,
        "params": params,
        "feature_names": None if names is None else [str(name) for name in names],
        "fitted": {name: getattr(model, name) for name in _PLAIN if hasattr(model, name)},
        "annotations": annotations,
        "modes": _modes(model) if isinstance(model, SUSTain) else None,
        "moments": None
        if sums is None
        else {
            "weighting": sums.weighting.name,
            "n_samples": sums.n_samples,
            "n_short": sums.n_short,
        },
    }


def _modes(model: SUSTain) -> list[dict[str, Any]]:
    """Return the names of the modes and of what stands along them."""
    return [
        {"name": name, "labels": None if labels is None else [str(label) for label in labels]}
        for name, labels in zip(model.mode_names_, model.mode_labels_, strict=True)
    ]


def _sums(model: Model) -> SubspaceMoments | None:
    """Return the sums that a model of counts was read off; a BernoulliMixture's, d×d, are not stored."""
    sums = getattr(model, "moments_", None)
    return sums if isinstance(sums, SubspaceMoments) else None


def _rebuilt(header: Any, arrays: dict[str, Any]) -> Model:
    """Make a model from the content of a file."""
    if header["format"] != FORMAT:
        msg = f"its format is {header['format']!r}; lvmkit {lvmkit.__version__} reads {FORMAT!r}"
        raise ValueError(msg)
    if header["model"] == SpectralTree.__name__:
        return _rebuilt_tree(header, arrays)
    if header["model"] == SUSTain.__name__:
        return _rebuilt_scores(header, arrays)
    if header["model"] == TensorNormalMixture.__name__:
        return _rebuilt_tensors(header, arrays)
    if header["model"] not in _MIXTURES:
        others = (SpectralTree, SUSTain, TensorNormalMixture)
        known = [*sorted(_MIXTURES), *(other.__name__ for other in others)]
        msg = f"it holds a {header['model']!r}; known are {known}"
        raise ValueError(msg)
    model = _MIXTURES[header["model"]].from_parameters(
        arrays.get("alpha_", arrays["weights_"]),
        arrays["centers_"],
        feature_names=header["feature_names"],
    )
    model.set_params(**header["params"])
    if all(key in arrays for key in _INIT):
        model.init = tuple(arrays[key] for key in _INIT)
    # Normalizing again would change the last digit, and with it, perhaps, a label: all arrays are set as stored.
    fitted = {key: arrays[key] for key in _ARRAYS if key in arrays}
    for key, value in (
        fitted | {key: header["fitted"][key] for key in _PLAIN if key in header["fitted"]}
    ).items():
        setattr(model, key, value)
    model.annotations_ = header["annotations"]
    sums = header.get("moments")  # files of earlier versions have none
    if sums is not None and not isinstance(model, BernoulliMixture):
        model.moments_ = SubspaceMoments(
            weighting=_WEIGHTINGS[sums["weighting"]],
            n_samples=sums["n_samples"],
            n_short=sums["n_short"],
            **{name: arrays[key] for key, name in _SUMS.items()},
        )
    return model


def _rebuilt_tree(header: Any, arrays: dict[str, Any]) -> SpectralTree:
    """Make a tree from the content of a file."""
    names = header["feature_names"]
    tree = Tree(nodes_of(arrays), None if names is None else np.asarray(names, dtype=object))
    model = SpectralTree.from_tree(tree).set_params(**header["params"])
    for key in _PLAIN:
        if key in header["fitted"]:
            setattr(model, key, header["fitted"][key])
    model.annotations_ = header["annotations"]
    return model


def _rebuilt_scores(header: Any, arrays: dict[str, Any]) -> SUSTain:
    """Make integer factors from the content of a file; the samples' are empty."""
    modes, weights = header["modes"], arrays["weights_"]
    factors = [arrays[f"{_FACTOR}{n}"] for n in range(1, len(modes))]
    model = SUSTain.from_parameters(
        weights,
        [np.zeros((0, len(weights)), dtype=np.int64), *factors],
        mode_names=[mode["name"] for mode in modes],
        mode_labels=[
            None if mode["labels"] is None else np.asarray(mode["labels"], dtype=object)
            for mode in modes
        ],
    ).set_params(**header["params"])
    model.annotations_ = header["annotations"]
    if "fit_trace_" in arrays:
        model.fit_trace_ = arrays["fit_trace_"]
    for key in _PLAIN:
        if key in header["fitted"]:
            setattr(model, key, header["fitted"][key])
    return model


def _rebuilt_tensors(header: Any, arrays: dict[str, Any]) -> TensorNormalMixture:
    """Make a mixture of tensors from the content of a file."""
    means = arrays["means_"]
    model = TensorNormalMixture.from_parameters(
        arrays["weights_"],
        means,
        [arrays[f"{_COVARIANCE}{m}"] for m in range(means.ndim - 1)],
        discriminants=arrays["discriminants_"],
    ).set_params(**header["params"])
    model.density_means_ = arrays["density_means_"]
    model.density_covariances_ = [arrays[f"{_DENSITY}{m}"] for m in range(means.ndim - 1)]
    if header["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(header["feature_names"], dtype=object)
    model.annotations_ = header["annotations"]
    for key in _PLAIN:
        if key in header["fitted"]:
            setattr(model, key, header["fitted"][key])
    return model


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
