"""Options of estimators, declared as data: what each may be, checked when a fit begins."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
    least: float, *, whole: bool = False, above: bool = False, optional: bool = False
) -> Option:
    """Declare a number of at least, or above, a bound; optional ones may be None."""

    def refuse(value: Any, name: str) -> None:
        if not (optional and value is None):
            require_number(value, name, least=least, whole=whole, above=above)

    return refuse


def share(value: Any, name: str) -> None:
    """Refuse a share that is negative, or leaves nothing of the rest."""
    require_number(value, name, least=0)
    if value >= 1:
        msg = f"{name} is a share, at least 0 and below 1; found {value!r}"
        raise ValueError(msg)


def one_of(known: Iterable[str], *, optional: bool = False) -> Option:
    """Declare a name among those known; optional ones may be None."""
    names = list(known)

    def refuse(value: Any, name: str) -> None:
        fits = isinstance(value, str) and value in names
        if not (fits or (optional and value is None)):
            msg = f"{name}={value!r} is unknown; choose one of {listed(names, 6)}"
            raise ValueError(msg)

    return refuse
