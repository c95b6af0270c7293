"""The dashboard of a path of covariate clusterings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lvmkit.charts._merges import covariate_names
from lvmkit.core import arguments
from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure import Disclosure
from lvmkit.disclosure.text import is_few
from lvmkit_widgets.covariates.clusters_tab import (
    CovariateClustersTab,
    MergesTab,
    of_solution,
    tree_fields,
)
from lvmkit_widgets.covariates.export_tab import EXPORTS, NOTE
from lvmkit_widgets.covariates.path_tab import PathForm
from lvmkit_widgets.covariates.state import HeldSolutions, PathState, accuracies_told
from lvmkit_widgets.ui.export import StepsExportTab
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status
from lvmkit_widgets.ui.words import counted, counted_unless_few, first_of, refuse

_NEEDED = ("classes", "nus", "n_clusters", "log_marginal_likelihoods", "accuracies", "best")


HELD = 30  # solutions in a page, at most
ROOM = 300_000  # bytes of clusters and weights; with more the page would grow too large
TREES = 400_000  # bytes of trees


class CovariatePath(TabbedDashboard[PathState]):
    """Dashboard of a path of covariate clusterings.

    Parameters
    ----------
    path : CovariateClusterPath
        As made by `lvmkit.models.covariate_path`; its solutions are shown with ν ascending.
    names : mapping or sequence of str, optional
        What covariates mean (by the path's names), or what each is called; by default the path's names.
    held_out : (X, y), optional
        Samples that the path was not fitted to, and their classes: their accuracy is shown too.
    private : bool, default=True
        Whether samples stand for people: then the counts of classes are told only where none is small.
    name : str, optional
        What the data are called in the heading.

    Raises
    ------
    TypeError
        When `path` is no path.
    ValueError
        When it is empty, or names or other data do not fit it.

    Notes
    -----
    In a page saved by `to_html` ν, clusters, their covariates and the search keep working, for as many different
    clusterings as there is room for, and trees too. It holds nothing of single samples.

    Examples
    --------
    >>> import lvmkit
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(80, 20, random_state=0)
    >>> path = lvmkit.models.covariate_path(data.X, data.y, nus=[1.0, 10.0], similarity=data.similarity)
    >>> board = CovariatePath(path)
    >>> board.state = board.state.choose(1).find("x3")
    >>> bool(board.state.cluster == path[1].labels[3])
    True
    """

    addresses = (
        ("step", "nu", "selected", None),
        ("cluster", "clusters", "selected", None),
    )

    @arguments.checked()
    def __init__(
        self,
        path: Any,
        names: Mapping[str, str] | Sequence[str] | None = None,
        held_out: Any = None,
        *,
        private: bool = True,
        name: str = "",
    ) -> None:
        solutions = checked(path)
        state = PathState.of(
            solutions,
            called(solutions, names),
            held_out=accuracies(solutions, held_out),
            n_held_out=0 if held_out is None else len(held_out[1]),
            disclosure=Disclosure(private=private),
        )
        self._name = name
        super().__init__(
            {"status": Status()},
            frame=[PathForm()],
            tabs=[CovariateClustersTab(), MergesTab(), StepsExportTab(EXPORTS, lambda _: NOTE)],
            title="Clusters of covariates",
        )
        self.stage.layout = [
            "about",
            "status",
            {"row": ["nu", "choose"], "widths": [1, 2.8]},
            {"row": [self.tabs_layout, "curves"], "widths": [2.1, 1]},
        ]
        self.show_state(state)

    def _page_state(self) -> PathState:
        """Return the state that a saved page shows, with what it holds."""
        state = self.state
        shared, steps = state.for_others, tuple(int(step) for step in held(state))
        return shared.replace(held=HeldSolutions(steps, frozenset(trees(shared, steps))))

    def _page_cases(self, state: PathState) -> Iterator[Cases[PathState]]:
        """Yield what happens when the reader of a saved page moves ν or picks a cluster."""
        there = state.held
        assert there is not None
        shown = {step: state.first_of(step) for step in there.steps}
        shown |= {} if state.cluster is None else {state.step: state.cluster}
        solutions = {str(i): state.at(step, shown[step]) for i, step in enumerate(there.steps)}
        # with the tree of all clusters, the tree stays whichever is picked
        follow = ["clusters", "curves", *(["tree"] if state.every else [])]
        resets = ["clusters.selected", "clusters.covariate", "clusters.shown"]
        yield Cases("nu.selected", solutions, only=follow, resets=resets)
        picked = {} if state.every else {f"{s}:{c}": state.at(s, c) for s, c in there.trees}
        without = {} if state.every else {"": state.replace(held=there._replace(trees=frozenset()))}
        yield Cases("clusters.shown", without | picked, only=["tree"])

    def _heading(self, state: PathState) -> dict[str, str]:
        """Title, subtitle and footer."""
        title = f"Clusters of covariates: {self._name}" if self._name else "Clusters of covariates"
        return {"title": title, "subtitle": subtitle(state), "footer": footer(state)}


def checked(path: Any) -> Any:
    """Refuse what is no path."""
    if not all(hasattr(path, name) for name in _NEEDED) or not hasattr(path, "__getitem__"):
        refuse(
            f"CovariatePath needs a path of clusterings; found {type(path).__name__}. "
            "Make one: lvmkit.models.covariate_path(X, y).",
            TypeError,
        )
    if not len(path):
        refuse("The path has no solution: pass at least one ν to covariate_path.")
    return path.ascending() if hasattr(path, "ascending") else path


def called(path: Any, names: Mapping[str, str] | Sequence[str] | None) -> tuple[str, ...]:
    """Name the covariates."""
    d = len(path[0].labels)
    own = covariate_names(path, None, d)
    if names is None:
        return tuple(own)
    if isinstance(names, Mapping):
        if not set(own) & {str(key) for key in names}:
            refuse(
                f"names has none of the path's covariates as a key; expected some of {', '.join(own[:5])}, …"
            )
        told = {str(key): " ".join(str(text).split()) for key, text in names.items()}
        return tuple(f"{name} {told[name]}" if told.get(name) else name for name in own)
    if isinstance(names, str) or len(names) != d:
        refuse(f"names needs one text for each of the {d} covariates; found {len(names)}")
    return tuple(str(name) for name in names)


def accuracies(path: Any, held_out: Any) -> Array | None:
    """Return the accuracy of every solution on other data."""
    if held_out is None:
        return None
    if not isinstance(held_out, tuple | list) or len(held_out) != 2:
        refuse(
            "held_out is the pair (X, y) of samples that the path was not fitted to, and their classes."
        )
    return np.asarray(path.score(*held_out), dtype=float)


def subtitle(state: PathState) -> str:
    """Say how many covariates, samples and classes there are."""
    parts = [
        counted(len(state.names), "covariate"),
        counted_unless_few(int(state.path.n_samples), "sample", state.disclosure),
        class_sizes(state),
        f"{counted(len(state.path), 'value')} of ν",
        f"λ = {float(state.path.ridge):g}",
    ]
    return " · ".join(parts)


def class_sizes(state: PathState) -> str:
    """Say how many samples each class has, if none is small."""
    names, sizes = state.classes, [int(n) for n in state.path.class_counts]
    shown: Sequence[str] = names
    if not any(is_few(n, state.disclosure.level) for n in sizes):
        shown = [f"{name} ({n:,})" for name, n in zip(names, sizes, strict=True)]
    return f"classes {first_of(shown, 4, ', ')}"


def footer(state: PathState) -> str:
    """Say what the numbers are."""
    last, least = "", state.disclosure.threshold
    if state.private and "(" not in class_sizes(state):
        last = f" Samples of each class are not told: one has fewer than {least}."
    if not accuracies_told(state):
        last += f" Accuracies are not told: fewer than {least} samples are classified wrongly, or rightly."
    return (
        "Clusters are numbered at each ν anew, in the order of their first covariate. Weights and odds ratios "
        "describe what goes together in these data; they do not say that a covariate causes a class. λ holds "
        "weights small." + last
    )


def held(state: PathState) -> Labels:
    """Choose the solutions that a page holds."""
    path = state.path
    wanted = {state.step, int(path.best)}
    wanted |= set() if state.chosen is None else {state.chosen}
    labels = [np.asarray(solution.labels) for solution in path]
    differ = [0, *(s for s in range(1, len(path)) if not np.array_equal(labels[s], labels[s - 1]))]
    size = max(len(of_solution(state, s)["weights"]) + labels[s].size * 4 for s in (0, state.step))
    room = int(np.clip(ROOM // max(size, 1), 3, HELD))
    places = np.linspace(0, len(differ) - 1, min(room, len(differ))).round().astype(int)
    return np.array(sorted({differ[i] for i in places} | wanted), dtype=int)


def trees(state: PathState, steps: tuple[int, ...]) -> Iterator[tuple[int, int | None]]:
    """Yield what trees there is room for: of the cluster picked first of each solution, then of the largest of ours."""
    if state.every:
        yield state.step, None
        return
    sizes = np.bincount(state.labels[state.labels >= 0])
    largest = [int(i) for i in np.argsort(-sizes, kind="stable") if sizes[i] > 1]
    ours = [(state.step, cluster) for cluster in largest]
    others = [(step, state.first_of(step)) for step in steps if step != state.step]
    wanted = dict.fromkeys([(state.step, state.cluster), *others, *ours])
    room = TREES
    for step, cluster in wanted:
        if cluster is not None and room > 0:
            room -= len(tree_fields(state, step, cluster)["svg"])
            yield step, cluster
