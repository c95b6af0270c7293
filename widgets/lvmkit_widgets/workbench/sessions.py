"""Work that is kept between visits: for each cohort a file with its model, names, notes, merges and steps."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
import platformdirs

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit.core.npz import header_of
from lvmkit.mixtures.analysis import ClusterView
from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.storage import is_model_file
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.history import History, Step
from lvmkit_widgets.ui.words import counted, refuse

VARIABLE = "LVMKIT_SESSIONS"
"""Environment variable that names another folder than the user's own."""
KEY = "session"  # of annotations_
VERSION = 1
LISTED = 8  # recent sessions
MOST_STEPS = 500
MOST_LETTERS = 1_500_000  # of the mixtures that steps led away from
SEEN = ("cluster", "other", "code", "balance", "top", "tab")  # fields of the state that are kept


# -- files ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Session:
    """The file that holds what was done with a cohort; there is none before the first step."""

    path: Path
    source: str  # Name of a known cohort, or path of a file
    k: int  # Clusters of the first fit

    @classmethod
    def of(cls, source: str, k: int) -> Self:
        """Return the session of a cohort."""
        path, about = Path(source), [source]
        if path.is_file():  # another file of the same name is another cohort
            status = path.stat()
            source = str(path.resolve())
            about = [source, str(status.st_size), str(status.st_mtime_ns)]
        digest = hashlib.sha256("\n".join([*about, str(k)]).encode()).hexdigest()[:16]
        folder = sessions_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(folder / f"{path.stem[:40]}-{digest}.npz", source, k)

    def model(self) -> tuple[Any, str]:
        """Return the model to go on with, or None, and what to say of it."""
        if not self.path.is_file():
            return None, ""
        when = written(self.path)
        try:
            return lvmkit.load(self.path), f"Gone on where you were on {when}."
        except (ValueError, OSError):
            aside = self.put_aside("damaged")
            return None, f"What was kept on {when} cannot be read; it was put aside as {aside}."

    def put_aside(self, why: str) -> Path:
        """Give the file another name, so that nothing is lost; return it."""
        aside = self.path.with_suffix(f".{why}.npz")
        return self.path.replace(aside) if self.path.is_file() else aside


def sessions_folder() -> Path:
    """Return the folder of the sessions: the user's own, or the one that `LVMKIT_SESSIONS` names."""
    return Path(os.environ.get(VARIABLE) or platformdirs.user_data_path("lvmkit") / "sessions")


def recent() -> list[tuple[Session, str]]:
    """List the sessions that can be gone on with, the newest first, and what was done in each."""
    files = sorted(sessions_folder().glob("*.npz"), key=lambda path: -path.stat().st_mtime)
    return list(_listed(path for path in files if path.suffixes == [".npz"]))[:LISTED]


def _listed(files: Iterable[Path]) -> Iterator[tuple[Session, str]]:
    """Yield sessions and what was done; one that cannot be read has no source, and is told as that."""
    for path in files:
        if not is_model_file(path):
            yield Session(path, "", 0), f"cannot be read, and is kept · {written(path)}"
            continue
        notes = header_of(path).get("annotations")
        about = notes.get(KEY) if isinstance(notes, Mapping) else None
        if isinstance(notes, Mapping) and isinstance(about, Mapping):
            source, k = about.get("source"), about.get("k")
            if isinstance(source, str) and isinstance(k, int) and k > 0:
                yield Session(path, source, k), _told(notes, path)


def _told(notes: Mapping[str, Any], path: Path) -> str:
    """Say what was done in a session: names, splits, merges, and when."""
    clusters, steps = notes.get("clusters") or [], notes.get("steps") or []
    names = [str(c.get("name")) for c in clusters if isinstance(c, Mapping) and c.get("name")]
    codes = [str(step.get("code")) for step in steps if isinstance(step, Mapping)]
    named = ", ".join(names[:4]) + (" …" if len(names) > 4 else "") if names else "no names"
    done = {what: sum(f".{what}(" in code for code in codes) for what in ("split", "merge")}
    counts = [counted(n, what) for what, n in done.items() if n]
    return " · ".join([named, *counts, written(path)])


def written(path: Path) -> str:
    """Say when a file was written."""
    return f"{datetime.fromtimestamp(path.stat().st_mtime):%d %b %Y, %H:%M}"


# -- steps and views --------------------------------------------------------------------------------


def session_notes(state: ExplorerState) -> dict[str, Any]:
    """Return what is kept beside the model as JSON values: steps that can be undone, and what is looked at."""
    history, now = state.history, state.clustering.mixture
    packed = _Mixtures(now)
    first = last = history.position
    while first > 0 and packed.take(history.steps[first - 1].value.clustering.mixture):
        first -= 1
    for step in history.steps[last + 1 :]:
        if not packed.take(step.value.clustering.mixture):
            break
        last += 1
    first = max(first, last + 1 - MOST_STEPS)
    # The first step that is kept brings the Python of all before it, so that the record stays whole.
    before = "\n".join(step.code for step in history.steps[: first + 1])
    kept = [
        _noted(step, before if i == first else step.code, packed.place(step))
        for i, step in enumerate(history.steps[: last + 1])
        if i >= first
    ]
    return {
        "version": VERSION,
        "mixtures": packed.texts,
        "steps": kept,
        "position": history.position - first,
        "seen": {name: getattr(state, name) for name in SEEN},
        "hide": state.disclosure.on_screen,
    }


