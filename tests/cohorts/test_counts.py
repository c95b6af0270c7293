import numpy as np
import pandas as pd
import pytest
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


def test_lost_leading_zeros_in_names_are_stated():
    with pytest.warns(DataWarning, match="lost leading zeros: restored in 38 → 038"):
        cohort = from_counts(X, feature_names=["428", "38", "250"], system="icd9")
    assert cohort.var_names.tolist() == ["038", "250", "428"]
