import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lvmkit.cohorts import from_events
from lvmkit.core.validation import DataWarning

EVENTS = pd.DataFrame(
    {
        "id": ["10", "10", "10", "9", "9", "b", "b"],
        "dx": ["428.0", "250.00", "038.9", "V58.61", "E849.0", "428.21", "401"],
        "age": ["71", "71", "71", "54", "54", "33", "33"],
        "zip": ["01234", "01234", "01234", "99999", "99999", "10001", "10001"],
        "sex": ["f", "f", "f", "m", "m", "", ""],
    }
)


def cohort(events=EVENTS, **options):
    return from_events(events, **{"patient": "id", "code": "dx", "min_codes": 1} | options)


def dense(adata):
    return adata.X.toarray().tolist()


def test_matrix_titles_and_order():
    found = cohort()
    assert found.obs_names.tolist() == ["9", "10", "b"]  # whole numbers by value, then texts
    assert found.var_names.tolist() == ["038", "250", "401", "428", "E849", "V58"]
    assert dense(found) == [[0, 0, 0, 0, 1, 1], [1, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0]]
    assert found.var["n_records"].tolist() == [1, 1, 1, 2, 1, 1]
    assert found.var.loc["428", ["title", "system"]].tolist() == ["Heart failure", "icd9"]
    assert found.var.loc["V58", "chapter"].startswith("Supplementary")


def test_matrix_is_canonical_float32_rows():
    X = cohort().X
    assert X.format == "csr"
    assert X.dtype == np.float32
    assert X.has_sorted_indices
    assert X.has_canonical_format


def test_full_codes_keep_their_digits_without_the_dot():
    found = cohort(level="full")
    assert found.var_names.tolist() == ["0389", "25000", "401", "4280", "42821", "E8490", "V5861"]
    assert found.var.loc["42821", "title"] == "Acute systolic heart failure"


def test_codes_are_dropped_before_records_and_all_is_stated():
    found = cohort(min_prevalence=0.5, min_codes=1)
    assert (found.obs_names.tolist(), found.var_names.tolist()) == (["10", "b"], ["428"])
    dropped = found.uns["cohort"]["n_dropped"]
    assert (dropped["codes_below_min_prevalence"], dropped["records_below_min_codes"]) == (5, 1)
    assert cohort(max_codes=2).var_names.tolist() == ["038", "428"]


def test_default_keeps_records_of_three_codes_as_the_paper_does():
    with pytest.warns(DataWarning, match="one record"):
        found = from_events(EVENTS, patient="id", code="dx")
    assert found.obs_names.tolist() == ["10"]
    assert found.uns["cohort"]["n_dropped"]["records_below_min_codes"] == 2


def test_attributes_from_columns_are_typed_and_keep_leading_zeros():
    obs = cohort(attributes=["age", "zip", "sex"]).obs
    assert obs["age"].tolist() == [54, 71, 33]
    assert obs["zip"].tolist() == ["99999", "01234", "10001"]
    assert obs["sex"].isna().tolist() == [False, False, True]


def test_attributes_that_differ_within_a_patient_are_stated():
    events = EVENTS.assign(age=["71", "72", "9", "54", "54", "33", "33"])
    with pytest.warns(DataWarning, match="'age' differs between the rows of 1 record"):
        assert cohort(events, attributes=["age"]).obs.loc["10", "age"] == 9


def test_attributes_from_a_table_by_column_index_or_file(tmp_path):
    people = pd.DataFrame({"id": ["b", "9", "10"], "age": [33, 54, 71]})
    people.to_csv(tmp_path / "people.csv", index=False)
    for source in (people, people.set_index("id"), tmp_path / "people.csv"):
        assert cohort(attributes=source).obs["age"].tolist() == [54, 71, 33]