def restored(state: ExplorerState, notes: Any) -> ExplorerState:
    """Return the state with the steps and views of an earlier visit; ValueError if they do not fit."""
    try:
        return _restored(state, notes)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        message = "the steps of an earlier visit cannot be read"
        raise ValueError(message) from error


def _restored(state: ExplorerState, notes: Mapping[str, Any]) -> ExplorerState:
    """Return the state with the steps and views of an earlier visit."""
    if notes["version"] != VERSION:
        refuse("the steps of an earlier visit are of another version")
    now = state.clustering.mixture
    mixtures = [now, *(_unpacked(text, now) for text in notes.get("mixtures", []))]
    steps = tuple(_step(noted, mixtures) for noted in notes["steps"][:MOST_STEPS])
    history = History(steps).go_to(int(notes["position"]))
    state.patients.rows(history.value.subset)
    first = steps[0].value.clustering.mixture
    opened = state.model_opened if first is now else first.model
    there = state.replace(history=history, model_opened=opened)
    there = there.disclose(on_screen=bool(notes["hide"])).replace(**there.follow(history.value))
    seen, ids = notes["seen"], there.clustering.ids
    picked = {name: seen[name] for name in ("cluster", "other") if seen[name] in ids}
    if seen["code"] in there.codes:
        picked["code"] = seen["code"]
    return there.look(**picked).replace(
        balance=min(max(float(seen["balance"]), 0.0), 1.0),
        top=min(max(int(seen["top"]), 5), 40),
        tab=int(seen["tab"]),
    )


def _noted(step: Step[ClusterView], code: str, mixture: int) -> dict[str, Any]:
    """Write a step as JSON values; `mixture` is its place, 0 that of the model."""
    view, subset = step.value, step.value.subset
    return {
        "text": step.text,
        "code": code,
        "mixture": mixture,
        "clustering": view.clustering.to_annotations(),
        "how": view.how,
        "subset": {
            "ranges": {name: list(ends) for name, ends in subset.ranges.items()},
            "values": {name: list(levels) for name, levels in subset.values.items()},
            "having": list(subset.having),
            "lacking": list(subset.lacking),
        },
    }


def _step(noted: Mapping[str, Any], mixtures: list[Mixture]) -> Step[ClusterView]:
    """Read a step."""
    chosen = noted["subset"]
    subset = Subset(
        ranges={str(n): (float(low), float(high)) for n, (low, high) in chosen["ranges"].items()},
        values={str(n): tuple(map(str, levels)) for n, levels in chosen["values"].items()},
        having=tuple(map(str, chosen["having"])),
        lacking=tuple(map(str, chosen["lacking"])),
    )
    mixture = mixtures[abs(int(noted.get("mixture", 0)))]
    clustering = Clustering.from_annotations(mixture, noted["clustering"])
    view = ClusterView(clustering, subset, str(noted["how"]))
    return Step(str(noted["text"]), str(noted["code"]), view)


class _Mixtures:
    """The mixtures of steps as texts, as many as there is room for; the first is the model's own, without a text."""

    def __init__(self, now: Mixture) -> None:
        self.known, self.texts = [now], list[dict[str, Any]]()

    def take(self, mixture: Mixture) -> bool:
        """Keep one more mixture; tell whether it is kept."""
        if any(mixture is one for one in self.known):
            return True
        text = _packed(mixture)
        room = MOST_LETTERS - sum(len(one["numbers"]) for one in self.texts)
        # What places patients by the scores of a tree or of phenotypes is more than its weights and centers.
        if mixture.placing is not None or len(text["numbers"]) > room:
            return False
        self.known.append(mixture)
        self.texts.append(text)
        return True

    def place(self, step: Step[ClusterView]) -> int:
        """Return the place of a step's mixture."""
        return next(i for i, m in enumerate(self.known) if m is step.value.clustering.mixture)


def _packed(mixture: Mixture) -> dict[str, Any]:
    """Write weights and centers as text, row by row."""
    numbers = np.column_stack([mixture.weights, mixture.centers]).astype("<f8")
    return {
        "codes": list(mixture.codes),
        "numbers": base64.b64encode(numbers.tobytes()).decode("ascii"),
    }


def _unpacked(text: Mapping[str, Any], now: Mixture) -> Mixture:
    """Read weights and centers; refuse what no mixture has."""
    codes = tuple(map(str, text["codes"]))
    numbers = np.frombuffer(base64.b64decode(text["numbers"], validate=True), dtype="<f8")
    table = numbers.reshape(-1, len(codes) + 1).astype(float)
    if not ((table >= 0) & (table <= 1)).all() or not np.isclose(table[:, 0].sum(), 1.0):
        refuse("the numbers of an earlier visit are no probabilities")
    return Mixture(table[:, 0], table[:, 1:], now.codes if codes == now.codes else codes)
