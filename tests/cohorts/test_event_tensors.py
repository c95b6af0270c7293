import itertools
import sqlite3
import warnings
from collections import Counter
from datetime import date, timedelta

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lvmkit.cohorts import _visits, tensor_from_events
from lvmkit.core.validation import DataWarning

ORDERS = pd.DataFrame(
    {
        "id": ["10", "10", "10", "9", "9", "b", "b"],
        "visit": ["v1", "v1", "v2", "v1", "v1", "v8", "v9"],
        "day": [
            "2010-01-01",
            "2010-01-01",
            "2010-03-05",
            "20100601",
            "2010-06-01",
            "2011-01-01",
            "2012-01-01",
        ],
        "dx": ["428.0", "42821", "4280", "25000", "4280", "25000", "2724"],
        "rx": ["furosemide", "furosemide", "digoxin", "insulin", "furosemide", "insulin", "statin"],
        "n": [1, 2, 3, 1, 1, 2, 0],
        "age": [71, 71, 71, 54, 54, 33, 33],
    }
)
MODES = {"diagnosis": "dx", "medication": "rx"}
CATEGORY = {"diagnosis": "category"}


def made(source=ORDERS, **options):
    """A tensor and what was said on the way."""
    options = {"patient": "id", "modes": MODES, **options}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = tensor_from_events(source, **options)
    told = [str(w.message) for w in said]
    assert all(issubclass(w.category, DataWarning) for w in said)
    assert found.about["repairs"] == told
    return found, told


def cells(tensor):
    """The cells by the names of their place."""
    names = [table.index for table in tensor.labels]
    places = zip(*tensor.counts.coords, strict=True)
    return {
        tuple(index[i] for index, i in zip(names, place, strict=True)): int(n)
        for place, n in zip(places, tensor.counts.data, strict=True)
    }


def test_each_row_of_one_table_adds_1_to_a_cell():
    found, told = made(group=CATEGORY)
    assert told == []
    assert found.modes == ("patient", "diagnosis", "medication")
    assert found.shape == (3, 3, 4)
    assert found.obs.index.tolist() == ["9", "10", "b"]
    assert found.labels[1].index.tolist() == ["250", "272", "428"]
    assert found.labels[1].loc["428"].tolist() == [
        "Heart failure",
        "Diseases Of The Circulatory System",
        "icd9",
    ]
    assert found.labels[2]["title"].tolist() == ["digoxin", "furosemide", "insulin", "statin"]
    assert cells(found) == {
        ("9", "250", "insulin"): 1,
        ("9", "428", "furosemide"): 1,
        ("10", "428", "furosemide"): 2,
        ("10", "428", "digoxin"): 1,
        ("b", "250", "insulin"): 1,
        ("b", "272", "statin"): 1,
    }
    assert found.source == "the DataFrame"
    assert found.about["n_input_rows"] == 7


def test_codes_are_taken_as_they_are_unless_a_system_is_named():
    found, _ = made()
    assert found.labels[1].index.tolist() == ["25000", "2724", "428.0", "4280", "42821"]
    assert set(found.labels[1]["system"]) == {"other"}
    found, _ = made(system={"diagnosis": "ICD-9-CM"})
    assert found.labels[1].index.tolist() == ["25000", "2724", "4280", "42821"]
    assert found.labels[1].loc["2724", "title"] == "Other and unspecified hyperlipidemia"


def test_rows_of_a_visit_count_once():
    found, told = made(group=CATEGORY, visit="visit")
    assert told == ["1 entry with codes that their visit already has: counted once."]
    assert cells(found)["10", "428", "furosemide"] == 1
    assert cells(found)["10", "428", "digoxin"] == 1
    assert found.about["n_dropped"]["entries_repeated"] == 1
    assert cells(made(group=CATEGORY, date="day")[0]) == cells(found)


def test_visits_are_those_of_a_patient():
    orders = ORDERS.assign(visit="same")
    found, _ = made(orders, group=CATEGORY, visit="visit")
    assert set(cells(found).values()) == {1}
    assert found.nnz == 6


def test_counts_are_summed_and_0_is_no_cell():
    found, told = made(group=CATEGORY, count="n")
    assert found.shape == (3, 2, 3)
    assert cells(found) == {
        ("9", "250", "insulin"): 1,
        ("9", "428", "furosemide"): 1,
        ("10", "428", "furosemide"): 3,
        ("10", "428", "digoxin"): 3,
        ("b", "250", "insulin"): 2,
    }
    assert told == []
    with pytest.raises(
        ValueError, match=r"count='n' needs whole numbers of at least 0; found row 2: -1"
    ):
        made(ORDERS.assign(n=[1, -1, 1, 1, 1, 1, 1]), count="n")
    with pytest.raises(ValueError, match="count sums rows and visit counts visits once"):
        made(count="n", visit="visit")


