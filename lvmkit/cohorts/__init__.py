"""Cohorts: events, wide tables, counts and texts become AnnData, sparse rows with titles and attributes."""

from lvmkit.cohorts import codes
from lvmkit.cohorts.counts import from_counts
from lvmkit.cohorts.events import from_events
from lvmkit.cohorts.texts import from_texts
from lvmkit.cohorts.wide import from_wide

__all__ = ["codes", "from_counts", "from_events", "from_texts", "from_wide"]
