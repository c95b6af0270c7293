import copy
import json
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lvmkit.cohorts import CountTensor
from lvmkit.cohorts.tensors import as_arrays, tensor_of
from lvmkit.core.validation import DataWarning

MODES = ("patient", "diagnosis", "procedure")


def tensor(dense, modes=MODES, labels=None):
    dense = np.asarray(dense)
    labels = labels or [
        [f"{m[0]}{i}" for i in range(n)] for m, n in zip(modes, dense.shape, strict=True)
    ]
    return CountTensor(sparse.coo_array(dense), modes, labels)


@pytest.fixture
def planted():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.4, (7, 4, 3))
    people = pd.DataFrame(
        {"age": np.arange(7) + 60, "sex": pd.Categorical(list("fmfmfmf"))}, index=list("abcdefg")
    )
    dx = pd.DataFrame(
        {"title": ["one", "two", "three", "four"], "chapter": "C", "system": "icd9"},
        index=["1", "2", "3", "4"],
    )
    pr = pd.DataFrame({"title": ["a", "b", "c"]}, index=["2", "7", "9"])
    return dense, CountTensor(
        sparse.coo_array(dense), MODES, (people, dx, pr), "a survey", {"repairs": ["none"]}
    )


def test_cells_are_in_order_small_and_without_zeros(planted):
    dense, found = planted
    shuffled = np.random.default_rng(1).permutation(dense.size)
    where = np.unravel_index(shuffled, dense.shape)
    again = CountTensor(
        sparse.coo_array((dense.ravel()[shuffled].astype(float), where), shape=dense.shape),
        MODES,
        found.labels,
    )
    for one in (found, again):
        counts = one.counts
        assert (counts.toarray() == dense).all()
        assert counts.data.all()
        assert counts.has_canonical_format
        assert {axis.dtype for axis in counts.coords} == {counts.data.dtype} == {np.dtype(np.int32)}
        keys = np.ravel_multi_index(counts.coords, dense.shape)
        assert (np.diff(keys) > 0).all()
    assert (found.shape, found.ndim, found.nnz) == (dense.shape, 3, np.count_nonzero(dense))
    assert (
        repr(found)
        == f"CountTensor of 7 patients × 4 diagnoses × 3 procedures, {found.nnz} non-zeros"
    )
    assert len(found) == 7


def test_what_is_given_is_left_alone():
    given_counts = sparse.coo_array(([0, 2, 1], ([1, 1, 0], [0, 1, 0], [1, 1, 0])), shape=(2, 2, 2))
    before = copy.deepcopy(given_counts)
    table = pd.DataFrame({"age": [5, 6]}, index=[10, 20])
    found = CountTensor(given_counts, MODES, (table, ["x", "y"], ["z", "w"]))
    assert (given_counts.data == before.data).all()
    assert table.index.tolist() == [10, 20]
    assert found.obs.index.tolist() == ["10", "20"]
    assert found.nnz == 2
    with pytest.raises(AttributeError):
        found.modes = ("a", "b", "c")


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
)
def test_a_matrix_of_any_form_will_do(form):
    dense = np.array([[0, 2], [1, 0], [3, 1]])
    found = CountTensor(form(dense), ("patient", "code"), [list("abc"), list("xy")])
    assert (found.counts.toarray() == dense).all()
    assert (found.cohort().X.toarray() == dense).all()


def test_repeated_cells_are_summed_and_stated():
    where = ([1, 0, 1, 1], [0, 0, 0, 1])
    with pytest.warns(DataWarning, match="1 count given for a cell that has one already") as said:
        found = CountTensor(
            sparse.coo_array(([2, 1, 3, 0], where), shape=(2, 2)), ("p", "q"), ["ab", "xy"]
        )
    assert said[0].filename == __file__
    assert found.counts.toarray().tolist() == [[1, 0], [5, 0]]


