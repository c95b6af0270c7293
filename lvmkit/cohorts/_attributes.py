"""Row attributes of a cohort: age, sex, stay and the like, one value per record."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._sources import SourceTable, opened, trimmed
from lvmkit.cohorts._time_zones import quoted
from lvmkit.core.validation import listed

Records = npt.NDArray[np.object_]


def from_columns(
    table: SourceTable, columns: Sequence[str], record: str, ids: Records, repairs: Repairs
) -> pd.DataFrame:
    """Read columns of the source; where a record's rows differ the smallest value is kept and stated."""
    if not columns:
        return pd.DataFrame(index=pd.Index(ids, dtype=object))
    values = [column_value(table, column) for column in columns]
    named = ", ".join(f"{v} AS v{i}" for i, v in enumerate(values))
    smallest = ", ".join(f"min(v{i}) AS a{i}" for i in range(len(values)))
    differs = ", ".join(f"min(v{i}) <> max(v{i}) AS b{i}" for i in range(len(values)))
    frame = table.database.execute(
        f"SELECT {smallest}, {differs} FROM (SELECT {record} AS p, {named} FROM {table.relation}) "
        "JOIN records USING (p) GROUP BY i ORDER BY i"
    ).df()
    for i, column in enumerate(columns):
        n = int(frame[f"b{i}"].fillna(value=False).sum())
        if n:
            repairs.tell(
                f"attribute {column!r} differs between the rows of {number_of(n, 'record')}: "
                "the smallest value is kept."
            )
    chosen = frame[[f"a{i}" for i in range(len(columns))]].set_axis(list(columns), axis=1)
    return typed(chosen).set_index(pd.Index(ids, dtype=object))


def column_value(table: SourceTable, column: str) -> str:
    """Return SQL of a column's value; a text column that holds only numbers is read as numbers."""
    name = quoted(column)
    if table.kinds[column] != "text":
        return name
    text = trimmed(f"CAST({name} AS VARCHAR)")
    # a leading zero marks an identifier, such as a postal code, that must stay text
    not_number = (
        f"TRY_CAST({text} AS DOUBLE) IS NULL OR isnan(TRY_CAST({text} AS DOUBLE)) "
        f"OR regexp_matches({text}, '^[-+]?0[0-9]')"
    )
    texts, values = table.database.execute(
        f"SELECT count(*) FILTER ({text} IS NOT NULL AND ({not_number})), count({text}) "
        f"FROM (SELECT DISTINCT {name} FROM {table.relation})"
    ).fetchall()[0]
    return f"CAST({text} AS DOUBLE)" if values and not texts else text


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give whole numbers and texts the types that a table of records should have."""
    columns = {name: _typed_column(frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index)


def _typed_column(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Whole numbers as integers, texts as categories, spans and periods as their texts."""
    held = values.cat.categories.dtype if hasattr(values, "cat") else values.dtype
    if isinstance(held, pd.IntervalDtype | pd.PeriodDtype):
        if not hasattr(values, "cat"):
            values = values.astype("category")
        return values.cat.rename_categories([str(name) for name in values.cat.categories])
    if pd.api.types.is_float_dtype(values.dtype) and values.notna().all():
        whole = (values == np.floor(values)).all() and values.abs().max() < 2**53
        return values.astype(np.int64) if whole else values
    if values.dtype == object or pd.api.types.is_string_dtype(values.dtype):
        texts = values.map(str, na_action="ignore")
        return texts.astype(pd.CategoricalDtype(sorted(set(texts.dropna()))))
    return values


def from_table(
    source: pd.DataFrame | str | Path | None,
    patient: str,
    ids: Records,
    repairs: Repairs,
    encoding: str,
) -> pd.DataFrame:
    """Read a table of one row per patient, keyed by the column `patient` or by its index."""
    if source is None:
        return pd.DataFrame(index=pd.Index(ids, dtype=object))
    frame = (
        source if isinstance(source, pd.DataFrame) else _read(source, patient, encoding, repairs)
    )
    keyed = frame.set_index(patient) if patient in frame.columns else frame
    keyed = keyed.set_axis(spelled_keys(keyed.index, "attributes"))
    repeated = keyed.index[keyed.index.duplicated()].unique()
    if len(repeated):
        msg = f"attributes has several rows for {listed(repeated.tolist())}; keep one row per patient."
        raise ValueError(msg)
    known = keyed.index.isin(ids)
    _state_missing(len(ids) - int(known.sum()), len(ids), int((~known).sum()), repairs)
    if not known.any():
        msg = (
            f"attributes: none of its keys ({listed(keyed.index[:5].tolist())}) is a patient of the events "
            f"({listed(ids[:5])}); "
            f"give it a column {patient!r} or the patient ids as index."
        )
        raise ValueError(msg)
    return typed(keyed.reindex(pd.Index(ids, dtype=object)))


def spelled_keys(keys: "pd.Index[Any]", argument: str) -> "pd.Index[Any]":
    """Spell keys as the ids of events are spelled: whole numbers without a decimal point, no blanks around."""
    with opened(pd.DataFrame({"key": keys})) as table:
        text = trimmed(table.ids(argument, "key"))
        texts = table.database.execute(f"SELECT {text} AS t FROM {table.relation}").df()["t"]
    return pd.Index(texts, dtype=object)


def _state_missing(without: int, n: int, unused: int, repairs: Repairs) -> None:
    """State records without attributes and attributes without records."""
    if without:
        repairs.tell(
            f"{without:,} of {number_of(n, 'record')} have no row in attributes: left missing."
        )
    repairs.drop(
        "attributes_without_record",
        unused,
        f"{number_of(unused, 'row')} of attributes belong to no patient of the events: ignored.",
    )


def _read(source: str | Path, patient: str, encoding: str, repairs: Repairs) -> pd.DataFrame:
    """Read a table of attributes from a file."""
    try:
        with opened(source, encoding=encoding) as table:
            table.check("attributes", patient)
            table.state_zones(table.kinds, repairs)
            values = ", ".join(
                f"{table.ids('attributes', c) if c == patient else column_value(table, c)} AS {quoted(c)}"
                for c in table.kinds
            )
            return table.database.execute(f"SELECT {values} FROM {table.relation}").df()
    except (ValueError, OSError) as error:
        told = str(error)
        if not told.startswith("source"):
            raise
        msg = f"attributes{told.removeprefix('source')}"
        raise type(error)(msg) from error
