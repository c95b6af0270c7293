"""Record layout of the public-use file of the National Hospital Discharge Survey 2010 (NCHS)."""

import bz2
from pathlib import Path

import numpy as np
import pandas as pd

from lvmkit.datasets._fetch import csv_bytes

DIAGNOSES = [f"dx{i:02}" for i in range(1, 16)]
PROCEDURES = [f"pc{i:02}" for i in range(1, 9)]

WIDTHS = {
    "year": 2, "newborn": 1, "age_unit": 1, "age": 2, "sex": 1, "race": 1, "marital_status": 1, "dc_month": 2,
    "dc_status": 1, "care_days": 4, "dc_same_day": 1, "region": 1, "n_beds": 1, "hospital_ownership": 1,
    "weight": 5, "century": 2, **dict.fromkeys(DIAGNOSES, 5), **dict.fromkeys(PROCEDURES, 4),
    "payor_primary": 2, "payor_secondary": 2, "drg": 3, "adm_type": 1, "adm_origin": 2, "dx_adm": 5,
}  # fmt: skip
RECORD = sum(WIDTHS.values())

_PAYORS = {
    1: "worker compensation", 2: "Medicare", 3: "Medicaid", 4: "other government", 5: "blue cross blue shield",
    6: "HMO or PPO", 7: "other private insurance", 8: "self pay", 9: "no charge", 10: "other", 99: "not stated",
}  # fmt: skip
LABELS = {
    "newborn": {1: "1", 2: "0"},
    "age_unit": {1: "years", 2: "months", 3: "days"},
    "sex": {1: "male", 2: "female"},
    "race": {
        1: "white", 2: "black", 3: "native_continental", 4: "asian", 5: "native_island", 6: "other",
        8: "multiple", 9: "not_stated",
    },
    "marital_status": {
        1: "married", 2: "single", 3: "widowed", 4: "divorced", 5: "separated", 9: "not_stated",
    },
    "dc_status": {
        1: "home", 2: "AMA", 3: "short_term", 4: "long_term", 5: "alive_NOS", 6: "dead", 9: "not_stated",
    },
    "dc_same_day": {0: "1", 1: "0"},
    "region": {1: "northeast", 2: "midwest", 3: "south", 4: "west"},
    "n_beds": {1: "6-99", 2: "100-199", 3: "200-299", 4: "300-499", 5: "500+"},
    "hospital_ownership": {1: "proprietary", 2: "government", 3: "non_profit"},
    "payor_primary": _PAYORS,
    "payor_secondary": _PAYORS,
    "adm_type": {1: "emergency", 2: "urgent", 3: "elective", 4: "newborn", 5: "trauma", 9: "not_stated"},
    "adm_origin": {
        1: "Non-health care POA", 2: "Clinic", 3: "Transfer from a hospital",
        4: "Transfer from intermediate care", 5: "Transfer from other healthcare", 6: "Emergency room",
        7: "Court or law enforcement", 8: "Transfer from ambulatory surgery", 9: "Transfer from hospice",
        10: "Newborn, born inside this hospital", 11: "Newborn, born outside this hospital", 12: "Other",
        99: "Not available",
    },
}  # fmt: skip
WHOLE_NUMBERS = ("age", "dc_month", "care_days", "weight")
CODES = (*DIAGNOSES, *PROCEDURES, "dx_adm")


def convert(path: Path) -> bytes:
    """Turn the bzip2-compressed fixed-width file into the CSV text with decoded labels."""
    lines = [
        line.rstrip(b"\r ").ljust(RECORD) for line in bz2.decompress(path.read_bytes()).split(b"\n")
    ]
    lines = [line for line in lines if line.strip()]
    if {len(line) for line in lines} != {RECORD}:
        msg = f"not the public-use file: it has records longer than {RECORD} characters"
        raise ValueError(msg)
    characters = np.array(lines).view("S1").reshape(len(lines), RECORD)
    columns: dict[str, list[str]] = {"id": [str(i + 1) for i in range(len(lines))]}
    start = 0
    for name, width in WIDTHS.items():
        field = np.ascontiguousarray(characters[:, start : start + width]).view(f"S{width}")
        columns[name] = _decoded(name, [value.decode().strip() for value in field.ravel().tolist()])
        start += width
    return csv_bytes(pd.DataFrame(columns).drop(columns=["year", "century"]))


def _decoded(name: str, texts: list[str]) -> list[str]:
    """Decode the texts of one field; empty where nothing is recorded."""
    if name in LABELS:
        return [LABELS[name][int(text)] if text else "" for text in texts]
    if name in WHOLE_NUMBERS:
        return [str(int(text)) for text in texts]
    return [text.replace("-", "") for text in texts] if name in CODES else texts