def test_a_sum_beyond_32_bits_is_kept():
    with pytest.warns(DataWarning, match="summed"):
        found = CountTensor(
            sparse.coo_array((np.array([2**31 - 1, 5], np.int32), ([0, 0], [1, 1])), shape=(1, 2)),
            ("p", "q"),
            [["a"], ["x", "y"]],
        )
    assert found.counts.data.tolist() == [2**31 + 4]


def test_a_tensor_whose_dense_form_could_not_exist():
    shape = (2**31 - 1, 2**20, 2**20)
    coords = ([5, 0, 5], [2**20 - 1, 3, 2], [7, 7, 2**20 - 1])
    counts = sparse.coo_array(([1, 2, 3], coords), shape=shape)
    from lvmkit.cohorts._cells import canonical

    found = canonical(counts)
    assert [axis.tolist() for axis in found.coords] == [
        [0, 5, 5],
        [3, 2, 2**20 - 1],
        [7, 2**20 - 1, 7],
    ]
    assert found.data.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("value", "shown"), [(-1, "-1 in"), (0.5, "0.5 in"), (np.nan, "nan in"), (np.inf, "inf in")]
)
def test_what_is_no_count_is_refused_with_its_cell(value, shown):
    dense = np.zeros((2, 2, 3))
    dense[1, 0, 2] = value
    with pytest.raises(ValueError, match=rf"{shown} \(1, 0, 2\) \(counted from 0\)"):
        tensor(dense)
    with pytest.raises(ValueError, match=r"found -1 in .* and 7 more"):
        tensor(np.full((2, 2, 3), -1))


def test_counts_without_axes_or_numbers_are_refused():
    with pytest.raises(ValueError, match="counts has 1 axis; expected patients and at least one"):
        CountTensor(2, ("patient",), [["a"]])
    with pytest.raises(ValueError, match=r"counts holds NaN \(no value\) in row 0, column 1"):
        CountTensor([[1, None]], ("patient", "code"), [["a"], ["x", "y"]])


def test_parts_that_do_not_fit_are_named():
    counts = sparse.coo_array(np.ones((2, 3), dtype=int))
    good = [["a", "b"], ["x", "y", "z"]]
    cases = [
        (("patient",), good, r"modes=\('patient',\); expected a name for each of the 2 axes"),
        (("p", ""), good, "expected a name for each"),
        (("p", "p"), good, "repeats a name"),
        (("p", "q"), good[:1], "labels has 1 table for 2 modes"),
        (("p", "q"), [["a", "b"], ["x"]], "labels of 'q' has 1 row for 3 of counts"),
        (("p", "q"), [["a", "a"], ["x", "y", "z"]], "labels of 'p' repeats 'a'"),
    ]
    for modes, labels, message in cases:
        with pytest.raises(ValueError, match=message):
            CountTensor(counts, modes, labels)
    with pytest.raises(
        ValueError, match="counts has 1 axis; expected patients and at least one other"
    ):
        CountTensor(sparse.coo_array(np.ones(2)), ("p",), [["a", "b"]])
    with pytest.raises(ValueError, match="counts must hold numbers"):
        CountTensor(np.array([[1 + 1j]]), ("p", "q"), [["a"], ["x"]])


def test_patients_are_chosen_by_mask_slice_or_index(planted):
    dense, whole = planted
    male = whole.obs["sex"] == "m"
    picks = {
        (1, 3, 5): [male, male.to_numpy(), male.tolist()],
        (5, 3): [slice(5, 1, -2), [5, 3], np.array([5, 3], np.uint8), [-2, -4]],
        (6,): [-1, [6]],
        (): [[], np.array([], int), slice(0), ~male & male],
    }
    for rows, ways in picks.items():
        for pick in ways:
            part = whole[pick]
            assert (part.counts.toarray() == dense[list(rows)]).all()
            assert part.counts.has_canonical_format
            assert part.obs.equals(whole.obs.iloc[list(rows)])
            assert part.shape[1:] == whole.shape[1:]
            assert (part.source, part.about) == (whole.source, whole.about)
    assert isinstance(whole[:2].obs["sex"].dtype, pd.CategoricalDtype)


