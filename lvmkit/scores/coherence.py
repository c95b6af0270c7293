"""Coherence of topics: co-occurrence of their words in documents."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, check_matrix, listed, require_number


def coherence(centers: npt.ArrayLike, X: Any, *, n_top: int = 20) -> Array:
    """Score topics by how often their most probable words occur together.

    Parameters
    ----------
    centers : array (k, d)
        Probability of each word in each topic, or of each code in each cluster.
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        Documents; what is above 0 counts as present. The words are those of `centers`, in the same order.
    n_top : int, default=20
        Words of each topic that count; all of them where there are fewer.

    Returns
    -------
    array (k,)
        Coherence of each topic; larger is better. It grows with fewer words: compare at the same `n_top`.

    Raises
    ------
    ValueError
        If shapes disagree, `centers` are not finite, X is empty or its entries are negative or not finite, or
        `n_top` is below 2.

    Notes
    -----
    Σ_{i<j} log((D(w_i, w_j) + 1) / D(w_i)) over the most probable words w_1, w_2, …, where D counts the
    documents that have a word, or both (Mimno 2011, eq. 1; Ruffini thesis, section 3.4.2). Words of
    equal probability are taken in the order of the columns. A word w_i that is in no document would divide
    by 0: it counts as badly as any can, as if it were in all n documents and never with another, log(1/n).

    One sparse product of the top words' columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 1]])
    >>> coherence([[0.6, 0.4, 0.0], [0.5, 0.0, 0.5]], X, n_top=2).round(2)
    array([ 0.41, -0.69])
    """
    require_number(n_top, "n_top", least=2, whole=True)
    topics, documents = _checked(centers, X)
    order = np.argsort(-topics, axis=1, kind="stable")[:, :n_top]
    words, place = np.unique(order, return_inverse=True)
    place = place.reshape(order.shape)
    present = sparse.csr_array(documents[:, words] > 0).astype(np.float32)
    both = sparse.csr_array(present.T @ present)
    found = np.where(both.diagonal() > 0, both.diagonal(), present.shape[0])
    first, second = np.triu_indices(order.shape[1], 1)
    scores: Array = np.array(
        [np.log((_cells(both, row)[first, second] + 1) / found[row][first]).sum() for row in place],
        dtype=np.float64,
    )
    return scores


def _checked(centers: npt.ArrayLike, X: Any) -> tuple[Array, Any]:
    """Return topics and the columns of the documents, or refuse them."""
    topics: Array = as_numbers(centers, "centers")
    unwrapped, names = features.unwrapped(X)
    matrix = check_matrix(unwrapped, rows=features.row_names(X), columns=names, sound=True)
    if (
        topics.ndim != 2
        or not topics.size
        or matrix.ndim != 2
        or topics.shape[1] != matrix.shape[1]
    ):
        msg = (
            "centers (k, d) and X (n, d) must have the same words; "
            f"found shapes {topics.shape} and {matrix.shape}"
        )
        raise ValueError(msg)
    wrong = topics[~np.isfinite(topics)]
    if wrong.size:
        msg = f"centers must be finite; found {listed(wrong)}"
        raise ValueError(msg)
    documents = sparse.csc_array(matrix)
    _check_documents(documents)
    return topics, documents


def _check_documents(documents: Any) -> None:
    """Refuse negative or non-finite counts; fractions pass, as only presence counts."""
    if not documents.shape[0]:
        msg = f"X holds no documents; found shape {documents.shape}"
        raise ValueError(msg)
    values = documents.data
    wrong = values[~((values >= 0) & np.isfinite(values))]
    if wrong.size:
        msg = f"X must be numbers of words in documents, finite and 0 or more; found {listed(np.unique(wrong))}"
        raise ValueError(msg)


def _cells(both: Any, row: npt.NDArray[np.intp]) -> Array:
    """Return the counts of pairs among a few words, as float64."""
    cells: Array = both[row][:, row].toarray().astype(np.float64)
    return cells
