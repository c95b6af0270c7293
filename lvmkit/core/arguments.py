"""Argument validation from annotations: the `checked` decorator."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from math import inf
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.core.validation import unmasked

P = ParamSpec("P")
R = TypeVar("R")

LARGE = 10**6
"""Numbers from here on can be why memory does not suffice."""
Kind = tuple[str, Callable[[Any], bool]]
"""What a value must be, in words, and whether it is."""


def checked(**least: float) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that its arguments are of the types it is annotated with, numbers at least `least`."""
    # Annotations are read at the first call. What they leave open (`Any`, items of sequences, unknown words for a
    # choice) is left to the function.

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        call = signature(function)

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            passed = _check(function, call, args, kwargs, least)
            try:
                return function(*args, **kwargs)
            except MemoryError as error:
                _tell_size(passed, error)
                raise

        return wrapper

    return decorate


def _check(
    function: Callable[..., Any],
    call: Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    least: Mapping[str, float],
) -> Mapping[str, Any]:
    """Return the arguments by name; refuse the first that is not what the function is annotated with."""
    try:
        passed = call.bind(*args, **kwargs).arguments
    except TypeError:  # too few, too many or unknown arguments: Python's own words name them
        return {}
    kinds = _kinds(function)
    for name, value in passed.items():
        default = call.parameters[name].default
        if name in kinds and value is not default:
            _check_kind(name, value, kinds[name], default, least.get(name))
        if isinstance(value, pd.DataFrame) and not value.columns.is_unique:
            twice = value.columns[value.columns.duplicated()][0]
            msg = f"{name} must have columns of different names; {twice!r} stands more than once"
            raise ValueError(msg)
        if name in least:
            _check_least(name, value, least[name])
        elif name == "random_state":
            _check_least(name, value, 0)
    return passed


def _tell_size(passed: Mapping[str, Any], error: MemoryError) -> None:
    """Say which number asked for more memory than there is, if one did."""
    for name, value in passed.items():
        if isinstance(value, Integral) and int(value) >= LARGE:
            msg = f"{name}={value:,} asks for more than there is room for; choose a smaller number"
            raise ValueError(msg) from error


def _check_kind(
    name: str, value: Any, kinds: tuple[Kind, ...], default: Any, least: float | None
) -> None:
    """Refuse a value that is of none of the kinds, and NaN as an option."""
    if not any(fits(value) for _, fits in kinds):
        words = [words for words, _ in kinds if words != "None"]
        bound = "" if least is None else f", at least {least:g}"
        msg = f"{name} must be {_listed(words)}{bound}; found {_shown(value)}"
        raise (ValueError if "an array" in words else TypeError)(msg)
    if not any(fits(value) for kind, fits in kinds if (kind, fits) != _ARRAY):
        _check_array(name, value)
    if kinds[0] == _ARRAY:
        _check_array(name, value)
    optional = default is not Parameter.empty
    if optional and isinstance(value, Real) and value != value and default == default:
        msg = f"{name} must be {_listed([words for words, _ in kinds])}; found NaN"
        raise ValueError(msg)


def _check_array(name: str, value: Any) -> None:
    """Refuse an array with hidden entries, of dates or complex numbers, or without any axis."""
    if value is None or sparse.issparse(value) or isinstance(value, (pd.DataFrame, Set)):
        return
    try:
        found = np.asarray(unmasked(value, name))
    except ValueError as error:
        if name in str(error):
            raise
        return  # rows of different lengths, of which the function says more
    what = {"c": "complex numbers", "M": "dates", "m": "durations"}.get(found.dtype.kind)
    what = what or ("a single number" if not found.ndim else None)
    if what is not None:
        msg = f"{name} must be an array of numbers; found {what}"
        raise ValueError(msg)


def _check_least(name: str, value: Any, least: float) -> None:
    """Refuse a number below the least, or infinite."""
    if isinstance(value, Real) and not isinstance(value, bool) and not least <= float(value) < inf:
        msg = f"{name} must be at least {least:g} and finite; found {_shown(value)}"
        raise ValueError(msg)


def _listed(words: Sequence[str]) -> str:
    """Join words by commas and an "or"."""
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _shown(value: Any) -> str:
    """Write a value and its type, cut to a length."""
    if value is None:
        return "None"
    plain = isinstance(value, (str, bytes, Real, list, tuple, dict, set))
    text = repr(value.item() if isinstance(value, np.generic) else value) if plain else ""
    text = text if len(text) <= 60 else f"{text[:59]}…"
    return f"{text} ({type(value).__name__})" if text else type(value).__name__


