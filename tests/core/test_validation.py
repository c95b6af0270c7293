"""The gate: what is broken is refused before compiled code sees it, wherever a matrix enters.

Broken indexes may end the process, so they are tried in one of its own: this file is also the script that
tries them.
"""

import json
import subprocess
import sys
import warnings
from decimal import Decimal

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import lvmkit
from lvmkit import charts, cohorts, decompose, disclosure, models, moments, scores
from lvmkit.core import validation
from lvmkit.core.validation import check_structure, summable, with_gaps
from lvmkit.covariates import similarities
from lvmkit.mixtures import gibbs

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")
N, D = 40, 6


def data(dtype=np.float64):
    """Return rows of two clear groups, some of each with several entries, and no empty column."""
    rows = np.zeros((N, D), dtype=dtype)
    rows[: N // 2, :3], rows[N // 2 :, 3:] = 1, 1
    rows[np.arange(N), np.arange(N) % D] = 1
    rows[::7, 0] = 0
    return rows


def broken_csr(part, place, value, kind="csr"):
    matrix = sparse.csr_array(data()).asformat(kind)
    if part == "short":
        setattr(matrix, place, getattr(matrix, place)[:-value])
    elif part == "float":
        setattr(matrix, place, getattr(matrix, place).astype(np.float64))
    else:
        getattr(matrix, part)[place] = value
    return matrix


def broken_coo(place, value):
    matrix = sparse.coo_array(data())
    coords = [part.copy() for part in matrix.coords]
    coords[place][3] = value
    matrix.coords = tuple(coords)
    return matrix


def broken_coo_length():
    matrix = sparse.coo_array(data())
    matrix.data = matrix.data[:-2]
    return matrix


def broken_lil(part, value):
    matrix = sparse.lil_array(data())
    getattr(matrix, part)[0] = value
    return matrix


def broken_dok():
    matrix = sparse.dok_array(data())
    matrix._dict[(0, 10**6)] = 1.0
    return matrix


def broken_dia():
    matrix = sparse.dia_array(data())
    matrix.offsets = np.append(matrix.offsets, 1)
    return matrix


BROKEN = {
    "index beyond": lambda: broken_csr("indices", 0, 10**6),
    "index negative": lambda: broken_csr("indices", 2, -1),
    "index just beyond": lambda: broken_csr("indices", 1, D),
    "index far": lambda: broken_csr("indices", 0, 2**31 - 1),
    "last indptr too large": lambda: broken_csr("indptr", -1, 10**7),
    "indptr falls": lambda: broken_csr("indptr", 5, 10**6),
    "indptr negative": lambda: broken_csr("indptr", 4, -(10**6)),
    "first indptr": lambda: broken_csr("indptr", 0, -5),
    "indptr short": lambda: broken_csr("short", "indptr", 3),
    "indices short": lambda: broken_csr("short", "indices", 3),
    "data short": lambda: broken_csr("short", "data", 3),
    "indices of floats": lambda: broken_csr("float", "indices", 0),
    "csc index": lambda: broken_csr("indices", 0, 10**6, "csc"),
    "csc indptr": lambda: broken_csr("indptr", 2, 10**6, "csc"),
    "bsr index": lambda: broken_csr("indices", 0, 10**6, "bsr"),
    "coo row": lambda: broken_coo(0, 10**6),
    "coo column": lambda: broken_coo(1, 10**6),
    "coo negative": lambda: broken_coo(1, -7),
    "coo lengths": broken_coo_length,
    "lil column": lambda: broken_lil("rows", [0, 10**6, 2]),
    "lil lengths": lambda: broken_lil("data", [1.0]),
    "dok key": broken_dok,
    "dia offsets": broken_dia,
}


def labelled(X):
    """Put a broken matrix where an AnnData keeps it; anndata itself looks at shape and type only."""
    cohort = anndata.AnnData(np.zeros((N, D), dtype=np.float32))
    if hasattr(cohort, "_X"):
        cohort._X = X
    else:  # from anndata 0.13 on
        cohort._layers[None] = X
    return cohort


def entry_points():
    """Return what takes a matrix, by name, each with models fitted to sound data."""
    good, y = data(), np.repeat([0, 1], N // 2)
    noise = np.random.default_rng(0).normal(size=(N, D))
    topics = np.full((2, D), 1 / D)
    bernoulli = models.BernoulliMixture(2).fit(good)
    single = models.SingleTopic(2).fit(good)
    dirichlet = models.LatentDirichlet(2).fit(good)
    poisson = models.PoissonMixture(2).fit(good)
    tree = models.SpectralTree(1).fit(good)
    sustain = models.SUSTain(2, n_jobs=1).fit(good)
    classifier = models.CovariateClusteringClassifier(0.01).fit(noise, y)
    tensors = models.TensorNormalMixture(2, n_jobs=1).fit(noise)
    path = models.covariate_path(noise, y, nus=[0.1])
    points = {"AnnData": lambda X: models.BernoulliMixture(2).fit(labelled(X))}
    for fresh in (
        models.BernoulliMixture(2),
        models.SingleTopic(2),
        models.LatentDirichlet(2),
        models.PoissonMixture(2),
    ):
        name = type(fresh).__name__
        points[f"{name}.fit"] = fresh.fit
        points[f"{name}.partial_fit"] = fresh.partial_fit
    points |= {
        "SpectralTree.fit": models.SpectralTree(2).fit,
        "SUSTain.fit": models.SUSTain(2, n_jobs=1).fit,
        "TensorNormalMixture.fit": models.TensorNormalMixture(2).fit,
    }
    for one in (
        models.CovariateClusteringClassifier(),
        models.CovariateKMeans(2),
        models.CovariateConvexClustering(),
    ):
        points[f"{type(one).__name__}.fit"] = lambda X, one=one: one.fit(X, y)
    for one in (bernoulli, single, dirichlet, poisson, tree, sustain, classifier, tensors):
        for method in ("predict", "predict_proba", "transform", "score_samples", "score", "bic"):
            if hasattr(one, method) and not (method == "score" and one is classifier):
                points[f"{type(one).__name__}.{method}"] = getattr(one, method)
    points["classifier.score"] = lambda X: classifier.score(X, y)
    points["predict_proba(observed=)"] = lambda X: bernoulli.predict_proba(
        X, observed=np.ones(D, dtype=bool)
    )
    points |= {
        "covariate_path": lambda X: models.covariate_path(X, y),
        "CovariateClusterPath.score": lambda X: path.score(X, y),
        "select_covariates": lambda X: models.select_covariates(X, y),
        "covariate_baseline_path": lambda X: models.covariate_baseline_path(
            models.CovariateKMeans(), X, y, values=[2]
        ),
        "factor_baselines": lambda X: models.factor_baselines(X, 2),
        "select_penalty": lambda X: models.select_penalty(X),
        "select_tensor_components": lambda X: models.select_tensor_components(X, [1, 2]),
        "similarity=": lambda X: models.CovariateClusteringClassifier(similarity=X).fit(noise, y),
        "similarity= of k-means": lambda X: models.CovariateKMeans(2, similarity=X).fit(noise, y),
        "class_covariance": lambda X: similarities.class_covariance(X, y),
        "check_similarity": lambda X: similarities.check_similarity(X, D),
        "nearest_neighbors": lambda X: similarities.nearest_neighbors(X),
        "word_embeddings": lambda X: similarities.word_embeddings(X, 2),
        "from_embeddings": lambda X: similarities.from_embeddings(X),
        "count_codes": lambda X: scores.count_codes(X, y),
        "association": lambda X: scores.association(X, y),
        "coherence": lambda X: scores.coherence(topics, X, n_top=2),
        "perplexity": lambda X: scores.perplexity(topics, X),
        "fit": lambda X: scores.fit(X, sustain.factors_, sustain.weights_),
        "description_length": lambda X: scores.description_length(bernoulli, X),
        "description_length of topics": lambda X: scores.description_length(dirichlet, X),
        "stability": lambda X: scores.stability(models.BernoulliMixture(2), X, n_repeats=2),
        "compare_stability": lambda X: scores.compare_stability(
            models.BernoulliMixture(2), X, [1, 2]
        ),
        "stability_study": lambda X: scores.stability_study(models.BernoulliMixture(2), X),
        "iter_stability": lambda X: list(scores.iter_stability(models.BernoulliMixture(2), X)),
        "select_n_components": lambda X: scores.select_n_components(
            models.BernoulliMixture(), X, [1, 2]
        ),
        "rank_study": lambda X: scores.rank_study(models.SUSTain(), X, [1, 2]),
        "iter_rank_study": lambda X: list(scores.iter_rank_study(models.SUSTain(), X, [1, 2])),
        "topic_mixtures": lambda X: gibbs.topic_mixtures(X, topics, [1, 1]),
        "Moments.of": lambda X: moments.Moments.of(X, moments.POOLED),
        "SubspaceMoments.of": lambda X: moments.SubspaceMoments.of(X, np.eye(D), moments.POOLED),
        "WhitenedMoments.of": lambda X: moments.WhitenedMoments.of(X, np.eye(D), moments.POOLED),
        "leading_basis": lambda X: moments.leading_basis(X, moments.POOLED, 2),
        "second_moment_operator": lambda X: moments.second_moment_operator(X, moments.POOLED),
        "whiten": lambda X: moments.whiten(X, 2),
        "Tree.apply": tree.tree_.apply,
        "Node.side": tree.nodes_[0].side,
        "from_counts": cohorts.from_counts,
        "heatmap_matrix": lambda X: charts.heatmap_matrix(X, y),
    }
    return points


def tell(said):
    """Write a line at once: the process may end with the next call."""
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def try_all():
    """Try every entry point with every broken matrix; tell what happened, line by line."""
    warnings.simplefilter("ignore")
    for name, enter in entry_points().items():
        for fault, make in BROKEN.items():
            matrix = make()
            tell([name, fault])
            try:
                enter(matrix)
            except (ValueError, TypeError) as error:
                tell(str(error))
            except BaseException as error:  # noqa: BLE001 - told
                tell(f"{type(error).__name__}: {error}")
            else:
                tell(None)


def test_no_entry_point_lets_a_broken_matrix_through():
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, check=False, timeout=300
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"ended at {lines[-1]}: {done.stderr[-2000:]}"
    outcomes = list(zip(lines[::2], lines[1::2], strict=True))
    assert len(outcomes) > 1_000
    unclear = [(case, said) for case, said in outcomes if said is None or not clear(said)]
    assert not unclear, unclear[:10]


def clear(said):
    """Tell whether a refusal speaks of the matrix: that it is broken, or that no sparse one is taken."""
    return "broken sparse" in said or "Sparse data was passed" in said or "dense" in said


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("type_", [sparse.csr_array, sparse.csr_matrix])
def test_sound_matrices_of_all_formats_pass(kind, type_):
    check_structure(type_(data()).asformat(kind))
    check_structure(type_((0, 0)).asformat(kind)) if kind != "bsr" else None
    check_structure(type_((3, 0)).asformat(kind)) if kind != "bsr" else None


def test_sound_arrays_of_other_orders_pass():
    check_structure(sparse.coo_array(np.ones((2, 3, 4))))
    check_structure(sparse.csr_array(np.array([1, 0, 2])))
    check_structure(sparse.coo_array(np.array([1, 0, 2])))
    check_structure(sparse.dok_array(np.array([1, 0, 2])))


def test_what_is_spare_at_the_end_of_indices_does_not_matter():
    matrix = sparse.csr_array(data())
    matrix.indices = np.append(matrix.indices, np.int32(10**6))
    matrix.data = np.append(matrix.data, 1.0)
    check_structure(matrix)


ODD = ("u1", "u2", "u4", "u8", ">i4", ">i8", ">u4", "i2")


def with_indexes(matrix, dtype):
    """Return a matrix of which all indexes are of another type, as other libraries and files have them."""
    if matrix.format == "coo":
        matrix.coords = tuple(part.astype(dtype) for part in matrix.coords)
    elif matrix.format == "dia":
        matrix.offsets = matrix.offsets.astype(dtype)
    else:
        matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix


@pytest.mark.parametrize("dtype", ODD)
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo"])
def test_indexes_of_any_type_give_what_the_plain_matrix_gives(kind, dtype, tmp_path):
    matrix = with_indexes(sparse.csr_array(data()).asformat(kind), dtype)
    part = "coords" if kind == "coo" else "indices"
    held = getattr(matrix, part)
    checked = check_structure(matrix)
    assert (checked.toarray() == data()).all()
    assert getattr(matrix, part) is held
    for model in (
        models.BernoulliMixture(2),
        models.SpectralTree(2),
        models.SUSTain(2, n_jobs=1, random_state=0),
    ):
        plain = clone(model).fit(data())
        found = clone(model).fit(matrix)
        assert (found.labels_ == plain.labels_).all() if hasattr(plain, "labels_") else True
        assert np.allclose(found.weights_, plain.weights_)
    cohort = cohorts.from_counts(matrix)
    assert (cohort.X.toarray() == data()).all()


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("dtypes", [("u4", "i8"), ("u2", "i8"), ("i4", "i8"), ("i8", "u1")])
def test_indexes_of_several_types_are_brought_to_one(kind, dtypes):
    matrix = sparse.csr_array(data()).asformat(kind)
    indices, indptr = matrix.indices.astype(dtypes[0]), matrix.indptr.astype(dtypes[1])
    matrix.indices, matrix.indptr = indices, indptr
    assert (cohorts.from_counts(matrix).X.toarray() == data()).all()
    assert matrix.indices is indices
    assert matrix.indptr is indptr


def test_rows_whose_moments_are_summed_have_indexes_that_are_known():
    for dtype in ODD:
        matrix = with_indexes(sparse.csr_array(data()).astype(float), dtype)
        assert summable(matrix).indices.dtype in (np.int32, np.int64)


@pytest.mark.parametrize("dtype", ODD)
def test_indexes_of_any_type_are_told_where_they_are_wrong(dtype):
    for kind in ("csr", "csc", "coo"):
        matrix = with_indexes(sparse.csr_array(data()).asformat(kind), dtype)
        (matrix.coords[1] if kind == "coo" else matrix.indices)[3] = 100
        with pytest.raises(ValueError, match=r"\[3\] is 100, and must be from 0 to"):
            check_structure(matrix)
    matrix = with_indexes(sparse.csr_array(data()), "u8")
    matrix.indices[2] = 2**64 - 1
    with pytest.raises(
        ValueError, match=r"indices must be one row of int32 or int64; found .*uint64"
    ):
        check_structure(matrix)


def test_diagonals_and_tensors_take_indexes_of_any_type():
    diagonal = with_indexes(sparse.dia_array(np.eye(5)), ">i4")
    assert (check_structure(diagonal).toarray() == np.eye(5)).all()
    counts = np.arange(24).reshape(2, 3, 4) % 3
    tensor = with_indexes(sparse.coo_array(counts), "u4")
    labels = [list("ab"), list("abc"), list("abcd")]
    assert (cohorts.CountTensor(tensor, ("a", "b", "c"), labels).counts.toarray() == counts).all()
    plain, found = (
        models.SUSTain(1, n_jobs=1, random_state=0).fit(X)
        for X in (sparse.coo_array(counts), tensor)
    )
    assert all((a == b).all() for a, b in zip(plain.factors_, found.factors_, strict=True))


@pytest.mark.parametrize("fault", BROKEN)
def test_refusals_name_the_argument_and_the_place(fault):
    with pytest.raises(ValueError, match=r"^rows is a broken sparse .*Build the matrix anew"):
        check_structure(BROKEN[fault](), "rows")


def test_a_broken_tensor_is_refused():
    tensor = sparse.coo_array(np.arange(24).reshape(2, 3, 4))
    tensor.coords[2][5] = 4
    with pytest.raises(ValueError, match=r"coords\[2\]\[5\] is 4, and must be from 0 to 3"):
        lvmkit.SUSTain(1).fit(tensor)
    with pytest.raises(ValueError, match="counts is a broken sparse"):
        cohorts.CountTensor(tensor, ("a", "b", "c"), [list("ab"), list("abc"), list("abcd")])


ROWS, NAMES = [f"p{i}" for i in range(N)], [f"c{j}" for j in range(D)]


def with_entry(value, kind="array"):
    """Return the rows with another entry in row 3, column 2, as users may hold them."""
    rows = data()
    rows[3, 2] = value
    frame = pd.DataFrame(rows, index=ROWS, columns=NAMES)
    return {
        "array": lambda: rows,
        "list": lambda: rows.tolist(),
        "objects": lambda: rows.astype(object),
        "sparse": lambda: sparse.csc_array(rows),
        "DataFrame": lambda: frame,
        "sparse DataFrame": lambda: frame.astype(pd.SparseDtype("float64", 0.0)),
        "AnnData": lambda: anndata.AnnData(frame),
        "sparse AnnData": lambda: anndata.AnnData(
            sparse.csr_matrix(rows), obs=frame[[]], var=frame.T[[]]
        ),
    }[kind]()


KINDS = ("array", "list", "objects", "sparse", "DataFrame", "sparse DataFrame", "AnnData")
LABELLED = ("DataFrame", "sparse DataFrame", "AnnData", "sparse AnnData")
MODELS = [
    models.BernoulliMixture(2),
    models.SingleTopic(2),
    models.LatentDirichlet(2),
    models.PoissonMixture(2),
    models.SpectralTree(1),
    models.SUSTain(2, n_jobs=1),
    models.CovariateClusteringClassifier(0.01),
    models.CovariateKMeans(2),
]


def fitted_with(model, X):
    y = np.repeat([0, 1], N // 2)
    return (
        clone(model).fit(X, y)
        if hasattr(model, "classes_") or "Cov" in repr(model)
        else (clone(model).fit(X))
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", [*KINDS, "sparse AnnData"])
@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_missing_entries_are_named(model, kind, value, what):
    place = "row 'p3', column 'c2'" if kind in LABELLED else "row 3, column 2"
    with pytest.raises(ValueError, match=rf"X holds {what} .*in {place}.*[Ff]ill") as caught:
        fitted_with(model, with_entry(value, kind))
    assert "HistGradient" not in str(caught.value)


@pytest.mark.parametrize("kind", LABELLED)
def test_missing_entries_of_new_rows_may_be_judged_with_gaps(kind):
    model = models.BernoulliMixture(2).fit(with_entry(1.0, kind))
    with pytest.raises(ValueError, match=r"row 'p3', column 'c2'.*predict_proba\(X, observed="):
        model.predict(with_entry(np.nan, kind))


def test_nullable_columns():
    frame = pd.DataFrame(data(), index=ROWS, columns=NAMES).astype("Int64")
    expected = models.PoissonMixture(2).fit(data()).weights_
    np.testing.assert_array_equal(models.PoissonMixture(2).fit(frame).weights_, expected)
    frame.iloc[3, 2] = pd.NA
    for enter in (
        models.PoissonMixture(2).fit,
        models.SUSTain(2).fit,
        lambda X: scores.count_codes(X, np.zeros(N, int)),
        lambda X: scores.coherence(np.full((2, D), 1 / D), X),
        lambda X: scores.perplexity(np.full((2, D), 1 / D), X),
        lambda X: models.factor_baselines(X, 2),
    ):
        with pytest.raises(ValueError, match=r"X holds NaN .*row 'p3', column 'c2'"):
            enter(frame)
    judged = (
        models.BernoulliMixture(2)
        .fit(data())
        .predict_proba(frame.to_numpy(dtype=float, na_value=np.nan), observed="given")
    )
    model = models.BernoulliMixture(2).fit(pd.DataFrame(data(), columns=NAMES))
    assert judged.shape == model.predict_proba(frame, observed="given").shape


def masked():
    return np.ma.masked_array(data(), mask=np.arange(N * D).reshape(N, D) == 3 * D + 2)


@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")  # short rows
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_masks_are_not_lost(model):
    for given in (masked(), list(masked())):
        with pytest.raises(ValueError, match=r"masked array.*row 3, column 2.*filled"):
            fitted_with(model, given)
    fitted_with(model, np.ma.masked_array(data()))


def test_masks_are_not_lost_where_functions_take_arrays():
    hidden = np.ma.masked_array([0.5, 0.5], mask=[False, True])
    centers = np.ma.masked_array(np.full((2, 2), 0.5), mask=np.eye(2, dtype=bool))
    labels = np.ma.masked_array(np.zeros(N, int), mask=np.arange(N) == 4)
    tensor = np.ma.masked_array(np.ones((4, 3, 2)), mask=np.arange(24).reshape(4, 3, 2) == 5)
    calls = [
        lambda: models.BernoulliMixture.from_parameters(hidden, np.full((2, 2), 0.5)),
        lambda: models.SingleTopic.from_parameters([0.5, 0.5], centers),
        lambda: scores.relevance(centers, [0.5, 0.5]),
        lambda: scores.lift(np.full((2, 2), 0.5), hidden),
        lambda: scores.count_codes(data(), labels),
        lambda: scores.coherence(centers, np.ones((3, 2))),
        lambda: gibbs.topic_mixtures(np.ones((3, 2)), np.full((2, 2), 0.5), hidden),
        lambda: similarities.check_similarity(centers, 2),
        lambda: models.TensorNormalMixture(2).fit(tensor),
        lambda: models.SUSTain(2).fit(tensor),
        lambda: disclosure.suppression(np.ma.masked_array([[1, 30]], mask=[[True, False]])),
        lambda: (
            models.BernoulliMixture(2).fit(data()).predict_proba(masked(), observed=np.arange(D))
        ),
        lambda: scores.stability(models.BernoulliMixture(2), masked()),
        lambda: models.covariate_path(data(), labels, nus=[1.0]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="masked array"):
            call()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: np.array([["a", "b"]] * N), "X must hold numbers; found text .*first a"),
        (lambda: data().astype(str), "X must hold numbers; found text"),
        (lambda: data().astype("datetime64[s]"), "X must hold numbers; found dates"),
        (lambda: np.array([["a", 1]] * N, dtype=object), "text 'a' in row 0, column 0"),
        (lambda: pd.DataFrame(data(), ROWS, NAMES).assign(c1="x"), "'x' in row 'p0', column 'c1'"),
        (
            lambda: pd.DataFrame(data(), ROWS, NAMES).assign(c1=pd.Timestamp("2020-01-01")),
            "column 'c1' of X must hold numbers; its type is datetime",
        ),
        (
            lambda: pd.DataFrame(
                data(), columns=pd.MultiIndex.from_product([list("ab"), list("xyz")])
            ),
            "columns of 2 levels",
        ),
        (lambda: data() + 1j, "Complex data not supported: X holds complex128"),
        (lambda: sparse.csr_array(data() * 1j), "Complex data not supported: X holds complex128"),
        (lambda: [[1, 0, 1], [1, 0]] * 20, "ragged.*row 0 has 3, row 1 has 2"),
        (lambda: data()[:0], r"X has 0 sample\(s\) \(shape=\(0, 6\)\)"),
        (lambda: data()[:, :0], r"X has 0 feature\(s\) \(shape=\(40, 0\)\)"),
        (lambda: sparse.csr_array((N, 0)), r"X has 0 feature\(s\)"),
        (lambda: data()[0], r"X has 1 dimension.*Reshape your data"),
        (lambda: sparse.coo_array(data()[0]), r"X has 1 dimension.*Reshape your data"),
        (lambda: None, "X must be numbers, rows by columns.*found NoneType"),
        (lambda: "text", "X must be numbers, rows by columns.*found str"),
        (lambda: (row for row in data()), "X must be numbers, rows by columns.*found generator"),
        (lambda: 3, "X has 0 dimension"),
        (lambda: anndata.AnnData(obs=pd.DataFrame(index=ROWS)), "AnnData without a matrix"),
    ],
)
def test_what_holds_no_numbers_is_told(model, make, message):
    with pytest.raises(ValueError, match=message):
        fitted_with(model, make())


@pytest.mark.parametrize("model", MODELS[:5], ids=lambda model: type(model).__name__)
def test_more_dimensions_than_two(model):
    for given in (data().reshape(N, 2, 3), sparse.coo_array(data().reshape(N, 2, 3))):
        with pytest.raises(ValueError, match=r"X has 3 dimensions, shape \(40, 2, 3\); expected 2"):
            fitted_with(model, given)


def test_objects_keep_the_error_of_numpy():
    rows = data().astype(object)
    rows[3, 2] = {"a": 1}
    with pytest.raises(TypeError, match=r"X holds \{'a': 1\} \(dict\) in row 3, column 2"):
        models.PoissonMixture(2).fit(rows)


@pytest.mark.parametrize("kind", ["sparse", "objects", "frame of objects"])
def test_data_are_looked_at_once(kind, monkeypatch):
    X = {"sparse": sparse.csr_array, "objects": lambda rows: rows.astype(object)}.get(
        kind, lambda rows: pd.DataFrame(rows, columns=NAMES).astype(object)
    )(data())
    model = models.BernoulliMixture(2).fit(X)
    name = "check_structure" if kind == "sparse" else "_check_objects"
    looked, check = [], getattr(validation, name)
    monkeypatch.setattr(validation, name, lambda *a: (looked.append(1), check(*a))[1])
    model.predict(X)
    assert len(looked) == (D if kind == "frame of objects" else 1)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1", "the text '1' in row 3, column 2"),
        (b"1", "the text b'1' in row 3, column 2"),
        (np.str_("1"), "the text"),
        (1 + 2j, "[Cc]omplex"),
        (10**400, "row 3, column 2"),
        (pd.Timestamp(0), "row 3, column 2"),
        (pd.NaT, "row 3, column 2"),
        ({}, "row 3, column 2"),
        (None, r"NaN \(no value\) in row 3, column 2"),
        (pd.NA, r"NaN \(no value\) in row 3, column 2"),
    ],
)
def test_what_is_no_number_among_objects_is_named(value, words):
    rows = data().astype(object)
    rows[3, 2] = value
    for X in (rows, pd.DataFrame(rows)):
        with pytest.raises((TypeError, ValueError), match=words) as caught:
            models.BernoulliMixture(2).fit(X)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("of", [int, float, Decimal, bool, np.int8, lambda v: v or None])
