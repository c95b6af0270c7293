"""What the topic dashboard knows and does, without a browser."""

import base64
import io
import json
import re
from types import SimpleNamespace

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit.cohorts import from_counts, from_texts
from lvmkit.cohorts.corpus import PASSAGE, Corpus
from lvmkit.scores import coherence, relevance
from lvmkit_widgets import TopicRelevance
from lvmkit_widgets.topics.topics_tab import listing_rows

POOLS = (
    "war army enemy soldier battle peace",
    "tax budget money deficit spending dollar",
    "school teacher child learn college student",
)
HOSTILE = "<img src=x onerror=alert(1)>"


def written(n=60):
    """Documents of three topics in turn, twenty of each after the other."""
    random = np.random.default_rng(4)
    texts = []
    for i in range(n):
        words = random.permutation((POOLS[3 * i // n] + " nation people time").split() * 3)
        texts.append(f"{HOSTILE} The {' '.join(words)}.")
    return pd.DataFrame(
        {
            "year": 1950 + np.arange(n) // 2,
            "speaker": np.repeat(["Ann", "Bob", "Cyd"], n // 3),
            "text": texts,
        },
        index=[f"speech-{i}" for i in range(n)],
    )


@pytest.fixture(scope="module")
def corpus():
    return from_texts(written(), text="text", language="english")


@pytest.fixture(scope="module")
def fitted(corpus):
    return [lvmkit.SingleTopic(n_components=k).fit(corpus) for k in (3, 2)]


@pytest.fixture
def board(fitted, corpus):
    for model in fitted:
        model.annotations_ = {}
    return TopicRelevance(fitted, corpus)


@pytest.fixture(scope="module")
def patients():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [300, 250, 7])
    centers = np.full((3, 9), 0.04)
    for j in range(3):
        centers[j, 3 * j : 3 * j + 3] = 0.9
    X = (random.random((len(labels), 9)) < centers[labels]).astype(np.float32)
    obs = pd.DataFrame(
        {"age": random.integers(30, 80, len(labels)), "ward": np.repeat(["A", "B"], [550, 7])},
        index=[f"secret-{i}" for i in range(len(labels))],
    )
    codes = [f"C{i}" for i in range(9)]
    model = lvmkit.BernoulliMixture.from_parameters(
        np.array([300, 250, 7]) / 557, centers, feature_names=codes
    )
    return model, anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=codes))


def numbers(component, field, kind, k):
    return np.frombuffer(getattr(component, field), dtype=kind).reshape(k, -1)


def open_all(board, last=0):
    """Open every tab, as a reader would, and stay at one."""
    for i in [*range(len(board._tabs)), last]:
        board.open_tab("main", i)


# -- words ------------------------------------------------------------------------------------


def test_the_browser_gets_the_numbers_of_the_model(board, fitted):
    part, model = board.components["relevance"], fitted[0]
    np.testing.assert_allclose(numbers(part, "centers", np.float32, 3), model.centers_, rtol=1e-6)
    assert part.codes == [str(word) for word in model.feature_names_in_]
    assert part.titles == [""] * len(part.codes)
    totals = numbers(part, "totals", np.int32, 1)[0]
    assert totals[part.codes.index("war")] == 60


def test_relevance_is_that_of_the_scores(board, fitted):
    model = fitted[0]
    mass = board.state.figures.shares
    expected = relevance(model.centers_, mass, balance=0.3)
    found = board.state.figures.scores(0.3)
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite])


def test_a_word_spreads_over_the_topics_by_their_posterior(board):
    board.components["relevance"].code = "budget"
    spread = board.components["map"].spread
    assert board.state.term == board.components["map"].term == "budget"
    assert sum(spread) == pytest.approx(1, abs=1e-5)
    assert max(spread) > 0.95
    assert board.components["map"].total == 60


def test_a_word_that_nobody_wrote_spreads_nowhere(board):
    board.state = board.state.replace(term="xylophone")
    assert board.components["map"].spread == []
    assert board.components["map"].total is None


# -- shares -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uneven():
    """Ten long documents of one topic, ninety short ones of the other."""
    rows = np.vstack(
        [np.tile([20, 20, 20, 0, 0, 0], (10, 1)), np.tile([0, 0, 0, 2, 2, 2], (90, 1))]
    )
    cohort = from_counts(rows, feature_names=list("abcdef"), binary=False)
    return lvmkit.SingleTopic(2, em=True).fit(cohort), cohort


