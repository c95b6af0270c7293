"""Files of models and tensors: those of the first format load, and those of strangers are believed no more than data.

`tests/stored` holds one file of every kind as lvmkit 0.1.0 wrote it before its content was checked.
"""

import contextlib
import io
import json
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit import TensorNormalMixture
from lvmkit.cohorts import CountTensor
from lvmkit.storage import is_model_file

STORED = sorted((Path(__file__).parent / "stored").glob("*.npz"))
MODELS = [path for path in STORED if path.stem != "CountTensor"]
TENSOR = Path(__file__).parent / "stored" / "CountTensor.npz"


def read(path):
    return CountTensor.load(path) if path.stem.startswith("CountTensor") else lvmkit.load(path)


def content(path):
    with np.load(path) as stored:
        arrays = dict(stored)
    return json.loads(str(arrays.pop("header"))), arrays


def written(path, header, arrays):
    np.savez_compressed(path, header=np.array(json.dumps(header)), **arrays)
    return path


def same(first, second):
    """Tell whether two models or tensors hold the same."""
    if isinstance(first, CountTensor):
        whole = (first.counts != second.counts).nnz == 0 and first.modes == second.modes
        return whole and all(a.equals(b) for a, b in zip(first.labels, second.labels, strict=True))
    mine, theirs = vars(first), vars(second)
    return repr(sorted(mine.items())) == repr(sorted(theirs.items()))


def use(found):
    """Ask of a model, or tensor, what one asks first."""
    if isinstance(found, CountTensor):
        with contextlib.suppress(ValueError):  # sums that no float32 holds
            found.cohort()
    elif isinstance(found, TensorNormalMixture):
        found.predict(np.zeros((2, *found.means_.shape[1:])))
    elif len(getattr(found, "factors_", ())) < 3:
        names = getattr(found, "feature_names_in_", None)
        rows = pd.DataFrame(np.ones((2, found.n_features_in_)), columns=names)
        (found.predict if hasattr(found, "predict") else found.transform)(rows)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_files_of_the_first_format_load_and_come_back_the_same(path, tmp_path):
    found = read(path)
    use(found)
    if isinstance(found, CountTensor):
        again = CountTensor.load(found.save(tmp_path / "again.npz"))
    else:
        again = lvmkit.load(lvmkit.save(found, tmp_path / "again.npz"))
        assert is_model_file(path)
    assert same(found, again)


def nan(values, place=0):
    values = values.copy()
    values.flat[place] = np.nan
    return values


