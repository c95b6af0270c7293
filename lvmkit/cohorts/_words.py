"""Words of documents: tokens, stop words, language, vocabulary."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.core.validation import listed, require_flag, require_number

LANGUAGES = ("english", "italian")
LEAST_SHARE = 0.15
"""Share of a language's own function words from which it is recognized."""
COMMON = """
    ad al also am an ante as con cum de del des die do el en est este et fu fue ha hai han hat in is la las le les lo
    los me mi mo ne no non nos on or par per por qua que qui sans se si sic sin sine so son su sub sur sus te tu
    un una va van ve vi via war was
"""
"""Function words of several languages (Spanish, Portuguese, French, Latin, German, Dutch): they recognize none."""
WORD = re.compile(r"(?<![^\W_])[^\W\d_](?:[^\W\d_]*n't\b|[^\W_]+)")
"""A letter, then letters or digits: "h1n1", but nothing of "21st". Cut at apostrophes; "don't" is one word."""
A_WORD = "a letter and more letters or digits"
APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "＇": "'", "\u00ad": None})
"""Typographic apostrophes become one; soft hyphens vanish."""
CONTRACTED = """
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mayn't mightn't mustn't
    needn't oughtn't shan't shouldn't wasn't weren't won't wouldn't ll ve
"""


@dataclass(frozen=True)
class WordOptions:
    """Options of the vocabulary."""

    language: str | None = "auto"
    stop_words: tuple[str, ...] = ()
    lowercase: bool = True
    min_documents: int = 1
    max_share: float = 1.0
    max_words: int | None = None
    vocabulary: tuple[str, ...] | None = None

    def check(self) -> None:
        """Refuse values out of range before anything is read."""
        if self.language not in ("auto", *LANGUAGES, None):
            msg = (
                f"language={self.language!r}; expected 'auto', 'english', 'italian' or None. For another "
                "language pass language=None and its words as stop_words."
            )
            raise ValueError(msg)
        require_flag(self.lowercase, "lowercase")
        require_number(self.min_documents, "min_documents", least=1, whole=True)
        require_number(self.max_share, "max_share", least=0, above=True)
        if self.max_share > 1:
            msg = f"max_share={self.max_share}; expected a share of the documents, above 0 to 1."
            raise ValueError(msg)
        if self.max_words is not None:
            require_number(self.max_words, "max_words", least=1, whole=True)
        if self.vocabulary is not None:
            self._check_vocabulary(self.vocabulary)

    def _check_vocabulary(self, words: tuple[str, ...]) -> None:
        """Refuse a vocabulary that is empty, repeats a word, or is to be thinned."""
        wrong = [word for word in words if not isinstance(word, str)]
        if wrong or not words:
            found = f"found {listed(wrong)}" if wrong else "it is empty"
            msg = f"vocabulary must be a list of words; {found}."
            raise ValueError(msg)
        repeated = sorted(word for word, n in Counter(words).items() if n > 1)
        if repeated:
            msg = f"vocabulary repeats {listed(repeated)}; name each word once."
            raise ValueError(msg)
        if (self.min_documents, self.max_share, self.max_words) != (1, 1.0, None):
            msg = "vocabulary names the words to count; leave out min_documents, max_share and max_words."
            raise ValueError(msg)

    def chosen(self) -> dict[str, Any]:
        """Options as kept with the cohort; lists of words by their number."""
        chosen = {
            "language": self.language or "none",
            "n_stop_words": len(self.stop_words),
            "lowercase": self.lowercase,
            "binary": False,
        }
        if self.vocabulary is not None:
            return chosen | {"n_vocabulary": len(self.vocabulary)}
        chosen |= {"min_documents": self.min_documents, "max_share": self.max_share}
        return chosen if self.max_words is None else chosen | {"max_words": self.max_words}


