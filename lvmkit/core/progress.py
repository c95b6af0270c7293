"""Progress reporting: tqdm bar, callback or none."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from lvmkit.core.typing import Progress

T = TypeVar("T")


def callback_of(progress: Any) -> Any:
    """Return the progress callback (text, fraction done), for None one that does nothing."""
    if progress is None or progress is False:
        return _unheard
    if not callable(progress):
        msg = f"progress is a function of a text and the fraction done, or None; found {progress!r}"
        raise TypeError(msg)
    return progress


def _unheard(text: str, done: float) -> None:
    """Do nothing."""


@contextmanager
def progress_callback(progress: Progress | bool | None) -> Iterator[Progress]:
    """Yield a callback that reports to a tqdm bar, to a callable, or nowhere."""
    if progress is not True:
        yield callback_of(progress)
        return
    from tqdm.auto import tqdm  # looks for a notebook, which takes a while

    with tqdm(total=100, bar_format="{l_bar}{bar}| {elapsed}<{remaining} {postfix}") as bar:

        def tell(text: str, done: float) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update(round(100 * done) - bar.n)

        yield tell


class Interruptible:
    """A progress callback that remembers whether it raised: then the caller stops, and nothing failed."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._telling = False

    def __call__(self, text: str, done: float) -> None:
        """Report progress; an exception raised here means stop."""
        self._telling = True
        self._progress(text, done)
        self._telling = False

    def wished(self, error: BaseException) -> bool:
        """Return whether an error means stop: KeyboardInterrupt, or raised by the callback."""
        return self._telling or isinstance(error, KeyboardInterrupt)

    def until_stopped(self, items: Iterable[T], *, has_result: bool = False) -> Iterator[T]:
        """Yield items until they end, or until a wish to stop ends them; without a result that wish is raised."""
        try:
            for item in items:
                has_result = True
                yield item
        except BaseException as error:
            if not has_result or not self.wished(error):
                raise
