import bz2
import gzip
import hashlib
import io
import zipfile
from dataclasses import replace

import pandas as pd
import pytest

from lvmkit.datasets import (
    diabetes,
    fetch_diabetes130,
    fetch_nhds2010,
    fetch_synthea1k,
    nhds,
    synthea,
)
from lvmkit.datasets._fetch import csv_bytes
from lvmkit.datasets._nhds_layout import CODES, LABELS, WIDTHS


def digest(text):
    return hashlib.sha256(text).hexdigest()


def fixed_width(table):
    """Write the survey in the layout of its public-use file, from the published decoding."""
    back = {
        name: {label: code for code, label in labels.items()} for name, labels in LABELS.items()
    }
    lines = []
    for row in table.to_dict("records"):
        text = ""
        for name, width in WIDTHS.items():
            value = row.get(name, {"year": "10", "century": "20"}.get(name, ""))
            if name in back and value:
                value = str(back[name][value]).zfill(width)
            elif name in {"age", "dc_month", "care_days", "weight"}:
                value = value.zfill(width)
            elif name in CODES and value:
                value = value.ljust(width, "-")
            text += value.rjust(width)
        lines.append(text)
    return bz2.compress("\n".join(lines).encode() + b"\n")


@pytest.mark.slow
def test_nhds_has_129242_adults_and_states_what_it_drops(real_data):
    cohort = fetch_nhds2010(max_codes=700, min_codes=0)
    assert cohort.shape == (129_242, 700)
    assert cohort.obs["age"].between(18, 120).all()
    assert set(cohort.obs["sex"]) == {"female", "male"}
    assert cohort.obs["stay"].min() == 1
    assert cohort.uns["cohort"]["n_dropped"]["codes_beyond_max_codes"] == 392


def test_nhds_heart_failure_is_the_cohort_of_code_428(real_data):
    cohort = fetch_nhds2010(heart_failure=True)
    assert cohort.n_obs == cohort.var.loc["428", "n_records"] == 16_340
    assert cohort.uns["cohort"]["n_dropped"]["records_below_min_codes"] == 86


def test_nhds_is_downloaded_decoded_verified_and_kept(real_data, elsewhere, site, monkeypatch):
    folder, address = site
    path = real_data / "nhds2010/nhds2010.csv.gz"
    table = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=3_000)
    (folder / "survey.bz2").write_bytes(fixed_width(table))
    part = replace(nhds.NHDS2010, urls=(f"{address}/survey.bz2",), sha256=digest(csv_bytes(table)))
    monkeypatch.setattr(nhds, "NHDS2010", part)
    downloaded = fetch_nhds2010(heart_failure=True)
    (folder / "survey.bz2").unlink()
    assert fetch_nhds2010(heart_failure=True).shape == downloaded.shape  # from the cache
    kept = (elsewhere / "nhds2010" / "nhds2010.csv.gz").read_bytes()
    assert pd.read_csv(io.BytesIO(gzip.decompress(kept)), dtype=str, keep_default_na=False).equals(
        table
    )


def test_diabetes_restores_zeros_of_5732_codes(real_data):
    cohort = fetch_diabetes130(min_codes=0)
    assert cohort.shape == (101_766, 881)
    assert "restored in 5,732 of 303,496" in cohort.uns["cohort"]["repairs"][0]
    assert (cohort.var["chapter"] != "").all()
    assert set(cohort.obs["age"]) == {5, 15, 25, 35, 45, 55, 65, 75, 85, 95}
    with pytest.raises(ValueError, match="unit='visit'; expected 'encounter' or 'patient'"):
        fetch_diabetes130(unit="visit")


@pytest.mark.slow
def test_diabetes_patients_gather_their_encounters(real_data):
    encounters, patients = (
        fetch_diabetes130(unit=u, min_codes=0) for u in ("encounter", "patient")
    )
    assert patients.n_obs == 71_518
    assert patients.var.loc["428", "n_records"] < encounters.var.loc["428", "n_records"]
    assert patients.obs["dead"].sum() <= encounters.obs["dead"].sum()


