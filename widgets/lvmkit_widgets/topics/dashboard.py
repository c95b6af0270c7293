"""The dashboard of the topics of fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lvmkit.cohorts.corpus import Corpus
from lvmkit.cohorts.weights import not_weighted
from lvmkit.core.arguments import checked
from lvmkit.mixtures.topics import page_words
from lvmkit_widgets.topics.documents_tab import TopicDocumentsTab, has_texts
from lvmkit_widgets.topics.export_tab import TopicExportTab
from lvmkit_widgets.topics.fit_form import TopicFitTab
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.terms_tab import LINKS, TOP, TopicComparisonTab, TopicTermsTab
from lvmkit_widgets.topics.topics_tab import TopicListTab, TopicSidebar
from lvmkit_widgets.topics.trends_tab import TrendsTab, wants_shares
from lvmkit_widgets.ui.jobs import Progress
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status, Text
from lvmkit_widgets.ui.words import counted, refuse, small_counts

SAVED_CELLS = 280_000  # numbers, topics times words, of all models; about 5.4 bytes each
FOLLOW = ("relevance", "map", "sizes", "overview", "course", "documents")


class TopicRelevance(TabbedDashboard[TopicState]):
    """Dashboard of the topics of one fitted model, or of several with different numbers of topics.

    Parameters
    ----------
    model_or_models : estimator or sequence of estimators
        Fitted, with `centers_` (k, d) and `weights_` (k,): topic models and mixtures. Names given
        to topics are kept in each model's `annotations_`, which `lvmkit.save` writes.
    cohort : AnnData, optional
        The documents (`lvmkit.cohorts.from_texts`) or people; without it only words are shown.
    texts : sequence of str, or str, optional
        A text for each row, or the attribute that holds them; by default the attribute "text".
    private : bool, optional
        Whether rows stand for people: then small counts are hidden, single rows are never shown, and
        saved pages hold totals only. By default rows with a text, or of words, are documents.
    name : str, optional
        What the corpus is called in the heading.

    Raises
    ------
    TypeError
        When a model is not fitted, or the cohort not a table.
    ValueError
        When the list of models is empty, texts do not fit the cohort, or a model knows none of its
        words.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> model = lvmkit.BernoulliMixture(n_components=4).fit(cohort)
    >>> board = TopicRelevance(model, cohort)
    >>> board.state = board.state.rename(0, "Heart")
    >>> model.annotations_["topic_names"]
    {'0': 'Heart'}
    """

    addresses = (
        ("topic", "sizes", "selected", None),
        ("lambda", "relevance", "balance", (0, 1)),
        ("search", "relevance", "search", None),
    )

    @checked()
    def __init__(
        self,
        model_or_models: Any,
        cohort: Any = None,
        *,
        texts: Sequence[str] | str | None = None,
        private: bool | None = None,
        name: str = "",
    ) -> None:
        several = isinstance(model_or_models, (list, tuple))
        models = list(model_or_models) if several else [model_or_models]
        corpus = None if cohort is None else Corpus(cohort, texts=texts, private=private, name=name)
        state = TopicState.of(models, corpus)
        self._name = name or ("" if corpus is None else corpus.name)
        self._reading, self._trends = TopicDocumentsTab(), TrendsTab()
        self._texts, self._at_work = False, False
        first = [TopicTermsTab(), TopicListTab(), self._reading, TopicComparisonTab(), self._trends]
        super().__init__(
            {"status": Status(), "left_out": Text(tone="note")},
            frame=[TopicSidebar()],
            tabs=[*first, TopicFitTab(), TopicExportTab()],
            title="Topics",
            links=LINKS,
        )
        self.stage.layout = [
            "status",
            "left_out",
            {"sidebar": ["models", "sizes"], "main": ["naming", self.tabs_layout]},
        ]
        self.show_state(state)

    @checked()
    def to_html(self, path: str | Path, *, texts: bool = False) -> Path:
        """Save one file that answers without Python and without internet.

        λ, topics, words and their search, the map, two topics face to face and the slider over models
        keep working in it. For people it holds totals only, with small counts hidden.

        Parameters
        ----------
        path : str or Path
            File to write.
        texts : bool, default=False
            Whether the typical documents of each topic and their texts are put into the file; never
            for people.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            When texts are asked for that must not leave or are not there.
        """
        state = self.state
        if texts and (state.private or state.corpus is None or state.corpus.texts is None):
            why = "rows are people" if state.private else "there are none"
            refuse(f"texts=True puts texts into the page, but {why}; leave it out.")
        documents = self._reading.documents
        with self.batch():
            try:
                self._texts, documents.needs_python = texts, not texts
                self.state = state.read_all(state.versions)
                return super().to_html(path)
            finally:
                self._texts, documents.needs_python = False, False

    def _page_state(self) -> TopicState:
        """Return the state that a saved page shows, with the words that it has room for."""
        state = self.state.for_others
        return state.replace(texts=self._texts, saved=saved_words(state))

    def _page_cases(self, state: TopicState) -> list[Cases[TopicState]]:
        """Return what happens when the reader of a saved page moves to another model."""
        if len(state.versions) < 2:
            return []
        states = {str(i): state.show_model(i).compare(None) for i in range(len(state.versions))}
        return [Cases("models.selected", states, FOLLOW, resets=["map.other", "sizes.selected"])]

    def _begin_reading(self) -> None:
        """Read the documents of a model that a browser shows without them."""
        if self.state.unread and not self.busy:
            self._read_documents()

    def _read_documents(self) -> None:
        """Find the share of each topic in each document, beside the dashboard."""
        if self._at_work:
            return
        state, topics = self.state, self.state.topics

        def work(progress: Progress) -> Any:
            try:
                return state.find_shares(topics, progress=progress)
            finally:
                self._at_work = False

        def done(shares: Any) -> None:
            self.state = self.state.take_shares(topics, shares)
            self.say("", state="idle")
            if self.state.unread:  # the reader has moved to another model meanwhile
                self._read_documents()

        self._at_work = True
        if not self.background(work, done, label="Reading the documents"):
            self._at_work = False

    def _keep(self, old: TopicState, new: TopicState) -> None:
        """Keep names with the models."""
        known = {id(topics.model): topics.names for topics in old.versions}
        for topics in new.versions:
            if known.get(id(topics.model), topics.names) != topics.names:
                topics.model.annotations_ = topics.to_annotations()

    def _heading(self, state: TopicState) -> dict[str, str]:
        """Title, subtitle, footer and what is left out."""
        corpus, topics = state.corpus, state.topics
        parts = [
            "" if corpus is None else f"{len(corpus):,} {corpus.row_name}",
            f"{len(topics.words):,} {state.column_name}s",
            counted(topics.k, "topic"),
            topics.kind,
            "" if state.suppressing else topics.how,  # as many steps as the data need
            "" if corpus is None else not_weighted(corpus.view.cohort),
        ]
        title = f"Topics of {self._name}" if self._name else "Topics"
        told = {"subtitle": " · ".join(filter(None, parts)), "footer": footer(state)}
        left_out = "" if corpus is None else corpus.left_out(topics.words)
        return {"title": title, **told, "left_out": left_out}

    def _show_state(self, told: str) -> None:
        """Show the state, and read the documents if the tab in sight is made of them."""
        super()._show_state(told)
        state = self.state
        wanted = {self._reading: has_texts, self._trends: wants_shares}
        asks = wanted.get(self._tabs[state.tab])
        if asks is not None and asks(state) and not state.is_read(state.topics):
            self._read_documents()


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


def footer(state: TopicState) -> str:
    """Say what the numbers are."""
    rows, column, told = state.row_name, state.column_name, "Topics are numbered as in the model."
    if state.private:
        small = small_counts(state.disclosure.threshold, hidden=state.suppressing)
        return f"Shares are counted among the records placed in each topic. {small}"
    if not state.figures.read:
        return f"{told} Shares are the weights of the model; no documents were read for them."
    if state.topics.of_records:
        return (
            f"{told} The share of a topic is the mean of its probabilities for all {rows}; numbers of {rows} with a "
            f"{column} in a topic are expected ones."
        )
    return (
        f"{told} The share of a topic is its part of all {column}s: its shares of the {rows}, weighed by their "
        f"lengths. Occurrences in a topic are expected ones: all occurrences of the {column}, times the part of the "
        "topic in it."
    )
