"""What a saved page of topics has room for, and what its reader can pick."""

from __future__ import annotations

from typing import Any

from lvmkit.mixtures.topics import page_words
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.terms_tab import TOP
from lvmkit_widgets.ui.tabs import Cases

SAVED_CELLS = 280_000  # numbers, topics times words, of all models; about 5.4 bytes each
FOLLOW = ("relevance", "map", "sizes", "overview", "course", "documents")


def saved_words(state: TopicState) -> dict[tuple[str, ...], list[int]]:
    """Choose the words that the page holds."""
    groups: dict[tuple[str, ...], list[Any]] = {}
    for topics in state.versions:
        groups.setdefault(topics.words, []).append(state.figures_of(topics).topics)
    every = sum(topics.k for topics in state.versions)
    held = every + (state.topics.k if len(state.versions) > 1 else 0)  # the one shown stands twice
    return {
        words: page_words(models, SAVED_CELLS * sum(topics.k for topics in models) // held, top=TOP)
        for words, models in groups.items()
    }


def models_to_pick(state: TopicState) -> list[Cases[TopicState]]:
    """Return what happens when the reader moves to another model."""
    if len(state.versions) < 2:
        return []
    states = {str(i): state.show_model(i).compare(None) for i in range(len(state.versions))}
    return [Cases("models.selected", states, FOLLOW, resets=["map.other", "sizes.selected"])]
