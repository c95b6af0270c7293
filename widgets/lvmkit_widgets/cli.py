"""The command ``lvmkit``: explore a cohort or topics, write a report, fetch public data."""

from __future__ import annotations

import argparse
import inspect
import re
import secrets
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

EPILOG = "Nothing leaves this machine: dashboards are served to this machine only, unless you \
give another address and a token."
DATA_SETS = "patients: nhds2010, diabetes130, synthea1k; texts: dante, state_union, movie_reviews, \
newsgroups20"
READING = ("text", "encoding", "language", "min_documents", "max_words")
"""Options of `topics` that are those of `from_texts`, which has their defaults."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after ``lvmkit``; by default the program's own arguments.

    Returns
    -------
    int
        0 if all went well, 1 if not, 130 if interrupted. What was typed wrongly ends with 2.
    """
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = options.run
    try:
        with _noted():
            run(options)
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"lvmkit {options.command}: {_in_words(str(error))}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _noted() -> Iterator[None]:
    """Print what data and models warn of as notes: the line of code tells nothing to who types a command."""
    as_code = warnings.showwarning

    def told(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):
            print(f"Note: {_in_words(str(message))}", file=sys.stderr)
        else:
            as_code(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = told
        yield


def _in_words(message: str) -> str:
    """Say a message of the library in the words of the command: --max-words=5, not max_words=5."""
    message = re.sub(r"\bn_components\b", "--components", message)
    for name in READING:
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf"\b{name}(?==)|^{name}(?=: )", option, message)
    return message.removeprefix("source: ")


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="lvmkit", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    explore = commands.add_parser("explore", help="open the workbench in a browser", epilog=EPILOG)
    explore.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, TSV, Parquet or h5ad; by default the bundled synthetic cohort",
    )
    explore.add_argument(
        "--components",
        type=_count,
        default=8,
        metavar="K",
        help="clusters at the start (%(default)s)",
    )
    _add_serving(explore)
    explore.set_defaults(run=_explore)

    _add_topics(commands)
    _add_tree(commands)

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
    report.set_defaults(run=_report)

    fetch = commands.add_parser("fetch", help="download public data, once, and verify it")
    fetch.add_argument("name", metavar="NAME", help=DATA_SETS)
    fetch.add_argument(
        "out",
        nargs="?",
        metavar="OUT.h5ad",
        help="also save the cohort, for `lvmkit explore OUT.h5ad`",
    )
    fetch.set_defaults(run=_fetch)
    return parser


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
    topics.add_argument("--text", metavar="COLUMN", help="column of the texts")
    topics.add_argument("--encoding", help="encoding of the files (utf-8)")
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
    topics.set_defaults(run=_topics)


def _add_tree(commands: Any) -> None:
    """Add the command that shows nested clusters."""
    tree = commands.add_parser(
        "tree", help="split a cohort again and again, and open the tree", epilog=EPILOG
    )
    tree.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, TSV, Parquet or h5ad; by default the bundled synthetic cohort",
    )
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
    tree.set_defaults(run=_tree)


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
    parser.add_argument("--token", help="secret that visitors must bring; 'new' makes one up")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def _count(text: str) -> int:
    """Return a number of clusters, words or documents."""
    if not text.isdecimal() or int(text) < 1:
        msg = f"{text!r} is no such number; use 1 or more"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _port(text: str) -> int:
    """Return a port."""
    if not text.isdecimal() or int(text) > 65535:
        msg = f"{text!r} is no port; use 0 to 65535"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _existing(text: str) -> Path:
    """Return the path of a file that is there."""
    path = Path(text).expanduser()
    if not path.is_file():
        msg = f"there is no file {text!r}"
        raise ValueError(msg)
    return path


def _check_address(options: argparse.Namespace) -> None:
    """Refuse to open what is shown to other machines without a secret, before there is anything to show."""
    if options.token or import_module("lvmkit_widgets.serve").is_local(options.address):
        return
    msg = (
        f"--address {options.address} lets other machines connect, and what is shown would be open to them; "
        "add --token new, or leave --address out"
    )
    raise ValueError(msg)


def _explore(options: argparse.Namespace) -> None:
    """Serve the workbench until interrupted."""
    workbench = import_module("lvmkit_widgets").Workbench  # or says what to install
    _check_address(options)
    path = _existing(options.file) if options.file else None
    cohort = str(path) if path else "discharges"
    _serve(lambda: workbench(cohort, k=options.components), options, title="lvmkit workbench")