def test_the_share_of_a_topic_is_its_part_of_all_words(uneven, tmp_path):
    board = TopicRelevance(*uneven, private=False)
    parts = board.components
    small = int(np.argmin(uneven[0].weights_))
    assert uneven[0].weights_[small] == pytest.approx(0.1, abs=0.01)
    rows = listing_rows(board.state)
    for share in (
        rows[small]["share"],
        parts["sizes"].items[small]["share"],
        parts["map"].items[small]["share"],
        parts["relevance"].weights[small],
    ):
        assert share == pytest.approx(600 / 1140, abs=1e-3)
    assert parts["map"].shares_of == "codes"
    assert rows[small]["n"] == 10
    assert parts["sizes"].items[small]["n"] == "10 records"
    overall = numbers(parts["relevance"], "overall", np.float32, 1)[0]
    assert overall[0] == pytest.approx(200 / 1140, abs=2e-3)
    saved = fields_of(board.to_html(tmp_path / "page.html").read_text("utf-8"))
    assert saved["relevance_weights"] == parts["relevance"].weights
    assert saved["sizes_items"] == parts["sizes"].items
    assert saved["map_items"] == parts["map"].items


def test_occurrences_in_topics_add_up_to_those_of_the_corpus(corpus):
    long = corpus.copy()
    long.X[:20] = long.X[:20] * 15
    model = lvmkit.SingleTopic(3, em=True).fit(long)
    board = TopicRelevance(model, long)
    terms = pd.read_csv(io.BytesIO(board._tabs[-1].made("terms")[1]))
    sums = terms.groupby("word")["n"].sum()
    np.testing.assert_allclose(sums, terms.groupby("word")["total"].first(), atol=0.05)
    posterior = model.transform(long)
    for topic, word in ((j, w) for j in range(3) for w in ("nation", "war", "budget")):
        counts = np.asarray(long[:, word].X.todense()).ravel()
        row = terms[(terms["topic"] == topic) & (terms["word"] == word)]
        found = float(row["n"].iloc[0]) if len(row) else 0.0
        assert found == pytest.approx(counts @ posterior[:, topic], abs=0.02 * float(counts.sum()))


def test_a_model_that_reads_slowly_shows_its_weights_until_it_has_read(corpus, fitted, tmp_path):
    model = lvmkit.LatentDirichlet(n_components=3).fit(corpus)
    board = TopicRelevance(model, corpus)
    parts = board.components
    assert parts["map"].unread == "LatentDirichlet 3"
    assert parts["map"].shares_of == ""
    assert parts["relevance"].totals == b""
    np.testing.assert_allclose(board.state.figures.shares, model.weights_)
    parts["map"].fire("seen", "LatentDirichlet 3")
    mixtures = model.transform(corpus)
    lengths = np.asarray(corpus.X.sum(axis=1)).ravel()
    expected = lengths @ mixtures / lengths.sum()
    shown = [item["share"] for item in parts["map"].items]
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    assert (parts["map"].unread, parts["map"].shares_of) == ("", "words")
    assert parts["relevance"].totals
    assert [row["n"] for row in listing_rows(board.state)] == np.bincount(
        mixtures.argmax(axis=1), minlength=3
    ).tolist()
    unseen = TopicRelevance(model, corpus).to_html(tmp_path / "page.html").read_text("utf-8")
    np.testing.assert_allclose(fields_of(unseen)["relevance_weights"], expected, atol=1e-6)


def test_bernoulli_mixtures_of_documents_tell_shares_of_documents(corpus):
    present = corpus.copy()
    present.X.data[:] = 1
    model = lvmkit.BernoulliMixture(n_components=3).fit(present)
    board = TopicRelevance(model, corpus)  # counts: only presence is read
    assert board.components["map"].shares_of == "documents"
    shares = model.predict_proba(present).mean(axis=0)
    np.testing.assert_allclose(board.state.figures.shares, shares, atol=1e-6)


def test_shares_of_people_are_shares_of_people(patients):
    assert TopicRelevance(*patients).components["map"].shares_of == "patients"


def test_without_documents_shares_are_called_weights(fitted):
    board = TopicRelevance(fitted[0])
    open_all(board)
    assert board.components["map"].shares_of == ""
    assert "weights of the model" in board.stage.footer
    assert [c["label"] for c in board.components["overview"].columns][2] == "Weight"