def test_counts_are_summed_also_inside_a_window():
    everything, _ = made(group=CATEGORY, count="n")
    dated, _ = made(group=CATEGORY, count="n", date="day")
    assert cells(dated) == cells(everything)
    found, _ = made(group=CATEGORY, count="n", date="day", index=HEART, after=30)
    assert cells(found)["10", "428", "furosemide"] == 3
    assert ("10", "428", "digoxin") not in cells(found)


def test_one_mode_gives_patients_by_codes():
    found, _ = made(modes={"diagnosis": "dx"}, group=CATEGORY)
    assert (found.ndim, found.shape) == (2, (3, 3))
    assert cells(found) == {
        ("9", "250"): 1,
        ("9", "428"): 1,
        ("10", "428"): 3,
        ("b", "250"): 1,
        ("b", "272"): 1,
    }
    found, told = made({"diagnosis": ORDERS}, modes={"diagnosis": "dx"}, group=CATEGORY, date="day")
    assert cells(found)["10", "428"] == 2
    assert len(told) == 1


def apart(orders=ORDERS):
    """The same events as one table for each mode, in another order."""
    return {
        "medication": orders[["rx", "visit", "id", "day"]].iloc[::-1],
        "diagnosis": orders[["id", "visit", "day", "dx"]],
    }


def test_several_tables_are_joined_by_the_visit():
    found, told = made(apart(), group=CATEGORY, visit="visit")
    assert cells(found) == {
        ("9", "250", "insulin"): 1,
        ("9", "428", "furosemide"): 1,
        ("9", "250", "furosemide"): 1,
        ("9", "428", "insulin"): 1,
        ("10", "428", "furosemide"): 1,
        ("10", "428", "digoxin"): 1,
        ("b", "250", "insulin"): 1,
        ("b", "272", "statin"): 1,
    }
    assert told == ["2 entries with codes that their visit already has: counted once."]
    assert found.about["n_input_rows"] == 14
    by_day, _ = made(apart(), group=CATEGORY, date="day")
    assert cells(by_day) == cells(found)


def test_visits_and_patients_without_every_mode_are_stated():
    tables = apart()
    tables["medication"] = tables["medication"].query("id != 'b' or rx != 'statin'")
    tables["diagnosis"] = tables["diagnosis"].query("id != '9'")
    found, told = made(tables, group=CATEGORY, visit="visit")
    assert found.obs.index.tolist() == ["10", "b"]
    assert "2 of 5 visits lack a diagnosis or a medication: they count nowhere." in told
    assert "1 of 3 patients have no count that is kept: left out." in told
    dropped = found.about["n_dropped"]
    assert (dropped["visits_without_every_mode"], dropped["patients_without_cell"]) == (2, 1)


def test_three_modes_are_joined():
    tables = {
        "a": pd.DataFrame({"id": ["p", "p", "q"], "v": ["1", "1", "2"], "x": ["a1", "a2", "a1"]}),
        "b": pd.DataFrame({"id": ["p", "q"], "v": ["1", "2"], "y": ["b1", "b2"]}),
        "c": pd.DataFrame({"id": ["p", "p", "q"], "v": ["1", "1", "3"], "z": ["c1", "c2", "c1"]}),
    }
    found, _ = made(tables, modes={"a": "x", "b": "y", "c": "z"}, visit="v")
    assert cells(found) == {("p", a, "b1", c): 1 for a in ("a1", "a2") for c in ("c1", "c2")}


CLASSES = {"furosemide": "C03", "digoxin": "C01", "insulin": "A10", "statin": "C10"}


def test_groups_are_chapters_mappings_functions_and_ccs():
    found, _ = made(
        group={"diagnosis": "chapter", "medication": CLASSES},
        titles={"medication": {"C03": "Diuretics"}},
    )
    assert found.labels[1].index.tolist() == ["03", "07"]
    assert found.labels[1]["title"].tolist()[1] == "Diseases Of The Circulatory System"
    assert found.labels[2].index.tolist() == ["A10", "C01", "C03", "C10"]
    assert found.labels[2]["title"].tolist() == ["A10", "C01", "Diuretics", "C10"]
    group = {"diagnosis": "ccs", "medication": str.upper}
    titles = {"diagnosis": {"53": "Lipids"}}
    found, _ = made(group=group, system={"diagnosis": "icd9"}, titles=titles)
    assert found.labels[1].index.tolist() == ["49", "53", "108"]
    assert found.labels[1].loc["53", "title"] == "Lipids"
    found, _ = made(group=group, system={"diagnosis": "icd9"})
    assert found.labels[1]["title"].to_dict() == {
        "49": "Diabetes mellitus without complication",
        "53": "Disorders of lipid metabolism",
        "108": "Congestive heart failure; nonhypertensive",
    }
    assert found.labels[2].index.tolist() == ["DIGOXIN", "FUROSEMIDE", "INSULIN", "STATIN"]


