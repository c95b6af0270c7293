"""What of an explorer is kept between visits: steps that can be undone, and what is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lvmkit.cohorts.subset import Subset
from lvmkit.mixtures.analysis import ClusterView
from lvmkit.mixtures.clustering import Clustering
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.history import History, Step

KEY = "session"  # of annotations_
VERSION = 1
SEEN = ("cluster", "other", "code", "balance", "top", "tab")  # fields of the state that are kept
MOST_STEPS = 500


def session_notes(state: ExplorerState) -> dict[str, Any]:
    """Return what is kept beside the model as JSON values: steps that share its mixture, and what is looked at."""
    history, mixture = state.history, state.clustering.mixture
    steps, place = history.steps, history.position
    first = last = place
    while first > 0 and steps[first - 1].value.clustering.mixture is mixture:
        first -= 1
    while last + 1 < len(steps) and steps[last + 1].value.clustering.mixture is mixture:
        last += 1
    first = max(first, last + 1 - MOST_STEPS)
    before = "\n".join(step.code for step in steps[: first + 1])  # so that the Python stays whole
    kept = [_noted(step, before if i == first else step.code) for i, step in enumerate(steps)]
    return {
        "version": VERSION,
        **(state.session or {}),
        "steps": kept[first : last + 1],
        "position": place - first,
        "seen": {name: getattr(state, name) for name in SEEN},
        "hide": state.disclosure.on_screen,
    }


def restored(state: ExplorerState, notes: Any) -> ExplorerState:
    """Return the state with the steps and views of an earlier visit; ValueError if they do not fit."""
    try:
        return _restored(state, notes)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        message = "the steps of an earlier visit cannot be read"
        raise ValueError(message) from error


def _restored(state: ExplorerState, notes: Mapping[str, Any]) -> ExplorerState:
    """Return the state with the steps and views of an earlier visit."""
    if notes["version"] != VERSION:
        message = "the steps of an earlier visit are of another version"
        raise ValueError(message)
    mixture = state.clustering.mixture
    steps = tuple(_step(noted, mixture) for noted in notes["steps"][:MOST_STEPS])
    history = History(steps).go_to(int(notes["position"]))
    state.patients.rows(history.value.subset)
    there = state.replace(history=history).disclose(on_screen=bool(notes["hide"]))
    there = there.replace(**there.follow(history.value))
    seen, ids = notes["seen"], there.clustering.ids
    picked = {name: seen[name] for name in ("cluster", "other") if seen[name] in ids}
    if seen["code"] in there.codes:
        picked["code"] = seen["code"]
    return there.look(**picked).replace(
        balance=min(max(float(seen["balance"]), 0.0), 1.0),
        top=min(max(int(seen["top"]), 5), 40),
        tab=int(seen["tab"]),
    )


def _noted(step: Step[ClusterView], code: str) -> dict[str, Any]:
    """Write a step as JSON values."""
    view, subset = step.value, step.value.subset
    return {
        "text": step.text,
        "code": code,
        "clustering": view.clustering.to_annotations(),
        "how": view.how,
        "subset": {
            "ranges": {name: list(ends) for name, ends in subset.ranges.items()},
            "values": {name: list(levels) for name, levels in subset.values.items()},
            "having": list(subset.having),
            "lacking": list(subset.lacking),
        },
    }


def _step(noted: Mapping[str, Any], mixture: Any) -> Step[ClusterView]:
    """Read a step."""
    chosen = noted["subset"]
    subset = Subset(
        ranges={str(n): (float(low), float(high)) for n, (low, high) in chosen["ranges"].items()},
        values={str(n): tuple(map(str, levels)) for n, levels in chosen["values"].items()},
        having=tuple(map(str, chosen["having"])),
        lacking=tuple(map(str, chosen["lacking"])),
    )
    clustering = Clustering.from_annotations(mixture, noted["clustering"])
    view = ClusterView(clustering, subset, str(noted["how"]))
    return Step(str(noted["text"]), str(noted["code"]), view)