def test_a_renamed_topic_keeps_its_share(uneven):
    board = TopicRelevance(*uneven, private=False)
    before = board.components["relevance"].weights
    board.state = board.state.rename(0, "Long")
    assert board.components["relevance"].weights == before
    assert board.components["relevance"].names[0] == "0 · Long"
    board.state = board.state.rename(0, "")


# -- words the model does not know ------------------------------------------------------------


def test_a_corpus_without_a_word_of_the_model_is_refused(fitted):
    fruit = from_texts(["bananas apples pears", "kiwi bananas oranges"])
    with pytest.raises(ValueError, match=r"none of the \d+ words of the cohort .* is known"):
        TopicRelevance(fitted, fruit)


def test_what_is_left_out_of_the_corpus_is_told(fitted, corpus, tmp_path):
    assert not TopicRelevance(fitted, corpus).components["left_out"].visible
    mixed = from_texts(["war kiwi bananas", "kiwi oranges", "peace war"], min_documents=1)
    board = TopicRelevance(fitted, mixed)
    note = board.components["left_out"]
    assert note.visible
    assert "3 of the 5 words of the cohort are unknown" in note.text
    assert "of the model's" in note.text
    assert "1 of 3 documents have none" in note.text
    sizes = [row["n"] for row in listing_rows(board.state)]
    assert sum(sizes) == 2
    saved = fields_of(board.to_html(tmp_path / "page.html").read_text("utf-8"))
    assert saved["left_out_text"] == note.text


@pytest.mark.parametrize("wrong", [["a b", "c d"], pd.DataFrame({"a": [1]}), sparse.eye(3)])
def test_what_is_no_cohort_is_refused_with_what_makes_one(fitted, wrong):
    with pytest.raises(TypeError, match=r"TopicRelevance needs a cohort .*from_texts"):
        TopicRelevance(fitted, wrong)


def test_an_empty_corpus_is_one_of_documents_and_words(fitted, corpus):
    with pytest.raises(ValueError, match=rf"0 documents and {corpus.n_vars} words"):
        TopicRelevance(fitted, corpus[:0])


def test_headings_name_the_source_or_how_many_there_are(fitted, corpus):
    assert TopicRelevance(fitted, corpus).stage.title == "Topics of 60 documents"
    texts = from_texts(list(written()["text"]), language="english")
    assert TopicRelevance(fitted, texts).stage.title == "Topics of 60 texts"
    texts.uns["cohort"]["source"] = "letters.csv"
    assert TopicRelevance(fitted, texts).stage.title == "Topics of letters.csv"


# -- names and picks --------------------------------------------------------------------------


def test_names_are_kept_with_the_model_beside_its_numbers(board, fitted, tmp_path):
    board.components["naming"].values = {"name": " Money "}
    topic = board.state.topic
    board.components["naming"].fire("pressed", "keep")
    assert board.components["sizes"].items[topic]["name"] == f"{topic} · Money"
    assert board.components["relevance"].names[topic] == f"{topic} · Money"
    board.state.save(tmp_path / "model.npz")
    again = TopicRelevance(lvmkit.load(tmp_path / "model.npz"))
    assert again.state.topics.names[topic] == "Money"
    board.state = board.state.rename(topic, "")
    assert fitted[0].annotations_["topic_names"] == {}


def test_a_name_is_kept_with_the_model_once_the_state_is_shown(board, fitted, tmp_path):
    named = board.state.rename(0, "War")
    assert fitted[0].annotations_ == {}
    named.save(tmp_path / "model.npz")
    assert lvmkit.load(tmp_path / "model.npz").annotations_ == {"topic_names": {"0": "War"}}
    assert fitted[0].annotations_ == {}
    board.state = named
    assert fitted[0].annotations_ == {"topic_names": {"0": "War"}}


def test_a_name_is_a_text(board):
    with pytest.raises(TypeError, match='name is None; pass a text, or "" to take'):
        board.state = board.state.rename(1, None)


def test_names_given_in_a_cluster_explorer_count(patients):
    model, cohort = patients
    model.annotations_ = {"clusters": [{"id": 1, "components": [1], "name": "Heart"}]}
    assert TopicRelevance(model, cohort).state.topics.names == ("", "Heart", "")
    model.annotations_ = {}


