"""Models as files of data: arrays and JSON, never code."""

import json
import os
import sys
from collections import Counter
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
from lvmkit.core.validation import listed
from lvmkit.core.versions import __version__
from lvmkit.core.writing import replacing
from lvmkit.mixtures._moments import MomentModel
from lvmkit.mixtures.initialization import given_params
from lvmkit.models import (
    BernoulliMixture,
    LatentDirichlet,
    PoissonMixture,
    SingleTopic,
    SpectralTree,
    SUSTain,
    TensorNormalMixture,
)
from lvmkit.moments.subspaces import SubspaceMoments
from lvmkit.moments.weightings import EQUAL_ROWS, POISSON, POOLED
from lvmkit.tensors.mixture import checked_options
from lvmkit.tensors.validation import require_covariance
from lvmkit.trees import Tree
from lvmkit.trees.nodes import PREFIX, as_arrays, nodes_of

Mixture = BernoulliMixture | LatentDirichlet | PoissonMixture | SingleTopic
Model = Mixture | SpectralTree | SUSTain | TensorNormalMixture

FORMAT = "lvmkit-model-1"
KIND = "lvmkit model file"
WHOLE = 2**53
"""What is counted stays below it."""
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
_PLAIN: dict[str, type] = {
    **dict.fromkeys(("stopped_by_", "data_fingerprint_", "init_"), str),
    **dict.fromkeys(("clipped_", "fit_", "penalty_", "gap_", "log_likelihood_", "bic_"), float),
    **{"n_iter_": int, "converged_": bool},
}
_FACTOR = "factor_"
_COVARIANCE = "covariance_"
_DENSITY = "density_covariance_"
_TENSORS = ("means_", "discriminants_", "density_means_")
_PER_MODE = ("max_score", "min_score")
_KINDS = {f"{PREFIX}{name}": "i" for name in ("parent", "size")} | {
    f"{PREFIX}{name}": "U" for name in ("rule", "reason")
}
_MAY_BE_NAN = (f"{PREFIX}strength", f"{PREFIX}support")
_OTHERS = (SpectralTree, SUSTain, TensorNormalMixture)


@checked()
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
    there when it is on the disk, so that a failure leaves the old file; only its owner can read it. A link is
    followed. A `Generator` given as `random_state` is
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
        If the model is not fitted or holds what `load` would refuse, or the annotations cannot be written as JSON.
    OSError
        If the file cannot be written; the old one is as it was.

    Examples
    --------
    >>> m = BernoulliMixture.from_parameters([1.0], [[0.5, 0.5]], feature_names=["428", "401"])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(m, Path(folder) / "model.npz")).feature_names_in_
    array(['428', '401'], dtype=object)
    """
    if not hasattr(model, "weights_"):
        msg = f"model must be fitted; this {type(model).__name__} is not fitted yet: call fit before save"
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
        arrays |= as_arrays(model.tree_.nodes)
    sums = _sums(model)
    if sums is not None:
        arrays |= {key: getattr(sums, name) for key, name in _SUMS.items()}
    notes = model.annotations_ if annotations is None else annotations
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
    BernoulliMixture, PoissonMixture, SingleTopic, LatentDirichlet, SpectralTree, SUSTain or TensorNormalMixture
        Fitted, without `labels_`: predict the rows again. Of a SUSTain `factors_[0]` has no rows: transform them
        again. Without `moments_`, to which `partial_fit` adds, if
        it is a BernoulliMixture or the file was written before they were kept.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, OSError
        If there is no such file, or it may not or cannot be read.
    ValueError
        If the file is truncated, is not a model of lvmkit, was written by a later format, holds what no model does, or
        more than `max_bytes`.
    """
    known = {*_ARRAYS, *_INIT, *_SUMS, *_TENSORS, "header"}
    stems = (PREFIX, _FACTOR, _COVARIANCE, _DENSITY)
    arrays = read_npz(
        path, KIND, lambda key: key in known or key.startswith(stems), max_bytes=max_bytes
    )
    with complete(path, KIND):
        return _rebuilt(json_of(arrays.pop("header")), arrays)


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
        "lvmkit": __version__,
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
    """Make a model from the content of a file, as strictly as from fresh data."""
    _require_header(header)
    for key, values in arrays.items():
        _require_numbers(key, values)
    name, names = header["model"], header["feature_names"]
    if name == SpectralTree.__name__:
        model: Any = _rebuilt_tree(names, arrays)
    elif name == SUSTain.__name__:
        model = _rebuilt_scores(header["modes"], arrays)
    elif name == TensorNormalMixture.__name__:
        model = _rebuilt_tensors(names, arrays)
    else:
        model = _rebuilt_mixture(_MIXTURES[name], names, arrays)
    _take_params(model, header["params"])
    if all(key in arrays for key in _INIT):
        model.init = tuple(_given_start(arrays, model.n_features_in_))
    for key in ("log_likelihoods_", "fit_trace_"):
        if key in arrays:
            _require_shape(arrays, key, (arrays[key].size,))
            setattr(model, key, arrays[key])
    for key, value in header["fitted"].items():
        if key in _PLAIN:
            _require_plain(key, value)
            setattr(model, key, value)
    if header.get("moments") is not None and isinstance(model, MomentModel):
        model.moments_ = _rebuilt_sums(model, header["moments"], arrays)
    _require_options(model)
    _require_components(model)
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
    known = [*sorted(_MIXTURES), *(other.__name__ for other in _OTHERS)]
    if header["model"] not in known:
        msg = f"it holds a {header['model']!r}; known are {known}"
        raise ValueError(msg)
    for part in ("params", "fitted", "annotations"):
        if not isinstance(header[part], dict):
            msg = f"{part} of its header is a {type(header[part]).__name__}, not a JSON object"
            raise ValueError(msg)
    names = header["feature_names"]
    if names is not None:
        _require_names("feature_names", names)