ARRAYS = {
    ("BernoulliMixture", "centers_"): [
        (nan, "'centers_' holds nan at [0, 0]"),
        (lambda v: v.astype(complex), "no array of whole or real numbers"),
        (lambda v: v + 1, "centers"),
        (lambda v: v[:, :3], "feature_names has 6 names"),
        (lambda v: v[0], "shape"),
        (lambda v: v[:0], "shape"),
        (lambda v: v.astype(np.float16), "no array of whole or real numbers"),
        (lambda v: v.astype(str), "an array of <U"),
    ],
    ("BernoulliMixture", "weights_"): [
        (lambda v: v * 2, "'weights_' is not what such a model has"),
        (lambda v: -v, "weights"),
        (lambda v: np.full_like(v, np.inf), "'weights_' holds inf"),
        (lambda v: np.append(v, 0.0), "shape"),
    ],
    ("BernoulliMixture", "log_likelihoods_"): [
        (lambda v: v[None], "'log_likelihoods_' has the shape"),
        (nan, "holds nan"),
    ],
    ("BernoulliMixture_given", "init_centers"): [(lambda v: v[:, :2], "shape"), (nan, "holds nan")],
    ("LatentDirichlet", "alpha_"): [(lambda v: -v, "weights"), (lambda v: v[:1], "shape")],
    ("SingleTopic", "centers_"): [
        (lambda v: v * 0, "have no word"),
        (lambda v: v * 3, "normalized"),
    ],
    ("SingleTopic", "moments_cubes"): [(lambda v: v[0], "shape"), (nan, "holds nan")],
    ("PoissonMixture", "moments_basis"): [(lambda v: v[:2], "shape"), (lambda v: v[0], "shape")],
    ("PoissonMixture", "moments_divisors"): [(lambda v: -v, "negative")],
    ("PoissonMixture", "centers_"): [(lambda v: -v, "centers must be at least 0"), (nan, "nan")],
    ("SpectralTree", "tree_mean"): [(nan, "holds nan"), (lambda v: v[:-1], "incomplete")],
    ("SpectralTree", "tree_size"): [
        (lambda v: -v, "holds -"),
        (lambda v: v + 1, "incomplete"),
        (lambda v: v * 1.0, "an array of float64"),
        (lambda v: v[:-1], "shape"),
    ],
    ("SpectralTree", "tree_parent"): [
        (lambda v: v * 0, "has the parent 0"),
        (lambda v: v + 10**6, "has the parent"),
        (lambda v: v[None], "shape"),
    ],
    ("SpectralTree", "tree_strength"): [(lambda v: v * 1e9, "outside -1 to 1")],
    ("SpectralTree", "tree_rule"): [(lambda v: np.full_like(v, "no"), "incomplete")],
    ("SpectralTree", "tree_discriminators"): [
        (nan, "holds nan"),
        (lambda v: v[:, :1], "incomplete"),
    ],
    ("SpectralTree", "centers_"): [(lambda v: v + 1, "'centers_' is not what")],
    ("SUSTain", "factor_1"): [
        (lambda v: v * 0 + 10**9, "holds scores above 1,000"),
        (lambda v: v * 0 + 7, "scores from 7 to 7, outside 0 to 3"),
        (lambda v: v * 1.0, "an array of float64"),
        (lambda v: v[:, :2], "shape"),
        (lambda v: v[:2], "has 5 labels and 2 rows"),
    ],
    ("SUSTain", "weights_"): [(lambda v: -v, "weights must hold whole numbers")],
    ("TensorNormalMixture", "means_"): [(nan, "holds nan"), (lambda v: v[..., 0], "")],
    ("TensorNormalMixture", "covariance_0"): [
        (lambda v: -v, "positive definite"),
        (lambda v: v * np.inf, "holds"),
        (lambda v: v[:2], "shape"),
    ],
    ("TensorNormalMixture", "density_covariance_1"): [(lambda v: v * 0, "positive definite")],
    ("TensorNormalMixture", "density_means_"): [(lambda v: v[:1], "shape")],
    ("TensorNormalMixture", "discriminants_"): [(nan, "nan"), (lambda v: v[:, :1], "shape")],
    ("TensorNormalMixture", "weights_"): [(lambda v: v * 2, "sum to 1")],
    ("CountTensor", "counts"): [
        (lambda v: v * 1.0, "of float64"),
        (lambda v: -v, "-"),
        (lambda v: v[:-1], "do not belong"),
        (lambda v: v.astype(np.int8), "of int8"),
    ],
    ("CountTensor", "places"): [
        (lambda v: v + 10**6, "outside mode 0"),
        (lambda v: v - 1, "outside mode"),
        (lambda v: v[:2], "do not belong"),
    ],
    ("CountTensor", "names1"): [
        (lambda v: np.full_like(v, "a"), "repeats 'a'"),
        (lambda v: v[:2], "expected (5,)"),
    ],
    ("CountTensor", "column0_0"): [(lambda v: v[:2], "expected (30,)")],
    ("CountTensor", "column0_1_missing"): [(lambda v: v.astype(int), "has the type int")],
}


@pytest.mark.parametrize(("kind", "key"), ARRAYS, ids=lambda text: text)
def test_arrays_that_no_model_has_are_refused_in_one_sentence(kind, key, tmp_path):
    header, arrays = content(TENSOR.with_stem(kind))
    for change, words in ARRAYS[kind, key]:
        path = written(tmp_path / f"{kind}.npz", header, arrays | {key: change(arrays[key])})
        with pytest.raises(ValueError, match="is not a complete") as caught:
            read(path)
        assert words in str(caught.value), str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_arrays_that_are_missing_are_named(path, tmp_path):
    header, arrays = content(path)
    optional = {"log_likelihoods_", "fit_trace_", "alpha_", "init_weights", "init_centers"}
    optional |= {"weights_", "centers_"} if header.get("model") == "SpectralTree" else set()
    for key in arrays.keys() - optional:
        others = {name: values for name, values in arrays.items() if name != key}
        with pytest.raises(
            ValueError, match=f"it lacks '{key.removeprefix('tree_')}'|it lacks '{key}'"
        ):
            read(written(tmp_path / path.name, header, others))


