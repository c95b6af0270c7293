"""Argument parser of the command ``lvmkit``."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from lvmkit_widgets.workbench.option_types import count, port, text_of
from lvmkit_widgets.workbench.registry import DASHBOARDS

EPILOG = "Nothing leaves this machine: dashboards are served to this machine only, unless you \
give another address and a token."
DATA_SETS = (
    "patients: nhds2010, diabetes130, synthea1k, desynpuf; counts of several modes: nhds2010_tensor, \
desynpuf_tensor, oslo_bike; tensors: serology, eeg, faculty_salaries, us_crime; texts: dante, state_union, \
movie_reviews, newsgroups20"
)
ABOUT = "The command lvmkit: open a dashboard of a cohort, of texts or of tensors, write a report, fetch public data."


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="lvmkit", description=ABOUT, epilog=EPILOG)
    versions = (
        "print versions of lvmkit, Python, the libraries and their kernels, for reports of faults"
    )
    parser.add_argument("--version", action=_Versions, nargs=0, help=versions)
    debug = "print where an error arose, for reports of faults"
    parser.add_argument("--debug", action="store_true", help=debug)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    for entry in DASHBOARDS:
        shown = commands.add_parser(entry.command, help=entry.help, epilog=EPILOG)
        entry.add_options(shown)
        _add_serving(shown)

    about = "cluster a file and save the result as one HTML page"
    add = commands.add_parser("report", help=about).add_argument
    add("file", metavar="FILE", help="CSV, TSV, Parquet or h5ad")
    add("out", metavar="OUT.html", help="page to write; small counts are hidden in it")
    clusters = "number of clusters (%(default)s)"
    add("--components", type=count, default=8, metavar="K", help=clusters)

    about = "download public data, once, and verify it"
    add = commands.add_parser("fetch", help=about).add_argument
    add("name", metavar="NAME", help=DATA_SETS)
    saved = "also save the cohort, for `lvmkit explore OUT.h5ad`"
    add("out", nargs="?", metavar="OUT.h5ad", help=saved)
    return parser


def _add_serving(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that serves a dashboard."""
    add = parser.add_argument
    add(
        "--port",
        type=port,
        default=5006,
        help="port to listen on; 0 takes a free one (%(default)s)",
    )
    where = "address to listen on; others than this machine's own need a token (%(default)s)"
    add("--address", default="127.0.0.1", help=where)
    add("--token", type=text_of, help="secret that visitors must bring; 'new' makes one up")
    add("--no-browser", action="store_true", help="only print the address")


class _Versions(argparse.Action):
    """Print the versions, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Do so before the rest of the line is read."""
        import_module("lvmkit").show_versions()
        parser.exit()
