"""Defaults of the topic dashboard: attributes to order documents by, and a check of the number of topics."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lvmkit.cohorts.corpus import Corpus, runs
from lvmkit.mixtures.refit import check_size


def check_fit(k: int, n: int, d: int, row_name: str, column_name: str) -> None:
    """Check that so many topics can be found."""
    try:
        check_size(k, n, d)
    except ValueError as error:
        told = str(error).replace("clusters", "topics").replace("patients", row_name)
        raise ValueError(told.replace("codes", f"{column_name}s")) from error


def first_order(corpus: Corpus) -> str:
    """Choose an attribute to put documents in order by."""
    orders = corpus.orders()
    dates = [n for n, v in orders.items() if pd.api.types.is_datetime64_any_dtype(v)]
    years = [name for name in orders if name.lower() in ("year", "date", "time", "anno")]
    people = list(orders) if corpus.private else []
    return next(iter([*dates, *years, *people]), "")


def first_bands(corpus: Corpus, order: str) -> str:
    """Choose an attribute whose stretches can be marked along an order."""
    orders = corpus.orders()
    places = np.arange(len(corpus))
    if order and not pd.api.types.is_numeric_dtype(orders[order]):
        return ""
    by = np.argsort(orders[order].to_numpy(), kind="stable") if order else places
    found = {}
    for name, values in orders.items():
        levels = values.nunique()
        if name == order or pd.api.types.is_numeric_dtype(values) or levels > len(corpus) / 3:
            continue
        stretches = runs(values, by)
        if stretches <= 1.25 * levels:
            found[name] = stretches
    return min(found, key=lambda name: found[name], default="")