def deep(n):
    inner = []
    for _ in range(n):
        inner = [inner]
    return inner


HEADERS = {
    "BernoulliMixture": [
        ({"format": 3}, "its format is 3"),
        ({"model": "Other"}, "it holds a 'Other'"),
        ({"model": ["BernoulliMixture"]}, "it holds a"),
        ({"feature_names": [*"abcdea"[:5], "a"]}, "'a' stand more than once"),
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
        ({"feature_names": [1, 2, 3, 4, 5, 6]}, "no list of texts"),
        ({"feature_names": "abcdef"}, "no list of texts"),
        ({"params": []}, "params of its header is a list"),
        ({"params": {"n_clusters": 2}}, "has no parameter 'n_clusters'"),
        ({"params": {"return": None}}, "has no parameter 'return'"),
        ({"params": {"n_components": "two"}}, "the parameter n_components is 'two' (str)"),
        ({"params": {"n_components": -1}}, "n_components must be a whole number"),
        ({"params": {"em": "no"}}, "the parameter em is 'no'"),
        ({"params": {"tol": -1}}, "tol must be a number, at least 0"),
        ({"params": {"init": "unknown"}}, "init='unknown' is unknown"),
        ({"params": {"init": {"a": 1}}}, "the parameter init is"),
        ({"params": {"random_state": 1.5}}, "the parameter random_state"),
        ({"fitted": {"n_iter_": -3}}, "n_iter_ is '-3'"),
        ({"fitted": {"n_iter_": "x"}}, "n_iter_ is 'x'"),
        ({"fitted": {"clipped_": [1]}}, "clipped_ is"),
        ({"fitted": {"clipped_": float("nan")}}, "holds the number nan"),
        ({"fitted": {"stopped_by_": 1}}, "stopped_by_ is"),
        ({"fitted": {"fit_": 10**400}}, "fit_ is '1000"),
        ({"fitted": {"gap_": -(10**400)}}, "gap_ is '-1000"),
        ({"fitted": {"n_iter_": 10**4000}}, "n_iter_ is '1000"),
        ({"params": {"n_components": 10**400}}, "the parameter n_components is '1000"),
        ({"params": {"n_components": 3}}, "n_components is 3, and there are 2 weights"),
        ({"params": {"random_state": 10**4000}}, "the parameter random_state is '1000"),
        ({"annotations": [1]}, "annotations of its header is a list"),
        ({"annotations": None}, "annotations of its header is a NoneType"),
        ({"annotations": {"x": deep(200)}}, "nested more than 100 deep"),
        ({"annotations": {"x": float("inf")}}, "holds the number inf"),
    ],
    "PoissonMixture": [
        ({"moments": {"weighting": "POISSON", "n_samples": -1, "n_short": 0}}, "of -1 rows"),
        ({"moments": {"weighting": "POISSON", "n_samples": 1, "n_short": "x"}}, "'x' of them"),
        ({"moments": {"weighting": "OTHER", "n_samples": 1, "n_short": 0}}, "it lacks 'OTHER'"),
        ({"moments": {}}, "it lacks"),
        ({"moments": 3}, ""),
    ],
    "SpectralTree": [
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
        ({"params": {"max_depth": -1}}, "max_depth must be a whole number"),
    ],
    "SUSTain": [
        ({"modes": None}, "modes are no list"),
        ({"modes": [{"name": "a", "labels": None}] * 3}, "'a' stand more than once"),
        ({"modes": [{"name": n, "labels": ["x"] * 5} for n in "abc"]}, "'x' stand more than once"),
        ({"modes": [{"name": n} for n in "abc"]}, "it lacks 'labels'"),
        ({"modes": [{"name": str(n), "labels": None} for n in range(40)]}, "it lacks 'factor_3'"),
        ({"params": {"n_components": 2}}, "n_components is 2, and there are 3 weights"),
        ({"params": {"max_score": 10**11}}, "max_score of mode 0 must be at most 1,000 in size"),
        ({"params": {"max_score": [5, 3]}}, "max_score"),
        ({"params": {"max_score": [5, 3, "x"]}}, "the parameter max_score"),
    ],
    "TensorNormalMixture": [
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
        ({"params": {"shrinkage": 7}}, "shrinkage must be below 1"),
    ],
    "CountTensor": [
        ({"format": "lvmkit-model-1"}, "of format 'lvmkit-model-1'"),
        ({"shape": [10**12, 5, 3]}, "its shape is"),
        ({"shape": [2**30, 5, 3]}, "expected (1073741824,)"),
        ({"shape": [30, 5]}, "do not belong"),
        ({"shape": [-30, 5, 3]}, "its shape is"),
        ({"shape": "abc"}, "its shape is"),
        ({"modes": ["a", "a", "b"]}, "repeats a name"),
        ({"modes": ["a", "b"]}, "no lists of the same length"),
        ({"modes": [1, 2, 3]}, "modes"),
        ({"columns": [[["age", "pickle"]], [], []]}, "no pairs of a name and a kind"),
        ({"columns": [[["a", "number"], ["a", "number"]], [], []]}, "not distinct"),
        ({"columns": [3, [], []]}, ""),
        ({"source": 3}, "source is no text"),
        ({"about": [1]}, "no mapping"),
        ({"about": {"x": deep(200)}}, "nested more than 100 deep"),
    ],
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_that_no_model_has_are_refused_in_one_sentence(kind, tmp_path):
    header, arrays = content(TENSOR.with_stem(kind))
    for change, words in HEADERS[kind]:
        path = written(tmp_path / f"{kind}.npz", header | change, arrays)
        with pytest.raises(ValueError, match="is not a complete") as caught:
            read(path)
        assert words in str(caught.value), (change, str(caught.value))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "header", ["[]", "3", "null", "", "{", '"x"', "[" * 10**5, '{"a":' * 10**5]
)
@pytest.mark.parametrize("kind", ["BernoulliMixture", "CountTensor"])
def test_headers_that_are_no_mapping_are_refused(kind, header, tmp_path):
    path = tmp_path / f"{kind}.npz"
    np.savez(path, header=np.array(header), **content(TENSOR.with_stem(kind))[1])
    with pytest.raises(ValueError, match="is not a complete"):
        read(path)