def test_every_way_to_pick_a_topic_is_one(board):
    parts = board.components
    open_all(board)
    for change in (
        lambda: setattr(parts["sizes"], "selected", 2),
        lambda: setattr(parts["map"], "selected", 1),
        lambda: parts["overview"].fire("pick", 2),
        lambda: setattr(parts["versus"], "first", 1),
        lambda: parts["course"].fire("pick", {"cluster": "0"}),
    ):
        change()
        picked = board.state.topic
        assert parts["sizes"].selected == parts["map"].selected == picked
        assert parts["relevance"].cluster == picked
    assert picked == 0


def test_two_different_topics_are_compared(board):
    board.state = board.state.replace(topic=0, other=1)
    board.state = board.state.look(1)
    assert (board.state.topic, board.state.other) == (1, 0)
    board.state = board.state.compare(1)
    assert board.state.other is None


def test_another_model_keeps_the_pick_where_it_can(board):
    assert [t.k for t in board.state.versions] == [2, 3]
    assert board.components["models"].selected == 1
    board.state = board.state.replace(topic=2, other=0)
    board.components["models"].selected = 0
    assert board.state.topics.k == 2
    assert board.state.topic in (0, 1)
    assert len(board.components["sizes"].items) == len(board.components["relevance"].weights) == 2


# -- documents and orders ---------------------------------------------------------------------


def test_typical_documents_are_those_of_the_topic(board):
    open_all(board)
    for topic in range(3):
        board.state = board.state.look(topic)
        board.open_tab("main", 2)
        found = board.components["documents"].items[str(topic)]
        word = board.components["documents"].marks[str(topic)][0]
        assert len(found) == 10
        assert all(word in item["text"] for item in found)
        assert [item["share"] for item in found] == sorted(
            (i["share"] for i in found), reverse=True
        )
        assert found[0]["title"].startswith("speech-")
        assert found[0]["about"].startswith("year 19")


def test_a_long_text_begins_where_the_words_stand_and_comes_whole_when_asked(corpus, fitted):
    texts = ["nothing here. " * 400 + "Line.\nThe war of the army. " + "end " * 800] * len(corpus)
    board = TopicRelevance(fitted, corpus, texts=texts)
    text, cut = board.state.corpus.passage(0, ["war", "army"])
    assert cut
    assert "The war of the army." in text[:200]
    assert len(text) <= PASSAGE + 4
    board.components["documents"].fire("open", 1)
    assert board.components["documents"].opened == {"row": 1, "text": texts[0]}
    board.components["documents"].fire("open", 10**6)
    assert board.components["documents"].opened["row"] == 1


def test_a_text_that_was_closed_stays_closed_and_is_opened_again(board):
    board.open_tab("main", 2)
    documents = board.components["documents"]
    documents.fire("open", 1)
    board._sync.receive({"documents_opened": None}, None)
    board.state = board.state.rename(board.state.topic, "Money")
    assert documents.opened is None
    documents.fire("open", 1)
    assert documents.opened["row"] == 1


@pytest.mark.parametrize("tab", [2, 4])
def test_what_is_read_quickly_needs_no_job(board, monkeypatch, tab):
    monkeypatch.setattr(board, "background", lambda *_, **__: pytest.fail("a job was begun"))
    board.open_tab("main", tab)
    assert board.components["documents"].items or board.components["course"].svg


def test_documents_are_read_once(corpus, fitted, monkeypatch):
    calls, infer = [], lvmkit.SingleTopic.transform
    monkeypatch.setattr(
        lvmkit.SingleTopic, "transform", lambda self, X: calls.append(X) or infer(self, X)
    )
    open_all(TopicRelevance(fitted[0], corpus))
    assert len(calls) == 1


def test_a_mark_of_something_else_picks_nothing(board):
    before = board.state.topic
    board.open_tab("main", 4)
    board.components["course"].fire("pick", {"step": "1"})
    assert board.state.topic == before


def test_shares_follow_the_year_and_mark_the_speaker(board):
    assert (board.state.order, board.state.bands) == ("year", "speaker")
    open_all(board, last=4)
    picture = board.components["course"].svg
    assert "Topics by year" in picture
    assert "Bob" in picture
    board.components["along"].values = {"order": "", "bands": ""}
    assert "in the order of the documents" in board.components["course"].svg


def test_coherence_is_that_of_the_scores(board, fitted, corpus):
    open_all(board)
    shown = [row["coherence"] for row in board.components["overview"].rows]
    n_top = min(20, corpus.n_vars)
    np.testing.assert_allclose(shown, coherence(fitted[0].centers_, corpus.X, n_top=n_top))


