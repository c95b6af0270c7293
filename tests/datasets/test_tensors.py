import gzip
import hashlib
import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.io import netcdf_file

from lvmkit.datasets import (
    LabelledTensor,
    desynpuf,
    fetch_desynpuf,
    fetch_desynpuf_tensor,
    fetch_eeg,
    fetch_faculty_salaries,
    fetch_nhds2010,
    fetch_nhds2010_tensor,
    fetch_oslo_bike,
    fetch_serology,
    fetch_us_crime,
    oslo,
    tensors,
)

TEXT = {"dtype": str, "keep_default_na": False}


def category(code):
    return code[: 4 if code.startswith("E") else 3]


def pairs_by_hand(table, visits, modes, group):
    """Count distinct pairs of codes of each visit in plain loops."""
    counts = Counter()
    for (patient, _), rows in table.groupby(visits):
        codes = [
            {group[m](c) for c in rows[columns].to_numpy().ravel() if c}
            for m, columns in modes.items()
        ]
        counts.update((patient, *place) for place in itertools.product(*codes))
    return counts


def cells(tensor):
    names = [
        table.index.to_numpy()[axis]
        for table, axis in zip(tensor.labels, tensor.counts.coords, strict=True)
    ]
    return dict(zip(zip(*names, strict=True), tensor.counts.data.tolist(), strict=True))


@pytest.fixture(scope="module")
def claims(real_data):
    return pd.read_csv(real_data / "desynpuf/inpatient_claims_s01_s05.csv.gz", **TEXT)


@pytest.mark.slow
def test_desynpuf_is_the_published_matrix(claims):
    cohort = fetch_desynpuf()
    assert cohort.shape == (16_181, 881)
    assert cohort.X.nnz == 205_267
    assert cohort.var.loc["428", "title"] == "Heart failure"
    assert "diagnosis" in cohort.uns["cohort"]["options"]["group"]
    long = claims.melt(["DESYNPUF_ID", "CLM_ID"], desynpuf.DIAGNOSES, value_name="code")
    long = long[long["code"] != ""]
    long["code"] = long["code"].map(category)
    by_claim = long.drop_duplicates(["DESYNPUF_ID", "CLM_ID", "code"])
    expected = by_claim.groupby(["DESYNPUF_ID", "code"]).size()
    rows, columns = cohort.X.nonzero()
    found = pd.Series(
        cohort.X.data,
        pd.MultiIndex.from_arrays([cohort.obs_names[rows], cohort.var_names[columns]]),
    )
    assert (found.reindex(expected.index).to_numpy() == expected.to_numpy()).all()


@pytest.mark.slow
def test_desynpuf_describes_its_beneficiaries(real_data):
    obs = fetch_desynpuf(max_codes=5).obs
    years = pd.read_csv(real_data / "desynpuf/beneficiary_summary_s01_s05.csv.gz", **TEXT)
    for person in obs.index[::4_000]:
        rows = years[years["DESYNPUF_ID"] == person]
        told = obs.loc[person]
        assert told["diabetes"] == rows["SP_DIABETES"].eq("1").any()
        assert told["died"] == rows["BENE_DEATH_DT"].ne("").any()
        assert told["age"] == 2008 - int(rows["BENE_BIRTH_DT"].iloc[0][:4])
        assert told["sex"] == {"1": "male", "2": "female"}[rows["BENE_SEX_IDENT_CD"].iloc[0]]
    assert obs["age"].between(20, 110).all()
    assert set(obs["race"]) == {"white", "black", "other", "hispanic"}
    assert obs["heart_failure"].dtype == bool


def test_five_columns_of_desynpuf_s_procedures_hold_diagnoses(claims, real_data):
    diagnoses = set(pd.read_csv(real_data / "icd9/icd9cm_dx.csv.gz", **TEXT)["code"])
    known = set(pd.read_csv(real_data / "icd9/ccs_proc_2015.csv.gz", **TEXT)["code"])
    assert set(claims[desynpuf.PROCEDURES[0]]) - {""} <= known
    for i in range(2, 7):
        assert set(claims[f"ICD9_PRCDR_CD_{i}"]) - {""} <= diagnoses


