import anndata
import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit_widgets import ClusterExplorer
from lvmkit_widgets.clusters.state import ExplorerState

CODES = ["250", "272", "401", "427", "428", "486", "518", "584", "585", "715", "V45", "V58"]


def planted(n=240, seed=0):
    centers = np.full((3, 12), 0.06)
    for j in range(3):
        centers[j, 4 * j : 4 * j + 4] = [0.9, 0.8, 0.7, 0.6]
    model = lvmkit.BernoulliMixture.from_parameters([0.5, 0.3, 0.2], centers, feature_names=CODES)
    X, labels = model.sample(n, random_state=seed)
    rng = np.random.default_rng(seed)
    obs = pd.DataFrame(
        {"age": rng.integers(20, 90, n), "sex": rng.choice(["female", "male"], n)},
        index=[f"r{i}" for i in range(n)],
    )
    var = pd.DataFrame({"title": [f"Disease {code}" for code in CODES]}, index=CODES)
    return anndata.AnnData(X, obs=obs, var=var), labels


@pytest.fixture
def cohort():
    return planted()[0]


@pytest.fixture
def state(cohort):
    return ExplorerState.of(lvmkit.BernoulliMixture(n_components=3).fit(cohort), cohort)


def test_it_opens_on_the_fitted_model(state, cohort):
    assert state.clustering.ids == [0, 1, 2]
    assert state.assignment.sizes.sum() == cohort.n_obs
    assert state.k == 3
    assert state.cluster == 0
    assert state.other == 1
    assert state.view.how.startswith("converged after")
    assert state.log_likelihood == pytest.approx(state.model.score(cohort))


def test_every_operation_can_be_undone_and_redone(state):
    steps = [
        lambda state: state.rename(1, "Lung"),
        lambda state: state.write_note(1, "ask"),
        lambda state: state.merge([0, 2], name="Rest"),
        lambda state: state.unmerge(3),
        lambda state: state.split(0, parts=2),
        lambda state: state.show(Subset(values={"sex": ("male",)})),
        lambda state: state.refit(k=2, subset=Subset(), excluded=["715"]),
    ]
    seen = [state.view]
    for step in steps:
        state = step(state)
        seen.append(state.view)
    for view in seen[-2::-1]:
        state = state.undo()
        assert state.view is view
    for view in seen[1:]:
        state = state.redo()
        assert state.view is view
    state = state.go_to(0)
    assert state.view is seen[0]


def test_results_follow_the_view_through_undo(state):
    sizes = state.assignment.sizes.tolist()
    state = state.split(0, parts=2)
    assert len(state.assignment.sizes) == 4
    state = state.undo()
    assert state.assignment.sizes.tolist() == sizes
    assert state.cluster in state.clustering.ids


def test_ids_are_never_used_twice(state):
    state = state.split(0, parts=2)
    assert state.clustering.ids == [3, 4, 1, 2]
    state = state.merge([3, 1])
    state = state.split(5, parts=2)
    assert state.clustering.ids == [6, 7, 4, 2]


def test_a_split_says_who_else_moved(state):
    before = state.assignment.labels
    state = state.split(0, parts=2)
    came = int(((before != 0) & np.isin(state.assignment.labels, [3, 4])).sum())
    left = int(((before == 0) & ~np.isin(state.assignment.labels, [3, 4])).sum())
    expected = f"of other clusters moved into the parts, and {left}"
    expected = expected if came or left else "Nobody else changed"
    assert expected in state.message
    assert state.cluster == 3
    assert state.other == 4


def test_merged_posteriors_add(state):
    before = state.assignment.posterior
    state = state.merge([0, 2])
    np.testing.assert_allclose(state.assignment.posterior[:, 0], before[:, 0] + before[:, 2])
    np.testing.assert_allclose(state.assignment.posterior[:, 1], before[:, 1])