def test_another_model_is_fitted_and_joins_the_slider(board):
    open_all(board)
    form = board.components["fit"]
    form.values = {"kind": "LatentDirichlet", "k": 3}
    form.fire("pressed", "fit")
    kinds = [(t.kind, t.k) for t in board.state.versions]
    assert kinds == [("SingleTopic", 2), ("SingleTopic", 3), ("LatentDirichlet", 3)]
    assert board.state.topics.kind == "LatentDirichlet"
    assert board.components["status"].message.startswith("Fitted 3 topics")
    form.values = {"kind": "SingleTopic", "k": 3}
    form.fire("pressed", "fit")
    assert len(board.state.versions) == 3


def test_too_many_topics_are_refused_in_words(board):
    with pytest.raises(
        ValueError, match=r"31 topics need at least 62 documents|at most \d+ topics"
    ):
        board.state.plan_fit("SingleTopic", 31)


# -- any model --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2])
def test_one_and_two_topics_are_shown(corpus, k):
    board = TopicRelevance(lvmkit.SingleTopic(n_components=k).fit(corpus), corpus)
    open_all(board)
    assert len(board.components["map"].items) == k
    assert not board.components["models"].visible


def test_an_empty_topic_is_called_empty_and_nothing_fails(corpus, fitted, tmp_path):
    model = SimpleNamespace(
        centers_=np.vstack([fitted[0].centers_, np.zeros(corpus.n_vars)]),
        weights_=np.append(fitted[0].weights_, 0.0),
        transform=lambda rows: np.tile([0.5, 0.5, 0, 0], (rows.n_obs, 1)),
        feature_names_in_=fitted[0].feature_names_in_,
    )
    board = TopicRelevance(model, corpus)
    board.state = board.state.look(3)
    open_all(board)
    assert board.components["sizes"].items[3]["n"] == "empty"
    assert board.components["map"].items[3]["empty"]
    assert board.components["map"].items[3]["x"] is None
    assert board.components["documents"].items == {"3": []}
    assert board.components["overview"].rows[3]["coherence"] is None
    for name in ("topics", "terms", "documents", "map", "words"):
        assert board._tabs[-1].made(name)[1]
    board.to_html(tmp_path / "page.html", texts=True)


def test_words_alone_are_shown_without_a_cohort(fitted, tmp_path):
    board = TopicRelevance(fitted[0])
    open_all(board)
    assert board.components["relevance"].totals == b""
    assert not board.components["course"].visible
    assert not board.components["documents"].visible
    assert board.to_html(tmp_path / "page.html").exists()


def test_what_is_no_fitted_model_is_refused(corpus):
    with pytest.raises(TypeError, match="needs fitted models; found SingleTopic"):
        TopicRelevance(lvmkit.SingleTopic(), corpus)
    with pytest.raises(ValueError, match="the list is empty"):
        TopicRelevance([], corpus)
    with pytest.raises(TypeError, match="needs a cohort"):
        TopicRelevance(lvmkit.SingleTopic(n_components=2).fit(corpus), "corpus.csv")


def test_texts_that_do_not_fit_are_refused(fitted, corpus):
    with pytest.raises(ValueError, match="2 texts for 60 rows"):
        TopicRelevance(fitted, corpus, texts=["a", "b"])
    with pytest.raises(ValueError, match="'body', but the cohort has"):
        TopicRelevance(fitted, corpus, texts="body")
    with pytest.raises(TypeError, match="float at place 0"):
        TopicRelevance(fitted, corpus, texts=[1.0] * 60)


# -- people -----------------------------------------------------------------------------------


def test_counts_of_few_people_are_hidden(patients):
    board = TopicRelevance(*patients)
    open_all(board)
    items = board.components["sizes"].items
    assert items[2]["n"] == "<11"
    assert items[2]["share"] is None
    assert np.isnan(numbers(board.components["relevance"], "centers", np.float32, 3)[2]).all()
    assert board.components["relevance"].weights[2] == 0
    assert not board.components["documents"].visible
    board.state = board.state.disclose(on_screen=False)
    assert board.components["sizes"].items[2]["n"] == 7


def test_a_saved_page_of_people_holds_totals_only(patients, tmp_path):
    board = TopicRelevance(*patients)
    open_all(board)
    board.state = board.state.disclose(on_screen=False)
    page = board.to_html(tmp_path / "page.html").read_text("utf-8")
    state = fields_of(page)
    assert "secret-" not in page
    assert state["sizes_items"][2]["n"] == "<11"
    assert state["course_svg"] == ""
    assert board.components["sizes"].items[2]["n"] == 7
    with pytest.raises(ValueError, match="rows are people"):
        board.to_html(tmp_path / "page.html", texts=True)


