import itertools
import warnings
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lvmkit.cohorts import tensor_from_events, tensor_from_wide
from lvmkit.core.validation import DataWarning

STAYS = pd.DataFrame(
    {
        "person": ["p2", "p1", "p2", "p3"],
        "claim": ["c1", "c2", "c3", "c4"],
        "day": ["2010-01-01", "2010-02-01", "2011-06-01", "2010-01-01"],
        "dx1": ["4280", "25000", "4280", "4019"],
        "dx2": ["42821", "", "2724", " "],
        "dx3": ["25000", None, None, None],
        "pr1": ["3722", "3893", "3722", ""],
        "pr2": ["3893", "", "3722", None],
        "age": [71, 54, 72, 33],
    },
    index=["w", "x", "y", "z"],
)
MODES = {"diagnosis": ["dx1", "dx2", "dx3"], "procedure": ["pr1", "pr2"]}
SYSTEM = {"diagnosis": "icd9", "procedure": "icd9procedure"}
CATEGORY = {"diagnosis": "category"}


def made(source=STAYS, **options):
    options = {"modes": MODES, "system": SYSTEM, "group": CATEGORY, **options}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = tensor_from_wide(source, **options)
    assert all(issubclass(w.category, DataWarning) for w in said)
    return found, [str(w.message) for w in said]


def cells(tensor):
    names = [table.index for table in tensor.labels]
    places = zip(*tensor.counts.coords, strict=True)
    return {
        tuple(index[i] for index, i in zip(names, place, strict=True)): int(n)
        for place, n in zip(places, tensor.counts.data, strict=True)
    }


def test_each_row_counts_all_pairs_of_its_codes_once():
    found, told = made()
    assert found.modes == ("patient", "diagnosis", "procedure")
    assert cells(found) == {
        ("w", "428", "3722"): 1,
        ("w", "428", "3893"): 1,
        ("w", "250", "3722"): 1,
        ("w", "250", "3893"): 1,
        ("x", "250", "3893"): 1,
        ("y", "428", "3722"): 1,
        ("y", "272", "3722"): 1,
    }
    assert told == [
        "1 of 4 visits lack a diagnosis or a procedure: they count nowhere.",
        "2 entries with codes that their visit already has: counted once.",
        "1 of 4 patients have no count that is kept: left out.",
    ]
    assert found.about["repairs"] == told
    assert found.about["n_input_rows"] == 4


def test_rows_of_a_patient_are_visits():
    found, _ = made(patient="person", attributes=["age"])
    assert found.obs.index.tolist() == ["p1", "p2"]
    assert cells(found)["p2", "428", "3722"] == 2
    assert found.obs["age"].tolist() == [54, 71]
    merged, _ = made(STAYS.assign(claim="c"), patient="person", visit="claim")
    assert cells(merged)["p2", "428", "3722"] == 1
    assert cells(merged)["p2", "272", "3893"] == 1


def test_one_mode_counts_the_visits_of_each_code():
    found, _ = made(patient="person", modes={"diagnosis": MODES["diagnosis"]}, system=None)
    assert cells(found) == {
        ("p1", "250"): 1,
        ("p2", "250"): 1,
        ("p2", "272"): 1,
        ("p2", "428"): 2,
        ("p3", "401"): 1,
    }
    assert found.cohort().to_df().loc["p2", "428"] == 2


def test_rows_without_ids_are_named_by_the_index_or_numbered(tmp_path):
    assert made(attributes=["age"])[0].obs["age"].to_dict() == {"w": 71, "x": 54, "y": 72}
    STAYS.to_csv(tmp_path / "stays.csv", index=False)
    found, _ = made(tmp_path / "stays.csv")
    assert found.obs.index.tolist() == ["0", "1", "2"]
    assert found.source == "stays.csv"
    repeated, told = made(STAYS.set_axis(["x", "x", "y", "z"]))
    assert repeated.obs.index.tolist() == ["0", "1", "2"]
    assert "index repeats ids: patients are rows, numbered from 0" in told[-1]
    assert "pass patient=" in told[-1]