def test_keys_of_a_mapping_are_spelled_as_codes():
    found, told = made(
        group={"diagnosis": {"428.0": "HF", " 42821 ": "HF", "272.4": "LIPIDS"}},
        system={"diagnosis": "icd9"},
    )
    assert found.labels[1].index.tolist() == ["HF", "LIPIDS"]
    assert told[0] == "2 entries in 'dx' ignored: group has no place for '25000'."
    assert found.about["n_dropped"]["diagnosis: entries_without_group"] == 2


def test_codes_that_a_function_leaves_out_are_stated():
    found, told = made(group={"medication": lambda code: None if code == "statin" else code})
    assert "statin" not in found.labels[2].index
    assert "1 entry in 'rx' ignored: group has no place for 'statin'." in told


def test_groups_may_be_numbers_and_missing_ones_are_left_out():
    drugs = {"furosemide": 0, "digoxin": 1, "insulin": np.nan, "statin": pd.NA}
    for rule in (drugs, drugs.get):
        found, told = made(group={"medication": rule})
        assert found.labels[2].index.tolist() == ["0", "1"]
        assert "3 entries in 'rx' ignored: group has no place for 'insulin', 'statin'." in told


def test_procedures_have_titles_and_ccs_groups():
    table = pd.DataFrame({"id": ["a", "b", "b"], "pr": ["38.93", "3722", "0.66"]})
    system = {"procedure": "icd9procedure"}
    found, told = made(table, modes={"procedure": "pr"}, system=system)
    assert found.labels[1].index.tolist() == ["0066", "3722", "3893"]
    assert found.labels[1].loc["3722", "title"] == "Left heart cardiac catheterization"
    assert "lost leading zeros: restored in 1 of 3 entries (0.66 → 0066)" in told[0]
    found, _ = made(table, modes={"procedure": "pr"}, system=system, group={"procedure": "ccs"})
    assert found.labels[1]["title"].to_dict() == {
        "45": "PTCA",
        "47": "Cardiac cath",
        "54": "Ot vasc cath",
    }


HEART = {"diagnosis": ["428"]}


def test_the_window_is_around_the_first_diagnosis():
    early = pd.DataFrame(
        {
            "id": "9",
            "visit": "v0",
            "day": ["2010-05-31", "2010-05-30"],
            "dx": "401",
            "rx": "ace",
            "n": 1,
            "age": 54,
        }
    )
    orders = pd.concat([ORDERS, early])
    found, told = made(orders, group=CATEGORY, date="day", index=HEART, before=1, after=63)
    assert cells(found) == {
        ("9", "250", "insulin"): 1,
        ("9", "428", "furosemide"): 1,
        ("9", "401", "ace"): 1,
        ("10", "428", "furosemide"): 1,
        ("10", "428", "digoxin"): 1,
    }
    assert found.obs["index_date"].tolist() == ["2010-06-01", "2010-01-01"]
    assert "1 of 3 patients have no index date: left out." in told
    assert found.about["n_dropped"]["rows_outside_window"] == 1
    assert found.about["options"]["index"] == {"diagnosis": ["428"]}
    shorter, _ = made(orders, group=CATEGORY, date="day", index=HEART, before=1, after=62)
    assert set(cells(found)) - set(cells(shorter)) == {("10", "428", "digoxin")}


def test_an_index_may_be_a_code_that_is_not_counted():
    found, told = made(date="day", group={"diagnosis": {"25000": "DM"}}, index=HEART, after=0,
                       system={"diagnosis": "icd9"})  # fmt: skip
    assert cells(found) == {("9", "DM", "insulin"): 1}
    assert "One patient is left: a saved model can score it, but none can be fitted to it." in told


def test_patients_without_a_count_in_their_window_are_told_of_those_indexed():
    late = ORDERS.assign(day=["2010-01-01", "2010-01-01", *ORDERS["day"][2:]])
    index = pd.Series({"10": "2010-01-01", "9": "2000-01-01"})
    _, told = made(late, group=CATEGORY, date="day", index=index, after=30)
    assert "1 of 3 patients have no index date: left out." in told
    assert "1 of 2 patients have no count that is kept: left out." in told