def test_a_refit_keeps_the_names_of_clusters_that_stay_alike(state):
    state = state.rename(2, "Kidney")
    state = state.write_note(2, "small")
    state = state.refit(k=3, excluded=["715"])
    [kept] = [c for c in state.clustering.clusters if c.name]
    assert kept.name == "Kidney"
    assert kept.note == "small"
    assert "715" not in state.codes
    assert state.excluded == ("715",)
    assert "Names kept: Kidney" in state.message


def test_the_fit_uses_the_chosen_patients(state):
    state = state.replace(subset=Subset(ranges={"age": (20, 60)}))
    n = state.n_chosen
    state = state.refit(k=2)
    assert len(state.assignment.rows) == n
    assert state.subset == Subset(ranges={"age": (20, 60)})
    state = state.undo()
    assert state.subset == Subset()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.refit(k=13), "need at least 13 codes, but only 12"),
        (lambda s: s.refit(k=0), "must be 1 or more; 0 was given"),
        (lambda s: s.refit(k=2, excluded=CODES), "Every code is left out"),
        (lambda s: s.refit(k=2, excluded=["XYZ"]), "no code XYZ"),
        (lambda s: s.refit(k=2, subset=Subset(ranges={"age": (200, 300)})), "Nobody"),
        (lambda s: s.refit(k=11, subset=Subset(ranges={"age": (20, 22)})), "need at least 22 pat"),
        (lambda s: s.split(0, parts=1), "2 parts or more"),
        (lambda s: s.split(9), "no cluster 9"),
        (lambda s: s.merge([1]), "two or more"),
        (lambda s: s.show(Subset(having=("XYZ",))), "has the code “XYZ”"),
        (lambda s: s.undo(), "nothing to undo"),
    ],
)
def test_a_wrong_wish_says_what_to_do_and_loses_nothing(state, change, message):
    view = state.view
    with pytest.raises(ValueError, match=message):
        change(state)
    assert state.view is view
    assert len(state.history.steps) == 1


def test_the_recorded_python_repeats_every_step(state, cohort):
    state = state.rename(1, "Lung \"left\" 'right'")
    state = state.split(0, parts=2)
    state = state.merge([3, 2], name="Both")
    state = state.show(Subset(ranges={"age": (30, 80)}, having=("428",)))
    state = state.refit(k=4, subset=Subset(values={"sex": ("female",)}), excluded=["V45", "401"])
    state = state.write_note(0, "two\nlines")
    model = lvmkit.BernoulliMixture(n_components=3).fit(cohort)
    scope = {"model": model, "cohort": cohort}
    exec(state.history.code, scope)
    again = scope["state"]
    assert again.clustering.clusters == state.clustering.clusters
    np.testing.assert_array_equal(again.assignment.labels, state.assignment.labels)


def test_a_saved_model_brings_names_notes_and_merges_back(state, cohort, tmp_path):
    state = state.rename(1, "Lung")
    state = state.write_note(1, "ask")
    state = state.merge([0, 2], name="Rest")
    state.save(tmp_path / "model.npz")
    back = ExplorerState.of(lvmkit.load(tmp_path / "model.npz"), cohort)
    assert back.clustering.clusters == state.clustering.clusters
    np.testing.assert_array_equal(back.assignment.labels, state.assignment.labels)
    back = back.unmerge(3)
    assert back.clustering.ids == [0, 2, 1]


def test_explorers_of_one_model_do_not_share_names_until_one_is_saved(cohort, tmp_path):
    model = lvmkit.BernoulliMixture(n_components=3).fit(cohort)
    one, other = ExplorerState.of(model, cohort), ExplorerState.of(model, cohort)
    one, other = one.rename(1, "Lung"), other.rename(1, "Liver")
    assert model.annotations_ == {}
    assert one.model.annotations_["clusters"][1]["name"] == "Lung"
    assert ExplorerState.of(model, cohort).clustering.cluster(1).name == ""
    one.save(tmp_path / "model.npz")
    assert ExplorerState.of(model, cohort).clustering.cluster(1).name == "Lung"
    assert other.clustering.cluster(1).name == "Liver"
    assert one.rename(1, "Heart").clustering.cluster(1).name == "Heart"
    assert model.annotations_["clusters"][1]["name"] == "Lung"


