"""The dashboards that the command line opens: their options, what is fitted for them, and how they are made."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from lvmkit.core.folders import expanded
from lvmkit.core.reading import require_file
from lvmkit.disclosure.rule import THRESHOLD
from lvmkit_widgets.ui.words import refuse
from lvmkit_widgets.workbench.option_types import count, text_of
from lvmkit_widgets.workbench.shared import Shared

READING = ("text", "encoding", "language", "min_documents", "max_words")
"""Options of `topics` that are those of `from_texts`, which has their defaults."""
MOST_CLASSES = 20
"""Of an attribute that covariates may tell apart."""
MOST_ROWS, MOST_COVARIATES, STEPS, OTHERS = 4_000, 100, 12, "all others"
"""What the workbench clusters covariates of, in seconds: a sample of the patients, the most frequent codes."""
HOME = "clusters"
"""The key of the cluster explorer in the menu of the workbench."""
Options = argparse.Namespace
Factory = Callable[[], Any]


def _always(cohort: Any) -> bool:
    """Offer a dashboard whatever the cohort is."""
    return True


def _as_it_is(state: Any, *_: Any) -> Any:
    """Leave a state as it is."""
    return state


@dataclass(frozen=True)
class View:
    """A dashboard in the menu of a workbench."""

    label: str
    help: str
    doing: str  # What is said while it is made
    make: Callable[[Any, Any], Any]  # Takes `views.Shown` and a progress callback
    # What it is fitted to: the patients, their clusters, or the cluster that is picked
    of: str = "patients"
    offered: Callable[[Any], bool] = _always
    # The fields of a state that follow from the cohort and from names; the others stay as they were left
    given: tuple[str, ...] = ()
    # Picks what is most like a cluster: takes a state, the places of patients' clusters, and the one that is picked
    pick: Callable[[Any, Any, int], Any] = _as_it_is
    # Gives the explorer's state with names and picks of another dashboard's
    back: Callable[[Any, Any], Any] = _as_it_is


@dataclass(frozen=True)
class Entry:
    """A dashboard, the command that opens it, and how the workbench shows it."""

    command: str
    dashboard: str  # Its class in `lvmkit_widgets`
    title: str  # Of the page
    help: str
    add_options: Callable[[argparse.ArgumentParser], None]
    # Fits what is shown, with a bar on the terminal; returns what makes a dashboard for each visitor
    prepare: Callable[[Options], Factory]
    view: View | None = None  # None: no cohort allows it, or the workbench is made of it


def existing(text: str) -> Path:
    """Return the path of a file that is there."""
    return require_file(expanded(text))


def with_progress(work: Callable[[Any], Any]) -> Any:
    """Do long work with a bar on the terminal."""
    with import_module("lvmkit.core.progress").progress_callback(sys.stderr.isatty()) as progress:
        return work(progress)


def _fitted(model: Any, *data: Any) -> Any:
    """Fit a model with a bar on the terminal."""
    return with_progress(lambda progress: model.fit(*data, progress=progress))


def _defaults(add_options: Callable[[argparse.ArgumentParser], None]) -> Options:
    """Return the options of a command that nobody gave."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args([])


def _board(entry: str) -> Any:
    """Return a dashboard's class."""
    return getattr(import_module("lvmkit_widgets"), entry)


def _model(name: str) -> Any:
    """Return a model's class."""
    return getattr(import_module("lvmkit"), name)


def _cohort(options: Options) -> Any:
    """Read the cohort of a file, or the bundled one."""
    if options.file is None:
        return import_module("lvmkit.datasets").load_discharges()
    return import_module("lvmkit.cohorts.open_file").open_cohort(existing(options.file))


def _name(options: Options) -> str:
    """Return what to call the cohort."""
    return Path(options.file).name if options.file else ""


def _add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file of a cohort."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, TSV, Parquet or h5ad; by default the bundled synthetic cohort",
    )


def _add_number(
    parser: argparse.ArgumentParser, option: str, letter: str, help: str, default: int | None = None
) -> None:
    """Add a whole number of at least 1; its default is told."""
    told = f"{help} (%(default)s)"
    parser.add_argument(option, type=count, metavar=letter, help=told, default=default)


