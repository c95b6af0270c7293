"""Association of codes with clusters: effect sizes with intervals, and tests."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special, stats

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.scores.counts import CodeCounts, WeightSums, count_codes, effective_size
from lvmkit.scores.relevance import lift_over

_SMALLEST_EXPECTED = 5.0
_BLOCK = 2_000_000


class _FourCells(NamedTuple):
    """The 2 × 2 table of each code in each cluster: with the code and in all, in the cluster and outside, (k, d)."""

    inside: Array
    outside: Array
    size_in: Array
    size_out: Array


@checked()
def association(
    X: Any,
    labels: npt.ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    level: float = 0.05,
    sample_weight: Any = None,
) -> pd.DataFrame:
    """Compare each code's share in each cluster with its share in all other rows.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        Rows by codes; anything above 0 is "has the code".
    labels : array (n,) of int
        Cluster of each row.
    feature_names : sequence of str, optional
        The codes; by default the columns' names, or their numbers.
    level : float, default=0.05
        The interval of the odds ratio covers with probability 1 − `level`.
    sample_weight : array (n,), or str, optional
        As in `count_codes`.

    Returns
    -------
    DataFrame (k · d rows)
        As `association_of_counts`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0]] * 30 + [[0, 1]] * 30)
    >>> found = association(X, np.repeat([0, 1], 30), feature_names=["428", "585"])
    >>> found[["cluster", "code", "share_in", "share_out", "odds_ratio"]].head(1)
       cluster code  share_in  share_out  odds_ratio
    0        0  428       1.0        0.0      3721.0
    """
    counted = count_codes(X, labels, feature_names=feature_names, sample_weight=sample_weight)
    return association_of_counts(counted, level=level)


@checked()
def association_of_counts(counts: CodeCounts, *, level: float = 0.05) -> pd.DataFrame:
    """Compare each code's share in each cluster with its share in all other rows.

    Parameters
    ----------
    counts : CodeCounts
        Rows of each cluster that have each code.
    level : float, default=0.05
        The interval of the odds ratio covers with probability 1 − `level`.

    Returns
    -------
    DataFrame (k · d rows)
        Cluster by cluster: cluster, code, n_in, n_out (rows with the code), size_in, size_out
        (rows), share_in, share_out, lift (share_in over the share of all rows), difference
        (share_in − share_out), standardized_difference, odds_ratio with its interval low and high,
        p (two-sided) and q (p adjusted for all k · d tests). Hidden cells of suppressed counts are
        NaN. Of counts with weights, n and size stay numbers of rows, the other columns are weighted
        estimates, and there are also estimate_in, estimate_out (sums of the weights of rows with the
        code), effective_in and effective_out (effective sizes).

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1.

    Notes
    -----
    Standardized difference: (p₁ − p₀) / √((p₁(1 − p₁) + p₀(1 − p₀)) / 2); 0.1 is a usual threshold
    of note. Odds ratio: ½ is added to the four cells of every table (Haldane 1956, Anscombe 1956),
    so that it is finite, and the interval is Wald's on the log scale with the same ½ (Gart 1966).
    p: Pearson's χ² without continuity correction where all expected cells reach 5, else Fisher's
    exact test, which adds the probabilities of all tables with the same margins that are no
    likelier than the one seen. q: Benjamini 1995.

    With weights, intervals and tests are those of tables with the weighted shares and the effective sizes (Σw)² / Σw²
    (Kish 1965, section 11.7), rounded to whole rows where Fisher's test is made: a survey of 1,000 rows does not
    become one of a million by what its rows stand for. Strata and sampling units are not known here; rows of
    the same hospital, for instance, tell less than these sizes say.

    The clusters were found from the same codes, so p and q describe how far a code sets a cluster
    apart; they are no evidence that the clusters exist.

    Examples
    --------
    >>> import numpy as np
    >>> counted = count_codes(np.array([[1, 1], [1, 0], [0, 1], [0, 1]]), [0, 0, 1, 1])
    >>> association_of_counts(counted)[["cluster", "code", "p"]].round(3).head(2)
       cluster code      p
    0        0    0  0.333
    1        0    1  1.000
    """
    if not 0 < level < 1:
        msg = f"level must be the interval's chance to miss, between 0 and 1; found {level!r}"
        raise ValueError(msg)
    inside, outside, size_in, size_out = rows = _of_rows(counts)
    measured, tested = (rows, rows) if counts.weighted is None else _of_weights(counts, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        share_in = measured.inside / measured.size_in
        share_out = measured.outside / measured.size_out
        spread = np.sqrt((share_in * (1 - share_in) + share_out * (1 - share_out)) / 2)
        standardized = np.where(share_in == share_out, 0.0, (share_in - share_out) / spread)
    odds, low, high = _odds_ratio(
        tested.inside,
        tested.outside,
        tested.size_in - tested.inside,
        tested.size_out - tested.outside,
        level,
    )
    p = two_sided_p(*tested)
    columns = {
        "cluster": np.repeat(counts.clusters, inside.shape[1]),
        "code": np.tile(np.asarray(counts.codes, dtype=object), inside.shape[0]),
        **{"n_in": inside, "n_out": outside, "size_in": size_in, "size_out": size_out},
        **{
            "share_in": share_in,
            "share_out": share_out,
            "lift": lift_over(share_in, counts.overall),
        },
        **{"difference": share_in - share_out, "standardized_difference": standardized},
        **{"odds_ratio": odds, "low": low, "high": high, "p": p, "q": _discoveries(p)},
    }
    if counts.weighted is not None:
        columns |= {"estimate_in": measured.inside, "estimate_out": measured.outside}
        columns |= {"effective_in": tested.size_in, "effective_out": tested.size_out}
    table = pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})
    whole = ["n_in", "n_out", "size_in", "size_out"]
    return (
        table
        if table[whole].isna().any(axis=None)
        else table.astype(dict.fromkeys(whole, np.int64))
    )


def _of_rows(counts: CodeCounts) -> _FourCells:
    """Return numbers of rows."""
    inside = counts.counts
    size_in = np.broadcast_to(counts.sizes[:, None], inside.shape)
    return _FourCells(inside, counts.totals - inside, size_in, counts.n_rows - size_in)


def _of_weights(counts: CodeCounts, rows: _FourCells) -> tuple[_FourCells, _FourCells]:
    """Return sums of weights, and tables with the same shares and effective sizes."""
    assert counts.weighted is not None
    sums: WeightSums = counts.weighted
    size_in = np.broadcast_to(sums.sizes[:, None], rows.inside.shape)
    # what no row is in must not keep the rounding errors of a difference
    size_out = np.where(rows.size_out == 0, 0.0, np.maximum(sums.total - size_in, 0.0))
    outside = np.clip(sums.totals - sums.counts, 0.0, size_out)
    outside = np.where(rows.outside == 0, 0.0, outside)
    outside = np.where(rows.outside == rows.size_out, size_out, outside)
    measured = _FourCells(sums.counts, outside, size_in, size_out)
    squares_out = np.maximum(sums.total_squares - sums.squares, 0.0)
    sizes = [
        np.minimum(effective_size(size, squares[:, None]), n)
        for size, squares, n in (
            (size_in, sums.squares, rows.size_in),
            (size_out, squares_out, rows.size_out),
        )
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [
            np.where(n == size, effective, n * (effective / size))  # all stays all
            for n, size, effective in zip(measured[:2], measured[2:], sizes, strict=True)
        ]
    return measured, _FourCells(parts[0], parts[1], sizes[0], sizes[1])


def two_sided_p(inside: Array, outside: Array, size_in: Array, size_out: Array) -> Array:
    """Test each 2 × 2 table: χ² where all expected cells reach 5, else Fisher's exact test."""
    total, n_rows = inside + outside, size_in + size_out
    with np.errstate(divide="ignore", invalid="ignore"):
        scarcest = np.minimum(total, n_rows - total) * np.minimum(size_in, size_out) / n_rows
        gap = inside * (size_out - outside) - outside * (size_in - inside)
        statistic = gap**2 * (n_rows / (size_in * size_out * total * (n_rows - total)))
    p = np.where(
        np.isfinite(inside + outside + size_in), special.chdtrc(1, np.nan_to_num(statistic)), np.nan
    )
    constant = (total == 0) | (total == n_rows) | (size_in == 0) | (size_out == 0)
    p[constant] = 1.0
    exact = (scarcest < _SMALLEST_EXPECTED) & ~constant & np.isfinite(p)
    a, b, c, d = (
        np.rint(values[exact]).astype(np.int64)  # effective sizes are not whole
        for values in (inside, outside, size_in - inside, size_out - outside)
    )
    p[exact] = _fisher(a, a + b, a + c, a + b + c + d)
    return p


