"""What a model leaves out of a cohort is told with the numbers of codes on both sides."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from lvmkit.sustain.count_cohort import CountCohort

PEOPLE = CountCohort(pd.DataFrame(np.ones((3, 3)), columns=["a", "b", "c"]))


def phenotypes(codes, n):
    return SimpleNamespace(modes=[SimpleNamespace(codes=codes)], fitted_scores=np.zeros((n, 2)))


def test_codes_of_either_side_alone_are_counted():
    told = PEOPLE.left_out(phenotypes(("a", "x", "y", "z"), 3), "patients")
    assert told == (
        "2 of the cohort's 3 codes are unknown to the model and left out. "
        "3 of the model's 4 do not occur in the cohort."
    )


def test_other_patients_than_those_of_the_fit_are_told():
    assert PEOPLE.left_out(phenotypes(("a", "b", "c"), 3), "patients") == ""
    other = PEOPLE.left_out(phenotypes(("a", "b", "c"), 5), "patients")
    assert "fitted to 5 patients; the 3 of this cohort were scored" in other
    stored = PEOPLE.left_out(phenotypes(("a", "b", "c"), 0), "patients")
    assert "patients that are not stored with it" in stored
