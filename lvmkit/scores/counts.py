"""Counts of rows with each code in each cluster: the basis of tables and charts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit import disclosure
from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import as_numbers, check_matrix, listed, sample_weights, unmasked
from lvmkit.disclosure.rule import THRESHOLD

Names = Mapping[int, str] | Sequence[str] | None
Titles = Mapping[str, str] | Sequence[str] | npt.NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class WeightSums:
    """What the rows of `CodeCounts` stand for: sums of their weights in place of their numbers."""

    counts: Array  # (k, d): rows of a cluster that have a code; NaN where hidden
    sizes: Array  # (k,): rows of each cluster
    squares: Array  # (k,): squared weights of the rows of each cluster
    totals: Array  # (d,): rows that have a code
    total: float  # rows counted
    total_squares: float  # squared weights of the rows counted
    largest: float  # weight of a row
    name: str = ""  # what the weights are, in words

    def hidden(self, cells: Any, sizes: Any, totals: Any) -> "WeightSums":
        """Return a copy with NaN where the numbers of rows are hidden."""
        return replace(
            self,
            counts=np.where(cells, np.nan, self.counts),
            sizes=np.where(sizes, np.nan, self.sizes),
            squares=np.where(sizes, np.nan, self.squares),
            totals=np.where(totals, np.nan, self.totals),
        )


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Rows of each cluster that have each code.

    Parameters
    ----------
    counts : array (k, d)
        Rows of a cluster that have a code; NaN where hidden by `suppress`.
    sizes : array (k,)
        Rows of each cluster.
    totals : array (d,)
        Rows that have a code, over all rows counted.
    n_rows : int
        Rows counted.
    clusters : array (k,)
        The clusters' numbers, as in the labels; they are never renumbered.
    codes : tuple of str (d)
        The codes.
    titles : tuple of str (d)
        What the codes mean; "" where unknown.
    names : tuple of str (k)
        What the user calls the clusters; "" where not named.
    weighted : WeightSums, optional
        Sums of weights over the same rows, of data that have weights. Shares are then estimates from them, while
        `counts`, `sizes`, `totals` and `n_rows` stay numbers of rows.
    """

    counts: Array
    sizes: Array
    totals: Array
    n_rows: int
    clusters: Labels
    codes: tuple[str, ...]
    titles: tuple[str, ...]
    names: tuple[str, ...]
    weighted: WeightSums | None = None

    @property
    def shares(self) -> Array:
        """Share of each cluster's rows that have a code (k, d), in [0, 1]; NaN if empty."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.weighted is None:
                return self.counts / self.sizes[:, None]
            return np.minimum(self.weighted.counts / self.weighted.sizes[:, None], 1.0)

    @property
    def overall(self) -> Array:
        """Share of all rows that have a code (d,), in [0, 1]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.weighted is None:
                return self.totals / np.float64(self.n_rows)
            # sums in another order may exceed the total in the last bit
            return np.minimum(self.weighted.totals / np.float64(self.weighted.total), 1.0)

    @property
    def weights(self) -> Array:
        """Share of the rows in each cluster (k,), in [0, 1]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.weighted is None:
                return self.sizes / np.float64(self.n_rows)
            return self.weighted.sizes / np.float64(self.weighted.total)

    @property
    def effective_sizes(self) -> Array:
        """Rows of equal weights that tell as much of a share as those of each cluster (k,); `sizes` without weights.

        (Σw)² / Σw² (Kish 1965, section 11.7), never more than `sizes`: what intervals and tests go by.
        """
        if self.weighted is None:
            return self.sizes
        return effective_size(self.weighted.sizes, self.weighted.squares)

    @property
    def cluster_labels(self) -> list[str]:
        """Number and name of each cluster, as shown to readers: "3 · Heart failure"."""
        return joined(self.clusters, self.names)

    @property
    def code_labels(self) -> list[str]:
        """Code and title, as shown to readers: "428 · Heart failure"."""
        return joined(self.codes, self.titles)

    @checked()
    def row(self, cluster: int) -> int:
        """Return where a cluster stands.

        Parameters
        ----------
        cluster : int
            Number of the cluster.

        Returns
        -------
        int
            Row of `counts`.

        Raises
        ------
        ValueError
            If there is no such cluster.
        """
        found = np.flatnonzero(self.clusters == cluster)
        if not found.size:
            msg = f"no cluster is numbered {cluster!r}; there are {listed(self.clusters.tolist())}"
            raise ValueError(msg)
        return int(found[0])

    def column(self, code: str) -> int:
        """Return where a code stands.

        Parameters
        ----------
        code : str
            The code, as in `codes`.

        Returns
        -------
        int
            Column of `counts`.

        Raises
        ------
        ValueError
            If there is no such code.
        """
        if code not in self.codes:
            known = listed(self.codes)
            msg = f"no code is {code!r}; there are {known}. Codes are text, as in var_names."
            raise ValueError(msg)
        return self.codes.index(code)

    @checked()
    def rename(self, names: Names) -> "CodeCounts":
        """Return the same numbers under other names of the clusters.

        Parameters
        ----------
        names : mapping of int to str, or sequence of str, or None
            Name by cluster number, or in the order of `clusters`.

        Returns
        -------
        CodeCounts
            A copy that shares its arrays.
        """
        return replace(self, names=cluster_names(self.clusters, names))

    def suppress(self, threshold: int = THRESHOLD) -> "CodeCounts":
        """Return a copy fit for sharing: what concerns 1 to `threshold` − 1 rows is NaN.

        Parameters
        ----------
        threshold : int, default=11
            Smallest count that may be shown, apart from 0.

        Returns
        -------
        CodeCounts
            Counts, sizes and totals with NaN where hidden, and further cells hidden so that the
            first cannot be found by subtraction (`lvmkit.disclosure.suppression`). Weights change
            nothing of it: it goes by numbers of rows, and hides sums of weights in the same places.
        """
        small_cluster = disclosure.suppression(self.sizes[:, None], threshold=threshold).cells[:, 0]
        known = np.broadcast_to(small_cluster[:, None], self.counts.shape)
        found = disclosure.suppression(
            self.counts, sizes=self.sizes, hidden=known, threshold=threshold
        )
        sums = self.weighted
        return replace(
            self,
            counts=np.where(found.cells, np.nan, self.counts),
            sizes=np.where(small_cluster, np.nan, self.sizes),
            totals=np.where(found.totals, np.nan, self.totals),
            weighted=sums and sums.hidden(found.cells, small_cluster, found.totals),
        )


def effective_size(sums: Any, squares: Any) -> Array:
    """Return (Σw)² / Σw², 0 where nothing is summed (Kish 1965, section 11.7)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(squares, 0), 0.0, np.square(sums) / squares)


