"""Consensus heat map: how often two rows fall into the same cluster, ordered by cluster."""

from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, x_pixels, y_pixels
from lvmkit.charts._image import BLUE, UNKNOWN, cluster_marks, image, lines_of_pixels
from lvmkit.charts._labels import percent
from lvmkit.charts.svg import png_data_uri
from lvmkit.charts.theme import INK, NEUTRAL
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import whole_numbers
from lvmkit.scores import StabilityStudy

_LARGE = 26  # pixels of a block that has room for its number


class Consensus(NamedTuple):
    """How often pairs fall into the same cluster, as an image.

    Parameters
    ----------
    matrix : array (m, m)
        Share of the fits, in [0, 1]; NaN where it is unknown or not shown. One line per row of the
        sample, or per cluster.
    bounds : array (k + 1,)
        Where each cluster begins in `matrix`, and the end.
    clusters : array (k,)
        The clusters' numbers.
    cluster_labels : tuple of str (k)
        Number and name, as shown to readers.
    n_rows : int
        Rows that the shares are of.
    blocks : bool
        Whether a line is a cluster.
    """

    matrix: Array
    bounds: Labels
    clusters: Labels
    cluster_labels: tuple[str, ...]
    n_rows: int
    blocks: bool


@checked()
def consensus_matrix(
    study: StabilityStudy, *, blocks: bool = False, hidden: npt.ArrayLike = ()
) -> Consensus:
    """Order the consensus matrix of a study by cluster, or average it over pairs of clusters.

    Parameters
    ----------
    study : StabilityStudy
        As made by `lvmkit.scores.stability_study`.
    blocks : bool, default=False
        One line per cluster with the mean over all pairs of two different rows, which may be shared,
        instead of one per row.
    hidden : array of int, optional
        Numbers of clusters that are not shown, because too few rows are in them.

    Returns
    -------
    Consensus
        Inside a cluster, rows that most often stay with it come first.

    Notes
    -----
    Monti 2003, on a sample of rows: memory does not grow with their number.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from lvmkit.scores import stability_study
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> study = stability_study(KMeans(2, n_init=1), X, n_repeats=2)
    >>> consensus_matrix(study, blocks=True).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    places = study.reference[study.sample]
    shown = np.isin(study.clusters, whole_numbers(hidden, "hidden"), invert=True)
    k = len(study.clusters)
    matrix = study.consensus
    if blocks:
        means = _block_means(matrix, places, k)
        means[~shown], means[:, ~shown] = np.nan, np.nan
        order, bounds, matrix = np.arange(k), np.arange(k + 1), means
    else:
        at_home = np.nan_to_num(_mean_with(matrix, places))
        order = np.lexsort((-at_home, places))
        order = order[shown[places[order]]]
        bounds = np.searchsorted(places[order], np.arange(k + 1))
    labels, n_rows = tuple(study.cluster_labels), int(shown[places].sum())
    return Consensus(matrix[np.ix_(order, order)], bounds, study.clusters, labels, n_rows, blocks)


@checked(width=1)
def consensus_chart(consensus: Consensus, *, width: int = 560) -> alt.LayerChart:
    """Draw the consensus matrix as one image, with the clusters left of it.

    Parameters
    ----------
    consensus : Consensus
        As made by `consensus_matrix`.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Labels are links "#cluster=…"; blocks with room for it have their share in print.

    Examples
    --------
    >>> import numpy as np
    >>> one = Consensus(np.eye(2), np.arange(3), np.arange(2), ("0", "1"), 90, True)
    >>> consensus_chart(one).to_dict()["title"]["text"]
    ['How often two members of these clusters meet again']
    """
    left = margin(consensus.cluster_labels, width * 0.34)
    inner = max(width - left - 12, 60)
    layers: list[Any] = [
        image(_picture(consensus.matrix, inner), inner, inner),
        *_cluster_marks(consensus, left, inner),
    ]
    crowded = inner / max(len(consensus.matrix), 1) < _LARGE
    if consensus.blocks and not crowded:
        layers += [_numbers(consensus, inner), _feet(consensus, inner)]
    if consensus.blocks:
        title = "How often two members of these clusters meet again"
        text = (
            "Percentage of the fits that put a member of the one and of the other into one cluster."
        )
    else:
        title = f"How often {consensus.n_rows:,} rows meet again"
        text = "Each line is one row of a sample, sorted by cluster. Blue: the two rows fall into one cluster."
    unknown = " Gray: not shown." if np.isnan(consensus.matrix).any() else ""
    return frame(
        layers,
        title=title,
        subtitle=f"{text} Stronger blue: more often. Stable clusters are full squares without blue elsewhere.{unknown}",
        description=f"Consensus heat map of {len(consensus.clusters)} clusters.",
        width=width,
        height=inner,
        left=left,
        below=26 if consensus.blocks and not crowded else 8,
    )


def _block_means(matrix: Array, places: Labels, k: int) -> Array:
    """Average over the pairs of different rows of each pair of clusters."""
    known = np.isfinite(matrix)
    np.fill_diagonal(known, val=False)
    member = (places[:, None] == np.arange(k)).astype(float)
    sums = member.T @ np.where(known, matrix, 0.0) @ member
    with np.errstate(invalid="ignore"):
        means: Array = sums / (member.T @ known.astype(float) @ member)
    return means


def _mean_with(matrix: Array, places: Labels) -> Array:
    """Return how often each row meets the others of its cluster."""
    same = (places[:, None] == places[None, :]) & np.isfinite(matrix)
    sums = np.where(same, matrix, 0.0).sum(axis=1)
    means: Array = sums / np.maximum(same.sum(axis=1), 1)
    return means


def _picture(matrix: Array, size: int) -> str:
    """Color the matrix: opacity is the share."""
    if not matrix.size:
        return png_data_uri(np.zeros((1, 1, 4), dtype=np.uint8))
    line = lines_of_pixels(size, len(matrix))
    share = matrix[np.ix_(line, line)]
    colors = np.empty((size, size, 4), dtype=np.uint8)
    colors[..., :3] = BLUE
    colors[..., 3] = np.rint(255 * np.nan_to_num(share))
    colors[np.isnan(share)] = UNKNOWN
    return png_data_uri(colors)


def _cluster_marks(consensus: Consensus, left: int, size: int) -> list[alt.Chart]:
    """Draw lines below and right of each cluster, and its label left of it."""
    bounds = consensus.bounds / max(len(consensus.matrix), 1) * size
    there = np.diff(bounds) > 0
    spans = np.column_stack([bounds[:-1], bounds[1:]])[there]
    labels = [label for label, seen in zip(consensus.cluster_labels, there, strict=True) if seen]
    flat, *others = cluster_marks(
        spans, labels, consensus.clusters[there], left, width=size, height=size
    )
    data = pd.DataFrame({"end": spans[:, 1], "zero": 0, "whole": size})
    upright = drawn(data).mark_rule(color=NEUTRAL, strokeWidth=0.5, aria=False)
    x, y = x_pixels("end", size), y_pixels("zero", size)
    return [flat, upright.encode(x, y, alt.Y2("whole:Q")), *others]


def _numbers(consensus: Consensus, size: int) -> alt.Chart:
    """Print the share of each block; white on dark blue, ink elsewhere."""
    cell = size / len(consensus.matrix)
    rows, columns = np.indices(consensus.matrix.shape)
    shares = consensus.matrix.ravel()
    data = pd.DataFrame({"x": (columns.ravel() + 0.5) * cell, "y": (rows.ravel() + 0.5) * cell})
    data["text_share"] = [percent(share) if not share < 0.005 else "0" for share in shares.tolist()]
    data["text_share"] = data["text_share"].str.replace(" %", "")
    data["color"] = np.where(np.nan_to_num(shares) > 0.55, "#ffffff", INK)
    text = drawn(data).mark_text(align="center", baseline="middle", fontSize=11, aria=False)
    color = alt.Color("color:N", scale=None, legend=None)
    return text.encode(x_pixels("x", size), y_pixels("y", size), alt.Text("text_share:N"), color)


def _feet(consensus: Consensus, size: int) -> alt.Chart:
    """Write the numbers of the clusters below their columns."""
    cell = size / len(consensus.matrix)
    data = pd.DataFrame({"x": (np.arange(len(consensus.matrix)) + 0.5) * cell})
    data["text_foot"] = [fitted(str(number), cell, 11) for number in consensus.clusters]
    foot = drawn(data).mark_text(y=size + 12, color=INK, fontSize=11, aria=False)
    return foot.encode(x_pixels("x", size), alt.Text("text_foot:N"))
