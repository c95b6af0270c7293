"""Topic models of lvmkit and of others, ready to fit, each as a function from counts to topics."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lvmkit import LatentDirichlet, SingleTopic


class TopicMethod(NamedTuple):
    """A topic model with the name it has in the tables."""

    name: str
    prepare: Callable[[Any], Any]
    """Turns sparse counts into what the peer reads; outside the clock."""
    train: Callable[[Any], Any]
    """Fits; inside the clock."""
    topics: Callable[[Any], Any]
    """Topics (k, d) of what was fitted, rows summing to 1."""


def normalized(topics: Any) -> Any:
    """Divide every topic by its sum."""
    topics = np.asarray(topics, dtype=np.float64)
    return topics / topics.sum(axis=1, keepdims=True)


def same(X: Any) -> Any:
    """Return the counts as they are."""
    return X


def single_topic(k: int, *, decomposition: str = "joint_diagonalization") -> TopicMethod:
    """Return the single-topic model by moments alone."""
    model = SingleTopic(k, decomposition=decomposition)
    short = "" if decomposition == "joint_diagonalization" else f", {decomposition}"
    return TopicMethod(f"lvmkit SingleTopic{short}", same, model.fit, lambda m: m.centers_)


def latent_dirichlet(k: int, alpha0: float = 1.0) -> TopicMethod:
    """Return the Dirichlet allocation by moments alone."""
    model = LatentDirichlet(k, alpha0=alpha0)
    return TopicMethod(f"lvmkit LatentDirichlet {alpha0:g}", same, model.fit, lambda m: m.centers_)


def lda_gibbs(k: int, iterations: int) -> TopicMethod:
    """Return collapsed Gibbs sampling by the package lda, which the Ruffini thesis compares with."""

    def train(X: Any) -> Any:
        import lda

        logging.getLogger("lda").setLevel(logging.ERROR)
        return lda.LDA(n_topics=k, n_iter=iterations, random_state=1, refresh=10**9).fit(X)

    return TopicMethod(
        f"lda {iterations} iterations", lambda X: X.astype(np.int64), train, lambda m: m.topic_word_
    )


def tomotopy_gibbs(k: int, iterations: int, *, workers: int = 1) -> TopicMethod:
    """Return Gibbs sampling by tomotopy (C++ with SIMD)."""

    def prepare(X: Any) -> Any:
        import tomotopy

        model = tomotopy.LDAModel(k=k, seed=1)
        for words in as_words(X):
            model.add_doc(words)
        return model, X.shape[1]

    def train(prepared: Any) -> Any:
        model, d = prepared
        model.train(iterations, workers=workers)
        return model, d

    def topics(fitted: Any) -> Any:
        model, d = fitted
        found = np.full((k, d), 1e-12)
        places = [int(word) for word in model.used_vocabs]
        found[:, places] = [model.get_topic_word_dist(j) for j in range(k)]
        return normalized(found)

    return TopicMethod(
        f"tomotopy {iterations} iterations, {workers} worker(s)", prepare, train, topics
    )


def as_words(X: Any) -> Any:
    """Yield every document as a list of words, named by their columns, each as often as it occurs."""
    names = np.array([str(j) for j in range(X.shape[1])])
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        counts = X.data[start:stop].astype(int)
        yield np.repeat(names[X.indices[start:stop]], counts).tolist()


def gensim_online(k: int, passes: int) -> TopicMethod:
    """Return online variational inference by gensim."""

    def prepare(X: Any) -> Any:
        from gensim.matutils import Sparse2Corpus

        return list(Sparse2Corpus(X.tocsr(), documents_columns=False)), X.shape[1]

    def train(prepared: Any) -> Any:
        from gensim.models import LdaModel

        corpus, d = prepared
        names = {j: str(j) for j in range(d)}
        return LdaModel(corpus, num_topics=k, id2word=names, passes=passes, random_state=1)

    return TopicMethod(
        f"gensim {passes} passes", prepare, train, lambda m: normalized(m.get_topics())
    )


def sklearn_lda(k: int, iterations: int, method: str) -> TopicMethod:
    """Return variational inference by scikit-learn."""

    def train(X: Any) -> Any:
        from sklearn.decomposition import LatentDirichletAllocation

        options = {"max_iter": iterations, "learning_method": method, "random_state": 1}
        return LatentDirichletAllocation(k, **options).fit(X)

    return TopicMethod(
        f"scikit-learn LDA {method} {iterations}", same, train, lambda m: normalized(m.components_)
    )


def nmf(k: int, iterations: int = 200) -> TopicMethod:
    """Return non-negative factorization by scikit-learn."""

    def train(X: Any) -> Any:
        from sklearn.decomposition import NMF

        return NMF(k, max_iter=iterations, random_state=1).fit(X)

    return TopicMethod(
        f"scikit-learn NMF {iterations}", same, train, lambda m: normalized(m.components_ + 1e-12)
    )
