"""Tab of the phenotype cards, and of two of them side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.core.typing import Labels
from lvmkit.sustain.phenotypes import FeatureMode, Phenotypes
from lvmkit.sustain.score_counts import DisclosedCounts
from lvmkit.sustain.similarity import cosine_similarities, near_duplicates
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.phenotypes.tab import PhenotypeTab
from lvmkit_widgets.ui.dashboard import Dashboard
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


class CardsTab(PhenotypeTab):
    """All phenotypes at once."""

    title: ClassVar[str] = "Cards"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"phenotype", "other", "history", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.cards = PhenotypeCards(title="Phenotypes")
        self.pair = PhenotypePair(source="cards")
        self.components = {"cards": self.cards, "pair": self.pair}
        self.layout = ["pair", "cards"]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        if self.changed("items", state.phenotypes, state.figures):
            self.cards.param.update(
                **numbers_of(state.phenotypes, state.figures, known=state.known),
                modes=modes_of(state.phenotypes),
                row_name=state.row_name,
                help=HELP.format(row_name=state.row_name),
            )
        self.cards.param.update(
            annotations=annotations_of(state), selected=state.phenotype, other=state.other
        )

    def show_selection(self) -> None:
        """Show what is picked."""
        self.cards.param.update(selected=self.state.phenotype, other=self.state.other)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("cards", "selected", self.pick)
        board.listen("cards", "other", self._compare)
        board.listen("cards", "edit", self._annotate)

    def _compare(self, other: int | None) -> None:
        """Put another phenotype beside the one that is picked."""
        self.state.other = None if other is None else int(other)

    def _annotate(self, told: dict[str, Any]) -> None:
        """Keep what the reader says of a phenotype."""
        state, phenotype = self.state, int(told["id"])
        say = {"name": state.rename, "note": state.write_note, "mark": state.mark}
        say[str(told["field"])](phenotype, str(told["value"]))


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


def numbers_of(phenotypes: Phenotypes, figures: DisclosedCounts, *, known: bool) -> dict[str, Any]:
    """Describe the cards but for what is said of them."""
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
        "likeness": cosines.round(3),
        "levels": list(phenotypes.levels),
        "both": figures.both if known else [],
        "total": figures.total if known else None,
    }


def annotations_of(state: CardsState) -> dict[str, Any]:
    """Describe what is said of phenotypes."""
    return dict(state.annotations.to_annotations()["phenotypes"])
