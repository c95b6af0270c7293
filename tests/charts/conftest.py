"""A small cohort that all charts are tried on."""

from collections.abc import Callable

import numpy as np
import pytest

from lvmkit.scores import CodeCounts, count_codes

CODES = ["401", "428", "585", "V27", "E849.0", 'a<b>&"c']
TITLES = {
    "401": "Essential hypertension",
    "428": "Heart failure",
    "585": "Chronic kidney disease with a very long title that does not fit beside any bar at all",
    'a<b>&"c': "<script>alert(1)</script>",
}


@pytest.fixture(scope="session")
def make_counts() -> Callable[..., CodeCounts]:
    """Count 60 records per cluster; every record has 428."""

    def made(k: int = 3, *, named: bool = True) -> CodeCounts:
        random = np.random.default_rng(k)
        labels = np.repeat(np.arange(k), 60)
        shares = random.beta(0.6, 2.0, (k, len(CODES)))
        data = random.random((len(labels), len(CODES))) < shares[labels]
        data[:, 1] = True
        names = {0: "Childbirth", 1: "Heart failure with chronic kidney disease and diabetes"}
        return count_codes(
            data, labels, feature_names=CODES, titles=TITLES, names=names if named else None
        )

    return made


@pytest.fixture(scope="session")
def counts(make_counts: Callable[..., CodeCounts]) -> CodeCounts:
    """Three clusters."""
    return make_counts()


@pytest.fixture(scope="session")
def few_counts() -> CodeCounts:
    """Clusters of 500, 400 and 300; 585 marks the first, and hardly anybody else has it."""
    table = {"585": (470, 5, 6), "401": (495, 200, 150), "428": (100, 120, 90), "V27": (3, 2, 6)}
    sizes = (500, 400, 300)
    columns = [
        np.concatenate([np.arange(size) < n for n, size in zip(counts, sizes, strict=True)])
        for counts in table.values()
    ]
    labels = np.repeat([0, 1, 2], sizes)
    return count_codes(np.column_stack(columns), labels, feature_names=list(table))
