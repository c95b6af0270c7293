"""Measured tensors with labels: serology, EEG, salaries, crime."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.core.typing import Array
from lvmkit.core.validation import check_matrix, listed, require_flag, require_text
from lvmkit.datasets._fetch import Remote, found, obtain

__all__ = [
    "LabelledTensor",
    "fetch_eeg",
    "fetch_faculty_salaries",
    "fetch_serology",
    "fetch_us_crime",
]

Names = npt.NDArray[np.str_]


def _kept(file: str, sha256: str) -> Remote:
    """Return a file that has to be brought by hand: its original is of R's own format, or was gathered."""
    return Remote("tensors", file, sha256, urls=(), convert=Path.read_bytes)


SEROLOGY = _kept(
    "covid19_serology.npz", "410271dcaa34038405415ae8f4aa03e15b2a74876d1ac8c3384dc4bd718af2f2"
)
SEROLOGY_PUBLISHED = Remote(
    folder="tensors",
    file="COVID19_data.npy",
    sha256="b1e2f72e0211f556c6c32cd66368a9a3c4ee521aed116d195fdadb07bf498aad",
    urls=(
        "https://raw.githubusercontent.com/tensorly/tensorly/9e10047eb22fd6e93735114c84490713c8ba792a/"
        "tensorly/datasets/data/COVID19_data.npy",
        "https://raw.githubusercontent.com/tensorly/tensorly/0.9.0/tensorly/datasets/data/COVID19_data.npy",
    ),
    convert=Path.read_bytes,
)
"""The same numbers as published, without names."""
EEG = _kept(
    "eeg_alcoholism.npz", "430ef76b638eb456f2eef882ba3584cd7293413a868c401a55d4d8325dc6fe75"
)
SALARIES = _kept(
    "faculty_salary.npz", "c8f132785c01212c2318828abb69f658c7047f16e62116a3d5682c141bba199b"
)
CRIME = _kept("us_crime.npz", "770660bfb17d9fbba00a9d9b6cb3843b18360308b52495dee457a6b6600db251")

ANTIGENS = ("S", "RBD", "N", "S1", "S2", "S1 Trimer")
RECEPTORS = (
    *("IgG1", "IgG2", "IgG3", "IgA1", "IgA2", "IgM"),
    *("FcRalpha", "FcR2A", "FcR2B", "FcR3A", "FcR3B"),
)
STATUS = {"Negative": 39, "Mild": 7, "Moderate": 122, "Severe": 196, "Deceased": 74}
"""How many samples of each status there are, in the order in which they lie."""
NOT_SCALP = ("X", "Y", "nd")
"""Channels of the eye and the reference."""
RATE_HZ = 256
GROUPS = {"a": "alcoholic", "c": "control"}
CONTROL = {"4-year private": "public", "4-year public": "private"}
"""What the labels of the file mean, which are the wrong way round."""
GENDERS, RANKS = ("Female", "Male"), ("Full", "Associate", "Assistant")
TOTALS = ("violent_crime_rate", "property_crime_rate")


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTensor:
    """Real-valued tensors, one per sample, with a name for every index and what is known of the samples.

    Parameters
    ----------
    values : array (n, p1, ..., pM)
        Numbers; the first axis is the sample.
    mode_names : tuple of str
        Name of each axis but the first, such as ("antigen", "receptor").
    labels : tuple of array of str
        For each of these axes a name per index.
    samples : DataFrame, default=empty
        Known attributes of the samples, one row for each.
    source : str, default=""
        Where the numbers come from.
    description : str, default=""
        What they are.

    Attributes
    ----------
    shape : tuple of int
        Samples, then the size of each mode.

    Raises
    ------
    ValueError
        If names, labels or samples do not fit the values, or a name occurs twice.

    Notes
    -----
    numpy takes it as its values, and so do the models. A selection of samples, such as ``tensor[mask]``, keeps names.

    Examples
    --------
    >>> tensor = LabelledTensor(np.ones((4, 2, 3)), ("test", "week"), (["IgG", "IgM"], [0, 2, 4]))
    >>> tensor
    LabelledTensor of 4 samples: 2 test × 3 week
    >>> tensor[:2].shape, tensor.labels[1].tolist()
    ((2, 2, 3), ['0', '2', '4'])
    """

    values: Array
    mode_names: tuple[str, ...]
    labels: tuple[Names, ...]
    samples: pd.DataFrame = field(default_factory=pd.DataFrame)
    source: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        """Check the parts against each other."""
        values = check_matrix(self.values, "values", allow_nd=True, least_rows=0, dtype=np.float64)
        for name in ("mode_names", "labels"):
            if not isinstance(getattr(self, name), (list, tuple, np.ndarray)):
                msg = f"{name} must be a tuple or list; found {type(getattr(self, name)).__name__}"
                raise TypeError(msg)
        if not isinstance(self.samples, pd.DataFrame):
            msg = f"samples must be a DataFrame; found {type(self.samples).__name__}"
            raise TypeError(msg)
        require_text(self.source, "source")
        require_text(self.description, "description")
        names = tuple(map(str, self.mode_names))
        labels = tuple(np.asarray(one).astype(str) for one in self.labels)
        if not len(names) == len(labels) == values.ndim - 1 or not names:
            msg = (
                f"mode_names has {len(names)} and labels {len(labels)} for values of shape {values.shape}; "
                "give one of each for every axis but the first."
            )
            raise ValueError(msg)
        _check_distinct("mode_names", names)
        for name, one, size in zip(names, labels, values.shape[1:], strict=True):
            if one.shape != (size,):
                msg = (
                    f"labels of {name!r} have shape {one.shape}; expected ({size},), one per index."
                )
                raise ValueError(msg)
            _check_distinct(f"labels of {name!r}", one)
        given = self.samples.shape != (0, 0)
        samples = self.samples if given else pd.DataFrame(index=range(len(values)))
        if len(samples) != len(values):
            msg = f"samples has {len(samples):,} rows for {len(values):,} samples; give each a row."
            raise ValueError(msg)
        parts = {"values": values, "mode_names": names, "labels": labels, "samples": samples}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples, then the size of each mode."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        sizes = " × ".join(
            f"{size} {name}" for size, name in zip(self.shape[1:], self.mode_names, strict=True)
        )
        return f"LabelledTensor of {len(self):,} samples: {sizes}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Give numpy the values."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, samples: Any) -> "LabelledTensor":
        """Return some samples, by mask, slice or list of numbers."""
        rows = np.atleast_1d(np.arange(len(self))[samples])
        chosen = self.values[rows], self.mode_names, self.labels, self.samples.iloc[rows]
        return LabelledTensor(*chosen, self.source, self.description)