def _require_names(name: str, values: Any) -> None:
    """Refuse what is no list of different texts."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        msg = f"{name} of its header is no list of texts"
        raise ValueError(msg)
    if len(set(values)) < len(values):
        repeated = [value for value, count in Counter(values).items() if count > 1]
        msg = f"{name} must be distinct; {listed(repeated)} stand more than once"
        raise ValueError(msg)


def _require_numbers(key: str, values: Any) -> None:
    """Refuse an array of another type than `save` writes, and numbers that are not finite."""
    kind = _KINDS.get(key, "f")
    if key.startswith(_FACTOR):
        kind = "i"
    if values.dtype.kind not in (kind, "i" if key == "weights_" else kind):
        msg = f"{key!r} is an array of {values.dtype}"
        raise ValueError(msg)
    if values.dtype.kind != "f" or key in _MAY_BE_NAN:
        return
    if not np.isfinite(values).all():
        wrong = int(np.argmin(np.isfinite(values)))
        place = [int(n) for n in np.unravel_index(wrong, values.shape)]
        msg = f"{key!r} holds {values.flat[wrong]} at {place}"
        raise ValueError(msg)


def _require_shape(arrays: dict[str, Any], key: str, shape: tuple[int, ...]) -> None:
    """Refuse an array whose shape does not fit the others."""
    if arrays[key].shape != shape:
        msg = f"{key!r} has the shape {arrays[key].shape}; expected {shape}"
        raise ValueError(msg)


def _require_same(given: Any, stored: Any, key: str) -> None:
    """Refuse numbers that the model would not have made of what is stored, but for rounding."""
    if given is stored:  # nothing was normalized
        return
    if given.shape != stored.shape or not np.allclose(given, stored, rtol=1e-9, atol=1e-9):
        msg = (
            f"{key!r} is not what such a model has: it is not normalized, or does not fit the rest"
        )
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
    asked, found = getattr(model, "n_components", None), len(model.weights_)
    if asked is not None and asked != found:
        msg = (
            f"the parameter n_components is {asked!r:.50}, and there are {found} weights: set it back, or fit the "
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
        if not _fits(value, hints[name], name):
            msg = f"the parameter {name} is {str(value)[:50]!r} ({type(value).__name__})"
            raise ValueError(msg)
    model.set_params(**params)


def _fits(value: Any, hint: Any, name: str) -> bool:
    """Tell whether what JSON holds is of a parameter's type; of sequences only those of whole numbers are stored."""
    if hint is Any:  # starts and the like, which are stored if they are names
        return value is None or isinstance(value, str)
    if isinstance(value, list):
        return name in _PER_MODE and all(type(item) is int for item in value)
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return False
    types = set(get_args(hint) or (hint,))
    types |= {int} if float in types else set()
    return type(value) in types


def _require_options(model: Any) -> None:
    """Check the parameters of the constructor as `fit` does."""
    if isinstance(model, TensorNormalMixture):
        checked_options(model)
    elif isinstance(model, SUSTain):
        for box, factor in zip(
            model._check_options(len(model.factors_)), model.factors_, strict=True
        ):
            if factor.size and not (box.least <= factor.min() and factor.max() <= box.most):
                found = f"scores from {factor.min()} to {factor.max()}"
                msg = f"it holds {found}, outside {box.least} to {box.most}"
                raise ValueError(msg)
    elif isinstance(model, BernoulliMixture):
        model._check_options(sys.maxsize)
    else:
        model._check_options()


