import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon

from lvmkit.charts import svg, topic_map_chart, topic_map_table


def random_topics(k: int, d: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(k)
    return random.dirichlet(np.full(d, 0.1), k), random.dirichlet(np.ones(k))


def test_two_topics_lie_as_far_apart_as_their_words() -> None:
    centers, weights = random_topics(2)
    table = topic_map_table(centers, weights)
    expected = jensenshannon(centers[0], centers[1])
    np.testing.assert_allclose(np.ptp(table["x"]), expected)
    np.testing.assert_allclose(table["y"], 0)


def test_three_topics_keep_all_their_distances() -> None:
    centers, weights = random_topics(3)
    places = topic_map_table(centers, weights)[["x", "y"]].to_numpy()
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = jensenshannon(centers[i], centers[j])
        np.testing.assert_allclose(np.linalg.norm(places[i] - places[j]), expected)


def test_the_map_does_not_flip_when_topics_change_their_order() -> None:
    centers, weights = random_topics(9)
    table = topic_map_table(centers, weights)
    turned = topic_map_table(centers[::-1], weights[::-1])
    np.testing.assert_allclose(turned[["x", "y"]].to_numpy()[::-1], table[["x", "y"]], atol=1e-8)
    assert table["x"].max() == table["x"].abs().max()


@pytest.mark.parametrize("k", [1, 2, 30])
def test_any_number_of_topics_has_real_places(k: int) -> None:
    table = topic_map_table(*random_topics(k))
    assert np.isfinite(table[["x", "y"]].to_numpy(dtype=float)).all()
    assert "<circle" in svg(topic_map_chart(table)) or "<path" in svg(topic_map_chart(table))


def test_equal_topics_lie_in_one_place() -> None:
    table = topic_map_table(np.full((4, 5), 0.2), np.full(4, 0.25))
    assert (table[["x", "y"]] == 0).all(axis=None)
    assert topic_map_chart(table).to_dict()


def test_empty_topics_have_no_place_and_do_not_move_the_others() -> None:
    centers, weights = random_topics(4)
    full = topic_map_table(centers, weights)
    centers = np.vstack([centers, np.zeros(40), centers[0]])
    table = topic_map_table(centers, [*weights, 0.1, 0.0])
    assert table["empty"].tolist() == [False] * 4 + [True] * 2
    np.testing.assert_allclose(table[["x", "y"]][:4], full[["x", "y"]])
    assert table["x"][4:].isna().all()
    assert "2 empty topics" in str(topic_map_chart(table).to_dict()["title"])


def test_nothing_but_empty_topics_is_no_error() -> None:
    table = topic_map_table(np.zeros((2, 3)), np.zeros(2))
    assert topic_map_chart(table).to_dict()


def test_the_number_stands_before_the_name() -> None:
    table = topic_map_table(np.eye(2), [0.5, 0.5], names=["", "war"])
    assert table["label"].tolist() == ["0", "1 · war"]
    picture = svg(topic_map_chart(table))
    assert 'href="#cluster=1"' in picture


def test_wrong_shapes_and_signs_are_refused() -> None:
    with pytest.raises(ValueError, match="must agree"):
        topic_map_table(np.eye(2), [1.0])
    with pytest.raises(ValueError, match=r"0 or more; found -1"):
        topic_map_table(-np.eye(2), [0.5, 0.5])


def test_circles_and_names_of_a_crowded_map_cover_no_other() -> None:
    centers, weights = random_topics(18)
    centers = 0.9 * centers[0] + 0.1 * centers
    names = [f"a long name of topic {j}" for j in range(18)]
    drawn = topic_map_chart(topic_map_table(centers, weights, names=names)).to_dict()
    (rows,) = [rows for rows in drawn["datasets"].values() if "area" in rows[0]]
    data = pd.DataFrame(rows)
    radius = np.sqrt(data["area"].to_numpy(float) / np.pi)
    places = data[["x", "y"]].to_numpy(float)
    far = np.hypot(*(places[:, None] - places[None]).T)
    np.fill_diagonal(far, np.inf)
    assert (far > radius[:, None] + radius[None]).all()
    named = data[data["text_topic"].str.contains("name")]
    assert 0 < len(named) < 18
    lines = named[["x", "text_y"]].to_numpy(float)
    half = np.minimum(6.2 * named["text_topic"].str.len().to_numpy(), 145) / 2
    aside, apart = np.abs((lines[:, None] - places[None]).transpose(2, 0, 1))
    own = named.index.to_numpy()[:, None] == data.index.to_numpy()[None]
    assert not ((aside < half[:, None] + radius) & (apart < radius + 6) & ~own).any()
    aside, apart = np.abs((lines[:, None] - lines[None]).transpose(2, 0, 1))
    assert not (
        (aside < half[:, None] + half) & (apart < 13) & ~np.eye(len(half), dtype=bool)
    ).any()
    assert data["area"].is_monotonic_decreasing


def test_topics_in_one_place_are_drawn_beside_each_other_and_always_alike() -> None:
    table = topic_map_table(np.full((30, 5), 0.2), np.full(30, 1 / 30))
    first, again = topic_map_chart(table).to_dict(), topic_map_chart(table).to_dict()
    assert first["datasets"] == again["datasets"]
    (rows,) = [rows for rows in first["datasets"].values() if "area" in rows[0]]
    places = np.array([[row["x"], row["y"]] for row in rows])
    far = np.hypot(*(places[:, None] - places[None]).T)
    assert far[np.triu_indices(30, 1)].min() > 12
