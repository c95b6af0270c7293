import re
from decimal import Decimal

import anndata
import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts import from_counts
from lvmkit.core.validation import DataWarning

X = np.array([[0, 2, 1], [1, 0, 0], [0, 0, 0]])
NAMES = ["428", "25000", "25001"]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_array,
        sparse.coo_matrix,
        sparse.csc_array,
        pd.DataFrame,
        np.ndarray.tolist,
    ],
)
def test_every_form_of_matrix_gives_the_same(form):
    cohort = from_counts(form(X), feature_names=NAMES, binary=False)
    assert cohort.var_names.tolist() == ["25000", "25001", "428"]
    assert cohort.X.toarray().tolist() == [[2, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert (cohort.X.format, cohort.X.dtype) == ("csr", np.float32)


def test_codes_of_a_system_are_titled_and_merged_by_category():
    cohort = from_counts(X, feature_names=NAMES, system="icd9", level="category", binary=False)
    assert cohort.to_df().to_numpy().tolist() == [[3, 0], [0, 1], [0, 0]]
    assert cohort.var["title"].tolist() == ["Diabetes mellitus", "Heart failure"]


def test_names_titles_and_rows_come_from_a_frame():
    frame = pd.DataFrame(X, columns=["cough", "fever", "rash"], index=["p1", "p2", "p3"])
    cohort = from_counts(
        frame,
        titles={"fever": "High temperature"},
        obs=pd.DataFrame({"age": [1, 2, 3]}, frame.index),
    )
    assert cohort.obs_names.tolist() == ["p1", "p2", "p3"]
    assert cohort.var["title"].tolist() == ["cough", "High temperature", "rash"]
    assert cohort.obs["age"].tolist() == [1, 2, 3]
    assert cohort.X.max() == 1


@pytest.mark.parametrize("bad", [-1, 1.5, np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_values_that_are_no_counts_name_their_place(bad, form):
    values = X.astype(float)
    values[1, 2] = bad
    with pytest.raises(
        ValueError, match=rf"whole numbers of at least 0; found {bad:g} in row 1, column 2 "
    ):
        from_counts(form(values))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a"]}, "feature_names has 1 names for 3 columns"),
        ({"feature_names": ["a", "a", "b"]}, "feature_names repeats 'a'"),
        ({"feature_names": ["a", "b", "428"], "system": "icd9"}, "'a', 'b' are no icd9 codes"),
        ({"obs": pd.DataFrame({"age": [1]})}, "obs has 1 rows for 3 rows of X"),
        ({"obs": pd.DataFrame(index=["a", "a", "b"])}, "obs repeats the record ids 'a'"),
        ({"system": "snomed"}, "system='snomed'"),
    ],
)
def test_names_and_rows_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        from_counts(X, **options)


def test_shapes_and_types_that_are_no_matrix_are_refused():
    with pytest.raises(ValueError, match=r"found shape \(3,\)"):
        from_counts([1, 2, 3])
    with pytest.raises(ValueError, match="must hold numbers"):
        from_counts([["a"]])


def test_a_matrix_without_any_code_is_refused():
    with pytest.raises(ValueError, match="No code is left in 3 records"):
        from_counts(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"No code is left.*min_prevalence=0.9"):
        from_counts(X, min_prevalence=0.9)


@pytest.mark.parametrize("count", [2**24, 2**24 + 1, 2**40])
def test_counts_that_the_matrix_cannot_hold_exactly_are_refused(count):
    with pytest.raises(ValueError, match=r"16,777,216 or more for '1' of '0'.*binary=True"):
        from_counts([[0, count]], binary=False)
    with pytest.warns(DataWarning, match="one record"):
        assert from_counts([[0, count]]).X.max() == 1


@pytest.mark.parametrize("backed", [False, True])
@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_an_annotated_matrix_brings_its_names_and_attributes(tmp_path, form, backed):
    obs = pd.DataFrame({"age": [1, 2, 3]}, index=["p1", "p2", "p3"])
    var = pd.DataFrame({"title": ["Cough", "Fever", "Rash"]}, index=["c", "f", "r"])
    given = AnnData(form(X).astype(np.float32), obs, var)
    if backed:
        given.write_h5ad(tmp_path / "a.h5ad")
        given = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    cohort = from_counts(given, binary=False, min_codes=1)
    assert cohort.to_df().to_dict("index") == {
        "p1": {"c": 0, "f": 2, "r": 1},
        "p2": {"c": 1, "f": 0, "r": 0},
    }
    assert cohort.var["title"].tolist() == ["Cough", "Fever", "Rash"]
    assert cohort.obs["age"].tolist() == [1, 2]
    renamed = from_counts(given, feature_names=NAMES, system="icd9", obs=obs.set_axis(list("abc")))
    assert renamed.var_names.tolist() == ["25000", "25001", "428"]
    assert renamed.obs_names.tolist() == ["a", "b", "c"]
    if backed:
        given.file.close()
    with pytest.raises(ValueError, match="AnnData has no X"):
        from_counts(AnnData(obs=obs, var=var))


def test_lost_leading_zeros_in_names_are_stated():
    with pytest.warns(DataWarning, match="lost leading zeros: restored in 38 → 038"):
        cohort = from_counts(X, feature_names=["428", "38", "250"], system="icd9")
    assert cohort.var_names.tolist() == ["038", "250", "428"]


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "Float64", "boolean", "Sparse[int]", "uint8"])
def test_nullable_and_sparse_types_are_counts(dtype):
    frame = pd.DataFrame([[1, 0, 0], [1, 1, 0]], list("ab"), ["x", "y", "z"])
    cohort = from_counts(frame.astype(dtype), min_codes=1)
    assert cohort.to_df().to_dict("index") == {"a": {"x": 1, "y": 0}, "b": {"x": 1, "y": 1}}
    mixed = frame.astype({"x": dtype})
    assert (from_counts(mixed).X != from_counts(frame).X).nnz == 0
    converted = pd.DataFrame([[2, 0.0], [0, 1]]).convert_dtypes()
    assert from_counts(converted, binary=False).X.toarray().tolist() == [[2, 0], [0, 1]]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", float])
