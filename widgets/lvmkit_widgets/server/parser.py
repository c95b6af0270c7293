"""Argument parser of the command ``lvmkit``."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

DIGITS = 9
"""Of a number that is typed."""
EPILOG = "Nothing leaves this machine: dashboards are served to this machine only, unless you \
give another address and a token."
DATA_SETS = (
    "patients: nhds2010, diabetes130, synthea1k, desynpuf; counts of several modes: nhds2010_tensor, \
desynpuf_tensor, oslo_bike; tensors: serology, eeg, faculty_salaries, us_crime; texts: dante, state_union, \
movie_reviews, newsgroups20"
)
ABOUT = "The command lvmkit: explore a cohort, its phenotypes or topics, write a report, fetch public data."


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="lvmkit", description=ABOUT, epilog=EPILOG)
    parser.add_argument(
        "--version",
        action=_Versions,
        nargs=0,
        help="print versions of lvmkit, Python, the libraries and their kernels, for reports of faults",
    )
    parser.add_argument(
        "--debug", action="store_true", help="print where an error arose, for reports of faults"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    explore = commands.add_parser("explore", help="open the workbench in a browser", epilog=EPILOG)
    _add_file(explore)
    explore.add_argument(
        "--components",
        type=_count,
        default=8,
        metavar="K",
        help="clusters at the start (%(default)s)",
    )
    _add_serving(explore)

    _add_topics(commands)
    _add_tree(commands)
    _add_cards(commands)

    report = commands.add_parser(
        "report", help="cluster a file and save the result as one HTML page"
    )
    report.add_argument("file", metavar="FILE", help="CSV, TSV, Parquet or h5ad")
    report.add_argument(
        "out", metavar="OUT.html", help="page to write; small counts are hidden in it"
    )
    report.add_argument(
        "--components",
        type=_count,
        default=8,
        metavar="K",
        help="number of clusters (%(default)s)",
    )

    fetch = commands.add_parser("fetch", help="download public data, once, and verify it")
    fetch.add_argument("name", metavar="NAME", help=DATA_SETS)
    fetch.add_argument(
        "out",
        nargs="?",
        metavar="OUT.h5ad",
        help="also save the cohort, for `lvmkit explore OUT.h5ad`",
    )
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file of a cohort."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, TSV, Parquet or h5ad; by default the bundled synthetic cohort",
    )


def _add_topics(commands: Any) -> None:
    """Add the command that shows topics of texts."""
    topics = commands.add_parser(
        "topics", help="fit topics to texts and open them in a browser", epilog=EPILOG
    )
    topics.add_argument(
        "source",
        metavar="TEXTS",
        help="folder of .txt files, one document each; CSV, Parquet or JSON lines with a column of "
        "texts; or h5ad with counts",
    )
    topics.add_argument("--text", type=_text, metavar="COLUMN", help="column of the texts")
    topics.add_argument("--encoding", type=_text, help="encoding of the files (utf-8)")
    topics.add_argument(
        "--language",
        type=str.lower,
        choices=("auto", "english", "italian", "none"),
        help="whose function words are left out; none keeps them (auto)",
    )
    topics.add_argument(
        "--min-documents",
        type=_count,
        metavar="N",
        help="least number of documents with a word that is kept (1)",
    )
    topics.add_argument(
        "--max-words", type=_count, metavar="N", help="keep the N most frequent words (all)"
    )
    topics.add_argument(
        "--components",
        type=_count,
        nargs="+",
        default=[8],
        metavar="K",
        help="numbers of topics, one or more (8)",
    )
    topics.add_argument(
        "--model",
        choices=("SingleTopic", "LatentDirichlet"),
        default="SingleTopic",
        help="one topic per document, or mixtures of them (%(default)s)",
    )
    _add_serving(topics)


def _add_tree(commands: Any) -> None:
    """Add the command that shows nested clusters."""
    tree = commands.add_parser(
        "tree", help="split a cohort again and again, and open the tree", epilog=EPILOG
    )
    _add_file(tree)
    tree.add_argument(
        "--depth",
        type=_count,
        default=4,
        metavar="N",
        help="splits one below another (%(default)s)",
    )
    tree.add_argument(
        "--leaves", type=_count, metavar="K", help="leaves at most (all of the depth)"
    )
    tree.add_argument(
        "--smallest",
        type=_count,
        default=11,
        metavar="N",
        help="fewest records of a leaf (%(default)s)",
    )
    _add_serving(tree)


def _add_cards(commands: Any) -> None:
    """Add the command that shows phenotypes with integer scores."""
    cards = commands.add_parser(
        "cards", help="find phenotypes with integer scores, and open their cards", epilog=EPILOG
    )
    _add_file(cards)
    cards.add_argument(
        "--components", type=_count, default=12, metavar="R", help="phenotypes (%(default)s)"
    )
    cards.add_argument(
        "--max-score", type=_count, default=5, metavar="T", help="largest score (%(default)s)"
    )
    _add_serving(cards)


def _add_serving(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that serves a dashboard."""
    parser.add_argument(
        "--port",
        type=_port,
        default=5006,
        help="port to listen on; 0 takes a free one (%(default)s)",
    )
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="address to listen on; others than this machine's own need a token (%(default)s)",
    )
    parser.add_argument(
        "--token", type=_text, help="secret that visitors must bring; 'new' makes one up"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


class _Versions(argparse.Action):
    """Print the versions, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Do so before the rest of the line is read."""
        import_module("lvmkit").show_versions()
        parser.exit()


def _count(text: str) -> int:
    """Return a number of clusters, words or documents."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) < 1:
        msg = f"{_short(text)} is no such number; use 1 or more, with {DIGITS} digits at most"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _text(text: str) -> str:
    """Return a text of characters that can be printed."""
    if not text.isprintable():
        msg = f"{_short(text)} holds what is no printable character"
        raise argparse.ArgumentTypeError(msg)
    return text


def _short(text: str) -> str:
    """Quote what was typed, or how it begins."""
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def _port(text: str) -> int:
    """Return a port."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) > 65535:
        msg = f"{_short(text)} is no port; use 0 to 65535"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
