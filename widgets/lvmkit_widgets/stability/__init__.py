"""Parts of the stability dashboard."""