def test_wrong_choices_of_patients_are_named(planted):
    _, whole = planted
    with pytest.raises(ValueError, match="a patient is chosen twice"):
        whole[[1, 1]]
    with pytest.raises(IndexError, match="mask has 2 entries for 7 patients"):
        whole[[True, False]]
    with pytest.raises(IndexError):
        whole[[9]]
    for wrong in (["a"], [0.5], (slice(None), 1)):
        with pytest.raises(TypeError, match="chosen by a mask, a slice or an array of row numbers"):
            whole[wrong]


def test_a_tensor_is_never_made_dense_by_accident(planted):
    with pytest.raises(
        TypeError, match=r"never made dense; take its counts, or a matrix by cohort"
    ):
        np.asarray(planted[1])


def test_a_cohort_of_one_mode_sums_over_the_others(planted):
    dense, whole = planted
    cohort = whole.cohort("diagnosis")
    assert (cohort.X.toarray() == dense.sum(axis=2)).all()
    assert (cohort.X.format, cohort.X.dtype, cohort.X.indices.dtype) == (
        "csr",
        np.float32,
        np.int32,
    )
    assert cohort.X.has_canonical_format
    assert cohort.var_names.tolist() == ["1", "2", "3", "4"]
    assert list(cohort.var) == ["title", "chapter", "system", "mode", "n_records"]
    assert cohort.var["n_records"].tolist() == (dense.sum(axis=2) > 0).sum(axis=0).tolist()
    assert cohort.obs.equals(whole.obs)
    assert cohort.uns["cohort"]["source"] == "a survey"
    assert cohort.uns["cohort"]["repairs"] == ["none"]


def test_a_cohort_of_all_modes_tells_their_codes_apart(planted):
    dense, whole = planted
    cohort = whole.cohort()
    assert cohort.var_names.tolist() == ["1", "diagnosis:2", "3", "4", "procedure:2", "7", "9"]
    assert (cohort.X.toarray() == np.hstack([dense.sum(axis=2), dense.sum(axis=1)])).all()
    assert cohort.var.loc["procedure:2", ["title", "chapter", "system", "mode"]].tolist() == [
        "a",
        "",
        "other",
        "procedure",
    ]


def test_codes_of_no_chosen_patient_stay_columns(planted):
    dense, whole = planted
    assert whole[:1].cohort().shape == (1, 7)
    assert whole[:0].cohort("procedure").shape == (0, 3)
    assert dense[0].sum() == whole[:1].cohort("procedure").X.sum()


def test_a_cohort_can_be_written_and_read(planted, tmp_path):
    import anndata

    cohort = planted[1].cohort()
    cohort.write_h5ad(tmp_path / "cohort.h5ad")
    assert anndata.read_h5ad(tmp_path / "cohort.h5ad").to_df().equals(cohort.to_df())


def test_a_cohort_of_no_mode_or_too_large_sums_is_refused(planted):
    for mode in ("patient", "drug"):
        with pytest.raises(ValueError, match=f"mode='{mode}'; expected 'diagnosis', 'procedure'"):
            planted[1].cohort(mode)
    with pytest.raises(ValueError, match=r"a sum of counts is 16,777,216"):
        tensor([[[2**23, 2**23]]]).cohort("diagnosis")


dense_tensors = st.tuples(*[st.integers(1, 4)] * 3).flatmap(
    lambda shape: st.lists(st.integers(0, 3), min_size=prod(shape), max_size=prod(shape)).map(
        lambda cells: np.reshape(cells, shape)
    )
)


@given(dense_tensors, st.randoms(use_true_random=False))
def test_nothing_is_lost_on_the_way(dense, random):
    found = tensor(dense)
    assert (found.counts.toarray() == dense).all()
    rows = random.sample(range(len(dense)), random.randint(0, len(dense)))
    assert (found[rows].counts.toarray() == dense[rows]).all()
    axes = {"diagnosis": (0, 1), "procedure": (0, 2)}
    for mode, keep in axes.items():
        others = tuple({0, 1, 2} - set(keep))
        assert (found.cohort(mode).X.toarray() == dense.sum(axis=others)).all()
    again = tensor_of(as_arrays(found))
    assert (again.counts.toarray() == dense).all()


