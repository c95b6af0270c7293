"""What happens along ν: number of clusters, marginal likelihood and accuracy, as small multiples."""

from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, pixels
from lvmkit.charts._log_axis import log_axis, on_log_axis, strips
from lvmkit.charts.theme import INK, OTHER, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import as_finite, require_columns, require_parts

_PANEL, _HEAD, _GAP = 60, 24, 12  # pixels: a panel, the line above it, the space below
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
    Document 002, sections 3 and 4: ν is chosen by the marginal likelihood or by cross-validation.

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
    data = _placed(table)
    height = data["quantity"].nunique() * (_HEAD + _PANEL + _GAP)
    ends = _ends(data)
    left = margin(ends["text_end"], width * 0.3, least=48)
    x, y = log_axis(data["at"], _AXIS), pixels("y", height)
    base = drawn(data.dropna(subset=["value"]))
    panels = data.drop_duplicates("quantity")
    now = drawn(data.loc[data["selected"], ["at", "top", "bottom"]]).mark_rule(color=OTHER)
    heads = drawn(_heads(panels, width - left - 16)).mark_text(align="left", x=0, color=INK)
    numbers = drawn(ends).mark_text(align="right", x=-8, fontSize=TEXT_SIZE - 1, color=INK)
    wide = data.loc[data["high"] > data["low"], "quantity"].unique()
    spread = drawn(data[data["quantity"].isin(wide)].dropna(subset=["value"]))
    spans = spread.mark_area(color=PICKED, opacity=0.16, line=False)
    marked = data.loc[(data["best"] | data["selected"]) & data["value"].notna()]
    return frame(
        [
            heads.encode(y, alt.Text("text_head:N")),
            numbers.encode(y, alt.Text("text_end:N")),
            spans.encode(x, pixels("y_low", height), alt.Y2("y_high:Q"), alt.Detail("quantity:N")),
            base.mark_line(color=PICKED, strokeWidth=1.5, interpolate="linear").encode(
                x, y, alt.Detail("quantity:N")
            ),
            now.encode(x, pixels("top", height), alt.Y2("bottom:Q")),
            drawn(marked)
            .mark_point(filled=True, opacity=1)
            .encode(x, y, alt.Color("color:N", scale=None), alt.Size("size:Q", scale=None)),
            *([_links(data, x, height)] if links else []),
        ],
        title=title or _named(table),
        subtitle=_said(table),
        description="Line charts of number of clusters, marginal likelihood and accuracy against ν.",
        width=width,
        height=height,
        left=left,
        right=16,
        below=44,
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


def _placed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every value its place, and every solution what is told of it."""
    data = table.copy()
    data["at"] = on_log_axis(data["nu"].to_numpy(dtype=float))
    data["top"] = _HEAD + (_HEAD + _PANEL + _GAP) * pd.factorize(data["quantity"])[0]
    data["bottom"] = data["top"] + _PANEL
    for name in ("value", "low", "high"):
        data[name] = data[name].where(np.isfinite(data[name]))
    groups = data.groupby("quantity", sort=False)
    low = groups["low"].transform("min").where(data["quantity"] != "clusters", 0.0)
    high = groups["high"].transform("max")
    span = (high - low).where(high > low, 1.0)
    middle = np.where(high > low, 0.0, 0.5)
    for name, value in (("y", "value"), ("y_low", "low"), ("y_high", "high")):
        data[name] = data["top"] + _PANEL * (1 - middle - (data[value] - low) / span)
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


def _heads(panels: pd.DataFrame, room: float) -> pd.DataFrame:
    """Return the line above each panel: what it shows, and which way is better."""
    rows = [
        (float(top) - _HEAD / 2 - 1, fitted(f"{_TITLES[name]}: {_HINTS[name]}", room))
        for name, top in zip(panels["quantity"], panels["top"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["y", "text_head"])


def _ends(data: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest value of each panel, at their heights."""
    rows = []
    for quantity, part in data.dropna(subset=["value"]).groupby("quantity", sort=False):
        shown = part.loc[[part["value"].idxmin(), part["value"].idxmax()]].drop_duplicates("value")
        for y, value in zip(shown["y"], shown["value"], strict=True):
            rows.append((y, _number(str(quantity), value)))
    return pd.DataFrame(rows, columns=["y", "text_end"])


def _number(quantity: str, value: float) -> str:
    """Write a value for readers."""
    if quantity == "clusters":
        return f"{value:,.0f}"
    if quantity == "marginal_likelihood":
        return f"{value:,.1f}".replace("-", "−")
    return f"{value:.3f}"


def _named(table: pd.DataFrame) -> str:
    """Name the solution that is selected."""
    now = table[table["selected"]].iloc[0]
    return _solution(now["nu"], now["n_clusters"])


def _solution(nu: float, n: int) -> str:
    """Name a solution."""
    return f"ν = {nu_text(nu)}: {n} cluster{'' if n == 1 else 's'}"


def _said(table: pd.DataFrame) -> str:
    """Say what the marks mean."""
    marks = " Large dots: the best of their curve." if table["best"].any() else ""
    return f"Line: the solution that is selected.{marks}"
