import numpy as np
import pytest
from sklearn.cluster import KMeans

from lvmkit import charts
from lvmkit.scores import StabilityStudy, stability_study

BLOBS = np.repeat(np.eye(4) * 8, [40, 30, 20, 5], axis=0)
BLOBS = BLOBS + np.random.default_rng(0).random(BLOBS.shape)


@pytest.fixture(scope="module")
def study() -> StabilityStudy:
    """Four clusters of 40, 30, 20 and 5, cut into three: not all of them can stay."""
    truth = np.repeat([0, 1, 2, 7], [40, 30, 20, 5])
    names = {1: "<script>alert(1)</script>"}
    return stability_study(KMeans(3, n_init=5), BLOBS, reference=truth, names=names, n_repeats=3)


def test_blocks_are_means_over_pairs_of_different_rows(study: StabilityStudy) -> None:
    found = charts.consensus_matrix(study, blocks=True)
    places = study.reference[study.sample]
    for i in range(4):
        for j in range(4):
            pairs = [
                study.consensus[a, b]
                for a in np.flatnonzero(places == i)
                for b in np.flatnonzero(places == j)
                if a != b and np.isfinite(study.consensus[a, b])
            ]
            assert found.matrix[i, j] == pytest.approx(np.mean(pairs))
    np.testing.assert_allclose(found.matrix, found.matrix.T)
    assert found.clusters.tolist() == [0, 1, 2, 7]
    assert found.bounds.tolist() == [0, 1, 2, 3, 4]


def test_rows_are_ordered_by_cluster(study: StabilityStudy) -> None:
    found = charts.consensus_matrix(study)
    assert found.matrix.shape == (95, 95)
    assert np.diff(found.bounds).tolist() == [40, 30, 20, 5]
    assert (np.diag(found.matrix)[np.isfinite(np.diag(found.matrix))] == 1).all()


def test_hidden_clusters_are_not_in_the_picture(study: StabilityStudy) -> None:
    rows = charts.consensus_matrix(study, hidden=[7])
    assert rows.matrix.shape == (90, 90)
    blocks = charts.consensus_matrix(study, blocks=True, hidden=[7])
    assert np.isnan(blocks.matrix[3]).all()
    assert np.isnan(blocks.matrix[:, 3]).all()
    assert np.isfinite(blocks.matrix[:3, :3]).all()
    spec = charts.consensus_chart(blocks).to_dict()
    assert "Gray: not shown." in " ".join(spec["title"]["subtitle"])


def test_labels_are_links_and_numbers_are_in_print(study: StabilityStudy) -> None:
    picture = charts.svg(charts.consensus_chart(charts.consensus_matrix(study, blocks=True)))
    assert picture.count('href="#cluster=') == 4
    assert "<script" not in picture
    assert ">100<" in picture
    rows = charts.svg(charts.consensus_chart(charts.consensus_matrix(study)))
    assert "How often 95 rows meet again" in rows


def test_a_hundred_clusters_are_drawn() -> None:
    many = charts.Consensus(
        np.eye(100),
        np.arange(101),
        np.arange(100),
        tuple(map(str, range(100))),
        n_rows=300,
        blocks=True,
    )
    assert "data:image/png" in charts.svg(charts.consensus_chart(many))