def test_notes_of_people_can_be_said_to_be_private(fitted, corpus, tmp_path):
    board = TopicRelevance(fitted[0], corpus, private=True)
    open_all(board)
    page = board.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "onerror=alert" not in page
    assert "speech-" not in page
    assert "documents" not in {c["name"] for c in board.components["files"].controls}


def test_attributes_of_words_are_told_from_people(corpus, patients):
    assert not Corpus(corpus).private
    assert Corpus(patients[1]).private
    without = corpus.copy()
    del without.obs["text"]
    assert not Corpus(without).private


# -- files ------------------------------------------------------------------------------------


def fields_of(page):
    """Read the fields of a saved page."""
    text = re.search(r'id="lvmkit-state">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(text)


def test_a_saved_page_holds_every_model_and_no_text(board, tmp_path):
    open_all(board)
    board.state = board.state.replace(balance=0.25)
    page = board.to_html(tmp_path / "page.html").read_text("utf-8")
    state = fields_of(page)
    assert state["relevance_balance"] == 0.25
    assert "onerror=alert" not in page
    assert "speech-" not in page
    (models,) = state["stage_cases"]
    assert models["when"] == "models.selected"
    centers = base64.b64decode(models["cases"]["0"]["relevance.centers"]["$bytes"])
    assert len(centers) == 4 * 2 * len(state["relevance_codes"])
    assert "relevance.codes" not in models["cases"]["0"]
    assert board.state.topics.k == 3


def test_texts_are_in_the_page_when_they_are_asked_for_and_only_there(board, tmp_path):
    page = board.to_html(tmp_path / "page.html", texts=True).read_text("utf-8")
    assert HOSTILE not in page
    state = fields_of(page)
    assert sorted(state["documents_items"]) == ["0", "1", "2"]
    assert HOSTILE in state["documents_items"]["0"][0]["text"]
    again = board.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "speech-" not in again


def test_a_page_of_a_large_vocabulary_stays_small(tmp_path):
    random = np.random.default_rng(0)
    words = [f"vocabulary{i}" for i in range(10_000)]
    model = SimpleNamespace(
        centers_=random.dirichlet(np.full(10_000, 0.02), 18),
        weights_=np.full(18, 1 / 18),
        feature_names_in_=words,
        transform=lambda rows: np.full((rows.n_obs, 18), 1 / 18),
    )
    X = sparse.random(50, 10_000, 0.05, format="csr", random_state=0, dtype=np.float32)
    var = pd.DataFrame({"system": "word"}, index=words)
    board = TopicRelevance(model, anndata.AnnData(X, var=var))
    open_all(board)
    assert board.to_html(tmp_path / "page.html").stat().st_size < 2_000_000


def test_a_page_is_not_saved_in_place_of_a_folder(board, tmp_path):
    with pytest.raises(ValueError, match=r"a folder: name a file in it, such as '.*page.html'"):
        board.to_html(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_tables_and_pictures_are_handed_over(board):
    files = board._tabs[-1]
    terms = pd.read_csv(io.BytesIO(files.made("terms")[1]))
    assert terms.groupby("topic").size().max() <= 100
    assert terms["rank"].min() == 1
    own = terms[(terms["topic"] == 0) & (terms["rank"] == 1)].iloc[0]
    assert own["lift"] == pytest.approx(own["share"] / own["overall"])
    shares = pd.read_csv(io.BytesIO(files.made("documents")[1]))
    np.testing.assert_allclose(shares.iloc[:, 1:].sum(axis=1), 1, atol=1e-4)
    assert files.made("map_png")[1].startswith(b"\x89PNG")
    assert b"<svg" in files.made("words")[1]
    board.components["files"].fire("pressed", "page")
    assert board.stage.file_sent[1]["name"] == "topics.html"


def test_all_that_a_slow_page_sent_at_once_is_heard_before_anything_is_shown_anew(board):
    other = 1 - board.state.topic
    board._sync.receive({"stage_tabs": {"main": 1}, "sizes_selected": other}, None)
    board._sync.receive({"stage_tabs": {"main": 0}, "relevance_balance": 0.1}, None)
    assert (board.state.topic, board.state.balance) == (other, 0.1)
    assert board.components["relevance"].balance == 0.1
