"""Options of the wrong type or out of range are refused by name, before anything is drawn or fetched."""

import numpy as np
import pytest

from lvmkit import datasets

MAKERS = {
    "make_appendix_e": (),
    "make_bernoulli_mixture": (50,),
    "make_covariate_clusters": (),
    "make_exact_counts": (),
    "make_nested_topics": (),
    "make_poisson_counts": (50,),
    "make_poisson_mixture": (50,),
    "make_tensor_mixture": ("M8", 5),
    "make_topics": (50, 100, 3),
}


def test_every_maker_is_tried():
    assert set(MAKERS) == {name for name in datasets.__all__ if name.startswith("make_")}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", ["x", 1.5, -1, True, [1], np.nan])
def test_seeds_that_are_none_are_refused(name, value):
    with pytest.raises((TypeError, ValueError), match="random_state"):
        getattr(datasets, name)(*MAKERS[name], random_state=value)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", ["5", 1.5, 0, -3, True, None, [5]])
def test_sizes_that_are_none_are_refused(name, value):
    with pytest.raises((TypeError, ValueError), match=r"n_samples.* at least 1"):
        getattr(datasets, name)(n_samples=value)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("make_bernoulli_mixture", {"n_features": "9"}, TypeError, "n_features must be a whole"),
        (
            "make_bernoulli_mixture",
            {"codes_per_row": "8"},
            TypeError,
            "codes_per_row must be a num",
        ),
        (
            "make_covariate_clusters",
            {"similarity_agrees": "no"},
            TypeError,
            "similarity_agrees must be True",
        ),
        ("make_covariate_clusters", {"n_clusters": 2.5}, TypeError, "n_clusters must be a whole"),
        (
            "make_exact_counts",
            {"n_features": [4, 3]},
            TypeError,
            r"n_features\[0\] must be a whole",
        ),
        ("make_exact_counts", {"density": "x"}, TypeError, "density must be a number"),
        ("make_poisson_counts", {"n_components": "x"}, TypeError, "n_components must be a whole"),
        ("make_poisson_mixture", {"total": None}, TypeError, "total must be a number"),
        ("make_topics", {"single": 3}, TypeError, "single must be True or False"),
        ("make_topics", {"topics": ["zipf"]}, TypeError, "topics must be text"),
        ("make_topics", {"length": "x"}, TypeError, "length must be a number"),
        ("make_nested_topics", {"length": 1.5}, TypeError, "length must be a whole number"),
        ("make_tensor_mixture", {"setting": ["M1"]}, TypeError, "setting must be one of 'M1'"),
        ("make_tensor_mixture", {"mean": 3}, TypeError, "mean must be one of"),
        ("tensor_setting", {"name": None}, ValueError, "expected one of 'M1'"),
        ("fetch_nhds2010", {"adults": "yes"}, TypeError, "adults is True or False"),
        ("fetch_nhds2010_tensor", {"heart_failure": 1}, TypeError, "heart_failure is True or"),
        ("fetch_desynpuf", {"heart_failure": "no"}, TypeError, "heart_failure is True or"),
        ("fetch_desynpuf_tensor", {"diagnosis": 3}, TypeError, "group of 'diagnosis' must be"),
        ("fetch_diabetes130", {"unit": ["patient"]}, ValueError, "expected 'encounter' or"),
        ("fetch_diabetes130", {"min_codes": 1.5}, TypeError, "min_codes must be a whole number"),
        ("fetch_synthea1k", {"binary": "no"}, TypeError, "binary is True or False"),
        ("fetch_dante", {"language": 3}, ValueError, "language=3; expected"),
        ("fetch_dante", {"stop_words": "the"}, ValueError, "stop_words='the'"),
        ("fetch_eeg", {"scalp_only": "no"}, TypeError, "scalp_only is True or False"),
        ("fetch_us_crime", {"population": "no"}, TypeError, "population is True or False"),
    ],
)
def test_options_that_mean_nothing_are_refused(name, options, error, message):
    given = {"n_samples": 50} if name in MAKERS and name != "make_tensor_mixture" else {}
    with pytest.raises(error, match=message):
        getattr(datasets, name)(**given, **options)
