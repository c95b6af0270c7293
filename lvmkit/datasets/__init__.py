"""Data sets: `make_*` simulate and return the truth, `load_*` are bundled, `fetch_*` are real."""

from lvmkit.datasets.diabetes import fetch_diabetes130
from lvmkit.datasets.discharges import load_discharges
from lvmkit.datasets.nhds import fetch_nhds2010
from lvmkit.datasets.simulate import SimulatedMixture, make_appendix_e, make_bernoulli_mixture
from lvmkit.datasets.synthea import fetch_synthea1k

__all__ = [
    "SimulatedMixture",
    "fetch_diabetes130",
    "fetch_nhds2010",
    "fetch_synthea1k",
    "load_discharges",
    "make_appendix_e",
    "make_bernoulli_mixture",
]