@pytest.mark.slow
def test_desynpuf_s_tensor_counts_claims_with_both_codes(claims):
    tensor = fetch_desynpuf_tensor()
    assert tensor.modes == ("patient", "diagnosis", "procedure")
    assert tensor.shape == (11_102, 828, 1_010)
    assert (tensor.nnz, tensor.counts.sum()) == (126_939, 127_225)
    some = set(tensor.obs.index[::20])
    part = claims[claims["DESYNPUF_ID"].isin(some)]
    modes = {"diagnosis": desynpuf.DIAGNOSES, "procedure": desynpuf.PROCEDURES}
    group = {"diagnosis": category, "procedure": str}
    expected = pairs_by_hand(part, ["DESYNPUF_ID", "CLM_ID"], modes, group)
    assert {place: n for place, n in cells(tensor).items() if place[0] in some} == expected
    grouped = fetch_desynpuf_tensor(diagnosis="ccs", procedure="ccs", min_count=2, max_codes=50)
    assert grouped.counts.data.min() >= 2
    assert max(grouped.shape[1:]) <= 50


@pytest.mark.slow
def test_desynpuf_s_heart_failure_is_a_year_around_the_first(claims):
    cohort = fetch_desynpuf(heart_failure=True, diagnosis=None)
    dated = claims[claims["CLM_FROM_DT"] != ""]
    days = pd.to_datetime(dated["CLM_FROM_DT"])
    failing = np.column_stack([dated[c].str.startswith("428") for c in desynpuf.DIAGNOSES]).any(
        axis=1
    )
    first = days[failing].groupby(dated["DESYNPUF_ID"]).min()
    assert cohort.obs["index_date"].astype(str).to_dict() == first.dt.strftime("%Y-%m-%d").to_dict()
    distance = (days - dated["DESYNPUF_ID"].map(first)).dt.days
    inside = dated[distance.abs() <= 365]
    expected = sum(
        len(set(rows.to_numpy().ravel()) - {""})
        for _, rows in inside.groupby(["DESYNPUF_ID", "CLM_ID"])[desynpuf.DIAGNOSES]
    )
    assert cohort.X.sum() == expected


@pytest.mark.slow
def test_desynpuf_is_downloaded_sample_by_sample(real_data, elsewhere, site, monkeypatch):
    folder, address = site
    claims = pd.read_csv(real_data / "desynpuf/inpatient_claims_s01_s05.csv.gz", **TEXT)
    years = pd.read_csv(real_data / "desynpuf/beneficiary_summary_s01_s05.csv.gz", **TEXT)
    names = {"CLAIMS": [], "BENEFICIARIES": []}
    for (sample, year), rows in years.groupby(["SAMPLE", "YEAR"]):
        names["BENEFICIARIES"].append(f"{address}/b{sample}{year}.csv")
        rows.drop(columns=["SAMPLE", "YEAR"]).to_csv(folder / f"b{sample}{year}.csv", index=False)
    for sample, rows in claims.groupby("SAMPLE"):
        names["CLAIMS"].append(f"{address}/c{sample}.csv")
        whole = rows.drop(columns="SAMPLE")
        whole.insert(5, "PRVDR_NUM", "39AB")
        whole.insert(8, "AT_PHYSN_NPI", "123")
        whole.assign(HCPCS_CD_1="", HCPCS_CD_45="").to_csv(folder / f"c{sample}.csv", index=False)
    for name, urls in names.items():
        remote = replace(getattr(desynpuf, name), urls=(f"{address}/gone.csv", tuple(urls)))
        monkeypatch.setattr(desynpuf, name, remote)
    assert fetch_desynpuf().shape == (16_181, 881)
    for file in ("inpatient_claims_s01_s05.csv.gz", "beneficiary_summary_s01_s05.csv.gz"):
        kept, published = (
            gzip.decompress((place / "desynpuf" / file).read_bytes())
            for place in (elsewhere, real_data)
        )
        assert kept == published
        when = (elsewhere / "desynpuf" / file).read_bytes()[4:8]
        assert when == bytes(4), "two downloads differ by their time"


def test_a_download_of_several_files_that_fails_names_the_first(elsewhere, monkeypatch):
    urls = (("http://127.0.0.1:9/1.csv", "http://127.0.0.1:9/2.csv"),)
    monkeypatch.setattr(desynpuf, "CLAIMS", replace(desynpuf.CLAIMS, urls=urls))
    with pytest.raises(
        ConnectionError, match=r"desynpuf is not .*9/1.csv and 1 more: .*LVMKIT_DATA"
    ):
        fetch_desynpuf()


