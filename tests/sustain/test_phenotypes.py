"""Phenotypes are compared, and scores multiplied out to counts."""

import numpy as np
import pytest

from lvmkit.sustain.count_cohort import CountCohort
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.reconstruction import describe_error, explain_cells
from lvmkit.sustain.similarity import cosine_similarities, match_phenotypes


def test_likeness_is_the_cosine_of_what_is_expected(three_phenotypes):
    phenotypes = Phenotypes.of(three_phenotypes)
    found = cosine_similarities(phenotypes, phenotypes)
    parts = [
        np.multiply.outer(three_phenotypes.factors_[1][:, r], three_phenotypes.factors_[2][:, r])
        for r in range(3)
    ]
    for r in range(3):
        for s in range(3):
            a, b = parts[r].ravel().astype(float), parts[s].ravel().astype(float)
            cosine = a @ b / np.sqrt((a @ a) * (b @ b))
            assert found[r, s] == pytest.approx(cosine)


def test_a_phenotype_without_features_is_like_none(by_hand):
    phenotypes = Phenotypes.of(by_hand(np.zeros((4, 2)), [[0, 1], [0, 1]], weights=[1, 1]))
    assert cosine_similarities(phenotypes, phenotypes).round(9).tolist() == [[0, 0], [0, 1]]
    assert phenotypes.hint(0) == ""


def test_names_go_to_what_is_clearly_the_same(three_phenotypes, by_hand):
    order = [2, 0, 1]
    again = by_hand(
        *(factor[:, order] for factor in three_phenotypes.factors_),
        weights=[1, 1, 1],
        modes=three_phenotypes.mode_names_,
        labels=three_phenotypes.mode_labels_,
    )
    old, new = Phenotypes.of(three_phenotypes), Phenotypes.of(again)
    assert match_phenotypes(old, new) == {0: 1, 1: 2, 2: 0}
    other = by_hand(np.zeros((9, 2)), [[1, 0], [0, 1]], weights=[1, 1])
    assert match_phenotypes(old, Phenotypes.of(other)) == {}
    unclear = Phenotypes.of(by_hand(np.zeros((9, 2)), [[1, 1], [1, 1], [1, 1]], weights=[1, 1]))
    assert match_phenotypes(unclear, unclear) == {0: 0}


def test_scores_multiply_out_to_counts(three_phenotypes, product_of):
    phenotypes, people = Phenotypes.of(three_phenotypes), CountCohort(product_of(three_phenotypes))
    counts = product_of(three_phenotypes)
    for row in range(0, 300, 7):
        cells = people.cells(row, phenotypes)
        places, seen = cells
        dense = np.zeros(counts.shape[1:], dtype=int)
        dense[places] = seen
        np.testing.assert_array_equal(dense, counts[row])
        assert (np.diff(seen) <= 0).all()
        told = explain_cells(phenotypes, three_phenotypes.factors_[0][row], cells)
        assert (
            [entry["seen"] for entry in told] == [entry["expected"] for entry in told] == list(seen)
        )
        for entry in told:
            sums = [part.split(" (")[0] for part in entry["how"].split(" + ")]
            terms = [np.prod([int(x) for x in part.split(" · ")]) for part in sums]
            assert sum(terms) == entry["expected"]
    assert describe_error(phenotypes, three_phenotypes.factors_[0][0], people.cells(0, phenotypes))


def test_what_was_expected_but_not_seen_stands_last(by_hand):
    phenotypes = Phenotypes.of(by_hand([[0]], [[3], [1], [0]], weights=[2]))
    told = explain_cells(phenotypes, np.array([2]), ((np.array([2, 0]),), np.array([7, 5])))
    assert [(e["what"], e["seen"], e["expected"]) for e in told] == [
        ("feature 2", 7, 0),
        ("feature 0", 5, 12),
        ("feature 1", 0, 4),
    ]
    assert told[0]["how"] == "no phenotype of this patient has it"
    assert told[1]["how"] == "2 · 2 · 3 (phenotype 0)"
    negative = Phenotypes.of(by_hand([[0]], [[-1]], weights=[1], min_score=-1))
    cells = ((np.array([0]),), np.array([1]))
    assert (
        explain_cells(negative, np.array([-1]), cells)[0]["how"] == "1 · (−1) · (−1) (phenotype 0)"
    )
