"""The bundled code tables: ICD-9-CM and ICD-10-CM categories, chapters and titles; CCS groups."""

from functools import cache
from importlib.resources import as_file, files

import pandas as pd

SYSTEMS = ("icd9", "icd10")


def _read(name: str) -> pd.DataFrame:
    """Read one bundled table as text: codes keep their leading zeros."""
    with as_file(files("lvmkit_data") / name) as path:
        return pd.read_csv(path, dtype=str, keep_default_na=False)


@cache
def category_table(system: str) -> pd.DataFrame:
    """Categories of a system by code: title, block, chapter number and chapter title."""
    table = _read(f"{system}_categories.csv").set_index("category")
    titles = chapter_table(system)["title"]
    number = table["chapter"].astype(int)
    return pd.DataFrame(
        {
            "title": table["title"],
            "block": table["block"],
            "chapter_number": number,
            "chapter": titles.loc[number].to_numpy(),
        }
    )


@cache
def chapter_table(system: str) -> pd.DataFrame:
    """Chapters of a system by number: title, first and last category."""
    table = _read(f"{system}_chapters.csv")
    return table.assign(number=table["number"].astype(int)).set_index("number")


@cache
def code_titles(system: str) -> dict[str, str]:
    """Title of every category and of every longer code."""
    longer = _read(f"{system}_titles.csv.gz")
    titles = dict(zip(longer["code"], longer["title"], strict=True))
    return titles | category_table(system)["title"].to_dict()


@cache
def procedure_titles() -> dict[str, str]:
    """Title of every ICD-9-CM procedure, by code."""
    table = _read("icd9_procedures.csv.gz")
    return dict(zip(table["code"], table["title"], strict=True))


@cache
def ccs_groups(system: str) -> tuple[dict[str, str], dict[str, str]]:
    """AHRQ's CCS groups of ICD-9-CM: by code the group, by group its title."""
    table = _read("icd9_ccs.csv.gz")
    table = table[table["system"] == system]
    first = table.drop_duplicates("group")
    groups = dict(zip(table["code"], table["group"], strict=True))
    return groups, dict(zip(first["group"], first["title"], strict=True))
