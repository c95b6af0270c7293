"""What all tests share: where real data lie, and repeatable random cases."""

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

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