def zipped(path, members, **options):
    """Write a zip of given bytes, such as arrays that declare what they do not hold."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


def npy(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def declaring(descr, shape, data=b""):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return file.getvalue() + data


def peak_of(path, words):
    """Return the most memory that was taken to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is not a complete") as caught:
            read(path)
        assert words in str(caught.value), str(caught.value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["BernoulliMixture", "CountTensor"])
def test_sizes_are_known_before_anything_is_read(kind, tmp_path):
    header, arrays = content(TENSOR.with_stem(kind))
    key = {"BernoulliMixture": "centers_", "CountTensor": "counts"}[kind]
    whole = [("header.npy", npy(np.array(json.dumps(header))))]
    whole += [(f"{name}.npy", npy(values)) for name, values in arrays.items() if name != key]
    path = tmp_path / f"{kind}.npz"
    declared = {
        "declares 8,000,000,000,000 bytes": declaring("<f8", (10**12,)),
        "declares 0 bytes": declaring("<f8", (0, 10**15), b"x" * 9),
        "'shape': (-1, -8)": declaring("<f8", (-1, -8), b"x" * 64),
        "'descr': '|O'": declaring("|O", (1,), b"x" * 8),
        "'descr': [('a', '<f8')]": declaring([("a", "<f8")], (1,), b"x" * 8),
        "'descr': '<c16'": declaring("<c16", (1,), b"x" * 16),
        "((((((((": b"\x93NUMPY\x01\x00" + struct.pack("<H", 5000) + b"(" * 5000,
    }
    for words, data in declared.items():
        assert peak_of(zipped(path, [*whole, (f"{key}.npy", data)]), words) < 5e6
    bomb = npy(np.zeros(20_000_000))
    zipped(path, [*whole, (f"{key}.npy", bomb)])
    assert path.stat().st_size < 1e6
    with pytest.raises(ValueError, match="max_bytes=10,000,000 allows no more"):
        (CountTensor.load if kind == "CountTensor" else lvmkit.load)(path, max_bytes=10_000_000)
    with pytest.warns(UserWarning, match="Duplicate name"):
        zipped(path, [*whole, ("header.npy", whole[0][1])])
    assert peak_of(path, "holds 'header' twice") < 5e6
    text = npy(np.array(["{" + " " * 9_000_000 + "}"]))
    zipped(path, [("header.npy", text)])
    del text
    assert peak_of(path, "its header takes") < 5e6
    zipped(path, [*whole, *((f"covariance_{n}.npy", b"") for n in range(10_001))])
    assert peak_of(path, "arrays; at most 10,000") < 5e7


