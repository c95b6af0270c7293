"""What all visitors of a server look at: made once, beside the server, from the moment it starts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """A result that begins to be made at once; whoever asks waits for it, and asks again for what failed."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lvmkit-shared")
        self._result: Future[T] = self._pool.submit(make)

    def get(self) -> T:
        """Return the result when it is there; raise what hindered it, and try anew for the next who asks."""
        with self._lock:
            result = self._result
        try:
            return result.result()
        except Exception:
            with self._lock:
                # The reason may be gone by then, such as a file that was away.
                if self._result is result:
                    self._result = self._pool.submit(self._make)
            raise
