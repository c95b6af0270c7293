"""Entries of a patient are read as they are typed."""

from types import SimpleNamespace

from lvmkit.sustain.entry_parser import counts_row, parse_entries
from lvmkit.sustain.phenotypes import Phenotypes


def test_codes_are_read_with_and_without_dots_and_counts():
    model = SimpleNamespace(
        factors_=[[[1]], [[2], [0]]], weights_=[1], feature_names_in_=["428", "250"]
    )
    (indices, counts), unknown = parse_entries("250; 428.0: 3", Phenotypes.of(model))
    assert (indices[0].tolist(), counts.tolist(), unknown) == ([1, 0], [1, 3], [])


def test_entries_are_read_as_people_type_them(three_phenotypes):
    phenotypes = Phenotypes.of(three_phenotypes, [{"V27": "Delivery"}])
    text = "428 + loop: 3\n42731 + statin; delivery + none : 2\n428.0+loop"
    (places, counts), unknown = parse_entries(text, phenotypes)
    assert unknown == []
    assert list(zip(*(axis.tolist() for axis in places), counts.tolist(), strict=True)) == [
        (0, 0, 4),
        (1, 1, 1),
        (4, 3, 2),
    ]
    row = counts_row((places, counts), phenotypes)
    assert row.shape == (1, 6, 4)
    assert row.sum() == 7
    _, unknown = parse_entries("428\n999 + loop\n428 + loop: many\n428 + loop: 0", phenotypes)
    assert [told.split("”: ")[1] for told in unknown] == [
        "an entry is diagnosis + drug",
        "the model has no diagnosis “999”",
        "“many” is no whole number from 1 on",
        "“0” is no whole number from 1 on",
    ]