def word_list(argument: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return words as a tuple; refuse a single one, which would be taken letter by letter."""
    if isinstance(words, str):
        msg = f"{argument}={words!r}; expected a list of words, such as [{words!r}]."
        raise ValueError(msg)
    if not isinstance(words, Iterable) or isinstance(words, Mapping):
        msg = f"{argument} must be a list of words; found {words!r} ({type(words).__name__})."
        raise TypeError(msg)
    found = tuple(words)
    wrong = [word for word in found if not isinstance(word, str)]
    if wrong:
        msg = f"{argument} must be a list of words; found {listed(wrong)}."
        raise ValueError(msg)
    return found


@dataclass(frozen=True)
class WordCounts:
    """Documents as counts of words."""

    X: sparse.csr_array
    words: npt.NDArray[np.object_]

    def columns(self, wanted: npt.NDArray[np.integer]) -> "WordCounts":
        """Keep some columns, in the order given."""
        return WordCounts(sparse.csr_array(self.X[:, wanted]), self.words[wanted])


def words_of(text: str, *, lowercase: bool = True) -> list[str]:
    """Split a text into its words, accents kept in one spelling."""
    plain = unicodedata.normalize("NFC", text).translate(APOSTROPHES)
    return WORD.findall(plain.lower() if lowercase else plain)


def counted(texts: Sequence[str], *, lowercase: bool) -> WordCounts:
    """Count the words of documents; words are in the order of the alphabet."""
    split = partial(words_of, lowercase=lowercase)
    if not any(map(split, texts)):
        msg = (
            f"source: no word, {A_WORD}, in {number_of(len(texts), 'document')}; "
            "check that the texts are what you meant to read."
        )
        raise ValueError(msg)
    vectorizer = CountVectorizer(analyzer=split)
    X = sparse.csr_array(vectorizer.fit_transform(texts))
    return WordCounts(X, np.array(vectorizer.get_feature_names_out(), dtype=object))


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """Return the function words of a language."""
    if language == "english":
        return ENGLISH_STOP_WORDS | frozenset(CONTRACTED.split())
    text = (files("lvmkit_data") / f"stop_words_{language}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


def language_shares(counts: WordCounts) -> dict[str, float]:
    """Return the share among all words of the function words that are a language's own."""
    totals = counts.X.sum(axis=0)
    lower = [word.lower() for word in counts.words]
    return {
        language: float(
            totals[_among(lower, stop_words_of(language) - {*COMMON.split()})].sum() / totals.sum()
        )
        for language in LANGUAGES
    }


def recognized(shares: dict[str, float]) -> str | None:
    """Return the language with the largest share of own function words; None if it is small."""
    best = max(LANGUAGES, key=shares.__getitem__)
    return best if shares[best] >= LEAST_SHARE else None


def stop_mask(
    counts: WordCounts, language: str | None, own: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Return which words are function words of the language or named by the analyst."""
    usual = stop_words_of(language) if language else frozenset()
    stops = usual | {word for name in own for word in words_of(name)}
    return _among([word.lower() for word in counts.words], stops)


def _among(words: Sequence[str], wanted: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return which words are among those wanted."""
    return np.fromiter((word in wanted for word in words), bool, len(words))


def thinned(counts: WordCounts, options: WordOptions, repairs: Repairs) -> WordCounts:
    """Keep words that are neither rare nor everywhere; of those the most frequent, equal ones by alphabet."""
    n_documents = counts.X.count_nonzero(axis=0)
    often = n_documents >= options.min_documents
    seldom = n_documents <= options.max_share * counts.X.shape[0]
    repairs.drop("words_below_min_documents", int((~often).sum()))
    repairs.drop("words_above_max_share", int((often & ~seldom).sum()))
    columns = np.flatnonzero(often & seldom)
    if options.max_words is not None and len(columns) > options.max_words:
        repairs.drop("words_beyond_max_words", len(columns) - options.max_words)
        order = np.argsort(-counts.X.sum(axis=0)[columns], kind="stable")
        columns = np.sort(columns[order[: options.max_words]])
    if not len(columns):
        msg = (
            f"No word is left of {len(counts.words):,}: none is in min_documents={options.min_documents} and at "
            f"most max_share={options.max_share:g} of {number_of(counts.X.shape[0], 'document')}. "
            "Allow rarer or more common words."
        )
        raise ValueError(msg)
    return counts.columns(columns)


def only(
    counts: WordCounts,
    vocabulary: Sequence[str],
    stops: npt.NDArray[np.bool_],
    repairs: Repairs,
    *,
    lowercase: bool,
) -> WordCounts:
    """Count a given vocabulary, in its order; say how many other words were ignored."""
    place = {word: j for j, word in enumerate(vocabulary)}
    column = np.array([place.get(word, -1) for word in counts.words])
    unknown = np.flatnonzero((column < 0) & ~stops)
    never = [word for word in vocabulary if words_of(word, lowercase=lowercase) != [word]]
    impossible = (
        f"{number_of(len(never), 'entry', 'entries')} of the vocabulary can never be found in a text, as a word is "
        f"{A_WORD}{', in lower case' * lowercase}: {listed(never)}."
    )
    if (column < 0).all():
        msg = (
            f"None of {number_of(counts.X.shape[0], 'document')} has any of {number_of(len(vocabulary), 'word')} "
            f"of the vocabulary. They hold {listed(counts.words[unknown]) or 'stop words alone'}; "
            + (impossible if never else "is it the vocabulary of these texts?")
        )
        raise ValueError(msg)
    if len(unknown):
        n = int(counts.X.sum(axis=0)[unknown].sum())
        repairs.drop("unknown_words", n)
        repairs.tell(
            f"{n:,} of {number_of(int(counts.X.sum()), 'word')} are not in the vocabulary: ignored, among them "
            f"{listed(counts.words[unknown])}."
        )
    if never:
        repairs.tell(impossible)
    known = counts.columns(np.flatnonzero(column >= 0)).X.tocoo()
    columns = column[column >= 0][known.col]
    X = sparse.csr_array(
        (known.data, (known.row, columns)), shape=(counts.X.shape[0], len(vocabulary))
    )
    return WordCounts(X, np.array(vocabulary, dtype=object))