def test_objects_that_are_numbers_are_numbers(of):
    rows = data().astype(object)
    for at in np.ndindex(rows.shape):
        rows[at] = of(rows[at])
    if rows[0, 4] is None:
        X = np.array([[1, None], [True, 2.0]], dtype=object)
        found = with_gaps(X)
        assert np.isnan(found[0, 1])
        assert found[1].tolist() == [1, 2]
        return
    plain, found = models.BernoulliMixture(2).fit(data()), models.BernoulliMixture(2).fit(rows)
    assert (plain.centers_ == found.centers_).all()


def test_entries_that_stand_twice_are_added_up_exactly():
    coords = (np.array([0, 0, 1, 2]), np.array([0, 0, 1, 0]))
    narrow = sparse.coo_array((np.array([200, 100, 7, 9], dtype=np.uint8), coords), shape=(3, 2))
    wide = np.array([[300, 0], [0, 7], [9, 0]])
    topics = np.full((2, 2), 0.5)
    for given in (narrow, sparse.csr_array((narrow.data, [0, 0, 1, 0], [0, 2, 3, 4]), (3, 2))):
        found = gibbs.topic_mixtures(given, topics, [1, 1])
        np.testing.assert_array_equal(found, gibbs.topic_mixtures(wide, topics, [1, 1]))
        model = models.PoissonMixture(1)
        expected = model.fit(wide).centers_
        np.testing.assert_array_equal(model.fit(given).centers_, expected)
        assert given.dtype == np.uint8


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (models.BernoulliMixture(2), 1e-50, "needs 0/1 data; found 1e-50"),
        (models.BernoulliMixture(2), 1 + 1e-9, "needs 0/1 data; found 1.000000001"),
        (models.PoissonMixture(2), 2.0**24, "Counts of 16,777,216 and more"),
        (models.SingleTopic(2), 2.0**24 + 1, "Counts of 16,777,216 and more"),
        (models.LatentDirichlet(2), 1e15, "Counts of 16,777,216 and more"),
        (models.PoissonMixture(2), 1e-50, "Fractions"),
        (models.SUSTain(2), 1e30, r"add up to 1e\+30, and sums are exact below.*X\[3, 2\]"),
        (models.SUSTain(2), 2.0**53, "sums are exact below"),
        (models.SpectralTree(2), 1e30, r"X holds 1e\+30 in row 3, column 2, above 1e\+15"),
        (models.CovariateClusteringClassifier(), 1e12, r"1e\+12 in row 3, column 2.*one scale"),
        (models.CovariateKMeans(2), -1e30, r"-1e\+30 in row 3, column 2, above 1e\+07"),
        (models.CovariateConvexClustering(), 1e200, r"1e\+200 in row 3, column 2"),
        (models.TensorNormalMixture(2), 1e200, r"1e\+200 in row 3, column 2, above 1e\+100"),
    ],
)
def test_ranges_that_sums_cannot_hold(model, value, message):
    for kind in ("array", "sparse"):
        if kind == "sparse" and isinstance(model, models.TensorNormalMixture):
            continue
        with pytest.raises(ValueError, match=message):
            fitted_with(model, with_entry(value, kind))


