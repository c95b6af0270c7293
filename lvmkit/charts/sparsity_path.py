"""Strength of the discriminants' entries along λ, and the number of selected entries."""

from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import apart, drawn, fitted, frame, margin, y_pixels
from lvmkit.charts._labels import number_text
from lvmkit.charts._log_axis import log_axis, on_log_axis, strips
from lvmkit.charts._modes import Labels, named_modes, strongest
from lvmkit.charts._panels import BELOW, RIGHT, extremes_layer, marked_points, title_layer
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns, require_parts, whole_numbers

_NORMS, _HEAD, _COUNTS = 230, 24, 60  # pixels: strengths, the line above them, numbers of entries
_MOST = 80  # lines; the weakest of more are left out
PENALTY_AXIS = "λ: how strongly entries are drawn to 0"


@checked(top=0)
def sparsity_path_table(
    path: Any,
    *,
    selected: int | None = None,
    hidden: Collection[int] = (),
    top: int = 8,
    mode_names: Sequence[str] | None = None,
    labels: Sequence[Labels | None] | None = None,
) -> pd.DataFrame:
    """Tabulate a path of tensor normal mixtures, one row per entry and λ.

    Parameters
    ----------
    path : PenaltyPath
        As made by `lvmkit.models.select_penalty`.
    selected : int, optional
        Place of the λ that is looked at; by default the one with the lowest BIC.
    hidden : collection of int, default=()
        Places whose strengths must not be shown; nothing else is found from them either.
    top : int, default=8
        Entries that are named: the strongest at the λ that is looked at, then those that stay longest.
    mode_names : sequence of str, optional
        What the modes are called.
    labels : sequence of (sequence of str or None), optional
        For each mode, what its places are called.

    Returns
    -------
    DataFrame
        entry (number, the last mode counted fastest), label, rank (0 is the strongest), named, step
        (place in the path), penalty, norm (over the clusters), n_selected, best, selected. Entries that
        are 0 everywhere are left out, and of more than 80 the weakest.

    Raises
    ------
    ValueError
        If there is no such λ, or names do not fit.

    Notes
    -----
    Mutoh 2023, section 2: λ multiplies the sum of the norms, so that an entry is 0 in all discriminants
    or in none.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> norms = np.array([[0.0, 0.0], [0.5, 0.0], [0.9, 0.2]])
    >>> path = SimpleNamespace(penalties=[2.0, 1.0, 0.5], entry_norms=norms, n_selected=[0, 1, 2], best=1)
    >>> sparsity_path_table(path)[["label", "penalty", "norm", "selected"]].head(3)
      label  penalty  norm  selected
    0     0      2.0   0.0     False
    1     0      1.0   0.5      True
    2     0      0.5   0.9     False
    """
    require_parts(path, "path", "select_penalty", "penalties entry_norms best")
    penalties = np.asarray(path.penalties, dtype=float)
    norms = np.array(path.entry_norms, dtype=float)
    norms[whole_numbers(list(hidden), "hidden")] = np.nan
    steps = len(penalties)
    at = int(path.best) if selected is None else int(selected)
    if not 0 <= at < steps:
        msg = f"selected={selected}; the path has places 0 to {steps - 1}"
        raise ValueError(msg)
    modes = named_modes(norms.shape[1:], mode_names, labels)
    flat = norms.reshape(steps, -1)
    known = np.nan_to_num(flat)
    alive = (known > 0).sum(axis=0)
    order = np.lexsort((-known.max(axis=0), -alive, -known[at]))
    order = order[alive[order] > 0][:_MOST]
    table = pd.DataFrame(
        {
            "entry": np.repeat(order, steps),
            "label": np.repeat(np.array([modes.entry(int(j)) for j in order], object), steps),
            "rank": np.repeat(np.arange(len(order)), steps),
            "step": np.tile(np.arange(steps), len(order)),
            "penalty": np.tile(penalties, len(order)),
            "norm": flat[:, order].T.ravel(),
            "n_selected": np.tile(np.asarray(path.n_selected), len(order)),
        }
    )
    table.insert(3, "named", table["rank"] < top)
    table.attrs = {
        "penalties": penalties.tolist(),
        "n_selected": [int(n) for n in path.n_selected],
        "best": int(path.best),
        "selected": at,
    }
    return table.assign(best=table["step"] == int(path.best), selected=table["step"] == at)


