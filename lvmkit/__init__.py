"""lvmkit, a workbench for latent variable models.

Importing the package costs milliseconds: names and subpackages are loaded when first used.
"""

from importlib import import_module
from typing import Any

from lvmkit.core import moved
from lvmkit.core.versions import __version__

moved.install()

_HOMES = {
    "BernoulliMixture": "lvmkit.mixtures.bernoulli",
    "CovariateClusteringClassifier": "lvmkit.covariates.classifier",
    "LatentDirichlet": "lvmkit.mixtures.latent_dirichlet",
    "PoissonMixture": "lvmkit.mixtures.poisson",
    "SUSTain": "lvmkit.sustain.sustain",
    "SingleTopic": "lvmkit.mixtures.single_topic",
    "SpectralTree": "lvmkit.trees.spectral_tree",
    "TensorNormalMixture": "lvmkit.tensors.mixture",
    "save": "lvmkit.storage",
    "load": "lvmkit.storage",
    "show_versions": "lvmkit.core.versions",
}
_PACKAGES = (
    "charts",
    "cohorts",
    "datasets",
    "decompose",
    "disclosure",
    "gibbs",
    "models",
    "moments",
    "scores",
    "similarities",
    "trees",
)

__all__ = [
    "BernoulliMixture",
    "CovariateClusteringClassifier",
    "LatentDirichlet",
    "PoissonMixture",
    "SUSTain",
    "SingleTopic",
    "SpectralTree",
    "TensorNormalMixture",
    "__version__",
    "load",
    "save",
    "show_versions",
]


def __getattr__(name: str) -> Any:
    """Load a public name or subpackage at its first use."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return import_module(f"lvmkit.{name}")
    msg = f"module 'lvmkit' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """List the public names and subpackages."""
    return sorted([*__all__, *_PACKAGES])
