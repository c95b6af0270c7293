"""What all tests share: where real data lie, and repeatable random cases."""

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
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


@pytest.fixture(scope="session", autouse=True)
def sessions_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what commands keep between visits out of the user's own folder."""
    os.environ["LVMKIT_SESSIONS"] = str(tmp_path_factory.mktemp("sessions"))


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return Path(__file__).parent.parent


class _Junk(ctypes.Structure):
    _fields_: ClassVar = [("words", ctypes.c_uint32 * 16384)]


@pytest.fixture(scope="session")
def littered() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: after the function, the stack holds signaling NaN where the next call initializes nothing."""
    take = ctypes.CDLL(None).abs
    take.argtypes = [ctypes.c_int, _Junk]
    junk = _Junk((ctypes.c_uint32 * 16384)(*[0x7F800001] * 16384))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            take(1, junk)  # 64 KiB by value
            return result

        return call

    return decorate


@pytest.fixture(scope="session")
def by_hand() -> Callable[..., Any]:
    """Function that makes a `SUSTain` whose scores are known."""
    import lvmkit

    def made(
        *factors: Any, weights: Any, modes: Any = None, labels: Any = None, **options: Any
    ) -> Any:
        model = lvmkit.SUSTain(len(weights), **options)
        model.factors_ = [np.asarray(factor, dtype=np.int32) for factor in factors]
        model.weights_ = np.asarray(weights)
        model.mode_names_ = modes or ["rows", *["features"] * (len(factors) - 1)]
        model.mode_labels_ = labels or [None] * len(factors)
        model.n_features_in_ = len(factors[1])
        model.annotations_ = {}
        return model

    return made


@pytest.fixture(scope="session")
def product_of() -> Callable[[Any], Any]:
    """Function that multiplies the counts out that a `SUSTain` expects, cell by cell."""

    def product(model: Any) -> Any:
        order = "abc"[: len(model.factors_)]
        terms = ",".join(f"{axis}r" for axis in order)
        return np.einsum(f"{terms},r->{order}", *model.factors_, model.weights_)

    return product


@pytest.fixture
def three_phenotypes(by_hand: Callable[..., Any]) -> Any:
    """Heart, diabetes and delivery, by diagnosis and medication."""
    random = np.random.default_rng(0)
    U = random.integers(0, 4, (300, 3)) * (random.random((300, 3)) < 0.4)
    V = np.array([[3, 0, 0], [2, 0, 0], [0, 3, 0], [0, 1, 0], [0, 0, 3], [0, 0, 2]])
    W = np.array([[3, 0, 0], [1, 1, 0], [0, 2, 0], [0, 0, 1]])
    diagnoses = np.array(["428", "427.31", "250", "585", "V27", "664"])
    return by_hand(
        U,
        V,
        W,
        weights=[2, 1, 4],
        modes=["patient", "diagnosis", "drug"],
        labels=[None, diagnoses, np.array(["loop", "statin", "insulin", "none"])],
        max_score=3,
    )
