"""Tab of the phenotype cards, and of two of them side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.core.typing import Labels
from lvmkit.sustain.phenotypes import FeatureMode, Phenotypes
from lvmkit.sustain.score_counts import DisclosedCounts
from lvmkit.sustain.similarity import cosine_similarities, near_duplicates
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import PhenotypeCards, PhenotypePair

HELP = (
    "A phenotype is a set of features that come together. Each has a whole-number score, drawn as levels: how much "
    "of it belongs to the phenotype, relative to the others. Patients have scores too: how strongly the phenotype "
    "shows in what was recorded of them; 0 is not at all. λ is a weight that scales counts: of a feature one expects "
    "λ × score of the patient × score of the feature (with several kinds of features, × the score of each). "
    "Phenotypes of large λ stand for conditions with many encounters."
    "\n\nThe share of {row_name} that a card shows are those whose score is not 0. Numbers of phenotypes are those of "
    "the model and never change; until you name one, its first features stand in gray."
    "\n\nPick a card to name it, to write a note and to mark it; the model keeps what you say. **⇄** on "
    "another card puts the two side by side."
)


class CardsTab(Tab[CardsState]):
    """All phenotypes at once."""

    title: ClassVar[str] = "Cards"

    def __init__(self) -> None:
        super().__init__()
        cards = PhenotypeCards(title="Phenotypes")
        self.components = {"cards": cards, "pair": PhenotypePair(source="cards")}
        self.layout = ["pair", "cards"]
        self.events = {
            "cards.selected": CardsState.pick,
            "cards.other": lambda state, other: state.replace(other=other),
            "cards.edit": annotate,
        }

    def picks(self, state: CardsState) -> Fields:
        """Show what is picked."""
        return {"cards": {"selected": state.phenotype, "other": state.other}}

    def fields(self, state: CardsState) -> Fields:
        """Show the cards, and what is said of them."""
        said = {"annotations": dict(state.annotations.to_annotations()["phenotypes"])}
        what = {"row_name": state.row_name, "help": HELP.format(row_name=state.row_name)}
        return {"cards": {**numbers_of(state, state.phenotypes, state.figures), **what, **said}}


def annotate(state: CardsState, told: dict[str, Any]) -> CardsState:
    """Keep what the reader says of a phenotype."""
    say = {"name": state.rename, "note": state.write_note, "mark": state.mark}
    return say[str(told["field"])](int(told["id"]), str(told["value"]))


def parts_of(phenotypes: Phenotypes) -> list[tuple[str, FeatureMode, Labels]]:
    """List the features that any phenotype scores, by mode and kind: the browser gets no others."""
    return [
        (kind, mode, places[mode.scores[places].any(axis=1)])
        for mode in phenotypes.modes
        for kind, places in mode.parts
    ]


def modes_of(phenotypes: Phenotypes) -> list[dict[str, Any]]:
    """Describe the features by mode."""
    return [
        {
            "name": kind,
            "codes": [mode.codes[j] for j in places],
            "titles": [mode.titles[j] for j in places],
            "low": mode.low,
            "high": mode.high,
        }
        for kind, mode, places in parts_of(phenotypes)
    ]


def features_of(phenotypes: Phenotypes) -> list[list[list[list[int]]]]:
    """List the features of every phenotype as the browser reads them."""
    found: list[list[list[list[int]]]] = [[] for _ in range(len(phenotypes))]
    for _, mode, places in parts_of(phenotypes):
        scores = mode.scores[places]
        for r, features in enumerate(found):
            own = np.flatnonzero(scores[:, r])
            order = own[np.argsort(-scores[own, r].astype(np.int64), kind="stable")]
            features.append([[int(k), int(scores[k, r])] for k in order])
    return found


@remembered
def numbers_of(
    state: CardsState, phenotypes: Phenotypes, figures: DisclosedCounts
) -> dict[str, Any]:
    """Describe the cards but for what is said of them."""
    known = state.known
    cosines, shares = cosine_similarities(phenotypes, phenotypes), figures.prevalence
    alike, features = near_duplicates(cosines), features_of(phenotypes)
    items = [
        {
            "id": r,
            "hint": phenotypes.hint(r),
            "weight": int(phenotypes.weights[r]),
            "size": int(phenotypes.sizes[r]),
            "features": features[r],
            "counts": figures.counts(r) if known else [],
            "n_with_score": figures.n_with_score(r) if known else None,
            "share": float(shares[r]) if known else None,
            "alike": alike[r],
        }
        for r in range(len(phenotypes))
    ]
    return {
        "items": items,
        "modes": modes_of(phenotypes),
        "likeness": cosines.round(3),
        "levels": list(phenotypes.levels),
        "both": figures.both if known else [],
        "total": figures.total if known else None,
    }