def fetch_serology() -> LabelledTensor:
    """Return antibodies against parts of SARS-CoV-2 in the serum of 438 samples.

    How much antibody of a class, or binding to an Fc receptor, was measured for each antigen, on a logarithmic scale
    and centered: the mean of an entry over all samples is 0. Trap: many values are the floor of the assay, up to 57%
    of the samples for one entry (S1 Trimer, IgG2), so that entries are far from normal. The data are looked for in
    LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Returns
    -------
    LabelledTensor
        438 × 6 antigens × 11 receptors; ``samples``: status, ordered from Negative (39), Mild (7), Moderate (122) and
        Severe (196) to Deceased (74).

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one.

    Notes
    -----
    Zohar 2020, Cell 183; Tan 2021, Molecular Systems Biology 17; as in the Python package TensorLy, MIT
    license, Regents of the University of California.
    """
    path = found(SEROLOGY)
    values = _stored(path)["values"] if path else _array(obtain(SEROLOGY_PUBLISHED))
    status = np.repeat([*STATUS], [*STATUS.values()])
    samples = pd.DataFrame({"status": pd.Categorical(status, [*STATUS], ordered=True)})
    return LabelledTensor(
        values,
        ("antigen", "receptor"),
        (np.array(ANTIGENS), np.array(RECEPTORS)),
        samples,
        "COVID-19 systems serology: Zohar et al. 2020, Tan et al. 2021 (TensorLy, MIT)",
        "Antibodies and receptor binding by antigen in serum samples of five severities; logarithms, centered.",
    )


def fetch_eeg(*, scalp_only: bool = True) -> LabelledTensor:
    """Return electroencephalograms of alcoholics and controls after a picture was shown.

    99 trials of 20 subjects, each of one second: 10 alcoholics (49 trials) and 10 controls (50). Trials of a subject
    are not independent. There is no address to download the data from (the original is a file of R's): they are
    looked for in LVMKIT_DATA, then in the user's cache, and verified.

    Parameters
    ----------
    scalp_only : bool, default=True
        Leave out the channels X and Y (eye) and nd (reference), which are not on the scalp; X has the largest values.

    Returns
    -------
    LabelledTensor
        99 × 61 channels (64 of them with those of the eye and the reference) × 256 times, in microvolts, times
        named by their rounded milliseconds; ``samples``: group (alcoholic or control), subject, trial.

    Raises
    ------
    ConnectionError
        If the data are not on this machine.
    ValueError
        If the file found is not the published one.

    Notes
    -----
    UCI data set 121, H. Begleiter, Neurodynamics Laboratory, State University of New York at Brooklyn; Ingber 1997,
    Physical Review E 55; the stimulus S1 as in the R package eegkitdata, of which a trial given twice is left out.
    """
    require_flag(scalp_only, "scalp_only")
    parts = _stored(obtain(EEG))
    channels = parts["channel"]
    kept = ~np.isin(channels, NOT_SCALP) if scalp_only else np.full(len(channels), fill_value=True)
    times = np.round(np.arange(parts["voltage_uV"].shape[2]) * 1000 / RATE_HZ).astype(int)
    samples = pd.DataFrame(
        {
            "group": pd.Categorical([GROUPS[group] for group in parts["group"]]),
            "subject": parts["subject"],
            "trial": parts["trial"].astype(int),
        }
    )
    return LabelledTensor(
        parts["voltage_uV"][:, kept],
        ("channel", "millisecond"),
        (channels[kept], times.astype(str)),
        samples,
        "EEG Database (UCI 121; H. Begleiter, Neurodynamics Laboratory, SUNY Brooklyn)",
        "Microvolts by electrode and time, for one second after a picture (S1).",
    )


