"""Synthea's thousand synthetic Californian patients: conditions and demographics."""

from pathlib import Path

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._assemble import CohortOptions
from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts.events import gathered
from lvmkit.datasets._fetch import Remote, csv_bytes, obtain, read_text

__all__ = ["fetch_synthea1k"]

SOURCE = "https://raw.githubusercontent.com/IBM/cpd-workshop-health-care"
DEMOGRAPHICS = ["ID", "BIRTHDATE", "DEATHDATE", "MARITAL", "RACE", "ETHNICITY", "GENDER"]


def _demographics(path: Path) -> bytes:
    """Keep the demographic columns of the original, which also has synthetic names and addresses."""
    return csv_bytes(read_text(path, DEMOGRAPHICS)[DEMOGRAPHICS])


CONDITIONS = Remote(
    folder="synthea1k",
    file="conditions.csv.gz",
    sha256="4d4ffa90b0aab83de3b2161a0d85025bbdf40723147e7a59d8e493606423f80a",
    urls=(f"{SOURCE}/0dd23c56f16244bdc13a3b9684bcda7dd358e315/data/conditions.csv",),
    convert=Path.read_bytes,
)
PATIENTS = Remote(
    folder="synthea1k",
    file="patients.csv.gz",
    sha256="74d1f8b97ffabc7e84d085d2ae69adad14192f7002e67e2da254afacd591c7ee",
    urls=(f"{SOURCE}/732ec21499c74da94bb73ee55b13d184a78ba114/data/patients.csv",),
    convert=_demographics,
)


def fetch_synthea1k(
    *,
    binary: bool = True,
    min_codes: int = 3,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
) -> AnnData:
    """Return the conditions of Synthea's thousand synthetic patients as a cohort.

    20,512 conditions (136 SNOMED CT codes with English titles) of 986 patients. Good for demonstrations; not for
    claims about disease. The data are looked for in LVMKIT_DATA, then in the user's cache, then downloaded,
    and verified each time.

    Parameters
    ----------
    binary : bool, default=True
        0/1 if True, else how often a condition began.
    min_codes : int, default=3
        Fewest different codes of a patient who is kept.
    min_prevalence : float, default=0
        Least share of the patients, in [0, 1], of a code that is kept.
    max_codes : int, optional
        Keep the most frequent codes only.

    Returns
    -------
    AnnData
        ``obs``: age (years at death or at the last date of the data), sex, race, ethnicity, marital, dead,
        first_date and last_date of conditions. What was left out and why is in ``uns["cohort"]``.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If a file found is not the published one, or an option is out of range.

    Notes
    -----
    Walonoski 2018, JAMIA 25(3); purely synthetic.
    """
    options = CohortOptions("full", binary, min_codes, min_prevalence, max_codes)
    options.check()
    events = read_text(obtain(CONDITIONS))
    patients = read_text(obtain(PATIENTS)).set_index("ID")
    cohort = gathered(
        events,
        columns={"patient": "PATIENT", "code": "CODE", "date": "START"},
        system="other",
        options=options,
        attributes=_described(patients, events["START"].max()),
        titles=dict(zip(events["CODE"], events["DESCRIPTION"], strict=True)),
        repairs=Repairs(),
    )
    cohort.uns["cohort"]["source"] = "Synthea, 1,000 synthetic patients"
    return cohort


def _described(patients: pd.DataFrame, last: str) -> pd.DataFrame:
    """Attributes of patients: age at death or at the last date, sex, race, ethnicity, marital, dead."""
    born = pd.to_datetime(patients["BIRTHDATE"])
    end = pd.to_datetime(patients["DEATHDATE"].replace("", last))
    words = {"F": "female", "M": "male"}
    marital = {"M": "married", "S": "single"}
    return pd.DataFrame(
        {
            "age": ((end - born).dt.days / 365.25).astype(int),
            "sex": patients["GENDER"].map(words),
            "race": patients["RACE"],
            "ethnicity": patients["ETHNICITY"],
            "marital": patients["MARITAL"].map(marital),
            "dead": patients["DEATHDATE"] != "",
        }
    )