def test_tensors_scaled_out_of_range():
    X = np.random.default_rng(0).normal(size=(40, 2, 3))
    for scale, message in ((1e200, r"above 1e\+100"), (1e-200, "1e-100 is needed")):
        with pytest.raises(ValueError, match=message):
            models.TensorNormalMixture(2).fit(X * scale)
    counts = np.ones((3, 3, 3))
    with pytest.raises(ValueError, match=r"sums are exact below.*X\[0, 0, 0\]"):
        models.SUSTain(1).fit(counts * 1e16)
    with pytest.raises(ValueError, match=r"1e\+200.*above"):
        scores.fit(counts * 1e200, [np.ones((3, 1))] * 3, [1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", None] * 20, "y holds no class .None. at 1 and 19 more"),
        ([0.0, np.nan] * 20, "y holds no class .nan. at 1"),
        (["a", 1] * 20, "y mixes 'int', 'text'"),
        (["a", "b"] * 19, "y has 38 classes for 40 samples"),
        (None, "requires y to be passed"),
        (pd.Series(["a", pd.NA] * 20, dtype="string"), "y holds no class"),
    ],
)
def test_classes_that_are_none(y, message):
    for enter in (
        models.CovariateClusteringClassifier().fit,
        models.CovariateKMeans(2).fit,
        models.covariate_path,
        models.select_covariates,
        similarities.class_covariance,
    ):
        with pytest.raises(ValueError, match=message):
            enter(data(), y)