def _rebuilt_mixture(kind: type[Mixture], names: Any, arrays: dict[str, Any]) -> Mixture:
    """Make a mixture or topics from the content of a file."""
    alpha = "alpha_" if kind is LatentDirichlet and "alpha_" in arrays else "weights_"
    model = kind.from_parameters(arrays[alpha], arrays["centers_"], feature_names=names)
    # Normalizing again would change the last digit, and with it, perhaps, a label: all arrays are set as stored.
    for key in ("weights_", "centers_", alpha):
        _require_same(getattr(model, key), arrays[key], key)
        setattr(model, key, arrays[key])
    return model


def _given_start(arrays: dict[str, Any], d: int) -> list[Any]:
    """Return the start that a model was given as arrays."""
    weights, centers = (arrays[key] for key in _INIT)
    given_params(weights, centers, None, d)
    return [weights, centers]


def _rebuilt_sums(model: Any, about: Any, arrays: dict[str, Any]) -> SubspaceMoments:
    """Make the sums of a model of counts from the content of a file."""
    d, q = model.n_features_in_, arrays["moments_basis"].shape[-1]
    shapes = {"basis": (d, q), "divisors": (3,), "first": (d,), "second": (d, q)}
    shapes |= {"third": (d, q), "singles": (d,), "cubes": (q, q, q)}
    for key, name in _SUMS.items():
        _require_shape(arrays, key, shapes[name])
    counts = [about[name] for name in ("n_samples", "n_short")]
    if not all(type(n) is int for n in counts) or not 0 <= counts[1] <= counts[0]:
        msg = f"its sums are of {counts[0]!r} rows, {counts[1]!r} of them short"
        raise ValueError(msg)
    if arrays["moments_divisors"].min() < 0:
        msg = "divisors of its sums are negative"
        raise ValueError(msg)
    return SubspaceMoments(
        weighting=_WEIGHTINGS[about["weighting"]],
        n_samples=counts[0],
        n_short=counts[1],
        **{name: arrays[key] for key, name in _SUMS.items()},
    )


def _rebuilt_tree(names: Any, arrays: dict[str, Any]) -> SpectralTree:
    """Make a tree from the content of a file."""
    nodes = nodes_of({key: values for key, values in arrays.items() if key.startswith(PREFIX)})
    d = len(nodes[0].mean) if nodes else 0
    if names is not None and len(names) != d:
        msg = f"feature_names has {len(names)} names; the means of the tree have {d} features"
        raise ValueError(msg)
    model = SpectralTree.from_tree(
        Tree(nodes, None if names is None else np.asarray(names, dtype=object))
    )
    for key in ("weights_", "centers_"):
        if key in arrays:
            _require_same(getattr(model, key), arrays[key], key)
    return model


def _rebuilt_scores(modes: Any, arrays: dict[str, Any]) -> SUSTain:
    """Make integer factors from the content of a file; the samples' are empty."""
    if not isinstance(modes, list) or len(modes) < 2:
        msg = "its modes are no list of two or more"
        raise ValueError(msg)
    _require_names("modes", [mode["name"] for mode in modes])
    for mode in modes:
        if mode["labels"] is not None:
            _require_names(f"labels of {mode['name']!r}", mode["labels"])
    weights = arrays["weights_"]
    factors = [arrays[f"{_FACTOR}{n}"] for n in range(1, len(modes))]
    for mode, factor in zip(modes[1:], factors, strict=True):
        if mode["labels"] is not None and len(mode["labels"]) != len(factor):
            msg = f"{mode['name']!r} has {len(mode['labels'])} labels and {len(factor)} rows of scores"
            raise ValueError(msg)
    return SUSTain.from_parameters(
        weights,
        [np.zeros((0, len(weights)), dtype=np.int64), *factors],
        mode_names=[mode["name"] for mode in modes],
        mode_labels=[
            None if mode["labels"] is None else np.asarray(mode["labels"], dtype=object)
            for mode in modes
        ],
    )


def _rebuilt_tensors(names: Any, arrays: dict[str, Any]) -> TensorNormalMixture:
    """Make a mixture of tensors from the content of a file."""
    means = arrays["means_"]
    covariances, densities = (
        [arrays[f"{stem}{m}"] for m in range(means.ndim - 1)] for stem in (_COVARIANCE, _DENSITY)
    )
    model = TensorNormalMixture.from_parameters(
        arrays["weights_"], means, covariances, discriminants=arrays["discriminants_"]
    )
    _require_shape(arrays, "density_means_", means.shape)
    for m, part in enumerate(densities):
        require_covariance(part, f"{_DENSITY}{m}", means.shape[m + 1])
    model.density_means_, model.density_covariances_ = arrays["density_means_"], densities
    if names is not None:
        if len(names) != model.n_features_in_:
            msg = f"feature_names has {len(names)} names; the means have {model.n_features_in_} features"
            raise ValueError(msg)
        model.feature_names_in_ = np.asarray(names, dtype=object)
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
