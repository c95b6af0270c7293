"""Nonsense that is given as options, and which kinds of parameter it is no nonsense for."""

from collections.abc import Callable
from typing import Any

import numpy as np

Value = tuple[Callable[[], Any], frozenset[str]]

# By name: the value, and the kinds of parameter that may take it.
NONSENSE: dict[str, Value] = {
    "None": (lambda: None, frozenset({"none"})),
    "text": (lambda: "no such thing", frozenset({"text", "path", "free"})),
    "-1": (lambda: -1, frozenset({"signed"})),
    "0": (lambda: 0, frozenset({"int", "float"})),
    "1.5": (lambda: 1.5, frozenset({"float"})),
    "NaN": (lambda: float("nan"), frozenset({"nan"})),
    "inf": (lambda: float("inf"), frozenset({"float"})),
    "-inf": (lambda: float("-inf"), frozenset({"minus infinity"})),
    "True": (lambda: True, frozenset({"bool"})),
    "2": (lambda: 2, frozenset({"int", "float"})),
    "[]": (list, frozenset({"sequence", "array"})),
    "{}": (dict, frozenset({"mapping"})),
    "object": (object, frozenset()),
    "10**12": (lambda: 10**12, frozenset({"int", "float"})),
    "-10**12": (lambda: -(10**12), frozenset({"signed"})),
    "1j": (lambda: 1j, frozenset()),
    "bytes": (lambda: b"\x00\xff", frozenset({"bytes"})),
    "list of None": (lambda: [None], frozenset({"sequence of anything"})),
    "array of NaN": (lambda: np.array([np.nan, np.nan]), frozenset({"sequence of anything"})),
    "np.nan": (lambda: np.float64("nan"), frozenset({"nan"})),
    "function": (lambda: len, frozenset({"callable"})),
}
# What must not be put into a parameter of a kind, from all of the above, to spare cases that say nothing new.
TRIED: dict[str, tuple[str, ...]] = {
    "int": (
        "None",
        "text",
        "-1",
        "0",
        "1.5",
        "NaN",
        "inf",
        "True",
        "[]",
        "object",
        "10**12",
        "-10**12",
    ),
    "float": ("None", "text", "-1", "0", "NaN", "inf", "-inf", "True", "[]", "object", "10**12"),
    "bool": ("None", "text", "2", "1.5", "NaN", "[]", "object"),
    "choice": ("None", "text", "2", "True", "[]", "{}", "object"),
    "text": ("None", "-1", "1.5", "True", "[]", "object", "bytes"),
    "path": ("None", "text", "-1", "1.5", "[]", "object", "bytes"),
    "sequence": ("None", "text", "2", "{}", "object", "list of None", "array of NaN"),
    "mapping": ("None", "text", "2", "object", "list of None"),
    "callable": ("None", "text", "2", "object"),
    "table": ("None", "text", "2", "[]", "{}", "object"),
    "array": ("None", "text", "2", "[]", "{}", "object", "list of None", "array of NaN"),
    "object": ("None", "text", "2", "[]", "{}", "object"),
}
# Other spellings of a valid value, which must give the same answer.
SPELLINGS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "int": {"numpy int": np.int64, "numpy int of 16 bits": np.int16},
    "float": {"numpy float": np.float64},
    "bool": {"numpy bool": np.bool_},
    "text": {"numpy text": np.str_},
    "choice": {"numpy text": np.str_},
}
