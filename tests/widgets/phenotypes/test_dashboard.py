"""What score cards know and do, without a browser."""

import re

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit.cohorts import CountTensor
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.similarity import cosine_similarities, near_duplicates
from lvmkit_widgets import ScoreCards
from lvmkit_widgets.phenotypes.cards_tab import features_of, modes_of
from lvmkit_widgets.phenotypes.dashboard import counted_mode
from lvmkit_widgets.phenotypes.tables import (
    EXPORTS,
    card_table,
    features_table,
    phenotypes_table,
    scores_table,
)
from lvmkit_widgets.ui.jobs import Cancelled

HOSTILE = "<img src=x onerror=alert(1)>"
DX = ["428", "427.31", "250", "585", "V27", "664"]
RX = ["loop", "statin", "insulin", "none"]


@pytest.fixture
def model(three_phenotypes):
    return three_phenotypes


@pytest.fixture
def tensor(model, product_of):
    """The very counts that the model expects."""
    titles = {"title": [f"Disease {code} {HOSTILE}" for code in DX]}
    obs = pd.DataFrame({"age": 50, "sex": "f"}, index=[f"secret-{i}" for i in range(300)])
    labels = (obs, pd.DataFrame(titles, index=DX), pd.DataFrame(index=RX))
    return CountTensor(
        sparse.coo_array(product_of(model)), tuple(model.mode_names_), labels, "a ward"
    )


@pytest.fixture
def board(model, tensor):
    return ScoreCards(model, tensor)


@pytest.fixture(scope="module")
def cohort():
    """Three groups of patients with four codes each, counted up to five times."""
    random = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], [90, 70, 60])
    rates = np.full((3, 12), 0.02)
    for g in range(3):
        rates[g, 4 * g : 4 * g + 4] = 2.5
    X = random.poisson(rates[group]).astype(np.float32)
    X[X.sum(axis=1) == 0, 0] = 1
    codes = [f"C{j}" for j in range(12)]
    var = pd.DataFrame({"title": [f"Disease {c}" for c in codes]}, index=codes)
    obs = pd.DataFrame({"age": random.integers(20, 90, 220)}, index=[f"p{i}" for i in range(220)])
    return anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=var)


# -- the numbers on a card ------------------------------------------------------------------------


def test_patients_are_counted_by_score(board, model):
    figures = board.state.figures_of(0)
    for r in range(3):
        scores = model.factors_[0][:, r]
        assert figures.counts(r) == [int((scores == level).sum()) for level in range(4)]
        assert figures.n_with_score(r) == int((scores != 0).sum())
        assert figures.prevalence[r] == np.mean(scores != 0)
        for s in range(3):
            both = (scores != 0) & (model.factors_[0][:, s] != 0)
            assert figures.both[r][s] == both.sum()


def test_negative_scores_have_levels_of_their_own(by_hand):
    scores = np.array([[-2], [0], [1], [1], [-1]])
    model = by_hand(scores, [[1], [-3], [0]], weights=[2], min_score=-3, max_score=2)
    board = ScoreCards(model, private=False)
    cards = board.components["cards"]
    assert cards.levels == [-3, -2, -1, 0, 1, 2]
    assert cards.items[0]["counts"] == [0, 1, 1, 1, 2, 0]
    assert cards.items[0]["n_with_score"] == 4
    assert cards.items[0]["features"] == [[[0, 1], [1, -3]]]
    assert (cards.modes[0]["low"], cards.modes[0]["high"]) == (-3, 2)
    board.state = board.state.replace(level=-1)
    assert board.state.rows_from(0, -1).tolist() == [0, 4]
    assert board.state.rows_from(0, 1).tolist() == [2, 3]


def test_a_card_lists_its_features_by_mode_the_strongest_first(board):
    items, modes = board.components["cards"].items, board.components["cards"].modes
    assert [mode["name"] for mode in modes] == ["diagnosis", "drug"]
    told = [
        [
            [(modes[m]["codes"][j], score) for j, score in pairs]
            for m, pairs in enumerate(item["features"])
        ]
        for item in items
    ]
    assert told[0] == [[("428", 3), ("427.31", 2)], [("loop", 3), ("statin", 1)]]
    assert told[2] == [[("V27", 3), ("664", 2)], [("none", 1)]]
    assert [item["weight"] for item in items] == [2, 1, 4]
    assert [item["size"] for item in items] == [4, 4, 3]
    assert items[0]["hint"].startswith(f"Disease 428 {HOSTILE}")


