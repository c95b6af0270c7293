"""Trips of Oslo's city bikes by station, year, month, day of the week and hour."""

from calendar import day_name, month_name
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from lvmkit.cohorts.tensors import CountTensor
from lvmkit.datasets._fetch import Remote, found, obtain

__all__ = ["fetch_oslo_bike"]

SOURCE = "https://raw.githubusercontent.com/tensorly/viz"
COUNTS = Remote(
    folder="oslo_bike",
    file="oslo_bike_counts.npz",
    sha256="8364451f598977d1edf00470b29cc7250e4b2d1e58b35a3cad5a31a8b0e7d4e0",
    urls=(),
    convert=Path.read_bytes,
)
PUBLISHED = Remote(
    folder="oslo_bike",
    file="oslo_bike.nc4",
    sha256="0b1eabb6818d43b0c41196c0b2d679465988c347a8895529a4a19809f1a9d8d4",
    urls=(
        f"{SOURCE}/v0.1.1/src/tlviz/datasets/oslo_bike.nc4",
        f"{SOURCE}/847afc78e9172059fddaf5abdcdc9c0fafd66bb4/src/tlvis/datasets/oslo_bike.nc4",
    ),
    convert=Path.read_bytes,
)
"""The same counts as published by the Python package TLViz, as NetCDF 3."""
MODES = ("station", "year", "month", "weekday", "hour")


def fetch_oslo_bike() -> CountTensor:
    """Return how many trips of Oslo's city bikes ended at each station, in 2020 and 2021.

    A real tensor of order five, 270 × 2 × 12 × 7 × 24, without patients: 3,115,334 trips in 524,979 cells. The data are
    looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Returns
    -------
    CountTensor
        Modes station, year, month, weekday and hour; ``obs``, by station: lat and lon.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one.

    Notes
    -----
    Contains data from Oslo Bysykkel under the Norwegian Licence for Open Government Data (NLOD) 2.0, as gathered
    by the Python package TLViz 0.1.1.
    """
    path = found(COUNTS)
    parts = _stored(path) if path else _published(obtain(PUBLISHED))
    titles = {
        "year": parts["year"],
        "month": [month_name[month] for month in parts["month"]],
        "weekday": [day_name[day] for day in parts["day_of_week"]],
        "hour": [f"{hour:02}:00" for hour in parts["hour"]],
    }
    codes = {**parts, "weekday": parts["day_of_week"]}
    obs = pd.DataFrame({"lat": parts["lat"], "lon": parts["lon"]}, index=parts["station"])
    labels = [
        pd.DataFrame({"title": list(map(str, titles[mode]))}, index=list(map(str, codes[mode])))
        for mode in MODES[1:]
    ]
    source = "Oslo Bysykkel, trips 2020 to 2021 (NLOD 2.0)"
    return CountTensor(sparse.coo_array(parts["counts"]), MODES, (obs, *labels), source)


def _stored(path: Path) -> dict[str, Any]:
    """Read arrays of a file of numpy's."""
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def _published(path: Path) -> dict[str, Any]:
    """Read the same arrays as published."""
    from scipy.io import netcdf_file

    names = {"Year": "year", "Month": "month", "Day of week": "day_of_week", "Hour": "hour"}
    names |= {"lat": "lat", "lon": "lon", "Bike trips": "counts"}
    with netcdf_file(path, mmap=False) as file:
        parts = {key: np.array(file.variables[name].data) for name, key in names.items()}
        letters = file.variables["End station name"].data
    station = [row.tobytes().rstrip(b"\0 ").decode() for row in letters]
    counts = parts["counts"].astype(np.int64)
    return {**parts, "counts": counts, "station": np.array(station)}