def test_diabetes_is_downloaded_from_the_next_source_when_the_first_fails(
    real_data, elsewhere, site, monkeypatch
):
    folder, address = site
    whole = gzip.decompress((real_data / "diabetes130/diabetic_data.csv.gz").read_bytes())
    text = b"\r\n".join(whole.split(b"\r\n")[:1_001])
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("dataset_diabetes/diabetic_data.csv", text)
    with zipfile.ZipFile(folder / "outer.zip", "w") as archive:
        archive.writestr("dataset_diabetes.zip", inner.getvalue())
    urls = (f"{address}/gone.zip", f"{address}/outer.zip")
    part = replace(diabetes.DIABETES130, urls=urls, sha256=digest(text))
    monkeypatch.setattr(diabetes, "DIABETES130", part)
    assert fetch_diabetes130(min_codes=0).n_obs == 1_000


def test_synthea_joins_conditions_and_demographics(real_data):
    cohort = fetch_synthea1k(min_codes=0)
    assert cohort.shape == (986, 136)
    assert cohort.var.loc["38341003", "title"] == "Hypertension"
    assert set(cohort.obs["sex"]) == {"female", "male"}
    assert cohort.obs["age"].between(0, 110).all()
    assert fetch_synthea1k(binary=False).X.max() > 1


def test_synthea_is_downloaded_without_names_and_addresses(real_data, elsewhere, site, monkeypatch):
    folder, address = site
    source = real_data / "synthea1k"
    conditions = gzip.decompress((source / "conditions.csv.gz").read_bytes())
    (folder / "conditions.csv").write_bytes(conditions)
    patients = pd.read_csv(source / "patients.csv.gz", dtype=str, keep_default_na=False)
    patients.assign(FIRST="Ann", SSN="999").to_csv(folder / "patients.csv", index=False)
    for name in ("CONDITIONS", "PATIENTS"):
        remote = replace(getattr(synthea, name), urls=(f"{address}/{name.lower()}.csv",))
        monkeypatch.setattr(synthea, name, remote)
    assert fetch_synthea1k(min_codes=0).n_obs == 986
    kept = gzip.decompress((elsewhere / "synthea1k" / "patients.csv.gz").read_bytes())
    assert b"Ann" not in kept


def test_without_network_it_says_what_to_do(elsewhere, monkeypatch):
    urls = ("http://127.0.0.1:9/never.bz2",)
    monkeypatch.setattr(nhds, "NHDS2010", replace(nhds.NHDS2010, urls=urls))
    with pytest.raises(
        ConnectionError, match=r"nhds2010 is not on this machine.*LVMKIT_DATA names"
    ):
        fetch_nhds2010()


def test_a_wrong_download_is_not_kept(elsewhere, site, monkeypatch):
    folder, address = site
    (folder / "conditions.csv").write_text("START,PATIENT\n")
    urls = (f"{address}/conditions.csv",)
    monkeypatch.setattr(synthea, "CONDITIONS", replace(synthea.CONDITIONS, urls=urls))
    with pytest.raises(ConnectionError, match="the checksum differs from the published data's"):
        fetch_synthea1k()
    assert not list(elsewhere.rglob("*.gz"))


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"id\n1\n", mtime=0), b"not gzip", gzip.compress(b"id" * 999, mtime=0)[:20]],
)
def test_a_damaged_local_file_is_refused(tmp_path, monkeypatch, content):
    (tmp_path / "nhds2010").mkdir()
    (tmp_path / "nhds2010" / "nhds2010.csv.gz").write_bytes(content)
    monkeypatch.setenv("LVMKIT_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"nhds2010/nhds2010.csv.gz is damaged or another version"):
        fetch_nhds2010()
