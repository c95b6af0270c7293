"""Trees against explicit moments, planted structure, and whatever data may do to them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit import SpectralTree
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_bernoulli_mixture, make_nested_topics
from lvmkit.scores import adjusted_rand
from lvmkit.trees.mixture_split import _certainty
from lvmkit.trees.sidiwo_split import _clarity
from lvmkit.trees.split_support import canonical_ranks


@pytest.fixture(scope="module")
def planted():
    return make_bernoulli_mixture(3_000, 60, 4, codes_per_row=8, random_state=1)


@pytest.fixture(scope="module")
def fitted(planted):
    return SpectralTree(max_depth=3).fit(planted.X)


def rows_of(tree, X, labels):
    """Return the rows of every node."""
    leaves = tree.leaves
    return {
        node.id: X[np.isin(labels, [leaves.index(i) for i in tree.walk(node.id) if i in leaves])]
        for node in tree.nodes
    }


@pytest.mark.parametrize("equalize", [0.0, 0.3, 0.5])
def test_discriminators_whiten_the_raw_moments(planted, equalize):
    model = SpectralTree(max_depth=2, equalize=equalize).fit(planted.X)
    for number, rows in rows_of(model.tree_, planted.X, model.labels_).items():
        node = model.nodes_[number]
        if node.is_leaf:
            continue
        scores = rows @ node.discriminators.T
        # Theorem 6.2.1: unit mean squares, no correlation.
        assert np.allclose(scores.T @ scores / rows.shape[0], np.eye(2), atol=1e-6)
        # Equation 6.11.
        first, second = (model.nodes_[child].size for child in node.children)
        chosen = np.abs(scores).argmax(axis=1)
        assert [(chosen == 0).sum(), (chosen == 1).sum()] == [first, second]


def test_the_published_split_is_the_best_of_a_grid(planted):
    X = planted.X.toarray().astype(float)
    D = SpectralTree(max_depth=1, equalize=0.0).fit(X).nodes_[0].discriminators
    second = X.T @ X / len(X)
    values, vectors = np.linalg.eigh(second)
    whitener = vectors[:, -2:] / np.sqrt(values[-2:])
    third = np.einsum("ni,nj,nk->ijk", X, X, X, optimize=True) / len(X)

    def cost(d1, d2):
        return np.sqrt((np.einsum("irj,i,j->r", third, d1, d2, optimize=True) ** 2).sum())

    angles = np.linspace(-np.pi / 4, np.pi / 4, 801)
    grid = [
        cost(
            whitener @ np.array([np.cos(t), -np.sin(t)]),
            whitener @ np.array([np.sin(t), np.cos(t)]),
        )
        for t in angles
    ]
    assert cost(*D) <= min(grid) * (1 + 1e-9)
    assert cost(*D) == pytest.approx(min(grid), rel=1e-4)
    # And it lies in the space of the two leading singular vectors.
    assert np.allclose(vectors[:, -2:] @ (vectors[:, -2:].T @ D.T), D.T, atol=1e-6)


def test_few_features_counted_products_and_many_features_agree(planted, monkeypatch):
    labels = SpectralTree(max_depth=2).fit(planted.X).labels_
    monkeypatch.setattr("lvmkit.trees.growth.WIDE", 5)
    assert (SpectralTree(max_depth=2).fit(planted.X).labels_ == labels).all()
    monkeypatch.setattr("lvmkit.trees.eigenpairs.SMALL", 5)
    assert (SpectralTree(max_depth=2).fit(planted.X).labels_ == labels).all()


def test_nested_topics_are_found():
    found = []
    for seed in range(4):
        data = make_nested_topics(random_state=seed)
        model = SpectralTree(max_depth=3, split="model").fit(data.X)
        found.append(adjusted_rand(data.labels, model.labels_))
        halves = data.labels // 4
        top = model.tree_.regrouped(model.labels_, model.tree_.frontier(depth=1))
        assert adjusted_rand(halves, top) > 0.95
    assert np.mean(found) > 0.95


def test_planted_clusters_are_found_by_data_and_model(planted):
    for options in ({}, {"em": True}, {"split": "model"}, {"split": "model", "em": True}):
        model = SpectralTree(max_depth=None, max_leaf_nodes=4, **options).fit(planted.X)
        least = 0.85 if "em" in options else 0.6
        assert adjusted_rand(planted.labels, model.labels_) > least, options


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_support": 0.6, "max_depth": None},
        {"max_leaf_nodes": 6, "max_depth": None},
        {"split": "model"},
        {"split": "pddp"},
        {"em": True},
    ],
)
def test_the_order_of_rows_does_not_matter(planted, options):
    order = np.random.default_rng(0).permutation(planted.X.shape[0])
    one = SpectralTree(**options).fit(planted.X)
    other = SpectralTree(**options).fit(planted.X[order])
    assert (one.labels_[order] == other.labels_).all()
    assert [node.size for node in one.nodes_] == [node.size for node in other.nodes_]


def test_the_same_on_every_run_and_for_dense_rows(planted, fitted):
    again = SpectralTree(max_depth=3).fit(planted.X.toarray())
    assert (again.labels_ == fitted.labels_).all()


def test_rows_go_down_the_tree_as_they_were_fitted(planted, fitted):
    assert (fitted.predict(planted.X) == fitted.labels_).all()
    leaves = [fitted.nodes_[i] for i in fitted.tree_.leaves]
    assert [leaf.size for leaf in leaves] == np.bincount(fitted.labels_).tolist()
    for j, leaf in enumerate(leaves):
        assert np.allclose(leaf.mean, planted.X[fitted.labels_ == j].mean(axis=0), atol=1e-6)
    assert np.allclose(fitted.weights_, np.bincount(fitted.labels_) / planted.X.shape[0])
    assert (fitted.centers_ == [leaf.mean for leaf in leaves]).all()


def test_rows_that_both_sides_claim_alike_go_the_same_way_later(planted):
    X = planted.X.toarray()
    X[::7] = 0
    for split in ("data", "model", "pddp"):
        model = SpectralTree(max_depth=3, split=split).fit(X)
        assert (model.predict(X) == model.labels_).all(), split
        assert all(
            model.nodes_[node.children[0]].size >= model.nodes_[node.children[1]].size
            for node in model.nodes_
            if not node.is_leaf
        )


def test_depth_three_has_eight_leaves(fitted):
    assert fitted.n_leaves_ == 8
    assert set(fitted.labels_) == set(range(8))
    parents = [node.parent for node in fitted.nodes_]
    assert parents[0] is None
    assert all(parent is not None for parent in parents[1:])
    for node in fitted.nodes_:
        assert sum(fitted.nodes_[i].size for i in node.children) in (0, node.size)
        assert node.is_leaf == bool(node.reason)
        if not node.is_leaf:
            assert node.discriminators.shape == node.centers.shape == (2, 60)
            first, second = (fitted.nodes_[i].size for i in node.children)
            assert first >= second
            assert 0 <= node.strength <= 1


def test_limits(planted):
    small = SpectralTree(max_depth=None, min_samples_leaf=300, max_leaf_nodes=20).fit(planted.X)
    assert np.bincount(small.labels_).min() >= 300
    assert any("min_samples_leaf" in node.reason for node in small.nodes_)
    few = SpectralTree(max_depth=None, max_leaf_nodes=5).fit(planted.X)
    assert few.n_leaves_ == 5
    assert any("max_leaf_nodes=5" in node.reason for node in few.nodes_)
    assert SpectralTree(max_depth=0).fit(planted.X).n_leaves_ == 1


def test_as_far_as_the_data_support():
    generator = np.random.default_rng(0)
    noise = sparse.csr_array((generator.random((2_000, 40)) < 0.2).astype(float))
    with pytest.warns(DataWarning, match="not split.*does not reappear"):
        assert SpectralTree(max_depth=None, min_support=0.6).fit(noise).n_leaves_ == 1
    blocks = np.kron(np.eye(4), np.ones((1, 10)))
    groups = generator.choice(4, 2_000, p=[0.45, 0.3, 0.15, 0.1])
    X = (generator.random((2_000, 40)) < 0.05 + 0.5 * blocks[groups]).astype(float)
    model = SpectralTree(max_depth=None, min_support=0.6).fit(X)
    assert adjusted_rand(groups, model.labels_) > 0.85
    assert 4 <= model.n_leaves_ <= 8
    assert all(node.support >= 0.6 for node in model.nodes_ if not node.is_leaf)


def test_strength_is_one_for_disjoint_sides_and_nothing_where_all_turns_are_alike():
    clear = np.kron(np.eye(2), np.ones((6, 3)))
    assert SpectralTree(max_depth=1, equalize=0.0).fit(clear).nodes_[0].strength == pytest.approx(1)
    # H₁₂ = 0 and H₁₁ = H₂₂ in every slice, turned by any angle: A = B = 0.
    same = np.array([[[1.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]]).reshape(-1, 3)
    assert _clarity(same[:1]) == 0
    assert _clarity(np.array([[1.0, 0.0, 0.0]])) == pytest.approx(1)
    assert _clarity(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])) == pytest.approx(0)


def test_certainty_is_one_minus_the_entropy_in_bits():
    assert _certainty(np.zeros((3, 2))) == pytest.approx(0)
    assert _certainty(np.array([[0.0, 500.0]])) == pytest.approx(1)
    odds = np.log(0.8 / 0.2)
    by_hand = 1 + 0.8 * np.log2(0.8) + 0.2 * np.log2(0.2)
    assert _certainty(np.array([[odds, 0.0], [0.0, odds]])) == pytest.approx(by_hand)


def test_rows_are_drawn_by_what_they_hold(planted):
    order = np.random.default_rng(0).permutation(planted.X.shape[0])
    rows, dense = planted.X, planted.X.toarray()
    first = dense[np.argsort(canonical_ranks(rows))]
    assert (first == dense[order][np.argsort(canonical_ranks(rows[order]))]).all()
    assert (canonical_ranks(dense) == canonical_ranks(rows)).all()
    options = {"max_depth": 3, "min_support": 0.1}
    one, other = (SpectralTree(**options).fit(X) for X in (rows, rows[order]))
    assert [node.support for node in one.nodes_] == pytest.approx(
        [node.support for node in other.nodes_], nan_ok=True
    )


@pytest.mark.parametrize("options", [{"em": True}, {"split": "kmeans"}])
def test_even_noise_is_split_alike_in_any_order(options):
    generator = np.random.default_rng(0)
    X = (generator.random((1_500, 40)) < 0.15).astype(float)
    order = generator.permutation(len(X))
    assert (
        SpectralTree(**options).fit(X).labels_[order]
        == SpectralTree(**options).fit(X[order]).labels_
    ).all()


def test_sums_of_large_counts_are_exact():
    counts = np.random.default_rng(0).integers(0, 2_000_000, (20_000, 6)).astype(float)
    for form in (np.asarray, sparse.csr_array):
        model = SpectralTree(max_depth=2, split="pddp").fit(form(counts))
        for j, leaf in enumerate(model.tree_.leaves):
            exact = counts[model.labels_ == j].mean(axis=0)
            assert np.allclose(model.nodes_[leaf].mean, exact, rtol=1e-9)


def test_an_outlier_does_not_spoil_the_sums_of_the_others(planted):
    X = planted.X.toarray()[:400]
    X[7, 3] = 1e9
    model = SpectralTree(max_depth=2, split="pddp").fit(X)
    for j, leaf in enumerate(model.tree_.leaves):
        assert np.allclose(model.nodes_[leaf].mean, X[model.labels_ == j].mean(axis=0), rtol=1e-6)


def test_what_is_left_after_outliers_is_split_as_if_they_were_never_there():
    X = np.random.default_rng(0).random((2000, 50)) * 2
    X[3] *= 1e8
    X[9] *= 3e4  # taken away one after the other, each takes digits of the rest
    model = SpectralTree(max_depth=3).fit(X)
    rest = np.setdiff1d(np.arange(2000), [3, 9])
    again = SpectralTree(max_depth=1).fit(X[rest])
    assert [node.size for node in model.nodes_[:5]] == [2000, 1999, 1, 1998, 1]
    assert adjusted_rand(model.labels_[rest], again.labels_) == 1.0


def reason_of(X, **options):
    with pytest.warns(DataWarning, match="not split"):
        model = SpectralTree(**options).fit(X)
    assert model.labels_.tolist() == [0] * len(model.labels_)
    return model.nodes_[0].reason


@pytest.mark.parametrize("split", ["data", "model", "pddp", "kmeans"])
def test_what_cannot_be_split_is_a_leaf_that_says_why(split):
    assert "fewer than two rows" in reason_of(np.array([[1, 0, 1]]), split=split)
    assert "rows are equal" in reason_of(np.tile([1, 0, 1], (6, 1)), split=split)
    assert "rows are equal" in reason_of(np.zeros((6, 3)), split=split)
    assert "rows are equal" in reason_of(sparse.csr_array(np.tile([1, 0, 1], (6, 1))), split=split)


def test_rows_along_one_line_are_not_split_by_angle():
    assert "one direction" in reason_of(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    assert "one direction" in reason_of(np.array([[1.0], [2.0], [3.0]]))
    assert reason_of(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), split="model")


def test_reasons_name_the_cause():
    generator = np.random.default_rng(0)
    Y = (generator.random((200, 4)) < 0.4).astype(float)
    assert "feature 0 outweighs" in reason_of(np.column_stack([np.full(200, 1e6), Y]))
    short = np.array([[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 0]] * 4)
    assert "three words" in reason_of(short, split="model")
    assert "one feature" in reason_of(np.array([[0], [1], [3], [5]]), split="model")


def test_rows_of_one_code_each_are_split_by_raw_moments():
    # No two codes occur together: the moments without coinciding indexes are zero.
    X = np.repeat(np.eye(4), [9, 7, 5, 3], axis=0)
    model = SpectralTree(max_depth=None, split="model").fit(X)
    assert model.n_leaves_ == 4
    assert adjusted_rand(X.argmax(axis=1), model.labels_) == 1


def test_constant_columns_do_not_break_it(planted):
    X = planted.X.toarray()
    X[:, 0], X[:, 1] = 1, 0
    model = SpectralTree(max_depth=2).fit(X)
    assert model.n_leaves_ == 4
    assert all(np.isfinite(node.discriminators).all() for node in model.nodes_)


def test_bad_input_is_refused_with_what_to_do(planted):
    X = planted.X.toarray()
    with pytest.raises(ValueError, match="NaN"):
        SpectralTree().fit(np.where(X > 0, np.nan, X))
    with pytest.raises(ValueError, match="needs counts"):
        SpectralTree(split="model").fit(-X)
    with pytest.raises(ValueError, match=r"0/1.*family='topic'"):
        SpectralTree(split="model", family="bernoulli").fit(2 * X)
    with pytest.raises(ValueError, match="split='x'"):
        SpectralTree(split="x").fit(X)
    with pytest.raises(ValueError, match="family='x'"):
        SpectralTree(family="x").fit(X)
    with pytest.raises(ValueError, match="min_support must be an adjusted Rand index, at most 1"):
        SpectralTree(min_support=1.5).fit(X)
    with pytest.raises(TypeError, match="max_depth"):
        SpectralTree(max_depth=1.5).fit(X)
    with pytest.raises(ValueError, match="split='data' without em"):
        SpectralTree(em=True).fit(X / 2)
    with pytest.raises(ValueError, match="equalize"):
        SpectralTree(equalize=2.0).fit(X)
    with pytest.raises(TypeError, match="em is True or False"):
        SpectralTree(em="no").fit(X)
    with pytest.raises(ValueError, match="random_state"):
        SpectralTree(random_state=-1).fit(X)
    with pytest.raises(ValueError, match="features"):
        SpectralTree().fit(X).predict(X[:, :3])


def test_labeled_features_may_come_in_any_order(planted):
    frame = pd.DataFrame(planted.X.toarray(), columns=[f"c{i}" for i in range(60)])
    model = SpectralTree(max_depth=2).fit(frame)
    assert (model.predict(frame[frame.columns[::-1]]) == model.labels_).all()
    assert all(term.startswith("c") for term in model.tree_.terms(1))


def test_progress_can_cancel(planted):
    told = []

    def stop(text, done):
        told.append((text, done))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SpectralTree().fit(planted.X, progress=stop)
    assert told == [("2 leaves", pytest.approx(1 / 3))]


def test_saved_trees_send_rows_the_same_way(planted, fitted, tmp_path):
    fitted.annotations_ = {"node_names": {"1": "newborn"}}
    again = lvmkit.load(lvmkit.save(fitted, tmp_path / "tree.npz"))
    assert (again.predict(planted.X) == fitted.labels_).all()
    assert again.annotations_ == fitted.annotations_
    assert again.get_params() == fitted.get_params()
    np.testing.assert_equal([vars(node) for node in again.nodes_], list(map(vars, fitted.nodes_)))
    del fitted.annotations_["node_names"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("parent", 99), ("discriminators", np.nan), ("rule", "foo"), ("offsets", np.inf)],
)
def test_damaged_files_are_refused(fitted, tmp_path, name, value):
    path = lvmkit.save(fitted, tmp_path / "tree.npz")
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays[f"tree_{name}"][0] = value
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="not a complete lvmkit model file"):
        lvmkit.load(path)


def test_a_tree_of_one_leaf_is_saved(tmp_path):
    model = SpectralTree(max_depth=0).fit(np.eye(3))
    assert lvmkit.load(lvmkit.save(model, tmp_path / "leaf.npz")).n_leaves_ == 1