@cache
def _kinds(function: Callable[..., Any]) -> dict[str, tuple[Kind, ...]]:
    """Return what each argument may be; arguments that may be anything are left out."""
    hints = get_type_hints(function)
    found: dict[str, tuple[Kind, ...]] = {}
    for name, parameter in signature(function).parameters.items():
        packed = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if name not in hints or packed or hints[name] == npt.DTypeLike:
            continue
        members = list(_members(hints[name]))
        kinds = [_kind(member) for member in members]
        if any("numpy._typing" in str(getattr(member, "__module__", "")) for member in members):
            kinds = [_ARRAY, *(kind for kind in kinds if kind == _PLAIN[NoneType])]
        if None not in kinds:
            found[name] = tuple(dict(kind for kind in kinds if kind is not None).items())
    return found


def _members(hint: Any) -> Iterator[Any]:
    """Yield the members of a union, or the hint itself; an alias, such as numpy's, stands for its value."""
    named = getattr(get_origin(hint) or hint, "__value__", None)
    if named is not None:
        yield from _members(named)
    elif get_origin(hint) in (Union, UnionType):
        for member in get_args(hint):
            yield from _members(member)
    else:
        yield hint


def _kind(hint: Any) -> Kind | None:
    """Return what a hint asks for; None if anything goes."""
    origin = get_origin(hint) or hint
    if origin is Any:
        return None
    if origin in _PLAIN:
        return _PLAIN[origin]
    if origin is Literal:
        words = ", ".join(repr(word) for word in get_args(hint))
        return f"one of {words}", lambda value: isinstance(value, str)
    if "numpy" in str(getattr(origin, "__module__", "")) and origin not in _RANDOM:
        return _ARRAY
    if not isinstance(origin, type):
        return None
    if issubclass(origin, os.PathLike):
        return "a path", lambda value: isinstance(value, (str, os.PathLike))
    if issubclass(origin, Mapping):
        return "a mapping", lambda value: isinstance(value, Mapping)
    if issubclass(origin, Iterable) and origin.__module__ in ("collections.abc", "builtins"):
        parts = any(get_origin(item) is not None for item in get_args(hint))
        return _PARTS if parts else _ITEMS.get(get_args(hint)[:1], ("a sequence", _is_sequence))
    if origin.__module__ == "builtins":
        return None
    called = _CALLED.get(origin.__name__, origin.__name__)
    article = "an" if called[0] in "AEIOU" else "a"
    return f"{article} {called}", lambda value: isinstance(value, origin)


def _is_number(value: Any) -> bool:
    """Return whether a value is a real number, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _is_array(value: Any) -> bool:
    """Return whether a value may be read as an array of numbers."""
    if hasattr(value, "shape"):  # also a DOK array, which is a mapping
        return True
    if isinstance(value, (str, bytes, Mapping)):
        return False
    return isinstance(value, Real) or hasattr(value, "__array__") or isinstance(value, Collection)


def _is_sequence(value: Any) -> bool:
    """Return whether a value can be gone through, and is neither text nor a mapping."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _is_texts(value: Any) -> bool:
    """Return whether a value is a sequence without None and NaN, so far as that is seen without going through it."""
    if not _is_sequence(value) or not isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return _is_sequence(value)
    return not any(item is None or (isinstance(item, float) and item != item) for item in value)


def _is_integers(value: Any) -> bool:
    """Return whether a value is a sequence of whole numbers, so far as that is seen without going through it."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu" or not value.size
    if not isinstance(value, (list, tuple, set, frozenset)):
        return _is_sequence(value)
    return all(_is_number(item) and isinstance(item, Integral) for item in value)


def _is_parts(value: Any) -> bool:
    """Return whether a value is a sequence of sequences, and not of numbers."""
    numbers = isinstance(value, np.ndarray) and value.ndim < 2 and value.dtype.kind in "biufc"
    return _is_sequence(value) and not numbers


_PARTS: Kind = ("a sequence with a part for each", _is_parts)
_ARRAY: Kind = ("an array", _is_array)
_ITEMS: dict[tuple[Any, ...], Kind] = {
    (str,): ("a sequence of texts", _is_texts),
    (int,): ("a sequence of whole numbers", _is_integers),
    (float,): ("a sequence of numbers", _is_texts),
}
_PLAIN: dict[Any, Kind] = {
    NoneType: ("None", lambda value: value is None),
    bool: ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    int: (
        "a whole number",
        lambda value: _is_number(value) and isinstance(value, Integral),
    ),
    float: ("a number", _is_number),
    str: ("text", lambda value: isinstance(value, str)),
    bytes: ("bytes", lambda value: isinstance(value, bytes)),
    Callable: ("a function", callable),
}
_CALLED = {"TopLevelMixin": "Altair chart"}
_RANDOM = (np.random.Generator, np.random.RandomState)