def test_keys_of_attributes_are_spelled_as_the_ids_of_events():
    events = EVENTS.assign(id=[10.0, 10.0, 10.0, 2.0, 2.0, 1.5, 1.5])
    people = pd.DataFrame({"id": [1.5, 2.0, 10.0], "age": [33, 54, 71]})
    for source in (people, people.set_index("id"), people.astype({"id": "float32"})):
        assert cohort(events, attributes=source).obs["age"].to_dict() == {
            "1.5": 33,
            "2": 54,
            "10": 71,
        }
    days = pd.to_datetime(["2010-01-02", "2010-01-03"]).repeat([4, 3])
    people = pd.DataFrame({"age": [33, 54]}, index=days.unique())
    assert cohort(EVENTS.assign(id=days), attributes=people).obs["age"].tolist() == [33, 54]


def test_columns_of_attributes_may_be_any_iterable():
    for names in (EVENTS.columns[2:3], ("age",), iter(["age"]), np.array(["age"])):
        assert cohort(attributes=names).obs["age"].tolist() == [54, 71, 33]


def test_attributes_missing_unused_or_repeated_are_said():
    people = pd.DataFrame({"id": ["b", "9", "x"], "age": [33, 54, 71]})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = cohort(attributes=people)
    assert found.obs["age"].isna().tolist() == [False, True, False]
    assert ["1 of 3 records have no row" in str(w.message) for w in said] == [True, False]
    assert "belong to no patient" in found.uns["cohort"]["repairs"][1]
    with pytest.raises(ValueError, match="several rows for 'b'"):
        cohort(attributes=pd.concat([people, people[:1]]))
    with pytest.raises(ValueError, match="none of its keys"):
        cohort(attributes=people.assign(id=["x", "y", "z"]))


def test_counts_are_summed_and_zero_is_absent():
    events = EVENTS.assign(n=["2", "1", "0", "3", "1", "1", "1"])
    found = cohort(events, count="n", binary=False)
    assert found.to_df().loc["10", "428"] == 2
    assert "038" not in found.var_names
    again = pd.concat([events, events[:1]])
    with pytest.warns(
        DataWarning, match="patient and code of another row: their counts are summed"
    ):
        assert cohort(again, count="n", binary=False).to_df().loc["10", "428"] == 4


@pytest.mark.parametrize("bad", ["-1", "1.5", "many", "", "nan", "inf"])
def test_counts_that_are_no_counts_name_their_rows(bad):
    events = EVENTS.assign(n=["1", "1", bad, "1", "1", "1", "1"])
    with pytest.raises(
        ValueError, match=f"count='n' needs whole numbers.*row 3: {bad or 'nothing'}"
    ):
        cohort(events, count="n")


@pytest.mark.parametrize("large", ["16777216", "16777217", "1e39"])
def test_counts_that_the_matrix_cannot_hold_exactly_are_refused(large):
    events = EVENTS.assign(n=["1", large, "1", "1", "1", "1", "1"])
    with pytest.raises(ValueError, match=r"16,777,216 or more for '250' of '10'.*binary=True"):
        cohort(events, count="n", binary=False)
    assert cohort(events, count="n").to_df().loc["10", "250"] == 1
    events["n"] = events["n"].replace(large, "16777215")
    assert cohort(events, count="n", binary=False).to_df().loc["10", "250"] == 16_777_215


def test_repeated_rows_are_stated_and_count_once_or_each():
    again = pd.concat([EVENTS, EVENTS[:2]])
    with pytest.warns(
        DataWarning, match="2 rows with the patient and code of another row: counted once"
    ):
        assert dense(cohort(again)) == dense(cohort())
    with pytest.warns(DataWarning, match="each counts as an event; pass date="):
        assert cohort(again, binary=False).X.sum() == 9