OPTIONS = [
    (models.BernoulliMixture, {"em": "no"}, "em is True or False; found 'no'"),
    (models.BernoulliMixture, {"em": 1}, "em is True or False"),
    (models.BernoulliMixture, {"random_state": "x"}, "random_state is a whole number"),
    (models.BernoulliMixture, {"random_state": True}, "random_state is a whole number"),
    (models.BernoulliMixture, {"random_state": 1.5}, "random_state is a whole number"),
    (models.BernoulliMixture, {"random_state": -1}, "random_state must be a whole number"),
    (models.BernoulliMixture, {"max_iter": 1.5}, "max_iter must be a whole number"),
    (models.BernoulliMixture, {"max_iter": True}, "max_iter must be a whole number"),
    (models.BernoulliMixture, {"binarize": "0"}, "binarize must be a number"),
    (models.SingleTopic, {"em": None}, "em is True or False"),
    (models.SingleTopic, {"round_counts": "yes"}, "round_counts is True or False"),
    (models.SingleTopic, {"moments": ["pooled"]}, "moments=.'pooled'. is not known"),
    (models.SingleTopic, {"decomposition": None}, "decomposition=None is not known"),
    (models.LatentDirichlet, {"n_burn": 1.5}, "n_burn must be a whole number"),
    (models.LatentDirichlet, {"smoothing": 2}, "smoothing is a share"),
    (models.PoissonMixture, {"random_state": "x"}, "random_state is a whole number"),
    (models.SpectralTree, {"random_state": "x"}, "random_state is a whole number"),
    (models.SpectralTree, {"split": ["data"]}, "split=.'data'. is not known"),
    (models.SpectralTree, {"em": "no"}, "em is True or False"),
    (models.SUSTain, {"random_state": "x"}, "random_state is a whole number"),
    (models.SUSTain, {"n_jobs": 0}, "n_jobs=0 threads"),
    (models.SUSTain, {"n_jobs": 10**6}, "n_jobs=1,000,000 is more than any machine has"),
    (models.SUSTain, {"n_jobs": -(10**6)}, "n_jobs must be a whole number, at least -4096"),
    (models.SUSTain, {"n_jobs": "2"}, "n_jobs must be a whole number"),
    (models.SUSTain, {"round_counts": 1}, "round_counts is True or False"),
    (models.TensorNormalMixture, {"n_jobs": 0}, "n_jobs=0 threads"),
    (models.TensorNormalMixture, {"random_state": "x"}, "random_state is a whole number"),
    (models.TensorNormalMixture, {"method": ["em"]}, "method=.'em'. is not known"),
    (models.CovariateClusteringClassifier, {"refit": "no"}, "refit is True or False"),
    (models.CovariateKMeans, {"random_state": "x"}, "random_state is a whole number"),
    (models.CovariateConvexClustering, {"n_neighbors": 1.5}, "n_neighbors must be a whole number"),
]