def test_arrays_hold_everything_and_no_objects(planted, tmp_path):
    _, whole = planted
    more = whole.obs.assign(note=["x", None, "ü", "", "y", "z", "w"], ok=True, share=0.5)
    whole = CountTensor(
        whole.counts, whole.modes, (more, *whole.labels[1:]), "s", {"options": {"before": 3}}
    )
    np.savez_compressed(tmp_path / "t.npz", **as_arrays(whole))
    with np.load(tmp_path / "t.npz", allow_pickle=False) as stored:
        again = tensor_of(stored)
    assert (again.counts != whole.counts).nnz == 0
    assert again.modes == whole.modes
    assert (again.source, again.about) == (whole.source, whole.about)
    for ours, theirs in zip(again.labels, whole.labels, strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    assert isinstance(again.obs["sex"].dtype, pd.CategoricalDtype)
    assert (again.obs["ok"].dtype, again.obs["age"].dtype) == (bool, np.int64)


def test_arrays_of_another_format_are_refused(planted):
    arrays = as_arrays(planted[1])
    header = json.loads(str(arrays["header"])) | {"format": "lvmkit-tensor-9"}
    with pytest.raises(ValueError, match="format 'lvmkit-tensor-9'; expected 'lvmkit-tensor-1'"):
        tensor_of(arrays | {"header": np.array(json.dumps(header))})
    with pytest.raises(KeyError):
        tensor_of({name: value for name, value in arrays.items() if name != "places"})


def test_a_file_holds_everything_and_replaces_an_old_one(planted, tmp_path):
    _, whole = planted
    path = tmp_path / "tensor.npz"
    path.write_text("old")
    assert whole.save(path) == path
    assert [file.name for file in tmp_path.iterdir()] == ["tensor.npz"]
    assert path.stat().st_mode & 0o077 == 0
    again = CountTensor.load(str(path))
    assert (again.counts != whole.counts).nnz == 0
    assert (again.modes, again.source, again.about) == (whole.modes, whole.source, whole.about)
    for ours, theirs in zip(again.labels, whole.labels, strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    assert CountTensor.load(whole[:0].save(path)).shape == (0, 4, 3)


def test_what_cannot_be_written_leaves_the_old_file(planted, tmp_path, monkeypatch):
    _, whole = planted
    path = whole.save(tmp_path / "tensor.npz")
    before = path.read_bytes()
    odd = CountTensor(whole.counts, whole.modes, whole.labels, about={"why": object()})
    with pytest.raises(ValueError, match="about cannot be written as JSON: Object of type object"):
        odd.save(path)

    def fail(file, **arrays):
        file.write(b"half")
        raise InterruptedError

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(InterruptedError):
        whole.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_broken_files_are_named(planted, tmp_path):
    path = planted[1].save(tmp_path / "tensor.npz")
    whole = path.read_bytes()
    for wrong in (b"", whole[:100], whole[: len(whole) // 2], whole[:-1], b"PK" * 50):
        path.write_bytes(wrong)
        with pytest.raises(
            ValueError, match=r"^tensor.npz is not a complete file of a CountTensor"
        ):
            CountTensor.load(path)
    np.savez(path, header=np.array(["a", None], dtype=object))
    with pytest.raises(ValueError, match="not a complete file of a CountTensor"):
        CountTensor.load(path)
    np.savez(path, header=np.array('{"format": "lvmkit-model-1"}'))
    with pytest.raises(ValueError, match="of format 'lvmkit-model-1'; expected 'lvmkit-tensor-1'"):
        CountTensor.load(path)
    np.savez(path, header=np.array("[]"))
    with pytest.raises(ValueError, match="not a complete file of a CountTensor"):
        CountTensor.load(path)
    with pytest.raises(FileNotFoundError):
        CountTensor.load(tmp_path / "none.npz")
