"""Cohorts: events, wide tables and counts become AnnData, sparse rows with titles and attributes."""

from lvmkit.cohorts import codes
from lvmkit.cohorts.counts import from_counts
from lvmkit.cohorts.events import from_events
from lvmkit.cohorts.wide import from_wide

__all__ = ["codes", "from_counts", "from_events", "from_wide"]