@pytest.mark.parametrize(("kind", "options", "message"), OPTIONS)
def test_options_that_mean_nothing_are_refused_by_fit(kind, options, message):
    model = kind().set_params(**options)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises((TypeError, ValueError), match=message):
        fitted_with(model, data())


def test_numpy_numbers_are_numbers():
    model = models.BernoulliMixture(
        np.int64(2), em=np.bool_(1), tol=np.float32(1e-5), random_state=np.uint8(3)
    )
    assert model.fit(data()).n_iter_ > 0


def test_seeds_of_functions():
    with pytest.raises(TypeError, match="random_state must be a whole number"):
        scores.stability(models.BernoulliMixture(2), data(), random_state="x")
    with pytest.raises(TypeError, match="random_state must be a whole number"):
        models.factor_baselines(data(), 2, random_state="x")
    found = scores.stability(
        models.BernoulliMixture(2), data(), n_repeats=2, random_state=np.random.default_rng(0)
    )
    assert found.shape == (2,)


def test_a_fresh_seed_may_be_asked_for():
    model, X = models.BernoulliMixture(2), data()
    again = {"n_repeats": 2, "random_state": None}
    assert scores.stability(model, X, protocol="bootstrap", **again).shape == (2,)
    assert scores.stability_study(model, X, **again).n_repeats == 2
    assert len(scores.compare_stability({"a": model}, X, [2, 3], **again))
    assert len(scores.select_n_components(models.PoissonMixture(2), X, [2], **again))
    assert len(scores.predictive_power([0, 1] * 20, [False, True] * 20, **again)) == 2
    study = scores.rank_study(lvmkit.SUSTain(), X, [2], n_starts=2, random_state=None)
    assert study.complete
    pair = models.baselines(2, random_state=None), models.baselines(2, random_state=None)
    seeds = [{one[name].random_state for name in one if name != "PDDP"} for one in pair]
    assert len(seeds[0]) == len(seeds[1]) == 1
    assert seeds[0] != seeds[1]


