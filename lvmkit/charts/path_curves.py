"""Small multiples along ν: number of clusters, marginal likelihood and accuracy."""

from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, frame, margin, y_pixels
from lvmkit.charts._labels import counted
from lvmkit.charts._log_axis import log_axis, on_log_axis, strips
from lvmkit.charts._panels import BELOW, RIGHT, Panels, extremes_layer, marked_points, title_layer
from lvmkit.charts.theme import OTHER, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.validation import as_finite, require_columns, require_parts

_PANELS = Panels("quantity", title=24, panel=60, gap=12)
_AXIS = "ν: how strongly similar covariates are pulled together"
_TITLES = {
    "clusters": "Clusters",
    "marginal_likelihood": "Log marginal likelihood",
    "accuracy": "Accuracy on the training data",
    "held_out": "Accuracy on other data",
    "cross_validation": "Cross-validation",
}
_HINTS = {
    "clusters": "fewer are easier to read",
    "marginal_likelihood": "higher is better",
    "accuracy": "of the model on clusters",
    "held_out": "higher is better",
    "cross_validation": "mean and one standard error",
}


@checked()
def path_curves_table(
    path: Any, *, selected: int | None = None, held_out: npt.ArrayLike | None = None
) -> pd.DataFrame:
    """Tabulate a path of clusterings, one row per quantity and solution.

    Parameters
    ----------
    path : CovariateClusterPath
        As made by `lvmkit.models.covariate_path`.
    selected : int, optional
        Place of the solution that is looked at; by default that with the highest marginal likelihood.
    held_out : array (len(path),), optional
        Accuracies on other data: `path.score(X, y)`.

    Returns
    -------
    DataFrame
        quantity ("clusters", "marginal_likelihood", "accuracy" and, where known, "held_out" and "cross_validation"),
        step (place in the path), nu, n_clusters, value, low and high (a standard error down and up), best (of this
        quantity), selected.

    Raises
    ------
    ValueError
        If there is no such solution, or `held_out` does not have one number for each.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(nus=[0.1, 1.0], n_clusters=[3, 1], log_marginal_likelihoods=[-9.0, -8.0], best=1)
    >>> path.accuracies, path.cross_validation = [0.9, 0.8], None
    >>> path_curves_table(path)[["quantity", "step", "value", "best", "selected"]].head(2)
       quantity  step  value   best  selected
    0  clusters     0    3.0  False     False
    1  clusters     1    1.0  False      True
    """
    require_parts(path, "path", "covariate_path", "nus n_clusters best")
    nus = np.asarray(path.nus, dtype=float)
    at = int(path.best) if selected is None else int(selected)
    if not 0 <= at < len(nus):
        msg = f"selected={selected}; the path has solutions 0 to {len(nus) - 1}"
        raise ValueError(msg)
    known: dict[str, tuple[Any, Any, int | None]] = {
        "clusters": (path.n_clusters, 0.0, None),
        "marginal_likelihood": (path.log_marginal_likelihoods, 0.0, int(path.best)),
        "accuracy": (path.accuracies, 0.0, None),
    }
    if held_out is not None:
        other = as_finite(held_out, "held_out")
        if other.shape != nus.shape:
            msg = f"held_out needs one accuracy for each of the {len(nus)} solutions; found shape {other.shape}"
            raise ValueError(msg)
        known["held_out"] = (other, 0.0, None)
    if path.cross_validation is not None:
        tried = path.cross_validation
        known["cross_validation"] = (tried.mean, np.asarray(tried.std_error), int(tried.chosen))
    parts = []
    for quantity, (given, error, best) in known.items():
        value = np.asarray(given, dtype=float)
        part: dict[str, Any] = {"quantity": quantity, "step": np.arange(len(nus)), "nu": nus}
        part |= {"n_clusters": np.asarray(path.n_clusters), "value": value}
        part |= {"low": value - error, "high": value + error}
        part |= {"best": part["step"] == best, "selected": part["step"] == at}
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


