"""Phenotypes of the bundled cohort: ``panel serve widgets/apps/score_cards.py``."""

from lvmkit import SUSTain
from lvmkit.datasets import load_discharges
from lvmkit_widgets import ScoreCards

cards = ScoreCards(SUSTain(n_components=12), load_discharges())
cards.servable(title="Score cards")