def test_studies_draw_one_seed_afresh_from_which_all_else_follows(monkeypatch):
    """What is drawn stands in for all else: no further number may come from nowhere."""
    drawn = []
    fresh = np.random.default_rng

    def counted(seed=None):
        drawn.extend([None] if seed is None else [])
        return fresh(7 if seed is None else seed)

    monkeypatch.setattr(np.random, "default_rng", counted)
    again = {"n_repeats": 3, "random_state": None}
    model, X = models.BernoulliMixture(2), data()
    poisson = models.PoissonMixture(2)
    for study in (
        lambda: scores.stability(model, X, protocol="bootstrap", **again),
        lambda: scores.stability_study(model, X, **again),
        lambda: scores.compare_stability({"a": model, "b": poisson}, X, [2, 3], **again),
        lambda: scores.select_n_components(poisson, X, [2, 3], **again),
    ):
        drawn.clear()
        study()
        assert len(drawn) == 1


@pytest.mark.parametrize("name", [*decompose.BY_NAME, "completion"])
def test_decompositions_take_moments(name):
    with pytest.raises(TypeError, match=r"moments must be a .*Whitened.*; found None"):
        getattr(decompose, name)(None)


@pytest.mark.parametrize("function", [scores.relevance, scores.lift])
def test_relevance_of_what_is_no_probability(function):
    with pytest.raises(ValueError, match=r"centers are probabilities in \[0, 1\]; found nan"):
        function(np.array([[0.5, np.nan], [0.5, 0.5]]), np.array([0.5, 0.5]))