@checked()
def count_codes(
    X: Any,
    labels: npt.ArrayLike,
    *,
    clusters: Sequence[int] | range | None = None,
    feature_names: Sequence[str] | None = None,
    titles: Titles = None,
    names: Names = None,
    sample_weight: Any = None,
) -> CodeCounts:
    """Count the rows of each cluster that have each code.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        Rows by codes; anything above 0 is "has the code".
    labels : array (n,) of int
        Cluster of each row.
    clusters : sequence of int, optional
        Clusters to count, in this order; an empty one is kept. By default those in `labels`,
        ascending.
    feature_names : sequence of str, optional
        The codes; by default the columns' names, or their numbers.
    titles : mapping of str to str, or sequence of str, optional
        What the codes mean; by default `X.var["title"]` of AnnData.
    names : mapping of int to str, or sequence of str, optional
        What the user calls the clusters.
    sample_weight : array (n,), or str, optional
        How many rows of the population each row stands for, 0 or more, or the name of the column of `X.obs` that tells
        it. Shares are then weighted estimates; counts stay numbers of rows.

    Returns
    -------
    CodeCounts
        Counts, sizes and totals; one sparse product, one pass over the non-zeros.

    Raises
    ------
    ValueError
        If lengths disagree, labels are not whole numbers, entries are negative or missing, or weights
        are negative or all 0.

    Examples
    --------
    >>> import numpy as np
    >>> counted = count_codes(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1], names={0: "Kidney"})
    >>> counted.counts
    array([[2., 1.],
           [0., 1.]])
    >>> counted.cluster_labels
    ['0 · Kidney', '1']

    Of rows with weights, shares are estimates, and counts numbers of rows.

    >>> counted = count_codes(np.array([[1, 0], [0, 1]]), [0, 0], sample_weight=[300, 100])
    >>> counted.counts.tolist(), counted.shares.tolist()
    ([[1.0, 1.0]], [[0.75, 0.25]])
    """
    matrix, codes, meanings = code_columns(X, feature_names=feature_names, titles=titles)
    ids = cluster_ids(labels, matrix.shape[0])
    wanted = np.unique(ids) if clusters is None else cluster_numbers(clusters, "clusters")
    present, position = np.unique(ids, return_inverse=True)
    place = {int(cluster): row for row, cluster in enumerate(wanted)}
    row_of = np.array([place.get(int(cluster), -1) for cluster in present], dtype=np.int64)[
        position
    ]
    counted = np.flatnonzero(row_of >= 0)
    rows = row_of[counted]
    counts = _grouped(np.ones(len(rows)), rows, counted, matrix, len(wanted))
    weight = sample_weights(sample_weight, matrix.shape[0], X)
    return CodeCounts(
        counts=counts,
        sizes=np.bincount(rows, minlength=len(wanted)).astype(float),
        totals=counts.sum(axis=0),
        n_rows=len(rows),
        clusters=wanted,
        codes=codes,
        titles=meanings,
        names=cluster_names(wanted, names),
        weighted=None
        if weight is None
        else _weight_sums(weight[counted], rows, counted, matrix, len(wanted)),
    )


