"""Cohorts from events, wide tables, counts and texts: AnnData of sparse rows, or count tensors."""

from lvmkit.cohorts import codes
from lvmkit.cohorts.counts import from_counts
from lvmkit.cohorts.event_tensors import tensor_from_events
from lvmkit.cohorts.events import from_events
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.cohorts.texts import from_texts
from lvmkit.cohorts.weights import sample_weight
from lvmkit.cohorts.wide import from_wide
from lvmkit.cohorts.wide_tensors import tensor_from_wide

__all__ = [
    "CountTensor",
    "codes",
    "from_counts",
    "from_events",
    "from_texts",
    "from_wide",
    "sample_weight",
    "tensor_from_events",
    "tensor_from_wide",
]