def test_backed_data_and_views_are_read(tmp_path):
    cohort = with_entry(1.0, "sparse AnnData")
    cohort.write_h5ad(tmp_path / "rows.h5ad")
    backed = anndata.read_h5ad(tmp_path / "rows.h5ad", backed="r")
    expected = models.BernoulliMixture(2).fit(cohort)
    for given in (backed, cohort[:, :]):
        found = models.BernoulliMixture(2).fit(given)
        np.testing.assert_array_equal(found.centers_, expected.centers_)
        np.testing.assert_array_equal(found.predict(given), expected.labels_)
    backed.file.close()


@pytest.mark.parametrize(
    ("enter", "X", "message"),
    [
        (moments.whiten, None, "m2 must be numbers"),
        (moments.whiten, data(), r"second moment, features by features; found shape \(40, 6\)"),
        (moments.whiten, np.full((2, 2), np.nan), "m2 holds NaN .*in row 0, column 0"),
        (moments.whiten, np.eye(1), "k=2 latent states"),
        (similarities.nearest_neighbors, [[0, 1], [1]], "similarity is ragged"),
        (similarities.nearest_neighbors, anndata.AnnData(np.eye(2)), "found AnnData"),
        (similarities.check_similarity, anndata.AnnData(np.eye(2)), "found AnnData"),
        (similarities.check_similarity, np.array([[0, 1e200], [1e200, 0]]), r"1e\+200"),
        (similarities.from_embeddings, np.array([[0, np.inf]]), "W holds infinity"),
        (moments.Moments.of, np.full((3, 2), np.nan), "X holds NaN"),
        (moments.Moments.of, np.full((3, 2), 1e200), r"X holds 1e\+200 in row 0, column 0"),
        (moments.SubspaceMoments.of, sparse.csr_array([[np.inf]]), "X holds infinity"),
        (models.factor_baselines, data() * 1e9, r"counts up to 1e\+09, and AILS"),
        (cohorts.from_counts, masked(), "masked array"),
        (cohorts.from_counts, [[1, 0], [1]], "ragged"),
    ],
)
def test_functions_of_matrices(enter, X, message):
    second = {
        "whiten": (2,),
        "check_similarity": (2,),
        "of": (moments.POOLED,),
        "factor_baselines": (2,),
    }
    more = second.get(enter.__name__, ())
    if enter == moments.SubspaceMoments.of:
        more = (np.eye(1), moments.POOLED)
    with pytest.raises(ValueError, match=message):
        enter(X, *more)


def test_half_precision_is_read():
    half = data(np.float16)
    topics = np.full((2, D), 1 / D)
    assert scores.coherence(topics, half, n_top=3) == pytest.approx(
        scores.coherence(topics, data(), n_top=3)
    )
    assert scores.count_codes(half, np.zeros(N, int)).totals.sum() == data().sum()


def test_what_was_observed_is_known_everywhere():
    frame = pd.DataFrame(data(), columns=NAMES)
    model = models.BernoulliMixture(2).fit(frame)
    seen = pd.DataFrame(np.ones((N, D), dtype=object), columns=NAMES)
    seen.iloc[2, 1] = np.nan
    with pytest.raises(ValueError, match="observed is True or False everywhere; found NaN"):
        model.predict_proba(frame, observed=seen)
    with pytest.raises(ValueError, match="observed is a masked array"):
        model.predict_proba(frame, observed=np.ma.masked_array(data() > 0, mask=data() > 0))


@pytest.mark.parametrize("model", MODELS[:6], ids=lambda model: type(model).__name__)
def test_progress_is_a_function(model):
    with pytest.raises(TypeError, match="progress is a function of a text and the fraction done"):
        clone(model).fit(data(), progress="yes")


if __name__ == "__main__":
    try_all()
