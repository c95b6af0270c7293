"""Options of estimators, declared as data: what each may be, checked when a fit begins."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from lvmkit.core.parallel import workers_of
from lvmkit.core.validation import listed, require_flag, require_number, require_seed

Option = Callable[[Any, str], None]
"""Refuses a value, given the name of the option, that is not allowed."""

flag: Option = require_flag
seed: Option = require_seed


def check_options(model: Any, options: Mapping[str, Option]) -> None:
    """Refuse the first option of a model whose value is not allowed."""
    for name, refuse in options.items():
        refuse(getattr(model, name), name)


def number(
    least: float,
    *,
    most: float = inf,
    below: float = inf,
    whole: bool = False,
    above: bool = False,
    optional: bool = False,
) -> Option:
    """Declare a number of at least, or above, a bound, and at most, or below, another; optional ones may be None."""

    def refuse(value: Any, name: str) -> None:
        if optional and value is None:
            return
        require_number(value, name, least=least, whole=whole, above=above)
        if value > most or value >= below:
            bound = f"at most {most:g}" if most < inf else f"below {below:g}"
            msg = f"{name} must be {bound}; found {value!r}"
            raise ValueError(msg)

    return refuse


def share(value: Any, name: str) -> None:
    """Refuse a share that is negative, or leaves nothing of the rest."""
    require_number(value, name, least=0)
    if value >= 1:
        msg = f"{name} is a share, at least 0 and below 1; found {value!r}"
        raise ValueError(msg)


def one_of(known: Iterable[str], *, optional: bool = False) -> Option:
    """Declare a name among those known; optional ones may be None."""
    names, none = list(known), ", or None" if optional else ""

    def refuse(value: Any, name: str) -> None:
        fits = isinstance(value, str) and value in names
        if not (fits or (optional and value is None)):
            msg = f"{name}={value!r} is not known; choose one of {listed(names, 6)}{none}"
            raise ValueError(msg)

    return refuse


def n_jobs(value: Any, name: str) -> None:
    """Refuse what is no number of threads."""
    del name
    workers_of(value)


def anything(value: Any, name: str) -> None:
    """Refuse nothing: the fit itself looks at it, beside the data."""


def either(text: Option, other: Option) -> Option:
    """Declare a name, or something else."""

    def refuse(value: Any, name: str) -> None:
        (text if isinstance(value, str) else other)(value, name)

    return refuse