def test_a_model_that_was_fitted_again_leaves_the_opened_one_alone(cohort, tmp_path):
    model = lvmkit.BernoulliMixture(n_components=3).fit(cohort)
    state = ExplorerState.of(model, cohort)
    state = state.refit(k=2)
    state = state.rename(0, "Heart")
    state.save(tmp_path / "model.npz")
    assert model.annotations_ == {}
    assert ExplorerState.of(lvmkit.load(tmp_path / "model.npz"), cohort).clustering.ids == [0, 1]


@pytest.fixture
def board(cohort):
    return ClusterExplorer(lvmkit.BernoulliMixture(n_components=3).fit(cohort), cohort)


def named(path):
    return lvmkit.load(path).annotations_["clusters"][0]["name"]


def test_autosave_keeps_the_file_up_to_date(board, tmp_path):
    board.state = board.state.replace(autosave=str(tmp_path / "auto.npz"))
    board.state = board.state.rename(0, "Heart")
    assert named(board.state.autosave) == "Heart"
    board.state = board.state.undo()
    assert named(board.state.autosave) == ""


def test_a_copy_saved_elsewhere_does_not_end_autosaving(board, tmp_path, monkeypatch):
    """Before, the copy's time was compared with that of the file that is kept up to date."""
    monkeypatch.chdir(tmp_path)
    board.state = board.state.replace(autosave="one.npz")
    board.state = board.state.rename(0, "Heart")
    board.state.save("backup.npz")
    board.state = board.state.rename(0, "Lungs")
    assert named("one.npz") == "Lungs"
    assert named("backup.npz") == "Heart"
    lvmkit.save(board.state.model, tmp_path / "one.npz")  # by somebody else
    board.state.save("backup.npz")
    with pytest.raises(ValueError, match=r"“one\.npz” was written by somebody else meanwhile"):
        board.state = board.state.rename(0, "Kidneys")
    assert board.state.autosave is None
    assert board.state.clustering.cluster(0).name == "Kidneys"


def test_autosave_goes_from_one_model_to_another_and_back(board, tmp_path):
    one, two = str(tmp_path / "one.npz"), str(tmp_path / "two.npz")
    lvmkit.save(board.state.model, two)
    for place, name in [(one, "Heart"), (two, "Lungs"), (one, "Kidneys")]:
        board.state = board.state.replace(autosave=place)
        board.state = board.state.rename(0, name)
        assert named(place) == name


def test_a_cohort_with_other_codes_in_another_order_is_matched_by_name(state, cohort):
    other = cohort[:, ["V58", "428", "250", "272", "401"]].copy()
    seen = ExplorerState.of(state.model, other)
    assert "7 codes of the model occur in nobody" in seen.message
    assert seen.assignment.X.shape[1] == 12


def test_progress_is_told_and_raising_from_it_cancels(state):
    told = []
    state = state.refit(k=2, progress=lambda text, share: told.append((text, share)))
    assert told[-1][1] == 1.0

    def stop(text, share):
        raise KeyboardInterrupt

    view = state.view
    with pytest.raises(KeyboardInterrupt):
        state = state.refit(k=3, progress=stop)
    assert state.view is view


def test_what_is_not_fitted_is_refused(cohort):
    with pytest.raises(TypeError, match=r"needs a fitted mixture.*Call fit first"):
        ExplorerState.of(lvmkit.BernoulliMixture(), cohort)


def test_a_model_without_names_is_matched_by_position(cohort):
    model = lvmkit.BernoulliMixture(n_components=3).fit(cohort.X)
    state = ExplorerState.of(model, cohort)
    assert state.codes == tuple(CODES)
    np.testing.assert_array_equal(state.assignment.labels, model.labels_)
    with pytest.raises(ValueError, match="12 codes without names, the cohort 5"):
        ExplorerState.of(model, cohort[:, :5].copy())


def test_a_cluster_is_never_compared_with_itself(state):
    state = state.look(cluster=0, other=1)
    state = state.look(cluster=1)
    assert state.other == 0
    state = state.look(other=1)
    assert state.other is None