def test_missing_counts_are_named_by_row_and_column(dtype):
    frame = pd.DataFrame({"428": [1, None], "250": [0, 1]}, ["ann", "bob"]).astype(dtype)
    with pytest.raises(ValueError, match=r"found nan in row 'bob', column '428'\. Correct"):
        from_counts(frame)
    with pytest.raises(ValueError, match=r"found -1 in row '0', column 'b'\. Correct"):
        from_counts([[1, -1]], feature_names=["a", "b"])


def test_columns_that_hold_no_numbers_are_named():
    frame = pd.DataFrame({"428": [1, 0], "sex": ["f", "m"], "day": pd.Timestamp(0)})
    with pytest.raises(
        ValueError, match=r"X must hold numbers; found the text 'f' in row 0, column 'sex'"
    ):
        from_counts(frame)


def test_masks_are_refused_unless_they_hide_nothing():
    hidden = np.ma.masked_equal([[1, 0], [9, 1]], 9)
    with pytest.raises(ValueError, match="X is a masked array, and hides 1 of its entries"):
        from_counts(hidden)
    open_mask = np.ma.masked_array([[1, 0], [1, 1]], mask=False)
    assert from_counts(open_mask).X.sum() == 3


def test_columns_of_several_levels_and_rows_of_several_lengths_are_refused():
    levels = pd.DataFrame([[1, 1]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    with pytest.raises(ValueError, match="X has columns of 2 levels; give each one name"):
        from_counts(levels)
    with pytest.raises(ValueError, match="X is ragged"):
        from_counts([[1, 2], [1]])


def test_many_repeated_names_are_found_at_once():
    names = [f"c{i // 2}" for i in range(60_000)]
    with pytest.raises(ValueError, match="feature_names repeats 'c0'"):
        from_counts(sparse.csr_array((2, 60_000)), feature_names=names)


OTHER_KINDS = {
    "categories": lambda frame: frame.astype("category"),
    "one of categories": lambda frame: frame.assign(a=frame["a"].astype("category")),
    "objects": lambda frame: frame.astype(object),
    "one of objects": lambda frame: frame.assign(b=frame["b"].astype(object)),
    "decimals": lambda frame: frame.map(Decimal),
    "nullable": lambda frame: frame.convert_dtypes(),
    "array of objects": lambda frame: frame.to_numpy(dtype=object),
    "list of objects": lambda frame: frame.map(Decimal).to_numpy().tolist(),
    "sparse": lambda frame: frame.astype(pd.SparseDtype("int64", 0)),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_numbers_of_any_type_are_counts(kind):
    frame = pd.DataFrame({"a": [0, 2, 1], "b": [1, 0, 3]}, index=["p", "q", "r"])
    cohort = from_counts(OTHER_KINDS[kind](frame), binary=False)
    assert cohort.X.toarray().tolist() == [[0, 1], [2, 0], [1, 3]]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.Categorical([0, None, 1]), "found nan in row 'q', column 'a'"),
        (np.array([0, None, 1], dtype=object), "found nan in row 'q', column 'a'"),
        (np.array([0, {}, 1], dtype=object), "{} (dict) in row 'q', column 'a'"),
        (np.array([0, "2", 1], dtype=object), "the text '2' in row 'q', column 'a'"),
        (pd.Categorical(["0", "2", "1"]), "the text '0' in row 'p', column 'a'"),
        (np.array([0, 1.5, 1], dtype=object), "found 1.5 in row 'q', column 'a'"),
    ],
)
def test_what_is_no_count_in_columns_of_other_types_is_named(column, words):
    frame = pd.DataFrame({"a": column, "b": [1, 0, 3]}, index=["p", "q", "r"])
    with pytest.raises(ValueError, match=re.escape(words)):
        from_counts(frame)