@checked(width=1)
def path_curves_chart(
    table: pd.DataFrame, *, width: int = 560, title: str = "", links: bool = True
) -> alt.LayerChart:
    """Draw each quantity against ν, with the selected solution marked.

    Parameters
    ----------
    table : DataFrame
        As made by `path_curves_table`.
    width : int, default=560
        Width of the picture, in pixels.
    title : str, default=""
        Heading; by default the solution that is selected.
    links : bool, default=True
        Whether places of solutions are links "#step=…".

    Returns
    -------
    altair.LayerChart
        One panel for each quantity, each with its own scale.

    Notes
    -----
    Andrade 2021, sections 3 and 4: ν is chosen by the marginal likelihood or by cross-validation.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(nus=[0.1, 1.0], n_clusters=[3, 1], log_marginal_likelihoods=[-9.0, -8.0], best=1)
    >>> path.accuracies, path.cross_validation = [0.9, 0.8], None
    >>> path_curves_chart(path_curves_table(path)).to_dict()["title"]["text"]
    ['ν = 1: 1 cluster']
    """
    table = require_columns(
        table,
        text="quantity",
        whole="step n_clusters",
        numbers="nu value low high",
        flags="best selected",
        rows=1,
        choices={"quantity": _TITLES},
    )
    data = _with_positions(table)
    height = _PANELS.height(data)
    ends = _PANELS.extremes(data, _number)
    left = margin(ends["text_end"], width * 0.3, least=48)
    titles = _PANELS.titles(data, _panel_title, width - left - RIGHT)
    x, y = log_axis(data["at"], _AXIS), y_pixels("y", height)
    wide = data.loc[data["high"] > data["low"], "quantity"].unique()
    lines = drawn(data.dropna(subset=["value"])).mark_line(
        color=PICKED, strokeWidth=1.5, interpolate="linear"
    )
    marked = data.loc[(data["best"] | data["selected"]) & data["value"].notna()]
    return frame(
        [
            title_layer(titles, height),
            extremes_layer(ends, height),
            _PANELS.spans(data[data["quantity"].isin(wide)], x, height),
            lines.encode(x, y, alt.Detail("quantity:N")),
            _PANELS.rules(data[data["selected"]], x, height, color=OTHER),
            marked_points(marked, x, height),
            *([_links(data, x, height)] if links else []),
        ],
        title=title or _title(table),
        subtitle=_subtitle(table),
        description="Line charts of number of clusters, marginal likelihood and accuracy against ν.",
        width=width,
        height=height,
        left=left,
        right=RIGHT,
        below=BELOW,
    )


def nu_text(nu: float) -> str:
    """Write ν for readers."""
    return (
        "∞"
        if np.isinf(nu)
        else f"{nu:,.3g}"
        if 1e-3 <= nu < 1000 or nu == 0
        else f"{nu:,.0f}"
        if 1 <= nu < 1e6
        else f"{nu:.2g}"
    )


def _with_positions(table: pd.DataFrame) -> pd.DataFrame:
    """Add places in pixels, colors and sizes."""
    known = {name: table[name].where(np.isfinite(table[name])) for name in ("value", "low", "high")}
    data = _PANELS.with_positions(table.assign(**known), spread=True, zero="clusters")
    data["at"] = on_log_axis(data["nu"].to_numpy(dtype=float))
    data["color"] = np.where(data["selected"], OTHER, PICKED)
    data["size"] = np.where(data["best"], 110, 50)
    return data


def _links(data: pd.DataFrame, x: alt.X, height: float) -> alt.Chart:
    """Make solutions links."""
    steps = data.drop_duplicates("step").copy()
    steps["href"] = [f"#step={step}" for step in steps["step"]]
    steps["hover"] = [
        _solution(nu, n) for nu, n in zip(steps["nu"], steps["n_clusters"], strict=True)
    ]
    return strips(steps, x, height)


def _panel_title(quantity: str, _: pd.DataFrame) -> str:
    """Name a quantity, and which way is better."""
    return f"{_TITLES[quantity]}: {_HINTS[quantity]}"


def _number(quantity: str, value: float) -> str:
    """Write a value for readers."""
    if quantity == "clusters":
        return f"{value:,.0f}"
    if quantity == "marginal_likelihood":
        return f"{value:,.1f}".replace("-", "−")
    return f"{value:.3f}"


def _title(table: pd.DataFrame) -> str:
    """Name the solution that is selected."""
    now = table[table["selected"]].iloc[0]
    return _solution(now["nu"], now["n_clusters"])


def _solution(nu: float, n: int) -> str:
    """Name a solution."""
    return f"ν = {nu_text(nu)}: {counted(n, 'cluster')}"


def _subtitle(table: pd.DataFrame) -> str:
    """Subtitle: what the marks mean."""
    marks = " Large dots: the best of their curve." if table["best"].any() else ""
    return f"Line: the solution that is selected.{marks}"
