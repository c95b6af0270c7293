import anndata
import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

from lvmkit._checks import DataWarning
from lvmkit.cohorts import from_counts

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