def _topics(options: argparse.Namespace) -> None:
    """Fit topics to texts and serve them until interrupted."""
    board = import_module("lvmkit_widgets").TopicRelevance  # or says what to install
    _check_address(options)
    corpus = _corpus(options)
    most = max(options.components)
    if most > corpus.n_vars:
        msg = (
            f"--components {most} asks for more topics than there are words: {options.source} has "
            f"{corpus.n_vars:,}; choose no more than that"
        )
        raise ValueError(msg)
    model = getattr(import_module("lvmkit"), options.model)
    models = [model(n_components=k).fit(corpus) for k in options.components]
    name = Path(options.source).expanduser().resolve().name
    _serve(lambda: board(models, corpus, name=name), options, title="Topics")


def _tree(options: argparse.Namespace) -> None:
    """Grow a tree and serve it until interrupted."""
    board = import_module("lvmkit_widgets").TreeNavigator  # or says what to install
    _check_address(options)
    if options.file:
        cohort = import_module("lvmkit_widgets.open_file").open_cohort(_existing(options.file))
    else:
        cohort = import_module("lvmkit.datasets").load_discharges()
    tree = import_module("lvmkit").SpectralTree(
        max_depth=options.depth,
        max_leaf_nodes=options.leaves,
        min_samples_leaf=options.smallest,
    )
    tree.fit(cohort)
    name = Path(options.file).name if options.file else ""
    _serve(lambda: board(tree, cohort, name=name), options, title="Tree")


def _corpus(options: argparse.Namespace) -> Any:
    """Read texts or counts."""
    path = Path(options.source).expanduser()
    given = {name: value for name in READING if (value := getattr(options, name)) is not None}
    if path.suffix.lower() != ".h5ad":
        if given.get("language") == "none":
            given["language"] = None
        return import_module("lvmkit.cohorts").from_texts(path, **given)
    if given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        msg = f"{named} tell how to read texts, and {path.name} holds counts: leave them out"
        raise ValueError(msg)
    return import_module("anndata").read_h5ad(_existing(options.source))


def _serve(factory: Callable[[], Any], options: argparse.Namespace, *, title: str) -> None:
    """Serve a dashboard until interrupted."""
    token = secrets.token_urlsafe(24) if options.token == "new" else options.token
    serving = import_module("lvmkit_widgets.serve")
    server = serving.serve(
        factory,
        address=options.address,
        port=options.port,
        token=token,
        show=not options.no_browser,
        title=title,
        start=False,
    )
    query = f"?{urlencode({'token': token})}" if token else ""
    print(f"{title} is at http://{options.address}:{server.port}/{query}")
    print("Stop it with Ctrl+C.", flush=True)
    serving.run(server)


def _report(options: argparse.Namespace) -> None:
    """Fit a mixture to a file and save the explorer as a page."""
    path = _existing(options.file)
    out = Path(options.out).expanduser()
    if out.suffix.lower() not in {".html", ".htm"}:
        msg = f"the report is a page: name it {out.with_suffix('.html').name!r}, not {out.name!r}"
        raise ValueError(msg)
    widgets = import_module("lvmkit_widgets")
    cohort = import_module("lvmkit_widgets.open_file").open_cohort(path)
    model = import_module("lvmkit").BernoulliMixture(n_components=options.components).fit(cohort)
    written = widgets.ClusterExplorer(model, cohort, name=path.name).to_html(out)
    n, d = cohort.shape
    size = written.stat().st_size / 1e6
    print(f"{written}: {n:,} records, {d:,} codes, {options.components} clusters; {size:.1f} MB")


def _fetch(options: argparse.Namespace) -> None:
    """Download a data set."""
    out = Path(options.out).expanduser() if options.out else None
    if out and out.suffix != ".h5ad":
        msg = f"the cohort is saved as h5ad: name it {out.with_suffix('.h5ad').name!r}"
        raise ValueError(msg)
    cohort = _fetcher(options.name)()
    n, d = cohort.shape
    kind = "words" if "word" in set(cohort.var["system"]) else "codes"
    print(f"{options.name}: {n:,} records, {d:,} {kind}")
    if out:
        cohort.write_h5ad(out)
        print(f"saved as {out}; explore it with: lvmkit explore {out}")


def _fetcher(name: str) -> Callable[[], Any]:
    """Return the function that fetches a data set."""
    datasets = import_module("lvmkit.datasets")
    known = {
        key.removeprefix("fetch_"): function
        for key, function in inspect.getmembers(datasets, inspect.isfunction)
        if key.startswith("fetch_")
    }
    if name not in known:
        msg = f"there is no data set {name!r}; there are {', '.join(known)}"
        raise ValueError(msg)
    return known[name]


if __name__ == "__main__":
    sys.exit(main())
