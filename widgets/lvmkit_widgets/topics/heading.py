"""Subtitle and footer of the topic dashboard, and what the model leaves out."""

from __future__ import annotations

from lvmkit.cohorts.weights import not_weighted
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.words import small_counts


def subtitle(state: TopicState) -> str:
    """Say how many documents, words and topics there are, and how the fit ended."""
    corpus, topics = state.corpus, state.topics
    column_name = "words" if corpus is None else f"{corpus.column_name}s"
    rows = [] if corpus is None else [f"{len(corpus):,} {corpus.row_name}"]
    plural = "topic" if topics.k == 1 else "topics"
    parts = [
        *rows,
        f"{len(topics.words):,} {column_name}",
        f"{topics.k} {plural}",
        topics.kind,
        "" if state.suppressing else topics.how,  # as many steps as the data need
        "" if corpus is None else not_weighted(corpus.view.cohort),
    ]
    return " · ".join(part for part in parts if part)


def _numbers(state: TopicState) -> list[str]:
    """Say what shares and occurrences are where nothing is hidden."""
    corpus = state.corpus
    if corpus is None or not state.figures.read:
        return ["Shares are the weights of the model; no documents were read for them."]
    if state.topics.of_records:
        return [
            f"The share of a topic is the mean of its probabilities for all {corpus.row_name}; numbers of "
            f"{corpus.row_name} with a {corpus.column_name} in a topic are expected ones."
        ]
    return [
        f"The share of a topic is its part of all {corpus.column_name}s: its shares of the {corpus.row_name}, "
        "weighed by their lengths. Occurrences in a topic are expected ones: all occurrences of the "
        f"{corpus.column_name}, times the part of the topic in it."
    ]


def left_out_of(state: TopicState) -> str:
    """Say what the model that is shown leaves out of the corpus."""
    return "" if state.corpus is None else state.corpus.left_out(state.topics.words)


def footer(state: TopicState) -> str:
    """Say what the numbers are."""
    if not state.private:
        return " ".join(["Topics are numbered as in the model.", *_numbers(state)])
    small = small_counts(state.disclosure.threshold, hidden=state.suppressing)
    return f"Shares are counted among the records placed in each topic. {small}"
