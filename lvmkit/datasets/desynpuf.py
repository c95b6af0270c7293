"""Inpatient claims of synthetic Medicare beneficiaries: CMS's DE-SynPUF."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._event_tensor import ReadOptions, planned
from lvmkit.cohorts._filtering import Thinning
from lvmkit.cohorts._groups import Group
from lvmkit.cohorts._windows import Window
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.cohorts.wide_tensors import counted_rows
from lvmkit.core.validation import require_flag
from lvmkit.datasets._fetch import Remote, csv_bytes, obtain, read_text

__all__ = ["fetch_desynpuf", "fetch_desynpuf_tensor"]

SOURCE = "https://raw.githubusercontent.com/milwaukeedata/desynpuf/4a889b0649d482d23f3ddd9133e9905c4eb31383"
SAMPLES = range(1, 6)
YEARS = (2008, 2009, 2010)
DIAGNOSES = [f"ICD9_DGNS_CD_{i}" for i in range(1, 11)]
PROCEDURES = ["ICD9_PRCDR_CD_1"]
"""The other five columns named so hold diagnoses, every one of them."""
DROPPED = ("PRVDR_NUM", "AT_PHYSN_NPI", "OP_PHYSN_NPI", "OT_PHYSN_NPI")
SEX = {"1": "male", "2": "female"}
RACE = {"1": "white", "2": "black", "3": "other", "5": "hispanic"}
CONDITIONS = {
    "SP_ALZHDMTA": "alzheimer", "SP_CHF": "heart_failure", "SP_CHRNKIDN": "kidney_disease",
    "SP_CNCR": "cancer", "SP_COPD": "copd", "SP_DEPRESSN": "depression", "SP_DIABETES": "diabetes",
    "SP_ISCHMCHT": "ischemic_heart", "SP_OSTEOPRS": "osteoporosis", "SP_RA_OA": "arthritis",
    "SP_STRKETIA": "stroke",
}  # fmt: skip


def _claims(*paths: Path) -> bytes:
    """Put the claims of all samples in one table, without the ids of providers and empty columns."""
    tables = [read_text(path) for path in paths]
    whole = pd.concat([t.assign(SAMPLE=str(s)) for s, t in zip(SAMPLES, tables, strict=True)])
    kept = [n for n in map(str, tables[0]) if n not in DROPPED and not n.startswith("HCPCS_CD_")]
    return csv_bytes(whole[["SAMPLE", *kept]])


def _summaries(*paths: Path) -> bytes:
    """Put the yearly summaries of beneficiaries of all samples in one table."""
    places = [(str(sample), str(year)) for sample in SAMPLES for year in YEARS]
    tables = [
        read_text(path).assign(SAMPLE=sample, YEAR=year)
        for (sample, year), path in zip(places, paths, strict=True)
    ]
    names = [name for name in tables[0] if name not in {"SAMPLE", "YEAR"}]
    return csv_bytes(pd.concat(tables)[["SAMPLE", "YEAR", *names]])


CLAIMS = Remote(
    folder="desynpuf",
    file="inpatient_claims_s01_s05.csv.gz",
    sha256="587ba1de19bdf87ac3c6a024a7b3c08002834595847f157873483fab55e369af",
    urls=(
        tuple(
            f"{SOURCE}/{s}-sample-10000/DE1_0_2008_to_2010_Inpatient_Claims_Sample_{s}.csv"
            for s in SAMPLES
        ),
    ),
    convert=_claims,
)
BENEFICIARIES = Remote(
    folder="desynpuf",
    file="beneficiary_summary_s01_s05.csv.gz",
    sha256="7c553376ae037eef8af31b586cc7af37f78656f764a1c365165ca68e8575636e",
    urls=(
        tuple(
            f"{SOURCE}/{s}-sample-10000/DE1_0_{year}_Beneficiary_Summary_File_Sample_{s}.csv"
            for s in SAMPLES
            for year in YEARS
        ),
    ),
    convert=_summaries,
)


def fetch_desynpuf(
    *,
    diagnosis: Group = "category",
    heart_failure: bool = False,
    min_patients: int = 1,
    max_codes: int | None = None,
) -> AnnData:
    """Return how many inpatient claims of synthetic Medicare beneficiaries have each diagnosis.

    28,668 claims of the years 2008 to 2010 by 16,181 beneficiaries, of five samples of 10,000. CMS altered relations
    between variables when it made the data: good for demonstrations and speed, not for claims about disease. The
    data are looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Parameters
    ----------
    diagnosis : {"category", "chapter", "ccs"}, mapping, function or None, default="category"
        What ICD-9-CM codes are counted as; None for whole codes.
    heart_failure : bool, default=False
        Only beneficiaries with a diagnosis 428, and their claims within 365 days of the first.
    min_patients : int, default=1
        Least number of beneficiaries with a code that is kept.
    max_codes : int, optional
        Keep the most frequent codes only.

    Returns
    -------
    AnnData
        By default 16,181 × 881 with 205,267 counts above 0. ``obs``: age (years at the end of 2008), sex, race, died
        and 11 chronic conditions (true if a yearly summary has it), such as heart_failure and diabetes.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If a file found is not the published one, or no beneficiary is left.

    Notes
    -----
    Data Entrepreneurs' Synthetic Public Use File, CMS. Perros 2018, section 4.1, uses carrier claims
    of the same file.
    """
    thinning = Thinning(min_patients=min_patients, max_codes=max_codes)
    return _counted({"diagnosis": diagnosis}, thinning, heart_failure=heart_failure).cohort()


def fetch_desynpuf_tensor(
    *,
    diagnosis: Group = "category",
    procedure: Group = None,
    heart_failure: bool = False,
    min_count: int = 1,
    min_patients: int = 1,
    max_codes: int | Mapping[str, int] | None = None,
) -> CountTensor:
    """Return how many inpatient claims of synthetic beneficiaries have a diagnosis together with a procedure.

    Of the six columns of procedures only the first is used: the values of the other five are diagnosis codes, a known
    fault of the file, and some of them look like procedures.

    Parameters
    ----------
    diagnosis : {"category", "chapter", "ccs"}, mapping, function or None, default="category"
        What ICD-9-CM codes are counted as; None for whole codes.
    procedure : {"ccs"}, mapping, function or None, default=None
        What codes of procedures are counted as; None for whole codes.
    heart_failure : bool, default=False
        Only beneficiaries with a diagnosis 428, and their claims within 365 days of the first.
    min_count : int, default=1
        Smallest count of a cell that is kept.
    min_patients : int, default=1
        Least number of beneficiaries with a code that is kept.
    max_codes : int or mapping of str to int, optional
        Keep the most frequent codes of each mode only.

    Returns
    -------
    CountTensor
        Modes patient, diagnosis and procedure; by default 11,102 × 828 × 1,010 with 126,939 counts above 0.
        ``obs`` as of `fetch_desynpuf`.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If a file found is not the published one, or no beneficiary is left.

    Notes
    -----
    Data Entrepreneurs' Synthetic Public Use File, CMS.
    """
    thinning = Thinning(min_count, min_patients, max_codes)
    groups = {"diagnosis": diagnosis, "procedure": procedure}
    return _counted(groups, thinning, heart_failure=heart_failure)


def _counted(groups: dict[str, Group], thinning: Thinning, *, heart_failure: bool) -> CountTensor:
    """Count claims by the modes that have a group."""
    require_flag(heart_failure, "heart_failure")
    columns = {"diagnosis": DIAGNOSES, "procedure": PROCEDURES}
    chosen = {name: columns[name] for name in groups}
    systems = {"diagnosis": "icd9", "procedure": "icd9procedure"}
    failing = Window({"diagnosis": ["428"]}, before=365, after=365)
    plan = planned(
        "DESYNPUF_ID",
        {name: names[0] for name, names in chosen.items()},
        system={name: systems[name] for name in chosen},
        group=groups,
        titles=None,
        window=failing if heart_failure else Window(),
        thinning=thinning,
        date="CLM_FROM_DT",
        visit="CLM_ID",
    )
    claims = obtain(CLAIMS)
    people = _people(obtain(BENEFICIARIES))
    known = read_text(claims, ["DESYNPUF_ID"])["DESYNPUF_ID"].unique()
    reading = ReadOptions(people.loc[known], None, "utf-8", Repairs())
    tensor = counted_rows(claims, plan, chosen, reading)
    options = {"heart_failure": heart_failure, **tensor.about["options"]}
    about = {**tensor.about, "options": options}
    return replace(tensor, about=about, source="DE-SynPUF inpatient claims, samples 1 to 5 (CMS)")


def _people(path: Path) -> pd.DataFrame:
    """Attributes of the beneficiaries, from their yearly summaries."""
    rows = read_text(path).set_index("DESYNPUF_ID")
    seen = (
        (rows[[*CONDITIONS]] == "1")
        .rename(columns=CONDITIONS)
        .assign(died=rows["BENE_DEATH_DT"] != "")
    )
    ever = seen.groupby(level=0).any()
    first = rows[~rows.index.duplicated()].loc[ever.index]
    table = {
        "age": 2008 - first["BENE_BIRTH_DT"].str[:4].astype(int),
        "sex": first["BENE_SEX_IDENT_CD"].map(SEX),
        "race": first["BENE_RACE_CD"].map(RACE),
    }
    return pd.DataFrame(table).join(ever[["died", *CONDITIONS.values()]])