def test_features_that_no_phenotype_scores_are_not_sent(by_hand):
    factors = [[1], [0]], [[0], [2], [0], [1]]
    phenotypes = Phenotypes.of(by_hand(*factors, weights=[1]))
    assert modes_of(phenotypes)[0]["codes"] == ["feature 1", "feature 3"]
    assert features_of(phenotypes) == [[[[0, 2], [1, 1]]]]


def test_modes_side_by_side_are_told_apart(tensor, by_hand):
    flat = tensor.cohort()
    codes = np.array([*DX, *RX], dtype=object)
    factors = np.zeros((300, 1), int), np.array([[1, 0, 2, 0, 0, 0, 3, 0, 0, 0]]).T
    model = by_hand(*factors, weights=[1], labels=[None, codes])
    board = ScoreCards(model, flat)
    assert [mode["name"] for mode in board.components["cards"].modes] == ["diagnosis", "drug"]
    assert board.components["cards"].items[0]["features"] == [[[1, 2], [0, 1]], [[0, 3]]]
    assert features_table(board.state)["mode"].tolist() == ["drug", "diagnosis", "diagnosis"]


# -- likeness --------------------------------------------------------------------------------------


def test_twins_are_told_on_both_cards(by_hand):
    V = np.array([[3, 3, 0], [2, 2, 0], [0, 1, 4]])
    board = ScoreCards(by_hand(np.zeros((9, 3)), V, weights=[1, 5, 1]))
    items = board.components["cards"].items
    cosine = 13 / np.sqrt(13 * 14)
    assert items[0]["alike"] == [[1, pytest.approx(cosine)]]
    assert items[1]["alike"] == [[0, pytest.approx(cosine)]]
    assert items[2]["alike"] == []
    assert near_duplicates(np.eye(2)) == [[], []]


# -- one patient -----------------------------------------------------------------------------------


def test_a_typed_patient_gets_the_scores_of_transform(board, model):
    form = board.components["newcomer"]
    board.open_tab("main", 2)
    form.values = {"code0": "428", "code1": "loop", "n": 18, "entries": ""}
    form_pressed(board, "newcomer", "add")
    assert form.values["entries"] == "428 + loop: 18"
    assert form.values["code0"] == ""
    form_pressed(board, "newcomer", "score")
    counts = sparse.coo_array(([18], ([0], [0], [0])), shape=(1, 6, 4))
    expected = model.transform(counts)[0]
    assert expected.any()
    rows = board.components["newcomer_scores"].rows
    assert [row["score"] for row in rows] == expected.tolist()
    assert board.components["newcomer_cells"].rows[0]["seen"] == 18
    form_pressed(board, "newcomer", "empty")
    assert not board.components["newcomer_scores"].visible
    with pytest.raises(ValueError, match="No entry was understood"):
        form_pressed(board, "newcomer", "score")
    with pytest.raises(ValueError, match="Choose diagnosis and drug first"):
        form_pressed(board, "newcomer", "add")


def test_what_was_wrong_before_is_not_told_beside_the_answer(board):
    board.open_tab("main", 2)
    status, answer = board.components["status"], board.components["newcomer_answer"]
    for form, button, field, bad, good in (
        ("newcomer", "score", "entries", "5999: 1; 250: 1", "428 + loop"),
        ("existing", "find", "who", "nobody", "8"),
    ):
        board.components[form].values = {field: bad}
        with pytest.raises(ValueError, match=r"understood|no patient") as wrong:
            form_pressed(board, form, button)
        board.say(str(wrong.value), state="error")  # as a reader sees it
        board.components[form].values = {field: good}
        form_pressed(board, form, button)
        assert (status.state_now, status.message) == ("idle", "")
        assert answer.text.startswith("**The patient")
    board.components["newcomer"].values = {"entries": "5999: 1; 250: 1"}
    with pytest.raises(ValueError, match="is diagnosis \\+ drug; “250: 1”"):
        form_pressed(board, "newcomer", "score")


def test_a_row_is_called_what_it_is(model, tensor):
    model.mode_names_ = ["discharge", "diagnosis", "drug"]
    board = ScoreCards(model, tensor)
    titles = [board.components[name].title for name in ("existing", "newcomer")]
    assert titles == ["One discharge of the cohort", "Another discharge"]


def form_pressed(board, name, button):
    board.components[name].fire("pressed", button)


def test_a_patient_of_the_cohort_is_found_by_id_or_row(board, model):
    board.open_tab("main", 2)
    for typed, row in (("secret-7", 7), ("8", 7), ("row 300", 299)):
        board.components["existing"].values = {"who": typed}
        form_pressed(board, "existing", "find")
        assert board.state.row == row
        scores = [entry["score"] for entry in board.components["newcomer_scores"].rows]
        assert scores == model.factors_[0][row].tolist()
    board.components["existing"].values = {"who": "301"}
    with pytest.raises(ValueError, match="type an id of the cohort, or a row from 1 to 300"):
        form_pressed(board, "existing", "find")


