"""What all tests share: where real data lie, and repeatable random cases."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("lvmkit", derandomize=True, deadline=None)
settings.load_profile("lvmkit")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the real public data sets, laid out as data/README.md says."""
    folder = os.environ.get("LVMKIT_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("LVMKIT_DATA names no folder with the real public data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return Path(__file__).parent.parent
