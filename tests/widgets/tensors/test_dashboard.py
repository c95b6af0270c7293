"""What the dashboard of a tensor normal mixture knows and does, without a browser."""

import base64
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lvmkit import TensorNormalMixture
from lvmkit.models import select_penalty, select_tensor_components
from lvmkit_widgets import TensorExplorer
from lvmkit_widgets.tensors.dashboard import HELD, held
from lvmkit_widgets.tensors.path_tab import models_table
from lvmkit_widgets.tensors.samples_tab import samples_table
from lvmkit_widgets.tensors.slices_tab import entries_table
from lvmkit_widgets.tensors.state import groups_of, sizes_of, small_clusters

HOSTILE = "<img src=x onerror=alert(1)>"
MODES = ["gene", "tissue"]
LABELS = [["g0", "g1", "=1+1", "g3"], ["t0", "t1", "t2", "t3", HOSTILE]]


def made(sizes=(40, 30, 30), shape=(4, 5), strength=6.0):
    """Clusters that differ in one entry each: (1, 1) and (2, 3) of matrices."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = random.normal(size=(len(y), *shape))
    X[y == 1, 1, 1, ...] += strength
    if len(sizes) > 2:
        X[y == 2, 2, 3, ...] += strength
    return X, y


@pytest.fixture(scope="module")
def data():
    return made()


@pytest.fixture(scope="module")
def found(data):
    X, y = data
    estimator = TensorNormalMixture(init=y)
    paths = {
        k: select_penalty(
            X, k, penalties=[9.0, 0.9, 0.4, 0.1], estimator=estimator.set_params(init=y % k)
        )
        for k in (2, 3)
    }
    return SimpleNamespace(paths=paths, best=3, best_model=paths[3].models[2])


@pytest.fixture
def board(data, found):
    X, y = data
    groups = np.array(["healthy", "ill", "worse"])[y]
    return TensorExplorer(
        found.best_model, X, groups, mode_names=MODES, labels=LABELS, path=found, name="Cells"
    )


# -- the model that is looked at ------------------------------------------------------------------


def test_it_opens_at_the_model_that_was_passed(board, found):
    state = board.state
    assert state.solution.model is found.best_model
    assert board.stage.title == "Clusters of tensors: Cells"
    assert board.stage.subtitle.startswith(
        "100 samples · 4 × 5 (gene × tissue) · 3 clusters, λ = 0.4"
    )
    assert [item["n"] for item in board.components["clusters"].items] == [40, 30, 30]
    slider = board.components["model"]
    assert slider.selected == 1
    assert [o["label"].split(" ·")[0] for o in slider.options] == [
        "λ = 0.1",
        "λ = 0.4",
        "λ = 0.9",
        "λ = 9",
    ]
    assert "λ is too large" in slider.options[3]["note"]


def test_a_model_is_chosen_by_lambda_number_of_clusters_and_pictures(board):
    board.components["model"].selected = 0
    assert board.state.solution.penalty == 0.1
    form = board.components["choose"]
    form.values = {"k": 2}
    assert board.state.solution.n_components == 2
    assert board.state.solution.best
    board.components["sparsity"].fire("pick", {"step": "0"})
    assert board.state.solution.penalty == 9.0
    assert board.state.cluster == 1
    board.components["numbers"].fire("pick", {"components": "3"})
    assert board.state.solution.n_components == 3
    form.fire("pressed", "best")
    assert board.state.index == board.state.recommended
    form.fire("pressed", "undo")
    form.fire("pressed", "redo")
    assert board.components["status"].message.startswith("Done again")


def test_the_steps_repeat_in_python(board, data, found):
    board.state = board.state.choose_n_components(2)
    board.state = board.state.choose(0)
    scope = {"model": found.best_model, "X": data[0], "path": found}
    exec(board.state.history.code, scope)
    assert scope["state"].index == 0


def test_a_cluster_and_an_entry_are_picked_everywhere(board):
    board.components["slices"].cluster = 2
    assert board.state.cluster == board.components["clusters"].selected == 2
    board.components["clusters"].selected = 0
    assert board.state.cluster == board.components["slices"].cluster == 0
    first = board.components["entries"].rows[0]
    board.components["entries"].fire("pick", first["entry"])
    assert board.state.entry == board.components["slices"].entry == first["entry"]
    board.components["slices"].entry = 3
    assert board.components["entries"].selected == 3


def test_what_is_not_there_is_refused_in_words(board):
    for call, told in [
        (lambda: board.state.choose(99), "no model 99; there are 0 to 7"),
        (lambda: board.state.choose_n_components(7), "no model with 7 clusters; there are 2, 3"),
        (lambda: board.state.pick(3), "no cluster 3; they are numbered 0 to 2"),
        (lambda: board.state.find(20), "no entry 20; they are numbered 0 to 19"),
    ]:
        with pytest.raises(ValueError, match=told):
            call()


# -- slices and entries ---------------------------------------------------------------------------


def test_the_browser_gets_means_discriminants_and_what_is_selected(board, found):
    fields, model = board.components["slices"], found.best_model
    means = np.frombuffer(fields.means, "<f4").reshape(3, 4, 5)
    np.testing.assert_allclose(means, model.means_, rtol=1e-6)
    weights = np.frombuffer(fields.discriminants, "<f4").reshape(2, 4, 5)
    np.testing.assert_allclose(weights, model.discriminants_, rtol=1e-6)
    assert np.frombuffer(fields.selected, np.uint8).sum() == model.selected_.sum()
    assert fields.modes[1] == {"name": "tissue", "labels": LABELS[1]}


def test_entries_are_listed_by_strength_with_their_names(board, found):
    table = entries_table(board.state)
    assert set(table["entry"][:2]) == {6, 13}  # (1, 1) and (2, 3)
    assert table["strength"].is_monotonic_decreasing
    norms = np.linalg.norm(found.best_model.discriminants_, axis=0).ravel()
    np.testing.assert_allclose(table["strength"], norms[table["entry"]])
    row = table[table["entry"] == 13].iloc[0]
    assert (row["gene"], row["tissue"]) == ("=1+1", "t3")
    assert row["discriminant_2"] == found.best_model.discriminants_[1, 2, 3]
    assert len(board.components["entries"].rows) == found.best_model.selected_.sum()


def test_where_thousands_of_entries_are_selected_outlines_do_not_hide_the_values():
    X = np.random.default_rng(0).normal(size=(30, 40, 40))
    y = np.arange(30) % 2
    em = TensorNormalMixture(2, method="em", init=y, shrinkage=0.2).fit(X)
    board = TensorExplorer(em, X)
    assert not board.components["slices"].outlined
    assert board.components["entries"].title == "Selected entries: the strongest 500 of 1,600"
    assert len(board.components["entries"].rows) == 500


def test_a_path_without_other_models_and_one_of_another_shape(data, found):
    X, _ = data
    board = TensorExplorer(found.best_model, X)
    board.open_tab("main", 1)
    assert board.components["alone"].visible
    assert not board.components["sparsity"].visible
    assert not board.components["choose"].visible
    other = select_penalty(X[:, :3], 2, penalties=[0.5])
    with pytest.raises(ValueError, match="another shape"):
        TensorExplorer(found.best_model, X, path=other)
    with pytest.raises(TypeError, match="path is list; pass what"):
        TensorExplorer(found.best_model, X, path=[1])


def test_a_model_that_is_not_on_the_path_joins_it(data, found):
    X, y = data
    model = TensorNormalMixture(3, penalty=0.6, init=y).fit(X)
    board = TensorExplorer(model, X, path=found.paths[3])
    assert len(board.state.along) == 5
    assert board.state.solution.model is model
    board.open_tab("main", 1)
    assert "3 clusters" in board.components["bic"].svg


def test_vectors_tensors_em_and_one_cluster_are_shown(tmp_path):
    X, y = made((20, 20), (6, 3))
    em = TensorNormalMixture(2, method="em", init=y).fit(X)
    board = TensorExplorer(em, X)
    assert len(board.components["entries"].rows) == 18
    tensors = np.random.default_rng(1).normal(size=(60, 3, 4, 2))
    tensors[:30, 1, 1] += 3
    three = TensorNormalMixture(2, penalty=0.3, init=np.arange(60) // 30).fit(tensors)
    board = TensorExplorer(three, tensors)
    assert board.components["slices"].at == [0, 0, 0]
    board.components["slices"].param.update(rows=2, columns=0, at=[0, 3, 0], show="difference")
    picture = board._tabs[0].drawn(board.state)
    assert "mode 1 = 3" in picture
    vectors = TensorNormalMixture(2, penalty=0.3, init=y).fit(X[:, :, 1])
    board = TensorExplorer(vectors, X[:, :, 1])
    assert (board.components["slices"].rows, board.components["slices"].columns) == (-1, 0)
    assert "<svg" in board._tabs[0].drawn(board.state)
    whole = select_tensor_components(X, [1, 2], estimator=TensorNormalMixture(penalty=0.5))
    board = TensorExplorer(whole.paths[1].models[0], X, y, path=whole)
    for tab in range(4):
        board.open_tab("main", tab)
    assert board.state.cluster == 0
    board.to_html(tmp_path / "page.html")


# -- samples --------------------------------------------------------------------------------------


def test_posteriors_groups_and_samples_at_a_border(board, data, found):
    board.open_tab("main", 2)
    assert "Posteriors of 100 samples" in board.components["each"].svg
    theta = found.best_model.predict_proba(data[0])
    rows = board.components["border"].rows
    assert len(rows) == (theta.max(axis=1) < 0.9).sum()
    counts = pd.crosstab(data[1], theta.argmax(axis=1)).to_numpy()
    shown = [[row[f"c{j}"] for j in range(3)] for row in board.components["groups"].rows]
    assert shown == counts.tolist()
    assert "error rate" in board.components["agreement"].text
    board.components["each"].fire("pick", {"sample": "5"})
    assert board.components["status"].message.startswith("Sample 5 (healthy): cluster")
    whole = samples_table(board.state)
    np.testing.assert_allclose(whole["posterior"], theta.max(axis=1), atol=1e-6)


def test_other_samples_can_be_looked_at(board, data):
    board.open_tab("main", 2)
    board.state = board.state.add_samples(data[0][:25], np.arange(25) % 2, name="later")
    assert "later · 25 samples" in board.stage.subtitle
    assert "Posteriors of 25 samples" in board.components["each"].svg
    assert sum(item["n"] for item in board.components["clusters"].items) == 25
    board.components["which"].values = {"set": 0, "hide": False}
    assert "Posteriors of 100 samples" in board.components["each"].svg
    with pytest.raises(ValueError, match="the model needs samples of 4 × 5"):
        board.state = board.state.add_samples(data[0][:, :2])


def test_many_samples_have_a_histogram_only(found):
    X, _ = made((150, 120, 80))
    board = TensorExplorer(found.best_model, X)
    board.open_tab("main", 2)
    assert not board.components["each"].visible
    assert not board.components["groups"].visible
    assert "How surely" in board.components["certain"].svg


def test_names_and_groups_come_with_labelled_data(data, found):
    X, y = data
    samples = pd.DataFrame({"status": y}, index=[f"s{i}" for i in range(len(y))])
    labelled = SimpleNamespace(
        values=X, mode_names=tuple(MODES), labels=tuple(LABELS), samples=samples
    )
    board = TensorExplorer(found.best_model, labelled, "status")
    assert board.state.modes.entry(13) == "=1+1 · t3"
    assert board.state.samples.groups[0] == "0"
    assert samples_table(board.state)["sample"].iloc[3] == "s3"
    with pytest.raises(ValueError, match="groups is 'sex', but X has columns status"):
        TensorExplorer(found.best_model, labelled, "sex")


def test_groups_keep_the_order_of_their_categories(data, found):
    X, y = data
    order = ["none", "mild", "ill", "never seen"]
    status = pd.Categorical(np.array(order)[y], order, ordered=True)
    board = TensorExplorer(found.best_model, X, status)
    board.open_tab("main", 2)
    assert [row["group"] for row in board.components["groups"].rows] == order[:3]


def test_one_cluster_has_nothing_to_tell_apart(data):
    X, _ = data
    board = TensorExplorer(TensorNormalMixture(1).fit(X), X)
    assert board.components["model"].options[0]["note"].startswith("one cluster: there is nothing")
    for tab in range(4):
        board.open_tab("main", tab)


def test_small_strengths_keep_three_digits(data):
    X, y = data
    large = TensorNormalMixture(3, penalty=0.4, init=y).fit(X)
    small = TensorNormalMixture(3, penalty=0.4 * 1e3, init=y).fit(X * 1e3)
    for model, scale in ((large, 1), (small, 1e3)):
        entries = TensorExplorer(model, X * scale).components["entries"]
        shown = next(c for c in entries.columns if c["key"] == "strength")
        top = max(row["strength"] for row in entries.rows)
        assert top >= 10 ** (2 - shown["digits"])


def test_what_does_not_fit_is_refused(data, found):
    X, _ = data
    model = found.best_model
    with pytest.raises(TypeError, match=r"found dict.*TensorNormalMixture\(2\)\.fit"):
        TensorExplorer({}, X)
    with pytest.raises(ValueError, match="groups has 3 values for 100 samples"):
        TensorExplorer(model, X, [0, 1, 2])
    with pytest.raises(ValueError, match="mode_names needs one text for each of the 2 modes"):
        TensorExplorer(model, X, mode_names=["a"])
    with pytest.raises(ValueError, match="labels of mode 1 needs 5 texts"):
        TensorExplorer(model, X, labels=[None, ["a"]])


# -- what leaves ----------------------------------------------------------------------------------


def handed_over(board, name):
    board.components["files"].fire("pressed", name)
    return board.stage.file_sent[1]["name"], bytes(board.stage.file)


def test_files_are_handed_over_and_hold_no_formulas(board):
    name, data = handed_over(board, "entries")
    assert name == "entries.csv"
    table = pd.read_csv(io.BytesIO(data))
    assert "'=1+1" in table["gene"].tolist()
    assert pd.read_csv(io.BytesIO(handed_over(board, "models")[1]))["selected"].sum() == 1
    assert handed_over(board, "slice")[1].startswith(b"<svg")
    assert b"href" not in handed_over(board, "sparsity")[1]
    assert b"TensorExplorer" in handed_over(board, "python")[1]
    name, data = handed_over(board, "labels")
    assert len(pd.read_csv(io.BytesIO(data))) == 100
    assert "keep it with the data" in board.components["status"].message


def test_of_samples_that_are_no_people_nothing_is_private(small):
    X, y, path = small
    board = TensorExplorer(path.models[1], X, y, path=path, private=False)
    assert handed_over(board, "labels")[0] == "labels.csv"
    assert board.components["status"].message == "labels.csv was handed to your browser."
    assert "private" not in str(board.components["files"].controls)


def page_state(file):
    text = file.read_text("utf-8")
    return json.loads(re.search(r'id="lvmkit-state">(.*?)</script>', text, re.DOTALL)[1]), text


def test_a_saved_page_answers_for_lambda_and_holds_no_sample(board, tmp_path):
    board.open_tab("main", 2)
    state, text = page_state(board.to_html(tmp_path / "page.html"))
    assert "<img src=x" not in text
    assert [o["label"] for o in state["model_options"]] == [
        board.state.describe(i) for i in board.state.along
    ]
    moved = state["stage_cases"][0]
    assert (moved["when"], list(moved["cases"])) == ("model.selected", ["0", "1", "2", "3"])
    assert {"slices.means", "entries.rows", "clusters.items", "sparsity.svg"} <= set(
        moved["cases"]["0"]
    )
    assert state["each_svg"] == ""
    assert state["border_rows"] == []
    assert "#step" not in state["sparsity_svg"]
    assert not board.state.disclosure.on_screen


def test_a_page_of_a_long_path_holds_a_part_of_it(data):
    X, y = data
    path = select_penalty(
        X, 2, penalties=np.geomspace(0.05, 5, 20), estimator=TensorNormalMixture(init=y % 2)
    )
    board = TensorExplorer(path.models[7], X, path=path)
    places = held(board.state)
    assert len(places) <= HELD + 2
    assert {0, 19, board.state.index} <= set(places)


@pytest.fixture(scope="module")
def small():
    """Clusters of 40, 30 and 6 samples."""
    X, y = made((40, 30, 6), strength=8.0)
    path = select_penalty(X, 3, penalties=[1.0, 0.4], estimator=TensorNormalMixture(init=y))
    return X, y, path


def test_clusters_of_few_samples_are_hidden_in_pages_and_files(small, tmp_path):
    X, y, path = small
    board = TensorExplorer(path.models[1], X, y, path=path)
    state = board.state
    assert small_clusters(state, state.index) == ()
    fields, text = page_state(board.to_html(tmp_path / "page.html"))
    assert fields["slices_hidden"] == [2]
    shown = {"slices.means": fields["slices_means"]}  # of cases, too, that say nothing else
    page = [shown, *(shown | case for case in fields["stage_cases"][0]["cases"].values())]
    for case in page:
        raw = np.frombuffer(base64.b64decode(case["slices.means"]["$bytes"]), "<f4")
        assert np.isnan(raw.reshape(3, 20)[2]).all()
        assert np.isfinite(raw.reshape(3, 20)[0]).all()
    assert fields["clusters_items"][2]["n"] == "<11"
    assert all(
        item["share"] is None for item in fields["clusters_items"] if isinstance(item["n"], str)
    )
    assert fields["agreement_text"] == ""
    assert "Error rate" not in text
    table = pd.read_csv(io.BytesIO(handed_over(board, "entries")[1]))
    assert table[["mean_2", "discriminant_2"]].isna().all(axis=None)
    assert "6" not in pd.read_csv(io.BytesIO(handed_over(board, "models")[1]))["clusters"].iloc[
        0
    ].split("; ")
    assert [item["n"] for item in board.components["clusters"].items] == [40, 30, 6]


def test_counts_of_groups_are_hidden_with_what_they_could_be_found_from(small):
    X, y, path = small
    board = TensorExplorer(path.models[1], X, y)
    board.state = board.state.disclose(on_screen=True)
    table = groups_of(board.state, board.state.index)
    assert table.attrs["hidden"]
    assert "6" not in {str(v) for v in table.drop(columns="group").to_numpy().ravel()}
    # two sizes are hidden, or the small one would follow from the number of samples
    assert sum(isinstance(n, str) for n in sizes_of(board.state, board.state.index)[0]) >= 2


def test_differences_to_a_small_first_cluster_are_hidden_too(small):
    X, y, _ = small
    model = TensorNormalMixture(3, penalty=0.4, init=(2 - y)).fit(X)
    board = TensorExplorer(model, X)
    board.state = board.state.disclose(on_screen=True)
    assert board.components["slices"].hidden == [0]
    weights = np.frombuffer(board.components["slices"].discriminants, "<f4")
    assert np.isnan(weights).all()
    assert entries_table(board.state)["strength"].isna().all()


def test_samples_that_are_no_people_are_shown_whole(small, tmp_path):
    X, y, path = small
    board = TensorExplorer(path.models[1], X, y, path=path, private=False)
    fields, _ = page_state(board.to_html(tmp_path / "page.html"))
    assert fields["clusters_items"][2]["n"] == 6
    assert fields["slices_hidden"] == []
    assert models_table(board.state)["clusters"].iloc[0].endswith("6")


@pytest.fixture(scope="module")
def moving():
    """Two clusters that overlap, so that a sample changes sides along λ."""
    X, y = made((60, 60), strength=3.0)
    path = select_penalty(
        X, 2, penalties=[0.6, 0.5, 0.4, 0.3, 0.2], estimator=TensorNormalMixture(init=y)
    )
    return X, path


def test_a_saved_page_gives_no_two_sums_to_subtract(moving, tmp_path):
    X, path = moving
    assert any(
        (one.labels_ != other.labels_).sum() == 1
        for one, other in zip(path.models[:-1], path.models[1:], strict=True)
    )
    board = TensorExplorer(path.models[2], X, path=path)
    fields, text = page_state(board.to_html(tmp_path / "page.html"))
    held_means = [fields["slices_means"]]
    held_means += [case["slices.means"] for case in fields["stage_cases"][0]["cases"].values()]
    read = [np.frombuffer(base64.b64decode(m["$bytes"]), "<f4").reshape(2, -1) for m in held_means]
    assert np.isfinite(read[0]).all()
    hidden = 0
    for means in read[1:]:
        for j in range(2):
            assert np.isnan(means[j]).all() or np.array_equal(means[j], read[0][j])
            hidden += np.isnan(means[j]).all()
    assert hidden
    for model in path.models:
        assert f"BIC {model.bic_:,.1f}" not in text
    told = pd.read_csv(io.BytesIO(handed_over(board, "models")[1]))
    assert "log_likelihood" not in told
    exact = models_table(board.state)  # of who sits at the machine
    assert "log_likelihood" in exact
    assert not np.isin(exact["bic"], told["bic"]).any()
    plain = TensorExplorer(path.models[2], X, path=path, private=False)
    fields, _ = page_state(plain.to_html(tmp_path / "page.html"))
    for case in fields["stage_cases"][0]["cases"].values():
        raw = np.frombuffer(base64.b64decode(case["slices.means"]["$bytes"]), "<f4")
        assert np.isfinite(raw).all()
