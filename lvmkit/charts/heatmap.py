"""Heat map of records by codes, sorted by cluster (Ruffini 2017, figure 1b)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.charts._frame import fitted, frame, linked, margin, text_width, x_pixels
from lvmkit.charts._image import BLUE, GRAY, cluster_marks, image, lines_of_pixels
from lvmkit.charts._labels import code_link
from lvmkit.charts.svg import png_data_uri
from lvmkit.charts.theme import INK
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Labels
from lvmkit.core.validation import whole_numbers
from lvmkit.scores.counts import Names, Titles, cluster_ids, cluster_names, code_columns, joined


class Heatmap(NamedTuple):
    """Records by codes as an image, sorted by cluster.

    Parameters
    ----------
    matrix : array (rows, cols) of uint8
        255 where all records of a row have the code, 0 where none has.
    bounds : array (k + 1,)
        Where each cluster begins in `matrix`, and the end.
    codes : tuple of str (cols)
        The codes, most frequent first.
    titles : tuple of str (cols)
        What they mean; "" where unknown.
    clusters : array (k,)
        The clusters' numbers.
    cluster_labels : tuple of str (k)
        Number and name, as shown to readers.
    sizes : array (k,)
        Records of each cluster.
    order : array (n,)
        Records from top to bottom, as rows of the data.
    starts : array (rows + 1,)
        Row r shows the records order[starts[r]:starts[r + 1]].
    left_out : tuple of str
        Codes that every record has; they are not shown.
    """

    matrix: npt.NDArray[np.uint8]
    bounds: Labels
    codes: tuple[str, ...]
    titles: tuple[str, ...]
    clusters: Labels
    cluster_labels: tuple[str, ...]
    sizes: Labels
    order: Labels
    starts: Labels
    left_out: tuple[str, ...]


@checked(top=1, max_rows=1)
def heatmap_matrix(
    X: Any,
    labels: npt.ArrayLike,
    *,
    top: int = 40,
    max_rows: int | None = None,
    clusters: Sequence[int] | range | None = None,
    feature_names: Sequence[str] | None = None,
    titles: Titles = None,
    names: Names = None,
) -> Heatmap:
    """Sort records by cluster and likeness, and return the most frequent codes as an image.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        Records by codes; anything above 0 is "has the code".
    labels : array (n,) of int
        Cluster of each record.
    top : int, default=40
        Number of codes, the most frequent first; codes that every record has are left out.
    max_rows : int, optional
        Rows of the image, and one more for each cluster, at most: neighboring records of a cluster
        are averaged.
    clusters : sequence of int, optional
        Clusters to show, in this order; by default those in `labels`, ascending.
    feature_names : sequence of str, optional
        The codes; by default the columns' names, or their numbers.
    titles : mapping of str to str, or sequence of str, optional
        What the codes mean; by default `X.var["title"]` of AnnData.
    names : mapping of int to str, or sequence of str, optional
        What the user calls the clusters.

    Returns
    -------
    Heatmap
        The image, where the clusters begin, and which records each row shows.

    Raises
    ------
    ValueError
        If lengths disagree, or `top` or `max_rows` is below 1.

    Notes
    -----
    Inside a cluster the codes shown are ranked by their frequency there. Each record's presences,
    read in that order, are a word of the reflected Gray code (Gray 1953), and records are sorted by
    its rank, so that those with the cluster's leading codes come first and neighbors differ in few
    codes. Ties keep the order of the data, which makes the image the same on every run. Only the
    first 64 codes of the ranking count. O(n · (top + log n)).

    Examples
    --------
    >>> import numpy as np
    >>> found = heatmap_matrix(np.array([[1, 0], [0, 1], [1, 1], [1, 0]]), [1, 0, 1, 1])
    >>> found.matrix // 255
    array([[0, 1],
           [1, 0],
           [1, 0],
           [1, 1]], dtype=uint8)
    >>> found.bounds, found.order
    (array([0, 1, 4]), array([1, 0, 3, 2]))
    """
    presence, codes, meanings = code_columns(X, feature_names=feature_names, titles=titles)
    ids = cluster_ids(labels, presence.shape[0])
    shown = np.unique(ids) if clusters is None else whole_numbers(list(clusters), "clusters")
    totals = np.bincount(presence.indices[presence.data > 0], minlength=presence.shape[1])
    constant = (totals == presence.shape[0]) & (totals > 0)
    ranked = np.argsort(-totals, kind="stable")
    columns = ranked[~constant[ranked]][:top]
    dense = _dense(presence, columns)
    members = [np.flatnonzero(ids == cluster) for cluster in shown]
    ordered = [rows[_gray_order(dense[rows])] for rows in members]
    sizes = np.array([len(rows) for rows in ordered], dtype=np.int64)
    order = np.concatenate(ordered) if ordered else np.zeros(0, dtype=np.int64)
    starts, bounds = _blocks(sizes, max_rows)
    return Heatmap(
        matrix=_averaged(dense[order], starts),
        bounds=bounds,
        codes=tuple(codes[column] for column in columns),
        titles=tuple(meanings[column] for column in columns),
        clusters=shown,
        cluster_labels=tuple(joined(shown, cluster_names(shown, names))),
        sizes=sizes,
        order=order,
        starts=starts,
        left_out=tuple(codes[column] for column in np.flatnonzero(constant)),
    )


@checked(width=1, height=1)
def heatmap_chart(heatmap: Heatmap, *, width: int = 1100, height: int = 620) -> alt.LayerChart:
    """Draw the heat map as one image, with bands for the clusters and labels for both sides.

    Parameters
    ----------
    heatmap : Heatmap
        As made by `heatmap_matrix`.
    width : int, default=1100
        Width of the picture, in pixels.
    height : int, default=620
        Height of the image inside it, in pixels; records are averaged to it.

    Returns
    -------
    altair.LayerChart
        Labels are links: "#cluster=…" on the left, "#code=…" below.

    Examples
    --------
    >>> import numpy as np
    >>> found = heatmap_matrix(np.eye(3), [0, 0, 1])
    >>> heatmap_chart(found).to_dict()["title"]["text"]
    ['3 records by their 3 most frequent codes']
    """
    codes = joined(heatmap.codes, heatmap.titles)
    sized = [
        f"{label} ({size:,})"
        for label, size in zip(heatmap.cluster_labels, heatmap.sizes, strict=True)
    ]
    left = margin(sized, width * 0.3)
    inner = max(width - left - 12, 40)
    below = int(min(max((text_width(code) for code in codes), default=0), 190)) + 16
    rows = int(heatmap.bounds[-1])
    bounds = heatmap.bounds / max(rows, 1) * height
    spans = np.column_stack([bounds[:-1], bounds[1:]])
    layers = [
        image(_picture(heatmap, inner, height), inner, height),
        *cluster_marks(spans, sized, heatmap.clusters, left, width=inner, height=height),
        _code_marks(heatmap, codes, inner, height, below),
    ]
    n = int(heatmap.sizes.sum())
    out = f" Every record has {', '.join(heatmap.left_out)}: left out." if heatmap.left_out else ""
    averaged = (
        " Darker: a larger share of the records drawn there." if n > rows or n > height else ""
    )
    return frame(
        layers,
        title=f"{n:,} records by their {len(codes)} most frequent codes",
        subtitle=f"Blue: the record has the code. Sorted by cluster, like next to like.{averaged}{out}",
        description=f"Heat map of {n:,} records, sorted by cluster, by {len(codes)} codes.",
        width=width,
        height=height,
        left=left,
        below=below,
    )


def _dense(presence: sparse.csr_array, columns: Labels) -> npt.NDArray[np.uint8]:
    """Take some columns of sparse rows as a dense array."""
    place = np.full(presence.shape[1], -1, dtype=np.int64)
    place[columns] = np.arange(len(columns))
    target = place[presence.indices]
    kept = (target >= 0) & (presence.data > 0)
    row = np.repeat(np.arange(presence.shape[0]), np.diff(presence.indptr))
    dense = np.zeros((presence.shape[0], len(columns)), dtype=np.uint8)
    dense[row[kept], target[kept]] = 1
    return dense


def _gray_order(rows: npt.NDArray[np.uint8]) -> Labels:
    """Sort rows by the rank of their presences as a Gray code, leading codes first."""
    if not rows.size:
        return np.arange(len(rows))
    leading = np.argsort(-rows.sum(axis=0, dtype=np.int64), kind="stable")[:64]
    ranks = np.bitwise_xor.accumulate(rows[:, leading], axis=1)
    words = np.zeros((len(rows), 8), dtype=np.uint8)
    packed = np.packbits(ranks, axis=1)
    words[:, : packed.shape[1]] = packed
    return np.argsort(~words.view(">u8").ravel().astype(np.uint64), kind="stable")


def _blocks(sizes: Labels, max_rows: int | None) -> tuple[Labels, Labels]:
    """Cut each cluster into blocks of nearly equal size; where blocks and clusters begin."""
    n = int(sizes.sum())
    most = sizes if max_rows is None else np.maximum(sizes * max_rows // max(n, 1), 1)
    blocks = np.minimum(sizes, most)
    ends = np.cumsum(sizes) - sizes
    parts = [
        end + np.arange(count) * size // max(count, 1)
        for end, count, size in zip(ends, blocks, sizes, strict=True)
    ]
    starts = np.concatenate([*parts, [n]]).astype(np.int64)
    return starts, np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)


def _averaged(dense: npt.NDArray[np.uint8], starts: Labels) -> npt.NDArray[np.uint8]:
    """Average blocks of rows, 255 for all."""
    if len(starts) - 1 == len(dense):
        return dense * np.uint8(255)
    sums = np.add.reduceat(dense, starts[:-1], axis=0, dtype=np.float64)
    means = sums / np.diff(starts)[:, None]
    return np.rint(means * 255).astype(np.uint8)


def _picture(heatmap: Heatmap, width: int, lines: int) -> str:
    """Color the matrix: opacity is the share; every other cluster has a light ground."""
    matrix, bounds = heatmap.matrix, heatmap.bounds
    rows = int(bounds[-1])
    if not matrix.size:
        return png_data_uri(np.zeros((1, 1, 4), dtype=np.uint8))
    cuts = np.unique(np.linspace(0, rows, min(lines, rows) + 1).astype(np.int64)[:-1])
    share = np.add.reduceat(matrix, cuts, axis=0, dtype=np.float64)
    share /= np.diff(np.append(cuts, rows))[:, None] * 255.0
    line = lines_of_pixels(lines, len(cuts))
    share = share[np.ix_(line, lines_of_pixels(width, matrix.shape[1]))]
    cuts = cuts[line]
    cluster = np.searchsorted(bounds, cuts, side="right") - 1
    ground = np.where(cluster % 2 == 1, 0.22, 0.0)[:, None]
    opacity = share + ground * (1 - share)
    with np.errstate(invalid="ignore"):
        mix = np.where(opacity > 0, share / opacity, 0)[..., None]
    color = mix * np.array(BLUE) + (1 - mix) * np.array(GRAY)
    pixels = np.concatenate([color, opacity[..., None] * 255], axis=2)
    return png_data_uri(np.rint(pixels).astype(np.uint8))


def _code_marks(
    heatmap: Heatmap, codes: list[str], width: int, height: int, below: int
) -> alt.Chart:
    """Write the codes upright below their columns, as many as fit."""
    cell = width / max(len(codes), 1)
    data = pd.DataFrame({"x": (np.arange(len(codes)) + 0.5) * cell, "hover": codes})
    data["text_label"] = [fitted(code, below - 14, min(11, cell)) for code in codes]
    data["href"] = [code_link(code) for code in heatmap.codes]
    text = linked(data, x_pixels("x", width), alt.Text("text_label:N"))
    size = min(11, cell)
    return text.mark_text(
        angle=270, align="right", baseline="middle", y=height + 6, color=INK, fontSize=size
    )
