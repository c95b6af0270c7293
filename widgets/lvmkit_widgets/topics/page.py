"""Contents of a saved page of topics: numbers for every model, small counts of people hidden."""

from __future__ import annotations

from typing import Any

from lvmkit.mixtures.topics import page_words
from lvmkit_widgets.topics.documents_tab import document_items, has_texts, marked_words
from lvmkit_widgets.topics.sidebar import topic_items
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.terms_tab import TOP, labels_of, map_items
from lvmkit_widgets.topics.topics_tab import listing_rows
from lvmkit_widgets.topics.trends_tab import TrendsTab, caption_of, draw_course

SAVED_CELLS = 280_000  # numbers, topics times words, of all models; about 5.4 bytes each
SHARED = ("codes", "titles", "totals")  # the same for models of the same words


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


def fixed(state: TopicState, course: TrendsTab, *, texts: bool) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values."""
    columns = saved_words(state)[state.topics.words]
    labels = labels_of(state, len(columns), len(state.topics.words))
    fields: dict[str, dict[str, Any]] = {
        "relevance": {**state.figures.fields(columns), "labels": labels},
    }
    if course.course.svg and not state.private:
        fields["course"] = {"svg": draw_course(state), "caption": caption_of(state)}
    if texts:
        fields["documents"] = documents_of(state)
    return fields


def documents_of(state: TopicState) -> dict[str, Any]:
    """Return the typical documents of every topic."""
    if not has_texts(state):
        return {"items": {}, "marks": {}, "opened": None}
    every = range(state.topics.k)
    items = {str(j): document_items(state, j) for j in every}
    marks = {str(j): marked_words(state, j) for j in every}
    return {"items": items, "marks": marks, "opened": None}


def cases(state: TopicState, course: TrendsTab, *, texts: bool) -> list[dict[str, Any]]:
    """Return what the page shows when the reader moves to another model."""
    if len(state.versions) < 2:
        return []
    words, shown = saved_words(state), (state.position, state.topic, state.other)
    same = len(words) == 1
    answers: dict[str, dict[str, Any]] = {}
    for place, topics in enumerate(state.versions):
        state.position = place
        figures = state.figures.fields(words[topics.words])
        numbers = {k: v for k, v in figures.items() if not (same and k in SHARED)}
        answer = {f"relevance.{field}": value for field, value in numbers.items()}
        answer |= {"map.items": map_items(state, topics), "sizes.items": topic_items(state)}
        answer |= {"overview.rows": listing_rows(state), "map.other": None}
        if course.course.svg and not state.private:
            answer["course.svg"] = draw_course(state)
        if texts:
            documents = documents_of(state)
            answer |= {f"documents.{name}": documents[name] for name in ("items", "marks")}
        answers[str(place)] = answer | {"sizes.selected": state.topic}
    state.position = shown[0]
    state.param.update(topic=shown[1], other=shown[2])
    return [{"when": "models.selected", "cases": answers}]