def _add_numbers(parser: argparse.ArgumentParser, help: str) -> None:
    """Add numbers of clusters, one or more."""
    add = partial(parser.add_argument, "--components", type=count, metavar="K")
    add(nargs="+", default=[8], help=f"{help} (8)")


# -- clusters ---------------------------------------------------------------------------------------


def _explore_options(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    _add_number(parser, "--components", "K", "clusters at the start", default=8)
    parser.add_argument(
        "--anew", action="store_true", help="do not go on with what was kept of an earlier visit"
    )


def _explore(options: Options) -> Factory:
    """Read and fit a cohort beside the server, once for all visitors; the work of a single one is kept."""
    source = str(existing(options.file)) if options.file is not None else "discharges"
    workbench = _board("Workbench")  # or says what to install
    opening = import_module("lvmkit_widgets.workbench.open_form")
    # With a token there may be several visitors, whose steps would not fit together.
    session = None if options.token else _session(source, options.components)
    if session is not None and options.anew:
        session.put_aside("earlier")
    model, told_first = (None, "") if session is None else session.model()
    kept = str(session.path) if session is not None and model is not None else ""
    recent = import_module("lvmkit_widgets.workbench.sessions").recent
    views = import_module("lvmkit_widgets.workbench.views")
    work = views.Work()
    open_cohort = opening.OpenForm().open
    shared = Shared(partial(with_progress, open_cohort(source, k=options.components, model=kept)))
    first: list[Any] = []  # the state that visitors begin with, and what was computed for it

    def bench() -> Any:
        opened = shared.get()
        if session is None:
            own = views.Work(fits=work.fits)
            return begun(opened._replace(model=copy(opened.model), work=own))
        model, told = session.model()
        # A file that could not be read was put aside when the server started.
        told = told or ("" if kept else told_first)
        again = opening.Kept(session, open_cohort(source, k=options.components), told, recent)
        # Names are kept in the model: each visitor has one of their own.
        if model is not None:
            return workbench(opened._replace(model=model, kept=again, work=work))
        return begun(opened._replace(model=copy(opened.model), kept=again, work=work))

    def begun(opened: Any) -> Any:
        board = workbench(opened._replace(state=first[0] if first else None))
        first[:] = first or [board.state.for_another()]
        return board

    return bench


def _session(source: str, k: int) -> Any:
    """Return what keeps the work on a cohort."""
    return import_module("lvmkit_widgets.workbench.sessions").Session.of(source, k)


# -- topics -----------------------------------------------------------------------------------------


def _topics_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="TEXTS",
        help="folder of .txt files, one document each; CSV, Parquet or JSON lines with a column of "
        "texts; or h5ad with counts",
    )
    parser.add_argument("--text", type=text_of, metavar="COLUMN", help="column of the texts")
    parser.add_argument("--encoding", type=text_of, help="encoding of the files (utf-8)")
    parser.add_argument(
        "--language",
        type=str.lower,
        choices=("auto", "english", "italian", "none"),
        help="whose function words are left out; none keeps them (auto)",
    )
    parser.add_argument(
        "--min-documents",
        type=count,
        metavar="N",
        help="least number of documents with a word that is kept (1)",
    )
    parser.add_argument(
        "--max-words", type=count, metavar="N", help="keep the N most frequent words (all)"
    )
    _add_numbers(parser, "numbers of topics, one or more")
    parser.add_argument(
        "--model",
        choices=("SingleTopic", "LatentDirichlet"),
        default="SingleTopic",
        help="one topic per document, or mixtures of them (%(default)s)",
    )


def _topics(options: Options) -> Factory:
    """Fit topics to texts."""
    corpus = _corpus(options)
    if corpus.n_obs < 2:
        refuse(
            f"topics are found by what documents have in common, and {expanded(options.source).name!r} holds "
            f"{corpus.n_obs}; give a folder of .txt files, or a table with one row per document"
        )
    most = max(options.components)
    if most > corpus.n_vars:
        refuse(
            f"--components {most} asks for more topics than there are words: {options.source} has "
            f"{corpus.n_vars:,}; choose no more than that"
        )
    model, board = _model(options.model), _board("TopicRelevance")
    models = [_fitted(model(n_components=k), corpus) for k in options.components]
    name = expanded(options.source).resolve().name
    return lambda: board([copy(m) for m in models], corpus, name=name)


