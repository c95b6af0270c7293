import numpy as np
from scipy import sparse

from lvmkit.mixtures.assignment import Assignment, Moves, moves
from lvmkit.mixtures.patients import TypedCodes, borderline, codes_of, present, read_codes, typical


def assignment(posterior, X=None, ids=None):
    posterior = np.asarray(posterior, dtype=float)
    n, c = posterior.shape
    X = sparse.csr_matrix(np.zeros((n, 2)) if X is None else X)
    return Assignment(np.arange(n), posterior, np.arange(c) if ids is None else np.array(ids), X)


def test_sizes_follow_the_most_probable_cluster():
    a = assignment([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], ids=[4, 7])
    assert a.labels.tolist() == [4, 7, 4]
    assert a.sizes.tolist() == [2, 1]


def test_typical_patients_resemble_the_center():
    a = assignment([[0.9, 0.1]] * 3, [[1, 0], [1, 1], [0, 1]])
    assert typical(a, 0, np.array([[0.8, 0.1], [0.1, 0.1]]), count=2).tolist() == [0, 1]


def test_borderline_patients_have_the_smallest_lead():
    a = assignment([[0.9, 0.05, 0.05], [0.5, 0.45, 0.05], [0.4, 0.3, 0.3], [0.1, 0.8, 0.1]])
    assert borderline(a, 0).tolist() == [1, 2, 0]
    assert borderline(a, 2).tolist() == []


def test_one_cluster_has_no_borderline_order_to_break():
    assert borderline(assignment([[1.0], [1.0]]), 0).tolist() == [0, 1]


def test_moves_count_both_directions():
    before = assignment([[1, 0], [1, 0], [0, 1], [0, 1], [1, 0]])
    after = assignment([[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]], ids=[1, 2, 3])
    assert moves(before, after, 0) == Moves(came=1, left=1)
    assert "1 patient of other clusters moved" in moves(before, after, 0).text
    assert Moves(came=0, left=0).text == "Nobody else changed cluster."


def test_typed_codes_are_understood_in_any_order_and_spelling():
    read = read_codes(" 428.0,250;\n v45 e11.9 428 zzz", ["250", "428", "V45", "E11"])
    assert read.known == ("428", "250", "V45", "E11")
    assert read.unknown == ("zzz",)
    assert read.shortened == (("428.0", "428"), ("e11.9", "E11"))
    assert "428.0 as 428" in read.text
    assert "left out: zzz" in read.text


def test_codes_are_marked_in_the_order_of_the_model():
    marked = present(["250", "401", "428"], ["428", "250"])
    assert marked.tolist() == [True, False, True]
    row = sparse.csr_matrix(marked.astype(float)[None, :])
    assert codes_of(row, ["250", "401", "428"]) == ["250", "428"]
    assert present(["250"], []).tolist() == [False]


def test_typed_codes_are_known_unknown_or_shortened():
    found = read_codes("428.0, 250; xyz", ["250", "428"])
    assert found == TypedCodes(("428", "250"), ("xyz",), (("428.0", "428"),))
