"""Decompositions: functions from whitened moments to the centers and weights of the states."""

from collections.abc import Callable

from lvmkit.decompose.als import als
from lvmkit.decompose.completion import completion
from lvmkit.decompose.components import Components
from lvmkit.decompose.joint import joint_diagonalization
from lvmkit.decompose.power import power
from lvmkit.decompose.random_projections import random_projections
from lvmkit.decompose.sidiwo import sidiwo
from lvmkit.decompose.svd import svd
from lvmkit.decompose.svtd import svtd

BY_NAME: dict[str, Callable[..., Components]] = {
    function.__name__: function
    for function in (joint_diagonalization, svtd, svd, power, als, random_projections, sidiwo)
}
"""What the parameter `decomposition` of the models may name."""

__all__ = [
    "BY_NAME",
    "Components",
    "als",
    "completion",
    "joint_diagonalization",
    "power",
    "random_projections",
    "sidiwo",
    "svd",
    "svtd",
]