def test_undated_rows_of_all_tables_are_counted():
    tables = {
        mode: table.assign(day=["never", *table["day"][1:]]) for mode, table in apart().items()
    }
    found, _ = made(tables, group=CATEGORY, date="day")
    assert found.about["n_dropped"]["rows_without_date"] == 2
    assert found.about["options"] == {"min_count": 1, "min_patients": 1, "group": CATEGORY}


def test_windows_may_be_open_on_either_side():
    days = {"group": CATEGORY, "date": "day", "index": HEART}
    assert ("10", "428", "digoxin") in cells(made(**days, before=0)[0])
    assert ("10", "428", "digoxin") not in cells(made(**days, after=0)[0])
    whole, _ = made(**days)
    assert cells(made(**days, before=10**9, after=10**9)[0]) == cells(whole)
    assert whole.obs.index.tolist() == ["9", "10"]


def test_codes_of_an_index_are_whole_codes_groups_or_beginnings():
    def index_dates(codes, **options):
        found, _ = made(date="day", index={"diagnosis": codes}, **options)
        return found.obs["index_date"].to_dict()

    system = {"system": {"diagnosis": "icd9"}}
    assert index_dates(["42821"], **system) == {"10": "2010-01-01"}
    assert index_dates(["428.2"], **system, group=CATEGORY) == {"10": "2010-01-01"}
    assert index_dates("428", **system) == {"9": "2010-06-01", "10": "2010-01-01"}
    assert index_dates(["272", "25000"], **system) == {"9": "2010-06-01", "b": "2011-01-01"}
    assert index_dates(["107", "108"], **system, group={"diagnosis": "ccs"}) == {
        "9": "2010-06-01",
        "10": "2010-01-01",
    }
    assert index_dates(["4280"]) == {"9": "2010-06-01", "10": "2010-03-05"}


@pytest.mark.parametrize("form", ["series", "indexed", "table", "dates", "column"])
def test_index_dates_may_be_given(form):
    days = {"10": "2010-03-05", "b": "2011-06-01", "unknown": "2010-01-01"}
    series = pd.Series(days)
    index = {
        "series": series,
        "indexed": series.to_frame("start"),
        "table": series.rename_axis("id").reset_index(name="start"),
        "dates": pd.to_datetime(series),
        "column": "start",
    }[form]
    orders = ORDERS.assign(start=ORDERS["id"].map(days))
    found, told = made(orders, group=CATEGORY, date="day", index=index, before=100)
    assert cells(found) == {
        ("10", "428", "furosemide"): 1,
        ("10", "428", "digoxin"): 1,
        ("b", "272", "statin"): 1,
    }
    assert found.obs["index_date"].tolist() == ["2010-03-05", "2011-06-01"]
    assert "1 of 3 patients have no index date: left out." in told
    assert "2010" not in str(found.about["options"])


def test_index_dates_alone_choose_patients_and_need_no_dates():
    found, _ = made(group=CATEGORY, index=pd.Series({10: "2010-03-05", 9: "never"}))
    assert found.obs.index.tolist() == ["10"]
    assert cells(found)["10", "428", "furosemide"] == 2


def test_several_index_dates_of_a_patient_are_stated():
    index = pd.DataFrame(
        {"id": ["10", "10", "9"], "start": ["2010-03-05", "2010-02-01", "2010-06-01"]}
    )
    found, told = made(group=CATEGORY, date="day", index=index, after=9999)
    assert "index gives several dates for 1 patient: the first is taken." in told
    assert found.obs["index_date"].tolist() == ["2010-06-01", "2010-02-01"]


def test_windows_hold_for_tables_apart():
    found, _ = made(
        apart(), group=CATEGORY, date="day", visit="visit", index=HEART, before=0, after=0
    )
    assert set(found.obs.index) == {"9", "10"}
    assert ("10", "428", "digoxin") not in cells(found)


