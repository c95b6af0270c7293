"""Data sets: `make_*` simulate and return the truth, `load_*` are bundled, `fetch_*` are real."""

from lvmkit.datasets.corpora import (
    fetch_dante,
    fetch_movie_reviews,
    fetch_newsgroups20,
    fetch_state_union,
)
from lvmkit.datasets.desynpuf import fetch_desynpuf, fetch_desynpuf_tensor
from lvmkit.datasets.diabetes import fetch_diabetes130
from lvmkit.datasets.discharges import load_discharges
from lvmkit.datasets.nested import make_nested_topics
from lvmkit.datasets.nhds import fetch_nhds2010, fetch_nhds2010_tensor
from lvmkit.datasets.oslo import fetch_oslo_bike
from lvmkit.datasets.simulate import SimulatedMixture, make_appendix_e, make_bernoulli_mixture
from lvmkit.datasets.simulate_counts import (
    SimulatedCounts,
    make_exact_counts,
    make_poisson_counts,
)
from lvmkit.datasets.simulate_covariates import (
    SimulatedCovariates,
    make_covariate_clusters,
)
from lvmkit.datasets.simulate_tensors import (
    TensorSetting,
    make_tensor_mixture,
    tensor_setting,
)
from lvmkit.datasets.simulate_topics import SimulatedTopics, make_poisson_mixture, make_topics
from lvmkit.datasets.synthea import fetch_synthea1k
from lvmkit.datasets.tensors import (
    LabelledTensor,
    fetch_eeg,
    fetch_faculty_salaries,
    fetch_serology,
    fetch_us_crime,
)

__all__ = [
    "LabelledTensor",
    "SimulatedCounts",
    "SimulatedCovariates",
    "SimulatedMixture",
    "SimulatedTopics",
    "TensorSetting",
    "fetch_dante",
    "fetch_desynpuf",
    "fetch_desynpuf_tensor",
    "fetch_diabetes130",
    "fetch_eeg",
    "fetch_faculty_salaries",
    "fetch_movie_reviews",
    "fetch_newsgroups20",
    "fetch_nhds2010",
    "fetch_nhds2010_tensor",
    "fetch_oslo_bike",
    "fetch_serology",
    "fetch_state_union",
    "fetch_synthea1k",
    "fetch_us_crime",
    "load_discharges",
    "make_appendix_e",
    "make_bernoulli_mixture",
    "make_covariate_clusters",
    "make_exact_counts",
    "make_nested_topics",
    "make_poisson_counts",
    "make_poisson_mixture",
    "make_tensor_mixture",
    "make_topics",
    "tensor_setting",
]
