import numpy as np
import pandas as pd
import pytest

from lvmkit.cohorts import from_wide
from lvmkit.core.validation import DataWarning

STAYS = pd.DataFrame(
    {
        "stay_id": ["s2", "s1", "s3"],
        "dx1": ["4280", "V5861", ""],
        "dx2": ["25000", None, None],
        "dx3": ["0389", "E8490", " "],
        "age": [71, 54, 33],
    },
    index=["x", "y", "z"],
)
CODES = ["dx1", "dx2", "dx3"]


def test_rows_are_records_in_their_order_named_by_the_index():
    cohort = from_wide(STAYS, codes=CODES, attributes=["age"], min_codes=0)
    assert cohort.obs_names.tolist() == ["x", "y", "z"]
    assert cohort.var_names.tolist() == ["038", "250", "428", "E849", "V58"]
    assert cohort.X.toarray().tolist() == [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
    assert cohort.obs["age"].tolist() == [71, 54, 33]
    assert cohort.uns["cohort"]["n_input_rows"] == 3


def test_ids_name_and_order_the_records_and_gather_rows():
    cohort = from_wide(STAYS, codes=CODES, patient="stay_id", min_codes=1)
    assert cohort.obs_names.tolist() == ["s1", "s2"]
    twice = STAYS.assign(stay_id=["s1", "s1", "s3"])
    with pytest.warns(DataWarning, match="'age' differs between the rows of 1 record"):
        cohort = from_wide(twice, codes=CODES, patient="stay_id", attributes=["age"], min_codes=0)
    assert cohort.to_df().sum(axis=1).to_dict() == {"s1": 5, "s3": 0}
    assert cohort.obs["age"].tolist() == [54, 33]


def test_files_are_numbered_from_0(tmp_path):
    STAYS.to_csv(tmp_path / "stays.csv", index=False)
    cohort = from_wide(tmp_path / "stays.csv", codes=CODES, attributes=["age"], min_codes=1)
    assert cohort.obs_names.tolist() == ["0", "1"]
    assert cohort.obs["age"].tolist() == [71, 54]


def test_repeated_codes_are_stated_and_counted():
    stays = STAYS.assign(dx2=["4280", "V5861", ""])
    with pytest.warns(
        DataWarning, match="2 cells with a code that its record already has: counted once"
    ):
        cohort = from_wide(stays, codes=CODES, min_codes=1)
    assert cohort.X.max() == 1
    with pytest.warns(DataWarning, match="each counts"):
        assert from_wide(stays, codes=CODES, binary=False, min_codes=1).to_df().loc["x", "428"] == 2


def test_system_may_be_a_column_or_found():
    stays = STAYS.assign(version=["9", "9", "10"], dx1=["4280", "V5861", "I509"])
    cohort = from_wide(stays, codes=CODES, system="version", min_codes=1)
    assert "icd10:I50" in cohort.var_names
    with pytest.raises(ValueError, match="mixes systems"):
        from_wide(stays, codes=CODES, system=None)


def test_unknown_columns_are_named():
    with pytest.raises(ValueError, match=r"codes='dx4' is not a column.*Did you mean 'dx3'"):
        from_wide(STAYS, codes=[*CODES, "dx4"])
    with pytest.raises(ValueError, match="codes='dx1'; expected a list"):
        from_wide(STAYS, codes="dx1")
    with pytest.raises(ValueError, match="patient='id'"):
        from_wide(STAYS, codes=CODES, patient="id")


def test_columns_may_be_any_iterable():
    expected = from_wide(STAYS, codes=CODES, attributes=["age"], min_codes=0)
    for kind in (pd.Index, tuple, iter, np.array, pd.Series):
        found = from_wide(STAYS, codes=kind(CODES), attributes=kind(["age"]), min_codes=0)
        assert found.to_df().equals(expected.to_df())
        assert found.obs.equals(expected.obs)
    with pytest.raises(ValueError, match="attributes='age'; expected a list of columns"):
        from_wide(STAYS, codes=CODES, attributes="age")
    with pytest.raises(ValueError, match=r"codes=\[\]; expected a list of columns"):
        from_wide(STAYS, codes=STAYS.columns[:0])


@pytest.mark.parametrize("name", ["lvmkit_record", "LVMKIT_RECORD", "rowid", "p", "wide"])
def test_any_name_of_a_column_will_do(name):
    stays = STAYS.assign(**{name: 7})
    found = from_wide(stays, codes=CODES, attributes=[name, "age"], min_codes=0)
    assert found.obs_names.tolist() == ["x", "y", "z"]
    assert found.obs[name].tolist() == [7, 7, 7]
    with pytest.warns(DataWarning, match="one record"):
        gathered = from_wide(stays, codes=CODES, patient=name, min_codes=0)
    assert gathered.obs_names.tolist() == ["7"]


def test_rows_keep_their_order_in_large_tables():
    n = 300_000
    stays = pd.DataFrame({"dx1": ["428"] * n, "age": np.arange(n)})
    found = from_wide(stays, codes=["dx1"], attributes=["age"], min_codes=1)
    assert (found.obs["age"].to_numpy() == np.arange(n)).all()


def test_an_index_that_repeats_ids_is_stated():
    stays = STAYS.set_axis(["x", "x", "z"])
    with pytest.warns(DataWarning, match=r"index repeats ids.*numbered from 0.*patient="):
        found = from_wide(stays, codes=CODES, min_codes=0)
    assert found.obs_names.tolist() == ["0", "1", "2"]
    assert "index repeats" in found.uns["cohort"]["repairs"][0]
    assert from_wide(stays, codes=CODES, patient="stay_id", min_codes=0).n_obs == 3


def test_rows_without_id_are_ignored_and_stated():
    with pytest.warns(DataWarning, match="^1 row without a record id ignored"):
        cohort = from_wide(
            STAYS.assign(stay_id=["s2", None, "s3"]), codes=CODES, patient="stay_id", min_codes=0
        )
    assert cohort.obs_names.tolist() == ["s2", "s3"]


def test_the_old_name_of_an_argument_works_and_warnings_are_of_the_line_that_called():
    with pytest.warns(FutureWarning, match="record is now called patient"):
        old = from_wide(STAYS, codes=CODES, record="stay_id", min_codes=1)  # type: ignore[call-arg]
    assert (
        old.obs_names.tolist()
        == from_wide(STAYS, codes=CODES, patient="stay_id", min_codes=1).obs_names.tolist()
    )
    twice = pd.concat([STAYS, STAYS], ignore_index=True)
    with pytest.warns(DataWarning) as said:
        from_wide(twice, codes=CODES, patient="stay_id", min_codes=1)
    assert {warning.filename for warning in said} == {__file__}