def fetch_faculty_salaries() -> LabelledTensor:
    """Return mean salaries of the faculty of 696 US universities by gender, rank and academic year.

    The R package that holds the data documents its axes as (Male, Female) and (Assistant, Associate, Full). The
    numbers run the other way: the second gender earns more in 83% of all cells, and the first rank more than the
    second in 99.6% and that more than the third in 98.1%. Labels here are therefore (Female, Male) and (Full,
    Associate, Assistant). Its control is reversed too, Yale being public and all 147 universities with "State
    University" in their names private: it is put right here. There is no address to download the data from (the
    original is a file of R's): they are looked for in LVMKIT_DATA, then in the user's cache, and verified.

    Returns
    -------
    LabelledTensor
        696 × 2 genders × 3 ranks × 13 years, in 10,000 US dollars; ``samples``: institution, control (401 public,
        295 private), carnegie (class), state.

    Raises
    ------
    ConnectionError
        If the data are not on this machine.
    ValueError
        If the file found is not the published one.

    Notes
    -----
    Chronicle of Higher Education, 2003/04 to 2015/16, as in the R package MatTransMix (GPL, at least 2).
    """
    parts = _stored(obtain(SALARIES))
    values = parts["salary_10kUSD"]
    years = [f"{2003 + i}/{(4 + i) % 100:02}" for i in range(values.shape[3])]
    samples = pd.DataFrame(
        {
            "institution": parts["institution"],
            "control": pd.Categorical([CONTROL[told] for told in parts["control"]]),
            "carnegie": pd.Categorical(parts["carnegie"]),
            "state": pd.Categorical(parts["state"]),
        }
    )
    return LabelledTensor(
        values,
        ("gender", "rank", "year"),
        (np.array(GENDERS), np.array(RANKS), np.array(years)),
        samples,
        "Chronicle of Higher Education (R package MatTransMix)",
        "Mean salaries in 10,000 US dollars; genders, ranks and control named as the numbers say.",
    )


def fetch_us_crime(*, population: bool = False, totals: bool = False) -> LabelledTensor:
    """Return rates of crimes in 236 US cities by kind and year, per 100,000 inhabitants.

    Two traps of the file: its first variable is no rate but the population, and two rates are sums of others (violent
    crime of murder, rape, robbery and assault; property crime of burglary, larceny and vehicle theft), so that the
    covariance of all is singular. Both are left out unless asked for. There is no address to download the data from
    (the original is a file of R's): they are looked for in LVMKIT_DATA, then in the user's cache, and verified.

    Parameters
    ----------
    population : bool, default=False
        Keep the population among the variables.
    totals : bool, default=False
        Keep the rates that are sums of others.

    Returns
    -------
    LabelledTensor
        236 × 7 variables (10 with all) × 13 years, 2000 to 2012; ``samples``: department (of police), state,
        population (mean of the years).

    Raises
    ------
    ConnectionError
        If the data are not on this machine.
    ValueError
        If the file found is not the published one.

    Notes
    -----
    Uniform Crime Reports, Federal Bureau of Investigation (public domain), as in the R package MatTransMix.
    """
    require_flag(population, "population")
    require_flag(totals, "totals")
    parts = _stored(obtain(CRIME))
    variables, values = parts["variable"], parts["rates"]
    left_out = [*(() if population else ("population",)), *(() if totals else TOTALS)]
    kept = ~np.isin(variables, left_out)
    people = values[:, variables == "population"].mean(axis=(1, 2))
    samples = pd.DataFrame(
        {
            "department": parts["department"],
            "state": pd.Categorical(parts["state"]),
            "population": people.round().astype(int),
        }
    )
    return LabelledTensor(
        values[:, kept],
        ("variable", "year"),
        (variables[kept], parts["year"].astype(str)),
        samples,
        "Uniform Crime Reports, 2000 to 2012 (FBI, public domain; R package MatTransMix)",
        "Reported crimes per 100,000 inhabitants of cities.",
    )


def _stored(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a file of numpy's, which holds no objects."""
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _array(path: Path) -> npt.NDArray[Any]:
    """Read the one array of a file of numpy's."""
    values: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    return values


def _check_distinct(what: str, names: Sequence[str] | Names) -> None:
    """Refuse names of which one occurs twice."""
    twice = pd.unique(pd.Series(names)[pd.Series(names).duplicated()])
    if len(twice):
        msg = f"{what}: {listed(twice)} occur more than once; give every index its own name."
        raise ValueError(msg)