def test_patients_who_score_high_are_listed_page_by_page(board, model):
    board.state = board.state.replace(phenotype=1, level=2)
    board.open_tab("main", 1)
    table = board.components["members"]
    scores = model.factors_[0][:, 1]
    assert table.total == (scores >= 2).sum()
    assert [row["score"] for row in table.rows] == [3] * 12
    assert "secret" not in repr(table.rows)
    table.page = 1
    assert table.rows[0]["row"] == np.flatnonzero(scores == 3)[12] + 1
    table.fire("pick", table.rows[0]["row"])
    assert board.state.row == table.rows[0]["row"] - 1
    assert board.stage.tabs["main"] == 2
    assert board.components["newcomer_scores"].visible


# -- what is said, and the way back ----------------------------------------------------------------


def test_what_is_said_is_kept_with_the_model_and_can_be_taken_back(board, model):
    cards = board.components["cards"]
    board.state = board.state.replace(author="Dr A")
    cards.fire("edit", {"id": 0, "field": "name", "value": "  Heart \n failure "})
    cards.fire("edit", {"id": 0, "field": "note", "value": "One.\nTwo."})
    cards.fire("edit", {"id": 0, "field": "mark", "value": "yes"})
    said = model.annotations_["phenotypes"]["0"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", said.pop("on"))
    assert said == {"name": "Heart failure", "note": "One.\nTwo.", "mark": "yes", "by": "Dr A"}
    assert cards.annotations["0"]["name"] == "Heart failure"
    board.state = board.state.undo()
    board.state = board.state.undo()
    assert model.annotations_["phenotypes"] == {"0": {"name": "Heart failure"}}
    board.state = board.state.redo()
    assert cards.annotations["0"]["note"] == "One.\nTwo."
    board.state = board.state.go_to(0)
    assert model.annotations_["phenotypes"] == {}
    board.state = board.state.go_to(3)
    again = ScoreCards(model).state
    assert again.annotations == board.state.annotations
    board.state = board.state.rename(0, "Heart failure")
    assert board.state.message.startswith("It was so already")
    assert len(board.state.history.steps) == 4


def test_the_steps_in_python_repeat_them(board, model, tensor):
    state = board.state
    state = state.rename(1, "Sugar")
    state = state.mark(1, "no", by="Dr B")
    state = state.write_note(2, 'says "births"')
    model.annotations_ = {}
    scope = {"model": model, "cohort": tensor}
    exec(state.history.code, scope)
    assert scope["state"].annotations == state.annotations


def test_odd_things_said_are_refused(board):
    state = board.state
    with pytest.raises(TypeError, match="name is 3; pass a text"):
        state = state.rename(0, 3)
    with pytest.raises(ValueError, match="mark is 'maybe'; it is one of '', 'yes', 'no'"):
        state = state.mark(0, "maybe")
    with pytest.raises(ValueError, match="There is no phenotype 3; they are numbered 0 to 2"):
        state = state.rename(3, "x")


def test_names_notes_and_marks_are_saved_with_the_model(cohort, tmp_path):
    model = lvmkit.SUSTain(3).fit(cohort)
    board = ScoreCards(model, cohort)
    board.state = board.state.rename(2, "Third").mark(2, "yes", by="Dr A")
    loaded = lvmkit.load(lvmkit.save(model, tmp_path / "model.npz"))
    assert ScoreCards(loaded, cohort).state.annotations == board.state.annotations


# -- fits ------------------------------------------------------------------------------------------


def test_an_estimator_that_is_not_fitted_is_fitted_and_stays_as_it_is(cohort):
    estimator = lvmkit.SUSTain(3, max_score=4)
    board = ScoreCards(estimator, cohort)
    assert not hasattr(estimator, "factors_")
    direct = lvmkit.SUSTain(3, max_score=4).fit(cohort)
    np.testing.assert_array_equal(board.state.scores, direct.factors_[0])
    with pytest.raises(ValueError, match="is not fitted, and there is no cohort to fit it to"):
        ScoreCards(estimator)


def test_another_fit_keeps_the_names_of_what_stays_alike(cohort):
    board = ScoreCards(lvmkit.SUSTain(3), cohort)
    first = board.state.model
    for r in range(3):
        board.state = board.state.rename(r, f"group {r}")
    board.state = board.state.mark(0, "yes")
    board.components["fit"].values = {"n_components": 4, "max_score": 3}
    form_pressed(board, "fit", "fit")
    assert len(board.state.phenotypes) == 4
    assert board.state.phenotypes.high == 3
    assert board.state.message.startswith("Fitted 4 phenotypes with scores up to 3. Names kept: ")
    for r in range(4):
        name = board.state.annotations.of(r).name
        if name:
            old = Phenotypes.of(first)
            near = cosine_similarities(old, board.state.phenotypes)[int(name[-1]), r]
            assert near >= 0.7
        assert board.state.annotations.of(r).mark == ""
    assert len(board.components["cards"].items) == 4
    kept = dict(first.annotations_["phenotypes"])
    board.state = board.state.undo()
    assert board.state.model is first
    assert first.annotations_["phenotypes"] == kept
    assert len(board.components["cards"].items) == 3


def test_an_impossible_fit_is_told_and_changes_nothing(cohort):
    board = ScoreCards(lvmkit.SUSTain(3), cohort)
    before = board.state.view
    board.components["fit"].values = {"n_components": None, "max_score": 3}
    with pytest.raises(ValueError, match="Say how many phenotypes"):
        form_pressed(board, "fit", "fit")
    board.components["fit"].values = {"n_components": 2.5, "max_score": 3}
    with pytest.raises(ValueError, match="whole numbers"):
        form_pressed(board, "fit", "fit")
    with pytest.raises(ValueError, match="500"):
        board.state = board.state.refit(500, max_score=3)
    assert board.state.view is before
    with pytest.raises(ValueError, match="There is nothing to fit: pass the cohort"):
        ScoreCards(board.state.model).state.refit(2, max_score=3)


def test_a_fit_that_is_stopped_changes_nothing(cohort):
    board = ScoreCards(lvmkit.SUSTain(3), cohort)
    job = board.state.plan_refit(2, max_score=2)

    def work(progress):
        board.cancel()
        return job.work(progress)

    shown = []
    board._raise_or_tell = shown.append
    board.background(work, job.done)
    assert [type(error).__name__ for error in shown] == ["Cancelled"]
    assert len(board.state.phenotypes) == 3


def test_a_fit_is_stopped_on_its_way(cohort):
    heard = []

    def progress(text, share=None):
        heard.append(text)
        if len(heard) == 2:
            raise Cancelled

    job = ScoreCards(lvmkit.SUSTain(3), cohort).state.plan_refit(2, max_score=2)
    with pytest.raises(Cancelled):
        job.work(progress)
    assert len(heard) == 2
    assert "Fitted" not in heard


# -- cohorts of every kind -------------------------------------------------------------------------


def test_other_patients_are_scored_with_the_phenotypes(cohort):
    model = lvmkit.SUSTain(3).fit(cohort)
    part = cohort[:50].copy()
    board = ScoreCards(model, part)
    np.testing.assert_array_equal(board.state.scores, model.transform(part))
    assert (
        "fitted to 220 patients; the 50 of this cohort were scored"
        in board.components["left_out"].text
    )
    mixed = cohort[::-1].copy()
    np.testing.assert_array_equal(ScoreCards(model, mixed).state.scores, model.transform(mixed))
    assert ScoreCards(model, cohort).components["left_out"].text == ""


def test_arrays_have_numbers_for_names(cohort):
    X = cohort.X.toarray().astype(int)
    frame = pd.DataFrame(X, columns=cohort.var_names, index=cohort.obs_names)
    plain = ScoreCards(lvmkit.SUSTain(3), X)
    assert plain.state.phenotypes.modes[0].codes[3] == "feature 3"
    named = ScoreCards(lvmkit.SUSTain(3), frame)
    assert named.state.phenotypes.modes[0].codes[3] == "C3"
    assert named.state.people.row_of("p4") == 4
    assert ScoreCards(lvmkit.SUSTain(3), cohort.X).state.people.row_of("4") == 4
    for board in (plain, named):
        assert board.explorer().state.assignment.sizes.sum() == 220


def test_a_tensor_without_names_is_shown_too(model, tensor, by_hand, product_of):
    bare = by_hand(*model.factors_, weights=model.weights_)
    bare.mode_names_ = ["mode 0", "mode 1", "mode 2"]
    board = ScoreCards(bare, tensor.counts)
    assert board.state.phenotypes.modes[1].codes[2] == "mode 2 2"
    assert (
        board.state.people.cells(3, board.state.phenotypes)[1].sum() == product_of(model)[3].sum()
    )
    with pytest.raises(ValueError, match="pass a CountTensor"):
        board.explorer()


def test_without_patients_cards_are_shown(model):
    model.factors_[0] = model.factors_[0][:0]
    board = ScoreCards(model)
    assert board.components["cards"].items[0]["counts"] == []
    assert board.components["cards"].items[0]["n_with_score"] is None
    assert "loaded without its patients" in board.components["left_out"].text
    for tab in range(5):
        board.open_tab("main", tab)
    assert "patients" not in phenotypes_table(board.state)
    with pytest.raises(ValueError, match="There are no patients to explore"):
        board.explorer()


def test_what_cannot_be_shown_is_refused_with_what_to_do(model):
    with pytest.raises(TypeError, match=r"found BernoulliMixture\. Fit them: lvmkit\.SUSTain"):
        ScoreCards(lvmkit.BernoulliMixture.from_parameters([1.0], [[0.5]]), np.eye(4))
    with pytest.raises(TypeError, match="an array of two axes or more; found list"):
        ScoreCards(model, [1, 2])
    with pytest.raises(ValueError, match="The cohort is empty: 0 × 3"):
        ScoreCards(model, np.zeros((0, 3)))


# -- other dashboards, and files -------------------------------------------------------------------


def test_patients_who_score_high_open_in_the_cluster_explorer(cohort):
    board = ScoreCards(lvmkit.SUSTain(3), cohort, private=False)
    board.state = board.state.rename(1, "Second")
    board.state = board.state.replace(phenotype=1, level=2)
    high = board.state.scores[:, 1] >= 2
    state = board.explorer().state
    assert state.clustering.labels == ["Phenotype 1 · Second: score 2 or more", "All others"]
    np.testing.assert_array_equal(state.assignment.labels, np.where(high, 0, 1))
    from lvmkit.cohorts.subset import Subset

    old = Subset(ranges={"age": (60, 90)})
    state = state.show(old)
    rows = np.flatnonzero(cohort.obs["age"] >= 60)
    np.testing.assert_array_equal(state.assignment.labels, np.where(high[rows], 0, 1))
    board.state = board.state.replace(level=5)
    board.state = board.state.replace(phenotype=0)
    if not (board.state.scores[:, 0] >= 5).any():
        with pytest.raises(ValueError, match="Nobody scores as high on phenotype 0"):
            board.explorer()


def test_the_patients_of_a_tensor_open_with_the_codes_of_all_modes(board, model):
    state = board.explorer().state
    assert state.assignment.sizes.tolist() == [
        (model.factors_[0][:, 0] >= 1).sum(),
        (model.factors_[0][:, 0] < 1).sum(),
    ]
    assert set(state.codes) == {*DX, *RX}


def test_tables_hold_what_cards_show(board, model):
    table = phenotypes_table(board.state)
    assert table["weight"].tolist() == [2, 1, 4]
    features = features_table(board.state)
    assert features["score"].sum() == model.factors_[1].sum() + model.factors_[2].sum()
    scores = scores_table(board.state)
    assert scores["record"][3] == "secret-3"
    np.testing.assert_array_equal(scores.iloc[:, 1:].to_numpy(), model.factors_[0])


def test_every_file_can_be_made(cohort, tmp_path):
    board = ScoreCards(lvmkit.SUSTain(3), cohort)
    board.state = board.state.rename(0, "=HYPERLINK(1)")
    for name in (export.name for export in EXPORTS):
        file, data, _ = board._tabs[-1].made(name)
        assert len(data) > 50, file
    assert {
        name for name in (export.name for export in EXPORTS) if board._tabs[-1].warning(name)
    } == {"scores"}
    (tmp_path / "model.npz").write_bytes(board._tabs[-1].made("model")[1])
    assert len(lvmkit.load(tmp_path / "model.npz").factors_[0]) == 0  # no patient, as the note says
    csv = board._tabs[-1].made("phenotypes")[1].decode("utf-8-sig")
    assert "'=HYPERLINK(1)" in csv


def test_a_picture_shows_the_counts_that_may_be_shared(board):
    table = card_table(board.state, 1)
    levels = table[table["label"].str.startswith("score")]
    figures = board.state.for_others.figures
    shown = dict(zip(board.state.phenotypes.levels, figures.counts(1), strict=True))
    for level, n in zip(levels["score"], levels["n"], strict=True):
        assert (n == shown[level]) or (np.isnan(n) and isinstance(shown[level], str))


def test_headings_say_what_there_is(board):
    assert board.stage.title == "Phenotypes of a ward"
    assert board.stage.subtitle == (
        "300 patients · 6 diagnoses · 4 drugs · 3 phenotypes · scores 0 to 3"
    )
    assert [counted_mode(n, "diagnosis") for n in (1, 2)] == ["1 diagnosis", "2 diagnoses"]
    assert counted_mode(3, "features") == "3 codes"
