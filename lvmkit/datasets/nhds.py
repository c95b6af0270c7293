"""The National Hospital Discharge Survey 2010, real discharges of US short-stay hospitals."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._assemble import CohortOptions
from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._event_tensor import ReadOptions, planned
from lvmkit.cohorts._filtering import Thinning
from lvmkit.cohorts._groups import Group
from lvmkit.cohorts._windows import Window
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.cohorts.wide import gathered
from lvmkit.cohorts.wide_tensors import counted_rows
from lvmkit.core.validation import require_flag
from lvmkit.datasets._fetch import Remote, obtain, read_text
from lvmkit.datasets._nhds_layout import DIAGNOSES, PROCEDURES, convert

__all__ = ["fetch_nhds2010", "fetch_nhds2010_tensor"]

NHDS2010 = Remote(
    folder="nhds2010",
    file="nhds2010.csv.gz",
    sha256="4e50b415eeeb5d9143f6a1edfd13fa5d5e09792b60bc4fab11ea183fb07486b8",
    urls=(
        "https://raw.githubusercontent.com/jackwasey/nhds/222034f7baa7bdba70096dead40d3dc453588801/"
        "data-raw/NHDS10.PU.txt.bz2",
    ),
    convert=convert,
)
YEARS_PER_UNIT = {"years": 1.0, "months": 1 / 12, "days": 1 / 365.25}
ATTRIBUTES = {
    "age": "age", "sex": "sex", "care_days": "stay", "dc_status": "status", "payor_primary": "payer",
    "adm_type": "admission", "race": "race", "region": "region", "dc_month": "month", "weight": "weight",
}  # fmt: skip


def fetch_nhds2010(
    *,
    adults: bool = True,
    heart_failure: bool = False,
    level: str = "category",
    min_codes: int = 3,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
) -> AnnData:
    """Return the National Hospital Discharge Survey 2010 as a cohort.

    One record is one discharge with up to 15 ICD-9-CM diagnoses; patients cannot be linked. The data are
    looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time. NCHS asks
    users to do statistics only and to make no attempt to learn who a person or hospital is.

    Parameters
    ----------
    adults : bool, default=True
        Keep discharges of people of 18 years or more: 129,242 of 151,551, before `min_codes`.
    heart_failure : bool, default=False
        Keep discharges with a diagnosis 428, the criterion of Ruffini 2017, section 5.1.
    level : {"category", "full"}, default="category"
        3-digit categories (4 characters for E codes) or whole codes.
    min_codes : int, default=3
        Fewest different codes of a record that is kept.
    min_prevalence : float, default=0
        Least share of the records, in [0, 1], of a code that is kept.
    max_codes : int, optional
        Keep the most frequent codes only. ``min_codes=0, max_codes=700`` gives the 129,242 × 700 matrix
        that the benchmarks use.

    Returns
    -------
    AnnData
        ``obs``: age (years), sex, stay (days of care), status (at discharge), payer, admission, race, region,
        month and weight (discharges in the nation that the record stands for, `lvmkit.cohorts.sample_weight`:
        numbers of records are no national estimates). What was left out and why is in ``uns["cohort"]``.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or no record is left.
    """
    options = CohortOptions(
        level, binary=True, min_codes=min_codes, min_prevalence=min_prevalence, max_codes=max_codes
    )
    options.check()
    rows = _discharges(DIAGNOSES, adults=adults, heart_failure=heart_failure)
    cohort = gathered(
        rows,
        codes=DIAGNOSES,
        attributes=list(ATTRIBUTES.values()),
        patient="id",
        system="icd9",
        options=options,
        titles=None,
        weight="weight",
        connection=None,
        encoding="utf-8",
        repairs=Repairs(),
    )
    cohort.uns["cohort"]["source"] = "National Hospital Discharge Survey 2010 (NCHS)"
    cohort.uns["cohort"]["options"] |= {"adults": adults, "heart_failure": heart_failure}
    return cohort


def fetch_nhds2010_tensor(
    *,
    adults: bool = True,
    heart_failure: bool = False,
    diagnosis: Group = "category",
    procedure: Group = None,
    min_patients: int = 1,
    max_codes: int | Mapping[str, int] | None = None,
) -> CountTensor:
    """Return which diagnoses and procedures the discharges of the National Hospital Discharge Survey 2010 have.

    One record is one discharge with up to 15 ICD-9-CM diagnoses and 8 procedures; a cell is 1 where a discharge has
    both. Discharges without procedure have no cell and are left out. The data are looked for as by `fetch_nhds2010`,
    and the same conditions of use hold.

    Parameters
    ----------
    adults : bool, default=True
        Keep discharges of people of 18 years or more: 129,242, of which 80,472 have a procedure.
    heart_failure : bool, default=False
        Keep discharges with a diagnosis 428.
    diagnosis : {"category", "chapter", "ccs"}, mapping, function or None, default="category"
        What ICD-9-CM codes are counted as; None for whole codes.
    procedure : {"ccs"}, mapping, function or None, default=None
        What codes of procedures are counted as; None for whole codes.
    min_patients : int, default=1
        Least number of discharges with a code that is kept.
    max_codes : int or mapping of str to int, optional
        Keep the most frequent codes of each mode only.

    Returns
    -------
    CountTensor
        Modes discharge, diagnosis and procedure; by default 80,472 × 1,043 × 2,322 with 1,563,568 cells that are
        1. ``obs`` as of `fetch_nhds2010`.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or no discharge is left.
    """
    plan = planned(
        "id",
        {"diagnosis": "dx01 … dx15", "procedure": "pc01 … pc08"},
        system={"diagnosis": "icd9", "procedure": "icd9procedure"},
        group={"diagnosis": diagnosis, "procedure": procedure},
        titles=None,
        window=Window(),
        thinning=Thinning(min_patients=min_patients, max_codes=max_codes),
        date=None,
        visit=None,
    )
    columns = {"diagnosis": DIAGNOSES, "procedure": PROCEDURES}
    rows = _discharges(DIAGNOSES + PROCEDURES, adults=adults, heart_failure=heart_failure)
    reading = ReadOptions(list(ATTRIBUTES.values()), None, "utf-8", Repairs())
    tensor = counted_rows(rows, plan, columns, reading)
    options = {"adults": adults, "heart_failure": heart_failure, **tensor.about["options"]}
    return replace(
        tensor,
        modes=("discharge", *tensor.modes[1:]),
        source="National Hospital Discharge Survey 2010 (NCHS)",
        about={**tensor.about, "options": options},
    )


def _discharges(codes: list[str], *, adults: bool, heart_failure: bool) -> pd.DataFrame:
    """Discharges of adults and of heart failure, as asked, with their attributes and columns of codes."""
    require_flag(adults, "adults")
    require_flag(heart_failure, "heart_failure")
    frame = read_text(obtain(NHDS2010), ["id", "age_unit", *ATTRIBUTES, *codes])
    rows = _chosen(frame, adults=adults, heart_failure=heart_failure)
    ages = rows["age"].astype(int) * rows["age_unit"].map(YEARS_PER_UNIT)
    return rows.assign(age=ages.round(2)).rename(columns=ATTRIBUTES)


def _chosen(frame: pd.DataFrame, *, adults: bool, heart_failure: bool) -> pd.DataFrame:
    """Rows of adults and of heart failure, as asked."""
    if adults:
        frame = frame[(frame["age_unit"] == "years") & (frame["age"].astype(int) >= 18)]
    if heart_failure:
        failing = [frame[column].str.startswith("428") for column in DIAGNOSES]
        frame = frame[pd.concat(failing, axis=1).any(axis=1)]
    return frame
