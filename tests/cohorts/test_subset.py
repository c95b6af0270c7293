import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts.subset import Subset, level_attributes, numeric_attributes
from lvmkit.cohorts.view import CohortView


@pytest.fixture
def cohort():
    X = sparse.csr_matrix(np.array([[1, 0, 2], [0, 1, 1], [1, 1, 0], [0, 0, 1]], dtype=np.float32))
    obs = pd.DataFrame(
        {"age": [30, 50, 70, 90], "sex": ["female", "male", "female", "male"], "site": ["A"] * 4},
        index=["p1", "p2", "p3", "p4"],
    )
    var = pd.DataFrame({"title": ["Diabetes", "Heart", ""]}, index=["250", "428", "585"])
    return anndata.AnnData(X, obs=obs, var=var)


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        (Subset(), [0, 1, 2, 3]),
        (Subset(ranges={"age": (50, 70)}), [1, 2]),
        (Subset(values={"sex": ("male",)}), [1, 3]),
        (Subset(having=("250",), lacking=("428",)), [0]),
        (Subset(ranges={"age": (50, 99)}, having=("585",)), [1, 3]),
    ],
)
def test_a_choice_finds_its_patients(cohort, subset, expected):
    assert np.flatnonzero(subset.rows(cohort)).tolist() == expected
    assert eval(subset.code, {"Subset": Subset}) == subset  # noqa: S307


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (Subset(ranges={"age": (100, 120)}), "Nobody .* fits this choice: age 100 to 120"),
        (Subset(having=("999",)), "has the code “999”"),
        (Subset(values={"ward": ("A",)}), "no attribute “ward”; it has age, sex, site"),
    ],
)
def test_a_wrong_choice_says_what_to_do(cohort, subset, message):
    with pytest.raises(ValueError, match=message):
        subset.rows(cohort)


def test_only_attributes_that_divide_are_offered(cohort):
    assert numeric_attributes(cohort.obs) == ["age"]
    assert level_attributes(cohort.obs) == {"sex": ["female", "male"]}


def test_counts_are_read_as_present_and_missing_codes_as_absent(cohort):
    view = CohortView(cohort)
    X = view.matrix(Subset(values={"sex": ("female",)}), ["585", "999", "250"])
    assert X.toarray().tolist() == [[1, 0, 1], [0, 0, 1]]
    assert view.title("428") == "428 Heart"
    assert view.title("585") == "585"


def test_what_is_not_a_cohort_is_refused():
    with pytest.raises(TypeError, match=r"needs a cohort .*found DataFrame"):
        CohortView(pd.DataFrame({"a": [1]}))


def test_a_choice_is_told_in_words():
    assert Subset(ranges={"age": (65, 80)}, having=("428",)).text == "age 65 to 80, with 428"
    assert Subset().text == "all patients"
