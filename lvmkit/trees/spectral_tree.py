"""Spectral tree: rows split in two by the method of moments, recursively."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lvmkit.core import features
from lvmkit.core.linalg import generator_of
from lvmkit.core.options import Option, flag, number, one_of, seed
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import callback_of
from lvmkit.core.stored import require_same
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import (
    listed,
    require_range,
    sample_weights,
    warn,
)
from lvmkit.mixtures._rows import RowModel, of_rows
from lvmkit.mixtures.families import BERNOULLI, MULTINOMIAL, Family
from lvmkit.trees.baseline_splits import principal_split, two_means
from lvmkit.trees.growth import Growth, grow
from lvmkit.trees.mixture_split import family_of, model_split, refined
from lvmkit.trees.nodes import NODE_KINDS, PREFIX, Node, as_arrays, nodes_of
from lvmkit.trees.sidiwo_split import data_split
from lvmkit.trees.split_support import canonical_ranks
from lvmkit.trees.splits import NoSplit, Rows, Split, Splitter, Sums
from lvmkit.trees.tree import Tree

LARGEST, SMALLEST = 1e15, 1e-15
RANGE = "squares of others leave the range of single precision. Give them in another unit"

FEW_ROWS = 10
"""Of a leaf: a share in fewer is known to ± 31 percentage points or worse."""

SPLITS = ("data", "model", "pddp", "kmeans")
FAMILIES: dict[str, Family] = {"bernoulli": BERNOULLI, "topic": MULTINOMIAL}


def _support(value: Any, name: str) -> None:
    """Refuse what is no adjusted Rand index that splits may be asked for."""
    number(0, above=True, optional=True)(value, name)
    if value is not None and value > 1:
        msg = f"{name} must be an adjusted Rand index, at most 1; found {value!r}"
        raise ValueError(msg)


class SpectralTree(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, RowModel):
    """Cluster rows hierarchically by the method of moments: SIDIWO and D-SIDIWO.

    No number of clusters has to be known, and no start is drawn: the same tree on every run, and for rows in
    any order (with "kmeans", the same for the same rows).

    Parameters
    ----------
    max_depth : int or None, default=3
        Splits above a leaf at most: 3 gives up to 8 leaves. None: no limit.
    split : {"data", "model", "pddp", "kmeans"}, default="data"
        How a node is split. "data": D-SIDIWO, by two discriminators read off the raw moments; for any finite
        numbers, made for 0/1 rows and counts. "model": SIDIWO, two pseudo-centers and the more likely of them.
        For comparison: "pddp", by the principal direction; "kmeans", by scikit-learn's k-means.
    max_leaf_nodes : int, optional
        Leaves at most. Given, the split that lowers the squared distances from the leaves' means most is made first,
        instead of level by level.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf; a split with a smaller part is not made.
    min_support : float, optional
        In (0, 1]: make a split only if it reappears on resampled rows with at least this mean adjusted Rand
        index. With ``max_depth=None`` the tree grows as far as the data support; 0.6 is a good beginning.
    n_resamples : int, default=10
        Halves of a node's rows that are split anew for `min_support`.
    em : bool, default=False
        Refine every split by EM, starting from its two sides, or of split="model" from the two pseudo-centers; rows
        then go by their likelihood. For 0/1 rows and counts.
    equalize : float, default=0.3
        Of split="data", 0 to 1: power of their mean square in the node that features are divided by. 0 is the
        method as published, 0.5 gives all features the same weight.
    family : {"bernoulli", "topic"}, optional
        Distribution of a row, for split="model" and `em`: independent 0/1 features, or words of one topic. If not
        given, "bernoulli" for 0/1 rows and "topic" for larger counts.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the resampling, and of "kmeans"; nothing else is drawn.

    Attributes
    ----------
    tree_ : Tree
        Nodes, cuts, tables, and exports to other libraries.
    nodes_ : tuple of Node
        `tree_.nodes`, breadth first: parent, children, size, mean, centers, discriminators, strength, reason, ….
    labels_ : array of int (n,)
        Leaf of each row fitted, numbered from left to right; `tree_.leaves[j]` is the node of leaf j.
    weights_ : array (n_leaves,)
        Share of the rows in each leaf, each counted as often as its weight says.
    centers_ : array (n_leaves, d)
        Mean of the rows of each leaf.
    n_leaves_ : int
        Number of leaves.
    caution_ : str
        Why some leaves tell little, in numbers; "" if none is that small.
    data_fingerprint_ : str
        Hash of the rows fitted.
    annotations_ : dict
        Names and notes, kept by `lvmkit.save`.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : array of str (d,)
        Names of the features, if the data had any.

    Notes
    -----
    Ruffini thesis, chapters 5 (Algorithm 4) and 6 (Algorithm 5). One level of the tree costs a few passes over
    the entries, and the pairs of entries within rows are counted once for the root and once for the smaller part of
    every split; beyond 1,500 features, or where rows are few, no pairs are counted and no d×d numbers kept.

    The published method (``equalize=0``) sees the most frequent features almost alone. Dividing features by a
    power of their frequency keeps all it promises (D M̂₂ Dᵀ = identity, the optimum in closed form) and was more
    stable and told more about outcomes on real discharges; see ``benchmarks/hierarchies.py``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]], 5, axis=0)
    >>> tree = SpectralTree(max_depth=2).fit(X)
    >>> tree.n_leaves_, len(set(tree.labels_[::5]))
    (4, 4)
    """

    tree_: Tree
    nodes_: tuple[Node, ...]
    labels_: Labels = of_rows("predict")
    n_leaves_: int
    data_fingerprint_: str

    _fewest_rows = 1

    _array_kinds: ClassVar[dict[str, str]] = NODE_KINDS
    _options: ClassVar[Mapping[str, Option]] = {
        "max_depth": number(0, whole=True, optional=True),
        "max_leaf_nodes": number(1, whole=True, optional=True),
        "min_samples_leaf": number(1, whole=True),
        "n_resamples": number(1, whole=True),
        "equalize": number(0, most=1),
        "em": flag,
        "random_state": seed,
        "min_support": _support,
        "split": one_of(SPLITS),
        "family": one_of(FAMILIES, optional=True),
    }

    def __init__(
        self,
        max_depth: int | None = 3,
        *,
        split: str = "data",
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_support: float | None = None,
        n_resamples: int = 10,
        em: bool = False,
        equalize: float = 0.3,
        family: str | None = None,
        random_state: RandomState = 0,
    ) -> None:
        """Keep the options; they are checked by `fit`."""
        self.max_depth = max_depth
        self.split = split
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_support = min_support
        self.n_resamples = n_resamples
        self.em = em
        self.equalize = equalize
        self.family = family
        self.random_state = random_state

    @classmethod
    def from_tree(cls, tree: Tree) -> Self:
        """Make a model of a tree that is known.

        Parameters
        ----------
        tree : Tree
            One node or more.

        Returns
        -------
        SpectralTree
            Ready to predict; it has no `labels_`, and its parameters are the default ones, however the tree was grown.

        Raises
        ------
        ValueError
            If the tree is empty.

        Examples
        --------
        >>> import numpy as np
        >>> tree = SpectralTree(max_depth=1).fit(np.eye(4)).tree_
        >>> SpectralTree.from_tree(tree).n_leaves_
        2
        """
        if not isinstance(tree, Tree):
            msg = (
                f"tree must be a Tree, such as a fitted model's tree_; found {type(tree).__name__}"
            )
            raise TypeError(msg)
        if not tree.nodes:
            msg = "the tree is empty: a model needs one node or more"
            raise ValueError(msg)
        model = cls()
        model.tree_ = tree
        model.n_features_in_ = tree.n_features
        if tree.feature_names is not None:
            model.feature_names_in_ = tree.feature_names
        model._describe()
        model.annotations_ = {}
        return model

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Grow the tree on the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows: 0/1 or counts; for split="data", "pddp" and "kmeans" any finite numbers, in single precision.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows, but for
            `min_samples_leaf` and the sizes of nodes, which are numbers of rows, and for what is drawn ("kmeans",
            `min_support`). Of AnnData also the name of a column of `obs`.
        progress : callable (str, float), optional
            Told the number of leaves and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        SpectralTree
            Itself, fitted. A node that cannot be split is a leaf, and says why in its `reason`.

        Raises
        ------
        ValueError
            If X holds NaN or infinity, an option is out of range, or a model is asked for and entries are no
            counts.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        DataWarning
            If the rows could not be split at all.
        """
        del y
        self._check_options()
        callback_of(progress)
        rows = self._validated(X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        weight = sample_weights(sample_weight, rows.shape[0], X)
        # EM stops, and k-means begins, where sums that depend on the order of rows say so: they get one order.
        order = np.argsort(canonical_ranks(rows)) if self.em or self.split == "kmeans" else None
        if weight is not None:
            order = np.arange(rows.shape[0]) if order is None else order
            order = order[weight[order] > 0]
        seed = self._seed()
        with single_threaded_blas():
            self.tree_, labels = grow(
                rows if order is None else rows[order],
                self._splitter(rows, seed),
                self._limits(seed),
                weight=None if weight is None else weight[order],
                feature_names=names,
                progress=progress,
            )
        self.labels_ = labels
        if order is not None:
            self.labels_ = np.full(rows.shape[0], -1, dtype=np.intp)
            self.labels_[order] = labels
            left_out = self.labels_ < 0
            if left_out.any():
                self.labels_[left_out] = self.tree_.apply(rows[left_out])
        self._describe()
        self.data_fingerprint_ = features.fingerprint(rows)
        self.annotations_ = {}
        self.caution_ = _caution([self.nodes_[leaf].size for leaf in self.tree_.leaves])
        if self.n_leaves_ == 1 and self.max_depth != 0 and self.max_leaf_nodes != 1:
            warn(f"the data ({rows.shape[0]:,} rows) were not split: {self.nodes_[0].reason}")
        if self.caution_:
            warn(self.caution_)
        return self

    def predict(self, X: Any) -> Labels:
        """Send rows down the tree.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array of int (n,)
            Leaves, 0 to n_leaves − 1.

        Warns
        -----
        DataWarning
            If features are unknown or missing.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.apply(self._validated(X, reset=False))

    def transform(self, X: Any) -> Array:
        """Return the path of each row down the tree.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array (n, n_nodes)
            1 for each node that the row passes, from the root to its leaf, in the order of `nodes_`; else 0.

        Examples
        --------
        >>> X = np.repeat(np.eye(2), 15, axis=0)
        >>> SpectralTree(max_depth=1).fit(X).transform(X[[0, -1]]).sum(axis=0)
        array([2., 1., 1.])
        """
        check_is_fitted(self, "tree_")
        paths = np.zeros((self.n_leaves_, len(self.nodes_)))
        for row, leaf in enumerate(self.tree_.leaves):
            node: int | None = leaf
            while node is not None:
                paths[row, node] = 1.0
                node = self.nodes_[node].parent
        return paths[self.predict(X)]

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`."""
        return len(self.nodes_)

    def _describe(self) -> None:
        """Set the attributes that follow from the tree."""
        self.nodes_ = self.tree_.nodes
        leaves = [self.nodes_[i] for i in self.tree_.leaves]
        self.n_leaves_ = len(leaves)
        sizes = np.array([leaf.mass for leaf in leaves], dtype=np.float64)
        self.weights_ = sizes / max(sizes.sum(), 1.0)
        self.centers_ = np.stack([leaf.mean for leaf in leaves])

    def _limits(self, seed: int) -> Growth:
        """Return how far the tree may grow."""
        return Growth(
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_leaf,
            self.min_support,
            self.n_resamples,
            seed,
            second_moments=self.split in ("data", "pddp"),
        )

    def _seed(self) -> int:
        """Return a number for whatever is drawn."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(generator_of(self.random_state).integers(2**31))

    def _splitter(self, rows: Rows, seed: int) -> Splitter:
        """Return the function that splits a node."""
        if self.split == "model":
            return partial(model_split, family=self._family_of(rows), em=self.em)
        plain: dict[str, Splitter] = {
            "data": partial(data_split, equalize=self.equalize),
            "pddp": principal_split,
            "kmeans": partial(two_means, random_state=seed % 2**32),
        }
        found = plain[self.split]
        return _with_em(found, self._family_of(rows)) if self.em else found

    def _family_of(self, rows: Rows) -> Family:
        """Return the distribution of the rows, which must be counts."""
        names = (None, getattr(self, "feature_names_in_", None))
        asked = f"SpectralTree(split={self.split!r}, em={self.em})"
        features.require_counts(rows, names, asked, "Pass the counts, or split='data' without em")
        if self.family is None:
            return family_of(rows)
        if self.family == "bernoulli":
            features.require_binary(
                rows, names, "SpectralTree(family='bernoulli')", "family='topic'"
            )
        return FAMILIES[self.family]

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return rows of single precision, sparse ones sorted and without stored zeros."""
        require_range(rows, LARGEST, RANGE, names, least=SMALLEST)
        return features.as_float32_rows(rows)

    def _to_arrays(self) -> dict[str, Any]:
        """Return the nodes."""
        return as_arrays(self.tree_.nodes)

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a fitted tree of the nodes."""
        names = header["feature_names"]
        nodes = nodes_of({key: values for key, values in arrays.items() if key.startswith(PREFIX)})
        d = len(nodes[0].mean) if nodes else 0
        if names is not None and len(names) != d:
            msg = f"feature_names has {len(names)} names; the means of the tree have {d} features"
            raise ValueError(msg)
        model = cls.from_tree(
            Tree(nodes, None if names is None else np.asarray(names, dtype=object))
        )
        for key in ("weights_", "centers_"):
            if key in arrays:
                require_same(getattr(model, key), arrays[key], key)
        return model


def _caution(sizes: list[int]) -> str:
    """Say which leaves hold too few rows to tell anything of their features, or nothing. sizes: of the leaves."""
    few = sorted(size for size in sizes if size < FEW_ROWS)
    if not few or len(sizes) == 1:
        return ""
    # Of a share of one half, in percentage points, at the level of 95 percent.
    error = 98 / np.sqrt(few[0])
    return (
        f"{len(few)} of {len(sizes)} leaves hold fewer than {FEW_ROWS} rows ({listed(few)}): a share in a leaf of "
        f"{few[0]} is known to ± {min(error, 100):.0f} percentage points. min_samples_leaf={FEW_ROWS} or more keeps "
        "such parts together; min_support drops splits that do not reappear on resampled rows."
    )


def _with_em(split: Splitter, family: Family) -> Splitter:
    """Return a splitter whose splits are refined by EM."""

    def both(rows: Rows, sums: Sums) -> Split | NoSplit:
        found = split(rows, sums)
        if isinstance(found, NoSplit) or found.side.min() == found.side.max():
            return found
        return refined(rows, sums, found, family)

    return both
