"""Rebuild the diagnosis-code tables of lvmkit_data from their public sources.

Run as ``LVMKIT_DATA=... python data/make_code_tables.py``. ICD-9-CM comes from the folder ``icd9`` of
LVMKIT_DATA; ICD-10-CM from the CDC's tabular list inside the package simple-icd-10-cm 1.5.0 (MIT;
the list itself is a work of the US government), installed for this run only:
``pip install simple-icd-10-cm==1.5.0``.
"""

import gzip
import os
import re
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parent / "lvmkit_data"
RANGE = re.compile(r"\s*\((\w+)(?:-(\w+))?\)$")


def write(table: pd.DataFrame, name: str) -> None:
    """Write one table so that the same input gives the same bytes."""
    text = table.to_csv(index=False, lineterminator="\n")
    path = TARGET / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    else:
        path.write_text(text)
    print(f"{name}: {len(table):,} rows, {path.stat().st_size:,} bytes")


def icd9(source: Path) -> None:
    """ICD-9-CM: categories with block and chapter, chapters, titles of every code."""
    read = {"dtype": str, "keep_default_na": False}
    categories = pd.read_csv(source / "icd9_categories.csv", **read).rename(
        columns={"category_title": "title", "sub_chapter": "block"}
    )
    categories["chapter"] = categories["chapter_number"]
    write(categories[["category", "title", "block", "chapter"]], "icd9_categories.csv")
    write(pd.read_csv(source / "icd9_chapters.csv", **read), "icd9_chapters.csv")
    codes = pd.read_csv(source / "icd9cm_dx.csv.gz", **read)
    codes = codes.loc[codes["code"] != codes["category"], ["code", "long_title"]]
    write(codes.rename(columns={"long_title": "title"}), "icd9_titles.csv.gz")
    procedures = pd.read_csv(source / "icd9cm_procedures.csv.gz", **read)
    titled = procedures[["code", "long_title"]].rename(columns={"long_title": "title"})
    write(titled, "icd9_procedures.csv.gz")


def ccs(source: Path) -> None:
    """Clinical Classifications Software: the group of every diagnosis and procedure of ICD-9-CM."""
    read = {"dtype": str, "keep_default_na": False}
    volumes = [
        pd.read_csv(source / f"ccs_{volume}_2015.csv.gz", **read).assign(system=system)
        for volume, system in (("dx", "icd9"), ("proc", "icd9procedure"))
    ]
    columns = {"ccs": "group", "ccs_title": "title"}
    groups = pd.concat(volumes).rename(columns=columns)[["system", "code", "group", "title"]]
    groups["title"] = groups["title"].str.replace("`", "'")
    write(groups, "icd9_ccs.csv.gz")


def innermost_blocks(chapter: ET.Element) -> dict[str, str]:
    """Title of the innermost section that holds each category (sections repeat in outer ones)."""
    blocks = {}
    for section in chapter.findall("section"):
        title = RANGE.sub("", section.findtext("desc", "")).strip()
        for entry in section.findall("diag"):
            blocks[entry.findtext("name", "")] = title
    return blocks


def descend(entry: ET.Element) -> list[tuple[str, str]]:
    """Every code below one entry, without its dot, with its title."""
    pairs = []
    for child in entry.findall("diag"):
        pairs.append((child.findtext("name", "").replace(".", ""), child.findtext("desc", "")))
        pairs.extend(descend(child))
    return pairs


def icd10() -> None:
    """ICD-10-CM: the same three tables from the CDC's tabular list."""
    folder = files("simple_icd_10_cm") / "data"
    [path] = [p for p in folder.iterdir() if p.name.endswith(".xml")]
    chapters, categories, titles = [], [], []
    for chapter in ET.fromstring(path.read_bytes()).findall("chapter"):
        number, heading = chapter.findtext("name", ""), chapter.findtext("desc", "")
        start, end = RANGE.search(heading).groups()
        chapters.append((number, RANGE.sub("", heading), start, end))
        blocks = innermost_blocks(chapter)
        for entry in chapter.findall("section/diag"):
            code = entry.findtext("name", "")
            categories.append((code, entry.findtext("desc", ""), blocks[code], number))
            titles.extend(descend(entry))
    write(
        pd.DataFrame(categories, columns=["category", "title", "block", "chapter"])
        .drop_duplicates("category")
        .sort_values("category"),
        "icd10_categories.csv",
    )
    write(pd.DataFrame(chapters, columns=["number", "title", "start", "end"]), "icd10_chapters.csv")
    write(
        pd.DataFrame(titles, columns=["code", "title"]).drop_duplicates("code").sort_values("code"),
        "icd10_titles.csv.gz",
    )


if __name__ == "__main__":
    icd9(Path(os.environ["LVMKIT_DATA"]) / "icd9")
    ccs(Path(os.environ["LVMKIT_DATA"]) / "icd9")
    icd10()
