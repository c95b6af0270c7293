"""State of the cluster explorer: what is picked, clustering and history, without any view."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import pandas as pd

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.view import CohortView
from lvmkit.core.stored import StoredModel
from lvmkit.core.typing import Array, Progress
from lvmkit.disclosure.text import shown_count, with_texts
from lvmkit.mixtures.analysis import Analysis, ClusterView
from lvmkit.mixtures.assignment import Assignment, Moves
from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.mixtures.refit import check_size, how_it_stopped, refitted, split
from lvmkit.scores import CodeCounts
from lvmkit.storage import is_model_file
from lvmkit_widgets.ui.history import History, Step, opening
from lvmkit_widgets.ui.paging import FIRST_PAGE, Paging
from lvmkit_widgets.ui.state import StepState
from lvmkit_widgets.ui.tabs import Job
from lvmkit_widgets.ui.words import refuse


class NewPatient(NamedTuple):
    """A patient who is not in the cohort."""

    typed: str  # Codes as they were typed
    picked: tuple[str, ...]  # Codes picked by name
    others_unknown: bool  # Whether of other codes nothing is known
    cluster: int | None = None  # Whose arithmetic is shown; None: of the most probable one


class ModelFiles:
    """Model files that a session has written, so that what others write is not lost."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[int, int] | None] = {}

    def save(self, model: Any, path: str | Path) -> None:
        """Save a model."""
        lvmkit.save(model, path)
        self._written[realpath(path)] = _seen(path)

    def changed(self, path: str | Path) -> str:
        """Say what has become of a file since it was written; "" if nothing has."""
        seen = _seen(path)
        if seen is not None and not is_model_file(path):
            return "has become another file"
        known = seen is None or self._written.get(realpath(path)) in (None, seen)
        return "" if known else "was written by somebody else meanwhile"


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplorerState(StepState[ClusterView]):
    """Picks, clustering and history of a cluster explorer."""

    # Every operation that changes the clustering is one step that can be undone, and is recorded as a line of Python
    # that repeats it.

    is_work: ClassVar[bool] = True

    patients: CohortView
    analysis: Analysis
    model_opened: Any
    title: str = ""  # What the cohort is called
    cluster: int = 0  # Id of the cluster that is picked
    other: int | None = None  # Id of the cluster to compare with
    code: str = ""  # The code that is picked
    patient: int | None = None  # Picked row of the cohort, from 0
    attribute: str = ""  # Further attribute that is drawn
    balance: float = 0.6  # λ: 1 is probability, 0 is lift
    top: int = 20  # Number of codes in the charts
    tested: Paging = FIRST_PAGE  # Of the tests of a cluster
    differences: Paging = FIRST_PAGE  # Of the codes in which two differ
    typed: tuple[str, str] | None = None  # Name and note of the cluster, typed and not yet kept
    newcomer: NewPatient | None = None
    k: int = 8  # Number of clusters for the next fit
    subset: Subset = field(default_factory=Subset)  # Patients for the next fit
    excluded: tuple[str, ...] = ()  # Codes left out of the next fit
    parts: int | None = 2  # Of the next split
    merging: tuple[int, ...] = ()  # Clusters of the next merge
    merged_name: str = ""  # Of the cluster that comes of it
    autosave: str | None = None  # Model file kept up to date
    asked: Path | None = None  # A model that is there: may it be replaced?
    files: ModelFiles = field(default_factory=ModelFiles)

    @classmethod
    def of(cls, model: Any, cohort: Any, *, name: str = "", source: str = "") -> Self:
        """Return the state of a model and its cohort."""
        patients = CohortView(cohort)
        mixture = Mixture.of(model, patients.codes)
        clustering = Clustering.from_annotations(mixture, getattr(model, "annotations_", {}) or {})
        view = ClusterView(clustering, Subset(), how_it_stopped(model))
        state = cls(
            history=History((Step("Opened", opening(source), view),)),
            patients=patients,
            analysis=Analysis(patients),
            model_opened=model,
            title=name or patients.source,
            message=patients.differences(mixture.codes),
        )
        return state.replace(**state.follow(view))

    def for_another(self) -> Self:
        """Return the same for another dashboard, with what was computed and files of its own."""
        return self.replace(memory=self.memory.copy(), files=ModelFiles(), autosave=None)

    @property
    def view(self) -> ClusterView:
        """What is looked at now."""
        return self.value

    @property
    def assignment(self) -> Assignment:
        """Posterior probabilities of those shown."""
        return self.analysis.assignment(self.view)

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
        model = copy.copy(self.model_opened) if own else self.clustering.mixture.model
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

    def shown_sizes(self, counts: CodeCounts) -> list[int | str]:
        """Return the size of each cluster as a number, or as text where it is hidden."""
        sizes = zip(counts.sizes, self.assignment.sizes, strict=True)
        return [shown_count(shown, whole, self.disclosure.threshold) for shown, whole in sizes]

    @property
    def log_likelihood(self) -> float:
        """Mean log-likelihood of the patients shown, nats per patient."""
        return self.analysis.log_likelihood(self.view)

    def counts(self, *, whole: bool = False) -> CodeCounts:
        """Count patients by cluster and code; `whole` hides nothing."""
        return self.analysis.counts(self.view, 0 if whole else self.disclosure.level)

    def association(self) -> pd.DataFrame:
        """Compare each code in each cluster with the rest, with intervals and tests."""
        shown = self.analysis.association(self.view, self.disclosure.level)
        whole = self.analysis.association(self.view)
        own, sums = ["n_in", "size_in"], ["n_out", "size_out"]
        return with_texts(shown, whole, own, self.disclosure.threshold, sums=sums)

    @property
    def unsaved(self) -> bool:
        """Whether steps would be lost with the dashboard."""
        return self.autosave is None and super().unsaved

    @property
    def n_chosen(self) -> int:
        """Number of patients in `subset`; 0 when nobody fits."""
        try:
            return len(self.patients.rows(self.subset))
        except ValueError:
            return 0

    # -- picks -----------------------------------------------------------------------------------

    def look(self, **picked: Any) -> Self:
        """Pick a `cluster`, an `other` to compare with, a `code`; what was typed of a cluster before is kept."""
        cluster = picked.setdefault("cluster", self.cluster)
        if cluster == picked.get("other", self.other):
            picked["other"] = self.cluster if self.cluster != cluster else None
        moved = cluster != self.cluster
        state = self.keep_typed() if moved else self
        if moved or picked.get("other", self.other) != self.other:
            picked |= {"differences": state.first_page("differences")}
        if moved:
            picked |= {"tested": state.first_page("tested")}
        return state.replace(**picked)

    def first_page(self, table: str) -> Paging:
        """Return the first page of a table, in its order."""
        paging: Paging = getattr(self, table)
        return paging._replace(page=0)

    def pick_mark(self, mark: Mapping[str, Any]) -> Self:
        """Pick the cluster and the code of a mark in a picture."""
        picked: dict[str, Any] = {}
        if mark.get("cluster") is not None:
            picked["cluster"] = int(mark["cluster"])
        if mark.get("code"):
            picked["code"] = str(mark["code"])
        return self.look(**picked)

    def keep_typed(self) -> Self:
        """Keep what was typed of the cluster that is picked: name and note, each a step of its own."""
        if self.typed is None:
            return self
        cluster, (name, note) = self.clustering.cluster(self.cluster), self.typed
        state = self
        if name.strip() != cluster.name:
            state = state.rename(cluster.id, name)
        if note.strip() != cluster.note:
            state = state.write_note(cluster.id, note)
        return state.replace(typed=None)

    # -- steps -----------------------------------------------------------------------------------

    def rename(self, id: int, name: str) -> Self:
        """Name a cluster."""
        clustering = self.clustering.renamed(id, name=name)
        return self._do(clustering, f"Named cluster {id} “{name}”", f"rename({id}, {name!r})")

    def write_note(self, id: int, note: str) -> Self:
        """Write a note about a cluster."""
        clustering = self.clustering.renamed(id, note=note)
        return self._do(clustering, f"Note on cluster {id}", f"write_note({id}, {note!r})")

    def merge(self, ids: Iterable[int], *, name: str = "") -> Self:
        """Merge clusters into one: their posterior probabilities add."""
        chosen = list(dict.fromkeys(ids))
        new = self.clustering.next_id
        names = " and ".join(f"“{self.clustering.cluster(i).label}”" for i in chosen)
        merged = self._do(
            self.clustering.merged(chosen, name=name),
            f"Merged {names} into cluster {new}",
            f"merge({chosen!r}, name={name!r})",
        )
        return merged.look(cluster=new)

    def unmerge(self, id: int) -> Self:
        """Take a merge back; the clusters return under their old ids."""
        clustering = self.clustering.unmerged(id)
        return self._do(clustering, f"Took cluster {id} apart", f"unmerge({id})")

    def plan_split(self, id: int, *, parts: int = 2) -> Job[Self]:
        """Prepare to cluster the patients of one cluster again."""
        view, label, analysis = self.view, self.clustering.cluster(id).label, self.analysis
        if parts < 2:
            refuse(f"A cluster is split into 2 parts or more; {parts} was given.")
        check_size(parts, int((self.assignment.labels == id).sum()), len(self.codes))

        def work(progress: Progress | None) -> tuple[ClusterView, Moves]:
            return split(analysis, view, id, parts, progress=progress)

        def done(state: Self, result: tuple[ClusterView, Moves]) -> Self:
            first = view.clustering.next_id
            text = f"Split “{label}” into {parts} parts"
            parted = state.step_to(result[0], text, f"split({id}, parts={parts})")
            picked = parted.replace(cluster=first, other=first + 1)
            return picked.replace(message=f"{text}. {result[1].text}")

        return Job(f"Splitting “{label}”", work, done)

    def split(self, id: int, *, parts: int = 2, progress: Progress | None = None) -> Self:
        """Cluster the patients of one cluster again."""
        job = self.plan_split(id, parts=parts)
        return job.done(self, job.work(progress))

    def plan_refit(self) -> Job[Self]:
        """Prepare to fit again with `k` clusters on `subset`, without the codes `excluded`."""
        k, subset, excluded = self.k, self.subset, list(self.excluded)
        unknown = [code for code in excluded if code not in self.patients.titles]
        if unknown:
            refuse(f"The cohort has no code {', '.join(unknown[:5])}; check how it is written.")
        codes = tuple(code for code in self.patients.codes if code not in set(excluded))
        check_size(k, len(self.patients.rows(subset)), len(codes))
        old, analysis, patients = self.view, self.analysis, self.patients

        def work(progress: Progress | None) -> tuple[ClusterView, list[str]]:
            return refitted(analysis, old, k, subset=subset, codes=codes, progress=progress)

        def done(state: Self, result: tuple[ClusterView, list[str]]) -> Self:
            view, carried = result
            weighted = patients.weighted_by
            weighed = f", weighted by “{weighted}”" if weighted else ""
            text = f"Fitted {k} clusters to {len(patients.rows(subset)):,} patients{weighed}"
            given = f"subset={subset.code}, excluded={excluded!r}"
            fitted = state.step_to(view, text, f"refit(k={k}, {given})")
            kept = f" Names kept: {', '.join(carried)}." if carried else ""
            return fitted.replace(message=f"{text}; {view.how}.{kept}")

        return Job(f"Fitting {k} clusters", work, done)

    def refit(
        self,
        k: int | None = None,
        *,
        subset: Subset | None = None,
        excluded: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the mixture again."""
        without = None if excluded is None else tuple(excluded)
        given = {"k": k, "subset": subset, "excluded": without}
        wanted = {name: value for name, value in given.items() if value is not None}
        asking = self.replace(**wanted)
        job = asking.plan_refit()
        return job.done(asking, job.work(progress))

    def show(self, subset: Subset) -> Self:
        """Show only some patients; the clusters stay as they are."""
        n = len(self.patients.rows(subset))
        view = ClusterView(self.clustering, subset, self.view.how)
        text = f"Showing {subset.text}: {n:,} patients"
        return self.step_to(view, text, f"show({subset.code})")

    def save(self, path: str | Path) -> None:
        """Save the model with names, notes, merges and the record of steps."""
        # The model that was opened takes them too, while its components are still in use.
        self.files.save(self.model, path)
        if self._as_opened:
            self.model_opened.annotations_ = self.annotations

    def follow(self, value: ClusterView) -> dict[str, Any]:
        """Take clusters, patients and codes of a view as the next choice, and pick what is there."""
        ids, known = value.clustering.ids, set(value.clustering.mixture.codes)
        cluster = self.cluster if self.cluster in ids else ids[0]
        other = self.other
        if other not in ids or other == cluster:
            other = next((i for i in ids if i != cluster), None)
        return {
            "k": len(value.clustering.clusters),
            "subset": value.subset,
            "excluded": tuple(code for code in self.patients.codes if code not in known),
            "cluster": cluster,
            "other": other,
            "code": self.code if self.code in known else "",
            "typed": None,
            "merging": tuple(i for i in self.merging if i in ids),
            "merged_name": "",
            "tested": self.first_page("tested"),
            "differences": self.first_page("differences"),
        }

    def _do(self, clustering: Clustering, text: str, code: str) -> Self:
        """Take a step that keeps patients and fit."""
        return self.step_to(ClusterView(clustering, self.view.subset, self.view.how), text, code)


def _seen(path: str | Path) -> tuple[int, int] | None:
    """Return what tells one writing of a file from another; None if there is no file."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
