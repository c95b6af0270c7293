"""Mixture models: distributions, E step, EM, Gibbs sampling, and the estimators."""

from lvmkit.core import moved

# What lay here before the E step had a module of its own.
__getattr__ = moved.attributes(
    __name__,
    {
        name: f"lvmkit.mixtures.e_step.{name}"
        for name in (
            "MixtureParams",
            "em_step",
            "expected_sums",
            "log_densities",
            "log_joint",
            "most_likely",
            "posteriors",
            "smoothed",
        )
    },
)
