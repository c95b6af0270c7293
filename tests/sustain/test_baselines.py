"""Baselines against the sentences of Perros 2018, written out for small cases."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from lvmkit import SUSTain
from lvmkit.scores import fit
from lvmkit.sustain.baselines import factor_baselines, truncated

module = sys.modules[factor_baselines.__module__]  # the package has a function of that name
MATRIX = ["NMF", "NMF rounded", "NMF scaled and rounded", "AILS"]


def half_up(values):
    return np.floor(values + 0.5)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    U, V = rng.integers(0, 4, (90, 3)), rng.integers(0, 5, (14, 3))
    X = rng.poisson(0.4 * U @ V.T)
    X[:, 0] += 1  # nobody without a code
    X[0] += 1  # no code without a patient
    return X


@pytest.fixture(scope="module")
def found(counts):
    return factor_baselines(counts, 3)


def test_each_matrix_baseline_is_what_the_document_says(counts, found):
    assert list(found) == MATRIX
    model = NMF(3, random_state=0, max_iter=400).set_params(tol=1e-4)
    U, V = model.fit_transform(counts.astype(float)), model.components_.T
    even = np.sqrt(np.linalg.norm(V, axis=0) / np.linalg.norm(U, axis=0))  # one length in both
    U, V = U * even, V / even
    assert np.allclose(found["NMF"].factors[0], U, atol=1e-4)
    assert np.allclose(found["NMF"].factors[1], V, atol=1e-4)

    rounded = found["NMF rounded"]
    for got, real in zip(rounded.factors, (U, V), strict=True):
        assert np.array_equal(got, np.clip(half_up(real), 0, 5))
    assert rounded.weights.tolist() == [1, 1, 1]

    scaled = found["NMF scaled and rounded"]
    stretch = [5 / real.max(axis=0) for real in (U, V)]
    for got, real, by in zip(scaled.factors, (U, V), stretch, strict=True):
        assert np.array_equal(got, half_up(real * by))
    assert scaled.weights.tolist() == np.maximum(half_up(1 / (stretch[0] * stretch[1])), 1).tolist()


def test_what_is_rounded_does_not_hang_on_the_scale_at_which_nmf_ended():
    """Two equal singular values: where the iterations start, and the scale at which they end, is up to the machine."""
    X = np.kron(np.eye(2, dtype=int), np.full((4, 3), 4))
    for seed in range(10):
        found = factor_baselines(X, 2, random_state=seed)
        for name in ("NMF", "NMF rounded", "AILS"):
            assert found[name].fit == pytest.approx(1, abs=1e-4), (seed, name)


def test_fits_are_those_of_the_approximations_formed(counts, found):
    for name, one in found.items():
        product = (one.factors[0] * one.weights) @ one.factors[1].T
        expected = 1 - np.linalg.norm(counts - product) / np.linalg.norm(counts)
        assert one.fit == pytest.approx(expected, abs=1e-6), name
    assert found["NMF"].fit > max(found[name].fit for name in MATRIX[1:])
    assert found["AILS"].fit > found["NMF rounded"].fit
    assert all(factor.dtype == np.int32 for name in MATRIX[1:] for factor in found[name].factors)


def test_time_of_the_real_solution_counts(counts, monkeypatch):
    """By a clock on which the real solution takes 100, and what each method makes of it 1, 2, 3 and 4."""
    ticks = iter([0, 100, 200, 201, 300, 302, 400, 403, 500, 504])
    monkeypatch.setattr(module, "perf_counter", lambda: next(ticks))
    timed = factor_baselines(counts, 3)
    assert [timed[name].seconds for name in MATRIX] == [101, 102, 103, 104]


def test_a_tensor_has_cp_and_its_weights_are_absorbed_evenly():
    rng = np.random.default_rng(1)
    factors = [rng.integers(1, 4, (size, 2)) for size in (40, 8, 6)]
    X = np.einsum("ir,jr,kr->ijk", *factors)
    found = factor_baselines(sparse.coo_array(X), 2, random_state=3)
    assert list(found) == ["CP", "CP rounded", "CP scaled and rounded", "AILS"]
    real = found["CP"].factors
    lengths = np.array([np.linalg.norm(factor, axis=0) for factor in real])
    assert np.allclose(lengths, lengths[0], rtol=1e-4)
    for got, factor in zip(found["CP rounded"].factors, real, strict=True):
        assert np.array_equal(got, np.clip(half_up(factor), 0, 5))
    assert found["CP"].fit > 0.9
    assert found["CP"].fit >= found["AILS"].fit >= found["CP rounded"].fit
    again = factor_baselines(sparse.coo_array(X), 2, random_state=3)
    assert all(np.array_equal(a, b) for a, b in zip(real, again["CP"].factors, strict=True))


def test_ails_and_sustain_begin_at_the_same_start(counts):
    rng = np.random.default_rng(2)
    start = [rng.integers(0, 6, (size, 3)) for size in counts.shape]
    [exact] = factor_baselines(counts, 3, methods=["AILS"], init=start).values()
    ours = SUSTain(3, init=start).fit(counts)
    first = fit(counts, start, [1, 1, 1])
    assert exact.fit > first
    assert abs(exact.fit - ours.fit_) < 0.1
    heavier = factor_baselines(counts, 3, methods=["AILS"], init=[*start, [2, 1, 3]])["AILS"]
    assert heavier.fit > fit(counts, start, [2, 1, 3])


def test_bounds_may_differ_by_mode_and_labels_of_rows_do_not_matter(counts):
    import pandas as pd

    frame = pd.DataFrame(counts, columns=[f"c{i}" for i in range(counts.shape[1])])
    found = factor_baselines(
        frame, 2, max_score=[2, 1], methods=["rounded", "AILS"], init="balanced"
    )
    assert list(found) == ["NMF rounded", "AILS"]
    for one in found.values():
        assert all(f.max() <= top for f, top in zip(one.factors, [2, 1], strict=True))


def test_wide_matrices_are_not_turned(counts):
    found = factor_baselines(counts.T, 3)
    assert [factor.shape for factor in found["NMF"].factors] == [(14, 3), (90, 3)]
    assert found["NMF"].fit == pytest.approx(
        fit(counts.T, found["NMF"].factors, np.ones(3)), abs=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["HALS"]}, r"methods are a list of 'real'.*found 'HALS'"),
        ({"methods": []}, "methods are a list of"),
        ({"methods": "AILS"}, "methods must be a sequence of texts; found 'AILS'"),
        ({"init": "random"}, r"init is one of 'balanced'.*found 'random'"),
        ({"init": [np.zeros((3, 3))]}, "init has 1 arrays"),
        ({"max_score": 0}, "max_score of mode 0 must be a whole number"),
        ({"tol": -1.0}, "tol must be a number"),
    ],
)
def test_wrong_options_are_refused(counts, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        factor_baselines(counts, 3, **options)


def test_wrong_counts_are_refused(counts):
    with pytest.raises(ValueError, match=r"Negative values .*X\[0, 0\]"):
        factor_baselines(np.where(np.arange(14) == 0, -1, counts), 3)
    with pytest.raises(ValueError, match="n_components=200 is more than 14"):
        factor_baselines(counts, 200)


def test_work_can_be_canceled(counts):
    def stop(text, done):
        if text.startswith("AILS: "):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        factor_baselines(counts, 3, progress=stop)


def test_truncation_keeps_the_largest_by_row_of_patients_and_column_of_features():
    patients = np.array([[0.9, 1.0, 0.1], [0.2, 0.1, 0.0], [0.3, 0.3, 2.0], [0.0, 0.0, 0.0]])
    codes = np.array([[3.0, 0.5, 1.0], [1.0, 2.0, 1.0], [0.1, 0.1, 0.5], [2.0, 0.0, 0.0]])
    kept = truncated([patients, codes], [5, 5])  # 5 / 4 rows: 1 each; 5 / 3 columns: 2 each
    lengths = np.linalg.norm(codes, axis=0)
    for row, shown in zip(patients, kept[0], strict=True):
        best = int(np.argmax(row * lengths))
        assert shown.tolist() == [v if r == best else 0 for r, v in enumerate(row)]
    assert kept[1].T.tolist() == [[3, 0, 0, 2], [0.5, 2, 0, 0], [1, 1, 0, 0]]
    assert np.array_equal(truncated([patients, codes], [1000, 1000])[1], codes)
    with pytest.raises(ValueError, match="nonzeros has 1 numbers for 2 factors"):
        truncated([patients, codes], [5])