@pytest.mark.slow
def test_nhds_s_tensor_has_the_pairs_of_each_discharge(real_data):
    tensor = fetch_nhds2010_tensor()
    assert tensor.modes == ("discharge", "diagnosis", "procedure")
    assert tensor.shape == (80_472, 1_043, 2_322)
    assert tensor.nnz == tensor.counts.sum() == 1_563_568
    table = pd.read_csv(real_data / "nhds2010/nhds2010.csv.gz", **TEXT)
    adults = table[(table["age_unit"] == "years") & (table["age"].astype(int) >= 18)]
    modes = {
        mode: [name for name in table if name[:2] == start and name[2:].isdigit()]
        for mode, start in (("diagnosis", "dx"), ("procedure", "pc"))
    }
    assert (adults[modes["procedure"]] != "").any(axis=1).sum() == 80_472
    part = adults.iloc[::40]
    expected = pairs_by_hand(
        part.assign(v="1"), ["id", "v"], modes, {"diagnosis": category, "procedure": str}
    )
    some = set(part["id"])
    assert {place: n for place, n in cells(tensor).items() if place[0] in some} == expected
    assert tensor.obs["age"].between(18, 120).all()
    assert tensor.labels[2].loc["3893", "title"].startswith("Venous catheterization")
    assert tensor.about["options"]["adults"] is True


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_nhds_s_tensor_and_cohort_agree():
    tensor = fetch_nhds2010_tensor(heart_failure=True, max_codes={"procedure": 100})
    cohort = fetch_nhds2010(heart_failure=True, min_codes=0)
    assert tensor.shape[2] == 100
    both = tensor.obs.index
    pd.testing.assert_frame_equal(tensor.obs, cohort.obs.loc[both], check_categorical=False)
    ours = tensor.cohort("diagnosis")
    assert ((ours.X > 0) != (cohort[both, ours.var_names].X > 0)).nnz == 0
    assert (tensor.counts.data == 1).all()


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_nhds_s_tensor_has_children_if_wanted():
    adults, everyone = (
        fetch_nhds2010_tensor(heart_failure=True, adults=only) for only in (True, False)
    )
    more = everyone.obs.drop(adults.obs.index)
    assert len(more) == 39
    assert (more["age"] < 18).all()
    assert everyone.about["options"]["adults"] is False


def test_oslo_has_3115334_trips(real_data):
    tensor = fetch_oslo_bike()
    assert tensor.modes == ("station", "year", "month", "weekday", "hour")
    assert tensor.shape == (270, 2, 12, 7, 24)
    assert (tensor.nnz, tensor.counts.sum(), tensor.counts.data.max()) == (524_979, 3_115_334, 292)
    with np.load(real_data / "oslo_bike/oslo_bike_counts.npz") as stored:
        assert (tensor.counts.toarray() == stored["counts"]).all()
    assert tensor.labels[2].loc["3", "title"] == "March"
    assert tensor.labels[3].loc["0", "title"] == "Monday"
    assert tensor.labels[4].loc["7", "title"] == "07:00"
    assert tensor.obs.loc["Aker Brygge", "lat"] == pytest.approx(59.911, abs=1e-3)
    assert {"month:1", "hour:1", "2020", "23"} <= set(tensor.cohort().var_names)


