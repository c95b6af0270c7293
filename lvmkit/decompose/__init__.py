"""Decompositions: functions from whitened moments to the centers and weights of the states."""

from lvmkit.decompose.completion import completion
from lvmkit.decompose.components import Components
from lvmkit.decompose.joint import joint_diagonalization
from lvmkit.decompose.svtd import svtd

__all__ = ["Components", "completion", "joint_diagonalization", "svtd"]