def test_dates_tell_double_entries_from_repeated_visits():
    events = pd.DataFrame(
        {
            "id": ["1"] * 4 + ["2"],
            "dx": ["428"] * 4 + ["250"],
            "on": ["2010-01-02", "2010-01-02", "2011-03-04", "2009-01-01", "unknown"],
        }
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = cohort(events, date="on", binary=False)
    assert found.to_df().loc["1", "428"] == 3
    assert found.obs["first_date"].tolist()[0] == "2009-01-01"
    assert found.obs["last_date"].isna().tolist() == [False, True]
    assert ["counted once" in str(w.message) for w in said] == [True, False]
    assert "no readable date in 'on' (expected 2010-12-31 or 20101231)" in str(said[1].message)


@pytest.mark.parametrize("kind", [str, " {} ".format, int, float])
def test_dates_without_dashes_are_read(kind):
    days = [20101231, 20100101, 20110304]
    events = pd.DataFrame({"id": ["1"] * 3, "dx": ["428", "250", "401"], "on": map(kind, days)})
    with pytest.warns(DataWarning, match="one record"):
        found = cohort(events, date="on")
    assert found.obs[["first_date", "last_date"]].iloc[0].tolist() == ["2010-01-01", "2011-03-04"]


@pytest.mark.parametrize(
    "date", ["31/12/2010", "31122010", "20101331", "40543", "2010113", "201011"]
)
def test_dates_of_other_forms_are_not_guessed(date):
    events = EVENTS.assign(on=["2010-12-31"] * 6 + [date])
    with pytest.warns(DataWarning, match=r"1 row has no readable date .*expected 2010-12-31"):
        assert cohort(events, date="on").obs.loc["b", "first_date"] == "2010-12-31"


def test_unknown_columns_name_what_there_is_and_the_closest():
    with pytest.raises(
        ValueError, match=r"code='DX' is not a column.*'id', 'dx'.*Did you mean 'dx'"
    ):
        cohort(code="DX")
    with pytest.raises(ValueError, match=r"attributes='sexx'.*Did you mean 'sex'"):
        cohort(attributes=["sexx"])
    with pytest.raises(ValueError, match="system='snomed' is neither"):
        cohort(system="snomed")


def test_mixed_systems_are_refused_unless_told_apart():
    mixed = pd.DataFrame(
        {
            "id": ["1", "1", "2", "2"],
            "dx": ["428", "I50.9", "V58", "V58.1"],
            "version": ["9", "10", "9", "10"],
        }
    )
    with pytest.raises(
        ValueError, match=r"mixes systems: 1 rows look like ICD-9 \('428'\).*system="
    ):
        cohort(mixed)
    found = cohort(mixed, system="version")
    assert found.var_names.tolist() == ["icd9:428", "icd10:I50", "icd10:V58", "icd9:V58"]
    assert found.var["system"].tolist() == ["icd9", "icd10", "icd10", "icd9"]
    with pytest.warns(
        DataWarning, match="1 entry ignored: not codes of the system in 'dx': 'I50.9'"
    ):
        assert cohort(mixed, system="icd9").var_names.tolist() == ["428", "V58"]


@pytest.mark.parametrize(
    ("dx", "system", "names"),
    [
        (["I50.9", "E11", "Z79.4"], "icd10", ["E11", "I50", "Z79"]),
        (["E119", "E785"], "icd10", ["E11", "E78"]),
        (["65363002", "195662009", "10509002"], "other", ["10509002", "195662009", "65363002"]),
        (["cough", "fever"], "other", ["cough", "fever"]),
    ],
)
def test_the_system_is_found_from_the_codes(dx, system, names):
    events = pd.DataFrame({"id": ["1", "2", "3"][: len(dx)], "dx": dx})
    found = cohort(events)
    assert (found.var["system"].unique().tolist(), found.var_names.tolist()) == ([system], names)


def test_codes_that_both_systems_have_need_a_system():
    events = pd.DataFrame({"id": ["1", "2"], "dx": ["V58", "V10"]})
    with pytest.raises(ValueError, match="only codes that ICD-9 and ICD-10 both have"):
        cohort(events)
    assert cohort(events, system="ICD-9-CM").var_names.tolist() == ["V10", "V58"]


def test_a_column_that_holds_no_codes_is_refused():
    with pytest.raises(ValueError, match="most rows said to be icd10 do not have the form"):
        cohort(system="icd10")


def test_lost_leading_zeros_are_restored_and_stated():
    events = EVENTS.assign(dx=["38", "8", "38.9", "428", "250", "401", "272"])
    with pytest.warns(
        DataWarning, match=r"lost leading zeros: restored in 3 of 7 entries \(38 → 038"
    ):
        found = cohort(events)
    assert {"038", "008"} <= set(found.var_names)
    assert len(found.uns["cohort"]["repairs"]) == 1


def test_numbers_as_codes_are_repaired_where_they_can_be_and_stated():
    events = EVENTS.assign(dx=[38, 8, 389, 428, 250, 401, 272])
    with pytest.warns(DataWarning, match="lost leading zeros: restored in 2 of 7"):
        assert "038" in cohort(events).var_names
    events = EVENTS.assign(dx=[4280.0, np.nan, 25000, 428, 250, 401, 272])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert cohort(events).var_names.tolist() == ["250", "272", "401", "428"]
    told = [str(w.message) for w in said if issubclass(w.category, DataWarning)]
    assert ["without a code" in sentence for sentence in told] == [False, True]
    assert "cannot be seen" in told[0]
    decimals = EVENTS.assign(dx=[250.1, 428.0, 38.9, 428, 250, 401, 272])
    with pytest.warns(DataWarning, match="lost leading zeros"):
        assert cohort(decimals).var_names.tolist() == ["038", "250", "272", "401", "428"]
    with pytest.raises(ValueError, match=r"250\.1 and 250\.10 are one; read the column as text"):
        cohort(decimals, level="full")


def test_blanks_and_case_do_not_make_new_codes_or_patients():
    events = EVENTS.assign(
        id=[" 10", "10 ", "10", "9", "9\t", "b", "b"], dx=EVENTS["dx"].str.lower() + " "
    )
    assert dense(cohort(events)) == dense(cohort())


def test_rows_without_patient_or_code_are_ignored_and_stated():
    events = EVENTS.assign(
        id=["10", None, "10", "9", "9", "b", " "], dx=["428", "1", None, "V58", "", "401", "1"]
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = cohort(events, system="icd9")
    assert found.n_obs == 3
    text = " ".join(str(w.message) for w in said)
    assert "2 rows without a record id ignored" in text
    assert "2 rows without a code in 'dx' ignored" in text


def test_a_category_that_the_tables_lack_is_kept_and_stated():
    events = EVENTS.assign(dx=["E700", "250.00", "038.9", "V58.61", "E849.0", "428.21", "401"])
    with pytest.warns(DataWarning, match="1 code kept without title.*'E700'"):
        assert cohort(events).var.loc["E700", "title"] == "E700"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "3"}, "level='3'; expected 'category' or 'full'"),
        ({"min_codes": -1}, "min_codes must be a whole number, at least 0; found -1"),
        ({"min_prevalence": 5}, "min_prevalence=5; expected a share"),
        ({"max_codes": 0}, "max_codes must be a whole number, at least 1; found 0"),
        (
            {"min_codes": 9},
            "No record has min_codes=9 different codes; the longest of 3 records has 3",
        ),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cohort(**options)


