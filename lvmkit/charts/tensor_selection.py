"""BIC, and the error rate where the truth is known, against λ or the number of clusters."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import apart, drawn, frame, margin, y_pixels
from lvmkit.charts._labels import counted
from lvmkit.charts._log_axis import log_axis, on_log_axis, strips
from lvmkit.charts._panels import (
    BELOW,
    RIGHT,
    Panels,
    extremes_layer,
    marked_points,
    number_axis,
    title_layer,
)
from lvmkit.charts.sparsity_path import PENALTY_AXIS, entries_text, penalty_text
from lvmkit.charts.theme import CATEGORIES, INK, OTHER, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import check_classes, require_columns, require_parts
from lvmkit.scores import error_rate

_PANELS = Panels("quantity", title=24, panel=96)
_HUES = tuple(CATEGORIES[i] for i in (0, 2, 3, 4))  # orange marks the model that is looked at
_TITLES = {"bic": "BIC: lower is better", "error_rate": "Error rate: lower is better"}


@checked()
def tensor_selection_table(
    found: Any, *, truth: npt.ArrayLike | None = None, selected: tuple[int, int] | None = None
) -> pd.DataFrame:
    """Tabulate BIC, and the error rate where the truth is known, one row per quantity and model.

    Parameters
    ----------
    found : PenaltyPath or result of `lvmkit.models.select_tensor_components`
        One path of λ, or one for each number of clusters.
    truth : array (n,), optional
        Known class of each sample.
    selected : (int, int), optional
        Number of clusters and place in its path of the model that is looked at; by default the one that
        is recommended.

    Returns
    -------
    DataFrame
        quantity ("bic" and, with `truth`, "error_rate"), n_components, step (place in the path),
        penalty, n_selected, value, best (lowest of its number of clusters; of the error rate that with
        the lowest BIC), selected.

    Raises
    ------
    ValueError
        If `truth` does not have one value for each sample, or there is no such model.

    Notes
    -----
    Mutoh 2023, section 4: K and λ are chosen by BIC.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(penalties=[2.0, 1.0], bic=[90.0, 80.0], n_selected=[1, 3], best=1)
    >>> path.weights, path.labels = [[0.5, 0.5]] * 2, [[0, 0, 1], [0, 1, 1]]
    >>> tensor_selection_table(path, truth=[0, 1, 1])[["quantity", "penalty", "value", "best"]]
         quantity  penalty      value   best
    0         bic      2.0  90.000000  False
    1         bic      1.0  80.000000   True
    2  error_rate      2.0   0.333333  False
    3  error_rate      1.0   0.000000   True
    """
    paths = paths_of(found)
    k = int(found.best) if hasattr(found, "paths") else next(iter(paths))
    chosen = (k, int(paths[k].best)) if selected is None else selected
    if chosen[0] not in paths or not 0 <= chosen[1] < len(paths[chosen[0]].penalties):
        msg = f"selected={selected} is no model; n_components are {', '.join(map(str, paths))}"
        raise ValueError(msg)
    known_classes = None if truth is None else _classes(truth, paths)
    parts = []
    for k, path in paths.items():
        known = {"bic": np.asarray(path.bic, dtype=float)}
        if known_classes is not None:
            rates = [error_rate(known_classes, labels) for labels in path.labels]
            known["error_rate"] = np.array(rates)
        for quantity, value in known.items():
            part: dict[str, Any] = {"quantity": quantity, "n_components": k}
            part |= {"step": np.arange(len(value)), "penalty": np.asarray(path.penalties, float)}
            part |= {"n_selected": np.asarray(path.n_selected), "value": value}
            table = pd.DataFrame(part).assign(best=np.arange(len(value)) == int(path.best))
            parts.append(table.assign(selected=(k == chosen[0]) & (table["step"] == chosen[1])))
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values("quantity", kind="stable", ignore_index=True)


@checked(width=1)
def tensor_selection_chart(
    table: pd.DataFrame, *, against: str | None = None, width: int = 480, links: bool = True
) -> alt.LayerChart:
    """Draw BIC and error rate against λ, a line for each number of clusters, or against that number.

    Parameters
    ----------
    table : DataFrame
        As made by `tensor_selection_table`.
    against : {"penalty", "n_components"}, optional
        What runs across; by default the number of clusters where there are several, of each the
        best λ.
    width : int, default=480
        Width of the picture, in pixels.
    links : bool, default=True
        Whether models are links: "#step=…" of the λ of the model that is looked at, or
        "#components=…".

    Returns
    -------
    altair.LayerChart
        One panel for each quantity.

    Raises
    ------
    ValueError
        If `against` is neither.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(penalties=[2.0, 1.0], bic=[90.0, 80.0], n_selected=[1, 3], best=1)
    >>> path.weights, path.labels = [[0.5, 0.5]] * 2, [[0, 0, 1], [0, 1, 1]]
    >>> tensor_selection_chart(tensor_selection_table(path)).to_dict()["title"]["text"]
    ['2 clusters, λ = 1: 3 entries']
    """
    table = require_columns(
        table,
        text="quantity",
        whole="n_components step n_selected",
        numbers="penalty value",
        flags="best selected",
        rows=1,
        choices={"quantity": _TITLES},
    )
    several = table["n_components"].nunique() > 1
    across = against or ("n_components" if several else "penalty")
    if across not in ("penalty", "n_components"):
        msg = f'against is "penalty" or "n_components"; found {against!r}'
        raise ValueError(msg)
    over_k = across == "n_components"
    shown = table[table["best"] | table["selected"]] if over_k else table
    data = _with_positions(shown, over_k=over_k)
    height = _PANELS.height(data)
    ends = _PANELS.extremes(data, _number)
    left = margin(ends["text_end"], width * 0.3, least=48)
    right = RIGHT if over_k or not several else 96
    titles = _PANELS.titles(data, lambda name, _: _TITLES[name], width - left - right)
    numbers = table["n_components"]
    x = log_axis(data["at"], PENALTY_AXIS)
    if over_k:
        x = number_axis(numbers, "clusters", field="at", pad=0.04)
    lines = drawn(data[data["best"]] if over_k else data).mark_line(
        strokeWidth=1.5, interpolate="linear"
    )
    hue = alt.Color("hue:N", scale=None, legend=None)
    return frame(
        [
            title_layer(titles, height),
            extremes_layer(ends, height),
            lines.encode(x, y_pixels("y", height), alt.Detail("line:N"), hue),
            *([] if right == RIGHT else _tails(data, x, height)),
            marked_points(data[data["best"] | data["selected"]], x, height),
            *(_links(data, height, x, over_k=over_k) if links else []),
        ],
        title=_title(table),
        subtitle="Orange: the model that is looked at; large dots: lowest BIC"
        + (" of each number of clusters." if several else "."),
        description=f"Line charts of BIC against {'the number of clusters' if over_k else 'λ'}.",
        width=width,
        height=height,
        left=left,
        right=right,
        below=BELOW,
    )


def _classes(truth: npt.ArrayLike, paths: Mapping[int, Any]) -> Any:
    """Return the numbers of the known classes (n,)."""
    n = len(next(iter(paths.values())).labels[0])
    if np.shape(truth) != (n,):
        msg = f"truth must be the class of each of the {n} samples; found shape {np.shape(truth)}"
        raise ValueError(msg)
    return np.unique(check_classes(truth, n), return_inverse=True)[1]


def paths_of(found: Any) -> Mapping[int, Any]:
    """Return the path of each number of clusters."""
    paths = getattr(found, "paths", None)
    if paths is not None:
        return {int(k): path for k, path in sorted(paths.items())}
    require_parts(found, "found", "select_penalty or select_tensor_components", "weights penalties")
    return {len(found.weights[0]): found}


def _with_positions(table: pd.DataFrame, *, over_k: bool) -> pd.DataFrame:
    """Add places in pixels, hues and sizes."""
    data = _PANELS.with_positions(table.dropna(subset=["value"]), flat=0.0)
    data["at"] = (
        data["n_components"] if over_k else on_log_axis(data["penalty"].to_numpy(dtype=float))
    )
    places, numbers = pd.factorize(data["n_components"], sort=True)
    hues = [_HUES[i % len(_HUES)] for i in range(len(numbers))]
    data["hue"] = PICKED if over_k or len(numbers) == 1 else [hues[i] for i in places]
    data["color"] = np.where(data["selected"], OTHER, data["hue"])
    data["size"] = np.where(data["best"], 110, 50)
    data["line"] = [
        quantity if over_k else f"{quantity} {k}"
        for quantity, k in zip(data["quantity"], data["n_components"], strict=True)
    ]
    return data


def _links(data: pd.DataFrame, height: float, x: alt.X, *, over_k: bool) -> list[alt.Chart]:
    """Make models links: each number of clusters, or each λ of the number that is looked at."""
    if over_k:
        dots = data[data["best"] & (data["quantity"] == "bic")].copy()
        dots["href"] = [f"#components={k}" for k in dots["n_components"]]
        dots["hover"] = [_model(row) for row in dots.itertuples()]
        point = drawn(dots).mark_point(filled=True, opacity=0, size=600)
        place = (x, y_pixels("y", height))
        return [point.encode(*place, alt.Href("href:N"), alt.Description("hover:N"))]
    now = int(data.loc[data["selected"], "n_components"].iloc[0])
    steps = data[(data["n_components"] == now) & (data["quantity"] == "bic")].copy()
    steps["href"] = [f"#step={step}" for step in steps["step"]]
    steps["hover"] = [_model(row) for row in steps.itertuples()]
    return [strips(steps, x, height)]


def _tails(data: pd.DataFrame, x: alt.X, height: float) -> list[alt.Chart]:
    """Name each line right of the first panel, behind a square of its color: lines may meet at their ends."""
    first = data[data["quantity"] == data["quantity"].iloc[0]]
    last = first.loc[first.groupby("n_components")["at"].idxmax()].sort_values("y", kind="stable")
    top = float(last["top"].iloc[0])
    last["place"] = top + apart(last["y"].to_numpy(dtype=float) - top, _PANELS.panel)
    last["at"] = data["at"].max()  # below each other, right of all lines
    last["text_tail"] = [counted(k, "cluster") for k in last["n_components"]]
    square = drawn(last).mark_point(filled=True, shape="square", size=60, opacity=1, xOffset=14)
    named = drawn(last).mark_text(align="left", dx=24, color=INK, fontSize=TEXT_SIZE - 1)
    place = (x, y_pixels("place", height))
    return [
        square.encode(*place, alt.Color("hue:N", scale=None, legend=None)),
        named.encode(*place, alt.Text("text_tail:N")),
    ]


def _number(quantity: str, value: float) -> str:
    """Write a value for readers."""
    return f"{value:,.1f}".replace("-", "−") if quantity == "bic" else f"{value:.3f}"


def _title(table: pd.DataFrame) -> str:
    """Name the model that is looked at."""
    return _model(table[table["selected"]].iloc[0])


def _model(row: Any) -> str:
    """Name a model."""
    k = int(row.n_components)
    return f"{counted(k, 'cluster')}, λ = {penalty_text(row.penalty)}: {entries_text(int(row.n_selected))}"
