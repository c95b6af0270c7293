import base64
import zlib
from typing import Any

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


def rows_of(spec: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the rows that have a field."""
    rows: list[dict[str, Any]] = next(
        rows for rows in spec["datasets"].values() if rows and field in rows[0]
    )
    return rows


def pixels_of(address: str) -> np.ndarray:
    """Return the pixels of a square picture."""
    data = base64.b64decode(address.split(",")[1])
    body = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
    size = int.from_bytes(data[16:20])
    lines = np.frombuffer(body, np.uint8).reshape(size, -1)[:, 1:]
    return lines.reshape(size, size, 4)


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


def test_inside_a_cluster_rows_that_stay_come_first() -> None:
    """Two of three rows always meet; the third meets one of them half of the time."""
    together = np.array([[2, 0, 1], [0, 2, 2], [1, 2, 2]])
    none = np.zeros((1, 1))
    study = StabilityStudy(
        ari=np.ones(1),
        jaccard=np.ones((1, 1)),
        found=np.ones(1, int),
        clusters=np.arange(1),
        names=("",),
        sizes=np.array([3]),
        reference=np.zeros(3, int),
        moved_rows=none.astype(int),
        seen_rows=np.ones(1, int),
        sample=np.arange(3),
        together=together,
        together_seen=np.full((3, 3), 2),
        planned=1,
    )
    order = [2, 1, 0]
    expected = together[np.ix_(order, order)] / 2
    np.testing.assert_array_equal(charts.consensus_matrix(study).matrix, expected)


def test_blue_is_stronger_the_more_often_rows_meet_and_gray_is_unknown() -> None:
    matrix = np.array([[1.0, 0.25, np.nan], [0.25, 0.0, np.nan], [np.nan] * 3])
    found = charts.Consensus(
        matrix, np.arange(4), np.arange(3), ("0", "1", "2"), n_rows=90, blocks=True
    )
    spec = charts.consensus_chart(found).to_dict()
    pixels = pixels_of(rows_of(spec, "url")[0]["url"])
    middle = ((np.arange(3) + 0.5) * len(pixels) / 3).astype(int)
    cells = pixels[np.ix_(middle, middle)]
    blue, gray = [0, 114, 178], [138, 143, 152, 70]
    assert cells[0, 0].tolist() == [*blue, 255]
    assert cells[0, 1].tolist() == cells[1, 0].tolist() == [*blue, 64]
    assert cells[1, 1, 3] == 0
    assert cells[2].tolist() == cells[:, 2].tolist() == [gray] * 3
    numbers = rows_of(spec, "text_share")
    white = [row["text_share"] for row in numbers if row["color"] == "#ffffff"]
    assert white == ["100"]  # the others are on light blue, on nothing or on gray


def test_hidden_clusters_are_not_in_the_picture(study: StabilityStudy) -> None:
    rows = charts.consensus_matrix(study, hidden=[7])
    assert rows.matrix.shape == (90, 90)
    assert rows.n_rows == 90
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