def test_a_cohort_survives_a_file_and_subsetting(tmp_path):
    import anndata

    found = cohort(attributes=["age", "sex"])
    found.write_h5ad(tmp_path / "cohort.h5ad")
    again = anndata.read_h5ad(tmp_path / "cohort.h5ad")
    assert again.to_df().equals(found.to_df())
    assert again.obs["age"].tolist() == found.obs["age"].tolist()
    assert again.uns["cohort"]["n_input_rows"] == 7
    assert found[found.obs["age"] > 40, "428"].X.toarray().ravel().tolist() == [0, 1]


pairs = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "30", "a"]), st.sampled_from(["428", "250.1", "V58", "038.9"])
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=8)
@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_the_result(rows, random):
    shuffled = random.sample(rows, len(rows))
    a, b = (pd.DataFrame(r, columns=["id", "dx"]) for r in (rows, shuffled))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        first, second = (cohort(x, system="icd9", binary=False) for x in (a, b))
    assert first.to_df().equals(second.to_df())
    expected = pd.crosstab(a["id"], a["dx"].str[:3])
    assert expected.to_numpy().sum() == first.X.sum()
    assert (first.to_df().sort_index() == expected.sort_index()).all(axis=None)


@settings(max_examples=4)
@given(pairs, st.integers(0, 20))
def test_two_files_by_a_glob_equal_the_whole(tmp_path_factory, rows, cut):
    folder = tmp_path_factory.mktemp("parts")
    frame = pd.DataFrame(rows, columns=["id", "dx"])
    cut = min(cut, len(frame))
    frame[:cut].to_csv(folder / "part-1.csv", index=False)
    # columns in another order: they go by name
    frame[cut:][["dx", "id"]].to_csv(folder / "part-2.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        whole = cohort(frame, system="icd9")
        parts = cohort(folder / "part-*.csv", system="icd9")
    assert parts.to_df().equals(whole.to_df())


def test_a_table_larger_than_the_memory_limit_spills(tmp_path, monkeypatch):
    from lvmkit.cohorts import _sources

    private = _sources._private_database

    def small(folder):
        database = private(folder)
        return database.execute("SET memory_limit = '80MB'")

    monkeypatch.setattr(_sources, "_private_database", small)
    duckdb.sql(
        "COPY (SELECT 'patient ' || (i % 100000) || ' of a long name' AS id, "
        "(420 + i % 10) || '.' || (i % 7) AS dx FROM range(1000000) t(i)) "
        f"TO '{tmp_path / 'many.parquet'}'"
    )
    with pytest.warns(DataWarning, match="counted once"):
        found = cohort(tmp_path / "many.parquet")
    assert found.shape == (100_000, 10)


UNUSUAL = {
    "spans": pd.cut(pd.Series([10, 50, 70]), [0, 30, 60, 90]),
    "spans of floats": pd.qcut(pd.Series([10, 50, 70]), 2),
    "plain spans": pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3])),
    "periods": pd.Series(pd.Categorical(pd.period_range("2010-01", periods=3, freq="M"))),
    "a missing one": pd.cut(pd.Series([10, np.nan, 70]), [0, 30, 60, 90]),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_attributes_that_are_spans_or_periods_become_texts(kind):
    frame = pd.DataFrame({"p": ["a", "b", "c"], "c": ["x", "y", "x"], "group": UNUSUAL[kind]})
    values = UNUSUAL[kind].astype("category").cat
    texts = [str(values.categories[i]) if i >= 0 else None for i in values.codes]
    options = {"patient": "p", "code": "c", "system": "other", "min_codes": 0}
    for X, given_as in (
        (frame, {}),
        (frame, {"attributes": ["group"]}),
        (frame[["p", "c"]], {"attributes": frame[["p", "group"]]}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # records without a value
            obs = from_events(X, **options, **given_as).obs
        if given_as:
            found = [None if pd.isna(value) else value for value in obs["group"]]
            assert found == texts


def test_columns_that_are_not_asked_for_may_be_of_any_type():
    frame = pd.DataFrame({"p": ["a", "b"], "c": ["x", "y"], "z": [1j, 2]})
    options = {"patient": "p", "code": "c", "system": "other", "min_codes": 0}
    assert from_events(frame, **options).shape == (2, 2)
    assert from_events(frame, attributes=["z"], **options).obs["z"].tolist() == ["1j", "(2+0j)"]