def test_windows_are_around_the_first_diagnosis_or_a_column():
    options = {"patient": "person", "date": "day", "before": 0, "after": 100}
    found, told = made(index={"diagnosis": ["428"]}, **options)
    assert found.obs["index_date"].tolist() == ["2010-01-01"]
    assert {place[1] for place in cells(found)} == {"250", "428"}
    assert found.about["n_dropped"]["rows_outside_window"] == 1
    assert "2 of 3 patients have no index date: left out." in told
    by_column, _ = made(STAYS.assign(start="2011-06-01"), index="start", **options)
    assert cells(by_column) == {("p2", "272", "3722"): 1, ("p2", "428", "3722"): 1}


def test_rows_without_a_date_or_visit_are_stated():
    stays = STAYS.assign(day=["2010-01-01", "?", "2011-06-01", ""], claim=["c1", "c2", None, "c4"])
    found, told = made(
        stays, patient="person", visit="claim", date="day", index={"diagnosis": ["428"]}, after=9
    )
    assert "1 row without a visit in 'claim' ignored." in told
    assert told[1].startswith("2 rows ignored that have no readable date in 'day' (expected")
    assert found.obs.index.tolist() == ["p2"]
    assert {place[1] for place in cells(found)} == {"250", "428"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"modes": {**MODES, "procedure": ["pr9"]}},
            "procedure='pr9' is not a column.*Did you mean",
        ),
        ({"modes": {"diagnosis": "dx1"}}, r"modes: diagnosis='dx1'; expected a list of columns"),
        ({"modes": {"diagnosis": []}}, "modes: 'diagnosis' has no columns"),
        ({"modes": {}, "system": None, "group": None}, "modes is empty"),
        ({"patient": "id"}, "patient='id' is not a column"),
        ({"visit": "visit"}, "visit='visit' is not a column"),
        ({"date": "dat", "index": {"diagnosis": ["428"]}}, "date='dat' is not a column"),
        ({"before": 3}, "pass index="),
        ({"attributes": ["weight"]}, "attributes='weight' is not a column"),
        ({"min_patients": 3}, "no patient left"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_a_table_without_a_pair_is_refused():
    stays = STAYS[:2].assign(dx1=["4280", ""], dx2="", dx3="", pr1=["", "3722"], pr2="")
    with pytest.raises(
        ValueError, match="no patient left: no visit has a diagnosis and a procedure"
    ):
        made(stays)
    with pytest.raises(ValueError, match="'procedure': no row has a usable code in 'pr1 … pr2'"):
        made(STAYS.assign(pr1="", pr2=None))


records = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.lists(st.sampled_from(["", "4280", "42821", "25000", "4019"]), min_size=3, max_size=3),
        st.lists(st.sampled_from(["", "3722", "3893"]), min_size=2, max_size=2),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=25)
@given(records, st.randoms(use_true_random=False))
def test_counts_are_those_of_plain_loops_and_of_the_long_form(records, random):
    counts = Counter()
    for person, dx, pr in records:
        categories, procedures = ({c[:3] for c in dx if c}, {c for c in pr if c})
        counts.update((person, *pair) for pair in itertools.product(categories, procedures))
    random.shuffle(records)
    wide = pd.DataFrame(
        [[p, str(i), *dx, *pr] for i, (p, dx, pr) in enumerate(records)],
        columns=["person", "claim", *MODES["diagnosis"], *MODES["procedure"]],
    )
    if not counts:
        with pytest.raises(ValueError, match=r"usable code|no patient left"):
            made(wide, patient="person")
        return
    assert cells(made(wide, patient="person")[0]) == counts
    long = {
        mode: wide.melt(["person", "claim"], columns, value_name="code")
        for mode, columns in MODES.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = tensor_from_events(
            long, patient="person", visit="claim", modes=dict.fromkeys(MODES, "code"),
            system=SYSTEM, group=CATEGORY,
        )  # fmt: skip
    assert cells(found) == counts


def test_modes_are_columns_by_name():
    with pytest.raises(
        TypeError, match=r"modes must be a mapping with modes as keys, .*found list"
    ):
        made(modes=["dx1", "dx2"])


def test_the_old_name_of_the_visit_works_and_warnings_are_of_the_line_that_called():
    options = {"modes": MODES, "system": SYSTEM, "group": CATEGORY, "patient": "person"}
    claims = STAYS.assign(claim="c")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        old = tensor_from_wide(claims, together="claim", **options)
    assert {warning.filename for warning in said} == {__file__}
    assert "together is now called visit" in str(said[0].message)
    new, _ = made(claims, patient="person", visit="claim")
    assert (old.counts != new.counts).nnz == 0