@checked(width=1)
def sparsity_path_chart(
    table: pd.DataFrame, *, width: int = 720, title: str = "", links: bool = True
) -> alt.LayerChart:
    """Draw the strength of each entry against λ, and the number of selected entries below.

    Parameters
    ----------
    table : DataFrame
        As made by `sparsity_path_table`.
    width : int, default=720
        Width of the picture, in pixels.
    title : str, default=""
        Heading; by default the λ that is looked at.
    links : bool, default=True
        Whether places of λ are links "#step=…".

    Returns
    -------
    altair.LayerChart
        λ grows to the right, on a logarithmic axis; named entries are blue.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> norms = np.array([[0.0, 0.0], [0.5, 0.0], [0.9, 0.2]])
    >>> path = SimpleNamespace(penalties=[2.0, 1.0, 0.5], entry_norms=norms, n_selected=[0, 1, 2], best=1)
    >>> sparsity_path_chart(sparsity_path_table(path)).to_dict()["title"]["text"]
    ['λ = 1: 1 entry']
    """
    floats = "penalty norm"
    flags = "named best selected"
    table = require_columns(
        table, text="label", whole="entry rank step n_selected", numbers=floats, flags=flags
    )
    steps = _steps(table)
    data = table.assign(at=on_log_axis(table["penalty"].to_numpy(dtype=float)))
    high = strongest(data["norm"].to_numpy(dtype=float))
    data["y"] = _HEAD + _NORMS * (1 - data["norm"] / high)
    data["color"] = np.where(data["named"], PICKED, NEUTRAL)
    data["opacity"] = np.where(data["named"], 1.0, 0.45)
    names = _names(data)
    left = margin(names["label"], width * 0.3, least=60)
    height = 2 * _HEAD + _NORMS + _COUNTS
    x, y = log_axis(steps["at"], PENALTY_AXIS), y_pixels("y", height)
    panels = pd.DataFrame({"y": [_HEAD, 2 * _HEAD + _NORMS], "y2": [_HEAD + _NORMS, height]})
    now = panels.assign(at=steps.loc[steps["selected"], "at"].iloc[0])
    color = alt.Color("color:N", scale=None, legend=None)
    line = drawn(data.dropna(subset=["norm"])).mark_line(strokeWidth=1.3, interpolate="linear")
    return frame(
        [
            title_layer(_panel_titles(width - left - RIGHT), height),
            drawn(now).mark_rule(color=OTHER).encode(x, y, alt.Y2("y2:Q")),
            line.encode(x, y, alt.Detail("entry:N"), color, alt.Opacity("opacity:Q", scale=None)),
            *_labels(names, left, height),
            drawn(steps)
            .mark_line(color=PICKED, strokeWidth=1.5, interpolate="linear")
            .encode(x, y),
            marked_points(steps[steps["best"] | steps["selected"]], x, height),
            extremes_layer(_counts(steps), height),
            *([strips(steps, x, height)] if links else []),
        ],
        title=title or str(steps.loc[steps["selected"], "hover"].iloc[0]),
        subtitle="Line: the λ that is looked at; large dot: lowest BIC. Names: the strongest entries there.",
        description="Line charts of the strength of entries, and of the number of selected entries, against λ.",
        width=width,
        height=height,
        left=left,
        right=RIGHT,
        below=BELOW,
    )


def penalty_text(penalty: float) -> str:
    """Write λ for readers."""
    return number_text(penalty)


def entries_text(n: int) -> str:
    """Write a number of entries."""
    return f"{n:,} {'entry' if n == 1 else 'entries'}"


def _steps(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per λ with its place, what is told of it, and the height of its number of entries."""
    known = table.attrs
    counts = np.asarray(known["n_selected"])
    penalties = np.asarray(known["penalties"], dtype=float)
    place = np.arange(len(counts))
    most = max(int(counts.max(initial=0)), 1)
    data = pd.DataFrame({"step": place, "n_selected": counts, "at": on_log_axis(penalties)})
    data["y"] = 2 * _HEAD + _NORMS + _COUNTS * (1 - counts / most)
    data["best"], data["selected"] = place == known["best"], place == known["selected"]
    data["color"] = np.where(data["selected"], OTHER, PICKED)
    data["size"] = np.where(data["best"], 110, 50)
    data["href"] = [f"#step={step}" for step in place]
    data["hover"] = [
        f"λ = {penalty_text(penalty)}: {entries_text(int(n))}"
        for penalty, n in zip(penalties, counts, strict=True)
    ]
    return data


def _names(data: pd.DataFrame) -> pd.DataFrame:
    """Return the named entries at the smallest λ, from top to bottom, moved apart."""
    named = data[data["named"]].dropna(subset=["norm"])
    rows = (
        named.sort_values("at", kind="stable")
        .drop_duplicates("entry")
        .sort_values("y", kind="stable")
    )
    return rows.assign(place=apart(rows["y"].to_numpy(dtype=float), _HEAD + _NORMS + 8))


def _labels(names: pd.DataFrame, left: int, height: float) -> list[alt.Chart]:
    """Write the names left of where their lines begin."""
    data = names[["place", "label"]].assign(
        text_label=[fitted(label, left - 14) for label in names["label"]]
    )
    text = drawn(data).mark_text(align="right", x=-8, color=INK, fontSize=TEXT_SIZE - 1)
    return [
        text.encode(y_pixels("place", height), alt.Text("text_label:N"), alt.Description("label:N"))
    ]


def _panel_titles(room: float) -> pd.DataFrame:
    """Return the lines above the two panels."""
    first = fitted("Strength of an entry: the norm of its discriminants over the clusters", room)
    second = fitted("Selected entries", room)
    return pd.DataFrame({"y": [10.0, _HEAD + _NORMS + 14.0], "text_head": [first, second]})


def _counts(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest number of entries, at their heights."""
    ends = steps.loc[[steps["n_selected"].idxmin(), steps["n_selected"].idxmax()]]
    ends = ends.drop_duplicates("n_selected")
    return pd.DataFrame({"y": ends["y"], "text_end": [f"{n:,}" for n in ends["n_selected"]]})
