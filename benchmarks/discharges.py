"""The real data of the benchmarks: adults' discharges of the NHDS 2010, their 700 most frequent codes."""

from typing import Any

from lvmkit.datasets import fetch_nhds2010


def nhds_rows(*, quick: bool) -> Any:
    """Return 129,242 rows (a part if quick), or None, and say why, where they cannot be had."""
    try:
        X = fetch_nhds2010(min_codes=0, max_codes=700).X
    except ConnectionError as error:
        print(f"\nNHDS 2010 left out: {error}")
        return None
    return X[:5_000] if quick else X
