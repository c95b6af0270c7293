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
    desynpuf,
    fetch_desynpuf,
    fetch_desynpuf_tensor,
    fetch_nhds2010,
    fetch_nhds2010_tensor,
    fetch_oslo_bike,
    oslo,
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