def test_rare_cells_and_codes_are_left_out_until_none_is_rare():
    pairs = {"1": ["Ax", "Ax", "Bx"], "2": ["Ax", "By"], "3": ["Cy", "Cy"], "4": ["Ax", "Dx"]}
    rows = [(patient, *pair) for patient, all_pairs in pairs.items() for pair in all_pairs]
    table = pd.DataFrame(rows, columns=["id", "dx", "rx"])
    often, _ = made(table, min_count=2)
    assert cells(often) == {("1", "A", "x"): 2, ("3", "C", "y"): 2}
    assert often.about["n_dropped"]["cells_below_min_count"] == 5
    # y has two patients until C is gone, and B until y is
    found, told = made(table, min_patients=2)
    assert cells(found) == {("1", "A", "x"): 2, ("2", "A", "x"): 1, ("4", "A", "x"): 1}
    assert "1 of 4 patients have no count that is kept: left out." in told
    dropped = found.about["n_dropped"]
    assert dropped["diagnosis: codes_below_min_patients"] == 3
    assert dropped["medication: codes_below_min_patients"] == 1


def test_codes_of_just_enough_patients_are_kept_also_beside_max_codes():
    pairs = {"1": ["Ax", "Bx"], "2": ["Ax", "By"], "3": ["By"]}
    rows = [(patient, *pair) for patient, all_pairs in pairs.items() for pair in all_pairs]
    table = pd.DataFrame(rows, columns=["id", "dx", "rx"])
    found, _ = made(table, min_patients=2)
    assert {*found.labels[1].index, *found.labels[2].index} == {*"ABxy"}
    # without y, the second of equal ones, B has one patient
    found, _ = made(table, min_patients=2, max_codes={"medication": 1})
    assert cells(found) == {("1", "A", "x"): 1, ("2", "A", "x"): 1}


def test_the_most_frequent_codes_are_kept_the_first_of_equal_ones():
    found, _ = made(group=CATEGORY, max_codes=1)
    assert found.labels[1].index.tolist() == ["250"]
    assert found.labels[2].index.tolist() == ["insulin"]
    found, _ = made(group=CATEGORY, max_codes={"medication": 2})
    assert found.labels[2].index.tolist() == ["furosemide", "insulin"]
    assert found.labels[1].index.tolist() == ["250", "428"]
    assert found.about["n_dropped"]["medication: codes_beyond_max_codes"] == 2


def test_a_mode_with_a_single_code_is_named():
    _, told = made(group={"diagnosis": lambda code: "all"})
    assert told == [
        "mode 'diagnosis' has a single code: a mode of size 1 cannot be factorized. "
        "Leave the mode out, or keep more of its codes."
    ]


def test_attributes_come_with_the_patients():
    found, _ = made(attributes=["age"])
    assert found.obs["age"].tolist() == [54, 71, 33]
    people = pd.DataFrame({"id": ["b", "10", "9"], "sex": ["f", "m", "m"]})
    found, _ = made(apart(), group=CATEGORY, visit="visit", attributes=people)
    assert found.obs["sex"].tolist() == ["m", "m", "f"]
    cohort = found.cohort()
    assert cohort.obs["sex"].tolist() == ["m", "m", "f"]
    assert cohort.uns["cohort"]["options"]["group"] == {"diagnosis": "category"}
    with pytest.raises(
        ValueError, match=r"attributes=\['age'\] names columns of one table, but there are several"
    ):
        made(apart(), visit="visit", attributes=["age"])


def test_rows_that_cannot_count_are_stated():
    orders = ORDERS.assign(
        id=["10", None, "10", "9", "9", "b", "b"],
        dx=["4280", "4280", "", "25000", "4280", "25000", None],
        visit=["v1", "v1", "v2", None, "v1", " ", "v9"],
    )
    found, told = made(orders, visit="visit")
    assert told[0] == "1 row without a record id ignored."
    assert "2 rows without a code in 'dx' ignored." in told
    assert "2 rows without a visit in 'visit' ignored." in told
    assert cells(found) == {("9", "4280", "furosemide"): 1, ("10", "4280", "furosemide"): 1}


def test_dates_that_cannot_be_read_are_stated_or_refused():
    days = ["2010-01-01", "soon", "", "20100601", None, "2011-01-01", "2012-01-01"]
    found, told = made(ORDERS.assign(day=days), date="day")
    assert told[0] == (
        "3 rows ignored that have no readable date in 'day' (expected 2010-12-31 or 20101231; found '', 'soon')."
    )
    assert found.about["n_dropped"]["rows_without_date"] == 3
    assert found.counts.sum() == 4
    with pytest.raises(
        ValueError, match=r"date='day' holds no date that can be read; expected .* found 'soon'"
    ):
        made(ORDERS.assign(day="soon"), date="day")
    unneeded, _ = made(ORDERS.assign(day="soon"), date="day", visit="visit")
    assert unneeded.shape[0] == 3


