import numpy as np
import pandas as pd
import pytest

from lvmkit.cohorts import codes, from_events
from lvmkit.covariates.similarities import check_similarity, from_codes, from_hierarchy
from lvmkit.datasets import load_discharges


def test_shared_levels_add_their_weights():
    rng = np.random.default_rng(0)
    levels = pd.DataFrame({"coarse": rng.integers(3, size=12), "fine": rng.integers(6, size=12)})
    levels = levels.astype(object).mask(rng.random((12, 2)) < 0.2)
    S = from_hierarchy(levels, [0.25, 2.0]).toarray()
    for i in range(12):
        for j in range(12):
            expected = sum(
                weight
                for weight, column in zip([0.25, 2.0], levels, strict=True)
                if i != j
                and pd.notna(levels.loc[i, column])
                and levels.loc[i, column] == levels.loc[j, column]
            )
            assert S[i, j] == expected
    arrays = from_hierarchy([levels["coarse"], levels["fine"]], [0.25, 2.0])
    np.testing.assert_array_equal(arrays.toarray(), S)


def test_weights_are_alike_and_add_to_1_unless_said():
    assert from_hierarchy([["a", "a"], ["b", "b"], ["c", "d"]])[0, 1] == pytest.approx(2 / 3)


def test_nothing_shared_stores_nothing():
    assert from_hierarchy([["a", "b", None, None, np.nan]]).nnz == 0
    assert from_hierarchy([["a", "a"]], [0.0]).nnz == 0


@pytest.mark.parametrize(
    ("levels", "weights", "message"),
    [
        ([], None, "at least one level"),
        ([["a", "b"], ["a"]], None, "one label for every covariate"),
        ([["a", "b"]], [1, 2], "2 numbers for 1 levels"),
        ([["a", "b"]], [-1], "weights must be"),
    ],
)
def test_levels_that_do_not_fit_are_refused(levels, weights, message):
    with pytest.raises(ValueError, match=message):
        from_hierarchy(levels, weights)


def test_codes_are_as_similar_as_chapters_say():
    cohort = load_discharges()
    S = from_codes(cohort, weights=[1, 0, 0]).toarray()
    chapters = np.array([codes.chapter(code, "icd9") for code in cohort.var_names])
    expected = (chapters[:, np.newaxis] == chapters) & ~np.eye(len(chapters), dtype=bool)
    np.testing.assert_array_equal(S, expected)
    assert len(check_similarity(from_codes(cohort), cohort.n_vars).first) == expected.sum() / 2
    by_code = from_codes(cohort.var_names, "icd9", weights=[1, 0, 0])
    np.testing.assert_array_equal(by_code.toarray(), S)


def test_blocks_and_categories_add_to_chapters():
    S = from_codes(
        ["I50.1", "I50.9", "I51", "I10", "E11", "x", "I999"], "ICD-10", weights=[1, 10, 100]
    )
    assert S.toarray()[0].tolist() == [0, 111, 11, 1, 0, 0, 1]
    assert not S.toarray()[5].any()


def test_systems_of_one_cohort_are_kept_apart():
    table = pd.DataFrame(
        {
            "patient": [0, 0, 1, 1, 1],
            "code": ["428.0", "I50.9", "427.31", "I48", "428.0"],
            "system": ["icd9", "icd10", "icd9", "icd10", "icd9"],
        }
    )
    cohort = from_events(table, patient="patient", code="code", system="system", min_codes=0)
    S = pd.DataFrame(from_codes(cohort).toarray(), cohort.var_names, cohort.var_names)
    assert sorted(S) == ["icd10:I48", "icd10:I50", "icd9:427", "icd9:428"]
    assert S.loc["icd9:427", "icd9:428"] > 0
    assert S.loc["icd10:I48", "icd10:I50"] > 0
    assert not S.loc["icd10:I48", ["icd9:427", "icd9:428"]].any()


@pytest.mark.parametrize("system", [None, "atc"])
def test_a_system_without_table_is_refused(system):
    with pytest.raises(ValueError, match="expected 'icd9' or 'icd10'"):
        from_codes(["428"], system)


@pytest.mark.parametrize("codes", [[None], ["x", "y"], ["I50"]])
def test_codes_of_which_none_is_in_the_table_are_refused(codes):
    with pytest.raises(ValueError, match="codes must be codes of icd9, but none is in its table"):
        from_codes(codes, "icd9")
    with pytest.raises(TypeError, match="codes must be a cohort or a list of codes; found str"):
        from_codes("428", "icd9")
