"""What stands above and below the topics: which model of which corpus, and what the numbers are."""

from __future__ import annotations

from lvmkit_widgets.topics.state import TopicState


def subtitle(state: TopicState) -> str:
    """Say how many documents, words and topics there are, and how the fit ended.

    Parameters
    ----------
    state : TopicState
        What is looked at.

    Returns
    -------
    str
        One line.
    """
    corpus, topics = state.corpus, state.topics
    thing = "words" if corpus is None else f"{corpus.thing}s"
    rows = [] if corpus is None else [f"{len(corpus):,} {corpus.noun}"]
    plural = "topic" if topics.k == 1 else "topics"
    parts = [
        *rows,
        f"{len(topics.words):,} {thing}",
        f"{topics.k} {plural}",
        topics.kind,
        topics.how,
    ]
    return " · ".join(part for part in parts if part)


def footer(state: TopicState) -> str:
    """Say what the numbers are.

    Parameters
    ----------
    state : TopicState
        What is looked at.

    Returns
    -------
    str
        Small print.
    """
    if not state.private:
        return (
            "Topics are numbered as in the model. Occurrences in a topic are expected ones: all "
            "occurrences of the word, times the part of the topic in it."
        )
    small = (
        f"Counts of 1 to {state.threshold - 1} are hidden (<{state.threshold}), and some others, so "
        "that they cannot be found by subtraction."
    )
    if not state.hide_small:
        small = "Small counts are shown: keep this screen to yourself. Saved pages hide them."
    return f"Shares are counted among the records placed in each topic. {small}"
