"""What is said of phenotypes, as models keep it."""

from lvmkit.sustain.annotations import Annotation, Annotations


def test_odd_things_said_are_left_out():
    odd = {"phenotypes": {"0": {"name": 7, "mark": "perhaps"}, "9": {"name": "x"}, "1": "y"}}
    assert Annotations.kept_with(3, odd) == Annotations()
    assert Annotations.kept_with(3, None) == Annotations()


def test_what_is_said_comes_back_and_marks_are_given_anew():
    said = Annotations().replaced(1, Annotation("Heart", mark="yes", by="Dr A", on="2020-01-02"))
    assert Annotations.kept_with(3, said.to_annotations()) == said
    assert said.carried_over({1: 2}).items == {2: Annotation("Heart")}
    assert said.replaced(1, Annotation()) == Annotations()
