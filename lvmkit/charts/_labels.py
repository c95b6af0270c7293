"""Numbers and links as charts and dashboards write them."""

from typing import Any
from urllib.parse import quote

import numpy as np


def percent(share: float) -> str:
    """Write a share for readers; – where there is none or it must not be shown."""
    if np.isnan(share):
        return "–"
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.1f} %"


def whole(count: float) -> str:
    """Write a count for readers; – where it must not be shown."""
    return "–" if np.isnan(count) else f"{count:,.0f}"


def hidden_note(values: Any) -> str:
    """Say what the dash means, where there is one."""
    return " – : too few to show." if bool(np.isnan(np.asarray(values, dtype=float)).any()) else ""


def weighted_share(table: Any) -> str:
    """Name the shares of a table: of rows that have weights they are estimates, as its column `estimate` tells."""
    return "weighted share" if "estimate" in table else "share"


def of_records(n: float, size: float, *, weighted: bool) -> str:
    """Write how many records a share is of."""
    return f"{whole(n)} of {whole(size)}{' records, weighted' if weighted else ''}"


def code_link(code: object) -> str:
    """Address that dashboards understand as picking a code."""
    return f"#code={quote(str(code), safe='')}"


def cluster_link(cluster: object) -> str:
    """Address that dashboards understand as picking a cluster."""
    return f"#cluster={quote(str(cluster), safe='')}"


def number_text(value: float) -> str:
    """Write a value of any size for readers."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    if 0 < size < 0.001 or size >= 1e6:
        text = f"{value:.1e}"
    else:
        text = f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def counted(n: int, noun: str) -> str:
    """Write a number with a noun that takes an s: "1 cluster", "2 clusters"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
