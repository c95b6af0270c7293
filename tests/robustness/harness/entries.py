"""Public entry points, found from `__all__`, with the kinds of value that each parameter takes."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from typing import Any

from numpydoc.docscrape import ClassDoc, FunctionDoc

from lvmkit.core import moved

MODULES = (
    "lvmkit",
    "lvmkit.cohorts",
    "lvmkit.cohorts.codes",
    "lvmkit.datasets",
    "lvmkit.decompose",
    "lvmkit.disclosure",
    "lvmkit.moments",
    "lvmkit.models",
    "lvmkit.scores",
    "lvmkit.similarities",
    "lvmkit.trees",
    "lvmkit.gibbs",
    "lvmkit.charts",
    "lvmkit_widgets",
)

# Words of numpydoc types, in the order they are looked for, and the kind of value they stand for.
WORDS = (
    (r"sparse|AnnData \(n|DataFrame or AnnData|matrix or tensor|as for `", "matrix"),
    (r"array(-like)? \(n, p|array or coo_array", "tensor"),
    (r"\barrays?\b|array-like", "array"),
    (r"(list|tuple|sequence|iterable|collection|set) of|\bsequence\b|\(int, int\)", "sequence"),
    (r"\bmapping\b|\bdict\b", "mapping"),
    (r"\bDataFrame\b", "table"),
    (r"\bSeries\b", "array"),
    (r"\bcallable\b|\bfunction\b", "callable"),
    (r"\{[^}\d]*[\"'].*\}|\"\w+\"|'\w+'", "choice"),
    (r"\bpath\b|\bglob\b|\bPath\b", "path"),
    (r"\bbool\b", "bool"),
    (r"\bint\b|\{\d", "int"),
    (r"\bfloat\b|\bnumber\b", "float"),
    (r"\bstr\b", "text"),
)


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, the kinds of value that its documentation names, and whether it may be None."""

    name: str
    kinds: frozenset[str]
    documented: str
    optional: bool
    required: bool
    default: Any = None


@dataclass(frozen=True)
class Entry:
    """A public function, method or class, by the name under which it is public."""

    name: str
    owner: str = ""
    target: Callable[..., Any] = field(repr=False, default=print)
    parameters: tuple[Parameter, ...] = ()
    bound: bool = False

    @property
    def short(self) -> str:
        """Return the name without its module: ``BernoulliMixture.fit``."""
        return ".".join(self.name.split(".")[-2 if self.owner else -1 :])

    @property
    def is_estimator(self) -> bool:
        """Return whether this is the constructor of an estimator, whose options `fit` checks."""
        return inspect.isclass(self.target) and hasattr(self.target, "get_params")

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name."""
        return next(p for p in self.parameters if p.name == name)


SCALARS = {"int", "float", "bool", "text", "choice"}
ITEMS = re.compile(
    r"(mapping|sequence|iterable|list|tuple|array|array-like|collection|set|DataFrame) of .*?(,| or |$)"
)


def kinds_of(documented: str) -> frozenset[str]:
    """Return the kinds of value that a numpydoc type names; a class of our own is an object."""
    text = re.sub(r",? ?default[=:].*|, optional.*", "", documented)
    # What stands in brackets or after "of" is about items: "sequence of str" takes no str.
    outer = ITEMS.sub(" ", re.sub(r"\([^)]*\)", "", text.replace("int array", "array")))
    kinds = {
        kind for pattern, kind in WORDS if re.search(pattern, outer if kind in SCALARS else text)
    }
    if ITEMS.search(text) and re.search(r"(sequence|list|tuple|iterable|mapping)[\w ]* of", text):
        kinds -= {"array"} if not re.search(r"^array|or array|, array", text) else set()
    return frozenset(kinds or {"object"})


def documented_types(target: Any) -> dict[str, str]:
    """Return the types that the docstring names, by parameter."""
    doc = (ClassDoc if inspect.isclass(target) else FunctionDoc)(target)
    found = {}
    for section in ("Parameters", "Other Parameters"):
        for entry in doc[section]:
            for name in entry.name.split(","):
                found[name.strip()] = entry.type
    return found


def parameters_of(target: Any) -> tuple[Parameter, ...]:
    """Return the parameters of a callable, without self."""
    types = documented_types(target)
    found = []
    for name, parameter in inspect.signature(target).parameters.items():
        if name == "self":
            continue
        text = types.get(name, "")
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        optional = "None" in text or "optional" in text or (not required and default is None)
        kinds = kinds_of(text)
        if isinstance(default, bool):
            kinds = frozenset({"bool"})
        elif kinds == {"object"} and isinstance(default, str):
            kinds = frozenset({"text"})
        found.append(Parameter(name, kinds, text, optional, required, default))
    return tuple(found)


def is_container(cls: type) -> bool:
    """Return whether a class only holds what our functions return: a tuple, or a dataclass that checks nothing."""
    return issubclass(cls, tuple) or (is_dataclass(cls) and not hasattr(cls, "__post_init__"))


def methods_of(name: str, cls: type) -> Iterator[Entry]:
    """Yield the public methods that lvmkit defines for a class."""
    for method in dir(cls):
        static = inspect.getattr_static(cls, method)
        function = getattr(cls, method)
        ours = str(getattr(function, "__module__", "")).startswith("lvmkit")
        if (
            method.startswith("_")
            or isinstance(static, property)
            or not callable(function)
            or not ours
        ):
            continue
        if inspect.isclass(function) or isinstance(
            static, moved.OldMethod
        ):  # its new name is tried
            continue
        bound = not isinstance(static, classmethod | staticmethod)
        yield Entry(f"{name}.{method}", name, function, parameters_of(function), bound)


@cache
def entries() -> dict[str, Entry]:
    """Return every public callable and the methods of every public class, each once, by name."""
    found: dict[str, Entry] = {}
    seen: set[int] = set()
    for module in map(importlib.import_module, MODULES):
        for public in module.__all__:
            value = getattr(module, public)
            if not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            name = f"{module.__name__}.{public}"
            if not inspect.isclass(value) or not is_container(value):
                found[name] = Entry(name, "", value, parameters_of(value))
            if inspect.isclass(value):
                found |= {entry.name: entry for entry in methods_of(name, value)}
    return found
