"""Diabetes 130-US hospitals 1999-2008, real encounters of diabetic patients."""

import io
import zipfile
from pathlib import Path

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._assemble import CohortOptions
from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts.wide import gathered
from lvmkit.datasets._fetch import Remote, obtain, read_text

__all__ = ["fetch_diabetes130"]

DIAGNOSES = ["diag_1", "diag_2", "diag_3"]
UNITS = {"encounter": "encounter_id", "patient": "patient_nbr"}
ATTRIBUTES = {
    "age": "age", "gender": "sex", "time_in_hospital": "stay", "race": "race", "payer_code": "payer",
    "medical_specialty": "specialty", "num_medications": "n_medications", "number_inpatient": "n_inpatient",
    "number_emergency": "n_emergency", "readmitted": "readmitted", "dead": "dead",
}  # fmt: skip
DEATH_OR_HOSPICE = {"11", "13", "14", "19", "20", "21"}


def _member(path: Path) -> bytes:
    """Take the CSV out of the published archive, or out of an archive inside it."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith("diabetic_data.csv"):
                return archive.read(name)
        for name in archive.namelist():
            if name.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
                    [found] = [n for n in inner.namelist() if n.endswith("diabetic_data.csv")]
                    return inner.read(found)
    msg = "the archive holds no diabetic_data.csv"
    raise ValueError(msg)


DIABETES130 = Remote(
    folder="diabetes130",
    file="diabetic_data.csv.gz",
    sha256="0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
    urls=(
        "https://archive.ics.uci.edu/static/public/296/diabetes+130-us+hospitals+for+years+1999-2008.zip",
        "https://raw.githubusercontent.com/swatia600/MyDiabetesCare/d0bc4b1b7f79591a476a7aef59c938b729d29e4b/"
        "dataset_diabetes.zip",
    ),
    convert=_member,
)


def fetch_diabetes130(
    *,
    unit: str = "encounter",
    level: str = "category",
    min_codes: int = 3,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
) -> AnnData:
    """Return the diagnoses of "Diabetes 130-US hospitals" as a cohort.

    101,766 encounters of 71,518 diabetic patients with up to three ICD-9-CM diagnoses each. The file has lost
    the leading zeros of codes ("38" is 038): they are restored, and the number is in
    ``uns["cohort"]["repairs"]``. The data are looked for in LVMKIT_DATA, then in the user's cache, then
    downloaded, and verified each time.

    Parameters
    ----------
    unit : {"encounter", "patient"}, default="encounter"
        What a record is. A patient has the codes of all encounters, is dead if one ended so, and has the
        smallest value of every other attribute (the age at the first encounter, the shortest stay).
    level : {"category", "full"}, default="category"
        3-digit categories (4 characters for E codes) or the codes as recorded: only diabetes has decimals.
    min_codes : int, default=3
        Fewest different codes of a record that is kept.
    min_prevalence : float, default=0
        Least share of the records, in [0, 1], of a code that is kept.
    max_codes : int, optional
        Keep the most frequent codes only.

    Returns
    -------
    AnnData
        ``obs``: age (years, middle of the ten-year band), sex, stay (days), race, payer, specialty,
        n_medications, n_inpatient and n_emergency (visits of the year before), readmitted ("<30",
        ">30", "NO"), dead (or to hospice). What was left out and why is in ``uns["cohort"]``.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or an option is out of range.

    Notes
    -----
    Strack 2014, BioMed Research International 781670; UCI data set 296, CC BY 4.0.
    """
    if not isinstance(unit, str) or unit not in UNITS:
        msg = f"unit={unit!r}; expected 'encounter' or 'patient'."
        raise ValueError(msg)
    options = CohortOptions(
        level, binary=True, min_codes=min_codes, min_prevalence=min_prevalence, max_codes=max_codes
    )
    options.check()
    given = [name for name in ATTRIBUTES if name != "dead"]
    columns = [*UNITS.values(), "discharge_disposition_id", *given, *DIAGNOSES]
    rows = _cleaned(read_text(obtain(DIABETES130), columns), UNITS[unit])
    cohort = gathered(
        rows,
        codes=DIAGNOSES,
        attributes=list(ATTRIBUTES.values()),
        patient=UNITS[unit],
        system="icd9",
        options=options,
        titles=None,
        connection=None,
        encoding="utf-8",
        repairs=Repairs(),
    )
    cohort.uns["cohort"]["source"] = "Diabetes 130-US hospitals, 1999-2008 (UCI 296)"
    cohort.uns["cohort"]["options"] |= {"unit": unit}
    return cohort


def _cleaned(frame: pd.DataFrame, record: str) -> pd.DataFrame:
    """Empty the "?" of missing values, take the middle of age bands, name columns as elsewhere."""
    known = frame.replace("?", "")
    lower = known["age"].str.extract(r"\[(\d+)-")[0].astype(int)
    dead = known["discharge_disposition_id"].isin(DEATH_OR_HOSPICE)
    dead = dead.groupby(known[record]).transform("any")
    sex = known["gender"].str.lower().where(known["gender"].isin(["Female", "Male"]), "")
    return known.assign(age=lower + 5, gender=sex, dead=dead).rename(columns=ATTRIBUTES)
