"""State of the cluster explorer: selection, clustering and history, without any view."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from os.path import realpath
from pathlib import Path
from typing import Any

import pandas as pd
import param

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.view import CohortView
from lvmkit.core.stored import StoredModel
from lvmkit.core.typing import Array, Progress
from lvmkit.disclosure.text import with_texts
from lvmkit.mixtures.analysis import Analysis, ClusterView
from lvmkit.mixtures.assignment import Moves
from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.mixtures.refit import FitJob, check_size, how_it_stopped, refitted, split
from lvmkit.scores import CodeCounts
from lvmkit.storage import is_model_file
from lvmkit_widgets.ui.history import History, Step, UndoRedo, opening
from lvmkit_widgets.ui.selection import Selection


class ExplorerState(UndoRedo, Selection):
    """Selection, clustering and history of a cluster explorer."""

    # Every operation that changes the clustering is one step that can be undone, and is recorded as a line of Python
    # that repeats it.

    k = param.Integer(default=8, doc="Number of clusters for the next fit.")
    subset = param.ClassSelector(class_=Subset, default=Subset(), doc="Patients for the next fit.")
    excluded = param.List(default=[], item_type=str, doc="Codes left out of the next fit.")
    history = param.Parameter(constant=True, doc="Steps taken so far.")
    assignment = param.Parameter(constant=True, doc="Posterior probabilities of those shown.")
    message = param.String(default="", doc="What the last step did, in words.")
    autosave = param.String(default=None, allow_None=True, doc="Model file kept up to date.")

    def __init__(self, model: Any, cohort: Any, *, name: str = "", source: str = "") -> None:
        self.patients = CohortView(cohort)
        mixture = Mixture.of(model, self.patients.codes)
        self.title = name or self.patients.source
        self._analysis = Analysis(self.patients)
        self._opened = model
        self._written: dict[str, tuple[int, int] | None] = {}
        clustering = Clustering.from_annotations(mixture, getattr(model, "annotations_", {}) or {})
        view = ClusterView(clustering, Subset(), how_it_stopped(model))
        super().__init__(history=History((Step("Opened", opening(source), view),)))
        self.message = self.patients.differences(mixture.codes)
        self._recompute()
        self.param.watch(self._recompute, "history")

    @property
    def view(self) -> ClusterView:
        """What is looked at now."""
        return self.history.value

    @property
    def clustering(self) -> Clustering:
        """Components, groups, names and notes now."""
        return self.view.clustering

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes the mixture knows."""
        return self.clustering.mixture.codes

    @property
    def model(self) -> Any:
        """A model of its own that carries names, notes, groups and the record of steps."""
        placing = self.clustering.mixture.placing  # by scores of this cohort: no model to save
        own = self._as_opened and (placing is None or isinstance(placing, StoredModel))
        model = copy.copy(self._opened) if own else self.clustering.mixture.model
        model.annotations_ = self.annotations
        return model

    @property
    def _as_opened(self) -> bool:
        """Whether the components are still those of the model that was opened."""
        return self.clustering.mixture is self.history.steps[0].value.clustering.mixture

    @property
    def annotations(self) -> dict[str, Any]:
        """Names, notes, groups and steps as JSON values."""
        done = self.history.steps[: self.history.position + 1]
        record = [{"text": step.text, "code": step.code} for step in done]
        return {**self.clustering.to_annotations(), "steps": record}

    @property
    def weights(self) -> Array | None:
        """What each of the patients shown stands for (n,), of a cohort with weights."""
        return self.patients.weights(self.view.subset)

    @property
    def log_likelihood(self) -> float:
        """Mean log-likelihood of the patients shown, nats per patient."""
        return self._analysis.log_likelihood(self.view)

    def counts(self, *, shared: bool = False, whole: bool = False) -> CodeCounts:
        """Count patients by cluster and code."""
        hide = (self.hide_small or shared) and not whole
        return self._analysis.counts(self.view, self.threshold if hide else 0)

    def association(self, *, shared: bool = False) -> pd.DataFrame:
        """Compare each code in each cluster with the rest, with intervals and tests."""
        hide = self.hide_small or shared
        shown = self._analysis.association(self.view, self.threshold if hide else 0)
        whole = self._analysis.association(self.view)
        own, sums = ["n_in", "size_in"], ["n_out", "size_out"]
        return with_texts(shown, whole, own, self.threshold, sums=sums)

    @property
    def n_chosen(self) -> int:
        """Number of patients in `subset`; 0 when nobody fits."""
        try:
            return len(self.patients.rows(self.subset))
        except ValueError:
            return 0

    def rename(self, id: int, name: str) -> None:
        """Name a cluster."""
        clustering = self.clustering.renamed(id, name=name)
        self._do(clustering, f"Named cluster {id} “{name}”", f"state.rename({id}, {name!r})")

    def write_note(self, id: int, note: str) -> None:
        """Write a note about a cluster."""
        clustering = self.clustering.renamed(id, note=note)
        self._do(clustering, f"Note on cluster {id}", f"state.write_note({id}, {note!r})")

    def merge(self, ids: Iterable[int], *, name: str = "") -> None:
        """Merge clusters into one: their posterior probabilities add."""
        chosen = list(dict.fromkeys(ids))
        new = self.clustering.next_id
        names = " and ".join(f"“{self.clustering.cluster(i).label}”" for i in chosen)
        self._do(
            self.clustering.merged(chosen, name=name),
            f"Merged {names} into cluster {new}",
            f"state.merge({chosen!r}, name={name!r})",
        )
        self.cluster = new

    def unmerge(self, id: int) -> None:
        """Take a merge back; the clusters return under their old ids."""
        clustering = self.clustering.unmerged(id)
        self._do(clustering, f"Took cluster {id} apart", f"state.unmerge({id})")

    def plan_split(self, id: int, *, parts: int = 2) -> FitJob:
        """Prepare to cluster the patients of one cluster again."""
        view, label = self.view, self.clustering.cluster(id).label
        if parts < 2:
            message = f"A cluster is split into 2 parts or more; {parts} was given."
            raise ValueError(message)
        check_size(parts, int((self.assignment.labels == id).sum()), len(self.codes))

        def work(progress: Progress | None) -> tuple[ClusterView, Moves]:
            return split(self._analysis, view, id, parts, progress=progress)

        def done(result: tuple[ClusterView, Moves]) -> None:
            first = view.clustering.next_id
            text = f"Split “{label}” into {parts} parts"
            self._step(result[0], text, f"state.split({id}, parts={parts})")
            self.param.update(cluster=first, other=first + 1)
            self.message = f"{text}. {result[1].text}"

        return FitJob(f"Splitting “{label}”", work, done)

    def split(self, id: int, *, parts: int = 2, progress: Progress | None = None) -> None:
        """Cluster the patients of one cluster again."""
        job = self.plan_split(id, parts=parts)
        job.done(job.work(progress))

    def plan_refit(self) -> FitJob:
        """Prepare to fit again with `k` clusters on `subset`, without the codes `excluded`."""
        k, subset, excluded = self.k, self.subset, list(self.excluded)
        unknown = [code for code in excluded if code not in self.patients.titles]
        if unknown:
            message = f"The cohort has no code {', '.join(unknown[:5])}; check how it is written."
            raise ValueError(message)
        codes = tuple(code for code in self.patients.codes if code not in set(excluded))
        check_size(k, len(self.patients.rows(subset)), len(codes))
        old = self.view

        def work(progress: Progress | None) -> tuple[ClusterView, list[str]]:
            return refitted(self._analysis, old, k, subset=subset, codes=codes, progress=progress)

        def done(result: tuple[ClusterView, list[str]]) -> None:
            view, carried = result
            weighted = self.patients.weighted_by
            weighed = f", weighted by “{weighted}”" if weighted else ""
            text = f"Fitted {k} clusters to {len(self.patients.rows(subset)):,} patients{weighed}"
            given = f"subset={subset.code}, excluded={excluded!r}"
            self._step(view, text, f"state.refit(k={k}, {given})")
            kept = f" Names kept: {', '.join(carried)}." if carried else ""
            self.message = f"{text}; {view.how}.{kept}"

        return FitJob(f"Fitting {k} clusters", work, done)

    def refit(
        self,
        k: int | None = None,
        *,
        subset: Subset | None = None,
        excluded: list[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Fit the mixture again."""
        given = {"k": k, "subset": subset, "excluded": excluded}
        self.param.update(**{name: value for name, value in given.items() if value is not None})
        job = self.plan_refit()
        job.done(job.work(progress))

    def show(self, subset: Subset) -> None:
        """Show only some patients; the clusters stay as they are."""
        n = len(self.patients.rows(subset))
        view = ClusterView(self.clustering, subset, self.view.how)
        self._step(view, f"Showing {subset.text}: {n:,} patients", f"state.show({subset.code})")

    def save(self, path: str | Path) -> None:
        """Save the model with names, notes, merges and the record of steps."""
        # The model that was opened takes them too, while its components are still in use.
        lvmkit.save(self.model, path)
        self._written[realpath(path)] = _seen(path)
        if self._as_opened:
            self._opened.annotations_ = self.annotations

    def _do(self, clustering: Clustering, text: str, code: str) -> None:
        """Take a step that keeps patients and fit."""
        self._step(ClusterView(clustering, self.view.subset, self.view.how), text, code)

    def _go(self, history: History[ClusterView], message: str) -> None:
        """Stand somewhere in the history, and keep the file up to date."""
        with param.edit_constant(self):
            self.param.update(history=history, message=message)
        if not self.autosave:
            return
        seen = _seen(self.autosave)
        known = seen is None or self._written.get(realpath(self.autosave)) in (None, seen)
        is_model = seen is None or is_model_file(self.autosave)
        if not (known and is_model):
            lost, self.autosave = self.autosave, None
            what = (
                "was written by somebody else meanwhile" if is_model else "has become another file"
            )
            error = f"{message} It is not saved: “{lost}” {what}. Name one under Steps and files."
            raise ValueError(error)
        lvmkit.save(self.model, self.autosave)
        self._written[realpath(self.autosave)] = _seen(self.autosave)

    def _recompute(self, *events: Any) -> None:
        """Recompute once per change what every view shows."""
        view = self.view
        known = set(view.clustering.mixture.codes)
        fields: dict[str, Any] = {
            "assignment": self._analysis.assignment(view),
            "k": len(view.clustering.clusters),
            "subset": view.subset,
            "excluded": [code for code in self.patients.codes if code not in known],
        }
        ids = view.clustering.ids
        fields["cluster"] = self.cluster if self.cluster in ids else ids[0]
        if self.other not in ids or self.other == fields["cluster"]:
            fields["other"] = next((i for i in ids if i != fields["cluster"]), None)
        if self.code not in known:
            fields["code"] = ""
        with param.edit_constant(self):
            self.param.update(**fields)


def _seen(path: str | Path) -> tuple[int, int] | None:
    """Return what tells one writing of a file from another; None if there is no file."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
