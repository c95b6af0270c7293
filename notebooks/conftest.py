"""How `make story` compares a notebook with what is stored in it."""

import pytest

# Pictures, HTML and widget views hold random ids, and pictures depend on fonts: text and tables in
# plain form are compared, so each demonstration ends with a plain value.
NOT_COMPARED = (
    "application/javascript",
    "application/vnd.holoviews_exec.v0+json",
    "application/vnd.holoviews_load.v0+json",
    "application/vnd.jupyter.widget-view+json",
    "image/png",
    "image/svg+xml",
    "stderr",
    "text/html",
)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Tell nbval's notebook collector what not to compare."""
    if collector.path.suffix == ".ipynb" and hasattr(collector, "skip_compare"):
        collector.skip_compare += NOT_COMPARED