def test_files_and_queries_are_sources(tmp_path):
    expected = cells(made(apart(), group=CATEGORY, visit="visit")[0])
    tables = apart()
    paths = {mode: tmp_path / f"{mode}.csv" for mode in tables}
    for mode, table in tables.items():
        table.to_csv(paths[mode], index=False)
    found, _ = made(paths, group=CATEGORY, visit="visit")
    assert cells(found) == expected
    assert found.source == "diagnosis.csv, medication.csv"
    for connection in (sqlite3.connect(":memory:"), duckdb.connect(":memory:")):
        for mode, table in tables.items():
            if isinstance(connection, duckdb.DuckDBPyConnection):
                connection.execute(f"CREATE TABLE {mode} AS SELECT * FROM '{paths[mode]}'")
            else:
                table.to_sql(mode, connection, index=False)
        queries = {mode: f"SELECT * FROM {mode}" for mode in tables}
        found, _ = made(queries, group=CATEGORY, visit="visit", connection=connection)
        assert cells(found) == expected
        connection.close()
    ORDERS.to_csv(tmp_path / "orders.csv", index=False)
    orders = tmp_path / "orders.parquet"
    duckdb.sql(
        f"COPY (FROM read_csv('{tmp_path / 'orders.csv'}', all_varchar = true)) TO '{orders}'"
    )
    found, _ = made(orders, group=CATEGORY)
    assert cells(found) == cells(made(group=CATEGORY)[0])


def test_names_of_columns_may_be_any():
    names = {"id": "i", "visit": "v", "day": "rowid", "dx": "c1", "rx": "records"}
    found, _ = made(
        ORDERS.rename(columns=names), patient="i", modes={"diagnosis": "c1", "medication": "records"},
        visit="v", date="rowid", group=CATEGORY, index=HEART, before=9, after=9,
    )  # fmt: skip
    expected, _ = made(visit="visit", date="day", group=CATEGORY, index=HEART, before=9, after=9)
    assert cells(found) == cells(expected)