def _fisher(seen: Any, total: Any, size: Any, n_rows: Any) -> Array:
    """Fisher's exact test of many tables, in blocks of bounded memory."""
    first = np.maximum(0, total + size - n_rows)
    length = np.minimum(total, size) - first + 1
    ends = np.cumsum(length)
    cuts = np.searchsorted(ends, np.arange(_BLOCK, ends.max(initial=0), _BLOCK)) + 1
    parts = zip(
        *(np.split(values, cuts) for values in (seen, total, size, n_rows, first, length)),
        strict=True,
    )
    return np.concatenate([_fisher_block(*part) for part in parts])


def _fisher_block(seen: Any, total: Any, size: Any, n_rows: Any, first: Any, length: Any) -> Array:
    """List every table with the margins of each one seen, and add up the no likelier ones."""
    if not len(seen):
        return np.zeros(0)
    starts = np.cumsum(length) - length
    x = np.arange(length.sum()) - np.repeat(starts - first, length)
    total_x, size_x, rest_x = (
        np.repeat(values, length) for values in (total, size, n_rows - total - size)
    )
    log_weight = -(
        special.gammaln(x + 1)
        + special.gammaln(total_x - x + 1)
        + special.gammaln(size_x - x + 1)
        + special.gammaln(rest_x + x + 1)
    )
    weight = np.exp(log_weight - np.repeat(np.maximum.reduceat(log_weight, starts), length))
    observed = weight[starts + seen - first] * (1 + 1e-7)
    unlikely = np.where(weight <= np.repeat(observed, length), weight, 0)
    p: Array = np.add.reduceat(unlikely, starts) / np.add.reduceat(weight, starts)
    return p.clip(max=1.0)


def _odds_ratio(a: Array, b: Array, c: Array, d: Array, level: float) -> tuple[Array, Array, Array]:
    """Odds ratio and Wald interval of (with, without) in and out, each cell raised by ½."""
    log_odds = np.log(a + 0.5) - np.log(c + 0.5) - np.log(b + 0.5) + np.log(d + 0.5)
    error = np.sqrt(1 / (a + 0.5) + 1 / (b + 0.5) + 1 / (c + 0.5) + 1 / (d + 0.5))
    reach = stats.norm.isf(level / 2) * error
    return np.exp(log_odds), np.exp(log_odds - reach), np.exp(log_odds + reach)


def _discoveries(p: Array) -> Array:
    """Benjamini-Hochberg over all tests made; NaN stays NaN."""
    q = np.full(p.shape, np.nan)
    made = np.isfinite(p)
    if made.any():
        q[made] = stats.false_discovery_control(p[made])
    return q
