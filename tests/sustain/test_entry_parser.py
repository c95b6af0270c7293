"""Entries of a patient are read as they are typed."""

from types import SimpleNamespace

from lvmkit.sustain.entry_parser import parse_entries
from lvmkit.sustain.phenotypes import Phenotypes


def test_codes_are_read_with_and_without_dots_and_counts():
    model = SimpleNamespace(
        factors_=[[[1]], [[2], [0]]], weights_=[1], feature_names_in_=["428", "250"]
    )
    (indices, counts), unknown = parse_entries("250; 428.0: 3", Phenotypes.of(model))
    assert (indices[0].tolist(), counts.tolist(), unknown) == ([1, 0], [1, 3], [])