OTHER = pd.Series({"9": "1999-01-01"})
BAD = {
    "unknown patient": ({"patient": "pid"}, "patient='pid' is not a column.*Did you mean 'id'"),
    "unknown code": ({"modes": {"diagnosis": "dxx"}}, "diagnosis='dxx' is not.*Did you mean 'dx'"),
    "unknown visit": ({"visit": "visits"}, "visit='visits' is not .*Did you mean 'visit'"),
    "unknown date": ({"date": "dat"}, "date='dat' is not a column"),
    "unknown index": ({"index": "first"}, "index='first' is not a column"),
    "unknown count": ({"count": "m"}, "count='m' is not a column"),
    "unknown attribute": ({"attributes": ["sex"]}, "attributes='sex' is not a column"),
    "no modes": ({"modes": {}}, "modes is empty"),
    "a mode called patient": (
        {"modes": {"patient": "dx"}},
        "expected names, each once, that are not",
    ),
    "unknown mode": (
        {"group": {"dx": "category"}},
        "group names 'dx'; the modes are 'diagnosis', ",
    ),
    "unknown system": (
        {"system": {"diagnosis": "snomed"}},
        "system of 'diagnosis' is 'snomed'; exp",
    ),
    "unknown group": (
        {"group": {"diagnosis": "block"}},
        "group of 'diagnosis' is 'block'; expected",
    ),
    "group of no system": ({"group": {"medication": "category"}}, "codes of system 'other' do not"),
    "ccs of no system": (
        {"group": {"diagnosis": "ccs"}},
        "pass system=.* 'icd9' or 'icd9procedure'",
    ),
    "all without group": ({"group": {"diagnosis": {"1": "x"}}}, "no row has a usable code in 'dx'"),
    "window without index": ({"before": 3}, "before and after are days around an index date; pass"),
    "window without date": ({"index": "day", "before": 3}, "index needs the dates of the events"),
    "first without date": ({"index": HEART}, "pass date="),
    "index of no mode": ({"date": "day", "index": {"dx": ["428"]}}, "index names 'dx'"),
    "index of no code": (
        {"date": "day", "index": {"diagnosis": ["999"]}},
        r"no patient left: index=\{'diagnosis': \['999'\]\} names no code of the events",
    ),
    "index of blanks": ({"date": "day", "index": {"diagnosis": [" "]}}, "names no code of the eve"),
    "index of nobody": (
        {"index": pd.Series({"x": "2010-01-01"})},
        "no patient left: none of 3 patients has an index date by the Series index",
    ),
    "index of two columns": (
        {"index": ORDERS[["id", "day", "age"]]},
        "index has 2 columns beside the patients; expected one",
    ),
    "nothing in the window": (
        {"date": "day", "index": OTHER, "after": 3},
        "no patient left: no visit inside the window has a diagnosis and a medication",
    ),
    "nothing frequent": (
        {"min_patients": 4},
        "no patient left: none of 7 cells has min_count=1 and codes of min_patients=4",
    ),
    "nothing often": ({"min_count": 9}, "no patient left"),
    "negative days": ({"index": "day", "date": "day", "before": -1}, "before must be a whole numb"),
    "min_count 0": ({"min_count": 0}, "min_count must be a whole number, at least 1"),
    "min_patients 0": ({"min_patients": 0}, "min_patients must be"),
    "max_codes 0": ({"max_codes": {"diagnosis": 0}}, "max_codes must be"),
    "max_codes of no mode": ({"max_codes": {"dx": 3}}, "max_codes names 'dx'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_bad_types_are_named():
    with pytest.raises(
        TypeError, match=r"group must be a mapping with modes as keys, such as .*; found str"
    ):
        made(group="category")
    with pytest.raises(
        TypeError, match="group of 'diagnosis' must be a name, a mapping or a function; found list"
    ):
        made(group={"diagnosis": ["428"]})
    with pytest.raises(TypeError, match="max_codes must be a whole number"):
        made(max_codes=2.5)


def test_options_by_mode_and_index_dates_are_of_the_right_kind():
    for modes in (["dx", "rx"], "dx"):
        with pytest.raises(TypeError, match=r"modes must be a mapping with modes as keys, such as"):
            made(modes=modes)
    with pytest.raises(TypeError, match=r"index must be dates by patient .*; found list"):
        made(index=["428"], date="day")
    with pytest.raises(ValueError, match=r"attributes='age'; expected a list of columns"):
        made(attributes="age")


def test_advice_on_codes_is_advice_for_a_mode():
    mixed = ORDERS.assign(dx=["I50.1", *ORDERS["dx"][1:]])
    with pytest.raises(
        ValueError, match=r"^modes: 'diagnosis': .*mixes.*system=\{'diagnosis': …\}"
    ):
        made(mixed, group=CATEGORY)
    with pytest.raises(ValueError, match=r"most rows said to be icd9 .*system=\{'medication': …\}"):
        made(system={"medication": "icd9"})
    with pytest.raises(
        ValueError, match=r"Beginnings of ICD codes need system=\{'diagnosis': 'icd"
    ):
        made(date="day", index=HEART)
    with pytest.raises(ValueError, match=r"no code of the events, such as [^B]*$"):
        made(date="day", index={"diagnosis": ["999"]}, system={"diagnosis": "icd9"})


def test_an_index_that_is_no_code_of_the_system_is_not_every_code():
    with pytest.raises(ValueError, match=r"index=.*'heart failure'.* names no code of the events"):
        made(date="day", index={"diagnosis": ["heart failure"]}, system={"diagnosis": "icd9"})


def test_counts_whose_sums_are_not_exact_are_refused():
    found, _ = made(ORDERS.assign(n=2**40), count="n")
    assert cells(found)["b", "25000", "insulin"] == 2**40
    for large in ("1e300", str(2**53)):
        with pytest.raises(ValueError, match=r"count='n' adds up to more than 2\*\*53"):
            made(ORDERS.assign(n=large), count="n")


def test_tables_without_a_common_patient_are_named():
    tables = apart()
    tables["medication"] = tables["medication"].assign(id=lambda rows: rows["id"] + ".0")
    with pytest.raises(
        ValueError, match=r"medication\. The tables share 0 patients; do they write"
    ):
        made(tables, visit="visit")
    tables = {**apart(), "medication": apart()["medication"].assign(visit="other")}
    with pytest.raises(ValueError, match=r"The tables share 3 patients; do they write ids, visits"):
        made(tables, visit="visit")


def test_tables_that_cannot_be_joined_are_refused():
    tables = apart()
    with pytest.raises(ValueError, match=r"pass visit=, the column of the visit, or date="):
        made(tables)
    with pytest.raises(
        ValueError, match="source has tables for 'diagnosis', modes names 'diagnosis', 'medication'"
    ):
        made({"diagnosis": ORDERS}, visit="visit")
    with pytest.raises(ValueError, match="count names a column, which only one table"):
        made(tables, visit="visit", count="n")
    with pytest.raises(ValueError, match="index names a column, which only one table"):
        made(tables, visit="visit", index="day")
    tables["medication"] = tables["medication"].drop(columns="visit")
    with pytest.raises(
        ValueError,
        match="visit='visit' is not a column of the DataFrame; it has 'rx', 'id', 'day'",
    ):
        made(tables, visit="visit")
    tables = {**apart(), "medication": apart()["medication"].assign(visit="other")}
    with pytest.raises(
        ValueError, match="no patient left: no visit has a diagnosis and a medication"
    ):
        made(tables, visit="visit")


def test_memory_is_bounded_by_blocks_of_patients(monkeypatch):
    expected, _ = made(group=CATEGORY, visit="visit")
    joined, _ = made(apart(), group=CATEGORY, visit="visit")
    monkeypatch.setattr(_visits, "ROWS_AT_ONCE", 2)
    assert cells(made(group=CATEGORY, visit="visit")[0]) == cells(expected)
    assert cells(made(apart(), group=CATEGORY, visit="visit")[0]) == cells(joined)
    assert made(apart(), group=CATEGORY, visit="visit")[0].about == joined.about


rows = st.lists(
    st.tuples(
        st.sampled_from(["1", "02", "x"]), st.integers(0, 3), st.integers(0, 40),
        st.sampled_from(["A1", "A2", "B1", "C1"]), st.sampled_from(["m", "n", "o"]),
    ),
    min_size=1, max_size=25,
)  # fmt: skip
START = date(2010, 1, 1)


def thinned_by_hand(counts, min_count, min_patients):
    kept = {place: n for place, n in counts.items() if n >= min_count}
    while True:
        rare = [
            (axis, code)
            for axis in (1, 2)
            for code in {place[axis] for place in kept}
            if len({place[0] for place in kept if place[axis] == code}) < min_patients
        ]
        if not rare:
            return kept
        kept = {place: n for place, n in kept.items() if not any(place[a] == c for a, c in rare)}


@pytest.mark.slow
@settings(max_examples=20)
@given(
    rows,
    st.booleans(),
    st.sampled_from([None, (0, None), (None, 5), (10, 10)]),
    st.integers(1, 2),
    st.integers(1, 2),
    st.randoms(use_true_random=False),
)
def test_counts_are_those_of_plain_loops_whatever_the_order(
    rows, several, window, min_count, min_patients, random
):
    kept = rows
    if window:
        first = {}
        for p, _, day, dx, _ in rows:
            if dx[0] == "A":
                first[p] = min(day, first.get(p, 99))
        before, after = (99 if days is None else days for days in window)
        kept = [r for r in rows if r[0] in first and -before <= r[2] - first[r[0]] <= after]
    pairs = {(p, v, dx[0], rx) for p, v, _, dx, rx in kept}
    if several:
        codes = [{(p, v, row[k]) for row in pairs for p, v in [row[:2]]} for k in (2, 3)]
        pairs = {
            (p, v, a, b) for (p, v, a), (q, w, b) in itertools.product(*codes) if (p, v) == (q, w)
        }
    counts = Counter((p, dx, rx) for p, v, dx, rx in pairs)
    expected = thinned_by_hand(counts, min_count, min_patients)

    table = pd.DataFrame(rows, columns=["id", "visit", "day", "dx", "rx"])
    table["day"] = [str(START + timedelta(days=day)) for day in table["day"]]
    options = {"visit": "visit", "date": "day", "min_count": min_count, "min_patients": min_patients,
               "group": {"diagnosis": lambda code: code[0]}}  # fmt: skip
    if window:
        options |= {"index": {"diagnosis": ["A"]}, "before": window[0], "after": window[1]}
    for _ in range(2):
        source = {"diagnosis": table, "medication": table} if several else table
        if expected:
            assert cells(made(source, **options)[0]) == expected
        else:
            with pytest.raises(ValueError, match="no patient left"):
                made(source, **options)
        order = list(range(len(rows)))
        random.shuffle(order)
        table = table.iloc[order]


@pytest.mark.slow
def test_a_large_table_agrees_with_pandas():
    rng = np.random.default_rng(0)
    n = 300_000
    table = pd.DataFrame(
        {
            "id": rng.integers(0, 20_000, n),
            "visit": rng.integers(0, 4, n),
            "dx": rng.integers(0, 300, n).astype(str),
            "rx": rng.integers(0, 200, n).astype(str),
        }
    )
    found = tensor_from_events(table, patient="id", modes=MODES)
    expected = table.groupby(["id", "dx", "rx"]).size()
    assert found.nnz == len(expected)
    assert found.counts.sum() == n
    names = [found.labels[axis].index.to_numpy()[found.counts.coords[axis]] for axis in range(3)]
    where = pd.MultiIndex.from_arrays([names[0].astype(int), *names[1:]])
    assert (expected.reindex(where).to_numpy() == found.counts.data).all()