def _grouped(
    values: Array, rows: Labels, counted: Labels, matrix: sparse.csr_array, k: int
) -> Array:
    """Sum the rows `counted` of the matrix, times values, in k groups; rows tells the group of each."""
    entries: Any = (values, (rows, counted))
    membership = sparse.coo_array(entries, shape=(k, matrix.shape[0])).tocsr()
    return np.asarray((membership @ matrix).toarray(), dtype=np.float64)


def _weight_sums(
    weight: Array, rows: Labels, counted: Labels, matrix: sparse.csr_array, k: int
) -> WeightSums:
    """Sum weights as `count_codes` counts rows."""
    counts = _grouped(weight, rows, counted, matrix, k)
    sizes, squares = (np.bincount(rows, w, minlength=k).astype(float) for w in (weight, weight**2))
    return WeightSums(
        counts=np.minimum(counts, sizes[:, None]),  # in case of another order of summation
        sizes=sizes,
        squares=squares,
        totals=counts.sum(axis=0),
        total=float(sizes.sum()),
        total_squares=float(squares.sum()),
        largest=float(weight.max(initial=0.0)),
    )


def code_columns(
    X: Any, *, feature_names: Sequence[str] | None = None, titles: Titles = None
) -> tuple[sparse.csr_array, tuple[str, ...], tuple[str, ...]]:
    """Return presence as sparse 0/1 rows, the codes and their titles."""
    matrix, found = features.unwrapped(X)
    checked = check_matrix(
        matrix, rows=features.row_names(X), columns=found, least_rows=0, sound=True
    )
    presence = _presence(checked)
    width = presence.shape[1]
    given = feature_names if feature_names is not None else found
    if titles is None and "title" in getattr(getattr(X, "var", None), "columns", ()):
        titles = [str(title) for title in X.var["title"]]
    for what, names in (("feature_names", given), ("titles", titles)):
        if names is not None and not isinstance(names, Iterable):
            msg = f"{what} must be a sequence of texts; found {names!r:.60}"
            raise TypeError(msg)
    codes = tuple(map(str, given)) if given is not None else tuple(map(str, range(width)))
    if isinstance(titles, Mapping):
        meanings = tuple(str(titles.get(code, "")) for code in codes)
    else:
        meanings = tuple(map(str, titles)) if titles is not None else ("",) * width
    for what, values in (("feature_names", codes), ("titles", meanings)):
        if len(values) != width:
            msg = f"{what} must name the {width} columns of X; found {len(values)}"
            raise ValueError(msg)
    return presence, codes, meanings


def _presence(matrix: Any) -> sparse.csr_array:
    """Return 1 where an entry is above 0, sharing structure with the data where possible."""
    rows = sparse.csr_array(matrix)
    data = rows.data
    if data.size and not data.min() >= 0:
        wrong = listed(data[~(data >= 0)].tolist())
        msg = (
            f"X must hold 0 for 'has not', more for 'has' the code; found {wrong}. Drop such rows."
        )
        raise ValueError(msg)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    present = (rows.data > 0).astype(np.float64)
    return sparse.csr_array((present, rows.indices, rows.indptr), shape=rows.shape)


def cluster_ids(labels: npt.ArrayLike, n_rows: int | None = None) -> Labels:
    """Check that labels are whole numbers, one per row."""
    values = np.asarray(unmasked(labels, "labels"))
    if values.ndim != 1 or (n_rows is not None and len(values) != n_rows):
        wanted = "one per row" if n_rows is None else f"{n_rows}, one per row of X"
        msg = f"labels must be {wanted}; found shape {values.shape}"
        raise ValueError(msg)
    whole = values.dtype.kind in "iub" or (
        values.dtype.kind == "f"
        and bool(np.all(np.isfinite(values) & (values == np.round(values))))
    )
    if not whole:
        msg = f"labels are whole numbers; found {listed(values.tolist())} of type {values.dtype}"
        raise ValueError(msg)
    return values.astype(np.int64)


def cluster_numbers(values: Any, name: str) -> Labels:
    """Return numbers of clusters (k,) in the order given; refuse what is no whole number."""
    numbers = as_numbers(list(values) if isinstance(values, Sequence) else values, name)
    if numbers.ndim != 1 or not (np.isfinite(numbers) & (numbers == np.round(numbers))).all():
        msg = f"{name} must be whole numbers of clusters; found {listed(numbers.ravel())}"
        raise ValueError(msg)
    found: Labels = numbers.astype(np.int64)
    return found


def cluster_names(clusters: Labels, names: Names) -> tuple[str, ...]:
    """Return one name per cluster, "" where there is none."""
    if names is None:
        return ("",) * len(clusters)
    if isinstance(names, Mapping):
        return tuple(str(names.get(int(cluster), "")) for cluster in clusters)
    if len(names) != len(clusters):
        known = listed(clusters.tolist())
        msg = f"names must name all clusters ({known}); found {len(names)}. Or pass a mapping."
        raise ValueError(msg)
    return tuple(map(str, names))


def joined(ids: Any, names: Sequence[str]) -> list[str]:
    """Join identifier and name for display."""
    return [f"{key} · {name}" if name else str(key) for key, name in zip(ids, names, strict=True)]