def test_oslo_is_downloaded_as_published(real_data, elsewhere, site, monkeypatch):
    folder, address = site
    with np.load(real_data / "oslo_bike/oslo_bike_counts.npz") as stored:
        parts = dict(stored)
    names = [name.encode().ljust(28, b"\0") for name in parts["station"]]
    columns = {
        "End station name": (np.array(names).view("S1").reshape(270, -1), ("s", "letter")),
        "Bike trips": (parts["counts"].astype(">f8"), ("s", "y", "m", "d", "h")),
        "lat": (parts["lat"], ("s",)),
        "lon": (parts["lon"], ("s",)),
        "Year": (parts["year"], ("y",)),
        "Month": (parts["month"], ("m",)),
        "Day of week": (parts["day_of_week"], ("d",)),
        "Hour": (parts["hour"], ("h",)),
    }
    with netcdf_file(folder / "bike.nc4", "w", version=2) as file:
        for values, axes in columns.values():
            for axis, size in zip(axes, values.shape, strict=True):
                if axis not in file.dimensions:
                    file.createDimension(axis, size)
        for name, (values, axes) in columns.items():
            file.createVariable(name, values.dtype, axes)[:] = values
    content = (folder / "bike.nc4").read_bytes()
    remote = replace(
        oslo.PUBLISHED,
        urls=(f"{address}/gone.nc4", f"{address}/bike.nc4"),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setattr(oslo, "PUBLISHED", remote)
    tensor = fetch_oslo_bike()
    assert (tensor.counts.toarray() == parts["counts"]).all()
    assert tensor.obs.index.tolist() == parts["station"].tolist()
    assert tensor.obs["lon"].tolist() == parts["lon"].tolist()
    assert (elsewhere / "oslo_bike" / "oslo_bike.nc4").is_file()


@pytest.mark.usefixtures("real_data")
def test_serology_is_centered_and_has_floors():
    tensor = fetch_serology()
    assert repr(tensor) == "LabelledTensor of 438 samples: 6 antigen × 11 receptor"
    assert tensor.values.dtype == np.float64
    status = tensor.samples["status"]
    assert status.value_counts(sort=False).to_dict() == tensors.STATUS
    assert status.is_monotonic_increasing
    np.testing.assert_allclose(tensor.values.mean(axis=0), 0, atol=1e-12)
    at_floor = (tensor.values == tensor.values.min(axis=0)).mean(axis=0)
    antigen, receptor = np.unravel_index(at_floor.argmax(), at_floor.shape)
    assert (tensor.labels[0][antigen], tensor.labels[1][receptor]) == ("S1 Trimer", "IgG2")
    assert at_floor.max() == pytest.approx(0.573, abs=1e-3)


def test_serology_as_published_is_as_stored(real_data, elsewhere, site, monkeypatch):
    folder, address = site
    with np.load(real_data / "tensors/covid19_serology.npz", allow_pickle=False) as stored:
        parts = dict(stored)
    np.save(folder / "published.npy", parts["values"])
    urls = (f"{address}/gone.npy", f"{address}/published.npy")
    monkeypatch.setattr(
        tensors, "SEROLOGY_PUBLISHED", replace(tensors.SEROLOGY_PUBLISHED, urls=urls)
    )
    tensor = fetch_serology()
    np.testing.assert_array_equal(tensor.values, parts["values"])
    for ours, theirs in zip(tensor.labels, (parts["antigen"], parts["receptor"]), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(tensor.samples["status"], parts["status"])
    assert (elsewhere / "tensors" / "COVID19_data.npy").is_file()


@pytest.mark.usefixtures("real_data")
def test_eeg_leaves_out_what_is_not_the_scalp():
    scalp, whole = fetch_eeg(), fetch_eeg(scalp_only=False)
    assert (scalp.shape, whole.shape) == ((99, 61, 256), (99, 64, 256))
    names = whole.labels[0].tolist()
    assert set(names) - set(scalp.labels[0]) == {"X", "Y", "nd"}
    places = [names.index(name) for name in scalp.labels[0]]
    np.testing.assert_array_equal(scalp.values, whole.values[:, places])
    assert names[np.abs(whole.values).max(axis=(0, 2)).argmax()] == "X"
    assert scalp.labels[1][[0, 1, 128, 255]].tolist() == ["0", "4", "500", "996"]
    assert scalp.samples["group"].value_counts().to_dict() == {"control": 50, "alcoholic": 49}
    by_subject = scalp.samples.groupby("subject")
    assert (by_subject["group"].nunique() == 1).all()
    assert sorted(by_subject.size()) == [4] + [5] * 19
    assert not scalp.samples[["subject", "trial"]].duplicated().any()


@pytest.mark.usefixtures("real_data")
def test_salaries_are_named_as_the_numbers_and_universities_say():
    tensor = fetch_faculty_salaries()
    assert tensor.shape == (696, 2, 3, 13)
    female, male = (
        tensor.values[:, tensor.labels[0].tolist().index(g)] for g in ("Female", "Male")
    )
    assert (male > female).mean() == pytest.approx(0.827, abs=1e-3)
    full, middle, first = (
        tensor.values[:, :, tensor.labels[1].tolist().index(rank)]
        for rank in ("Full", "Associate", "Assistant")
    )
    assert (full > middle).mean() == pytest.approx(0.996, abs=1e-3)
    assert (middle > first).mean() == pytest.approx(0.981, abs=1e-3)
    assert tensor.labels[2][[0, 6, 12]].tolist() == ["2003/04", "2009/10", "2015/16"]
    samples = tensor.samples.set_index("institution")
    for name in ("Yale University", "Stanford University", "Boston College"):
        assert samples.loc[name, "control"] == "private"
    assert samples.loc["University of California at Berkeley", "control"] == "public"
    state = samples.index.str.contains("State University")
    assert (state.sum(), (samples["control"][state] == "public").sum()) == (147, 147)


@pytest.mark.usefixtures("real_data")
def test_crime_leaves_out_the_population_and_sums():
    rates, whole = fetch_us_crime(), fetch_us_crime(population=True, totals=True)
    assert (rates.shape, whole.shape) == ((236, 7, 13), (236, 10, 13))
    assert [name.endswith("_rate") for name in whole.labels[0]] == [False] + [True] * 9
    assert whole.values[:, 0].min() > 40_000
    of = dict(zip(whole.labels[0], np.moveaxis(whole.values, 1, 0), strict=True))
    parts = {
        "violent_crime_rate": ("murder_rate", "rape_rate", "robbery_rate", "aggravated_assault_rate"),
        "property_crime_rate": ("burglary_rate", "larceny_rate", "vehicle_theft_rate"),
    }  # fmt: skip
    for total, names in parts.items():
        assert np.abs(of[total] - sum(of[name] for name in names)).max() < 0.21
        assert total not in rates.labels[0]
    left = [name for name in whole.labels[0] if name in set(rates.labels[0])]
    assert rates.labels[0].tolist() == left
    np.testing.assert_array_equal(rates.values[:, 0], of["murder_rate"])
    assert rates.labels[1].tolist() == [str(year) for year in range(2000, 2013)]
    people = rates.samples["population"]
    assert rates.samples["department"][people.argmax()].startswith("New York")
    np.testing.assert_allclose(people, of["population"].mean(axis=1), atol=0.5)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("fetched", [fetch_eeg, fetch_faculty_salaries, fetch_us_crime])
def test_tensors_without_an_address_say_where_to_put_the_file(fetched):
    with pytest.raises(ConnectionError, match=r"no address .*put .*npz into the folder 'tensors'"):
        fetched()


def test_a_damaged_tensor_is_refused(tmp_path, monkeypatch):
    (tmp_path / "tensors").mkdir()
    np.savez(tmp_path / "tensors" / "eeg_alcoholism.npz", channel=np.zeros(3))
    monkeypatch.setenv("LVMKIT_DATA", str(tmp_path))
    with pytest.raises(
        ValueError, match=r"tensors/eeg_alcoholism.npz is damaged or another version"
    ):
        fetch_eeg()


def labelled(**changes):
    parts = {
        "values": np.arange(24).reshape(4, 2, 3),
        "mode_names": ("test", "week"),
        "labels": (["IgG", "IgM"], [0, 2, 4]),
        "samples": pd.DataFrame({"status": list("abca")}),
    }
    return LabelledTensor(**{**parts, **changes})


def test_a_labelled_tensor_is_its_values_to_numpy():
    tensor = labelled()
    assert len(tensor) == 4
    np.testing.assert_array_equal(np.asarray(tensor), np.arange(24.0).reshape(4, 2, 3))
    assert np.asarray(tensor, dtype=np.float32).dtype == np.float32
    assert np.shares_memory(np.asarray(tensor), tensor.values)
    assert not np.shares_memory(np.array(tensor), tensor.values)
    order_1 = LabelledTensor(np.ones((3, 2)), ("test",), (["a", "b"],))
    assert order_1.samples.shape == (3, 0)


@pytest.mark.parametrize(
    "chosen", [[True, False, False, True], np.array([0, 3]), slice(0, 4, 3), [0, -1]]
)
def test_some_samples_of_a_tensor_keep_their_names(chosen):
    part = labelled(source="here", description="what")[chosen]
    np.testing.assert_array_equal(part.values, np.arange(24.0).reshape(4, 2, 3)[[0, 3]])
    assert part.samples["status"].tolist() == ["a", "a"]
    assert part.labels[1].tolist() == ["0", "2", "4"]
    assert (part.source, part.description) == ("here", "what")
    assert labelled(samples=pd.DataFrame())[chosen].samples.index.tolist() == [0, 3]
    assert labelled()[2].shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode_names": ("test",)}, r"mode_names has 1 and labels 2 for values of shape \(4, 2, 3\)"),
        ({"values": np.ones(4), "mode_names": (), "labels": ()}, "values has 1 dimension"),
        ({"mode_names": ("test", "test")}, "mode_names: 'test' occur more than once"),
        ({"labels": (["IgG", "IgM"], [0, 2])}, r"labels of 'week' have shape \(2,\); expected \(3,\)"),
        ({"labels": (["IgG", "IgG"], [0, 2, 4])}, "labels of 'test': 'IgG' occur more than once"),
        ({"samples": pd.DataFrame({"status": [1, 2]})}, "samples has 2 rows for 4 samples"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        labelled(**changes)
