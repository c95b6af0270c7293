"""Score card of a phenotype: features by mode with integer scores, and the patients at each score."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, x_pixels, y_pixels
from lvmkit.charts._labels import hidden_note, percent, whole
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Labels
from lvmkit.core.validation import as_finite, listed, require_columns, whole_numbers
from lvmkit.disclosure import suppression

_ROW, _GAP = 20, 8  # pixels: a row, the space above a mode's name
_LEVELS, _NUMBER = 110, 26  # pixels: the levels, the number beside them
_SHARE = 96  # pixels: share and number of patients beside their bar
_MANY = 10  # of more scores than this those that nobody has are not drawn

Meanings = Mapping[str, str] | pd.Series


@checked(max_score=0, threshold=0)
def score_card_table(
    factors: Sequence[npt.ArrayLike],
    weights: npt.ArrayLike,
    component: int,
    *,
    name: str = "",
    modes: Sequence[str] | None = None,
    labels: Sequence[Sequence[str] | None] | None = None,
    titles: Sequence[Meanings | None] | None = None,
    max_score: int | Sequence[int] | None = None,
    threshold: int | None = None,
) -> pd.DataFrame:
    """Tabulate one phenotype: the features of each mode that score, and the patients at each score.

    Parameters
    ----------
    factors : sequence of array (I_n, R) of int
        Scores, one array per mode, patients first: `SUSTain.factors_`.
    weights : array (R,) of int
        λ of each phenotype: `SUSTain.weights_`.
    component : int
        Number of the phenotype, from 0.
    name : str, optional
        What the user calls it.
    modes : sequence of str, optional
        Names of the modes: `SUSTain.mode_names_`.
    labels : sequence, optional
        One sequence of codes per mode, or None where there are none: `SUSTain.mode_labels_`.
    titles : sequence of mapping or Series, optional
        For each mode what its codes mean, or None: `[table.get("title") for table in CountTensor.labels]`.
    max_score : int or sequence of int, optional
        τ, of all modes or of each; by default the largest score that a mode has.
    threshold : int, optional
        Smallest number of patients that may be shown, apart from 0; by default all are.

    Returns
    -------
    DataFrame
        First the features by mode, those of the highest score (by size) first, then one row for each
        score that patients can have. Columns: component, name, weight (λ), prevalence (share of
        the patients whose score is not 0), mode, code, label, score, most (largest score of the mode),
        n and share (patients at this score; NaN for features, and where hidden). A mode without a
        feature has one row of score 0.

    Raises
    ------
    ValueError
        If there is no such phenotype, or names do not fit the factors.

    Notes
    -----
    Perros 2018, tables 1 and 7; the prevalence is that of table 1. With `threshold` counts are
    hidden as by `lvmkit.disclosure.suppression`, given the number of all patients.

    Examples
    --------
    >>> patients, codes = [[0], [2], [1], [2]], [[3], [0], [1]]
    >>> labels = [None, ["statins", "insulin", "lipids"]]
    >>> table = score_card_table([patients, codes], [4], 0, modes=["patient", "code"], labels=labels)
    >>> table[["mode", "label", "score", "share"]]
          mode    label  score  share
    0     code  statins      3    NaN
    1     code   lipids      1    NaN
    2  patient  score 1      1   0.25
    3  patient  score 2      2   0.50
    """
    for n, factor in enumerate(factors):
        as_finite(factor, f"factors[{n}]", 2)
    scores = [np.asarray(factor) for factor in factors]
    lambdas = whole_numbers(weights, "weights")
    if not len(lambdas):
        msg = "weights must hold a number for each component; found none"
        raise ValueError(msg)
    called = list(modes) if modes is not None else _mode_names(len(scores))
    known: Any = labels if labels is not None else [None] * len(scores)
    meant: Any = titles if titles is not None else [None] * len(scores)
    tops = _tops(scores, max_score)
    given = {"modes": called, "labels": known, "titles": meant, "max_score": tops}
    _check(scores, lambdas, component, given)
    rows = []
    for i in range(1, len(scores)):
        column = scores[i][:, component]
        codes = known[i] if known[i] is not None else range(len(column))
        titles_of = {} if meant[i] is None else meant[i]
        rows += _features(column, called[i], list(map(str, codes)), titles_of, tops[i])
    patients = scores[0][:, component]
    share, levels = _levels(patients, called[0], tops[0], threshold)
    table = pd.DataFrame([*rows, *levels])
    columns = ["component", "name", "weight", "prevalence", *table.columns]
    table = table.assign(component=component, name=name, prevalence=share)
    return table.assign(weight=int(lambdas[component]))[columns]


@checked(width=1)
def score_card_chart(table: pd.DataFrame, *, top: int = 20, width: int = 420) -> alt.LayerChart:
    """Draw one phenotype as a card: scores as filled dots out of those possible, patients as bars.

    Parameters
    ----------
    table : DataFrame
        As made by `score_card_table`.
    top : int, default=20
        Features of each mode at most; how many more there are is said.
    width : int, default=420
        Width of the card, in pixels.

    Returns
    -------
    altair.LayerChart
        To be shown, or made a picture by `svg` or `png`.

    Raises
    ------
    ValueError
        If the table is of several phenotypes or of none, or `top` is below 1.

    Examples
    --------
    >>> table = score_card_table([[[1], [0]], [[3], [1]]], [2], 0, name="Hyperlipidemia")
    >>> score_card_chart(table).to_dict()["title"]["text"]
    ['0 · Hyperlipidemia']
    """
    floats = "prevalence n share"
    table = require_columns(
        table, text="name mode label", whole="component weight score most", numbers=floats
    )
    if top < 1:
        msg = f"top is the number of features to draw, 1 or more; found {top!r}"
        raise ValueError(msg)
    found = table["component"].unique()
    if len(found) != 1:
        msg = f"a card shows one phenotype; the table has {len(found)}. Select the rows of one."
        raise ValueError(msg)
    room = width - 24
    data, height = _with_positions(table, top, room)
    first = table.iloc[0]
    who = data["mode"].iloc[-1]
    hidden = hidden_note(table.loc[table["mode"] == who, "share"])
    return frame(
        [*_texts(data, height, room), _dots(data, height, room), *_bars(data, height, room)],
        title=f"{first['component']} · {first['name']}"
        if first["name"]
        else f"Phenotype {first['component']}",
        subtitle=f"λ = {first['weight']}. {_prevalence_text(first['prevalence'], who)}{hidden}",
        description=_description(table),
        width=width,
        height=height,
        left=12,
    )


def _mode_names(n_modes: int) -> list[str]:
    """Return names of modes that have none."""
    return ["patients", *(f"mode {i}" for i in range(1, n_modes))]


def _tops(scores: list[Labels], max_score: int | Sequence[int] | None) -> list[int]:
    """Return the largest size that a score of each mode can have: what is said, or what is there."""
    given = max_score if isinstance(max_score, Sequence) else [max_score or 1] * len(scores)
    seen = [int(np.abs(factor).max(initial=1)) for factor in scores]
    return (
        [max(pair) for pair in zip(given, seen, strict=False)]
        if len(given) == len(seen)
        else list(given)
    )


def _check(
    scores: list[Labels], weights: Labels, component: int, given: dict[str, Sequence[Any]]
) -> None:
    """Refuse a phenotype that is not there, and what is not there for each mode."""
    if not 0 <= component < len(weights):
        msg = f"component counts from 0 to {len(weights) - 1}; found {component!r}"
        raise ValueError(msg)
    shapes = [factor.shape for factor in scores]
    if any(len(shape) != 2 or shape[1] != len(weights) for shape in shapes):
        msg = f"factors must have one column for each of the {len(weights)} weights; found shapes {shapes}"
        raise ValueError(msg)
    if len(set(given["modes"])) < len(given["modes"]):
        msg = f"modes must have different names; found {listed(given['modes'])}"
        raise ValueError(msg)
    for what, values in given.items():
        if len(values) != len(scores):
            msg = f"{what} has {len(values)} entries for {len(scores)} modes; pass one for each"
            raise ValueError(msg)


def _features(
    column: Labels, mode: str, codes: list[str], titles: Meanings, most: int
) -> list[dict[str, Any]]:
    """Return the features of a mode that score, those of the highest score first."""
    if len(codes) != len(column):
        msg = f"labels of mode {mode!r} name {len(codes)} features; the factor has {len(column)}"
        raise ValueError(msg)
    places = np.flatnonzero(column)
    places = places[np.argsort(-np.abs(column[places]), kind="stable")]
    row = {"mode": mode, "n": np.nan, "share": np.nan}
    if not len(places):
        return [row | {"code": "", "label": "none", "score": 0, "most": most}]
    found = []
    for place in places:
        code = codes[place]
        title = titles.get(code)
        known = isinstance(title, str) and title not in ("", code)
        label = f"{code} · {title}" if known else code
        found.append(
            row | {"code": code, "label": label, "score": int(column[place]), "most": most}
        )
    return found


def _levels(
    patients: Labels, mode: str, most: int, threshold: int | None
) -> tuple[float, list[dict[str, Any]]]:
    """Return the share of patients with any score but 0, and a row for each score they can have."""
    low = min(int(patients.min(initial=0)), 0)
    values = np.arange(low, max(most, int(patients.max(initial=0))) + 1)
    counts = np.array([(patients == value).sum() for value in values], dtype=float)
    if threshold is not None and threshold > 1:
        mask = suppression(counts[:, None], threshold=threshold)
        counts[mask.cells[:, 0] | mask.totals[0]] = np.nan
    total = max(len(patients), 1)
    prevalence = float(1 - counts[-low] / total) if len(patients) else np.nan
    rows = [
        {
            "mode": mode,
            "code": str(value),
            "label": f"score {_score(int(value))}",
            "score": int(value),
            "most": most,
            "n": count,
            "share": count / total,
        }
        for value, count in zip(values, counts, strict=True)
        if value
    ]
    return prevalence, rows


def _with_positions(table: pd.DataFrame, top: int, room: float) -> tuple[pd.DataFrame, int]:
    """Give every row its height, put the names of modes above theirs, and say what is left out."""
    rows: list[dict[Any, Any]] = []
    y, last = 0.0, len(table) and table["mode"].iloc[-1]
    for mode, part in table.groupby("mode", sort=False):
        y += _GAP if rows else 0
        rows.append({"mode": mode, "kind": "title", "y": y + _ROW / 2, "text_label": str(mode)})
        kind = "patients" if mode == last else "feature"
        part = part if len(part) <= _MANY or kind != "patients" else part[part["n"] != 0]
        shown = part if kind == "patients" else part.head(top)
        aside = _NUMBER + _LEVELS if kind == "feature" else _SHARE + _LEVELS
        for row in shown.to_dict("records"):
            y += _ROW
            label = fitted(str(row["label"]), room - aside - 12)
            empty = kind == "feature" and row["score"] == 0
            rows.append(
                {**row, "kind": "more" if empty else kind, "y": y + _ROW / 2, "text_label": label}
            )
        if len(part) > len(shown):
            y += _ROW
            more = f"and {len(part) - len(shown)} more"
            rows.append({"mode": mode, "kind": "more", "y": y + _ROW / 2, "text_label": more})
        y += _ROW
    data = pd.DataFrame(rows)
    numbers = {"feature": lambda row: _score(row["score"]), "patients": _patients}
    data["text_number"] = [
        numbers[row["kind"]](row) if row["kind"] in numbers else ""
        for row in data.to_dict("records")
    ]
    return data, int(y)


def _score(score: float) -> str:
    """Write a score for readers."""
    return f"{score:.0f}".replace("-", "−")


def _patients(row: Mapping[Any, Any]) -> str:
    """Write share and number of patients for readers."""
    return f"{percent(row['share'])} · {whole(row['n'])}"


def _texts(data: pd.DataFrame, height: int, room: float) -> list[Any]:
    """Draw the names of modes and features, and the numbers at the right."""
    y = y_pixels("y", height)
    titles, rows = data["kind"] == "title", data["kind"].isin(["feature", "patients"])
    label = alt.Text("text_label:N")
    place: dict[str, Any] = {"align": "left", "baseline": "middle", "x": 0}
    small = drawn(data[["y", "text_label"]][titles]).mark_text(
        color=NEUTRAL, fontSize=TEXT_SIZE - 1, fontWeight="bold", **place
    )
    more = drawn(data[["y", "text_label"]][data["kind"] == "more"]).mark_text(
        color=NEUTRAL, **place
    )
    named = drawn(data[["y", "text_label", "text_number"]][rows])
    numbers = named.mark_text(align="right", baseline="middle", x=room, color=INK)
    return [
        small.encode(y, label),
        more.encode(y, label),
        named.mark_text(color=INK, **place).encode(y, label),
        numbers.encode(y, alt.Text("text_number:N")),
    ]


def _dots(data: pd.DataFrame, height: int, room: float) -> alt.Chart:
    """Draw a score as filled dots out of as many as there can be."""
    dots = []
    for row in data[data["kind"] == "feature"].to_dict("records"):
        score, most = int(row["score"]), max(int(row["most"]), abs(int(row["score"])))
        step = min(_LEVELS / most, 18.0)
        color = OTHER if score < 0 else PICKED
        dots += [
            {
                "x": room - _NUMBER - (most - level - 0.5) * step,
                "y": row["y"],
                "fill": color if level < abs(score) else "transparent",
                "color": color if level < abs(score) else NEUTRAL,
                "size": (0.62 * step) ** 2,
                "hover": f"{row['label']}: score {_score(score)}",
            }
            for level in range(most)
        ]
    columns = ["x", "y", "fill", "color", "size", "hover"]
    return (
        drawn(pd.DataFrame(dots, columns=columns))
        .mark_point(shape="circle", strokeWidth=1, opacity=1)
        .encode(
            x_pixels("x", room),
            y_pixels("y", height),
            alt.Fill("fill:N", scale=None, legend=None),
            alt.Stroke("color:N", scale=None, legend=None),
            alt.Size("size:Q", scale=None, legend=None),
            alt.Description("hover:N"),
            alt.Tooltip("hover:N", title="score"),
        )
    )


def _bars(data: pd.DataFrame, height: int, room: float) -> list[Any]:
    """Draw the share of patients at each score."""
    rows = data[data["kind"] == "patients"]
    start = room - _SHARE - _LEVELS
    longest = max(float(np.nan_to_num(rows["share"]).max(initial=0)), 1e-9)
    bars = rows[["y"]].assign(
        x=start,
        x_end=start + _LEVELS * np.nan_to_num(rows["share"]) / longest,
        hover=rows["label"] + ": " + rows["text_number"],
    )
    tooltip = alt.Description("hover:N"), alt.Tooltip("hover:N", title="patients")
    base = drawn(bars).mark_bar(height=_ROW * 0.5, color=NEUTRAL)
    across = x_pixels("x", room), alt.X2("x_end:Q")
    return [base.encode(*across, y_pixels("y", height), *tooltip)]


def _prevalence_text(prevalence: float, mode: str) -> str:
    """Say how many patients have the phenotype."""
    return f"{percent(prevalence)} of {mode if mode.endswith('s') else mode + 's'} have a score."


def _description(table: pd.DataFrame) -> str:
    """Describe a card in words, for those who do not see it."""
    first = table.iloc[0]
    features = table[(table["mode"] != table["mode"].iloc[-1]) & (table["score"] != 0)]
    scores = ", ".join(
        f"{label} {score}" for label, score in features[["label", "score"]].to_numpy()
    )
    name = f" {first['name']}" if first["name"] else ""
    return f"Phenotype {first['component']}{name}, λ {first['weight']}: {scores or 'no feature'}."