def _corpus(options: Options) -> Any:
    """Read texts or counts."""
    path = expanded(options.source)
    given = {name: value for name in READING if (value := getattr(options, name)) is not None}
    if path.suffix.lower() != ".h5ad":
        if given.get("language") == "none":
            given["language"] = None
        return import_module("lvmkit.cohorts").from_texts(path, **given)
    if given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        refuse(f"{named} tell how to read texts, and {path.name} holds counts: leave them out")
    return import_module("lvmkit.cohorts._h5ad").read_h5ad(existing(options.source))


def _topics_shown(shown: Any, progress: Any) -> Any:
    """Show the clusters as topics: codes by relevance, a map, two clusters face to face."""
    return _board("TopicRelevance")(shown.of_clusters(), shown.cohort, name=shown.name)


def _topics_back(explorer: Any, state: Any) -> Any:
    """Name and pick clusters as topics are."""
    named = zip(explorer.clustering.clusters, state.topics.names, strict=True)
    for cluster, name in [(cluster.id, name) for cluster, name in named if name != cluster.name]:
        explorer = explorer.rename(cluster, name)
    return explorer.look(cluster=explorer.clustering.ids[state.topic])


# -- trees ------------------------------------------------------------------------------------------


def _tree_options(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    _add_number(parser, "--depth", "N", "splits one below another", default=4)
    parser.add_argument(
        "--leaves", type=count, metavar="K", help="leaves at most (all of the depth)"
    )
    _add_number(parser, "--smallest", "N", "fewest records of a leaf", default=THRESHOLD)


def _tree(options: Options) -> Factory:
    """Grow a tree."""
    cohort, board = _cohort(options), _board("TreeNavigator")
    tree = _fitted(_new_tree(options), cohort)
    return lambda: board(copy(tree), cohort, name=_name(options))


def _new_tree(options: Options) -> Any:
    """Return a tree that is not grown yet."""
    return _model("SpectralTree")(
        max_depth=options.depth,
        max_leaf_nodes=options.leaves,
        min_samples_leaf=options.smallest,
    )


def _tree_shown(shown: Any, progress: Any) -> Any:
    """Grow a tree of the patients that are shown."""
    tree = _new_tree(_defaults(_tree_options))
    tree = shown.fitted(lambda _: tree.fit(shown.cohort, progress=progress))
    return _board("TreeNavigator")(tree, shown.cohort, name=shown.name)


def _branch_like(state: Any, labels: Any, picked: int) -> Any:
    """Pick the branch that shares most patients with a cluster."""
    members = labels == picked

    def shared(node: int) -> float:
        rows = state.rows_of(node)
        both = int(members[rows].sum())
        return both / max(len(rows) + int(members.sum()) - both, 1)

    return state if state.empty else state.pick(max(range(len(state.layout)), key=shared))


# -- phenotypes -------------------------------------------------------------------------------------


def _cards_options(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    _add_number(parser, "--components", "R", "phenotypes", default=12)
    _add_number(parser, "--max-score", "T", "largest score", default=5)


def _cards(options: Options) -> Factory:
    """Find phenotypes."""
    cohort, board = _cohort(options), _board("ScoreCards")
    model = _fitted(_model("SUSTain")(options.components, max_score=options.max_score), cohort)
    return lambda: board(copy(model), cohort, name=_name(options))


def _cards_shown(shown: Any, progress: Any) -> Any:
    """Find phenotypes of the patients that are shown."""
    options = _defaults(_cards_options)
    given = {"n_components": options.components, "max_score": options.max_score}
    fit = lambda params: _model("SUSTain")(**given | params).fit(shown.cohort, progress=progress)  # noqa: E731
    return _board("ScoreCards")(shown.fitted(fit), shown.cohort, name=shown.name)


def _holds_counts(cohort: Any) -> bool:
    """Tell whether all entries are whole numbers from 0, as phenotypes with whole scores need."""
    values = import_module("numpy").asarray(getattr(cohort.X, "data", cohort.X))
    return bool((values >= 0).all() and (values % 1 == 0).all())


def _phenotype_like(state: Any, labels: Any, picked: int) -> Any:
    """Pick the phenotype on which the patients of a cluster score highest, beside all patients."""
    members = labels == picked
    if not state.known or not members.any():
        return state
    higher = state.scores[members].mean(axis=0) - state.scores.mean(axis=0)
    return state.replace(phenotype=int(higher.argmax()))


# -- stability --------------------------------------------------------------------------------------


def _stability_options(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    about = "numbers of clusters to compare; the clusters of the first are looked for in other fits"
    _add_numbers(parser, about)
    _add_number(parser, "--repeats", "N", "repeats of each number", default=5)


def _stability(options: Options) -> Factory:
    """Fit the clusters that are looked for in other fits."""
    cohort, board = _cohort(options), _board("StabilityPanel")
    numbers = options.components
    model = _fitted(_model("BernoulliMixture")(n_components=numbers[0], binarize=0), cohort)
    values = numbers if len(numbers) > 1 else None
    return lambda: board(model, cohort, values=values, n_repeats=options.repeats)


def _stability_shown(shown: Any, progress: Any) -> Any:
    """Look for the clusters in other fits."""
    options = _defaults(_stability_options)
    return _board("StabilityPanel")(shown.of_clusters(), shown.cohort, n_repeats=options.repeats)


# -- covariates -------------------------------------------------------------------------------------


def _covariates_options(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument(
        "--outcome",
        type=text_of,
        required=True,
        metavar="COLUMN",
        help="what the codes are to tell apart: a column of attributes, such as sex",
    )
    _add_number(parser, "--steps", "N", "strengths of clustering to try", default=30)


def _covariates(options: Options) -> Factory:
    """Cluster the codes of a cohort by what they tell of an outcome."""
    cohort, board = _cohort(options), _board("CovariatePath")
    known, classes = _outcome(cohort, options.outcome)
    cohort = cohort[known]
    grid = _grid(len(known), options.steps)
    models = import_module("lvmkit.models")
    path = with_progress(
        lambda progress: models.covariate_path(cohort, classes, grid, progress=progress)
    )
    names = dict(zip(cohort.var_names, cohort.var.get("title", cohort.var_names), strict=True))
    return lambda: board(path, names, name=_name(options))


def _grid(n: int, steps: int) -> Any:
    """Return strengths of clustering to try on n samples (Andrade 2021)."""
    return n * 2.0 ** (-0.1 * import_module("numpy").linspace(299, 0, steps))


def _outcome(cohort: Any, column: str) -> tuple[Any, Any]:
    """Return the places of records whose class is known, and their classes."""
    known = ", ".join(map(str, cohort.obs.columns)) or "none"
    if column not in cohort.obs:
        refuse(f"--outcome {column!r} is no column of attributes; there are {known}")
    values = cohort.obs[column]
    there = values.notna().to_numpy().nonzero()[0]
    classes = values.iloc[there].astype(str).to_numpy()
    n = len(set(classes))
    if not 2 <= n <= MOST_CLASSES:
        refuse(
            f"--outcome {column!r} has {n:,} values; give a column with 2 to {MOST_CLASSES} of them, of {known}"
        )
    return there, classes


def _covariates_shown(shown: Any, progress: Any) -> Any:
    """Cluster the most frequent codes by what they tell of the cluster that is picked."""
    np = import_module("numpy")
    cohort, picked = shown.cohort, shown.labels == shown.picked
    if not 0 < picked.sum() < len(picked):
        refuse("Pick a cluster with some of the patients, not with none or all of them.")
    rows = np.sort(np.random.default_rng(0).permutation(cohort.n_obs)[:MOST_ROWS])
    often = np.argsort(-np.asarray((cohort.X > 0).sum(axis=0)).ravel(), kind="stable")
    part = cohort[rows][:, np.sort(often[:MOST_COVARIATES])]
    label = shown.clustering.labels[shown.picked]
    classes = np.where(picked[rows], label, OTHERS)
    path = shown.fitted(
        lambda _: import_module("lvmkit.models").covariate_path(
            part, classes, _grid(len(rows), STEPS), progress=progress
        )
    )
    names = dict(zip(part.var_names, part.var.get("title", part.var_names), strict=True))
    sizes = f"{len(rows):,} of {cohort.n_obs:,} patients, the {part.n_vars} most frequent codes"
    return _board("CovariatePath")(path, names, name=f"{label} and all others ({sizes})")


# -- tensors ----------------------------------------------------------------------------------------


def _tensors_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="DATA",
        help="serology, faculty_salaries, us_crime or, in minutes, eeg; or an npz file with one array, samples first",
    )
    _add_number(parser, "--components", "K", "clusters", default=2)
    parser.add_argument(
        "--groups", type=text_of, metavar="COLUMN", help="known groups to compare with"
    )


def _tensors(options: Options) -> Factory:
    """Find clusters of tensors, along penalties."""
    X, board = _tensor_data(options.source), _board("TensorExplorer")
    models = import_module("lvmkit.models")
    path = with_progress(
        lambda progress: models.select_penalty(X, options.components, progress=progress)
    )
    name = Path(options.source).name
    return lambda: board(path.best_model, X, options.groups, path=path, name=name)


def _tensor_data(source: str) -> Any:
    """Return a public data set by its name, or the array of a file."""
    datasets = import_module("lvmkit.datasets")
    if source in ("serology", "eeg", "faculty_salaries", "us_crime"):
        return getattr(datasets, f"fetch_{source}")()
    npz = import_module("lvmkit.core.npz")
    path = existing(source)
    arrays = npz.read_npz(path, "npz file of numbers", lambda _: True, npz.MAX_BYTES)
    if len(arrays) != 1:
        refuse(
            f"{path.name} holds {len(arrays)} arrays ({', '.join(arrays)}); give a file with one, samples first"
        )
    return next(iter(arrays.values()))


DASHBOARDS = (
    Entry(
        "explore",
        "Workbench",
        "lvmkit workbench",
        "open the workbench in a browser",
        _explore_options,
        _explore,
    ),
    Entry(
        "topics",
        "TopicRelevance",
        "Topics",
        "fit topics to texts and open them in a browser",
        _topics_options,
        _topics,
        View(
            "Relevance",
            "Codes of a cluster by relevance (λ), a map of the clusters, and two face to face",
            "Drawing the clusters as topics",
            _topics_shown,
            of="clusters",
            given=("versions", "corpus"),
            pick=lambda state, labels, picked: state.look(picked),
            back=_topics_back,
        ),
    ),
    Entry(
        "tree",
        "TreeNavigator",
        "Tree",
        "split a cohort again and again, and open the tree",
        _tree_options,
        _tree,
        View(
            "Tree",
            "The same patients split again and again",
            "Growing a tree",
            _tree_shown,
            given=("corpus",),
            pick=_branch_like,
        ),
    ),
    Entry(
        "cards",
        "ScoreCards",
        "Score cards",
        "find phenotypes with integer scores, and open their cards",
        _cards_options,
        _cards,
        View(
            "Score cards",
            "Phenotypes with small whole scores",
            "Looking for phenotypes",
            _cards_shown,
            offered=_holds_counts,
            given=("people",),
            pick=_phenotype_like,
        ),
    ),
    Entry(
        "stability",
        "StabilityPanel",
        "Stability",
        "see which clusters of a cohort reappear in other fits",
        _stability_options,
        _stability,
        View(
            "Stability",
            "Whether the clusters come back in other fits",
            "Preparing other fits",
            _stability_shown,
            of="clusters",
            given=("subject",),
        ),
    ),
    Entry(
        "covariates",
        "CovariatePath",
        "Clusters of covariates",
        "cluster codes by what they tell of an outcome",
        _covariates_options,
        _covariates,
        View(
            "What tells it apart",
            "Codes that tell the picked cluster from all others, clustered by how they do",
            "Clustering codes",
            _covariates_shown,
            of="cluster",
        ),
    ),
    Entry(
        "tensors",
        "TensorExplorer",
        "Clusters of tensors",
        "find clusters of matrices or tensors, and what tells them apart",
        _tensors_options,
        _tensors,
    ),
)
"""Every dashboard that has a command."""

VIEWS = {entry.command: entry.view for entry in DASHBOARDS if entry.view is not None}
"""The dashboards in the menu of the workbench."""
