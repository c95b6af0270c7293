"""Cohorts from texts: documents become sparse counts of words."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._documents import TextSource, joined, read, writable
from lvmkit.cohorts._words import (
    WordCounts,
    WordOptions,
    counted,
    language_shares,
    only,
    recognized,
    stop_mask,
    thinned,
    word_list,
)
from lvmkit.core.validation import listed, require_text

__all__ = ["from_texts"]

OURS = ("n_words", "text")


def from_texts(
    source: Any,
    *,
    text: str | None = None,
    document: str | None = None,
    language: str | None = "auto",
    stop_words: Iterable[str] = (),
    lowercase: bool = True,
    min_documents: int = 1,
    max_share: float = 1.0,
    max_words: int | None = None,
    vocabulary: Sequence[str] | None = None,
    attributes: pd.DataFrame | None = None,
    encoding: str = "utf-8",
) -> AnnData:
    """Make a cohort of word counts from texts.

    A word is a letter and more letters or digits ("h1n1", "covid19"); what begins with a digit ("21st", "5mg") is
    none. Apostrophes end it ("l'amor" gives "amor"), accents stay, and the English "don't" is one word. For a
    matrix of counts that exists already there is `from_counts` (with ``binary=False``).

    Parameters
    ----------
    source : list of str, Series, mapping, DataFrame, str or Path
        Texts, a Series or mapping of them by id, a table with a column of texts, the path of a folder
        (each ``*.txt`` in it is a document, its name the id; those in its subfolders are not read), of one
        such file, or of a ``.jsonl`` (also ``.gz``), CSV or Parquet file with a column of texts.
    text : str, optional
        Column of the texts, where the source has columns. The others become attributes.
    document : str, optional
        Column of the documents' ids; if not given, a DataFrame's index or "0", "1", …
    language : {"auto", "english", "italian"} or None, default="auto"
        Whose function words are left out. "auto" takes the language whose own function words have the
        larger share of the text, none if it is below 15 %; ``uns["cohort"]`` tells which language it was,
        and the shares. None keeps every word. Italian includes the forms of Dante's time.
    stop_words : list of str, default=()
        Words left out besides those of the language.
    lowercase : bool, default=True
        Whether capital letters become small ones.
    min_documents : int, default=1
        Least number of documents with a word that is kept.
    max_share : float, default=1.0
        Largest share of the documents, in (0, 1], with a word that is kept.
    max_words : int, optional
        Keep the most frequent words only, this many.
    vocabulary : list of str, optional
        Words to count, in this order: those of a fitted model (``feature_names_in_``), for new documents.
        Other words are ignored, and how many is said.
    attributes : DataFrame, optional
        Attributes of the documents, by their id as index.
    encoding : str, default="utf-8"
        Encoding of files.

    Returns
    -------
    AnnData
        X (n, d): counts, CSR float32, words in the order of the alphabet. ``var``: title (the word),
        chapter (empty), system ("word"), n_records (documents with it), n_total (times in all). ``obs``: the
        attributes, n_words (counted in X) and text. ``uns["cohort"]``: source, options, language,
        language_shares, repairs, what was dropped.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    TypeError
        If the source is no collection of texts, or an option no number.
    ValueError
        If a text is missing or no string, ids repeat, a file is in another encoding, a column or a language
        is unknown, or no word is left.

    Warns
    -----
    DataWarning
        If documents without any of the words or in subfolders are left out, words outside the vocabulary
        ignored, or attributes do not match.

    Examples
    --------
    >>> cohort = from_texts({"a": "L’amor che move il sole", "b": "Il sole e l'altre stelle"}, language="italian")
    >>> cohort.to_df()
       amor  move  sole  stelle
    a   1.0   1.0   1.0     0.0
    b   0.0   0.0   1.0     1.0
    >>> from_texts(["Amor, amor!"], vocabulary=cohort.var_names).X.toarray()
    array([[2., 0., 0., 0.]], dtype=float32)
    """
    options = WordOptions(
        language,
        word_list("stop_words", stop_words),
        lowercase,
        min_documents,
        max_share,
        max_words,
        None if vocabulary is None else word_list("vocabulary", vocabulary),
    )
    options.check()
    require_text(text, "text", optional=True)
    require_text(document, "document", optional=True)
    if attributes is not None and not isinstance(attributes, pd.DataFrame):
        msg = f"attributes must be a DataFrame with the documents' ids as index; found {type(attributes).__name__}."
        raise TypeError(msg)
    repairs = Repairs()
    documents = read(source, text, document, encoding, repairs)
    cohort = gathered(documents, options, repairs, attributes)
    repairs.announce()
    return cohort


def gathered(
    documents: TextSource,
    options: WordOptions,
    repairs: Repairs,
    attributes: pd.DataFrame | None = None,
) -> AnnData:
    """Count the words of documents and wrap them as a cohort."""
    obs = joined(documents, attributes, repairs)
    taken = [name for name in OURS if name in obs]
    if taken:
        msg = f"attributes: the name {listed(taken)} is taken by the cohort itself; rename the column."
        raise ValueError(msg)
    counts = counted(documents.texts, lowercase=options.lowercase)
    shares = language_shares(counts)
    language = recognized(shares) if options.language == "auto" else options.language
    stops = stop_mask(counts, language, options.stop_words)
    if options.vocabulary is not None:
        counts = only(counts, options.vocabulary, stops, repairs, lowercase=options.lowercase)
    else:
        counts = thinned(_spoken(counts, stops, language, repairs), options, repairs)
    cohort = assembled(counts, obs, writable(documents.texts, repairs), repairs)
    cohort.uns["cohort"] |= {
        "source": documents.name,
        "options": options.chosen(),
        "language": language or "none",
        "language_shares": shares,
    }
    return cohort


def _spoken(
    counts: WordCounts,
    stops: "np.ndarray[Any, np.dtype[np.bool_]]",
    language: str | None,
    repairs: Repairs,
) -> WordCounts:
    """Leave out the stop words."""
    repairs.drop("stop_words", int(stops.sum()))
    if stops.all():
        msg = (
            f"No word is left: all {len(counts.words):,} are stop words ({language or 'your own'}). "
            "Pass language=None to keep them."
        )
        raise ValueError(msg)
    return counts.columns(np.flatnonzero(~stops))


def assembled(
    counts: WordCounts, obs: pd.DataFrame, texts: list[str] | None, repairs: Repairs
) -> AnnData:
    """Leave out documents without words; describe words and documents."""
    lengths = counts.X.sum(axis=1)
    kept = lengths > 0
    empty = obs.index[~kept]
    repairs.drop(
        "documents_without_words",
        len(empty),
        f"{number_of(len(empty), 'document')} without any of the words: left out "
        f"({listed(empty.tolist())}).",
    )
    X = counts.X[np.flatnonzero(kept)].astype(np.float32)
    X.sort_indices()
    if X.nnz < 2**31:  # scikit-learn refuses 64-bit indices
        X.indices, X.indptr = (part.astype(np.int32) for part in (X.indices, X.indptr))
    var = pd.DataFrame(
        {
            "title": counts.words,
            "chapter": "",
            "system": "word",
            "n_records": X.count_nonzero(axis=0),
            "n_total": counts.X.sum(axis=0),
        },
        index=pd.Index(counts.words, dtype=object),
    )
    obs = obs.assign(n_words=lengths.astype(np.int64))
    obs = obs if texts is None else obs.assign(text=texts)
    about = {"repairs": repairs.told, "n_input_rows": len(obs), "n_dropped": repairs.dropped}
    return AnnData(X=X, obs=obs[kept], var=var, uns={"cohort": about})
