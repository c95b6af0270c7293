"""Days before and after an index date, such as that of a patient's first diagnosis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.cohorts._attributes import spelled_keys
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._filtering import known_modes
from lvmkit.cohorts._icd import FORMS, spell
from lvmkit.cohorts._sources import local_day
from lvmkit.cohorts._visits import EventTables
from lvmkit.core.validation import listed, require_number

ENDLESS = 10**6
"""Days; more would leave the calendar."""
Given = pd.Series | pd.DataFrame | str | Mapping[str, Iterable[str]]
Index = Given | None


@dataclass(frozen=True)
class Window:
    """Window of days: from `before` days before the index date to `after` days after it."""

    index: Index = None
    before: int | None = None
    after: int | None = None

    def __post_init__(self) -> None:
        """Keep codes as lists, which can be read twice."""
        if isinstance(self.index, Mapping):
            codes = {mode: _texts(codes) for mode, codes in self.index.items()}
            object.__setattr__(self, "index", codes)

    @property
    def limited(self) -> bool:
        """Whether the days matter, and not only whether there is an index date."""
        return self.before is not None or self.after is not None

    @property
    def needs_dates(self) -> bool:
        """Whether events must have a date."""
        return self.limited or isinstance(self.index, Mapping)

    def check(self, modes: tuple[str, ...], date: str | None) -> None:
        """Refuse a window without index date or dates, and limits that are no numbers of days."""
        for name, days in {"before": self.before, "after": self.after}.items():
            if days is not None:
                require_number(days, name, least=0, whole=True)
        if not isinstance(self.index, pd.Series | pd.DataFrame | str | Mapping | None):
            msg = (
                "index must be dates by patient (a Series or a table), the column of the dates, or codes by mode, such "
                f"as {{{modes[0]!r}: ['428']}}; found {type(self.index).__name__}."
            )
            raise TypeError(msg)
        if self.limited and self.index is None:
            msg = "before and after are days around an index date; pass index= too."
            raise ValueError(msg)
        if self.needs_dates and date is None:
            msg = "index needs the dates of the events; pass date=, the column that holds them."
            raise ValueError(msg)
        if isinstance(self.index, Mapping):
            known_modes("index", self.index, modes)

    def chosen(self) -> dict[str, Any]:
        """Return the options that are kept with the tensor, without dates of patients."""
        index = self.index if isinstance(self.index, str | Mapping) else "given"
        values = {"index": index, "before": self.before, "after": self.after}
        return {} if self.index is None else {k: v for k, v in values.items() if v is not None}


def within(
    visits: EventTables, codes: list[pd.DataFrame], window: Window, patient: str, repairs: Repairs
) -> tuple[EventTables, dict[int, str]]:
    """Leave out events outside the window and patients without index date; return the index date of the others."""
    if window.index is None:
        return visits, {}
    _make_starts(visits, codes, window.index, patient, repairs)
    dates = dict(visits.database.execute("SELECT i, CAST(day0 AS VARCHAR) FROM starts").fetchall())
    n = visits.one("SELECT count(DISTINCT i) FROM records")
    if not dates:
        msg = (
            f"no patient left: none of {number_of(n, 'patient')} has an index date by {_shown(window.index)}; "
            "dates are read as 2010-12-31 or 20101231, and ids as the events have them."
        )
        raise ValueError(msg)
    repairs.drop(
        "patients_without_index_date",
        n - len(dates),
        f"{n - len(dates):,} of {number_of(n, 'patient')} have no index date: left out.",
    )
    first = "'-infinity'" if window.before is None else f"day0 - {min(window.before, ENDLESS)}"
    last = "'infinity'" if window.after is None else f"day0 + {min(window.after, ENDLESS)}"
    visits.database.execute(
        f"CREATE TEMP TABLE windows AS SELECT i, CAST({first} AS DATE) AS since, "
        f"CAST({last} AS DATE) AS until FROM starts"
    )
    chosen = replace(visits, joined=(*visits.joined, "windows"))
    if not window.limited:
        return chosen, dates
    inside = replace(chosen, conditions=(*visits.conditions, "day BETWEEN since AND until"))
    counts = [
        sum(visits.one(f"SELECT count(*) FROM {v.rows(table)}") for table in visits.given)
        for v in (chosen, inside)
    ]
    repairs.drop("rows_outside_window", counts[0] - counts[1])
    return inside, dates


def _make_starts(
    visits: EventTables, codes: list[pd.DataFrame], index: Given, patient: str, repairs: Repairs
) -> None:
    """Make the table ``starts`` (i, day0) of the first index date of each patient that has one."""
    if isinstance(index, Mapping):
        dates = " UNION ALL ".join(_first_seen(visits, codes, index))
    elif isinstance(index, str):
        dates = f"SELECT i, {local_day('x')} AS day FROM entries JOIN records USING (p)"
    else:
        visits.database.register("given", _given(index, patient))
        known = "(SELECT DISTINCT t, i FROM records)"
        dates = f"SELECT i, {local_day('x')} AS day FROM given JOIN {known} USING (t)"
    visits.database.execute(
        "CREATE TEMP TABLE starts AS SELECT i, min(day) AS day0, min(day) <> max(day) AS differ "
        f"FROM ({dates}) WHERE day IS NOT NULL GROUP BY i"
    )
    if not isinstance(index, Mapping):
        n = visits.one("SELECT count(*) FROM starts WHERE differ")
        told = f"index gives several dates for {number_of(n, 'patient')}: the first is taken."
        repairs.drop("index_dates_ignored", n, told)


def _first_seen(
    visits: EventTables, codes: list[pd.DataFrame], index: Mapping[str, Iterable[str]]
) -> list[str]:
    """Return SQL of the days at which the codes named were seen."""
    names = [mode.name for mode in visits.modes]
    queries = []
    for name, wanted in index.items():
        mode = names.index(name)
        found = codes[mode][_meant(codes[mode], list(wanted))]
        if found.empty:
            plain = codes[mode]["system"].eq("other").all()
            hint = f" Beginnings of ICD codes need system={{{name!r}: 'icd9'}}." if plain else ""
            msg = (
                f"no patient left: index={{{name!r}: [{listed(wanted)}]}} names no code of the events, "
                f"such as {listed(codes[mode]['code'].unique())}.{hint}"
            )
            raise ValueError(msg)
        visits.database.register(
            f"wanted{mode}", pd.DataFrame({f"c{mode}": found["c"].astype(object)})
        )
        rows = visits.rows(f"{visits.table(mode)} JOIN wanted{mode} USING (c{mode})")
        queries.append(f"SELECT i, day FROM {rows}")
    return queries


def _meant(codes: pd.DataFrame, wanted: list[str]) -> npt.NDArray[np.bool_]:
    """Tell which codes are wanted: of ICD those that begin with one of them, else equal ones; or their group is."""
    found = codes["group"].isin(wanted) | codes["code"].isin(wanted)
    for system in set(codes["system"]) & set(FORMS):
        starts = tuple(spell(text, system).code or text for text in wanted)
        found |= (codes["system"] == system) & codes["code"].str.startswith(starts)
    return found.to_numpy()


def _texts(codes: Iterable[str]) -> list[str]:
    """Return codes as a list of text, also if there is only one; none is blank."""
    if not isinstance(codes, Iterable):
        msg = f"index must have lists of codes by mode; found {codes!r} ({type(codes).__name__})."
        raise TypeError(msg)
    texts = [codes] if isinstance(codes, str) else map(str, codes)
    return [text.strip() for text in texts if text.strip()]


def _given(index: "pd.Series[Any] | pd.DataFrame", patient: str) -> pd.DataFrame:
    """Return index dates as text, with patients spelled as in the events."""
    frame = index.to_frame("date") if isinstance(index, pd.Series) else index
    keyed = frame.set_index(patient) if patient in frame.columns else frame
    if keyed.shape[1] != 1:
        msg = (
            f"index has {number_of(keyed.shape[1], 'column')} beside the patients; expected one, the date. "
            f"Patients are its column {patient!r} or its index."
        )
        raise ValueError(msg)
    texts = keyed.iloc[:, 0].map(str, na_action="ignore").astype(object)
    return pd.DataFrame({"t": spelled_keys(keyed.index, "index"), "x": texts.to_numpy()})


def _shown(index: Index) -> str:
    """Name an index in a message, without its values."""
    return (
        f"index={index!r}"
        if isinstance(index, str | Mapping)
        else f"the {type(index).__name__} index"
    )
