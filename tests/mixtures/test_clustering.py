import numpy as np
import pytest

from lvmkit import SpectralTree
from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.trees.cut import TreeCut


@pytest.fixture
def clustering():
    rng = np.random.default_rng(0)
    mixture = Mixture(
        np.array([0.4, 0.3, 0.2, 0.1]), rng.uniform(0.1, 0.9, (4, 3)), ("401", "428", "585")
    )
    return Clustering.of(mixture)


def test_ids_start_as_component_numbers(clustering):
    assert clustering.ids == [0, 1, 2, 3]
    assert clustering.labels == ["Cluster 0", "Cluster 1", "Cluster 2", "Cluster 3"]


def test_a_merge_adds_weights_and_keeps_components(clustering):
    merged = clustering.merged([1, 3])
    assert merged.ids == [0, 4, 2]
    np.testing.assert_allclose(merged.weights, [0.4, 0.4, 0.2], rtol=1e-12)
    assert merged.mixture is clustering.mixture
    w, mu = clustering.mixture.weights, clustering.mixture.centers
    expected = (w[1] * mu[1] + w[3] * mu[3]) / (w[1] + w[3])
    np.testing.assert_allclose(merged.centers[1], expected, rtol=1e-12)


def test_a_merge_taken_back_restores_ids_names_and_notes(clustering):
    named = clustering.renamed(1, name="Kidney", note="ask Dr. A")
    back = named.merged([1, 3], name="Both").unmerged(4)
    assert sorted(back.ids) == [0, 1, 2, 3]
    assert back.cluster(1).name == "Kidney"
    assert back.cluster(1).note == "ask Dr. A"
    assert back.merged([0, 1]).ids[0] == 5, "an id is never used twice"


def test_a_split_replaces_only_the_components_of_its_cluster(clustering):
    merged = clustering.merged([1, 3])
    parts = np.array([[0.2, 0.3, 0.4], [0.5, 0.6, 0.7]])
    split = merged.split(4, np.array([0.75, 0.25]), parts)
    assert split.ids == [0, 5, 6, 2]
    np.testing.assert_allclose(split.weights, [0.4, 0.3, 0.1, 0.2], rtol=1e-12)
    np.testing.assert_allclose(split.centers[[0, 3]], clustering.centers[[0, 2]], rtol=1e-12)
    np.testing.assert_allclose(split.centers[[1, 2]], parts, rtol=1e-12)
    assert split.cluster(5).parent == 4


def test_parts_of_a_named_cluster_are_named_after_it(clustering):
    named = clustering.renamed(0, name="Heart")
    split = named.split(0, np.array([0.5, 0.5]), np.full((2, 3), 0.5))
    assert split.labels[:2] == ["Heart – part 1", "Heart – part 2"]


def test_annotations_restore_names_notes_merges_and_ids(clustering):
    changed = clustering.merged([0, 2], name="Both").renamed(1, name="Lung", note="two\nlines")
    back = Clustering.from_annotations(changed.mixture, changed.to_annotations())
    assert back.clusters == changed.clusters
    assert back.next_id == changed.next_id


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.renamed(0, name="X").renamed(1, name="X"), "already called “X”"),
        (lambda c: c.merged([2]), "two or more clusters"),
        (lambda c: c.unmerged(1), "not made by merging"),
        (lambda c: c.cluster(9), "no cluster 9; choose one of 0, 1, 2, 3"),
    ],
)
def test_a_wrong_change_says_what_to_do(clustering, change, message):
    with pytest.raises(ValueError, match=message):
        change(clustering)


def test_annotations_of_another_model_are_refused(clustering):
    annotations = clustering.merged([0, 1]).to_annotations()
    other = Mixture(np.array([0.5, 0.5]), np.full((2, 3), 0.5), clustering.mixture.codes)
    with pytest.raises(ValueError, match="belong to another model"):
        Clustering.from_annotations(other, annotations)


def test_a_merged_cluster_has_a_new_id_and_its_name_until_it_is_taken_back():
    mixture = Mixture(np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.7]]), ("428", "250"))
    merged = Clustering.of(mixture).merged([0, 1], name="Everyone")
    assert [(c.id, c.label, c.components) for c in merged.clusters] == [(2, "Everyone", (0, 1))]
    assert [c.id for c in merged.unmerged(2).clusters] == [0, 1]


def test_the_cut_of_a_tree_is_certain_of_the_cluster_of_each_row():
    tree = SpectralTree(max_depth=1).fit(np.repeat(np.eye(2), [12, 11], axis=0)).tree_
    cut = TreeCut(tree, [1, 2], np.eye(2), np.array([0.5, 0.5]), ["a", "b"], names=["", ""])
    np.testing.assert_array_equal(cut.predict([[1, 0], [0, 1]]), [0, 1])
    np.testing.assert_array_equal(cut.predict_proba([[1, 0], [0, 1]]), np.eye(2))