def test_short_texts_count_as_what_they_take_in_python(tmp_path):
    header, arrays = content(TENSOR)
    arrays["names0"] = np.zeros(1_000_000, dtype="<U1")
    path = written(tmp_path / "CountTensor.npz", header, arrays)
    with pytest.raises(ValueError, match="max_bytes=10,000,000 allows no more"):
        CountTensor.load(path, max_bytes=10_000_000)


def test_a_file_is_read_up_to_the_bytes_allowed(tmp_path):
    assert lvmkit.load(MODELS[0], max_bytes=5_000).n_components == 2
    with pytest.raises(ValueError, match="raise that if you trust the file"):
        lvmkit.load(MODELS[0], max_bytes=1_000)
    with pytest.raises(TypeError, match="max_bytes must be a whole number"):
        lvmkit.load(MODELS[0], max_bytes="all")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_damaged_bytes_give_the_same_model_or_one_sentence(path, tmp_path):
    found, data, rng = read(path), path.read_bytes(), np.random.default_rng(0)
    target = tmp_path / path.name
    for trial in range(150):
        damaged = bytearray(data)
        for place in rng.integers(len(data), size=rng.integers(1, 6)):
            damaged[place] = rng.integers(256)
        if trial % 10 == 0:
            del damaged[rng.integers(len(data)) :]
        target.write_bytes(damaged)
        try:
            again = read(target)
        except ValueError as error:
            assert "is not a complete" in str(error)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert same(found, again)


def altered(value, rng):
    """Return something else in the place of a part of a header, or of an array."""
    if isinstance(value, np.ndarray):
        kinds = [nan, lambda v: v[:-1], lambda v: v[..., None], lambda v: v * 0, lambda v: -v]
        kinds += [lambda v: v + 10**8, lambda v: v.astype(np.float32), lambda v: v.astype(str)]
        try:
            return kinds[rng.integers(len(kinds))](value)
        except (TypeError, ValueError, IndexError):
            return np.zeros(3)
    others = [None, -1, 10**30, 0.5, True, "x", "", [], {}, [1], {"a": 1}, ["a", "a"], [[]], 1e308]
    return others[rng.integers(len(others))]


def alter(holder, rng):
    """Change a part, somewhere inside."""
    if not holder:
        return
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    key = list(keys)[rng.integers(len(keys))]
    if isinstance(holder[key], dict | list) and rng.random() < 0.7:
        alter(holder[key], rng)
    elif rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = altered(holder[key], rng)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")
def test_altered_contents_give_a_model_that_works_or_one_sentence(path, tmp_path):
    rng, target = np.random.default_rng(1), tmp_path / path.name
    loaded = 0
    for _ in range(150):
        header, arrays = content(path)
        alter(header if rng.random() < 0.6 else arrays, rng)
        written(target, header, arrays)
        try:
            again = read(target)
        except ValueError as error:
            assert "is not a complete" in str(error)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
            assert len(str(error)) < 600  # noqa: PT017
        else:
            loaded += 1
            use(again)
            repr(again)
    assert loaded < 150


def test_reasons_other_than_the_content_are_told_as_they_are(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"cannot read .*absent\.npz': there is no such file"
    ):
        lvmkit.load(tmp_path / "absent.npz")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        lvmkit.load(tmp_path)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    for load in (lvmkit.load, CountTensor.load):
        with pytest.raises(PermissionError, match="you have no permission to read it") as caught:
            load(TENSOR)
        assert "save" not in str(caught.value)


def test_what_load_would_refuse_is_not_saved(tmp_path):
    model = lvmkit.load(MODELS[0])
    path = lvmkit.save(model, tmp_path / "model.npz")
    before = path.read_bytes()
    model.centers_ = nan(model.centers_)
    with pytest.raises(
        ValueError, match="cannot be saved, since load would refuse it: 'centers_' h"
    ):
        lvmkit.save(model, path)
    model = lvmkit.load(MODELS[0]).set_params(max_iter=0)
    with pytest.raises(ValueError, match="max_iter must be a whole number"):
        lvmkit.save(model, path)
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        lvmkit.save(lvmkit.load(MODELS[0]), path, annotations={"x": deep(200)})
    assert path.read_bytes() == before
